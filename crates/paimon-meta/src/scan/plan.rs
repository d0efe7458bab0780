// SPDX-License-Identifier: Apache-2.0

//! What a scan gives: splits and all that a reader needs besides the store.

use std::collections::BTreeMap;
use std::sync::Arc;

use paimon_protocol::{DataSplit, PlanEnvelope};
use paimon_types::{DataField, Predicate, TableSchema};

use crate::Snapshot;

/// How much a scan looked at and left out, for people who ask why a plan is large or slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanMetrics {
    /// Manifests in the lists of the snapshot.
    pub manifests: usize,
    /// Manifests that partition statistics, bucket bounds or missing ADD entries ruled out.
    pub manifests_skipped: usize,
    /// Live files that entry level tests (partition, bucket) left for the statistics test.
    pub files_considered: usize,
    /// Files that their statistics ruled out.
    pub files_skipped_by_stats: usize,
    /// Files in the plan.
    pub files: usize,
    /// Bytes of the files in the plan.
    pub bytes: u64,
}

/// A planned read of one snapshot.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Snapshot that was planned, `None` for a table without snapshots (the plan is then empty).
    pub snapshot: Option<Snapshot>,
    /// Schema of the rows: that of the snapshot when it was chosen by time travel, else the table handle's.
    pub schema: Arc<TableSchema>,
    /// Columns to return, in order: those selected, else all of `schema`.
    pub read_fields: Vec<DataField>,
    /// Predicate of the scan. Splits may hold rows that do not match: it must be applied again to the rows.
    pub filter: Option<Predicate>,
    /// Most rows that are wanted. Splits may hold more.
    pub limit: Option<u64>,
    /// The work.
    pub splits: Vec<DataSplit>,
    /// Schemas that the files of the splits were written with, each once, ascending by id.
    pub schemas: Vec<Arc<TableSchema>>,
    /// Table location.
    pub location: String,
    /// Branch that was planned.
    pub branch: String,
    /// Options of the table handle as text, dynamic ones included.
    pub options: BTreeMap<String, String>,
    /// Counters.
    pub metrics: ScanMetrics,
}

impl Plan {
    /// Id of the snapshot that was planned.
    pub fn snapshot_id(&self) -> Option<i64> {
        self.snapshot.as_ref().map(|s| s.id)
    }

    /// Physical rows of all files, deletions not subtracted.
    pub fn row_count(&self) -> i64 {
        self.splits.iter().map(DataSplit::row_count).sum()
    }

    /// Rows that reading gives, before the filter; `None` when only reading tells: see [`DataSplit::live_row_count`].
    pub fn live_row_count(&self) -> Option<i64> {
        self.splits.iter().map(DataSplit::live_row_count).sum()
    }

    /// Everything that a worker needs to read the splits. Filter, limit and the selection of columns are not part of it.
    pub fn envelope(&self) -> PlanEnvelope {
        PlanEnvelope {
            location: self.location.clone(),
            branch: self.branch.clone(),
            read_schema: (*self.schema).clone(),
            schemas: self.schemas.iter().map(|s| (**s).clone()).collect(),
            options: self.options.clone(),
            snapshot_id: self.snapshot_id(),
            splits: self.splits.clone(),
        }
    }
}
