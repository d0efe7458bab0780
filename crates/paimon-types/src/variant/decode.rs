// SPDX-License-Identifier: Apache-2.0

//! VARIANT values as JSON text (Java `GenericVariant.toJson`).

use std::fmt::Write as _;

use super::MAX_DEPTH;
use crate::text::{civil_from_days, decimal_to_string};
use crate::{Error, Result};

/// The JSON text of a VARIANT value with its metadata (the dictionary of object keys).
///
/// Decimals keep their digits, dates and timestamps are strings, binary is base64, NaN and infinities are strings.
///
/// # Errors
/// `Corrupt` when an offset, a length or a dictionary id points outside; `Unsupported` for primitive types 17 to 19.
pub fn variant_to_json(value: &[u8], metadata: &[u8]) -> Result<String> {
    let keys = Dictionary::new(metadata)?;
    let mut out = String::new();
    // Every output byte comes from an input byte, unless offsets overlap; the limit stops those.
    let limit = value
        .len()
        .saturating_add(metadata.len())
        .saturating_mul(64)
        .saturating_add(1024);
    write_value(&mut out, value, &keys, 0, limit)?;
    Ok(out)
}

fn corrupt(what: &str) -> Error {
    Error::corrupt(format!("a variant value is damaged: {what}"))
}

fn slice<'a>(bytes: &'a [u8], from: usize, len: usize, what: &str) -> Result<&'a [u8]> {
    from.checked_add(len)
        .and_then(|end| bytes.get(from..end))
        .ok_or_else(|| corrupt(what))
}

/// Little-endian unsigned integer of 1 to 4 bytes.
fn unsigned(bytes: &[u8], from: usize, width: usize) -> Result<usize> {
    let raw = slice(bytes, from, width, "an offset lies outside")?;
    Ok(raw.iter().rev().fold(0usize, |n, b| (n << 8) | usize::from(*b)))
}

/// Little-endian two's complement integer of up to 16 bytes.
fn signed(bytes: &[u8], from: usize, width: usize) -> Result<i128> {
    let raw = slice(bytes, from, width, "a number is cut")?;
    let negative = raw.last().is_some_and(|b| b & 0x80 != 0);
    let start: i128 = if negative { -1 } else { 0 };
    Ok(raw.iter().rev().fold(start, |n, b| (n << 8) | i128::from(*b)))
}

struct Dictionary<'a> {
    bytes: &'a [u8],
    width: usize,
    count: usize,
}

impl<'a> Dictionary<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self> {
        let header = *bytes.first().ok_or_else(|| corrupt("the metadata is empty"))?;
        if header & 0x0f != 1 {
            return Err(Error::unsupported(format!(
                "variant metadata of version {}, only 1 is known",
                header & 0x0f
            )));
        }
        let width = usize::from(header >> 6) + 1;
        Ok(Dictionary {
            bytes,
            width,
            count: unsigned(bytes, 1, width)?,
        })
    }

    fn key(&self, id: usize) -> Result<&'a str> {
        if id >= self.count {
            return Err(corrupt("a key id is not in the dictionary"));
        }
        let offset = |i: usize| -> Result<usize> {
            let at = i
                .checked_add(1)
                .and_then(|n| n.checked_mul(self.width))
                .ok_or_else(|| corrupt("an offset overflows"))?;
            unsigned(self.bytes, 1 + at, self.width)
        };
        let (from, to) = (offset(id)?, offset(id + 1)?);
        let base = 1 + (self.count + 2) * self.width;
        let raw = slice(
            self.bytes,
            base + from,
            to.checked_sub(from).ok_or_else(|| corrupt("offsets descend"))?,
            "a key is cut",
        )?;
        std::str::from_utf8(raw).map_err(|_| corrupt("a key is not UTF-8"))
    }
}

fn write_value(
    out: &mut String,
    bytes: &[u8],
    keys: &Dictionary<'_>,
    depth: usize,
    limit: usize,
) -> Result<()> {
    if depth > MAX_DEPTH || out.len() > limit {
        return Err(corrupt("it nests too deeply or repeats itself"));
    }
    let header = *bytes.first().ok_or_else(|| corrupt("a value is empty"))?;
    let info = header >> 2;
    match header & 3 {
        0 => write_primitive(out, bytes, info),
        1 => {
            let raw = slice(bytes, 1, usize::from(info), "a string is cut")?;
            write_string(out, raw)
        }
        2 => {
            let (offset_width, id_width) = (usize::from(info & 3) + 1, usize::from((info >> 2) & 3) + 1);
            let size_width = if info & 0x10 != 0 { 4 } else { 1 };
            let count = unsigned(bytes, 1, size_width)?;
            let ids = 1 + size_width;
            let offsets = count
                .checked_mul(id_width)
                .map(|n| ids + n)
                .ok_or_else(|| corrupt("it is too long"))?;
            let data = (count + 1)
                .checked_mul(offset_width)
                .map(|n| offsets + n)
                .ok_or_else(|| corrupt("it is too long"))?;
            out.push('{');
            for i in 0..count {
                if i > 0 {
                    out.push(',');
                }
                let key = keys.key(unsigned(bytes, ids + i * id_width, id_width)?)?;
                write_string(out, key.as_bytes())?;
                out.push(':');
                let at = data.saturating_add(unsigned(bytes, offsets + i * offset_width, offset_width)?);
                let field = bytes.get(at..).ok_or_else(|| corrupt("a field lies outside"))?;
                write_value(out, field, keys, depth + 1, limit)?;
            }
            out.push('}');
            Ok(())
        }
        _ => {
            let offset_width = usize::from(info & 3) + 1;
            let size_width = if info & 4 != 0 { 4 } else { 1 };
            let count = unsigned(bytes, 1, size_width)?;
            let offsets = 1 + size_width;
            let data = (count + 1)
                .checked_mul(offset_width)
                .map(|n| offsets + n)
                .ok_or_else(|| corrupt("it is too long"))?;
            out.push('[');
            for i in 0..count {
                if i > 0 {
                    out.push(',');
                }
                let at = data.saturating_add(unsigned(bytes, offsets + i * offset_width, offset_width)?);
                let element = bytes
                    .get(at..)
                    .ok_or_else(|| corrupt("an element lies outside"))?;
                write_value(out, element, keys, depth + 1, limit)?;
            }
            out.push(']');
            Ok(())
        }
    }
}

fn write_primitive(out: &mut String, bytes: &[u8], id: u8) -> Result<()> {
    let integer = |width: usize| signed(bytes, 1, width);
    match id {
        0 => out.push_str("null"),
        1 => out.push_str("true"),
        2 => out.push_str("false"),
        3..=6 => {
            let _ = write!(out, "{}", integer(1 << (id - 3))?);
        }
        7 => write_double(out, f64::from_bits(integer(8)? as u64)),
        14 => write_float(out, f32::from_bits(integer(4)? as u32)),
        8..=10 => {
            let scale = *bytes.get(1).ok_or_else(|| corrupt("a decimal is cut"))?;
            if scale > 38 {
                return Err(corrupt("a decimal has a scale above 38"));
            }
            // Java strips trailing zeros of the fraction.
            let (mut unscaled, mut scale) = (signed(bytes, 2, 4 << (id - 8))?, scale);
            while scale > 0 && unscaled % 10 == 0 {
                unscaled /= 10;
                scale -= 1;
            }
            out.push_str(&decimal_to_string(unscaled, scale));
        }
        11 => {
            let _ = write!(
                out,
                "\"{}\"",
                date(i64::try_from(integer(4)?).unwrap_or_default())
            );
        }
        12 | 13 => {
            let micros = i64::try_from(integer(8)?).unwrap_or_default();
            let (days, in_day) = (
                micros.div_euclid(86_400_000_000),
                micros.rem_euclid(86_400_000_000),
            );
            let (seconds, fraction) = (in_day / 1_000_000, in_day % 1_000_000);
            let _ = write!(
                out,
                "\"{} {:02}:{:02}:{:02}",
                date(days),
                seconds / 3600,
                seconds / 60 % 60,
                seconds % 60
            );
            if fraction != 0 {
                let digits = format!("{fraction:06}");
                let _ = write!(out, ".{}", digits.trim_end_matches('0'));
            }
            out.push_str(if id == 12 { "+00:00\"" } else { "\"" });
        }
        15 => {
            let len = unsigned(bytes, 1, 4)?;
            out.push('"');
            base64(out, slice(bytes, 5, len, "a binary is cut")?);
            out.push('"');
        }
        16 => {
            let len = unsigned(bytes, 1, 4)?;
            write_string(out, slice(bytes, 5, len, "a string is cut")?)?;
        }
        20 => {
            let raw = slice(bytes, 1, 16, "a uuid is cut")?;
            out.push('"');
            for (i, byte) in raw.iter().enumerate() {
                if matches!(i, 4 | 6 | 8 | 10) {
                    out.push('-');
                }
                let _ = write!(out, "{byte:02x}");
            }
            out.push('"');
        }
        other => {
            return Err(Error::unsupported(format!(
                "variant primitive type {other} is not known"
            )));
        }
    }
    Ok(())
}

fn date(days: i64) -> String {
    let (year, month, day) = civil_from_days(days);
    format!("{year:04}-{month:02}-{day:02}")
}

fn write_double(out: &mut String, value: f64) {
    match serde_json::Number::from_f64(value) {
        Some(number) => {
            let _ = write!(out, "{number}");
        }
        None => write_special(out, value.is_nan(), value > 0.0),
    }
}

fn write_float(out: &mut String, value: f32) {
    match serde_json::to_string(&value) {
        Ok(text) if value.is_finite() => out.push_str(&text),
        _ => write_special(out, value.is_nan(), value > 0.0),
    }
}

fn write_special(out: &mut String, nan: bool, positive: bool) {
    out.push_str(match (nan, positive) {
        (true, _) => "\"NaN\"",
        (false, true) => "\"Infinity\"",
        (false, false) => "\"-Infinity\"",
    });
}

fn write_string(out: &mut String, raw: &[u8]) -> Result<()> {
    let text = std::str::from_utf8(raw).map_err(|_| corrupt("a string is not UTF-8"))?;
    let quoted = serde_json::to_string(text).map_err(|e| corrupt("a string").with_source(e))?;
    out.push_str(&quoted);
    Ok(())
}

fn base64(out: &mut String, raw: &[u8]) {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for chunk in raw.chunks(3) {
        let n = chunk.iter().fold(0u32, |n, b| (n << 8) | u32::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let index = ((n >> (18 - 6 * i)) & 63) as usize;
            let symbol = ALPHABET.get(index).copied().unwrap_or(b'=');
            out.push(if i > chunk.len() { '=' } else { char::from(symbol) });
        }
    }
}
