// SPDX-License-Identifier: Apache-2.0

//! The control plane of Apache Paimon tables: catalogs, schemas, snapshots, tags, branches, manifests, scan planning and
//! commit.
//!
//! Start at [`Table::open`] with a location, or at a [`Catalog`]. A [`Table`] is a handle on one branch of one table with
//! one schema and one set of options; its managers read the metadata files, [`Table::new_commit`] publishes snapshots.
//! Nothing here opens a data file.

mod branch;
mod catalog;
mod commit;
mod json;
pub mod manifest;
mod paths;
mod restore;
pub mod scan;
mod schema_manager;
mod snapshot;
mod snapshot_manager;
mod table;
mod tag;

pub use branch::BranchManager;
pub use catalog::{Catalog, DEFAULT_DATABASE, DropMode, FileSystemCatalog, Identifier, SystemTable};
pub use commit::{CommitOutcome, PartitionSpec, TableCommit};
pub use paths::{MAIN_BRANCH, TablePaths};
pub use restore::WriteRestore;
pub use scan::{Plan, ScanMetrics, SnapshotSelector, TableScan};
pub use schema_manager::SchemaManager;
pub use snapshot::{CommitKind, Snapshot};
pub use snapshot_manager::SnapshotManager;
pub use table::{Table, TableMetadata};
pub use tag::{Tag, TagManager};
