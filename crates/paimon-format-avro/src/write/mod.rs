// SPDX-License-Identifier: Apache-2.0

//! The writer: a batch is encoded on the blocking pool while the caller prepares the next one, blocks go to the stream as
//! they are full.

mod encode;
mod stats;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use async_trait::async_trait;
use bytes::Bytes;
use paimon_avro::{Compression, ContainerWriter, sync_marker};
use paimon_format::blocking::{Task, spawn};
use paimon_format::{
    CallState, FormatWriter, MemoryPool, MemoryReservation, Metrics, UnboundedMemoryPool, WriterBuilder,
    WrittenFileStatsProvider,
};
use paimon_storage::{IdSource, OutputStream};
use paimon_types::{ColumnStats, DataField, Error, Result};

use self::encode::ColumnEncoder;
use self::stats::Collector;
use crate::format::IDENTIFIER;
use crate::schema::avro_schema;

/// Level of zstd when `avro.codec` names it (Java `CodecFactory.DEFAULT_ZSTANDARD_LEVEL`).
const CODEC_ZSTD_LEVEL: i32 = 3;

/// Makes [`AvroFormatWriter`]s.
#[derive(Debug)]
pub(crate) struct AvroWriterBuilder {
    fields: Arc<[DataField]>,
    schema: String,
    options: Arc<BTreeMap<String, String>>,
    ids: Arc<dyn IdSource>,
    pool: Arc<dyn MemoryPool>,
}

impl AvroWriterBuilder {
    pub(crate) fn new(
        fields: &[DataField],
        options: Arc<BTreeMap<String, String>>,
        ids: Arc<dyn IdSource>,
    ) -> Result<Self> {
        if let Some(mapping) = own(&options, "row-name-mapping").filter(|mapping| !mapping.trim().is_empty())
        {
            return Err(Error::unsupported(format!(
                "names of avro records cannot be changed, found {mapping:?}"
            ))
            .with("option", "avro.row-name-mapping"));
        }
        Ok(AvroWriterBuilder {
            fields: fields.into(),
            schema: avro_schema(fields)?,
            options,
            ids,
            pool: Arc::new(UnboundedMemoryPool::new()),
        })
    }

    /// `avro.codec`, else `file.compression` with `file.compression.zstd-level`.
    fn compression(&self, compression: &str) -> Result<Compression> {
        if let Some(codec) = own(&self.options, "codec") {
            return Compression::parse(codec, CODEC_ZSTD_LEVEL).map_err(|e| e.with("option", "avro.codec"));
        }
        let level = match self.options.get("file.compression.zstd-level") {
            Some(text) => text.trim().parse().map_err(|_| {
                Error::invalid(format!("zstd level is {text:?}, an integer is expected"))
                    .with("option", "file.compression.zstd-level")
            })?,
            None => 1,
        };
        Compression::parse(compression, level).map_err(|e| e.with("option", "file.compression"))
    }
}

/// The option `avro.<key>`; the prefix may be of any case.
fn own<'a>(options: &'a BTreeMap<String, String>, key: &str) -> Option<&'a str> {
    options.iter().find_map(|(name, value)| {
        let (prefix, rest) = name.split_once('.')?;
        (prefix.eq_ignore_ascii_case(IDENTIFIER) && rest == key).then_some(value.as_str())
    })
}

impl WriterBuilder for AvroWriterBuilder {
    fn with_memory_pool(&mut self, pool: Arc<dyn MemoryPool>) {
        self.pool = pool;
    }

    fn build(&self, out: Box<dyn OutputStream>, compression: &str) -> Result<Box<dyn FormatWriter>> {
        let compression = self.compression(compression)?;
        let sync = sync_marker(&self.ids.next_uuid());
        let encoder = FileEncoder {
            container: ContainerWriter::new(&self.schema, compression, sync),
            stats: self
                .fields
                .iter()
                .map(|field| Collector::new(&field.data_type))
                .collect(),
            fields: self.fields.clone(),
        };
        Ok(Box::new(AvroFormatWriter {
            out,
            fields: self.fields.clone(),
            encoder: Some(encoder),
            running: None,
            reservation: MemoryReservation::new(self.pool.clone()),
            state: CallState::new(IDENTIFIER),
            stats: None,
            rows: 0,
            batches: 0,
        }))
    }
}

/// What encodes, on whatever thread.
struct FileEncoder {
    container: ContainerWriter,
    fields: Arc<[DataField]>,
    stats: Vec<Collector>,
}

impl FileEncoder {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = encoders(&self.fields, batch)?;
        for row in 0..batch.num_rows() {
            let out = self.container.encoder();
            for (column, field) in columns.iter().zip(self.fields.iter()) {
                column
                    .write(row, out)
                    .map_err(|e| e.with("column", &field.name))?;
            }
            self.container.end_record()?;
        }
        for ((collector, column), field) in self.stats.iter_mut().zip(batch.columns()).zip(self.fields.iter())
        {
            collector.add(column).map_err(|e| e.with("column", &field.name))?;
        }
        Ok(())
    }
}

/// # Errors
/// `InvalidInput` that names the column which does not fit.
fn encoders<'a>(fields: &[DataField], batch: &'a RecordBatch) -> Result<Vec<ColumnEncoder<'a>>> {
    if batch.num_columns() != fields.len() {
        return Err(Error::invalid(format!(
            "batch has {} columns, {} expected",
            batch.num_columns(),
            fields.len()
        )));
    }
    let encoder = |(field, column): (&DataField, &'a arrow_array::ArrayRef)| {
        if !field.data_type.nullable && column.logical_null_count() > 0 {
            return Err(Error::invalid("null in a NOT NULL column").with("column", &field.name));
        }
        ColumnEncoder::new(&field.data_type, column.as_ref()).map_err(|e| e.with("column", &field.name))
    };
    fields.iter().zip(batch.columns()).map(encoder).collect()
}

struct AvroFormatWriter {
    out: Box<dyn OutputStream>,
    fields: Arc<[DataField]>,
    /// `None` while it is at work.
    encoder: Option<FileEncoder>,
    running: Option<Task<FileEncoder>>,
    reservation: MemoryReservation,
    state: CallState,
    stats: Option<Vec<ColumnStats>>,
    rows: u64,
    batches: u64,
}

impl AvroFormatWriter {
    async fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        // What does not fit is found before anything is waited for.
        encoders(&self.fields, batch)?;
        self.join().await?;
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let Some(mut encoder) = self.encoder.take() else {
            return Err(Error::invalid("avro writer has no encoder"));
        };
        let rows = batch.clone();
        let held = encoder
            .container
            .memory()
            .saturating_add(rows.get_array_memory_size());
        if let Err(error) = self.reservation.try_resize(held) {
            self.encoder = Some(encoder);
            return Err(error);
        }
        self.rows += rows.num_rows() as u64;
        self.batches += 1;
        self.running = Some(spawn("writing avro", move || {
            encoder.write(&rows)?;
            Ok(encoder)
        }));
        Ok(())
    }

    /// Waits for the encoder and hands its full blocks to the stream.
    async fn join(&mut self) -> Result<()> {
        if let Some(task) = self.running.take() {
            self.encoder = Some(task.await?);
        }
        self.drain().await
    }

    async fn drain(&mut self) -> Result<()> {
        let Some(encoder) = &mut self.encoder else {
            return Ok(());
        };
        let bytes = encoder.container.take();
        self.reservation.try_resize(encoder.container.memory())?;
        if bytes.is_empty() {
            return Ok(());
        }
        self.out.write(Bytes::from(bytes)).await
    }

    async fn complete(&mut self) -> Result<()> {
        self.join().await?;
        let Some(mut encoder) = self.encoder.take() else {
            return Err(Error::invalid("avro writer has no encoder"));
        };
        let encoder = spawn("writing avro", move || {
            encoder.container.flush()?;
            Ok(encoder)
        })
        .await?;
        self.stats = Some(encoder.stats.iter().map(Collector::stats).collect());
        self.encoder = Some(encoder);
        self.drain().await?;
        self.encoder = None;
        self.reservation.free();
        Ok(())
    }
}

#[async_trait]
impl FormatWriter for AvroFormatWriter {
    async fn add_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        self.state.begin()?;
        let result = self.add(batch).await;
        self.state.end(result)
    }

    async fn flush(&mut self) -> Result<()> {
        self.state.begin()?;
        let result = self.join().await;
        self.state.end(result)
    }

    async fn finish(&mut self) -> Result<()> {
        self.state.begin()?;
        let result = self.complete().await;
        self.state.finish(result)
    }

    fn reach_target_size(&self, suggested_check: bool, target_size: u64) -> Result<bool> {
        let length = match &self.encoder {
            Some(encoder) => encoder.container.position(),
            None => self.out.position(),
        };
        Ok(suggested_check && length >= target_size)
    }

    fn metrics(&self) -> Metrics {
        let mut metrics = Metrics::new();
        metrics.set("avro.write.rows", self.rows);
        metrics.set("avro.write.batches", self.batches);
        metrics.set("avro.write.bytes", self.out.position());
        metrics
    }

    /// Avro has its metadata at the beginning of the file, which is written by then.
    fn add_metadata(&mut self, metadata: &BTreeMap<String, String>) -> Result<()> {
        self.state.begin()?;
        self.state.end(Ok(()))?;
        match metadata.is_empty() {
            true => Ok(()),
            false => Err(Error::unsupported(
                "avro files have no place for metadata of a writer",
            )),
        }
    }

    fn written_stats(&self) -> Option<&dyn WrittenFileStatsProvider> {
        Some(self)
    }

    fn into_output(self: Box<Self>) -> Box<dyn OutputStream> {
        self.out
    }
}

impl WrittenFileStatsProvider for AvroFormatWriter {
    fn extract_written_file_stats(&self, _pool: &Arc<dyn MemoryPool>) -> Result<Vec<ColumnStats>> {
        self.stats
            .clone()
            .ok_or_else(|| Error::invalid("avro file was not finished, it has no statistics"))
    }
}
