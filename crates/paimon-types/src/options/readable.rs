// SPDX-License-Identifier: Apache-2.0

//! What a reader refuses: options that change what must be read and that are not implemented.

use super::{CoreOptions, TableType};
use crate::{Error, Result, TableSchema};

impl CoreOptions {
    /// Checks that a table can be read as it must be. Options that only concern writers never matter here; what concerns
    /// one column is checked by [`check_column_readable`](CoreOptions::check_column_readable), deletion vectors are decided
    /// for each split.
    ///
    /// # Errors
    /// `Unsupported` that names the option and its value.
    pub fn check_readable(&self, schema: &TableSchema) -> Result<()> {
        if self.table_type != TableType::Table {
            return Err(refuse(
                "type",
                self.table_type.as_str(),
                "only tables of type 'table' can be read",
            ));
        }
        let flags = [
            ("data-evolution.enabled", self.data_evolution_enabled),
            ("chain-table.enabled", self.chain_table_enabled),
            ("query-auth.enabled", self.query_auth_enabled),
            (
                "key-value.sequence_number.enabled",
                self.key_value_sequence_number_enabled,
            ),
        ];
        for (key, on) in flags {
            if on {
                return Err(refuse(key, "true", NOT_YET));
            }
        }
        for (key, value) in [
            ("scan.fallback-branch", &self.scan_fallback_branch),
            ("scan.primary-branch", &self.scan_primary_branch),
        ] {
            if let Some(value) = value {
                return Err(refuse(key, value, NOT_YET));
            }
        }
        if let Some(bucket) = self.scan_bucket {
            return Err(refuse("scan.bucket", &bucket.to_string(), NOT_YET));
        }
        if self.batch_scan_mode != "none" {
            return Err(refuse("batch-scan-mode", &self.batch_scan_mode, NOT_YET));
        }
        if schema.primary_keys.is_empty() {
            return Ok(());
        }
        // Files above level 0 are sorted by other columns than the key.
        if self.pk_clustering_override {
            return Err(refuse("pk-clustering-override", "true", NOT_YET));
        }
        // Rows of bucket -2 would have to be merged with those of the buckets that they belong to.
        if self.bucket == -2 && self.postpone_merge_on_read {
            return Err(refuse("postpone.merge-on-read", "true", NOT_YET));
        }
        Ok(())
    }

    /// Checks that a column can be read; call it for the columns that are selected, so that one odd column does not make
    /// the whole table unreadable.
    ///
    /// # Errors
    /// `Unsupported` that names the option and the column.
    pub fn check_column_readable(&self, column: &str) -> Result<()> {
        let lists = [
            ("blob-field", &self.blob_field),
            ("blob-descriptor-field", &self.blob_descriptor_field),
            ("blob-view-field", &self.blob_view_field),
        ];
        for (key, columns) in lists {
            if let Some(columns) = columns
                && columns.iter().any(|name| name.trim() == column)
            {
                return Err(refuse(key, &columns.join(","), NOT_YET).with("column", column));
            }
        }
        let key = format!("fields.{column}.map.storage-layout");
        match self.raw().get(&key) {
            Some(layout) if !layout.eq_ignore_ascii_case("default") => {
                Err(refuse(&key, layout, NOT_YET).with("column", column))
            }
            _ => Ok(()),
        }
    }
}

const NOT_YET: &str = "reading such a table is not implemented yet";

fn refuse(key: &str, value: &str, why: &str) -> Error {
    Error::unsupported(format!("option {key} is '{value}': {why}")).with("option", key)
}
