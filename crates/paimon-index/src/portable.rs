// SPDX-License-Identifier: Apache-2.0

//! The portable form of 32-bit Roaring bitmaps (RoaringFormatSpec; `wire.md` 10.4): how long is the bitmap at the start of some
//! bytes, and may its content be believed? Decoding itself is done by the `roaring` crate, which gets exactly these bytes.

use paimon_types::{Error, Result};
use roaring::RoaringBitmap;

const COOKIE_NO_RUNS: u32 = 12346;
const COOKIE_RUNS: u16 = 12347;
/// With run containers, offsets are there from so many containers on.
const OFFSETS_FROM: usize = 4;
const MAX_CONTAINERS: usize = 1 << 16;
const MAX_ARRAY: usize = 4096;
const BITMAP_BYTES: usize = 8192;

/// Decodes the bitmap that `bytes` start with and says how many bytes it has.
pub(crate) fn decode(bytes: &[u8]) -> Result<(RoaringBitmap, usize)> {
    let length = measure(bytes)?;
    let own = bytes.get(..length).ok_or_else(|| cut(length, bytes.len()))?;
    let bitmap = RoaringBitmap::deserialize_from(own)
        .map_err(|e| Error::corrupt("the roaring bitmap is damaged").with_source(e))?;
    Ok((bitmap, length))
}

/// Length of the bitmap that `bytes` start with. Every length in the bytes is checked against what is left, so that the
/// decoder cannot be made to reserve more than a small multiple of the input, and the rows of run containers are counted.
fn measure(bytes: &[u8]) -> Result<usize> {
    let cookie = u32_at(bytes, 0)?;
    let (count, mut at, runs) = if cookie == COOKIE_NO_RUNS {
        (usize_of(u32_at(bytes, 4)?), 8, &[][..])
    } else if cookie & 0xffff == u32::from(COOKIE_RUNS) {
        let count = usize_of(cookie >> 16) + 1;
        let flags = count.div_ceil(8);
        let runs = bytes
            .get(4..4 + flags)
            .ok_or_else(|| cut(4 + flags, bytes.len()))?;
        (count, 4 + flags, runs)
    } else {
        return Err(Error::corrupt(format!(
            "roaring bitmap starts with {cookie:#010x}, expected cookie 12346 or 12347"
        )));
    };
    if count > MAX_CONTAINERS {
        return Err(Error::corrupt(format!(
            "roaring bitmap has {count} containers, expected at most {MAX_CONTAINERS}"
        )));
    }
    let descriptions = at;
    at += 4 * count;
    if runs.is_empty() || count >= OFFSETS_FROM {
        at += 4 * count;
    }
    if at > bytes.len() {
        return Err(cut(at, bytes.len()));
    }
    for index in 0..count {
        let rows = usize::from(u16_at(bytes, descriptions + 4 * index + 2)?) + 1;
        let is_run = runs
            .get(index / 8)
            .is_some_and(|flags| flags >> (index % 8) & 1 == 1);
        at += if is_run {
            run_container(bytes, at, index, rows)?
        } else if rows <= MAX_ARRAY {
            2 * rows
        } else {
            BITMAP_BYTES
        };
        if at > bytes.len() {
            return Err(cut(at, bytes.len()).with("container", index));
        }
    }
    Ok(at)
}

/// Bytes of the run container at `at`; its runs must have as many rows as its description says.
fn run_container(bytes: &[u8], at: usize, index: usize, rows: usize) -> Result<usize> {
    let count = usize::from(u16_at(bytes, at)?);
    let length = 2 + 4 * count;
    let runs = bytes
        .get(at + 2..at + length)
        .ok_or_else(|| cut(at + length, bytes.len()).with("container", index))?;
    let mut found = 0;
    for run in runs.chunks_exact(4) {
        found += usize::from(u16_at(run, 2)?) + 1;
    }
    if found == rows {
        return Ok(length);
    }
    Err(Error::corrupt(format!(
        "the runs of a container have {found} rows, its header says {rows}"
    ))
    .with("container", index))
}

fn u16_at(bytes: &[u8], at: usize) -> Result<u16> {
    match bytes.get(at..at + 2) {
        Some(&[low, high]) => Ok(u16::from_le_bytes([low, high])),
        _ => Err(cut(at + 2, bytes.len())),
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32> {
    match bytes.get(at..at + 4) {
        Some(&[a, b, c, d]) => Ok(u32::from_le_bytes([a, b, c, d])),
        _ => Err(cut(at + 4, bytes.len())),
    }
}

/// A number of at most 32 bits as an index; on the platforms that we know nothing is cut.
fn usize_of(value: u32) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

fn cut(needed: usize, there: usize) -> Error {
    Error::corrupt(format!(
        "roaring bitmap needs at least {needed} bytes, {there} are there"
    ))
}
