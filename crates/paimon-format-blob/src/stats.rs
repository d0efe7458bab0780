// SPDX-License-Identifier: Apache-2.0

//! Statistics of blob files: there are none (Java `EmptyStatsExtractor`, which refuses to tell the number of rows, too; the
//! statistics of a blob file in a manifest are empty whatever the stats mode).

use std::sync::Arc;

use async_trait::async_trait;
use paimon_format::{CountRows, MemoryPool};
use paimon_storage::InputFile;
use paimon_types::Result;

use crate::read::load_index;

/// Counts the entries of the index.
#[derive(Debug)]
pub(crate) struct IndexEntries;

#[async_trait]
impl CountRows for IndexEntries {
    async fn count_rows(&self, file: Arc<dyn InputFile>, pool: Arc<dyn MemoryPool>) -> Result<u64> {
        let (index, _) = load_index(&file, None, &pool).await?;
        Ok(index.rows())
    }
}
