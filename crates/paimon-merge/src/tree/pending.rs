// SPDX-License-Identifier: Apache-2.0

//! Rows that were decided on and are not out yet, as places in the batches of the runs.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_buffer::ScalarBuffer;
use arrow_schema::{ArrowError, Schema, SchemaRef};
use arrow_select::concat::concat;
use paimon_types::{Error, Result};

use super::MergedBatch;
use crate::Selection;

/// Batches of the runs as long as a row of them is needed.
#[derive(Debug)]
pub(super) struct Sources {
    /// Columns that come out, by slot; an empty batch is free.
    rows: Vec<RecordBatch>,
    kinds: Vec<ScalarBuffer<i8>>,
    sequence: Vec<ScalarBuffer<i64>>,
    free: Vec<usize>,
    empty: RecordBatch,
}

impl Sources {
    /// Sources of this schema.
    pub(super) fn new(schema: SchemaRef) -> Self {
        Sources {
            rows: Vec::new(),
            kinds: Vec::new(),
            sequence: Vec::new(),
            free: Vec::new(),
            empty: RecordBatch::new_empty(schema),
        }
    }

    /// Takes a batch, whose columns that come out are the first ones.
    pub(super) fn add(
        &mut self,
        batch: &RecordBatch,
        kinds: ScalarBuffer<i8>,
        sequence: ScalarBuffer<i64>,
    ) -> Result<usize> {
        let columns = batch
            .columns()
            .iter()
            .take(self.empty.num_columns())
            .cloned()
            .collect();
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let rows =
            RecordBatch::try_new_with_options(self.empty.schema(), columns, &options).map_err(kernel)?;
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                self.rows.push(self.empty.clone());
                self.kinds.push(Vec::new().into());
                self.sequence.push(Vec::new().into());
                self.rows.len() - 1
            }
        };
        let places = (
            self.rows.get_mut(slot),
            self.kinds.get_mut(slot),
            self.sequence.get_mut(slot),
        );
        if let (Some(to_rows), Some(to_kinds), Some(to_sequence)) = places {
            (*to_rows, *to_kinds, *to_sequence) = (rows, kinds, sequence);
        }
        Ok(slot)
    }

    pub(super) fn rows(&self) -> &[RecordBatch] {
        &self.rows
    }

    pub(super) fn kinds(&self, slot: usize) -> &[i8] {
        self.kinds.get(slot).map_or(&[], |kinds| kinds)
    }

    pub(super) fn kind(&self, slot: usize, row: usize) -> i8 {
        self.kinds(slot).get(row).copied().unwrap_or_default()
    }

    pub(super) fn number(&self, slot: usize, row: usize) -> i64 {
        let numbers = self.sequence.get(slot);
        numbers.and_then(|n| n.get(row)).copied().unwrap_or_default()
    }

    pub(super) fn in_use(&self) -> usize {
        self.rows.len() - self.free.len()
    }

    /// Lets go of all batches but those marked.
    pub(super) fn keep(&mut self, used: &[bool]) {
        self.free.clear();
        for (slot, rows) in self.rows.iter_mut().enumerate() {
            if !used.get(slot).copied().unwrap_or(false) {
                *rows = self.empty.clone();
                self.free.push(slot);
            }
        }
        for slot in &self.free {
            if let (Some(kinds), Some(sequence)) = (self.kinds.get_mut(*slot), self.sequence.get_mut(*slot)) {
                (*kinds, *sequence) = (Vec::new().into(), Vec::new().into());
            }
        }
    }
}

/// Rows of one batch that comes out: first some that were made, then some of the sources.
#[derive(Debug, Default)]
struct Chunk {
    made: Vec<MergedBatch>,
    selection: Selection,
    /// The places of `selection`, when kinds or sequence numbers come out too.
    places: Vec<(usize, usize)>,
    rows: usize,
}

/// Rows to come out, in order, cut into batches.
#[derive(Debug)]
pub(super) struct Pending {
    schema: SchemaRef,
    batch_size: usize,
    with_kinds: bool,
    with_sequence: bool,
    full: VecDeque<Chunk>,
    current: Chunk,
}

impl Pending {
    /// Batches of `batch_size` rows with columns of `schema`.
    pub(super) fn new(schema: SchemaRef, batch_size: usize, with_kinds: bool, with_sequence: bool) -> Self {
        Pending {
            schema,
            batch_size,
            with_kinds,
            with_sequence,
            full: VecDeque::new(),
            current: Chunk::default(),
        }
    }

    /// Rows of the batch that is not full.
    pub(super) fn rows(&self) -> usize {
        self.current.rows
    }

    #[inline]
    pub(super) fn pick(&mut self, slot: usize, row: usize) {
        self.current.selection.push(slot, row);
        if self.with_kinds {
            self.current.places.push((slot, row));
        }
        self.current.rows += 1;
        if self.current.rows >= self.batch_size {
            self.cut();
        }
    }

    pub(super) fn range(&mut self, slot: usize, mut start: usize, mut rows: usize) {
        while rows > 0 {
            let now = rows.min(self.batch_size - self.current.rows);
            self.current.selection.push_run(slot, start, now);
            if self.with_kinds {
                self.current
                    .places
                    .extend((start..start + now).map(|row| (slot, row)));
            }
            self.current.rows += now;
            (start, rows) = (start + now, rows - now);
            if self.current.rows >= self.batch_size {
                self.cut();
            }
        }
    }

    /// Adds rows that were made; `sources` are those of the rows so far.
    pub(super) fn made(&mut self, mut batch: MergedBatch, sources: &Sources) -> Result<()> {
        self.settle(sources)?;
        while batch.rows.num_rows() > 0 {
            let rows = batch.rows.num_rows();
            let now = rows.min(self.batch_size - self.current.rows);
            self.current.made.push(batch.slice(0, now));
            batch = batch.slice(now, rows - now);
            self.current.rows += now;
            if self.current.rows >= self.batch_size {
                self.cut();
            }
        }
        Ok(())
    }

    /// Ends the batch although it is not full.
    pub(super) fn cut(&mut self) {
        if self.current.rows > 0 {
            self.full.push_back(std::mem::take(&mut self.current));
        }
    }

    /// Makes the rows of the batch that is not full, so that it needs no source any more.
    pub(super) fn settle(&mut self, sources: &Sources) -> Result<()> {
        if self.current.selection.is_empty() {
            return Ok(());
        }
        let selection = std::mem::take(&mut self.current.selection);
        let places = std::mem::take(&mut self.current.places);
        let batch = self.gather(&selection, &places, sources)?;
        self.current.made.push(batch);
        Ok(())
    }

    /// The next batch that is full.
    pub(super) fn take(&mut self, sources: &Sources) -> Result<Option<MergedBatch>> {
        let Some(mut chunk) = self.full.pop_front() else {
            return Ok(None);
        };
        if !chunk.selection.is_empty() {
            chunk
                .made
                .push(self.gather(&chunk.selection, &chunk.places, sources)?);
        }
        if chunk.made.len() == 1 {
            return Ok(chunk.made.pop());
        }
        let mut columns = Vec::with_capacity(self.schema.fields().len());
        for column in 0..self.schema.fields().len() {
            let parts: Vec<&dyn Array> = chunk
                .made
                .iter()
                .map(|m| m.rows.column(column).as_ref())
                .collect();
            columns.push(concat(&parts).map_err(kernel)?);
        }
        let parts = chunk.made.iter();
        let kinds = self.with_kinds.then(|| {
            let kinds: Vec<i8> = parts
                .clone()
                .flat_map(|m| m.kinds.iter().flatten())
                .copied()
                .collect();
            kinds.into()
        });
        let sequence = self.with_sequence.then(|| {
            let numbers: Vec<i64> = parts.flat_map(|m| m.sequence.iter().flatten()).copied().collect();
            numbers.into()
        });
        self.batch(columns, chunk.rows, kinds, sequence).map(Some)
    }

    fn gather(
        &self,
        selection: &Selection,
        places: &[(usize, usize)],
        sources: &Sources,
    ) -> Result<MergedBatch> {
        let columns = selection.gather_batches(sources.rows())?;
        let kinds = self.with_kinds.then(|| {
            let kinds: Vec<i8> = places
                .iter()
                .map(|(slot, row)| sources.kind(*slot, *row))
                .collect();
            kinds.into()
        });
        let sequence = self.with_sequence.then(|| {
            let numbers: Vec<i64> = places
                .iter()
                .map(|(slot, row)| sources.number(*slot, *row))
                .collect();
            numbers.into()
        });
        self.batch(columns, selection.len(), kinds, sequence)
    }

    fn batch(
        &self,
        columns: Vec<ArrayRef>,
        rows: usize,
        kinds: Option<ScalarBuffer<i8>>,
        sequence: Option<ScalarBuffer<i64>>,
    ) -> Result<MergedBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let rows =
            RecordBatch::try_new_with_options(self.schema.clone(), columns, &options).map_err(kernel)?;
        Ok(MergedBatch {
            rows,
            kinds,
            sequence,
        })
    }

    /// True when no row waits.
    pub(super) fn is_done(&self) -> bool {
        self.full.is_empty() && self.current.rows == 0
    }

    /// Schema of what comes out.
    pub(super) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

impl MergedBatch {
    fn slice(&self, start: usize, rows: usize) -> Self {
        MergedBatch {
            rows: self.rows.slice(start, rows),
            kinds: self.kinds.as_ref().map(|kinds| kinds.slice(start, rows)),
            sequence: self.sequence.as_ref().map(|numbers| numbers.slice(start, rows)),
        }
    }
}

/// The first columns of a schema.
pub(super) fn first_fields(schema: &Schema, columns: usize) -> SchemaRef {
    Arc::new(Schema::new(
        schema.fields().iter().take(columns).cloned().collect::<Vec<_>>(),
    ))
}

fn kernel(error: ArrowError) -> Error {
    Error::corrupt("merged rows do not fit the schema").with_source(error)
}
