// SPDX-License-Identifier: Apache-2.0

//! Keys in a form that compares fast: one integer, two of them, or bytes.
//!
//! The order is that of Java Paimon (`semantics.md` 1.4): numbers by value, −0.0 before 0.0 and NaN last, strings and binaries by
//! unsigned bytes, a prefix before what it begins.

use std::cmp::Ordering;
use std::fmt::Debug;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use arrow_array::{Array, ArrayRef, UInt64Array, make_array};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_row::{RowConverter, SortField};
use arrow_schema::{DataType as ArrowType, SortOptions};
use paimon_types::{Error, Result};

/// Keys of the rows of one batch.
pub(super) trait Keys: Debug + Send + Sized + 'static {
    /// What decides nearly all comparisons, by value.
    type Prefix: Copy + Ord + Debug + Send;
    /// Keys with equal prefixes are equal.
    const EXACT: bool;

    fn encode(encoder: &KeyEncoder, columns: &[ArrayRef]) -> Result<Self>;
    fn len(&self) -> usize;
    /// Compares two keys; rows must exist.
    fn compare(&self, row: usize, other: &Self, other_row: usize) -> Ordering;
    /// The prefix of a key behind its first `skip` bytes.
    fn prefix(&self, row: usize, skip: usize) -> Self::Prefix;
    /// How far a prefix lies behind another that is not greater; `None` when that does not fit, or when equal prefixes may be
    /// those of different keys.
    fn distance(from: Self::Prefix, prefix: Self::Prefix) -> Option<u64>;
    /// The prefix at this distance.
    fn at_distance(from: Self::Prefix, distance: u64) -> Self::Prefix;
    /// How many leading bytes two keys share; all keys between them have the same.
    fn shared(&self, row: usize, other: &Self, other_row: usize) -> usize;
    /// How the keys ascend.
    fn ascend(&self) -> Ascent;
}

/// How the keys of a batch ascend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ascent {
    /// Every key is greater than the one before.
    Strict,
    /// Some keys are equal to the one before.
    Repeated,
    /// Some keys are less than the one before.
    Broken,
}

/// Which form the keys have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Narrow,
    Wide,
    Bytes,
}

/// Turns key columns into [`Keys`].
#[derive(Debug)]
pub(super) struct KeyEncoder {
    /// Bytes of each column in an integer, without the one that tells NULL; empty for keys of bytes.
    widths: Vec<u32>,
    /// Whether each column may be NULL, which comes first.
    nullable: Vec<bool>,
    rows: Option<RowConverter>,
}

impl KeyEncoder {
    /// # Errors
    /// `Unsupported` for columns that have no order here, `InvalidInput` without columns.
    pub(super) fn new(types: &[ArrowType], nullable: Vec<bool>) -> Result<(Self, Form)> {
        if types.is_empty() {
            return Err(Error::invalid(
                "rows can only be merged by at least one key column",
            ));
        }
        let widths: Option<Vec<u32>> = types.iter().map(width).collect();
        let markers = nullable.iter().map(|nullable| u32::from(*nullable)).sum::<u32>();
        if let Some(widths) = widths {
            let form = match widths.iter().sum::<u32>() + markers {
                0..=8 => Some(Form::Narrow),
                9..=16 => Some(Form::Wide),
                _ => None,
            };
            if let Some(form) = form {
                let encoder = KeyEncoder {
                    widths,
                    nullable,
                    rows: None,
                };
                return Ok((encoder, form));
            }
        }
        let rows = match types {
            [ArrowType::Utf8 | ArrowType::Binary] if markers == 0 => None,
            _ => Some(row_converter(types, SortOptions::default())?),
        };
        let widths = Vec::new();
        Ok((
            KeyEncoder {
                widths,
                nullable,
                rows,
            },
            Form::Bytes,
        ))
    }

    fn check_nulls(&self, columns: &[ArrayRef]) -> Result<()> {
        let mut pairs = columns.iter().zip(&self.nullable);
        if columns.len() != self.nullable.len() || pairs.any(|(c, nullable)| !nullable && c.null_count() > 0)
        {
            return Err(Error::corrupt(
                "a row has NULL in a primary key column that allows none",
            ));
        }
        Ok(())
    }

    /// Calls `add` with the bits of each column, and their number, for columns that fit integers.
    fn each(&self, columns: &[ArrayRef], mut add: impl FnMut(Vec<u64>, u32)) -> Result<()> {
        self.check_nulls(columns)?;
        for ((column, width), nullable) in columns.iter().zip(&self.widths).zip(&self.nullable) {
            let mut values = ordered(column)?;
            if *nullable {
                let mut valid = vec![1; values.len()];
                if let Some(nulls) = column.nulls() {
                    for (row, (value, valid)) in values.iter_mut().zip(&mut valid).enumerate() {
                        if nulls.is_null(row) {
                            (*value, *valid) = (0, 0);
                        }
                    }
                }
                add(valid, 8);
            }
            add(values, width * 8);
        }
        Ok(())
    }
}

/// A converter to bytes that compare as the columns do; floats must be made integers by [`comparable`] before.
pub(super) fn row_converter(types: &[ArrowType], options: SortOptions) -> Result<RowConverter> {
    let fields = types.iter().map(|t| {
        let t = match t {
            ArrowType::Float32 | ArrowType::Float64 => ArrowType::UInt64,
            ArrowType::Boolean
            | ArrowType::Int8
            | ArrowType::Int16
            | ArrowType::Int32
            | ArrowType::Int64
            | ArrowType::Date32
            | ArrowType::Time32(_)
            | ArrowType::Time64(_)
            | ArrowType::Timestamp(..)
            | ArrowType::Decimal128(..)
            | ArrowType::Utf8
            | ArrowType::Binary => t.clone(),
            other => {
                return Err(Error::unsupported(format!(
                    "rows cannot be ordered by a column of type {other}"
                )));
            }
        };
        Ok(SortField::new_with_options(t, options))
    });
    let fields = fields.collect::<Result<Vec<_>>>()?;
    RowConverter::new(fields).map_err(|e| Error::unsupported("rows cannot be ordered").with_source(e))
}

/// Columns in bytes that compare as a whole.
pub(super) fn to_bytes(converter: &RowConverter, columns: &[ArrayRef]) -> Result<ByteKeys> {
    let columns = columns.iter().map(comparable).collect::<Result<Vec<_>>>()?;
    let wrong = |e| Error::corrupt("key columns cannot be compared").with_source(e);
    let rows = converter.convert_columns(&columns).map_err(wrong)?;
    let bytes = rows.try_into_binary().map_err(wrong)?;
    let (offsets, values, _) = bytes.into_parts();
    Ok(ByteKeys { offsets, values })
}

/// Floats as integers that compare as `Double.compare` does; everything else as it is.
fn comparable(column: &ArrayRef) -> Result<ArrayRef> {
    Ok(match column.data_type() {
        ArrowType::Float32 | ArrowType::Float64 => {
            let values = ordered(column)?;
            make_array(UInt64Array::new(values.into(), column.nulls().cloned()).into())
        }
        _ => column.clone(),
    })
}

/// Bytes that a value takes in an integer key; `None` when it does not fit one.
pub(super) fn width(data_type: &ArrowType) -> Option<u32> {
    Some(match data_type {
        ArrowType::Boolean | ArrowType::Int8 => 1,
        ArrowType::Int16 => 2,
        ArrowType::Int32 | ArrowType::Date32 | ArrowType::Time32(_) | ArrowType::Float32 => 4,
        ArrowType::Int64 | ArrowType::Timestamp(..) | ArrowType::Time64(_) | ArrowType::Float64 => 8,
        ArrowType::Decimal128(precision, _) if *precision <= 18 => 8,
        ArrowType::Decimal128(..) => 16,
        _ => return None,
    })
}

fn natives<T: ArrowPrimitiveType>(column: &ArrayRef) -> Result<ScalarBuffer<T::Native>> {
    let data = column.to_data();
    let buffer = data
        .buffers()
        .first()
        .cloned()
        .unwrap_or_else(|| Buffer::from(Vec::<u8>::new()));
    let size = size_of::<T::Native>();
    if buffer.len() < (data.offset() + data.len()) * size {
        return Err(Error::corrupt("a column is shorter than its batch"));
    }
    Ok(ScalarBuffer::new(buffer, data.offset(), data.len()))
}

fn map<T: ArrowPrimitiveType>(column: &ArrayRef, f: impl Fn(T::Native) -> u64) -> Result<Vec<u64>> {
    Ok(natives::<T>(column)?.iter().map(|v| f(*v)).collect())
}

/// The values of a column of at most eight bytes as unsigned numbers in the same order. What stands for NULL has no meaning.
pub(super) fn ordered(column: &ArrayRef) -> Result<Vec<u64>> {
    match column.data_type() {
        ArrowType::Boolean => Ok(column.as_boolean().values().iter().map(u64::from).collect()),
        ArrowType::Int8 => map::<Int8Type>(column, |v| u64::from(v.cast_unsigned() ^ (1 << 7))),
        ArrowType::Int16 => map::<Int16Type>(column, |v| u64::from(v.cast_unsigned() ^ (1 << 15))),
        ArrowType::Int32 | ArrowType::Date32 | ArrowType::Time32(_) => {
            map::<Int32Type>(column, |v| u64::from(v.cast_unsigned() ^ (1 << 31)))
        }
        ArrowType::Int64 | ArrowType::Timestamp(..) | ArrowType::Time64(_) => {
            map::<Int64Type>(column, |v| v.cast_unsigned() ^ (1 << 63))
        }
        ArrowType::Float32 => map::<Float32Type>(column, |v| {
            let bits = if v.is_nan() {
                f32::NAN.to_bits() & !(1 << 31)
            } else {
                v.to_bits()
            };
            let negative = bits >> 31 == 1;
            u64::from(if negative { !bits } else { bits | 1 << 31 })
        }),
        ArrowType::Float64 => map::<Float64Type>(column, |v| {
            let bits = if v.is_nan() {
                f64::NAN.to_bits() & !(1 << 63)
            } else {
                v.to_bits()
            };
            let negative = bits >> 63 == 1;
            if negative { !bits } else { bits | 1 << 63 }
        }),
        ArrowType::Decimal128(..) => {
            let values = natives::<Decimal128Type>(column)?;
            let nulls = column.nulls();
            let number = |(row, v): (usize, &i128)| match i64::try_from(*v) {
                Ok(v) => Ok(v.cast_unsigned() ^ (1 << 63)),
                Err(_) if nulls.is_some_and(|n| n.is_null(row)) => Ok(0),
                Err(_) => Err(Error::corrupt(format!(
                    "the unscaled decimal {v} has more digits than {}",
                    column.data_type()
                ))),
            };
            values.iter().enumerate().map(number).collect()
        }
        other => Err(Error::unsupported(format!(
            "rows cannot be ordered by a column of type {other}"
        ))),
    }
}

fn ascent<T: Ord>(keys: &[T]) -> Ascent {
    let (mut strict, mut sorted) = (true, true);
    for (a, b) in keys.iter().zip(keys.iter().skip(1)) {
        strict &= a < b;
        sorted &= a <= b;
    }
    match (strict, sorted) {
        (true, _) => Ascent::Strict,
        (_, true) => Ascent::Repeated,
        _ => Ascent::Broken,
    }
}

/// Keys of at most eight bytes.
#[derive(Debug)]
pub(super) struct NarrowKeys(Vec<u64>);

impl Keys for NarrowKeys {
    type Prefix = u64;
    const EXACT: bool = true;

    fn encode(encoder: &KeyEncoder, columns: &[ArrayRef]) -> Result<Self> {
        let mut keys: Vec<u64> = Vec::new();
        encoder.each(columns, |values, bits| {
            if keys.is_empty() {
                keys = values;
            } else {
                let pairs = keys.iter_mut().zip(values);
                pairs.for_each(|(key, value)| *key = *key << bits | value);
            }
        })?;
        Ok(NarrowKeys(keys))
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn compare(&self, row: usize, other: &Self, other_row: usize) -> Ordering {
        self.0.get(row).cmp(&other.0.get(other_row))
    }

    fn prefix(&self, row: usize, _: usize) -> u64 {
        self.0.get(row).copied().unwrap_or_default()
    }

    fn distance(from: u64, prefix: u64) -> Option<u64> {
        prefix.checked_sub(from)
    }

    fn at_distance(from: u64, distance: u64) -> u64 {
        from.wrapping_add(distance)
    }

    fn shared(&self, _: usize, _: &Self, _: usize) -> usize {
        0
    }

    fn ascend(&self) -> Ascent {
        ascent(&self.0)
    }
}

/// Keys of at most sixteen bytes.
#[derive(Debug)]
pub(super) struct WideKeys(Vec<u128>);

impl Keys for WideKeys {
    type Prefix = u128;
    const EXACT: bool = true;

    fn encode(encoder: &KeyEncoder, columns: &[ArrayRef]) -> Result<Self> {
        if let ([16], [column]) = (encoder.widths.as_slice(), columns) {
            // Nothing else fits beside it.
            encoder.check_nulls(columns)?;
            let values = natives::<Decimal128Type>(column)?;
            return Ok(WideKeys(
                values.iter().map(|v| v.cast_unsigned() ^ (1 << 127)).collect(),
            ));
        }
        let mut keys: Vec<u128> = Vec::new();
        encoder.each(columns, |values, bits| {
            if keys.is_empty() {
                keys = values.into_iter().map(u128::from).collect();
            } else {
                let pairs = keys.iter_mut().zip(values);
                pairs.for_each(|(key, value)| *key = *key << bits | u128::from(value));
            }
        })?;
        Ok(WideKeys(keys))
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn compare(&self, row: usize, other: &Self, other_row: usize) -> Ordering {
        self.0.get(row).cmp(&other.0.get(other_row))
    }

    fn prefix(&self, row: usize, _: usize) -> u128 {
        self.0.get(row).copied().unwrap_or_default()
    }

    fn distance(from: u128, prefix: u128) -> Option<u64> {
        prefix.checked_sub(from).and_then(|d| u64::try_from(d).ok())
    }

    fn at_distance(from: u128, distance: u64) -> u128 {
        from.wrapping_add(u128::from(distance))
    }

    fn shared(&self, _: usize, _: &Self, _: usize) -> usize {
        0
    }

    fn ascend(&self) -> Ascent {
        ascent(&self.0)
    }
}

/// Keys of any length: strings, or columns put together by `arrow-row`.
#[derive(Debug)]
pub(super) struct ByteKeys {
    offsets: OffsetBuffer<i32>,
    values: Buffer,
}

impl ByteKeys {
    pub(super) fn get(&self, row: usize) -> &[u8] {
        let bound = |at: usize| self.offsets.get(at).map_or(0, |offset| *offset as usize);
        self.values.get(bound(row)..bound(row + 1)).unwrap_or_default()
    }
}

impl Keys for ByteKeys {
    type Prefix = u128;
    const EXACT: bool = false;

    fn encode(encoder: &KeyEncoder, columns: &[ArrayRef]) -> Result<Self> {
        encoder.check_nulls(columns)?;
        if let Some(converter) = &encoder.rows {
            return to_bytes(converter, columns);
        }
        let [column] = columns else {
            return Err(Error::invalid(format!(
                "expected one key column, found {}",
                columns.len()
            )));
        };
        if let Some(strings) = column.as_string_opt::<i32>() {
            let (offsets, values) = (strings.offsets().clone(), strings.values().clone());
            return Ok(ByteKeys { offsets, values });
        }
        let bytes = column.as_binary_opt::<i32>().ok_or_else(|| {
            Error::corrupt(format!(
                "a key column is of type {}, expected bytes",
                column.data_type()
            ))
        })?;
        let (offsets, values) = (bytes.offsets().clone(), bytes.values().clone());
        Ok(ByteKeys { offsets, values })
    }

    fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn compare(&self, row: usize, other: &Self, other_row: usize) -> Ordering {
        self.get(row).cmp(other.get(other_row))
    }

    fn prefix(&self, row: usize, skip: usize) -> u128 {
        let rest = self.get(row).get(skip..).unwrap_or_default();
        if let Some(first) = rest.first_chunk::<16>() {
            return u128::from_be_bytes(*first);
        }
        let mut padded = [0; 16];
        padded.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        u128::from_be_bytes(padded)
    }

    fn distance(_: u128, _: u128) -> Option<u64> {
        None
    }

    fn at_distance(from: u128, _: u64) -> u128 {
        from
    }

    fn shared(&self, row: usize, other: &Self, other_row: usize) -> usize {
        let (a, b) = (self.get(row), other.get(other_row));
        a.iter().zip(b).take_while(|(a, b)| a == b).count()
    }

    fn ascend(&self) -> Ascent {
        let mut found = Ascent::Strict;
        let mut rows = (0..self.len()).map(|row| self.get(row));
        let Some(mut before) = rows.next() else {
            return found;
        };
        for key in rows {
            match before.cmp(key) {
                Ordering::Less => {}
                Ordering::Equal => found = Ascent::Repeated,
                Ordering::Greater => return Ascent::Broken,
            }
            before = key;
        }
        found
    }
}
