// SPDX-License-Identifier: Apache-2.0

//! Scan planning: from a snapshot to splits (Java `FileStoreScan`, `SnapshotReader`, `TableScan`; `metadata.md` 9).

mod bucket_pruning;
mod deletion;
mod levels;
mod listing;
mod packing;
mod partition_filter;
mod plan;
mod planner;
mod primary_key;
mod stats_filter;
mod table_scan;
mod time_travel;

pub(crate) use deletion::DELETION_VECTORS;
pub use listing::{ManifestListKind, SnapshotManifest};
pub use plan::{Plan, ScanMetrics};
pub use table_scan::TableScan;
pub use time_travel::SnapshotSelector;

#[cfg(test)]
mod java_tests;
#[cfg(test)]
mod tests;
