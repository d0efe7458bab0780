// SPDX-License-Identifier: Apache-2.0

//! Decoding of rows, arrays and maps. Total: any bytes give values or `Corrupt`.
//!
//! Work and memory are bounded: within one structure the variable pieces may not add up to more than the structure, so pieces that
//! overlap cannot multiply, and nesting is limited to [`MAX_DEPTH`].

use super::layout::{
    MAX_DEPTH, MAX_INLINE, WIDE_DECIMAL_BYTES, array_header_size, element_size, fixed_size,
    is_compact_decimal, is_compact_timestamp, kind_name, null_bits_size, vector_element_size,
};
use crate::{DataType, Datum, Error, Result, Timestamp, TypeKind};

/// Bytes of one structure (row or array) with what its pieces have taken so far.
pub(super) struct Region<'a> {
    bytes: &'a [u8],
    claimed: usize,
    depth: u32,
}

impl<'a> Region<'a> {
    pub(super) fn new(bytes: &'a [u8], depth: u32) -> Result<Self> {
        if depth > MAX_DEPTH {
            return Err(Error::unsupported(format!(
                "types nested deeper than {MAX_DEPTH} levels are not supported"
            )));
        }
        Ok(Region {
            bytes,
            claimed: 0,
            depth,
        })
    }

    #[inline]
    fn array<const N: usize>(&self, at: usize) -> Result<[u8; N]> {
        match self.bytes.get(at..).and_then(|rest| rest.first_chunk::<N>()) {
            Some(array) => Ok(*array),
            None => Err(out_of_bounds(self.bytes, at, N)),
        }
    }

    #[inline]
    pub(super) fn bit(&self, bit: usize) -> Result<bool> {
        match self.bytes.get(bit >> 3) {
            Some(byte) => Ok(byte & (1 << (bit & 7)) != 0),
            None => Err(out_of_bounds(self.bytes, bit >> 3, 1)),
        }
    }

    pub(super) fn i8(&self, at: usize) -> Result<i8> {
        self.array(at).map(i8::from_le_bytes)
    }

    pub(super) fn i32(&self, at: usize) -> Result<i32> {
        self.array(at).map(i32::from_le_bytes)
    }

    pub(super) fn i64(&self, at: usize) -> Result<i64> {
        self.array(at).map(i64::from_le_bytes)
    }

    fn take(&mut self, offset: usize, len: usize) -> Result<&'a [u8]> {
        let slice = offset
            .checked_add(len)
            .and_then(|end| self.bytes.get(offset..end));
        let Some(slice) = slice else {
            return Err(out_of_bounds(self.bytes, offset, len));
        };
        self.claimed = self.claimed.saturating_add(len);
        if self.claimed > self.bytes.len() {
            return Err(Error::corrupt(format!(
                "variable-length pieces overlap in a structure of {} bytes",
                self.bytes.len()
            )));
        }
        Ok(slice)
    }

    /// The variable piece that the slot at `at` points to.
    pub(super) fn piece(&mut self, at: usize) -> Result<&'a [u8]> {
        let slot = u64::from_le_bytes(self.array(at)?);
        self.take((slot >> 32) as usize, (slot & 0xffff_ffff) as usize)
    }

    /// Bytes of a string or bytes slot, inline or not.
    pub(super) fn string_bytes(&mut self, at: usize) -> Result<&'a [u8]> {
        let slot: [u8; 8] = self.array(at)?;
        let mark = slot[7];
        if mark & 0x80 == 0 {
            return self.piece(at);
        }
        let len = usize::from(mark & 0x7f);
        match self.bytes.get(at..at + len) {
            Some(bytes) if len <= MAX_INLINE => Ok(bytes),
            _ => Err(Error::corrupt(format!(
                "inline value of {len} bytes, expected at most {MAX_INLINE}"
            ))),
        }
    }

    pub(super) fn string(&mut self, at: usize) -> Result<&'a str> {
        let bytes = self.string_bytes(at)?;
        std::str::from_utf8(bytes).map_err(|e| Error::corrupt("string value is not UTF-8").with_source(e))
    }

    fn decimal(&mut self, at: usize, precision: u8) -> Result<i128> {
        if is_compact_decimal(precision) {
            return self.i64(at).map(i128::from);
        }
        big_endian_i128(self.piece(at)?)
    }

    fn timestamp(&mut self, at: usize, precision: u8) -> Result<Timestamp> {
        if is_compact_timestamp(precision) {
            return self.i64(at).map(Timestamp::from_millis);
        }
        let slot = u64::from_le_bytes(self.array(at)?);
        let nanos_of_milli = (slot & 0xffff_ffff) as u32;
        if nanos_of_milli > 999_999 {
            return Err(Error::corrupt(format!(
                "timestamp with {nanos_of_milli} ns in a millisecond, expected 0 to 999999"
            )));
        }
        self.take((slot >> 32) as usize, 8)?;
        Ok(Timestamp {
            millis: self.i64((slot >> 32) as usize)?,
            nanos_of_milli: nanos_of_milli as i32,
        })
    }

    /// The non-null value whose slot or element starts at `at`.
    pub(super) fn value(&mut self, at: usize, data_type: &DataType) -> Result<Datum> {
        Ok(match &data_type.kind {
            TypeKind::Boolean => Datum::Boolean(self.i8(at)? != 0),
            TypeKind::TinyInt => Datum::TinyInt(self.i8(at)?),
            TypeKind::SmallInt => Datum::SmallInt(self.array(at).map(i16::from_le_bytes)?),
            TypeKind::Int => Datum::Int(self.i32(at)?),
            TypeKind::Date => Datum::Date(self.i32(at)?),
            TypeKind::Time(_) => Datum::Time(self.i32(at)?),
            TypeKind::BigInt => Datum::BigInt(self.i64(at)?),
            TypeKind::Float => Datum::Float(self.array(at).map(f32::from_le_bytes)?),
            TypeKind::Double => Datum::Double(self.array(at).map(f64::from_le_bytes)?),
            TypeKind::Char(_) | TypeKind::VarChar(_) => Datum::String(self.string(at)?.to_owned()),
            TypeKind::Binary(_)
            | TypeKind::VarBinary(_)
            | TypeKind::Blob
            | TypeKind::Geometry(_)
            | TypeKind::Geography { .. } => Datum::Bytes(self.string_bytes(at)?.to_vec()),
            TypeKind::Decimal { precision, scale } => Datum::Decimal {
                unscaled: self.decimal(at, *precision)?,
                scale: *scale,
            },
            TypeKind::Timestamp(p) | TypeKind::TimestampLtz(p) => Datum::Timestamp(self.timestamp(at, *p)?),
            TypeKind::Variant => variant(self.piece(at)?)?,
            TypeKind::Array(element) => Datum::Array(array(self.piece(at)?, element, self.depth + 1)?),
            TypeKind::Map(key, value) => Datum::Map(map(self.piece(at)?, key, value, self.depth + 1)?),
            TypeKind::Multiset(element) => Datum::Map(multiset(self.piece(at)?, element, self.depth + 1)?),
            TypeKind::Vector(element, len) => Datum::Array(vector(self.piece(at)?, element, *len)?),
            TypeKind::Row(fields) => Datum::Row(row(
                self.piece(at)?,
                fields.len(),
                fields.iter().map(|f| &f.data_type),
                self.depth + 1,
            )?),
        })
    }

    /// Field `index` of a row of `arity` fields.
    pub(super) fn field(
        &mut self,
        arity: usize,
        index: usize,
        data_type: &DataType,
    ) -> Result<Option<Datum>> {
        if self.bit(index + 8)? {
            return Ok(None);
        }
        self.value(null_bits_size(arity) + index * 8, data_type).map(Some)
    }
}

/// Big-endian two's complement of 1 to 16 bytes (Java `BigInteger`).
pub(super) fn big_endian_i128(bytes: &[u8]) -> Result<i128> {
    match i128_from_big_endian(bytes) {
        Some(value) if (1..=WIDE_DECIMAL_BYTES).contains(&bytes.len()) => Ok(value),
        _ => Err(Error::corrupt(format!(
            "decimal of {} bytes, expected 1 to {WIDE_DECIMAL_BYTES}",
            bytes.len()
        ))),
    }
}

/// A big-endian two's complement number of any length, as Java's `BigInteger` and the file formats store unscaled decimals;
/// 0 for no bytes, `None` for one that needs more than 128 bits.
#[inline]
pub fn i128_from_big_endian(bytes: &[u8]) -> Option<i128> {
    let Some(first) = bytes.first() else {
        return Some(0);
    };
    let fill = if *first >= 0x80 { 0xff } else { 0 };
    let (spare, digits) = bytes.split_at(bytes.len().saturating_sub(16));
    let negative = digits.first().is_some_and(|first| *first >= 0x80);
    if spare.iter().any(|byte| *byte != fill) || (fill == 0xff) != negative {
        return None;
    }
    let start = if fill == 0 { 0 } else { -1 };
    Some(
        digits
            .iter()
            .fold(start, |value: i128, byte| value << 8 | i128::from(*byte)),
    )
}

/// All fields of a row whose bytes were checked to hold the fixed part.
pub(super) fn row<'t>(
    bytes: &[u8],
    arity: usize,
    types: impl Iterator<Item = &'t DataType>,
    depth: u32,
) -> Result<Vec<Option<Datum>>> {
    check_fixed_part(bytes, arity)?;
    let mut region = Region::new(bytes, depth)?;
    let mut values = Vec::with_capacity(arity);
    for (index, data_type) in types.enumerate() {
        values.push(region.field(arity, index, data_type)?);
    }
    Ok(values)
}

pub(super) fn check_fixed_part(bytes: &[u8], arity: usize) -> Result<()> {
    if bytes.len() < fixed_size(arity) {
        return Err(Error::corrupt(format!(
            "row of {} bytes is too short for {arity} fields, expected at least {}",
            bytes.len(),
            fixed_size(arity)
        )));
    }
    Ok(())
}

/// Number of elements of an array, checked against its bytes.
pub(super) fn array_len(bytes: &[u8], element_size: usize) -> Result<usize> {
    let count = match bytes.first_chunk::<4>() {
        Some(count) => i32::from_le_bytes(*count),
        None => return Err(out_of_bounds(bytes, 0, 4)),
    };
    match usize::try_from(count) {
        Ok(len) if array_header_size(len).saturating_add(len.saturating_mul(element_size)) <= bytes.len() => {
            Ok(len)
        }
        _ => Err(Error::corrupt(format!(
            "array of {count} elements does not fit into its {} bytes",
            bytes.len()
        ))),
    }
}

/// Elements of a BinaryArray.
pub(super) fn array(bytes: &[u8], element: &DataType, depth: u32) -> Result<Vec<Option<Datum>>> {
    let size = element_size(element)?;
    let len = array_len(bytes, size)?;
    let start = array_header_size(len);
    let mut region = Region::new(bytes, depth)?;
    let mut values = Vec::with_capacity(len);
    for index in 0..len {
        values.push(match region.bit(32 + index)? {
            true => None,
            false => Some(region.value(start + index * size, element)?),
        });
    }
    Ok(values)
}

type Entries = Vec<(Option<Datum>, Option<Datum>)>;

/// Entries of a BinaryMap.
pub(super) fn map(bytes: &[u8], key: &DataType, value: &DataType, depth: u32) -> Result<Entries> {
    let region = Region::new(bytes, depth)?;
    let key_bytes = region.i32(0)?;
    let end = usize::try_from(key_bytes).ok().and_then(|len| len.checked_add(4));
    let (Some(keys), Some(values)) = (
        end.and_then(|end| bytes.get(4..end)),
        end.and_then(|end| bytes.get(end..)),
    ) else {
        return Err(Error::corrupt(format!(
            "map keys of {key_bytes} bytes do not fit into {} bytes",
            bytes.len()
        )));
    };
    let keys = array(keys, key, depth)?;
    let values = array(values, value, depth)?;
    if keys.len() != values.len() {
        return Err(Error::corrupt(format!(
            "map of {} keys and {} values",
            keys.len(),
            values.len()
        )));
    }
    Ok(keys.into_iter().zip(values).collect())
}

pub(super) fn multiset(bytes: &[u8], element: &DataType, depth: u32) -> Result<Entries> {
    map(bytes, element, &DataType::required(TypeKind::Int), depth)
}

/// A VECTOR piece: count, then elements.
fn vector(bytes: &[u8], element: &DataType, expected: u32) -> Result<Vec<Option<Datum>>> {
    let Some((count, elements)) = bytes.split_first_chunk::<4>() else {
        return Err(out_of_bounds(bytes, 0, 4));
    };
    let count = i32::from_le_bytes(*count);
    if i64::from(count) != i64::from(expected) {
        return Err(Error::corrupt(format!(
            "vector of {count} elements, expected {expected}"
        )));
    }
    vector_elements(elements, element, expected)
}

/// The elements of a VECTOR without the count in front.
pub(super) fn vector_elements(bytes: &[u8], element: &DataType, len: u32) -> Result<Vec<Option<Datum>>> {
    let size = vector_element_size(element)?;
    let len = len as usize;
    if bytes.len() < len.saturating_mul(size) {
        return Err(Error::corrupt(format!(
            "vector of {len} {} elements does not fit into {} bytes",
            kind_name(element),
            bytes.len()
        )));
    }
    let mut region = Region::new(bytes, 0)?;
    (0..len)
        .map(|index| region.value(index * size, element).map(Some))
        .collect()
}

/// A VARIANT piece: value length, value, metadata.
fn variant(bytes: &[u8]) -> Result<Datum> {
    let parts = bytes.split_first_chunk::<4>().and_then(|(len, rest)| {
        let len = usize::try_from(i32::from_le_bytes(*len)).ok()?;
        rest.split_at_checked(len)
    });
    match parts {
        Some((value, metadata)) => Ok(Datum::Variant {
            value: value.to_vec(),
            metadata: metadata.to_vec(),
        }),
        None => Err(Error::corrupt(format!(
            "variant value does not fit into its {} bytes",
            bytes.len()
        ))),
    }
}

#[cold]
fn out_of_bounds(bytes: &[u8], at: usize, len: usize) -> Error {
    Error::corrupt(format!(
        "{len} bytes at offset {at} lie outside of a structure of {} bytes",
        bytes.len()
    ))
}
