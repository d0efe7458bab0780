// SPDX-License-Identifier: Apache-2.0

//! Statistics of data files.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use paimon_storage::InputFile;
use paimon_types::{ColumnStats, Result};

use crate::MemoryPool;

/// Facts about a file as a whole (C++ `FileInfo`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileInfo {
    /// Number of rows in the file.
    pub row_count: u64,
}

impl FileInfo {
    /// A file of `row_count` rows.
    pub fn new(row_count: u64) -> Self {
        FileInfo { row_count }
    }
}

/// Reads the statistics of a finished file (C++ `FormatStatsExtractor`, Java `SimpleStatsExtractor`).
///
/// One entry for each top-level column of the schema that the extractor was created with, in its order. The values are
/// whole (not truncated) and exact where they are given; what the format cannot tell is `None`. The modes of
/// `metadata.stats-mode` are applied by the caller.
#[async_trait]
pub trait FormatStatsExtractor: Send + Sync + fmt::Debug {
    /// The statistics of `file`.
    ///
    /// # Errors
    /// `Corrupt` when the file is not of this format; errors of the store; `ResourcesExhausted` from `pool`.
    async fn extract(&self, file: Arc<dyn InputFile>, pool: Arc<dyn MemoryPool>) -> Result<Vec<ColumnStats>> {
        Ok(self.extract_with_file_info(file, pool).await?.0)
    }

    /// The statistics of `file` and facts about it.
    ///
    /// # Errors
    /// As [`FormatStatsExtractor::extract`].
    async fn extract_with_file_info(
        &self,
        file: Arc<dyn InputFile>,
        pool: Arc<dyn MemoryPool>,
    ) -> Result<(Vec<ColumnStats>, FileInfo)>;
}

/// Counts the rows of a file of a format that stores no statistics of columns.
#[async_trait]
pub trait CountRows: Send + Sync + fmt::Debug {
    /// The number of rows of `file`.
    ///
    /// # Errors
    /// As [`FormatStatsExtractor::extract`].
    async fn count_rows(&self, file: Arc<dyn InputFile>, pool: Arc<dyn MemoryPool>) -> Result<u64>;
}

/// For implementers: the extractor of a format that stores no statistics of columns. Nothing is known of them, the rows are
/// counted.
#[derive(Debug)]
pub struct RowCountExtractor<C> {
    columns: usize,
    count: C,
}

impl<C: CountRows> RowCountExtractor<C> {
    /// Of files with this many columns.
    pub fn new(columns: usize, count: C) -> Self {
        RowCountExtractor { columns, count }
    }
}

#[async_trait]
impl<C: CountRows> FormatStatsExtractor for RowCountExtractor<C> {
    async fn extract_with_file_info(
        &self,
        file: Arc<dyn InputFile>,
        pool: Arc<dyn MemoryPool>,
    ) -> Result<(Vec<ColumnStats>, FileInfo)> {
        let rows = self.count.count_rows(file, pool).await?;
        Ok((vec![ColumnStats::default(); self.columns], FileInfo::new(rows)))
    }
}

/// Optional side of a [`FormatWriter`](crate::FormatWriter) that can tell the statistics of the file that it finished
/// without reading it again (C++ `WrittenFileStatsProvider`).
pub trait WrittenFileStatsProvider {
    /// The statistics of each top-level column of the finished file. They equal what
    /// [`FormatStatsExtractor::extract`] reads back from it; for a column of which the format itself stores nothing (Avro)
    /// the writer may have collected them from its rows.
    ///
    /// # Errors
    /// `InvalidInput` when the file was not finished successfully; `ResourcesExhausted` from `pool`.
    fn extract_written_file_stats(&self, pool: &Arc<dyn MemoryPool>) -> Result<Vec<ColumnStats>>;
}
