// SPDX-License-Identifier: Apache-2.0

//! Functions whose result is the value of one version, or NULL: they only pick, the values are copied once at the end.

use arrow_array::ArrayRef;
use paimon_types::Result;

use super::column::{Column, ColumnFunction};
use super::program::{Op, Program, Step};
use crate::Selection;

/// Which version is picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// Java `FieldLastValueAgg`.
    Last,
    /// Java `FieldLastNonNullValueAgg`, and columns of partial-update without a function.
    LastNonNull,
    /// Java `FieldFirstValueAgg`.
    First,
    /// Java `FieldFirstNonNullValueAgg`.
    FirstNonNull,
    /// Java `FieldPrimaryKeyAgg`.
    PrimaryKey,
    /// A column of a sequence group without a function: newer versions overwrite, NULL too, newer retractions clear.
    Overwrite,
    /// An ordering column of a sequence group: newer versions overwrite, retractions too.
    Ordering,
}

/// A function that picks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pick {
    pub(super) which: Which,
    /// Retractions do nothing (Java `FieldIgnoreRetractAgg`).
    pub(super) ignore_retract: bool,
}

type Place = Option<(u32, u32)>;

/// The value so far of one key, and whether a `first_…` function has seen a value.
struct State {
    value: Place,
    started: bool,
}

impl Which {
    fn name(self) -> &'static str {
        match self {
            Which::Last => "last_value",
            Which::LastNonNull => "last_non_null_value",
            Which::First => "first_value",
            Which::FirstNonNull => "first_non_null_value",
            Which::PrimaryKey => "primary-key",
            Which::Overwrite | Which::Ordering => "sequence-group",
        }
    }

    /// Java `agg(accumulator, inputField)`.
    #[inline]
    fn add(self, input: Place, state: &mut State) {
        match self {
            Which::Last | Which::PrimaryKey | Which::Overwrite | Which::Ordering => state.value = input,
            Which::LastNonNull => state.value = input.or(state.value),
            Which::First => {
                if !state.started {
                    state.started = true;
                    state.value = input;
                }
            }
            Which::FirstNonNull => {
                if !state.started && input.is_some() {
                    state.started = true;
                    state.value = input;
                }
            }
        }
    }

    /// Java `aggReversed(accumulator, inputField)`, which is `agg` with the two exchanged, the quirks of `first_…` included.
    #[inline]
    fn add_older(self, input: Place, state: &mut State) {
        match self {
            Which::Last | Which::PrimaryKey | Which::Overwrite | Which::Ordering => {}
            Which::LastNonNull => state.value = state.value.or(input),
            Which::First => {
                if state.started {
                    state.value = input;
                }
                state.started = true;
            }
            Which::FirstNonNull => {
                if !state.started && state.value.is_some() {
                    state.started = true;
                } else {
                    state.value = input;
                }
            }
        }
    }

    /// Java `retract(accumulator, retractField)`; `None` when the function has none.
    #[inline]
    fn retract(self, op: Op, input: Place, state: &mut State) -> Option<()> {
        let older = op == Op::RetractOlder;
        match self {
            Which::Last => state.value = None,
            Which::LastNonNull => {
                if input.is_some() {
                    state.value = None;
                }
            }
            Which::PrimaryKey => state.value = input,
            Which::Overwrite if older => {}
            Which::Overwrite => state.value = None,
            Which::Ordering if older => {}
            Which::Ordering => state.value = input,
            Which::First | Which::FirstNonNull => return None,
        }
        Some(())
    }
}

impl Pick {
    fn pick(
        self,
        column: &Column<'_>,
        program: &Program,
        valid: impl Fn(&Step) -> bool,
    ) -> Result<Selection> {
        let mut selection = Selection::with_capacity(program.len());
        for steps in program.keys() {
            let mut state = State {
                value: None,
                started: false,
            };
            for step in steps {
                let input = valid(step).then_some((step.source, step.row));
                match step.op {
                    Op::Pass | Op::Set => state.value = input,
                    Op::Add => self.which.add(input, &mut state),
                    Op::AddOlder => self.which.add_older(input, &mut state),
                    Op::Retract | Op::RetractOlder if self.ignore_retract => {}
                    Op::Retract | Op::RetractOlder => self
                        .which
                        .retract(step.op, input, &mut state)
                        .ok_or_else(|| column.cannot_retract(self.which.name()))?,
                }
            }
            match state.value {
                Some((source, row)) => selection.push_narrow(source, row, 1),
                None => selection.push_null(),
            }
        }
        Ok(selection)
    }
}

impl ColumnFunction for Pick {
    fn merge(&self, column: &Column<'_>, program: &Program) -> Result<ArrayRef> {
        let selection = if column.has_nulls() {
            self.pick(column, program, |step| column.is_valid(step))?
        } else {
            self.pick(column, program, |_| true)?
        };
        column.gather(&selection)
    }

    fn adds_last(&self) -> bool {
        !matches!(self.which, Which::First | Which::FirstNonNull)
    }
}
