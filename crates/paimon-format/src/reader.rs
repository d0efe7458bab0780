// SPDX-License-Identifier: Apache-2.0

//! Reading one file.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use async_trait::async_trait;
use paimon_storage::InputFile;
use paimon_types::{DataField, Error, ErrorKind, Predicate, Result};
use roaring::RoaringBitmap;

use crate::{Cache, MemoryPool, Metrics};

/// What the framework tells a reader about the read that it takes part in (C++ `ReadHints`). The hints are
/// authoritative; without them a format follows its own options.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadHints {
    /// Whether the reader may do work ahead of the call that asks for it. False when the framework itself reads ahead
    /// or when the batches are read only by chance.
    pub read_ahead: bool,
    /// Largest number of bytes that the reader keeps ahead of its consumer, fetched and decoded ones each.
    pub read_ahead_bytes: usize,
    /// Whether the reader works in the calls that ask for rows, on the threads that make them, instead of on other threads: said to
    /// readers of local files by callers that have a thread for each reader. Nothing is done ahead then.
    pub in_place: bool,
}

impl Default for ReadHints {
    fn default() -> Self {
        ReadHints {
            read_ahead: true,
            read_ahead_bytes: 32 << 20,
            in_place: false,
        }
    }
}

impl ReadHints {
    /// The defaults: read ahead, at most 32 MiB.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`ReadHints::read_ahead`].
    #[must_use]
    pub fn with_read_ahead(mut self, read_ahead: bool) -> Self {
        self.read_ahead = read_ahead;
        self
    }

    /// Sets [`ReadHints::read_ahead_bytes`].
    #[must_use]
    pub fn with_read_ahead_bytes(mut self, bytes: usize) -> Self {
        self.read_ahead_bytes = bytes;
        self
    }

    /// Sets [`ReadHints::in_place`].
    #[must_use]
    pub fn with_in_place(mut self, in_place: bool) -> Self {
        self.in_place = in_place;
        self
    }
}

/// Makes readers (C++ `ReaderBuilder`).
#[async_trait]
pub trait ReaderBuilder: Send + Sync {
    /// Sets the budget that readers charge for what they hold ahead of their consumer. Without one they are limited by
    /// the hints only. A format that holds nothing ahead ignores it.
    fn with_memory_pool(&mut self, pool: Arc<dyn MemoryPool>) {
        let _ = pool;
    }

    /// Sets a cache for immutable metadata of files. A format without such metadata ignores it.
    fn with_cache(&mut self, cache: Arc<dyn Cache>) {
        let _ = cache;
    }

    /// Sets the state of the read; `None` goes back to the format's own options.
    fn with_read_hints(&mut self, hints: Option<ReadHints>) {
        let _ = hints;
    }

    /// Opens `file`. The batches of the reader own what they need and outlive it.
    ///
    /// # Errors
    /// `Corrupt` that names file and format when the file is not of this format or is cut; errors of the store.
    async fn build(&self, file: Arc<dyn InputFile>) -> Result<Box<dyn FileBatchReader>>;
}

/// Reads the rows of one file in order (C++ `FileBatchReader`).
#[async_trait]
pub trait FileBatchReader: Send {
    /// The columns of the file as the file itself tells them: names, types and, where the file has them, ids
    /// (metadata key `PARQUET:field_id` at every depth).
    ///
    /// # Errors
    /// `Unsupported` when the file has a type that has no Arrow counterpart.
    fn file_schema(&self) -> Result<SchemaRef>;

    /// Chooses what is read and starts again before the first row. Without this call all columns are read with the
    /// types of [`FileBatchReader::file_schema`].
    ///
    /// - `fields`: the columns to return, with id and name as in the schema that the file was written with and the type
    ///   to return. Batches have exactly the Arrow types of `paimon_types::to_arrow_schema(fields)`. Columns are found
    ///   by id where the file has ids, else by name. Conversion between types of one family that differ in precision is
    ///   the reader's; any other cast is the caller's.
    /// - `predicate`: rows for which it is not true may be left out. It need not be applied exactly: the caller
    ///   filters again.
    /// - `selection`: rows (positions in the file) to return. When
    ///   [`supports_precise_selection`](Self::supports_precise_selection) is true no other row comes out, else the
    ///   caller has to look at [`previous_batch_file_row_id`](Self::previous_batch_file_row_id).
    ///
    /// # Errors
    /// `InvalidInput` that names the column when the file does not have it (look at
    /// [`FileBatchReader::file_schema`] first), `Unsupported` when its type cannot be read as the type asked for. The
    /// reader stays as it was.
    fn set_read_schema(
        &mut self,
        fields: &[DataField],
        predicate: Option<&Predicate>,
        selection: Option<RoaringBitmap>,
    ) -> Result<()>;

    /// The next rows, at most the batch size, never none; `None` at the end and forever after.
    ///
    /// # Errors
    /// Errors are sticky: after one, every call fails with the same kind. `Corrupt` for damaged files; `InvalidInput`
    /// that names column and option when a value does not fit the type asked for; errors of the store;
    /// `ResourcesExhausted` from the pool.
    async fn next_batch(&mut self) -> Result<Option<RecordBatch>>;

    /// The next rows and which of them count, at least one. For a reader that finds rows out after it decoded them
    /// this is cheaper than [`FileBatchReader::next_batch`]; the others return all rows as valid.
    ///
    /// # Errors
    /// As [`FileBatchReader::next_batch`].
    async fn next_batch_with_bitmap(&mut self) -> Result<Option<(RecordBatch, RoaringBitmap)>> {
        let Some(batch) = self.next_batch().await? else {
            return Ok(None);
        };
        let rows = u32::try_from(batch.num_rows()).map_err(|_| {
            Error::unsupported(format!(
                "a batch of {} rows has no 32-bit bitmap",
                batch.num_rows()
            ))
        })?;
        let mut valid = RoaringBitmap::new();
        valid.insert_range(0..rows);
        Ok(Some((batch, valid)))
    }

    /// Position in the file of row `batch_row` (from 0) of the batch that was returned last.
    ///
    /// # Errors
    /// `InvalidInput` when no batch was read, the last call returned the end or failed, or the batch has no such row.
    fn previous_batch_file_row_id(&self, batch_row: u64) -> Result<u64>;

    /// Number of rows in the file, whatever is selected, as far as it is known without waiting for a store.
    ///
    /// # Errors
    /// `Unsupported` when it is not; [`count_rows`](Self::count_rows) finds it out. `Corrupt` for damaged files.
    fn number_of_rows(&self) -> Result<u64>;

    /// Number of rows in the file, whatever is selected (C++ `GetNumberOfRows`). A format whose files do not tell goes
    /// through the file.
    ///
    /// # Errors
    /// `Corrupt` for damaged files, errors of the store.
    async fn count_rows(&mut self) -> Result<u64> {
        self.number_of_rows()
    }

    /// Whether a `selection` is honoured row by row.
    fn supports_precise_selection(&self) -> bool {
        false
    }

    /// Where a part of the file that is to begin at about row `row` begins best, because what lies before need not be decoded for
    /// it. 0 for 0, the number of rows for any position behind the last row; ascending, and the same for every reader of the file:
    /// selections between such positions have every row once. By default a file is one part.
    ///
    /// # Errors
    /// As [`number_of_rows`](Self::number_of_rows).
    fn part_start(&self, row: u64) -> Result<u64> {
        match row {
            0 => Ok(0),
            _ => self.number_of_rows(),
        }
    }

    /// Starts work that the first read would start, so that the caller can overlap it with the end of another file. A
    /// hint: it never fails and changes nothing that the reader returns. Before
    /// [`set_read_schema`](Self::set_read_schema), after [`close`](Self::close) or when there is nothing to start it
    /// does nothing; an error of what it started is reported by the next read.
    fn warmup(&mut self) {}

    /// Gives up what the reader holds. Reading afterwards is an `InvalidInput` error. Batches stay valid.
    fn close(&mut self);

    /// Counters up to now, also after [`FileBatchReader::close`].
    fn metrics(&self) -> Metrics {
        Metrics::new()
    }
}

/// What is left of an error that has to be returned again: kind and text.
#[derive(Clone, Debug)]
pub struct StickyError {
    kind: ErrorKind,
    message: String,
    context: Vec<(&'static str, String)>,
}

impl StickyError {
    /// Remembers `error`.
    pub fn new(error: &Error) -> Self {
        StickyError {
            kind: error.kind(),
            message: error.message().to_string(),
            context: error
                .context()
                .map(|(key, value)| (key, value.to_string()))
                .collect(),
        }
    }

    /// An error of the same kind, message and context, without the source.
    pub fn to_error(&self) -> Error {
        self.context
            .iter()
            .fold(Error::new(self.kind, &*self.message), |error, (key, value)| {
                error.with(key, value)
            })
    }
}
