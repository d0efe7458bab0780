// SPDX-License-Identifier: Apache-2.0

//! The reader.

mod column;
mod fetch;
mod index;
mod keys;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use async_trait::async_trait;
use paimon_format::rows::{self, BatchRows, RowRanges};
use paimon_format::{
    Cache, FileBatchReader, MemoryPool, Metrics, ReadHints, ReaderBuilder, StickyError, UnboundedMemoryPool,
};
use paimon_storage::InputFile;
use paimon_types::{DataField, Error, Predicate, Result};
use roaring::RoaringBitmap;

use self::fetch::{Fetch, Fetched};
pub(crate) use self::index::load_index;
use crate::error::{read_error, row_error};
use crate::layout::{BlobEntry, BlobIndex};
use crate::schema::{BlobColumn, Columns, PLACEHOLDER_COLUMN, Shape};

/// Opens blob files.
pub(crate) struct BlobReaderBuilder {
    batch_size: usize,
    as_descriptor: bool,
    pool: Arc<dyn MemoryPool>,
    cache: Option<Arc<dyn Cache>>,
    hints: ReadHints,
}

impl BlobReaderBuilder {
    pub(crate) fn new(batch_size: usize, as_descriptor: bool) -> Result<Self> {
        if batch_size == 0 {
            return Err(Error::invalid("batch size is 0, at least 1 is expected"));
        }
        Ok(BlobReaderBuilder {
            batch_size,
            as_descriptor,
            pool: Arc::new(UnboundedMemoryPool::new()),
            cache: None,
            hints: ReadHints::default(),
        })
    }
}

#[async_trait]
impl ReaderBuilder for BlobReaderBuilder {
    fn with_memory_pool(&mut self, pool: Arc<dyn MemoryPool>) {
        self.pool = pool;
    }

    fn with_cache(&mut self, cache: Arc<dyn Cache>) {
        self.cache = Some(cache);
    }

    fn with_read_hints(&mut self, hints: Option<ReadHints>) {
        self.hints = hints.unwrap_or_default();
    }

    async fn build(&self, file: Arc<dyn InputFile>) -> Result<Box<dyn FileBatchReader>> {
        let (index, bytes) = load_index(&file, self.cache.as_ref(), &self.pool).await?;
        Ok(Box::new(BlobReader {
            rows: everything(&index),
            columns: Columns::unknown()?,
            file,
            index,
            batch_size: self.batch_size,
            batch_bytes: self.hints.read_ahead_bytes as u64,
            as_descriptor: self.as_descriptor,
            pool: self.pool.clone(),
            next: Position::default(),
            last: None,
            state: State::Open,
            counters: Counters {
                bytes,
                ..Counters::default()
            },
        }))
    }
}

fn everything(index: &BlobIndex) -> RowRanges {
    let mut all = RowRanges::new();
    rows::push(&mut all, 0..index.rows());
    all
}

struct BlobReader {
    file: Arc<dyn InputFile>,
    index: Arc<BlobIndex>,
    batch_size: usize,
    batch_bytes: u64,
    as_descriptor: bool,
    pool: Arc<dyn MemoryPool>,
    columns: Columns,
    rows: RowRanges,
    next: Position,
    last: Option<BatchRows>,
    state: State,
    counters: Counters,
}

/// A position in the rows of a read.
#[derive(Clone, Copy, Debug, Default)]
struct Position {
    range: usize,
    /// Rows of the range that were taken.
    taken: u64,
}

#[derive(Debug)]
enum State {
    Open,
    Closed,
    Failed(StickyError),
}

#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    bytes: u64,
    rows: u64,
    batches: u64,
}

impl fmt::Debug for BlobReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlobReader")
            .field("path", &self.file.path())
            .finish_non_exhaustive()
    }
}

/// The rows of one batch.
struct Part {
    rows: RowRanges,
    entries: Vec<(u64, BlobEntry)>,
    end: Position,
}

impl BlobReader {
    fn check_open(&self) -> Result<()> {
        match &self.state {
            State::Closed => Err(Error::invalid("blob reader is closed").with("path", self.file.path())),
            State::Open | State::Failed(_) => Ok(()),
        }
    }

    /// Bytes that a row adds to a batch.
    fn cost(&self, entry: &BlobEntry) -> u64 {
        let (Some(column), BlobEntry::Record(range)) = (&self.columns.blob, entry) else {
            return 0;
        };
        let length = range.end - range.start;
        match (self.as_descriptor, column.shape) {
            (false, _) => length,
            (true, Shape::Scalar) => 0,
            (true, _) => length.min(fetch::WHOLE),
        }
    }

    /// The rows of the next batch: as many as fit, at least one where there is one.
    fn next_part(&self) -> Result<Part> {
        let mut part = Part {
            rows: RowRanges::new(),
            entries: Vec::new(),
            end: self.next,
        };
        let mut bytes = 0u64;
        while let Some(range) = self.rows.get(part.end.range) {
            let row = range.start.saturating_add(part.end.taken);
            if row >= range.end {
                part.end = Position {
                    range: part.end.range.saturating_add(1),
                    taken: 0,
                };
                continue;
            }
            let entry = self.index.entry(row).ok_or_else(|| {
                let rows = self.index.rows();
                read_error(
                    self.file.path(),
                    Error::corrupt(format!("row {row} is behind the last of {rows} rows")),
                )
            })?;
            bytes = bytes.saturating_add(self.cost(&entry));
            if part.entries.len() >= self.batch_size || (bytes > self.batch_bytes && !part.entries.is_empty())
            {
                break;
            }
            rows::push(&mut part.rows, row..row.saturating_add(1));
            part.entries.push((row, entry));
            part.end.taken += 1;
        }
        Ok(part)
    }

    async fn read_part(&self, part: &Part) -> Result<(RecordBatch, u64)> {
        let mut arrays: Vec<Option<ArrayRef>> = vec![None; self.columns.schema.fields().len()];
        let mut read = 0;
        if let Some(blob) = &self.columns.blob {
            self.check_entries(blob, part)?;
            let fetch = Fetch {
                file: &self.file,
                pool: &self.pool,
                shape: blob.shape,
                // Checked above: what is not nullable has no null but placeholders.
                empty_for_null: !blob.nullable,
                as_descriptor: self.as_descriptor,
            };
            let arrow = self.columns.schema.field(blob.position).data_type();
            let Fetched { column, bytes } = fetch.column(&part.entries, arrow).await.map_err(|e| {
                if blob.name.is_empty() {
                    e
                } else {
                    e.with("column", &blob.name)
                }
            })?;
            read = bytes;
            if let Some(place) = arrays.get_mut(blob.position) {
                *place = Some(column);
            }
        }
        if let Some(place) = self
            .columns
            .placeholder
            .and_then(|position| arrays.get_mut(position))
        {
            let flags = part
                .entries
                .iter()
                .map(|(_, entry)| *entry == BlobEntry::Placeholder);
            *place = Some(Arc::new(BooleanArray::from(flags.collect::<Vec<bool>>())));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(part.entries.len()));
        let batch = RecordBatch::try_new_with_options(
            self.columns.schema.clone(),
            arrays.into_iter().flatten().collect(),
            &options,
        )
        .map_err(|e| read_error(self.file.path(), Error::corrupt(e.to_string())))?;
        Ok((batch, read))
    }

    /// Refuses rows that the columns asked for cannot show.
    fn check_entries(&self, blob: &BlobColumn, part: &Part) -> Result<()> {
        for (row, entry) in &part.entries {
            let problem = match entry {
                BlobEntry::Placeholder if self.columns.placeholder.is_none() => Error::unsupported(format!(
                    "the value is in an older file, read it with the column {PLACEHOLDER_COLUMN}"
                )),
                BlobEntry::Null if !blob.nullable => Error::corrupt("null in a NOT NULL column"),
                _ => continue,
            };
            return Err(row_error(self.file.path(), *row, problem).with("column", &blob.name));
        }
        Ok(())
    }

    async fn read_next(&self) -> Result<Option<(RecordBatch, Part, u64)>> {
        let part = self.next_part()?;
        if part.entries.is_empty() {
            return Ok(None);
        }
        let (batch, bytes) = self.read_part(&part).await?;
        Ok(Some((batch, part, bytes)))
    }
}

#[async_trait]
impl FileBatchReader for BlobReader {
    /// One column `blob` of type BLOB: a blob file tells nothing about its column.
    fn file_schema(&self) -> Result<SchemaRef> {
        Ok(Columns::unknown()?.schema)
    }

    fn set_read_schema(
        &mut self,
        fields: &[DataField],
        _predicate: Option<&Predicate>,
        selection: Option<RoaringBitmap>,
    ) -> Result<()> {
        self.check_open()?;
        let columns = Columns::resolve(fields).map_err(|e| e.with("path", self.file.path()))?;
        let all = everything(&self.index);
        self.rows = match &selection {
            Some(selection) => rows::select(&all, selection),
            None => all,
        };
        self.columns = columns;
        self.next = Position::default();
        self.last = None;
        self.state = State::Open;
        Ok(())
    }

    async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        self.last = None;
        self.check_open()?;
        if let State::Failed(error) = &self.state {
            return Err(error.to_error());
        }
        match self.read_next().await {
            Ok(Some((batch, part, bytes))) => {
                self.next = part.end;
                self.last = Some(BatchRows::new(part.rows));
                self.counters.bytes = self.counters.bytes.saturating_add(bytes);
                self.counters.rows = self.counters.rows.saturating_add(batch.num_rows() as u64);
                self.counters.batches = self.counters.batches.saturating_add(1);
                Ok(Some(batch))
            }
            Ok(None) => Ok(None),
            Err(error) => {
                self.state = State::Failed(StickyError::new(&error));
                Err(error)
            }
        }
    }

    fn previous_batch_file_row_id(&self, batch_row: u64) -> Result<u64> {
        self.last
            .as_ref()
            .and_then(|rows| rows.get(batch_row))
            .ok_or_else(|| {
                Error::invalid(format!("the last batch has no row {batch_row}"))
                    .with("path", self.file.path())
            })
    }

    fn number_of_rows(&self) -> Result<u64> {
        Ok(self.index.rows())
    }

    fn supports_precise_selection(&self) -> bool {
        true
    }

    fn close(&mut self) {
        self.last = None;
        self.state = State::Closed;
    }

    fn metrics(&self) -> Metrics {
        let mut metrics = Metrics::new();
        metrics.set("blob.read.bytes", self.counters.bytes);
        metrics.set("blob.read.rows", self.counters.rows);
        metrics.set("blob.read.batches", self.counters.batches);
        metrics
    }
}

/// `range` without the bytes of a record's frame.
fn payload(record: &Range<u64>) -> Range<u64> {
    let overhead = crate::layout::RECORD_OVERHEAD - crate::layout::RECORD_HEAD;
    record.start.saturating_add(crate::layout::RECORD_HEAD)..record.end.saturating_sub(overhead)
}
