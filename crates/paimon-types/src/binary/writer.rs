// SPDX-License-Identifier: Apache-2.0

//! Row writer with a reusable buffer (Java `BinaryRowWriter`).

use super::write;
use crate::{BinaryRow, DataType, Datum, Error, Result, Timestamp, murmur_words};

/// Builds rows field by field into one reused buffer; nothing is allocated once the buffer has grown.
///
/// Every field must be written exactly once and in order, which makes the bytes those of [`BinaryRow::encode`]: a call with another
/// index than the next one is `InvalidInput` and writes nothing.
#[derive(Clone, Debug)]
pub struct BinaryRowWriter {
    bytes: Vec<u8>,
    arity: usize,
    next: usize,
}

impl BinaryRowWriter {
    /// A writer at the start of a row of `arity` fields.
    pub fn new(arity: usize) -> Self {
        let mut writer = BinaryRowWriter {
            bytes: Vec::new(),
            arity,
            next: 0,
        };
        writer.reset(arity);
        writer
    }

    /// Starts a new row of `arity` fields in the same buffer.
    pub fn reset(&mut self, arity: usize) {
        self.bytes.clear();
        self.arity = arity;
        self.next = 0;
        write::begin_row(&mut self.bytes, arity);
    }

    /// Sets the row kind byte (0 `+I`, 1 `-U`, 2 `+U`, 3 `-D`); rows start as 0. It is part of the hash.
    pub fn set_row_kind(&mut self, kind: u8) {
        if let Some(header) = self.bytes.first_mut() {
            *header = kind;
        }
    }

    #[inline]
    fn advance(&mut self, index: usize) -> Result<usize> {
        if index != self.next || index >= self.arity {
            return Err(self.out_of_order(index));
        }
        self.next += 1;
        Ok(write::slot_offset(0, self.arity, index))
    }

    #[cold]
    fn out_of_order(&self, index: usize) -> Error {
        Error::invalid(format!(
            "field {index} written out of order, expected field {} of {}",
            self.next, self.arity
        ))
    }

    /// NULL; reserves space for DECIMAL with p > 18 and TIMESTAMP with p > 3.
    #[inline]
    pub fn set_null(&mut self, index: usize, data_type: &DataType) -> Result<()> {
        self.advance(index)?;
        write::null_field(&mut self.bytes, 0, self.arity, index, data_type)
    }

    /// BOOLEAN.
    #[inline]
    pub fn write_bool(&mut self, index: usize, value: bool) -> Result<()> {
        let at = self.advance(index)?;
        write::put(&mut self.bytes, at, [u8::from(value)])
    }

    /// TINYINT.
    #[inline]
    pub fn write_i8(&mut self, index: usize, value: i8) -> Result<()> {
        let at = self.advance(index)?;
        write::put(&mut self.bytes, at, value.to_le_bytes())
    }

    /// SMALLINT.
    #[inline]
    pub fn write_i16(&mut self, index: usize, value: i16) -> Result<()> {
        let at = self.advance(index)?;
        write::put(&mut self.bytes, at, value.to_le_bytes())
    }

    /// INT, DATE (days) and TIME (milliseconds of the day).
    #[inline]
    pub fn write_i32(&mut self, index: usize, value: i32) -> Result<()> {
        let at = self.advance(index)?;
        write::put(&mut self.bytes, at, value.to_le_bytes())
    }

    /// BIGINT.
    #[inline]
    pub fn write_i64(&mut self, index: usize, value: i64) -> Result<()> {
        let at = self.advance(index)?;
        write::put(&mut self.bytes, at, value.to_le_bytes())
    }

    /// FLOAT, bits as they are.
    #[inline]
    pub fn write_f32(&mut self, index: usize, value: f32) -> Result<()> {
        let at = self.advance(index)?;
        write::put(&mut self.bytes, at, value.to_le_bytes())
    }

    /// DOUBLE, bits as they are.
    #[inline]
    pub fn write_f64(&mut self, index: usize, value: f64) -> Result<()> {
        let at = self.advance(index)?;
        write::put(&mut self.bytes, at, value.to_le_bytes())
    }

    /// CHAR, VARCHAR (UTF-8), BINARY, VARBINARY, BLOB, GEOMETRY and GEOGRAPHY.
    #[inline]
    pub fn write_bytes(&mut self, index: usize, value: &[u8]) -> Result<()> {
        let at = self.advance(index)?;
        write::bytes_value(&mut self.bytes, 0, at, value)
    }

    /// DECIMAL of `precision`; `unscaled` is at the scale of the type.
    ///
    /// # Errors
    /// `InvalidInput` when the value has more digits than `precision`.
    #[inline]
    pub fn write_decimal(&mut self, index: usize, unscaled: i128, precision: u8) -> Result<()> {
        let at = self.advance(index)?;
        write::decimal_value(&mut self.bytes, 0, at, unscaled, precision)
    }

    /// TIMESTAMP and TIMESTAMP_LTZ of `precision`.
    ///
    /// # Errors
    /// `InvalidInput` when the nanoseconds are out of range, or not 0 for a precision up to 3, which cannot hold them.
    #[inline]
    pub fn write_timestamp(&mut self, index: usize, value: Timestamp, precision: u8) -> Result<()> {
        let at = self.advance(index)?;
        write::timestamp_value(&mut self.bytes, 0, at, value, precision)
    }

    /// Any value.
    ///
    /// # Errors
    /// `InvalidInput` when the value does not fit the type.
    pub fn write_datum(&mut self, index: usize, value: Option<&Datum>, data_type: &DataType) -> Result<()> {
        self.advance(index)?;
        write::field(&mut self.bytes, 0, self.arity, index, data_type, value, 0)
    }

    /// A copy of the row; the writer keeps its buffer for [`BinaryRowWriter::reset`].
    ///
    /// # Errors
    /// `InvalidInput` when fields are missing.
    pub fn finish(&self) -> Result<BinaryRow> {
        if self.next != self.arity {
            return Err(Error::invalid(format!(
                "row with {} fields written, expected {}",
                self.next, self.arity
            )));
        }
        BinaryRow::new(self.arity, self.bytes.as_slice())
    }

    /// Bytes of the row; complete once every field was written.
    pub fn row_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Hash of [`BinaryRowWriter::row_bytes`], equal to [`BinaryRow::hash_code`] of the finished row.
    pub fn hash_code(&self) -> i32 {
        murmur_words(&self.bytes)
    }
}
