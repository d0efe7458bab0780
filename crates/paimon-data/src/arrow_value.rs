// SPDX-License-Identifier: Apache-2.0

//! Single values in and out of Arrow arrays: partition constants, literals, partition keys of a batch.
//!
//! Not for data paths: one call makes one [`Datum`].

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, LargeBinaryBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, PrimitiveArray, make_array, new_null_array,
};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use paimon_types::{DataType, Datum, Error, Result, Timestamp, TypeKind, arrow_type};

/// The value of `array` at `row`, `None` for NULL. `data_type` is the logical type that `array` was made for.
///
/// # Errors
/// `InvalidInput` when the array's Arrow type does not belong to `data_type`; `Unsupported` for nested types.
pub fn datum_at(array: &dyn Array, row: usize, data_type: &DataType) -> Result<Option<Datum>> {
    if row >= array.len() {
        return Err(Error::invalid(format!(
            "row {row} is outside of an array of {} rows",
            array.len()
        )));
    }
    if array.is_null(row) {
        return Ok(None);
    }
    fn primitive<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> Option<T::Native> {
        array.as_primitive_opt::<T>().map(|a| a.value(row))
    }
    let value = match &data_type.kind {
        TypeKind::Boolean => array.as_boolean_opt().map(|a| Datum::Boolean(a.value(row))),
        TypeKind::TinyInt => primitive::<Int8Type>(array, row).map(Datum::TinyInt),
        TypeKind::SmallInt => primitive::<Int16Type>(array, row).map(Datum::SmallInt),
        TypeKind::Int => primitive::<Int32Type>(array, row).map(Datum::Int),
        TypeKind::BigInt => primitive::<Int64Type>(array, row).map(Datum::BigInt),
        TypeKind::Float => primitive::<Float32Type>(array, row).map(Datum::Float),
        TypeKind::Double => primitive::<Float64Type>(array, row).map(Datum::Double),
        TypeKind::Date => primitive::<Date32Type>(array, row).map(Datum::Date),
        TypeKind::Time(_) => primitive::<Time32MillisecondType>(array, row).map(Datum::Time),
        TypeKind::Decimal { .. } => match array.data_type() {
            ArrowType::Decimal128(_, scale) => {
                let scale = u8::try_from(*scale).map_err(|_| wrong_array(array, data_type))?;
                primitive::<Decimal128Type>(array, row).map(|unscaled| Datum::Decimal { unscaled, scale })
            }
            _ => None,
        },
        TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_) => match array.data_type() {
            ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
                primitive::<TimestampMillisecondType>(array, row).map(Timestamp::from_millis)
            }
            ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
                primitive::<TimestampMicrosecondType>(array, row).map(Timestamp::from_micros)
            }
            ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
                primitive::<TimestampNanosecondType>(array, row).map(|n| Timestamp::from_nanos(i128::from(n)))
            }
            _ => None,
        }
        .map(Datum::Timestamp),
        TypeKind::Char(_) | TypeKind::VarChar(_) => array
            .as_string_opt::<i32>()
            .map(|a| Datum::String(a.value(row).to_owned())),
        TypeKind::Blob => array
            .as_binary_opt::<i64>()
            .map(|a| Datum::Bytes(a.value(row).to_vec())),
        TypeKind::Binary(_) | TypeKind::VarBinary(_) | TypeKind::Geometry(_) | TypeKind::Geography { .. } => {
            array
                .as_binary_opt::<i32>()
                .map(|a| Datum::Bytes(a.value(row).to_vec()))
        }
        TypeKind::Array(_)
        | TypeKind::Multiset(_)
        | TypeKind::Map(..)
        | TypeKind::Vector(..)
        | TypeKind::Row(_)
        | TypeKind::Variant => {
            return Err(Error::unsupported(format!(
                "a single value of type {data_type} cannot be taken here"
            )));
        }
    };
    value.map(Some).ok_or_else(|| wrong_array(array, data_type))
}

/// An array of `len` copies of `value`, with the Arrow type of `data_type`.
///
/// # Errors
/// `InvalidInput` when the value does not belong to the type or does not fit its Arrow unit; `Unsupported` for nested types.
pub fn repeat(value: Option<&Datum>, data_type: &DataType, len: usize) -> Result<ArrayRef> {
    repeat_as(value, data_type, &arrow_type(data_type), len)
}

/// As [`repeat`] with a given Arrow type, for instance microseconds for a `TIMESTAMP(9)`.
///
/// # Errors
/// As [`repeat`].
pub fn repeat_as(
    value: Option<&Datum>,
    data_type: &DataType,
    arrow: &ArrowType,
    len: usize,
) -> Result<ArrayRef> {
    let Some(value) = value else {
        return Ok(new_null_array(arrow, len));
    };
    fn all<T: ArrowPrimitiveType>(value: T::Native, arrow: &ArrowType, len: usize) -> ArrayRef {
        make_array(
            PrimitiveArray::<T>::from_value(value, len)
                .with_data_type(arrow.clone())
                .into(),
        )
    }
    let misfit = || {
        Error::invalid(format!("value {value:?} does not fit {arrow}"))
            .with("type", data_type)
            .with("option", "read.timestamp-unit")
    };
    Ok(match (value, arrow) {
        (Datum::Boolean(v), ArrowType::Boolean) => make_array(BooleanArray::from(vec![*v; len]).into()),
        (Datum::TinyInt(v), ArrowType::Int8) => all::<Int8Type>(*v, arrow, len),
        (Datum::SmallInt(v), ArrowType::Int16) => all::<Int16Type>(*v, arrow, len),
        (Datum::Int(v), ArrowType::Int32) => all::<Int32Type>(*v, arrow, len),
        (Datum::BigInt(v), ArrowType::Int64) => all::<Int64Type>(*v, arrow, len),
        (Datum::Float(v), ArrowType::Float32) => all::<Float32Type>(*v, arrow, len),
        (Datum::Double(v), ArrowType::Float64) => all::<Float64Type>(*v, arrow, len),
        (Datum::Date(v), ArrowType::Date32) => all::<Date32Type>(*v, arrow, len),
        (Datum::Time(v), ArrowType::Time32(TimeUnit::Millisecond)) => {
            all::<Time32MillisecondType>(*v, arrow, len)
        }
        (Datum::Decimal { unscaled, scale }, ArrowType::Decimal128(_, to)) => {
            let unscaled =
                rescale(*unscaled, *scale, u8::try_from(*to).map_err(|_| misfit())?).ok_or_else(misfit)?;
            all::<Decimal128Type>(unscaled, arrow, len)
        }
        (Datum::Timestamp(v), ArrowType::Timestamp(TimeUnit::Millisecond, _)) => {
            let exact = v.nanos_of_milli == 0;
            all::<TimestampMillisecondType>(exact.then_some(v.millis).ok_or_else(misfit)?, arrow, len)
        }
        (Datum::Timestamp(v), ArrowType::Timestamp(TimeUnit::Microsecond, _)) => {
            let micros = v.to_micros().filter(|_| v.nanos_of_milli % 1000 == 0);
            all::<TimestampMicrosecondType>(micros.ok_or_else(misfit)?, arrow, len)
        }
        (Datum::Timestamp(v), ArrowType::Timestamp(TimeUnit::Nanosecond, _)) => {
            all::<TimestampNanosecondType>(v.to_nanos().ok_or_else(misfit)?, arrow, len)
        }
        (Datum::String(v), ArrowType::Utf8) => {
            let mut builder = StringBuilder::with_capacity(len, v.len().saturating_mul(len));
            (0..len).for_each(|_| builder.append_value(v));
            Arc::new(builder.finish())
        }
        (Datum::Bytes(v), ArrowType::Binary) => {
            let mut builder = BinaryBuilder::with_capacity(len, v.len().saturating_mul(len));
            (0..len).for_each(|_| builder.append_value(v));
            Arc::new(builder.finish())
        }
        (Datum::Bytes(v), ArrowType::LargeBinary) => {
            let mut builder = LargeBinaryBuilder::with_capacity(len, v.len().saturating_mul(len));
            (0..len).for_each(|_| builder.append_value(v));
            Arc::new(builder.finish())
        }
        _ if data_type.is_nested() || data_type.kind == TypeKind::Variant => {
            return Err(Error::unsupported(format!(
                "a constant of type {data_type} cannot be made"
            )));
        }
        _ => return Err(misfit()),
    })
}

/// `unscaled` at another scale; `None` when digits would be lost or 128 bits do not suffice.
pub(crate) fn rescale(unscaled: i128, from: u8, to: u8) -> Option<i128> {
    if to >= from {
        unscaled.checked_mul(10i128.checked_pow(u32::from(to - from))?)
    } else {
        let factor = 10i128.checked_pow(u32::from(from - to))?;
        (unscaled % factor == 0).then(|| unscaled / factor)
    }
}

fn wrong_array(array: &dyn Array, data_type: &DataType) -> Error {
    Error::invalid(format!(
        "an Arrow array of type {} does not hold {data_type}",
        array.data_type()
    ))
}
