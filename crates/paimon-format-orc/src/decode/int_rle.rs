// SPDX-License-Identifier: Apache-2.0

//! Run lengths of integers, both versions.

use paimon_types::Result;

use super::bits::unpack;
use super::bytes::{ByteStream, Positions};
use crate::error::damaged;

/// Widths of version 2 by their five bit code.
const WIDTHS: [u8; 32] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 26, 28, 30, 32,
    40, 48, 56, 64,
];

/// Some of the next numbers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ints<'a> {
    Values(&'a [i64]),
    Repeat(i64, usize),
}

/// Reads the numbers of a stream.
pub(crate) struct IntDecoder {
    stream: ByteStream,
    /// Whether numbers are stored in zigzag form.
    signed: bool,
    version2: bool,
    /// Numbers of the current run, unless it repeats one.
    buffer: Vec<i64>,
    at: usize,
    /// What the current run repeats, and how often still.
    repeat: (i64, usize),
}

fn zigzag(value: i64) -> i64 {
    ((value as u64 >> 1) as i64) ^ -(value & 1)
}

/// The width for a five bit code.
fn width(code: u8) -> usize {
    usize::from(WIDTHS.get(usize::from(code & 0x1f)).copied().unwrap_or(64))
}

/// The smallest width that there is a code for.
fn closest_width(bits: usize) -> usize {
    let found = WIDTHS
        .iter()
        .copied()
        .map(usize::from)
        .find(|width| *width >= bits);
    found.unwrap_or(64)
}

impl IntDecoder {
    pub(crate) fn new(stream: ByteStream, signed: bool, version2: bool) -> Self {
        IntDecoder {
            stream,
            signed,
            version2,
            buffer: Vec::new(),
            at: 0,
            repeat: (0, 0),
        }
    }

    pub(crate) fn seek(&mut self, positions: &mut Positions<'_>) -> Result<()> {
        self.stream.seek(positions)?;
        self.buffer.clear();
        self.at = 0;
        self.repeat = (0, 0);
        let skip = positions.next()?;
        self.skip(usize::try_from(skip).unwrap_or(usize::MAX))
    }

    /// One to `limit` of the next numbers (`limit` is at least 1).
    ///
    /// # Errors
    /// `Corrupt` when there are none.
    pub(crate) fn next(&mut self, limit: usize) -> Result<Ints<'_>> {
        if self.repeat.1 == 0 && self.at >= self.buffer.len() {
            self.next_run(0)?;
        }
        if self.repeat.1 > 0 {
            let count = limit.min(self.repeat.1);
            self.repeat.1 -= count;
            return Ok(Ints::Repeat(self.repeat.0, count));
        }
        let start = self.at;
        self.at = self.buffer.len().min(start.saturating_add(limit));
        Ok(Ints::Values(self.buffer.get(start..self.at).unwrap_or(&[])))
    }

    /// Appends `count` numbers to `out` as `convert` makes them.
    ///
    /// # Errors
    /// `Corrupt` when there are fewer, and what `misfit` says when `convert` gives `None`.
    pub(crate) fn read<T: Copy>(
        &mut self,
        count: usize,
        out: &mut Vec<T>,
        convert: impl Fn(i64) -> Option<T>,
        misfit: impl Fn(i64) -> paimon_types::Error,
    ) -> Result<()> {
        let mut left = count;
        while left > 0 {
            match self.next(left)? {
                Ints::Repeat(value, times) => {
                    let value = convert(value).ok_or_else(|| misfit(value))?;
                    out.resize(out.len() + times, value);
                    left -= times;
                }
                Ints::Values(values) => {
                    let before = out.len();
                    out.extend(values.iter().map_while(|value| convert(*value)));
                    let read = out.len() - before;
                    if let Some(value) = values.get(read) {
                        return Err(misfit(*value));
                    }
                    left -= read;
                }
            }
        }
        Ok(())
    }

    /// Appends `count` numbers to `out`.
    ///
    /// # Errors
    /// `Corrupt` when there are fewer.
    pub(crate) fn read_all(&mut self, count: usize, out: &mut Vec<i64>) -> Result<()> {
        let mut left = count;
        while left > 0 {
            match self.next(left)? {
                Ints::Repeat(value, times) => {
                    out.resize(out.len() + times, value);
                    left -= times;
                }
                Ints::Values(values) => {
                    out.extend_from_slice(values);
                    left -= values.len();
                }
            }
        }
        Ok(())
    }

    /// Goes over `count` numbers.
    ///
    /// # Errors
    /// `Corrupt` when there are fewer.
    pub(crate) fn skip(&mut self, count: usize) -> Result<()> {
        let mut left = count;
        while left > 0 {
            if self.repeat.1 == 0 && self.at >= self.buffer.len() {
                let over = self.next_run(left)?;
                left -= over;
                continue;
            }
            left -= match self.next(left)? {
                Ints::Repeat(_, times) => times,
                Ints::Values(values) => values.len(),
            };
        }
        Ok(())
    }

    /// Makes the next run the current one. A run of at most `skip` numbers may be gone over instead; returns its length
    /// then, else 0.
    fn next_run(&mut self, skip: usize) -> Result<usize> {
        self.buffer.clear();
        self.at = 0;
        if self.version2 {
            self.next_run_2(skip)
        } else {
            self.next_run_1()?;
            Ok(0)
        }
    }

    fn varint(&mut self, signed: bool) -> Result<i64> {
        let mut value = 0u64;
        for shift in (0..70).step_by(7) {
            let byte = self.stream.byte()?;
            if shift < 64 {
                value |= u64::from(byte & 0x7f) << shift;
            }
            if byte & 0x80 == 0 {
                return Ok(if signed {
                    zigzag(value as i64)
                } else {
                    value as i64
                });
            }
        }
        Err(damaged("a number has more than ten bytes"))
    }

    fn next_run_1(&mut self) -> Result<()> {
        let control = self.stream.byte()?;
        if control >= 0x80 {
            for _ in 0..0x100 - usize::from(control) {
                let value = self.varint(self.signed)?;
                self.buffer.push(value);
            }
            return Ok(());
        }
        let count = usize::from(control) + 3;
        let delta = i64::from(self.stream.byte()? as i8);
        let first = self.varint(self.signed)?;
        if delta == 0 {
            self.repeat = (first, count);
        } else {
            let step = |value: &i64| Some(value.wrapping_add(delta));
            self.buffer
                .extend(std::iter::successors(Some(first), step).take(count));
        }
        Ok(())
    }

    fn big_endian(&mut self, count: usize) -> Result<i64> {
        let bytes = self.stream.take(count)?;
        Ok(bytes
            .iter()
            .fold(0i64, |value, byte| value << 8 | i64::from(*byte)))
    }

    fn next_run_2(&mut self, skip: usize) -> Result<usize> {
        let first = self.stream.byte()?;
        if first >> 6 == 0 {
            let bytes = usize::from(first >> 3 & 7) + 1;
            let value = self.big_endian(bytes)?;
            let value = if self.signed { zigzag(value) } else { value };
            self.repeat = (value, usize::from(first & 7) + 3);
            return Ok(0);
        }
        let code = first >> 1 & 0x1f;
        let length = usize::from(first & 1) << 8 | usize::from(self.stream.byte()?);
        match first >> 6 {
            1 => {
                let (width, count) = (width(code), length + 1);
                let bytes = (width * count).div_ceil(8);
                if count <= skip {
                    self.stream.skip(bytes)?;
                    return Ok(count);
                }
                unpack(self.stream.take(bytes)?, width, count, &mut self.buffer);
                if self.signed {
                    for value in &mut self.buffer {
                        *value = zigzag(*value);
                    }
                }
            }
            2 => self.patched_base(width(code), length + 1)?,
            _ => self.delta(code, length)?,
        }
        Ok(0)
    }

    fn delta(&mut self, code: u8, length: usize) -> Result<()> {
        let first = self.varint(self.signed)?;
        let base = self.varint(true)?;
        if code == 0 {
            if base == 0 {
                self.repeat = (first, length + 1);
            } else {
                let step = |value: &i64| Some(value.wrapping_add(base));
                self.buffer
                    .extend(std::iter::successors(Some(first), step).take(length + 1));
            }
            return Ok(());
        }
        self.buffer.push(first);
        let Some(deltas) = length.checked_sub(1) else {
            return Ok(());
        };
        let second = first.wrapping_add(base);
        self.buffer.push(second);
        let width = width(code);
        let bytes = (width * deltas).div_ceil(8);
        unpack(self.stream.take(bytes)?, width, deltas, &mut self.buffer);
        let mut previous = second;
        for value in self.buffer.iter_mut().skip(2) {
            previous = if base < 0 {
                previous.wrapping_sub(*value)
            } else {
                previous.wrapping_add(*value)
            };
            *value = previous;
        }
        Ok(())
    }

    fn patched_base(&mut self, width_of_value: usize, count: usize) -> Result<()> {
        let third = self.stream.byte()?;
        let fourth = self.stream.byte()?;
        let base_bytes = usize::from(third >> 5) + 1;
        let patch_width = width(third);
        let gap_width = usize::from(fourth >> 5) + 1;
        let patches = usize::from(fourth & 0x1f);
        if patch_width + gap_width > 64 {
            let what = format!("a patch has {patch_width} bits and its gap {gap_width}, 64 is the most");
            return Err(damaged(what));
        }
        // The highest bit of the base is its sign.
        let stored = self.big_endian(base_bytes)?;
        let sign = 1i64 << (base_bytes * 8 - 1);
        let base = match stored & sign {
            0 => stored,
            _ => (stored & !sign).wrapping_neg(),
        };
        let bytes = (width_of_value * count).div_ceil(8);
        unpack(self.stream.take(bytes)?, width_of_value, count, &mut self.buffer);
        let bits = closest_width(patch_width + gap_width);
        let bytes = (bits * patches).div_ceil(8);
        let mut list = Vec::with_capacity(patches);
        unpack(self.stream.take(bytes)?, bits, patches, &mut list);
        let mut position = 0usize;
        for entry in list {
            let entry = entry as u64;
            let gap = entry.checked_shr(patch_width as u32).unwrap_or(0);
            let patch = entry & !u64::MAX.checked_shl(patch_width as u32).unwrap_or(0);
            position = position.saturating_add(usize::try_from(gap).unwrap_or(usize::MAX));
            if gap == 255 && patch == 0 {
                // Only a step on the way to a far one.
                continue;
            }
            let Some(value) = self.buffer.get_mut(position) else {
                return Err(damaged(format!(
                    "a patch is for number {position} of a run of {count}"
                )));
            };
            let patch = patch.checked_shl(width_of_value as u32).unwrap_or(0);
            *value |= patch as i64;
        }
        for value in &mut self.buffer {
            *value = value.wrapping_add(base);
        }
        Ok(())
    }
}
