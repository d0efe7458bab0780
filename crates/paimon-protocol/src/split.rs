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
}
