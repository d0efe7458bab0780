// SPDX-License-Identifier: Apache-2.0

//! Which versions of a key are left.

use std::cmp::Ordering;

use paimon_types::{Error, Result, RowKind};

use super::block::Entry;
use super::keys::Keys;
use super::pending::Pending;
use super::run::Loaded;
use super::sources::Sources;

/// Versions that wait for the merge function.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    pub(super) rows: Vec<(usize, usize)>,
    pub(super) kinds: Vec<RowKind>,
    pub(super) ends: Vec<usize>,
}

impl Waiting {
    /// Lets go of the first `keys` keys, which have `rows` versions.
    pub(super) fn remove(&mut self, keys: usize, rows: usize) {
        self.ends.drain(..keys.min(self.ends.len()));
        self.ends.iter_mut().for_each(|end| *end -= rows);
        self.rows.drain(..rows.min(self.rows.len()));
        self.kinds.drain(..rows.min(self.kinds.len()));
    }
}

/// What is left of the versions of a key.
pub(super) struct Decide<'a, K> {
    pub(super) lists: &'a [Option<&'a Loaded<K>>],
    /// Slot of the batch of each run.
    pub(super) slots: Vec<u32>,
    pub(super) sources: &'a Sources,
    pub(super) pending: &'a mut Pending,
    pub(super) waiting: &'a mut Waiting,
    pub(super) keep: bool,
    /// Of the versions above level 0 only that of the lowest level counts.
    pub(super) one_high: bool,
    /// Some rows are retractions.
    pub(super) retracts: bool,
}

impl<K: Keys> Decide<'_, K> {
    #[inline]
    fn slot<P>(&self, entry: &Entry<P>) -> usize {
        self.narrow_slot(entry) as usize
    }

    #[inline]
    fn narrow_slot<P>(&self, entry: &Entry<P>) -> u32 {
        // Every run of an entry has a batch.
        self.slots.get(entry.list as usize).copied().unwrap_or_default()
    }

    fn kind<P>(&self, entry: &Entry<P>) -> i8 {
        self.sources.kind(self.slot(entry), entry.row as usize)
    }

    /// Puts a row out, unless it is a retraction that nobody wants.
    #[inline]
    pub(super) fn put<P>(&mut self, entry: &Entry<P>) {
        if self.retracts && !self.keep && self.kind(entry) & 1 == 1 {
            return;
        }
        self.pending.pick(self.narrow_slot(entry), entry.row);
    }

    /// Which of two versions of a key is newer: user sequence, sequence number, retraction before addition.
    fn order<P>(&self, a: &Entry<P>, b: &Entry<P>) -> Ordering {
        let list = |entry: &Entry<P>| self.lists.get(entry.list as usize).copied().flatten();
        let (Some(x), Some(y)) = (list(a), list(b)) else {
            return Ordering::Equal;
        };
        let (at, other) = (a.row as usize, b.row as usize);
        let by_user = match (&x.user, &y.user) {
            (Some(x), Some(y)) => x.compare(at, y, other),
            _ => Ordering::Equal,
        };
        let addition = |entry: &Entry<P>| self.kind(entry) & 1 == 0;
        let number = |slot: usize, row: usize| self.sources.number(slot, row);
        by_user
            .then_with(|| number(x.slot, at).cmp(&number(y.slot, other)))
            .then_with(|| addition(a).cmp(&addition(b)))
    }

    /// The versions of a key that count: all, or those of level 0 and one above it. `counted` is overwritten.
    pub(super) fn counted<'b, P: Copy>(
        &self,
        versions: &'b [Entry<P>],
        counted: &'b mut Vec<Entry<P>>,
    ) -> &'b [Entry<P>] {
        if !self.one_high || versions.len() < 2 {
            return versions;
        }
        let level = |entry: &Entry<P>| self.sources.level(self.slot(entry), entry.row as usize);
        let high = versions.iter().enumerate().filter(|(_, entry)| level(entry) > 0);
        let lowest = high.min_by(|(_, a), (_, b)| level(a).cmp(&level(b)).then_with(|| self.order(a, b)));
        let Some((lowest, _)) = lowest else {
            return versions;
        };
        counted.clear();
        let counts = |(at, entry): &(usize, &Entry<P>)| *at == lowest || level(entry) <= 0;
        counted.extend(
            versions
                .iter()
                .enumerate()
                .filter(counts)
                .map(|(_, entry)| *entry),
        );
        counted
    }

    #[inline]
    pub(super) fn last<P: Copy>(
        &mut self,
        versions: &[Entry<P>],
        ignore_delete: bool,
        counted: &mut Vec<Entry<P>>,
    ) {
        if let [only] = versions {
            self.put(only);
        } else {
            let versions = self.counted(versions, counted);
            self.newest(versions, ignore_delete);
        }
    }

    fn newest<P>(&mut self, versions: &[Entry<P>], ignore_delete: bool) {
        if let [only] = versions {
            self.put(only);
            return;
        }
        let counts = |entry: &&Entry<P>| !ignore_delete || self.kind(entry) & 1 == 0;
        // The later one of equal ones.
        let newest = versions.iter().filter(counts).max_by(|a, b| self.order(a, b));
        if let Some(newest) = newest {
            self.put(newest);
        }
    }

    pub(super) fn first<P>(&mut self, versions: &[Entry<P>], ignore_delete: bool) -> Result<()> {
        let [only, others @ ..] = versions else {
            return Ok(());
        };
        if others.is_empty() {
            self.put(only);
            return Ok(());
        }
        let addition = |entry: &&Entry<P>| self.kind(entry) & 1 == 0;
        if !ignore_delete && !versions.iter().all(|v| addition(&v)) {
            return Err(Error::invalid(
                "merge engine first-row cannot take rows of kind -U or -D; option ignore-delete would leave them out",
            )
            .with("option", "merge-engine"));
        }
        // The earlier one of equal ones.
        if let Some(oldest) = versions.iter().filter(addition).min_by(|a, b| self.order(a, b)) {
            self.put(oldest);
        }
        Ok(())
    }

    fn sort<P: Copy>(&self, versions: &[Entry<P>], sorted: &mut Vec<Entry<P>>) {
        sorted.clear();
        sorted.extend_from_slice(versions);
        if versions.len() > 1 {
            sorted.sort_by(|a, b| self.order(a, b));
        }
    }

    pub(super) fn versions<P: Copy>(
        &mut self,
        versions: &[Entry<P>],
        sorted: &mut Vec<Entry<P>>,
    ) -> Result<()> {
        if let [only] = versions {
            self.wait(only)?;
        } else {
            self.sort(versions, sorted);
            for entry in sorted.iter() {
                self.wait(entry)?;
            }
        }
        self.waiting.ends.push(self.waiting.rows.len());
        Ok(())
    }

    #[inline]
    fn wait<P>(&mut self, entry: &Entry<P>) -> Result<()> {
        // To a merge +I and +U are the same.
        let kind = match self.retracts || self.keep {
            true => RowKind::from_byte(self.kind(entry))?,
            false => RowKind::Insert,
        };
        self.waiting.rows.push((self.slot(entry), entry.row as usize));
        self.waiting.kinds.push(kind);
        Ok(())
    }

    pub(super) fn all<P: Copy>(&mut self, versions: &[Entry<P>], sorted: &mut Vec<Entry<P>>) {
        self.sort(versions, sorted);
        for entry in sorted.iter() {
            self.pending.pick(self.narrow_slot(entry), entry.row);
        }
    }
}
