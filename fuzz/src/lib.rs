// SPDX-License-Identifier: Apache-2.0

//! What every target does: decode; when a value comes out, encode it, decode that, and find the same value and bytes. On the
//! way, what is allocated is bounded by the length of the input.

#[cfg(feature = "formats")]
mod formats;
#[cfg(feature = "metadata")]
mod metadata;
mod protocol;
mod types;

use std::alloc::System;
use std::fmt::Debug;

use paimon_types::Result;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[cfg(feature = "formats")]
pub use formats::*;
#[cfg(feature = "metadata")]
pub use metadata::*;
pub use protocol::*;
pub use types::*;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// All bytes that decoding may allocate in total, growth of lists included: some structs are 600 times as large as the
/// shortest bytes that stand for them.
const BYTES_PER_BYTE: usize = 2_000;
const BYTES_ALWAYS: usize = 64 << 10;

/// Runs a decoder and checks what it allocated.
pub(crate) fn bounded<T>(len: usize, decode: impl FnOnce() -> Result<T>) -> Option<T> {
    let region = Region::new(ALLOCATOR);
    let result = decode();
    let allocated = region.change().bytes_allocated;
    let limit = BYTES_ALWAYS + BYTES_PER_BYTE * len;
    assert!(
        allocated <= limit,
        "{allocated} bytes were allocated for {len} bytes of input"
    );
    result.ok()
}

/// Decodes, and for a value: encode, decode, compare values; encode again, compare bytes.
///
/// Values with a NaN are not equal to themselves, so `same` compares their rendering when `==` says no.
pub(crate) fn stable<T: PartialEq + Debug>(
    bytes: &[u8],
    decode: impl Fn(&[u8]) -> Result<T>,
    encode: impl Fn(&T) -> Result<Vec<u8>>,
) {
    let Some(value) = bounded(bytes.len(), || decode(bytes)) else {
        return;
    };
    let first = encode(&value).expect("what was decoded is encoded");
    let again = decode(&first).expect("what was encoded is decoded");
    assert!(
        again == value || format!("{again:?}") == format!("{value:?}"),
        "{value:?} became {again:?}"
    );
    assert_eq!(encode(&again).expect("what was decoded is encoded"), first);
}

/// CRC-32 as zip has it.
#[cfg(any(feature = "formats", feature = "metadata"))]
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = !0u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                crc >> 1 ^ 0xedb8_8320
            } else {
                crc >> 1
            };
        }
    }
    !crc
}
