// SPDX-License-Identifier: Apache-2.0

//! VARIANT values from JSON (Java `GenericVariantBuilder.parseJson`).

use std::collections::HashMap;

use super::MAX_DEPTH;
use crate::{Error, JsonTree, Result};

/// Largest value and largest metadata, in bytes.
const MAX_BYTES: usize = 128 << 20;
/// Most digits of a DECIMAL16.
const MAX_DIGITS: usize = 38;

/// The value and the metadata (dictionary of keys) of a VARIANT from a JSON text, byte for byte as Java writes them.
///
/// Integers take the smallest of 1, 2, 4 and 8 bytes, larger ones and numbers with a fraction are decimals as written, up to 38
/// digits; beyond that, and with an exponent, numbers are doubles.
///
/// # Errors
/// `InvalidInput` for text that is not JSON, a key that an object has twice and a number beyond the range of doubles; `Unsupported`
/// for values that nest deeper than 64 levels; `ResourcesExhausted` for more than 128 MiB.
pub fn variant_from_json_text(text: &str) -> Result<(Vec<u8>, Vec<u8>)> {
    variant_from_json(&JsonTree::parse(text)?)
}

/// As [`variant_from_json_text`] from parsed JSON.
///
/// # Errors
/// As [`variant_from_json_text`].
pub fn variant_from_json(json: &JsonTree<'_>) -> Result<(Vec<u8>, Vec<u8>)> {
    let mut keys = Keys::default();
    let mut value = Vec::new();
    push_value(&mut value, json, &mut keys, 0)?;
    let metadata = keys.metadata()?;
    for (what, bytes) in [("value", &value), ("metadata", &metadata)] {
        if bytes.len() > MAX_BYTES {
            return Err(Error::resources(format!(
                "the {what} of a variant has {} bytes, at most {MAX_BYTES} are allowed",
                bytes.len()
            )));
        }
    }
    Ok((value, metadata))
}

/// The dictionary: keys in the order of their first appearance.
#[derive(Default)]
struct Keys<'a> {
    ids: HashMap<&'a str, usize>,
    order: Vec<&'a str>,
}

impl<'a> Keys<'a> {
    fn id(&mut self, key: &'a str) -> usize {
        let next = self.order.len();
        let id = *self.ids.entry(key).or_insert(next);
        if id == next {
            self.order.push(key);
        }
        id
    }

    fn metadata(&self) -> Result<Vec<u8>> {
        let total: usize = self.order.iter().map(|key| key.len()).sum();
        let width = width(total.max(self.order.len()))?;
        let mut out = vec![1 | ((width as u8 - 1) << 6)];
        push_unsigned(&mut out, self.order.len(), width);
        let mut offset = 0;
        push_unsigned(&mut out, offset, width);
        for key in &self.order {
            offset += key.len();
            push_unsigned(&mut out, offset, width);
        }
        for key in &self.order {
            out.extend_from_slice(key.as_bytes());
        }
        Ok(out)
    }
}

/// The smallest number of bytes that holds `largest`.
fn width(largest: usize) -> Result<usize> {
    match largest {
        0..=0xff => Ok(1),
        0x100..=0xffff => Ok(2),
        0x1_0000..=0xff_ffff => Ok(3),
        _ if u32::try_from(largest).is_ok() => Ok(4),
        _ => Err(Error::resources("a variant value is larger than 4 GiB")),
    }
}

/// `width` bytes, the lowest first.
fn push_unsigned(out: &mut Vec<u8>, value: usize, width: usize) {
    out.extend((0..width).map(|index| (value >> (8 * index)) as u8));
}

fn push_value<'a>(
    out: &mut Vec<u8>,
    json: &'a JsonTree<'_>,
    keys: &mut Keys<'a>,
    depth: usize,
) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(Error::unsupported(format!(
            "a variant value nests deeper than {MAX_DEPTH} levels"
        )));
    }
    match json {
        JsonTree::Null => out.push(0),
        JsonTree::Bool(true) => out.push(1 << 2),
        JsonTree::Bool(false) => out.push(2 << 2),
        JsonTree::Number(text) => push_number(out, text)?,
        JsonTree::String(text) => {
            let bytes = text.as_bytes();
            if bytes.len() <= 63 {
                out.push(((bytes.len() as u8) << 2) | 1);
            } else {
                width(bytes.len())?;
                out.push(16 << 2);
                push_unsigned(out, bytes.len(), 4);
            }
            out.extend_from_slice(bytes);
        }
        JsonTree::Array(elements) => {
            let mut data = Vec::new();
            let mut offsets = Vec::with_capacity(elements.len() + 1);
            for element in elements {
                offsets.push(data.len());
                push_value(&mut data, element, keys, depth + 1)?;
            }
            offsets.push(data.len());
            let (large, offset_width) = (elements.len() > 255, width(data.len())?);
            out.push(3 | (((u8::from(large) << 2) | (offset_width as u8 - 1)) << 2));
            push_unsigned(out, elements.len(), if large { 4 } else { 1 });
            for offset in offsets {
                push_unsigned(out, offset, offset_width);
            }
            out.append(&mut data);
        }
        JsonTree::Object(members) => {
            // Values stay in written order, ids and offsets are sorted by key.
            let mut data = Vec::new();
            let mut entries = Vec::with_capacity(members.len());
            for (key, member) in members {
                let id = keys.id(key);
                entries.push((key.as_bytes(), id, data.len()));
                push_value(&mut data, member, keys, depth + 1)?;
            }
            entries.sort_unstable();
            let largest = entries.iter().map(|entry| entry.1).max().unwrap_or(0);
            let (id_width, offset_width) = (width(largest)?, width(data.len())?);
            let large = entries.len() > 255;
            let info = (u8::from(large) << 4) | ((id_width as u8 - 1) << 2) | (offset_width as u8 - 1);
            out.push(2 | (info << 2));
            push_unsigned(out, entries.len(), if large { 4 } else { 1 });
            for (_, id, _) in &entries {
                push_unsigned(out, *id, id_width);
            }
            for (_, _, offset) in &entries {
                push_unsigned(out, *offset, offset_width);
            }
            push_unsigned(out, data.len(), offset_width);
            out.append(&mut data);
        }
    }
    Ok(())
}

fn push_number(out: &mut Vec<u8>, text: &str) -> Result<()> {
    if let Ok(value) = text.parse::<i64>() {
        if let Ok(v) = i8::try_from(value) {
            out.push(3 << 2);
            out.extend(v.to_le_bytes());
        } else if let Ok(v) = i16::try_from(value) {
            out.push(4 << 2);
            out.extend(v.to_le_bytes());
        } else if let Ok(v) = i32::try_from(value) {
            out.push(5 << 2);
            out.extend(v.to_le_bytes());
        } else {
            out.push(6 << 2);
            out.extend(value.to_le_bytes());
        }
        return Ok(());
    }
    if let Some((unscaled, precision, scale)) = decimal(text) {
        match precision.max(scale) {
            0..=9 => push_decimal(out, 8, scale, &(unscaled as i32).to_le_bytes()),
            10..=18 => push_decimal(out, 9, scale, &(unscaled as i64).to_le_bytes()),
            _ => push_decimal(out, 10, scale, &unscaled.to_le_bytes()),
        }
        return Ok(());
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => {
            out.push(7 << 2);
            out.extend(value.to_le_bytes());
            Ok(())
        }
        _ => Err(Error::invalid(format!(
            "the number {text} is beyond the range of doubles"
        ))),
    }
}

fn push_decimal(out: &mut Vec<u8>, id: u8, scale: usize, unscaled: &[u8]) {
    out.push(id << 2);
    out.push(scale as u8);
    out.extend_from_slice(unscaled);
}

/// Unscaled value, digits and scale of a number without exponent; `None` when it has one or more than 38 digits.
fn decimal(text: &str) -> Option<(i128, usize, usize)> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction}");
    if !all.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let significant = all.trim_start_matches('0');
    if significant.len() > MAX_DIGITS || fraction.len() > MAX_DIGITS {
        return None;
    }
    let unscaled: i128 = match significant {
        "" => 0,
        digits => digits.parse().ok()?,
    };
    Some((
        if negative { -unscaled } else { unscaled },
        significant.len(),
        fraction.len(),
    ))
}
