// SPDX-License-Identifier: Apache-2.0

//! Sets of rows as ascending ranges that do not touch, for implementers of readers.

use std::ops::Range;

use roaring::RoaringBitmap;

/// Rows as ascending, disjoint, non-empty ranges.
pub type RowRanges = Vec<Range<u64>>;

/// Adds `range` at the end, joined with the last one when they touch.
pub fn push(ranges: &mut RowRanges, range: Range<u64>) {
    if range.is_empty() {
        return;
    }
    match ranges.last_mut() {
        Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
        _ => ranges.push(range),
    }
}

/// Rows in both sets.
pub fn intersect(left: &[Range<u64>], right: &[Range<u64>]) -> RowRanges {
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    let mut both = Vec::new();
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        push(&mut both, a.start.max(b.start)..a.end.min(b.end));
        if a.end <= b.end {
            left.next();
        } else {
            right.next();
        }
    }
    both
}

/// Rows in one of the sets.
pub fn union(left: &[Range<u64>], right: &[Range<u64>]) -> RowRanges {
    let mut all: Vec<&Range<u64>> = left.iter().chain(right).collect();
    all.sort_by_key(|range| range.start);
    let mut joined = Vec::new();
    for range in all {
        push(&mut joined, range.clone());
    }
    joined
}

/// Number of rows.
pub fn count(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end - range.start).sum()
}

/// The rows of `selection` that lie in `ranges`.
pub fn select(ranges: &[Range<u64>], selection: &RoaringBitmap) -> RowRanges {
    let mut selected = Vec::new();
    for range in ranges {
        let (Ok(start), Some(last)) = (u32::try_from(range.start), range.end.checked_sub(1)) else {
            continue;
        };
        let last = u32::try_from(last).unwrap_or(u32::MAX);
        let mut rows = selection.range(start..=last);
        while let Some(run) = rows.next_range() {
            push(&mut selected, u64::from(*run.start())..u64::from(*run.end()) + 1);
        }
    }
    selected
}

/// A position in a set of rows.
#[derive(Debug, Default)]
pub struct RangeCursor {
    ranges: RowRanges,
    next: usize,
    taken: u64,
}

impl RangeCursor {
    /// At the first row.
    pub fn new(ranges: RowRanges) -> Self {
        RangeCursor {
            ranges,
            next: 0,
            taken: 0,
        }
    }

    /// The next `rows` rows; fewer when there are no more.
    pub fn take(&mut self, rows: u64) -> RowRanges {
        let mut left = rows;
        let mut out = Vec::new();
        while let Some(range) = self.ranges.get(self.next).filter(|_| left > 0) {
            let start = range.start + self.taken;
            let length = left.min(range.end - start);
            push(&mut out, start..start + length);
            left -= length;
            self.taken += length;
            if start + length == range.end {
                self.next += 1;
                self.taken = 0;
            }
        }
        out
    }

    /// True when all rows were taken.
    pub fn is_done(&self) -> bool {
        self.next >= self.ranges.len()
    }
}

/// The rows of one batch, for finding the position in the file of any of them.
#[derive(Debug)]
pub struct BatchRows {
    ranges: RowRanges,
    /// Number of rows before each range.
    before: Vec<u64>,
    rows: u64,
}

impl BatchRows {
    /// The rows `ranges`, in the order of the batch.
    pub fn new(ranges: RowRanges) -> Self {
        let mut rows = 0;
        let mut before = Vec::with_capacity(ranges.len());
        for range in &ranges {
            before.push(rows);
            rows += range.end - range.start;
        }
        BatchRows { ranges, before, rows }
    }

    /// True when there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Number of rows.
    pub fn len(&self) -> u64 {
        self.rows
    }

    /// Position in the file of row `row` of the batch.
    pub fn get(&self, row: u64) -> Option<u64> {
        let index = self
            .before
            .partition_point(|before| *before <= row)
            .checked_sub(1)?;
        let (range, before) = (self.ranges.get(index)?, self.before.get(index)?);
        Some(range.start + (row - before)).filter(|position| *position < range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::single_range_in_vec_init)]
    fn sets_of_ranges() {
        assert_eq!(intersect(&[0..10, 20..30], &[5..25]), vec![5..10, 20..25]);
        assert_eq!(union(&[0..10, 20..30], &[5..21, 40..41]), vec![0..30, 40..41]);
        let bitmap: RoaringBitmap = [1u32, 2, 3, 9, 10, 25].into_iter().collect();
        assert_eq!(select(&[0..10, 20..30], &bitmap), vec![1..4, 9..10, 25..26]);
        assert_eq!(select(&[(1 << 32)..(1 << 33)], &bitmap), vec![]);
        let mut cursor = RangeCursor::new(vec![1..4, 9..10, 25..26]);
        assert_eq!(cursor.take(2), vec![1..3]);
        assert_eq!(cursor.take(2), vec![3..4, 9..10]);
        assert!(!cursor.is_done());
        assert_eq!(cursor.take(9), vec![25..26]);
        assert!(cursor.is_done());
        let rows = BatchRows::new(vec![1..4, 9..10]);
        assert_eq!(
            [0, 2, 3, 4].map(|row| rows.get(row)),
            [Some(1), Some(3), Some(9), None]
        );
        assert_eq!(rows.len(), 4);
    }
}
