// SPDX-License-Identifier: Apache-2.0

//! Bloom filters (`BloomFilterUtf8` of the Java library).

use crate::proto::{BloomFilter, Footer, Kind};

/// `Footer.writer` of the C++ library.
const CPP_WRITER: u32 = 1;
/// `Footer.softwareVersion` of our files begins so.
const OWN_SOFTWARE: &str = "paimon-rust ";
/// Whether bloom filters of a file can be believed: ours, those of the Java library, and of the C++ library since it was
/// repaired.
pub(super) fn is_trusted(footer: &Footer) -> bool {
    let version = footer.software_version.as_deref();
    match footer.writer {
        None | Some(0) => true,
        Some(CPP_WRITER) => version.is_some_and(|version| {
            let version = version.split('-').next().unwrap_or(version);
            !version.starts_with("1.6.") && version != "1.7.0"
        }),
        Some(_) => version.is_some_and(|version| version.starts_with(OWN_SOFTWARE)),
    }
}

/// Whether the hash of values of this kind is known here.
pub(super) fn has_hash(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Byte
            | Kind::Short
            | Kind::Int
            | Kind::Long
            | Kind::Date
            | Kind::Float
            | Kind::Double
            | Kind::String
            | Kind::Varchar
            | Kind::Char
    )
}

/// False when `value` is certainly not there.
pub(super) fn may_contain_long(filter: &BloomFilter, value: i64) -> bool {
    // Thomas Wang's integer hash.
    let mut key = (!value).wrapping_add(value << 21);
    key ^= key >> 24;
    key = key.wrapping_add(key << 3).wrapping_add(key << 8);
    key ^= key >> 14;
    key = key.wrapping_add(key << 2).wrapping_add(key << 4);
    key ^= key >> 28;
    key = key.wrapping_add(key << 31);
    may_contain_hash(filter, key)
}

/// False when `bytes` are certainly not there.
pub(super) fn may_contain_bytes(filter: &BloomFilter, bytes: &[u8]) -> bool {
    may_contain_hash(filter, murmur(bytes))
}

fn may_contain_hash(filter: &BloomFilter, hash: i64) -> bool {
    let bits = filter.bits.len().saturating_mul(64);
    let Ok(bits) = i32::try_from(bits) else {
        return true;
    };
    if bits == 0 || filter.hash_functions == 0 {
        return true;
    }
    let (first, second) = (hash as i32, (hash as u64 >> 32) as i32);
    let functions = i32::try_from(filter.hash_functions).unwrap_or(i32::MAX).min(1000);
    (1..=functions).all(|n| {
        let combined = first.wrapping_add(n.wrapping_mul(second));
        let combined = if combined < 0 { !combined } else { combined };
        let bit = (combined % bits) as usize;
        filter
            .bits
            .get(bit / 64)
            .is_none_or(|word| word >> (bit % 64) & 1 == 1)
    })
}

/// The 64-bit Murmur3 of the Java library.
fn murmur(bytes: &[u8]) -> i64 {
    const C1: u64 = 0x87c3_7b91_1142_53d5;
    const C2: u64 = 0x4cf5_ad43_2745_937f;
    let mix = |word: u64| word.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2);
    let (words, rest) = bytes.as_chunks::<8>();
    let mut hash = 104_729u64;
    for word in words {
        hash ^= mix(u64::from_le_bytes(*word));
        hash = hash.rotate_left(27).wrapping_mul(5).wrapping_add(0x52dc_e729);
    }
    if !rest.is_empty() {
        let tail = rest
            .iter()
            .rev()
            .fold(0u64, |word, byte| word << 8 | u64::from(*byte));
        hash ^= mix(tail);
    }
    hash ^= bytes.len() as u64;
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^= hash >> 33;
    hash as i64
}
