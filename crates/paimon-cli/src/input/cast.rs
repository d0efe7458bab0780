// SPDX-License-Identifier: Apache-2.0

//! Columns of a foreign Arrow schema as columns of a table; values that do not fit are errors.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType as ArrowType, Field, Schema};
use paimon::types::{DataField, Error, Result, to_arrow_field};

/// The columns of `batch` that the table has, cast to the table's types. Columns that the table lacks are an error.
pub(crate) fn to_table_columns(batch: &RecordBatch, fields: &[DataField]) -> Result<RecordBatch> {
    let options = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    let (mut columns, mut targets) = (Vec::new(), Vec::new());
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        let Some(target) = fields.iter().find(|f| f.name == *field.name()) else {
            let known: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
            return Err(Error::invalid(format!(
                "the input has column '{}', which the table has not; the table has: {}",
                field.name(),
                known.join(", ")
            ))
            .with("column", field.name()));
        };
        let target = to_arrow_field(target);
        let cast = match column.data_type() == target.data_type() {
            true => column.clone(),
            false => cast_with_options(column, target.data_type(), &options).map_err(|e| {
                Error::invalid(format!(
                    "the input's {} is not a {}: {e}",
                    column.data_type(),
                    target.data_type()
                ))
                .with("column", field.name())
                .with_source(e)
            })?,
        };
        // Whether NULL is allowed is for the writer to say, with column and row.
        targets.push(target.with_nullable(true));
        columns.push(cast);
    }
    RecordBatch::try_new(Arc::new(Schema::new(targets)), columns)
        .map_err(|e| Error::invalid("the input's columns do not form a batch").with_source(e))
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
