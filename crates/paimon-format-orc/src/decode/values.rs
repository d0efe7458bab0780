// SPDX-License-Identifier: Apache-2.0

//! Floating point numbers, decimals, nanoseconds.

use paimon_types::Result;

use super::bytes::ByteStream;
use crate::error::damaged;

/// Appends `count` little-endian numbers of `N` bytes to `out`.
///
/// # Errors
/// `Corrupt` when there are fewer.
pub(crate) fn read_floats<const N: usize, T>(
    stream: &mut ByteStream,
    count: usize,
    out: &mut Vec<T>,
    convert: impl Fn([u8; N]) -> T,
) -> Result<()> {
    let mut left = count;
    while left > 0 {
        let bytes = stream.peek()?;
        let (whole, _) = bytes.as_chunks::<N>();
        let here = whole.len().min(left);
        if here == 0 {
            // The number lies in two chunks, or there is none.
            let bytes = stream.take(N)?;
            let number = bytes
                .first_chunk::<N>()
                .ok_or_else(|| damaged("a number is cut"))?;
            out.push(convert(*number));
            left -= 1;
            continue;
        }
        out.extend(whole.iter().take(here).map(|number| convert(*number)));
        stream.consume(here * N);
        left -= here;
    }
    Ok(())
}

/// A number of up to 128 bits in zigzag form, and its length in bytes.
///
/// # Errors
/// `Corrupt` when it is longer, or cut.
pub(crate) fn read_varint(bytes: &[u8]) -> Result<Option<(i128, usize)>> {
    let mut value = 0u128;
    for (index, byte) in bytes.iter().enumerate() {
        let part = u128::from(byte & 0x7f);
        let shift = index as u32 * 7;
        if shift > 126 || (shift == 126 && part > 3) {
            return Err(damaged("a decimal has more than 128 bits"));
        }
        value |= part << shift;
        if byte & 0x80 == 0 {
            let number = ((value >> 1) as i128) ^ -((value & 1) as i128);
            return Ok(Some((number, index + 1)));
        }
    }
    Ok(None)
}

/// Longest decimal in bytes.
const LONGEST: usize = 19;

/// Appends `count` unscaled decimals to `out`.
///
/// # Errors
/// `Corrupt` when there are fewer, or one has more than 128 bits.
pub(crate) fn read_decimals(stream: &mut ByteStream, count: usize, out: &mut Vec<i128>) -> Result<()> {
    let mut left = count;
    while left > 0 {
        let mut rest = stream.peek()?;
        if rest.is_empty() {
            return Err(damaged("a stream ends before its last value"));
        }
        let here = rest.len();
        while left > 0 {
            let Some((number, length)) = read_varint(rest)? else {
                break;
            };
            out.push(number);
            left -= 1;
            rest = rest.get(length..).unwrap_or(&[]);
        }
        let used = here - rest.len();
        stream.consume(used);
        if used == 0 {
            // The number lies in two chunks.
            let mut bytes = Vec::with_capacity(LONGEST);
            loop {
                let byte = stream.byte()?;
                bytes.push(byte);
                if byte & 0x80 == 0 || bytes.len() > LONGEST {
                    break;
                }
            }
            let (number, _) =
                read_varint(&bytes)?.ok_or_else(|| damaged("a decimal has more than 128 bits"))?;
            out.push(number);
            left -= 1;
        }
    }
    Ok(())
}

/// Goes over `count` decimals.
///
/// # Errors
/// `Corrupt` when there are fewer.
pub(crate) fn skip_decimals(stream: &mut ByteStream, count: usize) -> Result<()> {
    let mut left = count;
    while left > 0 {
        let bytes = stream.peek()?;
        if bytes.is_empty() {
            return Err(damaged("a stream ends before its last value"));
        }
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte & 0x80 == 0);
        let (mut used, mut seen) = (bytes.len(), 0);
        for (at, _) in ends {
            seen += 1;
            if seen == left {
                used = at + 1;
                break;
            }
        }
        left -= seen;
        stream.consume(used);
    }
    Ok(())
}

/// Nanoseconds of a second as they are stored: the lowest three bits tell how many zeros were cut, less one. `None` when
/// they are a second or more. Arrow's C++ writer stores negative ones for times before 1970.
pub(crate) fn nanos_of(stored: i64) -> Option<i64> {
    let digits = stored >> 3;
    let nanos = match stored & 7 {
        0 => digits,
        zeros => digits.checked_mul(10i64.pow(zeros as u32 + 1))?,
    };
    (-1_000_000_000 < nanos && nanos < 1_000_000_000).then_some(nanos)
}
