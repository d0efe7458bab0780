// SPDX-License-Identifier: Apache-2.0

//! Dates, times and timestamps as text and back (Java `DateTimeUtils`, `LocalDateTime.toString`).

use std::fmt::Write;

use super::ZoneOffset;
use super::civil::{DAY_MILLIS, civil_from_days, days_from_civil, days_in_month};
use crate::Timestamp;

/// `yyyy-MM-dd`; years outside of 0–9999 in the ISO form with sign (`+10000-01-01`, `-0001-12-31`).
pub fn date_to_string(days: i32) -> String {
    let mut out = String::with_capacity(10);
    push_date(&mut out, i64::from(days));
    out
}

fn push_date(out: &mut String, days: i64) {
    let (year, month, day) = civil_from_days(days);
    let sign = match year {
        0..=9999 => "",
        year if year < 0 => "-",
        _ => "+",
    };
    // Writing to a String cannot fail.
    let _ = write!(out, "{sign}{:04}-{month:02}-{day:02}", year.unsigned_abs());
}

/// `HH:mm:ss`, and for p > 0 a point with up to p digits of the milliseconds, at least one, ending where the rest is zero.
pub fn time_to_string(millis: i32, precision: u8) -> String {
    let millis = if millis < 0 {
        i64::from(millis).rem_euclid(DAY_MILLIS)
    } else {
        i64::from(millis)
    };
    let seconds = millis / 1000;
    let mut out = String::with_capacity(12);
    let _ = write!(
        out,
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    );
    let mut rest = millis % 1000;
    for index in 0..precision {
        if index == 0 {
            out.push('.');
        } else if rest == 0 {
            break;
        }
        out.push(char::from(b'0' + (rest / 100) as u8));
        rest = rest % 100 * 10;
    }
    out
}

/// `yyyy-MM-dd HH:mm:ss` and a fraction of 9 digits whose trailing zeros are removed down to p digits; years as in [`date_to_string`].
pub fn timestamp_to_string(value: Timestamp, precision: u8) -> String {
    let mut out = String::with_capacity(29);
    let (days, millis, nanos) = split(value);
    push_date(&mut out, days);
    let seconds = millis / 1000;
    let _ = write!(
        out,
        " {:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    );
    let mut digits = 9;
    let mut fraction = nanos;
    while digits > precision.min(9) && fraction % 10 == 0 {
        fraction /= 10;
        digits -= 1;
    }
    if digits > 0 {
        let _ = write!(out, ".{fraction:0width$}", width = usize::from(digits));
    }
    out
}

/// Java `LocalDateTime.toString`: `T`, seconds omitted when seconds and fraction are zero, fraction of 3, 6 or 9 digits.
pub fn timestamp_to_iso_string(value: Timestamp) -> String {
    let mut out = String::with_capacity(29);
    let (days, millis, nanos) = split(value);
    push_date(&mut out, days);
    let seconds = millis / 1000;
    let _ = write!(out, "T{:02}:{:02}", seconds / 3600, seconds / 60 % 60);
    if seconds % 60 != 0 || nanos != 0 {
        let _ = write!(out, ":{:02}", seconds % 60);
    }
    let _ = match nanos {
        0 => Ok(()),
        n if n % 1_000_000 == 0 => write!(out, ".{:03}", n / 1_000_000),
        n if n % 1000 == 0 => write!(out, ".{:06}", n / 1000),
        n => write!(out, ".{n:09}"),
    };
    out
}

/// Days, milliseconds of the day, nanoseconds of the second.
fn split(value: Timestamp) -> (i64, i64, i64) {
    let millis = value.millis.rem_euclid(DAY_MILLIS);
    let nanos = millis % 1000 * 1_000_000 + i64::from(value.nanos_of_milli);
    (value.millis.div_euclid(DAY_MILLIS), millis, nanos)
}

/// The wall clock of an instant in a zone, as if UTC.
pub(crate) fn to_local(value: Timestamp, zone: ZoneOffset<'_>) -> Timestamp {
    Timestamp {
        millis: value.millis.saturating_add(i64::from(zone(value.millis)) * 1000),
        ..value
    }
}

/// The instant of a wall clock in a zone: the earlier one when it happens twice, moved on by the gap when it does not happen (as Java).
pub fn from_local(local: Timestamp, zone: ZoneOffset<'_>) -> Timestamp {
    let at = |offset: i32| local.millis.saturating_sub(i64::from(offset) * 1000);
    let before = zone(at(0).saturating_sub(DAY_MILLIS));
    let after = zone(at(0).saturating_add(DAY_MILLIS));
    let offset = if zone(at(before)) != before && zone(at(after)) == after {
        after
    } else {
        before
    };
    Timestamp {
        millis: at(offset),
        ..local
    }
}

/// The text of an instant without its zone suffix, and the suffix as seconds east of UTC: `Z`, `+hh`, `+hh:mm`, `+hhmm` behind a time of
/// day, hours up to 18. `None` when there is none.
pub fn split_offset(text: &str) -> Option<(&str, i32)> {
    let text = text.trim_end();
    // A clock stands before the suffix; the minus of a date does not.
    let clock = text.find(':')?;
    if let Some(local) = text.strip_suffix(['Z', 'z']) {
        return Some((local.trim_end(), 0));
    }
    let at = text.rfind(['+', '-']).filter(|at| *at > clock)?;
    let (local, suffix) = (text.get(..at)?, text.get(at + 1..)?);
    let (hours, minutes) = match suffix.split_once(':') {
        Some((hours, minutes)) => (digits(hours, 1, 2)?, digits(minutes, 2, 2)?),
        None if suffix.len() == 4 => (digits(suffix.get(..2)?, 2, 2)?, digits(suffix.get(2..)?, 2, 2)?),
        None => (digits(suffix, 1, 2)?, 0),
    };
    if hours > 18 || minutes > 59 {
        return None;
    }
    let seconds = i32::try_from((hours * 60 + minutes) * 60).ok()?;
    let negative = text.get(at..)?.starts_with('-');
    Some((local.trim_end(), if negative { -seconds } else { seconds }))
}

/// A text of ASCII digits with an optional minus: epoch numbers.
pub(super) fn parse_epoch(text: &str) -> Option<&str> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then_some(text)
}

/// Days of `y-m-d`, `y-m` or `y` with y 0–9999; text behind the first space is ignored, parts are trimmed.
pub(super) fn parse_date(text: &str) -> Option<i32> {
    let text = text.trim_matches(|c| c <= ' ');
    let text = text.split(' ').next()?;
    let mut parts = text.splitn(3, '-');
    let year = parse_part(parts.next()?)?;
    let month = parts.next().map_or(Some(1), parse_part)?;
    let day = parts.next().map_or(Some(1), parse_part)?;
    let valid = year <= 9999 && (1..=12).contains(&month) && day >= 1;
    if !valid || day > u32::from(days_in_month(i64::from(year), month as u8)) {
        return None;
    }
    i32::try_from(days_from_civil(i64::from(year), month as u8, day as u8)).ok()
}

fn parse_part(text: &str) -> Option<u32> {
    let text = text.trim_matches(|c| c <= ' ');
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// Milliseconds of `h[:m[:s[.fraction]]]` with an optional `+hh[:mm]` or `-hh[:mm]`, whose offset is added. Parts are not range-checked.
pub(super) fn parse_time(text: &str) -> Option<i32> {
    let (clock, shift) = match text.find('-').or_else(|| text.find('+')) {
        Some(at) => {
            let sign = if text.get(at..)?.starts_with('-') { -1 } else { 1 };
            let (hours, minutes) = match text.get(at + 1..)?.split_once(':') {
                Some((hours, minutes)) => (parse_part(hours)?, parse_part(minutes)?),
                None => (parse_part(text.get(at + 1..)?)?, 0),
            };
            (
                text.get(..at)?,
                sign * (i64::from(hours) * 60 + i64::from(minutes)),
            )
        }
        None => (text, 0),
    };
    let mut parts = clock.splitn(3, ':');
    let hour = parse_part(parts.next()?)?;
    let minute = parts.next().map_or(Some(0), parse_part)?;
    let (second, milli) = match parts.next().map(|s| s.split_once('.').unwrap_or((s, ""))) {
        Some((second, fraction)) => (parse_part(second)?, fraction_millis(fraction)),
        None => (0, 0),
    };
    let millis =
        (i64::from(hour) * 60 + i64::from(minute) + shift) * 60_000 + i64::from(second) * 1000 + milli;
    i32::try_from(millis).ok()
}

/// Milliseconds of fraction digits, rounded on the fourth; other characters count as the digit 0, as in Java.
fn fraction_millis(text: &str) -> i64 {
    let text = text.trim_matches(|c| c <= ' ');
    let mut digits = text.chars().map(|c| i64::from(c.to_digit(10).unwrap_or(0)));
    let millis = [100, 10, 1]
        .iter()
        .map(|unit| digits.next().unwrap_or(0) * unit)
        .sum::<i64>();
    millis + i64::from(digits.next().is_some_and(|digit| digit >= 5))
}

/// Wall clock of a timestamp text, floored to `precision` digits: `yyyy-M-d`, `yyyy-M-d H:m:s[.f]`, `yyyy-M-dTH:m[:s[.f]]`. As Java, days up to
/// 31 are cut to the last day of the month, and 24:00:00 is the next day's start. With `any_year`, also the ISO forms of year 0, negative years and
/// years above 9999.
pub(super) fn parse_timestamp(text: &str, precision: u8, any_year: bool) -> Option<Timestamp> {
    let (sign, unsigned) = match text.as_bytes().first()? {
        b'-' if any_year => (-1, text.get(1..)?),
        b'+' if any_year => (1, text.get(1..)?),
        _ => (1, text),
    };
    let (date, clock) = match unsigned.find([' ', 'T']) {
        Some(at) => (
            unsigned.get(..at)?,
            Some((unsigned.get(at..=at)?, unsigned.get(at + 1..)?)),
        ),
        None => (unsigned, None),
    };
    let mut parts = date.splitn(3, '-');
    let year_digits = parts.next()?;
    let year = digits(year_digits, 4, if any_year { 9 } else { 4 })? * sign;
    if !any_year && year == 0 {
        return None;
    }
    let month = digits(parts.next()?, 1, 2)?;
    let day = digits(parts.next()?, 1, 2)?;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let day = (day as u8).min(days_in_month(year, month as u8));
    let days = days_from_civil(year, month as u8, day);
    let (seconds, nanos) = clock.map_or(Some((0, 0)), |(separator, clock)| {
        parse_clock(clock, separator == "T")
    })?;
    let unit = 10i64.pow(u32::from(9 - precision.min(9)));
    let nanos = nanos / unit * unit;
    let millis = days * DAY_MILLIS + seconds * 1000 + nanos / 1_000_000;
    Some(Timestamp {
        millis,
        nanos_of_milli: (nanos % 1_000_000) as i32,
    })
}

/// Seconds and nanoseconds of `H:m:s[.f]`; seconds are optional when `short`.
fn parse_clock(text: &str, short: bool) -> Option<(i64, i64)> {
    let mut parts = text.splitn(3, ':');
    let hour = digits(parts.next()?, 1, 2)?;
    let minute = digits(parts.next()?, 1, 2)?;
    let (second, fraction) = match parts.next() {
        Some(second) => second.split_once('.').unwrap_or((second, "")),
        None if short => ("0", ""),
        None => return None,
    };
    let second = digits(second, 1, 2)?;
    let nanos = match fraction {
        "" => 0,
        f => digits(f, 1, 9)? * 10i64.pow(9 - f.len() as u32),
    };
    if minute > 59 || second > 59 || hour > 24 || (hour == 24 && (minute, second, nanos) != (0, 0, 0)) {
        return None;
    }
    Some(((hour * 60 + minute) * 60 + second, nanos))
}

/// A number of `min` to `max` ASCII digits.
fn digits(text: &str, min: usize, max: usize) -> Option<i64> {
    let valid = (min..=max).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if valid { text.parse().ok() } else { None }
}
