// SPDX-License-Identifier: Apache-2.0

//! The part of Avro that manifests need: container files, a decoder whose steps are fixed once per file from the writer's
//! schema, and an encoder. No generic value is built; fields that nobody asked for are skipped in place.
//!
//! Everything here is total over its input: an error, never a panic, and no reservation beyond what the input can hold.

mod compression;
mod container;
mod cursor;
mod encoder;
mod layout;
mod schema;

pub use compression::{MAX_BLOCK_BYTES, ManifestCompression};
pub(crate) use container::{ContainerReader, ContainerWriter};
pub(crate) use cursor::Cursor;
pub(crate) use encoder::Encoder;
pub(crate) use layout::{Access, Kind, Layout, Presence, Wanted, read_array};
pub(crate) use schema::{NodeId, Program};

#[cfg(test)]
mod tests;
