// SPDX-License-Identifier: Apache-2.0

//! Sorted runs of full buffers in temporary files (Java `BinaryExternalSortBuffer`, `BinaryExternalMerger`).

use std::cmp::Reverse;
use std::sync::Arc;

use paimon_merge::{MergeMode, MergeSpec, MergeTree, MergedBatch, RunBatch, Step};
use paimon_types::{CoreOptions, Error, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::sorted::SortedRows;
use super::writer::KeyValueTable;
use crate::spill::{SpillFiles, SpillWriter, SpilledRun};
use crate::write::context::TableWriteContext;

/// Temporary files that a writer has open at once, over all buckets: with more of them, full buffers become data files.
const MAX_OPEN_RUNS: usize = 128;
/// Least and largest number of bytes of a batch of a run.
const SMALLEST_BATCH: u64 = 32 << 10;
const LARGEST_BATCH: u64 = 2 << 20;
/// Largest number of rows of a batch of a run.
const LARGEST_BATCH_ROWS: u64 = 8192;

/// What the options say about full buffers.
#[derive(Debug)]
pub(crate) struct SpillSettings {
    files: SpillFiles,
    /// Bytes of the runs of a bucket from which full buffers become data files; 0 when they always do.
    max_bytes: u64,
    /// Most runs that are merged at once, at least 2.
    fan_in: usize,
    /// Bytes of a batch of a run.
    batch_bytes: u64,
    /// Free places for open files.
    slots: Arc<Semaphore>,
}

impl SpillSettings {
    /// The settings of a writer.
    ///
    /// # Errors
    /// As [`SpillFiles::new`].
    pub(crate) fn new(context: &TableWriteContext) -> Result<Self> {
        let options: &CoreOptions = &context.options;
        let fan_in = usize::try_from(options.local_sort_max_num_file_handles)
            .unwrap_or(2)
            .max(2);
        // A merge holds a batch of each run, and those that the next rows come from.
        let of_run = context.memory_limit / (fan_in.min(MAX_OPEN_RUNS) as u64 * 4);
        Ok(SpillSettings {
            files: SpillFiles::new(&context.spill_directory, options)?,
            max_bytes: match options.write_buffer_spillable {
                true => options.write_buffer_spill_max_disk_size,
                false => 0,
            },
            fan_in,
            batch_bytes: of_run.clamp(SMALLEST_BATCH, LARGEST_BATCH),
            slots: Arc::new(Semaphore::new(MAX_OPEN_RUNS)),
        })
    }

    /// Rows of a batch of a run.
    fn batch_rows(&self, row_bytes: u64) -> usize {
        (self.batch_bytes / row_bytes.max(1)).clamp(16, LARGEST_BATCH_ROWS) as usize
    }
}

/// The runs of a bucket.
#[derive(Default)]
pub(super) struct SpilledRuns {
    runs: Vec<OpenRun>,
    /// Bytes of a row, about.
    row_bytes: u64,
}

/// A run and its place among the open files.
struct OpenRun {
    run: SpilledRun,
    slot: OwnedSemaphorePermit,
}

impl SpilledRuns {
    /// True without runs.
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// A place for one more run; `None` when the rows of a full buffer have to become data files.
    pub(super) fn place(&self, settings: &SpillSettings) -> Option<OwnedSemaphorePermit> {
        let bytes: u64 = self.runs.iter().map(|run| run.run.bytes()).sum();
        if bytes >= settings.max_bytes {
            return None;
        }
        settings.slots.clone().try_acquire_owned().ok()
    }

    /// Adds the rows of a buffer as a run. With `reduce` only the versions that are left by the table's merge function are kept,
    /// where it leaves versions as they are.
    ///
    /// # Errors
    /// `ResourcesExhausted` when the file cannot be written; `InvalidInput` for a retraction where the engine allows none.
    pub(super) fn add(
        &mut self,
        table: &KeyValueTable,
        mut rows: SortedRows,
        reduce: bool,
        slot: OwnedSemaphorePermit,
    ) -> Result<()> {
        self.row_bytes = self.row_bytes.max(rows.row_bytes());
        let batch_rows = table.spill.batch_rows(rows.row_bytes());
        let mut writer = create(table)?;
        while let Some(versions) = rows.next(batch_rows)? {
            let batch = match reduce {
                true => versions.reduced(table.merge.as_ref(), &table.rows)?,
                false => versions.all(&table.rows)?,
            };
            if batch.rows.num_rows() > 0 {
                writer.write_here(batch)?;
            }
        }
        let run = writer.finish_here()?;
        tracing::debug!(
            bytes = run.bytes(),
            runs = self.runs.len() + 1,
            "a write buffer was spilled"
        );
        self.runs.push(OpenRun { run, slot });
        Ok(())
    }

    /// Merges the runs, which are gone afterwards, and the rows of a buffer into versions in merge order, `batch_rows` of them at
    /// once.
    ///
    /// # Errors
    /// `ResourcesExhausted` when a temporary file cannot be written or read.
    pub(super) fn merge(
        &mut self,
        table: &KeyValueTable,
        memory: Option<SortedRows>,
        batch_rows: impl Fn(u64) -> usize,
    ) -> Result<RunMerge> {
        let mut runs = std::mem::take(&mut self.runs);
        let row_bytes =
            std::mem::take(&mut self.row_bytes).max(memory.as_ref().map_or(1, SortedRows::row_bytes));
        let in_batch = table.spill.batch_rows(row_bytes);
        let most = table.spill.fan_in - usize::from(memory.is_some());
        while runs.len() > most.max(1) {
            // The smallest ones go first, no more of them than needed.
            runs.sort_by_key(|run| Reverse(run.run.bytes()));
            let count = (runs.len() - most.max(1) + 1).clamp(2, table.spill.fan_in);
            let mut smallest = runs.split_off(runs.len().saturating_sub(count));
            let Some(OpenRun { run, slot }) = smallest.pop() else {
                break;
            };
            let parts = smallest.into_iter().map(|open| Run::File(Box::new(open.run)));
            let parts = parts.chain([Run::File(Box::new(run))]).collect();
            let mut merge = RunMerge::new(table, parts, in_batch)?;
            let mut writer = create(table)?;
            while let Some(batch) = merge.next()? {
                writer.write_here(batch)?;
            }
            let run = writer.finish_here()?;
            runs.push(OpenRun { run, slot });
        }
        let files = runs.into_iter().map(|open| Run::File(Box::new(open.run)));
        let memory = memory.map(|rows| Run::Memory {
            rows: Box::new(rows),
            batch_rows: in_batch,
        });
        RunMerge::new(table, files.chain(memory).collect(), batch_rows(row_bytes))
    }
}

fn create(table: &KeyValueTable) -> Result<SpillWriter> {
    SpillWriter::create_here(&table.spill.files, table.rows.clone(), false)
        .map_err(|e| e.with("option", "write-buffer-spillable"))
}

/// A sorted run.
enum Run {
    File(Box<SpilledRun>),
    Memory {
        rows: Box<SortedRows>,
        batch_rows: usize,
    },
}

/// Sorted runs becoming one, all versions of a key in one batch.
pub(super) struct RunMerge {
    tree: MergeTree,
    runs: Vec<Run>,
    schema: arrow_schema::SchemaRef,
}

impl RunMerge {
    fn new(table: &KeyValueTable, runs: Vec<Run>, batch_size: usize) -> Result<Self> {
        let spec = MergeSpec {
            schema: table.rows.clone(),
            keys: table.keys.clone(),
            sequence: table.sequence.clone(),
            descending: table.descending,
            output_columns: table.rows.fields().len(),
            mode: MergeMode::All,
            keep_retracts: true,
            batch_size,
            one_above_level_0: false,
            repeated_keys: true,
        };
        Ok(RunMerge {
            tree: MergeTree::new(spec, runs.len())?,
            runs,
            schema: table.rows.clone(),
        })
    }

    /// The next versions in merge order; no batch cuts a key in two.
    pub(super) fn next(&mut self) -> Result<Option<MergedBatch>> {
        loop {
            match self.tree.next()? {
                Step::End => return Ok(None),
                Step::Batch(picked) => return picked.gather().map(Some),
                Step::Need(index) => {
                    let unknown = || Error::invalid(format!("there is no run {index}"));
                    let run = self.runs.get_mut(index).ok_or_else(unknown)?;
                    match run.next(&self.schema)? {
                        Some(batch) => self.tree.push(index, batch)?,
                        None => self.tree.end(index)?,
                    }
                }
            }
        }
    }
}

impl Run {
    fn next(&mut self, schema: &arrow_schema::SchemaRef) -> Result<Option<RunBatch>> {
        let (rows, batch_rows) = match self {
            Run::File(run) => return run.next_here(),
            Run::Memory { rows, batch_rows } => (rows, *batch_rows),
        };
        let Some(versions) = rows.next(batch_rows)? else {
            return Ok(None);
        };
        let lost = || Error::invalid("rows of a sort buffer lack their system columns");
        let batch = versions.all(schema)?;
        Ok(Some(RunBatch {
            rows: batch.rows,
            sequence: batch.sequence.ok_or_else(lost)?,
            kinds: batch.kinds.ok_or_else(lost)?,
            levels: None,
        }))
    }
}
