// SPDX-License-Identifier: Apache-2.0

//! Columns whose type became a wider number: the changes that keep every value (`data-files.md` 16, 17.1).

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use arrow_array::{ArrayRef, PrimitiveArray, make_array};
use arrow_schema::DataType as ArrowType;
use paimon_types::TypeKind;

/// Whether every value of `from` is one of `to`, or (numbers to floats) has a nearest one.
pub(crate) fn widens(from: &TypeKind, to: &TypeKind) -> bool {
    use TypeKind::{BigInt, Decimal, Double, Float, Int, SmallInt, TinyInt, VarBinary, VarChar};
    match (from, to) {
        (TinyInt, SmallInt | Int | BigInt) | (SmallInt, Int | BigInt) | (Int, BigInt) => true,
        (TinyInt | SmallInt | Int | BigInt, Float | Double) | (Float, Double) => true,
        (VarChar(from), VarChar(to)) | (VarBinary(from), VarBinary(to)) => from <= to,
        (
            Decimal {
                precision: p,
                scale: s,
            },
            Decimal { precision, scale },
        ) => s <= scale && i16::from(*p) - i16::from(*s) <= i16::from(*precision) - i16::from(*scale),
        (number, Decimal { precision, scale }) => {
            let digits = match number {
                TinyInt => 3,
                SmallInt => 5,
                Int => 10,
                BigInt => 19,
                _ => return false,
            };
            digits <= i16::from(*precision) - i16::from(*scale)
        }
        _ => false,
    }
}

/// The values of an array as `to`; `None` when it does not hold what [`widens`] allows.
pub(crate) fn widen(array: &ArrayRef, to: &ArrowType) -> Option<ArrayRef> {
    match array.data_type() {
        ArrowType::Int8 => whole::<Int8Type>(array, to),
        ArrowType::Int16 => whole::<Int16Type>(array, to),
        ArrowType::Int32 => whole::<Int32Type>(array, to),
        ArrowType::Int64 => whole::<Int64Type>(array, to),
        ArrowType::Float32 if *to == ArrowType::Float64 => {
            let values = array.as_primitive_opt::<Float32Type>()?;
            Some(make_array(values.unary::<_, Float64Type>(f64::from).into()))
        }
        ArrowType::Decimal128(_, from) => {
            let ArrowType::Decimal128(_, scale) = to else {
                return None;
            };
            let factor = power(scale.checked_sub(*from)?)?;
            // What lies under NULL may be any number.
            let values = array.as_primitive_opt::<Decimal128Type>()?;
            let values = values.unary::<_, Decimal128Type>(|v| v.wrapping_mul(factor));
            Some(make_array(values.with_data_type(to.clone()).into()))
        }
        _ => None,
    }
}

fn power(digits: i8) -> Option<i128> {
    10i128.checked_pow(u32::try_from(digits).ok()?)
}

fn whole<T: ArrowPrimitiveType>(array: &ArrayRef, to: &ArrowType) -> Option<ArrayRef>
where
    T::Native: Into<i64>,
{
    let values: &PrimitiveArray<T> = array.as_primitive_opt()?;
    let number = |v: T::Native| -> i64 { v.into() };
    Some(make_array(match to {
        // The types that [`widens`] allows hold every value.
        ArrowType::Int16 => values.unary::<_, Int16Type>(|v| number(v) as i16).into(),
        ArrowType::Int32 => values.unary::<_, Int32Type>(|v| number(v) as i32).into(),
        ArrowType::Int64 => values.unary::<_, Int64Type>(number).into(),
        // To the nearest number.
        ArrowType::Float32 => values.unary::<_, Float32Type>(|v| number(v) as f32).into(),
        ArrowType::Float64 => values.unary::<_, Float64Type>(|v| number(v) as f64).into(),
        ArrowType::Decimal128(_, scale) => {
            let factor = power(*scale)?;
            let values = values.unary::<_, Decimal128Type>(|v| i128::from(number(v)).wrapping_mul(factor));
            values.with_data_type(to.clone()).into()
        }
        _ => return None,
    }))
}
