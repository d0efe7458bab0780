// SPDX-License-Identifier: Apache-2.0

//! The partial-update engine (Java `PartialUpdateMergeFunction`; `semantics.md` 3.3).

use paimon_types::{Error, Result, RowKind};

use super::order::GroupOrder;
use super::program::{Checked, KeyVersions, Op, Program};
use super::result::{FunctionColumn, check_set_rows, merge_columns};
use crate::{MergeFunction, Merged, Versions};

/// Columns follow one program each: program 0 for columns outside of sequence groups, then one a group.
#[derive(Debug)]
pub(super) struct PartialUpdate {
    pub(super) ignore_delete: bool,
    /// `partial-update.remove-record-on-delete`.
    pub(super) remove_on_delete: bool,
    /// The table has sequence groups, whether or not their columns are read.
    pub(super) has_groups: bool,
    /// Groups of which columns are read.
    pub(super) groups: Vec<SequenceGroup>,
    /// In the order of the sources.
    pub(super) columns: Vec<FunctionColumn>,
}

/// A sequence group.
#[derive(Debug)]
pub(super) struct SequenceGroup {
    /// Positions of the ordering columns, in the order of the option.
    pub(super) ordering: Vec<usize>,
    /// A −D that is not older removes the row (`partial-update.remove-record-on-sequence-group`).
    pub(super) removes: bool,
}

/// What a version is to a group.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Age {
    /// Its ordering columns are all NULL.
    Outside,
    Newer,
    Older,
}

/// Programs and the row so far, for one call.
struct Run<'a> {
    of: &'a PartialUpdate,
    orders: Vec<GroupOrder<'a>>,
    /// Of each group the version whose ordering columns the row has; `None` when they are NULL still.
    current: Vec<Option<(u32, u32)>>,
    ages: Vec<Age>,
    programs: Vec<Program>,
}

impl MergeFunction for PartialUpdate {
    fn merge(&self, versions: &Versions<'_>) -> Result<Merged> {
        let checked = Checked::new(versions)?;
        let name = |index: usize| self.columns.get(index).map_or("", |column| column.name.as_str());
        let orders = self.groups.iter().map(|group| {
            GroupOrder::new(
                checked.sources,
                group.ordering.iter().map(|index| (*index, name(*index))),
            )
        });
        let orders: Vec<GroupOrder<'_>> = if versions.sources.is_empty() {
            Vec::new()
        } else {
            orders.collect::<Result<_>>()?
        };
        let mut run = Run {
            of: self,
            current: vec![None; orders.len()],
            ages: vec![Age::Outside; orders.len()],
            programs: vec![Program::with_capacity(versions); orders.len() + 1],
            orders,
        };
        let mut kinds = Vec::with_capacity(versions.ends.len());
        let mut origins = Vec::with_capacity(versions.ends.len());
        for key in checked.keys() {
            let (kind, origin) = run.key(&key)?;
            kinds.push(kind);
            origins.push(origin);
        }
        let programs = run.programs;
        if let Some(rows) = programs.first() {
            check_set_rows(checked.sources, &self.columns, rows, !self.has_groups)?;
        }
        let columns = merge_columns(checked.sources, &self.columns, &programs, &kinds)?;
        Ok(Merged {
            columns,
            origins,
            kinds,
        })
    }
}

impl Run<'_> {
    /// The row of one key: kind, and the position of the version whose sequence number it has.
    fn key(&mut self, key: &KeyVersions<'_>) -> Result<(RowKind, usize)> {
        if key.len() == 1 {
            let mut kind = RowKind::Insert;
            for (place, of_version) in key.iter() {
                kind = of_version;
                self.push_all(place, Op::Pass);
            }
            self.programs.iter_mut().for_each(Program::end_key);
            return Ok((kind, key.first));
        }
        self.current.fill(None);
        // Java leaves sequence number 0 where every version is ignored; such a row is a retraction that nobody sees.
        let mut origin = key.first;
        let (mut filled, mut inserted, mut deleted) = (false, false, false);
        for (index, (place, kind)) in key.iter().enumerate() {
            deleted = false;
            if kind.is_retract() {
                if !filled {
                    self.set(place);
                    filled = true;
                }
                if self.of.ignore_delete {
                    continue;
                }
                origin = key.first + index;
                if self.of.has_groups {
                    deleted = self.retract(place, kind);
                } else if self.of.remove_on_delete {
                    if kind == RowKind::Delete {
                        self.set(place);
                        deleted = true;
                    }
                } else {
                    return Err(cannot_retract(kind));
                }
            } else {
                origin = key.first + index;
                self.add(place);
                (filled, inserted) = (true, true);
            }
        }
        self.programs.iter_mut().for_each(Program::end_key);
        let kind = if deleted || !inserted {
            RowKind::Delete
        } else {
            RowKind::Insert
        };
        Ok((kind, origin))
    }

    fn push_all(&mut self, place: (u32, u32), op: Op) {
        for program in &mut self.programs {
            program.push(place, op);
        }
    }

    /// The row becomes this version.
    fn set(&mut self, place: (u32, u32)) {
        self.push_all(place, Op::Set);
        self.current.fill(Some(place));
    }

    /// Age of the version for every group, before any of them is changed.
    fn look(&mut self, place: (u32, u32)) {
        for ((order, current), age) in self.orders.iter().zip(&self.current).zip(&mut self.ages) {
            *age = if order.is_empty(place) {
                Age::Outside
            } else if order.is_newer(place, *current) {
                Age::Newer
            } else {
                Age::Older
            };
        }
    }

    fn push_groups(&mut self, place: (u32, u32), newer: Op, older: Op) {
        let programs = self.programs.iter_mut().skip(1);
        for ((program, age), current) in programs.zip(&self.ages).zip(&mut self.current) {
            match age {
                Age::Outside => {}
                Age::Newer => {
                    program.push(place, newer);
                    *current = Some(place);
                }
                Age::Older => program.push(place, older),
            }
        }
    }

    fn add(&mut self, place: (u32, u32)) {
        if let Some(rows) = self.programs.first_mut() {
            rows.push(place, Op::Add);
        }
        self.look(place);
        self.push_groups(place, Op::Add, Op::AddOlder);
    }

    /// True when the version removes the row.
    fn retract(&mut self, place: (u32, u32), kind: RowKind) -> bool {
        self.look(place);
        let removing = |(group, age): (&SequenceGroup, &Age)| group.removes && *age == Age::Newer;
        if kind == RowKind::Delete && self.of.groups.iter().zip(&self.ages).any(removing) {
            self.set(place);
            return true;
        }
        self.push_groups(place, Op::Retract, Op::RetractOlder);
        false
    }
}

fn cannot_retract(kind: RowKind) -> Error {
    let kind = kind.as_str();
    Error::invalid(format!("merge-engine partial-update cannot take back a row, but a {kind} row asks for it"))
        .with("option", "merge-engine")
        .with(
            "hint",
            "ignore-delete=true ignores such rows, partial-update.remove-record-on-delete=true lets -D remove the whole \
             row, sequence groups take back their columns",
        )
}
