// SPDX-License-Identifier: Apache-2.0

//! The writer: batches are encoded column by column on the blocking pool while the caller prepares the next ones, row
//! groups go to the stream when they are full.

mod arrays;
mod row_group;
mod sample;
mod sink;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use async_trait::async_trait;
use paimon_format::blocking::{Task, parallelism, spawn};
use paimon_format::{
    CallState, FormatWriter, MemoryPool, MemoryReservation, Metrics, UnboundedMemoryPool, WriterBuilder,
    WrittenFileStatsProvider,
};
use paimon_storage::OutputStream;
use paimon_types::{ColumnStats, DataField, Error, Result};
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{SchemaDescriptor, TypePtr};

use self::row_group::{ColumnEncoder, Layout, columns_of, leaf_ranges};
use self::sink::Sink;
use crate::error::write_error;
use crate::format::IDENTIFIER;
use crate::options::WriteOptions;
use crate::schema::{Int96, parquet_schema};
use crate::stats::file_stats;

/// Rows that are encoded at a time.
const ENCODE_ROWS: usize = 32 << 10;
/// Bytes in memory that are encoded at a time.
const ENCODE_BYTES: usize = 4 << 20;
/// No fewer rows are encoded at a time because of their size.
const MIN_ENCODE_ROWS: usize = 100;

/// Makes [`ParquetFormatWriter`]s.
#[derive(Debug)]
pub(crate) struct ParquetWriterBuilder {
    fields: Vec<DataField>,
    options: WriteOptions,
    schema: TypePtr,
    pool: Arc<dyn MemoryPool>,
}

impl ParquetWriterBuilder {
    pub(crate) fn new(fields: &[DataField], options: &BTreeMap<String, String>) -> Result<Self> {
        Ok(ParquetWriterBuilder {
            fields: fields.to_vec(),
            options: WriteOptions::parse(options)?,
            schema: parquet_schema(fields, Int96::True)?,
            pool: Arc::new(UnboundedMemoryPool::new()),
        })
    }
}

impl WriterBuilder for ParquetWriterBuilder {
    fn with_memory_pool(&mut self, pool: Arc<dyn MemoryPool>) {
        self.pool = pool;
    }

    fn build(&self, out: Box<dyn OutputStream>, compression: &str) -> Result<Box<dyn FormatWriter>> {
        let descriptor = SchemaDescriptor::new(self.schema.clone());
        let properties = Arc::new(self.options.properties(compression, &descriptor, &[])?);
        let layout = Layout::new(self.fields.clone(), properties.clone())?;
        let file = SerializedFileWriter::new(Sink::default(), self.schema.clone(), properties)
            .map_err(write_error)?;
        let encode_bytes = usize::try_from(self.options.row_group_bytes)
            .unwrap_or(usize::MAX)
            .min(ENCODE_BYTES);
        Ok(Box::new(ParquetFormatWriter {
            out,
            layout,
            undecided: self
                .options
                .samples_dictionaries()
                .then(|| (self.options.clone(), compression.to_owned(), descriptor)),
            file: Some(file),
            row_group_bytes: self.options.row_group_bytes,
            row_group_rows: usize::try_from(self.options.row_group_rows).unwrap_or(usize::MAX),
            encode_bytes,
            reservation: MemoryReservation::new(self.pool.clone()),
            pending: Pending::default(),
            columns: None,
            running: Vec::new(),
            open: OpenRowGroup::default(),
            state: CallState::new(IDENTIFIER),
            metadata: None,
            key_values: BTreeMap::new(),
            counters: Counters::default(),
        }))
    }
}

/// Batches that wait for their encoding.
#[derive(Default)]
struct Pending {
    batches: Vec<RecordBatch>,
    rows: usize,
    bytes: usize,
}

/// The row group that is being filled, without what is pending.
#[derive(Default)]
struct OpenRowGroup {
    rows: usize,
    /// Rows that `encoded_bytes` is about.
    encoded_rows: usize,
    encoded_bytes: usize,
    memory_bytes: usize,
}

#[derive(Default)]
struct Counters {
    rows: u64,
    batches: u64,
    row_groups: u64,
}

type FileWriter = SerializedFileWriter<Sink>;

struct ParquetFormatWriter {
    out: Box<dyn OutputStream>,
    layout: Layout,
    /// What is needed to choose the columns with dictionaries, until the first rows are there.
    undecided: Option<(WriteOptions, String, SchemaDescriptor)>,
    file: Option<FileWriter>,
    row_group_bytes: u64,
    row_group_rows: usize,
    encode_bytes: usize,
    reservation: MemoryReservation,
    pending: Pending,
    /// Encoders of the open row group, `None` while there is none or they are at work.
    columns: Option<Vec<ColumnEncoder>>,
    running: Vec<Task<Vec<ColumnEncoder>>>,
    open: OpenRowGroup,
    state: CallState,
    metadata: Option<ParquetMetaData>,
    key_values: BTreeMap<String, String>,
    counters: Counters,
}

impl ParquetFormatWriter {
    async fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = self.layout.fields.len();
        if batch.num_columns() != columns {
            return Err(Error::invalid(format!(
                "batch has {} columns, {columns} expected",
                batch.num_columns()
            )));
        }
        let rows = batch.num_rows();
        let bytes = batch_bytes(batch);
        let row_bytes = bytes.div_ceil(rows.max(1)).max(1);
        let step = (self.encode_bytes / row_bytes).clamp(MIN_ENCODE_ROWS, ENCODE_ROWS);
        let mut start = 0;
        while start < rows {
            let room = self
                .row_group_rows
                .saturating_sub(self.open.rows + self.pending.rows);
            if room == 0 {
                self.dispatch().await?;
                self.join().await?;
                continue;
            }
            let length = (rows - start).min(step).min(room);
            self.pending.batches.push(batch.slice(start, length));
            self.pending.rows += length;
            self.pending.bytes += length * row_bytes;
            start += length;
            if self.pending.rows >= ENCODE_ROWS || self.pending.bytes >= self.encode_bytes {
                self.dispatch().await?;
            }
        }
        self.reservation
            .try_resize(self.pending.bytes + self.open.memory_bytes)?;
        self.counters.rows += rows as u64;
        self.counters.batches += 1;
        Ok(())
    }

    /// Waits for the encoders and lets them work on what is pending.
    async fn dispatch(&mut self) -> Result<()> {
        self.join().await?;
        if self.pending.rows == 0 {
            return Ok(());
        }
        if let Some((options, compression, descriptor)) = self.undecided.take() {
            let plain = sample::overflowing(
                &self.layout.fields,
                &self.pending.batches,
                options.dictionary_page_bytes,
            );
            if !plain.is_empty() {
                let properties = Arc::new(options.properties(&compression, &descriptor, &plain)?);
                self.layout = Layout::new(self.layout.fields.clone(), properties)?;
            }
        }
        let columns = match self.columns.take() {
            Some(columns) => columns,
            None => self
                .layout
                .open(usize::try_from(self.counters.row_groups).unwrap_or(usize::MAX))?,
        };
        let pending = std::mem::take(&mut self.pending);
        self.open.rows += pending.rows;
        let batches = Arc::new(pending.batches);
        for mut group in balance(columns, &batches) {
            let batches = batches.clone();
            self.running.push(spawn("writing parquet", move || {
                for column in &mut group {
                    for batch in batches.iter() {
                        column.write(batch.column(column.index))?;
                    }
                }
                Ok(group)
            }));
        }
        Ok(())
    }

    /// Waits for the encoders and closes the row group when it is full.
    async fn join(&mut self) -> Result<()> {
        if !self.running.is_empty() {
            let mut columns = Vec::with_capacity(self.layout.fields.len());
            let mut failed = None;
            for task in self.running.drain(..) {
                match task.await {
                    Ok(group) => columns.extend(group),
                    Err(error) => failed = failed.or(Some(error)),
                }
            }
            if let Some(error) = failed {
                return Err(error);
            }
            columns.sort_by_key(|column: &ColumnEncoder| column.index);
            self.open.encoded_rows = self.open.rows;
            self.open.encoded_bytes = columns.iter().map(ColumnEncoder::encoded_bytes).sum();
            self.open.memory_bytes = columns.iter().map(ColumnEncoder::memory_bytes).sum();
            self.columns = Some(columns);
            self.reservation
                .try_resize(self.pending.bytes + self.open.memory_bytes)?;
        }
        if self.open.rows >= self.row_group_rows || self.open.encoded_bytes as u64 >= self.row_group_bytes {
            self.close_row_group().await?;
        }
        Ok(())
    }

    async fn close_row_group(&mut self) -> Result<()> {
        let Some(columns) = self.columns.take() else {
            return Ok(());
        };
        let Some(mut file) = self.file.take() else {
            return Err(Error::invalid("parquet writer has no file"));
        };
        let descriptor = file.schema_descr();
        let ranges = leaf_ranges(&self.layout.fields);
        let schema = Arc::new(SchemaDescriptor::new(descriptor.root_schema_ptr()));
        let mut tasks = Vec::new();
        for group in balance(columns, &[]) {
            let columns: Vec<_> = group
                .into_iter()
                .map(|column| {
                    let range = ranges.get(column.index).cloned().unwrap_or_default();
                    (column.index, columns_of(&schema, range), column)
                })
                .collect();
            tasks.push(spawn("writing parquet", move || {
                columns
                    .into_iter()
                    .map(|(index, leaves, column)| Ok((index, column.close(&leaves)?)))
                    .collect::<Result<Vec<_>>>()
            }));
        }
        let mut chunks = Vec::new();
        for task in tasks {
            chunks.extend(task.await?);
        }
        chunks.sort_by_key(|(index, _)| *index);
        let file = spawn("writing parquet", move || {
            let mut row_group = file.next_row_group().map_err(write_error)?;
            for (_, leaves) in chunks {
                for chunk in leaves {
                    chunk.append_to_row_group(&mut row_group).map_err(write_error)?;
                }
            }
            row_group.close().map_err(write_error)?;
            file.flush().map_err(|e| write_error(e.into()))?;
            Ok(file)
        })
        .await?;
        self.file = Some(file);
        self.counters.row_groups += 1;
        self.open = OpenRowGroup::default();
        self.drain().await?;
        self.reservation.try_resize(self.pending.bytes)
    }

    async fn drain(&mut self) -> Result<()> {
        let segments = self
            .file
            .as_mut()
            .map(|file| file.inner_mut().take())
            .unwrap_or_default();
        for segment in segments {
            self.out.write(segment).await?;
        }
        Ok(())
    }

    async fn complete(&mut self) -> Result<()> {
        self.dispatch().await?;
        self.join().await?;
        self.close_row_group().await?;
        let Some(file) = &mut self.file else {
            return Err(Error::invalid("parquet writer has no file"));
        };
        for (key, value) in &self.key_values {
            file.append_key_value_metadata(KeyValue::new(key.clone(), value.clone()));
        }
        let metadata = file.finish().map_err(write_error)?;
        self.drain().await?;
        self.metadata = Some(metadata);
        self.reservation.free();
        Ok(())
    }
}

#[async_trait]
impl FormatWriter for ParquetFormatWriter {
    async fn add_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        self.state.begin()?;
        let result = self.add(batch).await;
        self.state.end(result)
    }

    async fn flush(&mut self) -> Result<()> {
        self.state.begin()?;
        let mut result = self.dispatch().await;
        if result.is_ok() {
            result = self.join().await;
        }
        self.state.end(result)
    }

    async fn finish(&mut self) -> Result<()> {
        self.state.begin()?;
        let result = self.complete().await;
        self.state.finish(result)
    }

    fn reach_target_size(&self, _suggested_check: bool, target_size: u64) -> Result<bool> {
        let waiting = self.open.rows - self.open.encoded_rows + self.pending.rows;
        let open = match self.open.encoded_rows {
            // Nothing was encoded yet: the bytes in memory are an upper bound.
            0 => self.pending.bytes as u64,
            rows => {
                let rate = self.open.encoded_bytes as f64 / rows as f64;
                self.open.encoded_bytes as u64 + (rate * waiting as f64) as u64
            }
        };
        Ok(self.out.position() + open >= target_size)
    }

    fn metrics(&self) -> Metrics {
        let mut metrics = Metrics::new();
        metrics.set("parquet.write.rows", self.counters.rows);
        metrics.set("parquet.write.batches", self.counters.batches);
        metrics.set("parquet.write.row-groups", self.counters.row_groups);
        metrics.set("parquet.write.bytes", self.out.position());
        metrics
    }

    fn add_metadata(&mut self, metadata: &BTreeMap<String, String>) -> Result<()> {
        self.state.begin()?;
        self.key_values
            .extend(metadata.iter().map(|(key, value)| (key.clone(), value.clone())));
        self.state.end(Ok(()))
    }

    fn written_stats(&self) -> Option<&dyn WrittenFileStatsProvider> {
        Some(self)
    }

    fn into_output(self: Box<Self>) -> Box<dyn OutputStream> {
        self.out
    }
}

impl WrittenFileStatsProvider for ParquetFormatWriter {
    fn extract_written_file_stats(&self, _pool: &Arc<dyn MemoryPool>) -> Result<Vec<ColumnStats>> {
        match &self.metadata {
            Some(metadata) => Ok(file_stats(metadata, &self.layout.fields)),
            None => Err(Error::invalid(
                "parquet file was not finished, it has no statistics",
            )),
        }
    }
}

/// Bytes of the rows of a batch, whatever larger buffers they are slices of.
fn batch_bytes(batch: &RecordBatch) -> usize {
    batch
        .columns()
        .iter()
        .map(|c| {
            c.to_data()
                .get_slice_memory_size()
                .unwrap_or_else(|_| c.len() * 8)
        })
        .sum()
}

/// Splits columns into groups of about the same work for the threads that there are.
fn balance(columns: Vec<ColumnEncoder>, batches: &[RecordBatch]) -> Vec<Vec<ColumnEncoder>> {
    let weigh = |column: &ColumnEncoder| match batches.first() {
        Some(batch) => batch
            .column(column.index)
            .to_data()
            .get_slice_memory_size()
            .unwrap_or(0),
        None => column.encoded_bytes(),
    };
    let count = parallelism().min(columns.len()).max(1);
    let mut weighed: Vec<_> = columns
        .into_iter()
        .map(|column| (weigh(&column), column))
        .collect();
    weighed.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    let mut groups: Vec<(usize, Vec<ColumnEncoder>)> = (0..count).map(|_| (0, Vec::new())).collect();
    for (weight, column) in weighed {
        if let Some(lightest) = groups.iter_mut().min_by_key(|(sum, _)| *sum) {
            // A column costs something even when it is empty.
            lightest.0 += weight + 1024;
            lightest.1.push(column);
        }
    }
    groups
        .into_iter()
        .map(|(_, group)| group)
        .filter(|group| !group.is_empty())
        .collect()
}
