// SPDX-License-Identifier: Apache-2.0

//! Keys first: where few rows of a section are left, a pass over the columns that decide which ones finds their places, and only
//! these rows are read whole.
//!
//! It is for the engines whose row is one version as it is. The merge begins as any other; its first rows show how many versions a
//! key has, so that a table whose keys are unique pays nothing. Then a second merge, of keys, sequence columns and what the filter
//! looks at, goes through the rows from the beginning, passes over as many merged rows as came out already, and notes of the rest
//! which row of which file is left. From there on rows are read in stretches, each the larger the longer the stream is read, by a
//! merge of all columns that asks the files for those rows only: every key has one version now, and a file without one is not
//! opened. The next stretch is looked for meanwhile.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use paimon_merge::{MergeMode, PickedRows};
use paimon_protocol::DataFileMeta;
use paimon_types::{DataField, Error, Result, to_arrow_schema};
use roaring::RoaringBitmap;

use super::evolution::place_field;
use super::file_read::FileReader;
use super::filter::BatchFilter;
use super::key_value::KeyValueMerge;
use super::merge_read::{Merge, MergeReader, MergeTask, width};
use super::read_ahead::in_background;

/// Rows that are merged before it is decided, and of a first stretch: of so many decoded bytes, about, of remote files more.
const LOOK_BYTES: u64 = 16 << 20;
const REMOTE_LOOKS: u64 = 4;
const LEAST_LOOK: u64 = 64 << 10;
/// Rows that a merge went through and that are not in a batch yet.
const IN_MERGE: u64 = 16 << 10;
/// Smallest number of looks of a section that are worth a second pass.
const LEAST_LOOKS: u64 = 8;
/// How much larger the next stretch is, and the rows of the largest.
const GROWTH: u64 = 4;
const MOST_ROWS: u64 = 64 << 20;
/// Part of a row that what decides may have.
const KEY_SHARE: f64 = 0.25;
/// Part of the cost of a whole merge above which two passes are not worth it.
const WORTH: f64 = 0.7;
/// A row that is read alone costs as much as so many beside each other.
const ALONE: u64 = 64;
/// Part of the cost of decoding that pages have, however few rows of them are wanted, and rows of a page, about.
const PAGE_SHARE: f64 = 0.3;
const PAGE_ROWS: u64 = 16 << 10;

/// Which rows of which files are left, by the place of the file in its split.
pub(super) type Winners = HashMap<usize, RoaringBitmap>;

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
    /// Two passes whatever they cost.
    always: bool,
}

impl LateReader {
    /// `None` where the merge of `whole` makes rows of several versions, or what decides is a large part of a row and `always` does
    /// not ask for it.
    ///
    /// # Errors
    /// As [`BatchFilter::new`].
    pub(super) fn new(whole: &MergeReader, always: bool) -> Result<Option<Self>> {
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
        if !always && key_width as f64 > row_width as f64 * KEY_SHARE {
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

    /// Rows of a look at a section, and of the section; `None` when it is not worth one.
    fn look(&self, task: &MergeTask) -> Option<(u64, u64)> {
        let counts = |files: &mut dyn Iterator<Item = &DataFileMeta>| -> u64 {
            files.map(|f| u64::try_from(f.row_count).unwrap_or(0)).sum()
        };
        // Rows of a file are numbered in 32 bits.
        if task.files().any(|file| u32::try_from(file.row_count).is_err()) {
            return None;
        }
        let rows = counts(&mut task.files());
        if self.always {
            return Some((0, rows));
        }
        let storage = &self.keys.files.context.storage;
        let remote = task.files().next().is_some_and(|file| {
            let path = task.split.data_file_path(file);
            storage.local_path(&path).is_none()
        });
        let bytes = if remote {
            LOOK_BYTES * REMOTE_LOOKS
        } else {
            LOOK_BYTES
        };
        let width = self.row_width.max(1) as u64;
        let look = (bytes / width).max(LEAST_LOOK);
        let of_run = |run: &Vec<usize>| {
            let files = run.iter().filter_map(|at| task.split.data_files.get(*at));
            counts(&mut files.into_iter())
        };
        // A run has no key twice: so many are left at least, unless they are retractions or deleted.
        let longest = task.runs.iter().map(of_run).max().unwrap_or(0);
        let few = self.filter.is_some() || longest.saturating_sub(gone(task)) <= rows / 2;
        (few && rows >= look * 2 && rows * width >= bytes * LEAST_LOOKS).then_some((look, rows))
    }

    /// Whether the rest is read in two passes, by the winners among the first `rows` rows.
    fn is_worth(&self, winners: &Winners, rows: u64) -> bool {
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
        self.always || decoded + self.key_width as f64 / self.row_width.max(1) as f64 <= WORTH
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
    let place = |field: DataField| match fields.iter().position(|f| f.id == field.id) {
        Some(place) => place,
        None => {
            fields.push(field);
            fields.len() - 1
        }
    };
    wanted.into_iter().map(place).collect()
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
        spill_directory: whole.spill_directory.clone(),
        decoders: whole.decoders.clone(),
    }
}

/// The merged rows of a section, however they are found.
pub(super) enum Rows {
    Whole(Merge),
    Late(Box<Late>),
}

/// A section that may be read in two passes.
pub(super) struct Late {
    reader: Arc<MergeReader>,
    late: Arc<LateReader>,
    task: MergeTask,
    /// Rows of the next stretch.
    rows: u64,
    /// Rows of the section.
    all: u64,
    /// Merged rows that came out of the merge of all columns.
    given: u64,
    state: State,
}

enum State {
    /// The merge of all columns is looked at when it has taken so many rows.
    Look(Look),
    /// It goes on to the end.
    Whole(Merge),
    Passes {
        /// Reads the rows of a stretch.
        values: Option<Merge>,
        /// Finds those of the next.
        next: Option<Found>,
    },
    Undecided,
    Done,
}

struct Look {
    merge: Merge,
    at: u64,
    /// Rows taken and given before the look.
    taken: u64,
    given: u64,
}

type Found = Pin<Box<dyn Future<Output = Result<(Keys, Winners)>> + Send>>;

impl Rows {
    /// Begins to merge a section.
    pub(super) async fn open(reader: Arc<MergeReader>, mut task: MergeTask) -> Result<Self> {
        let late = reader.late.clone();
        let Some((late, (rows, all))) = late.and_then(|late| late.look(&task).map(|rows| (late, rows)))
        else {
            return reader.open(task).await.map(Rows::Whole);
        };
        task.again = true;
        // A look is of no use where a filter leaves few rows of a key's newest versions, and dear where rounds come first.
        let state = if late.filter.is_some() || reader.fan_in(&task) < task.runs.len() {
            State::Undecided
        } else {
            State::Look(Look {
                merge: reader.open(task.clone()).await?,
                at: rows,
                taken: 0,
                given: 0,
            })
        };
        Ok(Rows::Late(Box::new(Late {
            reader,
            late,
            task,
            rows,
            all,
            given: 0,
            state,
        })))
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
            self.state = match std::mem::replace(&mut self.state, State::Done) {
                State::Done => return Ok(None),
                State::Undecided => self.decide(None).await?,
                State::Look(look) if look.is_due(&self.late, self.given) => {
                    if self.late.always || look.shows_few(self.given, self.reader.output.batch_size) {
                        self.decide(Some(look.merge)).await?
                    } else {
                        look.again(self.given, self.all)
                    }
                }
                State::Look(mut look) => {
                    if let Some(picked) = look.merge.next().await? {
                        self.given += picked.num_rows() as u64;
                        self.state = State::Look(look);
                        return Ok(Some(picked));
                    }
                    self.end()
                }
                State::Whole(mut merge) => {
                    if let Some(picked) = merge.next().await? {
                        self.state = State::Whole(merge);
                        return Ok(Some(picked));
                    }
                    self.end()
                }
                State::Passes { mut values, next } => {
                    if let Some(merge) = &mut values
                        && let Some(picked) = merge.next().await?
                    {
                        self.state = State::Passes { values, next };
                        return Ok(Some(picked));
                    }
                    drop(values);
                    match next {
                        Some(next) => {
                            let (keys, winners) = next.await?;
                            self.passes(keys, winners).await?
                        }
                        None => self.end(),
                    }
                }
            };
        }
    }

    /// Looks for the first rows that are left, and goes on as they suggest. `whole` is the merge of all columns, when it has begun.
    async fn decide(&mut self, whole: Option<Merge>) -> Result<State> {
        let mut task = self.task.clone();
        // As part of what a merge of all columns may hold, which waits.
        task.budget /= 4;
        let keys = Keys {
            merge: self.late.keys.open(task).await?,
            late: self.late.clone(),
            skip: self.given,
            taken: 0,
            ended: false,
        };
        let (keys, winners) = keys.find(self.rows).await?;
        if self.late.is_worth(&winners, keys.taken) {
            return self.passes(keys, winners).await;
        }
        drop(keys);
        Ok(State::Whole(match whole {
            Some(merge) => merge,
            None => self.reader.open(self.task.clone()).await?,
        }))
    }

    /// Reads the rows that were found while the next ones are looked for.
    async fn passes(&mut self, keys: Keys, winners: Winners) -> Result<State> {
        self.rows = (self.rows * GROWTH).min(MOST_ROWS);
        let next: Option<Found> = match keys.ended {
            true => None,
            false => Some(Box::pin(in_background(keys.find(self.rows)))),
        };
        let values = match winners.is_empty() {
            true => None,
            false => Some(self.late.values.open(self.task.of_winners(winners)).await?),
        };
        Ok(State::Passes { values, next })
    }

    fn end(&self) -> State {
        self.task.release_deletions();
        State::Done
    }
}

impl Look {
    fn is_due(&self, late: &LateReader, given: u64) -> bool {
        match late.always {
            true => given > 0,
            false => self.merge.taken() >= self.at,
        }
    }

    fn shows_few(&self, given: u64, batch_size: usize) -> bool {
        let left = given - self.given + batch_size as u64 + IN_MERGE;
        left * 2 <= self.merge.taken() - self.taken
    }

    /// Looks once more when twice as many rows were taken, as far as that is not near the end.
    fn again(self, given: u64, all: u64) -> State {
        if self.at * 4 > all {
            return State::Whole(self.merge);
        }
        State::Look(Look {
            taken: self.merge.taken(),
            given,
            at: self.at * 2,
            merge: self.merge,
        })
    }
}

/// The merge of what decides.
struct Keys {
    merge: Merge,
    late: Arc<LateReader>,
    /// Merged rows to pass over.
    skip: u64,
    /// Rows taken for the last stretch.
    taken: u64,
    ended: bool,
}

impl Keys {
    /// The rows that are left of the next `rows` ones, or of somewhat more: whole batches come out of them.
    async fn find(mut self, rows: u64) -> Result<(Self, Winners)> {
        let mut winners = Winners::new();
        let mut before = None;
        loop {
            if self.skip == 0 && before.is_none() {
                before = Some(self.merge.taken());
            }
            let Some(picked) = self.merge.next().await? else {
                self.ended = true;
                break;
            };
            let count = picked.num_rows() as u64;
            if self.skip >= count {
                self.skip -= count;
                continue;
            }
            let found = picked.gather()?.rows;
            let skip = usize::try_from(std::mem::take(&mut self.skip)).unwrap_or(usize::MAX);
            self.note(found.slice(skip, found.num_rows() - skip), &mut winners)?;
            self.taken = self.merge.taken() - before.unwrap_or(0);
            if self.taken >= rows {
                break;
            }
        }
        self.taken = self.merge.taken() - before.unwrap_or(0);
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
