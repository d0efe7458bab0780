// SPDX-License-Identifier: Apache-2.0

//! Run length encoding of integers, version 2: short repeats, direct, delta and patched base runs.

#[cfg(test)]
mod tests;

use paimon_types::Result;

use super::bits::{aligned_width, fixed_width, pack, width_code, width_of};
use super::codec::Compressor;
use super::proto::{varint, zigzag};
use super::stream::Stream;

/// Values of the longest run.
const MAX_RUN: usize = 512;
/// Shortest and longest run of equal values with a header of one byte.
const MIN_REPEAT: usize = 3;
const MAX_SHORT_REPEAT: usize = 10;
/// Fewer values are not worth a closer look.
const MIN_ANALYSED: usize = 4;
/// Bases of patched runs are smaller in magnitude.
const BASE_LIMIT: u64 = 1 << 56;
/// Most patches of a run.
const MAX_PATCHES: usize = 31;
/// Longest distance of two patches without an empty one between them.
const MAX_GAP: usize = 255;

const SHORT_REPEAT: u8 = 0;
const DIRECT: u8 = 1 << 6;
const PATCHED_BASE: u8 = 2 << 6;
const DELTA: u8 = 3 << 6;

/// Encodes integers; those of an unsigned stream must not be negative.
#[derive(Debug)]
pub(super) struct IntRle {
    stream: Stream,
    signed: bool,
    /// Widths are rounded up to those that readers unpack fast (`orc.encoding.strategy`).
    aligned: bool,
    /// Values that are in no run yet, fewer than `MAX_RUN`.
    open: Vec<i64>,
}

impl IntRle {
    pub(super) fn new(stream: Stream, signed: bool, aligned: bool) -> Self {
        IntRle {
            stream,
            signed,
            aligned,
            open: Vec::new(),
        }
    }

    pub(super) fn write(&mut self, mut values: &[i64]) {
        if !self.open.is_empty() {
            let (now, later) = values.split_at(values.len().min(MAX_RUN - self.open.len()));
            self.open.extend_from_slice(now);
            values = later;
            if self.open.len() < MAX_RUN {
                return;
            }
            self.encode_open();
        }
        let mut blocks = values.chunks_exact(MAX_RUN);
        for block in &mut blocks {
            encode(block, self.signed, self.aligned, self.stream.buffer());
        }
        self.open.extend_from_slice(blocks.remainder());
    }

    /// Appends `count` equal values.
    pub(super) fn repeat(&mut self, value: i64, mut count: usize) {
        while count > 0 {
            let now = count.min(MAX_RUN - self.open.len());
            self.open.resize(self.open.len() + now, value);
            count -= now;
            if self.open.len() == MAX_RUN {
                self.encode_open();
            }
        }
    }

    fn encode_open(&mut self) {
        encode(&self.open, self.signed, self.aligned, self.stream.buffer());
        self.open.clear();
    }

    pub(super) fn drain(&mut self, compressor: &mut Compressor) -> Result<()> {
        self.stream.drain(compressor)
    }

    /// Where the open values will start and how many there are.
    pub(super) fn position(&self, to: &mut Vec<u64>) {
        self.stream.position(to);
        to.push(self.open.len() as u64);
    }

    pub(super) fn finish(&mut self, compressor: &mut Compressor) -> Result<Vec<u8>> {
        self.encode_open();
        self.stream.finish(compressor)
    }

    pub(super) fn encoded_bytes(&self) -> usize {
        // Open values take a few bytes each at most.
        self.stream.encoded_bytes() + self.open.len()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.stream.memory_bytes() + self.open.capacity() * 8
    }
}

fn coded(value: i64, signed: bool) -> u64 {
    if signed { zigzag(value) } else { value as u64 }
}

/// Encodes at most `MAX_RUN` values.
fn encode(values: &[i64], signed: bool, aligned: bool, out: &mut Vec<u8>) {
    let all = values.iter().fold(0, |bits, value| bits | coded(*value, signed));
    let width = width_of(all).max(1) as usize;
    // Two more headers and the value are to be smaller than the values as they are.
    let worthwhile = (8 * (3 + width.div_ceil(8)) / width + 1).max(MIN_REPEAT);
    let mut rest = values;
    while !rest.is_empty() {
        let (start, length) = next_repeat(rest, worthwhile);
        let (literals, others) = rest.split_at(start);
        if !literals.is_empty() {
            literal_run(literals, signed, aligned, out);
        }
        let (repeated, others) = others.split_at(length);
        if let Some(value) = repeated.first() {
            repeat_run(*value, length, signed, out);
        }
        rest = others;
    }
}

/// Start and length of the first run of at least `worthwhile` equal values.
fn next_repeat(values: &[i64], worthwhile: usize) -> (usize, usize) {
    let mut start = 0;
    let mut current = values.first().copied().unwrap_or(0);
    for (index, value) in values.iter().enumerate() {
        if *value != current {
            if index - start >= worthwhile {
                return (start, index - start);
            }
            start = index;
            current = *value;
        }
    }
    match values.len() - start {
        length if length >= worthwhile => (start, length),
        _ => (values.len(), 0),
    }
}

/// First and second byte of a run: kind, code of the width and the length.
fn header(kind: u8, width_code: u8, length: usize, out: &mut Vec<u8>) {
    let less = length.saturating_sub(1);
    out.push(kind | (width_code << 1) | (less >> 8) as u8);
    out.push(less as u8);
}

fn base(value: i64, signed: bool, out: &mut Vec<u8>) {
    varint(coded(value, signed), out);
}

fn repeat_run(value: i64, length: usize, signed: bool, out: &mut Vec<u8>) {
    if (MIN_REPEAT..=MAX_SHORT_REPEAT).contains(&length) {
        let coded = coded(value, signed);
        let bytes = (width_of(coded).max(1) as usize).div_ceil(8);
        out.push(SHORT_REPEAT | ((bytes - 1) << 3) as u8 | (length - MIN_REPEAT) as u8);
        out.extend(coded.to_be_bytes().iter().skip(8 - bytes));
    } else {
        fixed_delta_run(value, 0, length, signed, out);
    }
}

fn fixed_delta_run(first: i64, delta: i64, length: usize, signed: bool, out: &mut Vec<u8>) {
    header(DELTA, 0, length, out);
    base(first, signed, out);
    varint(zigzag(delta), out);
}

fn direct_run(values: &[i64], signed: bool, width: u32, out: &mut Vec<u8>) {
    header(DIRECT, width_code(width), values.len(), out);
    pack(values.iter().map(|value| coded(*value, signed)), width, out);
}

/// Values in the kind of run that takes the least space.
fn literal_run(values: &[i64], signed: bool, aligned: bool, out: &mut Vec<u8>) {
    let round = if aligned { aligned_width } else { fixed_width };
    let all = values.iter().fold(0, |bits, value| bits | coded(*value, signed));
    let direct_width = round(width_of(all));
    let (Some((first, others)), true) = (values.split_first(), values.len() >= MIN_ANALYSED) else {
        return direct_run(values, signed, direct_width, out);
    };
    let shape = Shape::of(*first, others);
    // No difference of two values overflows after this.
    let Some(range) = shape.max.checked_sub(shape.min) else {
        return direct_run(values, signed, direct_width, out);
    };
    if shape.fixed {
        return fixed_delta_run(*first, shape.first_delta, values.len(), signed, out);
    }
    // The sign of the first difference is that of all, so it must have one.
    if (shape.increasing || shape.decreasing) && shape.first_delta != 0 {
        // Width 1 has the code of fixed differences.
        let width = round(width_of(shape.max_delta)).max(2);
        if width <= direct_width {
            header(DELTA, width_code(width), values.len(), out);
            base(*first, signed, out);
            varint(zigzag(shape.first_delta), out);
            let differences = others.iter().zip(others.iter().skip(1));
            return pack(differences.map(|(a, b)| a.abs_diff(*b)), width, out);
        }
    }
    let direct_bytes = 2 + (values.len() * direct_width as usize).div_ceil(8);
    // Only wide values have something to cut off.
    let worthwhile = direct_width >= 8 && width_of(range as u64) > 4;
    match worthwhile.then(|| Patched::of(values, shape.min)).flatten() {
        Some(patched) if patched.bytes() < direct_bytes => patched.write(values, out),
        _ => direct_run(values, signed, direct_width, out),
    }
}

/// What decides on the kind of a run.
struct Shape {
    min: i64,
    max: i64,
    first_delta: i64,
    /// The largest difference after the first one.
    max_delta: u64,
    fixed: bool,
    increasing: bool,
    decreasing: bool,
}

impl Shape {
    fn of(first: i64, others: &[i64]) -> Self {
        let second = others.first().copied().unwrap_or(first);
        let mut shape = Shape {
            min: first.min(second),
            max: first.max(second),
            first_delta: second.wrapping_sub(first),
            max_delta: 0,
            fixed: true,
            increasing: first <= second,
            decreasing: first >= second,
        };
        for (a, b) in others.iter().zip(others.iter().skip(1)) {
            shape.min = shape.min.min(*b);
            shape.max = shape.max.max(*b);
            shape.fixed &= b.wrapping_sub(*a) == shape.first_delta;
            shape.increasing &= a <= b;
            shape.decreasing &= a >= b;
            shape.max_delta = shape.max_delta.max(a.abs_diff(*b));
        }
        shape
    }
}

/// A run of values over their minimum, whose few large ones are cut to the width of the others and patched.
struct Patched {
    base: i64,
    base_bytes: usize,
    width: u32,
    patch_width: u32,
    gap_width: u32,
    /// Gap to the patch before and the high bits.
    patches: Vec<(usize, u64)>,
    length: usize,
}

impl Patched {
    /// `None` when nothing is to be patched or it cannot be said in this form.
    fn of(values: &[i64], min: i64) -> Option<Patched> {
        if min.unsigned_abs() >= BASE_LIMIT {
            return None;
        }
        let reduced = |value: &i64| value.wrapping_sub(min) as u64;
        let mut widths = [0usize; 65];
        for value in values {
            *widths.get_mut(width_of(reduced(value)) as usize)? += 1;
        }
        // The width of all but a twentieth.
        let mut outliers = values.len() / 20;
        let mut common = 0;
        let mut largest = None;
        for (width, count) in widths.iter().enumerate().rev().filter(|(_, count)| **count > 0) {
            largest = largest.or(Some(width as u32));
            if *count > outliers {
                common = width as u32;
                break;
            }
            outliers -= count;
        }
        let width = fixed_width(common);
        let patch_bits = largest?.checked_sub(width).filter(|bits| *bits > 0)?;
        let patch_width = fixed_width(patch_bits);
        let mut patches = Vec::new();
        let mut last = 0;
        let mut longest = 0;
        for (index, value) in values.iter().enumerate() {
            let high = reduced(value) >> width;
            if high > 0 {
                let mut gap = index - last;
                while gap > MAX_GAP {
                    patches.push((MAX_GAP, 0));
                    gap -= MAX_GAP;
                    longest = MAX_GAP;
                }
                longest = longest.max(gap);
                patches.push((gap, high));
                last = index;
            }
        }
        let gap_width = width_of(longest as u64).max(1);
        let base_bits = width_of(min.unsigned_abs()).max(1) + 1;
        if patches.len() > MAX_PATCHES || gap_width > 8 || patch_width + gap_width > 64 || width >= 64 {
            return None;
        }
        Some(Patched {
            base: min,
            base_bytes: (base_bits as usize).div_ceil(8),
            width,
            patch_width,
            gap_width,
            patches,
            length: values.len(),
        })
    }

    fn bytes(&self) -> usize {
        let entry = fixed_width(self.patch_width + self.gap_width) as usize;
        let values = (self.length * self.width as usize).div_ceil(8);
        4 + self.base_bytes + values + (self.patches.len() * entry).div_ceil(8)
    }

    fn write(&self, values: &[i64], out: &mut Vec<u8>) {
        header(PATCHED_BASE, width_code(self.width), self.length, out);
        out.push(((self.base_bytes - 1) << 5) as u8 | width_code(self.patch_width));
        out.push(((self.gap_width - 1) << 5) as u8 | self.patches.len() as u8);
        // Magnitude with the sign in its highest bit.
        let sign = u64::from(self.base < 0) << (8 * self.base_bytes - 1);
        let magnitude = self.base.unsigned_abs() | sign;
        out.extend(magnitude.to_be_bytes().iter().skip(8 - self.base_bytes));
        let mask = (1u64 << self.width) - 1;
        let low = values
            .iter()
            .map(|value| value.wrapping_sub(self.base) as u64 & mask);
        pack(low, self.width, out);
        let entries = self
            .patches
            .iter()
            .map(|(gap, high)| ((*gap as u64) << self.patch_width) | high);
        pack(entries, fixed_width(self.patch_width + self.gap_width), out);
    }
}
