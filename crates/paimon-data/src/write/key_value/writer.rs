// SPDX-License-Identifier: Apache-2.0

//! From sort buffers to files of level 0 (Java `MergeTreeWriter`; `semantics.md` 4.3): a full buffer becomes a sorted run in a
//! temporary file; at a flush the runs and what is in memory become one row a key.

use std::fmt;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use paimon_merge::{MergeFunction, RowOrder, merge_function};
use paimon_protocol::DataFileMeta;
use paimon_types::{Error, Result, SortOrder, to_arrow_schema};

use super::layout::KeyValueLayout;
use super::sorted::SortedRows;
use super::spilled::{RunMerge, SpillSettings, SpilledRuns};
use super::versions::{Chunk, KeyVersions};
use crate::write::context::TableWriteContext;
use crate::write::file_writer::BucketWriter;

/// Rows that are merged at once.
const CHUNK_ROWS: usize = 32 * 1024;
/// Bytes that are merged at once, unless one key has more.
const CHUNK_BYTES: u64 = 64 << 20;

/// What all buckets of a table share.
pub(crate) struct KeyValueTable {
    pub(crate) layout: KeyValueLayout,
    /// The columns of the table.
    pub(super) rows: SchemaRef,
    /// Places of the key columns.
    pub(super) keys: Vec<usize>,
    /// Places of the user sequence columns.
    pub(super) sequence: Vec<usize>,
    pub(super) descending: bool,
    pub(super) order: RowOrder,
    pub(super) merge: Box<dyn MergeFunction>,
    pub(super) spill: SpillSettings,
}

impl fmt::Debug for KeyValueTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyValueTable")
            .field("order", &self.order)
            .field("merge", &self.merge)
            .finish_non_exhaustive()
    }
}

impl KeyValueTable {
    /// The table of a writer.
    ///
    /// # Errors
    /// `InvalidInput` when a sequence column does not exist, and for options that the merge engine does not take; `Unsupported`
    /// for a sequence column of a type without order.
    pub(crate) fn new(context: &TableWriteContext, layout: KeyValueLayout) -> Result<Self> {
        let (schema, options) = (&context.schema, &context.options);
        let mut sequence = Vec::new();
        for name in options.sequence_field.iter().flatten() {
            let name = name.trim();
            let place = schema.fields.iter().position(|field| field.name == name);
            let unknown = || {
                Error::invalid(format!("sequence field '{name}' is not a column of the table"))
                    .with("option", "sequence.field")
            };
            sequence.push(place.ok_or_else(unknown)?);
        }
        let rows = Arc::new(to_arrow_schema(&schema.fields));
        let keys: Vec<usize> = layout.keys.iter().map(|(place, _)| *place).collect();
        let descending = options.sequence_field_sort_order == SortOrder::Descending;
        // by the key alone first: so that it is clear which columns have no order
        RowOrder::new(&rows, &keys, &[], false)?;
        let order = RowOrder::new(&rows, &keys, &sequence, descending)
            .map_err(|e| e.with("option", "sequence.field"))?;
        Ok(KeyValueTable {
            merge: merge_function(schema, options, &schema.fields)?,
            spill: SpillSettings::new(context)?,
            layout,
            rows,
            keys,
            sequence,
            descending,
            order,
        })
    }
}

/// Writes the files of one (partition, bucket).
pub(crate) struct KeyValueWriter {
    table: Arc<KeyValueTable>,
    data: BucketWriter,
    /// With changelog producer `input`.
    changelog: Option<BucketWriter>,
    next_sequence: i64,
    spilled: SpilledRuns,
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
            spilled: SpilledRuns::default(),
        }
    }

    /// True when there are rows in temporary files.
    pub(crate) fn is_open(&self) -> bool {
        !self.spilled.is_empty()
    }

    /// Takes the rows of a buffer (columns of the table, then the kind): puts them into a temporary file, or, with `close` or when
    /// that is not allowed, flushes all rows. A flush sorts rows by key, merges the versions of a key and writes the result as files
    /// of their own; with a changelog every row goes there first. With `helped` the next rows are merged on a thread of the
    /// blocking pool while rows are encoded on this one.
    ///
    /// # Errors
    /// Those of the merge function and of the files.
    pub(crate) async fn write(
        &mut self,
        batches: Vec<RecordBatch>,
        bytes: u64,
        close: bool,
        helped: bool,
    ) -> Result<()> {
        let memory = match batches.is_empty() {
            true => None,
            false => {
                let rows = SortedRows::new(&self.table.order, batches, bytes, self.next_sequence)?;
                self.next_sequence = rows.next_sequence();
                Some(rows)
            }
        };
        let ordered = match memory {
            Some(rows) if !close => match self.spilled.place(&self.table.spill) {
                Some(slot) => {
                    let reduce = self.changelog.is_none();
                    return self.spilled.add(&self.table, rows, reduce, slot);
                }
                None => self.ordered(Some(rows))?,
            },
            memory => self.ordered(memory)?,
        };
        match ordered {
            Some(ordered) => self.flush(ordered, helped).await,
            None => Ok(()),
        }
    }

    /// All rows of the bucket in merge order.
    fn ordered(&mut self, memory: Option<SortedRows>) -> Result<Option<Ordered>> {
        if !self.spilled.is_empty() {
            let merge = self.spilled.merge(&self.table, memory, chunk_rows)?;
            return Ok(Some(Ordered::Runs(Box::new(merge))));
        }
        Ok(memory.map(|rows| Ordered::Memory {
            chunk_rows: chunk_rows(rows.row_bytes()),
            rows: Box::new(rows),
        }))
    }

    async fn flush(&mut self, mut ordered: Ordered, helped: bool) -> Result<()> {
        let changelog = self.changelog.is_some();
        if helped && ordered.is_long() {
            let table = self.table.clone();
            let next = move |mut ordered: Ordered| {
                let table = table.clone();
                tokio::task::spawn_blocking(move || {
                    let chunk = ordered.next(&table, changelog);
                    (ordered, chunk)
                })
            };
            let mut ahead = next(ordered);
            loop {
                let done = ahead.await;
                let (ordered, chunk) =
                    done.map_err(|e| Error::io("merging rows was cancelled or panicked").with_source(e))?;
                let Some(chunk) = chunk? else { break };
                ahead = next(ordered);
                self.write_chunk(chunk).await?;
            }
        } else {
            while let Some(chunk) = ordered.next(&self.table, changelog)? {
                self.write_chunk(chunk).await?;
            }
        }
        if let Some(changelog) = &mut self.changelog {
            changelog.close_file().await?;
        }
        self.data.close_file().await
    }

    async fn write_chunk(&mut self, chunk: Chunk) -> Result<()> {
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

/// Rows that are merged at once, when a row has this many bytes.
fn chunk_rows(row_bytes: u64) -> usize {
    usize::try_from(CHUNK_BYTES / row_bytes.max(1))
        .unwrap_or(CHUNK_ROWS)
        .clamp(1, CHUNK_ROWS)
}

/// All rows of a bucket in merge order.
enum Ordered {
    Memory {
        rows: Box<SortedRows>,
        chunk_rows: usize,
    },
    Runs(Box<RunMerge>),
}

impl Ordered {
    /// Whether there may be more than one chunk.
    fn is_long(&self) -> bool {
        match self {
            Ordered::Memory { rows, chunk_rows } => rows.left() > *chunk_rows,
            Ordered::Runs(_) => true,
        }
    }

    /// The next keys, each whole and merged; `None` behind the last one.
    fn next(&mut self, table: &KeyValueTable, changelog: bool) -> Result<Option<Chunk>> {
        let batch = match self {
            Ordered::Memory { rows, chunk_rows } => {
                let Some(versions) = rows.next(*chunk_rows)? else {
                    return Ok(None);
                };
                return versions
                    .merge(table.merge.as_ref(), &table.layout, changelog)
                    .map(Some);
            }
            Ordered::Runs(merge) => merge.next()?,
        };
        let Some(batch) = batch else { return Ok(None) };
        let lost = || Error::invalid("merged rows lack their system columns");
        let versions = KeyVersions {
            places: (0..batch.rows.num_rows()).map(|row| (0, row)).collect(),
            kinds: batch.kinds.ok_or_else(lost)?.to_vec(),
            sequences: batch.sequence.ok_or_else(lost)?.to_vec(),
            ends: table.order.ends(&batch.rows)?,
            sources: std::slice::from_ref(&batch.rows),
        };
        versions
            .merge(table.merge.as_ref(), &table.layout, changelog)
            .map(Some)
    }
}
