// SPDX-License-Identifier: Apache-2.0

//! Values of arrays that are not NULL, and what statistics and bloom filters take of them.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ByteArrayType, Date32Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType, Utf8Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, GenericByteArray};
use arrow_buffer::{ArrowNativeType, NullBuffer};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use paimon_types::{Error, Result};

use super::bloom::Bloom;
use super::bounds::{widen, widen_bytes};
use super::codec::Compressor;
use super::statistics::Values as Collected;
use super::stream::Stream;
use super::strings::Strings;

/// Calls `each` for every value that is not NULL.
pub(super) fn for_each_valid<T: Copy>(values: &[T], nulls: Option<&NullBuffer>, mut each: impl FnMut(T)) {
    match nulls {
        None => values.iter().for_each(|value| each(*value)),
        Some(nulls) => {
            for (start, end) in nulls.valid_slices() {
                let run = values.get(start..end).unwrap_or_default();
                run.iter().for_each(|value| each(*value));
            }
        }
    }
}

/// Values that are not NULL, in `to`.
pub(super) fn compact<T: Copy>(
    values: &[T],
    nulls: Option<&NullBuffer>,
    to: &mut Vec<i64>,
    convert: impl Fn(T) -> i64,
) {
    to.clear();
    match nulls {
        None => to.extend(values.iter().map(|value| convert(*value))),
        Some(nulls) => {
            for (start, end) in nulls.valid_slices() {
                let run = values.get(start..end).unwrap_or_default();
                to.extend(run.iter().map(|value| convert(*value)));
            }
        }
    }
}

/// The values of an integer column that are not NULL, in `scratch` unless they are there already.
pub(super) fn integers_of<'a>(
    array: &'a ArrayRef,
    nulls: Option<&NullBuffer>,
    scratch: &'a mut Vec<i64>,
) -> Result<&'a [i64]> {
    fn copy<T: ArrowPrimitiveType>(array: &ArrayRef, nulls: Option<&NullBuffer>, to: &mut Vec<i64>)
    where
        i64: From<T::Native>,
    {
        compact(array.as_primitive::<T>().values(), nulls, to, i64::from);
    }
    match array.data_type() {
        ArrowType::Int64 if nulls.is_none() => return Ok(array.as_primitive::<Int64Type>().values()),
        ArrowType::Int64 => copy::<Int64Type>(array, nulls, scratch),
        ArrowType::Int32 => copy::<Int32Type>(array, nulls, scratch),
        ArrowType::Int16 => copy::<Int16Type>(array, nulls, scratch),
        ArrowType::Date32 => copy::<Date32Type>(array, nulls, scratch),
        ArrowType::Time32(TimeUnit::Millisecond) => copy::<Time32MillisecondType>(array, nulls, scratch),
        other => {
            return Err(Error::invalid(format!(
                "column has arrow type {other}, an integer is expected"
            )));
        }
    }
    Ok(scratch)
}

pub(super) fn integer_statistics(values: &[i64], statistics: &mut Collected, bloom: Option<&mut Bloom>) {
    let Some(first) = values.first().copied() else {
        return;
    };
    let (min, max) = values.iter().fold((first, first), |(min, max), value| {
        (min.min(*value), max.max(*value))
    });
    match statistics {
        Collected::Integer { bounds, sum } => {
            widen(bounds, Some((min, max)));
            *sum += match i64::try_from(values.len()) {
                // No sum of that many overflows.
                Ok(count) if count < 1 << 31 && min >= -(1 << 31) && max < 1 << 31 => {
                    i128::from(values.iter().sum::<i64>())
                }
                _ => values.iter().map(|value| i128::from(*value)).sum(),
            };
        }
        // The column is of days, which are 32-bit numbers.
        Collected::Date(bounds) => widen(bounds, Some((min as i32, max as i32))),
        _ => {}
    }
    if let Some(bloom) = bloom {
        values.iter().for_each(|value| bloom.add_long(*value));
    }
}

pub(super) fn double_statistics(value: f64, statistics: &mut Collected, bloom: Option<&mut Bloom>) {
    if let Collected::Double(doubles) = statistics {
        doubles.add(value);
    }
    if let Some(bloom) = bloom {
        bloom.add_double(value);
    }
}

pub(super) fn floats<T: Copy, const N: usize>(
    values: &[T],
    nulls: Option<&NullBuffer>,
    stream: &mut Stream,
    bytes: impl Fn(T) -> [u8; N],
    mut each: impl FnMut(T),
) {
    let out = stream.buffer();
    out.reserve(values.len() * N);
    for_each_valid(values, nulls, |value| {
        out.extend_from_slice(&bytes(value));
        each(value);
    });
}

/// CHAR values without the blanks at their end, `None` when they have none. No reader of Paimon gives those blanks, and statistics
/// and bloom filters have to agree with what is read.
pub(super) fn without_blanks(values: &GenericByteArray<Utf8Type>) -> Option<GenericByteArray<Utf8Type>> {
    let blank = values.iter().flatten().any(|value| value.ends_with(' '));
    blank.then(|| {
        let trimmed = values
            .iter()
            .map(|value| value.map(|value| value.trim_end_matches(' ')));
        trimmed.collect()
    })
}

/// Refuses strings of more characters than the type allows.
pub(super) fn check_lengths(values: &GenericByteArray<Utf8Type>, most: u32) -> Result<()> {
    let most = most as usize;
    for value in values.iter().flatten() {
        // A string has no more characters than bytes.
        if value.len() > most && value.chars().count() > most {
            return Err(Error::invalid(format!(
                "string has {} characters, at most {most} are expected",
                value.chars().count()
            )));
        }
    }
    Ok(())
}

pub(super) fn string_values<T: ByteArrayType>(
    array: &GenericByteArray<T>,
    nulls: Option<&NullBuffer>,
    strings: &mut Strings,
    statistics: &mut Collected,
    bloom: Option<&mut Bloom>,
    positions: &mut [Vec<u64>],
    compressor: &mut Compressor,
) -> Result<()>
where
    T::Native: AsRef<[u8]>,
{
    let values = || array.iter().flatten().map(AsRef::<[u8]>::as_ref);
    match statistics {
        Collected::String { bounds, sum } => {
            let mut values = values();
            if let Some(first) = values.next() {
                let (mut min, mut max, mut total) = (first, first, first.len() as u64);
                for value in values {
                    if value < min {
                        min = value;
                    } else if value > max {
                        max = value;
                    }
                    total += value.len() as u64;
                }
                widen_bytes(bounds, min, max);
                *sum += total;
            }
        }
        Collected::Binary(sum) => *sum += values().map(|value| value.len() as u64).sum::<u64>(),
        _ => {}
    }
    if let Some(bloom) = bloom {
        values().for_each(|value| bloom.add_bytes(value));
    }
    if strings.is_direct() && nulls.is_none() {
        let offsets = array.value_offsets();
        let at = |offset: Option<&T::Offset>| offset.map_or(0, |offset| offset.as_usize());
        let (start, end) = (at(offsets.first()), at(offsets.last()));
        if let Some(bytes) = array.value_data().get(start..end) {
            let lengths = offsets.iter().zip(offsets.iter().skip(1));
            let lengths = lengths.map(|(start, end)| (end.as_usize() - start.as_usize()) as i64);
            strings.write_all(bytes, lengths);
            return Ok(());
        }
    }
    strings.write(values(), positions, compressor)
}
