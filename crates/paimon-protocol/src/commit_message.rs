// SPDX-License-Identifier: Apache-2.0

//! The result of a write, handed to the committer (Java `CommitMessageImpl`; `wire.md` 9).

use paimon_types::{Datum, Result, TableSchema};

use crate::{DataFileMeta, IndexFileMeta, Partition};

/// What one writer did to one (partition, bucket).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitMessage {
    /// Partition that the files belong to.
    pub partition: Partition,
    /// Bucket number.
    pub bucket: i32,
    /// Bucket count that the writer used.
    pub total_buckets: Option<i32>,
    /// Files of the append snapshot.
    pub data_increment: Increment,
    /// Files of the compact snapshot.
    pub compact_increment: Increment,
    /// Snapshot from which row-level conflicts are looked for.
    pub check_from_snapshot: Option<i64>,
}

/// File changes (Java `DataIncrement` and `CompactIncrement`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Increment {
    /// New files (`newFiles`, or `compactAfter`).
    pub new_files: Vec<DataFileMeta>,
    /// Files that are no longer part of the table (`deletedFiles`, or `compactBefore`).
    pub deleted_files: Vec<DataFileMeta>,
    /// Changelog files.
    pub changelog_files: Vec<DataFileMeta>,
    /// New index files.
    pub new_index_files: Vec<IndexFileMeta>,
    /// Index files that are no longer part of the table.
    pub deleted_index_files: Vec<IndexFileMeta>,
}

impl Increment {
    /// True when nothing changed.
    pub fn is_empty(&self) -> bool {
        self.new_files.is_empty()
            && self.deleted_files.is_empty()
            && self.changelog_files.is_empty()
            && self.new_index_files.is_empty()
            && self.deleted_index_files.is_empty()
    }
}

impl CommitMessage {
    /// A message that only adds files.
    pub fn append(
        partition: Partition,
        bucket: i32,
        total_buckets: Option<i32>,
        new_files: Vec<DataFileMeta>,
    ) -> Self {
        CommitMessage {
            partition,
            bucket,
            total_buckets,
            data_increment: Increment {
                new_files,
                ..Increment::default()
            },
            compact_increment: Increment::default(),
            check_from_snapshot: None,
        }
    }

    /// Values of the partition columns of a table with this schema; `None` is NULL.
    ///
    /// # Errors
    /// `Corrupt` when the message has another number of values or they do not decode.
    pub fn partition_values(&self, schema: &TableSchema) -> Result<Vec<(String, Option<Datum>)>> {
        self.partition.named_values(schema)
    }

    /// New data files of append and compaction, in this order.
    pub fn new_files(&self) -> impl Iterator<Item = &DataFileMeta> {
        self.increments().flat_map(|increment| &increment.new_files)
    }

    /// Data files that are no longer part of the table.
    pub fn deleted_files(&self) -> impl Iterator<Item = &DataFileMeta> {
        self.increments().flat_map(|increment| &increment.deleted_files)
    }

    /// Changelog files.
    pub fn changelog_files(&self) -> impl Iterator<Item = &DataFileMeta> {
        self.increments().flat_map(|increment| &increment.changelog_files)
    }

    /// New index files.
    pub fn new_index_files(&self) -> impl Iterator<Item = &IndexFileMeta> {
        self.increments().flat_map(|increment| &increment.new_index_files)
    }

    /// Index files that are no longer part of the table.
    pub fn deleted_index_files(&self) -> impl Iterator<Item = &IndexFileMeta> {
        self.increments()
            .flat_map(|increment| &increment.deleted_index_files)
    }

    /// Rows of the new data files, retractions included.
    pub fn new_row_count(&self) -> i64 {
        self.new_files().map(|file| file.row_count).sum()
    }

    /// True when nothing changed.
    pub fn is_empty(&self) -> bool {
        self.increments().all(Increment::is_empty)
    }

    fn increments(&self) -> impl Iterator<Item = &Increment> {
        [&self.data_increment, &self.compact_increment].into_iter()
    }
}
