// SPDX-License-Identifier: Apache-2.0

//! Avro for Apache Paimon tables: an [`AvroFileFormatFactory`] for a `paimon_format::FormatRegistry`.
//!
//! Files are laid out as the Java product lays them out (`data-files.md` 5): record names, unions with null first,
//! logical types, blocks of 64,000 bytes. A file has names and no field ids. Records are decoded straight into Arrow
//! columns, block by block; columns that nobody asked for are skipped in place.

#![warn(clippy::indexing_slicing)]

mod error;
mod format;
mod read;
mod schema;
mod stats;
mod write;

pub use format::{AvroFileFormat, AvroFileFormatFactory};
