// SPDX-License-Identifier: Apache-2.0

//! Runs and where the merge is in them.

use std::cmp::Ordering;

use super::keys::Keys;
use super::sequence::UserSequence;

/// A run and its batch.
#[derive(Debug)]
pub(super) struct Run<K> {
    pub(super) batch: Option<Loaded<K>>,
    pub(super) ended: bool,
}

#[derive(Debug)]
pub(super) struct Loaded<K> {
    pub(super) slot: usize,
    pub(super) keys: K,
    pub(super) user: Option<UserSequence>,
    /// The next row.
    pub(super) at: usize,
    pub(super) rows: usize,
    /// No key is repeated.
    pub(super) strict: bool,
    /// Some rows are retractions.
    pub(super) retracts: bool,
}

impl<K: Keys> Loaded<K> {
    pub(super) fn is_done(&self) -> bool {
        self.at >= self.rows
    }

    /// Number of rows from `at` whose key is less than (or, `through`, not greater than) a key.
    pub(super) fn count_up_to(&self, key: &K, row: usize, through: bool) -> usize {
        let below = |at: usize| match self.keys.compare(at, key, row) {
            Ordering::Less => true,
            Ordering::Equal => through,
            Ordering::Greater => false,
        };
        let (mut step, mut low) = (1, self.at);
        let mut high = self.rows;
        while low < self.rows {
            if !below(low) {
                high = low;
                break;
            }
            low += step;
            step *= 2;
        }
        // All rows before `low - step / 2` are below, that at `high` is not.
        let mut low = (low.saturating_sub(step / 2)).clamp(self.at, high);
        while low < high {
            let middle = low + (high - low) / 2;
            if below(middle) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low - self.at
    }
}
