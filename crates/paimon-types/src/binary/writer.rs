// SPDX-License-Identifier: Apache-2.0

//! Row writer with a reusable buffer (Java `BinaryRowWriter`).

use crate::{BinaryRow, DataType, Datum, Error, Result, Timestamp};

/// Builds rows field by field into one reused buffer; no allocation once the buffer has grown.
///
/// Every field of a row must be written exactly once and in order: then the bytes are those of [`BinaryRow::encode`].
#[derive(Clone, Debug)]
pub struct BinaryRowWriter {
    bytes: Vec<u8>,
    arity: usize,
    next: usize,
}

#[allow(missing_docs)]
impl BinaryRowWriter {
    pub fn new(arity: usize) -> Self {
        BinaryRowWriter {
            bytes: Vec::new(),
            arity,
            next: 0,
        }
    }
    pub fn reset(&mut self, arity: usize) {
        self.arity = arity;
        self.next = 0;
        self.bytes.clear();
    }
    pub fn set_row_kind(&mut self, _kind: u8) {}
    pub fn set_null(&mut self, _index: usize, _data_type: &DataType) -> Result<()> {
        Err(Error::unsupported("stub"))
    }
    pub fn write_bool(&mut self, _index: usize, _value: bool) -> Result<()> {
        Err(Error::unsupported("stub"))
    }
    pub fn write_i8(&mut self, _index: usize, _value: i8) -> Result<()> {
        Err(Error::unsupported("stub"))
    }
    pub fn write_i16(&mut self, _index: usize, _value: i16) -> Result<()> {
        Err(Error::unsupported("stub"))
    }
    pub fn write_i32(&mut self, _index: usize, _value: i32) -> Result<()> {
        Err(Error::unsupported("stub"))
    }
    pub fn write_i64(&mut self, _index: usize, _value: i64) -> Result<()> {
        Err(Error::unsupported("stub"))
    }
    pub fn write_f32(&mut self, _index: usize, _value: f32) -> Result<()> {
        Err(Error::unsupported("stub"))
    }
    pub fn write_f64(&mut self, _index: usize, _value: f64) -> Result<()> {
        Err(Error::unsupported("stub"))
    }
    pub fn write_bytes(&mut self, _index: usize, _value: &[u8]) -> Result<()> {
        Err(Error::unsupported("stub"))
    }
    pub fn write_decimal(&mut self, _index: usize, _unscaled: i128, _precision: u8) -> Result<()> {
        Err(Error::unsupported("stub"))
    }
    pub fn write_timestamp(&mut self, _index: usize, _value: Timestamp, _precision: u8) -> Result<()> {
        Err(Error::unsupported("stub"))
    }
    pub fn write_datum(
        &mut self,
        _index: usize,
        _value: Option<&Datum>,
        _data_type: &DataType,
    ) -> Result<()> {
        Err(Error::unsupported("stub"))
    }
    pub fn finish(&self) -> Result<BinaryRow> {
        BinaryRow::new(self.arity, self.bytes.as_slice())
    }
    pub fn row_bytes(&self) -> &[u8] {
        &self.bytes
    }
    pub fn hash_code(&self) -> i32 {
        crate::murmur_words(&self.bytes)
    }
}
