// SPDX-License-Identifier: Apache-2.0

//! The other units of work of a query plan, and the sum of all kinds (Java `SplitSerializer`; `wire.md` 8.3–8.7).

use std::collections::HashSet;

use paimon_types::{Error, Result};

use crate::{DataFileMeta, DataSplit, DeletionFile, Partition};

/// Difference between two states of one bucket (Java `IncrementalSplit`; `wire.md` 8.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncrementalSplit {
    /// Snapshot that was planned.
    pub snapshot_id: i64,
    /// Partition that the files belong to.
    pub partition: Partition,
    /// Bucket number.
    pub bucket: i32,
    /// Bucket count of the partition.
    pub total_buckets: i32,
    /// Files of the earlier state.
    pub before_files: Vec<DataFileMeta>,
    /// One entry a file of `before_files` when present.
    pub before_deletion_files: Option<Vec<Option<DeletionFile>>>,
    /// Files of the later state.
    pub after_files: Vec<DataFileMeta>,
    /// One entry a file of `after_files` when present.
    pub after_deletion_files: Option<Vec<Option<DeletionFile>>>,
    /// Planned by a streaming scan.
    pub is_streaming: bool,
}

/// Row ids `from..=to`, both inclusive (Java `Range`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowRange {
    /// First row id.
    pub from: i64,
    /// Last row id, inclusive.
    pub to: i64,
}

/// A split narrowed to row ids that an index found (Java `IndexedSplit`; `wire.md` 8.5).
#[derive(Clone, Debug, PartialEq)]
pub struct IndexedSplit {
    /// The files.
    pub split: DataSplit,
    /// Row ids to return, in the order given by the planner.
    pub row_ranges: Vec<RowRange>,
    /// Score of each row of `row_ranges` in order, for search indexes.
    pub scores: Option<Vec<f32>>,
}

/// Files of several partitions or branches that are read as one partition (Java `ChainSplit`; `wire.md` 8.6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainSplit {
    /// Partition that the rows belong to.
    pub logical_partition: Partition,
    /// Files in reading order.
    pub data_files: Vec<DataFileMeta>,
    /// (file name, path of its bucket directory), in stored order.
    pub file_bucket_paths: Vec<(String, String)>,
    /// (file name, branch that it belongs to), in stored order.
    pub file_branches: Vec<(String, String)>,
    /// One entry a file when present.
    pub deletion_files: Option<Vec<Option<DeletionFile>>>,
}

/// Row filter and column masking that a REST catalog demands (Java `TableQueryAuthResult`; `wire.md` 8.7).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryAuth {
    /// Predicates as JSON text, all of which must hold; `None` entries are ignored.
    pub filter: Option<Vec<Option<String>>>,
    /// (column, transform as JSON text), one a column; in ascending UTF-16 order of the column when written or read.
    pub column_masking: Option<Vec<(String, Option<String>)>>,
}

/// A unit of work of any kind that Java's `SplitSerializer` knows.
#[derive(Clone, Debug, PartialEq)]
pub enum Split {
    /// Type 1: files of one bucket.
    Data(DataSplit),
    /// Type 2: difference between two states of a bucket.
    Incremental(IncrementalSplit),
    /// Type 3: files with row ids and scores.
    Indexed(IndexedSplit),
    /// Type 4: files of several partitions or branches.
    Chain(ChainSplit),
    /// Type 5: any split under row filter and masking.
    QueryAuth {
        /// The split to read.
        split: Box<Split>,
        /// What to apply to its rows; `None` when nothing.
        auth: Option<QueryAuth>,
    },
    /// Type 6: a data split planned by a table with a fallback branch (Java `FallbackDataSplit`).
    FallbackData {
        /// The files.
        split: DataSplit,
        /// True when they belong to the fallback branch.
        is_fallback: bool,
    },
    /// Type 7: any other split planned by a table with a fallback branch (Java `FallbackSplitImpl`).
    Fallback {
        /// The split to read.
        split: Box<Split>,
        /// True when it belongs to the fallback branch.
        is_fallback: bool,
    },
}

impl Split {
    /// Name of the kind in messages and JSON: `data`, `incremental`, `indexed`, `chain`, `query-auth`, `fallback-data`, `fallback`.
    pub fn kind(&self) -> &'static str {
        match self {
            Split::Data(_) => "data",
            Split::Incremental(_) => "incremental",
            Split::Indexed(_) => "indexed",
            Split::Chain(_) => "chain",
            Split::QueryAuth { .. } => "query-auth",
            Split::FallbackData { .. } => "fallback-data",
            Split::Fallback { .. } => "fallback",
        }
    }
}

/// Refuses two masking rules for a column: which one hides its values would depend on the reader.
pub(crate) fn check_masking(rules: &[(String, Option<String>)], error: fn(String) -> Error) -> Result<()> {
    match twice(rules.iter().map(|(column, _)| column.as_str())) {
        None => Ok(()),
        Some(column) => {
            Err(error("column has two masking rules, expected one".to_owned()).with("column", column))
        }
    }
}

/// Refuses two bucket paths or branches for a file of a chain split.
pub(crate) fn check_names(
    paths: &[(String, String)],
    branches: &[(String, String)],
    error: fn(String) -> Error,
) -> Result<()> {
    for (what, pairs) in [("bucket paths", paths), ("branches", branches)] {
        if let Some(file) = twice(pairs.iter().map(|(file, _)| file.as_str())) {
            return Err(
                error(format!("file of a chain split has two {what}, expected one")).with("file", file),
            );
        }
    }
    Ok(())
}

/// A text that occurs a second time.
fn twice<'a>(mut texts: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = HashSet::new();
    texts.find(|text| !seen.insert(*text))
}

impl From<DataSplit> for Split {
    fn from(split: DataSplit) -> Self {
        Split::Data(split)
    }
}
