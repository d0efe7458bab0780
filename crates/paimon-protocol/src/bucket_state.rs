// SPDX-License-Identifier: Apache-2.0

//! What a writer of one bucket must know about what is there already (Java `RestoreFiles`, planned by `WriteRestore`).

use paimon_types::{Error, Result};

use crate::{DataFileMeta, IndexFileMeta, Partition};

/// State of one (partition, bucket) in one snapshot, planned by the control plane for a writer that goes on with it.
///
/// A bucket that is in no state is new: its rows are numbered from 0 and it has the bucket count of the table's options, unless
/// another bucket of its partition tells another count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketState {
    /// Snapshot that the state was planned from, `None` for a table without snapshots.
    pub snapshot_id: Option<i64>,
    /// Partition.
    pub partition: Partition,
    /// Bucket number.
    pub bucket: i32,
    /// Bucket count that the files of the bucket were written with, `None` when no file tells.
    pub total_buckets: Option<i32>,
    /// Largest sequence number of all files, `None` without files. The next row gets the one behind it.
    pub max_sequence_number: Option<i64>,
    /// The live data files, in the order of the manifests; `None` when they were not asked for, as a writer that neither merges
    /// nor compacts does not.
    pub data_files: Option<Vec<DataFileMeta>>,
    /// The hash index of a dynamic bucket (index type `HASH`).
    pub hash_index: Option<IndexFileMeta>,
    /// Index files with deletion vectors of the bucket's data files (index type `DELETION_VECTORS`).
    pub deletion_vectors: Vec<IndexFileMeta>,
}

impl BucketState {
    /// The state of a bucket without files.
    pub fn empty(partition: Partition, bucket: i32) -> Self {
        BucketState {
            snapshot_id: None,
            partition,
            bucket,
            total_buckets: None,
            max_sequence_number: None,
            data_files: None,
            hash_index: None,
            deletion_vectors: Vec::new(),
        }
    }

    /// Sequence number of the next row: one more than the largest, 0 for a bucket without files.
    ///
    /// # Errors
    /// `InvalidInput` when the numbers are used up.
    pub fn next_sequence_number(&self) -> Result<i64> {
        match self.max_sequence_number {
            None => Ok(0),
            Some(max) => max.checked_add(1).ok_or_else(|| {
                Error::invalid(format!(
                    "sequence numbers of bucket {} are used up, the largest is {max}",
                    self.bucket
                ))
            }),
        }
    }

    /// The data files of an LSM level, in the order of the manifests; none when the files were not asked for.
    pub fn files_of_level(&self, level: i32) -> impl Iterator<Item = &DataFileMeta> {
        let files = self.data_files.iter().flatten();
        files.filter(move |file| file.level == level)
    }

    /// Refuses a writer with another bucket count than the files that are there (Java
    /// `AbstractFileStoreWrite.createWriterContainer`).
    ///
    /// # Errors
    /// `InvalidInput` with both counts.
    pub fn check_total_buckets(&self, wanted: i32) -> Result<()> {
        match self.total_buckets {
            Some(found) if found != wanted => Err(Error::invalid(format!(
                "the partition was written with {found} buckets, the table now has {wanted}: overwrite the partition to \
                 rescale it before appending"
            ))
            .with("option", "bucket")),
            _ => Ok(()),
        }
    }
}
