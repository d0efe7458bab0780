// SPDX-License-Identifier: Apache-2.0

//! Files of one bucket of a primary-key table: which of them a filter on values rules out, and how they are cut into splits
//! (Java `KeyValueFileStoreScan`, `MergeTreeSplitGenerator`; `metadata.md` 9.3, 9.5).

use paimon_protocol::DataFileMeta;
use paimon_protocol::sorted_runs::{KeyOrder, sections};
use paimon_types::{CoreOptions, MergeEngine, Result, TableSchema};

use super::packing::{file_weight, pack_ordered};

/// What planning must know of a primary-key table.
#[derive(Debug)]
pub(super) struct KeyedFiles {
    order: KeyOrder,
    /// Files above level 0 need no merging with each other, whatever their levels: what a newer one replaced is marked in a
    /// deletion vector, or was never written.
    disjoint_above_0: bool,
    /// A row that is merged of several files can match where none of them does.
    merges_values: bool,
    target_size: u64,
    open_file_cost: u64,
}

/// Files of a split.
#[derive(Debug)]
pub(super) struct SplitFiles {
    pub(super) files: Vec<DataFileMeta>,
    /// They are read one after the other, without merging.
    pub(super) raw_convertible: bool,
}

/// A file, and whether its statistics allow a row that matches the filter on values.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) file: DataFileMeta,
    pub(super) may_match: bool,
}

impl KeyedFiles {
    /// `None` for a table without primary key.
    ///
    /// # Errors
    /// As [`KeyOrder::of`].
    pub(super) fn new(schema: &TableSchema, options: &CoreOptions) -> Result<Option<Self>> {
        if schema.primary_keys.is_empty() {
            return Ok(None);
        }
        let (engine, vectors) = (options.merge_engine, options.deletion_vectors_enabled);
        let reads_level_0 = !vectors || options.deletion_vectors_merge_on_read;
        Ok(Some(KeyedFiles {
            order: KeyOrder::of(schema)?,
            disjoint_above_0: vectors || engine == MergeEngine::FirstRow,
            merges_values: reads_level_0
                && matches!(engine, MergeEngine::PartialUpdate | MergeEngine::Aggregation),
            target_size: options.source_split_target_size,
            open_file_cost: options.source_split_open_file_cost,
        }))
    }

    /// Leaves out what the filter on values rules out. A file alone only where no other file can have a version of its keys:
    /// else an older version would show, whose newer one is in a file that does not match.
    pub(super) fn filter(&self, files: &mut Vec<Candidate>) {
        if self.are_apart(files) {
            files.retain(|candidate| candidate.may_match);
        } else if !self.merges_values && !files.iter().any(|candidate| candidate.may_match) {
            files.clear();
        }
    }

    /// Every row that shows is told by one file: there is one only, all are of one level above 0, or all above 0 are apart.
    fn are_apart(&self, files: &[Candidate]) -> bool {
        match files {
            [] | [_] => true,
            [first, rest @ ..] => {
                let level = first.file.level;
                let goes_with = |other: &Candidate| match self.disjoint_above_0 {
                    true => other.file.level > 0,
                    false => other.file.level == level,
                };
                level > 0 && rest.iter().all(goes_with)
            }
        }
    }

    /// Cuts the files of a bucket into splits; files whose key ranges hang together stay in one.
    ///
    /// # Errors
    /// `Corrupt` when keys do not decode.
    pub(super) fn splits(&self, files: Vec<DataFileMeta>) -> Result<Vec<SplitFiles>> {
        let raw = files
            .iter()
            .all(|file| file.level != 0 && without_retractions(file));
        let one_level = files
            .windows(2)
            .all(|pair| matches!(pair, [a, b] if a.level == b.level));
        if raw && (self.disjoint_above_0 || one_level) {
            let bins = pack_ordered(
                files,
                |file| file_weight(file, self.open_file_cost),
                self.target_size,
            );
            return Ok(bins
                .into_iter()
                .map(|files| SplitFiles {
                    files,
                    raw_convertible: true,
                })
                .collect());
        }
        let sections = sections(&files, &self.order)?;
        let mut files: Vec<Option<DataFileMeta>> = files.into_iter().map(Some).collect();
        let sections: Vec<Vec<DataFileMeta>> = sections
            .iter()
            .map(|section| {
                let places = section.files();
                places
                    .filter_map(|place| files.get_mut(place).and_then(Option::take))
                    .collect()
            })
            .collect();
        let size = |section: &Vec<DataFileMeta>| {
            section
                .iter()
                .map(|file| u64::try_from(file.file_size).unwrap_or(0))
                .fold(0u64, u64::saturating_add)
                .max(self.open_file_cost)
        };
        let bins = pack_ordered(sections, size, self.target_size);
        Ok(bins
            .into_iter()
            .map(|bin| {
                let files: Vec<DataFileMeta> = bin.into_iter().flatten().collect();
                let raw_convertible = matches!(files.as_slice(), [file] if without_retractions(file));
                SplitFiles {
                    files,
                    raw_convertible,
                }
            })
            .collect())
    }
}

/// Old files do not tell; Java takes them as without.
fn without_retractions(file: &DataFileMeta) -> bool {
    file.delete_row_count.unwrap_or(0) == 0
}

#[cfg(test)]
mod tests;
