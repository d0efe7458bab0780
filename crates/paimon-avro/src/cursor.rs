// SPDX-License-Identifier: Apache-2.0

//! Primitive values of Avro's binary encoding, reading side.

use std::num::NonZeroU64;

use paimon_types::{Error, Result, i128_from_big_endian};

/// A position in Avro bytes.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    pos: usize,
}

impl<'a> Cursor<'a> {
    /// At the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, pos: 0 }
    }

    /// Bytes before the cursor.
    #[inline]
    pub fn position(&self) -> usize {
        self.pos
    }

    /// Bytes behind the cursor.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.pos)
    }

    /// What was read between `start` and here.
    pub fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.pos).unwrap_or_default()
    }

    /// The next `N` bytes, not moved over; `None` when fewer are left.
    #[inline]
    pub fn peek<const N: usize>(&self) -> Option<&'a [u8; N]> {
        self.bytes.get(self.pos..).and_then(<[u8]>::first_chunk::<N>)
    }

    /// Moves over bytes that were peeked at; behind the end there is nothing to be read.
    #[inline]
    pub fn advance(&mut self, len: usize) {
        debug_assert!(len <= self.remaining());
        self.pos += len;
    }

    /// The next `len` bytes.
    ///
    /// # Errors
    /// `Corrupt` when fewer are left.
    #[inline]
    pub fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let end = self.pos.checked_add(len);
        match end.and_then(|end| self.bytes.get(self.pos..end)) {
            Some(slice) => {
                self.pos += len;
                Ok(slice)
            }
            None => Err(self.too_short(len)),
        }
    }

    /// The next `N` bytes.
    ///
    /// # Errors
    /// As [`Cursor::take`].
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.bytes.get(self.pos..).and_then(<[u8]>::first_chunk::<N>) {
            Some(chunk) => {
                self.pos += N;
                Ok(*chunk)
            }
            None => Err(self.too_short(N)),
        }
    }

    #[cold]
    fn too_short(&self, len: usize) -> Error {
        Error::corrupt(format!(
            "avro data ends early: {len} bytes wanted, {} left",
            self.remaining()
        ))
    }

    /// A zig-zag variable-length integer of at most 64 bits; `int` and `long` look the same.
    ///
    /// # Errors
    /// `Corrupt` when the data ends inside of it or it has more than 64 bits.
    #[inline]
    pub fn long(&mut self) -> Result<i64> {
        // Most numbers have one byte or two.
        match self.bytes.get(self.pos..) {
            Some([first, ..]) if *first < 0x80 => {
                self.pos += 1;
                Ok(zigzag(u64::from(*first)))
            }
            Some([first, second, ..]) if *second < 0x80 => {
                self.pos += 2;
                Ok(zigzag(u64::from(*first & 0x7f) | u64::from(*second) << 7))
            }
            _ => self.long_number(),
        }
    }

    fn long_number(&mut self) -> Result<i64> {
        // Numbers of up to eight bytes without a loop.
        if let Some(bytes) = self.peek::<8>() {
            let bytes = u64::from_le_bytes(*bytes);
            if let Some(length) = number_length(bytes) {
                self.pos += length;
                return Ok(number_value(bytes));
            }
        }
        self.long_number_at_end()
    }

    fn long_number_at_end(&mut self) -> Result<i64> {
        let mut value: u64 = 0;
        let bytes = self.bytes.get(self.pos..).unwrap_or_default();
        for (index, &byte) in bytes.iter().take(10).enumerate() {
            let low = u64::from(byte & 0x7f);
            if index == 9 && low > 1 {
                break;
            }
            value |= low << (7 * index);
            if byte & 0x80 == 0 {
                self.pos += index + 1;
                return Ok(zigzag(value));
            }
        }
        if bytes.len() < 10 {
            Err(Error::corrupt("avro data ends inside a number"))
        } else {
            Err(Error::corrupt("avro number has more than 64 bits"))
        }
    }

    /// Moves over a [`long`](Self::long).
    ///
    /// # Errors
    /// As [`Cursor::long`].
    #[inline]
    pub fn skip_long(&mut self) -> Result<()> {
        if let Some(bytes) = self.peek::<8>()
            && let Some(length) = number_length(u64::from_le_bytes(*bytes))
        {
            self.pos += length;
            return Ok(());
        }
        self.long().map(drop)
    }

    /// An `int`.
    ///
    /// # Errors
    /// As [`Cursor::long`], `Corrupt` for more than 32 bits.
    #[inline]
    pub fn int(&mut self) -> Result<i32> {
        let value = self.long()?;
        i32::try_from(value).map_err(|_| Error::corrupt(format!("avro int {value} has more than 32 bits")))
    }

    /// A length or count: not negative and not larger than what is left.
    ///
    /// # Errors
    /// `Corrupt`.
    #[inline]
    pub fn length(&mut self) -> Result<usize> {
        let value = self.long()?;
        match usize::try_from(value) {
            Ok(len) if len <= self.remaining() => Ok(len),
            _ => Err(Error::corrupt(format!(
                "avro length {value}, at most {} expected",
                self.remaining()
            ))),
        }
    }

    /// A length and as many bytes.
    ///
    /// # Errors
    /// `Corrupt` when fewer are left.
    #[inline]
    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let len = self.length()?;
        self.take(len)
    }

    /// Text.
    ///
    /// # Errors
    /// As [`Cursor::bytes`], `Corrupt` when it is not UTF-8.
    pub fn string(&mut self) -> Result<&'a str> {
        std::str::from_utf8(self.bytes()?)
            .map_err(|e| Error::corrupt("avro string is not UTF-8").with_source(e))
    }

    /// A number of `len` bytes in big-endian two's complement; `None` for more than 128 bits.
    ///
    /// # Errors
    /// `Corrupt` when fewer bytes are left.
    #[inline]
    pub fn big_endian(&mut self, len: usize) -> Result<Option<i128>> {
        self.take(len).map(i128_from_big_endian)
    }

    /// The head of an array or map block: `None` at the end, else the item count and, where the writer gave it, the size
    /// of the block in bytes.
    ///
    /// # Errors
    /// `Corrupt` when the numbers are none or the size is larger than what is left.
    #[inline]
    pub fn block(&mut self) -> Result<Option<(u64, Option<usize>)>> {
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

/// The bits of `word` by which bytes of variable-length numbers end.
#[inline]
fn ends(word: u64) -> u64 {
    !word & 0x8080_8080_8080_8080
}

/// Bytes of the variable-length integer that the little-endian `word` begins with; `None` when it does not end inside of it.
#[inline(always)]
pub fn number_length(word: u64) -> Option<usize> {
    let ends = NonZeroU64::new(ends(word))?;
    Some(ends.trailing_zeros() as usize / 8 + 1)
}

/// The zig-zag variable-length integer that the little-endian `word` begins with, if it ends inside of it; any number
/// otherwise. Groups of seven bits are drawn together pair by pair, without a branch.
#[inline(always)]
pub fn number_value(word: u64) -> i64 {
    let ends = ends(word);
    // The bits up to the first byte without a continuation bit.
    let kept = word & (ends ^ ends.wrapping_sub(1)) & 0x7f7f_7f7f_7f7f_7f7f;
    let kept = kept - ((kept & 0x7f00_7f00_7f00_7f00) >> 1);
    let kept = (kept & 0x0000_3fff_0000_3fff) | (kept & 0x3fff_0000_3fff_0000) >> 2;
    zigzag((kept & 0x0fff_ffff) | (kept & 0x0fff_ffff_0000_0000) >> 4)
}

#[inline]
fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}
