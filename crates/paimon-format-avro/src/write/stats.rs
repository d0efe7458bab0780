// SPDX-License-Identifier: Apache-2.0

//! Statistics of the rows that are written (Java `SimpleStatsCollector`: Avro stores none).
//!
//! Floating point numbers are ordered as Java orders them: −0.0 below 0.0, NaN above all. Columns of nested types, BLOB and
//! binaries have a null count only (Java 1.4.2 gives binaries no bounds, and its scan would compare them as signed bytes).

use std::cmp::Ordering;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType,
};
use arrow_array::{Array, ArrayRef};
use paimon_types::{ColumnStats, DataType, Datum, Error, Result, Timestamp, TypeKind};

/// Statistics of one column.
#[derive(Debug)]
pub(crate) struct Collector {
    data_type: DataType,
    bounds: Option<(Datum, Datum)>,
    nulls: i64,
}

impl Collector {
    pub(crate) fn new(data_type: &DataType) -> Self {
        Collector {
            data_type: data_type.clone(),
            bounds: None,
            nulls: 0,
        }
    }

    /// Whole statistics up to now.
    pub(crate) fn stats(&self) -> ColumnStats {
        let (min, max) = self.bounds.clone().unzip();
        ColumnStats {
            min,
            max,
            null_count: Some(self.nulls),
        }
    }

    /// Adds the values of an array of the column's type.
    ///
    /// # Errors
    /// `InvalidInput` for an array of another type.
    pub(crate) fn add(&mut self, array: &ArrayRef) -> Result<()> {
        let nulls = array.logical_null_count();
        self.nulls = self
            .nulls
            .saturating_add(i64::try_from(nulls).unwrap_or(i64::MAX));
        let Some((min, max)) = bounds(&self.data_type, array.as_ref())? else {
            return Ok(());
        };
        self.bounds = Some(match self.bounds.take() {
            None => (min, max),
            Some((least, most)) => (
                if min.compare(&least) == Some(Ordering::Less) {
                    min
                } else {
                    least
                },
                if max.compare(&most) == Some(Ordering::Greater) {
                    max
                } else {
                    most
                },
            ),
        });
        Ok(())
    }
}

fn bounds(data_type: &DataType, array: &dyn Array) -> Result<Option<(Datum, Datum)>> {
    let scale = match &data_type.kind {
        TypeKind::Decimal { scale, .. } => *scale,
        _ => 0,
    };
    let found = match &data_type.kind {
        TypeKind::Boolean => array
            .as_boolean_opt()
            .map(|array| spread(array.iter().flatten(), bool::cmp, Datum::Boolean)),
        TypeKind::TinyInt => numbers::<Int8Type>(array, i8::cmp, Datum::TinyInt),
        TypeKind::SmallInt => numbers::<Int16Type>(array, i16::cmp, Datum::SmallInt),
        TypeKind::Int => numbers::<Int32Type>(array, i32::cmp, Datum::Int),
        TypeKind::BigInt => numbers::<Int64Type>(array, i64::cmp, Datum::BigInt),
        TypeKind::Float => {
            numbers::<Float32Type>(array, |a, b| plain32(*a).total_cmp(&plain32(*b)), Datum::Float)
        }
        TypeKind::Double => {
            numbers::<Float64Type>(array, |a, b| plain64(*a).total_cmp(&plain64(*b)), Datum::Double)
        }
        TypeKind::Date => numbers::<Date32Type>(array, i32::cmp, Datum::Date),
        TypeKind::Time(_) => numbers::<Time32MillisecondType>(array, i32::cmp, Datum::Time),
        TypeKind::Timestamp(0..=3) | TypeKind::TimestampLtz(0..=3) => {
            numbers::<TimestampMillisecondType>(array, i64::cmp, |v| {
                Datum::Timestamp(Timestamp::from_millis(v))
            })
        }
        TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_) => {
            numbers::<TimestampMicrosecondType>(array, i64::cmp, |v| {
                Datum::Timestamp(Timestamp::from_micros(v))
            })
        }
        TypeKind::Decimal { .. } => {
            numbers::<Decimal128Type>(array, i128::cmp, |unscaled| Datum::Decimal { unscaled, scale })
        }
        TypeKind::Char(_) | TypeKind::VarChar(_) => array.as_string_opt::<i32>().map(|array| {
            spread(
                array.iter().flatten(),
                |a, b| a.cmp(b),
                |v| Datum::String(v.to_owned()),
            )
        }),
        _ => return Ok(None),
    };
    found.ok_or_else(|| {
        Error::invalid(format!(
            "column has arrow type {}, that of {data_type} is expected",
            array.data_type()
        ))
    })
}

/// Every NaN is the same one.
fn plain32(value: f32) -> f32 {
    if value.is_nan() { f32::NAN } else { value }
}

fn plain64(value: f64) -> f64 {
    if value.is_nan() { f64::NAN } else { value }
}

fn numbers<T: ArrowPrimitiveType>(
    array: &dyn Array,
    compare: impl Fn(&T::Native, &T::Native) -> Ordering,
    datum: impl Fn(T::Native) -> Datum,
) -> Option<Option<(Datum, Datum)>> {
    let array = array.as_primitive_opt::<T>()?;
    Some(match array.null_count() {
        0 => spread(array.values().iter().copied(), compare, datum),
        _ => spread(array.iter().flatten(), compare, datum),
    })
}

/// The smallest and the largest value.
fn spread<V: Copy>(
    mut values: impl Iterator<Item = V>,
    compare: impl Fn(&V, &V) -> Ordering,
    datum: impl Fn(V) -> Datum,
) -> Option<(Datum, Datum)> {
    let first = values.next()?;
    let (mut min, mut max) = (first, first);
    for value in values {
        if compare(&value, &min).is_lt() {
            min = value;
        } else if compare(&value, &max).is_gt() {
            max = value;
        }
    }
    Some((datum(min), datum(max)))
}
