// SPDX-License-Identifier: Apache-2.0

//! `BinaryRow`, `BinaryArray` and `BinaryMap` (Java `org.apache.paimon.data`; `wire.md` 1 and 2).

mod layout;
mod read;
mod shared;
mod typed_stream;
mod view;
mod write;
mod writer;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

pub(crate) use layout::kind_name;
pub use read::i128_from_big_endian;
pub use shared::SharedBytes;
pub use typed_stream::{
    read_nullable_stream_value, read_stream_value, write_nullable_stream_value, write_stream_value,
};
pub use view::{BinaryArrayRef, BinaryRowRef};
pub(crate) use write::fits_precision;
pub use writer::BinaryRowWriter;

use crate::{DataInput, DataOutput, DataType, Datum, Error, Result, murmur_words};

/// A row in Java's binary layout: little-endian, 8-byte slots, variable part behind.
///
/// Cheap to clone (shared bytes); equality and `Hash` are those of the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BinaryRow {
    arity: usize,
    bytes: SharedBytes,
}

impl Hash for BinaryRow {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.arity.hash(state);
        self.as_bytes().hash(state);
    }
}

impl BinaryRow {
    /// The row without fields: eight zero bytes (Java `EMPTY_ROW`).
    pub fn empty() -> Self {
        BinaryRow {
            arity: 0,
            bytes: SharedBytes::from(Arc::from([0u8; 8])),
        }
    }

    /// Wraps row bytes (no length, no arity in front).
    ///
    /// # Errors
    /// `Corrupt` when the bytes are shorter than the fixed part for `arity`, `InvalidInput` when they are more than Java can hold (2 GiB).
    pub fn new(arity: usize, bytes: impl Into<Arc<[u8]>>) -> Result<Self> {
        Self::from_shared(arity, SharedBytes::from(bytes.into()))
    }

    /// Wraps row bytes that lie in a larger buffer, without copying them; the row keeps the whole buffer alive.
    ///
    /// # Errors
    /// As [`BinaryRow::new`].
    pub fn from_shared(arity: usize, bytes: SharedBytes) -> Result<Self> {
        read::check_fixed_part(&bytes, arity)?;
        // Room for the arity in front, so that every stream form has a length that fits.
        if bytes.len() > i32::MAX as usize - 4 {
            return Err(Error::invalid(format!(
                "row of {} bytes, expected at most {}",
                bytes.len(),
                i32::MAX - 4
            )));
        }
        Ok(BinaryRow { arity, bytes })
    }

    /// Encodes values in the form that Java's generated projections write (`wire.md` 1.5, 1.6: null DECIMAL/TIMESTAMP reserve space).
    /// NULL is accepted for every field: nullability is checked by writers, not by this form.
    ///
    /// # Errors
    /// `InvalidInput` when a value does not fit its type: another kind, a decimal of another scale or too many digits, nanoseconds in a
    /// TIMESTAMP with p ≤ 3.
    pub fn encode(types: &[DataType], values: &[Option<Datum>]) -> Result<Self> {
        let mut bytes = Vec::with_capacity(layout::fixed_size(types.len()).saturating_add(24 * values.len()));
        write::row(&mut bytes, types.iter(), values, 0)?;
        Self::new(types.len(), bytes)
    }

    /// Decodes all fields.
    ///
    /// # Errors
    /// `Corrupt` when a slot points outside of the row, pieces overlap, text is not UTF-8 or `types` and arity disagree.
    pub fn decode(&self, types: &[DataType]) -> Result<Vec<Option<Datum>>> {
        if types.len() != self.arity {
            return Err(Error::corrupt(format!(
                "row of {} fields, expected {}",
                self.arity,
                types.len()
            )));
        }
        read::row(&self.bytes, types.len(), types.iter(), 0)
    }

    /// Decodes field `index` alone, in O(1).
    ///
    /// # Errors
    /// As [`BinaryRow::decode`]; `InvalidInput` when `index` is outside of the arity.
    pub fn get(&self, index: usize, data_type: &DataType) -> Result<Option<Datum>> {
        self.view().value(index, data_type)
    }

    /// Typed access to fields without [`Datum`]s.
    pub fn view(&self) -> BinaryRowRef<'_> {
        BinaryRowRef::from_checked(self.arity, &self.bytes)
    }

    /// Number of fields.
    pub fn arity(&self) -> usize {
        self.arity
    }

    /// The row kind byte: 0 `+I`, 1 `-U`, 2 `+U`, 3 `-D`. Rows used as keys, partitions and statistics have 0.
    pub fn row_kind(&self) -> u8 {
        self.bytes.first().copied().unwrap_or(0)
    }

    /// The row bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Java `BinaryRow.hashCode` (`wire.md` 3.1): over all bytes, row kind included.
    pub fn hash_code(&self) -> i32 {
        murmur_words(&self.bytes)
    }

    /// Form A, "schemaless bytes": i32 BE arity, row bytes.
    pub fn to_serialized(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(4 + self.bytes.len());
        out.extend_from_slice(&(self.arity as i32).to_be_bytes());
        out.extend_from_slice(&self.bytes);
        out
    }

    /// Reads form A.
    ///
    /// # Errors
    /// `Corrupt` when too short or the arity is negative.
    pub fn from_serialized(bytes: &[u8]) -> Result<Self> {
        let (arity, row) = split_arity(bytes)?;
        Self::new(arity, row)
    }

    /// Reads form A out of `bytes`, a part of `buffer`, without copying the row; it keeps the whole buffer alive.
    ///
    /// # Errors
    /// As [`BinaryRow::from_serialized`].
    pub fn from_serialized_in(buffer: &SharedBytes, bytes: &[u8]) -> Result<Self> {
        let (arity, row) = split_arity(bytes)?;
        Self::from_shared(arity, buffer.part(row))
    }

    /// Writes form B, "schemaless stream": i32 BE (4 + row size), i32 BE arity, row bytes.
    pub fn write_stream(&self, out: &mut DataOutput) {
        out.write_i32(4 + self.bytes.len() as i32);
        out.write_i32(self.arity as i32);
        out.write_bytes(&self.bytes);
    }

    /// Reads form B.
    ///
    /// # Errors
    /// `Corrupt` when too short or lengths contradict each other.
    pub fn read_stream(input: &mut DataInput<'_>) -> Result<Self> {
        Self::from_serialized(input.read_sized()?)
    }

    /// Writes form C, "typed stream": i32 BE row size, row bytes.
    pub fn write_record(&self, out: &mut DataOutput) {
        out.write_i32(self.bytes.len() as i32);
        out.write_bytes(&self.bytes);
    }

    /// Reads form C; the arity comes from the schema, which may be shorter than the one that wrote the record as long as the null bits are as wide
    /// (both up to 56 fields; `wire.md` 4).
    ///
    /// # Errors
    /// `Corrupt` when too short for `arity` fields.
    pub fn read_record(input: &mut DataInput<'_>, arity: usize) -> Result<Self> {
        Self::new(arity, input.read_sized()?)
    }
}

/// Arity and row bytes of form A.
fn split_arity(bytes: &[u8]) -> Result<(usize, &[u8])> {
    let Some((arity, row)) = bytes.split_first_chunk::<4>() else {
        return Err(Error::corrupt(format!(
            "serialized row of {} bytes, expected at least 12",
            bytes.len()
        )));
    };
    let arity = i32::from_be_bytes(*arity);
    match usize::try_from(arity) {
        Ok(arity) => Ok((arity, row)),
        Err(_) => Err(Error::corrupt(format!("serialized row of {arity} fields"))),
    }
}

/// An array in Java's binary layout (Java `BinaryArray`; `wire.md` 1.7).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BinaryArray {
    bytes: Arc<[u8]>,
}

impl BinaryArray {
    /// Wraps array bytes.
    ///
    /// # Errors
    /// `Corrupt` when the element count is negative or its null bits do not fit.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Result<Self> {
        let bytes = bytes.into();
        read::array_len(&bytes, 0)?;
        Ok(BinaryArray { bytes })
    }

    /// Encodes elements; unlike in rows, nulls reserve nothing and every NaN is written alike.
    ///
    /// # Errors
    /// `InvalidInput` when an element does not fit its type.
    pub fn encode(element: &DataType, values: &[Option<Datum>]) -> Result<Self> {
        let mut bytes = Vec::new();
        write::array(&mut bytes, element, values.iter().map(Option::as_ref), 0)?;
        Self::new(bytes)
    }

    /// Decodes all elements.
    ///
    /// # Errors
    /// `Corrupt` when an element lies outside of the array.
    pub fn decode(&self, element: &DataType) -> Result<Vec<Option<Datum>>> {
        read::array(&self.bytes, element, 0)
    }

    /// The array bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Java `BinaryArray.hashCode`.
    pub fn hash_code(&self) -> i32 {
        murmur_words(&self.bytes)
    }
}
