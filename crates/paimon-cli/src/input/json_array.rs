// SPDX-License-Identifier: Apache-2.0

//! Arrow arrays from JSON values or from single typed values.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, BooleanBuilder, LargeBinaryBuilder, StringBuilder};
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, FixedSizeListArray, ListArray, MapArray, PrimitiveArray, StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use paimon::types::{DataField, DataType, Datum, Error, Result, TypeKind, arrow_type, datum_from_string};
use serde_json::Value;

/// An array of a type from JSON values; `None` and null are NULL.
pub(super) fn build(values: &[Option<&Value>], data_type: &DataType) -> Result<ArrayRef> {
    let arrow = arrow_type(data_type);
    let present: Vec<Option<&Value>> = values.iter().map(|v| v.filter(|v| !v.is_null())).collect();
    let nulls =
        || Some(NullBuffer::from_iter(present.iter().map(Option::is_some))).filter(|n| n.null_count() > 0);
    let failed = |e: arrow_schema::ArrowError| {
        Error::invalid(format!("values are not {data_type}: {e}")).with_source(e)
    };
    match (&data_type.kind, &arrow) {
        (TypeKind::Array(element), ArrowType::List(field)) => {
            let (items, offsets) = flatten(&present, data_type)?;
            let list = ListArray::try_new(field.clone(), offsets, build(&items, element)?, nulls())
                .map_err(failed)?;
            Ok(Arc::new(list))
        }
        (TypeKind::Vector(element, n), ArrowType::FixedSizeList(field, size)) => {
            let mut items: Vec<Option<&Value>> = Vec::new();
            let filler = Value::from(0);
            for value in &present {
                match value {
                    Some(Value::Array(list)) if list.len() == *n as usize => {
                        items.extend(list.iter().map(Some))
                    }
                    None => items.extend(std::iter::repeat_n(Some(&filler), *n as usize)),
                    Some(other) => return Err(mismatch(other, data_type)),
                }
            }
            let list = FixedSizeListArray::try_new(field.clone(), *size, build(&items, element)?, nulls())
                .map_err(failed)?;
            Ok(Arc::new(list))
        }
        (TypeKind::Map(key, value), ArrowType::Map(entries, _)) => {
            map(&present, data_type, key, value, entries, nulls())
        }
        (TypeKind::Multiset(element), ArrowType::Map(entries, _)) => map(
            &present,
            data_type,
            element,
            &DataType::required(TypeKind::Int),
            entries,
            nulls(),
        ),
        (TypeKind::Row(children), ArrowType::Struct(fields)) => {
            for value in present.iter().flatten() {
                let object = value.as_object().ok_or_else(|| mismatch(value, data_type))?;
                if let Some(key) = object.keys().find(|k| children.iter().all(|f| f.name != **k)) {
                    return Err(Error::invalid(format!("the row has no field '{key}'")));
                }
            }
            let columns = children
                .iter()
                .map(|child| {
                    let inner: Vec<Option<&Value>> = present
                        .iter()
                        .map(|v| v.and_then(|v| v.get(&child.name)))
                        .collect();
                    build(&inner, &child.data_type).map_err(|e| e.with("field", &child.name))
                })
                .collect::<Result<Vec<_>>>()?;
            let rows = StructArray::try_new_with_length(fields.clone(), columns, nulls(), present.len())
                .map_err(failed)?;
            Ok(Arc::new(rows))
        }
        (TypeKind::Variant, _) => Err(Error::unsupported("VARIANT values cannot be made from JSON yet")),
        _ => {
            let data = present
                .iter()
                .map(|v| v.map(|v| datum(v, data_type)).transpose().map(Option::flatten));
            array(data.collect::<Result<Vec<_>>>()?, data_type, &arrow)
        }
    }
}

/// An array from single values of a column's atomic type.
pub(super) fn array_of(values: Vec<Option<Datum>>, field: &DataField) -> Result<ArrayRef> {
    array(values, &field.data_type, &arrow_type(&field.data_type)).map_err(|e| e.with("column", &field.name))
}

fn flatten<'a>(
    values: &[Option<&'a Value>],
    data_type: &DataType,
) -> Result<(Vec<Option<&'a Value>>, OffsetBuffer<i32>)> {
    let mut items = Vec::new();
    let mut lengths = Vec::with_capacity(values.len());
    for value in values {
        let list = match value {
            None => &[] as &[Value],
            Some(Value::Array(list)) => list.as_slice(),
            Some(other) => return Err(mismatch(other, data_type)),
        };
        items.extend(list.iter().map(Some));
        lengths.push(list.len());
    }
    Ok((items, OffsetBuffer::from_lengths(lengths)))
}

fn map(
    values: &[Option<&Value>],
    data_type: &DataType,
    key: &DataType,
    value: &DataType,
    entries: &arrow_schema::FieldRef,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let (pairs, offsets) = flatten(values, data_type)?;
    let mut keys = Vec::with_capacity(pairs.len());
    let mut items = Vec::with_capacity(pairs.len());
    for pair in pairs.into_iter().flatten() {
        match pair.as_array().map(Vec::as_slice) {
            Some([k, v]) => {
                keys.push(Some(k));
                items.push(Some(v));
            }
            _ => {
                return Err(Error::invalid(format!(
                    "a map entry is [key, value], found {pair}"
                )));
            }
        }
    }
    let failed = |e: arrow_schema::ArrowError| {
        Error::invalid(format!("values are not {data_type}: {e}")).with_source(e)
    };
    let ArrowType::Struct(fields) = entries.data_type() else {
        return Err(Error::invalid(format!("{data_type} has no Arrow map")));
    };
    let columns = vec![build(&keys, key)?, build(&items, value)?];
    let entries_array = StructArray::try_new(fields.clone(), columns, None).map_err(failed)?;
    let built = MapArray::try_new(entries.clone(), offsets, entries_array, nulls, false).map_err(failed)?;
    Ok(Arc::new(built))
}

fn mismatch(value: &Value, data_type: &DataType) -> Error {
    let mut shown = value.to_string();
    if shown.len() > 80 {
        shown.truncate(shown.floor_char_boundary(80));
        shown.push('…');
    }
    Error::invalid(format!("{shown} is not a value of type {data_type}"))
}

/// One JSON scalar as a value of an atomic type.
fn datum(value: &Value, data_type: &DataType) -> Result<Option<Datum>> {
    let wrong = || mismatch(value, data_type);
    let integer = || value.as_i64().ok_or_else(wrong);
    let text = || value.as_str().ok_or_else(wrong);
    Ok(Some(match &data_type.kind {
        TypeKind::Boolean => Datum::Boolean(value.as_bool().ok_or_else(wrong)?),
        TypeKind::TinyInt => Datum::TinyInt(i8::try_from(integer()?).map_err(|_| wrong())?),
        TypeKind::SmallInt => Datum::SmallInt(i16::try_from(integer()?).map_err(|_| wrong())?),
        TypeKind::Int => Datum::Int(i32::try_from(integer()?).map_err(|_| wrong())?),
        TypeKind::BigInt => Datum::BigInt(integer()?),
        TypeKind::Float => Datum::Float(number(value).ok_or_else(wrong)? as f32),
        TypeKind::Double => Datum::Double(number(value).ok_or_else(wrong)?),
        TypeKind::Char(_) | TypeKind::VarChar(_) => Datum::String(text()?.to_owned()),
        TypeKind::Binary(_)
        | TypeKind::VarBinary(_)
        | TypeKind::Blob
        | TypeKind::Geometry(_)
        | TypeKind::Geography { .. } => Datum::Bytes(from_hex(text()?).ok_or_else(wrong)?),
        TypeKind::Decimal { .. } => {
            let number = value.as_number().map(ToString::to_string);
            return match number.as_deref().or(value.as_str()) {
                Some(text) => match from_text(text, data_type).map_err(|e| wrong().with_source(e))? {
                    Some(datum) => Ok(Some(datum)),
                    None => Err(wrong()),
                },
                None => Err(wrong()),
            };
        }
        _ => return from_text(text()?, data_type).map_err(|e| wrong().with_source(e)),
    }))
}

/// A value from its text; an instant may end in `Z`.
pub(super) fn from_text(text: &str, data_type: &DataType) -> Result<Option<Datum>> {
    let instant = matches!(data_type.kind, TypeKind::TimestampLtz(_));
    datum_from_string(
        if instant {
            text.strip_suffix('Z').unwrap_or(text)
        } else {
            text
        },
        data_type,
    )
}

fn number(value: &Value) -> Option<f64> {
    match value.as_str() {
        None => value.as_f64(),
        Some("NaN") => Some(f64::NAN),
        Some("Infinity") => Some(f64::INFINITY),
        Some("-Infinity") => Some(f64::NEG_INFINITY),
        Some(_) => None,
    }
}

/// Bytes of a text of hexadecimal digits, `None` when it is not one.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |b: u8| char::from(b).to_digit(16);
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
            _ => None,
        })
        .collect()
}

fn primitives<T: ArrowPrimitiveType>(
    values: &[Option<Datum>],
    arrow: &ArrowType,
    get: impl Fn(&Datum) -> Option<T::Native>,
) -> Result<ArrayRef> {
    let mut natives = Vec::with_capacity(values.len());
    for value in values {
        natives.push(match value {
            None => None,
            Some(datum) => {
                Some(get(datum).ok_or_else(|| Error::invalid(format!("{datum:?} does not fit {arrow}")))?)
            }
        });
    }
    let nulls = NullBuffer::from_iter(natives.iter().map(Option::is_some));
    let buffer: ScalarBuffer<T::Native> = natives.into_iter().map(Option::unwrap_or_default).collect();
    Ok(Arc::new(
        PrimitiveArray::<T>::new(buffer, Some(nulls)).with_data_type(arrow.clone()),
    ))
}

fn array(values: Vec<Option<Datum>>, data_type: &DataType, arrow: &ArrowType) -> Result<ArrayRef> {
    macro_rules! of {
        ($arrow_type:ty, $variant:ident) => {
            primitives::<$arrow_type>(&values, arrow, |d| match d {
                Datum::$variant(v) => Some(*v),
                _ => None,
            })
        };
    }
    let timestamp = |d: &Datum| match d {
        Datum::Timestamp(t) => Some(*t),
        _ => None,
    };
    match arrow {
        ArrowType::Boolean => {
            let mut builder = BooleanBuilder::with_capacity(values.len());
            for value in &values {
                builder.append_option(match value {
                    Some(Datum::Boolean(v)) => Some(*v),
                    _ => None,
                });
            }
            Ok(Arc::new(builder.finish()))
        }
        ArrowType::Int8 => of!(Int8Type, TinyInt),
        ArrowType::Int16 => of!(Int16Type, SmallInt),
        ArrowType::Int32 => of!(Int32Type, Int),
        ArrowType::Int64 => of!(Int64Type, BigInt),
        ArrowType::Float32 => of!(Float32Type, Float),
        ArrowType::Float64 => of!(Float64Type, Double),
        ArrowType::Date32 => of!(Date32Type, Date),
        ArrowType::Time32(_) => of!(Time32MillisecondType, Time),
        ArrowType::Decimal128(_, _) => primitives::<Decimal128Type>(&values, arrow, |d| match d {
            Datum::Decimal { unscaled, .. } => Some(*unscaled),
            _ => None,
        }),
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
            primitives::<TimestampMillisecondType>(&values, arrow, |d| timestamp(d).map(|t| t.millis))
        }
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            primitives::<TimestampMicrosecondType>(&values, arrow, |d| {
                timestamp(d).and_then(|t| t.to_micros())
            })
        }
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
            primitives::<TimestampNanosecondType>(&values, arrow, |d| timestamp(d).and_then(|t| t.to_nanos()))
        }
        ArrowType::Utf8 => {
            let mut builder = StringBuilder::new();
            for value in &values {
                builder.append_option(match value {
                    Some(Datum::String(v)) => Some(v),
                    _ => None,
                });
            }
            Ok(Arc::new(builder.finish()))
        }
        ArrowType::Binary => {
            let mut builder = BinaryBuilder::new();
            for value in &values {
                builder.append_option(bytes(value));
            }
            Ok(Arc::new(builder.finish()))
        }
        ArrowType::LargeBinary => {
            let mut builder = LargeBinaryBuilder::new();
            for value in &values {
                builder.append_option(bytes(value));
            }
            Ok(Arc::new(builder.finish()))
        }
        _ => Err(Error::unsupported(format!(
            "values of type {data_type} cannot be made from text"
        ))),
    }
}

fn bytes(value: &Option<Datum>) -> Option<&[u8]> {
    match value {
        Some(Datum::Bytes(v)) => Some(v),
        _ => None,
    }
}
