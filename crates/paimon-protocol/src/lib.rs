// SPDX-License-Identifier: Apache-2.0

//! The bytes that the planes exchange: `DataSplit` (the query plan) and `CommitMessage` (the result of a write).

#![warn(clippy::indexing_slicing)]

mod commit_message;
mod file_meta;
mod split;

pub use commit_message::{CommitMessage, Increment};
pub use file_meta::{DataFileMeta, DeletionVectorMeta, FileSource, GlobalIndexMeta, IndexFileMeta, SimpleStats};
pub use split::{DataSplit, DeletionFile};
