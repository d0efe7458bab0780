// SPDX-License-Identifier: Apache-2.0

//! One entry of a manifest list (Java `ManifestFileMeta`; `metadata.md` 4.2).

use paimon_protocol::SimpleStats;

/// A manifest and what is known about its entries without opening it. Aggregates cover ADD and DELETE entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestFileMeta {
    /// Name in the `manifest` directory.
    pub file_name: String,
    /// Bytes.
    pub file_size: i64,
    /// Number of ADD entries.
    pub num_added_files: i64,
    /// Number of DELETE entries.
    pub num_deleted_files: i64,
    /// Statistics of the partition columns.
    pub partition_stats: SimpleStats,
    /// Largest schema id of the files.
    pub schema_id: i64,
    /// Smallest bucket, `None` in old lists.
    pub min_bucket: Option<i32>,
    /// Largest bucket, `None` in old lists.
    pub max_bucket: Option<i32>,
    /// Smallest level, `None` in old lists.
    pub min_level: Option<i32>,
    /// Largest level, `None` in old lists.
    pub max_level: Option<i32>,
    /// Smallest row id, `None` when a file has none.
    pub min_row_id: Option<i64>,
    /// Largest row id (inclusive), `None` when a file has none.
    pub max_row_id: Option<i64>,
}
