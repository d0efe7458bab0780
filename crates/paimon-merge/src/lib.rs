// SPDX-License-Identifier: Apache-2.0

//! Versions of keys in, one row a key out (Java `MergeFunction`; `semantics.md` 1–3), over Arrow columns and without I/O.
//!
//! - [`Versions`]: the rows of many keys in merge order, as places in batches.
//! - [`MergeTree`]: the rows of sorted runs in merge order, what is left of them gathered into batches.
//! - [`RowOrder`]: unsorted rows in merge order.
//! - [`MergeFunction`]: what makes one row of the versions of a key, for all keys of a call at once, column by column;
//!   [`merge_function`] makes the one of a table.
//! - [`Selection`]: rows picked from several batches, copied stretch by stretch.

#![warn(clippy::indexing_slicing)]

mod function;
mod selection;
mod tree;
mod versions;

pub use function::{merge_function, merge_read_fields};
pub use selection::Selection;
pub use tree::{
    MergeMode, MergeSpec, MergeTree, MergedBatch, OrderedRows, PickedRows, RowOrder, RunBatch, Step,
};
pub use versions::{MergeFunction, Merged, Versions};
