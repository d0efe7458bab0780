// SPDX-License-Identifier: Apache-2.0

//! Catalogs: names for tables (Java `Catalog`).

mod filesystem;
mod identifier;

use std::fmt;

use async_trait::async_trait;
use paimon_types::{NewTable, Result};

use crate::table::{Table, TableMetadata};

pub use filesystem::FileSystemCatalog;
pub use identifier::{Identifier, SystemTable};

/// Database that is meant when a table name has none.
pub const DEFAULT_DATABASE: &str = "default";

/// What to do with tables when their database is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropMode {
    /// Refuse to drop a database that has tables.
    Restrict,
    /// Drop the tables too.
    Cascade,
}

/// Databases and tables by name (Java `Catalog`). Object-safe, so that engines hold an `Arc<dyn Catalog>`.
///
/// Every method may fail with `Io` or `PermissionDenied`. `NotFound` errors name what exists.
#[async_trait]
pub trait Catalog: Send + Sync + fmt::Debug {
    /// Names of all databases, sorted.
    async fn list_databases(&self) -> Result<Vec<String>>;

    /// True when the database exists.
    async fn database_exists(&self, database: &str) -> Result<bool>;

    /// Creates a database.
    ///
    /// # Errors
    /// `AlreadyExists` unless `ignore_if_exists`; `InvalidInput` for the name.
    async fn create_database(&self, database: &str, ignore_if_exists: bool) -> Result<()>;

    /// Drops a database.
    ///
    /// # Errors
    /// `NotFound` unless `ignore_if_absent`; `InvalidInput` when it has tables and `mode` is [`DropMode::Restrict`].
    async fn drop_database(&self, database: &str, mode: DropMode, ignore_if_absent: bool) -> Result<()>;

    /// Names of the tables of a database, sorted.
    ///
    /// # Errors
    /// `NotFound` when there is no such database.
    async fn list_tables(&self, database: &str) -> Result<Vec<String>>;

    /// True when the table (and the branch, if one is named) exists.
    async fn table_exists(&self, identifier: &Identifier) -> Result<bool>;

    /// Creates a table. The database `default` is made when needed, others must exist.
    ///
    /// # Errors
    /// `AlreadyExists` unless `ignore_if_exists`; `InvalidInput` when the definition does not validate.
    async fn create_table(
        &self,
        identifier: &Identifier,
        table: NewTable,
        ignore_if_exists: bool,
    ) -> Result<()>;

    /// Drops a table with all its files.
    ///
    /// # Errors
    /// `NotFound` unless `ignore_if_absent`.
    async fn drop_table(&self, identifier: &Identifier, ignore_if_absent: bool) -> Result<()>;

    /// Gives a table another name, in the same or another database.
    ///
    /// # Errors
    /// `NotFound`, `AlreadyExists`.
    async fn rename_table(&self, from: &Identifier, to: &Identifier) -> Result<()>;

    /// Location, newest schema and id of a table or of one of its branches.
    ///
    /// # Errors
    /// `NotFound`, naming the tables, databases or branches that exist.
    async fn load_table(&self, identifier: &Identifier) -> Result<TableMetadata>;

    /// Opens a table or one of its branches.
    ///
    /// # Errors
    /// As [`Catalog::load_table`].
    async fn table(&self, identifier: &Identifier) -> Result<Table>;
}
