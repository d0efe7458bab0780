// SPDX-License-Identifier: Apache-2.0

//! Murmur hashes as Java computes them (Java `MurmurHashUtils`; `wire.md` 3.1).

/// Hash of whole little-endian 32-bit words, seed 42: rows, arrays and maps (Java `hashByWords`). Bytes behind the last whole
/// word are mixed as in [`murmur_bytes`]; Java structures never have any.
pub fn murmur_words(bytes: &[u8]) -> i32 {
    murmur_bytes(bytes)
}

/// Hash of any bytes, seed 42: strings (Java `BinaryString.hashCode`). The up to three bytes behind the last whole word are each
/// sign-extended and mixed like a word, which is not the tail rule of standard murmur3.
pub fn murmur_bytes(bytes: &[u8]) -> i32 {
    let (words, tail) = bytes.as_chunks::<4>();
    let mut h = SEED;
    for word in words {
        h = mix_hash(h, u32::from_le_bytes(*word));
    }
    for byte in tail {
        h = mix_hash(h, i32::from(*byte as i8) as u32);
    }
    finish(h, bytes.len())
}

const SEED: u32 = 42;

#[inline(always)]
fn mix_hash(h: u32, word: u32) -> u32 {
    let k = word
        .wrapping_mul(0xcc9e_2d51)
        .rotate_left(15)
        .wrapping_mul(0x1b87_3593);
    (h ^ k).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
}

#[inline(always)]
fn finish(h: u32, length: usize) -> i32 {
    let mut h = h ^ length as u32;
    h ^= h >> 16;
    h = h.wrapping_mul(0x85eb_ca6b);
    h ^= h >> 13;
    h = h.wrapping_mul(0xc2b2_ae35);
    h ^= h >> 16;
    h as i32
}

/// Hash of the row (INT v), without building it.
pub fn int_row_hash(value: i32) -> i32 {
    slot_row_hash(u64::from(value as u32))
}

/// Hash of the row (BIGINT v), without building it.
pub fn bigint_row_hash(value: i64) -> i32 {
    slot_row_hash(value as u64)
}

/// Hash of the row of one string or bytes value, without building it.
pub fn bytes_row_hash(value: &[u8]) -> i32 {
    if value.len() <= 7 {
        let mut slot = [0u8; 8];
        for (to, from) in slot.iter_mut().zip(value) {
            *to = *from;
        }
        slot[7] = 0x80 | value.len() as u8;
        return slot_row_hash(u64::from_le_bytes(slot));
    }
    let mut h = mix_hash(mix_hash(SEED, 0), 0);
    h = mix_hash(mix_hash(h, value.len() as u32), 16);
    let (words, tail) = value.as_chunks::<4>();
    for word in words {
        h = mix_hash(h, u32::from_le_bytes(*word));
    }
    let padded = value.len().next_multiple_of(8);
    let mut hashed = words.len() * 4;
    if !tail.is_empty() {
        let mut word = [0u8; 4];
        for (to, from) in word.iter_mut().zip(tail) {
            *to = *from;
        }
        h = mix_hash(h, u32::from_le_bytes(word));
        hashed += 4;
    }
    if hashed < padded {
        h = mix_hash(h, 0);
    }
    finish(h, 16 + padded)
}

/// Hash of the row of one null field whose type keeps its value in the slot (everything but DECIMAL with p > 18 and TIMESTAMP with
/// p > 3, whose nulls reserve space: use a [`crate::BinaryRowWriter`] for those).
pub fn null_row_hash() -> i32 {
    let h = mix_hash(mix_hash(SEED, 0x100), 0);
    finish(mix_hash(mix_hash(h, 0), 0), 16)
}

fn slot_row_hash(slot: u64) -> i32 {
    let h = mix_hash(mix_hash(SEED, 0), 0);
    finish(mix_hash(mix_hash(h, slot as u32), (slot >> 32) as u32), 16)
}
