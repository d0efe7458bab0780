// SPDX-License-Identifier: Apache-2.0

//! States of buckets that a writer goes on with.

use std::collections::HashMap;

use paimon_protocol::BucketState;
use paimon_types::{BinaryRow, Error, Result};

/// States by (partition, bucket).
#[derive(Debug, Default)]
pub(crate) struct RestoredBuckets {
    /// True when states are needed and nobody planned them.
    missing: bool,
    pub(crate) states: HashMap<(BinaryRow, i32), BucketState>,
    /// For each partition the state that tells its bucket count, which its new buckets must have too.
    counted: HashMap<BinaryRow, BucketState>,
}

impl RestoredBuckets {
    /// The states that were planned; `needed` says that rows must not be numbered without them.
    ///
    /// # Errors
    /// `InvalidInput` when a bucket has two states or the buckets of a partition tell different bucket counts.
    pub(crate) fn new(states: Option<&[BucketState]>, needed: bool) -> Result<Self> {
        let mut restored = RestoredBuckets {
            missing: needed && states.is_none(),
            ..RestoredBuckets::default()
        };
        for state in states.unwrap_or_default() {
            let partition = state.partition.encoded_row();
            if let Some(total) = state.total_buckets {
                let known = restored
                    .counted
                    .entry(partition.clone())
                    .or_insert_with(|| state.clone());
                if let Some(found) = known.total_buckets.filter(|found| *found != total) {
                    return Err(Error::invalid(format!(
                        "buckets {} and {} of one partition tell {found} and {total} buckets, expected one count",
                        known.bucket, state.bucket
                    )));
                }
            }
            let key = (partition.clone(), state.bucket);
            if restored.states.insert(key, state.clone()).is_some() {
                return Err(Error::invalid(format!(
                    "bucket {} of one partition has two states, expected one",
                    state.bucket
                )));
            }
        }
        Ok(restored)
    }

    /// The number of the first row that is written to a bucket of a table with `wanted` buckets.
    ///
    /// # Errors
    /// `InvalidInput` when the partition was written with another bucket count, the numbers are used up or no states were
    /// planned where they are needed.
    pub(crate) fn next_sequence_number(&self, bucket: &(BinaryRow, i32), wanted: i32) -> Result<i64> {
        if self.missing {
            return Err(Error::invalid(
                "the states of the buckets were not planned: rows of a table with a primary key are numbered after those that are \
                 there",
            ));
        }
        if wanted > 0
            && let Some(state) = self.counted.get(&bucket.0)
        {
            state.check_total_buckets(wanted)?;
        }
        match self.states.get(bucket) {
            Some(state) => state.next_sequence_number(),
            None => Ok(0),
        }
    }
}
