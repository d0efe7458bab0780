// SPDX-License-Identifier: Apache-2.0

//! `nested_partial_update` (Java `FieldNestedPartialUpdateAgg`).

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, StructArray};
use paimon_types::{Error, Result};

use super::output::ListOutput;
use super::tokens::Tokens;
use super::update::{NestedKey, counts, keyed};
use super::{Pool, untouched};
use crate::Selection;
use crate::function::column::{Column, ColumnFunction};
use crate::function::program::{Op, Program};

/// A nested table whose rows are updated field by field.
#[derive(Clone, Debug)]
pub(in crate::function) struct NestedPartialUpdate {
    pub(in crate::function) key: NestedKey,
    pub(in crate::function) ignore_retract: bool,
}

/// No value of a field.
const NULL: u32 = u32::MAX;

/// A row put together: of each field the row of the pool that it comes from. `None` is a NULL row.
#[derive(Clone, Debug)]
struct Row {
    /// The row of the pool that has the key.
    key: u32,
    fields: Option<Vec<u32>>,
}

struct Table {
    rows: StructArray,
    tokens: Tokens,
    null_keys: Vec<bool>,
}

impl Table {
    /// A row of the pool as it is.
    fn row(&self, row: u32) -> Row {
        let at = row as usize;
        let field = |column: &ArrayRef| if column.is_valid(at) { row } else { NULL };
        Row {
            key: row,
            fields: self
                .rows
                .is_valid(at)
                .then(|| self.rows.columns().iter().map(field).collect()),
        }
    }
}

impl NestedPartialUpdate {
    /// Java `agg(accumulator, inputField)`.
    fn add(
        &self,
        table: &mut Table,
        accumulator: Option<Vec<Row>>,
        input: Option<Vec<Row>>,
    ) -> Result<Option<Vec<Row>>> {
        let Some(input) = input else {
            return Ok(accumulator);
        };
        table.tokens.clear();
        let mut merged: Vec<Row> = Vec::new();
        for row in accumulator.unwrap_or_default().into_iter().chain(input) {
            let Some(fields) = &row.fields else { continue };
            if !counts(&self.key, &table.null_keys, row.key)? {
                continue;
            }
            let token = table.tokens.of_row(row.key);
            let existing = table.tokens.get(token).and_then(|at| merged.get_mut(at));
            match existing.and_then(|row| row.fields.as_mut()) {
                Some(existing) => {
                    for (old, new) in existing.iter_mut().zip(fields).filter(|(_, new)| **new != NULL) {
                        *old = *new;
                    }
                }
                None => {
                    table.tokens.put(token, merged.len());
                    merged.push(row);
                }
            }
        }
        Ok(Some(merged))
    }
}

impl ColumnFunction for NestedPartialUpdate {
    fn merge(&self, column: &Column<'_>, program: &Program) -> Result<ArrayRef> {
        let pool = Pool::new(column, program)?;
        let (rows, tokens, null_keys) = keyed(column, &pool.elements, &self.key)?;
        let mut table = Table {
            rows,
            tokens,
            null_keys,
        };
        let mut output = ListOutput::new(column, program.len())?;
        let mut lists = pool.lists();
        let mut merged: Vec<Row> = Vec::new();
        for steps in program.keys() {
            if let Some(step) = untouched(steps) {
                output.push_version(column, step);
                continue;
            }
            let mut value: Option<Vec<Row>> = None;
            for step in steps {
                let range = lists.next().flatten();
                let input = range.map(|range| range.map(|row| table.row(row)).collect());
                let name = "nested_partial_update";
                let added = match step.op {
                    Op::Pass | Op::Set => Ok(input),
                    Op::Add => self.add(&mut table, value, input),
                    Op::AddOlder => self.add(&mut table, input, value),
                    Op::Retract | Op::RetractOlder if self.ignore_retract => Ok(value),
                    Op::Retract | Op::RetractOlder => return Err(column.cannot_retract(name)),
                };
                value = added.map_err(|error| error.with("function", name).with("column", column.name))?;
            }
            let Some(value) = value else {
                output.push_elements(None);
                continue;
            };
            let start = merged.len() as u32;
            merged.extend(value);
            let elements: Vec<u32> = (start..merged.len() as u32).collect();
            output.push_elements(Some(&elements));
        }
        let composed = compose(column, &table.rows, &merged)?;
        output.finish(column, &composed)
    }
}

/// The rows as an array.
fn compose(column: &Column<'_>, pool: &StructArray, rows: &[Row]) -> Result<ArrayRef> {
    let mut columns = Vec::with_capacity(pool.num_columns());
    for (index, source) in pool.columns().iter().enumerate() {
        let mut selection = Selection::with_capacity(rows.len());
        for row in rows {
            match row.fields.as_ref().and_then(|fields| fields.get(index)) {
                Some(from) if *from != NULL => selection.push_narrow(0, *from, 1),
                _ => selection.push_null(),
            }
        }
        columns.push(
            selection
                .gather(&[source.as_ref()])
                .map_err(|error| error.with("column", column.name))?,
        );
    }
    let nulls = rows.iter().any(|row| row.fields.is_none()).then(|| {
        let valid: Vec<bool> = rows.iter().map(|row| row.fields.is_some()).collect();
        valid.into()
    });
    let array = StructArray::try_new(pool.fields().clone(), columns, nulls);
    let array = array.map_err(|error| {
        let problem = format!(
            "merged rows of column {} are not of its type: {error}",
            column.name
        );
        Error::invalid(problem)
            .with("column", column.name)
            .with_source(Box::new(error))
    })?;
    Ok(Arc::new(array))
}
