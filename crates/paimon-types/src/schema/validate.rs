// SPDX-License-Identifier: Apache-2.0

//! What a schema must fulfil to be written (Java `SchemaValidation`; `metadata.md` 2.4, 2.8).

use std::collections::HashSet;

use super::TableSchema;
use crate::parse::MAX_DEPTH;
use crate::{
    BucketFunction, ChangelogProducer, CoreOptions, DataField, DataType, Error, MergeEngine, Result,
    TableType, TypeKind, datum_from_string, system_field,
};

impl TableSchema {
    /// Checks columns, keys and options against each other, as done when a table is created or altered.
    ///
    /// # Errors
    /// `InvalidInput` that names the column or option; `Unsupported` for table types without snapshots.
    pub fn validate(&self) -> Result<()> {
        let options = CoreOptions::from_map(&self.options)?;
        if options.table_type != TableType::Table {
            let kind = options.table_type;
            return Err(Error::unsupported(format!(
                "option type is '{kind}': only tables of type 'table' are written"
            ))
            .with("option", "type"));
        }
        self.check_columns()?;
        self.check_keys()?;
        self.check_bucket(&options)?;
        self.check_column_options()?;
        self.check_sequence_fields(&options)?;
        self.check_options(&options)?;
        self.check_row_tracking(&options)?;
        options.check_startup()
    }

    fn check_columns(&self) -> Result<()> {
        if self.fields.is_empty() {
            return Err(Error::invalid("a table needs at least one column"));
        }
        for field in &self.fields {
            if is_system_name(&field.name) {
                let names = system_field::NAMES.join(", ");
                return Err(Error::invalid(format!(
                    "column name {} is reserved; {names} and names that start with {} cannot be used",
                    field.name,
                    system_field::KEY_PREFIX
                ))
                .with("column", &field.name));
            }
        }
        check_fields(&self.fields, 0)
    }

    fn check_keys(&self) -> Result<()> {
        for (what, keys) in [
            ("primary key", &self.primary_keys),
            ("partition key", &self.partition_keys),
        ] {
            for key in keys {
                let field = self
                    .field(key)
                    .ok_or_else(|| Error::invalid(format!("{what} {key} is not a column")))?;
                let data_type = &field.data_type;
                if data_type.is_nested()
                    || matches!(
                        data_type.kind,
                        TypeKind::Variant
                            | TypeKind::Blob
                            | TypeKind::Geometry(_)
                            | TypeKind::Geography { .. }
                    )
                {
                    return Err(
                        Error::invalid(format!("type {data_type} cannot be used in a {what}"))
                            .with("column", key),
                    );
                }
            }
        }
        if !self.primary_keys.is_empty() && self.trimmed_primary_keys().is_empty() {
            return Err(Error::invalid(format!(
                "the primary key ({}) has no column besides the partition keys ({}): each partition could hold one row only",
                self.primary_keys.join(", "),
                self.partition_keys.join(", ")
            )));
        }
        Ok(())
    }

    /// True when a key may move between partitions: the primary key does not hold all partition keys.
    pub fn is_cross_partition_update(&self) -> bool {
        !self.primary_keys.is_empty()
            && self
                .partition_keys
                .iter()
                .any(|key| !self.primary_keys.contains(key))
    }

    fn check_bucket(&self, options: &CoreOptions) -> Result<()> {
        let has_primary_key = !self.primary_keys.is_empty();
        let bucket = options.bucket;
        let fail = |problem: String| Err(Error::invalid(problem).with("option", "bucket"));
        if bucket == -1 {
            if options.bucket_key.is_some() {
                return Err(Error::invalid(
                    "option bucket-key cannot be used with bucket -1; set bucket to 1 or more",
                )
                .with("option", "bucket-key"));
            }
            if !has_primary_key && self.options.contains_key("full-compaction.delta-commits") {
                return Err(Error::invalid(
                    "option full-compaction.delta-commits cannot be used with an append table of bucket -1",
                )
                .with("option", "full-compaction.delta-commits"));
            }
            return Ok(());
        }
        if bucket == -2 && !has_primary_key {
            return fail("bucket -2 (postpone) needs a primary key".to_owned());
        }
        if bucket > 0 && self.is_cross_partition_update() {
            return fail(format!(
                "the primary key ({}) does not hold all partition keys ({}); this needs bucket -1, found {bucket}",
                self.primary_keys.join(", "),
                self.partition_keys.join(", ")
            ));
        }
        if !has_primary_key && options.bucket_key.is_none() {
            // Tables of version 1 had one bucket and no key.
            if self.version <= 1 && bucket == 1 {
                return Ok(());
            }
            return Err(Error::invalid(format!(
                "bucket {bucket} of an append table needs the option bucket-key"
            ))
            .with("option", "bucket-key"));
        }
        self.check_bucket_key(options)
    }

    fn check_bucket_key(&self, options: &CoreOptions) -> Result<()> {
        let fail = |problem: String| Err(Error::invalid(problem).with("option", "bucket-key"));
        let keys = self.bucket_keys();
        let mut types = Vec::new();
        for key in &keys {
            let Some(field) = self.field(key) else {
                return fail(format!("bucket key '{key}' is not a column"));
            };
            if self.partition_keys.iter().any(|partition| partition == key) {
                return fail(format!("bucket key {key} is a partition key"));
            }
            if !self.primary_keys.is_empty() && !self.primary_keys.iter().any(|primary| primary == key) {
                let primary = self.primary_keys.join(", ");
                return fail(format!("bucket key {key} is not in the primary key ({primary})"));
            }
            if field.data_type.is_nested()
                || matches!(
                    field.data_type.kind,
                    TypeKind::Variant | TypeKind::Blob | TypeKind::Geometry(_) | TypeKind::Geography { .. }
                )
            {
                return fail(format!(
                    "type {} of column {key} cannot be used in a bucket key",
                    field.data_type
                ));
            }
            types.push(&field.data_type.kind);
        }
        if options.bucket_function == BucketFunction::Mod
            && !matches!(types.as_slice(), [TypeKind::Int | TypeKind::BigInt])
        {
            let found = keys.join(", ");
            return Err(Error::invalid(format!(
                "bucket-function.type mod needs one INT or BIGINT bucket key, found ({found})"
            ))
            .with("option", "bucket-function.type"));
        }
        Ok(())
    }

    /// Options `fields.<column>…` name columns that exist.
    fn check_column_options(&self) -> Result<()> {
        for key in self.options.keys() {
            let Some(rest) = key.strip_prefix("fields.") else {
                continue;
            };
            if rest == "default-aggregate-function" {
                continue;
            }
            let Some((columns, _)) = rest.split_once('.') else {
                return Err(
                    Error::invalid(format!("option {key} does not name a column")).with("option", key)
                );
            };
            for column in columns.split(',') {
                if self.field(column).is_none() {
                    return Err(Error::invalid(format!(
                        "option {key} names {column}, which is not a column"
                    ))
                    .with("option", key));
                }
            }
        }
        let options = CoreOptions::from_map(&self.options)?;
        for (index, field) in self.fields.iter().enumerate() {
            options.stats_mode(&field.name, index)?;
        }
        Ok(())
    }

    fn check_sequence_fields(&self, options: &CoreOptions) -> Result<()> {
        let Some(fields) = &options.sequence_field else {
            return Ok(());
        };
        let fail = |problem: String| Err(Error::invalid(problem).with("option", "sequence.field"));
        let mut seen = HashSet::new();
        for field in fields.iter().map(|field| field.trim()) {
            if self.field(field).is_none() {
                return fail(format!("sequence field {field} is not a column"));
            }
            if !seen.insert(field) {
                return fail(format!("sequence field {field} is given twice"));
            }
            if self
                .options
                .contains_key(&format!("fields.{field}.aggregate-function"))
            {
                return fail(format!("sequence field {field} cannot be aggregated"));
            }
        }
        if options.merge_engine == MergeEngine::FirstRow {
            return fail("sequence.field cannot be used with merge-engine first-row".to_owned());
        }
        if self.is_cross_partition_update() {
            return fail("sequence.field cannot be used when keys may move between partitions".to_owned());
        }
        Ok(())
    }

    fn check_options(&self, options: &CoreOptions) -> Result<()> {
        let has_primary_key = !self.primary_keys.is_empty();
        let producer = options.changelog_producer;
        if producer != ChangelogProducer::None && !has_primary_key {
            return Err(
                Error::invalid(format!("changelog-producer {producer} needs a primary key"))
                    .with("option", "changelog-producer"),
            );
        }
        if options.merge_engine == MergeEngine::FirstRow
            && !matches!(producer, ChangelogProducer::None | ChangelogProducer::Lookup)
        {
            return Err(Error::invalid(format!(
                "merge-engine first-row needs changelog-producer none or lookup, found {producer}"
            ))
            .with("option", "changelog-producer"));
        }
        if producer == ChangelogProducer::Lookup && self.options.contains_key("full-compaction.delta-commits")
        {
            return Err(Error::invalid(
                "full-compaction.delta-commits cannot be used with changelog-producer lookup",
            )
            .with("option", "full-compaction.delta-commits"));
        }
        if options.deletion_vectors_enabled {
            if producer == ChangelogProducer::FullCompaction {
                return Err(Error::invalid(
                    "deletion vectors cannot be used with changelog-producer full-compaction",
                )
                .with("option", "deletion-vectors.enabled"));
            }
            if options.merge_engine == MergeEngine::FirstRow {
                return Err(
                    Error::invalid("deletion vectors cannot be used with merge-engine first-row")
                        .with("option", "deletion-vectors.enabled"),
                );
            }
        }
        let (min, max) = (
            options.snapshot_num_retained_min,
            options.snapshot_num_retained_max,
        );
        if min > max {
            return Err(Error::invalid(format!(
                "snapshot.num-retained.min {min} is larger than snapshot.num-retained.max {max}"
            ))
            .with("option", "snapshot.num-retained.min"));
        }
        let min = options.changelog_num_retained_min.unwrap_or(min);
        let max = options.changelog_num_retained_max.unwrap_or(max);
        if min > max {
            return Err(Error::invalid(format!(
                "changelog.num-retained.min {min} is larger than changelog.num-retained.max {max}"
            ))
            .with("option", "changelog.num-retained.min"));
        }
        if options.scan_fallback_branch.is_some() && options.scan_primary_branch.is_some() {
            return Err(
                Error::invalid("scan.fallback-branch and scan.primary-branch exclude each other")
                    .with("option", "scan.primary-branch"),
            );
        }
        Ok(())
    }

    fn check_row_tracking(&self, options: &CoreOptions) -> Result<()> {
        let has_primary_key = !self.primary_keys.is_empty();
        if options.row_tracking_enabled && (has_primary_key || options.bucket != -1) {
            return Err(Error::invalid(
                "row-tracking.enabled needs a table without primary key and with bucket -1",
            )
            .with("option", "row-tracking.enabled"));
        }
        if options.data_evolution_enabled && !options.row_tracking_enabled {
            return Err(
                Error::invalid("data-evolution.enabled needs row-tracking.enabled")
                    .with("option", "data-evolution.enabled"),
            );
        }
        let blobs: Vec<&DataField> = self
            .fields
            .iter()
            .filter(|field| has_blob(&field.data_type))
            .collect();
        let Some(blob) = blobs.first() else { return Ok(()) };
        if !has_primary_key && !options.data_evolution_enabled {
            return Err(
                Error::invalid("a BLOB column needs data-evolution.enabled").with("column", &blob.name)
            );
        }
        if blobs.len() == self.fields.len() {
            return Err(
                Error::invalid("a table needs a column that is not a BLOB").with("column", &blob.name)
            );
        }
        Ok(())
    }
}

fn is_system_name(name: &str) -> bool {
    name.starts_with(system_field::KEY_PREFIX) || system_field::NAMES.contains(&name)
}

/// BLOB, ARRAY of BLOB or MAP to BLOB; deeper BLOBs are refused by [`check_type`].
fn has_blob(data_type: &DataType) -> bool {
    match &data_type.kind {
        TypeKind::Blob => true,
        TypeKind::Array(element) => element.kind == TypeKind::Blob,
        TypeKind::Map(_, value) => value.kind == TypeKind::Blob,
        _ => false,
    }
}

fn check_fields(fields: &[DataField], depth: usize) -> Result<()> {
    let mut names = HashSet::new();
    for field in fields {
        if field.name.is_empty() {
            return Err(Error::invalid("a column or field has no name"));
        }
        if !names.insert(field.name.as_str()) {
            return Err(Error::invalid(format!("the name {} is given twice", field.name)));
        }
        check_type(&field.data_type, depth).map_err(|e| e.with("column", &field.name))?;
        if let Some(text) = &field.default_value
            && !field.data_type.is_nested()
            && let Err(e) = datum_from_string(text, &field.data_type)
        {
            return Err(Error::invalid(format!(
                "the default value '{text}' is not of type {}",
                field.data_type
            ))
            .with("column", &field.name)
            .with_source(e));
        }
    }
    Ok(())
}

fn check_type(data_type: &DataType, depth: usize) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(Error::invalid(format!(
            "types are nested deeper than {MAX_DEPTH}"
        )));
    }
    data_type.kind.check_parameters().map_err(Error::invalid)?;
    let inner = |part: &DataType, blob_allowed: bool| {
        if part.kind == TypeKind::Blob && !(blob_allowed && depth == 0) {
            return Err(Error::invalid(
                "BLOB can be a column, an array element or a map value of a column only",
            ));
        }
        check_type(part, depth + 1)
    };
    match &data_type.kind {
        TypeKind::Array(element) => inner(element, true),
        TypeKind::Multiset(element) | TypeKind::Vector(element, _) => inner(element, false),
        TypeKind::Map(key, value) => {
            inner(key, false)?;
            inner(value, true)
        }
        TypeKind::Row(fields) => {
            if fields.iter().any(|field| field.data_type.kind == TypeKind::Blob) {
                return Err(Error::invalid("BLOB cannot be a field of a ROW"));
            }
            check_fields(fields, depth + 1)
        }
        _ => Ok(()),
    }
}
