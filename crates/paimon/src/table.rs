// SPDX-License-Identifier: Apache-2.0

//! A table handle with both planes behind it.

use std::collections::BTreeMap;
use std::sync::Arc;

use paimon_data::{ReadContext, SchemaSource, TableWrite, TableWriteContext, default_registry};
use paimon_format::FormatRegistry;
use paimon_meta::scan::{Plan, TableScan};
use paimon_meta::{SchemaManager, TableCommit};
use paimon_protocol::PlanEnvelope;
use paimon_storage::{Environment, Storage};
use paimon_types::{DataField, Error, NewTable, Result, TableSchema};

use crate::{ReadBuilder, Writer};

/// A table: plan, read, write, commit. Cheap to clone.
///
/// It sees the schema and options of the moment when it was opened and always the newest snapshot.
#[derive(Clone, Debug)]
pub struct Table {
    meta: paimon_meta::Table,
    registry: Arc<FormatRegistry>,
}

impl Table {
    /// Opens the table at a path or URL.
    ///
    /// # Errors
    /// `NotFound` when there is no table.
    pub async fn open(location: &str) -> Result<Self> {
        Self::open_with(Storage::default(), location, BTreeMap::new()).await
    }

    /// Opens the table at a location in a given storage, with options over the stored ones.
    ///
    /// # Errors
    /// `NotFound` when there is no table; `InvalidInput` for a bad option.
    pub async fn open_with(
        storage: Storage,
        location: &str,
        options: BTreeMap<String, String>,
    ) -> Result<Self> {
        Ok(Self::from_meta(
            paimon_meta::Table::open(storage, location, options).await?,
        ))
    }

    /// Creates a table at a location.
    ///
    /// # Errors
    /// `AlreadyExists`; `InvalidInput` when the definition does not validate.
    pub async fn create(storage: Storage, location: &str, definition: NewTable) -> Result<Self> {
        let created =
            paimon_meta::Table::create(storage, Environment::default(), location, definition).await?;
        Ok(Self::from_meta(created))
    }

    /// Wraps a handle of the control plane, with the file formats of this build.
    pub fn from_meta(meta: paimon_meta::Table) -> Self {
        Self::with_formats(&meta, default_registry())
    }

    /// The same table with other file formats, of data files and of manifests that are not in Avro.
    #[must_use]
    pub fn with_registry(self, registry: Arc<FormatRegistry>) -> Self {
        Self::with_formats(&self.meta, registry)
    }

    fn with_formats(meta: &paimon_meta::Table, registry: Arc<FormatRegistry>) -> Self {
        Table {
            meta: meta.with_formats(registry.clone()),
            registry,
        }
    }

    /// The handle of the control plane: snapshots, tags, branches, schemas, manifests.
    pub fn meta(&self) -> &paimon_meta::Table {
        &self.meta
    }

    /// Path or URL of the table.
    pub fn location(&self) -> &str {
        self.meta.location()
    }

    /// The schema of this handle.
    pub fn schema(&self) -> &Arc<TableSchema> {
        self.meta.schema()
    }

    /// A column by name, for predicates.
    ///
    /// # Errors
    /// `InvalidInput` that lists the columns.
    pub fn field(&self, name: &str) -> Result<&DataField> {
        self.schema().field(name).ok_or_else(|| {
            let known: Vec<&str> = self.schema().fields.iter().map(|f| f.name.as_str()).collect();
            Error::invalid(format!(
                "the table has no column '{name}', it has: {}",
                known.join(", ")
            ))
            .with("table", self.location())
        })
    }

    /// The simple door of a read: plan and read in one.
    pub fn read(&self) -> ReadBuilder {
        ReadBuilder::new(self.clone())
    }

    /// The distributed door of a read: make a [`Plan`], send its splits to workers.
    pub fn scan(&self) -> TableScan {
        self.meta.new_scan()
    }

    /// What a worker that shares this handle needs to read the splits of `plan`.
    ///
    /// # Errors
    /// `InvalidInput` for a bad option of readers.
    pub fn read_context(&self, plan: &Plan) -> Result<ReadContext> {
        ReadContext::from_envelope(
            &plan.envelope(),
            self.meta.storage().clone(),
            self.registry.clone(),
        )
    }

    /// What a worker needs to read the splits of an envelope with this table's storage.
    ///
    /// # Errors
    /// `InvalidInput` for a bad option of readers.
    pub fn read_context_of(&self, envelope: &PlanEnvelope) -> Result<ReadContext> {
        ReadContext::from_envelope(envelope, self.meta.storage().clone(), self.registry.clone())
    }

    /// What a worker needs to read bare splits (Java bytes): this handle's schema, older ones read from the table.
    ///
    /// # Errors
    /// `InvalidInput` for a bad option of readers.
    pub fn split_context(&self) -> Result<ReadContext> {
        Ok(ReadContext {
            storage: self.meta.storage().clone(),
            registry: self.registry.clone(),
            read_schema: self.schema().clone(),
            schemas: Arc::new(TableSchemas(self.meta.schema_manager().clone())),
            options: self.meta.options().clone(),
        })
    }

    /// Writes batches and commits them in one snapshot.
    ///
    /// # Errors
    /// `Unsupported` for tables that cannot be written; errors of the store.
    pub async fn write(&self) -> Result<Writer> {
        Ok(Writer::new(self.new_write().await?, self.new_commit()))
    }

    /// The writer of the data plane alone, for workers whose messages a coordinator commits. For tables with fixed
    /// buckets the states of the buckets are planned first: rows go on with their sequence numbers, and a partition that was
    /// written with another bucket count is refused by [`TableWrite::write`].
    ///
    /// # Errors
    /// As [`Table::write`].
    pub async fn new_write(&self) -> Result<TableWrite> {
        if let Some(system_table) = self.meta.identifier().system_table {
            return Err(Error::unsupported(format!(
                "${} is a view of a table and takes no rows",
                system_table.as_str()
            ))
            .with("table", self.meta.identifier()));
        }
        let mut context = TableWriteContext::new(
            self.meta.storage().clone(),
            self.meta.location(),
            self.schema().clone(),
        )?;
        context.options = self.meta.options().clone();
        context.memory_limit = context.options.write_buffer_size;
        context.registry = self.registry.clone();
        context.environment = self.meta.environment().clone();
        if context.options.bucket > 0 {
            context.restore = Some(self.meta.new_write_restore().plan().await?);
        }
        TableWrite::new(context)
    }

    /// The committer alone.
    pub fn new_commit(&self) -> TableCommit {
        self.meta.new_commit()
    }
}

/// The schema files of a table as a source for readers.
#[derive(Debug)]
struct TableSchemas(SchemaManager);

#[async_trait::async_trait]
impl SchemaSource for TableSchemas {
    async fn schema(&self, id: i64) -> Result<Arc<TableSchema>> {
        self.0.schema(id).await
    }
}
