// SPDX-License-Identifier: Apache-2.0

//! The catalog that is a directory: `<warehouse>/<database>.db/<table>` (Java `FileSystemCatalog`).

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt};
use paimon_format::FormatRegistry;
use paimon_storage::{Environment, Storage};
use paimon_types::{Error, ErrorKind, NewTable, Result};

use super::identifier::validate_name;
use super::{Catalog, DEFAULT_DATABASE, DropMode, Identifier};
use crate::branch;
use crate::paths::{MAIN_BRANCH, TablePaths, trim_location};
use crate::schema_manager::SchemaManager;
use crate::table::{self, Table, TableMetadata};
use crate::tag::summary;

/// Object stores have no empty directories: this object stands for a database without tables.
const DATABASE_MARKER: &str = ".database";
const CHECKS_AT_ONCE: usize = 16;

/// Databases and tables as directories of a warehouse. Needs no server; names are case-sensitive.
#[derive(Clone, Debug)]
pub struct FileSystemCatalog {
    storage: Storage,
    environment: Environment,
    formats: Arc<FormatRegistry>,
    warehouse: String,
}

impl FileSystemCatalog {
    /// The catalog of the directory `warehouse` (a path or URL); it need not exist yet.
    pub fn new(storage: Storage, warehouse: &str) -> Self {
        Self::new_in(storage, Environment::default(), warehouse)
    }

    /// [`FileSystemCatalog::new`] with a given clock and id source.
    pub fn new_in(storage: Storage, environment: Environment, warehouse: &str) -> Self {
        FileSystemCatalog {
            storage,
            environment,
            formats: Arc::default(),
            warehouse: trim_location(warehouse).to_string(),
        }
    }

    /// The same catalog, whose tables have formats for manifests that are not in Avro ([`Table::with_formats`]).
    #[must_use]
    pub fn with_formats(mut self, formats: Arc<FormatRegistry>) -> Self {
        self.formats = formats;
        self
    }

    /// The warehouse location without trailing slash.
    pub fn warehouse(&self) -> &str {
        &self.warehouse
    }

    /// Directory of a database.
    pub fn database_location(&self, database: &str) -> String {
        Storage::join(&self.warehouse, &format!("{database}.db"))
    }

    /// Root directory of a table.
    pub fn table_location(&self, identifier: &Identifier) -> String {
        Storage::join(&self.database_location(&identifier.database), &identifier.table)
    }

    async fn missing_database(&self, database: &str) -> Error {
        let what = match self.list_databases().await {
            Ok(names) if names.is_empty() => "the warehouse has none".to_string(),
            Ok(names) => format!("the warehouse has {}", summary(&names)),
            Err(e) => format!("and the warehouse is not readable: {e}"),
        };
        Error::not_found(format!("database {database:?} does not exist, {what}"))
            .with("path", &self.warehouse)
    }

    async fn missing_table(&self, identifier: &Identifier) -> Error {
        let database = &identifier.database;
        match self.database_exists(database).await {
            Ok(true) => {}
            Ok(false) => return self.missing_database(database).await,
            Err(e) => return e,
        }
        let main = Identifier {
            branch: None,
            ..identifier.clone()
        };
        if identifier.branch.is_some()
            && let Ok(true) = self.table_exists(&main).await
        {
            let branch = identifier.branch.as_deref().unwrap_or(MAIN_BRANCH);
            return branch::missing(&self.storage, &self.table_location(identifier), branch).await;
        }
        let what = match self.list_tables(database).await {
            Ok(names) if names.is_empty() => "the database has none".to_string(),
            Ok(names) => format!("the database has {}", summary(&names)),
            Err(e) => format!("and the database is not readable: {e}"),
        };
        Error::not_found(format!("table {:?} does not exist, {what}", identifier.table))
            .with("path", self.table_location(identifier))
    }

    fn schemas(&self, identifier: &Identifier) -> SchemaManager {
        let branch = identifier.branch.as_deref().unwrap_or(MAIN_BRANCH);
        SchemaManager::new(self.storage.clone(), &self.table_location(identifier), branch)
    }

    async fn is_table(&self, location: &str) -> Result<bool> {
        // The first schema is almost always there; listing is for tables whose old schemas were removed.
        let first = TablePaths::new(location, MAIN_BRANCH).schema(0);
        if self.storage.status(&first).await?.is_some() {
            return Ok(true);
        }
        let schemas = SchemaManager::new(self.storage.clone(), location, MAIN_BRANCH);
        Ok(!schemas.list_ids().await?.is_empty())
    }
}

fn main_only(identifier: &Identifier, verb: &str) -> Result<()> {
    validate_name("database", &identifier.database)?;
    validate_name("table", &identifier.table)?;
    if identifier.system_table.is_some() {
        return Err(Error::invalid(format!(
            "cannot {verb} a system table, it comes and goes with its table"
        ))
        .with("table", identifier));
    }
    match &identifier.branch {
        None => Ok(()),
        Some(_) => Err(Error::invalid(format!(
            "cannot {verb} a branch as a table; use the branches of the table"
        ))
        .with("table", identifier)),
    }
}

#[async_trait]
impl Catalog for FileSystemCatalog {
    async fn list_databases(&self) -> Result<Vec<String>> {
        let dirs = self.storage.list_dirs(&self.warehouse).await?;
        let mut names: Vec<String> = dirs
            .iter()
            .filter_map(|dir| dir.trim_end_matches('/').strip_suffix(".db"))
            .filter(|name| !name.is_empty())
            .map(str::to_string)
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    async fn database_exists(&self, database: &str) -> Result<bool> {
        validate_name("database", database)?;
        self.storage.exists(&self.database_location(database)).await
    }

    async fn create_database(&self, database: &str, ignore_if_exists: bool) -> Result<()> {
        if self.database_exists(database).await? {
            return match ignore_if_exists {
                true => Ok(()),
                false => Err(
                    Error::already_exists(format!("database {database:?} exists already"))
                        .with("path", self.database_location(database)),
                ),
            };
        }
        let location = self.database_location(database);
        self.storage.create_dir(&location).await?;
        if self.storage.local_path(&location).is_none() {
            self.storage
                .create_if_absent(&Storage::join(&location, DATABASE_MARKER), Bytes::from("{}"))
                .await?;
        }
        Ok(())
    }

    async fn drop_database(&self, database: &str, mode: DropMode, ignore_if_absent: bool) -> Result<()> {
        if !self.database_exists(database).await? {
            return match ignore_if_absent {
                true => Ok(()),
                false => Err(self.missing_database(database).await),
            };
        }
        if mode == DropMode::Restrict {
            let tables = self.list_tables(database).await?;
            if !tables.is_empty() {
                return Err(Error::invalid(format!(
                    "database {database:?} has tables ({}); drop them first or drop the database with cascade",
                    summary(&tables)
                )));
            }
        }
        self.storage.delete_dir(&self.database_location(database)).await
    }

    async fn list_tables(&self, database: &str) -> Result<Vec<String>> {
        validate_name("database", database)?;
        let location = self.database_location(database);
        let dirs = self.storage.list_dirs(&location).await?;
        if dirs.is_empty() && !self.database_exists(database).await? {
            return Err(self.missing_database(database).await);
        }
        let location = location.as_str();
        let checks = dirs.into_iter().map(|dir| async move {
            let name = dir.trim_end_matches('/').to_string();
            let found = self.is_table(&Storage::join(location, &name)).await?;
            Ok::<_, Error>(found.then_some(name))
        });
        let found: Vec<Option<String>> = futures_util::stream::iter(checks)
            .buffer_unordered(CHECKS_AT_ONCE)
            .try_collect()
            .await?;
        let mut names: Vec<String> = found.into_iter().flatten().collect();
        names.sort_unstable();
        Ok(names)
    }

    async fn table_exists(&self, identifier: &Identifier) -> Result<bool> {
        validate_name("database", &identifier.database)?;
        validate_name("table", &identifier.table)?;
        if identifier.branch.is_none() {
            return self.is_table(&self.table_location(identifier)).await;
        }
        Ok(self.schemas(identifier).latest().await?.is_some())
    }

    async fn create_table(
        &self,
        identifier: &Identifier,
        table: NewTable,
        ignore_if_exists: bool,
    ) -> Result<()> {
        main_only(identifier, "create")?;
        if !self.database_exists(&identifier.database).await? {
            if identifier.database != DEFAULT_DATABASE {
                return Err(self.missing_database(&identifier.database).await);
            }
            self.create_database(DEFAULT_DATABASE, true).await?;
        }
        let location = self.table_location(identifier);
        match table::create_schema(&self.storage, &self.environment, &location, table).await {
            Ok(_) => Ok(()),
            Err(e) if e.kind() == ErrorKind::AlreadyExists && ignore_if_exists => Ok(()),
            Err(e) => Err(e.with("table", identifier)),
        }
    }

    async fn drop_table(&self, identifier: &Identifier, ignore_if_absent: bool) -> Result<()> {
        main_only(identifier, "drop")?;
        if !self.table_exists(identifier).await? {
            return match ignore_if_absent {
                true => Ok(()),
                false => Err(self.missing_table(identifier).await),
            };
        }
        self.storage.delete_dir(&self.table_location(identifier)).await
    }

    async fn rename_table(&self, from: &Identifier, to: &Identifier) -> Result<()> {
        main_only(from, "rename")?;
        main_only(to, "rename")?;
        if !self.table_exists(from).await? {
            return Err(self.missing_table(from).await);
        }
        if !self.database_exists(&to.database).await? {
            return Err(self.missing_database(&to.database).await);
        }
        if self.table_exists(to).await? {
            return Err(Error::already_exists(format!("table {to} exists already"))
                .with("path", self.table_location(to)));
        }
        self.storage
            .rename_dir(&self.table_location(from), &self.table_location(to))
            .await
    }

    async fn load_table(&self, identifier: &Identifier) -> Result<TableMetadata> {
        validate_name("database", &identifier.database)?;
        validate_name("table", &identifier.table)?;
        match self.schemas(identifier).latest().await? {
            Some(schema) => Ok(TableMetadata {
                identifier: identifier.clone(),
                location: self.table_location(identifier),
                schema,
                uuid: None,
            }),
            None => Err(self.missing_table(identifier).await),
        }
    }

    async fn table(&self, identifier: &Identifier) -> Result<Table> {
        let metadata = self.load_table(identifier).await?;
        let table = Table::from_metadata(
            self.storage.clone(),
            self.environment.clone(),
            metadata,
            BTreeMap::new(),
        )?;
        Ok(table.with_formats(self.formats.clone()))
    }
}
