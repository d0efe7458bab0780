// SPDX-License-Identifier: Apache-2.0

//! Small numbers for the distinct partitions of a batch.

use std::collections::HashMap;
use std::hash::Hash;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use paimon_types::{Error, Result};

/// The partition number of each row and, for each number, the first row of that partition.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PartitionIds {
    /// One number a row, from 0 in order of first occurrence.
    pub(crate) ids: Vec<u32>,
    /// One row a number.
    pub(crate) first_rows: Vec<usize>,
}

impl PartitionIds {
    /// Numbers the distinct combinations of values of `columns`, which have `rows` rows. NULL is a value of its own; floats
    /// are told apart by their bits, as the partition rows are.
    ///
    /// # Errors
    /// `Unsupported` for a column of a type that cannot be a partition column.
    pub(crate) fn new(columns: &[&dyn Array], rows: usize) -> Result<Self> {
        let mut found = PartitionIds {
            ids: vec![0; rows],
            first_rows: if rows == 0 { vec![] } else { vec![0] },
        };
        for column in columns {
            let values = number_values(*column)?;
            if values.first_rows.len() <= 1 {
                continue;
            }
            if found.first_rows.len() <= 1 {
                found = values;
                continue;
            }
            let pairs = found
                .ids
                .iter()
                .zip(&values.ids)
                .map(|(a, b)| (u64::from(*a) << 32) | u64::from(*b));
            found = number(pairs);
        }
        Ok(found)
    }
}

/// Numbers values in order of first occurrence.
fn number<T: Hash + Eq + Copy>(values: impl Iterator<Item = T>) -> PartitionIds {
    let mut numbers: HashMap<T, u32> = HashMap::new();
    let mut found = PartitionIds::default();
    found.ids.reserve(values.size_hint().0);
    // rows of a partition tend to follow each other
    let mut last: Option<(T, u32)> = None;
    for (row, value) in values.enumerate() {
        let id = match last {
            Some((before, id)) if before == value => id,
            _ => *numbers.entry(value).or_insert_with(|| {
                found.first_rows.push(row);
                (found.first_rows.len() - 1) as u32
            }),
        };
        last = Some((value, id));
        found.ids.push(id);
    }
    found
}

fn number_values(array: &dyn Array) -> Result<PartitionIds> {
    fn primitive<T, K>(array: &dyn Array, key: impl Fn(T::Native) -> K) -> PartitionIds
    where
        T: ArrowPrimitiveType,
        K: Hash + Eq + Copy,
    {
        number(array.as_primitive::<T>().iter().map(|value| value.map(&key)))
    }
    Ok(match array.data_type() {
        ArrowType::Boolean => number(array.as_boolean().iter()),
        ArrowType::Int8 => primitive::<Int8Type, _>(array, |v| v),
        ArrowType::Int16 => primitive::<Int16Type, _>(array, |v| v),
        ArrowType::Int32 => primitive::<Int32Type, _>(array, |v| v),
        ArrowType::Int64 => primitive::<Int64Type, _>(array, |v| v),
        ArrowType::Float32 => primitive::<Float32Type, _>(array, f32::to_bits),
        ArrowType::Float64 => primitive::<Float64Type, _>(array, f64::to_bits),
        ArrowType::Date32 => primitive::<Date32Type, _>(array, |v| v),
        ArrowType::Time32(TimeUnit::Millisecond) => primitive::<Time32MillisecondType, _>(array, |v| v),
        ArrowType::Decimal128(..) => primitive::<Decimal128Type, _>(array, |v| v),
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
            primitive::<TimestampMillisecondType, _>(array, |v| v)
        }
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            primitive::<TimestampMicrosecondType, _>(array, |v| v)
        }
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
            primitive::<TimestampNanosecondType, _>(array, |v| v)
        }
        ArrowType::Utf8 => number(array.as_string::<i32>().iter()),
        ArrowType::Binary => number(array.as_binary::<i32>().iter()),
        other => {
            return Err(Error::unsupported(format!(
                "a column of Arrow type {other} cannot be a partition column"
            )));
        }
    })
}

#[cfg(test)]
mod tests {
    use arrow_array::{Float64Array, Int32Array, StringArray};

    use super::*;

    #[test]
    fn combinations_are_numbered_in_order() {
        let a = Int32Array::from(vec![Some(1), Some(1), None, Some(2), Some(1), None]);
        let b = StringArray::from(vec![Some("x"), Some("y"), Some("x"), None, Some("x"), Some("x")]);
        let found = PartitionIds::new(&[&a, &b], 6).unwrap();
        assert_eq!(found.ids, [0, 1, 2, 3, 0, 2]);
        assert_eq!(found.first_rows, [0, 1, 2, 3]);
        let none = PartitionIds::new(&[], 3).unwrap();
        assert_eq!((none.ids, none.first_rows), (vec![0, 0, 0], vec![0]));
        let zero = Float64Array::from(vec![0.0, -0.0, f64::NAN, f64::NAN]);
        assert_eq!(PartitionIds::new(&[&zero], 4).unwrap().ids, [0, 1, 2, 2]);
    }
}
