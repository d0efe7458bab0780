// SPDX-License-Identifier: Apache-2.0

//! Versions of keys in merge order, and what becomes of them.

use arrow_array::{Int8Array, RecordBatch, RecordBatchOptions, make_array};
use arrow_schema::SchemaRef;
use paimon_merge::{MergeFunction, MergedBatch, Selection, Versions};
use paimon_types::{Error, Result, RowKind};

use super::layout::KeyValueLayout;

/// The versions of some keys, each key whole.
pub(super) struct KeyVersions<'a> {
    /// Columns of the table.
    pub(super) sources: &'a [RecordBatch],
    /// (source, row) of each version, in merge order.
    pub(super) places: Vec<(usize, usize)>,
    /// Kind of each version.
    pub(super) kinds: Vec<i8>,
    /// Sequence number of each version.
    pub(super) sequences: Vec<i64>,
    /// For each key the position behind its last version.
    pub(super) ends: Vec<usize>,
}

/// Rows of files.
pub(super) struct Chunk {
    /// Every row, when a changelog is written.
    pub(super) raw: Option<RecordBatch>,
    /// One row a key; `None` when no key has a result.
    pub(super) merged: Option<RecordBatch>,
}

impl KeyVersions<'_> {
    /// Every version as it is.
    pub(super) fn all(self, schema: &SchemaRef) -> Result<MergedBatch> {
        batch_of(
            Selection::of_rows(self.places),
            self.sources,
            self.sequences,
            self.kinds,
            schema,
        )
    }

    /// The version that each key is left with, when `merge` makes its row of one version as it is; else every version.
    pub(super) fn reduced(self, merge: &dyn MergeFunction, schema: &SchemaRef) -> Result<MergedBatch> {
        if self.ends.len() == self.places.len() {
            return self.all(schema);
        }
        let Some(winners) = merge.winners(&row_kinds(&self.kinds)?, &self.ends)? else {
            return self.all(schema);
        };
        let mut selection = Selection::with_capacity(winners.len());
        let mut sequences = Vec::with_capacity(winners.len());
        let mut kinds = Vec::with_capacity(winners.len());
        for winner in winners {
            let (Some(place), Some(sequence), Some(kind)) = (
                self.places.get(winner),
                self.sequences.get(winner),
                self.kinds.get(winner),
            ) else {
                return Err(no_version());
            };
            selection.push(place.0, place.1);
            sequences.push(*sequence);
            kinds.push(*kind);
        }
        batch_of(selection, self.sources, sequences, kinds, schema)
    }

    /// Merges the versions of each key.
    pub(super) fn merge(
        self,
        merge: &dyn MergeFunction,
        layout: &KeyValueLayout,
        changelog: bool,
    ) -> Result<Chunk> {
        let single = self.ends.len() == self.places.len();
        let raw = match single || changelog {
            true => {
                let rows = Selection::of_rows(self.places.iter().copied()).gather_batches(self.sources)?;
                let kinds = Int8Array::from(self.kinds.clone());
                Some(layout.batch(self.sequences.clone(), make_array(kinds.into()), rows)?)
            }
            false => None,
        };
        if single {
            // a key with one version goes through as it is
            return Ok(Chunk {
                merged: raw.clone(),
                raw: raw.filter(|_| changelog),
            });
        }
        let merged = merge.merge(&Versions {
            sources: self.sources,
            rows: &self.places,
            kinds: &row_kinds(&self.kinds)?,
            ends: &self.ends,
        })?;
        if merged.origins.is_empty() {
            return Ok(Chunk { raw, merged: None });
        }
        let sequences = merged
            .origins
            .iter()
            .map(|origin| self.sequences.get(*origin).copied().ok_or_else(no_version))
            .collect::<Result<Vec<i64>>>()?;
        let kinds = Int8Array::from_iter_values(merged.kinds.iter().map(|kind| kind.to_byte()));
        let merged = layout.batch(sequences, make_array(kinds.into()), merged.columns)?;
        Ok(Chunk {
            raw,
            merged: Some(merged),
        })
    }
}

fn no_version() -> Error {
    Error::invalid("a merged row comes from no version")
}

fn row_kinds(kinds: &[i8]) -> Result<Vec<RowKind>> {
    kinds.iter().map(|kind| RowKind::from_byte(*kind)).collect()
}

fn batch_of(
    selection: Selection,
    sources: &[RecordBatch],
    sequences: Vec<i64>,
    kinds: Vec<i8>,
    schema: &SchemaRef,
) -> Result<MergedBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(selection.len()));
    let columns = selection.gather_batches(sources)?;
    let rows = RecordBatch::try_new_with_options(schema.clone(), columns, &options)
        .map_err(|e| Error::invalid(format!("rows do not fit the table: {e}")).with_source(e))?;
    Ok(MergedBatch {
        rows,
        kinds: Some(kinds.into()),
        sequence: Some(sequences.into()),
        levels: None,
    })
}
