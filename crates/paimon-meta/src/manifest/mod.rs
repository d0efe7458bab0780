// SPDX-License-Identifier: Apache-2.0

//! Manifests: the files of a snapshot (`metadata.md` 4), as Avro container files, in some tables as ORC files.
//!
//! A *manifest list* names manifests with aggregates that let a scan skip them; a *manifest* holds ADD and DELETE entries
//! of data files; an *index manifest* holds the complete set of index files. [`ManifestStore`] reads and writes them in a
//! table, [`ManifestDecoder`] decodes bytes of either format, [`codec`] those of Avro alone.

#![warn(clippy::indexing_slicing)]

mod avro;
pub mod codec;
mod columnar;
mod decoder;
mod entry;
mod index_entry;
mod list_entry;
mod live;
mod merge;
mod schemas;
mod stats;
mod store;

pub use avro::{MAX_BLOCK_BYTES, ManifestCompression};
pub use codec::{EntryHead, EntrySelector, KeepAll};
pub use decoder::ManifestDecoder;
pub use entry::{FileIdentifier, FileKind, ManifestEntry, merge_entries};
pub use index_entry::IndexManifestEntry;
pub use list_entry::ManifestFileMeta;
pub use store::{ManifestOptions, ManifestStore};

#[cfg(test)]
pub(crate) mod java_tests;
#[cfg(test)]
pub(crate) mod tests;
