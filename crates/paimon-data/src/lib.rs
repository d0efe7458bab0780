// SPDX-License-Identifier: Apache-2.0

//! The data plane of Apache Paimon: splits in, Arrow record batches out; record batches in, commit messages out.
//!
//! An engine depends on this crate alone. It never reads a snapshot, manifest or directory: everything that a read needs
//! is in the split and its [`PlanEnvelope`] (or, for bare split bytes of Java, in a schema and a [`SchemaSource`]).
//!
//! - [`TableRead`]: `DataSplit` → ordered stream of batches.
//! - [`TableWrite`]: batches → data files → [`CommitMessage`]s.

#![warn(clippy::indexing_slicing)]

mod arrow_value;
mod file_format;
mod read;
mod spill;
mod write;

pub use arrow_value::{datum_at, repeat, repeat_as};
pub use file_format::default_registry;
pub use paimon_format as format;
pub use paimon_protocol as protocol;
pub use paimon_protocol::{BucketState, Codec, CommitMessage, DataSplit, Partition, PlanEnvelope, Split};
pub use paimon_storage as storage;
pub use paimon_storage::{Environment, Storage, StorageOptions};
pub use paimon_types as types;
pub use paimon_types::{CoreOptions, DataField, DataType, Error, ErrorKind, Predicate, Result, TableSchema};
pub use read::{
    BatchStream, FixedSchemas, ReadContext, SchemaSource, StoredSchemas, TableRead, TableReadBuilder,
};
pub use write::{TableWrite, TableWriteContext};
