// SPDX-License-Identifier: Apache-2.0

//! ORC for Apache Paimon tables: an [`OrcFormatFactory`] for a `paimon_format::FormatRegistry`.
//!
//! Files are laid out as the Java product lays them out (`data-files.md` 4): attribute `paimon.id` on every type but the
//! root, TIMESTAMP relative to the writer's zone, TIMESTAMP_LTZ as instant. Files of other writers of the format are read
//! as well.

#![warn(clippy::indexing_slicing)]

mod decode;
mod error;
mod format;
mod options;
mod proto;
mod read;
mod schema;
mod stats;
mod write;

pub use format::{OrcFileFormat, OrcFormatFactory};
