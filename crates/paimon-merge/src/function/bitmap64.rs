// SPDX-License-Identifier: Apache-2.0

//! Bitmaps of 64-bit numbers as Java's `Roaring64Bitmap` serializes them: a radix tree of 48-bit keys, then the containers of
//! the low 16 bits that its leaves point to. (Not the portable format of 64-bit Roaring bitmaps.)

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

/// Kinds of tree nodes by their number (Java `NodeType`).
const NODE4: u8 = 0;
const NODE16: u8 = 1;
const NODE48: u8 = 2;
const NODE256: u8 = 3;
const LEAF: u8 = 4;

const RUNS: u8 = 0;
const BITMAP: u8 = 1;
const ARRAY: u8 = 2;

/// Bytes of a key: no path through the tree is longer.
const KEY: usize = 6;
/// An array container with more values is larger than a bitmap.
const MAX_ARRAY: u64 = 4096;
const NOT_TRIMMED: u8 = 0xfe;

/// Low 16 bits by the 48 above them; no set is empty.
type Bitmap = BTreeMap<u64, Container>;

#[derive(Debug)]
struct Container {
    /// Containers are stored in the order in which they were added, ascending slots.
    slot: u64,
    low: RoaringBitmap,
}

/// Union of two bitmaps (Java `RoaringBitmap64.or`, `serialize`): keys that are new come behind the others.
pub(super) fn union64(accumulator: &[u8], input: &[u8]) -> Result<Vec<u8>, String> {
    let mut bitmap = read(accumulator)?;
    let mut next = bitmap
        .values()
        .map(|c| c.slot.saturating_add(1))
        .max()
        .unwrap_or(0);
    for (key, container) in read(input)? {
        let low = container.low;
        match bitmap.get_mut(&key) {
            Some(known) => known.low |= low,
            None => {
                bitmap.insert(key, Container { slot: next, low });
                next = next.saturating_add(1);
            }
        }
    }
    Ok(write(&bitmap))
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], String> {
        let ended = || format!("the bitmap ends where {len} bytes more are expected");
        let (taken, rest) = self.0.split_at_checked(len).ok_or_else(ended)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let taken = self.take(N)?;
        taken.try_into().map_err(|_| "the bitmap ends early".to_owned())
    }

    fn byte(&mut self) -> Result<u8, String> {
        self.array().map(u8::from_le_bytes)
    }

    fn short(&mut self) -> Result<u16, String> {
        self.array().map(u16::from_le_bytes)
    }

    fn int(&mut self) -> Result<u32, String> {
        self.array().map(u32::from_le_bytes)
    }

    fn long(&mut self) -> Result<u64, String> {
        self.array().map(u64::from_le_bytes)
    }

    /// Key and container index of each leaf below the next node.
    fn leaves(&mut self, depth: usize, leaves: &mut Vec<(u64, u64)>) -> Result<(), String> {
        let kind = self.byte()?;
        let children = self.short()?;
        let prefix = self.byte()?;
        self.take(usize::from(prefix))?;
        if kind == LEAF {
            let mut key = [0; 8];
            let bytes = self.array::<KEY>()?;
            for (to, from) in key.iter_mut().skip(2).zip(bytes) {
                *to = from;
            }
            leaves.push((u64::from_be_bytes(key), self.long()?));
            return Ok(());
        }
        let (body, most) = match kind {
            NODE4 => (4, 4),
            NODE16 => (16, 16),
            NODE48 => (256, 48),
            NODE256 => (32, 256),
            other => {
                return Err(format!(
                    "the bitmap has a tree node of kind {other}, expected 0 to 4"
                ));
            }
        };
        if children > most || depth >= KEY {
            return Err(format!(
                "the bitmap has a tree node of kind {kind} with {children} children in depth {depth}"
            ));
        }
        self.take(body)?;
        for _ in 0..children {
            self.leaves(depth + 1, leaves)?;
        }
        Ok(())
    }

    fn container(&mut self) -> Result<RoaringBitmap, String> {
        let kind = self.byte()?;
        let cardinality = self.int()?;
        let mut values = RoaringBitmap::new();
        match kind {
            RUNS => {
                for _ in 0..self.short()? {
                    let (start, more) = (u32::from(self.short()?), u32::from(self.short()?));
                    let end = start + more;
                    if end > u32::from(u16::MAX) {
                        return Err(format!(
                            "the bitmap has a run from {start} to {end}, expected at most 65535"
                        ));
                    }
                    values.insert_range(start..=end);
                }
            }
            BITMAP => {
                for word in 0..1024u32 {
                    let mut bits = self.long()?;
                    while bits != 0 {
                        values.insert(word * 64 + bits.trailing_zeros());
                        bits &= bits - 1;
                    }
                }
            }
            ARRAY => {
                for _ in 0..cardinality {
                    values.insert(u32::from(self.short()?));
                }
            }
            other => {
                return Err(format!(
                    "the bitmap has a container of kind {other}, expected 0 to 2"
                ));
            }
        }
        Ok(values)
    }
}

fn read(bytes: &[u8]) -> Result<Bitmap, String> {
    let mut reader = Reader(bytes);
    let mut bitmap = Bitmap::new();
    match reader.byte()? {
        0 => return Ok(bitmap),
        1 => {}
        other => return Err(format!("the bitmap starts with {other}, expected 0 or 1")),
    }
    // The number of keys, which the tree says again.
    reader.long()?;
    let mut leaves = Vec::new();
    reader.leaves(0, &mut leaves)?;
    let mut containers: BTreeMap<u64, RoaringBitmap> = BTreeMap::new();
    for first in 0..u64::from(reader.int()?) {
        reader.byte()?;
        for second in 0..u64::from(reader.int()?) {
            match reader.byte()? {
                0 => {}
                1 => {
                    containers.insert(first << 32 | second, reader.container()?);
                }
                other => {
                    return Err(format!(
                        "the bitmap marks a container with {other}, expected 0 or 1"
                    ));
                }
            }
        }
    }
    for (key, index) in leaves {
        let container = containers.remove(&index);
        let container =
            container.ok_or_else(|| format!("the bitmap has no container {index}, which a key names"))?;
        if !container.is_empty() {
            let (slot, low) = (index, container);
            bitmap.insert(key, Container { slot, low });
        }
    }
    Ok(bitmap)
}

fn write(bitmap: &Bitmap) -> Vec<u8> {
    if bitmap.is_empty() {
        return vec![0];
    }
    let mut out = vec![1];
    out.extend((bitmap.len() as u64).to_le_bytes());
    let mut in_order: Vec<(&u64, &Container)> = bitmap.iter().collect();
    in_order.sort_by_key(|(_, container)| container.slot);
    let places = in_order.iter().zip(0u64..).map(|((key, _), place)| {
        let [_, _, bytes @ ..] = key.to_be_bytes();
        (bytes, place)
    });
    let mut keys: Vec<([u8; KEY], u64)> = places.collect();
    keys.sort();
    write_node(&keys, 0, &mut out);
    // One array of all containers.
    let number = u32::try_from(bitmap.len()).unwrap_or(u32::MAX);
    out.extend(1u32.to_le_bytes());
    out.push(NOT_TRIMMED);
    out.extend(number.to_le_bytes());
    for (_, container) in in_order {
        out.push(1);
        write_container(&container.low, &mut out);
    }
    out.extend(u64::from(number).to_le_bytes());
    out.extend(0u32.to_le_bytes());
    out.extend((number - 1).to_le_bytes());
    out
}

/// A node of these keys, which are sorted, different, and the same in their first `depth` bytes.
fn write_node(keys: &[([u8; KEY], u64)], depth: usize, out: &mut Vec<u8>) {
    let (Some((first, index)), Some((last, _))) = (keys.first(), keys.last()) else {
        return;
    };
    if keys.len() == 1 {
        out.extend([LEAF, 0, 0, 0]);
        out.extend(first);
        out.extend(index.to_le_bytes());
        return;
    }
    let shared = first.iter().zip(last).take_while(|(a, b)| a == b).count();
    let byte = |key: &[u8; KEY]| key.get(shared).copied().unwrap_or_default();
    let children: Vec<&[([u8; KEY], u64)]> = keys.chunk_by(|(a, _), (b, _)| byte(a) == byte(b)).collect();
    let bytes: Vec<u8> = children
        .iter()
        .filter_map(|child| child.first())
        .map(|(key, _)| byte(key))
        .collect();
    let prefix = first.get(depth..shared).unwrap_or(&[]);
    out.push(match bytes.len() {
        0..=4 => NODE4,
        5..=16 => NODE16,
        17..=48 => NODE48,
        _ => NODE256,
    });
    out.extend((bytes.len() as u16).to_le_bytes());
    out.push(prefix.len() as u8);
    out.extend(prefix);
    // Java keeps bytes in big-endian words and writes these in little-endian order.
    let mut words = |bytes: &[u8], size: usize, len: usize, fill: u8| {
        let mut padded = bytes.to_vec();
        padded.resize(len, fill);
        for word in padded.chunks(size) {
            out.extend(word.iter().rev());
        }
    };
    match bytes.len() {
        0..=4 => words(&bytes, 4, 4, 0),
        5..=16 => words(&bytes, 8, 16, 0),
        17..=48 => {
            let mut places = vec![0xff; 256];
            for (place, byte) in (0u8..).zip(&bytes) {
                if let Some(slot) = places.get_mut(usize::from(*byte)) {
                    *slot = place;
                }
            }
            words(&places, 8, 256, 0xff);
        }
        _ => {
            let mut mask = [0u64; 4];
            for byte in &bytes {
                if let Some(word) = mask.get_mut(usize::from(*byte) / 64) {
                    *word |= 1 << (byte % 64);
                }
            }
            out.extend(mask.iter().flat_map(|word| word.to_le_bytes()));
        }
    }
    for child in children {
        write_node(child, shared + 1, out);
    }
}

/// Values of 16 bits, as runs where that is smaller (Java `runOptimize`).
fn write_container(values: &RoaringBitmap, out: &mut Vec<u8>) {
    let mut runs: Vec<(u16, u16)> = Vec::new();
    // Values have 16 bits.
    for value in values.iter().map(|value| value as u16) {
        match runs.last_mut() {
            Some((start, more)) if value == start.wrapping_add(*more).wrapping_add(1) && value != 0 => {
                *more += 1
            }
            _ => runs.push((value, 0)),
        }
    }
    let cardinality = values.len();
    let plain = if cardinality > MAX_ARRAY {
        8192
    } else {
        2 * cardinality
    };
    let kind = if 2 + 4 * (runs.len() as u64) < plain + if cardinality > MAX_ARRAY { 0 } else { 2 } {
        RUNS
    } else if cardinality > MAX_ARRAY {
        BITMAP
    } else {
        ARRAY
    };
    out.push(kind);
    out.extend((cardinality as u32).to_le_bytes());
    match kind {
        RUNS => {
            out.extend((runs.len() as u16).to_le_bytes());
            for (start, more) in runs {
                out.extend(start.to_le_bytes());
                out.extend(more.to_le_bytes());
            }
        }
        BITMAP => {
            let mut words = [0u64; 1024];
            for value in values {
                if let Some(word) = words.get_mut(value as usize / 64) {
                    *word |= 1 << (value % 64);
                }
            }
            out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        }
        _ => out.extend(values.iter().flat_map(|value| (value as u16).to_le_bytes())),
    }
}
