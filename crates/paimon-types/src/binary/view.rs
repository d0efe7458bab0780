// SPDX-License-Identifier: Apache-2.0

//! Borrowed, typed access to single fields without making [`Datum`]s.

use super::layout::{array_header_size, null_bits_size};
use super::read::{self, Region};
use crate::{DataType, Datum, Error, Result};

/// A row that borrows its bytes; every access is O(1) and allocates nothing.
///
/// Accessors return `None` for NULL and fail with `InvalidInput` for an index outside of the arity, with `Corrupt` when a slot points outside of
/// the row. The caller knows the type: a slot read as another type gives a meaningless value, never a panic.
#[derive(Clone, Copy, Debug)]
pub struct BinaryRowRef<'a> {
    arity: usize,
    bytes: &'a [u8],
}

impl<'a> BinaryRowRef<'a> {
    /// Wraps row bytes.
    ///
    /// # Errors
    /// `Corrupt` when the bytes are shorter than the fixed part for `arity`.
    pub fn new(arity: usize, bytes: &'a [u8]) -> Result<Self> {
        read::check_fixed_part(bytes, arity)?;
        Ok(BinaryRowRef { arity, bytes })
    }

    pub(super) fn from_checked(arity: usize, bytes: &'a [u8]) -> Self {
        BinaryRowRef { arity, bytes }
    }

    /// Number of fields.
    pub fn arity(&self) -> usize {
        self.arity
    }

    /// The row bytes.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Offset of the slot, `None` for NULL.
    #[inline]
    fn slot(&self, index: usize) -> Result<Option<(Region<'a>, usize)>> {
        if index >= self.arity {
            return Err(Error::invalid(format!(
                "field {index} of a row of {} fields",
                self.arity
            )));
        }
        let region = Region::new(self.bytes, 0)?;
        Ok(match region.bit(index + 8)? {
            true => None,
            false => Some((region, null_bits_size(self.arity) + index * 8)),
        })
    }

    /// True when the field is NULL.
    pub fn is_null(&self, index: usize) -> Result<bool> {
        Ok(self.slot(index)?.is_none())
    }

    /// TINYINT.
    pub fn i8(&self, index: usize) -> Result<Option<i8>> {
        self.slot(index)?.map(|(region, at)| region.i8(at)).transpose()
    }

    /// INT, DATE and TIME.
    pub fn i32(&self, index: usize) -> Result<Option<i32>> {
        self.slot(index)?.map(|(region, at)| region.i32(at)).transpose()
    }

    /// BIGINT and TIMESTAMP with p ≤ 3 (epoch milliseconds).
    pub fn i64(&self, index: usize) -> Result<Option<i64>> {
        self.slot(index)?.map(|(region, at)| region.i64(at)).transpose()
    }

    /// BINARY, VARBINARY, BLOB and the UTF-8 bytes of strings.
    pub fn bytes(&self, index: usize) -> Result<Option<&'a [u8]>> {
        self.slot(index)?
            .map(|(mut region, at)| region.string_bytes(at))
            .transpose()
    }

    /// CHAR and VARCHAR.
    pub fn str(&self, index: usize) -> Result<Option<&'a str>> {
        self.slot(index)?
            .map(|(mut region, at)| region.string(at))
            .transpose()
    }

    /// ROW of `arity` fields.
    pub fn row(&self, index: usize, arity: usize) -> Result<Option<BinaryRowRef<'a>>> {
        self.slot(index)?
            .map(|(mut region, at)| BinaryRowRef::new(arity, region.piece(at)?))
            .transpose()
    }

    /// ARRAY.
    pub fn array(&self, index: usize) -> Result<Option<BinaryArrayRef<'a>>> {
        self.slot(index)?
            .map(|(mut region, at)| BinaryArrayRef::new(region.piece(at)?))
            .transpose()
    }

    /// Any type, as a [`Datum`].
    pub fn value(&self, index: usize, data_type: &DataType) -> Result<Option<Datum>> {
        self.slot(index)?
            .map(|(mut region, at)| region.value(at, data_type))
            .transpose()
    }
}

/// An array that borrows its bytes.
#[derive(Clone, Copy, Debug)]
pub struct BinaryArrayRef<'a> {
    bytes: &'a [u8],
    len: usize,
}

impl<'a> BinaryArrayRef<'a> {
    /// Wraps array bytes.
    ///
    /// # Errors
    /// `Corrupt` when the null bits do not fit.
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        Ok(BinaryArrayRef {
            bytes,
            len: read::array_len(bytes, 0)?,
        })
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True without elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Elements of an `ARRAY<BIGINT>`.
    pub fn to_i64_vec(&self) -> Result<Vec<Option<i64>>> {
        self.collect(8, |region, at| region.i64(at))
    }

    /// Elements of an `ARRAY<INT>`.
    pub fn to_i32_vec(&self) -> Result<Vec<Option<i32>>> {
        self.collect(4, |region, at| region.i32(at))
    }

    /// Elements of an `ARRAY<STRING>`.
    pub fn to_str_vec(&self) -> Result<Vec<Option<&'a str>>> {
        self.collect(8, |region, at| region.string(at))
    }

    /// Elements of an `ARRAY<ROW>` of `arity` fields.
    pub fn to_row_vec(&self, arity: usize) -> Result<Vec<Option<BinaryRowRef<'a>>>> {
        self.collect(8, |region, at| BinaryRowRef::new(arity, region.piece(at)?))
    }

    fn collect<T>(
        &self,
        size: usize,
        mut value: impl FnMut(&mut Region<'a>, usize) -> Result<T>,
    ) -> Result<Vec<Option<T>>> {
        let len = read::array_len(self.bytes, size)?;
        let start = array_header_size(len);
        let mut region = Region::new(self.bytes, 0)?;
        let mut values = Vec::with_capacity(len);
        for index in 0..len {
            values.push(match region.bit(32 + index)? {
                true => None,
                false => Some(value(&mut region, start + index * size)?),
            });
        }
        Ok(values)
    }

    /// Elements as [`Datum`]s.
    pub fn to_datums(&self, element: &DataType) -> Result<Vec<Option<Datum>>> {
        read::array(self.bytes, element, 0)
    }
}
