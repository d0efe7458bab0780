// SPDX-License-Identifier: Apache-2.0

//! The writer: batches are encoded column by column on the blocking pool while the caller prepares the next ones, stripes
//! go to the stream when they are full.
//!
//! The modules below this one know nothing of Paimon but its types and errors; they write ORC 0.12 with row indexes, bloom
//! filters and every codec that readers have in common.

mod bits;
mod bloom;
mod bounds;
mod byte_rle;
mod codec;
mod column;
mod decimal;
mod dictionary;
mod encoders;
mod int_rle;
mod nested;
mod options;
mod present;
mod proto;
mod statistics;
mod stream;
mod strings;
mod stripe;
mod tail;
mod temporal;
#[cfg(test)]
mod tests;
mod types;
mod values;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use async_trait::async_trait;
use bytes::Bytes;
use paimon_format::{
    FormatWriter, MemoryPool, MemoryReservation, Metrics, StickyError, UnboundedMemoryPool, WriterBuilder,
    WrittenFileStatsProvider,
};
use paimon_storage::OutputStream;
use paimon_types::{ColumnStats, DataField, Error, Result};

use self::codec::{Codec, Compressor};
use self::encoders::{Encoders, Operation};
use self::options::WriteOptions;
use self::tail::{Contents, MAGIC};
use self::types::Node;
use crate::decode::Zone;
use crate::options::ReadOptions;
use crate::proto::Footer;
use crate::schema::TypeTree;
use crate::stats::file_stats;
use paimon_format::blocking::spawn;

/// Rows that are encoded at a time.
const ENCODE_ROWS: usize = 32 << 10;
/// Bytes in memory that are encoded at a time.
const ENCODE_BYTES: usize = 4 << 20;
/// No fewer rows are encoded at a time because of their size.
const MIN_ENCODE_ROWS: usize = 100;

/// Makes writers of ORC files.
#[derive(Debug)]
pub(crate) struct OrcWriterBuilder {
    fields: Arc<[DataField]>,
    root: Arc<Node>,
    options: WriteOptions,
    read_options: ReadOptions,
    pool: Arc<dyn MemoryPool>,
}

impl OrcWriterBuilder {
    /// A builder of files with these columns. Batches are collected as the writer sees fit, whatever `_batch_size` is.
    ///
    /// # Errors
    /// `Unsupported` that names the column and its type when ORC has none for it; errors of options.
    pub(crate) fn new(
        schema: &[DataField],
        options: &BTreeMap<String, String>,
        _batch_size: usize,
    ) -> Result<Self> {
        let root = types::root(schema)?;
        Ok(OrcWriterBuilder {
            fields: schema.into(),
            options: WriteOptions::parse(options, &root)?,
            read_options: ReadOptions::parse(options)?,
            root: Arc::new(root),
            pool: Arc::new(UnboundedMemoryPool::new()),
        })
    }
}

impl WriterBuilder for OrcWriterBuilder {
    fn with_memory_pool(&mut self, pool: Arc<dyn MemoryPool>) {
        self.pool = pool;
    }

    fn build(&self, out: Box<dyn OutputStream>, compression: &str) -> Result<Box<dyn FormatWriter>> {
        let codec = self.options.codec(compression)?;
        let chunk = self.options.chunk(codec, self.root.count());
        let settings = self.options.columns(chunk);
        let contents = Contents {
            row_index_stride: settings.row_index_stride,
            ..Contents::default()
        };
        Ok(Box::new(OrcFormatWriter {
            out,
            fields: self.fields.clone(),
            options: self.options.clone(),
            read_options: self.read_options,
            codec,
            chunk,
            encode_bytes: usize::try_from(self.options.stripe_bytes)
                .unwrap_or(usize::MAX)
                .min(ENCODE_BYTES),
            group_rows: settings.row_index_stride.unwrap_or(usize::MAX),
            encoders: Encoders::new(&self.root, &settings, codec),
            root: self.root.clone(),
            reservation: MemoryReservation::new(self.pool.clone()),
            pending: Pending::default(),
            open: OpenStripe::default(),
            contents,
            state: State::Open,
            footer: None,
            key_values: BTreeMap::new(),
            batches: 0,
        }))
    }
}

/// What waits for its encoding.
#[derive(Default)]
struct Pending {
    batches: Vec<RecordBatch>,
    rows: usize,
    bytes: usize,
}

/// The stripe that is being filled, without what is pending.
#[derive(Default)]
struct OpenStripe {
    /// Rows that were given to the encoders.
    rows: usize,
    /// Rows of the open row group.
    group_rows: usize,
    /// Rows that `encoded_bytes` is about.
    encoded_rows: usize,
    encoded_bytes: usize,
    memory_bytes: usize,
}

enum State {
    Open,
    /// A call is at work; seen by another call only when that one was dropped.
    Busy,
    Finished,
    Failed(StickyError),
}

struct OrcFormatWriter {
    out: Box<dyn OutputStream>,
    fields: Arc<[DataField]>,
    root: Arc<Node>,
    options: WriteOptions,
    read_options: ReadOptions,
    codec: Codec,
    chunk: Option<usize>,
    encode_bytes: usize,
    group_rows: usize,
    encoders: Encoders,
    reservation: MemoryReservation,
    pending: Pending,
    open: OpenStripe,
    contents: Contents,
    state: State,
    /// The footer of the finished file.
    footer: Option<Vec<u8>>,
    key_values: BTreeMap<String, String>,
    batches: u64,
}

impl OrcFormatWriter {
    fn begin(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.state, State::Busy) {
            State::Open => Ok(()),
            State::Busy => {
                let error = Error::invalid("orc writer was left in the middle of a call");
                self.state = State::Failed(StickyError::new(&error));
                Err(error)
            }
            State::Finished => {
                self.state = State::Finished;
                Err(Error::invalid("orc writer is finished already"))
            }
            State::Failed(error) => {
                let again = error.to_error();
                self.state = State::Failed(error);
                Err(again)
            }
        }
    }

    fn end(&mut self, result: Result<()>, next: State) -> Result<()> {
        self.state = match &result {
            Ok(()) => next,
            Err(error) => State::Failed(StickyError::new(error)),
        };
        result
    }

    fn check(&self, batch: &RecordBatch) -> Result<()> {
        let columns = self.fields.len();
        if batch.num_columns() != columns {
            return Err(Error::invalid(format!(
                "batch has {} columns, {columns} expected",
                batch.num_columns()
            )));
        }
        let nodes = self.root.children.iter();
        for ((node, field), column) in nodes.zip(self.fields.iter()).zip(batch.columns()) {
            node.check(column.data_type(), &field.data_type)
                .and_then(|()| match column.logical_null_count() {
                    0 => Ok(()),
                    _ if node.nullable => Ok(()),
                    _ => Err(Error::invalid("null in a NOT NULL column")),
                })
                .map_err(|e| e.with("column", &node.name))?;
        }
        Ok(())
    }

    async fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        self.check(batch)?;
        let rows = batch.num_rows();
        let bytes = batch_bytes(batch);
        let row_bytes = bytes.div_ceil(rows.max(1)).max(1);
        let step = (self.encode_bytes / row_bytes).clamp(MIN_ENCODE_ROWS, ENCODE_ROWS);
        let mut start = 0;
        while start < rows {
            let length = (rows - start).min(step);
            self.pending.batches.push(batch.slice(start, length));
            self.pending.rows += length;
            self.pending.bytes += length * row_bytes;
            start += length;
            if self.pending.rows >= ENCODE_ROWS || self.pending.bytes >= self.encode_bytes {
                self.dispatch().await?;
            }
        }
        self.charge()?;
        self.contents.rows += rows as u64;
        self.batches += 1;
        Ok(())
    }

    fn charge(&mut self) -> Result<()> {
        self.reservation
            .try_resize(self.pending.bytes + self.open.memory_bytes)
    }

    /// Waits for the encoders, ends the stripe when it is full, and lets them work on what is pending.
    async fn dispatch(&mut self) -> Result<()> {
        self.join().await?;
        let mut operations = Vec::new();
        for batch in std::mem::take(&mut self.pending).batches {
            let mut start = 0;
            while start < batch.num_rows() {
                let open = &mut self.open;
                if open.group_rows == 0 {
                    operations.push(Operation::StartGroup);
                }
                let room = (self.group_rows - open.group_rows).min(self.options.stripe_rows - open.rows);
                let length = (batch.num_rows() - start).min(room);
                operations.push(Operation::Rows(batch.slice(start, length)));
                start += length;
                open.rows += length;
                open.group_rows += length;
                if open.group_rows == self.group_rows {
                    operations.push(Operation::EndGroup);
                    open.group_rows = 0;
                }
                if open.rows == self.options.stripe_rows {
                    self.encoders.start(std::mem::take(&mut operations))?;
                    self.encoders.join().await?;
                    self.close_stripe().await?;
                }
            }
        }
        if !operations.is_empty() {
            self.encoders.start(operations)?;
        }
        Ok(())
    }

    /// Waits for the encoders and ends the stripe when it is full.
    async fn join(&mut self) -> Result<()> {
        if self.encoders.join().await? {
            self.open.encoded_rows = self.open.rows;
            self.open.encoded_bytes = self.encoders.encoded_bytes();
            self.open.memory_bytes = self.encoders.memory_bytes();
            self.charge()?;
            if self.open.encoded_bytes as u64 >= self.options.stripe_bytes {
                self.close_stripe().await?;
            }
        }
        Ok(())
    }

    /// Ends the stripe with the rows that the encoders have; they must not be at work.
    async fn close_stripe(&mut self) -> Result<()> {
        let rows = self.open.rows as u64;
        if rows == 0 {
            return Ok(());
        }
        let parts = self.encoders.finish(self.open.group_rows > 0).await?;
        self.write_header().await?;
        let (offset, chunk, codec) = (self.out.position(), self.chunk, self.codec);
        let has_timestamp = self.root.has_timestamp();
        let stripe = spawn("writing", move || {
            let mut compressor = Compressor::new(codec)?;
            stripe::assemble(parts, offset, rows, has_timestamp, chunk, &mut compressor)
        })
        .await?;
        for segment in stripe.segments {
            self.out.write(segment).await?;
        }
        self.contents.stripes.push(stripe.information);
        self.contents.stripe_statistics.push(stripe.statistics);
        self.open = OpenStripe::default();
        self.charge()
    }

    async fn write_header(&mut self) -> Result<()> {
        if self.out.position() == 0 {
            self.out.write(Bytes::from_static(MAGIC)).await?;
        }
        Ok(())
    }

    async fn complete(&mut self) -> Result<()> {
        self.dispatch().await?;
        self.join().await?;
        self.close_stripe().await?;
        self.write_header().await?;
        let mut contents = std::mem::take(&mut self.contents);
        contents.length = self.out.position();
        contents.statistics = self.encoders.file_statistics(contents.rows);
        contents.metadata = std::mem::take(&mut self.key_values).into_iter().collect();
        let (root, codec, chunk) = (self.root.clone(), self.codec, self.chunk);
        let (contents, tail) = spawn("writing", move || {
            let mut compressor = Compressor::new(codec)?;
            let tail = tail::encode(&contents, &root, codec, chunk, &mut compressor)?;
            Ok((contents, tail))
        })
        .await?;
        self.contents = contents;
        self.out.write(Bytes::from(tail.bytes)).await?;
        self.footer = Some(tail.footer);
        self.reservation.free();
        Ok(())
    }
}

#[async_trait]
impl FormatWriter for OrcFormatWriter {
    async fn add_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        self.begin()?;
        let result = self.add(batch).await;
        self.end(result, State::Open)
    }

    async fn flush(&mut self) -> Result<()> {
        self.begin()?;
        let mut result = self.dispatch().await;
        if result.is_ok() {
            result = self.join().await;
        }
        self.end(result, State::Open)
    }

    async fn finish(&mut self) -> Result<()> {
        self.begin()?;
        let result = self.complete().await;
        self.end(result, State::Finished)
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
        metrics.set("orc.write.rows", self.contents.rows);
        metrics.set("orc.write.batches", self.batches);
        metrics.set("orc.write.stripes", self.contents.stripes.len() as u64);
        metrics.set("orc.write.bytes", self.out.position());
        metrics
    }

    fn add_metadata(&mut self, metadata: &BTreeMap<String, String>) -> Result<()> {
        self.begin()?;
        self.key_values
            .extend(metadata.iter().map(|(key, value)| (key.clone(), value.clone())));
        self.end(Ok(()), State::Open)
    }

    fn written_stats(&self) -> Option<&dyn WrittenFileStatsProvider> {
        Some(self)
    }

    fn into_output(self: Box<Self>) -> Box<dyn OutputStream> {
        self.out
    }
}

impl WrittenFileStatsProvider for OrcFormatWriter {
    fn extract_written_file_stats(&self, _pool: &Arc<dyn MemoryPool>) -> Result<Vec<ColumnStats>> {
        let Some(footer) = &self.footer else {
            return Err(Error::invalid("orc file was not finished, it has no statistics"));
        };
        let footer = Footer::decode(footer)?;
        Ok(file_stats(
            &TypeTree::new(&footer.types)?,
            &footer.statistics,
            footer.number_of_rows,
            footer.calendar,
            &Zone::utc(),
            &self.fields,
            self.read_options,
        ))
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
