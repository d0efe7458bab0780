// SPDX-License-Identifier: Apache-2.0

//! Sorted runs of a section: each read by a task of its own, a little ahead of the merge.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_buffer::ScalarBuffer;
use paimon_format::ReadHints;
use paimon_merge::RunBatch;
use paimon_protocol::{DataFileMeta, DataSplit, FileSource};
use paimon_types::{Error, Result};
use tokio::sync::{Semaphore, SemaphorePermit, mpsc};

use super::deletions::Deletions;
use super::file_read::{FileReader, FileTask, OpenFile, OpenOptions, at};
use super::late::Winners;
use super::read_ahead::{AbortOnDrop, panicked};
use crate::spill::SpilledRun;

/// What all runs of a section share.
#[derive(Clone, Debug)]
pub(super) struct RunOptions {
    pub(super) reader: Arc<FileReader>,
    pub(super) split: Arc<DataSplit>,
    pub(super) deletions: Arc<Deletions>,
    /// Largest number of rows of a batch.
    pub(super) batch_size: usize,
    /// Batches of a run that wait for the merge or are decoded for it, at least one.
    pub(super) batches_ahead: usize,
    /// Bytes of a remote file that are fetched ahead.
    pub(super) read_ahead_bytes: usize,
    /// Where the sequence numbers of rows come from.
    pub(super) numbers: Numbers,
    /// Kinds are kept, not only whether a row is a retraction.
    pub(super) kinds: bool,
    /// Levels are told.
    pub(super) levels: bool,
    /// Files on the local disk that are opened or decoded at once: more of them would take the processor from the merge, and then
    /// have nothing to do while it works. Fewer threads also come back to the same memory.
    pub(super) decoders: Arc<Semaphore>,
    /// The only rows that are read; all without. Nothing orders them but their keys.
    pub(super) winners: Option<Arc<Winners>>,
    /// Files that are read from a row on.
    pub(super) from: Option<Arc<HashMap<usize, u32>>>,
    /// The files may be opened again.
    pub(super) again: bool,
}

impl RunOptions {
    /// Waits for the turn of a file; what is remote waits for the store more than for a processor.
    async fn permit(&self, local: bool) -> Option<SemaphorePermit<'_>> {
        match local {
            // The semaphore is never closed.
            true => self.decoders.acquire().await.ok(),
            false => None,
        }
    }
}

/// Where the sequence numbers of rows come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbers {
    /// Each row has its own.
    Stored,
    /// All rows of a file have its smallest one, which is as good: numbers of files do not overlap, and no file has a key twice.
    OfFile,
    /// Rows of appended files have the number of the file (`sequence.snapshot-ordering`).
    OfSnapshot,
}

impl Numbers {
    /// The cheapest that orders the rows of these files as their own numbers do.
    pub(super) fn of<'a>(files: impl Iterator<Item = &'a DataFileMeta>) -> Self {
        let mut ranges: Vec<(i64, i64)> = files
            .map(|file| (file.min_sequence_number, file.max_sequence_number))
            .collect();
        ranges.sort_unstable();
        let whole = ranges.iter().all(|(min, max)| 0 <= *min && min <= max);
        let apart = ranges.iter().zip(ranges.iter().skip(1)).all(|(a, b)| a.1 < b.0);
        if whole && apart {
            Numbers::OfFile
        } else {
            Numbers::Stored
        }
    }
}

/// A run that is not read yet, or was read and written again.
pub(super) enum Run {
    Files(Box<FileRun>),
    Spilled(Box<SpilledRun>),
}

/// A run of data files.
pub(super) struct FileRun {
    options: RunOptions,
    /// Files that were not opened.
    files: VecDeque<usize>,
    open: Option<OpenRunFile>,
}

struct OpenRunFile {
    file: OpenFile,
    path: Arc<str>,
    local: bool,
    /// Sequence number of all rows, when it is not the stored one.
    number: Option<i64>,
    level: i32,
}

/// Some rows of a run and the file that they are of.
pub(super) struct RunItem {
    pub(super) batch: RunBatch,
    pub(super) path: Option<Arc<str>>,
}

/// A run that is being read.
pub(super) struct Feed {
    from: Source,
    given: u64,
    ended: bool,
    /// The first column of the last batch.
    places: Option<ArrayRef>,
}

enum Source {
    Files {
        batches: mpsc::Receiver<Result<RunItem>>,
        task: AbortOnDrop,
    },
    Spilled(Box<SpilledRun>),
}

impl Run {
    /// About how much there is to read.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Run::Spilled(run) => run.bytes(),
            Run::Files(run) => {
                let files = run
                    .files
                    .iter()
                    .filter_map(|at| run.options.split.data_files.get(*at));
                files.map(|file| u64::try_from(file.file_size).unwrap_or(0)).sum()
            }
        }
    }

    /// Begins to read.
    pub(super) fn start(self) -> Feed {
        let mut run = match self {
            Run::Spilled(run) => return Feed::new(Source::Spilled(run)),
            Run::Files(run) => run,
        };
        let (sender, batches) = mpsc::channel(run.options.batches_ahead);
        let task = AbortOnDrop::spawn(Box::pin(async move {
            // Room first, so that no batch is there beside those that fit.
            while let Ok(room) = sender.reserve().await {
                match run.next().await.transpose() {
                    Some(item) => {
                        let failed = item.is_err();
                        room.send(item);
                        if failed {
                            return;
                        }
                    }
                    None => return,
                }
            }
        }));
        Feed::new(Source::Files { batches, task })
    }
}

impl Feed {
    fn new(from: Source) -> Self {
        Feed {
            from,
            given: 0,
            ended: false,
            places: None,
        }
    }

    /// Rows that came out so far.
    pub(super) fn given(&self) -> u64 {
        self.given
    }

    /// The next rows.
    pub(super) async fn next(&mut self) -> Result<Option<RunItem>> {
        let item = self.from.next().await?;
        self.ended = item.is_none();
        if let Some(item) = &item {
            self.given += item.batch.rows.num_rows() as u64;
            self.places = item.batch.rows.columns().first().cloned();
        }
        Ok(item)
    }

    /// The place of the first of the last `untouched` rows that came out, or behind them all; `Some(None)` when none is left, `None`
    /// when it is not known, because the run was spilled (and is one of several then) or places are not the first column.
    pub(super) fn place(&self, untouched: usize) -> Option<Option<i64>> {
        let Source::Files { .. } = self.from else {
            return None;
        };
        if self.ended && untouched == 0 {
            return Some(None);
        }
        let places = self.places.as_ref()?.as_primitive_opt::<Int64Type>()?.values();
        let place = match places.len().checked_sub(untouched)? {
            at if at < places.len() => places.get(at).copied(),
            _ => places.last()?.checked_add(1),
        };
        place.map(Some)
    }
}

impl Source {
    async fn next(&mut self) -> Result<Option<RunItem>> {
        match self {
            Source::Spilled(run) => {
                let batch = run.next().await?;
                Ok(batch.map(|batch| RunItem { batch, path: None }))
            }
            Source::Files { batches, task } => match batches.recv().await {
                Some(item) => {
                    // The task goes on before the merge does, which would hold its thread for long.
                    tokio::task::yield_now().await;
                    item.map(Some)
                }
                None => match (&mut task.0).await {
                    Ok(()) => Ok(None),
                    Err(error) if error.is_panic() => Err(panicked(error)),
                    Err(error) => Err(Error::io("a sorted run was not read to its end").with_source(error)),
                },
            },
        }
    }
}

impl FileRun {
    pub(super) fn new(options: RunOptions, files: Vec<usize>) -> Self {
        FileRun {
            options,
            files: files.into(),
            open: None,
        }
    }

    /// Opens the next file that may have rows, if there is one.
    async fn open_next(&mut self) -> Result<()> {
        while self.open.is_none()
            && let Some(index) = self.files.pop_front()
        {
            let options = &self.options;
            let selected = match &options.winners {
                None => None,
                Some(winners) => match winners.get(&index) {
                    Some(rows) => Some(rows.clone()),
                    None => continue,
                },
            };
            let task = FileTask {
                split: options.split.clone(),
                index,
                deletions: options.deletions.clone(),
                kinds: true,
                again: options.again,
                part: None,
            };
            let file = task.file()?;
            let path = options.split.data_file_path(file);
            let number = match (options.numbers, file.file_source) {
                (Numbers::Stored, _) | (Numbers::OfSnapshot, Some(FileSource::Compact)) => None,
                (Numbers::OfFile, _) | (Numbers::OfSnapshot, Some(FileSource::Append)) => {
                    Some(file.min_sequence_number)
                }
                (Numbers::OfSnapshot, None) => {
                    let problem = "a file does not say whether it was appended, so that option \
                                   sequence.snapshot-ordering cannot order its rows";
                    return Err(Error::unsupported(problem)
                        .with("path", path)
                        .with("option", "sequence.snapshot-ordering"));
                }
            };
            let local = options.reader.context.storage.local_path(&path).is_some();
            let _permit = options.permit(local).await;
            let hints = ReadHints::new().with_read_ahead_bytes(options.read_ahead_bytes);
            let open = OpenOptions {
                batch_size: options.batch_size,
                sequence: number.is_none(),
                // Without retractions all kinds are alike to a merge, and to one of winners.
                kinds: options.kinds || (selected.is_none() && file.delete_row_count != Some(0)),
                selected,
                from: options.from.as_ref().and_then(|from| from.get(&index)).copied(),
                hints: Some(hints.with_read_ahead(!local)),
            };
            let level = file.level;
            let opened = options.reader.clone().open(&task, open).await?;
            self.open = opened.map(|file| OpenRunFile {
                file,
                path: path.into(),
                local,
                number,
                level,
            });
        }
        Ok(())
    }

    async fn next(&mut self) -> Result<Option<RunItem>> {
        loop {
            self.open_next().await?;
            let Some(open) = &mut self.open else {
                return Ok(None);
            };
            let rows = {
                let _permit = self.options.permit(open.local).await;
                open.file.next_rows().await?
            };
            let Some(rows) = rows else {
                self.open = None;
                continue;
            };
            let count = rows.rows.num_rows();
            let sequence = match (open.number, rows.sequence) {
                (Some(number), _) => ScalarBuffer::from(vec![number; count]),
                (None, Some(stored)) => stored,
                (None, None) => {
                    let problem = Error::invalid("a run is read without its sequence numbers");
                    return Err(at(problem, &open.path));
                }
            };
            return Ok(Some(RunItem {
                batch: RunBatch {
                    rows: rows.rows,
                    sequence,
                    kinds: rows.kinds.unwrap_or_else(|| vec![0; count].into()),
                    levels: self.options.levels.then(|| vec![open.level; count].into()),
                },
                path: Some(open.path.clone()),
            }));
        }
    }
}
