// SPDX-License-Identifier: Apache-2.0

//! The reader: decodes on the blocking pool, a few batches ahead of its consumer.

mod casts;
mod convert;
mod decode;
mod file_schema;
mod metadata;
mod prune;
mod ranges;
mod remote;
mod resolve;
mod source;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use async_trait::async_trait;
use paimon_format::{
    Cache, FileBatchReader, MemoryPool, MemoryReservation, Metrics, ReadHints, ReaderBuilder, StickyError,
    UnboundedMemoryPool,
};
use paimon_storage::InputFile;
use paimon_types::{DataField, Error, Predicate, Result, from_arrow_schema, to_arrow_schema};
use parquet::file::metadata::ParquetMetaData;
use roaring::RoaringBitmap;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use self::decode::{Counters, Decoded, Decoder, Plan, closed};
use self::file_schema::FileSchema;
pub(crate) use self::metadata::load_metadata;
use self::prune::Pruner;
use self::ranges::BatchRows;
use self::remote::Remote;
use self::resolve::Projection;
use self::source::Source;
use crate::blocking::{Task, spawn};

/// Decoded batches that wait for the consumer. Few, so that their memory is used again while it is still in the cache.
const AHEAD_BATCHES: usize = 2;
/// How often, and for how long each time, a decoder with nowhere to put a batch looks again before it gives its thread back.
const PATIENCE: usize = 40;
const NAP: Duration = Duration::from_micros(50);

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
            path,
            source,
            metadata,
            schema,
            batch_size: self.batch_size,
            pool: self.pool.clone(),
            cache: self.cache.clone(),
            hints: self.hints.clone(),
            counters: Arc::default(),
            state: State::Unset,
            ready: VecDeque::new(),
            running: None,
            tight: false,
            previous: None,
        }))
    }
}

enum State {
    /// No read schema yet.
    Unset,
    /// A decoder is here, or at work.
    Reading(Option<Decoder>),
    Ended,
    Failed(StickyError),
    Closed,
}

/// A decoded batch with the memory that it is charged with.
struct Ready {
    decoded: Decoded,
    _reservation: MemoryReservation,
}

/// A decoder at work, and the batches that it has ready.
struct Running {
    batches: mpsc::Receiver<Ready>,
    task: Task<Run>,
}

/// How a run of the decoder ended.
struct Run {
    /// A batch that nobody came for.
    left: Option<Ready>,
    next: Result<Option<Decoder>>,
    /// The pool refused more.
    tight: bool,
}

struct ParquetFileReader {
    path: Arc<str>,
    source: Source,
    metadata: Arc<ParquetMetaData>,
    schema: Arc<FileSchema>,
    batch_size: usize,
    pool: Arc<dyn MemoryPool>,
    cache: Option<Arc<dyn Cache>>,
    hints: ReadHints,
    counters: Arc<Counters>,
    state: State,
    ready: VecDeque<Ready>,
    running: Option<Running>,
    /// The pool is exhausted: decode only what is asked for.
    tight: bool,
    previous: Option<BatchRows>,
}

impl fmt::Debug for ParquetFileReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParquetFileReader")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl ParquetFileReader {
    /// Lets the decoder run, if it is here.
    fn start(&mut self) {
        if self.running.is_some() || (self.tight && !self.ready.is_empty()) {
            return;
        }
        let State::Reading(decoder) = &mut self.state else {
            return;
        };
        let Some(decoder) = decoder.take() else { return };
        let ahead = match self.hints.read_ahead {
            true => self.hints.read_ahead_bytes,
            false => 0,
        };
        let pool = self.pool.clone();
        let demanded = self.ready.is_empty();
        let (sender, batches) = mpsc::channel(AHEAD_BATCHES);
        let task = spawn("reading rows", move || {
            Ok(run(decoder, &sender, &pool, ahead, demanded))
        });
        self.running = Some(Running { batches, task });
    }

    async fn next(&mut self) -> Result<Option<Decoded>> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                if self.hints.read_ahead {
                    self.start();
                }
                return Ok(Some(ready.decoded));
            }
            match &self.state {
                State::Unset => self.read_all()?,
                State::Ended => return Ok(None),
                State::Failed(error) => return Err(error.to_error()),
                State::Closed => return Err(closed(&self.path)),
                State::Reading(_) => {}
            }
            self.start();
            // The run stays with the reader, so that nothing is lost when this future is dropped.
            let Some(running) = &mut self.running else {
                return Err(Error::invalid("parquet reader has no decoder").with("path", &self.path));
            };
            if let Some(ready) = running.batches.recv().await {
                return Ok(Some(ready.decoded));
            }
            let result = (&mut running.task).await;
            self.running = None;
            let next = match result.map_err(|e| e.with("path", &self.path)) {
                Ok(run) => {
                    self.ready.extend(run.left);
                    self.tight = run.tight;
                    run.next
                }
                Err(error) => Err(error),
            };
            self.state = match next {
                Ok(Some(decoder)) => State::Reading(Some(decoder)),
                Ok(None) => State::Ended,
                Err(error) => {
                    self.state = State::Failed(StickyError::new(&error));
                    if self.ready.is_empty() {
                        return Err(error);
                    }
                    continue;
                }
            };
        }
    }

    /// Reads every column as it is stored.
    fn read_all(&mut self) -> Result<()> {
        let fields =
            from_arrow_schema(self.schema.to_arrow()?.as_ref()).map_err(|e| e.with("path", &self.path))?;
        self.set_read_schema(&fields, None, None)
    }
}

/// Decodes as long as the consumer keeps up; one batch only when it is larger than `ahead` bytes. When the pool refuses the
/// first batch that the consumer waits for (`demanded`), this is an error; what was decoded ahead is kept, and no more is.
fn run(
    mut decoder: Decoder,
    sender: &mpsc::Sender<Ready>,
    pool: &Arc<dyn MemoryPool>,
    ahead: usize,
    demanded: bool,
) -> Run {
    let ended = |left, next, tight| Run { left, next, tight };
    let mut first = true;
    loop {
        let decoded = match decoder.next() {
            Ok(Some(decoded)) => decoded,
            Ok(None) => return ended(None, Ok(None), false),
            Err(error) => return ended(None, Err(error), false),
        };
        let size = decoded.batch.get_array_memory_size();
        let mut reservation = MemoryReservation::new(pool.clone());
        let tight = match reservation.try_grow(size) {
            Err(error) if demanded && first => return ended(None, Err(error), true),
            reserved => reserved.is_err(),
        };
        first = false;
        let ready = Ready {
            decoded,
            _reservation: reservation,
        };
        if tight || size > ahead {
            return ended(Some(ready), Ok(Some(decoder)), tight);
        }
        if let Some(left) = offer(sender, ready) {
            return ended(Some(left), Ok(Some(decoder)), false);
        }
    }
}

/// Hands a batch over; gives it back when the consumer does not come for the ones before it.
fn offer(sender: &mpsc::Sender<Ready>, mut ready: Ready) -> Option<Ready> {
    let patience = if tokio::runtime::Handle::try_current().is_ok() {
        PATIENCE
    } else {
        0
    };
    for _ in 0..=patience {
        match sender.try_send(ready) {
            Ok(()) => return None,
            Err(TrySendError::Closed(back)) => return Some(back),
            Err(TrySendError::Full(back)) => ready = back,
        }
        std::thread::sleep(NAP);
    }
    Some(ready)
}

#[async_trait]
impl FileBatchReader for ParquetFileReader {
    fn file_schema(&self) -> Result<SchemaRef> {
        self.schema.to_arrow().map_err(|e| e.with("path", &self.path))
    }

    fn set_read_schema(
        &mut self,
        fields: &[DataField],
        predicate: Option<&Predicate>,
        selection: Option<RoaringBitmap>,
    ) -> Result<()> {
        if matches!(self.state, State::Closed) {
            return Err(closed(&self.path));
        }
        let projection = Projection::resolve(&self.schema, fields).map_err(|e| e.with("path", &self.path))?;
        let pruner = predicate.and_then(|predicate| Pruner::new(predicate, fields, &projection));
        let plan = Plan {
            path: self.path.clone(),
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
        self.state = State::Reading(Some(Decoder::new(Arc::new(plan))));
        self.ready.clear();
        self.running = None;
        self.previous = None;
        Ok(())
    }

    async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        self.previous = None;
        let result = self.next().await;
        if let Err(error) = &result
            && !matches!(self.state, State::Closed)
        {
            self.state = State::Failed(StickyError::new(error));
        }
        Ok(result?.map(|decoded| {
            self.previous = Some(BatchRows::new(decoded.rows));
            decoded.batch
        }))
    }

    fn previous_batch_file_row_id(&self, batch_row: u64) -> Result<u64> {
        let Some(rows) = &self.previous else {
            return Err(Error::invalid("no batch was read"));
        };
        rows.get(batch_row).ok_or_else(|| {
            Error::invalid(format!(
                "row {batch_row} is not in the last batch of {} rows",
                rows.len()
            ))
        })
    }

    fn number_of_rows(&self) -> Result<u64> {
        Ok(u64::try_from(self.metadata.file_metadata().num_rows()).unwrap_or(0))
    }

    fn supports_precise_selection(&self) -> bool {
        true
    }

    fn warmup(&mut self) {
        self.start();
    }

    fn close(&mut self) {
        self.state = State::Closed;
        self.ready.clear();
        self.running = None;
        self.previous = None;
    }

    fn metrics(&self) -> Metrics {
        self.counters.metrics()
    }
}
