// SPDX-License-Identifier: Apache-2.0

//! Run length encoding of bytes and of bits.

#[cfg(test)]
mod tests;

use arrow_buffer::BooleanBuffer;
use paimon_types::Result;

use super::codec::Compressor;
use super::stream::Stream;

/// Shortest run of equal bytes.
const MIN_REPEAT: usize = 3;
/// Longest run of equal bytes.
const MAX_REPEAT: usize = 127 + MIN_REPEAT;
/// Longest run of bytes as they are.
const MAX_LITERALS: usize = 128;

/// Bytes: runs of equal ones (`length - 3`, value) and of others (`-length`, values).
#[derive(Debug)]
pub(super) struct ByteRle {
    stream: Stream,
    literals: Vec<u8>,
    /// Length of the open run of `value`; 0 while literals are collected.
    repeats: usize,
    value: u8,
}

impl ByteRle {
    pub(super) fn new(stream: Stream) -> Self {
        ByteRle {
            stream,
            literals: Vec::new(),
            repeats: 0,
            value: 0,
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        for run in bytes.chunk_by(|a, b| a == b) {
            if let Some(value) = run.first() {
                self.repeat(*value, run.len());
            }
        }
    }

    /// Appends `count` bytes of this value.
    pub(super) fn repeat(&mut self, value: u8, mut count: usize) {
        while count > 0 {
            if self.repeats > 0 {
                if value != self.value {
                    self.end_run();
                    continue;
                }
                let more = count.min(MAX_REPEAT - self.repeats);
                self.repeats += more;
                count -= more;
                if self.repeats == MAX_REPEAT {
                    self.end_run();
                }
                continue;
            }
            let tail = self.literals.iter().rev().take_while(|b| **b == value).count();
            if tail + count >= MIN_REPEAT {
                self.literals.truncate(self.literals.len() - tail);
                self.end_run();
                self.value = value;
                // Fewer than `MIN_REPEAT`, and more come at once.
                let first = (tail + count).min(MAX_REPEAT);
                self.repeats = first;
                count -= first - tail;
                if self.repeats == MAX_REPEAT {
                    self.end_run();
                }
                continue;
            }
            self.literals.push(value);
            count -= 1;
            if self.literals.len() == MAX_LITERALS {
                self.end_run();
            }
        }
    }

    fn end_run(&mut self) {
        let out = self.stream.buffer();
        if self.repeats > 0 {
            out.push((self.repeats - MIN_REPEAT) as u8);
            out.push(self.value);
            self.repeats = 0;
        } else if !self.literals.is_empty() {
            out.push((self.literals.len() as u8).wrapping_neg());
            out.extend_from_slice(&self.literals);
            self.literals.clear();
        }
    }

    pub(super) fn drain(&mut self, compressor: &mut Compressor) -> Result<()> {
        self.stream.drain(compressor)
    }

    /// Position of the open run and the number of bytes in it.
    pub(super) fn position(&self, to: &mut Vec<u64>) {
        self.stream.position(to);
        to.push((self.repeats + self.literals.len()) as u64);
    }

    pub(super) fn finish(&mut self, compressor: &mut Compressor) -> Result<Vec<u8>> {
        self.end_run();
        self.stream.finish(compressor)
    }

    pub(super) fn encoded_bytes(&self) -> usize {
        self.stream.encoded_bytes() + self.literals.len()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.stream.memory_bytes() + self.literals.capacity()
    }
}

/// Bits, the first one in the highest bit of the first byte; the bytes are run length encoded.
#[derive(Debug)]
pub(super) struct BitRle {
    bytes: ByteRle,
    /// Bits that fill no byte yet, from the highest on.
    current: u8,
    used: u32,
    scratch: Vec<u8>,
}

impl BitRle {
    pub(super) fn new(stream: Stream) -> Self {
        BitRle {
            bytes: ByteRle::new(stream),
            current: 0,
            used: 0,
            scratch: Vec::new(),
        }
    }

    pub(super) fn write(&mut self, bits: &BooleanBuffer) {
        let chunks = bits.bit_chunks();
        for chunk in chunks.iter() {
            self.push(chunk.reverse_bits(), 64);
        }
        let rest = chunks.remainder_len();
        if rest > 0 {
            self.push(chunks.remainder_bits().reverse_bits(), rest as u32);
        }
        let full = std::mem::take(&mut self.scratch);
        self.bytes.write(&full);
        self.scratch = full;
        self.scratch.clear();
    }

    /// Appends `count` (≤ 64) bits from the highest on; those below must be 0.
    fn push(&mut self, bits: u64, count: u32) {
        let wide = (u128::from(self.current) << 120) | ((u128::from(bits) << 64) >> self.used);
        let total = self.used + count;
        let full = (total / 8) as usize;
        let bytes = wide.to_be_bytes();
        self.scratch.extend(bytes.iter().take(full));
        self.current = bytes.get(full).copied().unwrap_or(0);
        self.used = total % 8;
    }

    /// Appends bits that are set.
    pub(super) fn ones(&mut self, mut count: usize) {
        if self.used > 0 {
            let first = count.min(8 - self.used as usize);
            self.push(!(u64::MAX >> first), first as u32);
            self.flush_scratch();
            count -= first;
        }
        if count == 0 {
            return;
        }
        self.bytes.repeat(0xff, count / 8);
        let rest = count % 8;
        if rest > 0 {
            self.push(!(u64::MAX >> rest), rest as u32);
            self.flush_scratch();
        }
    }

    fn flush_scratch(&mut self) {
        for byte in self.scratch.drain(..) {
            self.bytes.repeat(byte, 1);
        }
    }

    pub(super) fn drain(&mut self, compressor: &mut Compressor) -> Result<()> {
        self.bytes.drain(compressor)
    }

    /// Position of the byte and the number of bits in it.
    pub(super) fn position(&self, to: &mut Vec<u64>) {
        self.bytes.position(to);
        to.push(u64::from(self.used));
    }

    pub(super) fn finish(&mut self, compressor: &mut Compressor) -> Result<Vec<u8>> {
        if self.used > 0 {
            self.bytes.repeat(self.current, 1);
            self.current = 0;
            self.used = 0;
        }
        self.bytes.finish(compressor)
    }

    pub(super) fn encoded_bytes(&self) -> usize {
        self.bytes.encoded_bytes()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes.memory_bytes()
    }
}
