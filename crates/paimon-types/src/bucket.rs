// SPDX-License-Identifier: Apache-2.0

//! From bucket key to bucket (Java `org.apache.paimon.bucket`, `HiveHasher`, `KeyAndBucketExtractor`; `wire.md` 3.2–3.4).

use crate::{BinaryRow, DataType, Error, Result};

/// Option `bucket-function.type`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BucketFunction {
    /// `default`: murmur hash of the bucket key row.
    #[default]
    Default,
    /// `mod`: floor modulus of one INT or BIGINT column.
    Mod,
    /// `hive`: Hive's hash of each column.
    Hive,
}

impl BucketFunction {
    /// The bucket of a bucket key row, 0 to `num_buckets` − 1. The row must be in the form of [`BinaryRow::encode`] (row kind `+I`).
    ///
    /// # Errors
    /// `InvalidInput` when `num_buckets` is below 1, `Unsupported` when the function does not take these types.
    pub fn bucket(self, _row: &BinaryRow, _types: &[DataType], _num_buckets: i32) -> Result<i32> {
        Err(Error::unsupported("stub"))
    }
}

/// `default`: `|hash % num_buckets|` with a truncating remainder. `num_buckets` below 1 counts as 1.
#[inline]
pub fn bucket_from_hash(hash: i32, num_buckets: i32) -> i32 {
    (i64::from(hash) % i64::from(num_buckets.max(1))).abs() as i32
}

/// `mod`: floor modulus. `num_buckets` below 1 counts as 1.
#[inline]
pub fn mod_bucket(value: i64, num_buckets: i32) -> i32 {
    value.rem_euclid(i64::from(num_buckets.max(1))) as i32
}

/// `hive`: bucket of a folded hash. `num_buckets` below 1 counts as 1.
#[inline]
pub fn hive_bucket(hash: i32, num_buckets: i32) -> i32 {
    (hash & i32::MAX) % num_buckets.max(1)
}
