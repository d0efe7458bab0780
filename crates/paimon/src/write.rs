// SPDX-License-Identifier: Apache-2.0

//! Write and commit in one process.

use arrow_array::RecordBatch;
use paimon_data::TableWrite;
use paimon_meta::{CommitOutcome, PartitionSpec, TableCommit};
use paimon_protocol::CommitMessage;
use paimon_types::Result;

/// Writes batches and commits what was written as one snapshot. Dropped without a commit it leaves no snapshot.
#[derive(Debug)]
pub struct Writer {
    write: TableWrite,
    commit: TableCommit,
    overwrite: Option<Option<PartitionSpec>>,
}

impl Writer {
    pub(crate) fn new(write: TableWrite, commit: TableCommit) -> Self {
        Writer {
            write,
            commit,
            overwrite: None,
        }
    }

    /// Replaces instead of appending: all partitions that match `partition`, or, with `None`, the partitions that are
    /// written (the whole table when it has no partitions or option `dynamic-partition-overwrite` is false).
    #[must_use]
    pub fn overwrite(mut self, partition: Option<PartitionSpec>) -> Self {
        self.overwrite = Some(partition);
        self.write.ignore_previous_files();
        self
    }

    /// Writes the rows of a batch; columns are found by name.
    ///
    /// # Errors
    /// `InvalidInput` that names column and row for values that the table does not take; errors of the store.
    pub async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.write.write(batch).await
    }

    /// Closes the files and publishes the snapshot.
    ///
    /// # Errors
    /// `Conflict` when another commit made this one impossible, `Unknown` when the store left the outcome open. Data files
    /// stay then; [`TableCommit::abort`] removes those of a commit that certainly failed.
    pub async fn commit(mut self) -> Result<CommitOutcome> {
        let messages = self.write.prepare_commit().await?;
        match self.overwrite {
            None => self.commit.commit(messages).await,
            Some(partition) => self.commit.overwrite(partition.as_ref(), messages).await,
        }
    }

    /// Closes the files without publishing; another committer gets the messages.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn prepare(mut self) -> Result<Vec<CommitMessage>> {
        self.write.prepare_commit().await
    }

    /// Deletes what was written.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn abort(self) -> Result<()> {
        self.write.abort().await
    }
}
