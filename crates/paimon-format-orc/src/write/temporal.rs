// SPDX-License-Identifier: Apache-2.0

//! Timestamps as ORC files have them.
//!
//! Seconds count from 2015 in the proleptic Gregorian calendar, which is what Java's and C++'s readers take them for. Those of
//! times before 1970 are rounded towards zero when there is a millisecond or more of fraction, and readers take one off
//! again; nobody can therefore tell the last second before 1970 from the first one after it.
//!
//! Java compares statistics and bloom filters with a `java.sql.Timestamp`, which counts days before 1582-10-15 in the Julian
//! calendar. [`julian_millis`] is what it looks for there.

use paimon_types::text::{civil_from_days, days_from_civil};
use paimon_types::{Error, Result};

/// 2015-01-01 00:00:00 UTC.
const BASE_SECONDS: i64 = 1_420_070_400;
const MILLIS_OF_DAY: i64 = 86_400_000;
/// 1582-10-15, the first day of the Gregorian calendar, in days since 1970-01-01.
const FIRST_GREGORIAN_DAY: i64 = -141_427;
/// The last millisecond of the Julian calendar.
pub(super) const LAST_JULIAN_MILLIS: i64 = FIRST_GREGORIAN_DAY * MILLIS_OF_DAY - 1;
/// Smallest fraction that takes part in the rounding.
const NANOS_OF_MILLI: u32 = 1_000_000;

/// A time as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    /// Value of the DATA stream.
    pub(super) seconds: i64,
    /// Value of the SECONDARY stream.
    pub(super) nanos: i64,
    /// What statistics hold: milliseconds, rounded down, and nanoseconds of the millisecond.
    pub(super) bound: (i64, u32),
}

/// `seconds` since 1970, rounded down, and `nanos` of the second.
///
/// # Errors
/// `InvalidInput` for what readers would take for another time, and for times beyond 64-bit milliseconds.
#[inline]
pub(super) fn store(seconds: i64, nanos: u32) -> Result<Stored> {
    let truncated = match seconds < 0 && nanos >= NANOS_OF_MILLI {
        true if seconds == -1 => return Err(last_second(nanos)),
        true => seconds + 1,
        false => seconds,
    };
    let millis = seconds
        .checked_mul(1000)
        .and_then(|millis| millis.checked_add(i64::from(nanos / NANOS_OF_MILLI)));
    match (truncated.checked_sub(BASE_SECONDS), millis) {
        (Some(seconds), Some(millis)) => Ok(Stored {
            seconds,
            nanos: shorten(nanos),
            bound: (millis, nanos % NANOS_OF_MILLI),
        }),
        _ => Err(out_of_range(seconds)),
    }
}

#[cold]
fn last_second(nanos: u32) -> Error {
    Error::invalid(format!(
        "timestamp is 1969-12-31 23:59:59.{nanos:09}, which readers of orc take for one second later"
    ))
    .with("hint", "the last second before 1970 can be stored in parquet")
}

#[cold]
fn out_of_range(seconds: i64) -> Error {
    Error::invalid(format!(
        "timestamp is {seconds} seconds from 1970, which is out of the range of orc"
    ))
}

/// Nanoseconds without trailing zeros, whose number less one is in the lowest three bits; a single zero stays.
fn shorten(nanos: u32) -> i64 {
    if nanos == 0 || !nanos.is_multiple_of(100) {
        return i64::from(nanos) << 3;
    }
    let mut rest = nanos / 100;
    let mut zeros = 1;
    while rest.is_multiple_of(10) && zeros < 7 {
        rest /= 10;
        zeros += 1;
    }
    (i64::from(rest) << 3) | zeros
}

/// Milliseconds of the instant at which a clock of the Julian and Gregorian calendar shows what one of the Gregorian calendar shows
/// at `millis`; `None` where both are the same.
#[inline]
pub(super) fn julian_millis(millis: i64) -> Option<i64> {
    if millis >= FIRST_GREGORIAN_DAY * MILLIS_OF_DAY {
        return None;
    }
    let (year, month, day) = civil_from_days(millis.div_euclid(MILLIS_OF_DAY));
    days_from_julian(year, month, day)
        .checked_mul(MILLIS_OF_DAY)?
        .checked_add(millis.rem_euclid(MILLIS_OF_DAY))
}

/// Days since 1970-01-01 of a date of the Julian calendar that the Gregorian calendar has as well.
fn days_from_julian(year: i64, month: u8, day: u8) -> i64 {
    // Both calendars agree in the third century; every century year before or after that is no leap year in one of
    // them puts a day between them. Years begin in March here.
    let year_from_march = if month <= 2 { year - 1 } else { year };
    let apart = year_from_march.div_euclid(100) - year_from_march.div_euclid(400) - 2;
    days_from_civil(year, month, day) + apart
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(year: i64, month: u8, day: u8) -> i64 {
        days_from_civil(year, month, day) * MILLIS_OF_DAY
    }

    #[test]
    fn days_before_the_reform_are_julian() {
        // What java.sql.Timestamp.valueOf made of these wall clocks.
        assert_eq!(julian_millis(millis(1, 1, 1)), Some(-62_135_769_600_000));
        assert_eq!(julian_millis(millis(1582, 10, 4)), Some(millis(1582, 10, 14)));
        assert_eq!(julian_millis(millis(1582, 10, 10)), Some(millis(1582, 10, 20)));
        assert_eq!(julian_millis(millis(1582, 10, 15)), None);
        assert_eq!(
            julian_millis(millis(1500, 2, 28) + 5),
            Some(millis(1500, 3, 9) + 5)
        );
        assert_eq!(julian_millis(millis(1500, 3, 1)), Some(millis(1500, 3, 11)));
        assert_eq!(julian_millis(millis(250, 1, 1)), Some(millis(250, 1, 1)));
    }

    #[test]
    fn fractions_before_1970_are_rounded_towards_zero() {
        assert_eq!(store(-2, 500_000_000).unwrap().seconds, -1 - BASE_SECONDS);
        assert_eq!(store(-2, 999_999).unwrap().seconds, -2 - BASE_SECONDS);
        assert_eq!(store(-1, 999_999).unwrap().seconds, -1 - BASE_SECONDS);
        assert!(store(-1, 1_000_000).is_err());
        assert_eq!(store(0, 1_000_000).unwrap().seconds, -BASE_SECONDS);
        assert_eq!(store(-2, 500_000_001).unwrap().bound, (-1500, 1));
        assert!(store(i64::MAX / 1000, 999_000_000).is_err());
        assert!(store(i64::MIN / 1000, 0).is_ok());
    }

    #[test]
    fn zeros_of_nanoseconds_are_counted() {
        assert_eq!(shorten(0), 0);
        assert_eq!(shorten(10), 80);
        assert_eq!(shorten(1000), (1 << 3) | 2);
        assert_eq!(shorten(100_000_000), (1 << 3) | 7);
        assert_eq!(shorten(500_000_000), (5 << 3) | 7);
        assert_eq!(shorten(123_456_789), 123_456_789 << 3);
    }
}
