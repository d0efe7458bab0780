// SPDX-License-Identifier: Apache-2.0

//! Functions of arrays and maps: `collect`, `merge_map`, `merge_map_with_keytime`, `nested_update`, `nested_partial_update`.
//!
//! Elements of the versions that have to be combined are gathered into one pool; functions work on numbers of pool elements,
//! and on [`Tokens`], by which equal elements are known. Elements are copied once, at the end.

mod collect;
mod map;
mod output;
mod partial;
mod tokens;
mod update;

use std::fmt::Debug;
use std::ops::Range;

use arrow_array::{Array, ArrayRef};
use paimon_types::{Error, Result};

use super::column::{Column, ColumnFunction};
use super::program::{Op, Program, Step};
use crate::Selection;
use output::{ListOutput, lists_of};

pub(super) use collect::Collect;
pub(super) use map::{MergeMap, MergeMapWithKeyTime};
pub(super) use partial::NestedPartialUpdate;
pub(super) use update::{NestedKey, NestedUpdate};

/// Numbers of elements in the pool; `None` is a NULL list.
type Elements = Option<Vec<u32>>;

/// A function of lists of elements.
trait ListFunction: Debug + Send + Sync {
    /// What the function looks up about pool elements. `retracts` tells whether there are retractions.
    type Pool;

    fn name(&self) -> &'static str;

    fn pool(&self, column: &Column<'_>, elements: &ArrayRef, retracts: bool) -> Result<Self::Pool>;

    /// Java `agg(accumulator, inputField)`.
    fn add(&self, pool: &mut Self::Pool, accumulator: Elements, input: Elements) -> Result<Elements>;

    /// Java `aggReversed(accumulator, inputField)`.
    fn add_older(&self, pool: &mut Self::Pool, accumulator: Elements, input: Elements) -> Result<Elements> {
        self.add(pool, input, accumulator)
    }

    /// Java `retract(accumulator, retractField)`; `None` when the function has none.
    fn retract(
        &self,
        pool: &mut Self::Pool,
        accumulator: Elements,
        input: Elements,
    ) -> Result<Option<Elements>> {
        let _ = (pool, accumulator, input);
        Ok(None)
    }
}

/// A [`ListFunction`] with the option that lets it ignore retractions.
#[derive(Debug)]
pub(super) struct OfLists<F> {
    pub(super) function: F,
    pub(super) ignore_retract: bool,
}

impl<F: ListFunction> ColumnFunction for OfLists<F> {
    fn merge(&self, column: &Column<'_>, program: &Program) -> Result<ArrayRef> {
        let pool = Pool::new(column, program)?;
        let retracts = !self.ignore_retract && pool.retracts;
        let mut known = self.function.pool(column, &pool.elements, retracts)?;
        let mut output = ListOutput::new(column, program.len())?;
        let mut lists = pool.lists();
        for steps in program.keys() {
            if let Some(step) = untouched(steps) {
                output.push_version(column, step);
                continue;
            }
            let mut value: Elements = None;
            for step in steps {
                let input = lists.next().flatten().map(|range| range.collect());
                value = match step.op {
                    Op::Pass | Op::Set => input,
                    Op::Add => self.function.add(&mut known, value, input)?,
                    Op::AddOlder => self.function.add_older(&mut known, value, input)?,
                    Op::Retract | Op::RetractOlder if self.ignore_retract => value,
                    Op::Retract | Op::RetractOlder => {
                        let value = self.function.retract(&mut known, value, input)?;
                        value.ok_or_else(|| column.cannot_retract(self.function.name()))?
                    }
                };
            }
            output.push_elements(value.as_deref());
        }
        output.finish(column, &pool.elements)
    }
}

/// The step whose list is the value as it is.
fn untouched(steps: &[Step]) -> Option<&Step> {
    match steps {
        [step] if matches!(step.op, Op::Pass | Op::Set) => Some(step),
        _ => None,
    }
}

/// The lists of all steps of keys that have something to combine, gathered.
struct Pool {
    /// Of each step the range of its elements; `None` for a NULL list.
    ranges: Vec<Option<Range<u32>>>,
    elements: ArrayRef,
    retracts: bool,
}

impl Pool {
    fn new(column: &Column<'_>, program: &Program) -> Result<Self> {
        let mut selection = Selection::new();
        let mut retracts = false;
        for steps in program.keys().filter(|steps| untouched(steps).is_none()) {
            for step in steps {
                selection.push_narrow(step.source, step.row, 1);
                retracts |= matches!(step.op, Op::Retract | Op::RetractOlder);
            }
        }
        let gathered = column.gather(&selection)?;
        let lists = lists_of(gathered.as_ref()).ok_or_else(|| column.not_for("elements"))?;
        let number = |offset: i32| u32::try_from(offset).unwrap_or_default();
        let ranges = lists
            .offsets
            .windows(2)
            .enumerate()
            .map(|(row, pair)| match pair {
                [from, to] if gathered.is_valid(row) => Some(number(*from)..number(*to)),
                _ => None,
            });
        Ok(Pool {
            ranges: ranges.collect(),
            elements: lists.elements,
            retracts,
        })
    }

    /// The lists of the steps in their order.
    fn lists(&self) -> impl Iterator<Item = Option<Range<u32>>> + '_ {
        self.ranges.iter().cloned()
    }
}

/// A field of a ROW that options name.
pub(super) fn row_field(
    fields: &[paimon_types::DataField],
    option: &str,
    name: &str,
    column: &str,
) -> Result<usize> {
    let position = fields.iter().position(|field| field.name == name);
    position.ok_or_else(|| {
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let problem = format!(
            "option {option} names {name}, which is not a field of the rows: {}",
            names.join(", ")
        );
        Error::invalid(problem)
            .with("option", option)
            .with("column", column)
    })
}
