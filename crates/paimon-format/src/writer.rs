// SPDX-License-Identifier: Apache-2.0

//! Writing one file.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use async_trait::async_trait;
use paimon_storage::OutputStream;
use paimon_types::{Error, Result};

use crate::{MemoryPool, Metrics, StickyError, WrittenFileStatsProvider};

/// Makes writers of one schema (C++ `WriterBuilder`).
pub trait WriterBuilder: Send {
    /// Sets the budget that writers charge for what they buffer. Without one they are not limited.
    fn with_memory_pool(&mut self, pool: Arc<dyn MemoryPool>);

    /// Makes a writer into `out`. `compression` is the value of `file.compression`, such as `zstd` or `none`.
    ///
    /// # Errors
    /// `Unsupported` when the format does not know the compression; the stream is dropped then.
    fn build(&self, out: Box<dyn OutputStream>, compression: &str) -> Result<Box<dyn FormatWriter>>;
}

/// Writes one data file (C++ `FormatWriter`).
///
/// Order of calls: [`add_batch`](Self::add_batch) and [`flush`](Self::flush) any number of times,
/// [`finish`](Self::finish) once, [`into_output`](Self::into_output). After an error, or when the future of a call was
/// dropped before its end, every later call fails with an error of the same kind; take the stream back and abort it.
#[async_trait]
pub trait FormatWriter: Send {
    /// Adds rows. The columns of `batch` are those of the writer's schema, in its order.
    ///
    /// # Errors
    /// `InvalidInput` that names the column when the batch does not fit the schema (type, or a null in a NOT NULL
    /// column), or when the writer is finished; errors of the stream; `ResourcesExhausted` from the pool.
    async fn add_batch(&mut self, batch: &RecordBatch) -> Result<()>;

    /// Hands rows that are buffered to the encoder and encoded bytes to the stream, as far as the format can without
    /// changing its layout (a format that writes row groups may keep an open one).
    ///
    /// # Errors
    /// As [`FormatWriter::add_batch`].
    async fn flush(&mut self) -> Result<()>;

    /// Encodes what is left and writes the footer. Does not close the stream: the invoker does that afterwards with
    /// the stream from [`FormatWriter::into_output`].
    ///
    /// # Errors
    /// As [`FormatWriter::add_batch`].
    async fn finish(&mut self) -> Result<()>;

    /// True when the file has reached `target_size` bytes. With `suggested_check` false the caller says that it need
    /// not be looked at now; a writer that can tell cheaply may do so anyway.
    ///
    /// # Errors
    /// When the length cannot be told.
    fn reach_target_size(&self, suggested_check: bool, target_size: u64) -> Result<bool>;

    /// Counters up to now.
    fn metrics(&self) -> Metrics;

    /// Adds key-value pairs to the footer, replacing those of the same key. Called before [`FormatWriter::finish`].
    ///
    /// # Errors
    /// `InvalidInput` when the writer is finished, `Unsupported` when the format has no place for them.
    fn add_metadata(&mut self, metadata: &BTreeMap<String, String>) -> Result<()>;

    /// The statistics of the written file, when the writer can tell them without reading the file.
    fn written_stats(&self) -> Option<&dyn WrittenFileStatsProvider> {
        None
    }

    /// Gives back the stream, to be closed after [`FormatWriter::finish`] or else aborted.
    fn into_output(self: Box<Self>) -> Box<dyn OutputStream>;
}

/// For implementers of [`FormatWriter`]: which calls are allowed now, and the error that later ones repeat.
#[derive(Debug)]
pub struct CallState {
    format: &'static str,
    state: State,
}

#[derive(Debug)]
enum State {
    Open,
    /// A call is at work; seen by another call only when that one was dropped.
    Busy,
    Finished,
    Failed(StickyError),
}

impl CallState {
    /// Of a new writer.
    pub fn new(format: &'static str) -> Self {
        CallState {
            format,
            state: State::Open,
        }
    }

    /// Begins a call.
    ///
    /// # Errors
    /// `InvalidInput` when the writer is finished or a call was dropped before its end; the error of a call that failed.
    pub fn begin(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.state, State::Busy) {
            State::Open => Ok(()),
            State::Busy => {
                let error =
                    Error::invalid(format!("{} writer was left in the middle of a call", self.format));
                self.state = State::Failed(StickyError::new(&error));
                Err(error)
            }
            State::Finished => {
                self.state = State::Finished;
                Err(Error::invalid(format!(
                    "{} writer is finished already",
                    self.format
                )))
            }
            State::Failed(error) => {
                let again = error.to_error();
                self.state = State::Failed(error);
                Err(again)
            }
        }
    }

    /// Ends a call that did not finish the file.
    ///
    /// # Errors
    /// That of `result`.
    pub fn end(&mut self, result: Result<()>) -> Result<()> {
        self.settle(result, State::Open)
    }

    /// Ends the call that finished the file.
    ///
    /// # Errors
    /// That of `result`.
    pub fn finish(&mut self, result: Result<()>) -> Result<()> {
        self.settle(result, State::Finished)
    }

    fn settle(&mut self, result: Result<()>, next: State) -> Result<()> {
        self.state = match &result {
            Ok(()) => next,
            Err(error) => State::Failed(StickyError::new(error)),
        };
        result
    }
}
