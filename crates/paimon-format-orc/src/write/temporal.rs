// SPDX-License-Identifier: Apache-2.0

//! Timestamps as ORC files of the Java product have them.
//!
//! Three things are theirs. Days before 1582-10-15 are counted in the Julian calendar (the footer says so), because
//! `java.sql.Timestamp` shows them that way. Seconds of times before 1970 are rounded towards zero when there is a
//! millisecond or more of fraction, and readers take one off again; nobody can therefore tell the last second before 1970 from the
//! first one after it. And seconds count from 2015.

use paimon_types::text::{civil_from_days, days_from_civil};
use paimon_types::{Error, Result};

/// 2015-01-01 00:00:00 UTC.
const BASE_SECONDS: i64 = 1_420_070_400;
const SECONDS_OF_DAY: i64 = 86_400;
/// 1582-10-15, the first day of the Gregorian calendar, in days since 1970-01-01.
const FIRST_GREGORIAN_DAY: i64 = -141_427;
/// 1582-10-04 was the day before it.
const LAST_JULIAN_DAY: (i64, u8, u8) = (1582, 10, 4);
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

/// `seconds` since 1970, rounded down, and `nanos` of the second. With `hybrid` as wall clock of the Julian and Gregorian
/// calendar, else as instant.
///
/// # Errors
/// `InvalidInput` for what readers would take for another time, and for times beyond 64-bit milliseconds.
pub(super) fn store(seconds: i64, nanos: u32, hybrid: bool) -> Result<Stored> {
    let moved = if hybrid { to_hybrid(seconds)? } else { seconds };
    let truncated = match moved < 0 && nanos >= NANOS_OF_MILLI {
        true if moved == -1 => {
            return Err(Error::invalid(format!(
                "timestamp is 1969-12-31 23:59:59.{nanos:09}, which readers of orc take for one second later"
            ))
            .with("hint", "the last second before 1970 can be stored in parquet"));
        }
        true => moved + 1,
        false => moved,
    };
    let millis = moved
        .checked_mul(1000)
        .and_then(|millis| millis.checked_add(i64::from(nanos / NANOS_OF_MILLI)));
    match (truncated.checked_sub(BASE_SECONDS), millis) {
        (Some(seconds), Some(millis)) => Ok(Stored {
            seconds,
            nanos: shorten(nanos),
            bound: (millis, nanos % NANOS_OF_MILLI),
        }),
        _ => Err(Error::invalid(format!(
            "timestamp is {seconds} seconds from 1970, which is out of the range of orc"
        ))),
    }
}

/// Nanoseconds without trailing zeros, whose number less one is in the lowest three bits; a single zero stays.
fn shorten(nanos: u32) -> i64 {
    if nanos == 0 || nanos % 100 != 0 {
        return i64::from(nanos) << 3;
    }
    let mut rest = nanos / 100;
    let mut zeros = 1;
    while rest % 10 == 0 && zeros < 7 {
        rest /= 10;
        zeros += 1;
    }
    (i64::from(rest) << 3) | zeros
}

/// The instant at which a clock of the Julian and Gregorian calendar shows what one of the Gregorian calendar shows at
/// `seconds`.
fn to_hybrid(seconds: i64) -> Result<i64> {
    let day = seconds.div_euclid(SECONDS_OF_DAY);
    if day >= FIRST_GREGORIAN_DAY {
        return Ok(seconds);
    }
    let date = civil_from_days(day);
    if date > LAST_JULIAN_DAY {
        let (year, month, day) = date;
        return Err(Error::invalid(format!(
            "timestamp is on {year}-{month:02}-{day:02}, a day that the calendar of orc files does not have"
        ))
        .with("hint", "the days from 1582-10-05 to 1582-10-14 can be stored in parquet"));
    }
    let (year, month, day) = date;
    let julian = days_from_julian(year, month, day);
    Ok(julian * SECONDS_OF_DAY + seconds.rem_euclid(SECONDS_OF_DAY))
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

    fn seconds(year: i64, month: u8, day: u8) -> i64 {
        days_from_civil(year, month, day) * SECONDS_OF_DAY
    }

    #[test]
    fn days_before_the_reform_are_julian() {
        // What Java wrote for these wall clocks.
        assert_eq!(to_hybrid(seconds(1, 1, 1)).unwrap(), -62_135_769_600);
        assert_eq!(to_hybrid(seconds(1582, 10, 4)).unwrap(), seconds(1582, 10, 14));
        assert_eq!(to_hybrid(seconds(1582, 10, 15)).unwrap(), seconds(1582, 10, 15));
        assert_eq!(to_hybrid(seconds(1500, 2, 28) + 5).unwrap(), seconds(1500, 3, 9) + 5);
        assert_eq!(to_hybrid(seconds(1500, 3, 1)).unwrap(), seconds(1500, 3, 11));
        assert_eq!(to_hybrid(seconds(250, 1, 1)).unwrap(), seconds(250, 1, 1));
        assert!(to_hybrid(seconds(1582, 10, 5)).is_err());
        assert!(to_hybrid(seconds(1582, 10, 14) + 86_399).is_err());
    }

    #[test]
    fn fractions_before_1970_are_rounded_towards_zero() {
        assert_eq!(store(-2, 500_000_000, true).unwrap().seconds, -1 - BASE_SECONDS);
        assert_eq!(store(-2, 999_999, true).unwrap().seconds, -2 - BASE_SECONDS);
        assert_eq!(store(-1, 999_999, true).unwrap().seconds, -1 - BASE_SECONDS);
        assert!(store(-1, 1_000_000, true).is_err());
        assert_eq!(store(0, 1_000_000, true).unwrap().seconds, -BASE_SECONDS);
        assert_eq!(store(-2, 500_000_001, true).unwrap().bound, (-1500, 1));
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
