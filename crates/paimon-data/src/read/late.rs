// SPDX-License-Identifier: Apache-2.0

//! Keys first: where few rows of a section are left, a pass over the columns that decide which ones finds their places, and only
//! these rows are read whole.
//!
//! It is for the engines whose row is one version as it is. A merge of keys, sequence columns and what the filter looks at notes
//! which row of which file is left. After a first stretch it is known how much of the files that is: little, and a merge of all
//! columns asks the files for those rows only (every key has one version now, and a file without one is not opened), or too
//! much, and all is merged as ever; what was spent is a small part of a small part. Stretches become larger the longer the rows are
//! read, and the next one is looked for meanwhile. Each is judged: where the rest of the section is of another kind, it is merged
//! whole from where the keys are.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use paimon_merge::{MergeMode, PickedRows};
use paimon_types::{DataField, Error, Result, to_arrow_schema};
use roaring::RoaringBitmap;

use super::evolution::place_field;
use super::file_read::FileReader;
use super::filter::BatchFilter;
use super::key_value::{KeyValueMerge, place_in};
use super::merge_read::{Merge, MergeReader, MergeTask, width};
use super::read_ahead::in_background;

/// Rows of the first stretch (batches where it is asked for whatever it costs), and how many times as many a section has to have.
const FIRST_ROWS: u64 = 64 << 10;
const FIRST_BATCHES: u64 = 4;
const LEAST_STRETCHES: u64 = 4;
/// Decoded bytes of a section, about, that are worth it; of remote files, which are opened more than once, more.
const LEAST_BYTES: u64 = 96 << 20;
const LEAST_REMOTE_BYTES: u64 = 384 << 20;
/// How many times as many rows the next stretch has, and the rows of the largest.
const GROWTH: u64 = 8;
const MOST_ROWS: u64 = 64 << 20;
/// Part of a row that what decides may have.
const KEY_SHARE: f64 = 0.34;
/// Part of the cost of a whole merge above which two passes are not worth it.
const WORTH: f64 = 0.7;
/// A row that is read alone costs as much as so many beside each other.
const ALONE: u64 = 64;
/// Part of the cost of decoding that pages have, however few rows of them are wanted, and rows of a page, about.
const PAGE_SHARE: f64 = 0.5;
const PAGE_ROWS: u64 = 16 << 10;

/// Which rows of which files are left, by the place of the file in its split.
pub(super) type Winners = HashMap<usize, RoaringBitmap>;

/// When values are read behind keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LateValues {
    Never,
    #[default]
    WhereWorth,
    /// Those of so many stretches, whatever it costs.
    Stretches(usize),
}

/// Readers of the two passes.
#[derive(Debug)]
pub(super) struct LateReader {
    /// Merges the place of a row, what the filter looks at, sequence columns and keys.
    keys: Arc<MergeReader>,
    /// The filter over its rows.
    filter: Option<BatchFilter>,
    /// Merges rows of which each key has one.
    values: Arc<MergeReader>,
    /// Bytes of a row in the first pass and in a merge of all columns, about.
    key_width: usize,
    row_width: usize,
    /// So many stretches are read in two passes whatever they cost.
    always: Option<usize>,
}

impl LateReader {
    /// `None` where the merge of `whole` makes rows of several versions, or what decides is a large part of a row and `always` does
    /// not ask for it.
    ///
    /// # Errors
    /// As [`BatchFilter::new`].
    pub(super) fn new(whole: &MergeReader, always: Option<usize>) -> Result<Option<Self>> {
        let (merge, output) = (&whole.merge, &whole.output);
        if matches!(merge.mode, MergeMode::Function(_) | MergeMode::All) {
            return Ok(None);
        }
        let of = |places: &[usize]| -> Vec<DataField> {
            let fields = places.iter().filter_map(|at| merge.read.get(*at));
            fields.cloned().collect()
        };
        let filtered: BTreeSet<i32> = match &output.predicate {
            Some(predicate) => predicate.columns().into_iter().collect(),
            None => BTreeSet::new(),
        };
        let mut decides = vec![place_field()];
        decides.extend(output.read.iter().filter(|f| filtered.contains(&f.id)).cloned());
        let merged = decides.len();
        let sequence = place_all(&mut decides, of(&merge.sequence));
        let keys = place_all(&mut decides, of(&merge.keys));
        let bytes = |fields: &[DataField]| fields.iter().map(|f| width(&f.data_type)).sum::<usize>();
        // A place takes no time, but sequence numbers may be read, which are as wide.
        let (key_width, row_width) = (bytes(&decides), bytes(&merge.read));
        if always.is_none() && key_width as f64 > row_width as f64 * KEY_SHARE {
            return Ok(None);
        }
        let filter = output.predicate.as_ref();
        let filter = filter
            .map(|p| BatchFilter::new(p, decides.get(..merged).unwrap_or_default()))
            .transpose()?;
        let decide = KeyValueMerge {
            read: decides,
            merged,
            keys,
            sequence,
            ..merge.clone()
        };
        let mut all = output.read.clone();
        let keys = place_all(&mut all, of(&merge.keys));
        let values = KeyValueMerge {
            merged: output.read.len(),
            read: all,
            keys,
            sequence: Vec::new(),
            descending: false,
            snapshot_ordering: false,
            one_above_level_0: false,
            mode: MergeMode::Deduplicate { ignore_delete: false },
        };
        Ok(Some(LateReader {
            keys: Arc::new(part(whole, decide)),
            filter,
            values: Arc::new(part(whole, values)),
            key_width,
            row_width,
            always,
        }))
    }

    /// Rows of the first stretch of a section; `None` when it is not worth to look at one.
    fn look(&self, task: &MergeTask) -> Option<u64> {
        // Rows of a file are numbered in 32 bits.
        if task.files().any(|file| u32::try_from(file.row_count).is_err()) {
            return None;
        }
        let of_run = |run: &Vec<usize>| -> u64 {
            let files = run.iter().filter_map(|at| task.split.data_files.get(*at));
            files.map(|f| u64::try_from(f.row_count).unwrap_or(0)).sum()
        };
        if self.always.is_some() {
            return Some(self.values.output.batch_size as u64 * FIRST_BATCHES);
        }
        let rows: u64 = task.runs.iter().map(of_run).sum();
        let storage = &self.keys.files.context.storage;
        let remote = task.files().next().is_some_and(|file| {
            let path = task.split.data_file_path(file);
            storage.local_path(&path).is_none()
        });
        let least = if remote { LEAST_REMOTE_BYTES } else { LEAST_BYTES };
        let bytes = rows * self.row_width as u64;
        // A run has no key twice: so many are left at least, unless they are retractions or deleted.
        let longest = task.runs.iter().map(of_run).max().unwrap_or(0);
        let few = self.filter.is_some() || longest.saturating_sub(gone(task)) <= rows / 2;
        (few && rows >= FIRST_ROWS * LEAST_STRETCHES && bytes >= least).then_some(FIRST_ROWS)
    }

    /// Whether rows behind the first `stretches` are read in two passes, by the winners among the last `rows` rows.
    fn is_worth(&self, stretches: usize, winners: &Winners, rows: u64) -> bool {
        if let Some(always) = self.always {
            return stretches <= always;
        }
        let (mut alone, mut pages) = (0, 0);
        for bitmap in winners.values() {
            let (mut before, mut page) = (None, None);
            for row in bitmap {
                let gap = before.map_or(ALONE, |before| u64::from(row - before));
                alone += gap.min(ALONE);
                let of = u64::from(row) / PAGE_ROWS;
                pages += u64::from(page != Some(of));
                (before, page) = (Some(row), Some(of));
            }
        }
        let rows = rows.max(1) as f64;
        let decoded = (alone as f64 / rows).min(1.0) * (1.0 - PAGE_SHARE)
            + ((pages * PAGE_ROWS) as f64 / rows).min(1.0) * PAGE_SHARE;
        decoded + self.key_width as f64 / self.row_width.max(1) as f64 <= WORTH
    }
}

/// Rows of a section that are not there to be left, about; all of them when it is not known.
fn gone(task: &MergeTask) -> u64 {
    let deleted = |at: usize| -> Option<i64> {
        let retracts = task.split.data_files.get(at)?.delete_row_count?;
        let vector = task.split.deletion_files.as_ref().and_then(|all| all.get(at));
        Some(match vector {
            Some(Some(vector)) => retracts + vector.cardinality?,
            _ => retracts,
        })
    };
    let all: Option<i64> = task.runs.iter().flatten().map(|at| deleted(*at)).sum();
    all.and_then(|all| u64::try_from(all).ok()).unwrap_or(u64::MAX)
}

/// The places of `wanted` in `fields`, which get what is missing.
fn place_all(fields: &mut Vec<DataField>, wanted: Vec<DataField>) -> Vec<usize> {
    wanted.into_iter().map(|field| place_in(fields, field)).collect()
}

/// A reader of the columns of another merge.
fn part(whole: &MergeReader, merge: KeyValueMerge) -> MergeReader {
    let files = FileReader {
        read: merge.read.clone(),
        arrow: Arc::new(to_arrow_schema(&merge.read)),
        output_columns: merge.read.len(),
        ..whole.files.as_ref().clone()
    };
    MergeReader {
        files: Arc::new(files),
        merge,
        late: None,
        output: whole.output.clone(),
        fan_in: whole.fan_in,
        spill: whole.spill.clone(),
        decoders: whole.decoders.clone(),
    }
}

/// The merged rows of a section, however they are found.
pub(super) enum Rows {
    /// By a merge of all columns.
    Whole(Merge),
    Late(Box<Late>),
}

/// A section that is read in two passes.
pub(super) struct Late {
    reader: Arc<MergeReader>,
    late: Arc<LateReader>,
    task: MergeTask,
    /// Number of stretches so far, and the rows of the last that was looked for.
    stretches: usize,
    rows: u64,
    /// Reads the rows of a stretch.
    values: Option<Merge>,
    next: Next,
}

/// What comes behind a stretch.
enum Next {
    /// Another one, as it is found.
    Stretch(Found),
    /// All of the other rows in one.
    Whole(Box<MergeTask>),
    End,
}

type Found = Pin<Box<dyn Future<Output = Result<(Keys, Winners)>> + Send>>;

impl Rows {
    /// Begins to merge a section: looks for the first rows that are left, where that may be worth it, and goes on as they suggest.
    pub(super) async fn open(reader: Arc<MergeReader>, task: MergeTask) -> Result<Self> {
        if let Some(late) = &reader.late
            && let Some(rows) = late.look(&task)
        {
            let task = MergeTask {
                again: true,
                ..task.clone()
            };
            let keys = Keys::open(late.clone(), task.clone()).await?;
            let (keys, winners) = keys.find(rows).await?;
            if late.is_worth(1, &winners, keys.taken) {
                let mut late = Late {
                    reader: reader.clone(),
                    late: late.clone(),
                    task,
                    stretches: 0,
                    rows,
                    values: None,
                    next: Next::End,
                };
                late.go_on(keys, winners).await?;
                return Ok(Rows::Late(Box::new(late)));
            }
        }
        reader.open(task).await.map(Rows::Whole)
    }

    /// The next merged rows.
    pub(super) async fn next(&mut self) -> Result<Option<PickedRows>> {
        match self {
            Rows::Whole(merge) => merge.next().await,
            Rows::Late(late) => late.next().await,
        }
    }
}

impl Late {
    async fn next(&mut self) -> Result<Option<PickedRows>> {
        loop {
            if let Some(merge) = &mut self.values
                && let Some(picked) = merge.next().await?
            {
                return Ok(Some(picked));
            }
            self.values = None;
            match std::mem::replace(&mut self.next, Next::End) {
                Next::Stretch(found) => {
                    let (keys, winners) = found.await?;
                    self.go_on(keys, winners).await?;
                }
                Next::Whole(task) => self.values = Some(self.reader.open(*task).await?),
                Next::End => {
                    self.task.release_deletions();
                    return Ok(None);
                }
            }
        }
    }

    /// Begins to read the rows that were found, while the next ones are looked for as long as that is worth it.
    async fn go_on(&mut self, mut keys: Keys, mut winners: Winners) -> Result<()> {
        self.stretches += 1;
        self.rows = self.rows.saturating_mul(GROWTH).min(MOST_ROWS);
        let is_worth = self.late.is_worth(self.stretches, &winners, keys.taken);
        self.next = match keys.merge.places() {
            _ if keys.ended => Next::End,
            Some(places) if !is_worth => {
                // Of what the merge went through all comes out.
                while let Some(picked) = keys.merge.drain()? {
                    keys.note(picked.gather()?.rows, &mut winners)?;
                }
                Next::Whole(Box::new(self.task.rest(&places)?))
            }
            _ => Next::Stretch(Box::pin(in_background(keys.find(self.rows)))),
        };
        if !winners.is_empty() {
            self.values = Some(self.late.values.open(self.task.of_winners(winners)).await?);
        }
        Ok(())
    }
}

/// The merge of what decides.
struct Keys {
    merge: Merge,
    late: Arc<LateReader>,
    /// Rows taken for the last stretch.
    taken: u64,
    ended: bool,
}

impl Keys {
    async fn open(late: Arc<LateReader>, mut task: MergeTask) -> Result<Self> {
        // What decides is a small part of the rows, which may be read meanwhile.
        task.budget /= 4;
        Ok(Keys {
            merge: late.keys.open(task).await?,
            late,
            taken: 0,
            ended: false,
        })
    }

    /// The rows that are left of the next `rows` ones, or of somewhat more: whole batches come out of them.
    async fn find(mut self, rows: u64) -> Result<(Self, Winners)> {
        let mut winners = Winners::new();
        let before = self.merge.taken();
        self.taken = 0;
        while let Some(picked) = self.merge.next().await? {
            self.note(picked.gather()?.rows, &mut winners)?;
            self.taken = self.merge.taken() - before;
            if self.taken >= rows {
                return Ok((self, winners));
            }
        }
        self.taken = self.merge.taken() - before;
        self.ended = true;
        Ok((self, winners))
    }

    fn note(&self, mut rows: RecordBatch, winners: &mut Winners) -> Result<()> {
        if let Some(filter) = &self.late.filter {
            rows = filter.apply(&rows)?;
        }
        let places = rows
            .columns()
            .first()
            .and_then(|c| c.as_primitive_opt::<Int64Type>());
        let places = places.ok_or_else(|| Error::invalid("merged keys lack the places of their rows"))?;
        let parts = places.values().chunk_by(|a, b| a >> 32 == b >> 32);
        for part in parts {
            let file = part.first().map_or(0, |place| place >> 32);
            let of_file = winners
                .entry(usize::try_from(file).unwrap_or(usize::MAX))
                .or_default();
            // The lower half is the row.
            of_file.extend(part.iter().map(|place| *place as u32));
        }
        Ok(())
    }
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").finish_non_exhaustive()
    }
}
