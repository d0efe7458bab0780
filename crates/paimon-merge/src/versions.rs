// SPDX-License-Identifier: Apache-2.0

//! The interface between what orders the versions of keys and what merges them.

use std::fmt::Debug;

use arrow_array::{ArrayRef, RecordBatch};
use paimon_types::{Result, RowKind};

/// The versions of some keys, each key whole, in merge order: by key, then user sequence columns, then sequence number, a
/// retraction before an addition (`semantics.md` 2.1). The last version of a key is the newest.
#[derive(Clone, Copy, Debug)]
pub struct Versions<'a> {
    /// Where the rows are. All have the schema that the merge function was made for: the value columns.
    pub sources: &'a [RecordBatch],
    /// (source, row) of each version, in merge order.
    pub rows: &'a [(usize, usize)],
    /// Kind of each version, in merge order; as long as `rows`.
    pub kinds: &'a [RowKind],
    /// For each key the position in `rows` behind its last version: ascending, no key without versions, the last entry is
    /// `rows.len()`.
    pub ends: &'a [usize],
}

/// What became of the keys of one [`Versions`]. A key whose merge has no result (every version ignored) has no row.
#[derive(Clone, Debug)]
pub struct Merged {
    /// Value columns, in the order of the schema of the sources; one row a surviving key, in key order.
    pub columns: Vec<ArrayRef>,
    /// For each row the position in [`Versions::rows`] of the version whose key and sequence number the result carries.
    pub origins: Vec<usize>,
    /// Kind of each row.
    pub kinds: Vec<RowKind>,
}

/// Makes one row of the versions of a key (Java `MergeFunction` under `ReducerMergeFunctionWrapper`).
///
/// A key with exactly one version passes through unchanged, its kind too (`semantics.md` 2.2). A function has no state: a
/// call sees all versions of every key that it is given.
pub trait MergeFunction: Debug + Send + Sync {
    /// Merges all keys of one call.
    ///
    /// # Errors
    /// `InvalidInput` that names column and function where Java raises one (overflow, retraction of a function that cannot
    /// retract, NULL in a NOT NULL column); `Corrupt` when the sources are not what the function was made for.
    fn merge(&self, versions: &Versions<'_>) -> Result<Merged>;

    /// For functions whose row is always one version as it is (deduplicate, first-row): the position of that version for
    /// each key that has a row, ascending; `None` for every other function. Where few rows survive, a reader learns from it
    /// which values to read at all; [`merge`](Self::merge) gives the same rows. `kinds` and `ends` as in [`Versions`].
    ///
    /// # Errors
    /// `InvalidInput` where [`merge`](Self::merge) has one.
    fn winners(&self, kinds: &[RowKind], ends: &[usize]) -> Result<Option<Vec<usize>>> {
        let _ = (kinds, ends);
        Ok(None)
    }
}
