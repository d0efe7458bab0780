// SPDX-License-Identifier: Apache-2.0

//! Values as text and back by the SQL cast rules (Java `org.apache.paimon.casting`, `DateTimeUtils`, `BinaryStringUtils`;
//! `data-files.md` 17.2, 17.3).

use crate::{DataType, Datum, Error, Result};

/// Offset from UTC in seconds of the session time zone at an instant in epoch milliseconds.
pub type ZoneOffset<'a> = &'a dyn Fn(i64) -> i32;

/// Offset of UTC, the default zone.
pub fn utc(_millis: i64) -> i32 {
    0
}

/// Cast to STRING; TIMESTAMP_LTZ in UTC.
pub fn datum_to_string(datum: &Datum, data_type: &DataType) -> String {
    datum_to_string_in(datum, data_type, &utc)
}

/// Cast to STRING in a session zone, which only TIMESTAMP_LTZ looks at.
pub fn datum_to_string_in(_datum: &Datum, _data_type: &DataType, _zone: ZoneOffset<'_>) -> String {
    String::new()
}

/// Cast from STRING; TIMESTAMP_LTZ text is taken as UTC. `None` when a DECIMAL does not fit its precision.
///
/// # Errors
/// `InvalidInput` when the text is not a value of the type.
pub fn datum_from_string(text: &str, data_type: &DataType) -> Result<Option<Datum>> {
    datum_from_string_in(text, data_type, &utc)
}

/// Cast from STRING in a session zone, which only TIMESTAMP_LTZ looks at.
///
/// # Errors
/// As [`datum_from_string`].
pub fn datum_from_string_in(
    _text: &str,
    _data_type: &DataType,
    _zone: ZoneOffset<'_>,
) -> Result<Option<Datum>> {
    Err(Error::unsupported("stub"))
}

/// Java `Float.toString` (JDK 19 and later).
pub fn java_float_to_string(value: f32) -> String {
    value.to_string()
}

/// Java `Double.toString` (JDK 19 and later).
pub fn java_double_to_string(value: f64) -> String {
    value.to_string()
}

/// `unscaled` × 10^−`scale` in plain notation with exactly `scale` fraction digits.
pub fn decimal_to_string(unscaled: i128, _scale: u8) -> String {
    unscaled.to_string()
}

/// Year, month (1–12) and day (1–31) of a day number, 0 = 1970-01-01, proleptic Gregorian.
pub fn civil_from_days(_days: i64) -> (i64, u8, u8) {
    (1970, 1, 1)
}

/// Day number of a date, 0 = 1970-01-01, proleptic Gregorian.
pub fn days_from_civil(_year: i64, _month: u8, _day: u8) -> i64 {
    0
}
