// SPDX-License-Identifier: Apache-2.0

//! Which of the next rows, or values, of a column are wanted: the others are gone over without being made.

use std::borrow::Cow;
use std::ops::Range;

use arrow_array::builder::BooleanBufferBuilder;
use arrow_buffer::NullBuffer;
use arrow_buffer::bit_chunk_iterator::UnalignedBitChunk;
use paimon_types::Result;

/// Ascending ranges among the next `total` rows.
#[derive(Clone, Debug)]
pub(super) struct Picks {
    ranges: Vec<Range<usize>>,
    total: usize,
    picked: usize,
}

impl Picks {
    /// Nothing of the next `total` rows; [`add`](Self::add) picks some.
    pub(super) fn none(total: usize) -> Self {
        Picks {
            ranges: Vec::new(),
            total,
            picked: 0,
        }
    }

    /// All of the next `total` rows.
    pub(super) fn all(total: usize) -> Self {
        let mut picks = Self::none(total);
        picks.add(0..total);
        picks
    }

    /// Picks a range behind all that were picked before.
    pub(super) fn add(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        self.picked += range.len();
        self.total = self.total.max(range.end);
        match self.ranges.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.ranges.push(range),
        }
    }

    /// Sets the number of rows, at least the end of the last range.
    pub(super) fn set_total(&mut self, total: usize) {
        self.total = self.total.max(total);
    }

    /// Rows that are gone over or read.
    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// Rows that are read.
    pub(super) fn len(&self) -> usize {
        self.picked
    }

    pub(super) fn is_all(&self) -> bool {
        self.picked == self.total
    }

    /// Skips and reads with a decoder until it stands behind the last row.
    pub(super) fn walk<D>(
        &self,
        decoder: &mut D,
        mut skip: impl FnMut(&mut D, usize) -> Result<()>,
        mut read: impl FnMut(&mut D, usize) -> Result<()>,
    ) -> Result<()> {
        let mut at = 0;
        for range in &self.ranges {
            if range.start > at {
                skip(decoder, range.start - at)?;
            }
            read(decoder, range.len())?;
            at = range.end;
        }
        if self.total > at {
            skip(decoder, self.total - at)?;
        }
        Ok(())
    }

    /// The same picks among the rows that are not NULL: only these have values.
    pub(super) fn values(&self, nulls: Option<&NullBuffer>) -> Cow<'_, Picks> {
        let Some(nulls) = nulls else {
            return Cow::Borrowed(self);
        };
        let stored = nulls.len() - nulls.null_count();
        if self.is_all() {
            return Cow::Owned(Self::all(stored));
        }
        let bits = nulls.inner();
        let set = |from: usize, to: usize| {
            UnalignedBitChunk::new(bits.values(), bits.offset() + from, to - from).count_ones()
        };
        let mut values = Self::none(stored);
        let (mut row, mut value) = (0, 0);
        for range in &self.ranges {
            value += set(row, range.start);
            let here = set(range.start, range.end);
            values.add(value..value + here);
            value += here;
            row = range.end;
        }
        Cow::Owned(values)
    }

    /// The NULLs of the rows that are picked.
    pub(super) fn nulls(&self, nulls: Option<NullBuffer>) -> Option<NullBuffer> {
        if self.is_all() {
            return nulls;
        }
        let nulls = nulls?;
        let bits = nulls.inner();
        let mut picked = BooleanBufferBuilder::new(self.picked);
        for range in &self.ranges {
            let range = bits.offset() + range.start..bits.offset() + range.end;
            picked.append_packed_range(range, bits.values());
        }
        let picked = NullBuffer::new(picked.finish());
        (picked.null_count() > 0).then_some(picked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picks_among_values() {
        let nulls: NullBuffer = [true, false, true, true, false, false, true, true]
            .into_iter()
            .collect();
        let mut picks = Picks::none(8);
        picks.add(1..3);
        picks.add(3..4);
        picks.add(7..8);
        let values = picks.values(Some(&nulls));
        assert_eq!((values.ranges.as_slice(), values.total()), (&[1..3, 4..5][..], 5));
        let mut steps = Vec::new();
        values
            .walk(
                &mut steps,
                |steps, n| {
                    steps.push(("skip", n));
                    Ok(())
                },
                |steps, n| {
                    steps.push(("read", n));
                    Ok(())
                },
            )
            .unwrap();
        assert_eq!(steps, [("skip", 1), ("read", 2), ("skip", 1), ("read", 1)]);
        let picked: Vec<bool> = picks.nulls(Some(nulls)).unwrap().iter().collect();
        assert_eq!(picked, [false, true, true, true]);
    }

    #[test]
    fn rows_behind_the_last_pick_are_gone_over() {
        let mut picks = Picks::none(10);
        picks.add(2..3);
        let mut at = (0, 0);
        picks
            .walk(
                &mut at,
                |at, n| {
                    at.0 += n;
                    Ok(())
                },
                |at, n| {
                    at.1 += n;
                    Ok(())
                },
            )
            .unwrap();
        assert_eq!(at, (9, 1));
    }
}
