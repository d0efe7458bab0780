// SPDX-License-Identifier: Apache-2.0

//! A column compared with one value, 64 rows at a time.
//!
//! Own kernels instead of those of `arrow-ord`: floats compare as `Double.compare` does (−0.0 < 0.0, NaN equal to NaN and
//! greater than all), and an engine that depends on this crate is spared the longest build of its tree.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer};
use arrow_schema::DataType;
use paimon_types::{Error, PredicateOp, Result};

/// `column op literal` for every row; `literal` is an array of the column's type with one value that is not NULL. NULL rows
/// give NULL. `op` is one of the six comparisons; the order is that of Java's `CompareUtils`.
///
/// # Errors
/// `InvalidInput` when the types differ or the column has no order.
pub(crate) fn compare(column: &ArrayRef, op: PredicateOp, literal: &ArrayRef) -> Result<BooleanArray> {
    if column.data_type() != literal.data_type() || literal.len() != 1 || literal.is_null(0) {
        return Err(Error::invalid(format!(
            "expected a value of {} to compare with, found {} of {}",
            column.data_type(),
            literal.len(),
            literal.data_type()
        )));
    }
    // All orders here are total, so three tests and their opposites are enough.
    let (test, negated) = match op {
        PredicateOp::Eq => (Test::Equal, false),
        PredicateOp::NotEq => (Test::Equal, true),
        PredicateOp::Lt => (Test::Less, false),
        PredicateOp::GtEq => (Test::Less, true),
        PredicateOp::LtEq => (Test::LessOrEqual, false),
        PredicateOp::Gt => (Test::LessOrEqual, true),
        other => return Err(Error::invalid(format!("{other:?} is not a comparison"))),
    };
    let rows = match column.data_type() {
        DataType::Boolean => {
            let wanted = literal.as_boolean().value(0);
            let values = column.as_boolean();
            BooleanBuffer::collect_bool(values.len(), |row| test.holds(values.value(row), wanted))
        }
        DataType::Int8 => primitive::<i8>(column, test, literal),
        DataType::Int16 => primitive::<i16>(column, test, literal),
        DataType::Int32 | DataType::Date32 | DataType::Time32(_) => primitive::<i32>(column, test, literal),
        DataType::Int64 | DataType::Timestamp(..) | DataType::Time64(_) => {
            primitive::<i64>(column, test, literal)
        }
        DataType::Decimal128(..) => primitive::<i128>(column, test, literal),
        DataType::Float32 => keyed(column, test, literal, float_key),
        DataType::Float64 => keyed(column, test, literal, double_key),
        DataType::Utf8 => {
            let (values, wanted) = (column.as_string::<i32>(), literal.as_string::<i32>().value(0));
            BooleanBuffer::collect_bool(values.len(), |row| test.holds(values.value(row), wanted))
        }
        DataType::Binary => {
            let (values, wanted) = (column.as_binary::<i32>(), literal.as_binary::<i32>().value(0));
            BooleanBuffer::collect_bool(values.len(), |row| test.holds(values.value(row), wanted))
        }
        DataType::LargeBinary => {
            let (values, wanted) = (column.as_binary::<i64>(), literal.as_binary::<i64>().value(0));
            BooleanBuffer::collect_bool(values.len(), |row| test.holds(values.value(row), wanted))
        }
        other => {
            return Err(Error::invalid(format!(
                "columns of {other} cannot be compared with a value"
            )));
        }
    };
    Ok(BooleanArray::new(
        if negated { !&rows } else { rows },
        column.logical_nulls(),
    ))
}

#[derive(Clone, Copy)]
enum Test {
    Equal,
    Less,
    LessOrEqual,
}

impl Test {
    fn holds<T: Ord>(self, value: T, literal: T) -> bool {
        match self {
            Test::Equal => value == literal,
            Test::Less => value < literal,
            Test::LessOrEqual => value <= literal,
        }
    }
}

fn primitive<T: ArrowNativeType + Ord>(column: &ArrayRef, test: Test, literal: &ArrayRef) -> BooleanBuffer {
    keyed(column, test, literal, |value: T| value)
}

/// Compares the values by `key`; both arrays have native values of type `T`.
fn keyed<T: ArrowNativeType, K: Ord + Copy>(
    column: &ArrayRef,
    test: Test,
    literal: &ArrayRef,
    key: impl Fn(T) -> K,
) -> BooleanBuffer {
    let (column, literal) = (column.to_data(), literal.to_data());
    let (rows, wanted) = (column.len(), literal.buffer::<T>(0).first());
    let values = column.buffer::<T>(0).get(..rows).unwrap_or_default();
    let Some(wanted) = wanted.map(|value| key(*value)) else {
        return BooleanBuffer::new_unset(rows);
    };
    match test {
        Test::Equal => pack(values, |value| key(value) == wanted),
        Test::Less => pack(values, |value| key(value) < wanted),
        Test::LessOrEqual => pack(values, |value| key(value) <= wanted),
    }
}

/// One bit a value, without a branch.
fn pack<T: Copy>(values: &[T], test: impl Fn(T) -> bool) -> BooleanBuffer {
    let words: Vec<u64> = values
        .chunks(64)
        .map(|chunk| {
            chunk
                .iter()
                .enumerate()
                .fold(0, |word, (bit, value)| word | (u64::from(test(*value)) << bit))
        })
        .collect();
    BooleanBuffer::new(Buffer::from_vec(words), 0, values.len())
}

/// An integer in the order of `Float.compare`.
fn float_key(value: f32) -> i32 {
    if value.is_nan() {
        return i32::MAX;
    }
    let bits = value.to_bits().cast_signed();
    bits ^ ((bits >> 31) & i32::MAX)
}

/// An integer in the order of `Double.compare`.
fn double_key(value: f64) -> i64 {
    if value.is_nan() {
        return i64::MAX;
    }
    let bits = value.to_bits().cast_signed();
    bits ^ ((bits >> 63) & i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;
    use std::sync::Arc;

    use arrow_array::{
        BinaryArray, Decimal128Array, Float32Array, Float64Array, Int8Array, Int64Array, StringArray,
    };

    use super::*;

    type Holds = fn(Ordering) -> bool;

    const OPS: [(PredicateOp, Holds); 6] = [
        (PredicateOp::Eq, Ordering::is_eq),
        (PredicateOp::NotEq, Ordering::is_ne),
        (PredicateOp::Lt, Ordering::is_lt),
        (PredicateOp::LtEq, Ordering::is_le),
        (PredicateOp::Gt, Ordering::is_gt),
        (PredicateOp::GtEq, Ordering::is_ge),
    ];

    /// Every row against every value, for the array as it is and as a slice.
    fn check(array: ArrayRef, order: impl Fn(usize, usize) -> Ordering) {
        for start in [0, 1, 7] {
            let slice = array.slice(start, array.len() - start);
            for wanted in (0..array.len()).filter(|i| array.is_valid(*i)) {
                for (op, holds) in OPS {
                    let got = compare(&slice, op, &array.slice(wanted, 1)).unwrap();
                    for row in 0..slice.len() {
                        let expected = slice.is_valid(row).then(|| holds(order(start + row, wanted)));
                        let found = got.is_valid(row).then(|| got.value(row));
                        assert_eq!(found, expected, "{} {op:?}: {row}, {wanted}", array.data_type());
                    }
                }
            }
        }
    }

    /// Java's order of doubles.
    fn java(a: f64, b: f64) -> Ordering {
        match (a.is_nan(), b.is_nan()) {
            (false, false) => a.total_cmp(&b),
            (a, b) => a.cmp(&b),
        }
    }

    #[test]
    fn every_kind_of_column() {
        let numbers: Vec<Option<i64>> = (0..150)
            .map(|i| (i % 11 != 3).then_some((i * 7919) % 23 - 11))
            .chain([Some(i64::MIN), Some(i64::MAX)])
            .collect();
        let order = |a: usize, b: usize| numbers[a].cmp(&numbers[b]);
        check(Arc::new(Int64Array::from(numbers.clone())), order);
        check(
            Arc::new(Decimal128Array::from(
                numbers.iter().map(|v| v.map(i128::from)).collect::<Vec<_>>(),
            )),
            order,
        );
        let small: Vec<Option<i8>> = numbers.iter().map(|v| v.map(|v| v as i8)).collect();
        check(Arc::new(Int8Array::from(small.clone())), |a, b| {
            small[a].cmp(&small[b])
        });
        let bits: Vec<Option<bool>> = numbers.iter().map(|v| v.map(|v| v > 0)).collect();
        check(Arc::new(BooleanArray::from(bits.clone())), |a, b| {
            bits[a].cmp(&bits[b])
        });
        let text: Vec<Option<String>> = numbers
            .iter()
            .map(|v| v.map(|v| format!("é{}", "x".repeat(v.rem_euclid(5) as usize))))
            .collect();
        check(Arc::new(StringArray::from(text.clone())), |a, b| {
            text[a].cmp(&text[b])
        });
        let bytes: Vec<Option<&[u8]>> = vec![
            Some(b"\xff"),
            None,
            Some(b""),
            Some(b"\x7f\x00"),
            Some(b"\x7f"),
            None,
            Some(b"a"),
            Some(b"b"),
        ];
        check(Arc::new(BinaryArray::from(bytes.clone())), |a, b| {
            bytes[a].cmp(&bytes[b])
        });
    }

    #[test]
    fn floats_as_java() {
        let values = [
            f64::NEG_INFINITY,
            -1.5,
            -f64::MIN_POSITIVE,
            -0.0,
            0.0,
            5e-324,
            1.5,
            f64::INFINITY,
            f64::NAN,
            -f64::NAN,
        ];
        check(Arc::new(Float64Array::from(values.to_vec())), |a, b| {
            java(values[a], values[b])
        });
        let narrow: Vec<f32> = values.iter().map(|v| *v as f32).collect();
        check(Arc::new(Float32Array::from(narrow.clone())), |a, b| {
            java(f64::from(narrow[a]), f64::from(narrow[b]))
        });
    }

    #[test]
    fn refusals() {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
        let text: ArrayRef = Arc::new(StringArray::from(vec!["1"]));
        assert!(compare(&numbers, PredicateOp::Eq, &text).is_err());
        assert!(compare(&numbers, PredicateOp::Eq, &numbers).is_err());
        assert!(compare(&numbers, PredicateOp::In, &numbers.slice(0, 1)).is_err());
    }
}
