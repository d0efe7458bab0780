// SPDX-License-Identifier: Apache-2.0

//! Rows and arrays of the metadata records, read in place and written without intermediate values
//! (`wire.md` 1.1, 1.3, 1.7, 4). All record schemas have at most 56 fields, so the null block is eight bytes.

use std::cell::Cell;

use paimon_types::{BinaryRow, Error, Result, SharedBytes};

use crate::RowValues;

/// Bytes of header and null bits.
const NULL_BYTES: usize = 8;

/// Bytes of the fixed part of a record with `arity` fields: no record is shorter.
pub(super) const fn fixed_part(arity: usize) -> usize {
    NULL_BYTES + 8 * arity
}

/// A record in memory. Read the fields that its version has, then call [`RecordReader::finish`].
///
/// The sum of all variable fields that are read must stay within the record, so what a caller copies out of it is at
/// most the record's length even when slots of damaged input point to the same bytes.
pub(super) struct RecordReader<'a> {
    what: &'static str,
    bytes: &'a [u8],
    arity: usize,
    budget: Cell<usize>,
    first_variable: Cell<usize>,
}

impl<'a> RecordReader<'a> {
    pub(super) fn new(what: &'static str, bytes: &'a [u8], arity: usize) -> Result<Self> {
        if bytes.len() < fixed_part(arity) {
            return Err(Error::corrupt(format!(
                "{what} record has {} bytes, {arity} fields need at least {}",
                bytes.len(),
                fixed_part(arity)
            )));
        }
        let budget = Cell::new(bytes.len());
        Ok(RecordReader {
            what,
            bytes,
            arity,
            budget,
            first_variable: Cell::new(bytes.len()),
        })
    }

    fn slot(&self, field: usize) -> Result<[u8; 8]> {
        let slot = self
            .bytes
            .get(fixed_part(field)..)
            .and_then(|rest| rest.first_chunk::<8>());
        slot.copied().ok_or_else(|| self.corrupt(field, "has no slot"))
    }

    #[cold]
    fn corrupt(&self, field: usize, problem: impl std::fmt::Display) -> Error {
        Error::corrupt(format!("field {field} of {} record {problem}", self.what))
    }

    fn null_bit(&self, field: usize) -> bool {
        let bit = field + 8;
        self.bytes
            .get(bit >> 3)
            .is_some_and(|byte| byte & (1 << (bit & 7)) != 0)
    }

    /// True when the field is null or its version does not have it.
    pub(super) fn is_null(&self, field: usize) -> bool {
        field >= self.arity || self.null_bit(field)
    }

    fn present<T>(&self, field: usize, value: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        if self.is_null(field) {
            Ok(None)
        } else {
            value().map(Some)
        }
    }

    fn require<T>(&self, field: usize, value: Option<T>) -> Result<T> {
        value.ok_or_else(|| self.corrupt(field, "is null, expected a value"))
    }

    pub(super) fn opt_i8(&self, field: usize) -> Result<Option<i8>> {
        self.present(field, || self.slot(field).map(|[byte, ..]| byte as i8))
    }

    pub(super) fn i32(&self, field: usize) -> Result<i32> {
        let value = self.present(field, || {
            self.slot(field)
                .map(|[a, b, c, d, ..]| i32::from_le_bytes([a, b, c, d]))
        })?;
        self.require(field, value)
    }

    pub(super) fn opt_i64(&self, field: usize) -> Result<Option<i64>> {
        self.present(field, || self.slot(field).map(i64::from_le_bytes))
    }

    pub(super) fn i64(&self, field: usize) -> Result<i64> {
        self.require(field, self.opt_i64(field)?)
    }

    /// A piece of the variable part: ARRAY and ROW always, strings and bytes of eight bytes and more.
    fn piece(&self, field: usize, slot: [u8; 8]) -> Result<&'a [u8]> {
        let slot = u64::from_le_bytes(slot);
        let (offset, len) = ((slot >> 32) as usize, (slot & 0xffff_ffff) as usize);
        let piece = offset
            .checked_add(len)
            .and_then(|end| self.bytes.get(offset..end));
        let piece = piece.ok_or_else(|| {
            let size = self.bytes.len();
            self.corrupt(
                field,
                format_args!("spans {len} bytes at offset {offset} of a record of {size} bytes"),
            )
        })?;
        if offset < fixed_part(self.arity) {
            return Err(self.short(offset));
        }
        self.first_variable.set(self.first_variable.get().min(offset));
        self.spend(field, len)?;
        Ok(piece)
    }

    /// The variable part begins among the slots: the writer knew fewer fields, and what would be read there is no slot.
    #[cold]
    fn short(&self, offset: usize) -> Error {
        let (what, found, arity) = (self.what, offset.saturating_sub(NULL_BYTES) / 8, self.arity);
        Error::corrupt(format!(
            "{what} record was written with {found} fields, this version has {arity}"
        ))
    }

    fn spend(&self, field: usize, len: usize) -> Result<()> {
        let left = self.budget.get().checked_sub(len);
        self.budget
            .set(left.ok_or_else(|| self.corrupt(field, "overlaps another field"))?);
        Ok(())
    }

    pub(super) fn opt_piece(&self, field: usize) -> Result<Option<&'a [u8]>> {
        self.present(field, || self.piece(field, self.slot(field)?))
    }

    pub(super) fn opt_bytes(&self, field: usize) -> Result<Option<&'a [u8]>> {
        self.present(field, || {
            let slot = self.slot(field)?;
            let [.., mark] = slot;
            if mark & 0x80 == 0 {
                return self.piece(field, slot);
            }
            let (at, len) = (fixed_part(field), usize::from(mark & 0x7f));
            let inline = if len > 7 {
                None
            } else {
                self.bytes.get(at..at + len)
            };
            inline.ok_or_else(|| {
                self.corrupt(field, format_args!("has {len} bytes inline, expected at most 7"))
            })
        })
    }

    pub(super) fn bytes(&self, field: usize) -> Result<&'a [u8]> {
        self.require(field, self.opt_bytes(field)?)
    }

    pub(super) fn opt_string(&self, field: usize) -> Result<Option<String>> {
        let text = self.opt_bytes(field)?.map(std::str::from_utf8).transpose();
        text.map(|text| text.map(str::to_owned))
            .map_err(|e| self.corrupt(field, "is not UTF-8").with_source(e))
    }

    pub(super) fn string(&self, field: usize) -> Result<String> {
        self.require(field, self.opt_string(field)?)
    }

    /// A row in the form "arity, row bytes", as a part of `buffer`; the empty row is shared.
    pub(super) fn row(&self, field: usize, empty: &RowValues, buffer: &SharedBytes) -> Result<RowValues> {
        let bytes = self.bytes(field)?;
        if bytes == [0; 12] {
            Ok(empty.clone())
        } else {
            BinaryRow::from_serialized_in(buffer, bytes).map(RowValues::from_encoded_row)
        }
    }

    pub(super) fn opt_array(&self, field: usize, element: usize) -> Result<Option<ArrayReader<'a>>> {
        self.opt_piece(field)?
            .map(|piece| self.array_of(piece, element))
            .transpose()
    }

    /// The array in a piece of this record.
    pub(super) fn array_of(&self, piece: &'a [u8], element: usize) -> Result<ArrayReader<'a>> {
        ArrayReader::new(self.what, piece, element)
    }

    /// Ends the reading: values in fields that this version does not have would be lost.
    ///
    /// The first variable piece begins where the fixed part ends, which tells how many fields the writer knew.
    pub(super) fn finish(&self) -> Result<()> {
        let found = self.first_variable.get().saturating_sub(NULL_BYTES) / 8;
        match (self.arity..found.min(56)).find(|field| !self.null_bit(*field)) {
            None => Ok(()),
            Some(field) => Err(Error::corrupt(format!(
                "{} record has a value in field {field}, this version has {} fields: it was written with a newer version",
                self.what, self.arity
            ))),
        }
    }
}

/// A BinaryArray in memory.
pub(super) struct ArrayReader<'a> {
    what: &'static str,
    bytes: &'a [u8],
    len: usize,
    header: usize,
    element: usize,
}

impl<'a> ArrayReader<'a> {
    /// `element` is the bytes of an element slot: 4 or 8.
    fn new(what: &'static str, bytes: &'a [u8], element: usize) -> Result<Self> {
        let count = bytes.first_chunk::<4>().map(|c| i32::from_le_bytes(*c));
        let len = count.and_then(|count| usize::try_from(count).ok());
        // All terms are below 2^37, so nothing overflows.
        let header = |len: usize| 4 + len.div_ceil(32) * 4;
        match len {
            Some(len) if header(len) + len * element <= bytes.len() => Ok(ArrayReader {
                what,
                bytes,
                len,
                header: header(len),
                element,
            }),
            _ => Err(Error::corrupt(format!(
                "array in {what} record has {} elements in {} bytes",
                count.unwrap_or(0),
                bytes.len()
            ))),
        }
    }

    pub(super) fn is_null(&self, index: usize) -> bool {
        self.bytes
            .get(4 + (index >> 3))
            .is_some_and(|byte| byte & (1 << (index & 7)) != 0)
    }

    fn slot<const N: usize>(&self, index: usize) -> Result<[u8; N]> {
        let slot = self
            .bytes
            .get(self.header + index * self.element..)
            .and_then(|rest| rest.first_chunk::<N>());
        slot.copied().ok_or_else(|| self.corrupt(index, "has no slot"))
    }

    #[cold]
    fn corrupt(&self, index: usize, problem: impl std::fmt::Display) -> Error {
        Error::corrupt(format!(
            "element {index} of an array in {} record {problem}",
            self.what
        ))
    }

    fn not_null(&self, index: usize) -> Result<()> {
        if self.is_null(index) {
            Err(self.corrupt(index, "is null, expected a value"))
        } else {
            Ok(())
        }
    }

    pub(super) fn i64s(&self) -> Result<Vec<i64>> {
        (0..self.len)
            .map(|i| {
                self.not_null(i)
                    .and_then(|()| self.slot(i))
                    .map(i64::from_le_bytes)
            })
            .collect()
    }

    pub(super) fn i32s(&self) -> Result<Vec<i32>> {
        (0..self.len)
            .map(|i| {
                self.not_null(i)
                    .and_then(|()| self.slot(i))
                    .map(i32::from_le_bytes)
            })
            .collect()
    }

    /// The variable elements, each inline (strings only) or a piece; all pieces together fit into the array.
    fn pieces(&self, inline: bool) -> impl Iterator<Item = Result<&'a [u8]>> {
        let mut budget = self.bytes.len();
        (0..self.len).map(move |index| {
            self.not_null(index)?;
            let slot: [u8; 8] = self.slot(index)?;
            let [.., mark] = slot;
            let piece = if inline && mark & 0x80 != 0 {
                let (at, len) = (self.header + index * self.element, usize::from(mark & 0x7f));
                if len > 7 {
                    None
                } else {
                    self.bytes.get(at..at + len)
                }
            } else {
                let slot = u64::from_le_bytes(slot);
                let (offset, len) = ((slot >> 32) as usize, (slot & 0xffff_ffff) as usize);
                offset
                    .checked_add(len)
                    .and_then(|end| self.bytes.get(offset..end))
            };
            let piece = piece.ok_or_else(|| self.corrupt(index, "points outside of the array"))?;
            let left = budget.checked_sub(piece.len());
            budget = left.ok_or_else(|| self.corrupt(index, "overlaps another element"))?;
            Ok(piece)
        })
    }

    pub(super) fn strings(&self) -> Result<Vec<String>> {
        let text = |piece: &'a [u8]| match std::str::from_utf8(piece) {
            Ok(text) => Ok(text.to_owned()),
            Err(e) => {
                Err(Error::corrupt(format!("string in {} record is not UTF-8", self.what)).with_source(e))
            }
        };
        self.pieces(true).map(|piece| text(piece?)).collect()
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = Result<&'a [u8]>> {
        self.pieces(false)
    }
}
