// SPDX-License-Identifier: Apache-2.0

//! Java stream primitives over bytes in memory (Java `DataInputView`, `DataOutputView`, `VarLengthIntUtils`; `wire.md` 5).
//! Everything is big-endian unless the name says `_le`.

use crate::{Error, Result};

/// Reads Java stream primitives from a slice. Every method fails with `Corrupt` at the end of the bytes and consumes nothing then.
#[derive(Clone, Debug)]
pub struct DataInput<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> DataInput<'a> {
    /// Reads from the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        DataInput { bytes, position: 0 }
    }

    /// Bytes consumed so far.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Bytes left.
    pub fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.position)
    }

    /// True at the end.
    pub fn is_empty(&self) -> bool {
        self.remaining() == 0
    }

    /// Fails with `Corrupt` unless everything was consumed.
    pub fn expect_end(&self) -> Result<()> {
        match self.remaining() {
            0 => Ok(()),
            n => Err(Error::corrupt(format!(
                "{n} unexpected bytes after the last value at offset {}",
                self.position
            ))),
        }
    }

    /// The next `len` bytes.
    pub fn read_bytes(&mut self, len: usize) -> Result<&'a [u8]> {
        let slice = self
            .position
            .checked_add(len)
            .and_then(|end| self.bytes.get(self.position..end));
        match slice {
            Some(slice) => {
                self.position += len;
                Ok(slice)
            }
            None => Err(Error::corrupt(format!(
                "expected {len} bytes at offset {}, found only {}",
                self.position,
                self.remaining()
            ))),
        }
    }

    /// The next `N` bytes.
    #[inline]
    pub fn read_array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self
            .bytes
            .get(self.position..)
            .and_then(|rest| rest.first_chunk::<N>())
        {
            Some(array) => {
                self.position += N;
                Ok(*array)
            }
            None => Err(self.short(N)),
        }
    }

    #[cold]
    fn short(&self, len: usize) -> Error {
        Error::corrupt(format!(
            "expected {len} bytes at offset {}, found only {}",
            self.position,
            self.remaining()
        ))
    }

    /// `readBoolean`: any byte but 0 is true.
    pub fn read_bool(&mut self) -> Result<bool> {
        Ok(self.read_u8()? != 0)
    }

    /// `readUnsignedByte`.
    pub fn read_u8(&mut self) -> Result<u8> {
        Ok(self.read_array::<1>()?[0])
    }

    /// `readByte`.
    pub fn read_i8(&mut self) -> Result<i8> {
        Ok(self.read_u8()? as i8)
    }

    /// `readUnsignedShort`.
    pub fn read_u16(&mut self) -> Result<u16> {
        self.read_array().map(u16::from_be_bytes)
    }

    /// `readShort`.
    pub fn read_i16(&mut self) -> Result<i16> {
        self.read_array().map(i16::from_be_bytes)
    }

    /// `readInt`.
    pub fn read_i32(&mut self) -> Result<i32> {
        self.read_array().map(i32::from_be_bytes)
    }

    /// `readLong`.
    pub fn read_i64(&mut self) -> Result<i64> {
        self.read_array().map(i64::from_be_bytes)
    }

    /// `readFloat`.
    pub fn read_f32(&mut self) -> Result<f32> {
        self.read_array().map(f32::from_be_bytes)
    }

    /// `readDouble`.
    pub fn read_f64(&mut self) -> Result<f64> {
        self.read_array().map(f64::from_be_bytes)
    }

    /// A little-endian i32.
    pub fn read_i32_le(&mut self) -> Result<i32> {
        self.read_array().map(i32::from_le_bytes)
    }

    /// A little-endian i64.
    pub fn read_i64_le(&mut self) -> Result<i64> {
        self.read_array().map(i64::from_le_bytes)
    }

    /// An i32 that counts items of at least `min_item_bytes` bytes each: negative counts and counts that cannot fit into what is left are
    /// `Corrupt`, so the result may be reserved.
    pub fn read_count(&mut self, min_item_bytes: usize) -> Result<usize> {
        let at = self.position;
        let count = self.read_i32()?;
        match usize::try_from(count) {
            Ok(n)
                if n.checked_mul(min_item_bytes.max(1))
                    .is_some_and(|size| size <= self.remaining()) =>
            {
                Ok(n)
            }
            _ => {
                self.position = at;
                Err(Error::corrupt(format!(
                    "count {count} at offset {at} does not fit into the {} bytes behind it",
                    self.remaining().saturating_sub(4)
                )))
            }
        }
    }

    /// An i32 length, then that many bytes.
    pub fn read_sized(&mut self) -> Result<&'a [u8]> {
        let at = self.position;
        let len = self.read_count(1)?;
        let bytes = self.read_bytes(len);
        if bytes.is_err() {
            self.position = at;
        }
        bytes
    }

    /// `readUTF`: u16 byte length, modified UTF-8.
    ///
    /// # Errors
    /// `Corrupt` also for malformed sequences and unpaired surrogates.
    pub fn read_utf(&mut self) -> Result<String> {
        Err(Error::unsupported("stub"))
    }

    /// `VarLengthIntUtils.decodeInt`.
    pub fn read_var_i32(&mut self) -> Result<i32> {
        Err(Error::unsupported("stub"))
    }

    /// `VarLengthIntUtils.decodeLong`.
    pub fn read_var_i64(&mut self) -> Result<i64> {
        Err(Error::unsupported("stub"))
    }
}

/// Appends Java stream primitives to a buffer.
#[derive(Clone, Debug, Default)]
pub struct DataOutput {
    bytes: Vec<u8>,
}

impl DataOutput {
    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty buffer with room for `capacity` bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        DataOutput {
            bytes: Vec::with_capacity(capacity),
        }
    }

    /// Bytes written so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// True when nothing was written.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes written so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The buffer.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Raw bytes.
    pub fn write_bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// `writeBoolean`.
    pub fn write_bool(&mut self, value: bool) {
        self.bytes.push(u8::from(value));
    }

    /// `writeByte`.
    pub fn write_u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// `writeByte`.
    pub fn write_i8(&mut self, value: i8) {
        self.bytes.push(value as u8);
    }

    /// `writeShort` of an unsigned value.
    pub fn write_u16(&mut self, value: u16) {
        self.write_bytes(&value.to_be_bytes());
    }

    /// `writeShort`.
    pub fn write_i16(&mut self, value: i16) {
        self.write_bytes(&value.to_be_bytes());
    }

    /// `writeInt`.
    pub fn write_i32(&mut self, value: i32) {
        self.write_bytes(&value.to_be_bytes());
    }

    /// `writeLong`.
    pub fn write_i64(&mut self, value: i64) {
        self.write_bytes(&value.to_be_bytes());
    }

    /// `writeFloat`: every NaN becomes `7fc00000`.
    pub fn write_f32(&mut self, value: f32) {
        let value = if value.is_nan() {
            f32::from_bits(0x7fc0_0000)
        } else {
            value
        };
        self.write_bytes(&value.to_be_bytes());
    }

    /// `writeDouble`: every NaN becomes `7ff8000000000000`.
    pub fn write_f64(&mut self, value: f64) {
        let value = if value.is_nan() {
            f64::from_bits(0x7ff8_0000_0000_0000)
        } else {
            value
        };
        self.write_bytes(&value.to_be_bytes());
    }

    /// A little-endian i32.
    pub fn write_i32_le(&mut self, value: i32) {
        self.write_bytes(&value.to_le_bytes());
    }

    /// A little-endian i64.
    pub fn write_i64_le(&mut self, value: i64) {
        self.write_bytes(&value.to_le_bytes());
    }

    /// A count or length as i32.
    ///
    /// # Errors
    /// `InvalidInput` when above `i32::MAX`.
    pub fn write_count(&mut self, count: usize) -> Result<()> {
        let value = i32::try_from(count).map_err(|_| {
            Error::invalid(format!(
                "count {count} exceeds the largest that the format can hold, {}",
                i32::MAX
            ))
        })?;
        self.write_i32(value);
        Ok(())
    }

    /// An i32 length, then the bytes.
    ///
    /// # Errors
    /// As [`DataOutput::write_count`].
    pub fn write_sized(&mut self, bytes: &[u8]) -> Result<()> {
        self.write_count(bytes.len())?;
        self.write_bytes(bytes);
        Ok(())
    }

    /// `writeUTF`: u16 byte length, modified UTF-8.
    ///
    /// # Errors
    /// `InvalidInput` when the encoded form is longer than 65535 bytes; nothing is written then.
    pub fn write_utf(&mut self, _text: &str) -> Result<()> {
        Err(Error::unsupported("stub"))
    }

    /// `VarLengthIntUtils.encodeInt`.
    ///
    /// # Errors
    /// `InvalidInput` when negative.
    pub fn write_var_i32(&mut self, value: i32) -> Result<()> {
        self.write_var_i64(i64::from(value))
    }

    /// `VarLengthIntUtils.encodeLong`.
    ///
    /// # Errors
    /// `InvalidInput` when negative.
    pub fn write_var_i64(&mut self, _value: i64) -> Result<()> {
        Err(Error::unsupported("stub"))
    }
}
