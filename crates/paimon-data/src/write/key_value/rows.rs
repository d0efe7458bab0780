// SPDX-License-Identifier: Apache-2.0

//! Rows of one bucket that wait for their flush.

use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;
use paimon_types::{Error, Result};

/// Batches are joined until they have so many rows, so that a flush looks into few of them.
const JOIN_ROWS: usize = 32 * 1024;
/// … or so many bytes: a joined column must stay below 2 GiB.
const JOIN_BYTES: u64 = 64 << 20;

/// Batches in the order of arrival.
#[derive(Debug, Default)]
pub(crate) struct RowBuffer {
    joined: Vec<RecordBatch>,
    small: Vec<RecordBatch>,
    small_rows: usize,
    small_bytes: u64,
    rows: usize,
}

impl RowBuffer {
    /// Adds rows behind those that are there. `bytes` is their size.
    ///
    /// # Errors
    /// `ResourcesExhausted` when batches cannot be joined.
    pub(crate) fn push(&mut self, batch: RecordBatch, bytes: u64) -> Result<()> {
        let rows = batch.num_rows();
        if rows == 0 {
            return Ok(());
        }
        self.rows += rows;
        let large = rows >= JOIN_ROWS || bytes >= JOIN_BYTES;
        if large || self.small_rows + rows > 2 * JOIN_ROWS || self.small_bytes + bytes > 2 * JOIN_BYTES {
            self.join()?;
        }
        if large {
            self.joined.push(batch);
            return Ok(());
        }
        self.small.push(batch);
        self.small_rows += rows;
        self.small_bytes += bytes;
        if self.small_rows >= JOIN_ROWS || self.small_bytes >= JOIN_BYTES {
            self.join()?;
        }
        Ok(())
    }

    fn join(&mut self) -> Result<()> {
        let small = std::mem::take(&mut self.small);
        self.small_rows = 0;
        self.small_bytes = 0;
        match small.as_slice() {
            [] => {}
            [batch] => self.joined.push(batch.clone()),
            [first, ..] => {
                let batch = concat_batches(first.schema_ref(), &small)
                    .map_err(|e| Error::resources("cannot join batches").with_source(e))?;
                self.joined.push(batch);
            }
        }
        Ok(())
    }

    /// True without rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// All rows; the buffer is empty afterwards.
    ///
    /// # Errors
    /// As [`RowBuffer::push`].
    pub(crate) fn take(&mut self) -> Result<Vec<RecordBatch>> {
        self.join()?;
        self.rows = 0;
        Ok(std::mem::take(&mut self.joined))
    }
}
