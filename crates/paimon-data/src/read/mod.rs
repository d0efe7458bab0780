// SPDX-License-Identifier: Apache-2.0

//! From a split to Arrow record batches.

mod evolution;
mod file_read;
mod filter;
pub(crate) mod kleene;
mod predicate_mapping;
mod read_ahead;
mod schema_source;
mod table_read;

#[cfg(test)]
mod tests;

pub use schema_source::{FixedSchemas, SchemaSource, StoredSchemas};
pub use table_read::{BatchStream, ReadContext, TableRead, TableReadBuilder};
