// SPDX-License-Identifier: Apache-2.0

//! Columns of a foreign Arrow schema as columns of a table; values that do not fit are errors.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::{CastOptions, cast, cast_with_options};
use arrow_ord::cmp::not_distinct;
use arrow_schema::{DataType as ArrowType, Field, Schema};
use paimon::types::{DataType, Error, Result, TypeKind, to_arrow_field};

use super::text::{check_bytes, check_chars};
use super::{Places, Rows, Target, check_given};

/// The columns of `batch`, cast to the table's types. Columns that the table lacks are an error.
pub(super) fn to_rows(batch: &RecordBatch, target: &Target, places: Places) -> Result<Rows> {
    let options = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    let place = Rows {
        batch: batch.clone(),
        places,
    };
    let (mut columns, mut fields) = (Vec::new(), Vec::new());
    for (foreign, column) in batch.schema().fields().iter().zip(batch.columns()) {
        let Some(field) = target.fields.iter().find(|f| f.name == *foreign.name()) else {
            let known: Vec<&str> = target.fields.iter().map(|f| f.name.as_str()).collect();
            return Err(Error::invalid(format!(
                "the input has column '{}', which the table has not; the table has: {}",
                foreign.name(),
                known.join(", ")
            ))
            .with("column", foreign.name()));
        };
        let wanted = to_arrow_field(field);
        let converted = match column.data_type() == wanted.data_type() {
            true => column.clone(),
            false => cast_with_options(column, wanted.data_type(), &options).map_err(|e| {
                Error::invalid(format!(
                    "the input's {} is not a {}: {e}",
                    column.data_type(),
                    wanted.data_type()
                ))
                .with("column", foreign.name())
                .with_source(e)
            })?,
        };
        check_exact(column, &converted)
            .and_then(|()| check_lengths(&converted, &field.data_type))
            .and_then(|()| check_given(target, field, &converted, |_| true))
            .map_err(|(row, err)| {
                let named = err.context().any(|(key, _)| key == "column");
                place.at(
                    if named {
                        err
                    } else {
                        err.with("column", &field.name)
                    },
                    row,
                )
            })
            .map(|given| {
                if !given {
                    // Whether NULL is allowed is for the writer to say, with column and row.
                    fields.push(wanted.with_nullable(true));
                    columns.push(converted);
                }
            })?;
    }
    if columns.is_empty() {
        return Err(Error::invalid(
            "the file has no columns besides those that --partition gives",
        ));
    }
    Rows::new(Schema::new(fields), columns, place.places)
}

/// Refuses numbers and times that the cast changed: 1.5 as INT, a finer timestamp, a decimal of more digits. A float may lose
/// precision against another float or a decimal, as everywhere. An error comes with its row.
fn check_exact(from: &ArrayRef, to: &ArrayRef) -> Result<(), (usize, Error)> {
    let comparable = |t: &ArrowType| t.is_numeric() || t.is_temporal();
    let rounds = to.data_type().is_floating()
        && (from.data_type().is_floating() || matches!(from.data_type(), ArrowType::Decimal128(_, _)));
    if from.data_type() == to.data_type()
        || rounds
        || !(comparable(from.data_type()) && comparable(to.data_type()))
    {
        return Ok(());
    }
    let failed = |e: arrow_schema::ArrowError| {
        (
            usize::MAX,
            Error::invalid("a cast of the input cannot be checked").with_source(e),
        )
    };
    let back = cast(to, from.data_type()).map_err(failed)?;
    let same = not_distinct(from, &back).map_err(failed)?;
    match (0..same.len()).find(|row| !same.value(*row)) {
        None => Ok(()),
        Some(row) => {
            let value = arrow_cast::display::array_value_to_string(from, row).unwrap_or_default();
            let message = format!(
                "{value} ({}) is no {} without a change",
                from.data_type(),
                to.data_type()
            );
            Err((row, Error::invalid(message)))
        }
    }
}

/// Refuses texts and bytes of a column that are longer than its type; an error comes with its row. Text and bytes inside of nested types
/// are checked element by element, and only the column is named.
fn check_lengths(array: &dyn Array, data_type: &DataType) -> Result<(), (usize, Error)> {
    let inside = |array: &dyn Array, data_type: &DataType| {
        check_lengths(array, data_type).map_err(|(_, e)| (usize::MAX, e))
    };
    match &data_type.kind {
        TypeKind::Char(_) | TypeKind::VarChar(_) => {
            for (row, text) in array.as_string_opt::<i32>().into_iter().flatten().enumerate() {
                text.map_or(Ok(()), |t| check_chars(t, data_type))
                    .map_err(|e| (row, e))?;
            }
            Ok(())
        }
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => {
            for (row, bytes) in array.as_binary_opt::<i32>().into_iter().flatten().enumerate() {
                bytes
                    .map_or(Ok(()), |b| check_bytes(b, data_type))
                    .map_err(|e| (row, e))?;
            }
            Ok(())
        }
        TypeKind::Array(element) => match array.as_list_opt::<i32>() {
            Some(list) => inside(list.values(), element),
            None => Ok(()),
        },
        TypeKind::Map(key, value) => match array.as_map_opt() {
            Some(map) => inside(map.keys(), key).and_then(|()| inside(map.values(), value)),
            None => Ok(()),
        },
        TypeKind::Multiset(element) => match array.as_map_opt() {
            Some(map) => inside(map.keys(), element),
            None => Ok(()),
        },
        TypeKind::Row(fields) => match array.as_struct_opt() {
            Some(rows) => fields
                .iter()
                .zip(rows.columns())
                .try_for_each(|(field, column)| check_lengths(column, &field.data_type)),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

/// The schema with types that a table can have: no dictionaries, views or large offsets.
pub(crate) fn plain_schema(schema: &Schema) -> Schema {
    Schema::new(
        schema
            .fields()
            .iter()
            .map(|f| plain_field(f))
            .collect::<Vec<Field>>(),
    )
}

fn plain_field(field: &Field) -> Field {
    field.clone().with_data_type(plain_type(field.data_type()))
}

fn plain_type(data_type: &ArrowType) -> ArrowType {
    match data_type {
        ArrowType::LargeUtf8 | ArrowType::Utf8View => ArrowType::Utf8,
        ArrowType::LargeBinary | ArrowType::BinaryView | ArrowType::FixedSizeBinary(_) => ArrowType::Binary,
        ArrowType::Dictionary(_, value) => plain_type(value),
        ArrowType::RunEndEncoded(_, value) => plain_type(value.data_type()),
        ArrowType::UInt8 => ArrowType::Int16,
        ArrowType::UInt16 => ArrowType::Int32,
        ArrowType::UInt32 => ArrowType::Int64,
        ArrowType::UInt64 => ArrowType::Decimal128(20, 0),
        ArrowType::Float16 => ArrowType::Float32,
        ArrowType::Date64 => ArrowType::Date32,
        ArrowType::Time32(_) | ArrowType::Time64(_) => ArrowType::Time32(arrow_schema::TimeUnit::Millisecond),
        ArrowType::List(f) | ArrowType::LargeList(f) | ArrowType::ListView(f) => {
            ArrowType::List(Arc::new(plain_field(f)))
        }
        ArrowType::FixedSizeList(f, n) => ArrowType::FixedSizeList(Arc::new(plain_field(f)), *n),
        ArrowType::Struct(fields) => ArrowType::Struct(fields.iter().map(|f| plain_field(f)).collect()),
        ArrowType::Map(entries, sorted) => ArrowType::Map(Arc::new(plain_field(entries)), *sorted),
        other => other.clone(),
    }
}
