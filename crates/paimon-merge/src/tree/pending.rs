// SPDX-License-Identifier: Apache-2.0

//! Rows that were decided on and are not out yet, as places in the batches of the runs.

use std::collections::VecDeque;

use arrow_schema::SchemaRef;
use paimon_types::Result;

use super::MergedBatch;
use super::picked::{Output, PickedRows};
use super::sources::Sources;
use crate::Selection;

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
    output: Output,
    batch_size: usize,
    full: VecDeque<Chunk>,
    current: Chunk,
}

impl Pending {
    /// Batches of `batch_size` rows with columns of `schema`.
    pub(super) fn new(schema: SchemaRef, batch_size: usize) -> Self {
        Pending {
            output: Output {
                schema,
                kinds: false,
                sequence: false,
                levels: false,
            },
            batch_size,
            full: VecDeque::new(),
            current: Chunk::default(),
        }
    }

    /// Kinds come out too.
    pub(super) fn with_kinds(mut self, with_kinds: bool) -> Self {
        self.output.kinds = with_kinds;
        self
    }

    /// Kinds, sequence numbers and, when asked for, levels come out too.
    pub(super) fn with_all(mut self, levels: bool) -> Self {
        (self.output.kinds, self.output.sequence, self.output.levels) = (true, true, levels);
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
        if self.output.kinds {
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
            if self.output.kinds {
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
        let batch = self.output.gather(&selection, &places, sources)?;
        self.current.made.push(batch);
        Ok(())
    }

    /// The next batch that is full, with the sources of its rows.
    pub(super) fn take(&mut self, sources: &Sources) -> Option<PickedRows> {
        let chunk = self.full.pop_front()?;
        Some(PickedRows {
            output: self.output.clone(),
            sources: sources.of(&chunk.selection),
            made: chunk.made,
            selection: chunk.selection,
            places: chunk.places,
            rows: chunk.rows,
        })
    }

    /// True when no row waits.
    pub(super) fn is_done(&self) -> bool {
        self.full.is_empty() && self.current.rows == 0
    }

    /// Schema of what comes out.
    pub(super) fn schema(&self) -> SchemaRef {
        self.output.schema.clone()
    }
}
