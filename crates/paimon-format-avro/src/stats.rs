// SPDX-License-Identifier: Apache-2.0

//! What a finished file tells about itself: its number of rows (Java `AvroSimpleStatsExtractor`). Statistics of columns
//! are not stored in Avro; the writer collects them.

use std::sync::Arc;

use async_trait::async_trait;
use paimon_format::{FileInfo, FormatStatsExtractor, MemoryPool};
use paimon_storage::InputFile;
use paimon_types::{ColumnStats, DataField, Result};

use crate::read::count_rows;
use crate::schema::avro_schema;

/// Gives the number of rows, and of the columns that nothing is known.
#[derive(Debug)]
pub(crate) struct AvroStatsExtractor {
    columns: usize,
}

impl AvroStatsExtractor {
    pub(crate) fn new(fields: &[DataField]) -> Result<Self> {
        avro_schema(fields)?;
        Ok(AvroStatsExtractor {
            columns: fields.len(),
        })
    }
}

#[async_trait]
impl FormatStatsExtractor for AvroStatsExtractor {
    async fn extract_with_file_info(
        &self,
        file: Arc<dyn InputFile>,
        _pool: Arc<dyn MemoryPool>,
    ) -> Result<(Vec<ColumnStats>, FileInfo)> {
        let rows = count_rows(file).await?;
        Ok((vec![ColumnStats::default(); self.columns], FileInfo::new(rows)))
    }
}
