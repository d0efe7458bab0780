// SPDX-License-Identifier: Apache-2.0

//! The reader: decodes on the blocking pool, a few batches ahead of its consumer.

mod column;
mod decode;
mod fast;
mod file;
mod resolve;
mod source;
mod words;

use std::fmt;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use async_trait::async_trait;
use paimon_format::blocking::DecodingReader;
use paimon_format::{FileBatchReader, MemoryPool, Metrics, ReadHints, ReaderBuilder, UnboundedMemoryPool};
use paimon_storage::InputFile;
use paimon_types::{DataField, Error, Predicate, Result, from_arrow_schema, to_arrow_schema};
use roaring::RoaringBitmap;

use self::decode::{Counters, Decoder, Plan};
pub(crate) use self::file::{AvroFile, count_rows};
use self::resolve::Projection;
use crate::error::of_file;
use crate::format::IDENTIFIER;
use crate::schema::file_schema;

/// Bytes of a local file that are read at a time: few, so that they are still in the cache when they are decompressed.
const LOCAL_WINDOW: u64 = 256 << 10;
const SMALLEST_WINDOW: u64 = 64 << 10;
const LARGEST_WINDOW: u64 = 8 << 20;

/// Opens avro files.
pub(crate) struct AvroReaderBuilder {
    batch_size: usize,
    pool: Arc<dyn MemoryPool>,
    hints: ReadHints,
}

impl AvroReaderBuilder {
    pub(crate) fn new(batch_size: usize) -> Result<Self> {
        if batch_size == 0 {
            return Err(Error::invalid("batch size is 0, at least 1 is expected"));
        }
        Ok(AvroReaderBuilder {
            batch_size,
            pool: Arc::new(UnboundedMemoryPool::new()),
            hints: ReadHints::default(),
        })
    }
}

#[async_trait]
impl ReaderBuilder for AvroReaderBuilder {
    fn with_memory_pool(&mut self, pool: Arc<dyn MemoryPool>) {
        self.pool = pool;
    }

    fn with_read_hints(&mut self, hints: Option<ReadHints>) {
        self.hints = hints.unwrap_or_default();
    }

    async fn build(&self, file: Arc<dyn InputFile>) -> Result<Box<dyn FileBatchReader>> {
        let file = AvroFile::open(file).await?;
        let path = file.path.clone();
        Ok(Box::new(AvroFileReader {
            reader: DecodingReader::new(IDENTIFIER, path, self.pool.clone(), self.hints.clone()),
            file: Arc::new(file),
            batch_size: self.batch_size,
            pool: self.pool.clone(),
            hints: self.hints.clone(),
            counters: Arc::default(),
        }))
    }
}

struct AvroFileReader {
    reader: DecodingReader<Decoder>,
    file: Arc<AvroFile>,
    batch_size: usize,
    pool: Arc<dyn MemoryPool>,
    hints: ReadHints,
    counters: Arc<Counters>,
}

impl fmt::Debug for AvroFileReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AvroFileReader")
            .field("path", &self.file.path)
            .finish_non_exhaustive()
    }
}

impl AvroFileReader {
    fn named(&self, error: Error) -> Error {
        of_file(error, &self.file.path)
    }

    /// Reads every column as it is stored.
    fn read_all(&mut self) -> Result<()> {
        let schema = self.file_schema()?;
        let fields = from_arrow_schema(&schema).map_err(|e| self.named(e))?;
        self.set_read_schema(&fields, None, None)
    }
}

#[async_trait]
impl FileBatchReader for AvroFileReader {
    fn file_schema(&self) -> Result<SchemaRef> {
        file_schema(&self.file.program, self.file.row)
            .map(Arc::new)
            .map_err(|e| self.named(e))
    }

    fn set_read_schema(
        &mut self,
        fields: &[DataField],
        _predicate: Option<&Predicate>,
        selection: Option<RoaringBitmap>,
    ) -> Result<()> {
        self.reader.check_open()?;
        let projection = Projection::resolve(&self.file.program, self.file.row, fields);
        let projection = projection.map_err(|e| self.named(e))?;
        let window = match self.file.file.local_file() {
            Some(_) => LOCAL_WINDOW,
            None => (self.hints.read_ahead_bytes as u64 / 3).clamp(SMALLEST_WINDOW, LARGEST_WINDOW),
        };
        let plan = Plan {
            file: self.file.clone(),
            target: Arc::new(to_arrow_schema(fields)),
            batch_size: self.batch_size,
            selection,
            pool: self.pool.clone(),
            window,
            ahead: self.hints.read_ahead,
            counters: self.counters.clone(),
        };
        self.reader.restart(Decoder::new(plan, projection)?);
        Ok(())
    }

    async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if self.reader.is_unset()
            && let Err(error) = self.read_all()
        {
            return Err(self.reader.fail(error));
        }
        self.reader.next_batch().await
    }

    fn previous_batch_file_row_id(&self, batch_row: u64) -> Result<u64> {
        self.reader.previous_batch_file_row_id(batch_row)
    }

    /// Walks over the block heads of a local file. That of a remote one is known when all of it was fetched by the
    /// reader or the store answers at once: this call does not wait for a store, [`count_rows`](Self::count_rows) does.
    fn number_of_rows(&self) -> Result<u64> {
        if let Some(rows) = self.counters.rows() {
            return Ok(rows);
        }
        let rows = self.file.count_now()?;
        self.counters.set_rows(rows);
        Ok(rows)
    }

    async fn count_rows(&mut self) -> Result<u64> {
        if let Some(rows) = self.counters.rows() {
            return Ok(rows);
        }
        let rows = count_rows(self.file.clone()).await?;
        self.counters.set_rows(rows);
        Ok(rows)
    }

    fn supports_precise_selection(&self) -> bool {
        true
    }

    fn warmup(&mut self) {
        self.reader.warmup();
    }

    fn close(&mut self) {
        self.reader.close();
    }

    fn metrics(&self) -> Metrics {
        self.counters.metrics()
    }
}
