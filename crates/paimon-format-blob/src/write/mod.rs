// SPDX-License-Identifier: Apache-2.0

//! The writer.

mod arrays;
mod sink;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use arrow_array::{Array, BooleanArray, RecordBatch};
use async_trait::async_trait;
use paimon_format::{
    CallState, FormatWriter, MemoryPool, MemoryReservation, Metrics, UnboundedMemoryPool, WriterBuilder,
    WrittenFileStatsProvider,
};
use paimon_storage::OutputStream;
use paimon_types::{ColumnStats, DataField, Error, Result};

use self::arrays::{BlobArray, ElementRange};
use self::sink::Sink;
use crate::format::IDENTIFIER;
use crate::layout::{ARRAY_MAGIC, DeltaEncoder, ELEMENTS_VERSION, MAP_MAGIC, NULL, PLACEHOLDER, VERSION};
use crate::schema::{BlobColumn, Columns, PLACEHOLDER_COLUMN};

/// Makes writers of one blob column.
pub(crate) struct BlobWriterBuilder {
    columns: Arc<Columns>,
    blob: Arc<BlobColumn>,
    pool: Arc<dyn MemoryPool>,
}

impl BlobWriterBuilder {
    pub(crate) fn new(schema: &[DataField]) -> Result<Self> {
        let columns = Columns::resolve(schema)?;
        let Some(blob) = columns.blob.clone() else {
            return Err(Error::invalid("a blob file has one blob column, found none"));
        };
        Ok(BlobWriterBuilder {
            columns: Arc::new(columns),
            blob: Arc::new(blob),
            pool: Arc::new(UnboundedMemoryPool::new()),
        })
    }
}

impl WriterBuilder for BlobWriterBuilder {
    fn with_memory_pool(&mut self, pool: Arc<dyn MemoryPool>) {
        self.pool = pool;
    }

    /// Blob files are never compressed: the compression is not looked at, as in Java.
    fn build(&self, out: Box<dyn OutputStream>, _compression: &str) -> Result<Box<dyn FormatWriter>> {
        Ok(Box::new(BlobFileWriter {
            columns: self.columns.clone(),
            blob: self.blob.clone(),
            sink: Sink::new(out),
            index: DeltaEncoder::new(),
            calls: CallState::new(IDENTIFIER),
            held: MemoryReservation::new(self.pool.clone()),
            rows: 0,
            finished: false,
        }))
    }
}

struct BlobFileWriter {
    columns: Arc<Columns>,
    blob: Arc<BlobColumn>,
    sink: Sink,
    index: DeltaEncoder,
    calls: CallState,
    held: MemoryReservation,
    rows: u64,
    finished: bool,
}

impl BlobFileWriter {
    async fn write_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        let (columns, blob) = (self.columns.clone(), self.blob.clone());
        let named = |e: Error| e.with("column", &blob.name);
        let expected = columns.schema.fields().len();
        if batch.num_columns() != expected {
            return Err(named(Error::invalid(format!(
                "batch has {} columns, {expected} expected",
                batch.num_columns()
            ))));
        }
        let placeholders = match columns.placeholder {
            Some(position) => Some(placeholders(batch, position)?),
            None => None,
        };
        let array = batch
            .columns()
            .get(blob.position)
            .ok_or_else(|| named(Error::invalid("batch does not have the column")))?;
        let wanted = columns.schema.field(blob.position).data_type();
        let blobs = BlobArray::new(blob.shape, array, wanted).map_err(named)?;
        for row in 0..batch.num_rows() {
            let length = if placeholders.is_some_and(|flags| flags.value(row)) {
                PLACEHOLDER
            } else if blobs.is_null(row) {
                if !blob.nullable {
                    return Err(named(Error::invalid(format!(
                        "null in a NOT NULL column, row {row} of the batch"
                    ))));
                }
                NULL
            } else {
                self.write_record(&blobs, row).await.map_err(named)?
            };
            self.index.push(length);
            self.rows = self.rows.saturating_add(1);
        }
        self.held
            .try_resize(self.index.capacity().saturating_add(self.sink.capacity()))
    }

    /// Writes the record of a value and returns its length.
    async fn write_record(&mut self, blobs: &BlobArray<'_>, row: usize) -> Result<i64> {
        self.sink.begin().await?;
        match blobs {
            BlobArray::Scalar(values) => self.sink.put_value(values, row).await?,
            BlobArray::Array(elements) => {
                let range = elements.range(row)?;
                self.put_head(ARRAY_MAGIC, &range).await?;
                let index = self.put_values(elements, &range).await?;
                self.sink.put(index.bytes()).await?;
                self.put_length(index.bytes().len()).await?;
            }
            BlobArray::Map(elements, keys) => {
                let range = elements.range(row)?;
                let mut seen = HashSet::new();
                let (mut bytes, mut key_index) = (Vec::new(), DeltaEncoder::new());
                for at in range.clone() {
                    let key = keys.get(at)?;
                    if !seen.insert(key) {
                        return Err(Error::invalid(format!("a map has the key {key:?} twice")));
                    }
                    key_index.push(keys.key_type().encode(key, &mut bytes)? as i64);
                }
                self.put_head(MAP_MAGIC, &range).await?;
                self.sink.put(&bytes).await?;
                let value_index = self.put_values(elements, &range).await?;
                self.sink.put(key_index.bytes()).await?;
                self.sink.put(value_index.bytes()).await?;
                self.put_length(key_index.bytes().len()).await?;
                self.put_length(value_index.bytes().len()).await?;
            }
        }
        self.sink.end().await
    }

    async fn put_head(&mut self, magic: i32, range: &std::ops::Range<usize>) -> Result<()> {
        self.sink.put(&magic.to_le_bytes()).await?;
        self.sink.put(&[ELEMENTS_VERSION]).await?;
        self.put_length(range.len()).await
    }

    /// Writes the elements that are not null and returns the index of all.
    async fn put_values(
        &mut self,
        elements: &ElementRange<'_>,
        range: &std::ops::Range<usize>,
    ) -> Result<DeltaEncoder> {
        let mut index = DeltaEncoder::new();
        for at in range.clone() {
            if elements.values.is_null(at) {
                if !elements.nullable {
                    return Err(Error::invalid("null in a NOT NULL element"));
                }
                index.push(NULL);
                continue;
            }
            index.push(elements.values.value_length(at));
            self.sink.put_value(elements.values, at).await?;
        }
        Ok(index)
    }

    async fn put_length(&mut self, length: usize) -> Result<()> {
        let length = i32::try_from(length).map_err(|_| {
            Error::unsupported(format!("an index has {length} bytes, at most {} fit", i32::MAX))
        })?;
        self.sink.put(&length.to_le_bytes()).await
    }

    async fn write_footer(&mut self) -> Result<()> {
        let index = std::mem::take(&mut self.index).into_bytes();
        self.sink.put(&index).await?;
        self.put_length(index.len()).await?;
        self.sink.put(&[VERSION]).await?;
        self.sink.flush().await
    }
}

fn placeholders(batch: &RecordBatch, position: usize) -> Result<&BooleanArray> {
    batch
        .columns()
        .get(position)
        .and_then(|column| column.as_any().downcast_ref::<BooleanArray>())
        .filter(|flags| flags.null_count() == 0)
        .ok_or_else(|| Error::invalid("column is no BOOLEAN NOT NULL").with("column", PLACEHOLDER_COLUMN))
}

#[async_trait]
impl FormatWriter for BlobFileWriter {
    async fn add_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        self.calls.begin()?;
        let result = self.write_batch(batch).await;
        self.calls.end(result)
    }

    async fn flush(&mut self) -> Result<()> {
        self.calls.begin()?;
        let result = self.sink.flush().await;
        self.calls.end(result)
    }

    async fn finish(&mut self) -> Result<()> {
        self.calls.begin()?;
        let result = self.write_footer().await;
        self.finished = result.is_ok();
        self.held.free();
        self.calls.finish(result)
    }

    /// Told at every call, by the records without the index, as in Java.
    fn reach_target_size(&self, _suggested_check: bool, target_size: u64) -> Result<bool> {
        Ok(self.sink.position() >= target_size)
    }

    fn metrics(&self) -> Metrics {
        let mut metrics = Metrics::new();
        metrics.set("blob.write.bytes", self.sink.position());
        metrics.set("blob.write.rows", self.rows);
        metrics
    }

    fn add_metadata(&mut self, metadata: &BTreeMap<String, String>) -> Result<()> {
        if self.finished {
            return Err(Error::invalid("blob writer is finished already"));
        }
        match metadata.keys().next() {
            None => Ok(()),
            Some(key) => Err(Error::unsupported(format!(
                "a blob file has no place for metadata {key:?}"
            ))),
        }
    }

    fn written_stats(&self) -> Option<&dyn WrittenFileStatsProvider> {
        Some(self)
    }

    fn into_output(self: Box<Self>) -> Box<dyn OutputStream> {
        self.sink.into_output()
    }
}

impl WrittenFileStatsProvider for BlobFileWriter {
    /// Nothing for each column, as Java keeps nothing.
    fn extract_written_file_stats(&self, _pool: &Arc<dyn MemoryPool>) -> Result<Vec<ColumnStats>> {
        if !self.finished {
            return Err(Error::invalid("blob file is not finished"));
        }
        Ok(vec![ColumnStats::default(); self.columns.schema.fields().len()])
    }
}
