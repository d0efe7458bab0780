// SPDX-License-Identifier: Apache-2.0

//! A reader over a decoder that blocks.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::RecordBatch;
use paimon_types::{Error, Result};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::task::in_place;
use super::{Task, spawn};
use crate::rows::{BatchRows, RowRanges};
use crate::{MemoryPool, MemoryReservation, ReadHints, StickyError};

/// Decoded batches that wait for the consumer. Few, so that their memory is used again while it is still in the cache.
const AHEAD_BATCHES: usize = 2;
/// How often, and for how long each time, a decoder with nowhere to put a batch looks again before it gives its thread back.
const PATIENCE: usize = 40;
const NAP: Duration = Duration::from_micros(50);
/// What a decoder does, for the error of a panic.
const READING: &str = "reading rows";

/// Decodes the rows of one file in order, on blocking threads.
pub trait Decode: Send + 'static {
    /// The next batch, of at least one row; `None` at the end. Blocks. Where it works long without result it may look at
    /// `cancelled` and end early; what it returns then does not matter.
    ///
    /// # Errors
    /// Those of [`FileBatchReader::next_batch`](crate::FileBatchReader::next_batch); the decoder is not used afterwards.
    fn next(&mut self, cancelled: &Cancelled<'_>) -> Result<Option<Decoded>>;

    /// Whether the error of the last [`next`](Self::next) was that of the pool and changed nothing, so that the same call may
    /// be made again. It is, once the batches that were decoded ahead are consumed.
    fn may_retry(&self) -> bool {
        false
    }
}

/// A decoded batch and the rows of the file that it holds.
#[derive(Debug)]
pub struct Decoded {
    /// The rows.
    pub batch: RecordBatch,
    /// Their positions in the file.
    pub rows: RowRanges,
}

/// Tells a decoder whether anybody still waits for its batches.
#[derive(Clone, Copy, Debug)]
pub struct Cancelled<'a>(Option<&'a mpsc::Sender<Ready>>);

impl Cancelled<'_> {
    /// True when the reader was dropped, closed or started again.
    pub fn get(&self) -> bool {
        self.0.is_some_and(mpsc::Sender::is_closed)
    }
}

enum State<D> {
    /// No read schema yet.
    Unset,
    /// A decoder is here, or at work.
    Reading(Option<D>),
    Ended,
    Failed(StickyError),
    Closed,
}

/// A decoded batch with the memory that it is charged with.
#[derive(Debug)]
struct Ready {
    decoded: Decoded,
    _reservation: MemoryReservation,
}

/// A decoder at work, and the batches that it has ready.
struct Running<D> {
    batches: mpsc::Receiver<Ready>,
    task: Task<Run<D>>,
}

/// How a run of the decoder ended.
struct Run<D> {
    /// A batch that nobody came for.
    left: Option<Ready>,
    next: Result<Option<D>>,
    /// The pool refused more.
    tight: bool,
}

/// The part of a [`FileBatchReader`](crate::FileBatchReader) that all formats with a [`Decode`] share: read-ahead within
/// the hints and the pool, row positions, sticky errors, warm-up, close. Dropping it, or the future of a call, loses
/// nothing but time.
pub struct DecodingReader<D> {
    format: &'static str,
    path: Arc<str>,
    pool: Arc<dyn MemoryPool>,
    hints: ReadHints,
    state: State<D>,
    ready: VecDeque<Ready>,
    running: Option<Running<D>>,
    /// The pool is exhausted: decode only what is asked for.
    tight: bool,
    previous: Option<BatchRows>,
}

impl<D> fmt::Debug for DecodingReader<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecodingReader")
            .field("format", &self.format)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl<D: Decode + Unpin> DecodingReader<D> {
    /// A reader of the file at `path` that has no decoder yet.
    pub fn new(format: &'static str, path: Arc<str>, pool: Arc<dyn MemoryPool>, hints: ReadHints) -> Self {
        DecodingReader {
            format,
            path,
            pool,
            hints,
            state: State::Unset,
            ready: VecDeque::new(),
            running: None,
            tight: false,
            previous: None,
        }
    }

    /// The path of the file.
    pub fn path(&self) -> &Arc<str> {
        &self.path
    }

    /// True before the first [`restart`](Self::restart).
    pub fn is_unset(&self) -> bool {
        matches!(self.state, State::Unset)
    }

    /// # Errors
    /// `InvalidInput` after [`close`](Self::close).
    pub fn check_open(&self) -> Result<()> {
        match self.state {
            State::Closed => Err(self.closed()),
            _ => Ok(()),
        }
    }

    /// Goes on with `decoder`, as if nothing had been read before.
    pub fn restart(&mut self, decoder: D) {
        self.state = State::Reading(Some(decoder));
        self.ready.clear();
        self.running = None;
        self.previous = None;
    }

    /// Lets every later call fail like this one.
    pub fn fail(&mut self, error: Error) -> Error {
        if !matches!(self.state, State::Closed) {
            self.state = State::Failed(StickyError::new(&error));
        }
        error
    }

    /// The next batch, as [`FileBatchReader::next_batch`](crate::FileBatchReader::next_batch).
    ///
    /// # Errors
    /// Those of the decoder, and `ResourcesExhausted` from the pool; sticky.
    pub async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        self.previous = None;
        match self.next().await {
            Ok(decoded) => Ok(decoded.map(|decoded| {
                self.previous = Some(BatchRows::new(decoded.rows));
                decoded.batch
            })),
            Err(error) => Err(self.fail(error)),
        }
    }

    /// As [`FileBatchReader::previous_batch_file_row_id`](crate::FileBatchReader::previous_batch_file_row_id).
    ///
    /// # Errors
    /// `InvalidInput` when there is no such row.
    pub fn previous_batch_file_row_id(&self, batch_row: u64) -> Result<u64> {
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

    /// Lets the decoder run, if it is here.
    pub fn warmup(&mut self) {
        if self.hints.in_place || self.running.is_some() || (self.tight && !self.ready.is_empty()) {
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
        let task = spawn(READING, move || Ok(run(decoder, &sender, &pool, ahead, demanded)));
        self.running = Some(Running { batches, task });
    }

    /// Gives up everything; reading afterwards is an error.
    pub fn close(&mut self) {
        self.state = State::Closed;
        self.ready.clear();
        self.running = None;
        self.previous = None;
    }

    fn no_decoder(&self) -> Error {
        Error::invalid(format!("{} reader has no decoder", self.format)).with("path", &self.path)
    }

    fn closed(&self) -> Error {
        Error::invalid(format!("{} reader is closed", self.format)).with("path", &self.path)
    }

    async fn next(&mut self) -> Result<Option<Decoded>> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                if self.hints.read_ahead {
                    self.warmup();
                }
                return Ok(Some(ready.decoded));
            }
            match &self.state {
                State::Unset => {
                    return Err(Error::invalid("no read schema was set").with("path", &self.path));
                }
                State::Ended => return Ok(None),
                State::Failed(error) => return Err(error.to_error()),
                State::Closed => return Err(self.closed()),
                State::Reading(_) => {}
            }
            if self.hints.in_place {
                return self.decode();
            }
            self.warmup();
            // The run stays with the reader, so that nothing is lost when this future is dropped.
            let Some(running) = &mut self.running else {
                return Err(self.no_decoder());
            };
            if let Some(ready) = running.batches.recv().await {
                return Ok(Some(ready.decoded));
            }
            let result = (&mut running.task).await;
            self.running = None;
            let next = match result.map_err(|e| e.with("path", &self.path).with("format", self.format)) {
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

    /// The next batch, decoded on this thread.
    fn decode(&mut self) -> Result<Option<Decoded>> {
        let State::Reading(Some(decoder)) = &mut self.state else {
            return Err(self.no_decoder());
        };
        let next = in_place(READING, || Ok(decoder.next(&Cancelled(None))));
        let next = next.map_err(|e| e.with("path", &self.path).with("format", self.format))??;
        match &next {
            None => self.state = State::Ended,
            Some(decoded) => {
                MemoryReservation::new(self.pool.clone()).try_grow(decoded.batch.get_array_memory_size())?
            }
        }
        Ok(next)
    }
}

/// Decodes as long as the consumer keeps up; one batch only when it is larger than `ahead` bytes. When the pool refuses the
/// first batch that the consumer waits for (`demanded`), this is an error; what was decoded ahead is kept, and no more is.
fn run<D: Decode>(
    mut decoder: D,
    sender: &mpsc::Sender<Ready>,
    pool: &Arc<dyn MemoryPool>,
    ahead: usize,
    demanded: bool,
) -> Run<D> {
    let ended = |left, next, tight| Run { left, next, tight };
    let mut first = true;
    loop {
        let decoded = match decoder.next(&Cancelled(Some(sender))) {
            Ok(Some(decoded)) => decoded,
            Ok(None) => return ended(None, Ok(None), false),
            // What was decoded ahead may be what fills the pool.
            Err(_) if decoder.may_retry() && !(demanded && first) => {
                return ended(None, Ok(Some(decoder)), true);
            }
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
