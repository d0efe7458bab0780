// SPDX-License-Identifier: Apache-2.0

//! Decoding, one row group after the other, on blocking threads.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use paimon_format::blocking::{Cancelled, Decode, Decoded};
use paimon_format::rows::{RangeCursor, RowRanges, count, intersect, push, select};
use paimon_format::{Cache, Metrics};
use paimon_types::Result;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
    RowSelection,
};
use parquet::basic::Type as PhysicalType;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use roaring::RoaringBitmap;

use super::convert::convert;
use super::metadata::{view_schema, with_page_index, with_schema};
use super::prune::Pruner;
use super::resolve::Projection;
use super::source::Source;
use crate::error::{arrow_read_error, corrupt, read_error};

/// Decoded bytes that a batch should not exceed by much, whatever its number of rows.
const BATCH_BYTES: u64 = 8 << 20;

/// What is read, fixed by `set_read_schema`.
pub(crate) struct Plan {
    pub(crate) path: Arc<str>,
    pub(crate) source: Source,
    pub(crate) metadata: Arc<ParquetMetaData>,
    pub(crate) projection: Projection,
    pub(crate) target: SchemaRef,
    pub(crate) batch_size: usize,
    pub(crate) pruner: Option<Pruner>,
    pub(crate) selection: Option<RoaringBitmap>,
    pub(crate) cache: Option<Arc<dyn Cache>>,
    pub(crate) counters: Arc<Counters>,
}

/// Counters that outlive a plan.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    row_groups_read: AtomicU64,
    row_groups_skipped: AtomicU64,
    rows_read: AtomicU64,
    rows_skipped: AtomicU64,
    batches: AtomicU64,
}

impl Counters {
    pub(crate) fn metrics(&self) -> Metrics {
        let mut metrics = Metrics::new();
        let values = [
            ("parquet.read.row-groups", &self.row_groups_read),
            ("parquet.read.row-groups-skipped", &self.row_groups_skipped),
            ("parquet.read.rows", &self.rows_read),
            ("parquet.read.rows-skipped", &self.rows_skipped),
            ("parquet.read.batches", &self.batches),
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
    prepared: Option<Prepared>,
    /// The next row group and the position of its first row.
    next: usize,
    first_row: u64,
    current: Option<RowGroup>,
}

struct Prepared {
    /// As stored, with page index where that helps.
    metadata: Arc<ParquetMetaData>,
    /// As the decoder sees it.
    reader: ArrowReaderMetadata,
    mask: ProjectionMask,
}

struct RowGroup {
    reader: ParquetRecordBatchReader,
    rows: RangeCursor,
}

impl Decode for Decoder {
    fn next(&mut self, _cancelled: &Cancelled<'_>) -> Result<Option<Decoded>> {
        loop {
            if self.current.is_none() && !self.open_row_group()? {
                return Ok(None);
            }
            let Some(group) = &mut self.current else { continue };
            match group.reader.next() {
                Some(Ok(batch)) if batch.num_rows() == 0 => {}
                Some(Ok(batch)) => return self.finish(batch).map(Some),
                Some(Err(error)) => {
                    let stored = self.plan.source.take_error();
                    return Err(stored.unwrap_or_else(|| arrow_read_error(&self.plan.path, error)));
                }
                None => {
                    if !group.rows.is_done() {
                        let what = format!(
                            "row group {} ends before its last row",
                            self.next.saturating_sub(1)
                        );
                        return Err(corrupt(&self.plan.path, what));
                    }
                    self.current = None;
                }
            }
        }
    }
}

impl Decoder {
    pub(crate) fn new(plan: Arc<Plan>) -> Self {
        Decoder {
            plan,
            prepared: None,
            next: 0,
            first_row: 0,
            current: None,
        }
    }

    fn finish(&mut self, batch: RecordBatch) -> Result<Decoded> {
        let plan = &self.plan;
        let rows = self
            .current
            .as_mut()
            .map(|group| group.rows.take(batch.num_rows() as u64))
            .unwrap_or_default();
        if count(&rows) != batch.num_rows() as u64 {
            return Err(corrupt(
                &plan.path,
                "a row group has more rows than its footer tells",
            ));
        }
        let mut columns = Vec::with_capacity(plan.projection.columns.len());
        for ((position, node), field) in plan.projection.columns.iter().zip(plan.target.fields()) {
            let column = batch.columns().get(*position).ok_or_else(|| {
                corrupt(
                    &plan.path,
                    format!(
                        "{} columns were decoded, {} expected",
                        batch.num_columns(),
                        position + 1
                    ),
                )
            })?;
            let converted = convert(node, column, field);
            columns.push(converted.map_err(|e| e.with("column", field.name()).with("path", &plan.path))?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let batch = RecordBatch::try_new_with_options(plan.target.clone(), columns, &options)
            .map_err(|e| arrow_read_error(&plan.path, e))?;
        plan.counters
            .rows_read
            .fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
        plan.counters.batches.fetch_add(1, Ordering::Relaxed);
        Ok(Decoded { batch, rows })
    }

    /// Opens the next row group with rows to read; false at the end.
    fn open_row_group(&mut self) -> Result<bool> {
        if self.prepared.is_none() {
            self.prepared = Some(prepare(&self.plan)?);
        }
        let (plan, Some(prepared)) = (&self.plan, &self.prepared) else {
            return Ok(false);
        };
        while let Some(group) = prepared.metadata.row_groups().get(self.next) {
            let (index, first) = (self.next, self.first_row);
            let length = u64::try_from(group.num_rows()).unwrap_or(0);
            self.next += 1;
            self.first_row += length;
            let rows = wanted_rows(plan, prepared, index, first..first + length);
            let wanted = count(&rows);
            plan.counters
                .rows_skipped
                .fetch_add(length - wanted, Ordering::Relaxed);
            if wanted == 0 {
                if length > 0 {
                    plan.counters.row_groups_skipped.fetch_add(1, Ordering::Relaxed);
                }
                continue;
            }
            plan.counters.row_groups_read.fetch_add(1, Ordering::Relaxed);
            let selection = (wanted < length).then(|| {
                let local = rows
                    .iter()
                    .map(|r| to_usize(r.start - first)..to_usize(r.end - first));
                RowSelection::from_consecutive_ranges(local, to_usize(length))
            });
            if let Some(remote) = plan.source.remote() {
                let now = byte_ranges(plan, prepared, index, selection.as_ref());
                let then = match prepared.metadata.row_groups().get(self.next) {
                    Some(next)
                        if plan.pruner.is_none() && plan.selection.is_none() && next.num_rows() > 0 =>
                    {
                        byte_ranges(plan, prepared, self.next, None)
                    }
                    _ => Vec::new(),
                };
                remote.announce(plan.projection.leaves.len(), now, &then)?;
            }
            let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(
                plan.source.clone(),
                prepared.reader.clone(),
            )
            .with_row_groups(vec![index])
            .with_projection(prepared.mask.clone())
            .with_batch_size(batch_rows(plan, group));
            if let Some(selection) = selection {
                builder = builder.with_row_selection(selection);
            }
            let reader = builder.build().map_err(|e| {
                plan.source
                    .take_error()
                    .unwrap_or_else(|| read_error(&plan.path, e))
            })?;
            self.current = Some(RowGroup {
                reader,
                rows: RangeCursor::new(rows),
            });
            return Ok(true);
        }
        Ok(false)
    }
}

/// Reads what is needed before the first row group. Blocks.
fn prepare(plan: &Plan) -> Result<Prepared> {
    let fail = |e| {
        plan.source
            .take_error()
            .unwrap_or_else(|| read_error(&plan.path, e))
    };
    let mut metadata = plan.metadata.clone();
    if plan.pruner.is_some() || plan.selection.is_some() {
        metadata = with_page_index(&plan.path, &metadata, &plan.source, plan.cache.as_ref())?;
    }
    let viewed = view_schema(metadata.file_metadata().schema_descr(), &|leaf| {
        plan.projection.view(leaf)
    });
    let seen = match viewed.map_err(fail)? {
        Some(schema) => Arc::new(with_schema(&metadata, schema).map_err(fail)?),
        None => metadata.clone(),
    };
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let reader = ArrowReaderMetadata::try_new(seen, options).map_err(fail)?;
    let mask = ProjectionMask::leaves(reader.parquet_schema(), plan.projection.leaves.iter().copied());
    Ok(Prepared {
        metadata,
        reader,
        mask,
    })
}

/// The rows of a row group that have to be decoded, as positions in the file.
fn wanted_rows(plan: &Plan, prepared: &Prepared, group: usize, all: Range<u64>) -> RowRanges {
    let mut rows = RowRanges::new();
    push(&mut rows, all.clone());
    if let Some(selection) = &plan.selection {
        // Cheap where nothing of the row group is selected.
        rows = select(&rows, selection);
        if rows.is_empty() {
            return rows;
        }
    }
    if let Some(pruner) = &plan.pruner {
        if !pruner.row_group(&prepared.metadata, group) {
            return RowRanges::new();
        }
        if let Some(pages) = pruner.pages(&prepared.metadata, group) {
            let pages: RowRanges = pages
                .into_iter()
                .map(|r| r.start + all.start..r.end + all.start)
                .collect();
            rows = intersect(&rows, &pages);
        }
    }
    rows
}

/// The bytes of the columns that are read, ascending.
fn byte_ranges(
    plan: &Plan,
    prepared: &Prepared,
    group: usize,
    selection: Option<&RowSelection>,
) -> Vec<Range<u64>> {
    let Some(row_group) = prepared.metadata.row_groups().get(group) else {
        return Vec::new();
    };
    let mut ranges = Vec::new();
    for leaf in &plan.projection.leaves {
        let Some(chunk) = row_group.columns().get(*leaf) else {
            continue;
        };
        let (start, length) = chunk.byte_range();
        let pages = prepared
            .metadata
            .offset_index()
            .and_then(|i| i.get(group))
            .and_then(|i| i.get(*leaf));
        match (selection, pages) {
            (Some(selection), Some(pages)) if !pages.page_locations().is_empty() => {
                let first_page = pages
                    .page_locations()
                    .first()
                    .and_then(|p| u64::try_from(p.offset).ok());
                ranges.push(start..first_page.unwrap_or(start).max(start));
                ranges.extend(selection.scan_ranges(pages.page_locations()));
            }
            _ => ranges.push(start..start + length),
        }
    }
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by_key(|range| range.start);
    ranges
}

/// Rows of a batch: what was asked for, fewer when rows are large.
fn batch_rows(plan: &Plan, group: &RowGroupMetaData) -> usize {
    let rows = u64::try_from(group.num_rows()).unwrap_or(0).max(1);
    let mut bytes = 0u64;
    for leaf in &plan.projection.leaves {
        let Some(chunk) = group.columns().get(*leaf) else {
            continue;
        };
        let values = u64::try_from(chunk.num_values()).unwrap_or(0);
        bytes += match chunk.column_type() {
            PhysicalType::BYTE_ARRAY => {
                let told = chunk
                    .unencoded_byte_array_data_bytes()
                    .unwrap_or_else(|| chunk.uncompressed_size());
                u64::try_from(told).unwrap_or(0) + values * 4
            }
            PhysicalType::FIXED_LEN_BYTE_ARRAY => values * 16,
            PhysicalType::BOOLEAN => values / 8,
            _ => values * 8,
        };
    }
    let fitting = BATCH_BYTES / (bytes / rows).max(1);
    plan.batch_size.min(to_usize(fitting.max(1)))
}

fn to_usize(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
