// SPDX-License-Identifier: Apache-2.0

//! Avro container files for Apache Paimon, as functions over bytes: [`Header`] and [`BlockHead`]s, [`Decompressor`] and
//! [`Compression`], the writer's schema as a [`Program`], single values by [`Cursor`] and [`Encoder`].
//!
//! Manifests (`paimon-meta`) and data files (`paimon-format-avro`) share it. No generic value is built: a reader binds
//! what it wants to the nodes of the [`Program`] and skips everything else in place.
//!
//! Everything here is total over its input: an error, never a panic, and no reservation beyond what the input can hold.

#![warn(clippy::indexing_slicing)]

mod compression;
mod container;
mod cursor;
mod encoder;
mod schema;
mod skip;

#[cfg(test)]
mod tests;

pub use compression::{Compression, Decompressor, MAX_BLOCK_BYTES};
pub use container::{BlockHead, ContainerReader, ContainerWriter, Header, MAGIC, SYNC_LEN, sync_marker};
pub use cursor::{Cursor, number_length, number_value};
pub use encoder::Encoder;
pub use schema::{Limits, Logical, Node, NodeId, Program, check_count};
