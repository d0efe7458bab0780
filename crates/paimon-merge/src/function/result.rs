// SPDX-License-Identifier: Apache-2.0

//! What the engines with one function a column share.

use arrow_array::{Array, ArrayRef, RecordBatch};
use paimon_types::{Error, Result, RowKind};

use super::column::{Column, ColumnFunction};
use super::program::{Op, Program};

/// A column and its function.
#[derive(Debug)]
pub(super) struct FunctionColumn {
    pub(super) name: String,
    pub(super) nullable: bool,
    pub(super) function: Box<dyn ColumnFunction>,
    /// Index of the program that the column follows.
    pub(super) program: usize,
}

/// Runs every column. A NOT NULL column that became NULL in a row that is not a retraction is an error: nothing could hold it.
pub(super) fn merge_columns(
    sources: &[RecordBatch],
    columns: &[FunctionColumn],
    programs: &[Program],
    kinds: &[RowKind],
) -> Result<Vec<ArrayRef>> {
    check_width(sources, columns)?;
    let merged = columns.iter().enumerate().map(|(index, spec)| {
        let column = Column::of(sources, index, &spec.name)?;
        let program = programs.get(spec.program).ok_or_else(|| column.not_for("rule"))?;
        let last = match spec.function.adds_last() && !column.has_nulls() {
            true => program.last_versions(),
            false => None,
        };
        let array = match last {
            Some(versions) => column.gather(versions)?,
            None => spec.function.merge(&column, program)?,
        };
        if !spec.nullable && array.null_count() > 0 {
            let lost = |(row, kind): (usize, &RowKind)| !kind.is_retract() && array.is_null(row);
            if kinds.iter().enumerate().any(lost) {
                return Err(null_in_required(&spec.name));
            }
        }
        Ok(array)
    });
    merged.collect()
}

fn check_width(sources: &[RecordBatch], columns: &[FunctionColumn]) -> Result<()> {
    match sources.iter().find(|batch| batch.num_columns() != columns.len()) {
        None => Ok(()),
        Some(batch) => Err(Error::corrupt(format!(
            "a batch has {} columns, the merge function was made for {}",
            batch.num_columns(),
            columns.len()
        ))),
    }
}

fn null_in_required(column: &str) -> Error {
    Error::invalid(format!(
        "column {column} is NOT NULL, but merging its versions gives NULL"
    ))
    .with("column", column)
}

/// A row that starts again with a version, or (`additions`) takes any addition, may not have NULL in a NOT NULL column
/// (Java `initRow`, `updateNonNullFields`).
pub(super) fn check_set_rows(
    sources: &[RecordBatch],
    columns: &[FunctionColumn],
    program: &Program,
    additions: bool,
) -> Result<()> {
    check_width(sources, columns)?;
    for (index, spec) in columns.iter().enumerate().filter(|(_, spec)| !spec.nullable) {
        let column = Column::of(sources, index, &spec.name)?;
        if !column.has_nulls() {
            continue;
        }
        let looks = |op: Op| op == Op::Set || (additions && op == Op::Add);
        if program
            .steps()
            .iter()
            .any(|step| looks(step.op) && !column.is_valid(step))
        {
            let name = &spec.name;
            let problem =
                format!("column {name} is NOT NULL, but a version that starts its row again has NULL");
            return Err(Error::invalid(problem).with("column", name));
        }
    }
    Ok(())
}
