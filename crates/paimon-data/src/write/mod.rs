// SPDX-License-Identifier: Apache-2.0

//! From Arrow record batches to data files and commit messages.

mod batch;
mod context;
mod file_name;
mod file_writer;
mod key_value;
mod partition_ids;
mod restore;
mod router;
mod stats;
mod table_write;

#[cfg(test)]
mod tests;

pub use context::TableWriteContext;
pub use table_write::TableWrite;
