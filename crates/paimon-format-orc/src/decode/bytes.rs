// SPDX-License-Identifier: Apache-2.0

//! A stream of a column as plain bytes.

use bytes::Bytes;
use paimon_types::Result;

use super::codec::{Codec, Decompressor, split_chunk};
use crate::error::damaged;

/// The stored bytes of a stream, or a part of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct StreamBytes {
    pub(crate) bytes: Bytes,
    /// Position in the stream of the first byte.
    pub(crate) start: u64,
}

/// The positions of a row index entry, taken in order.
#[derive(Debug)]
pub(crate) struct Positions<'a>(pub(crate) std::slice::Iter<'a, u64>);

impl Positions<'_> {
    /// # Errors
    /// `Corrupt` when there are no more.
    pub(crate) fn next(&mut self) -> Result<u64> {
        self.0
            .next()
            .copied()
            .ok_or_else(|| damaged("a row index has too few positions"))
    }
}

/// Reads the bytes of a stream, decompressed chunk by chunk.
pub(crate) struct ByteStream {
    stored: StreamBytes,
    /// Of the next chunk, in `stored`.
    next: usize,
    decompressor: Option<Decompressor>,
    /// Bytes of the current chunk, or `None` when they lie in `stored` (see `at`).
    unpacked: bool,
    chunk: Vec<u8>,
    /// What is left of the current chunk: a range of `chunk` or of `stored`.
    at: usize,
    end: usize,
    /// Bytes that lie in two chunks.
    joined: Vec<u8>,
}

impl ByteStream {
    /// A stream that is read from its start. `stored` must begin there, else [`ByteStream::seek`] first.
    pub(crate) fn new(stored: StreamBytes, codec: Option<Codec>) -> Self {
        let end = if codec.is_none() { stored.bytes.len() } else { 0 };
        ByteStream {
            next: end,
            stored,
            decompressor: codec.map(Codec::decompressor),
            unpacked: false,
            chunk: Vec::new(),
            at: 0,
            end,
            joined: Vec::new(),
        }
    }

    /// Goes to where a row index entry says.
    ///
    /// # Errors
    /// `Corrupt` when that is outside of the stream.
    pub(crate) fn seek(&mut self, positions: &mut Positions<'_>) -> Result<()> {
        let position = positions.next()?;
        let within = if self.decompressor.is_some() {
            positions.next()?
        } else {
            0
        };
        let start = position
            .checked_sub(self.stored.start)
            .and_then(|start| usize::try_from(start).ok())
            .filter(|start| *start <= self.stored.bytes.len())
            .ok_or_else(|| {
                damaged(format!(
                    "a row index points to byte {position} of a stream that does not have it"
                ))
            })?;
        if self.decompressor.is_none() {
            self.at = start;
            self.end = self.stored.bytes.len();
            return Ok(());
        }
        self.next = start;
        self.at = 0;
        self.end = 0;
        // A position after the last byte of a chunk may be given as that, or as the start of the next one.
        if within > 0 {
            self.load()?;
            self.skip(usize::try_from(within).unwrap_or(usize::MAX))?;
        }
        Ok(())
    }

    fn current(&self) -> &[u8] {
        let whole: &[u8] = if self.unpacked {
            &self.chunk
        } else {
            &self.stored.bytes
        };
        whole.get(self.at..self.end).unwrap_or(&[])
    }

    /// Makes the next chunk the current one; false at the end of the stream.
    fn load(&mut self) -> Result<bool> {
        let Some(decompressor) = &mut self.decompressor else {
            return Ok(false);
        };
        let rest = self.stored.bytes.get(self.next..).unwrap_or(&[]);
        if rest.is_empty() {
            return Ok(false);
        }
        let (compressed, chunk, after) = split_chunk(rest)?;
        let end = self.stored.bytes.len() - after.len();
        self.next = end;
        if compressed {
            decompressor.decompress(chunk, &mut self.chunk)?;
            self.unpacked = true;
            self.at = 0;
            self.end = self.chunk.len();
        } else {
            self.unpacked = false;
            self.at = end - chunk.len();
            self.end = end;
        }
        Ok(true)
    }

    /// The bytes that are at hand, none only at the end of the stream.
    pub(crate) fn peek(&mut self) -> Result<&[u8]> {
        while self.at >= self.end {
            if !self.load()? {
                return Ok(&[]);
            }
        }
        Ok(self.current())
    }

    /// Goes over `count` bytes of those that [`ByteStream::peek`] gave.
    pub(crate) fn consume(&mut self, count: usize) {
        self.at = self.at.saturating_add(count).min(self.end);
    }

    fn ended() -> paimon_types::Error {
        damaged("a stream ends before its last value")
    }

    /// # Errors
    /// `Corrupt` at the end.
    pub(crate) fn byte(&mut self) -> Result<u8> {
        let byte = self.peek()?.first().copied().ok_or_else(Self::ended)?;
        self.at += 1;
        Ok(byte)
    }

    /// The next `count` bytes, which must be few.
    ///
    /// # Errors
    /// `Corrupt` when there are fewer.
    pub(crate) fn take(&mut self, count: usize) -> Result<&[u8]> {
        if self.peek()?.len() >= count {
            let start = self.at;
            self.at += count;
            let whole: &[u8] = if self.unpacked {
                &self.chunk
            } else {
                &self.stored.bytes
            };
            return whole.get(start..start + count).ok_or_else(Self::ended);
        }
        let mut joined = std::mem::take(&mut self.joined);
        joined.clear();
        self.read_into(count, &mut joined)?;
        self.joined = joined;
        Ok(&self.joined)
    }

    /// Appends the next `count` bytes to `out`.
    ///
    /// # Errors
    /// `Corrupt` when there are fewer.
    pub(crate) fn read_into(&mut self, count: usize, out: &mut Vec<u8>) -> Result<()> {
        let mut left = count;
        while left > 0 {
            let bytes = self.peek()?;
            if bytes.is_empty() {
                return Err(Self::ended());
            }
            let part = bytes.get(..left.min(bytes.len())).unwrap_or(bytes);
            out.extend_from_slice(part);
            let read = part.len();
            self.consume(read);
            left -= read;
        }
        Ok(())
    }

    /// Goes over `count` bytes.
    ///
    /// # Errors
    /// `Corrupt` when there are fewer.
    pub(crate) fn skip(&mut self, count: usize) -> Result<()> {
        let mut left = count;
        while left > 0 {
            let here = self.peek()?.len();
            if here == 0 {
                return Err(Self::ended());
            }
            let step = left.min(here);
            self.consume(step);
            left -= step;
        }
        Ok(())
    }
}
