// SPDX-License-Identifier: Apache-2.0

//! Commit: the one place that makes a snapshot visible.

use std::collections::BTreeMap;

use paimon_protocol::CommitMessage;
use paimon_types::{Error, Result};

use crate::table::Table;

/// Partition values as text in the form of partition paths, by column; columns that are left out match every value.
pub type PartitionSpec = BTreeMap<String, String>;

/// What a commit did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitOutcome {
    /// These snapshots are new: one, or an append and a compact snapshot.
    Committed {
        /// Ids in order.
        snapshot_ids: Vec<i64>,
    },
    /// The same (user, identifier, kind) was committed before by these snapshots.
    AlreadyCommitted {
        /// Ids in order.
        snapshot_ids: Vec<i64>,
    },
    /// No change and empty commits are ignored: no snapshot.
    NothingToCommit,
}

/// Commits to one branch of a table.
#[derive(Debug)]
pub struct TableCommit {
    table: Table,
}

impl TableCommit {
    pub(crate) fn new(table: Table) -> Self {
        TableCommit { table }
    }

    /// Stub.
    pub async fn commit(&self, _messages: Vec<CommitMessage>) -> Result<CommitOutcome> {
        Err(Error::unsupported("stub").with("path", self.table.location()))
    }
}
