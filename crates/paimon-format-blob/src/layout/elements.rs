// SPDX-License-Identifier: Apache-2.0

//! Payloads of arrays and maps: where their parts are.
//!
//! A payload need not be there as a whole: its head of nine bytes and its tail from the indexes on are enough.

use std::ops::Range;

use paimon_types::{Error, Result};

use super::delta::{count_deltas, decode_deltas};
use super::file::{NULL, index_length};
use super::i32_at;

pub(crate) const ARRAY_MAGIC: i32 = 1_094_861_634;
pub(crate) const MAP_MAGIC: i32 = 0x4D42_4342;
pub(crate) const ELEMENTS_VERSION: u8 = 1;
/// Magic number, version, number of elements.
const HEAD: u64 = 9;
/// The length of an index.
const LENGTH: u64 = 4;

/// Lengths of consecutive parts; null ones have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Where the first part begins in the payload.
    start: u64,
    /// Bytes of all parts.
    bytes: u64,
    lengths: Vec<i64>,
}

impl Lengths {
    /// `count` lengths from their index, for parts that begin at `start` and have at most `available` bytes.
    fn decode(index: &[u8], count: u64, start: u64, available: u64, what: &str) -> Result<Self> {
        let found = count_deltas(index);
        if found as u64 != count {
            return Err(Error::corrupt(format!(
                "{what} index has {found} lengths, {count} expected"
            )));
        }
        let mut lengths = Vec::new();
        lengths
            .try_reserve_exact(found)
            .map_err(|_| Error::resources(format!("there is no memory for {found} lengths")))?;
        let mut bytes = 0u64;
        decode_deltas(index, |at, length| {
            lengths.push(length);
            if length == NULL {
                return Ok(());
            }
            let left = available - bytes;
            match u64::try_from(length) {
                Ok(length) if length <= left => {
                    bytes += length;
                    Ok(())
                }
                _ => Err(Error::corrupt(format!(
                    "{what} {at} has {length} bytes, 0 to {left} expected"
                ))),
            }
        })?;
        Ok(Lengths {
            start,
            bytes,
            lengths,
        })
    }

    /// Number of parts.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// True when there is no part.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Where all parts are in the payload.
    pub fn span(&self) -> Range<u64> {
        self.start..self.start + self.bytes
    }

    /// Where each part is in the payload; `None` for null.
    pub fn ranges(&self) -> impl Iterator<Item = Option<Range<u64>>> {
        let mut at = self.start;
        self.lengths.iter().map(move |length| {
            let length = u64::try_from(*length).ok()?;
            let start = at;
            at += length;
            Some(start..at)
        })
    }
}

/// Where the elements of an `ARRAY<BLOB>` are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayLayout {
    /// The elements.
    pub elements: Lengths,
}

impl ArrayLayout {
    /// Bytes at the end of a payload of `length` bytes that [`ArrayLayout::decode`] needs, told by its last bytes (at
    /// least four).
    ///
    /// # Errors
    /// `Corrupt` when the payload is too short or the index longer than it.
    pub fn tail_bytes(tail: &[u8], length: u64) -> Result<u64> {
        let room = room(length, LENGTH, "array")?;
        Ok(index_length(tail, from_end(tail, LENGTH), room, "element index")? + LENGTH)
    }

    /// The layout of a payload of `length` bytes, from its head of nine bytes and its last bytes. Both may be the whole
    /// payload.
    ///
    /// # Errors
    /// `Corrupt` when a part contradicts another, `Unsupported` for another version.
    pub fn decode(head: &[u8], tail: &[u8], length: u64) -> Result<Self> {
        let index = Self::tail_bytes(tail, length)? - LENGTH;
        let count = count(head, ARRAY_MAGIC, "array", index)?;
        let available = length - HEAD - LENGTH - index;
        let bytes = part(tail, index + LENGTH, index)?;
        let elements = Lengths::decode(bytes, count, HEAD, available, "element")?;
        exact(elements.bytes, available)?;
        Ok(ArrayLayout { elements })
    }
}

/// Where the keys and values of a `MAP<K, BLOB>` are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapLayout {
    /// The keys.
    pub keys: Lengths,
    /// The values, one for each key.
    pub values: Lengths,
}

impl MapLayout {
    /// Bytes at the end of a payload of `length` bytes that [`MapLayout::decode`] needs, told by its last bytes (at
    /// least eight).
    ///
    /// # Errors
    /// `Corrupt` when the payload is too short or the indexes longer than it.
    pub fn tail_bytes(tail: &[u8], length: u64) -> Result<u64> {
        let (keys, values) = Self::indexes(tail, length)?;
        Ok(keys + values + 2 * LENGTH)
    }

    fn indexes(tail: &[u8], length: u64) -> Result<(u64, u64)> {
        let room = room(length, 2 * LENGTH, "map")?;
        let keys = index_length(tail, from_end(tail, 2 * LENGTH), room, "key index")?;
        let values = index_length(tail, from_end(tail, LENGTH), room - keys, "value index")?;
        Ok((keys, values))
    }

    /// The layout of a payload of `length` bytes, from its head of nine bytes and its last bytes. Both may be the whole
    /// payload.
    ///
    /// # Errors
    /// `Corrupt` when a part contradicts another, `Unsupported` for another version.
    pub fn decode(head: &[u8], tail: &[u8], length: u64) -> Result<Self> {
        let (key_index, value_index) = Self::indexes(tail, length)?;
        let count = count(head, MAP_MAGIC, "map", key_index.min(value_index))?;
        let available = length - HEAD - 2 * LENGTH - key_index - value_index;
        let bytes = part(tail, key_index + value_index + 2 * LENGTH, key_index)?;
        let keys = Lengths::decode(bytes, count, HEAD, available, "key")?;
        let bytes = part(tail, value_index + 2 * LENGTH, value_index)?;
        let left = available - keys.bytes;
        let values = Lengths::decode(bytes, count, HEAD + keys.bytes, left, "value")?;
        exact(keys.bytes + values.bytes, available)?;
        Ok(MapLayout { keys, values })
    }
}

/// Bytes that indexes and data may have.
fn room(length: u64, lengths: u64, what: &str) -> Result<u64> {
    length.checked_sub(HEAD + lengths).ok_or_else(|| {
        Error::corrupt(format!(
            "{what} has {length} bytes, at least {} expected",
            HEAD + lengths
        ))
    })
}

fn from_end(tail: &[u8], bytes: u64) -> usize {
    tail.len().checked_sub(bytes as usize).unwrap_or(usize::MAX)
}

/// `length` bytes that begin `before_end` bytes before the end.
fn part(tail: &[u8], before_end: u64, length: u64) -> Result<&[u8]> {
    let start = usize::try_from(before_end)
        .ok()
        .and_then(|bytes| tail.len().checked_sub(bytes));
    start
        .zip(usize::try_from(length).ok())
        .and_then(|(start, length)| tail.get(start..start.checked_add(length)?))
        .ok_or_else(|| Error::corrupt(format!("{} bytes are too few for an index", tail.len())))
}

fn count(head: &[u8], magic: i32, what: &str, at_most: u64) -> Result<u64> {
    let short = || {
        Error::corrupt(format!(
            "{what} has a head of {} bytes, {HEAD} expected",
            head.len()
        ))
    };
    let found = i32_at(head, 0).ok_or_else(short)?;
    if found != magic {
        return Err(Error::corrupt(format!(
            "{what} begins with {found:#010x}, {magic:#010x} expected"
        )));
    }
    let version = *head.get(4).ok_or_else(short)?;
    if version != ELEMENTS_VERSION {
        return Err(Error::unsupported(format!(
            "{what} has version {version}, {ELEMENTS_VERSION} expected"
        )));
    }
    let count = i32_at(head, 5).ok_or_else(short)?;
    match u64::try_from(count) {
        // Each length has at least one byte.
        Ok(count) if count <= at_most => Ok(count),
        _ => Err(Error::corrupt(format!(
            "{what} has {count} elements, 0 to {at_most} expected"
        ))),
    }
}

fn exact(found: u64, expected: u64) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::corrupt(format!(
        "elements have {found} bytes by their lengths, {expected} expected"
    )))
}
