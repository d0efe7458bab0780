// SPDX-License-Identifier: Apache-2.0

//! The file format interface of Apache Paimon: readers, writers, statistics and the registry that finds them by name.
//!
//! A format implements [`FileFormat`] and a [`FileFormatFactory`] that makes it from table options; an application
//! puts the factory into a [`FormatRegistry`]. Data crosses the interface as Arrow
//! [`RecordBatch`](arrow_array::RecordBatch), schemas as Paimon [`DataField`](paimon_types::DataField)s, whose Arrow
//! form is `paimon_types::to_arrow_schema`.
//!
//! [`RowsReader`], [`blocking`], [`rows`] and [`CallState`] are for implementers: the first for files that are decoded whole, the others what formats with a synchronous decoder have in common.
//!
//! Two differences from the C++ interface that this one follows are deliberate: batches of a format have no
//! `_VALUE_KIND` column of their own (rows of append files have no kind; a key-value file stores the column like any
//! other), and arrays may be slices with an offset, because nothing here crosses the Arrow C data interface.

#![warn(clippy::indexing_slicing)]

pub mod blocking;
mod cache;
mod format;
mod memory;
mod metrics;
mod reader;
mod registry;
pub mod rows;
mod rows_reader;
mod stats;
mod writer;

#[cfg(feature = "testkit")]
pub mod testkit;

pub use cache::{Cache, CacheStats, CachedValue, LruCache};
pub use format::{FileFormat, FileFormatFactory};
pub use memory::{BoundedMemoryPool, MemoryPool, MemoryReservation, UnboundedMemoryPool};
pub use metrics::Metrics;
pub use reader::{FileBatchReader, ReadHints, ReaderBuilder, StickyError};
pub use registry::FormatRegistry;
pub use roaring::RoaringBitmap;
pub use rows_reader::RowsReader;
pub use stats::{CountRows, FileInfo, FormatStatsExtractor, RowCountExtractor, WrittenFileStatsProvider};
pub use writer::{CallState, FormatWriter, WriterBuilder};
