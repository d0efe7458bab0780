// SPDX-License-Identifier: Apache-2.0

//! From a split to Arrow record batches.

mod compare;
mod deletions;
mod evolution;
mod file_read;
mod filter;
pub(crate) mod key_value;
pub(crate) mod kleene;
mod late;
mod merge_read;
mod merge_runs;
mod parts;
mod read_ahead;
mod schema_source;
mod table_read;
mod tasks;
mod timestamp_unit;
mod widen;

pub use schema_source::{FixedSchemas, SchemaSource, StoredSchemas};
pub use table_read::{BatchStream, ReadContext, TableRead, TableReadBuilder};

#[cfg(test)]
mod tests;
