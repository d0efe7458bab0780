// SPDX-License-Identifier: Apache-2.0

//! The batches of the runs, by the slots that places name.

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_buffer::ScalarBuffer;
use arrow_schema::SchemaRef;
use paimon_types::Result;

use super::RunBatch;
use super::picked::kernel;
use crate::Selection;

/// Batches of the runs as long as a row of them is needed.
#[derive(Debug)]
pub(super) struct Sources {
    /// Columns that come out, by slot; an empty batch is free.
    rows: Vec<RecordBatch>,
    rest: Vec<Rest>,
    free: Vec<usize>,
    empty: RecordBatch,
}

/// What a slot has beside its columns.
#[derive(Clone, Debug, Default)]
struct Rest {
    kinds: ScalarBuffer<i8>,
    sequence: ScalarBuffer<i64>,
    levels: Option<ScalarBuffer<i32>>,
}

impl Sources {
    /// Sources of this schema.
    pub(super) fn new(schema: SchemaRef) -> Self {
        Sources {
            rows: Vec::new(),
            rest: Vec::new(),
            free: Vec::new(),
            empty: RecordBatch::new_empty(schema),
        }
    }

    /// Takes a batch, whose columns that come out are the first ones.
    pub(super) fn add(&mut self, batch: RunBatch) -> Result<usize> {
        let rows = &batch.rows;
        let columns = rows.columns().iter().take(self.empty.num_columns());
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        let columns = columns.cloned().collect();
        let rows = RecordBatch::try_new_with_options(self.empty.schema(), columns, &options);
        let rows = rows.map_err(kernel)?;
        let rest = Rest {
            kinds: batch.kinds,
            sequence: batch.sequence,
            levels: batch.levels,
        };
        let Some(slot) = self.free.pop() else {
            self.rows.push(rows);
            self.rest.push(rest);
            return Ok(self.rows.len() - 1);
        };
        self.set(slot, rows, rest);
        Ok(slot)
    }

    fn set(&mut self, slot: usize, rows: RecordBatch, rest: Rest) {
        if let (Some(to), Some(rest_to)) = (self.rows.get_mut(slot), self.rest.get_mut(slot)) {
            (*to, *rest_to) = (rows, rest);
        }
    }

    /// Those that a selection has rows of; the other slots are empty.
    pub(super) fn of(&self, selection: &Selection) -> Self {
        let used = selection.sources(self.rows.len());
        let rows = self.rows.iter().zip(&used);
        let rows = rows.map(|(rows, used)| if *used { rows.clone() } else { self.empty.clone() });
        let rest = self.rest.iter().zip(&used);
        let rest = rest.map(|(rest, used)| if *used { rest.clone() } else { Rest::default() });
        Sources {
            rows: rows.collect(),
            rest: rest.collect(),
            free: Vec::new(),
            empty: self.empty.clone(),
        }
    }

    pub(super) fn rows(&self) -> &[RecordBatch] {
        &self.rows
    }

    pub(super) fn kinds(&self, slot: usize) -> &[i8] {
        self.rest.get(slot).map_or(&[], |rest| &rest.kinds)
    }

    pub(super) fn kind(&self, slot: usize, row: usize) -> i8 {
        self.kinds(slot).get(row).copied().unwrap_or_default()
    }

    pub(super) fn number(&self, slot: usize, row: usize) -> i64 {
        let rest = self.rest.get(slot);
        rest.and_then(|rest| rest.sequence.get(row))
            .copied()
            .unwrap_or_default()
    }

    pub(super) fn in_use(&self) -> usize {
        self.rows.len() - self.free.len()
    }

    /// Level of a row; 0 when batches have none.
    pub(super) fn level(&self, slot: usize, row: usize) -> i32 {
        let levels = self.rest.get(slot).and_then(|rest| rest.levels.as_ref());
        levels.and_then(|l| l.get(row)).copied().unwrap_or_default()
    }

    /// Lets go of all batches but those marked.
    pub(super) fn keep(&mut self, used: &[bool]) {
        let is_used = |slot: &usize| used.get(*slot).copied().unwrap_or(false);
        self.free = (0..self.rows.len()).filter(|slot| !is_used(slot)).collect();
        for slot in self.free.clone() {
            self.set(slot, self.empty.clone(), Rest::default());
        }
    }
}
