// SPDX-License-Identifier: Apache-2.0

//! The result of a write, handed to the committer (Java `CommitMessageImpl`; `wire.md` 9).

use paimon_types::BinaryRow;

use crate::{DataFileMeta, IndexFileMeta};

/// What one writer did to one (partition, bucket).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitMessage {
    /// Partition values; the empty row for unpartitioned tables.
    pub partition: BinaryRow,
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
        partition: BinaryRow,
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
}
