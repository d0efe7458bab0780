// SPDX-License-Identifier: Apache-2.0

//! `collect` (Java `FieldCollectAgg`).

use arrow_array::{Array, ArrayRef, UInt32Array, make_array};
use arrow_buffer::ScalarBuffer;
use paimon_types::Result;

use super::tokens::Tokens;
use super::{Elements, ListFunction};
use crate::function::column::Column;

/// Elements of all arrays.
#[derive(Clone, Copy, Debug)]
pub(in crate::function) struct Collect {
    pub(in crate::function) distinct: bool,
    /// Java keeps sets of these in a list: the array so far is taken as it is, and elements stay in the order in which they
    /// came (constructed and binary elements). Sets of others have no order in Java.
    pub(in crate::function) listed: bool,
    /// Java compares such elements by identity, so that a retraction finds NULLs only (binary elements without `distinct`).
    pub(in crate::function) never_equal: bool,
    /// Under `ignore-retract` an older array comes in front (Java's wrapper does not pass `aggReversed` on).
    pub(in crate::function) older_first: bool,
}

impl Collect {
    fn append_unseen(tokens: &mut Tokens, list: &mut Vec<u32>, elements: &[u32]) {
        for element in elements {
            let token = tokens.of_row(*element);
            if tokens.get(token).is_none() {
                tokens.put(token, 0);
                list.push(*element);
            }
        }
    }
}

impl ListFunction for Collect {
    type Pool = Option<Tokens>;

    fn name(&self) -> &'static str {
        "collect"
    }

    fn pool(&self, column: &Column<'_>, elements: &ArrayRef, retracts: bool) -> Result<Option<Tokens>> {
        if !self.distinct && !retracts {
            return Ok(None);
        }
        if self.never_equal {
            // Every element has a token of its own, but for NULLs.
            let numbers: ScalarBuffer<u32> = (0u32..).take(elements.len()).collect();
            let numbers = make_array(UInt32Array::new(numbers, elements.nulls().cloned()).into());
            return Tokens::of(column.name, &[numbers]).map(Some);
        }
        Tokens::of(column.name, std::slice::from_ref(elements)).map(Some)
    }

    fn add(&self, pool: &mut Option<Tokens>, accumulator: Elements, input: Elements) -> Result<Elements> {
        let Some(tokens) = pool.as_mut().filter(|_| self.distinct) else {
            return Ok(match (accumulator, input) {
                (Some(mut list), Some(input)) => {
                    list.extend(input);
                    Some(list)
                }
                (accumulator, input) => accumulator.or(input),
            });
        };
        if accumulator.is_none() && input.is_none() {
            return Ok(None);
        }
        tokens.clear();
        let accumulator = accumulator.unwrap_or_default();
        let mut list = Vec::with_capacity(accumulator.len());
        if self.listed {
            for element in &accumulator {
                tokens.put(tokens.of_row(*element), 0);
            }
            list = accumulator;
        } else {
            Self::append_unseen(tokens, &mut list, &accumulator);
        }
        Self::append_unseen(tokens, &mut list, &input.unwrap_or_default());
        Ok(Some(list))
    }

    fn add_older(
        &self,
        pool: &mut Option<Tokens>,
        accumulator: Elements,
        input: Elements,
    ) -> Result<Elements> {
        if self.older_first {
            self.add(pool, input, accumulator)
        } else {
            self.add(pool, accumulator, input)
        }
    }

    fn retract(
        &self,
        pool: &mut Option<Tokens>,
        accumulator: Elements,
        input: Elements,
    ) -> Result<Option<Elements>> {
        let Some(mut list) = accumulator else {
            return Ok(Some(None));
        };
        let (Some(tokens), Some(input)) = (pool.as_mut(), input) else {
            return Ok(Some(Some(list)));
        };
        // How often each element is still to be taken out.
        tokens.clear();
        for element in input {
            let token = tokens.of_row(element);
            let count = tokens.get(token).unwrap_or(0);
            tokens.put(token, count + 1);
        }
        list.retain(|element| {
            let token = tokens.of_row(*element);
            match tokens.get(token) {
                None | Some(0) => true,
                Some(count) => {
                    tokens.put(token, count - 1);
                    false
                }
            }
        });
        Ok(Some(Some(list)))
    }
}
