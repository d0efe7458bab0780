// SPDX-License-Identifier: Apache-2.0

//! The query plan's unit of work (Java `DataSplit`; `wire.md` 8).

use crate::{DataFileMeta, Partition};

/// Deletion vector of one data file (Java `DeletionFile`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletionFile {
    /// Full path of the index file.
    pub path: String,
    /// Byte offset of the size prefix.
    pub offset: i64,
    /// Length as recorded (`wire.md` 10.3).
    pub length: i64,
    /// Deleted rows, `None` when unknown.
    pub cardinality: Option<i64>,
}

/// Files of one bucket that are read together (Java `DataSplit`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSplit {
    /// Snapshot that was planned.
    pub snapshot_id: i64,
    /// Partition that the files belong to.
    pub partition: Partition,
    /// Bucket number, 0 for unaware buckets.
    pub bucket: i32,
    /// Full path of the bucket directory.
    pub bucket_path: String,
    /// Bucket count of the partition, `None` when unknown.
    pub total_buckets: Option<i32>,
    /// Files in reading order.
    pub data_files: Vec<DataFileMeta>,
    /// One entry a data file when present.
    pub deletion_files: Option<Vec<Option<DeletionFile>>>,
    /// Planned by a streaming scan.
    pub is_streaming: bool,
    /// Files can be read one after the other without merging.
    pub raw_convertible: bool,
}

impl DataSplit {
    /// Full path of a data file of this split: its external path or `bucket_path/file_name`.
    pub fn data_file_path(&self, file: &DataFileMeta) -> String {
        match &file.external_path {
            Some(path) => path.clone(),
            None => format!("{}/{}", self.bucket_path.trim_end_matches('/'), file.file_name),
        }
    }

    /// Physical rows of all files, deletions not subtracted.
    pub fn row_count(&self) -> i64 {
        self.data_files.iter().map(|f| f.row_count).sum()
    }
    /// Rows that reading gives, before any filter: physical rows without those of deletion vectors.
    ///
    /// `None` when the files do not tell: versions of keys must be merged, a file holds retractions or (of old releases) does not
    /// say whether it does, or a deletion vector does not say how many rows it deletes (Java `DataSplit.mergedRowCount`).
    pub fn live_row_count(&self) -> Option<i64> {
        let may_retract = |file: &DataFileMeta| match file.delete_row_count {
            Some(rows) => rows != 0,
            // Files without keys hold no retractions.
            None => !file.min_key.is_empty(),
        };
        if !self.raw_convertible || self.data_files.iter().any(may_retract) {
            return None;
        }
        let deletions = self.deletion_files.iter().flatten().flatten();
        let deleted = deletions
            .map(|deletion| deletion.cardinality)
            .try_fold(0i64, |sum, rows| Some(sum.saturating_add(rows?)))?;
        Some(self.row_count().saturating_sub(deleted))
    }
}
