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
        let start = self.position;
        let text = self
            .read_u16()
            .and_then(|len| self.read_bytes(usize::from(len)))
            .and_then(|bytes| {
                decode_modified_utf8(bytes).ok_or_else(|| {
                    Error::corrupt(format!(
                        "text at offset {start} is not modified UTF-8 of whole characters"
                    ))
                })
            });
        if text.is_err() {
            self.position = start;
        }
        text
    }

    /// `VarLengthIntUtils.decodeInt`.
    pub fn read_var_i32(&mut self) -> Result<i32> {
        let start = self.position;
        let value = self.read_leb128(5)?;
        i32::try_from(value).map_err(|_| {
            self.position = start;
            Error::corrupt(format!(
                "variable-length int {value} at offset {start}, expected at most {}",
                i32::MAX
            ))
        })
    }

    /// `VarLengthIntUtils.decodeLong`.
    pub fn read_var_i64(&mut self) -> Result<i64> {
        self.read_leb128(9)
    }

    /// Up to nine groups of seven bits, so that the value is never negative.
    fn read_leb128(&mut self, max_bytes: usize) -> Result<i64> {
        let mut value = 0i64;
        for (index, byte) in self
            .bytes
            .get(self.position..)
            .unwrap_or_default()
            .iter()
            .take(max_bytes)
            .enumerate()
        {
            value |= i64::from(byte & 0x7f) << (7 * index);
            if byte & 0x80 == 0 {
                self.position += index + 1;
                return Ok(value);
            }
        }
        Err(Error::corrupt(format!(
            "malformed variable-length integer at offset {}",
            self.position
        )))
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
    pub fn write_utf(&mut self, text: &str) -> Result<()> {
        let len: usize = text.chars().map(modified_utf8_len).sum();
        let Ok(short) = u16::try_from(len) else {
            return Err(Error::invalid(format!(
                "text of {len} encoded bytes, expected at most {}",
                u16::MAX
            )));
        };
        self.write_u16(short);
        if len == text.len() && !text.contains('\0') {
            self.write_bytes(text.as_bytes());
            return Ok(());
        }
        for unit in text.encode_utf16() {
            match unit {
                0x01..=0x7f => self.write_u8(unit as u8),
                0 | 0x80..=0x7ff => self.write_bytes(&[0xc0 | (unit >> 6) as u8, 0x80 | (unit & 0x3f) as u8]),
                _ => self.write_bytes(&[
                    0xe0 | (unit >> 12) as u8,
                    0x80 | (unit >> 6 & 0x3f) as u8,
                    0x80 | (unit & 0x3f) as u8,
                ]),
            }
        }
        Ok(())
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
    pub fn write_var_i64(&mut self, value: i64) -> Result<()> {
        let Ok(mut rest) = u64::try_from(value) else {
            return Err(Error::invalid(format!(
                "variable-length integer {value}, expected 0 or more"
            )));
        };
        while rest > 0x7f {
            self.write_u8(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.write_u8(rest as u8);
        Ok(())
    }
}

fn modified_utf8_len(c: char) -> usize {
    match c {
        '\0' => 2,
        c if c.len_utf8() == 4 => 6,
        c => c.len_utf8(),
    }
}

/// Text of UTF-16 units in one to three bytes each; `None` when malformed or not whole characters. As Java, accepts plain zero bytes
/// and longer forms than needed.
fn decode_modified_utf8(bytes: &[u8]) -> Option<String> {
    if bytes.is_ascii() {
        return String::from_utf8(bytes.to_vec()).ok();
    }
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        rest = match rest {
            [] => break,
            [a @ 0..=0x7f, rest @ ..] => {
                units.push(u16::from(*a));
                rest
            }
            [a @ 0xc0..=0xdf, b @ 0x80..=0xbf, rest @ ..] => {
                units.push(u16::from(a & 0x1f) << 6 | u16::from(b & 0x3f));
                rest
            }
            [a @ 0xe0..=0xef, b @ 0x80..=0xbf, c @ 0x80..=0xbf, rest @ ..] => {
                units.push(u16::from(a & 0x0f) << 12 | u16::from(b & 0x3f) << 6 | u16::from(c & 0x3f));
                rest
            }
            _ => return None,
        };
    }
    String::from_utf16(&units).ok()
}
