// SPDX-License-Identifier: Apache-2.0

//! `BinaryRow`, `BinaryArray` and `BinaryMap` (Java `org.apache.paimon.data`; `wire.md` 1 and 2).

mod writer;

use std::sync::Arc;

pub use writer::BinaryRowWriter;

use crate::{DataInput, DataOutput, DataType, Datum, Error, Result};

/// A row in Java's binary layout: little-endian, 8-byte slots, variable part behind.
///
/// Cheap to clone (shared bytes); equality and `Hash` are those of the bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BinaryRow {
    arity: usize,
    bytes: Arc<[u8]>,
}

impl BinaryRow {
    /// The row without fields: eight zero bytes (Java `EMPTY_ROW`).
    pub fn empty() -> Self {
        BinaryRow {
            arity: 0,
            bytes: Arc::from([0u8; 8]),
        }
    }

    /// Wraps row bytes (no length, no arity in front).
    ///
    /// # Errors
    /// `Corrupt` when the bytes are shorter than the fixed part for `arity`.
    pub fn new(arity: usize, bytes: impl Into<Arc<[u8]>>) -> Result<Self> {
        Ok(BinaryRow {
            arity,
            bytes: bytes.into(),
        })
    }

    /// Encodes values in the form that Java's generated projections write (`wire.md` 1.5, 1.6: null DECIMAL/TIMESTAMP reserve space).
    ///
    /// # Errors
    /// `InvalidInput` when a value does not fit its type.
    pub fn encode(_types: &[DataType], _values: &[Option<Datum>]) -> Result<Self> {
        Err(Error::unsupported("stub"))
    }

    /// Decodes all fields.
    ///
    /// # Errors
    /// `Corrupt` when a slot points outside of the row or `types` and arity disagree.
    pub fn decode(&self, _types: &[DataType]) -> Result<Vec<Option<Datum>>> {
        Err(Error::unsupported("stub"))
    }

    /// Decodes field `index`.
    ///
    /// # Errors
    /// As [`BinaryRow::decode`].
    pub fn get(&self, _index: usize, _data_type: &DataType) -> Result<Option<Datum>> {
        Err(Error::unsupported("stub"))
    }

    /// Number of fields.
    pub fn arity(&self) -> usize {
        self.arity
    }

    /// The row bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
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
    pub fn from_serialized(_bytes: &[u8]) -> Result<Self> {
        Err(Error::unsupported("stub"))
    }

    /// Java `BinaryRow.hashCode` (`wire.md` 3.1).
    pub fn hash_code(&self) -> i32 {
        0
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

    /// Reads form C; the arity comes from the schema.
    ///
    /// # Errors
    /// `Corrupt` when too short for `arity` fields.
    pub fn read_record(input: &mut DataInput<'_>, arity: usize) -> Result<Self> {
        Self::new(arity, input.read_sized()?)
    }
}
