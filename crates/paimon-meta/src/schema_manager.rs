// SPDX-License-Identifier: Apache-2.0

//! Schema files of one branch (Java `SchemaManager`; `metadata.md` 2.5).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use paimon_storage::Storage;
use paimon_types::{Error, ErrorKind, Result, TableSchema};

use crate::paths::{self, TablePaths};

/// Reads and writes `schema/schema-<id>` of one branch. Cheap to clone; clones share a cache of read schemas.
#[derive(Clone, Debug)]
pub struct SchemaManager {
    storage: Storage,
    paths: TablePaths,
    cache: Arc<Mutex<BTreeMap<i64, Arc<TableSchema>>>>,
}

impl SchemaManager {
    /// Schemas of `branch` (`main` for the table itself) of the table at `location`.
    pub fn new(storage: Storage, location: &str, branch: &str) -> Self {
        SchemaManager {
            storage,
            paths: TablePaths::new(location, branch),
            cache: Arc::default(),
        }
    }

    /// Path of a schema file.
    pub fn schema_path(&self, id: i64) -> String {
        self.paths.schema(id)
    }

    /// Schema `id`. Schema files never change, so a schema is read once.
    ///
    /// # Errors
    /// `NotFound` when there is no such file, `Corrupt` or `Unsupported` when it does not parse.
    pub async fn schema(&self, id: i64) -> Result<Arc<TableSchema>> {
        match self.try_schema(id).await? {
            Some(schema) => Ok(schema),
            None => {
                Err(Error::not_found(format!("schema {id} does not exist"))
                    .with("path", self.schema_path(id)))
            }
        }
    }

    /// Schema `id`, `None` when there is no such file.
    ///
    /// # Errors
    /// As [`SchemaManager::schema`] without `NotFound`.
    pub async fn try_schema(&self, id: i64) -> Result<Option<Arc<TableSchema>>> {
        if let Some(schema) = self.cache.lock().unwrap_or_else(PoisonError::into_inner).get(&id) {
            return Ok(Some(Arc::clone(schema)));
        }
        let path = self.schema_path(id);
        let Some(bytes) = self.storage.read_optional(&path).await? else {
            return Ok(None);
        };
        let schema = parse(&bytes, id).map_err(|e| e.with("path", &path))?;
        let schema = Arc::new(schema);
        self.cache
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id, Arc::clone(&schema));
        Ok(Some(schema))
    }

    /// All schema ids, ascending; names in the directory that are not `schema-<number>` are ignored.
    ///
    /// # Errors
    /// Those of listing.
    pub async fn list_ids(&self) -> Result<Vec<i64>> {
        paths::list_numbered(&self.storage, &self.paths.schema_dir(), "schema-").await
    }

    /// All schemas, ascending by id.
    ///
    /// # Errors
    /// Those of listing and reading.
    pub async fn all(&self) -> Result<Vec<Arc<TableSchema>>> {
        let mut schemas = Vec::new();
        for id in self.list_ids().await? {
            schemas.push(self.schema(id).await?);
        }
        Ok(schemas)
    }

    /// The schema with the largest id, `None` when the table (or branch) does not exist.
    ///
    /// Lists the directory; where the store forbids that, probes upward from `schema-0` (ids have no gaps).
    ///
    /// # Errors
    /// Those of listing and reading.
    pub async fn latest(&self) -> Result<Option<Arc<TableSchema>>> {
        match self.list_ids().await {
            Ok(ids) => match ids.last() {
                Some(id) => self.schema(*id).await.map(Some),
                None => Ok(None),
            },
            Err(e) if cannot_list(&e) => match self.try_schema(0).await? {
                Some(first) => self.latest_from(first).await.map(Some),
                None => Ok(None),
            },
            Err(e) => Err(e),
        }
    }

    /// The newest schema, probing upward from a schema that is known to exist; never lists.
    ///
    /// # Errors
    /// Those of reading.
    pub async fn latest_from(&self, known: Arc<TableSchema>) -> Result<Arc<TableSchema>> {
        let mut latest = known;
        loop {
            match self.try_schema(latest.id + 1).await {
                Ok(Some(next)) => latest = next,
                Ok(None) => return Ok(latest),
                // Some stores answer "forbidden" for a missing name when the caller may not list.
                Err(e) if e.kind() == ErrorKind::PermissionDenied => return Ok(latest),
                Err(e) => return Err(e),
            }
        }
    }

    /// Publishes a schema file; false when a schema with this id exists already.
    ///
    /// # Errors
    /// Those of the store; the outcome is then unknown.
    pub async fn try_publish(&self, schema: &TableSchema) -> Result<bool> {
        let path = self.schema_path(schema.id);
        self.storage
            .create_if_absent(&path, Bytes::from(schema.to_json().into_bytes()))
            .await
    }

    /// Publishes a schema that must be new, settling an unknown outcome by reading back.
    ///
    /// # Errors
    /// `AlreadyExists` when another schema has this id; those of the store.
    pub async fn publish(&self, schema: &TableSchema) -> Result<()> {
        let path = self.schema_path(schema.id);
        let taken =
            || Error::already_exists(format!("schema {} exists already", schema.id)).with("path", &path);
        match self.try_publish(schema).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(taken()),
            Err(e) => match self.storage.read_optional(&path).await {
                Ok(Some(found)) if found == schema.to_json().as_bytes() => Ok(()),
                Ok(Some(_)) => Err(taken().with_source(e)),
                _ => Err(e),
            },
        }
    }
}

/// True for the refusals after which probing known names is worth a try.
pub(crate) fn cannot_list(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::Unsupported)
}

fn parse(bytes: &[u8], id: i64) -> Result<TableSchema> {
    let text =
        std::str::from_utf8(bytes).map_err(|e| Error::corrupt("schema file is not UTF-8").with_source(e))?;
    let schema = TableSchema::from_json(text)?;
    if schema.id != id {
        return Err(Error::corrupt(format!(
            "schema file of id {id} holds id {}",
            schema.id
        )));
    }
    Ok(schema)
}
