// SPDX-License-Identifier: Apache-2.0

//! Rows of a buffer, sorted (Java `BinaryInMemorySortBuffer`).

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_buffer::ScalarBuffer;
use paimon_merge::{OrderedRows, RowOrder};
use paimon_types::{Error, Result};

use super::versions::KeyVersions;

/// The rows of a buffer in merge order, each with its kind and sequence number.
pub(super) struct SortedRows {
    /// Columns of the table.
    sources: Vec<RecordBatch>,
    kinds: Vec<ScalarBuffer<i8>>,
    /// Sequence number of the first row of each source.
    first: Vec<i64>,
    ordered: OrderedRows,
    next_sequence: i64,
    /// Bytes of a row, about.
    row_bytes: u64,
    /// Keys that were given.
    keys: usize,
    /// Versions that were given.
    versions: usize,
}

impl SortedRows {
    /// Sorts batches (columns of the table, then the kind) of `bytes`, whose rows are numbered from `first_sequence` in their order.
    ///
    /// # Errors
    /// `InvalidInput` when sequence numbers are used up; those of [`RowOrder::sort`].
    pub(super) fn new(
        order: &RowOrder,
        batches: Vec<RecordBatch>,
        bytes: u64,
        first_sequence: i64,
    ) -> Result<Self> {
        let mut sources = Vec::with_capacity(batches.len());
        let mut kinds = Vec::with_capacity(batches.len());
        let mut first = Vec::with_capacity(batches.len());
        let mut next = first_sequence;
        for mut batch in batches {
            let last = batch.num_columns().saturating_sub(1);
            let kind = batch.remove_column(last);
            let kind = kind
                .as_primitive_opt::<Int8Type>()
                .ok_or_else(|| Error::invalid("the rows of a sort buffer have no kinds"))?;
            kinds.push(kind.values().clone());
            first.push(next);
            next = i64::try_from(batch.num_rows())
                .ok()
                .and_then(|rows| next.checked_add(rows))
                .ok_or_else(|| Error::invalid("sequence numbers of the bucket are used up"))?;
            sources.push(batch);
        }
        let ordered = order.sort(&sources)?;
        Ok(SortedRows {
            row_bytes: bytes.checked_div(ordered.places.len() as u64).unwrap_or(0).max(1),
            sources,
            kinds,
            first,
            ordered,
            next_sequence: next,
            keys: 0,
            versions: 0,
        })
    }

    /// The number behind that of the row that came last.
    pub(super) fn next_sequence(&self) -> i64 {
        self.next_sequence
    }

    /// Bytes of a row, about; at least 1.
    pub(super) fn row_bytes(&self) -> u64 {
        self.row_bytes
    }

    /// Rows that were not given.
    pub(super) fn left(&self) -> usize {
        self.ordered.places.len() - self.versions
    }

    /// The next keys with at most `rows` versions, or one key with more; `None` behind the last one.
    ///
    /// # Errors
    /// `InvalidInput` when a row is not there.
    pub(super) fn next(&mut self, rows: usize) -> Result<Option<KeyVersions<'_>>> {
        let from = self.versions;
        let ends = self.ordered.ends.get(self.keys..).unwrap_or_default();
        if ends.is_empty() {
            return Ok(None);
        }
        // no more of them than rows
        let near = ends.get(..rows).unwrap_or(ends);
        let keys = near.partition_point(|end| *end - from <= rows).max(1);
        let ends: Vec<usize> = ends.iter().take(keys).map(|end| *end - from).collect();
        let to = from + ends.last().copied().unwrap_or(0);
        self.keys += keys;
        self.versions = to;
        let lost = || Error::invalid("a sort buffer has fewer rows than it counted");
        let ordered = self.ordered.places.get(from..to).ok_or_else(lost)?;
        let mut places = Vec::with_capacity(ordered.len());
        let mut kinds = Vec::with_capacity(ordered.len());
        let mut sequences = Vec::with_capacity(ordered.len());
        for (source, row) in ordered {
            let (source, row) = (*source as usize, *row as usize);
            let (Some(of_source), Some(first)) = (self.kinds.get(source), self.first.get(source)) else {
                return Err(lost());
            };
            places.push((source, row));
            kinds.push(*of_source.get(row).ok_or_else(lost)?);
            // no more rows than were counted when the numbers were given
            sequences.push(first + row as i64);
        }
        Ok(Some(KeyVersions {
            sources: &self.sources,
            places,
            kinds,
            sequences,
            ends,
        }))
    }
}
