// SPDX-License-Identifier: Apache-2.0

//! The frame of a record.

use crc32fast::Hasher;
use paimon_types::{Error, Result};

pub(crate) const RECORD_MAGIC: i32 = 1_481_511_375;
/// Bytes before the payload.
pub const RECORD_HEAD: u64 = 4;
/// Bytes of the frame, before and behind the payload.
pub const RECORD_OVERHEAD: u64 = 16;
const TAIL: usize = 12;

/// The payload of a whole record, after its magic number, length and checksum were compared.
///
/// # Errors
/// `Corrupt` that tells the value found and the one expected.
pub fn check_record(record: &[u8]) -> Result<&[u8]> {
    let mut check = RecordCheck::new(record.len() as u64)?;
    check.update(record);
    check.finish()?;
    record
        .get(RECORD_HEAD as usize..record.len().saturating_sub(TAIL))
        .ok_or_else(|| Error::corrupt("record is too short"))
}

/// The same test for a record that comes in pieces.
#[derive(Clone, Debug)]
pub struct RecordCheck {
    length: u64,
    seen: u64,
    head: [u8; 4],
    tail: [u8; TAIL],
    crc: Hasher,
}

impl RecordCheck {
    /// Of a record that has `length` bytes by the index.
    ///
    /// # Errors
    /// `Corrupt` when no record is that short.
    pub fn new(length: u64) -> Result<Self> {
        if length < RECORD_OVERHEAD {
            return Err(Error::corrupt(format!(
                "record has {length} bytes, at least {RECORD_OVERHEAD} expected"
            )));
        }
        Ok(RecordCheck {
            length,
            seen: 0,
            head: [0; 4],
            tail: [0; TAIL],
            crc: Hasher::new(),
        })
    }

    /// Takes the next piece and returns the part of it that belongs to the payload.
    pub fn update<'a>(&mut self, piece: &'a [u8]) -> &'a [u8] {
        let start = self.seen;
        self.seen = self.seen.saturating_add(piece.len() as u64);
        let tail_start = self.length - TAIL as u64;
        copy(&mut self.head, 0, piece, start);
        copy(&mut self.tail, tail_start, piece, start);
        // The checksum is over all but itself.
        self.crc.update(within(piece, start, 0, self.length - 4));
        within(piece, start, RECORD_HEAD, tail_start)
    }

    /// Compares what was seen.
    ///
    /// # Errors
    /// `Corrupt` that tells the value found and the one expected.
    pub fn finish(self) -> Result<()> {
        if self.seen != self.length {
            return Err(Error::corrupt(format!(
                "record has {} bytes, {} expected",
                self.seen, self.length
            )));
        }
        let tail = check_frame(&self.head, &self.tail, self.length)?;
        let crc = self.crc.finalize();
        if tail.crc != crc {
            return Err(Error::corrupt(format!(
                "record has checksum {crc:#010x}, {:#010x} expected",
                tail.crc
            )));
        }
        Ok(())
    }
}

/// Compares magic number and length of a record of which only the first and last bytes are there, and returns its tail.
///
/// # Errors
/// `Corrupt` that tells the value found and the one expected.
pub fn check_frame(head: &[u8], tail: &[u8], length: u64) -> Result<RecordTail> {
    let (Some(head), Some(tail)) = (head.first_chunk(), tail.last_chunk()) else {
        return Err(Error::corrupt(format!(
            "record has {length} bytes, at least {RECORD_OVERHEAD} expected"
        )));
    };
    let magic = i32::from_le_bytes(*head);
    if magic != RECORD_MAGIC {
        return Err(Error::corrupt(format!(
            "record begins with {magic:#010x}, {RECORD_MAGIC:#010x} expected"
        )));
    }
    let tail = RecordTail::decode(tail);
    if u64::try_from(tail.length) != Ok(length) {
        return Err(Error::corrupt(format!(
            "record tells a length of {} bytes, its index tells {length}",
            tail.length
        )));
    }
    Ok(tail)
}

/// Copies what of `to`, which begins at `to_start`, lies in `piece`, which begins at `start`.
fn copy(to: &mut [u8], to_start: u64, piece: &[u8], start: u64) {
    for (to, at) in to.iter_mut().zip(to_start..) {
        let from = at
            .checked_sub(start)
            .and_then(|at| piece.get(usize::try_from(at).ok()?));
        if let Some(from) = from {
            *to = *from;
        }
    }
}

/// The part of `piece`, which begins at `start`, that lies in `from..to`.
fn within(piece: &[u8], start: u64, from: u64, to: u64) -> &[u8] {
    let relative = |at: u64| {
        usize::try_from(at.saturating_sub(start))
            .unwrap_or(usize::MAX)
            .min(piece.len())
    };
    piece.get(relative(from)..relative(to)).unwrap_or_default()
}

/// What stands behind a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordTail {
    /// Bytes of the whole record.
    pub length: i64,
    /// CRC-32 of all before it.
    pub crc: u32,
}

impl RecordTail {
    /// The tail from its bytes.
    pub fn decode(bytes: &[u8; 12]) -> Self {
        let [l0, l1, l2, l3, l4, l5, l6, l7, c0, c1, c2, c3] = *bytes;
        RecordTail {
            length: i64::from_le_bytes([l0, l1, l2, l3, l4, l5, l6, l7]),
            crc: u32::from_le_bytes([c0, c1, c2, c3]),
        }
    }
}
