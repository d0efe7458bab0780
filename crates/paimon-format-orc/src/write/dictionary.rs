// SPDX-License-Identifier: Apache-2.0

//! Distinct strings of a column in the open stripe.

/// Longest search for a place. Only values that were made to collide take longer.
const MAX_PROBES: usize = 256;
/// Bytes of all values together.
const MAX_BYTES: usize = 16 << 20;

/// Values numbered in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    bytes: Vec<u8>,
    /// End of each value in `bytes`.
    ends: Vec<u32>,
    hashes: Vec<u32>,
    /// Open addressing: number of the value and one, 0 for nothing. The length is a power of two, at most half is used.
    slots: Vec<u32>,
}

impl Dictionary {
    /// Number of values.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of all values.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes.capacity() + 4 * (self.ends.capacity() + self.hashes.capacity() + self.slots.capacity())
    }

    /// The value with this number.
    pub(super) fn get(&self, id: u32) -> &[u8] {
        let at = id as usize;
        let start = match at.checked_sub(1) {
            Some(before) => self.ends.get(before).copied().unwrap_or(0),
            None => 0,
        };
        let end = self.ends.get(at).copied().unwrap_or(start);
        self.bytes.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The number of `value`, which is added when it is new; `None` when the dictionary has no place for it.
    pub(super) fn insert(&mut self, value: &[u8]) -> Option<u32> {
        if self.slots.len() < 2 * (self.len() + 1) {
            self.grow();
        }
        let hash = hash(value);
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = hash as usize & mask;
        for _ in 0..MAX_PROBES {
            let slot = *self.slots.get(at)?;
            let Some(id) = slot.checked_sub(1) else {
                return self.append(value, hash, at);
            };
            if self.hashes.get(id as usize) == Some(&hash) && self.get(id) == value {
                return Some(id);
            }
            at = (at + 1) & mask;
        }
        None
    }

    fn append(&mut self, value: &[u8], hash: u32, slot: usize) -> Option<u32> {
        if self.bytes.len() + value.len() > MAX_BYTES {
            return None;
        }
        let id = u32::try_from(self.ends.len()).ok()?;
        self.bytes.extend_from_slice(value);
        self.ends.push(u32::try_from(self.bytes.len()).ok()?);
        self.hashes.push(hash);
        *self.slots.get_mut(slot)? = id.checked_add(1)?;
        Some(id)
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(64);
        self.slots.clear();
        self.slots.resize(size, 0);
        for (id, hash) in (1..).zip(&self.hashes) {
            let mut at = *hash as usize & (size - 1);
            while self.slots.get(at).is_some_and(|slot| *slot != 0) {
                at = (at + 1) & (size - 1);
            }
            if let Some(slot) = self.slots.get_mut(at) {
                *slot = id;
            }
        }
    }

    /// Numbers in the order of their values, byte by byte.
    pub(super) fn sorted(&self) -> Vec<u32> {
        let mut order: Vec<(u64, u32)> = (0..self.ends.len() as u32)
            .map(|id| (first_bytes(self.get(id)), id))
            .collect();
        order.sort_unstable_by(|(a, a_id), (b, b_id)| {
            a.cmp(b).then_with(|| self.get(*a_id).cmp(self.get(*b_id)))
        });
        order.into_iter().map(|(_, id)| id).collect()
    }

    /// Forgets all values but keeps the memory.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.hashes.clear();
        self.slots.fill(0);
    }
}

/// The first eight bytes as a number of the same order.
fn first_bytes(value: &[u8]) -> u64 {
    match value.first_chunk::<8>() {
        Some(chunk) => u64::from_be_bytes(*chunk),
        None => {
            let number = value
                .iter()
                .fold(0, |number, byte| (number << 8) | u64::from(*byte));
            if value.is_empty() {
                0
            } else {
                number << (64 - 8 * value.len())
            }
        }
    }
}

fn hash(value: &[u8]) -> u32 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let fold = |hash: u64, word: u64| {
        let wide = u128::from(hash ^ word) * u128::from(FACTOR);
        (wide as u64) ^ (wide >> 64) as u64
    };
    let (words, tail) = value.as_chunks::<8>();
    let hash = words.iter().fold(value.len() as u64 ^ FACTOR, |hash, word| {
        fold(hash, u64::from_le_bytes(*word))
    });
    let last = tail.iter().fold(1, |word, byte| (word << 8) | u64::from(*byte));
    let hash = fold(hash, last);
    (hash ^ (hash >> 32)) as u32
}
