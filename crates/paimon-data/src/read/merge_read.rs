// SPDX-License-Identifier: Apache-2.0

//! Files whose key ranges overlap: their runs decoded side by side, merged, filtered (Java `MergeFileSplitRead`).

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use futures_util::future::ready;
use futures_util::{StreamExt, TryStreamExt, stream};
use paimon_merge::{MergeMode, MergeSpec, MergeTree, MergedBatch, PickedRows, Step};
use paimon_protocol::{DataFileMeta, DataSplit};
use paimon_types::{DataField, DataType, Error, Result, TypeKind};
use tokio::sync::Semaphore;

use super::BatchStream;
use super::deletions::Deletions;
use super::file_read::{FileReader, at};
use super::key_value::KeyValueMerge;
use super::late::{LateReader, Rows, Winners};
use super::merge_runs::{Feed, FileRun, Numbers, Run, RunOptions};
use super::read_ahead::{held, in_background};
use crate::spill::{SpillFiles, SpillWriter, SpilledRun};

/// Least and largest number of rows of a batch of a run.
const SMALLEST_BATCH: usize = 256;
const LARGEST_BATCH: usize = 8192;
/// Batches of all runs that are decoded ahead, as far as each run may have as many as are of use.
const BATCHES_AHEAD: usize = 32;
const MOST_AHEAD: usize = 4;
/// Batches whose rows are copied and filtered while the merge goes on.
const GATHERED_AT_ONCE: usize = 2;
/// Bytes that a value of a type is thought to have whose values are of any length.
const VARYING: usize = 32;
/// What a column of an open file holds beside decoded rows: a page of at most so many rows, and what decompresses it.
const PAGE_ROWS: usize = 20_000;
const DECOMPRESSOR_BYTES: usize = 96 << 10;

/// Files to merge: a part of a split that shares no key with the rest.
#[derive(Clone, Debug)]
pub(crate) struct MergeTask {
    pub(crate) split: Arc<DataSplit>,
    /// Sorted runs, as places of the split's files.
    pub(crate) runs: Vec<Vec<usize>>,
    pub(crate) deletions: Arc<Deletions>,
    /// Bytes that the runs may hold decoded, about.
    pub(crate) budget: usize,
    /// The only rows that are read, one of each key; all without.
    pub(super) winners: Option<Arc<Winners>>,
    /// Files that are read from a row on.
    pub(super) from: Option<Arc<HashMap<usize, u32>>>,
    /// The files may be opened again, so that their deletion vectors are still needed.
    pub(super) again: bool,
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
    pub(crate) spill: SpillFiles,
    /// As many permits as files are decoded at once.
    pub(crate) decoders: Arc<Semaphore>,
    /// For sections of which few rows are left.
    pub(super) late: Option<Arc<LateReader>>,
}

/// Runs being merged.
pub(super) struct Merge {
    tree: MergeTree,
    runs: Vec<Feed>,
    path: String,
}

impl MergeTask {
    /// `runs` are places of the files of `split`.
    pub(super) fn new(split: Arc<DataSplit>, runs: Vec<Vec<usize>>, deletions: Arc<Deletions>) -> Self {
        MergeTask {
            split,
            runs,
            deletions,
            budget: 0,
            winners: None,
            from: None,
            again: false,
        }
    }

    pub(super) fn files(&self) -> impl Iterator<Item = &DataFileMeta> {
        let places = self.runs.iter().flatten();
        places.filter_map(|at| self.split.data_files.get(*at))
    }

    /// The same files, as far as they have winners, and no other row of them.
    pub(super) fn of_winners(&self, winners: Winners) -> Self {
        let runs = self.runs.iter().map(|run| {
            let files = run.iter().filter(|at| winners.contains_key(at));
            files.copied().collect::<Vec<_>>()
        });
        MergeTask {
            runs: runs.filter(|run| !run.is_empty()).collect(),
            winners: Some(Arc::new(winners)),
            ..self.clone()
        }
    }

    /// What is left of the runs from these places on ([`place_field`](super::evolution::place_field)), one of each run that has
    /// rows left.
    pub(super) fn rest(&self, places: &[Option<i64>]) -> Result<Self> {
        let mut runs = Vec::with_capacity(self.runs.len());
        let mut from = HashMap::new();
        for (run, place) in self.runs.iter().zip(places) {
            let Some(place) = place else { continue };
            // The lower half is the row.
            let (file, row) = (usize::try_from(place >> 32).unwrap_or(usize::MAX), *place as u32);
            let mut files = run.iter().skip_while(|at| **at != file).copied().peekable();
            if files.peek().is_none() {
                return Err(Error::invalid("a run does not have the file that it is at"));
            }
            runs.push(files.collect());
            from.insert(file, row);
        }
        Ok(MergeTask {
            runs,
            from: Some(Arc::new(from)),
            ..self.clone()
        })
    }

    /// Lets go of the deletion vectors of files that are not opened again.
    pub(super) fn release_deletions(&self) {
        let all = self.split.deletion_files.as_deref().unwrap_or_default();
        let of_runs = self.runs.iter().flatten().filter_map(|at| all.get(*at));
        of_runs.flatten().for_each(|file| self.deletions.release(file));
    }
}

impl MergeReader {
    /// The merged rows of a section that the filter lets through, by ascending keys.
    pub(crate) fn stream(self: Arc<Self>, task: MergeTask) -> BatchStream {
        let reader = self.clone();
        let opened = async move {
            let merge = Rows::open(self, task).await?;
            Ok(stream::try_unfold(merge, |mut merge| async move {
                Ok(merge.next().await?.map(|picked| (picked, merge)))
            }))
        };
        let picked = stream::once(opened).try_flatten();
        let finished = picked.map(move |picked| {
            let reader = reader.clone();
            in_background(async move { reader.finish(picked?.gather()?) })
        });
        let batches = finished.buffered(GATHERED_AT_ONCE);
        batches.try_filter(|batch| ready(batch.num_rows() > 0)).boxed()
    }

    fn finish(&self, merged: MergedBatch) -> Result<RecordBatch> {
        // The columns of the read are the first ones.
        let places: Vec<usize> = (0..self.output.read.len()).collect();
        let wrong = |e| Error::corrupt("merged rows do not fit the read").with_source(e);
        let rows = merged.rows.project(&places).map_err(wrong)?;
        self.output.finish(rows, merged.kinds)
    }

    pub(super) async fn open(&self, task: MergeTask) -> Result<Merge> {
        let fan_in = self.fan_in(&task);
        let at_once = task.runs.len().min(fan_in).max(1);
        let of_run = task.budget / at_once;
        let batches_ahead = (BATCHES_AHEAD / at_once).clamp(1, MOST_AHEAD);
        // Beside them the one that is merged, and one before it of which rows wait to come out.
        let batch_size = self.batch_size(&task, of_run / (batches_ahead + 2));
        let options = RunOptions {
            reader: self.files.clone(),
            split: task.split.clone(),
            deletions: task.deletions.clone(),
            batch_size,
            batches_ahead,
            read_ahead_bytes: of_run / 2,
            numbers: match self.merge.snapshot_ordering {
                // Nothing is ordered by them.
                _ if task.winners.is_some() => Numbers::OfFile,
                true => Numbers::OfSnapshot,
                false => Numbers::of(task.files()),
            },
            kinds: self.output.row_kinds,
            levels: self.merge.one_above_level_0,
            decoders: self.decoders.clone(),
            winners: task.winners.clone(),
            from: task.from.clone(),
            again: task.again,
        };
        let runs = task.runs.into_iter();
        let mut runs: Vec<Run> = runs
            .map(|files| Run::Files(Box::new(FileRun::new(options.clone(), files))))
            .collect();
        let path = &task.split.bucket_path;
        while runs.len() > fan_in {
            // The smallest ones go first, no more of them than needed.
            runs.sort_by_cached_key(|run| std::cmp::Reverse(run.bytes()));
            let count = (runs.len() - fan_in + 1).clamp(2, fan_in);
            let smallest = runs.split_off(runs.len() - count);
            let spilled = self.round(smallest, batch_size, path).await?;
            runs.push(Run::Spilled(Box::new(spilled)));
        }
        self.merge(runs, self.merge.mode.clone(), self.output.batch_size, path)
    }

    /// Merges some runs into one that keeps all versions.
    async fn round(&self, runs: Vec<Run>, batch_size: usize, path: &str) -> Result<SpilledRun> {
        let mut writer = SpillWriter::create(
            self.spill.clone(),
            self.files.arrow.clone(),
            self.merge.one_above_level_0,
        )
        .await?;
        let mut merge = self.merge(runs, MergeMode::All, batch_size, path)?;
        while let Some(picked) = merge.next().await? {
            writer = writer.write(picked.gather()?).await?;
        }
        writer.finish().await
    }

    fn merge(&self, runs: Vec<Run>, mode: MergeMode, batch_size: usize, path: &str) -> Result<Merge> {
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
        let runs = runs.into_iter().map(Run::start).collect();
        Ok(Merge {
            tree,
            runs,
            path: path.to_owned(),
        })
    }

    /// Most runs that are merged at once: fewer than asked for where so many open files would hold more than the budget, with what
    /// the allocator keeps for the threads that decode them.
    fn fan_in(&self, task: &MergeTask) -> usize {
        let rows = task.files().map(|file| file.row_count.max(0)).max().unwrap_or(0);
        let rows = usize::try_from(rows).map_or(PAGE_ROWS, |rows| rows.min(PAGE_ROWS));
        let of_column = |f: &DataField| rows * width(&f.data_type).min(8) + DECOMPRESSOR_BYTES;
        let of_file: usize = self.files.read.iter().map(of_column).sum();
        let fitting = task.budget / held(of_file).max(1);
        of_rounds(task.runs.len(), self.fan_in.min(fitting.max(2)))
    }

    /// Rows of a batch of about so many bytes.
    fn batch_size(&self, task: &MergeTask, bytes: usize) -> usize {
        let by_type: usize = self.files.read.iter().map(|f| width(&f.data_type)).sum();
        if self.files.read.iter().all(|f| is_fixed(&f.data_type)) {
            return (bytes / by_type.max(1)).clamp(SMALLEST_BATCH, LARGEST_BATCH);
        }
        // What files take per row, for long strings: they compress well.
        let mut stored = 0;
        for file in task.files() {
            let (size, rows) = (file.file_size.max(0), file.row_count.max(1));
            stored = stored.max(usize::try_from(size / rows).unwrap_or(usize::MAX));
        }
        let row = by_type.max(stored.saturating_mul(2)).max(1);
        (bytes / row).clamp(SMALLEST_BATCH, LARGEST_BATCH)
    }
}

/// How many of `runs` are merged at once where `most` may be: when they need rounds, as few as read hardly more rows twice, because
/// every open file holds memory.
fn of_rounds(runs: usize, most: usize) -> usize {
    if runs <= most {
        return most;
    }
    // Runs that are read in rounds before the last one; each makes one of so many, and none is read a second time.
    let again = |at_once: usize| (runs - at_once) * at_once / (at_once - 1);
    let once = |at_once: &usize| at_once.saturating_mul(*at_once) >= runs;
    let hardly_more = |at_once: &usize| again(*at_once) * 5 <= again(most) * 6;
    let few = (2..most).filter(once).find(hardly_more);
    few.unwrap_or(most)
}

/// Whether all values take the same number of bytes.
fn is_fixed(data_type: &DataType) -> bool {
    match &data_type.kind {
        TypeKind::Row(fields) => fields.iter().all(|f| is_fixed(&f.data_type)),
        _ => width(data_type) < VARYING,
    }
}

/// Bytes of a value in Arrow, about.
pub(super) fn width(data_type: &DataType) -> usize {
    match &data_type.kind {
        TypeKind::Boolean | TypeKind::TinyInt => 1,
        TypeKind::SmallInt => 2,
        TypeKind::Int | TypeKind::Date | TypeKind::Time(_) | TypeKind::Float => 4,
        TypeKind::BigInt | TypeKind::Double | TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_) => 8,
        TypeKind::Decimal { .. } => 16,
        TypeKind::Row(fields) => fields.iter().map(|f| width(&f.data_type)).sum(),
        TypeKind::Array(_) | TypeKind::Multiset(_) | TypeKind::Map(..) | TypeKind::Vector(..) => 128,
        _ => VARYING,
    }
}

impl Merge {
    /// Rows of the runs that the merge went through.
    pub(super) fn taken(&self) -> u64 {
        let runs = self.runs.iter().enumerate();
        runs.map(|(at, run)| run.given().saturating_sub(self.tree.untouched(at) as u64))
            .sum()
    }

    /// Rows that were decided on and did not come out yet.
    pub(super) fn drain(&mut self) -> Result<Option<PickedRows>> {
        self.tree.drain().map_err(|e| at(e, &self.path))
    }

    /// Where each run goes on, behind the rows that the merge went through; `None` when it does not know.
    pub(super) fn places(&self) -> Option<Vec<Option<i64>>> {
        let runs = self.runs.iter().enumerate();
        runs.map(|(at, run)| run.place(self.tree.untouched(at))).collect()
    }

    /// The next merged rows.
    pub(super) async fn next(&mut self) -> Result<Option<PickedRows>> {
        loop {
            match self.tree.next().map_err(|e| at(e, &self.path))? {
                Step::End => return Ok(None),
                Step::Batch(picked) => return Ok(Some(*picked)),
                Step::Need(index) => {
                    let unknown = || Error::invalid(format!("there is no run {index}"));
                    let run = self.runs.get_mut(index).ok_or_else(unknown)?;
                    let Some(item) = run.next().await? else {
                        self.tree.end(index)?;
                        continue;
                    };
                    let pushed = self.tree.push(index, item.batch);
                    pushed.map_err(|e| at(e, item.path.as_deref().unwrap_or(&self.path)))?;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::of_rounds;

    #[test]
    fn rounds_take_as_few_runs_as_read_hardly_more_twice() {
        // All at once needs no round, a few too many only a small one.
        assert_eq!(of_rounds(64, 64), 64);
        assert_eq!(of_rounds(16, 12), 12);
        assert_eq!(of_rounds(3, 2), 2);
        // Eight rounds of eight read each run once, as five of twelve do.
        assert_eq!(of_rounds(64, 12), 8);
        // Each run is read more than once anyway.
        assert_eq!(of_rounds(1000, 12), 12);
        assert_eq!(of_rounds(1000, 64), 32);
    }
}
