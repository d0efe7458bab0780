// SPDX-License-Identifier: Apache-2.0

//! Hash index files: the hashes of all keys of a bucket of a dynamic-bucket table (Java `HashIndexFile`, `IntFileUtils`;
//! `wire.md` 3.4).

use paimon_types::{Error, Result};

/// Index type of hash index files.
pub const HASH: &str = "HASH";

/// The key hashes of a file in stored order. A file is nothing but big-endian 32-bit numbers; its number of rows is the
/// number of hashes.
///
/// # Errors
/// `Corrupt` when the bytes end within a number. (Java drops such a rest; a lost hash would put a known key into a second
/// bucket.)
pub fn decode_hash_index(bytes: &[u8]) -> Result<Vec<i32>> {
    let numbers = bytes.chunks_exact(4);
    if !numbers.remainder().is_empty() {
        return Err(Error::corrupt(format!(
            "hash index file has {} bytes, expected a multiple of 4",
            bytes.len()
        )));
    }
    Ok(numbers
        .map(|n| n.iter().fold(0u32, |value, byte| value << 8 | u32::from(*byte)) as i32)
        .collect())
}

/// The bytes of a file with these hashes, in their order. Java writes each hash once, in no order.
pub fn encode_hash_index(hashes: &[i32]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| hash.to_be_bytes()).collect()
}
