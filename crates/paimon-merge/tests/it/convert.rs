// SPDX-License-Identifier: Apache-2.0

//! Rows of [`Datum`] to Arrow and back.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::*;
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::DataType as ArrowType;
use paimon_types::{DataField, DataType, Datum, Timestamp, TypeKind, to_arrow_field, to_arrow_schema};

/// A row, NULL as `None`.
pub type Row = Vec<Option<Datum>>;

/// The rows as a batch of these columns.
pub fn batch(fields: &[DataField], rows: &[Row]) -> RecordBatch {
    let columns: Vec<ArrayRef> = fields
        .iter()
        .enumerate()
        .map(|(index, field)| {
            let values: Vec<Option<Datum>> = rows.iter().map(|row| row[index].clone()).collect();
            array(field, &values)
        })
        .collect();
    // Columns may be NULL where the table says NOT NULL: that is one of the things to be tested.
    let schema = to_arrow_schema(fields);
    let open = schema
        .fields()
        .iter()
        .map(|field| field.as_ref().clone().with_nullable(true))
        .collect::<Vec<_>>();
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(Arc::new(arrow_schema::Schema::new(open)), columns, &options).unwrap()
}

/// The values as an array of the column's type.
pub fn array(field: &DataField, values: &[Option<Datum>]) -> ArrayRef {
    let arrow = to_arrow_field(field);
    build(arrow.data_type(), &field.data_type, values)
}

macro_rules! primitive {
    ($type:ty, $values:expr, $pattern:pat => $value:expr) => {
        Arc::new(
            $values
                .iter()
                .map(|value| {
                    value.as_ref().map(|value| match value {
                        $pattern => $value,
                        other => panic!("unexpected {other:?}"),
                    })
                })
                .collect::<PrimitiveArray<$type>>(),
        ) as ArrayRef
    };
}

fn build(arrow: &ArrowType, data_type: &DataType, values: &[Option<Datum>]) -> ArrayRef {
    let nulls = || NullBuffer::from(values.iter().map(Option::is_some).collect::<Vec<_>>());
    match &data_type.kind {
        TypeKind::Boolean => Arc::new(
            values
                .iter()
                .map(|value| value.as_ref().map(|value| matches!(value, Datum::Boolean(true))))
                .collect::<BooleanArray>(),
        ),
        TypeKind::TinyInt => primitive!(Int8Type, values, Datum::TinyInt(v) => *v),
        TypeKind::SmallInt => primitive!(Int16Type, values, Datum::SmallInt(v) => *v),
        TypeKind::Int => primitive!(Int32Type, values, Datum::Int(v) => *v),
        TypeKind::BigInt => primitive!(Int64Type, values, Datum::BigInt(v) => *v),
        TypeKind::Float => primitive!(Float32Type, values, Datum::Float(v) => *v),
        TypeKind::Double => primitive!(Float64Type, values, Datum::Double(v) => *v),
        TypeKind::Date => primitive!(Date32Type, values, Datum::Date(v) => *v),
        TypeKind::Time(_) => primitive!(Time32MillisecondType, values, Datum::Time(v) => *v),
        TypeKind::Timestamp(p) | TypeKind::TimestampLtz(p) => {
            let array = match p {
                0..=3 => primitive!(TimestampMillisecondType, values, Datum::Timestamp(v) => v.millis),
                4..=6 => {
                    primitive!(TimestampMicrosecondType, values, Datum::Timestamp(v) => v.to_micros().unwrap())
                }
                _ => {
                    primitive!(TimestampNanosecondType, values, Datum::Timestamp(v) => v.to_nanos().unwrap())
                }
            };
            arrow_array::make_array(
                array
                    .to_data()
                    .into_builder()
                    .data_type(arrow.clone())
                    .build()
                    .unwrap(),
            )
        }
        TypeKind::Decimal { precision, scale } => {
            let array = values.iter().map(|value| {
                value.as_ref().map(|value| match value {
                    Datum::Decimal { unscaled, .. } => *unscaled,
                    other => panic!("unexpected {other:?}"),
                })
            });
            let array = array.collect::<Decimal128Array>();
            Arc::new(array.with_precision_and_scale(*precision, *scale as i8).unwrap())
        }
        TypeKind::Char(_) | TypeKind::VarChar(_) => {
            let mut builder = StringBuilder::new();
            for value in values {
                match value {
                    Some(Datum::String(text)) => builder.append_value(text),
                    None => builder.append_null(),
                    other => panic!("unexpected {other:?}"),
                }
            }
            Arc::new(builder.finish())
        }
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => {
            let mut builder = BinaryBuilder::new();
            for value in values {
                match value {
                    Some(Datum::Bytes(bytes)) => builder.append_value(bytes),
                    None => builder.append_null(),
                    other => panic!("unexpected {other:?}"),
                }
            }
            Arc::new(builder.finish())
        }
        TypeKind::Array(element) => {
            let ArrowType::List(field) = arrow else {
                panic!("{arrow}")
            };
            let (mut lengths, mut elements) = (Vec::new(), Vec::new());
            for value in values {
                let list: &[Option<Datum>] = match value {
                    Some(Datum::Array(list)) => list,
                    _ => &[],
                };
                lengths.push(list.len());
                elements.extend_from_slice(list);
            }
            let elements = build(field.data_type(), element, &elements);
            let offsets = OffsetBuffer::from_lengths(lengths);
            Arc::new(ListArray::new(field.clone(), offsets, elements, Some(nulls())))
        }
        TypeKind::Map(key, value_type) => {
            let ArrowType::Map(entries, ordered) = arrow else {
                panic!("{arrow}")
            };
            let ArrowType::Struct(parts) = entries.data_type() else {
                panic!("{arrow}")
            };
            let (mut lengths, mut keys, mut of_keys) = (Vec::new(), Vec::new(), Vec::new());
            for value in values {
                let list: &[(Option<Datum>, Option<Datum>)] = match value {
                    Some(Datum::Map(list)) => list,
                    _ => &[],
                };
                lengths.push(list.len());
                keys.extend(list.iter().map(|(key, _)| key.clone()));
                of_keys.extend(list.iter().map(|(_, value)| value.clone()));
            }
            let columns = vec![
                build(parts[0].data_type(), key, &keys),
                build(parts[1].data_type(), value_type, &of_keys),
            ];
            let content = StructArray::new(parts.clone(), columns, None);
            let offsets = OffsetBuffer::from_lengths(lengths);
            Arc::new(MapArray::new(
                entries.clone(),
                offsets,
                content,
                Some(nulls()),
                *ordered,
            ))
        }
        TypeKind::Row(fields) => {
            let ArrowType::Struct(parts) = arrow else {
                panic!("{arrow}")
            };
            let columns = fields.iter().enumerate().map(|(index, field)| {
                let of_field: Vec<Option<Datum>> = values
                    .iter()
                    .map(|value| match value {
                        Some(Datum::Row(row)) => row[index].clone(),
                        _ => None,
                    })
                    .collect();
                array(field, &of_field)
            });
            Arc::new(StructArray::new(parts.clone(), columns.collect(), Some(nulls())))
        }
        other => panic!("no test values of {other}"),
    }
}

/// One value.
pub fn value(array: &dyn Array, row: usize, data_type: &DataType) -> Option<Datum> {
    if array.is_null(row) {
        return None;
    }
    Some(match &data_type.kind {
        TypeKind::Boolean => Datum::Boolean(array.as_boolean().value(row)),
        TypeKind::TinyInt => Datum::TinyInt(array.as_primitive::<Int8Type>().value(row)),
        TypeKind::SmallInt => Datum::SmallInt(array.as_primitive::<Int16Type>().value(row)),
        TypeKind::Int => Datum::Int(array.as_primitive::<Int32Type>().value(row)),
        TypeKind::BigInt => Datum::BigInt(array.as_primitive::<Int64Type>().value(row)),
        TypeKind::Float => Datum::Float(array.as_primitive::<Float32Type>().value(row)),
        TypeKind::Double => Datum::Double(array.as_primitive::<Float64Type>().value(row)),
        TypeKind::Date => Datum::Date(array.as_primitive::<Date32Type>().value(row)),
        TypeKind::Time(_) => Datum::Time(array.as_primitive::<Time32MillisecondType>().value(row)),
        TypeKind::Timestamp(p) | TypeKind::TimestampLtz(p) => Datum::Timestamp(match p {
            0..=3 => Timestamp::from_millis(array.as_primitive::<TimestampMillisecondType>().value(row)),
            4..=6 => Timestamp::from_micros(array.as_primitive::<TimestampMicrosecondType>().value(row)),
            _ => Timestamp::from_nanos(i128::from(
                array.as_primitive::<TimestampNanosecondType>().value(row),
            )),
        }),
        TypeKind::Decimal { scale, .. } => Datum::Decimal {
            unscaled: array.as_primitive::<Decimal128Type>().value(row),
            scale: *scale,
        },
        TypeKind::Char(_) | TypeKind::VarChar(_) => {
            Datum::String(array.as_string::<i32>().value(row).to_owned())
        }
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => {
            Datum::Bytes(array.as_binary::<i32>().value(row).to_vec())
        }
        TypeKind::Array(element) => {
            let list = array.as_list::<i32>().value(row);
            Datum::Array((0..list.len()).map(|row| value(&list, row, element)).collect())
        }
        TypeKind::Map(key, of_key) => {
            let entries = array.as_map().value(row);
            let entry = |row| {
                (
                    value(entries.column(0), row, key),
                    value(entries.column(1), row, of_key),
                )
            };
            Datum::Map((0..entries.len()).map(entry).collect())
        }
        TypeKind::Row(fields) => {
            let columns = array.as_struct().columns();
            let field = |(column, field): (&ArrayRef, &DataField)| value(column, row, &field.data_type);
            Datum::Row(columns.iter().zip(fields).map(field).collect())
        }
        other => panic!("no test values of {other}"),
    })
}
