// SPDX-License-Identifier: Apache-2.0

//! Rows as the expected files of the Java tables have them.

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use paimon_types::{DataField, DataType, Datum, Timestamp, TypeKind, datum_to_string, variant_to_json};
use serde_json::{Map, Number, Value};

pub(crate) fn rows(fields: &[DataField], batches: &[RecordBatch]) -> Vec<Value> {
    let mut rows = Vec::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            let mut object = Map::new();
            for (field, column) in fields.iter().zip(batch.columns()) {
                object.insert(field.name.clone(), value(&field.data_type, column, row));
            }
            rows.push(Value::Object(object));
        }
    }
    rows
}

fn value(data_type: &DataType, array: &ArrayRef, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    let text = |datum: Datum| Value::String(datum_to_string(&datum, data_type));
    let items = |element: &DataType, values: ArrayRef| {
        Value::Array((0..values.len()).map(|i| value(element, &values, i)).collect())
    };
    let entries = |key: &DataType, val: &DataType| {
        let entries = array.as_map().value(row);
        let (keys, values) = (entries.column(0), entries.column(1));
        let entry = |i| Value::Array(vec![value(key, keys, i), value(val, values, i)]);
        Value::Array((0..entries.len()).map(entry).collect())
    };
    match &data_type.kind {
        TypeKind::Boolean => Value::Bool(array.as_boolean().value(row)),
        TypeKind::TinyInt => array.as_primitive::<Int8Type>().value(row).into(),
        TypeKind::SmallInt => array.as_primitive::<Int16Type>().value(row).into(),
        TypeKind::Int => array.as_primitive::<Int32Type>().value(row).into(),
        TypeKind::BigInt => array.as_primitive::<Int64Type>().value(row).into(),
        TypeKind::Float => float(array.as_primitive::<Float32Type>().value(row).to_string()),
        TypeKind::Double => float(array.as_primitive::<Float64Type>().value(row).to_string()),
        TypeKind::Char(_) | TypeKind::VarChar(_) => array.as_string::<i32>().value(row).into(),
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => array
            .as_binary::<i32>()
            .value(row)
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect::<String>()
            .into(),
        TypeKind::Decimal { scale, .. } => text(Datum::Decimal {
            unscaled: array.as_primitive::<Decimal128Type>().value(row),
            scale: *scale,
        }),
        TypeKind::Date => text(Datum::Date(array.as_primitive::<Date32Type>().value(row))),
        TypeKind::Time(p) => {
            let millis = array.as_primitive::<Time32MillisecondType>().value(row);
            let (seconds, fraction) = (millis / 1000, format!("{:03}", millis % 1000));
            let digits = usize::from(*p).min(3);
            let dot = if digits > 0 { "." } else { "" };
            let (h, m, s) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
            format!("{h:02}:{m:02}:{s:02}{dot}{}", &fraction[..digits]).into()
        }
        TypeKind::Timestamp(_) => text(Datum::Timestamp(timestamp(array, row))),
        TypeKind::TimestampLtz(p) => {
            let plain = DataType::new(TypeKind::Timestamp(*p));
            format!(
                "{}Z",
                datum_to_string(&Datum::Timestamp(timestamp(array, row)), &plain)
            )
            .into()
        }
        TypeKind::Array(element) => items(element, array.as_list::<i32>().value(row)),
        TypeKind::Vector(element, _) => items(element, array.as_fixed_size_list().value(row)),
        TypeKind::Map(key, val) => entries(key, val),
        TypeKind::Multiset(element) => entries(element, &DataType::required(TypeKind::Int)),
        TypeKind::Row(fields) => {
            let rows = array.as_struct();
            let children = fields.iter().zip(rows.columns());
            Value::Object(
                children
                    .map(|(f, c)| (f.name.clone(), value(&f.data_type, c, row)))
                    .collect(),
            )
        }
        TypeKind::Variant => {
            let rows = array.as_struct();
            let part = |i: usize| rows.column(i).as_binary::<i32>().value(row).to_vec();
            let json = variant_to_json(&part(0), &part(1)).unwrap();
            Value::Object(
                [("variant".to_string(), serde_json::from_str(&json).unwrap())]
                    .into_iter()
                    .collect(),
            )
        }
        other => panic!("{other:?}"),
    }
}

fn float(text: String) -> Value {
    match text.as_str() {
        "NaN" => "NaN".into(),
        "inf" => "Infinity".into(),
        "-inf" => "-Infinity".into(),
        _ => Value::Number(Number::from_f64(text.parse().unwrap()).unwrap()),
    }
}

fn timestamp(array: &ArrayRef, row: usize) -> Timestamp {
    match array.data_type() {
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
            Timestamp::from_millis(array.as_primitive::<TimestampMillisecondType>().value(row))
        }
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            Timestamp::from_micros(array.as_primitive::<TimestampMicrosecondType>().value(row))
        }
        _ => Timestamp::from_nanos(array.as_primitive::<TimestampNanosecondType>().value(row).into()),
    }
}
