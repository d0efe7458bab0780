// SPDX-License-Identifier: Apache-2.0

//! URL to object store, create-if-absent, retries: the storage of Apache Paimon tables.
//!
//! [`Storage`] turns a location string (`/data/t`, `file:/data/t`, `memory://t`, `s3://bucket/t` …) into reads, writes and
//! lists. Path strings are literal: the `%2F` that the table format writes into a partition directory is a `%2F` on the
//! disk and in the object key, never a decoded slash and never a `%252F`.

mod cloud;
mod environment;
mod error;
#[cfg(feature = "object-store")]
#[doc(hidden)]
pub mod fault;
mod file;
mod local;
mod local_file;
mod location;
#[cfg(feature = "object-store")]
mod object;
mod options;
mod remote;
mod storage;

pub use environment::{Clock, Environment, IdSource, SystemClock, UuidSource};
pub use file::{FileStatus, InputFile, OutputStream};
pub use local_file::LocalFile;
pub use options::StorageOptions;
pub use storage::Storage;
