// SPDX-License-Identifier: Apache-2.0

//! Packed big-endian numbers.

/// Appends `count` numbers of `width` bits (1 to 64) to `out`. `bytes` holds at least that many bits.
pub(super) fn unpack(bytes: &[u8], width: usize, count: usize, out: &mut Vec<i64>) {
    match width {
        8 => out.extend(bytes.iter().take(count).map(|b| i64::from(*b))),
        16 => {
            let (words, _) = bytes.as_chunks::<2>();
            out.extend(
                words
                    .iter()
                    .take(count)
                    .map(|w| i64::from(u16::from_be_bytes(*w))),
            );
        }
        24 => {
            let (words, _) = bytes.as_chunks::<3>();
            let number = |[a, b, c]: &[u8; 3]| i64::from(u32::from_be_bytes([0, *a, *b, *c]));
            out.extend(words.iter().take(count).map(number));
        }
        32 => {
            let (words, _) = bytes.as_chunks::<4>();
            out.extend(
                words
                    .iter()
                    .take(count)
                    .map(|w| i64::from(u32::from_be_bytes(*w))),
            );
        }
        64 => {
            let (words, _) = bytes.as_chunks::<8>();
            out.extend(words.iter().take(count).map(|w| i64::from_be_bytes(*w)));
        }
        1 => out.extend((0..count).map(|n| {
            let byte = bytes.get(n / 8).copied().unwrap_or(0);
            i64::from(byte >> (7 - n % 8) & 1)
        })),
        2 => out.extend((0..count).map(|n| {
            let byte = bytes.get(n / 4).copied().unwrap_or(0);
            i64::from(byte >> (6 - n % 4 * 2) & 3)
        })),
        4 => out.extend((0..count).map(|n| {
            let byte = bytes.get(n / 2).copied().unwrap_or(0);
            i64::from(byte >> (4 - n % 2 * 4) & 15)
        })),
        _ => general(bytes, width, count, out),
    }
}

/// Eight numbers of `width` bits lie in `width` bytes.
fn general(bytes: &[u8], width: usize, count: usize, out: &mut Vec<i64>) {
    if width == 0 || width > 57 {
        return wide(bytes, width, count, out);
    }
    let mask = u64::MAX >> (64 - width);
    // As long as eight bytes can be read at once.
    let fast = match bytes.len().checked_sub(8) {
        Some(last) => count.min(last * 8 / width + 1),
        None => 0,
    };
    for n in 0..fast {
        let bit = n * width;
        let word = bytes.get(bit / 8..).and_then(|rest| rest.first_chunk::<8>());
        let word = word.map_or(0, |word| u64::from_be_bytes(*word));
        out.push((word << (bit % 8) >> (64 - width) & mask) as i64);
    }
    let rest_bit = fast * width;
    let mut tail = [0u8; 16];
    let mut at = rest_bit;
    for _ in fast..count {
        let rest = bytes.get(at / 8..).unwrap_or(&[]);
        tail.fill(0);
        for (to, from) in tail.iter_mut().zip(rest) {
            *to = *from;
        }
        let word = u128::from_be_bytes(tail);
        out.push((word << (at % 8) >> (128 - width)) as i64);
        at += width;
    }
}

fn wide(bytes: &[u8], width: usize, count: usize, out: &mut Vec<i64>) {
    if width == 0 {
        out.resize(out.len() + count, 0);
        return;
    }
    let mut tail = [0u8; 16];
    for n in 0..count {
        let bit = n * width;
        tail.fill(0);
        for (to, from) in tail.iter_mut().zip(bytes.get(bit / 8..).unwrap_or(&[])) {
            *to = *from;
        }
        let word = u128::from_be_bytes(tail);
        out.push((word << (bit % 8) >> (128 - width)) as i64);
    }
}
