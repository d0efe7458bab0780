// SPDX-License-Identifier: Apache-2.0

//! Arrow rows as JSON text: the `jsonl` form of `paimon scan --output jsonl`, one object a row, keys in schema order.
//!
//! The form is a contract; the logical type decides, not the Arrow type:
//! - TINYINT to BIGINT are numbers. FLOAT and DOUBLE are the shortest number that reads back; `"NaN"`, `"Infinity"` and
//!   `"-Infinity"` are strings. DECIMAL is a string with its scale.
//! - DATE is `"2024-01-31"`, TIME `"10:11:12.123"`, TIMESTAMP `"2024-01-31 10:11:12.123456"` with exactly as many digits
//!   as the precision (TIME at most three), TIMESTAMP_LTZ the same in UTC with `Z` behind it.
//! - Strings are strings, BINARY, BYTES, BLOB and geometries lower-case hex.
//! - ARRAY and VECTOR are arrays, MAP and MULTISET arrays of `[key, value]`, ROW is an object, VARIANT
//!   `{"variant": …}`. NULL is `null`.

use std::fmt::Write as _;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrowPrimitiveType, RecordBatch};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use paimon_types::text::{civil_from_days, decimal_to_string};
use paimon_types::{DataField, DataType, Error, Result, Timestamp, TypeKind, variant_to_json};

/// Writes rows of one schema.
#[derive(Clone, Debug)]
pub struct JsonRows {
    fields: Vec<DataField>,
    keys: Vec<String>,
}

impl JsonRows {
    /// For batches with these columns, in this order.
    ///
    /// # Errors
    /// `InvalidInput` for a name that cannot be written.
    pub fn new(fields: Vec<DataField>) -> Result<Self> {
        let keys = fields
            .iter()
            .map(|field| {
                let mut key = String::new();
                write_string(&mut key, &field.name)?;
                key.push_str(": ");
                Ok(key)
            })
            .collect::<Result<_>>()?;
        Ok(JsonRows { fields, keys })
    }

    /// Appends one row as an object, without a line feed.
    ///
    /// # Errors
    /// `Corrupt` that names the column when an array does not hold its logical type.
    pub fn write_row(&self, out: &mut String, batch: &RecordBatch, row: usize) -> Result<()> {
        out.push('{');
        let columns = self.fields.iter().zip(&self.keys).zip(batch.columns());
        for (index, ((field, key), column)) in columns.enumerate() {
            if index > 0 {
                out.push_str(", ");
            }
            out.push_str(key);
            write_value(out, column, row, &field.data_type).map_err(|e| e.with("column", &field.name))?;
        }
        out.push('}');
        Ok(())
    }

    /// Appends every row of a batch as a line.
    ///
    /// # Errors
    /// As [`JsonRows::write_row`].
    pub fn write_batch(&self, out: &mut String, batch: &RecordBatch) -> Result<()> {
        for row in 0..batch.num_rows() {
            self.write_row(out, batch, row)?;
            out.push('\n');
        }
        Ok(())
    }
}

/// Appends the value of `array` at `row` as JSON.
///
/// # Errors
/// `Corrupt` when the array does not hold `data_type`, or a VARIANT is malformed.
pub fn write_value(out: &mut String, array: &dyn Array, row: usize, data_type: &DataType) -> Result<()> {
    if array.is_null(row) {
        out.push_str("null");
        return Ok(());
    }
    match &data_type.kind {
        TypeKind::Boolean => out.push_str(match array.as_boolean_opt() {
            Some(values) if values.value(row) => "true",
            Some(_) => "false",
            None => return Err(wrong(array, data_type)),
        }),
        TypeKind::TinyInt => integer::<Int8Type>(out, array, row, data_type)?,
        TypeKind::SmallInt => integer::<Int16Type>(out, array, row, data_type)?,
        TypeKind::Int => integer::<Int32Type>(out, array, row, data_type)?,
        TypeKind::BigInt => integer::<Int64Type>(out, array, row, data_type)?,
        TypeKind::Float => {
            let value = primitive::<Float32Type>(array, row, data_type)?;
            float(out, f64::from(value), serde_json::to_string(&value))?;
        }
        TypeKind::Double => {
            let value = primitive::<Float64Type>(array, row, data_type)?;
            float(out, value, serde_json::to_string(&value))?;
        }
        TypeKind::Decimal { scale, .. } => {
            let value = primitive::<Decimal128Type>(array, row, data_type)?;
            let _ = write!(out, "\"{}\"", decimal_to_string(value, *scale));
        }
        TypeKind::Date => {
            let days = primitive::<Date32Type>(array, row, data_type)?;
            out.push('"');
            write_date(out, i64::from(days));
            out.push('"');
        }
        TypeKind::Time(precision) => {
            let millis = primitive::<Time32MillisecondType>(array, row, data_type)?;
            out.push('"');
            write_time(out, i64::from(millis) * 1_000_000, (*precision).min(3));
            out.push('"');
        }
        TypeKind::Timestamp(precision) | TypeKind::TimestampLtz(precision) => {
            let value = timestamp(array, row, data_type)?;
            out.push('"');
            write_timestamp(out, value, *precision);
            out.push_str(if matches!(data_type.kind, TypeKind::TimestampLtz(_)) {
                "Z\""
            } else {
                "\""
            });
        }
        TypeKind::Char(_) | TypeKind::VarChar(_) => {
            let values = array
                .as_string_opt::<i32>()
                .ok_or_else(|| wrong(array, data_type))?;
            write_string(out, values.value(row))?;
        }
        TypeKind::Binary(_)
        | TypeKind::VarBinary(_)
        | TypeKind::Blob
        | TypeKind::Geometry(_)
        | TypeKind::Geography { .. } => {
            out.push('"');
            for byte in bytes(array, row, data_type)? {
                let _ = write!(out, "{byte:02x}");
            }
            out.push('"');
        }
        TypeKind::Variant => {
            let parts = array
                .as_struct_opt()
                .filter(|s| s.num_columns() == 2)
                .ok_or_else(|| wrong(array, data_type))?;
            let bytes_type = DataType::bytes();
            let value = bytes(parts.column(0), row, &bytes_type)?;
            let metadata = bytes(parts.column(1), row, &bytes_type)?;
            let _ = write!(out, "{{\"variant\": {}}}", variant_to_json(value, metadata)?);
        }
        TypeKind::Array(element) => {
            let list = array
                .as_list_opt::<i32>()
                .ok_or_else(|| wrong(array, data_type))?;
            write_list(out, list.value(row).as_ref(), element)?;
        }
        TypeKind::Vector(element, _) => {
            let list = array
                .as_fixed_size_list_opt()
                .ok_or_else(|| wrong(array, data_type))?;
            write_list(out, list.value(row).as_ref(), element)?;
        }
        TypeKind::Map(key, value) => write_map(out, array, row, data_type, key, value)?,
        TypeKind::Multiset(element) => {
            write_map(
                out,
                array,
                row,
                data_type,
                element,
                &DataType::required(TypeKind::Int),
            )?;
        }
        TypeKind::Row(fields) => {
            let rows = array
                .as_struct_opt()
                .filter(|s| s.num_columns() == fields.len())
                .ok_or_else(|| wrong(array, data_type))?;
            out.push('{');
            for (index, (field, column)) in fields.iter().zip(rows.columns()).enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write_string(out, &field.name)?;
                out.push_str(": ");
                write_value(out, column, row, &field.data_type)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

/// Appends `text` as a JSON string.
///
/// # Errors
/// `InvalidInput` when the text cannot be written.
pub fn write_string(out: &mut String, text: &str) -> Result<()> {
    let plain = text
        .bytes()
        .all(|b| b >= 0x20 && b != b'"' && b != b'\\' && b != 0x7f);
    if plain {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        let quoted = serde_json::to_string(text)
            .map_err(|e| Error::invalid("a string cannot be written").with_source(e))?;
        out.push_str(&quoted);
    }
    Ok(())
}

fn write_list(out: &mut String, values: &dyn Array, element: &DataType) -> Result<()> {
    out.push('[');
    for row in 0..values.len() {
        if row > 0 {
            out.push_str(", ");
        }
        write_value(out, values, row, element)?;
    }
    out.push(']');
    Ok(())
}

fn write_map(
    out: &mut String,
    array: &dyn Array,
    row: usize,
    data_type: &DataType,
    key: &DataType,
    value: &DataType,
) -> Result<()> {
    let entries = array
        .as_map_opt()
        .ok_or_else(|| wrong(array, data_type))?
        .value(row);
    let [keys, values] = entries.columns() else {
        return Err(wrong(array, data_type));
    };
    out.push('[');
    for index in 0..entries.len() {
        out.push_str(if index > 0 { ", [" } else { "[" });
        write_value(out, keys, index, key)?;
        out.push_str(", ");
        write_value(out, values, index, value)?;
        out.push(']');
    }
    out.push(']');
    Ok(())
}

fn wrong(array: &dyn Array, data_type: &DataType) -> Error {
    Error::corrupt(format!(
        "an Arrow array of type {} does not hold {data_type}",
        array.data_type()
    ))
}

fn primitive<T: ArrowPrimitiveType>(
    array: &dyn Array,
    row: usize,
    data_type: &DataType,
) -> Result<T::Native> {
    array
        .as_primitive_opt::<T>()
        .map(|a| a.value(row))
        .ok_or_else(|| wrong(array, data_type))
}

fn integer<T: ArrowPrimitiveType>(
    out: &mut String,
    array: &dyn Array,
    row: usize,
    data_type: &DataType,
) -> Result<()>
where
    T::Native: std::fmt::Display,
{
    let _ = write!(out, "{}", primitive::<T>(array, row, data_type)?);
    Ok(())
}

/// A finite number as `text`, the others as strings.
fn float(out: &mut String, value: f64, text: serde_json::Result<String>) -> Result<()> {
    if value.is_finite() {
        out.push_str(&text.map_err(|e| Error::invalid("a number cannot be written").with_source(e))?);
    } else {
        out.push_str(match (value.is_nan(), value > 0.0) {
            (true, _) => "\"NaN\"",
            (false, true) => "\"Infinity\"",
            (false, false) => "\"-Infinity\"",
        });
    }
    Ok(())
}

fn bytes<'a>(array: &'a dyn Array, row: usize, data_type: &DataType) -> Result<&'a [u8]> {
    if let Some(values) = array.as_binary_opt::<i32>() {
        return Ok(values.value(row));
    }
    match array.as_binary_opt::<i64>() {
        Some(values) => Ok(values.value(row)),
        None => Err(wrong(array, data_type)),
    }
}

/// The timestamp at `row` whatever the array's unit.
fn timestamp(array: &dyn Array, row: usize, data_type: &DataType) -> Result<Timestamp> {
    match array.data_type() {
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
            primitive::<TimestampMillisecondType>(array, row, data_type).map(Timestamp::from_millis)
        }
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            primitive::<TimestampMicrosecondType>(array, row, data_type).map(Timestamp::from_micros)
        }
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
            primitive::<TimestampNanosecondType>(array, row, data_type)
                .map(|nanos| Timestamp::from_nanos(i128::from(nanos)))
        }
        _ => Err(wrong(array, data_type)),
    }
}

fn write_date(out: &mut String, days: i64) {
    let (year, month, day) = civil_from_days(days);
    let _ = match year {
        0..=9999 => write!(out, "{year:04}-{month:02}-{day:02}"),
        10_000.. => write!(out, "+{year}-{month:02}-{day:02}"),
        _ => write!(out, "-{:04}-{month:02}-{day:02}", -year),
    };
}

/// `HH:mm:ss` and exactly `digits` digits of the fraction.
fn write_time(out: &mut String, nanos_of_day: i64, digits: u8) {
    let (seconds, nanos) = (
        nanos_of_day.div_euclid(1_000_000_000),
        nanos_of_day.rem_euclid(1_000_000_000),
    );
    let _ = write!(
        out,
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    );
    if digits > 0 {
        let fraction = format!("{nanos:09}");
        out.push('.');
        out.push_str(fraction.get(..usize::from(digits.min(9))).unwrap_or_default());
    }
}

/// Appends `yyyy-MM-dd HH:mm:ss` and exactly `digits` (0–9) digits of the fraction, without quotes.
pub fn write_timestamp(out: &mut String, value: Timestamp, digits: u8) {
    const DAY: i64 = 86_400_000;
    write_date(out, value.millis.div_euclid(DAY));
    out.push(' ');
    write_time(
        out,
        value.millis.rem_euclid(DAY) * 1_000_000 + i64::from(value.nanos_of_milli),
        digits,
    );
}
