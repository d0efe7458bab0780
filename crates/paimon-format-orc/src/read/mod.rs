// SPDX-License-Identifier: Apache-2.0

//! The reader.
//!
//! A stripe is read as a whole, as far as its columns and row groups are wanted, compressed as it is stored, and decoded
//! batch by batch on the blocking pool. So a reader holds at most the wanted columns of one stripe, of the next one too
//! when the hints allow as many bytes, and a few batches.

mod bloom;
mod column;
mod decimal;
mod decoder;
mod footer;
mod index;
mod picks;
mod projection;
mod prune;
mod source;
mod stripe;
mod text;
mod times;

use std::fmt;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use async_trait::async_trait;
use paimon_format::blocking::DecodingReader;
use paimon_format::{
    Cache, FileBatchReader, MemoryPool, Metrics, ReadHints, ReaderBuilder, UnboundedMemoryPool,
};
use paimon_storage::InputFile;
use paimon_types::{DataField, Error, Predicate, Result, from_arrow_schema};
use roaring::RoaringBitmap;

use self::decoder::{Counters, Decoder, Plan};
pub(crate) use self::footer::{FileTail, load_tail};
use self::projection::Projection;
use self::prune::Pruner;
use self::source::Source;
use crate::error::at;
use crate::format::IDENTIFIER;
use crate::options::ReadOptions;

/// Opens ORC files.
pub(crate) struct OrcReaderBuilder {
    batch_size: usize,
    options: ReadOptions,
    pool: Arc<dyn MemoryPool>,
    cache: Option<Arc<dyn Cache>>,
    hints: ReadHints,
}

impl OrcReaderBuilder {
    pub(crate) fn new(batch_size: usize, options: ReadOptions) -> Result<Self> {
        if batch_size == 0 {
            return Err(Error::invalid("batch size is 0, at least 1 is expected"));
        }
        Ok(OrcReaderBuilder {
            batch_size,
            options,
            pool: Arc::new(UnboundedMemoryPool::new()),
            cache: None,
            hints: ReadHints::default(),
        })
    }
}

#[async_trait]
impl ReaderBuilder for OrcReaderBuilder {
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
        let path: Arc<str> = file.path().into();
        let (tail, end) = load_tail(&file, self.cache.as_ref())
            .await
            .map_err(|e| at(&path, e))?;
        let source = Source::new(file, end).map_err(|e| at(&path, e))?;
        Ok(Box::new(OrcFileReader {
            source,
            tail,
            batch_size: self.batch_size,
            options: self.options,
            pool: self.pool.clone(),
            hints: self.hints.clone(),
            counters: Arc::default(),
            reader: DecodingReader::new(IDENTIFIER, path, self.pool.clone(), self.hints.clone()),
        }))
    }
}

struct OrcFileReader {
    source: Source,
    tail: Arc<FileTail>,
    batch_size: usize,
    options: ReadOptions,
    pool: Arc<dyn MemoryPool>,
    hints: ReadHints,
    counters: Arc<Counters>,
    reader: DecodingReader<Decoder>,
}

impl fmt::Debug for OrcFileReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OrcFileReader")
            .field("path", self.reader.path())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl FileBatchReader for OrcFileReader {
    fn file_schema(&self) -> Result<SchemaRef> {
        let columns = &self.tail.types.root.children;
        let fields: Result<Vec<_>> = columns
            .iter()
            .map(|column| {
                column
                    .to_arrow(&column.name)
                    .map_err(|e| e.with("column", &column.name))
            })
            .collect();
        let fields = fields.map_err(|e| at(self.reader.path(), e))?;
        Ok(Arc::new(Schema::new(fields)))
    }

    fn set_read_schema(
        &mut self,
        fields: &[DataField],
        predicate: Option<&Predicate>,
        selection: Option<RoaringBitmap>,
    ) -> Result<()> {
        self.reader.check_open()?;
        let path = self.reader.path().clone();
        let projection =
            Projection::resolve(&self.tail.types, fields, self.options).map_err(|e| at(&path, e))?;
        let pruner = predicate.and_then(|predicate| {
            Pruner::new(predicate, fields, &projection, &self.tail.footer, self.options)
        });
        let plan = Plan {
            path,
            source: self.source.clone(),
            tail: self.tail.clone(),
            projection,
            batch_size: self.batch_size,
            pruner,
            selection,
            pool: self.pool.clone(),
            hints: self.hints.clone(),
            counters: self.counters.clone(),
        };
        self.reader.restart(Decoder::new(Arc::new(plan)));
        Ok(())
    }

    async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if self.reader.is_unset() {
            let all = self.file_schema().and_then(|schema| from_arrow_schema(&schema));
            let all = all.and_then(|fields| self.set_read_schema(&fields, None, None));
            if let Err(error) = all {
                let error = at(self.reader.path(), error);
                return Err(self.reader.fail(error));
            }
        }
        self.reader.next_batch().await
    }

    fn previous_batch_file_row_id(&self, batch_row: u64) -> Result<u64> {
        self.reader.previous_batch_file_row_id(batch_row)
    }

    fn number_of_rows(&self) -> Result<u64> {
        Ok(self.tail.footer.number_of_rows)
    }

    fn supports_precise_selection(&self) -> bool {
        true
    }

    fn part_start(&self, row: u64) -> Result<u64> {
        Ok(self.tail.part_start(row))
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
