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

/// Merges the sorted lists that lie one after the other in `entries`, `ends` apart, pair by pair. `less` is the order; entries that
/// it does not tell apart stay in the order of their lists. `scratch` is overwritten.
pub(super) fn merge_lists<P: Copy>(
    entries: &mut Vec<Entry<P>>,
    scratch: &mut Vec<Entry<P>>,
    ends: &mut Vec<usize>,
    less: &impl Fn(&Entry<P>, &Entry<P>) -> bool,
) {
    while ends.len() > 1 {
        scratch.clear();
        scratch.extend_from_slice(entries);
        let mut target = scratch.as_mut_slice();
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
        *ends = merged;
    }
}

/// `out` has room for all of `a` and `b`.
fn merge_two<P: Copy>(
    mut a: &[Entry<P>],
    mut b: &[Entry<P>],
    out: &mut [Entry<P>],
    less: &impl Fn(&Entry<P>, &Entry<P>) -> bool,
) {
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
    let mut done = 0;
    for to in out.iter_mut() {
        let (Some(x), Some(y)) = (a.first(), b.first()) else {
            break;
        };
        let from_b = less(y, x);
        *to = if from_b { *y } else { *x };
        a = a.get(usize::from(!from_b)..).unwrap_or_default();
        b = b.get(usize::from(from_b)..).unwrap_or_default();
        done += 1;
    }
    let rest = if a.is_empty() { b } else { a };
    copy(rest, out.get_mut(done..).unwrap_or_default());
}

fn copy<T: Copy>(from: &[T], to: &mut [T]) {
    // Lengths are equal; `copy_from_slice` would panic where they are not.
    if from.len() == to.len() {
        to.copy_from_slice(from);
    } else {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    }
}
