// SPDX-License-Identifier: Apache-2.0

//! The reader: decodes on the blocking pool, a few batches ahead of its consumer.

mod casts;
mod convert;
mod decode;
mod file_schema;
mod metadata;
mod prune;
mod remote;
mod resolve;
mod source;

use std::fmt;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use async_trait::async_trait;
use paimon_format::blocking::DecodingReader;
use paimon_format::{
    Cache, FileBatchReader, MemoryPool, Metrics, ReadHints, ReaderBuilder, UnboundedMemoryPool,
};
use paimon_storage::InputFile;
use paimon_types::{DataField, Error, Predicate, Result, from_arrow_schema, to_arrow_schema};
use parquet::file::metadata::ParquetMetaData;
use roaring::RoaringBitmap;

use self::decode::{Counters, Decoder, Plan};
use self::file_schema::FileSchema;
pub(crate) use self::metadata::load_metadata;
use self::prune::Pruner;
use self::remote::Remote;
use self::resolve::Projection;
use self::source::Source;
use crate::format::IDENTIFIER;

/// Opens parquet files.
pub(crate) struct ParquetReaderBuilder {
    batch_size: usize,
    pool: Arc<dyn MemoryPool>,
    cache: Option<Arc<dyn Cache>>,
    hints: ReadHints,
}

impl ParquetReaderBuilder {
    pub(crate) fn new(batch_size: usize) -> Result<Self> {
        if batch_size == 0 {
            return Err(Error::invalid("batch size is 0, at least 1 is expected"));
        }
        let pool = Arc::new(UnboundedMemoryPool::new());
        Ok(ParquetReaderBuilder {
            batch_size,
            pool,
            cache: None,
            hints: ReadHints::default(),
        })
    }
}

#[async_trait]
impl ReaderBuilder for ParquetReaderBuilder {
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
        let metadata = load_metadata(&file, self.cache.as_ref()).await?;
        let size = file.size().await?;
        let path: Arc<str> = file.path().into();
        let schema = Arc::new(FileSchema::new(
            &path,
            metadata.file_metadata().schema_descr_ptr(),
        ));
        let source = Source::new(&file, size, || {
            Remote::new(file.clone(), self.hints.clone(), self.pool.clone())
        })?;
        Ok(Box::new(ParquetFileReader {
            reader: DecodingReader::new(IDENTIFIER, path, self.pool.clone(), self.hints.clone()),
            source,
            metadata,
            schema,
            batch_size: self.batch_size,
            cache: self.cache.clone(),
            counters: Arc::default(),
        }))
    }
}

struct ParquetFileReader {
    reader: DecodingReader<Decoder>,
    source: Source,
    metadata: Arc<ParquetMetaData>,
    schema: Arc<FileSchema>,
    batch_size: usize,
    cache: Option<Arc<dyn Cache>>,
    counters: Arc<Counters>,
}

impl fmt::Debug for ParquetFileReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParquetFileReader")
            .field("path", self.reader.path())
            .finish_non_exhaustive()
    }
}

impl ParquetFileReader {
    /// Reads every column as it is stored.
    fn read_all(&mut self) -> Result<()> {
        let schema = self.file_schema()?;
        let fields = from_arrow_schema(&schema).map_err(|e| e.with("path", self.reader.path()))?;
        self.set_read_schema(&fields, None, None)
    }
}

#[async_trait]
impl FileBatchReader for ParquetFileReader {
    fn file_schema(&self) -> Result<SchemaRef> {
        self.schema
            .to_arrow()
            .map_err(|e| e.with("path", self.reader.path()))
    }

    fn set_read_schema(
        &mut self,
        fields: &[DataField],
        predicate: Option<&Predicate>,
        selection: Option<RoaringBitmap>,
    ) -> Result<()> {
        self.reader.check_open()?;
        let path = self.reader.path();
        let projection = Projection::resolve(&self.schema, fields).map_err(|e| e.with("path", path))?;
        let pruner = predicate.and_then(|predicate| Pruner::new(predicate, fields, &projection));
        let plan = Plan {
            path: path.clone(),
            source: self.source.clone(),
            metadata: self.metadata.clone(),
            projection,
            target: Arc::new(to_arrow_schema(fields)),
            batch_size: self.batch_size,
            pruner,
            selection,
            cache: self.cache.clone(),
            counters: self.counters.clone(),
        };
        self.reader.restart(Decoder::new(Arc::new(plan)));
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

    fn number_of_rows(&self) -> Result<u64> {
        Ok(u64::try_from(self.metadata.file_metadata().num_rows()).unwrap_or(0))
    }

    fn supports_precise_selection(&self) -> bool {
        true
    }

    fn part_start(&self, row: u64) -> Result<u64> {
        Ok(metadata::part_start(&self.metadata, row))
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
