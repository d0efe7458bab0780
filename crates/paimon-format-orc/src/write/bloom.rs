// SPDX-License-Identifier: Apache-2.0

//! Bloom filters of row groups (stream `BLOOM_FILTER_UTF8`; Java `BloomFilterUtf8`).

use super::proto::Message;

/// The filter of one row group after the other.
#[derive(Debug)]
pub(super) struct Bloom {
    bits: Vec<u64>,
    hashes: u32,
    /// Encoded filters of the groups before.
    done: Message,
}

impl Bloom {
    /// Filters for `entries` values with this rate of false positives (between 0 and 1).
    pub(super) fn new(entries: usize, fpp: f64) -> Self {
        let entries = entries.max(1) as f64;
        let ln2 = std::f64::consts::LN_2;
        let optimal = (-entries * fpp.ln() / (ln2 * ln2)) as usize;
        // A word more where the number is a multiple of 64 already.
        let words = optimal / 64 + 1;
        let hashes = ((words * 64) as f64 / entries * ln2).round().max(1.0) as u32;
        Bloom {
            bits: vec![0; words],
            hashes,
            done: Message::new(),
        }
    }

    pub(super) fn add_bytes(&mut self, value: &[u8]) {
        self.add_hash(murmur3(value));
    }

    pub(super) fn add_long(&mut self, value: i64) {
        self.add_hash(long_hash(value));
    }

    pub(super) fn add_double(&mut self, value: f64) {
        // Java knows one NaN.
        let bits = if value.is_nan() {
            0x7ff8_0000_0000_0000
        } else {
            value.to_bits()
        };
        self.add_long(bits as i64);
    }

    fn add_hash(&mut self, hash: u64) {
        let low = hash as u32;
        let high = (hash >> 32) as u32;
        let size = self.bits.len() as u64 * 64;
        for i in 1..=self.hashes {
            let combined = low.wrapping_add(i.wrapping_mul(high)) as i32;
            // All bits of a negative number are flipped.
            let position = u64::from((combined ^ (combined >> 31)) as u32) % size;
            if let Some(word) = self.bits.get_mut((position / 64) as usize) {
                *word |= 1 << (position % 64);
            }
        }
    }

    /// Ends the filter of a row group.
    pub(super) fn end_group(&mut self) {
        let bytes: Vec<u8> = self.bits.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut filter = Message::new();
        filter.uint(1, u64::from(self.hashes)).bytes(3, &bytes);
        self.done.message(1, &filter);
        self.bits.fill(0);
    }

    /// `BloomFilterIndex` of the row groups that ended.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.done).into_bytes()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.bits.len() * 8
    }
}

/// Thomas Wang's integer hash, on signed numbers.
fn long_hash(value: i64) -> u64 {
    let mut key = (!value).wrapping_add(value << 21);
    key ^= key >> 24;
    key = key.wrapping_add(key << 3).wrapping_add(key << 8);
    key ^= key >> 14;
    key = key.wrapping_add(key << 2).wrapping_add(key << 4);
    key ^= key >> 28;
    key.wrapping_add(key << 31) as u64
}

const SEED: u64 = 104_729;
const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

fn mix(word: u64) -> u64 {
    word.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

/// The 64 bit variant of Murmur3 that Hive made.
fn murmur3(bytes: &[u8]) -> u64 {
    let (words, tail) = bytes.as_chunks::<8>();
    let mut hash = SEED;
    for word in words {
        hash ^= mix(u64::from_le_bytes(*word));
        hash = hash.rotate_left(27).wrapping_mul(5).wrapping_add(0x52dc_e729);
    }
    if !tail.is_empty() {
        let last = tail
            .iter()
            .rev()
            .fold(0, |word, byte| (word << 8) | u64::from(*byte));
        hash ^= mix(last);
    }
    hash ^= bytes.len() as u64;
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}
