// SPDX-License-Identifier: Apache-2.0

//! Values from the text of a file. Unlike a SQL cast nothing is rounded, cut or moved: a text that the type cannot hold exactly is
//! refused.

use jiff::tz::TimeZone;
use paimon::types::text::{civil_from_days, days_from_civil, from_local, split_offset};
use paimon::types::{
    BoundLiteral, DataType, Datum, Error, Literal, Result, Timestamp, TypeKind, bind_literal,
    datum_from_string,
};

use crate::session::offset_seconds;

const DAY_MILLIS: i64 = 86_400_000;

/// The value of an atomic type from its text. TIMESTAMP_LTZ text without a zone is in `zone`.
pub(crate) fn from_text(text: &str, data_type: &DataType, zone: &TimeZone) -> Result<Datum> {
    match &data_type.kind {
        TypeKind::Char(_) | TypeKind::VarChar(_) => {
            check_chars(text, data_type)?;
            Ok(Datum::String(text.to_owned()))
        }
        TypeKind::Binary(_)
        | TypeKind::VarBinary(_)
        | TypeKind::Blob
        | TypeKind::Geometry(_)
        | TypeKind::Geography { .. } => {
            let bytes = from_hex(text.trim())
                .ok_or_else(|| wrong(text, data_type, "bytes are pairs of hexadecimal digits"))?;
            check_bytes(&bytes, data_type)?;
            Ok(Datum::Bytes(bytes))
        }
        TypeKind::Boolean => datum_from_string(text.trim(), data_type)
            .ok()
            .flatten()
            .ok_or_else(|| wrong(text, data_type, "expected true or false")),
        TypeKind::TinyInt
        | TypeKind::SmallInt
        | TypeKind::Int
        | TypeKind::BigInt
        | TypeKind::Decimal { .. } => number(text.trim(), data_type),
        TypeKind::Float | TypeKind::Double => float(text.trim(), data_type),
        TypeKind::Date => {
            let days = date(text.trim()).and_then(|days| i32::try_from(days).ok());
            days.map(Datum::Date).ok_or_else(|| {
                wrong(
                    text,
                    data_type,
                    "expected a day of the calendar such as 2024-01-31",
                )
            })
        }
        TypeKind::Time(precision) => {
            let hint = "expected a time of day such as 10:30:00";
            let (seconds, nanos) = clock(text.trim()).ok_or_else(|| wrong(text, data_type, hint))?;
            check_fraction(text, nanos, (*precision).min(3), data_type)?;
            let millis = seconds * 1000 + nanos / 1_000_000;
            Ok(Datum::Time(
                i32::try_from(millis).map_err(|_| wrong(text, data_type, hint))?,
            ))
        }
        TypeKind::Timestamp(precision) => {
            let value =
                timestamp(text.trim(), *precision, data_type).map_err(|err| match split_offset(text) {
                    Some(_) => wrong(text, data_type, "the type has no time zone, the text has one"),
                    None => err,
                })?;
            Ok(Datum::Timestamp(value))
        }
        TypeKind::TimestampLtz(precision) => {
            let text = text.trim();
            Ok(Datum::Timestamp(match split_offset(text) {
                Some((local, offset)) => {
                    let value = timestamp(local, *precision, data_type)?;
                    Timestamp {
                        millis: value.millis - i64::from(offset) * 1000,
                        ..value
                    }
                }
                None => from_local(timestamp(text, *precision, data_type)?, &|millis| {
                    offset_seconds(zone, millis)
                }),
            }))
        }
        _ => Err(Error::unsupported(format!(
            "values of type {data_type} cannot be made from text"
        ))),
    }
}

/// The refusal of a text; long texts are cut.
pub(super) fn wrong(text: &str, data_type: &DataType, why: &str) -> Error {
    Error::invalid(format!(
        "'{}' is not a value of type {}: {why}",
        shorten(text),
        data_type.kind
    ))
}

/// At most 80 bytes of a text, for messages.
pub(crate) fn shorten(text: &str) -> String {
    match text.len() {
        0..=80 => text.to_owned(),
        _ => format!(
            "{}…",
            text.get(..text.floor_char_boundary(80)).unwrap_or_default()
        ),
    }
}

/// Refuses a string that is longer than CHAR(n) or VARCHAR(n).
pub(super) fn check_chars(text: &str, data_type: &DataType) -> Result<()> {
    let (TypeKind::Char(most) | TypeKind::VarChar(most)) = data_type.kind else {
        return Ok(());
    };
    // A character has at least one byte.
    if text.len() <= most as usize {
        return Ok(());
    }
    match text.chars().count() {
        count if count <= most as usize => Ok(()),
        count => Err(wrong(text, data_type, &format!("it has {count} characters"))),
    }
}

/// Refuses bytes that are longer than VARBINARY(n) or not exactly as long as BINARY(n).
pub(super) fn check_bytes(bytes: &[u8], data_type: &DataType) -> Result<()> {
    let fits = match data_type.kind {
        TypeKind::Binary(length) => bytes.len() == length as usize,
        TypeKind::VarBinary(most) => bytes.len() <= most as usize,
        _ => true,
    };
    if fits {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{} bytes are not a value of type {}",
        bytes.len(),
        data_type.kind
    )))
}

/// Bytes of a text of hexadecimal digits, `None` when it is not one.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |b: u8| char::from(b).to_digit(16);
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
            _ => None,
        })
        .collect()
}

/// Integers and decimals, by value.
pub(super) fn number(text: &str, data_type: &DataType) -> Result<Datum> {
    // The common case, without the detour over the digits.
    if let Ok(value) = text.parse::<i64>() {
        let fast = match data_type.kind {
            TypeKind::TinyInt => i8::try_from(value).ok().map(Datum::TinyInt),
            TypeKind::SmallInt => i16::try_from(value).ok().map(Datum::SmallInt),
            TypeKind::Int => i32::try_from(value).ok().map(Datum::Int),
            TypeKind::BigInt => Some(Datum::BigInt(value)),
            _ => None,
        };
        if let Some(value) = fast {
            return Ok(value);
        }
    }
    match bind_literal(Literal::Number(text), data_type) {
        Ok(BoundLiteral::Exact(value)) => Ok(value),
        Ok(BoundLiteral::Below) => Err(wrong(text, data_type, "it is too small")),
        Ok(BoundLiteral::Above) => Err(wrong(text, data_type, "it is too large")),
        Ok(_) => Err(wrong(
            text,
            data_type,
            match data_type.kind {
                TypeKind::Decimal { .. } => "it has more digits behind the point than the type",
                _ => "it has a fraction",
            },
        )),
        Err(_) => Err(wrong(text, data_type, "it is no number")),
    }
}

/// The nearest value; infinity only when the text says so.
pub(super) fn float(text: &str, data_type: &DataType) -> Result<Datum> {
    let special = match text.to_ascii_lowercase().as_str() {
        "nan" => Some(f64::NAN),
        "infinity" | "+infinity" => Some(f64::INFINITY),
        "-infinity" => Some(f64::NEG_INFINITY),
        _ => None,
    };
    let plain = text
        .bytes()
        .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    if special.is_none() && !plain {
        return Err(wrong(text, data_type, "it is no number"));
    }
    let (value, finite) = match data_type.kind {
        TypeKind::Float => {
            let value = match special {
                Some(value) => Some(value as f32),
                None => text.parse::<f32>().ok(),
            };
            (value.map(Datum::Float), value.is_none_or(f32::is_finite))
        }
        _ => {
            let value = special.or_else(|| text.parse::<f64>().ok());
            (value.map(Datum::Double), value.is_none_or(f64::is_finite))
        }
    };
    match value {
        None => Err(wrong(text, data_type, "it is no number")),
        Some(_) if special.is_none() && !finite => {
            Err(wrong(text, data_type, "it is beyond the range of the type"))
        }
        Some(value) => Ok(value),
    }
}

/// A number of `min` to `max` digits.
fn digits(text: &str, min: usize, max: usize) -> Option<i64> {
    let valid = (min..=max).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if valid { text.parse().ok() } else { None }
}

/// Days of `yyyy-M-d`, a day that the calendar has; years beyond 9999 and before 0 have a sign.
pub(super) fn date(text: &str) -> Option<i64> {
    let (sign, unsigned) = match text.as_bytes().first()? {
        b'-' => (-1, text.get(1..)?),
        b'+' => (1, text.get(1..)?),
        _ => (1, text),
    };
    let mut parts = unsigned.splitn(3, '-');
    let year = sign * digits(parts.next()?, 4, 9)?;
    let month = u8::try_from(digits(parts.next()?, 1, 2)?).ok()?;
    let day = u8::try_from(digits(parts.next()?, 1, 2)?).ok()?;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let days = days_from_civil(year, month, day);
    (civil_from_days(days) == (year, month, day)).then_some(days)
}

/// Seconds of the day and nanoseconds of `H:mm[:ss[.f]]`.
fn clock(text: &str) -> Option<(i64, i64)> {
    let mut parts = text.splitn(3, ':');
    let hour = digits(parts.next()?, 1, 2)?;
    let minute = digits(parts.next()?, 1, 2)?;
    let (second, fraction) = match parts.next() {
        None => (0, None),
        Some(second) => match second.split_once('.') {
            Some((second, fraction)) => (digits(second, 1, 2)?, Some(fraction)),
            None => (digits(second, 1, 2)?, None),
        },
    };
    let nanos = match fraction {
        None => 0,
        Some(f) => digits(f, 1, 9)? * 10i64.pow(9 - u32::try_from(f.len()).ok()?),
    };
    (hour < 24 && minute < 60 && second < 60).then_some(((hour * 60 + minute) * 60 + second, nanos))
}

fn check_fraction(text: &str, nanos: i64, precision: u8, data_type: &DataType) -> Result<()> {
    if nanos % 10i64.pow(u32::from(9 - precision.min(9))) == 0 {
        return Ok(());
    }
    Err(wrong(
        text,
        data_type,
        "it has more digits of the second than the type",
    ))
}

/// The wall clock of `yyyy-M-d[( |T)H:mm[:ss[.f]]]`.
fn timestamp(text: &str, precision: u8, data_type: &DataType) -> Result<Timestamp> {
    let hint = "expected a time of the calendar such as 2024-01-31 10:30:00";
    let parsed = match text.split_once([' ', 'T', 't']) {
        Some((day, time)) => date(day).zip(clock(time)),
        None => date(text).map(|days| (days, (0, 0))),
    };
    let (days, (seconds, nanos)) = parsed.ok_or_else(|| wrong(text, data_type, hint))?;
    check_fraction(text, nanos, precision, data_type)?;
    let millis = days * DAY_MILLIS + seconds * 1000 + nanos / 1_000_000;
    Ok(Timestamp {
        millis,
        nanos_of_milli: i32::try_from(nanos % 1_000_000).unwrap_or_default(),
    })
}
