// SPDX-License-Identifier: Apache-2.0

//! What a writer needs to know, and which tables it refuses.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use paimon_format::FormatRegistry;
use paimon_protocol::BucketState;
use paimon_storage::{Environment, Storage};
use paimon_types::{
    CoreOptions, DataType, Datum, Error, ExternalPathStrategy, Result, TableSchema, TableType, TypeKind,
};

use super::key_value;
use crate::file_format::default_registry;

/// All that a [`TableWrite`](crate::TableWrite) needs; it reads no metadata of the table.
#[derive(Clone, Debug)]
pub struct TableWriteContext {
    /// Where files go.
    pub storage: Storage,
    /// Table root, without branch.
    pub location: String,
    /// The schema that files are written with.
    pub schema: Arc<TableSchema>,
    /// Table options, dynamic ones applied.
    pub options: CoreOptions,
    /// File formats by name.
    pub registry: Arc<FormatRegistry>,
    /// Clock and ids.
    pub environment: Environment,
    /// Bytes of rows and of unfinished files that the writer may hold; `write-buffer-size` unless changed. When they
    /// are used up, the buckets that hold most spill their rows (with a primary key) or finish their files early.
    pub memory_limit: u64,
    /// Where full buffers of tables with a primary key are kept until they are flushed (option `write-buffer-spillable`); the
    /// directory of the system unless changed. The files have no name where the system allows it, and go when they are closed.
    pub spill_directory: PathBuf,
    /// Files that are encoded at once, on the runtime's blocking pool; the number of processors unless changed.
    pub parallelism: usize,
    /// States of the buckets that are there already, for tables with fixed buckets (planned by `paimon_meta::WriteRestore`). Rows
    /// of a bucket that is not here are numbered from 0. `None` when nothing was planned: a table with a primary key then takes
    /// no rows unless they replace what is there, for rows that are numbered from 0 would be older than those that they update.
    pub restore: Option<Vec<BucketState>>,
    /// Partition columns with one value for all rows; batches do not have them.
    pub static_partition: BTreeMap<String, Option<Datum>>,
}

impl TableWriteContext {
    /// A context with the options of the schema, the formats of this build and the system's clock.
    ///
    /// # Errors
    /// `InvalidInput` that names an option with a bad value.
    pub fn new(
        storage: Storage,
        location: impl Into<String>,
        schema: impl Into<Arc<TableSchema>>,
    ) -> Result<Self> {
        let schema = schema.into();
        let options = CoreOptions::from_map(&schema.options)?;
        Ok(TableWriteContext {
            storage,
            location: location.into(),
            memory_limit: options.write_buffer_size,
            spill_directory: std::env::temp_dir(),
            parallelism: std::thread::available_parallelism().map_or(1, usize::from),
            options,
            schema,
            registry: default_registry(),
            environment: Environment::default(),
            restore: None,
            static_partition: BTreeMap::new(),
        })
    }

    /// Refuses what would be written in another way than the table wants it.
    pub(crate) fn check_writable(&self) -> Result<()> {
        let options = &self.options;
        // readers let bad options of writers pass, and a table may have been opened for a reader
        CoreOptions::from_map(options.raw())?;
        if options.table_type != TableType::Table {
            return Err(refuse("type", options.table_type.as_str()));
        }
        match options.bucket {
            _ if !self.schema.primary_keys.is_empty() => key_value::check_writable(self)?,
            -1 | 1.. => {}
            other => return Err(refuse("bucket", &other.to_string())),
        }
        if options.data_evolution_enabled {
            return Err(refuse("data-evolution.enabled", "true"));
        }
        let external = options
            .data_file_external_paths
            .as_ref()
            .is_some_and(|paths| !paths.is_empty());
        if external && options.data_file_external_paths_strategy != ExternalPathStrategy::None {
            return Err(refuse(
                "data-file.external-paths.strategy",
                options.data_file_external_paths_strategy.as_str(),
            ));
        }
        if let Some(format) = options.raw().get("vector.file.format") {
            return Err(refuse("vector.file.format", format));
        }
        for (key, columns) in [
            ("blob-field", &options.blob_field),
            ("blob-descriptor-field", &options.blob_descriptor_field),
            ("blob-view-field", &options.blob_view_field),
        ] {
            if let Some(columns) = columns.as_ref().filter(|columns| !columns.is_empty()) {
                return Err(refuse(key, &columns.join(",")));
            }
        }
        for field in &self.schema.fields {
            if holds_blob(&field.data_type) {
                return Err(Error::unsupported("writing BLOB columns is not implemented yet")
                    .with("column", &field.name));
            }
        }
        for name in self.static_partition.keys() {
            if !self.schema.partition_keys.contains(name) {
                return Err(Error::invalid(format!(
                    "static partition column '{name}' is not a partition column, expected one of ({})",
                    self.schema.partition_keys.join(", ")
                ))
                .with("column", name));
            }
        }
        Ok(())
    }
}

fn holds_blob(data_type: &DataType) -> bool {
    match &data_type.kind {
        TypeKind::Blob => true,
        TypeKind::Array(element) | TypeKind::Multiset(element) | TypeKind::Vector(element, _) => {
            holds_blob(element)
        }
        TypeKind::Map(key, value) => holds_blob(key) || holds_blob(value),
        TypeKind::Row(fields) => fields.iter().any(|field| holds_blob(&field.data_type)),
        _ => false,
    }
}

/// The error of an option that writers do not implement.
pub(super) fn refuse(key: &'static str, value: &str) -> Error {
    Error::unsupported(format!(
        "option {key} is '{value}': writing such a table is not implemented yet"
    ))
    .with("option", key)
}
