// SPDX-License-Identifier: Apache-2.0

//! Values as lines of text, the same for every reader of a file.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType as ArrowType, TimeUnit};

/// One line a row, columns divided by `|`.
pub(super) fn dump(batch: &RecordBatch) -> String {
    let mut text = String::new();
    for row in 0..batch.num_rows() {
        for column in batch.columns() {
            value(column, row, &mut text);
            text.push('|');
        }
        text.push('\n');
    }
    text
}

fn hex(bytes: &[u8], text: &mut String) {
    text.push('x');
    for byte in bytes {
        write!(text, "{byte:02x}").unwrap();
    }
}

fn time(value: i64, per_second: i64, text: &mut String) {
    let nanos = value.rem_euclid(per_second) * (1_000_000_000 / per_second);
    write!(text, "{}.{nanos:09}", value.div_euclid(per_second)).unwrap();
}

fn items(array: &ArrayRef, text: &mut String) {
    for item in 0..array.len() {
        value(array, item, text);
        text.push(',');
    }
}

fn value(array: &ArrayRef, row: usize, text: &mut String) {
    if array.is_null(row) {
        text.push('~');
        return;
    }
    macro_rules! number {
        ($ty:ty) => {
            write!(text, "{}", array.as_primitive::<$ty>().value(row)).unwrap()
        };
    }
    match array.data_type() {
        ArrowType::Boolean => write!(text, "{}", array.as_boolean().value(row)).unwrap(),
        ArrowType::Int8 => number!(Int8Type),
        ArrowType::Int16 => number!(Int16Type),
        ArrowType::Int32 => number!(Int32Type),
        ArrowType::Int64 => number!(Int64Type),
        ArrowType::Date32 => number!(Date32Type),
        ArrowType::Time32(_) => number!(Time32MillisecondType),
        ArrowType::Decimal128(..) => number!(Decimal128Type),
        ArrowType::Float32 => {
            let bits = array.as_primitive::<Float32Type>().value(row).to_bits();
            write!(text, "f{bits:08x}").unwrap();
        }
        ArrowType::Float64 => {
            let bits = array.as_primitive::<Float64Type>().value(row).to_bits();
            write!(text, "d{bits:016x}").unwrap();
        }
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
            time(
                array.as_primitive::<TimestampMillisecondType>().value(row),
                1000,
                text,
            );
        }
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            time(
                array.as_primitive::<TimestampMicrosecondType>().value(row),
                1_000_000,
                text,
            );
        }
        ArrowType::Timestamp(..) => {
            time(
                array.as_primitive::<TimestampNanosecondType>().value(row),
                1_000_000_000,
                text,
            );
        }
        ArrowType::Utf8 => hex(array.as_string::<i32>().value(row).as_bytes(), text),
        ArrowType::Binary => hex(array.as_binary::<i32>().value(row), text),
        ArrowType::LargeBinary => hex(array.as_binary::<i64>().value(row), text),
        ArrowType::List(_) => {
            text.push('[');
            items(&array.as_list::<i32>().value(row), text);
            text.push(']');
        }
        ArrowType::Map(..) => {
            let entries = array.as_map().value(row);
            text.push('{');
            for item in 0..entries.len() {
                value(entries.column(0), item, text);
                text.push(':');
                value(entries.column(1), item, text);
                text.push(',');
            }
            text.push('}');
        }
        ArrowType::Struct(_) => {
            text.push('(');
            for column in array.as_struct().columns() {
                value(column, row, text);
                text.push(',');
            }
            text.push(')');
        }
        other => panic!("no text of {other}"),
    }
}
