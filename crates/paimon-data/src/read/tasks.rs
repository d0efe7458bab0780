// SPDX-License-Identifier: Apache-2.0

//! From splits to what is read one after the other: files, and sections of files that are merged (Java
//! `PrimaryKeyTableRawFileSplitReadProvider`, `MergeFileSplitRead`; `semantics.md` 12.2).

use std::sync::Arc;

use paimon_protocol::sorted_runs::{KeyOrder, sections};
use paimon_protocol::{DataFileMeta, DataSplit};
use paimon_types::{Error, Result, to_arrow_schema};
use tokio::sync::Semaphore;

use super::deletions::Deletions;
use super::file_read::{FileReader, FileTask};
use super::key_value::{KeyValueMerge, on_keys};
use super::late::{LateReader, LateValues};
use super::merge_read::{MergeReader, MergeTask};
use super::read_ahead::{failed, in_task};
use super::{BatchStream, TableRead};
use crate::spill::SpillFiles;

/// How splits of a table with a primary key are read.
#[derive(Debug)]
pub(super) struct Keyed {
    pub(super) order: KeyOrder,
    pub(super) reader: Arc<MergeReader>,
}

/// A reader of sections that gives what `output` gives.
pub(super) fn merge_reader(
    merge: KeyValueMerge,
    output: &Arc<FileReader>,
    fan_in: usize,
    spill: SpillFiles,
    parallelism: usize,
    late_values: LateValues,
) -> Result<MergeReader> {
    let schema = &output.context.read_schema;
    let files = FileReader {
        context: output.context.clone(),
        read: merge.read.clone(),
        arrow: Arc::new(to_arrow_schema(&merge.read)),
        output_columns: merge.read.len(),
        output: output.output.clone(),
        row_kinds: output.row_kinds,
        micros: output.micros,
        predicate: output.predicate.as_ref().and_then(|p| on_keys(p, schema)),
        filter: None,
        batch_size: output.batch_size,
        pool: output.pool.clone(),
        cache: output.cache.clone(),
    };
    let mut reader = MergeReader {
        files: Arc::new(files),
        output: output.clone(),
        merge,
        fan_in,
        spill,
        decoders: Arc::new(Semaphore::new(parallelism)),
        late: None,
    };
    reader.late = match late_values {
        LateValues::Never => None,
        LateValues::WhereWorth => LateReader::new(&reader, None)?.map(Arc::new),
        LateValues::Stretches(count) => LateReader::new(&reader, Some(count))?.map(Arc::new),
    };
    Ok(reader)
}

/// What is read one after the other.
pub(super) enum Task {
    File(FileTask),
    Merge(MergeTask),
}

/// Where the work of a task is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Files are decoded on other threads, sections merged where the stream is polled, which is a task of its own.
    Ahead,
    /// Files are decoded on other threads, sections merged in tasks of their own.
    InTasks,
    /// Where the stream is polled.
    InPlace,
}

impl Task {
    /// Bytes of the files.
    pub(super) fn bytes(&self) -> u64 {
        let size = |file: &DataFileMeta| u64::try_from(file.file_size).unwrap_or(0);
        match self {
            Task::File(task) => task.file().map_or(0, size),
            Task::Merge(task) => task.files().map(size).sum(),
        }
    }
}

impl TableRead {
    /// The files of all splits in order, those that must be merged together.
    pub(super) fn tasks(&self, splits: Vec<DataSplit>) -> Result<Vec<Task>> {
        splits.iter().try_for_each(|split| self.check_split(split))?;
        let deletions = Arc::new(Deletions::of(&splits)?);
        let mut tasks = Vec::new();
        for split in splits {
            let split = Arc::new(split);
            let whole_file = |index: usize, kinds: bool| {
                Task::File(FileTask {
                    split: split.clone(),
                    index,
                    deletions: deletions.clone(),
                    kinds,
                    again: false,
                    part: None,
                })
            };
            let Some(keyed) = &self.keyed else {
                tasks.extend((0..split.data_files.len()).map(|index| whole_file(index, false)));
                continue;
            };
            // Files that do not say whether they hold retractions may do so.
            let kinds = |file: &DataFileMeta| self.file.row_kinds || file.delete_row_count != Some(0);
            let counted = split
                .data_files
                .iter()
                .all(|file| file.delete_row_count.is_some());
            // Rows of bucket -2 wait for their bucket in the order in which they were written; those of a stream are changes.
            let unmerged = split.is_streaming || split.bucket == -2;
            if unmerged || (split.raw_convertible && counted && !self.file.row_kinds) {
                let files = split.data_files.iter().enumerate();
                tasks.extend(files.map(|(index, file)| whole_file(index, kinds(file))));
                continue;
            }
            for section in sections(&split.data_files, &keyed.order)
                .map_err(|e| e.with("directory", &split.bucket_path))?
            {
                if section.is_one_run() {
                    let files = section
                        .files()
                        .filter_map(|index| Some((index, split.data_files.get(index)?)));
                    tasks.extend(files.map(|(index, file)| whole_file(index, kinds(file))));
                } else {
                    let merge = MergeTask::new(split.clone(), section.runs, deletions.clone());
                    tasks.push(Task::Merge(merge));
                }
            }
        }
        self.share_budget(&mut tasks);
        Ok(tasks)
    }

    /// Gives sections that are merged at the same time their part of the memory.
    fn share_budget(&self, tasks: &mut [Task]) {
        let merges = tasks.iter().filter(|task| matches!(task, Task::Merge(_))).count();
        let at_once = merges.min(self.parallelism).max(1);
        for task in tasks {
            if let Task::Merge(merge) = task {
                merge.budget = self.budget_bytes.saturating_mul(2) / at_once;
            }
        }
    }

    /// Opens what is read one after the other.
    pub(super) fn opener(&self, work: Work) -> impl Fn(Task) -> BatchStream + Send + Sync + 'static {
        let reader = self.file.clone();
        let keyed = self.keyed.clone();
        move |task| match (task, &keyed) {
            (Task::File(file), _) => reader.clone().stream(file, work == Work::InPlace),
            (Task::Merge(section), Some(keyed)) => {
                let rows = keyed.reader.clone().stream(section);
                if work == Work::InTasks {
                    in_task(rows)
                } else {
                    rows
                }
            }
            (Task::Merge(_), None) => {
                let error = Error::invalid("rows of a table without primary key cannot be merged");
                failed(error)
            }
        }
    }

    /// Whether a file was written without some columns of the table. Files that keep their row ids list the system columns
    /// `_ROW_ID` and `_SEQUENCE_NUMBER` beside all others and are whole (Java's `RawFileSplitRead` does not look at the list).
    /// A file of another schema that lacks a column is refused by its format.
    fn holds_part(&self, file: &DataFileMeta) -> bool {
        let schema = &self.file.context.read_schema;
        file.write_cols.as_deref().is_some_and(|written| {
            file.schema_id == schema.id && schema.fields.iter().any(|f| !written.contains(&f.name))
        })
    }

    fn check_split(&self, split: &DataSplit) -> Result<()> {
        let refuse = |what: &str| {
            Err(Error::unsupported(format!("{what} is not implemented"))
                .with("path", &split.bucket_path)
                .with("snapshot", split.snapshot_id))
        };
        let keyed = self.keyed.is_some();
        if !keyed && !split.raw_convertible && split.data_files.len() > 1 {
            return refuse("reading a split of a table without primary key whose files must be merged");
        }
        if keyed && split.is_streaming && !self.file.row_kinds {
            return refuse("reading a split of a stream without the kinds of its rows (see with_row_kind)");
        }
        for file in &split.data_files {
            if file.file_name.ends_with(".blob")
                || file.file_name.contains(".vector.")
                || self.holds_part(file)
            {
                return refuse("reading files that hold a part of the columns (data evolution)");
            }
            if !keyed && !file.min_key.is_empty() {
                return refuse("reading a file with keys as one of a table without primary key");
            }
            if !keyed && file.delete_row_count.unwrap_or(0) > 0 {
                return refuse("reading a file with retractions");
            }
        }
        Ok(())
    }
}
