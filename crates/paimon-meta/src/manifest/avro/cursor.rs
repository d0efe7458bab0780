// SPDX-License-Identifier: Apache-2.0

//! Primitive values of Avro's binary encoding.

use paimon_types::{Error, Result};

/// A position in Avro bytes.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    pos: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, pos: 0 }
    }

    pub(crate) fn position(&self) -> usize {
        self.pos
    }

    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.pos)
    }

    /// What was read between `start` and here.
    pub(crate) fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.pos).unwrap_or_default()
    }

    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let end = self.pos.checked_add(len);
        match end.and_then(|end| self.bytes.get(self.pos..end)) {
            Some(slice) => {
                self.pos += len;
                Ok(slice)
            }
            None => Err(Error::corrupt(format!(
                "avro data ends early: {len} bytes wanted, {} left",
                self.remaining()
            ))),
        }
    }

    /// A zig-zag variable-length integer of at most 64 bits; `int` and `long` look the same.
    pub(crate) fn long(&mut self) -> Result<i64> {
        let mut value: u64 = 0;
        for shift in (0..64).step_by(7) {
            let Some(&byte) = self.bytes.get(self.pos) else {
                return Err(Error::corrupt("avro data ends inside a number"));
            };
            self.pos += 1;
            let low = u64::from(byte & 0x7f);
            if shift == 63 && low > 1 {
                break;
            }
            value |= low << shift;
            if byte & 0x80 == 0 {
                return Ok((value >> 1) as i64 ^ -((value & 1) as i64));
            }
        }
        Err(Error::corrupt("avro number has more than 64 bits"))
    }

    /// A length or count: not negative and not larger than what is left.
    pub(crate) fn length(&mut self) -> Result<usize> {
        let value = self.long()?;
        match usize::try_from(value) {
            Ok(len) if len <= self.remaining() => Ok(len),
            _ => Err(Error::corrupt(format!(
                "avro length {value}, at most {} expected",
                self.remaining()
            ))),
        }
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8]> {
        let len = self.length()?;
        self.take(len)
    }

    pub(crate) fn string(&mut self) -> Result<&'a str> {
        std::str::from_utf8(self.bytes()?)
            .map_err(|e| Error::corrupt("avro string is not UTF-8").with_source(e))
    }

    /// The head of an array or map block: `None` at the end, else the item count and, where the writer gave it, the size
    /// of the block in bytes.
    pub(crate) fn block(&mut self) -> Result<Option<(u64, Option<usize>)>> {
        match self.long()? {
            0 => Ok(None),
            count if count > 0 => Ok(Some((count.unsigned_abs(), None))),
            count => {
                let size = self.length()?;
                Ok(Some((count.unsigned_abs(), Some(size))))
            }
        }
    }
}
