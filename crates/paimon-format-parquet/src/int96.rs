// SPDX-License-Identifier: Apache-2.0

//! INT96 timestamps: 8 bytes nanoseconds of the day and 4 bytes Julian day, both little endian (`data-files.md` 3).

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowTimestampType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, PrimitiveArray};
use arrow_buffer::Buffer;
use arrow_schema::TimeUnit;
use paimon_types::{Error, Result};

use crate::schema::INT96_BYTES;

const JULIAN_DAY_OF_EPOCH: i64 = 2_440_588;
const SECONDS_OF_DAY: i64 = 86_400;
const NANOS_OF_DAY: i128 = 86_400_000_000_000;

/// Units of one second and nanoseconds of one unit.
const fn unit_size(unit: TimeUnit) -> (i64, i64) {
    match unit {
        TimeUnit::Second => (1, 1_000_000_000),
        TimeUnit::Millisecond => (1_000, 1_000_000),
        TimeUnit::Microsecond => (1_000_000, 1_000),
        TimeUnit::Nanosecond => (1_000_000_000, 1),
    }
}

/// The bytes of a timestamp in `unit` since the epoch; `None` when its Julian day does not fit 32 bits.
fn encode_value(value: i64, unit: TimeUnit) -> Option<[u8; 12]> {
    let (per_second, nanos) = unit_size(unit);
    let per_day = per_second * SECONDS_OF_DAY;
    let day = i32::try_from(value.div_euclid(per_day) + JULIAN_DAY_OF_EPOCH).ok()?;
    let nanos_of_day = value.rem_euclid(per_day) * nanos;
    let mut bytes = [0; 12];
    let (low, high) = bytes.split_at_mut(8);
    low.copy_from_slice(&nanos_of_day.to_le_bytes());
    high.copy_from_slice(&day.to_le_bytes());
    Some(bytes)
}

/// The value in `unit` since the epoch, floored; `None` when it does not fit 64 bits.
fn decode_value(bytes: &[u8], unit: TimeUnit) -> Option<i64> {
    let (nanos, day) = bytes.split_first_chunk::<8>()?;
    let day = i64::from(i32::from_le_bytes(day.try_into().ok()?)) - JULIAN_DAY_OF_EPOCH;
    let nanos = i64::from_le_bytes(*nanos);
    let (per_second, nanos_of_unit) = unit_size(unit);
    // The usual case needs no 128 bit arithmetic: whole units of the day, and the day fits.
    if let Some(sum) = (day * SECONDS_OF_DAY)
        .checked_mul(per_second)
        .and_then(|units| units.checked_add(nanos.div_euclid(nanos_of_unit)))
    {
        return Some(sum);
    }
    let total = i128::from(day) * NANOS_OF_DAY + i128::from(nanos);
    i64::try_from(total.div_euclid(i128::from(nanos_of_unit))).ok()
}

/// Encodes a timestamp array of any unit.
pub(crate) fn encode(array: &ArrayRef, unit: TimeUnit) -> Result<ArrayRef> {
    match unit {
        TimeUnit::Second => encode_typed(array.as_primitive::<TimestampSecondType>(), unit),
        TimeUnit::Millisecond => encode_typed(array.as_primitive::<TimestampMillisecondType>(), unit),
        TimeUnit::Microsecond => encode_typed(array.as_primitive::<TimestampMicrosecondType>(), unit),
        TimeUnit::Nanosecond => encode_typed(array.as_primitive::<TimestampNanosecondType>(), unit),
    }
}

fn encode_typed<T: ArrowTimestampType>(array: &PrimitiveArray<T>, unit: TimeUnit) -> Result<ArrayRef> {
    let mut bytes = Vec::with_capacity(array.len() * INT96_BYTES as usize);
    for (row, value) in array.values().iter().enumerate() {
        match encode_value(*value, unit) {
            _ if array.is_null(row) => bytes.extend_from_slice(&[0; 12]),
            Some(value) => bytes.extend_from_slice(&value),
            None => {
                return Err(Error::invalid(format!(
                    "timestamp {value} {unit:?} is outside of the INT96 range"
                )));
            }
        }
    }
    let array = FixedSizeBinaryArray::try_new(INT96_BYTES, Buffer::from_vec(bytes), array.nulls().cloned())
        .map_err(|e| Error::invalid(e.to_string()))?;
    Ok(Arc::new(array))
}

/// Decodes to `unit`; the error tells the first row whose value does not fit.
pub(crate) fn decode<T: ArrowTimestampType>(array: &FixedSizeBinaryArray) -> Result<PrimitiveArray<T>, i128> {
    let mut values = Vec::with_capacity(array.len());
    for row in 0..array.len() {
        if array.is_null(row) {
            values.push(0);
            continue;
        }
        let bytes = array.value(row);
        match decode_value(bytes, T::UNIT) {
            Some(value) => values.push(value),
            None => return Err(total_nanos(bytes)),
        }
    }
    Ok(PrimitiveArray::new(values.into(), array.nulls().cloned()))
}

fn total_nanos(bytes: &[u8]) -> i128 {
    let (Some(nanos), Some(day)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<4>()) else {
        return 0;
    };
    i128::from(i64::from(i32::from_le_bytes(*day)) - JULIAN_DAY_OF_EPOCH) * NANOS_OF_DAY
        + i128::from(i64::from_le_bytes(*nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn int96_round_trips_in_every_unit() {
        for unit in [
            TimeUnit::Second,
            TimeUnit::Millisecond,
            TimeUnit::Microsecond,
            TimeUnit::Nanosecond,
        ] {
            for value in [
                0,
                1,
                -1,
                999,
                -999,
                1_700_000_000,
                -62_135_596_800,
                253_402_300_799,
            ] {
                assert_eq!(
                    decode_value(&encode_value(value, unit).unwrap(), unit),
                    Some(value),
                    "{value} {unit:?}"
                );
            }
        }
        assert_eq!(
            decode_value(
                &encode_value(i64::MIN, TimeUnit::Nanosecond).unwrap(),
                TimeUnit::Nanosecond
            ),
            Some(i64::MIN)
        );
        assert_eq!(
            decode_value(
                &encode_value(i64::MAX, TimeUnit::Nanosecond).unwrap(),
                TimeUnit::Nanosecond
            ),
            Some(i64::MAX)
        );
    }

    #[test]
    fn int96_does_not_wrap() {
        // 9999-12-31 23:59:59.999173 does not fit nanoseconds, but microseconds.
        let bytes = encode_value(253_402_300_799_999_173, TimeUnit::Microsecond).unwrap();
        assert_eq!(decode_value(&bytes, TimeUnit::Nanosecond), None);
        assert_eq!(
            decode_value(&bytes, TimeUnit::Microsecond),
            Some(253_402_300_799_999_173)
        );
        assert_eq!(encode_value(i64::MAX, TimeUnit::Second), None);
    }

    #[test]
    fn negative_nanos_of_day_are_the_time_before() {
        // Truncation toward zero, as Java writes times before 1970: day 0, −1 ns.
        let mut bytes = [0u8; 12];
        bytes[..8].copy_from_slice(&(-1i64).to_le_bytes());
        bytes[8..].copy_from_slice(&(JULIAN_DAY_OF_EPOCH as i32).to_le_bytes());
        assert_eq!(decode_value(&bytes, TimeUnit::Nanosecond), Some(-1));
        assert_eq!(decode_value(&bytes, TimeUnit::Millisecond), Some(-1));
    }
}
