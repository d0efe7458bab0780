// SPDX-License-Identifier: Apache-2.0

//! The bytes that the planes exchange: `DataSplit` (the query plan) and `CommitMessage` (the result of a write).
//!
//! - Structs: [`DataSplit`] and the other kinds of [`Split`], [`DataFileMeta`], [`IndexFileMeta`], [`CommitMessage`],
//!   [`ManifestCommittable`], [`PlanEnvelope`], [`BucketState`]; partitions, keys and bounds are typed values
//!   ([`Partition`], [`RowValues`]).
//! - [`Split::to_bytes`], [`CommitMessage::to_bytes`] and their counterparts take the form as a [`Codec`].
//! - [`codec::java`]: every version that Java Paimon reads or wrote, byte for byte.
//! - [`codec::native`]: our own forms, versioned and checksummed (`docs/protocol.md`).
//! - `json`, a feature: all of them as JSON for people.
//!
//! Every decoder is total: bytes from anywhere give a value or an error, memory stays within a small multiple of the
//! input, recursion is limited.

#![warn(clippy::indexing_slicing)]

mod bucket_state;
pub mod codec;
mod commit_message;
mod committable;
mod envelope;
mod file_meta;
#[cfg(feature = "json")]
pub mod json;
mod null_counts;
mod partition;
mod row_values;
pub mod sorted_runs;
mod split;
mod split_kind;

pub use bucket_state::BucketState;
pub use codec::Codec;
pub use commit_message::{CommitMessage, Increment};
pub use committable::ManifestCommittable;
pub use envelope::{PlanEnvelope, is_secret_option};
pub use file_meta::{
    DataFileMeta, DeletionVectorMeta, FileSource, GlobalIndexMeta, IndexFileMeta, SimpleStats,
};
pub use null_counts::NullCounts;
pub use partition::Partition;
pub use row_values::RowValues;
pub use split::{DataSplit, DeletionFile};
pub use split_kind::{ChainSplit, IncrementalSplit, IndexedSplit, QueryAuth, RowRange, Split};
