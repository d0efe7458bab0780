// SPDX-License-Identifier: Apache-2.0

//! The merge itself, for one form of keys.

use std::cmp::Ordering;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_buffer::ScalarBuffer;
use paimon_types::{Error, Result, RowKind};

use super::block::{Entry, Packing, merge_lists};
use super::decide::{Decide, Waiting};
use super::keys::{Ascent, KeyEncoder, Keys};
use super::pending::Pending;
use super::picked::{PickedRows, first_fields};
use super::run::{Loaded, Run};
use super::sequence::SequenceEncoder;
use super::sources::Sources;
use super::{Merge, MergeMode, MergeSpec, MergedBatch, RunBatch, Step};
use crate::Versions;

/// Rows of all runs that are put in order at once, about: they stay in the cache.
const BLOCK_ENTRIES: usize = 16 << 10;
/// Least rows of a run in a block.
const SMALL_BLOCK: usize = 64;
/// A stretch of one run of so many rows is passed as a whole, without a block.
const STRETCH: usize = 32;
/// The same before a merge function, which would be called for what is in front of the stretch.
const FUNCTION_STRETCH: usize = 1024;
/// Sources beyond those of the runs before the ones that are not needed are looked for.
const SPARE_SOURCES: usize = 8;

pub(super) struct Core<K: Keys> {
    spec: MergeSpec,
    encoder: KeyEncoder,
    sequence: Option<SequenceEncoder>,
    runs: Vec<Run<K>>,
    sources: Sources,
    pending: Pending,
    waiting: Waiting,
    /// The last block had no key twice, and no version waits: rows of the next such block need no merge function.
    plain: bool,
    /// Slots of rows in `pending` that are not out: those of the last step, and all.
    touched: Vec<usize>,
    needed: Vec<usize>,
    /// Rows of a run in a block.
    block: usize,
    entries: Vec<Entry<K::Prefix>>,
    scratch: Vec<Entry<K::Prefix>>,
    packed: Vec<u64>,
    packed_scratch: Vec<u64>,
}

impl<K: Keys> Core<K> {
    pub(super) fn new(
        spec: MergeSpec,
        encoder: KeyEncoder,
        sequence: Option<SequenceEncoder>,
        runs: usize,
    ) -> Self {
        let all = matches!(spec.mode, MergeMode::All);
        // A key is never cut: see `give`.
        let batch_size = if all { usize::MAX } else { spec.batch_size };
        let schema = first_fields(&spec.schema, spec.output_columns);
        let pending = Pending::new(schema.clone(), batch_size).with_kinds(spec.keep_retracts);
        let pending = if all {
            pending.with_all(spec.one_above_level_0)
        } else {
            pending
        };
        Core {
            sources: Sources::new(schema.clone()),
            pending,
            encoder,
            sequence,
            runs: (0..runs)
                .map(|_| Run {
                    batch: None,
                    ended: false,
                })
                .collect(),
            waiting: Waiting::default(),
            plain: false,
            touched: Vec::new(),
            needed: Vec::new(),
            block: SMALL_BLOCK * 4,
            entries: Vec::new(),
            scratch: Vec::new(),
            packed: Vec::new(),
            packed_scratch: Vec::new(),
            spec,
        }
    }

    fn loaded(&self, run: usize) -> Result<&Loaded<K>> {
        self.runs
            .get(run)
            .and_then(|r| r.batch.as_ref())
            .ok_or_else(|| Error::invalid(format!("run {run} has no batch")))
    }

    fn asked(&mut self, run: usize) -> Result<&mut Run<K>> {
        self.runs
            .get_mut(run)
            .filter(|r| !r.ended && r.batch.as_ref().is_none_or(Loaded::is_done))
            .ok_or_else(|| Error::invalid(format!("run {run} was not asked for")))
    }

    fn load(&mut self, run: usize, batch: RunBatch) -> Result<()> {
        self.asked(run)?;
        let rows = batch.rows.num_rows();
        if rows == 0 {
            return Ok(());
        }
        let levels = batch.levels.as_ref().map_or(0, |levels| levels.len());
        let same_levels = levels == if self.spec.one_above_level_0 { rows } else { levels };
        let same_schema = same_levels && batch.rows.num_columns() == self.spec.schema.fields().len();
        if !same_schema
            || batch.sequence.len() != rows
            || batch.kinds.len() != rows
            || u32::try_from(rows).is_err()
        {
            return Err(Error::corrupt(
                "a batch of a run is not of the schema of the merge",
            ));
        }
        let pick = |places: &[usize]| -> Vec<ArrayRef> {
            let columns = places.iter().filter_map(|at| batch.rows.columns().get(*at));
            columns.cloned().collect()
        };
        let keys = K::encode(&self.encoder, &pick(&self.spec.keys))?;
        let ascent = keys.ascend();
        let user = match &self.sequence {
            Some(encoder) => Some(encoder.encode(&pick(&self.spec.sequence))?),
            None => None,
        };
        let behind = match &self.asked(run)?.batch {
            Some(before) => before.keys.compare(before.rows - 1, &keys, 0) == Ordering::Less,
            None => true,
        };
        let in_order = match ascent {
            Ascent::Strict => behind,
            Ascent::Repeated => behind && self.spec.repeated_keys,
            Ascent::Broken => false,
        };
        if !in_order || keys.len() != rows {
            return Err(Error::corrupt(
                "the keys of a sorted run do not ascend, expected every key to be greater than the one before",
            ));
        }
        let kinds = batch.kinds.iter().fold(0, |any, kind| any | kind);
        if kinds & !3 != 0 {
            for kind in &batch.kinds {
                RowKind::from_byte(*kind)?;
            }
        }
        let retracts = kinds & 1 == 1;
        self.collect()?;
        let slot = self.sources.add(batch)?;
        self.asked(run)?.batch = Some(Loaded {
            slot,
            keys,
            user,
            at: 0,
            rows,
            strict: ascent == Ascent::Strict,
            retracts,
        });
        Ok(())
    }

    /// Lets go of batches that nothing needs, when there are many.
    fn collect(&mut self) -> Result<()> {
        let limit = self.runs.len() + SPARE_SOURCES;
        if self.sources.in_use() < limit {
            return Ok(());
        }
        self.keep_needed();
        // Few rows of each of many batches hold all of them.
        if self.sources.in_use() >= limit {
            self.merge_waiting()?;
            self.pending.settle(&self.sources)?;
            self.needed.clear();
            self.keep_needed();
        }
        Ok(())
    }

    fn keep_needed(&mut self) {
        let mut used = vec![false; self.sources.rows().len()];
        let loaded = self.runs.iter().filter_map(|r| r.batch.as_ref());
        let loaded = loaded.filter(|l| !l.is_done()).map(|l| l.slot);
        for slot in loaded.chain(self.needed.iter().copied()) {
            if let Some(used) = used.get_mut(slot) {
                *used = true;
            }
        }
        self.sources.keep(&used);
    }

    fn advance(&mut self, run: usize, rows: usize) {
        if let Some(batch) = self.runs.get_mut(run).and_then(|r| r.batch.as_mut()) {
            batch.at += rows;
        }
    }

    /// Decides on some rows. `active` are the runs that have rows, at least one.
    fn step(&mut self, active: &[usize]) -> Result<()> {
        // The two runs with the smallest keys.
        let (mut first, mut second): (Option<usize>, Option<usize>) = (None, None);
        for run in active {
            let here = self.loaded(*run)?;
            let before = |other: Option<usize>| -> Result<bool> {
                Ok(match other {
                    None => true,
                    Some(other) => {
                        let other = self.loaded(other)?;
                        here.keys.compare(here.at, &other.keys, other.at) == Ordering::Less
                    }
                })
            };
            if before(first)? {
                (first, second) = (Some(*run), first);
            } else if before(second)? {
                second = Some(*run);
            }
        }
        let Some(first) = first else {
            return Ok(());
        };
        let smallest = self.loaded(first)?;
        let alone = second.is_none();
        let stretch = match second {
            _ if !smallest.strict => 0,
            None => smallest.rows - smallest.at,
            Some(second) => {
                let next = self.loaded(second)?;
                smallest.count_up_to(&next.keys, next.at, false)
            }
        };
        let least = match self.spec.mode {
            MergeMode::Function(_) => FUNCTION_STRETCH,
            _ => STRETCH,
        };
        if stretch >= least || (alone && stretch > 0) {
            self.pass(first, stretch)
        } else {
            self.merge_block(active)
        }
    }

    /// Passes the next rows of a run that no other run has keys of.
    fn pass(&mut self, run: usize, rows: usize) -> Result<()> {
        let batch = self.loaded(run)?;
        let (slot, start, retracts) = (batch.slot, batch.at, batch.retracts);
        self.merge_waiting()?;
        self.touched.push(slot);
        if !retracts || self.spec.keep_retracts || matches!(self.spec.mode, MergeMode::All) {
            self.pending.range(slot, start, rows);
        } else {
            let kinds = self.sources.kinds(slot);
            let mut from = start;
            let stretch = kinds.iter().enumerate().skip(start).take(rows);
            for (row, _) in stretch.filter(|(_, kind)| *kind & 1 == 1) {
                self.pending.range(slot, from, row - from);
                from = row + 1;
            }
            self.pending.range(slot, from, start + rows - from);
        }
        self.advance(run, rows);
        Ok(())
    }

    /// Merges the next rows of all runs, up to a key that no run needs another batch for.
    fn merge_block(&mut self, active: &[usize]) -> Result<()> {
        // A key that every run has loaded its rows up to: the smallest of the last keys of the runs' shares.
        let mut bound: Option<(usize, usize)> = None;
        let mut smallest: Option<(usize, usize)> = None;
        for run in active {
            let batch = self.loaded(*run)?;
            let last = (batch.at + self.block).min(batch.rows) - 1;
            let less = |at: usize, than: Option<(usize, usize)>| -> Result<bool> {
                Ok(match than {
                    None => true,
                    Some((other, row)) => {
                        batch.keys.compare(at, &self.loaded(other)?.keys, row) == Ordering::Less
                    }
                })
            };
            if less(last, bound)? {
                bound = Some((*run, last));
            }
            if less(batch.at, smallest)? {
                smallest = Some((*run, batch.at));
            }
        }
        let (Some(bound), Some(smallest)) = (bound, smallest) else {
            return Ok(());
        };
        let mut entries = std::mem::take(&mut self.entries);
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut packed = std::mem::take(&mut self.packed);
        let mut packed_scratch = std::mem::take(&mut self.packed_scratch);
        let mut touched = std::mem::take(&mut self.touched);
        entries.clear();
        packed.clear();
        let (from, to) = (self.loaded(smallest.0)?, self.loaded(bound.0)?);
        let skip = from.keys.shared(smallest.1, &to.keys, bound.1);
        let (least, most) = (from.keys.prefix(smallest.1, skip), to.keys.prefix(bound.1, skip));
        let mut taken = Vec::with_capacity(active.len());
        let mut most_rows = 0;
        for run in active {
            let batch = self.loaded(*run)?;
            let rows = batch.count_up_to(&to.keys, bound.1, true);
            if rows > 0 {
                most_rows = most_rows.max(rows);
                taken.push((*run, batch.at, rows));
                touched.push(batch.slot);
            }
        }
        let packing =
            K::distance(least, most).and_then(|distance| Packing::of(distance, taken.len(), most_rows));
        let mut ends = Vec::with_capacity(taken.len());
        for (list, (run, start, rows)) in taken.iter().enumerate() {
            let keys = &self.loaded(*run)?.keys;
            match packing {
                Some(packing) => {
                    packed.extend((0..*rows).map(|row| {
                        let distance = K::distance(least, keys.prefix(start + row, skip));
                        packing.pack(distance.unwrap_or_default(), list, row)
                    }));
                    ends.push(packed.len());
                }
                None => {
                    // Both fit: checked when the tree was made and when the batch came.
                    let list = *run as u32;
                    entries.extend((*start..start + rows).map(|row| Entry {
                        prefix: keys.prefix(row, skip),
                        list,
                        row: row as u32,
                    }));
                    ends.push(entries.len());
                }
            }
        }
        let lists: Vec<Option<&Loaded<K>>> = self.runs.iter().map(|r| r.batch.as_ref()).collect();
        let full = |a: &Entry<K::Prefix>, b: &Entry<K::Prefix>| -> Ordering {
            let list = |entry: &Entry<K::Prefix>| lists.get(entry.list as usize).copied().flatten();
            match (list(a), list(b)) {
                (Some(x), Some(y)) => x.keys.compare(a.row as usize, &y.keys, b.row as usize),
                _ => Ordering::Equal,
            }
        };
        let less = |a: &Entry<K::Prefix>, b: &Entry<K::Prefix>| {
            a.prefix < b.prefix || (!K::EXACT && a.prefix == b.prefix && full(a, b) == Ordering::Less)
        };
        let same = |a: &Entry<K::Prefix>, b: &Entry<K::Prefix>| {
            a.prefix == b.prefix && (K::EXACT || full(a, b) == Ordering::Equal)
        };
        match packing {
            Some(packing) => {
                merge_lists(&mut packed, &mut packed_scratch, &mut ends, &|a, b| a < b);
                let starts: Vec<(u32, u32)> = taken
                    .iter()
                    .map(|(run, start, _)| (*run as u32, *start as u32))
                    .collect();
                entries.extend(packed.iter().map(|packed| {
                    let (distance, list, row) = packing.unpack(*packed);
                    let (list, start) = starts.get(list).copied().unwrap_or_default();
                    Entry {
                        prefix: K::at_distance(least, distance),
                        list,
                        row: start + row as u32,
                    }
                }));
            }
            None => merge_lists(&mut entries, &mut scratch, &mut ends, &less),
        }
        let mut decide = Decide {
            lists: &lists,
            // There are not many more slots than runs, whose number fits.
            slots: lists.iter().map(|l| l.map_or(0, |l| l.slot as u32)).collect(),
            sources: &self.sources,
            pending: &mut self.pending,
            waiting: &mut self.waiting,
            keep: self.spec.keep_retracts,
            one_high: self.spec.one_above_level_0,
            retracts: lists.iter().flatten().any(|l| l.retracts),
        };
        let mut changes = 0;
        let mut last = u32::MAX;
        for entry in &entries {
            changes += usize::from(entry.list != last);
            last = entry.list;
        }
        let groups = entries.chunk_by(same);
        match &self.spec.mode {
            MergeMode::Deduplicate { ignore_delete } => {
                let mut counted = Vec::new();
                groups.for_each(|versions| decide.last(versions, *ignore_delete, &mut counted));
            }
            MergeMode::FirstRow { ignore_delete } => {
                for versions in groups {
                    decide.first(versions, *ignore_delete)?;
                }
            }
            MergeMode::Function(_) => {
                let twice = |pair: &[Entry<K::Prefix>]| matches!(pair, [a, b] if same(a, b));
                let plain = !entries.windows(2).any(twice);
                if self.plain && plain {
                    // The only version of a key passes unchanged.
                    entries.iter().for_each(|only| decide.put(only));
                } else {
                    let (mut counted, mut sorted) = (Vec::new(), Vec::new());
                    for versions in groups {
                        let versions = decide.counted(versions, &mut counted);
                        decide.versions(versions, &mut sorted)?;
                    }
                }
                self.plain = plain;
            }
            MergeMode::All => {
                let mut sorted = Vec::new();
                groups.for_each(|versions| decide.all(versions, &mut sorted));
            }
        }
        // Long stretches want small blocks, so that they are found; runs that interleave large ones.
        if changes * 16 < entries.len() {
            self.block = (self.block / 4).max(SMALL_BLOCK);
        } else {
            let largest = (BLOCK_ENTRIES / active.len().max(1)).max(SMALL_BLOCK);
            self.block = (self.block * 2).min(largest);
        }
        (self.entries, self.scratch) = (entries, scratch);
        (self.packed, self.packed_scratch) = (packed, packed_scratch);
        self.touched = touched;
        for (run, _, rows) in taken {
            self.advance(run, rows);
        }
        // As many keys as fill a batch, so that none is put together of parts. Those that are left are of this block: all from
        // before were too few for a batch.
        while self.waiting.ends.len() >= self.pending.room() {
            self.merge_some(self.pending.room())?;
        }
        if self.plain {
            self.merge_waiting()?;
        }
        Ok(())
    }

    /// Calls the merge function for the versions that wait for it.
    fn merge_waiting(&mut self) -> Result<()> {
        self.merge_some(usize::MAX)
    }

    /// Calls the merge function for the versions of the first `keys` keys that wait for it.
    fn merge_some(&mut self, keys: usize) -> Result<()> {
        let MergeMode::Function(function) = &self.spec.mode else {
            return Ok(());
        };
        let keys = keys.min(self.waiting.ends.len());
        let ends = self.waiting.ends.get(..keys).unwrap_or_default();
        let Some(rows) = ends.last().copied() else {
            return Ok(());
        };
        let merged = function.merge(&Versions {
            sources: self.sources.rows(),
            rows: self.waiting.rows.get(..rows).unwrap_or_default(),
            kinds: self.waiting.kinds.get(..rows).unwrap_or_default(),
            ends,
        })?;
        self.waiting.remove(keys, rows);
        let rows = merged.kinds.len();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let wrong = |e| Error::corrupt("merged rows do not fit the schema").with_source(e);
        let schema = self.pending.schema();
        let mut made = RecordBatch::try_new_with_options(schema, merged.columns, &options).map_err(wrong)?;
        let mut kinds: Vec<i8> = merged.kinds.iter().map(|k| k.to_byte()).collect();
        if !self.spec.keep_retracts && kinds.iter().any(|k| *k & 1 == 1) {
            let kept: Vec<bool> = kinds.iter().map(|k| *k & 1 == 0).collect();
            made = arrow_select::filter::filter_record_batch(&made, &kept.into()).map_err(wrong)?;
            kinds.retain(|k| *k & 1 == 0);
        }
        let made = MergedBatch {
            rows: made,
            kinds: self.spec.keep_retracts.then(|| ScalarBuffer::from(kinds)),
            sequence: None,
            levels: None,
        };
        self.pending.made(made, &self.sources)
    }

    /// The next batch that is full.
    fn give(&mut self) -> Option<PickedRows> {
        if matches!(self.spec.mode, MergeMode::All) && self.pending.rows() >= self.spec.batch_size {
            self.pending.cut();
        }
        self.pending.take(&self.sources)
    }
}

impl<K: Keys> Merge for Core<K> {
    fn push(&mut self, run: usize, batch: RunBatch) -> Result<()> {
        self.load(run, batch)
    }

    fn end(&mut self, run: usize) -> Result<()> {
        self.asked(run)?.ended = true;
        Ok(())
    }

    fn untouched(&self, run: usize) -> usize {
        let loaded = self.runs.get(run).and_then(|r| r.batch.as_ref());
        loaded.map_or(0, |l| l.rows.saturating_sub(l.at))
    }

    fn drain(&mut self) -> Result<Option<PickedRows>> {
        self.merge_waiting()?;
        self.pending.cut();
        Ok(self.give())
    }

    fn next(&mut self) -> Result<Step> {
        let mut active = Vec::with_capacity(self.runs.len());
        loop {
            if let Some(batch) = self.give() {
                // Rows that are not out are of the last step.
                self.needed.clear();
                self.needed.extend_from_slice(&self.touched);
                return Ok(Step::Batch(Box::new(batch)));
            }
            active.clear();
            for (run, state) in self.runs.iter().enumerate() {
                if state.batch.as_ref().is_some_and(|b| !b.is_done()) {
                    active.push(run);
                } else if !state.ended {
                    return Ok(Step::Need(run));
                }
            }
            if !active.is_empty() {
                self.touched.clear();
                self.step(&active)?;
                self.needed.extend_from_slice(&self.touched);
                if self.pending.is_done() && self.waiting.ends.is_empty() {
                    self.needed.clear();
                }
                continue;
            }
            self.merge_waiting()?;
            self.pending.cut();
            if self.pending.is_done() {
                return Ok(Step::End);
            }
        }
    }
}
