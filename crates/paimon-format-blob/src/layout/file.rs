// SPDX-License-Identifier: Apache-2.0

//! The end of a file: where each row is.

use std::ops::Range;

use paimon_types::{Error, Result};

use super::delta::{count_deltas, decode_deltas};
use super::i32_at;
use super::record::RECORD_OVERHEAD;

/// Bytes behind the index: its length and the version.
pub const FOOTER_BYTES: u64 = 5;

pub(crate) const VERSION: u8 = 1;
/// Length of a row that is null.
pub(crate) const NULL: i64 = -1;
/// Length of a row whose value is in an older file.
pub(crate) const PLACEHOLDER: i64 = -2;

/// Marks in the two highest bits of a position, which no file reaches.
const NULL_MARK: u64 = 1 << 63;
const PLACEHOLDER_MARK: u64 = 1 << 62;
const POSITION: u64 = PLACEHOLDER_MARK - 1;

/// The last bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFooter {
    /// Where the records end and the index begins.
    pub index_start: u64,
    /// Bytes of the index.
    pub index_bytes: u64,
}

impl FileFooter {
    /// The footer of a file of `file_size` bytes, from its last bytes (at least [`FOOTER_BYTES`]).
    ///
    /// # Errors
    /// `Corrupt` when the file is too short or the index longer than the file; `Unsupported` for another version.
    pub fn decode(tail: &[u8], file_size: u64) -> Result<Self> {
        let footer = tail
            .last_chunk::<5>()
            .filter(|_| file_size >= FOOTER_BYTES)
            .ok_or_else(|| {
                Error::corrupt(format!(
                    "{file_size} bytes are too few, at least {FOOTER_BYTES} expected"
                ))
            })?;
        let [l0, l1, l2, l3, version] = *footer;
        if version != VERSION {
            return Err(Error::unsupported(format!(
                "version is {version}, {VERSION} expected; the file is no blob file, is cut or of a later version"
            )));
        }
        let length = i32::from_le_bytes([l0, l1, l2, l3]);
        let before = file_size - FOOTER_BYTES;
        match u64::try_from(length) {
            Ok(index_bytes) if index_bytes <= before => Ok(FileFooter {
                index_start: before - index_bytes,
                index_bytes,
            }),
            _ => Err(Error::corrupt(format!(
                "index has {length} bytes, 0 to {before} expected"
            ))),
        }
    }
}

/// What a file has for a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlobEntry {
    /// NULL.
    Null,
    /// The value is in an older file.
    Placeholder,
    /// The whole record, with its frame.
    Record(Range<u64>),
}

/// Where the rows of a file are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobIndex {
    /// Start of each row with its marks, and the end of the last one.
    starts: Vec<u64>,
}

impl BlobIndex {
    /// The index of a file whose records occupy `data_bytes` bytes.
    ///
    /// # Errors
    /// `Corrupt` when the list is damaged, a length is below the smallest record, or the lengths do not add up to
    /// `data_bytes`; `ResourcesExhausted` when there is no memory for it.
    pub fn decode(bytes: &[u8], data_bytes: u64) -> Result<Self> {
        if data_bytes > POSITION {
            return Err(Error::corrupt(format!("records have {data_bytes} bytes")));
        }
        let mut starts = Vec::new();
        let rows = count_deltas(bytes);
        starts
            .try_reserve_exact(rows.saturating_add(1))
            .map_err(|_| Error::resources(format!("there is no memory for an index of {rows} rows")))?;
        let mut start = 0u64;
        decode_deltas(bytes, |row, length| {
            let mark = match length {
                NULL => NULL_MARK,
                PLACEHOLDER => PLACEHOLDER_MARK,
                _ => 0,
            };
            starts.push(start | mark);
            if mark != 0 {
                return Ok(());
            }
            let left = data_bytes - start;
            match u64::try_from(length) {
                Ok(length) if (RECORD_OVERHEAD..=left).contains(&length) => start += length,
                _ => {
                    return Err(Error::corrupt(format!(
                        "record of row {row} has {length} bytes, {RECORD_OVERHEAD} to {left} expected"
                    )));
                }
            }
            Ok(())
        })?;
        if start != data_bytes {
            return Err(Error::corrupt(format!(
                "records have {data_bytes} bytes, their index tells {start}"
            )));
        }
        starts.push(start);
        Ok(BlobIndex { starts })
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        (self.starts.len() as u64).saturating_sub(1)
    }

    /// Bytes that the index occupies in memory.
    pub fn memory_bytes(&self) -> usize {
        self.starts.capacity().saturating_mul(size_of::<u64>())
    }

    /// What there is for `row`; `None` behind the last row.
    pub fn entry(&self, row: u64) -> Option<BlobEntry> {
        let at = usize::try_from(row).ok()?;
        let (start, end) = (*self.starts.get(at)?, *self.starts.get(at.checked_add(1)?)?);
        Some(if start & NULL_MARK != 0 {
            BlobEntry::Null
        } else if start & PLACEHOLDER_MARK != 0 {
            BlobEntry::Placeholder
        } else {
            BlobEntry::Record(start..end & POSITION)
        })
    }
}

/// The index length that a file ends with.
pub(super) fn index_length(bytes: &[u8], at: usize, available: u64, what: &str) -> Result<u64> {
    let length = i32_at(bytes, at).ok_or_else(|| Error::corrupt(format!("{what} has no length")))?;
    match u64::try_from(length) {
        Ok(length) if length <= available => Ok(length),
        _ => Err(Error::corrupt(format!(
            "{what} has {length} bytes, 0 to {available} expected"
        ))),
    }
}
