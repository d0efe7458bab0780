// SPDX-License-Identifier: Apache-2.0

//! `merge_map` and `merge_map_with_keytime` (Java `FieldMergeMapAgg`, `FieldMergeMapWithKeyTimeAgg`).

use std::cmp::Ordering;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray, StructArray};
use paimon_types::Result;

use super::tokens::Tokens;
use super::{Elements, ListFunction};
use crate::function::column::Column;

/// Entries of all maps, the newest of a key. A key keeps the place where it came first; Java's maps have no order.
#[derive(Clone, Copy, Debug)]
pub(in crate::function) struct MergeMap;

fn entries<'a>(column: &Column<'_>, elements: &'a ArrayRef) -> Result<&'a StructArray> {
    elements.as_struct_opt().ok_or_else(|| column.not_for("entries"))
}

fn key_tokens(column: &Column<'_>, elements: &ArrayRef) -> Result<Tokens> {
    let keys = entries(column, elements)?.columns().first();
    Tokens::of(
        column.name,
        std::slice::from_ref(keys.ok_or_else(|| column.not_for("keys"))?),
    )
}

/// Puts an entry into a map without order: over the one of the same key, else at the end.
fn put(keys: &mut Tokens, map: &mut Vec<Option<u32>>, entry: u32) {
    let token = keys.of_row(entry);
    match keys.get(token).and_then(|at| map.get_mut(at)) {
        Some(old) => *old = Some(entry),
        None => {
            keys.put(token, map.len());
            map.push(Some(entry));
        }
    }
}

impl ListFunction for MergeMap {
    type Pool = Tokens;

    fn name(&self) -> &'static str {
        "merge_map"
    }

    fn pool(&self, column: &Column<'_>, elements: &ArrayRef, _retracts: bool) -> Result<Tokens> {
        key_tokens(column, elements)
    }

    fn add(&self, keys: &mut Tokens, accumulator: Elements, input: Elements) -> Result<Elements> {
        let (Some(accumulator), Some(input)) = (&accumulator, &input) else {
            return Ok(accumulator.or(input));
        };
        keys.clear();
        let mut map = Vec::with_capacity(accumulator.len() + input.len());
        for entry in accumulator.iter().chain(input) {
            put(keys, &mut map, *entry);
        }
        Ok(Some(map.into_iter().flatten().collect()))
    }

    fn retract(&self, keys: &mut Tokens, accumulator: Elements, input: Elements) -> Result<Option<Elements>> {
        let (Some(entries), Some(input)) = (&accumulator, input.filter(|input| !input.is_empty())) else {
            return Ok(Some(accumulator));
        };
        // Slot 0 marks the keys to drop, the others hold where the entry of a key is.
        keys.clear();
        for entry in input {
            keys.put(keys.of_row(entry), 0);
        }
        let mut map: Vec<Option<u32>> = vec![None];
        for entry in entries {
            if keys.get(keys.of_row(*entry)) != Some(0) {
                put(keys, &mut map, *entry);
            }
        }
        Ok(Some(Some(map.into_iter().flatten().collect())))
    }
}

/// Entries of all maps; of a key the one with the latest time, which is a text in a field of the value.
#[derive(Clone, Copy, Debug)]
pub(in crate::function) struct MergeMapWithKeyTime {
    /// Position of the time in the ROW.
    pub(in crate::function) time: usize,
}

/// Keys, and whether there is a value and a time, of the entries in the pool.
pub(in crate::function) struct Timed {
    keys: Tokens,
    values: ArrayRef,
    times: StringArray,
}

impl Timed {
    fn time(&self, entry: u32) -> Option<&str> {
        let row = entry as usize;
        (self.values.is_valid(row) && self.times.is_valid(row)).then(|| self.times.value(row))
    }
}

/// Java `String.compareTo`: by 16-bit units.
fn compare_utf16(a: &str, b: &str) -> Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}

impl ListFunction for MergeMapWithKeyTime {
    type Pool = Timed;

    fn name(&self) -> &'static str {
        "merge_map_with_keytime"
    }

    fn pool(&self, column: &Column<'_>, elements: &ArrayRef, _retracts: bool) -> Result<Timed> {
        let values = entries(column, elements)?.columns().get(1);
        let values = values.ok_or_else(|| column.not_for("values"))?;
        let times = values
            .as_struct_opt()
            .and_then(|row| row.columns().get(self.time));
        let times = times.and_then(|times| times.as_string_opt::<i32>());
        Ok(Timed {
            keys: key_tokens(column, elements)?,
            values: values.clone(),
            times: times.ok_or_else(|| column.not_for("times"))?.clone(),
        })
    }

    fn add(&self, pool: &mut Timed, accumulator: Elements, input: Elements) -> Result<Elements> {
        let (Some(accumulator), Some(input)) = (&accumulator, &input) else {
            return Ok(accumulator.or(input));
        };
        pool.keys.clear();
        let mut map: Vec<Option<u32>> = Vec::with_capacity(accumulator.len() + input.len());
        for entry in accumulator {
            put(&mut pool.keys, &mut map, *entry);
        }
        for entry in input {
            let at = pool.keys.get(pool.keys.of_row(*entry));
            let existing = at.and_then(|at| map.get_mut(at));
            if pool.values.is_null(*entry as usize) {
                if let Some(existing) = existing {
                    *existing = None;
                }
                continue;
            }
            let Some(new) = pool.time(*entry) else { continue };
            let old = existing
                .and_then(|existing| existing.as_ref())
                .and_then(|old| pool.time(*old));
            if old.is_none_or(|old| compare_utf16(new, old) == Ordering::Greater) {
                put(&mut pool.keys, &mut map, *entry);
            }
        }
        Ok(Some(map.into_iter().flatten().collect()))
    }
}
