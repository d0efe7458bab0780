// SPDX-License-Identifier: Apache-2.0

//! The levels of primary-key files that a batch read sees (Java `AbstractBatchTableScan`, `ReadOptimizedTable`; `metadata.md` 9.3).

use paimon_types::{CoreOptions, Error, MergeEngine, Result, TableSchema};

use crate::manifest::ManifestFileMeta;

/// Levels whose files a scan plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Levels {
    /// Every one.
    All,
    /// All but level 0: what it holds shows after a compaction, which marks or drops what it replaces.
    Above0,
    /// One: the top level of a read-optimized table.
    Only(i32),
}

impl Levels {
    /// # Errors
    /// `InvalidInput` for options that do not parse.
    pub(super) fn of(schema: &TableSchema, options: &CoreOptions, read_optimized: bool) -> Result<Self> {
        if schema.primary_keys.is_empty() {
            return Ok(Levels::All);
        }
        if read_optimized {
            return Ok(Levels::Only(top_level(options)?));
        }
        let skips_level_0 = if options.deletion_vectors_enabled {
            !options.deletion_vectors_merge_on_read
        } else {
            options.merge_engine == MergeEngine::FirstRow
        };
        Ok(if skips_level_0 {
            Levels::Above0
        } else {
            Levels::All
        })
    }

    pub(super) fn takes(self, level: i32) -> bool {
        match self {
            Levels::All => true,
            Levels::Above0 => level > 0,
            Levels::Only(only) => level == only,
        }
    }

    /// False when a manifest has no entry of these levels. The level is part of a file's identity, so that DELETE entries go by
    /// the same test.
    pub(super) fn may_occur(self, meta: &ManifestFileMeta) -> bool {
        match self {
            Levels::All => true,
            Levels::Above0 => meta.max_level.is_none_or(|max| max > 0),
            Levels::Only(only) => {
                meta.min_level.is_none_or(|min| min <= only) && meta.max_level.is_none_or(|max| max >= only)
            }
        }
    }
}

/// The highest level that compactions fill: option `num-levels` less one, by default `num-sorted-run.compaction-trigger`.
///
/// # Errors
/// `InvalidInput` when an option is no number, or leaves no level.
pub(crate) fn top_level(options: &CoreOptions) -> Result<i32> {
    let number = |key: &'static str| -> Result<Option<i32>> {
        let Some(text) = options.raw().get(key) else {
            return Ok(None);
        };
        match text.trim().parse::<i32>() {
            Ok(number) if number >= 1 => Ok(Some(number)),
            _ => Err(Error::invalid(format!(
                "option {key} is '{text}', expected a number of at least 1"
            ))
            .with("option", key)),
        }
    };
    match number("num-levels")? {
        Some(levels) => Ok(levels - 1),
        None => Ok(number("num-sorted-run.compaction-trigger")?.unwrap_or(5)),
    }
}
