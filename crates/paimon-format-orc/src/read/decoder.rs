// SPDX-License-Identifier: Apache-2.0

//! Decoding, one stripe after the other, on blocking threads.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use futures_util::FutureExt;
use paimon_format::blocking::{Cancelled, Decode, Decoded};
use paimon_format::rows::{RowRanges, push};
use paimon_format::{MemoryPool, Metrics, ReadHints};
use paimon_types::{Error, ErrorKind, Result};
use roaring::RoaringBitmap;
use tokio::task::JoinHandle;

use super::column::{ColumnReader, invalid};
use super::footer::FileTail;
use super::picks::Picks;
use super::projection::Projection;
use super::prune::Pruner;
use super::source::Source;
use super::stripe::{Stripe, load};
use crate::error::{at, damaged, panic_error};
use crate::proto::Kind;

/// Decoded bytes that a batch should not exceed by much, whatever its number of rows.
const BATCH_BYTES: u64 = 8 << 20;
/// Rows that are gone through at once to pick some of them.
const SPAN: u64 = 1 << 16;

/// What is read, fixed by `set_read_schema`.
pub(crate) struct Plan {
    pub(crate) path: Arc<str>,
    pub(crate) source: Source,
    pub(crate) tail: Arc<FileTail>,
    pub(crate) projection: Projection,
    pub(crate) batch_size: usize,
    pub(crate) pruner: Option<Pruner>,
    pub(crate) selection: Option<RoaringBitmap>,
    pub(crate) pool: Arc<dyn MemoryPool>,
    pub(crate) hints: ReadHints,
    pub(crate) counters: Arc<Counters>,
}

/// Counters that outlive a plan.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    stripes_read: AtomicU64,
    stripes_skipped: AtomicU64,
    groups_skipped: AtomicU64,
    rows_read: AtomicU64,
    rows_skipped: AtomicU64,
    bytes_read: AtomicU64,
    batches: AtomicU64,
}

impl Counters {
    pub(crate) fn add_bytes(&self, bytes: u64) {
        self.bytes_read.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn skip_group(&self) {
        self.groups_skipped.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn metrics(&self) -> Metrics {
        let mut metrics = Metrics::new();
        let values = [
            ("orc.read.stripes", &self.stripes_read),
            ("orc.read.stripes-skipped", &self.stripes_skipped),
            ("orc.read.row-groups-skipped", &self.groups_skipped),
            ("orc.read.rows", &self.rows_read),
            ("orc.read.rows-skipped", &self.rows_skipped),
            ("orc.read.bytes", &self.bytes_read),
            ("orc.read.batches", &self.batches),
        ];
        for (name, value) in values {
            metrics.set(name, value.load(Ordering::Relaxed));
        }
        metrics
    }
}

/// Decodes the rows of a [`Plan`] in order.
pub(crate) struct Decoder {
    plan: Arc<Plan>,
    /// The next stripe.
    next: usize,
    /// Rows of a batch.
    rows: u64,
    current: Option<Open>,
    coming: Option<Coming>,
    /// The pool refused the next stripe.
    refused: bool,
}

/// A stripe that is loaded ahead.
struct Coming {
    index: usize,
    task: JoinHandle<Result<Option<Stripe>>>,
}

impl Drop for Coming {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A stripe that is decoded.
struct Open {
    stripe: Stripe,
    columns: Vec<ColumnReader>,
    /// The row that readers are at, counted in the stripe.
    at: u64,
    /// Rows that are still wanted.
    wanted: VecDeque<Range<u64>>,
}

impl Decode for Decoder {
    fn next(&mut self, cancelled: &Cancelled<'_>) -> Result<Option<Decoded>> {
        let path = self.plan.path.clone();
        self.next_batch(cancelled).map_err(|error| at(&path, error))
    }

    fn may_retry(&self) -> bool {
        self.refused
    }
}

impl Decoder {
    pub(crate) fn new(plan: Arc<Plan>) -> Self {
        Decoder {
            rows: batch_rows(&plan),
            plan,
            next: 0,
            current: None,
            coming: None,
            refused: false,
        }
    }

    fn next_batch(&mut self, cancelled: &Cancelled<'_>) -> Result<Option<Decoded>> {
        loop {
            if self.current.is_none() && !self.open(cancelled)? {
                return Ok(None);
            }
            let Some(open) = &mut self.current else { continue };
            match open.next(&self.plan, self.rows)? {
                Some(decoded) => return Ok(Some(decoded)),
                None => self.current = None,
            }
        }
    }

    /// Opens the next stripe with rows to read; false at the end.
    fn open(&mut self, cancelled: &Cancelled<'_>) -> Result<bool> {
        let stripes = self.plan.tail.footer.stripes.len();
        while self.next < stripes && !cancelled.get() {
            let index = self.next;
            self.next += 1;
            let rows = self
                .plan
                .tail
                .footer
                .stripes
                .get(index)
                .map_or(0, |stripe| stripe.number_of_rows);
            let counters = self.plan.counters.clone();
            let loaded = self.stripe(index);
            self.refused = matches!(&loaded, Err(e) if e.kind() == ErrorKind::ResourcesExhausted);
            if self.refused {
                self.next = index;
            }
            let Some(stripe) = loaded? else {
                if rows > 0 {
                    counters.stripes_skipped.fetch_add(1, Ordering::Relaxed);
                    counters.rows_skipped.fetch_add(rows, Ordering::Relaxed);
                }
                continue;
            };
            let wanted = paimon_format::rows::count(&stripe.wanted);
            counters.stripes_read.fetch_add(1, Ordering::Relaxed);
            counters.rows_skipped.fetch_add(rows - wanted, Ordering::Relaxed);
            self.read_ahead();
            let columns = self
                .plan
                .projection
                .columns
                .iter()
                .zip(self.plan.projection.target.fields())
                .map(|(node, field)| {
                    ColumnReader::new(node, &stripe).map_err(|e| e.with("column", field.name()))
                })
                .collect::<Result<_>>()?;
            self.current = Some(Open {
                wanted: stripe.wanted.iter().cloned().collect(),
                stripe,
                columns,
                at: 0,
            });
            return Ok(true);
        }
        Ok(false)
    }

    /// Stripe `index`, which may be on its way.
    fn stripe(&mut self, index: usize) -> Result<Option<Stripe>> {
        let plan = &self.plan;
        let Some(runtime) = plan.source.remote() else {
            return load(plan, index)
                .now_or_never()
                .unwrap_or_else(|| Err(Error::io("a local file made its reader wait")));
        };
        if let Some(mut coming) = self.coming.take().filter(|coming| coming.index == index) {
            match runtime.block_on(&mut coming.task) {
                // It may fit by now.
                Ok(Err(error)) if error.kind() == ErrorKind::ResourcesExhausted => {}
                Ok(loaded) => return loaded,
                Err(error) => {
                    return Err(match error.try_into_panic() {
                        Ok(payload) => panic_error("reading a stripe", payload),
                        Err(_) => Error::io("the runtime was shut down while a stripe was read"),
                    });
                }
            }
        }
        runtime.block_on(load(plan, index))
    }

    /// Starts loading the next stripe of a remote file, if it is small enough.
    fn read_ahead(&mut self) {
        let plan = &self.plan;
        let (Some(runtime), true) = (plan.source.remote(), plan.hints.read_ahead) else {
            return;
        };
        let Some(stripe) = plan.tail.footer.stripes.get(self.next) else {
            return;
        };
        if stripe.index_length + stripe.data_length > plan.hints.read_ahead_bytes as u64 {
            return;
        }
        let (ahead, index) = (plan.clone(), self.next);
        self.coming = Some(Coming {
            index,
            task: runtime.spawn(async move { load(&ahead, index).await }),
        });
    }
}

impl Open {
    fn next(&mut self, plan: &Plan, most: u64) -> Result<Option<Decoded>> {
        let mut rows = RowRanges::new();
        let mut taken = 0;
        let mut pieces: Vec<Vec<ArrayRef>> = Vec::new();
        while taken < most && !self.wanted.is_empty() {
            let window = self.window(plan, most - taken);
            for range in &window {
                taken += range.end - range.start;
                push(
                    &mut rows,
                    self.stripe.first_row + range.start..self.stripe.first_row + range.end,
                );
            }
            pieces.push(self.read(plan, &window)?);
        }
        if taken == 0 {
            return Ok(None);
        }
        let columns = join(pieces)?;
        let target = &plan.projection.target;
        for (column, field) in columns.iter().zip(target.fields()) {
            if !field.is_nullable() && column.logical_null_count() > 0 {
                return Err(
                    Error::corrupt(format!("NOT NULL column {} has nulls", field.name()))
                        .with("column", field.name()),
                );
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(to_usize(taken)));
        let batch = RecordBatch::try_new_with_options(target.clone(), columns, &options).map_err(invalid)?;
        plan.counters.rows_read.fetch_add(taken, Ordering::Relaxed);
        plan.counters.batches.fetch_add(1, Ordering::Relaxed);
        Ok(Some(Decoded { batch, rows }))
    }

    /// Takes at most `most` of the next wanted rows, up to a gap in which there is a row group to go to.
    fn window(&mut self, plan: &Plan, most: u64) -> RowRanges {
        let stride = plan.tail.stride().filter(|_| self.stripe.is_seekable());
        let mut window = RowRanges::new();
        let mut left = most;
        let mut first = None;
        while let Some(range) = self.wanted.front_mut().filter(|_| left > 0) {
            let start = *first.get_or_insert(range.start);
            let far = window.last().is_some_and(|last: &Range<u64>| {
                range.start - start >= SPAN || stride.is_some_and(|stride| range.start - last.end >= stride)
            });
            if far {
                break;
            }
            let count = left.min(range.end - range.start);
            window.push(range.start..range.start + count);
            left -= count;
            range.start += count;
            if range.is_empty() {
                self.wanted.pop_front();
            }
        }
        window
    }

    fn read(&mut self, plan: &Plan, window: &[Range<u64>]) -> Result<Vec<ArrayRef>> {
        let (Some(first), Some(last)) = (window.first(), window.last()) else {
            return Ok(Vec::new());
        };
        self.go_to(plan, first.start)?;
        self.at = last.end;
        let mut picks = Picks::none(to_usize(last.end - first.start));
        for range in window {
            picks.add(to_usize(range.start - first.start)..to_usize(range.end - first.start));
        }
        let mut arrays = Vec::with_capacity(self.columns.len());
        for (column, field) in self.columns.iter_mut().zip(plan.projection.target.fields()) {
            let array = column.read(&picks, None);
            arrays.push(array.map_err(|e| e.with("column", field.name()))?);
        }
        Ok(arrays)
    }

    /// Brings all readers to row `row`.
    fn go_to(&mut self, plan: &Plan, row: u64) -> Result<()> {
        if let Some(stride) = plan.tail.stride().filter(|_| self.stripe.is_seekable()) {
            let group = row / stride;
            if group * stride > self.at {
                for column in &mut self.columns {
                    column.seek(&self.stripe, to_usize(group))?;
                }
                self.at = group * stride;
            }
        }
        let skip = row
            .checked_sub(self.at)
            .ok_or_else(|| damaged("rows are read out of order"))?;
        if skip > 0 {
            for column in &mut self.columns {
                column.skip(to_usize(skip))?;
            }
        }
        self.at = row;
        Ok(())
    }
}

fn join(mut pieces: Vec<Vec<ArrayRef>>) -> Result<Vec<ArrayRef>> {
    if pieces.len() <= 1 {
        return Ok(pieces.pop().unwrap_or_default());
    }
    let columns = pieces.first().map_or(0, Vec::len);
    (0..columns)
        .map(|column| {
            let parts: Vec<&dyn Array> = pieces
                .iter()
                .filter_map(|p| p.get(column))
                .map(AsRef::as_ref)
                .collect();
            arrow_select::concat::concat(&parts).map_err(invalid)
        })
        .collect()
}

/// Rows of a batch: what was asked for, fewer when rows are large.
fn batch_rows(plan: &Plan) -> u64 {
    let footer = &plan.tail.footer;
    let mut bytes = 0u64;
    for column in &plan.projection.ids {
        let column = *column as usize;
        let (Some(statistics), Some(kind)) = (
            footer.statistics.get(column),
            footer.types.get(column).and_then(|t| t.kind()),
        ) else {
            continue;
        };
        let values = statistics.number_of_values.unwrap_or(0);
        let width = match kind {
            Kind::Boolean | Kind::Byte => 1,
            Kind::Short => 2,
            Kind::Int | Kind::Float | Kind::Date => 4,
            Kind::Decimal => 16,
            Kind::Struct => 0,
            Kind::List | Kind::Map | Kind::String | Kind::Varchar | Kind::Char | Kind::Binary => 4,
            _ => 8,
        };
        let text = statistics
            .string
            .as_ref()
            .and_then(|s| s.sum)
            .or(statistics.binary_sum);
        let text = text.and_then(|sum| u64::try_from(sum).ok()).unwrap_or(0);
        bytes = bytes
            .saturating_add(values.saturating_mul(width))
            .saturating_add(text);
    }
    let per_row = bytes / footer.number_of_rows.max(1);
    (plan.batch_size as u64).min((BATCH_BYTES / per_row.max(1)).max(1))
}

fn to_usize(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
