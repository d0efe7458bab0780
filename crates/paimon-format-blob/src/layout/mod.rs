// SPDX-License-Identifier: Apache-2.0

//! The bytes of a blob file, as functions over slices (`data-files.md` 11.2–11.4; Java `BlobFileMeta`,
//! `BlobFormatWriter`, `ArrayBlobElementSerializer`, `MapBlobElementSerializer`). All numbers are little-endian.
//!
//! ```text
//! file   = record … record, index, i32 bytes of the index, u8 version 1
//! record = i32 magic, payload, i64 bytes of the record, i32 CRC-32 of all before it
//! index  = one number a row: bytes of its record, −1 for null, −2 for a placeholder
//! array  = i32 magic, u8 version 1, i32 elements, data …, index of their lengths (−1 null), i32 bytes of that index
//! map    = i32 magic, u8 version 1, i32 entries, keys …, values …, index of the keys, index of the values,
//!          i32 bytes of the first index, i32 bytes of the second
//! ```
//!
//! Nothing here trusts a length: each is compared with what is there before anything is reserved.

mod delta;
mod elements;
mod file;
mod key;
mod record;

#[cfg(test)]
mod tests;

pub use delta::{DeltaEncoder, decode_deltas};
pub(crate) use elements::{ARRAY_MAGIC, ELEMENTS_VERSION, MAP_MAGIC};
pub use elements::{ArrayLayout, Lengths, MapLayout};
pub use file::{BlobEntry, BlobIndex, FOOTER_BYTES, FileFooter};
pub(crate) use file::{NULL, PLACEHOLDER, VERSION};
pub use key::{BlobKey, BlobKeyType};
pub(crate) use record::RECORD_MAGIC;
pub use record::{RECORD_HEAD, RECORD_OVERHEAD, RecordCheck, RecordTail, check_frame, check_record};

/// The number at the start of `bytes`; none when they are too short.
fn i32_at(bytes: &[u8], at: usize) -> Option<i32> {
    bytes
        .get(at..)
        .and_then(<[u8]>::first_chunk)
        .map(|bytes| i32::from_le_bytes(*bytes))
}
