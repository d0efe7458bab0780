// SPDX-License-Identifier: Apache-2.0

//! Statistics of blob files: there are none.

use std::sync::Arc;

use async_trait::async_trait;
use paimon_format::{FileInfo, FormatStatsExtractor, MemoryPool};
use paimon_storage::InputFile;
use paimon_types::{ColumnStats, DataField, Result};

use crate::read::load_index;
use crate::schema::Columns;

/// Tells nothing about the column and the number of rows of the file (Java `EmptyStatsExtractor`, which refuses to tell
/// that number; the statistics of a blob file in a manifest are empty whatever the stats mode).
#[derive(Debug)]
pub(crate) struct BlobStatsExtractor {
    columns: usize,
}

impl BlobStatsExtractor {
    pub(crate) fn new(schema: &[DataField]) -> Result<Self> {
        Columns::resolve(schema)?;
        Ok(BlobStatsExtractor {
            columns: schema.len(),
        })
    }
}

#[async_trait]
impl FormatStatsExtractor for BlobStatsExtractor {
    async fn extract_with_file_info(
        &self,
        file: Arc<dyn InputFile>,
        pool: Arc<dyn MemoryPool>,
    ) -> Result<(Vec<ColumnStats>, FileInfo)> {
        let (index, _) = load_index(&file, None, &pool).await?;
        let stats = vec![ColumnStats::default(); self.columns];
        Ok((stats, FileInfo::new(index.rows())))
    }
}
