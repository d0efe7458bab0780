// SPDX-License-Identifier: Apache-2.0

//! Blob files for Apache Paimon tables: a [`BlobFormatFactory`] for a `paimon_format::FormatRegistry`.
//!
//! A blob file (`data-files.md` 11; Java package `org.apache.paimon.format.blob`) holds one column of a table: BLOB, `ARRAY<BLOB>`
//! or `MAP<K, BLOB>`. It tells neither the name nor the type of that column, so that whoever opens it must know them (from
//! the write columns of the file's metadata): the one field of a read schema is taken for that column, whatever its name
//! and id.
//!
//! **Rows.** A row is a value, null, or a *placeholder*: its value is in an older file. Arrow has no third state, and no
//! value of a blob may mean it, so placeholders are a column of their own, [`placeholder_field`], that a reader fills and
//! a writer takes beside the blobs. A reader that was not asked for it refuses to return a placeholder row, rather than
//! to show a null that is none.
//!
//! **Memory.** Blobs can be huge. A batch of a reader ends at the batch size or when its records reach
//! `ReadHints::read_ahead_bytes` (32 MiB when there are no hints), whichever comes first; a larger value comes alone in a
//! batch, read in pieces of 8 MiB. What a batch takes is reserved from the pool before it is read. With
//! `blob-as-descriptor` only lengths are read, never data. A writer passes on what it is given and keeps one or two
//! bytes a row for the index.
//!
//! **Checks.** Magic number, length and checksum of each record that is read whole are compared; Java compares none of
//! them.

#![warn(clippy::indexing_slicing)]

mod error;
mod format;
pub mod layout;
mod read;
mod schema;
mod stats;
mod write;

pub use format::{BlobFileFormat, BlobFormatFactory};
pub use schema::{PLACEHOLDER_COLUMN, placeholder_field};
