// SPDX-License-Identifier: Apache-2.0

//! Merged rows, and the rows of a batch before its columns are made.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_buffer::{ArrowNativeType, ScalarBuffer};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use arrow_select::concat::concat;
use paimon_types::{Error, Result};

use super::sources::Sources;
use crate::Selection;

/// Merged rows.
#[derive(Clone, Debug)]
pub struct MergedBatch {
    /// The first columns of the rows, as many as [`MergeSpec::output_columns`](super::MergeSpec::output_columns).
    pub rows: RecordBatch,
    /// Kind of each row, when [`MergeSpec::keep_retracts`](super::MergeSpec::keep_retracts) was set or all versions are left; else
    /// no row is a retraction.
    pub kinds: Option<ScalarBuffer<i8>>,
    /// Sequence number of each row, when all versions are left.
    pub sequence: Option<ScalarBuffer<i64>>,
    /// Level of each row, when all versions are left and they have levels.
    pub levels: Option<ScalarBuffer<i32>>,
}

/// Merged rows that were decided on but not copied: places in batches of the runs, which it holds.
///
/// To copy them is about half of the work of a merge and needs nothing of the tree, so another thread can do it while the tree goes
/// on.
#[derive(Debug)]
pub struct PickedRows {
    pub(super) output: Output,
    pub(super) sources: Sources,
    /// Rows that were made already; they come before those of `selection`.
    pub(super) made: Vec<MergedBatch>,
    pub(super) selection: Selection,
    /// The places of `selection`, when kinds or sequence numbers come out too.
    pub(super) places: Vec<(usize, usize)>,
    pub(super) rows: usize,
}

impl PickedRows {
    /// Number of rows, at least one.
    pub fn num_rows(&self) -> usize {
        self.rows
    }

    /// Makes the columns.
    ///
    /// # Errors
    /// `ResourcesExhausted` when the values of a column do not fit into one array (2 GiB of text or elements).
    pub fn gather(mut self) -> Result<MergedBatch> {
        if !self.selection.is_empty() {
            let rows = self.output.gather(&self.selection, &self.places, &self.sources)?;
            self.made.push(rows);
        }
        match self.made.pop() {
            Some(only) if self.made.is_empty() => Ok(only),
            Some(last) => {
                self.made.push(last);
                self.output.concat(&self.made, self.rows)
            }
            None => Err(Error::corrupt("a batch of merged rows has no row")),
        }
    }
}

/// What comes out.
#[derive(Clone, Debug)]
pub(super) struct Output {
    pub(super) schema: SchemaRef,
    pub(super) kinds: bool,
    pub(super) sequence: bool,
    pub(super) levels: bool,
}

impl Output {
    pub(super) fn gather(
        &self,
        selection: &Selection,
        places: &[(usize, usize)],
        sources: &Sources,
    ) -> Result<MergedBatch> {
        let columns = selection.gather_batches(sources.rows())?;
        Ok(MergedBatch {
            rows: self.rows(columns, selection.len())?,
            kinds: of_places(self.kinds, places, |slot, row| sources.kind(slot, row)),
            sequence: of_places(self.sequence, places, |slot, row| sources.number(slot, row)),
            levels: of_places(self.levels, places, |slot, row| sources.level(slot, row)),
        })
    }

    fn concat(&self, made: &[MergedBatch], rows: usize) -> Result<MergedBatch> {
        let mut columns = Vec::with_capacity(self.schema.fields().len());
        for column in 0..self.schema.fields().len() {
            let parts: Vec<&dyn Array> = made.iter().map(|m| m.rows.column(column).as_ref()).collect();
            columns.push(concat(&parts).map_err(kernel)?);
        }
        Ok(MergedBatch {
            rows: self.rows(columns, rows)?,
            kinds: of_parts(self.kinds, made.iter().map(|m| &m.kinds)),
            sequence: of_parts(self.sequence, made.iter().map(|m| &m.sequence)),
            levels: of_parts(self.levels, made.iter().map(|m| &m.levels)),
        })
    }

    fn rows(&self, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options).map_err(kernel)
    }
}

fn of_places<T: ArrowNativeType>(
    wanted: bool,
    places: &[(usize, usize)],
    value: impl Fn(usize, usize) -> T,
) -> Option<ScalarBuffer<T>> {
    wanted.then(|| places.iter().map(|(slot, row)| value(*slot, *row)).collect())
}

fn of_parts<'a, T: ArrowNativeType>(
    wanted: bool,
    parts: impl Iterator<Item = &'a Option<ScalarBuffer<T>>>,
) -> Option<ScalarBuffer<T>> {
    wanted.then(|| parts.flatten().flat_map(|part| part.iter().copied()).collect())
}

impl MergedBatch {
    pub(super) fn slice(&self, start: usize, rows: usize) -> Self {
        MergedBatch {
            rows: self.rows.slice(start, rows),
            kinds: self.kinds.as_ref().map(|kinds| kinds.slice(start, rows)),
            sequence: self.sequence.as_ref().map(|numbers| numbers.slice(start, rows)),
            levels: self.levels.as_ref().map(|levels| levels.slice(start, rows)),
        }
    }
}

/// The first columns of a schema.
pub(super) fn first_fields(schema: &Schema, columns: usize) -> SchemaRef {
    Arc::new(Schema::new(
        schema.fields().iter().take(columns).cloned().collect::<Vec<_>>(),
    ))
}

pub(super) fn kernel(error: ArrowError) -> Error {
    Error::corrupt("merged rows do not fit the schema").with_source(error)
}
