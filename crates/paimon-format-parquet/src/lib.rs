// SPDX-License-Identifier: Apache-2.0

//! Parquet for Apache Paimon tables: a [`ParquetFileFormatFactory`] for a `paimon_format::FormatRegistry`.
//!
//! Files are laid out as the Java product lays them out (`data-files.md` 3): message `paimon_schema`, field ids at
//! every depth, INT96 for timestamps finer than microseconds. Files of other writers of the format are read as well.

#![warn(clippy::indexing_slicing)]

mod error;
mod format;
mod int96;
mod options;
mod read;
mod schema;
mod stats;
mod write;

pub use format::{ParquetFileFormat, ParquetFileFormatFactory};
