// SPDX-License-Identifier: Apache-2.0

//! Statistics of columns.

use std::sync::Arc;

use async_trait::async_trait;
use paimon_format::{FileInfo, FormatStatsExtractor, MemoryPool};
use paimon_storage::InputFile;
use paimon_types::{ColumnStats, DataField, Error, Result};

use crate::options::ReadOptions;

/// Reads the statistics of a file (Java `OrcSimpleStatsExtractor`).
#[derive(Debug)]
pub(crate) struct OrcStatsExtractor;

impl OrcStatsExtractor {
    pub(crate) fn new(_fields: &[DataField], _options: ReadOptions) -> Result<Self> {
        Ok(OrcStatsExtractor)
    }
}

#[async_trait]
impl FormatStatsExtractor for OrcStatsExtractor {
    async fn extract_with_file_info(
        &self,
        _file: Arc<dyn InputFile>,
        _pool: Arc<dyn MemoryPool>,
    ) -> Result<(Vec<ColumnStats>, FileInfo)> {
        Err(Error::unsupported("orc statistics cannot be read yet"))
    }
}
