// SPDX-License-Identifier: Apache-2.0

//! Protobuf wire format.

use paimon_types::Result;

use crate::error::damaged;

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Varint(u64),
    Fixed64(u64),
    /// No field that is used has this type.
    Fixed32,
    Bytes(&'a [u8]),
}

/// The fields of one message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    what: &'static str,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A message called `what` in errors.
    pub(crate) fn new(what: &'static str, bytes: &'a [u8]) -> Self {
        Reader { what, rest: bytes }
    }

    /// Number and value of the next field, `None` at the end.
    ///
    /// # Errors
    /// `Corrupt` when the bytes are no message.
    pub(crate) fn next(&mut self) -> Result<Option<(u32, Value<'a>)>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).map_err(|_| self.bad("has a field number that is too large"))?;
        let value = match key & 7 {
            0 => Value::Varint(self.varint()?),
            1 => Value::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => {
                let length = self.varint()?;
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                let Some((bytes, rest)) = self.rest.split_at_checked(length) else {
                    let what = format!("has a field of {length} bytes where {} are left", self.rest.len());
                    return Err(self.bad(&what));
                };
                self.rest = rest;
                Value::Bytes(bytes)
            }
            5 => {
                self.array::<4>()?;
                Value::Fixed32
            }
            other => return Err(self.bad(&format!("has a field of wire type {other}"))),
        };
        Ok(Some((number, value)))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let Some((bytes, rest)) = self.rest.split_first_chunk::<N>() else {
            return Err(self.bad("ends inside of a field"));
        };
        self.rest = rest;
        Ok(*bytes)
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..70).step_by(7) {
            let Some((byte, rest)) = self.rest.split_first() else {
                return Err(self.bad("ends inside of a number"));
            };
            self.rest = rest;
            if shift < 64 {
                value |= u64::from(byte & 0x7f) << shift;
            }
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.bad("has a number of more than ten bytes"))
    }

    pub(crate) fn bad(&self, what: &str) -> paimon_types::Error {
        damaged(format!("its {} {what}", self.what))
    }

    /// All numbers of a repeated field, packed or not, into `out`.
    pub(crate) fn numbers(&self, value: Value<'a>, out: &mut Vec<u64>) -> Result<()> {
        match value {
            Value::Bytes(bytes) => {
                let mut packed = Reader::new(self.what, bytes);
                while !packed.rest.is_empty() {
                    out.push(packed.varint()?);
                }
                Ok(())
            }
            other => {
                out.push(self.number(other)?);
                Ok(())
            }
        }
    }

    /// All numbers of a repeated fixed64 field, packed or not, into `out`.
    pub(crate) fn fixed64s(&self, value: Value<'a>, out: &mut Vec<u64>) -> Result<()> {
        match value {
            Value::Fixed64(number) => out.push(number),
            Value::Bytes(bytes) => {
                let (words, rest) = bytes.as_chunks::<8>();
                if !rest.is_empty() {
                    return Err(self.bad("has packed words that are not whole"));
                }
                out.extend(words.iter().map(|word| u64::from_le_bytes(*word)));
            }
            _ => return Err(self.bad("has a field of another type than expected")),
        }
        Ok(())
    }

    pub(crate) fn number(&self, value: Value<'a>) -> Result<u64> {
        match value {
            Value::Varint(number) => Ok(number),
            _ => Err(self.bad("has a field of another type than expected")),
        }
    }

    pub(crate) fn number32(&self, value: Value<'a>) -> Result<u32> {
        let number = self.number(value)?;
        u32::try_from(number)
            .map_err(|_| self.bad(&format!("has {number} where a 32-bit number is expected")))
    }

    /// `sint64`.
    pub(crate) fn signed(&self, value: Value<'a>) -> Result<i64> {
        let number = self.number(value)?;
        Ok(((number >> 1) as i64) ^ -((number & 1) as i64))
    }

    pub(crate) fn double(&self, value: Value<'a>) -> Result<f64> {
        match value {
            Value::Fixed64(bits) => Ok(f64::from_bits(bits)),
            _ => Err(self.bad("has a field of another type than expected")),
        }
    }

    pub(crate) fn bytes(&self, value: Value<'a>) -> Result<&'a [u8]> {
        match value {
            Value::Bytes(bytes) => Ok(bytes),
            _ => Err(self.bad("has a field of another type than expected")),
        }
    }

    pub(crate) fn text(&self, value: Value<'a>) -> Result<String> {
        let bytes = self.bytes(value)?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.to_string()),
            Err(_) => Err(self.bad("has text that is not UTF-8")),
        }
    }
}
