// SPDX-License-Identifier: Apache-2.0

//! User sequence columns: which of two versions of a key is newer before the sequence number is asked.

use std::cmp::Ordering;

use arrow_array::{Array, ArrayRef};
use arrow_row::RowConverter;
use arrow_schema::{DataType as ArrowType, SortOptions};
use paimon_types::Result;

use super::keys::{ByteKeys, ordered, row_converter, to_bytes, width};

/// Turns user sequence columns into [`UserSequence`]; NULL comes first in both directions (`semantics.md` 1.4).
#[derive(Debug)]
pub(super) struct SequenceEncoder {
    descending: bool,
    /// `None` for one column of at most eight bytes.
    rows: Option<RowConverter>,
}

/// The user sequence of the rows of a batch, in order: the last one is the newest.
#[derive(Debug)]
pub(super) enum UserSequence {
    /// 0 is NULL.
    Numbers(Vec<u128>),
    Bytes(ByteKeys),
}

impl SequenceEncoder {
    /// # Errors
    /// `Unsupported` for columns that have no order here.
    pub(super) fn new(types: &[ArrowType], descending: bool) -> Result<Self> {
        let rows = match types {
            [one] if width(one).is_some_and(|w| w <= 8) => None,
            types => {
                let nulls_first = true;
                let options = SortOptions {
                    descending,
                    nulls_first,
                };
                Some(row_converter(types, options)?)
            }
        };
        Ok(SequenceEncoder { descending, rows })
    }

    pub(super) fn encode(&self, columns: &[ArrayRef]) -> Result<UserSequence> {
        match (&self.rows, columns) {
            (None, [column]) => {
                let nulls = column.nulls();
                let number = |(row, value): (usize, u64)| match nulls {
                    Some(nulls) if nulls.is_null(row) => 0,
                    _ => 1 << 64 | u128::from(if self.descending { !value } else { value }),
                };
                let numbers = ordered(column)?.into_iter().enumerate().map(number);
                Ok(UserSequence::Numbers(numbers.collect()))
            }
            (Some(rows), columns) => to_bytes(rows, columns).map(UserSequence::Bytes),
            (None, columns) => Err(paimon_types::Error::invalid(format!(
                "expected one sequence column, found {}",
                columns.len()
            ))),
        }
    }
}

impl UserSequence {
    pub(super) fn compare(&self, row: usize, other: &Self, other_row: usize) -> Ordering {
        match (self, other) {
            (UserSequence::Numbers(a), UserSequence::Numbers(b)) => a.get(row).cmp(&b.get(other_row)),
            (UserSequence::Bytes(a), UserSequence::Bytes(b)) => a.get(row).cmp(b.get(other_row)),
            // All batches of a tree come from one encoder.
            _ => Ordering::Equal,
        }
    }
}
