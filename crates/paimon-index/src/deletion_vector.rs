// SPDX-License-Identifier: Apache-2.0

//! The deleted rows of one data file.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use paimon_types::{Error, Result};
use roaring::RoaringBitmap;

/// How a vector is stored, and which positions it can hold. One index file may hold both kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeletionVectorKind {
    /// 32-bit positions (Java `BitmapDeletionVector`), the default.
    Bitmap32,
    /// 64-bit positions (Java `Bitmap64DeletionVector`), option `deletion-vectors.bitmap64`.
    Bitmap64,
}

impl DeletionVectorKind {
    /// Highest upper half of a 64-bit position.
    pub(crate) const MAX_KEY: u32 = i32::MAX as u32 - 1;

    /// The largest position that a vector of this kind holds: 2147483647, or 9223372030412324864.
    pub fn max_position(self) -> u64 {
        match self {
            DeletionVectorKind::Bitmap32 => i32::MAX as u64,
            DeletionVectorKind::Bitmap64 => position(Self::MAX_KEY, 1 << 31),
        }
    }
}

impl fmt::Display for DeletionVectorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeletionVectorKind::Bitmap32 => "32-bit",
            DeletionVectorKind::Bitmap64 => "64-bit",
        })
    }
}

/// The rows of a data file that are deleted, as positions in the file from 0 (Java `DeletionVector`).
///
/// Two vectors are equal when they are of one kind and mark the same rows.
#[derive(Clone)]
pub struct DeletionVector {
    kind: DeletionVectorKind,
    /// Lower halves of positions by upper half. 32-bit vectors have key 0 at most.
    parts: BTreeMap<u32, RoaringBitmap>,
    /// Number of upper halves that the stored form lists: one more than the largest, empty ones included.
    slots: u32,
    /// The containers of the bitmaps are in the form in which they were read.
    as_stored: bool,
}

impl DeletionVector {
    /// A vector that marks no row.
    pub fn new(kind: DeletionVectorKind) -> Self {
        DeletionVector {
            kind,
            parts: BTreeMap::new(),
            slots: 0,
            as_stored: false,
        }
    }

    /// A vector that marks these rows, in whatever order they come.
    ///
    /// # Errors
    /// `InvalidInput` for a position that the kind cannot hold.
    pub fn from_positions(
        kind: DeletionVectorKind,
        positions: impl IntoIterator<Item = u64>,
    ) -> Result<Self> {
        let mut vector = Self::new(kind);
        for position in positions {
            vector.delete(position)?;
        }
        Ok(vector)
    }

    /// What a decoder found.
    pub(crate) fn stored(
        kind: DeletionVectorKind,
        parts: BTreeMap<u32, RoaringBitmap>,
        slots: u32,
    ) -> Result<Self> {
        let vector = DeletionVector {
            kind,
            parts,
            slots,
            as_stored: true,
        };
        match vector.max() {
            Some(max) if max > kind.max_position() => Err(Error::corrupt(format!(
                "{kind} deletion vector marks row {max}, expected at most {}",
                kind.max_position()
            ))),
            _ => Ok(vector),
        }
    }

    /// 32 or 64 bits.
    pub fn kind(&self) -> DeletionVectorKind {
        self.kind
    }

    /// Marks a row; false when it was marked already.
    ///
    /// # Errors
    /// `InvalidInput` for a position that the kind cannot hold.
    pub fn delete(&mut self, row: u64) -> Result<bool> {
        if row > self.kind.max_position() {
            return Err(Error::invalid(format!(
                "a {} deletion vector cannot mark row {row}, expected at most {}",
                self.kind,
                self.kind.max_position()
            )));
        }
        let (key, low) = halves(row);
        let new = self.parts.entry(key).or_default().insert(low);
        self.slots = self.slots.max(key + 1);
        self.as_stored &= !new;
        Ok(new)
    }

    /// Marks all rows that `other` marks.
    ///
    /// # Errors
    /// `InvalidInput` when the kinds differ (convert one with [`DeletionVector::to_kind`]), as in Java.
    pub fn merge(&mut self, other: &DeletionVector) -> Result<()> {
        if self.kind != other.kind {
            return Err(Error::invalid(format!(
                "a {} deletion vector cannot be merged into a {} one",
                other.kind, self.kind
            )));
        }
        for (key, bitmap) in &other.parts {
            *self.parts.entry(*key).or_default() |= bitmap;
        }
        self.slots = self.slots.max(other.slots);
        self.as_stored = false;
        Ok(())
    }

    /// The same rows in a vector of another kind.
    ///
    /// # Errors
    /// `InvalidInput` when the kind cannot hold a position.
    pub fn to_kind(&self, kind: DeletionVectorKind) -> Result<Self> {
        if kind == self.kind {
            return Ok(self.clone());
        }
        if let Some(max) = self.max().filter(|max| *max > kind.max_position()) {
            return Err(Error::invalid(format!(
                "a {kind} deletion vector cannot mark row {max}, expected at most {}",
                kind.max_position()
            )));
        }
        let mut parts = self.parts.clone();
        parts.retain(|key, bitmap| *key == 0 || !bitmap.is_empty());
        let slots = parts.keys().next_back().map_or(1, |key| key + 1);
        Ok(DeletionVector {
            kind,
            parts,
            slots,
            as_stored: self.as_stored,
        })
    }

    /// Is the row at this position deleted?
    pub fn is_deleted(&self, row: u64) -> bool {
        u32::try_from(row >> 32).is_ok_and(|key| {
            let (_, low) = halves(row);
            self.parts.get(&key).is_some_and(|bitmap| bitmap.contains(low))
        })
    }

    /// Number of deleted rows.
    pub fn cardinality(&self) -> u64 {
        self.parts.values().map(RoaringBitmap::len).sum()
    }

    /// True when no row is deleted.
    pub fn is_empty(&self) -> bool {
        self.parts.values().all(RoaringBitmap::is_empty)
    }

    /// The last deleted row.
    pub fn max(&self) -> Option<u64> {
        self.parts
            .iter()
            .rev()
            .find_map(|(key, bitmap)| bitmap.max().map(|low| position(*key, low)))
    }

    /// Deleted rows, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.parts
            .iter()
            .flat_map(|(key, bitmap)| bitmap.iter().map(|low| position(*key, low)))
    }

    /// Deleted rows as ranges, ascending and as long as possible (but none goes across a multiple of 2^32).
    pub fn ranges(&self) -> impl Iterator<Item = RangeInclusive<u64>> + '_ {
        self.parts.iter().flat_map(|(key, bitmap)| {
            let mut iter = bitmap.iter();
            std::iter::from_fn(move || iter.next_range())
                .map(|range| position(*key, *range.start())..=position(*key, *range.end()))
        })
    }

    /// The rows of a file of `rows` rows that are not deleted.
    ///
    /// # Errors
    /// `Corrupt` when the vector marks a row that the file does not have: it belongs to another file, and which rows are
    /// deleted is not known. `Unsupported` for files of more than 2^32 rows.
    pub fn kept_rows(&self, rows: u64) -> Result<RoaringBitmap> {
        if let Some(max) = self.max().filter(|max| *max >= rows) {
            return Err(Error::corrupt(format!(
                "the deletion vector marks row {max}, the file has {rows} rows"
            )));
        }
        let mut kept = RoaringBitmap::new();
        if let Some(last) = rows.checked_sub(1) {
            let last = u32::try_from(last).map_err(|_| {
                Error::unsupported(format!(
                    "the file has {rows} rows; with a deletion vector files of up to 2^32 rows are read"
                ))
            })?;
            kept.insert_range(0..=last);
        }
        if let Some(deleted) = self.parts.get(&0) {
            kept -= deleted;
        }
        Ok(kept)
    }

    pub(crate) fn parts(&self) -> impl Iterator<Item = (u32, &RoaringBitmap)> {
        self.parts.iter().map(|(key, bitmap)| (*key, bitmap))
    }

    pub(crate) fn slots(&self) -> u32 {
        self.slots
    }

    pub(crate) fn is_as_stored(&self) -> bool {
        self.as_stored
    }
}

impl PartialEq for DeletionVector {
    fn eq(&self, other: &Self) -> bool {
        let filled = |vector: &'_ Self| {
            let parts = vector.parts.iter().filter(|(_, bitmap)| !bitmap.is_empty());
            parts
                .map(|(key, bitmap)| (*key, bitmap.clone()))
                .collect::<Vec<_>>()
        };
        self.kind == other.kind && filled(self) == filled(other)
    }
}

impl Eq for DeletionVector {}

impl fmt::Debug for DeletionVector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeletionVector")
            .field("kind", &self.kind)
            .field("cardinality", &self.cardinality())
            .field("max", &self.max())
            .finish_non_exhaustive()
    }
}

/// Upper and lower half of a position.
fn halves(row: u64) -> (u32, u32) {
    ((row >> 32) as u32, row as u32)
}

fn position(key: u32, low: u32) -> u64 {
    u64::from(key) << 32 | u64::from(low)
}
