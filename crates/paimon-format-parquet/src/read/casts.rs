// SPDX-License-Identifier: Apache-2.0

//! The few casts between neighbouring physical types that Java's reader accepts (`data-files.md` 3): integers of other
//! widths, FLOAT and DOUBLE, days and milliseconds in plain INT32, bytes in other containers.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, LargeBinaryBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
    Time64MicrosecondType, UInt8Type, UInt16Type, UInt32Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray, make_array};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use paimon_types::{Error, Result};

/// `array` with the type `target`.
///
/// # Errors
/// `InvalidInput` when a value does not fit; `Corrupt` for a pair of types that has no cast.
pub(super) fn cast(array: &ArrayRef, target: &ArrowType) -> Result<ArrayRef> {
    let unknown = || {
        Error::corrupt(format!(
            "decoded as {}, which does not become {target}",
            array.data_type()
        ))
    };
    match target {
        ArrowType::Int8 => narrow::<Int8Type>(&integers(array).ok_or_else(unknown)?, target),
        ArrowType::Int16 => narrow::<Int16Type>(&integers(array).ok_or_else(unknown)?, target),
        ArrowType::Int32 => narrow::<Int32Type>(&integers(array).ok_or_else(unknown)?, target),
        ArrowType::Int64 => Ok(make_array(integers(array).ok_or_else(unknown)?.into())),
        ArrowType::Float32 => {
            let doubles = array.as_primitive_opt::<Float64Type>().ok_or_else(unknown)?;
            Ok(make_array(doubles.unary::<_, Float32Type>(|v| v as f32).into()))
        }
        ArrowType::Float64 => {
            let floats = array.as_primitive_opt::<Float32Type>().ok_or_else(unknown)?;
            Ok(make_array(floats.unary::<_, Float64Type>(f64::from).into()))
        }
        ArrowType::Date32 => {
            let days = array.as_primitive_opt::<Int32Type>().ok_or_else(unknown)?;
            Ok(make_array(days.reinterpret_cast::<Date32Type>().into()))
        }
        ArrowType::Time32(TimeUnit::Millisecond) => {
            if let Some(millis) = array.as_primitive_opt::<Int32Type>() {
                return Ok(make_array(
                    millis.reinterpret_cast::<Time32MillisecondType>().into(),
                ));
            }
            let micros = array
                .as_primitive_opt::<Time64MicrosecondType>()
                .ok_or_else(unknown)?;
            let millis = |v: i64| i32::try_from(v.div_euclid(1000)).map_err(|_| misfit(v, target));
            let values = micros.try_unary::<_, Time32MillisecondType, Error>(millis)?;
            Ok(make_array(values.into()))
        }
        ArrowType::Binary => {
            let mut builder = BinaryBuilder::new();
            for_each_value(array, |value| builder.append_option(value)).ok_or_else(unknown)?;
            Ok(Arc::new(builder.finish()))
        }
        ArrowType::LargeBinary => {
            let mut builder = LargeBinaryBuilder::new();
            for_each_value(array, |value| builder.append_option(value)).ok_or_else(unknown)?;
            Ok(Arc::new(builder.finish()))
        }
        _ => Err(unknown()),
    }
}

fn misfit(value: i64, target: &ArrowType) -> Error {
    Error::invalid(format!("stored value {value} does not fit {target}"))
}

fn integers(array: &ArrayRef) -> Option<PrimitiveArray<Int64Type>> {
    fn widen<T: ArrowPrimitiveType<Native: Into<i64>>>(
        array: &ArrayRef,
    ) -> Option<PrimitiveArray<Int64Type>> {
        array.as_primitive_opt::<T>().map(|a| a.unary(Into::into))
    }
    match array.data_type() {
        ArrowType::Int8 => widen::<Int8Type>(array),
        ArrowType::Int16 => widen::<Int16Type>(array),
        ArrowType::Int32 => widen::<Int32Type>(array),
        ArrowType::UInt8 => widen::<UInt8Type>(array),
        ArrowType::UInt16 => widen::<UInt16Type>(array),
        ArrowType::UInt32 => widen::<UInt32Type>(array),
        ArrowType::Int64 => array.as_primitive_opt::<Int64Type>().cloned(),
        _ => None,
    }
}

fn narrow<T>(values: &PrimitiveArray<Int64Type>, target: &ArrowType) -> Result<ArrayRef>
where
    T: ArrowPrimitiveType<Native: TryFrom<i64>>,
{
    let fit = |v: i64| T::Native::try_from(v).map_err(|_| misfit(v, target));
    Ok(make_array(values.try_unary::<_, T, Error>(fit)?.into()))
}

/// Gives the bytes of every row, `None` for NULL; `None` when the array holds no bytes.
fn for_each_value(array: &ArrayRef, mut each: impl FnMut(Option<&[u8]>)) -> Option<()> {
    if let Some(texts) = array.as_string_opt::<i32>() {
        texts.iter().for_each(|v| each(v.map(str::as_bytes)));
    } else if let Some(bytes) = array.as_binary_opt::<i32>() {
        bytes.iter().for_each(each);
    } else {
        array.as_fixed_size_binary_opt()?.iter().for_each(each);
    }
    Some(())
}
