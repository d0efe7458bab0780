// SPDX-License-Identifier: Apache-2.0

//! Engines whose result is one version as it is: deduplicate and first-row (`semantics.md` 3.1, 3.2).

use paimon_types::{Error, Result, RowKind};

use crate::{MergeFunction, Merged, Selection, Versions};

/// Java `DeduplicateMergeFunction` and `FirstRowMergeFunction`.
#[derive(Clone, Copy, Debug)]
pub(super) struct WholeRow {
    pub(super) first: bool,
    pub(super) ignore_delete: bool,
}

impl WholeRow {
    /// The winner among two or more versions, the first of which has this position; `None` when all are ignored.
    fn winner(self, first: usize, kinds: &[RowKind]) -> Result<Option<usize>> {
        let counts = |kind: &RowKind| !(self.ignore_delete && kind.is_retract());
        let winner = if self.first {
            if !self.ignore_delete && kinds.iter().any(|kind| kind.is_retract()) {
                let problem = "merge-engine first-row cannot take back a row, but a -U or -D row asks for it";
                return Err(Error::invalid(problem)
                    .with("option", "merge-engine")
                    .with("hint", "ignore-delete=true ignores such rows"));
            }
            kinds.iter().position(counts)
        } else {
            kinds.iter().rposition(counts)
        };
        Ok(winner.map(|index| first + index))
    }
}

impl MergeFunction for WholeRow {
    fn merge(&self, versions: &Versions<'_>) -> Result<Merged> {
        let origins = self.winners(versions.kinds, versions.ends)?.unwrap_or_default();
        let gone = || Error::corrupt("versions of keys: there are more kinds than rows");
        let mut selection = Selection::with_capacity(origins.len());
        let mut kinds = Vec::with_capacity(origins.len());
        for origin in &origins {
            let (source, row) = *versions.rows.get(*origin).ok_or_else(gone)?;
            selection.push(source, row);
            kinds.push(*versions.kinds.get(*origin).ok_or_else(gone)?);
        }
        Ok(Merged {
            columns: selection.gather_batches(versions.sources)?,
            origins,
            kinds,
        })
    }

    fn winners(&self, kinds: &[RowKind], ends: &[usize]) -> Result<Option<Vec<usize>>> {
        if !self.first && !self.ignore_delete {
            // A key without versions would be the one thing that goes unseen.
            return Ok(Some(ends.iter().map(|end| end.wrapping_sub(1)).collect()));
        }
        let mut winners = Vec::with_capacity(ends.len());
        let mut start = 0;
        for end in ends {
            let of_key = kinds.get(start..*end).unwrap_or(&[]);
            if of_key.len() == 1 {
                winners.push(start);
            } else if let Some(winner) = self.winner(start, of_key)? {
                winners.push(winner);
            }
            start = *end;
        }
        Ok(Some(winners))
    }
}
