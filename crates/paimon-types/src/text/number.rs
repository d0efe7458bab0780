// SPDX-License-Identifier: Apache-2.0

//! Numbers as Java prints and parses them (`Double.toString`, `BigDecimal`, `BinaryStringUtils`).

use std::fmt::Write;

use crate::binary::fits_precision;

/// Java `Float.toString` of JDK 19 and later: the shortest decimal that reads back, at least two digits, plain for 10⁻³ ≤ |x| < 10⁷.
pub fn java_float_to_string(value: f32) -> String {
    let mut digits = format!("{value:e}");
    if has_one_digit(&digits) {
        // Of all decimals of two digits that read back, Java takes the nearest.
        let two = format!("{value:.1e}");
        if two.parse::<f32>().is_ok_and(|back| back == value) {
            digits = two;
        }
    }
    java_notation(&digits, value.is_nan(), value.is_infinite())
}

/// Java `Double.toString` of JDK 19 and later, see [`java_float_to_string`].
pub fn java_double_to_string(value: f64) -> String {
    let mut digits = format!("{value:e}");
    if has_one_digit(&digits) {
        let two = format!("{value:.1e}");
        if two.parse::<f64>().is_ok_and(|back| back == value) {
            digits = two;
        }
    }
    java_notation(&digits, value.is_nan(), value.is_infinite())
}

/// True for `de±n` without a fraction.
fn has_one_digit(text: &str) -> bool {
    !text.contains('.')
}

/// From `-d.ddde-n` to Java's notation.
fn java_notation(text: &str, nan: bool, infinite: bool) -> String {
    let (sign, magnitude) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text),
    };
    if nan {
        return "NaN".to_owned();
    }
    if infinite {
        return format!("{sign}Infinity");
    }
    let (mantissa, exponent) = magnitude.split_once('e').unwrap_or((magnitude, "0"));
    let (first, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (rest, exponent) = (rest.trim_end_matches('0'), exponent.parse::<i32>().unwrap_or(0));
    let mut out = String::with_capacity(text.len() + 8);
    out.push_str(sign);
    match exponent {
        0..=6 => {
            let point = exponent as usize;
            let (integer, fraction) = rest.split_at_checked(point).unwrap_or((rest, ""));
            out.push_str(first);
            out.push_str(integer);
            out.extend(std::iter::repeat_n('0', point - integer.len()));
            out.push('.');
            out.push_str(if fraction.is_empty() { "0" } else { fraction });
        }
        -3..=-1 => {
            out.push_str("0.");
            out.extend(std::iter::repeat_n('0', exponent.unsigned_abs() as usize - 1));
            out.push_str(first);
            out.push_str(rest);
        }
        _ => {
            out.push_str(first);
            out.push('.');
            out.push_str(if rest.is_empty() { "0" } else { rest });
            // Writing to a String cannot fail.
            let _ = write!(out, "E{exponent}");
        }
    }
    out
}

/// `unscaled` × 10^−`scale` in plain notation with exactly `scale` fraction digits (Java `BigDecimal.toPlainString`).
pub fn decimal_to_string(unscaled: i128, scale: u8) -> String {
    let digits = unscaled.unsigned_abs().to_string();
    let scale = usize::from(scale);
    let sign = if unscaled < 0 { "-" } else { "" };
    if scale == 0 {
        return format!("{sign}{digits}");
    }
    let padded = format!("{digits:0>width$}", width = scale + 1);
    let (integer, fraction) = padded
        .split_at_checked(padded.len() - scale)
        .unwrap_or((&padded, ""));
    format!("{sign}{integer}.{fraction}")
}

/// Integer with optional sign; `.digits` behind it is checked and dropped when `fraction` is true (SQL cast), refused when false (Java
/// `parseInt`). `None` when malformed or outside of i64.
pub(super) fn parse_integer(text: &str, fraction: bool) -> Option<i64> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        all => (false, all),
    };
    let point = digits.iter().position(|b| *b == b'.');
    let (integer, rest) = match point {
        Some(at) if fraction => (digits.get(..at)?, digits.get(at + 1..)?),
        _ => (digits, &[] as &[u8]),
    };
    let empty = integer.is_empty() && point.is_none_or(|_| !fraction);
    if empty || !integer.iter().chain(rest).all(u8::is_ascii_digit) {
        return None;
    }
    integer.iter().try_fold(0i64, |value, digit| {
        let digit = i64::from(digit - b'0');
        value
            .checked_mul(10)?
            .checked_add(if negative { -digit } else { digit })
    })
}

/// The part of Java's `Double.parseDouble` grammar without hexadecimal forms, as text that Rust parses alike. `None` when malformed.
pub(super) fn java_float_text(text: &str) -> Option<&str> {
    let text = text.trim_matches(|c| c <= ' ');
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, "NaN" | "Infinity") {
        return Some(text);
    }
    let text = text.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(text);
    let well_formed = text
        .bytes()
        .all(|b| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'-' | b'+'));
    well_formed.then_some(text)
}

/// A decimal at `scale`, rounded half up (away from zero) as Java's `BigDecimal` text: outer `None` when malformed, inner `None` when more
/// than `precision` digits would be needed.
pub(super) fn parse_decimal(text: &str, precision: u8, scale: u8) -> Option<Option<i128>> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (text.get(..at)?, parse_exponent(text.get(at + 1..)?)?),
        None => (text, 0),
    };
    let (negative, unsigned) = match mantissa.strip_prefix(['-', '+']) {
        Some(rest) => (mantissa.starts_with('-'), rest),
        None => (false, mantissa),
    };
    let (integer, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    if integer.len() + fraction.len() == 0
        || !integer
            .bytes()
            .chain(fraction.bytes())
            .all(|b| b.is_ascii_digit())
    {
        return None;
    }
    let digits: Vec<u8> = integer
        .bytes()
        .chain(fraction.bytes())
        .map(|b| b - b'0')
        .skip_while(|digit| *digit == 0)
        .collect();
    if digits.is_empty() {
        return Some(Some(0));
    }
    // value = 0.digits × 10^point; the digits up to the last one kept make the unscaled value.
    let leading_zeros = integer.len() + fraction.len() - digits.len();
    let point = integer.len() as i64 - leading_zeros as i64 + exponent;
    let kept = point.saturating_add(i64::from(scale));
    if kept > 39 {
        return Some(None);
    }
    if kept < 0 {
        return Some(Some(0));
    }
    let kept = kept as usize;
    let mut unscaled = 0i128;
    for index in 0..kept {
        let digit = digits.get(index).copied().unwrap_or(0);
        match unscaled
            .checked_mul(10)
            .and_then(|v| v.checked_add(i128::from(digit)))
        {
            Some(next) => unscaled = next,
            None => return Some(None),
        }
    }
    if digits.get(kept).is_some_and(|digit| *digit >= 5) {
        unscaled += 1;
    }
    Some(fits_precision(unscaled, precision).then_some(if negative { -unscaled } else { unscaled }))
}

/// Exponent of a `BigDecimal` text: optional sign, 1 to 10 digits, 32 bit.
fn parse_exponent(text: &str) -> Option<i64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if unsigned.is_empty() || !unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse::<i32>().ok().map(i64::from)
}
