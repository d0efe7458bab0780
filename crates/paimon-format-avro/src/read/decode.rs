// SPDX-License-Identifier: Apache-2.0

//! Decoding, one block after the other, on blocking threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use bytes::Bytes;
use paimon_avro::{Cursor, Decompressor, MAX_BLOCK_BYTES};
use paimon_format::blocking::{Cancelled, Decode, Decoded};
use paimon_format::rows::{RowRanges, push, select};
use paimon_format::{MemoryPool, MemoryReservation, Metrics};
use paimon_types::{Error, Result};
use roaring::RoaringBitmap;

use super::column::{Context, LARGEST_BATCH};
use super::file::AvroFile;
use super::resolve::Projection;
use super::source::Source;
use crate::error::{of_file, refused};

/// Stored bytes after which a batch ends, whatever its number of rows, and decoded bytes that its rows may have before
/// what is variable.
const BATCH_BYTES: usize = 8 << 20;

/// Counters that outlive a decoder.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    blocks_read: AtomicU64,
    blocks_skipped: AtomicU64,
    rows_read: AtomicU64,
    rows_skipped: AtomicU64,
    batches: AtomicU64,
    /// Number of rows in the file plus one, once the end was seen.
    rows_of_file: AtomicU64,
}

impl Counters {
    pub(crate) fn metrics(&self) -> Metrics {
        let mut metrics = Metrics::new();
        let values = [
            ("avro.read.blocks", &self.blocks_read),
            ("avro.read.blocks-skipped", &self.blocks_skipped),
            ("avro.read.rows", &self.rows_read),
            ("avro.read.rows-skipped", &self.rows_skipped),
            ("avro.read.batches", &self.batches),
        ];
        for (name, value) in values {
            metrics.set(name, value.load(Ordering::Relaxed));
        }
        metrics
    }

    /// The number of rows in the file, once a decoder or [`Counters::set_rows`] told it.
    pub(crate) fn rows(&self) -> Option<u64> {
        self.rows_of_file.load(Ordering::Relaxed).checked_sub(1)
    }

    pub(crate) fn set_rows(&self, rows: u64) {
        self.rows_of_file.store(rows.saturating_add(1), Ordering::Relaxed);
    }
}

/// What is read, fixed by `set_read_schema`.
pub(crate) struct Plan {
    pub(crate) file: Arc<AvroFile>,
    pub(crate) target: SchemaRef,
    pub(crate) batch_size: usize,
    pub(crate) selection: Option<RoaringBitmap>,
    pub(crate) pool: Arc<dyn MemoryPool>,
    /// Bytes that are fetched at a time.
    pub(crate) window: u64,
    /// Whether a remote file is fetched ahead.
    pub(crate) ahead: bool,
    pub(crate) counters: Arc<Counters>,
}

/// Decodes the rows of a [`Plan`] in order.
pub(crate) struct Decoder {
    plan: Plan,
    projection: Projection,
    /// Rows of a batch, at most.
    batch_rows: usize,
    source: Option<Source>,
    decompressor: Decompressor,
    stored_plain: bool,
    reservation: MemoryReservation,
    position: u64,
    row: u64,
    block: Option<OpenBlock>,
}

/// A block of which rows are left.
struct OpenBlock {
    /// Its data as stored.
    data: Bytes,
    /// Where the next record begins in the decompressed bytes.
    offset: usize,
    /// The row that the next record is.
    row: u64,
    /// Rows to decode, those to come first at the end.
    wanted: RowRanges,
    /// Whether every record up to the end is moved over, so that the end can be checked.
    whole: bool,
}

impl Decoder {
    pub(crate) fn new(plan: Plan, projection: Projection) -> Result<Self> {
        let decompressor = Decompressor::new(&plan.file.codec, MAX_BLOCK_BYTES)?;
        let fitting = BATCH_BYTES / projection.width.max(1);
        Ok(Decoder {
            batch_rows: plan.batch_size.min(fitting.max(1)),
            projection,
            source: None,
            decompressor,
            stored_plain: plan.file.codec == "null",
            reservation: MemoryReservation::new(plan.pool.clone()),
            position: plan.file.blocks,
            row: 0,
            block: None,
            plan,
        })
    }

    fn decode(&mut self, cancelled: &Cancelled<'_>) -> Result<Option<Decoded>> {
        let mut rows = RowRanges::new();
        let (mut count, mut bytes) = (0, 0);
        let mut budget = LARGEST_BATCH;
        while count < self.batch_rows && bytes < BATCH_BYTES {
            if self.block.is_none() && !self.open_block(cancelled)? {
                break;
            }
            self.decode_rows(&mut rows, &mut count, &mut bytes, &mut budget)?;
        }
        if count == 0 {
            return Ok(None);
        }
        self.finish(rows, count).map(Some)
    }

    /// Opens the next block with rows to read; false at the end.
    fn open_block(&mut self, cancelled: &Cancelled<'_>) -> Result<bool> {
        let plan = &self.plan;
        if self.source.is_none() {
            let file = &plan.file;
            let first = file.first.clone();
            let source = Source::new(file.file.clone(), file.size, first, plan.window, plan.ahead)?;
            self.source = Some(source);
        }
        let Some(source) = &mut self.source else {
            return Ok(false);
        };
        loop {
            if cancelled.get() {
                return Ok(false);
            }
            let over = plan
                .selection
                .as_ref()
                .is_some_and(|selection| selection.max().is_none_or(|last| u64::from(last) < self.row));
            if over {
                return Ok(false);
            }
            let Some(block) = plan.file.block(source, self.position, self.row)? else {
                plan.counters.set_rows(self.row);
                return Ok(false);
            };
            (self.position, self.row) = (block.next, block.rows.end);
            let mut wanted = RowRanges::new();
            push(&mut wanted, block.rows.clone());
            if let Some(selection) = &plan.selection {
                wanted = select(&wanted, selection);
            }
            let length = block.rows.end - block.rows.start;
            let rows: u64 = paimon_format::rows::count(&wanted);
            plan.counters
                .rows_skipped
                .fetch_add(length - rows, Ordering::Relaxed);
            if wanted.is_empty() && (length > 0 || plan.selection.is_some()) {
                plan.counters.blocks_skipped.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            plan.counters.blocks_read.fetch_add(1, Ordering::Relaxed);
            let stored = block.data.end - block.data.start;
            // Windows are charged from the beginning, so that batches ahead cannot take what the next block needs.
            let windows = plan.window.saturating_mul(2).min(plan.file.size).max(stored);
            let windows = usize::try_from(windows)
                .unwrap_or(usize::MAX)
                .max(source.memory());
            let held = |unpacked: usize| windows.saturating_add(unpacked);
            self.reservation
                .try_resize(held(self.decompressor.memory()).max(self.reservation.bytes()))?;
            let data = plan.file.data(source, &block)?;
            let unpacked = match self.stored_plain {
                true => data.len(),
                false => self.decompressor.decompress(&data)?.len(),
            };
            check_records(&plan.file, length, unpacked)?;
            self.reservation
                .try_resize(held(self.decompressor.memory()).max(self.reservation.bytes()))?;
            wanted.reverse();
            self.block = Some(OpenBlock {
                offset: 0,
                row: block.rows.start,
                whole: plan.selection.is_none(),
                wanted,
                data,
            });
            return Ok(true);
        }
    }

    /// Decodes wanted rows of the open block as long as the batch is not full.
    fn decode_rows(
        &mut self,
        rows: &mut RowRanges,
        count: &mut usize,
        bytes: &mut usize,
        budget: &mut usize,
    ) -> Result<()> {
        let Some(open) = &mut self.block else {
            return Ok(());
        };
        let data = match self.stored_plain {
            true => &open.data,
            false => self.decompressor.last(),
        };
        let file = &self.plan.file;
        let names = self.plan.target.fields();
        let mut cursor = Cursor::new(data.get(open.offset..).unwrap_or_default());
        let mut context = Context {
            program: &file.program,
            budget: *budget,
        };
        let record = &mut self.projection.record;
        while let Some(range) = open.wanted.last_mut() {
            while open.row < range.start {
                enter(file.branch, &mut cursor)?;
                file.program.skip(file.row, &mut cursor)?;
                open.row += 1;
            }
            let first = open.row;
            let room = self.batch_rows.saturating_sub(*count) as u64;
            let most = (range.end - first).min(room);
            // As many bytes as end the batch.
            let start = cursor.position();
            let end = start.saturating_add(BATCH_BYTES.saturating_sub(*bytes));
            let (mut at, mut read) = (cursor.clone(), 0);
            while read < most && at.position() < end {
                enter(file.branch, &mut at)?;
                record.read_row(&mut context, &mut at, |column| {
                    names.get(column).map(|field| field.name().as_str())
                })?;
                read += 1;
            }
            cursor = at;
            *bytes += cursor.position() - start;
            *count += usize::try_from(read).unwrap_or(usize::MAX);
            open.row += read;
            push(rows, first..open.row);
            range.start = open.row;
            if !range.is_empty() {
                break;
            }
            open.wanted.pop();
        }
        *budget = context.budget;
        open.offset += cursor.position();
        if open.wanted.is_empty() {
            if open.whole && cursor.remaining() > 0 {
                return Err(Error::corrupt(format!(
                    "{} bytes behind the last record of an avro block",
                    cursor.remaining()
                )));
            }
            self.block = None;
        }
        Ok(())
    }

    fn finish(&mut self, rows: RowRanges, count: usize) -> Result<Decoded> {
        let plan = &self.plan;
        let columns = self.projection.record.finish(plan.target.fields(), "column")?;
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        let batch =
            RecordBatch::try_new_with_options(plan.target.clone(), columns, &options).map_err(refused)?;
        plan.counters.rows_read.fetch_add(count as u64, Ordering::Relaxed);
        plan.counters.batches.fetch_add(1, Ordering::Relaxed);
        Ok(Decoded { batch, rows })
    }
}

impl Decode for Decoder {
    fn next(&mut self, cancelled: &Cancelled<'_>) -> Result<Option<Decoded>> {
        self.decode(cancelled)
            .map_err(|e| of_file(e, &self.plan.file.path))
    }
}

/// Refuses more records than the bytes of a block can hold.
fn check_records(file: &AvroFile, records: u64, bytes: usize) -> Result<()> {
    let least = file.program.min_size(file.row) + usize::from(file.branch.is_some());
    if least > 0 && records > (bytes / least) as u64 {
        return Err(Error::corrupt(format!(
            "avro block of {records} records in {bytes} bytes"
        )));
    }
    Ok(())
}

/// Reads the branch of the union around a row.
#[inline]
fn enter(branch: Option<i64>, cursor: &mut Cursor<'_>) -> Result<()> {
    let Some(branch) = branch else { return Ok(()) };
    match cursor.long()? {
        found if found == branch => Ok(()),
        found => Err(Error::corrupt(format!(
            "row of the avro file is of union branch {found}, {branch} is expected"
        ))),
    }
}
