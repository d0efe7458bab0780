// SPDX-License-Identifier: Apache-2.0

//! A warehouse directory: databases and tables by name.

use std::collections::BTreeMap;

use paimon_data::default_registry;
use paimon_meta::{Catalog, FileSystemCatalog, Identifier};
use paimon_storage::Storage;
use paimon_types::{NewTable, Result};

use crate::Table;

/// Tables of a warehouse directory by `db.table`.
#[derive(Clone, Debug)]
pub struct Warehouse {
    catalog: std::sync::Arc<FileSystemCatalog>,
}

impl Warehouse {
    /// The warehouse at a path or URL; nothing is read yet.
    pub fn open(storage: Storage, url: &str) -> Self {
        let catalog = FileSystemCatalog::new(storage, url).with_formats(default_registry());
        Warehouse {
            catalog: std::sync::Arc::new(catalog),
        }
    }

    /// The catalog: databases, renames, drops.
    pub fn catalog(&self) -> &dyn Catalog {
        self.catalog.as_ref()
    }

    /// Opens a table given as `db.table` or `db.table$branch_name`.
    ///
    /// # Errors
    /// `NotFound`; `InvalidInput` for a malformed name.
    pub async fn table(&self, name: &str) -> Result<Table> {
        self.table_with(&Identifier::parse(name)?, BTreeMap::new()).await
    }

    /// Opens a table with options over the stored ones.
    ///
    /// # Errors
    /// `NotFound`; `InvalidInput` for a bad option.
    pub async fn table_with(
        &self,
        identifier: &Identifier,
        options: BTreeMap<String, String>,
    ) -> Result<Table> {
        let table = self.catalog.table(identifier).await?;
        let branch = options.get("branch").cloned();
        let table = match branch {
            Some(branch) if branch != table.branch() => table.at_branch(&branch).await?,
            _ => table,
        };
        Ok(Table::from_meta(table.with_options(options)?))
    }

    /// Creates a table, and its database when that does not exist.
    ///
    /// # Errors
    /// `AlreadyExists`; `InvalidInput` when the definition does not validate.
    pub async fn create_table(&self, identifier: &Identifier, definition: NewTable) -> Result<Table> {
        self.catalog.create_database(&identifier.database, true).await?;
        self.catalog.create_table(identifier, definition, false).await?;
        self.table_with(identifier, BTreeMap::new()).await
    }
}
