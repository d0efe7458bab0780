// SPDX-License-Identifier: Apache-2.0

//! Kinds of the rows of a batch and which rows a table ignores (Java `RowKindGenerator`, `RowKindFilter`; `semantics.md` 1.5).

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{Array, BooleanArray, Int8Array, RecordBatch, RecordBatchOptions, make_array};
use arrow_schema::{DataType as ArrowType, Field, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use paimon_types::{CoreOptions, Error, Result, RowKind, TableSchema, TypeKind, to_arrow_schema};

use crate::read::key_value::{KIND, is_retract};

/// Finds the kinds of rows and puts them behind the columns of the table.
#[derive(Debug)]
pub(crate) struct KindColumn {
    /// Place of option `rowkind.field` among the columns of the table, and its name.
    field: Option<(usize, String)>,
    ignore_delete: bool,
    ignore_update_before: bool,
    /// Columns of the table and the kind.
    schema: SchemaRef,
}

impl KindColumn {
    /// What the options say about kinds.
    ///
    /// # Errors
    /// `InvalidInput` when `rowkind.field` is not a text column.
    pub(crate) fn new(schema: &TableSchema, options: &CoreOptions) -> Result<Self> {
        let field = match &options.rowkind_field {
            None => None,
            Some(name) => {
                let found = schema
                    .fields
                    .iter()
                    .enumerate()
                    .find(|(_, field)| field.name == *name);
                let fail = |problem: String| Err(Error::invalid(problem).with("option", "rowkind.field"));
                match found {
                    None => return fail(format!("rowkind.field '{name}' is not a column of the table")),
                    Some((_, field))
                        if !matches!(field.data_type.kind, TypeKind::Char(_) | TypeKind::VarChar(_)) =>
                    {
                        return fail(format!(
                            "rowkind.field '{name}' has type {}, expected STRING",
                            field.data_type
                        ));
                    }
                    Some((place, _)) => Some((place, name.clone())),
                }
            }
        };
        let table = to_arrow_schema(&schema.fields);
        let mut columns: Vec<_> = table.fields().iter().cloned().collect();
        columns.push(Arc::new(Field::new(KIND, ArrowType::Int8, false)));
        Ok(KindColumn {
            field,
            ignore_delete: options.ignore_delete,
            ignore_update_before: options.ignore_update_before,
            schema: Arc::new(Schema::new(columns)),
        })
    }

    /// Takes the kinds out of a batch of the caller: the other columns, and the kinds when there are some.
    ///
    /// # Errors
    /// `InvalidInput` that names the column and the row when `_VALUE_KIND` is no column of kinds, or when the table has
    /// `rowkind.field` too.
    pub(crate) fn split(&self, batch: &RecordBatch) -> Result<(RecordBatch, Option<Int8Array>)> {
        let Ok(place) = batch.schema_ref().index_of(KIND) else {
            return Ok((batch.clone(), None));
        };
        let fail = |problem: String| Error::invalid(problem).with("column", KIND);
        if let Some((_, name)) = &self.field {
            return Err(fail(format!(
                "the batch tells kinds of rows, but option rowkind.field says that column '{name}' does"
            )));
        }
        let column = batch.column(place);
        let kinds = column.as_primitive_opt::<Int8Type>().ok_or_else(|| {
            fail(format!(
                "the kinds of rows have Arrow type {}, expected Int8",
                column.data_type()
            ))
        })?;
        for (row, kind) in kinds.iter().enumerate() {
            let kind =
                kind.ok_or_else(|| fail(format!("NULL in row {row} of the batch")).with("row", row))?;
            RowKind::from_byte(kind).map_err(|e| fail(e.message().to_owned()).with("row", row))?;
        }
        let others: Vec<usize> = (0..batch.num_columns()).filter(|at| *at != place).collect();
        let rest = batch
            .project(&others)
            .map_err(|e| Error::invalid("the kinds of rows cannot be taken out").with_source(e))?;
        Ok((rest, Some(kinds.clone())))
    }

    /// The rows that are written: those of `rows` (columns of the table) that are not ignored, each with its kind. Rows
    /// without a kind are added ones.
    ///
    /// # Errors
    /// `InvalidInput` that names the column and the row when `rowkind.field` holds NULL or another text than a kind.
    pub(crate) fn attach(&self, rows: RecordBatch, kinds: Option<Int8Array>) -> Result<RecordBatch> {
        let kinds = match &self.field {
            Some((place, name)) => self.of_field(&rows, *place, name)?,
            None => {
                kinds.unwrap_or_else(|| Int8Array::from(vec![RowKind::Insert.to_byte(); rows.num_rows()]))
            }
        };
        let ignored = |kind: i8| {
            (self.ignore_delete && is_retract(kind))
                || (self.ignore_update_before && kind == RowKind::UpdateBefore.to_byte())
        };
        let any_ignored = (self.ignore_delete || self.ignore_update_before)
            && kinds.values().iter().any(|kind| ignored(*kind));
        let kept: Option<BooleanArray> =
            any_ignored.then(|| kinds.values().iter().map(|kind| Some(!ignored(*kind))).collect());
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        let mut columns = rows.columns().to_vec();
        columns.push(make_array(kinds.into()));
        let fail = |e: arrow_schema::ArrowError| {
            Error::invalid("the kinds of rows do not fit the batch").with_source(e)
        };
        let batch =
            RecordBatch::try_new_with_options(self.schema.clone(), columns, &options).map_err(fail)?;
        match kept {
            None => Ok(batch),
            Some(kept) => filter_record_batch(&batch, &kept).map_err(fail),
        }
    }

    fn of_field(&self, rows: &RecordBatch, place: usize, name: &str) -> Result<Int8Array> {
        let fail = |problem: String, row: usize| {
            Error::invalid(problem)
                .with("column", name)
                .with("row", row)
                .with("option", "rowkind.field")
        };
        let texts = rows
            .columns()
            .get(place)
            .and_then(|column| column.as_string_opt::<i32>())
            .ok_or_else(|| Error::invalid("the column of row kinds is not text").with("column", name))?;
        let kinds = texts.iter().enumerate().map(|(row, text)| {
            let text =
                text.ok_or_else(|| fail(format!("the row kind is NULL in row {row} of the batch"), row))?;
            let kind = RowKind::parse(text).map_err(|e| fail(e.message().to_owned(), row))?;
            Ok(kind.to_byte())
        });
        Ok(Int8Array::from(kinds.collect::<Result<Vec<i8>>>()?))
    }
}
