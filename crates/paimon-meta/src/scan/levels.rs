// SPDX-License-Identifier: Apache-2.0

//! The levels of primary-key files that a batch read sees (Java `AbstractBatchTableScan`, `ReadOptimizedTable`; `metadata.md` 9.3).

use paimon_types::{CoreOptions, MergeEngine, TableSchema};

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
    /// The levels of a table, or of its read-optimized one.
    pub(super) fn of(schema: &TableSchema, options: &CoreOptions, read_optimized: bool) -> Self {
        if schema.primary_keys.is_empty() {
            return Levels::All;
        }
        if read_optimized {
            return Levels::Only(options.top_level());
        }
        let skips_level_0 = if options.deletion_vectors_enabled {
            !options.deletion_vectors_merge_on_read
        } else {
            options.merge_engine == MergeEngine::FirstRow
        };
        if skips_level_0 {
            Levels::Above0
        } else {
            Levels::All
        }
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
