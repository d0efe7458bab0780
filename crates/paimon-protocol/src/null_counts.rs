// SPDX-License-Identifier: Apache-2.0

//! Null counts of statistics, in the form in which they are stored.

use std::fmt;

use paimon_types::{Error, Result, SharedBytes};

/// Null counts, one a column, `None` when unknown.
///
/// Kept as the bytes of Java's `BinaryArray` of BIGINT, which may be a part of the buffer that they were decoded from: decoding
/// copies nothing. Equality is that of the counts.
#[derive(Clone)]
pub struct NullCounts {
    /// `None` when empty.
    array: Option<SharedBytes>,
    len: usize,
}

/// Bytes of element count and null bits.
fn header(len: usize) -> usize {
    4 + len.div_ceil(32) * 4
}

impl NullCounts {
    /// No counts.
    pub const fn new() -> Self {
        NullCounts { array: None, len: 0 }
    }

    /// Counts out of the bytes of a `BinaryArray` of BIGINT.
    ///
    /// # Errors
    /// `Corrupt` when the elements do not fit into the bytes.
    #[doc(hidden)]
    pub fn from_array(array: SharedBytes) -> Result<Self> {
        let count = array.first_chunk::<4>().map(|count| i32::from_le_bytes(*count));
        let len = count.and_then(|count| usize::try_from(count).ok());
        match len {
            Some(0) => Ok(NullCounts::new()),
            // All terms are below 2^37, so nothing overflows.
            Some(len) if header(len) + 8 * len <= array.len() => Ok(NullCounts {
                array: Some(array),
                len,
            }),
            _ => Err(Error::corrupt(format!(
                "array of null counts has {} elements in {} bytes",
                count.unwrap_or(0),
                array.len()
            ))),
        }
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True without columns.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Count of a column; `None` when it is unknown or there is no such column.
    pub fn get(&self, index: usize) -> Option<i64> {
        let array = self.array.as_deref()?;
        if index >= self.len || array.get(4 + (index >> 3))? & (1 << (index & 7)) != 0 {
            return None;
        }
        let slot = array.get(header(self.len) + 8 * index..)?.first_chunk::<8>()?;
        Some(i64::from_le_bytes(*slot))
    }

    /// The counts in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<i64>> + '_ {
        (0..self.len).map(|index| self.get(index))
    }

    /// The counts in order.
    pub fn to_vec(&self) -> Vec<Option<i64>> {
        self.iter().collect()
    }
}

impl Default for NullCounts {
    fn default() -> Self {
        NullCounts::new()
    }
}

impl FromIterator<Option<i64>> for NullCounts {
    fn from_iter<I: IntoIterator<Item = Option<i64>>>(counts: I) -> Self {
        let counts: Vec<Option<i64>> = counts.into_iter().collect();
        counts.as_slice().into()
    }
}

impl From<&[Option<i64>]> for NullCounts {
    fn from(counts: &[Option<i64>]) -> Self {
        if counts.is_empty() {
            return NullCounts::new();
        }
        let mut bytes = Vec::with_capacity(header(counts.len()) + 8 * counts.len());
        crate::codec::write_null_counts(&mut bytes, counts.iter().copied());
        NullCounts {
            array: Some(SharedBytes::copy_from(&bytes)),
            len: counts.len(),
        }
    }
}

impl From<Vec<Option<i64>>> for NullCounts {
    fn from(counts: Vec<Option<i64>>) -> Self {
        counts.as_slice().into()
    }
}

impl<const N: usize> From<[Option<i64>; N]> for NullCounts {
    fn from(counts: [Option<i64>; N]) -> Self {
        counts.as_slice().into()
    }
}

impl PartialEq for NullCounts {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl Eq for NullCounts {}

impl<const N: usize> PartialEq<[Option<i64>; N]> for NullCounts {
    fn eq(&self, other: &[Option<i64>; N]) -> bool {
        self.len == N && self.iter().eq(other.iter().copied())
    }
}

impl fmt::Debug for NullCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
