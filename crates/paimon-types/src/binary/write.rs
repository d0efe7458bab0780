// SPDX-License-Identifier: Apache-2.0

//! Encoding of rows, arrays and maps into one growing buffer: nested structures are written in place, offsets are relative to the
//! start (`base`) of the structure that holds the slot.

use super::layout::{
    MAX_DEPTH, MAX_INLINE, WIDE_DECIMAL_BYTES, array_header_size, element_size, fixed_size,
    is_compact_decimal, is_compact_timestamp, kind_name, null_bits_size, reserved_bytes, vector_element_size,
};
use crate::{DataType, Datum, Error, Result, Timestamp, TypeKind};

/// Starts a row at the end of `out`.
pub(super) fn begin_row(out: &mut Vec<u8>, arity: usize) -> usize {
    let base = out.len();
    out.resize(base + fixed_size(arity), 0);
    base
}

pub(super) fn slot_offset(base: usize, arity: usize, index: usize) -> usize {
    base + null_bits_size(arity) + index * 8
}

/// Overwrites `N` bytes that exist already.
#[inline]
pub(super) fn put<const N: usize>(out: &mut [u8], at: usize, bytes: [u8; N]) -> Result<()> {
    match out.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<N>()) {
        Some(target) => {
            *target = bytes;
            Ok(())
        }
        None => Err(Error::invalid(format!("slot at {at} lies outside of the row"))),
    }
}

#[inline]
fn set_bit(out: &mut [u8], base: usize, bit: usize) -> Result<()> {
    match out.get_mut(base + (bit >> 3)) {
        Some(byte) => {
            *byte |= 1 << (bit & 7);
            Ok(())
        }
        None => Err(Error::invalid(format!("null bit {bit} lies outside of the row"))),
    }
}

fn pad(out: &mut Vec<u8>, base: usize) {
    let len = (out.len() - base).next_multiple_of(8);
    out.resize(base + len, 0);
}

/// Points the slot at `at` to the piece that starts at `start`, and pads the piece.
fn close_piece(out: &mut Vec<u8>, base: usize, at: usize, start: usize) -> Result<()> {
    let len = out.len() - start;
    pad(out, base);
    point(out, base, at, start, len as u64)
}

/// Fills a slot with `low` and the offset of `start`.
fn point(out: &mut [u8], base: usize, at: usize, start: usize, low: u64) -> Result<()> {
    if out.len() - base > i32::MAX as usize {
        return Err(Error::invalid(format!(
            "row of {} bytes, expected at most {}",
            out.len() - base,
            i32::MAX
        )));
    }
    put(out, at, (((start - base) as u64) << 32 | low).to_le_bytes())
}

/// Null of a row field: space is reserved for wide DECIMAL and TIMESTAMP.
#[inline]
pub(super) fn null_field(
    out: &mut Vec<u8>,
    base: usize,
    arity: usize,
    index: usize,
    data_type: &DataType,
) -> Result<()> {
    set_bit(out, base, index + 8)?;
    match reserved_bytes(data_type) {
        0 => Ok(()),
        reserved => {
            let start = out.len();
            out.resize(start + reserved, 0);
            point(out, base, slot_offset(base, arity, index), start, 0)
        }
    }
}

pub(super) fn bytes_value(out: &mut Vec<u8>, base: usize, at: usize, value: &[u8]) -> Result<()> {
    if value.len() <= MAX_INLINE {
        let mut slot = [0u8; 8];
        for (to, from) in slot.iter_mut().zip(value) {
            *to = *from;
        }
        slot[7] = 0x80 | value.len() as u8;
        return put(out, at, slot);
    }
    let start = out.len();
    out.extend_from_slice(value);
    close_piece(out, base, at, start)
}

pub(super) fn decimal_value(
    out: &mut Vec<u8>,
    base: usize,
    at: usize,
    unscaled: i128,
    precision: u8,
) -> Result<()> {
    if !fits_precision(unscaled, precision) {
        return Err(Error::invalid(format!(
            "unscaled decimal {unscaled} has more than {precision} digits"
        )));
    }
    if is_compact_decimal(precision) {
        return put(out, at, (unscaled as i64).to_le_bytes());
    }
    let bytes = unscaled.to_be_bytes();
    let minimal = minimal_be(&bytes);
    let start = out.len();
    out.extend_from_slice(minimal);
    out.resize(start + WIDE_DECIMAL_BYTES, 0);
    point(out, base, at, start, minimal.len() as u64)
}

/// Digits of `unscaled` do not exceed `precision`.
pub(crate) fn fits_precision(unscaled: i128, precision: u8) -> bool {
    10u128
        .checked_pow(u32::from(precision))
        .is_none_or(|limit| unscaled.unsigned_abs() < limit)
}

/// Shortest big-endian two's complement, at least one byte (Java `BigInteger.toByteArray`).
pub(super) fn minimal_be(bytes: &[u8; 16]) -> &[u8] {
    let mut rest: &[u8] = bytes;
    while let [first, tail @ ..] = rest {
        match tail.first() {
            Some(next) if (*first == 0 && next & 0x80 == 0) || (*first == 0xff && next & 0x80 != 0) => {
                rest = tail
            }
            _ => break,
        }
    }
    rest
}

pub(super) fn timestamp_value(
    out: &mut Vec<u8>,
    base: usize,
    at: usize,
    value: Timestamp,
    precision: u8,
) -> Result<()> {
    check_timestamp(value, precision)?;
    if is_compact_timestamp(precision) {
        return put(out, at, value.millis.to_le_bytes());
    }
    let start = out.len();
    out.extend_from_slice(&value.millis.to_le_bytes());
    point(out, base, at, start, value.nanos_of_milli as u64)
}

/// Nanoseconds in range and, for p ≤ 3, absent.
pub(super) fn check_timestamp(value: Timestamp, precision: u8) -> Result<()> {
    let limit = if is_compact_timestamp(precision) {
        0
    } else {
        999_999
    };
    if !(0..=limit).contains(&value.nanos_of_milli) {
        return Err(Error::invalid(format!(
            "timestamp with {} ns in a millisecond, TIMESTAMP({precision}) holds 0 to {limit}",
            value.nanos_of_milli
        )));
    }
    Ok(())
}

/// Values of a row.
pub(super) fn row<'t>(
    out: &mut Vec<u8>,
    types: impl ExactSizeIterator<Item = &'t DataType>,
    values: &[Option<Datum>],
    depth: u32,
) -> Result<()> {
    let arity = types.len();
    if arity != values.len() {
        return Err(Error::invalid(format!(
            "row of {} values, expected {arity}",
            values.len()
        )));
    }
    check_depth(depth)?;
    let base = begin_row(out, arity);
    for (index, (data_type, value)) in types.zip(values).enumerate() {
        field(out, base, arity, index, data_type, value.as_ref(), depth)?;
    }
    Ok(())
}

pub(super) fn field(
    out: &mut Vec<u8>,
    base: usize,
    arity: usize,
    index: usize,
    data_type: &DataType,
    value: Option<&Datum>,
    depth: u32,
) -> Result<()> {
    match value {
        None => null_field(out, base, arity, index, data_type),
        Some(value) => write_value(
            out,
            base,
            slot_offset(base, arity, index),
            data_type,
            value,
            depth,
        ),
    }
}

/// Elements of an array.
pub(super) fn array<'v>(
    out: &mut Vec<u8>,
    element: &DataType,
    values: impl ExactSizeIterator<Item = Option<&'v Datum>>,
    depth: u32,
) -> Result<()> {
    check_depth(depth)?;
    let size = element_size(element)?;
    let (base, len) = (out.len(), values.len());
    let count =
        i32::try_from(len).map_err(|_| Error::invalid(format!("array of {len} elements is too long")))?;
    let start = base + array_header_size(len);
    out.resize(start + len * size, 0);
    pad(out, base);
    put(out, base, count.to_le_bytes())?;
    for (index, value) in values.enumerate() {
        let at = start + index * size;
        match value {
            None => set_bit(out, base, 32 + index)?,
            // Java's array writer, unlike its row writer, writes every NaN alike.
            Some(Datum::Float(v)) if v.is_nan() && element.kind == TypeKind::Float => {
                put(out, at, 0x7fc0_0000u32.to_le_bytes())?;
            }
            Some(Datum::Double(v)) if v.is_nan() && element.kind == TypeKind::Double => {
                put(out, at, 0x7ff8_0000_0000_0000u64.to_le_bytes())?;
            }
            Some(value) => write_value(out, base, at, element, value, depth)?,
        }
    }
    Ok(())
}

/// Entries of a map.
pub(super) fn map(
    out: &mut Vec<u8>,
    key: &DataType,
    value: &DataType,
    entries: &[(Option<Datum>, Option<Datum>)],
    depth: u32,
) -> Result<()> {
    let base = out.len();
    out.extend_from_slice(&[0; 4]);
    array(out, key, entries.iter().map(|(k, _)| k.as_ref()), depth)?;
    let key_bytes = out.len() - base - 4;
    let key_bytes = i32::try_from(key_bytes)
        .map_err(|_| Error::invalid(format!("map keys of {key_bytes} bytes are too long")))?;
    put(out, base, key_bytes.to_le_bytes())?;
    array(out, value, entries.iter().map(|(_, v)| v.as_ref()), depth)
}

/// Elements of a VECTOR, padded to 8 bytes, without the count in front.
pub(super) fn vector_elements(
    out: &mut Vec<u8>,
    element: &DataType,
    len: u32,
    values: &[Option<Datum>],
) -> Result<()> {
    let size = vector_element_size(element)?;
    if values.len() != len as usize {
        return Err(Error::invalid(format!(
            "vector of {} elements, expected {len}",
            values.len()
        )));
    }
    let base = out.len();
    out.resize(base + (values.len() * size).next_multiple_of(8), 0);
    for (index, value) in values.iter().enumerate() {
        let Some(value) = value else {
            return Err(Error::invalid(format!("element {index} of a vector is null")));
        };
        write_value(out, base, base + index * size, element, value, 0)?;
    }
    Ok(())
}

/// A value into its slot or element at `at`; pieces go to the end of `out`.
fn write_value(
    out: &mut Vec<u8>,
    base: usize,
    at: usize,
    data_type: &DataType,
    value: &Datum,
    depth: u32,
) -> Result<()> {
    match (&data_type.kind, value) {
        (TypeKind::Boolean, Datum::Boolean(v)) => put(out, at, [u8::from(*v)]),
        (TypeKind::TinyInt, Datum::TinyInt(v)) => put(out, at, v.to_le_bytes()),
        (TypeKind::SmallInt, Datum::SmallInt(v)) => put(out, at, v.to_le_bytes()),
        (TypeKind::Int, Datum::Int(v)) => put(out, at, v.to_le_bytes()),
        (TypeKind::Date, Datum::Date(v)) => put(out, at, v.to_le_bytes()),
        (TypeKind::Time(_), Datum::Time(v)) => put(out, at, v.to_le_bytes()),
        (TypeKind::BigInt, Datum::BigInt(v)) => put(out, at, v.to_le_bytes()),
        (TypeKind::Float, Datum::Float(v)) => put(out, at, v.to_le_bytes()),
        (TypeKind::Double, Datum::Double(v)) => put(out, at, v.to_le_bytes()),
        (TypeKind::Char(_) | TypeKind::VarChar(_), Datum::String(v)) => {
            bytes_value(out, base, at, v.as_bytes())
        }
        (
            TypeKind::Binary(_)
            | TypeKind::VarBinary(_)
            | TypeKind::Blob
            | TypeKind::Geometry(_)
            | TypeKind::Geography { .. },
            Datum::Bytes(v),
        ) => bytes_value(out, base, at, v),
        (
            TypeKind::Decimal { precision, scale },
            Datum::Decimal {
                unscaled,
                scale: found,
            },
        ) => {
            if scale != found {
                return Err(Error::invalid(format!(
                    "decimal of scale {found}, expected scale {scale}"
                )));
            }
            decimal_value(out, base, at, *unscaled, *precision)
        }
        (TypeKind::Timestamp(p) | TypeKind::TimestampLtz(p), Datum::Timestamp(v)) => {
            timestamp_value(out, base, at, *v, *p)
        }
        (TypeKind::Variant, Datum::Variant { value, metadata }) => {
            let start = out.len();
            let len = i32::try_from(value.len())
                .map_err(|_| Error::invalid(format!("variant value of {} bytes is too long", value.len())))?;
            out.extend_from_slice(&len.to_le_bytes());
            out.extend_from_slice(value);
            out.extend_from_slice(metadata);
            close_piece(out, base, at, start)
        }
        (TypeKind::Array(element), Datum::Array(values)) => {
            let start = out.len();
            array(out, element, values.iter().map(Option::as_ref), depth + 1)?;
            close_piece(out, base, at, start)
        }
        (TypeKind::Map(key, value_type), Datum::Map(entries)) => {
            let start = out.len();
            map(out, key, value_type, entries, depth + 1)?;
            close_piece(out, base, at, start)
        }
        (TypeKind::Multiset(element), Datum::Map(entries)) => {
            let start = out.len();
            map(
                out,
                element,
                &DataType::required(TypeKind::Int),
                entries,
                depth + 1,
            )?;
            close_piece(out, base, at, start)
        }
        (TypeKind::Vector(element, len), Datum::Array(values)) => {
            let start = out.len();
            out.extend_from_slice(&len.to_le_bytes());
            vector_elements(out, element, *len, values)?;
            close_piece(out, base, at, start)
        }
        (TypeKind::Row(fields), Datum::Row(values)) => {
            let start = out.len();
            row(out, fields.iter().map(|f| &f.data_type), values, depth + 1)?;
            close_piece(out, base, at, start)
        }
        _ => Err(mismatch(data_type, value)),
    }
}

#[cold]
pub(super) fn mismatch(data_type: &DataType, value: &Datum) -> Error {
    Error::invalid(format!("value {value:?} is not a {}", kind_name(data_type)))
}

fn check_depth(depth: u32) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(Error::unsupported(format!(
            "types nested deeper than {MAX_DEPTH} levels are not supported"
        )));
    }
    Ok(())
}
