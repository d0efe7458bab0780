// SPDX-License-Identifier: Apache-2.0

//! Sizes of the parts of rows and arrays, shared by reader and writer (`wire.md` 1.1, 1.7).

use crate::{DataType, Error, Result, TypeKind};

/// Deepest nesting of ROW, ARRAY and MAP that is read or written.
pub(super) const MAX_DEPTH: u32 = 64;

/// Longest string or bytes value that sits in its slot.
pub(super) const MAX_INLINE: usize = 7;

/// Bytes that a DECIMAL with p > 18 takes in the variable part.
pub(super) const WIDE_DECIMAL_BYTES: usize = 16;

/// Bytes of row header and null bits together.
#[inline]
pub(super) const fn null_bits_size(arity: usize) -> usize {
    arity.saturating_add(63 + 8) / 64 * 8
}

/// Bytes of header, null bits and slots; saturates, so an absurd arity is longer than any slice.
#[inline]
pub(super) const fn fixed_size(arity: usize) -> usize {
    null_bits_size(arity).saturating_add(arity.saturating_mul(8))
}

/// Bytes of element count and null bits of an array.
#[inline]
pub(super) const fn array_header_size(len: usize) -> usize {
    len.div_ceil(32).saturating_mul(4).saturating_add(4)
}

/// Bytes of one array element.
pub(super) fn element_size(element: &DataType) -> Result<usize> {
    Ok(match element.kind {
        TypeKind::Boolean | TypeKind::TinyInt => 1,
        TypeKind::SmallInt => 2,
        TypeKind::Int | TypeKind::Float | TypeKind::Date | TypeKind::Time(_) => 4,
        TypeKind::Vector(..) => {
            return Err(Error::unsupported(
                "a VECTOR cannot be an element of an ARRAY or MAP",
            ));
        }
        _ => 8,
    })
}

/// Bytes of one VECTOR element.
pub(super) fn vector_element_size(element: &DataType) -> Result<usize> {
    Ok(match element.kind {
        TypeKind::Boolean | TypeKind::TinyInt => 1,
        TypeKind::SmallInt => 2,
        TypeKind::Int | TypeKind::Float => 4,
        TypeKind::BigInt | TypeKind::Double => 8,
        _ => {
            return Err(Error::unsupported(format!(
                "{} cannot be an element of a VECTOR, expected BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT or DOUBLE",
                kind_name(element)
            )));
        }
    })
}

/// True when the value does not fit the slot and a null of it still reserves its space in a row (`wire.md` 1.5, 1.6).
pub(super) fn reserved_bytes(data_type: &DataType) -> usize {
    match data_type.kind {
        TypeKind::Decimal { precision, .. } if !is_compact_decimal(precision) => WIDE_DECIMAL_BYTES,
        TypeKind::Timestamp(p) | TypeKind::TimestampLtz(p) if !is_compact_timestamp(p) => 8,
        _ => 0,
    }
}

pub(super) const fn is_compact_decimal(precision: u8) -> bool {
    precision <= 18
}

pub(super) const fn is_compact_timestamp(precision: u8) -> bool {
    precision <= 3
}

/// The root of a type for messages.
pub(crate) fn kind_name(data_type: &DataType) -> &'static str {
    match data_type.kind {
        TypeKind::Char(_) => "CHAR",
        TypeKind::VarChar(_) => "VARCHAR",
        TypeKind::Boolean => "BOOLEAN",
        TypeKind::Binary(_) => "BINARY",
        TypeKind::VarBinary(_) => "VARBINARY",
        TypeKind::Decimal { .. } => "DECIMAL",
        TypeKind::TinyInt => "TINYINT",
        TypeKind::SmallInt => "SMALLINT",
        TypeKind::Int => "INT",
        TypeKind::BigInt => "BIGINT",
        TypeKind::Float => "FLOAT",
        TypeKind::Double => "DOUBLE",
        TypeKind::Date => "DATE",
        TypeKind::Time(_) => "TIME",
        TypeKind::Timestamp(_) => "TIMESTAMP",
        TypeKind::TimestampLtz(_) => "TIMESTAMP WITH LOCAL TIME ZONE",
        TypeKind::Variant => "VARIANT",
        TypeKind::Blob => "BLOB",
        TypeKind::Geometry(_) => "GEOMETRY",
        TypeKind::Geography { .. } => "GEOGRAPHY",
        TypeKind::Array(_) => "ARRAY",
        TypeKind::Multiset(_) => "MULTISET",
        TypeKind::Map(..) => "MAP",
        TypeKind::Vector(..) => "VECTOR",
        TypeKind::Row(_) => "ROW",
    }
}
