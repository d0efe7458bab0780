// SPDX-License-Identifier: Apache-2.0

//! One stored vector: length, magic, bitmap, CRC-32 (Java `BitmapDeletionVector`, `Bitmap64DeletionVector`; `wire.md` 10.1–10.3).

use std::collections::BTreeMap;
use std::ops::Range;

use paimon_types::{Error, Result};
use roaring::RoaringBitmap;

use crate::portable;
use crate::{DeletionVector, DeletionVectorKind};

const MAGIC_32: [u8; 4] = 1_581_511_376u32.to_be_bytes();
const MAGIC_64: [u8; 4] = 1_681_511_377u32.to_le_bytes();
const PREFIX: usize = 4;
const CHECKSUM: usize = 4;
/// Most bitmaps that a vector is written with; empty ones among them have 48 KiB together.
const MAX_WRITTEN_SLOTS: u32 = 1 << 12;
/// Stored form of a bitmap without a position.
const EMPTY: [u8; 8] = [0x3a, 0x30, 0, 0, 0, 0, 0, 0];

impl DeletionVectorKind {
    /// The length that metadata records for a stored vector of `bytes` bytes: without length prefix and checksum for
    /// 32-bit vectors, with them for 64-bit ones (`wire.md` 10.3).
    pub fn recorded_length(self, bytes: u64) -> u64 {
        match self {
            DeletionVectorKind::Bitmap32 => bytes.saturating_sub(8),
            DeletionVectorKind::Bitmap64 => bytes,
        }
    }
}

/// The bytes to read for a vector of unknown kind that metadata places at `offset` with recorded length `length`, in a file
/// of `file_size` bytes: whatever the kind, the vector lies within, and [`decode_deletion_vector`] ignores what follows it.
///
/// # Errors
/// `Corrupt` when the place lies outside of the file.
pub fn record_span(offset: u64, length: u64, file_size: u64) -> Result<Range<u64>> {
    match offset.checked_add(length) {
        Some(end) if end <= file_size => Ok(offset..end.saturating_add(8).min(file_size)),
        _ => Err(Error::corrupt(format!(
            "deletion vector at offset {offset} with length {length} lies outside of its index file of {file_size} bytes"
        ))),
    }
}

/// Decodes the vector that `bytes` start with and says how many bytes it has.
///
/// # Errors
/// `Corrupt` for an unknown magic number, a wrong checksum, a damaged bitmap or bytes that end early.
pub fn decode_deletion_vector(bytes: &[u8]) -> Result<(DeletionVector, usize)> {
    let (prefix, rest) = take::<PREFIX>(bytes, "length")?;
    let length = u32::from_be_bytes(prefix);
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let body = rest.get(..length).ok_or_else(|| {
        Error::corrupt(format!(
            "deletion vector says that it has {length} bytes, {} are there",
            rest.len()
        ))
    })?;
    // The magic number first: another kind of file is told by its name, not by a checksum.
    let (kind, bitmap) = kind_of(body)?;
    let (stored, _) = take::<CHECKSUM>(rest.get(length..).unwrap_or_default(), "checksum")?;
    let computed = crc32fast::hash(body).to_be_bytes();
    if stored != computed {
        return Err(Error::corrupt(format!(
            "deletion vector has checksum {}, its bytes give {}",
            hex(stored),
            hex(computed)
        )));
    }
    Ok((decode_bitmap(kind, bitmap)?, PREFIX + length + CHECKSUM))
}

/// Decodes magic number and bitmap without length and checksum around them: what Java hands from task to task before 1.0.
///
/// # Errors
/// As [`decode_deletion_vector`].
pub fn decode_deletion_vector_body(body: &[u8]) -> Result<DeletionVector> {
    let (kind, bitmap) = kind_of(body)?;
    decode_bitmap(kind, bitmap)
}

fn kind_of(body: &[u8]) -> Result<(DeletionVectorKind, &[u8])> {
    let (magic, bitmap) = take::<4>(body, "magic number")?;
    match magic {
        MAGIC_32 => Ok((DeletionVectorKind::Bitmap32, bitmap)),
        MAGIC_64 => Ok((DeletionVectorKind::Bitmap64, bitmap)),
        other => Err(Error::corrupt(format!(
            "deletion vector has magic number {}, expected 5e43f2d0 (32-bit) or d1d33964 (64-bit)",
            hex(other)
        ))),
    }
}

fn decode_bitmap(kind: DeletionVectorKind, bitmap: &[u8]) -> Result<DeletionVector> {
    match kind {
        DeletionVectorKind::Bitmap32 => decode_32(bitmap),
        DeletionVectorKind::Bitmap64 => decode_64(bitmap),
    }
}

impl DeletionVector {
    /// Decodes the vector at the start of `bytes` and compares it with what metadata says about it: `length` as recorded
    /// there and the number of deleted rows, if that is known.
    ///
    /// # Errors
    /// As [`decode_deletion_vector`], and `Corrupt` when length or cardinality differ.
    pub fn decode_recorded(bytes: &[u8], length: u64, cardinality: Option<u64>) -> Result<Self> {
        let (vector, used) = decode_deletion_vector(bytes)?;
        let found = vector.kind().recorded_length(used as u64);
        if found != length {
            return Err(Error::corrupt(format!(
                "{} deletion vector has length {found}, metadata says {length}",
                vector.kind()
            )));
        }
        match cardinality {
            Some(expected) if expected != vector.cardinality() => Err(Error::corrupt(format!(
                "deletion vector marks {} rows, metadata says {expected}",
                vector.cardinality()
            ))),
            _ => Ok(vector),
        }
    }

    /// The stored form: as it was read when nothing changed since, else with every container in its smallest form, as Java
    /// writes it.
    ///
    /// # Errors
    /// `Unsupported` for a 64-bit vector that lists a bitmap for rows from 2^44 on: Java's form has a bitmap for each 2^32 rows
    /// below, empty ones too, twelve bytes each, so that a few deleted rows could have gigabytes. `Unsupported` for 2 GiB or more.
    pub fn encode(&self) -> Result<Vec<u8>> {
        if self.slots() > MAX_WRITTEN_SLOTS {
            return Err(Error::unsupported(format!(
                "the stored form of a deletion vector for rows from {} on would have {} bitmaps, expected at most {MAX_WRITTEN_SLOTS} \
                 (rows below 2^44)",
                u64::from(self.slots() - 1) << 32,
                self.slots()
            )));
        }
        let mut parts = BTreeMap::new();
        let mut length = match self.kind() {
            DeletionVectorKind::Bitmap32 => 0,
            DeletionVectorKind::Bitmap64 => 8 + 12 * u64::from(self.slots()),
        };
        for (key, bitmap) in self.parts() {
            let bitmap = if self.is_as_stored() {
                bitmap.clone()
            } else {
                smallest(bitmap)
            };
            let own = bitmap.serialized_size() as u64;
            length += match self.kind() {
                DeletionVectorKind::Bitmap32 => own,
                DeletionVectorKind::Bitmap64 => own.saturating_sub(EMPTY.len() as u64),
            };
            parts.insert(key, bitmap);
        }
        if self.kind() == DeletionVectorKind::Bitmap32 && parts.is_empty() {
            length = EMPTY.len() as u64;
        }
        let body = length + 4;
        let body = i32::try_from(body)
            .ok()
            .filter(|n| *n <= i32::MAX - 8)
            .ok_or_else(|| {
                Error::unsupported(format!(
                    "deletion vector would have {body} bytes, expected less than 2 GiB"
                ))
            })?;
        let mut out = Vec::with_capacity(usize::try_from(body).unwrap_or(0) + PREFIX + CHECKSUM);
        out.extend_from_slice(&body.to_be_bytes());
        match self.kind() {
            DeletionVectorKind::Bitmap32 => {
                out.extend_from_slice(&MAGIC_32);
                write_bitmap(parts.get(&0), &mut out)?;
            }
            DeletionVectorKind::Bitmap64 => {
                out.extend_from_slice(&MAGIC_64);
                out.extend_from_slice(&u64::from(self.slots()).to_le_bytes());
                for key in 0..self.slots() {
                    out.extend_from_slice(&key.to_le_bytes());
                    write_bitmap(parts.get(&key), &mut out)?;
                }
            }
        }
        let checksum = crc32fast::hash(out.get(PREFIX..).unwrap_or_default());
        out.extend_from_slice(&checksum.to_be_bytes());
        Ok(out)
    }
}

fn write_bitmap(bitmap: Option<&RoaringBitmap>, out: &mut Vec<u8>) -> Result<()> {
    match bitmap {
        None => {
            out.extend_from_slice(&EMPTY);
            Ok(())
        }
        Some(bitmap) => bitmap
            .serialize_into(out)
            .map_err(|e| Error::io("deletion vector cannot be encoded").with_source(e)),
    }
}

/// The form of a bitmap that depends on nothing but its content.
fn smallest(bitmap: &RoaringBitmap) -> RoaringBitmap {
    let mut bitmap = bitmap.clone();
    bitmap.remove_run_compression();
    bitmap.optimize();
    bitmap
}

fn decode_32(bytes: &[u8]) -> Result<DeletionVector> {
    let (bitmap, used) = portable::decode(bytes)?;
    check_end(bytes.len(), used)?;
    DeletionVector::stored(DeletionVectorKind::Bitmap32, [(0, bitmap)].into(), 1)
}

fn decode_64(bytes: &[u8]) -> Result<DeletionVector> {
    let (count, mut rest) = take::<8>(bytes, "number of bitmaps")?;
    let count = u64::from_le_bytes(count);
    // Four bytes for the key, eight for the smallest bitmap.
    if count > rest.len() as u64 / 12 {
        return Err(Error::corrupt(format!(
            "deletion vector says that it has {count} bitmaps, there are {} bytes for them",
            rest.len()
        )));
    }
    let mut parts = BTreeMap::new();
    let mut slots = 0u32;
    for _ in 0..count {
        let (key, after) = take::<4>(rest, "key of a bitmap")?;
        let key = u32::from_le_bytes(key);
        if key < slots || key > DeletionVectorKind::MAX_KEY {
            return Err(Error::corrupt(format!(
                "deletion vector has a bitmap with key {key}, expected {slots} to {}",
                DeletionVectorKind::MAX_KEY
            )));
        }
        let (bitmap, used) = portable::decode(after).map_err(|e| e.with("bitmap", key))?;
        parts.insert(key, bitmap);
        slots = key + 1;
        rest = after.get(used..).unwrap_or_default();
    }
    check_end(rest.len(), 0)?;
    DeletionVector::stored(DeletionVectorKind::Bitmap64, parts, slots)
}

fn check_end(there: usize, used: usize) -> Result<()> {
    match there - used.min(there) {
        0 => Ok(()),
        more => Err(Error::corrupt(format!(
            "{more} bytes follow the bitmap within a deletion vector, expected none"
        ))),
    }
}

fn take<'a, const N: usize>(bytes: &'a [u8], what: &str) -> Result<([u8; N], &'a [u8])> {
    match bytes.split_first_chunk::<N>() {
        Some((first, rest)) => Ok((*first, rest)),
        None => Err(Error::corrupt(format!(
            "deletion vector ends within its {what}: {} bytes are left, expected {N}",
            bytes.len()
        ))),
    }
}

fn hex(bytes: [u8; 4]) -> String {
    format!("{:08x}", u32::from_be_bytes(bytes))
}
