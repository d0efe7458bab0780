// SPDX-License-Identifier: Apache-2.0

//! Rows that were decided on and are not out yet, as places in the batches of the runs.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_buffer::ScalarBuffer;
use arrow_schema::{ArrowError, Schema, SchemaRef};
use arrow_select::concat::concat;
use paimon_types::{Error, Result};

use super::{MergedBatch, RunBatch};
use crate::Selection;

/// Batches of the runs as long as a row of them is needed.
#[derive(Debug)]
pub(super) struct Sources {
    /// Columns that come out, by slot; an empty batch is free.
    rows: Vec<RecordBatch>,
    kinds: Vec<ScalarBuffer<i8>>,
    sequence: Vec<ScalarBuffer<i64>>,
    levels: Vec<Option<ScalarBuffer<i32>>>,
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
            levels: Vec::new(),
            free: Vec::new(),
            empty: RecordBatch::new_empty(schema),
        }
    }

    /// Takes a batch, whose columns that come out are the first ones.
    pub(super) fn add(&mut self, batch: RunBatch) -> Result<usize> {
        let rows = &batch.rows;
        let columns = rows
            .columns()
            .iter()
            .take(self.empty.num_columns())
            .cloned()
            .collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        let rows =
            RecordBatch::try_new_with_options(self.empty.schema(), columns, &options).map_err(kernel)?;
        let Some(slot) = self.free.pop() else {
            self.rows.push(rows);
            self.kinds.push(batch.kinds);
            self.sequence.push(batch.sequence);
            self.levels.push(batch.levels);
            return Ok(self.rows.len() - 1);
        };
        self.set(slot, rows, batch.kinds, batch.sequence, batch.levels);
        Ok(slot)
    }

    fn set(
        &mut self,
        slot: usize,
        rows: RecordBatch,
        kinds: ScalarBuffer<i8>,
        sequence: ScalarBuffer<i64>,
        levels: Option<ScalarBuffer<i32>>,
    ) {
        if let (Some(r), Some(k), Some(s), Some(l)) = (
            self.rows.get_mut(slot),
            self.kinds.get_mut(slot),
            self.sequence.get_mut(slot),
            self.levels.get_mut(slot),
        ) {
            (*r, *k, *s, *l) = (rows, kinds, sequence, levels);
        }
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

    /// Level of a row; 0 when batches have none.
    pub(super) fn level(&self, slot: usize, row: usize) -> i32 {
        let levels = self.levels.get(slot).and_then(Option::as_ref);
        levels.and_then(|l| l.get(row)).copied().unwrap_or_default()
    }

    /// Lets go of all batches but those marked.
    pub(super) fn keep(&mut self, used: &[bool]) {
        let is_used = |slot: &usize| used.get(*slot).copied().unwrap_or(false);
        self.free = (0..self.rows.len()).filter(|slot| !is_used(slot)).collect();
        for slot in self.free.clone() {
            self.set(
                slot,
                self.empty.clone(),
                Vec::new().into(),
                Vec::new().into(),
                None,
            );
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
    with_levels: bool,
    full: VecDeque<Chunk>,
    current: Chunk,
}

impl Pending {
    /// Batches of `batch_size` rows with columns of `schema`.
    pub(super) fn new(schema: SchemaRef, batch_size: usize) -> Self {
        Pending {
            schema,
            batch_size,
            with_kinds: false,
            with_sequence: false,
            with_levels: false,
            full: VecDeque::new(),
            current: Chunk::default(),
        }
    }

    /// Kinds come out too.
    pub(super) fn with_kinds(mut self, with_kinds: bool) -> Self {
        self.with_kinds = with_kinds;
        self
    }

    /// Kinds, sequence numbers and, when asked for, levels come out too.
    pub(super) fn with_all(mut self, levels: bool) -> Self {
        (self.with_kinds, self.with_sequence, self.with_levels) = (true, true, levels);
        self
    }

    /// Rows of the batch that is not full.
    pub(super) fn rows(&self) -> usize {
        self.current.rows
    }

    /// Rows that the batch takes until it is full.
    pub(super) fn room(&self) -> usize {
        self.batch_size.saturating_sub(self.current.rows).max(1)
    }

    #[inline]
    pub(super) fn pick(&mut self, slot: u32, row: u32) {
        self.current.selection.push_narrow(slot, row, 1);
        if self.with_kinds {
            self.current.places.push((slot as usize, row as usize));
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
        let parts = chunk.made.iter();
        let levels = self.with_levels.then(|| {
            let levels: Vec<i32> = parts.flat_map(|m| m.levels.iter().flatten()).copied().collect();
            levels.into()
        });
        let mut batch = self.batch(columns, chunk.rows)?;
        (batch.kinds, batch.sequence, batch.levels) = (kinds, sequence, levels);
        Ok(Some(batch))
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
        let levels = self.with_levels.then(|| {
            let levels: Vec<i32> = places
                .iter()
                .map(|(slot, row)| sources.level(*slot, *row))
                .collect();
            levels.into()
        });
        let mut batch = self.batch(columns, selection.len())?;
        (batch.kinds, batch.sequence, batch.levels) = (kinds, sequence, levels);
        Ok(batch)
    }

    fn batch(&self, columns: Vec<ArrayRef>, rows: usize) -> Result<MergedBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let rows =
            RecordBatch::try_new_with_options(self.schema.clone(), columns, &options).map_err(kernel)?;
        Ok(MergedBatch {
            rows,
            kinds: None,
            sequence: None,
            levels: None,
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

fn kernel(error: ArrowError) -> Error {
    Error::corrupt("merged rows do not fit the schema").with_source(error)
}
