// SPDX-License-Identifier: Apache-2.0

//! Flush of a sort buffer: versions of a key become one row, rows become files of level 0 (Java `MergeTreeWriter`;
//! `semantics.md` 4.3).

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{Int8Array, RecordBatch};
use paimon_merge::{MergeFunction, Selection, Versions};
use paimon_protocol::DataFileMeta;
use paimon_types::{Error, Result, RowKind};

use super::layout::KeyValueLayout;
use super::sort::{Sorted, Sorter};
use crate::write::file_writer::BucketWriter;

/// Rows that are merged at once.
const CHUNK_ROWS: usize = 32 * 1024;
/// Bytes that are merged at once, unless one key has more.
const CHUNK_BYTES: u64 = 64 << 20;

/// What all buckets of a table share.
pub(crate) struct KeyValueTable {
    pub(crate) layout: KeyValueLayout,
    pub(crate) sorter: Sorter,
    pub(crate) merge: Box<dyn MergeFunction>,
}

impl fmt::Debug for KeyValueTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyValueTable")
            .field("sorter", &self.sorter)
            .field("merge", &self.merge)
            .finish_non_exhaustive()
    }
}

/// Writes the files of one (partition, bucket).
pub(crate) struct KeyValueWriter {
    table: Arc<KeyValueTable>,
    data: BucketWriter,
    /// With changelog producer `input`.
    changelog: Option<BucketWriter>,
    next_sequence: i64,
}

impl KeyValueWriter {
    /// A writer whose first row has the sequence number `next_sequence`.
    pub(crate) fn new(
        table: Arc<KeyValueTable>,
        data: BucketWriter,
        changelog: Option<BucketWriter>,
        next_sequence: i64,
    ) -> Self {
        KeyValueWriter {
            table,
            data,
            changelog,
            next_sequence,
        }
    }

    /// Sorts rows (columns of the table, then the kind) by key, merges the versions of a key and writes the result as files of
    /// their own; with a changelog every row goes there first. With `helped` the next rows are merged on a thread of the blocking
    /// pool while rows are encoded on this one.
    ///
    /// # Errors
    /// Those of the merge function and of the files.
    pub(crate) async fn flush(&mut self, batches: Vec<RecordBatch>, bytes: u64, helped: bool) -> Result<()> {
        let mut flush = Flush::new(self.table.clone(), batches, self.next_sequence, bytes)?;
        self.next_sequence = flush.next_sequence;
        let changelog = self.changelog.is_some();
        if helped && flush.sorted.rows.len() > flush.chunk_rows {
            let next = move |mut flush: Flush| {
                tokio::task::spawn_blocking(move || {
                    let chunk = flush.next_chunk(changelog);
                    (flush, chunk)
                })
            };
            let mut ahead = next(flush);
            loop {
                let done = ahead.await;
                let (flush, chunk) =
                    done.map_err(|e| Error::io("merging rows was cancelled or panicked").with_source(e))?;
                let Some(chunk) = chunk? else { break };
                ahead = next(flush);
                self.write(chunk).await?;
            }
        } else {
            while let Some(chunk) = flush.next_chunk(changelog)? {
                self.write(chunk).await?;
            }
        }
        if let Some(changelog) = &mut self.changelog {
            changelog.close_file().await?;
        }
        self.data.close_file().await
    }

    async fn write(&mut self, chunk: Chunk) -> Result<()> {
        if let (Some(changelog), Some(raw)) = (&mut self.changelog, chunk.raw) {
            changelog.write(vec![raw]).await?;
        }
        match chunk.merged {
            Some(merged) => self.data.write(vec![merged]).await,
            None => Ok(()),
        }
    }

    /// Data and changelog files closed since the last call.
    pub(crate) fn take_files(&mut self) -> (Vec<DataFileMeta>, Vec<DataFileMeta>) {
        let changelog = self.changelog.as_mut().map(BucketWriter::take_files);
        (self.data.take_files(), changelog.unwrap_or_default())
    }

    /// Throws open files away and deletes the closed ones that nobody took.
    pub(crate) async fn abort(self) -> Result<()> {
        let result = self.data.abort().await;
        match self.changelog {
            Some(changelog) => result.and(changelog.abort().await),
            None => result,
        }
    }
}

/// Rows of a file.
struct Chunk {
    /// Every row, when a changelog is written.
    raw: Option<RecordBatch>,
    /// One row a key; `None` when no key has a result.
    merged: Option<RecordBatch>,
}

/// A sorted buffer on its way to files.
struct Flush {
    table: Arc<KeyValueTable>,
    /// Columns of the table.
    sources: Vec<RecordBatch>,
    /// Kinds of the rows of each source.
    kinds: Vec<Int8Array>,
    /// Number of the first row of each source.
    starts: Vec<usize>,
    sorted: Sorted,
    first_sequence: i64,
    next_sequence: i64,
    chunk_rows: usize,
    /// Keys that are done.
    keys: usize,
    /// Versions that are done.
    versions: usize,
}

impl Flush {
    fn new(
        table: Arc<KeyValueTable>,
        batches: Vec<RecordBatch>,
        first_sequence: i64,
        bytes: u64,
    ) -> Result<Self> {
        let mut sources = Vec::with_capacity(batches.len());
        let mut kinds = Vec::with_capacity(batches.len());
        let mut starts = Vec::with_capacity(batches.len());
        let mut total = 0usize;
        for mut batch in batches {
            let last = batch.num_columns().saturating_sub(1);
            let kind = batch.remove_column(last);
            let kind = kind
                .as_primitive_opt::<Int8Type>()
                .ok_or_else(|| Error::invalid("the rows of a sort buffer have no kinds"))?;
            kinds.push(kind.clone());
            starts.push(total);
            total += batch.num_rows();
            sources.push(batch);
        }
        let next_sequence = i64::try_from(total)
            .ok()
            .and_then(|total| first_sequence.checked_add(total))
            .ok_or_else(|| Error::invalid("sequence numbers of the bucket are used up"))?;
        let row_bytes = bytes.checked_div(total as u64).unwrap_or(0).max(1);
        let chunk_rows = usize::try_from(CHUNK_BYTES / row_bytes).unwrap_or(CHUNK_ROWS);
        Ok(Flush {
            sorted: table.sorter.sort(&sources)?,
            table,
            sources,
            kinds,
            starts,
            first_sequence,
            next_sequence,
            chunk_rows: chunk_rows.clamp(1, CHUNK_ROWS),
            keys: 0,
            versions: 0,
        })
    }

    /// The next keys, each whole; `None` behind the last one.
    fn next_chunk(&mut self, changelog: bool) -> Result<Option<Chunk>> {
        let from = self.versions;
        let ends = self.sorted.ends.get(self.keys..).unwrap_or_default();
        if ends.is_empty() {
            return Ok(None);
        }
        let keys = ends
            .partition_point(|end| *end as usize - from <= self.chunk_rows)
            .max(1);
        let ends: Vec<usize> = ends.iter().take(keys).map(|end| *end as usize - from).collect();
        let to = from + ends.last().copied().unwrap_or(0);
        self.keys += keys;
        self.versions = to;
        self.chunk(from..to, &ends, changelog).map(Some)
    }

    fn chunk(&self, positions: Range<usize>, ends: &[usize], changelog: bool) -> Result<Chunk> {
        let numbers = self
            .sorted
            .rows
            .get(positions)
            .ok_or_else(|| Error::invalid("a sort buffer has fewer rows than it counted"))?;
        let places: Vec<(usize, usize)> = numbers.iter().map(|row| self.place(*row as usize)).collect();
        let sequences = || {
            numbers
                .iter()
                .map(|row| self.first_sequence + i64::from(*row))
                .collect::<Vec<i64>>()
        };
        let single = ends.len() == numbers.len();
        let raw = match single || changelog {
            true => {
                let gathered = Selection::of_rows(places.iter().copied()).gather_batches(&self.sources)?;
                let kinds = self.gather_kinds(&places);
                Some(self.table.layout.batch(sequences(), Arc::new(kinds), gathered)?)
            }
            false => None,
        };
        if single {
            // a key with one version goes through as it is
            return Ok(Chunk {
                merged: raw.clone(),
                raw: raw.filter(|_| changelog),
            });
        }
        let kinds = self
            .gather_kinds(&places)
            .values()
            .iter()
            .map(|kind| RowKind::from_byte(*kind))
            .collect::<Result<Vec<RowKind>>>()?;
        let merged = self.table.merge.merge(&Versions {
            sources: &self.sources,
            rows: &places,
            kinds: &kinds,
            ends,
        })?;
        if merged.origins.is_empty() {
            return Ok(Chunk { raw, merged: None });
        }
        let sequences = merged
            .origins
            .iter()
            .map(|origin| {
                let row = numbers
                    .get(*origin)
                    .ok_or_else(|| Error::invalid("a merged row comes from no version"))?;
                Ok(self.first_sequence + i64::from(*row))
            })
            .collect::<Result<Vec<i64>>>()?;
        let kinds = Int8Array::from_iter_values(merged.kinds.iter().map(|kind| kind.to_byte()));
        let merged = self
            .table
            .layout
            .batch(sequences, Arc::new(kinds), merged.columns)?;
        Ok(Chunk {
            raw,
            merged: Some(merged),
        })
    }

    /// (source, row) of a row number.
    fn place(&self, number: usize) -> (usize, usize) {
        let source = self
            .starts
            .partition_point(|start| *start <= number)
            .saturating_sub(1);
        (source, number - self.starts.get(source).copied().unwrap_or(0))
    }

    fn gather_kinds(&self, places: &[(usize, usize)]) -> Int8Array {
        let kind = |(source, row): &(usize, usize)| {
            self.kinds
                .get(*source)
                .and_then(|kinds| kinds.values().get(*row))
                .copied()
                .unwrap_or_default()
        };
        Int8Array::from_iter_values(places.iter().map(kind))
    }
}
