// SPDX-License-Identifier: Apache-2.0

//! What happens to the value of a column at each version of a key, decided once for all columns that share it.

use std::cell::OnceCell;

use arrow_array::RecordBatch;
use paimon_types::{Error, Result, RowKind};

use crate::{Selection, Versions};

/// What a version does to the value so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// The only version of its key: its value as it is.
    Pass,
    /// The row starts again with this version, NULL included, whatever the function is.
    Set,
    /// An addition that is newer than the value so far.
    Add,
    /// An addition that is older than the value so far.
    AddOlder,
    /// A retraction that is newer than the value so far.
    Retract,
    /// A retraction that is older than the value so far.
    RetractOlder,
}

/// One version and what it does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Index of the batch.
    pub(super) source: u32,
    /// Row in the batch.
    pub(super) row: u32,
    pub(super) op: Op,
}

/// The steps of all keys that have a result, for columns that are treated alike.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    steps: Vec<Step>,
    /// For each key the position behind its last step.
    ends: Vec<usize>,
    /// What [`only_adds`](Self::only_adds) and [`last_versions`](Self::last_versions) found.
    only_adds: OnceCell<bool>,
    last: OnceCell<Option<Selection>>,
}

impl Program {
    pub(super) fn with_capacity(versions: &Versions<'_>) -> Self {
        Program {
            steps: Vec::with_capacity(versions.rows.len()),
            ends: Vec::with_capacity(versions.ends.len()),
            only_adds: OnceCell::new(),
            last: OnceCell::new(),
        }
    }

    #[inline]
    pub(super) fn push(&mut self, (source, row): (u32, u32), op: Op) {
        self.steps.push(Step { source, row, op });
    }

    /// The steps pushed since the last call are those of one key.
    #[inline]
    pub(super) fn end_key(&mut self) {
        self.ends.push(self.steps.len());
    }

    /// Number of keys.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// All steps of all keys.
    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The steps of each key; a key may have none, its value is NULL then.
    pub(super) fn keys(&self) -> impl Iterator<Item = &[Step]> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let steps = self.steps.get(start..*end).unwrap_or(&[]);
            start = *end;
            steps
        })
    }
}

impl Program {
    /// Whether all versions add to the value so far, in order, or start again.
    pub(super) fn only_adds(&self) -> bool {
        let adds = |step: &Step| matches!(step.op, Op::Pass | Op::Set | Op::Add);
        *self.only_adds.get_or_init(|| self.steps.iter().all(adds))
    }

    /// The last version of each key, when all keys have versions and these only add or start again. Found once for all columns.
    pub(super) fn last_versions(&self) -> Option<&Selection> {
        let find = || {
            if !self.only_adds() {
                return None;
            }
            let mut selection = Selection::with_capacity(self.len());
            for steps in self.keys() {
                let last = steps.last()?;
                selection.push_narrow(last.source, last.row, 1);
            }
            Some(selection)
        };
        self.last.get_or_init(find).as_ref()
    }
}

/// [`Versions`] of which everything was checked, with places in 32 bits.
pub(super) struct Checked<'a> {
    pub(super) sources: &'a [RecordBatch],
    rows: &'a [(usize, usize)],
    kinds: &'a [RowKind],
    ends: &'a [usize],
}

/// The versions of one key.
#[derive(Clone, Copy)]
pub(super) struct KeyVersions<'a> {
    /// Position of the first version in [`Versions::rows`].
    pub(super) first: usize,
    rows: &'a [(usize, usize)],
    pub(super) kinds: &'a [RowKind],
}

impl<'a> KeyVersions<'a> {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Place and kind of each version, oldest first.
    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = ((u32, u32), RowKind)> + 'a {
        let kinds = self.kinds.iter().copied();
        // Checked to fit.
        self.rows
            .iter()
            .map(|(source, row)| (*source as u32, *row as u32))
            .zip(kinds)
    }
}

impl<'a> Checked<'a> {
    /// Looks that lengths fit together, that every place exists and that every key has a version.
    pub(super) fn new(versions: &Versions<'a>) -> Result<Self> {
        let (rows, kinds, ends) = (versions.rows, versions.kinds, versions.ends);
        let fail = |problem: String| Err(Error::corrupt(format!("versions of keys: {problem}")));
        if rows.len() != kinds.len() {
            return fail(format!("{} rows with {} kinds", rows.len(), kinds.len()));
        }
        if ends.last().copied().unwrap_or(0) != rows.len() {
            return fail(format!(
                "{} rows, but the last key ends at {:?}",
                rows.len(),
                ends.last()
            ));
        }
        let mut start = 0;
        for end in ends {
            if *end <= start {
                return fail(format!("a key ends at {end}, the one before at {start}"));
            }
            start = *end;
        }
        let lengths: Vec<usize> = versions.sources.iter().map(RecordBatch::num_rows).collect();
        if lengths.len() >= u32::MAX as usize || lengths.iter().any(|len| *len >= u32::MAX as usize) {
            return fail("a batch has more than 32-bit numbers can count".to_owned());
        }
        let outside = |(source, row): &&(usize, usize)| lengths.get(*source).is_none_or(|len| row >= len);
        if let Some((source, row)) = rows.iter().find(outside) {
            return fail(format!("row {row} of batch {source} does not exist"));
        }
        Ok(Checked {
            sources: versions.sources,
            rows,
            kinds,
            ends,
        })
    }

    /// The versions of each key.
    #[inline]
    pub(super) fn keys(&self) -> impl Iterator<Item = KeyVersions<'a>> + '_ {
        let mut first = 0;
        self.ends.iter().map(move |end| {
            let key = KeyVersions {
                first,
                rows: self.rows.get(first..*end).unwrap_or(&[]),
                kinds: self.kinds.get(first..*end).unwrap_or(&[]),
            };
            first = *end;
            key
        })
    }
}
