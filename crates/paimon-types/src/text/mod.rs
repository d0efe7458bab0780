// SPDX-License-Identifier: Apache-2.0

//! Values as text and back by the SQL cast rules (Java `org.apache.paimon.casting`, `DateTimeUtils`, `BinaryStringUtils`;
//! `data-files.md` 17.2, 17.3).

mod civil;
mod nested;
mod number;
mod temporal;

use std::fmt::Write;

pub(crate) use civil::days_in_month;
pub use civil::{civil_from_days, days_from_civil};
pub use number::{decimal_to_string, java_double_to_string, java_float_to_string};
pub use temporal::{
    date_to_string, from_local, split_offset, time_to_string, timestamp_to_iso_string, timestamp_to_string,
};

use crate::binary::kind_name;
use crate::{DataType, Datum, Error, MAX_LENGTH, Result, Timestamp, TypeKind};

/// Offset from UTC in seconds of the session time zone at an instant in epoch milliseconds.
pub type ZoneOffset<'a> = &'a dyn Fn(i64) -> i32;

/// Offset of UTC, the default zone.
pub fn utc(_millis: i64) -> i32 {
    0
}

/// Deepest nesting of ARRAY, MAP and ROW text that is read.
const MAX_DEPTH: u32 = 64;

/// Cast to STRING; TIMESTAMP_LTZ in UTC.
///
/// A Java cast names another year for dates outside of 0–9999; this writes the ISO form with sign (`+10000-01-01`). VARIANT has no cast
/// rule here: its parts are shown in hexadecimal.
pub fn datum_to_string(datum: &Datum, data_type: &DataType) -> String {
    datum_to_string_in(datum, data_type, &utc)
}

/// Cast to STRING in a session zone, which only TIMESTAMP_LTZ looks at.
pub fn datum_to_string_in(datum: &Datum, data_type: &DataType, zone: ZoneOffset<'_>) -> String {
    let mut out = String::new();
    push_datum(&mut out, datum, data_type, zone);
    out
}

fn push_datum(out: &mut String, datum: &Datum, data_type: &DataType, zone: ZoneOffset<'_>) {
    // Writing to a String cannot fail.
    let _ = match datum {
        Datum::Boolean(v) => write!(out, "{v}"),
        Datum::TinyInt(v) => write!(out, "{v}"),
        Datum::SmallInt(v) => write!(out, "{v}"),
        Datum::Int(v) => write!(out, "{v}"),
        Datum::BigInt(v) => write!(out, "{v}"),
        Datum::Float(v) => out.write_str(&java_float_to_string(*v)),
        Datum::Double(v) => out.write_str(&java_double_to_string(*v)),
        Datum::String(v) => out.write_str(v),
        Datum::Bytes(v) => out.write_str(&String::from_utf8_lossy(v)),
        Datum::Decimal { unscaled, scale } => out.write_str(&decimal_to_string(*unscaled, *scale)),
        Datum::Date(v) => out.write_str(&date_to_string(*v)),
        Datum::Time(v) => {
            let precision = if let TypeKind::Time(p) = data_type.kind {
                p
            } else {
                3
            };
            out.write_str(&time_to_string(*v, precision))
        }
        Datum::Timestamp(v) => out.write_str(&match data_type.kind {
            TypeKind::TimestampLtz(p) => timestamp_to_string(temporal::to_local(*v, zone), p),
            TypeKind::Timestamp(p) => timestamp_to_string(*v, p),
            _ => timestamp_to_string(*v, 0),
        }),
        Datum::Array(values) => {
            let element = match &data_type.kind {
                TypeKind::Array(element) | TypeKind::Vector(element, _) => &**element,
                _ => data_type,
            };
            push_list(out, "[", "]", values.iter().map(|v| (v.as_ref(), element)), zone);
            Ok(())
        }
        Datum::Row(values) => {
            let fields: &[_] = if let TypeKind::Row(fields) = &data_type.kind {
                fields
            } else {
                &[]
            };
            let types = fields
                .iter()
                .map(|f| &f.data_type)
                .chain(std::iter::repeat(data_type));
            push_list(out, "{", "}", values.iter().map(Option::as_ref).zip(types), zone);
            Ok(())
        }
        Datum::Map(entries) => {
            push_map(out, entries, data_type, zone);
            Ok(())
        }
        Datum::Variant { value, metadata } => {
            let _ = out.write_str("variant(value ");
            push_hex(out, value);
            let _ = out.write_str(", metadata ");
            push_hex(out, metadata);
            out.write_str(")")
        }
    };
}

fn push_list<'v>(
    out: &mut String,
    open: &str,
    close: &str,
    values: impl Iterator<Item = (Option<&'v Datum>, &'v DataType)>,
    zone: ZoneOffset<'_>,
) {
    out.push_str(open);
    for (index, (value, data_type)) in values.enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        push_nullable(out, value, data_type, zone);
    }
    out.push_str(close);
}

fn push_map(
    out: &mut String,
    entries: &[(Option<Datum>, Option<Datum>)],
    data_type: &DataType,
    zone: ZoneOffset<'_>,
) {
    let count = DataType::required(TypeKind::Int);
    let (key_type, value_type) = match &data_type.kind {
        TypeKind::Map(key, value) => (key.as_ref(), value.as_ref()),
        TypeKind::Multiset(element) => (element.as_ref(), &count),
        _ => (data_type, data_type),
    };
    out.push('{');
    for (index, (key, value)) in entries.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        push_nullable(out, key.as_ref(), key_type, zone);
        out.push_str(" -> ");
        push_nullable(out, value.as_ref(), value_type, zone);
    }
    out.push('}');
}

fn push_nullable(out: &mut String, value: Option<&Datum>, data_type: &DataType, zone: ZoneOffset<'_>) {
    match value {
        Some(value) => push_datum(out, value, data_type, zone),
        None => out.push_str("null"),
    }
}

fn push_hex(out: &mut String, bytes: &[u8]) {
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
}

/// Cast from STRING (`data-files.md` 17.3); TIMESTAMP_LTZ text is taken as UTC. `None` when a DECIMAL does not fit its precision.
///
/// As in Java: text is cut to the length of CHAR, VARCHAR, BINARY and VARBINARY, CHAR is padded with spaces and BINARY with zeros;
/// all-digit text of DATE, TIME and TIMESTAMP is an epoch number; a day that the month of a TIMESTAMP lacks becomes its last day; of equal
/// keys of a MAP the last value counts.
///
/// # Errors
/// `InvalidInput` when the text is not a value of the type, `Unsupported` for types without a cast and for hexadecimal floats.
pub fn datum_from_string(text: &str, data_type: &DataType) -> Result<Option<Datum>> {
    datum_from_string_in(text, data_type, &utc)
}

/// Cast from STRING in a session zone, which only TIMESTAMP_LTZ looks at.
///
/// # Errors
/// As [`datum_from_string`].
pub fn datum_from_string_in(text: &str, data_type: &DataType, zone: ZoneOffset<'_>) -> Result<Option<Datum>> {
    parse(text, data_type, zone, 0)
}

fn parse(text: &str, data_type: &DataType, zone: ZoneOffset<'_>, depth: u32) -> Result<Option<Datum>> {
    if depth > MAX_DEPTH {
        return Err(Error::unsupported(format!(
            "text nested deeper than {MAX_DEPTH} levels is not supported"
        )));
    }
    let malformed = || malformed(text, data_type);
    let each = |part: &str, data_type: &DataType| match part {
        "null" => Ok(None),
        part => parse(part, data_type, zone, depth + 1),
    };
    let integer = || number::parse_integer(text, true).ok_or_else(malformed);
    let out_of_range = |_| malformed();
    Ok(Some(match &data_type.kind {
        TypeKind::Char(n) => Datum::String(pad_chars(cut_chars(text, *n), *n)),
        TypeKind::VarChar(n) => Datum::String(cut_chars(text, *n).to_owned()),
        TypeKind::Binary(n) => {
            let mut bytes = text.as_bytes().to_vec();
            bytes.resize(*n as usize, 0);
            Datum::Bytes(bytes)
        }
        TypeKind::VarBinary(n) => {
            let bytes = text.as_bytes();
            Datum::Bytes(bytes.get(..*n as usize).unwrap_or(bytes).to_vec())
        }
        TypeKind::TinyInt => Datum::TinyInt(i8::try_from(integer()?).map_err(out_of_range)?),
        TypeKind::SmallInt => Datum::SmallInt(i16::try_from(integer()?).map_err(out_of_range)?),
        TypeKind::Int => Datum::Int(i32::try_from(integer()?).map_err(out_of_range)?),
        TypeKind::BigInt => Datum::BigInt(integer()?),
        TypeKind::Array(element) => {
            let body = nested::body(text, '[', ']', "ARRAY").ok_or_else(malformed)?;
            Datum::Array(
                nested::split(body)
                    .into_iter()
                    .map(|part| each(part, element))
                    .collect::<Result<_>>()?,
            )
        }
        TypeKind::Map(key, value) => {
            let body = nested::body(text, '{', '}', "MAP").ok_or_else(malformed)?;
            // Java drops a backslash of a map together with the character behind it, which loses data.
            if body.contains('\\') {
                return Err(Error::unsupported(
                    "a backslash in the text of a MAP is not supported",
                ));
            }
            let parts = nested::split(body)
                .into_iter()
                .map(|part| part.replace('"', ""))
                .collect::<Vec<_>>();
            let pairs: Vec<(&str, &str)> = if nested::is_function(text, "MAP") {
                parts
                    .chunks(2)
                    .map(|pair| {
                        if let [k, v] = pair {
                            Some((k.as_str(), v.as_str()))
                        } else {
                            None
                        }
                    })
                    .collect()
            } else {
                parts
                    .iter()
                    .map(|entry| entry.split_once("->"))
                    .collect::<Option<_>>()
            }
            .ok_or_else(malformed)?;
            let mut entries: Vec<(Option<Datum>, Option<Datum>)> = Vec::with_capacity(pairs.len());
            for (k, v) in pairs {
                let (k, v) = (nested::trim(k), nested::trim(v));
                if k.is_empty() || v.is_empty() {
                    return Err(malformed());
                }
                let (k, v) = (each(k, key)?, each(v, value)?);
                match entries.iter_mut().find(|(known, _)| *known == k) {
                    Some(entry) => entry.1 = v,
                    None => entries.push((k, v)),
                }
            }
            Datum::Map(entries)
        }
        TypeKind::Row(fields) => {
            let body = nested::body(text, '{', '}', "STRUCT").ok_or_else(malformed)?;
            let parts = nested::split(body);
            if body.is_empty() {
                return Ok(Some(Datum::Row(vec![None; fields.len()])));
            }
            if parts.len() != fields.len() {
                return Err(malformed());
            }
            Datum::Row(
                parts
                    .iter()
                    .zip(fields)
                    .map(|(part, f)| each(part, &f.data_type))
                    .collect::<Result<_>>()?,
            )
        }
        _ => return parse_common(text, data_type, zone, false),
    }))
}

/// Types that the SQL cast and partition specs read alike. With `any_year`, TIMESTAMP also reads what [`timestamp_to_iso_string`] writes for
/// years outside of 1–9999.
pub(crate) fn parse_common(
    text: &str,
    data_type: &DataType,
    zone: ZoneOffset<'_>,
    any_year: bool,
) -> Result<Option<Datum>> {
    let malformed = || malformed(text, data_type);
    Ok(Some(match &data_type.kind {
        TypeKind::Boolean => match text.to_ascii_lowercase().as_str() {
            "t" | "true" | "y" | "yes" | "1" => Datum::Boolean(true),
            "f" | "false" | "n" | "no" | "0" => Datum::Boolean(false),
            _ => return Err(malformed()),
        },
        TypeKind::Float => Datum::Float(float_text(text, data_type)?.parse().map_err(|_| malformed())?),
        TypeKind::Double => Datum::Double(float_text(text, data_type)?.parse().map_err(|_| malformed())?),
        TypeKind::Decimal { precision, scale } => {
            let unscaled = number::parse_decimal(text, *precision, *scale).ok_or_else(malformed)?;
            return Ok(unscaled.map(|unscaled| Datum::Decimal {
                unscaled,
                scale: *scale,
            }));
        }
        TypeKind::Date => Datum::Date(
            match temporal::parse_epoch(text) {
                Some(digits) => digits.parse().ok(),
                None => temporal::parse_date(text),
            }
            .ok_or_else(malformed)?,
        ),
        TypeKind::Time(_) => Datum::Time(
            match temporal::parse_epoch(text) {
                Some(digits) => digits.parse().ok(),
                None => temporal::parse_time(text),
            }
            .ok_or_else(malformed)?,
        ),
        TypeKind::Timestamp(p) => Datum::Timestamp(
            match temporal::parse_epoch(text) {
                Some(digits) => epoch_timestamp(digits, *p),
                None => temporal::parse_timestamp(text, *p, any_year),
            }
            .ok_or_else(malformed)?,
        ),
        TypeKind::TimestampLtz(p) => {
            let local = temporal::parse_timestamp(text, *p, any_year).ok_or_else(malformed)?;
            Datum::Timestamp(temporal::from_local(local, zone))
        }
        _ => {
            return Err(Error::unsupported(format!(
                "text cannot be read as {}",
                kind_name(data_type)
            )));
        }
    }))
}

/// Digits as epoch number in the unit of the precision; only 0, 3, 6 and 9 have one.
fn epoch_timestamp(digits: &str, precision: u8) -> Option<Timestamp> {
    let value: i64 = digits.parse().ok()?;
    match precision {
        0 => value.checked_mul(1000).map(Timestamp::from_millis),
        3 => Some(Timestamp::from_millis(value)),
        6 => Some(Timestamp::from_micros(value)),
        9 => Some(Timestamp::from_nanos(i128::from(value))),
        _ => None,
    }
}

fn float_text<'a>(text: &'a str, data_type: &DataType) -> Result<&'a str> {
    number::java_float_text(text).ok_or_else(|| malformed(text, data_type))
}

/// Java `Integer.parseInt`: sign and digits only.
pub(crate) fn parse_plain_integer(text: &str) -> Option<i64> {
    number::parse_integer(text, false)
}

#[cold]
pub(crate) fn malformed(text: &str, data_type: &DataType) -> Error {
    Error::invalid(format!(
        "text '{text}' is not a value of type {}",
        kind_name(data_type)
    ))
}

/// The first `n` code points.
fn cut_chars(text: &str, n: u32) -> &str {
    match text.char_indices().nth(n as usize) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}

fn pad_chars(text: &str, n: u32) -> String {
    let missing = if n == MAX_LENGTH {
        0
    } else {
        (n as usize).saturating_sub(text.chars().count())
    };
    let mut out = text.to_owned();
    out.extend(std::iter::repeat_n(' ', missing));
    out
}
