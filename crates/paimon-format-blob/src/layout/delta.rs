// SPDX-License-Identifier: Apache-2.0

//! Lists of numbers as differences, zigzag, in groups of seven bits (Java `DeltaVarintCompressor`).

use paimon_types::{Error, Result};

/// Longest group list of 64 bits.
const MAX_GROUPS: u32 = 10;

/// Writes a list number by number.
#[derive(Clone, Debug, Default)]
pub struct DeltaEncoder {
    bytes: Vec<u8>,
    previous: i64,
}

impl DeltaEncoder {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a number.
    pub fn push(&mut self, value: i64) {
        // The first number is the difference to 0.
        let delta = value.wrapping_sub(self.previous);
        self.previous = value;
        let mut rest = ((delta << 1) ^ (delta >> 63)) as u64;
        while rest > 0x7f {
            self.bytes.push((rest as u8 & 0x7f) | 0x80);
            rest >>= 7;
        }
        self.bytes.push(rest as u8);
    }

    /// The list so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes that the list occupies in memory.
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// The list.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Reads a whole list and hands each number with its position to `take`, which may stop with an error.
///
/// # Errors
/// `Corrupt` when the bytes end within a number or a number has more than 64 bits; the error of `take`.
pub fn decode_deltas(bytes: &[u8], mut take: impl FnMut(usize, i64) -> Result<()>) -> Result<()> {
    let (mut value, mut zigzag, mut groups, mut position) = (0i64, 0u64, 0u32, 0usize);
    for byte in bytes {
        let bits = u64::from(byte & 0x7f);
        groups += 1;
        if groups > MAX_GROUPS || (groups == MAX_GROUPS && bits > 1) {
            return Err(Error::corrupt(format!(
                "number {position} of an index has more than 64 bits"
            )));
        }
        zigzag |= bits << ((groups - 1) * 7);
        if byte & 0x80 == 0 {
            let delta = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
            value = value.wrapping_add(delta);
            take(position, value)?;
            (zigzag, groups) = (0, 0);
            position += 1;
        }
    }
    if groups != 0 {
        return Err(Error::corrupt(format!(
            "an index ends within its number {position}"
        )));
    }
    Ok(())
}

/// How many numbers a list has.
pub(super) fn count_deltas(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| *byte & 0x80 == 0).count()
}
