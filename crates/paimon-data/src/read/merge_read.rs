// SPDX-License-Identifier: Apache-2.0

//! Files whose key ranges overlap: their runs decoded side by side, merged, filtered (Java `MergeFileSplitRead`).

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::ScalarBuffer;
use futures_util::future::try_join_all;
use futures_util::{StreamExt, TryStreamExt, stream};
use paimon_format::ReadHints;
use paimon_merge::{MergeMode, MergeSpec, MergeTree, MergedBatch, RunBatch, Step};
use paimon_protocol::{DataSplit, FileSource};
use paimon_types::{DataType, Error, Result, TypeKind};

use super::BatchStream;
use super::deletions::Deletions;
use super::file_read::{FileReader, FileTask, OpenFile, OpenOptions, at};
use super::key_value::KeyValueMerge;
use super::spill::{SpillWriter, SpilledRun};

/// Least and largest number of rows of a batch of a run.
const SMALLEST_BATCH: usize = 256;
const LARGEST_BATCH: usize = 8192;
/// Batches of a run that are there at once: the one that is merged, those before it that wait to come out, those decoded ahead.
const BATCHES_OF_RUN: usize = 5;

/// Files to merge: a part of a split that shares no key with the rest.
#[derive(Debug)]
pub(crate) struct MergeTask {
    pub(crate) split: Arc<DataSplit>,
    /// Sorted runs, as places of the split's files.
    pub(crate) runs: Vec<Vec<usize>>,
    pub(crate) deletions: Arc<Deletions>,
    /// Bytes that the runs may hold decoded, about.
    pub(crate) budget: usize,
}

/// Merges the runs of sections.
#[derive(Debug)]
pub(crate) struct MergeReader {
    /// Reads the files: all columns that the merge needs, no filter but that on keys.
    pub(crate) files: Arc<FileReader>,
    /// What is done with merged rows.
    pub(crate) output: Arc<FileReader>,
    pub(crate) merge: KeyValueMerge,
    /// Most runs that are merged at once, at least 2; more are merged in rounds.
    pub(crate) fan_in: usize,
    /// Where runs are kept between the rounds.
    pub(crate) spill_directory: PathBuf,
}

/// A run being read.
enum Run {
    Files(Box<FileRun>),
    Spilled(Box<SpilledRun>),
}

/// A run of data files.
struct FileRun {
    reader: Arc<FileReader>,
    split: Arc<DataSplit>,
    deletions: Arc<Deletions>,
    options: OpenOptions,
    /// Files that were not opened.
    files: VecDeque<usize>,
    open: Option<OpenFile>,
    /// Sequence number of all rows of the open file, when it is not the stored one.
    number: Option<i64>,
    snapshot_ordering: bool,
    /// Level of the open file, when the merge asks for it.
    level: Option<i32>,
    with_levels: bool,
}

/// Runs being merged.
struct Merge {
    tree: MergeTree,
    runs: Vec<Run>,
    path: String,
}

impl MergeReader {
    /// The merged rows of a section that the filter lets through, by ascending keys.
    pub(crate) fn stream(self: Arc<Self>, task: MergeTask) -> BatchStream {
        let opened = async move {
            let merge = self.open(task).await?;
            Ok(stream::try_unfold(
                (self, merge),
                |(reader, mut merge)| async move {
                    while let Some(merged) = merge.next().await? {
                        let batch = reader.finish(merged)?;
                        if batch.num_rows() > 0 {
                            return Ok(Some((batch, (reader, merge))));
                        }
                    }
                    Ok(None)
                },
            ))
        };
        stream::once(opened).try_flatten().boxed()
    }

    fn finish(&self, merged: MergedBatch) -> Result<RecordBatch> {
        // The columns of the read are the first ones.
        let places: Vec<usize> = (0..self.output.read.len()).collect();
        let wrong = |e| Error::corrupt("merged rows do not fit the read").with_source(e);
        let rows = merged.rows.project(&places).map_err(wrong)?;
        self.output.finish(rows, merged.kinds)
    }

    async fn open(&self, task: MergeTask) -> Result<Merge> {
        let of_run = task.budget / task.runs.len().min(self.fan_in).max(1);
        let options = OpenOptions {
            batch_size: self.batch_size(&task, of_run),
            sequence: true,
            kinds: true,
            hints: Some(ReadHints::new().with_read_ahead_bytes(of_run / 2)),
        };
        let mut runs: Vec<Run> = Vec::with_capacity(task.runs.len());
        for files in task.runs {
            runs.push(Run::Files(Box::new(FileRun {
                reader: self.files.clone(),
                split: task.split.clone(),
                deletions: task.deletions.clone(),
                options: options.clone(),
                files: files.into(),
                open: None,
                number: None,
                snapshot_ordering: self.merge.snapshot_ordering,
                level: None,
                with_levels: self.merge.one_above_level_0,
            })));
        }
        let path = &task.split.bucket_path;
        while runs.len() > self.fan_in {
            // The smallest ones go first, no more of them than needed.
            runs.sort_by_cached_key(|run| std::cmp::Reverse(run.bytes()));
            let count = (runs.len() - self.fan_in + 1).clamp(2, self.fan_in);
            let smallest = runs.split_off(runs.len() - count);
            let spilled = self.round(smallest, &options, path).await?;
            runs.push(Run::Spilled(Box::new(spilled)));
        }
        self.merge(runs, self.merge.mode.clone(), self.output.batch_size, path)
            .await
    }

    /// Merges some runs into one that keeps all versions.
    async fn round(&self, runs: Vec<Run>, options: &OpenOptions, path: &str) -> Result<SpilledRun> {
        let directory = self.spill_directory.clone();
        let mut writer =
            SpillWriter::create(directory, self.files.arrow.clone(), self.merge.one_above_level_0).await?;
        let mut merge = self.merge(runs, MergeMode::All, options.batch_size, path).await?;
        while let Some(batch) = merge.next().await? {
            writer = writer.write(batch).await?;
        }
        writer.finish().await
    }

    async fn merge(
        &self,
        mut runs: Vec<Run>,
        mode: MergeMode,
        batch_size: usize,
        path: &str,
    ) -> Result<Merge> {
        let output_columns = match mode {
            MergeMode::All => self.files.read.len(),
            _ => self.merge.merged,
        };
        let spec = MergeSpec {
            schema: self.files.arrow.clone(),
            keys: self.merge.keys.clone(),
            sequence: self.merge.sequence.clone(),
            descending: self.merge.descending,
            output_columns,
            mode,
            keep_retracts: self.output.row_kinds,
            batch_size,
            one_above_level_0: self.merge.one_above_level_0,
            repeated_keys: runs.iter().any(|run| matches!(run, Run::Spilled(_))),
        };
        let tree = MergeTree::new(spec, runs.len())?;
        // All runs begin to decode.
        let files = runs.iter_mut().filter_map(|run| match run {
            Run::Files(files) => Some(files.open_next()),
            Run::Spilled(_) => None,
        });
        try_join_all(files).await?;
        Ok(Merge {
            tree,
            runs,
            path: path.to_owned(),
        })
    }

    /// Rows of a batch of a run, so that all runs together stay within the budget.
    fn batch_size(&self, task: &MergeTask, of_run: usize) -> usize {
        let by_type: usize = self.files.read.iter().map(|f| width(&f.data_type)).sum();
        // What files take per row, for long strings: they compress well.
        let mut stored = 0;
        for file in task
            .runs
            .iter()
            .flatten()
            .filter_map(|at| task.split.data_files.get(*at))
        {
            let (size, rows) = (file.file_size.max(0), file.row_count.max(1));
            stored = stored.max(usize::try_from(size / rows).unwrap_or(usize::MAX));
        }
        let row = by_type.max(stored.saturating_mul(2)).max(1);
        (of_run / BATCHES_OF_RUN / row).clamp(SMALLEST_BATCH, LARGEST_BATCH)
    }
}

/// Bytes of a value in Arrow, about.
fn width(data_type: &DataType) -> usize {
    match &data_type.kind {
        TypeKind::Boolean | TypeKind::TinyInt => 1,
        TypeKind::SmallInt => 2,
        TypeKind::Int | TypeKind::Date | TypeKind::Time(_) | TypeKind::Float => 4,
        TypeKind::BigInt | TypeKind::Double | TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_) => 8,
        TypeKind::Decimal { .. } => 16,
        TypeKind::Row(fields) => fields.iter().map(|f| width(&f.data_type)).sum(),
        TypeKind::Array(_) | TypeKind::Multiset(_) | TypeKind::Map(..) | TypeKind::Vector(..) => 128,
        _ => 32,
    }
}

impl Run {
    /// About how much there is to read.
    fn bytes(&self) -> u64 {
        match self {
            Run::Spilled(run) => run.bytes(),
            Run::Files(run) => {
                let files = run.files.iter().filter_map(|at| run.split.data_files.get(*at));
                files.map(|file| u64::try_from(file.file_size).unwrap_or(0)).sum()
            }
        }
    }

    async fn next(&mut self) -> Result<Option<RunBatch>> {
        match self {
            Run::Files(run) => run.next().await,
            Run::Spilled(run) => run.next().await,
        }
    }
}

impl FileRun {
    /// Opens the next file that may have rows, if there is one.
    async fn open_next(&mut self) -> Result<()> {
        while self.open.is_none()
            && let Some(index) = self.files.pop_front()
        {
            let task = FileTask {
                split: self.split.clone(),
                index,
                deletions: self.deletions.clone(),
                kinds: true,
            };
            let file = task.file()?;
            self.level = self.with_levels.then_some(file.level);
            self.number = match (self.snapshot_ordering, file.file_source) {
                (false, _) | (true, Some(FileSource::Compact)) => None,
                (true, Some(FileSource::Append)) => Some(file.min_sequence_number),
                (true, None) => {
                    let problem = "a file does not say whether it was appended, so that option \
                                   sequence.snapshot-ordering cannot order its rows";
                    return Err(Error::unsupported(problem)
                        .with("path", self.split.data_file_path(file))
                        .with("option", "sequence.snapshot-ordering"));
                }
            };
            self.open = self.reader.clone().open(&task, self.options.clone()).await?;
        }
        Ok(())
    }

    async fn next(&mut self) -> Result<Option<RunBatch>> {
        loop {
            self.open_next().await?;
            let Some(file) = &mut self.open else {
                return Ok(None);
            };
            let Some(rows) = file.next_rows().await? else {
                self.open = None;
                continue;
            };
            let count = rows.rows.num_rows();
            let missing = || Error::invalid("a run is read without its system columns");
            let sequence = match self.number {
                Some(number) => ScalarBuffer::from(vec![number; count]),
                None => rows.sequence.ok_or_else(missing)?,
            };
            return Ok(Some(RunBatch {
                rows: rows.rows,
                sequence,
                kinds: rows.kinds.ok_or_else(missing)?,
                levels: self.level.map(|level| vec![level; count].into()),
            }));
        }
    }
}

impl Merge {
    /// The next merged rows.
    async fn next(&mut self) -> Result<Option<MergedBatch>> {
        loop {
            match self.tree.next().map_err(|e| at(e, &self.path))? {
                Step::End => return Ok(None),
                Step::Batch(batch) => return Ok(Some(batch)),
                Step::Need(index) => {
                    let unknown = || Error::invalid(format!("there is no run {index}"));
                    let run = self.runs.get_mut(index).ok_or_else(unknown)?;
                    let Some(batch) = run.next().await? else {
                        self.tree.end(index)?;
                        continue;
                    };
                    self.tree.push(index, batch).map_err(|e| match run {
                        Run::Files(files) => files.open.iter().fold(e, |e, file| file.blame(e)),
                        Run::Spilled(_) => at(e, &self.path),
                    })?;
                }
            }
        }
    }
}
