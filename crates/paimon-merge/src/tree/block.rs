// SPDX-License-Identifier: Apache-2.0

//! Rows of a few sorted lists put in order at once, without a branch that depends on the keys.

/// A row by its key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<P> {
    pub(super) prefix: P,
    /// Which list.
    pub(super) list: u32,
    pub(super) row: u32,
}

/// Rows of lists as numbers of 64 bits that compare as their keys do, those of one key by their lists.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packing {
    list_bits: u32,
    row_bits: u32,
}

impl Packing {
    /// The one for keys at most `distance` apart in so many lists of at most so many rows; `None` when there is none.
    pub(super) fn of(distance: u64, lists: usize, rows: usize) -> Option<Self> {
        let bits = |number: u64| u64::BITS - number.leading_zeros();
        let (list_bits, row_bits) = (bits(lists as u64), bits(rows as u64));
        let fits = bits(distance).max(1) + list_bits + row_bits <= u64::BITS;
        fits.then_some(Packing { list_bits, row_bits })
    }

    #[inline]
    pub(super) fn pack(self, distance: u64, list: usize, row: usize) -> u64 {
        distance << (self.list_bits + self.row_bits) | (list as u64) << self.row_bits | row as u64
    }

    /// Distance, list, row.
    #[inline]
    pub(super) fn unpack(self, packed: u64) -> (u64, usize, usize) {
        let low = |bits: u32| (1 << bits) - 1;
        let list = packed >> self.row_bits & low(self.list_bits);
        let distance = packed >> (self.list_bits + self.row_bits);
        (distance, list as usize, (packed & low(self.row_bits)) as usize)
    }
}

/// Merges the sorted lists that lie one after the other in `entries`, `ends` apart, pair by pair. `less` is the order; entries that
/// it does not tell apart stay in the order of their lists. `scratch` is overwritten.
pub(super) fn merge_lists<T: Copy>(
    entries: &mut Vec<T>,
    scratch: &mut Vec<T>,
    ends: &mut Vec<usize>,
    less: &impl Fn(&T, &T) -> bool,
) {
    let rows = entries.len();
    while ends.len() > 1 {
        // What is in it does not matter, only that it is as long.
        if scratch.len() < rows {
            scratch.extend_from_slice(entries.get(scratch.len()..).unwrap_or_default());
        }
        let mut target = scratch.get_mut(..rows).unwrap_or_default();
        let mut rest = entries.as_slice();
        let mut merged = Vec::with_capacity(ends.len() / 2 + 1);
        let mut start = 0;
        for pair in ends.chunks(2) {
            let (Some(first), Some(last)) = (pair.first(), pair.last()) else {
                continue;
            };
            let (list, behind) = rest.split_at(last - start);
            let (a, b) = list.split_at(first - start);
            let (out, further) = target.split_at_mut(last - start);
            merge_two(a, b, out, less);
            (target, rest, start) = (further, behind, *last);
            merged.push(*last);
        }
        std::mem::swap(entries, scratch);
        entries.truncate(rows);
        *ends = merged;
    }
}

/// `out` has room for all of `a` and `b`.
fn merge_two<T: Copy>(mut a: &[T], mut b: &[T], out: &mut [T], less: &impl Fn(&T, &T) -> bool) {
    if b.is_empty() {
        copy(a, out);
        return;
    }
    // Lists that do not overlap.
    if let (Some(last), Some(first)) = (a.last(), b.first())
        && less(last, first)
    {
        let (front, back) = out.split_at_mut(a.len());
        copy(a, front);
        copy(b, back);
        return;
    }
    // From both ends at once: two chains of work that do not wait for each other.
    let mut out = out;
    while !out.is_empty() {
        let (Some(x), Some(y)) = (a.first(), b.first()) else {
            break;
        };
        let from_b = less(y, x);
        let Some((to, rest)) = std::mem::take(&mut out).split_first_mut() else {
            break;
        };
        *to = if from_b { *y } else { *x };
        a = a.get(usize::from(!from_b)..).unwrap_or_default();
        b = b.get(usize::from(from_b)..).unwrap_or_default();
        out = rest;
        let (Some(x), Some(y)) = (a.last(), b.last()) else {
            break;
        };
        let from_a = less(y, x);
        let Some((to, rest)) = std::mem::take(&mut out).split_last_mut() else {
            break;
        };
        *to = if from_a { *x } else { *y };
        a = a.get(..a.len() - usize::from(from_a)).unwrap_or_default();
        b = b.get(..b.len() - usize::from(!from_a)).unwrap_or_default();
        out = rest;
    }
    copy(if a.is_empty() { b } else { a }, out);
}

fn copy<T: Copy>(from: &[T], to: &mut [T]) {
    // Lengths are equal; `copy_from_slice` would panic where they are not.
    if from.len() == to.len() {
        to.copy_from_slice(from);
    } else {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    }
}
