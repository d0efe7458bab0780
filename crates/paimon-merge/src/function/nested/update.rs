// SPDX-License-Identifier: Apache-2.0

//! `nested_update` (Java `FieldNestedUpdateAgg`).

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_row::Rows;
use paimon_types::{Error, Result};

use super::tokens::{Tokens, rows_of};
use super::{Elements, ListFunction};
use crate::function::column::Column;
use crate::function::options::NullKeys;

/// The key of nested rows: positions of its fields in the ROW, and what a NULL in one of them means.
#[derive(Clone, Debug)]
pub(in crate::function) struct NestedKey {
    pub(in crate::function) fields: Vec<usize>,
    pub(in crate::function) null_keys: NullKeys,
}

/// A nested table.
#[derive(Clone, Debug)]
pub(in crate::function) struct NestedUpdate {
    /// `None`: rows are only appended.
    pub(in crate::function) key: Option<NestedKey>,
    /// Positions of the fields by which the newer of two rows of a key is known; empty: the later one.
    pub(in crate::function) sequence: Vec<usize>,
    pub(in crate::function) count_limit: i64,
}

/// What is known of the rows in the pool.
pub(in crate::function) struct NestedRows {
    rows: StructArray,
    /// By the key, else by the whole row; `None` when nothing is compared.
    tokens: Option<Tokens>,
    sequence: Option<Rows>,
    /// Of each row whether its key has a NULL.
    null_keys: Vec<bool>,
}

fn columns(column: &Column<'_>, rows: &StructArray, fields: &[usize]) -> Result<Vec<ArrayRef>> {
    let found = fields.iter().map(|field| rows.columns().get(*field).cloned());
    found
        .collect::<Option<_>>()
        .ok_or_else(|| column.not_for("field of the key"))
}

/// Rows of the pool with tokens of their keys and whether a key has a NULL.
pub(super) fn keyed(
    column: &Column<'_>,
    elements: &ArrayRef,
    key: &NestedKey,
) -> Result<(StructArray, Tokens, Vec<bool>)> {
    let rows = elements
        .as_struct_opt()
        .ok_or_else(|| column.not_for("rows"))?
        .clone();
    let keys = columns(column, &rows, &key.fields)?;
    let has_null = |row: usize| keys.iter().any(|key| key.is_null(row));
    let null_keys = if keys.iter().any(|key| key.null_count() > 0) {
        (0..rows.len()).map(has_null).collect()
    } else {
        Vec::new()
    };
    let tokens = Tokens::of(column.name, &keys)?;
    Ok((rows, tokens, null_keys))
}

/// False when a row is left out because of a NULL in its key.
pub(super) fn counts(key: &NestedKey, null_keys: &[bool], row: u32) -> Result<bool> {
    if !null_keys.get(row as usize).copied().unwrap_or(false) {
        return Ok(true);
    }
    match key.null_keys {
        NullKeys::Merge => Ok(true),
        NullKeys::Ignore => Ok(false),
        NullKeys::Error => Err(Error::invalid(
            "a nested row has NULL in its key, which option nested-key-null-strategy does not allow",
        )),
    }
}

impl NestedUpdate {
    /// Puts rows into the table; `limited` when the number of keys is.
    fn put(
        &self,
        key: &NestedKey,
        pool: &mut NestedRows,
        table: &mut Vec<u32>,
        rows: &[u32],
        limited: bool,
    ) -> Result<()> {
        let Some(tokens) = pool.tokens.as_mut() else {
            return Ok(());
        };
        for row in rows {
            if pool.rows.is_null(*row as usize) || !counts(key, &pool.null_keys, *row)? {
                continue;
            }
            let token = tokens.of_row(*row);
            let size = table.len();
            match tokens.get(token).and_then(|at| table.get_mut(at)) {
                Some(old) => {
                    let newer = match &pool.sequence {
                        None => true,
                        Some(sequence) => sequence.row(*row as usize) >= sequence.row(*old as usize),
                    };
                    if newer {
                        *old = *row;
                    }
                }
                None if !limited || (size as i64) < self.count_limit => {
                    tokens.put(token, size);
                    table.push(*row);
                }
                None => {}
            }
        }
        Ok(())
    }

    fn with_column<T>(result: Result<T>, function: &str) -> Result<T> {
        result.map_err(|error| error.with("function", function))
    }
}

impl ListFunction for NestedUpdate {
    type Pool = NestedRows;

    fn name(&self) -> &'static str {
        "nested_update"
    }

    fn pool(&self, column: &Column<'_>, elements: &ArrayRef, retracts: bool) -> Result<NestedRows> {
        match &self.key {
            Some(key) => {
                let (rows, tokens, null_keys) = keyed(column, elements, key)?;
                let sequence = columns(column, &rows, &self.sequence)?;
                let sequence = (!sequence.is_empty())
                    .then(|| rows_of(column.name, &sequence))
                    .transpose()?;
                Ok(NestedRows {
                    rows,
                    tokens: Some(tokens),
                    sequence,
                    null_keys,
                })
            }
            None => Ok(NestedRows {
                rows: elements
                    .as_struct_opt()
                    .ok_or_else(|| column.not_for("rows"))?
                    .clone(),
                tokens: retracts
                    .then(|| Tokens::of(column.name, std::slice::from_ref(elements)))
                    .transpose()?,
                sequence: None,
                null_keys: Vec::new(),
            }),
        }
    }

    fn add(&self, pool: &mut NestedRows, accumulator: Elements, input: Elements) -> Result<Elements> {
        let Some(input) = input else {
            return Ok(accumulator);
        };
        let mut table = Vec::new();
        let Some(key) = &self.key else {
            let before = accumulator.as_ref().map_or(0, |rows| rows.len() as i64);
            if accumulator.is_some() && before >= self.count_limit {
                return Ok(accumulator);
            }
            let is_row = |row: &u32| pool.rows.is_valid(*row as usize);
            table.extend(accumulator.unwrap_or_default().into_iter().filter(is_row));
            let room = usize::try_from(self.count_limit - before).unwrap_or(0);
            table.extend(input.into_iter().filter(is_row).take(room));
            return Ok(Some(table));
        };
        if let Some(tokens) = pool.tokens.as_mut() {
            tokens.clear();
        }
        let filled = self.put(key, pool, &mut table, &accumulator.unwrap_or_default(), false);
        let filled = filled.and_then(|()| self.put(key, pool, &mut table, &input, true));
        Self::with_column(filled, self.name())?;
        Ok(Some(table))
    }

    fn retract(
        &self,
        pool: &mut NestedRows,
        accumulator: Elements,
        input: Elements,
    ) -> Result<Option<Elements>> {
        let (Some(rows), Some(input)) = (&accumulator, input) else {
            return Ok(Some(accumulator));
        };
        let Some(tokens) = pool.tokens.as_mut() else {
            return Ok(Some(accumulator));
        };
        tokens.clear();
        let mut table: Vec<Option<u32>> = Vec::with_capacity(rows.len());
        let counted = |row: u32| match &self.key {
            Some(key) => counts(key, &pool.null_keys, row),
            None => Ok(true),
        };
        for row in rows {
            if pool.rows.is_null(*row as usize) || !Self::with_column(counted(*row), self.name())? {
                continue;
            }
            let token = tokens.of_row(*row);
            match tokens.get(token).and_then(|at| table.get_mut(at)) {
                // Without a key equal rows stand beside each other.
                Some(old) if self.key.is_some() => *old = Some(*row),
                _ => {
                    tokens.put(token, table.len());
                    table.push(Some(*row));
                }
            }
        }
        for row in input {
            if pool.rows.is_null(row as usize) || !Self::with_column(counted(row), self.name())? {
                continue;
            }
            let token = tokens.of_row(row);
            if self.key.is_some() {
                if let Some(old) = tokens.get(token).and_then(|at| table.get_mut(at)) {
                    *old = None;
                }
            } else if tokens.get(token).is_some() {
                for old in &mut table {
                    if old.is_some_and(|old| tokens.of_row(old) == token) {
                        *old = None;
                    }
                }
            }
        }
        Ok(Some(Some(table.into_iter().flatten().collect())))
    }
}
