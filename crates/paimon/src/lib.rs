// SPDX-License-Identifier: Apache-2.0

//! Apache Paimon tables in Rust: one dependency for applications.
//!
//! This crate wires the control plane (`paimon-meta`) and the data plane (`paimon-data`) together and holds no logic of
//! its own. Engines that only read and write files depend on `paimon-data` alone, planners on `paimon-meta`.
//!
//! ```no_run
//! use futures_util::TryStreamExt;
//! use paimon::{Predicate, Table};
//!
//! # async fn run() -> paimon::Result<()> {
//! let table = Table::open("/data/warehouse/default.db/flights").await?;
//! let origin = table.field("origin")?;
//! let jfk = Predicate::eq(origin, paimon::types::Datum::String("JFK".into()))?;
//! let batches: Vec<_> =
//!     table.read().select(["origin", "dep_delay"]).filter(jfk).to_stream().await?.try_collect().await?;
//! println!("{} rows", batches.iter().map(|b| b.num_rows()).sum::<usize>());
//! # Ok(())
//! # }
//! ```

pub mod json_rows;
mod read;
mod table;
mod warehouse;
mod write;

pub use paimon_data as data;
pub use paimon_format as format;
pub use paimon_meta as meta;
pub use paimon_protocol as protocol;
pub use paimon_storage as storage;
pub use paimon_types as types;

pub use paimon_data::{BatchStream, TableRead, TableWrite};
pub use paimon_meta::scan::{Plan, SnapshotSelector, TableScan};
pub use paimon_meta::{CommitOutcome, Identifier, PartitionSpec, Snapshot, TableCommit, WriteRestore};
pub use paimon_protocol::{BucketState, Codec, CommitMessage, DataSplit, Partition, PlanEnvelope, Split};
pub use paimon_storage::{Environment, Storage, StorageOptions};
pub use paimon_types::{DataField, DataType, Error, ErrorKind, NewTable, Predicate, Result, TableSchema};
pub use read::ReadBuilder;
pub use table::Table;
pub use warehouse::Warehouse;
pub use write::Writer;
