// SPDX-License-Identifier: Apache-2.0

//! What is known about one data file or index file (Java `DataFileMeta`, `SimpleStats`, `IndexFileMeta`; `wire.md` 6, 7).

use std::sync::Arc;

use crate::{NullCounts, RowValues};

/// Column statistics in stored form (Java `SimpleStats`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimpleStats {
    /// Smallest values, one a column, NULL when unknown.
    pub min_values: RowValues,
    /// Largest values, one a column, NULL when unknown.
    pub max_values: RowValues,
    /// Null counts, one a column, `None` when unknown.
    pub null_counts: NullCounts,
}

impl SimpleStats {
    /// Statistics of no column (Java `EMPTY_STATS`).
    pub fn empty() -> Self {
        SimpleStats {
            min_values: RowValues::empty(),
            max_values: RowValues::empty(),
            null_counts: NullCounts::new(),
        }
    }
}

/// Which kind of commit wrote a file (Java `FileSource`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileSource {
    /// Written by an append.
    Append,
    /// Written by a compaction.
    Compact,
}

/// One data file (Java `DataFileMeta`, 21 fields).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFileMeta {
    /// Name in the bucket directory.
    pub file_name: String,
    /// Bytes.
    pub file_size: i64,
    /// Rows, retractions included.
    pub row_count: i64,
    /// First key, no values for append tables.
    pub min_key: RowValues,
    /// Last key, no values for append tables.
    pub max_key: RowValues,
    /// Statistics of key columns, empty for append tables.
    pub key_stats: SimpleStats,
    /// Statistics of value columns, see `value_stats_cols`.
    pub value_stats: SimpleStats,
    /// Smallest sequence number.
    pub min_sequence_number: i64,
    /// Largest sequence number.
    pub max_sequence_number: i64,
    /// Schema that the file was written with.
    pub schema_id: i64,
    /// LSM level, 0 for append tables.
    pub level: i32,
    /// Files that live and die with this one.
    pub extra_files: Vec<String>,
    /// Local wall clock of creation in milliseconds, as if UTC.
    pub creation_time: Option<i64>,
    /// Rows of kind −U or −D; `None` in old files.
    pub delete_row_count: Option<i64>,
    /// A small file index, whole.
    pub embedded_index: Option<Vec<u8>>,
    /// Append or compaction; `None` in old files.
    pub file_source: Option<FileSource>,
    /// Columns that `value_stats` covers; `None` means all columns of the file's schema.
    pub value_stats_cols: Option<Arc<[String]>>,
    /// Absolute path when the file is not in its bucket directory.
    pub external_path: Option<String>,
    /// Row id of the first row (row tracking).
    pub first_row_id: Option<i64>,
    /// Columns that the file holds; `None` means all columns of its schema.
    pub write_cols: Option<Arc<[String]>>,
    /// Largest sequence number per written column.
    pub write_cols_sequences: Option<Vec<i64>>,
}

/// One index file (Java `IndexFileMeta`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexFileMeta {
    /// `HASH`, `DELETION_VECTORS` or the name of a global index.
    pub index_type: String,
    /// Name in the index directory.
    pub file_name: String,
    /// Bytes.
    pub file_size: i64,
    /// Rows (deletion vectors: number of vectors).
    pub row_count: i64,
    /// Where the vector of each data file lies, in order of writing.
    pub dv_ranges: Option<Vec<DeletionVectorMeta>>,
    /// Absolute path when the file is not in the index directory.
    pub external_path: Option<String>,
    /// Meta of a global index.
    pub global_index: Option<GlobalIndexMeta>,
}

/// Place of one deletion vector in its index file (Java `DeletionVectorMeta`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletionVectorMeta {
    /// Data file that the vector belongs to.
    pub data_file_name: String,
    /// Byte offset of the size prefix.
    pub offset: i32,
    /// Length as recorded (`wire.md` 10.3).
    pub length: i32,
    /// Deleted rows; `None` in old files.
    pub cardinality: Option<i64>,
}

/// Meta of a global index (Java `GlobalIndexMeta`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalIndexMeta {
    /// First row id, inclusive.
    pub row_range_start: i64,
    /// Last row id, inclusive.
    pub row_range_end: i64,
    /// Indexed field.
    pub index_field_id: i32,
    /// Further indexed fields.
    pub extra_field_ids: Option<Vec<i32>>,
    /// Index specific meta.
    pub index_meta: Option<Vec<u8>>,
    /// What the index was built from.
    pub source_meta: Option<Vec<u8>>,
}
