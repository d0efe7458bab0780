// SPDX-License-Identifier: Apache-2.0

//! Widths of integers and packing of bits.

/// Bits up to the highest that is set, 0 for 0.
pub(super) fn width_of(value: u64) -> u32 {
    64 - value.leading_zeros()
}

/// The next width that has a code.
pub(super) fn fixed_width(width: u32) -> u32 {
    match width {
        0 => 1,
        1..=24 => width,
        25..=26 => 26,
        27..=28 => 28,
        29..=30 => 30,
        31..=32 => 32,
        33..=40 => 40,
        41..=48 => 48,
        49..=56 => 56,
        _ => 64,
    }
}

/// The next width that does not straddle bytes.
pub(super) fn aligned_width(width: u32) -> u32 {
    match width {
        0..=1 => 1,
        2 => 2,
        3..=4 => 4,
        5..=8 => 8,
        9..=16 => 16,
        17..=24 => 24,
        25..=32 => 32,
        33..=40 => 40,
        41..=48 => 48,
        49..=56 => 56,
        _ => 64,
    }
}

/// The code of a width that [`fixed_width`] or [`aligned_width`] returned.
pub(super) fn width_code(width: u32) -> u8 {
    match width {
        0..=24 => width.saturating_sub(1) as u8,
        25..=26 => 24,
        27..=28 => 25,
        29..=30 => 26,
        31..=32 => 27,
        33..=40 => 28,
        41..=48 => 29,
        49..=56 => 30,
        _ => 31,
    }
}

/// Appends the low `width` bits of each value, the highest bit first; the last byte is filled with zeros. No value may
/// have more bits.
pub(super) fn pack(values: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    match width {
        8 => out.extend(values.map(|value| value as u8)),
        16 => bytes::<2>(values, out),
        24 => bytes::<3>(values, out),
        32 => bytes::<4>(values, out),
        40 => bytes::<5>(values, out),
        48 => bytes::<6>(values, out),
        56 => bytes::<7>(values, out),
        64 => bytes::<8>(values, out),
        _ => loose(values, width, out),
    }
}

fn bytes<const N: usize>(values: impl Iterator<Item = u64>, out: &mut Vec<u8>) {
    for value in values {
        let shifted = (value << (64 - 8 * N)).to_be_bytes();
        if let Some(bytes) = shifted.first_chunk::<N>() {
            out.extend_from_slice(bytes);
        }
    }
}

fn loose(values: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    // Fewer than 32 bits are left over, and widths that come here are below 32.
    let mut pending = 0u64;
    let mut count = 0;
    for value in values {
        pending = (pending << width) | value;
        count += width;
        if count >= 32 {
            count -= 32;
            out.extend_from_slice(&((pending >> count) as u32).to_be_bytes());
            pending &= (1 << count) - 1;
        }
    }
    while count >= 8 {
        count -= 8;
        out.push((pending >> count) as u8);
    }
    if count > 0 {
        out.push((pending << (8 - count)) as u8);
    }
}
