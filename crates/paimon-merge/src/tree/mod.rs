// SPDX-License-Identifier: Apache-2.0

//! A k-way merge of sorted runs over Arrow columns (Java `SortMergeReader` with its merge function; `semantics.md` 1.4, 2).
//!
//! The tree is told what it needs by [`MergeTree::next`] and never waits: it asks for a batch of a run, gives merged rows or ends.
//! Work is done on stretches of rows: where only one run has keys it is passed as a whole, where runs interleave the keys of some
//! thousand rows are merged at once as plain numbers. Columns are touched once, when the rows of a
//! batch are gathered, which the caller may do elsewhere.

mod block;
mod core;
mod decide;
mod keys;
mod pending;
mod picked;
mod run;
mod sequence;
mod sort;
mod sources;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::ScalarBuffer;
use arrow_schema::{DataType as ArrowType, SchemaRef};
use paimon_types::{Error, Result};

use crate::MergeFunction;
use keys::{ByteKeys, Form, KeyEncoder, NarrowKeys, WideKeys};
use sequence::SequenceEncoder;

pub use picked::{MergedBatch, PickedRows};
pub use sort::{OrderedRows, RowOrder};

/// What becomes of the versions of a key.
#[derive(Clone, Debug)]
pub enum MergeMode {
    /// The last version is left (merge engine `deduplicate`).
    Deduplicate {
        /// Versions of kind −U and −D do not count where another version is there.
        ignore_delete: bool,
    },
    /// The first version is left (merge engine `first-row`).
    FirstRow {
        /// Versions of kind −U and −D do not count where another version is there; without it they are an error.
        ignore_delete: bool,
    },
    /// One row is made of all versions.
    Function(Arc<dyn MergeFunction>),
    /// All versions are left, in merge order: an intermediate round of a merge of many runs. No batch cuts a key in two.
    All,
}

/// What to merge and how.
#[derive(Clone, Debug)]
pub struct MergeSpec {
    /// Schema of the rows of every run.
    pub schema: SchemaRef,
    /// Positions of the key columns, in the order in which keys compare; NULL comes first.
    pub keys: Vec<usize>,
    /// Positions of the user sequence columns (option `sequence.field`); may be empty.
    pub sequence: Vec<usize>,
    /// `sequence.field.sort-order` is `descending`: the smallest value is the newest.
    pub descending: bool,
    /// How many of the first columns come out; a merge function sees these only.
    pub output_columns: usize,
    /// What becomes of the versions of a key.
    pub mode: MergeMode,
    /// Rows of kind −U and −D come out too.
    pub keep_retracts: bool,
    /// Number of rows of every batch that comes out but the last; [`MergeMode::All`] may give more.
    pub batch_size: usize,
    /// Of the versions of a key above level 0 only that of the lowest level counts, as the tables that look keys up when they
    /// compact want it (Java `LookupMergeFunction`): it was merged with those below. Batches then have levels.
    pub one_above_level_0: bool,
    /// Runs in which a key may be repeated, though not across batches: what [`MergeMode::All`] made.
    pub repeated_keys: bool,
}

/// Some rows of a run.
#[derive(Clone, Debug)]
pub struct RunBatch {
    /// The rows, by ascending keys.
    pub rows: RecordBatch,
    /// Sequence number of each row.
    pub sequence: ScalarBuffer<i64>,
    /// Kind of each row (`RowKind::to_byte`).
    pub kinds: ScalarBuffer<i8>,
    /// Level of the file of each row, where [`MergeSpec::one_above_level_0`] asks for it.
    pub levels: Option<ScalarBuffer<i32>>,
}

/// What the tree wants next.
#[derive(Debug)]
pub enum Step {
    /// The next batch of this run: [`MergeTree::push`] or [`MergeTree::end`].
    Need(usize),
    /// Merged rows by ascending keys; at least one row.
    Batch(Box<PickedRows>),
    /// There are no more rows.
    End,
}

/// Merges sorted runs.
pub struct MergeTree {
    merge: Box<dyn Merge>,
}

/// A merge of one form of keys.
trait Merge: Send {
    fn push(&mut self, run: usize, batch: RunBatch) -> Result<()>;
    fn end(&mut self, run: usize) -> Result<()>;
    fn next(&mut self) -> Result<Step>;
    fn untouched(&self, run: usize) -> usize;
    fn drain(&mut self) -> Result<Option<PickedRows>>;
}

impl MergeTree {
    /// A merge of `runs` runs. The order of the runs matters only for versions that nothing else tells apart: that of the later
    /// run is taken as the newer one.
    ///
    /// # Errors
    /// `InvalidInput` for positions outside of the schema or a batch size of 0, `Unsupported` for a key or sequence column whose
    /// type has no order.
    pub fn new(spec: MergeSpec, runs: usize) -> Result<Self> {
        if spec.batch_size == 0 || u32::try_from(runs).is_err() {
            return Err(Error::invalid(
                "a merge needs a batch size above 0 and fewer runs",
            ));
        }
        let types = |columns: &[usize]| -> Result<Vec<ArrowType>> {
            let fields = spec.schema.fields();
            let of = |column: &usize| {
                fields
                    .get(*column)
                    .map(|f| f.data_type().clone())
                    .ok_or_else(|| Error::invalid(format!("there is no column {column} to merge by")))
            };
            columns.iter().map(of).collect()
        };
        let fields = spec.schema.fields();
        let nullable = spec
            .keys
            .iter()
            .filter_map(|at| fields.get(*at))
            .map(|f| f.is_nullable())
            .collect();
        let (encoder, form) = KeyEncoder::new(&types(&spec.keys)?, nullable)?;
        let sequence = match spec.sequence.as_slice() {
            [] => None,
            columns => Some(SequenceEncoder::new(&types(columns)?, spec.descending)?),
        };
        if spec.output_columns > spec.schema.fields().len() {
            return Err(Error::invalid(format!(
                "{} columns cannot come out of {}",
                spec.output_columns,
                spec.schema.fields().len()
            )));
        }
        let merge: Box<dyn Merge> = match form {
            Form::Narrow => Box::new(core::Core::<NarrowKeys>::new(spec, encoder, sequence, runs)),
            Form::Wide => Box::new(core::Core::<WideKeys>::new(spec, encoder, sequence, runs)),
            Form::Bytes => Box::new(core::Core::<ByteKeys>::new(spec, encoder, sequence, runs)),
        };
        Ok(MergeTree { merge })
    }

    /// Gives the next batch of a run that was asked for; a batch without rows is passed over.
    ///
    /// # Errors
    /// `Corrupt` when the keys do not ascend, one is NULL where its column allows none, or the batch is not of the schema; `InvalidInput` when the run was not
    /// asked for.
    pub fn push(&mut self, run: usize, batch: RunBatch) -> Result<()> {
        self.merge.push(run, batch)
    }

    /// Says that a run that was asked for has no more rows.
    ///
    /// # Errors
    /// `InvalidInput` when the run was not asked for.
    pub fn end(&mut self, run: usize) -> Result<()> {
        self.merge.end(run)
    }

    /// Goes on with the merge.
    ///
    /// # Errors
    /// Those of the merge function; `InvalidInput` for a retraction where the engine allows none.
    // Not an iterator: the caller has to answer.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Step> {
        self.merge.next()
    }

    /// Rows of the last batch of a run that the merge has not come to. Of no key it came to a part of the versions only.
    pub fn untouched(&self, run: usize) -> usize {
        self.merge.untouched(run)
    }

    /// Rows that were decided on and did not come out yet, however few they are; `None` when there are none.
    ///
    /// # Errors
    /// Those of the merge function.
    pub fn drain(&mut self) -> Result<Option<PickedRows>> {
        self.merge.drain()
    }
}

impl fmt::Debug for MergeTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MergeTree").finish_non_exhaustive()
    }
}
