// SPDX-License-Identifier: Apache-2.0

//! Run lengths of bytes, and the bits in them.

use arrow_buffer::{BooleanBuffer, Buffer};
use paimon_types::Result;

use super::bytes::{ByteStream, Positions};
use crate::error::damaged;

/// Bytes in runs: a control byte below 128 stands for that many plus three times the next byte, another one for 256 less
/// it bytes as they are.
pub(crate) struct ByteDecoder {
    stream: ByteStream,
    /// The byte of a run; `None` for bytes as they are.
    run: Option<u8>,
    left: usize,
}

impl ByteDecoder {
    pub(crate) fn new(stream: ByteStream) -> Self {
        ByteDecoder {
            stream,
            run: None,
            left: 0,
        }
    }

    pub(crate) fn seek(&mut self, positions: &mut Positions<'_>) -> Result<()> {
        self.stream.seek(positions)?;
        self.left = 0;
        let skip = positions.next()?;
        self.skip(usize::try_from(skip).unwrap_or(usize::MAX))
    }

    fn next_run(&mut self) -> Result<()> {
        let control = self.stream.byte()?;
        if control < 0x80 {
            self.left = usize::from(control) + 3;
            self.run = Some(self.stream.byte()?);
        } else {
            self.left = 0x100 - usize::from(control);
            self.run = None;
        }
        Ok(())
    }

    /// Gives `count` bytes to `each`, in parts.
    fn parts(&mut self, count: usize, mut each: impl FnMut(Part<'_>)) -> Result<()> {
        let mut missing = count;
        while missing > 0 {
            if self.left == 0 {
                self.next_run()?;
            }
            let part = missing.min(self.left);
            match self.run {
                Some(byte) => each(Part::Run(byte, part)),
                None => each(Part::Bytes(self.stream.take(part)?)),
            }
            self.left -= part;
            missing -= part;
        }
        Ok(())
    }

    /// Appends `count` bytes to `out`.
    ///
    /// # Errors
    /// `Corrupt` when there are fewer.
    pub(crate) fn read(&mut self, count: usize, out: &mut Vec<u8>) -> Result<()> {
        self.parts(count, |part| match part {
            Part::Run(byte, count) => out.resize(out.len() + count, byte),
            Part::Bytes(bytes) => out.extend_from_slice(bytes),
        })
    }

    /// Goes over `count` bytes.
    ///
    /// # Errors
    /// `Corrupt` when there are fewer.
    pub(crate) fn skip(&mut self, count: usize) -> Result<()> {
        self.parts(count, |_| {})
    }
}

enum Part<'a> {
    Run(u8, usize),
    Bytes(&'a [u8]),
}

/// Bits, the highest of a byte first, in a [`ByteDecoder`].
pub(crate) struct BitDecoder {
    bytes: ByteDecoder,
    /// The byte of which bits are left, lowest first.
    last: u8,
    /// Bits of `last` that were read; 8 for all.
    used: usize,
}

impl BitDecoder {
    pub(crate) fn new(stream: ByteStream) -> Self {
        BitDecoder {
            bytes: ByteDecoder::new(stream),
            last: 0,
            used: 8,
        }
    }

    pub(crate) fn seek(&mut self, positions: &mut Positions<'_>) -> Result<()> {
        self.bytes.seek(positions)?;
        self.used = 8;
        match positions.next()? {
            0 => Ok(()),
            bits @ 1..=8 => self.skip(bits as usize),
            other => Err(damaged(format!("a row index points to bit {other} of a byte"))),
        }
    }

    /// The next `count` bits.
    ///
    /// # Errors
    /// `Corrupt` when there are fewer.
    pub(crate) fn read(&mut self, count: usize) -> Result<BooleanBuffer> {
        let at_hand = 8 - self.used;
        let more = count.saturating_sub(at_hand).div_ceil(8);
        let mut bytes = Vec::with_capacity(more.min(1 << 16) + 1);
        let offset = if at_hand > 0 {
            bytes.push(self.last);
            self.used
        } else {
            0
        };
        let first = bytes.len();
        self.bytes.read(more, &mut bytes)?;
        for byte in bytes.iter_mut().skip(first) {
            *byte = byte.reverse_bits();
        }
        let end = offset + count;
        if count > 0 {
            self.last = bytes.last().copied().unwrap_or(0);
            self.used = match end % 8 {
                0 => 8,
                bits => bits,
            };
        }
        Ok(BooleanBuffer::new(Buffer::from_vec(bytes), offset, count))
    }

    /// Goes over `count` bits.
    ///
    /// # Errors
    /// `Corrupt` when there are fewer.
    pub(crate) fn skip(&mut self, count: usize) -> Result<()> {
        let at_hand = 8 - self.used;
        if count <= at_hand {
            self.used += count;
            return Ok(());
        }
        let behind = count - at_hand;
        self.bytes.skip(behind / 8)?;
        self.used = 8;
        if !behind.is_multiple_of(8) {
            self.read(behind % 8)?;
        }
        Ok(())
    }

    /// Goes over `count` bits and tells how many of them are set.
    ///
    /// # Errors
    /// `Corrupt` when there are fewer.
    pub(crate) fn count(&mut self, count: usize) -> Result<usize> {
        let (mut left, mut set) = (count, 0);
        while left > 0 {
            let part = left.min(1 << 15);
            set += self.read(part)?.count_set_bits();
            left -= part;
        }
        Ok(set)
    }
}
