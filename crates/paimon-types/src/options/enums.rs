// SPDX-License-Identifier: Apache-2.0

//! Option values with a fixed set of texts (`options.md` 1.1).

use std::fmt;

use super::kind::Kind;

macro_rules! option_enum {
    ($(#[$doc:meta])* $name:ident, $kind:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal $(| $alias:literal)*),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$vdoc])* #[doc = concat!(" (`", $text, "`)")] $variant),+
        }

        impl $name {
            /// The text in table options.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }
        }

        /// The default of the option.
        impl Default for $name {
            fn default() -> Self {
                option_enum!(@first $($name::$variant),+)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        pub(crate) const $kind: Kind<$name> = Kind {
            name: concat!("enum ", stringify!($name)),
            allowed: option_enum!(@list $($text $(, $alias)*),+),
            parse: |text| {
                $(if text.eq_ignore_ascii_case($text) $(|| text.eq_ignore_ascii_case($alias))* {
                    return Some($name::$variant);
                })+
                None
            },
        };
    };
    (@first $first:path $(, $rest:path)*) => { $first };
    (@list $first:literal $(, $rest:literal)*) => { concat!($first $(, ", ", $rest)*) };
}

option_enum!(
    /// What a table object is (Java `TableType`). Only `table` is a Paimon table with snapshots.
    TableType, TABLE_TYPE {
        /// Table with schema, snapshots and data files.
        Table = "table",
        /// Plain files in partition directories.
        FormatTable = "format-table",
        /// Table kept fresh by an engine.
        MaterializedTable = "materialized-table",
        /// Listing of objects.
        ObjectTable = "object-table",
        /// Lance data set.
        LanceTable = "lance-table",
        /// Iceberg table.
        IcebergTable = "iceberg-table",
    }
);
option_enum!(
    /// Where a read starts (Java `CoreOptions.StartupMode`).
    StartupMode, STARTUP_MODE {
        /// Decided by the other `scan.*` options.
        Default = "default",
        /// The whole latest snapshot.
        LatestFull = "latest-full" | "full",
        /// Batch: as `latest-full`; streaming: only what comes later.
        Latest = "latest",
        /// Only the change of the latest snapshot.
        LatestDelta = "latest-delta",
        /// The last full compaction.
        CompactedFull = "compacted-full",
        /// The last snapshot at or before a time.
        FromTimestamp = "from-timestamp",
        /// Files created at or after a time, by snapshots where possible.
        FromCreationTimestamp = "from-creation-timestamp",
        /// Files created at or after a time.
        FromFileCreationTime = "from-file-creation-time",
        /// A snapshot, tag or watermark.
        FromSnapshot = "from-snapshot",
        /// The whole of one snapshot.
        FromSnapshotFull = "from-snapshot-full",
        /// The change between two points.
        Incremental = "incremental",
    }
);
option_enum!(
    /// How versions of a primary key are combined (Java `MergeEngine`).
    MergeEngine, MERGE_ENGINE {
        /// The last version wins.
        Deduplicate = "deduplicate",
        /// Non-null columns of later versions win.
        PartialUpdate = "partial-update",
        /// Columns are aggregated.
        Aggregation = "aggregation",
        /// The first version wins.
        FirstRow = "first-row",
    }
);
option_enum!(
    /// Where changelog files come from (Java `ChangelogProducer`).
    ChangelogProducer, CHANGELOG_PRODUCER {
        /// No changelog files.
        None = "none",
        /// The input rows.
        Input = "input",
        /// Compared at full compaction.
        FullCompaction = "full-compaction",
        /// Looked up at compaction.
        Lookup = "lookup",
    }
);
option_enum!(
    /// Direction of user sequence columns (Java `CoreOptions.SortOrder`).
    SortOrder, SORT_ORDER {
        /// The largest value is the newest.
        Ascending = "ascending",
        /// The smallest value is the newest.
        Descending = "descending",
    }
);
option_enum!(
    /// Where the first sequence number of a writer comes from (Java `CoreOptions.SequenceNumberInitMode`).
    SequenceNumberInitMode, SEQUENCE_NUMBER_INIT_MODE {
        /// The files of the bucket.
        Scan = "scan",
        /// A property of the snapshot.
        Snapshot = "snapshot",
    }
);
option_enum!(
    /// Source of the rows of an incremental read (Java `IncrementalBetweenScanMode`).
    IncrementalScanMode, INCREMENTAL_SCAN_MODE {
        /// Changelog files when there is a producer, else deltas.
        Auto = "auto",
        /// Files added by APPEND snapshots.
        Delta = "delta",
        /// Changelog files.
        Changelog = "changelog",
        /// Difference of two states.
        Diff = "diff",
    }
);
option_enum!(
    /// How an external root is chosen for a new file (Java `ExternalPathStrategy`).
    ExternalPathStrategy, EXTERNAL_PATH_STRATEGY {
        /// No external paths.
        None = "none",
        /// Only roots of one scheme.
        SpecificFs = "specific-fs",
        /// One after the other.
        RoundRobin = "round-robin",
        /// With a hash in the path.
        EntropyInject = "entropy-inject",
        /// By weight.
        WeightRobin = "weight-robin",
    }
);
