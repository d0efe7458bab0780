// SPDX-License-Identifier: Apache-2.0

//! Where a reader finds the schemas that data files were written with.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use paimon_storage::Storage;
use paimon_types::{Error, Result, TableSchema};

/// Schemas by id. A plan envelope carries them; an engine that has only split bytes gives a source of its own.
#[async_trait]
pub trait SchemaSource: Send + Sync + fmt::Debug {
    /// The schema with this id.
    ///
    /// # Errors
    /// `NotFound` when the source does not have it.
    async fn schema(&self, id: i64) -> Result<Arc<TableSchema>>;
}

/// A fixed set of schemas, for instance those of a plan envelope.
#[derive(Clone, Debug, Default)]
pub struct FixedSchemas {
    schemas: HashMap<i64, Arc<TableSchema>>,
}

impl FixedSchemas {
    /// A source of exactly these schemas.
    pub fn new(schemas: impl IntoIterator<Item = Arc<TableSchema>>) -> Self {
        FixedSchemas {
            schemas: schemas.into_iter().map(|s| (s.id, s)).collect(),
        }
    }
}

#[async_trait]
impl SchemaSource for FixedSchemas {
    async fn schema(&self, id: i64) -> Result<Arc<TableSchema>> {
        self.schemas.get(&id).cloned().ok_or_else(|| {
            let mut known: Vec<i64> = self.schemas.keys().copied().collect();
            known.sort_unstable();
            Error::not_found(format!("the plan does not hold schema {id}, it has {known:?}"))
        })
    }
}

/// Reads `schema/schema-<id>` below a table (or branch) location on demand and keeps what it read.
#[derive(Debug)]
pub struct StoredSchemas {
    storage: Storage,
    directory: String,
    cache: Mutex<HashMap<i64, Arc<TableSchema>>>,
}

impl StoredSchemas {
    /// Schemas of the table at `location`; `branch` is `main` or the name of a branch.
    pub fn new(storage: Storage, location: &str, branch: &str) -> Self {
        let location = location.trim_end_matches('/');
        let directory = match branch {
            "main" => format!("{location}/schema"),
            other => format!("{location}/branch/branch-{other}/schema"),
        };
        StoredSchemas {
            storage,
            directory,
            cache: Mutex::default(),
        }
    }
}

#[async_trait]
impl SchemaSource for StoredSchemas {
    async fn schema(&self, id: i64) -> Result<Arc<TableSchema>> {
        let cached = self
            .cache
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&id)
            .cloned();
        if let Some(schema) = cached {
            return Ok(schema);
        }
        let path = format!("{}/schema-{id}", self.directory);
        let bytes = self.storage.read(&path).await?;
        let text = std::str::from_utf8(&bytes).map_err(|e| {
            Error::corrupt("a schema file is not UTF-8")
                .with("path", &path)
                .with_source(e)
        })?;
        let schema = Arc::new(TableSchema::from_json(text).map_err(|e| e.with("path", &path))?);
        self.cache
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id, schema.clone());
        Ok(schema)
    }
}
