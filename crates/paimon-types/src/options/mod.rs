// SPDX-License-Identifier: Apache-2.0

//! Table options: one table of what is known, parsed once into [`CoreOptions`] (Java `CoreOptions`; `options.md`).
//!
//! A row of the `core_options!` table is the single place where an option is described: field, type, key, default, other
//! keys, who uses it and what it means. The struct, the parser, [`OPTIONS`] and `docs/options.md` come from it.

mod documentation;
mod enums;
mod kind;
mod readable;
mod startup;
mod stats_mode;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::{BucketFunction, Error, PartitionNaming, Result};
use kind::{
    BOOL, COUNT, DURATION, IDENTIFIER, INT, Kind, LONG, MAP, MEMORY, NAME, NAMES, POSITIVE_INT,
    POSITIVE_LONG, STRING,
};

pub use documentation::options_markdown;
pub use enums::{
    ChangelogProducer, ExternalPathStrategy, IncrementalScanMode, MergeEngine, SequenceNumberInitMode,
    SortOrder, StartupMode, TableType,
};
pub use kind::{parse_duration_millis, parse_memory_size};
pub use stats_mode::StatsMode;

use enums::{
    CHANGELOG_PRODUCER, EXTERNAL_PATH_STRATEGY, INCREMENTAL_SCAN_MODE, MERGE_ENGINE,
    SEQUENCE_NUMBER_INIT_MODE, SORT_ORDER, STARTUP_MODE, TABLE_TYPE,
};
use stats_mode::STATS_MODE;

/// Who uses an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OptionScope {
    /// The shape of the table: readers and writers.
    Schema,
    /// Merging rows of a key: readers and writers.
    Merge,
    /// Planning a read.
    Scan,
    /// Reading files.
    Read,
    /// Writing files.
    Write,
    /// Committing.
    Commit,
    /// Expiring snapshots.
    Expire,
}

impl OptionScope {
    /// Lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            OptionScope::Schema => "schema",
            OptionScope::Merge => "merge",
            OptionScope::Scan => "scan",
            OptionScope::Read => "read",
            OptionScope::Write => "write",
            OptionScope::Commit => "commit",
            OptionScope::Expire => "expire",
        }
    }

    /// False when readers may ignore the option.
    pub fn concerns_readers(self) -> bool {
        matches!(
            self,
            OptionScope::Schema | OptionScope::Merge | OptionScope::Scan | OptionScope::Read
        )
    }
}

/// One row of the option table.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Key in the table options.
    pub key: &'static str,
    /// Type name.
    pub type_name: &'static str,
    /// Default as text; `None` when an absent option stays absent.
    pub default: Option<&'static str>,
    /// Keys that are read, in order, when the main key is absent.
    pub fallback_keys: &'static [&'static str],
    /// The values that are allowed.
    pub allowed: &'static str,
    /// Who uses it.
    pub scope: OptionScope,
    /// What it does.
    pub meaning: &'static str,
}

/// Where the values come from and how bad ones are treated.
struct Source<'a> {
    map: &'a BTreeMap<String, String>,
    for_read: bool,
}

impl Source<'_> {
    /// The parsed value of the option, or `None` when it is absent (or bad, of a writer, and we read).
    // Not inlined, here and below: it is there a hundred times over in one function.
    #[inline(never)]
    fn get<T>(&self, spec: &OptionSpec, kind: &Kind<T>) -> Result<Option<T>> {
        let keys = std::iter::once(&spec.key).chain(spec.fallback_keys);
        let Some((key, text)) = keys
            .into_iter()
            .find_map(|k| self.map.get(*k).map(|text| (*k, text)))
        else {
            return Ok(None);
        };
        match (kind.parse)(text) {
            Some(value) => Ok(Some(value)),
            None if self.for_read && !spec.scope.concerns_readers() => Ok(None),
            None => Err(bad_value(key, text, spec.allowed)),
        }
    }

    #[inline(never)]
    fn get_or_default<T>(&self, spec: &OptionSpec, kind: &Kind<T>) -> Result<T> {
        match self.get(spec, kind)? {
            Some(value) => Ok(value),
            None => spec
                .default
                .and_then(kind.parse)
                .ok_or_else(|| bad_value(spec.key, "", spec.allowed)),
        }
    }
}

/// The error for a value that an option does not take.
fn bad_value(key: &str, text: &str, allowed: &str) -> Error {
    Error::invalid(format!("option {key} has the value '{text}'; allowed: {allowed}")).with("option", key)
}

#[inline(never)]
fn next<'a>(specs: &mut std::slice::Iter<'a, OptionSpec>) -> Result<&'a OptionSpec> {
    specs
        .next()
        .ok_or_else(|| Error::invalid("the option table is too short"))
}

macro_rules! core_options {
    ($($field:ident: $type:ty = ($kind:ident, $key:literal, $default:tt, [$($fallback:literal),*], $scope:ident, $meaning:literal $(,)?);)*) => {
        /// The options of a table, parsed once. Unknown keys are kept in [`raw`](CoreOptions::raw) only.
        #[derive(Clone, Debug, PartialEq)]
        pub struct CoreOptions {
            $(#[doc = concat!("`", $key, "`: ", $meaning)] pub $field: $type,)*
            raw: BTreeMap<String, String>,
        }

        /// Every option that is understood, in the order of the documentation.
        pub const OPTIONS: &[OptionSpec] = &[$(OptionSpec {
            key: $key,
            type_name: $kind.name,
            default: core_options!(@text $default),
            fallback_keys: &[$($fallback),*],
            allowed: $kind.allowed,
            scope: OptionScope::$scope,
            meaning: $meaning,
        }),*];

        impl CoreOptions {
            fn parse(source: &Source<'_>) -> Result<CoreOptions> {
                // Made whole first: giving back the fields before each one that fails took most of the build time of this crate.
                let mut options = CoreOptions {
                    $($field: Default::default(),)*
                    raw: source.map.clone(),
                };
                // The table and the struct come from the same rows, in the same order.
                let mut specs = OPTIONS.iter();
                $(options.$field = core_options!(@value $default, source, next(&mut specs)?, $kind);)*
                Ok(options)
            }
        }
    };
    (@text none) => { None };
    (@text $default:literal) => { Some($default) };
    (@value none, $source:ident, $spec:expr, $kind:ident) => { $source.get($spec, &$kind)? };
    (@value $default:literal, $source:ident, $spec:expr, $kind:ident) => { $source.get_or_default($spec, &$kind)? };
}

/// `bucket`.
const BUCKET: Kind<i32> = Kind {
    name: "int",
    allowed: "-2 (postpone), -1 (dynamic or unaware), or >= 1",
    parse: |text| text.parse().ok().filter(|n| *n == -1 || *n == -2 || *n >= 1),
};

/// `bucket-function.type`.
const BUCKET_FUNCTION: Kind<BucketFunction> = Kind {
    name: "enum BucketFunction",
    allowed: "default, mod, hive",
    parse: |text| match text.to_ascii_lowercase().as_str() {
        "default" => Some(BucketFunction::Default),
        "mod" => Some(BucketFunction::Mod),
        "hive" => Some(BucketFunction::Hive),
        _ => None,
    },
};

core_options! {
    table_type: TableType = (TABLE_TYPE, "type", "table", [], Schema, "Kind of the table object.");
    path: Option<String> = (NAME, "path", none, [], Schema, "Location of the table, set when it is loaded.");
    branch: String = (NAME, "branch", "main", [], Schema, "Branch that the table instance works on.");
    bucket: i32 = (BUCKET, "bucket", "-1", [], Schema,
        "Number of buckets of a partition; -1 puts no bound (append: no bucketing), -2 postpones bucketing to compaction.");
    bucket_key: Option<Vec<String>> = (NAMES, "bucket-key", none, [], Schema,
        "Columns that are hashed to a bucket; the primary key without partition columns when absent.");
    bucket_function: BucketFunction = (BUCKET_FUNCTION, "bucket-function.type", "default", [], Schema, "Formula from bucket key to bucket.");
    bucket_append_ordered: bool = (BOOL, "bucket-append-ordered", "true", [], Write,
        "Keep the write order inside the buckets of an append table.");
    primary_key_nullable: bool = (BOOL, "primary-key.nullable", "false", [], Schema, "Allow NULL in primary key columns.");
    row_tracking_enabled: bool = (BOOL, "row-tracking.enabled", "false", [], Schema, "Give every row of an append table an id.");
    data_evolution_enabled: bool = (BOOL, "data-evolution.enabled", "false", [], Schema,
        "Let files of the same rows hold different columns.");
    merge_engine: MergeEngine = (MERGE_ENGINE, "merge-engine", "deduplicate", [], Merge, "How versions of a primary key are combined.");
    changelog_producer: ChangelogProducer = (CHANGELOG_PRODUCER, "changelog-producer", "none", [], Write, "Where changelog files come from.");
    sequence_field: Option<Vec<String>> = (NAMES, "sequence.field", none, [], Merge, "Columns that order the versions of a key before the sequence number.");
    sequence_field_sort_order: SortOrder = (SORT_ORDER, "sequence.field.sort-order", "ascending", [], Merge, "Whether the largest or the smallest value of `sequence.field` is the newest.");
    sequence_snapshot_ordering: bool = (BOOL, "sequence.snapshot-ordering", "false", [], Merge, "Order the versions of a key by the snapshot that brought them.");
    ignore_delete: bool = (BOOL, "ignore-delete", "false", ["first-row.ignore-delete", "deduplicate.ignore-delete", "partial-update.ignore-delete"], Merge,
        "Leave rows of kind -U and -D out when rows are written and merged.");
    ignore_update_before: bool = (BOOL, "ignore-update-before", "false", [], Write, "Leave rows of kind -U out when rows are written.");
    rowkind_field: Option<String> = (NAME, "rowkind.field", none, [], Write, "Text column that holds the kind of each row that is written.");
    force_lookup: bool = (BOOL, "force-lookup", "false", [], Merge, "Look older versions of keys up when files are compacted, whatever the other options want.");
    pk_clustering_override: bool = (BOOL, "pk-clustering-override", "false", [], Merge, "Sort files above level 0 by other columns than the key.");
    postpone_merge_on_read: bool = (BOOL, "postpone.merge-on-read", "false", [], Scan, "Merge the rows of bucket -2 with those of the other buckets when they are read.");
    num_levels: Option<i32> = (POSITIVE_INT, "num-levels", none, [], Scan, "Levels of a bucket; one more than `num-sorted-run.compaction-trigger` when absent.");
    num_sorted_run_compaction_trigger: i32 = (POSITIVE_INT, "num-sorted-run.compaction-trigger", "5", [], Scan, "Sorted runs of a bucket from which a compaction starts.");
    deletion_vectors_enabled: bool = (BOOL, "deletion-vectors.enabled", "false", [], Merge, "Mark deleted rows of files instead of merging at read time.");
    deletion_vectors_merge_on_read: bool = (BOOL, "deletion-vectors.merge-on-read", "false", [], Merge, "Batch reads merge files of level 0 too.");
    deletion_vectors_bitmap64: bool = (BOOL, "deletion-vectors.bitmap64", "false", [], Write, "Write deletion vectors with 64-bit positions.");
    index_file_in_data_file_dir: bool = (BOOL, "index-file-in-data-file-dir", "false", [], Schema, "Keep index files beside the data files.");

    file_format: String = (IDENTIFIER, "file.format", "parquet", [], Write, "Format of new data files.");
    file_format_per_level: BTreeMap<String, String> = (MAP, "file.format.per.level", "", [], Write, "Format of new data files of a level, `level:format`.");
    file_compression: String = (IDENTIFIER, "file.compression", "zstd", [], Write, "Codec of new data files.");
    file_compression_per_level: BTreeMap<String, String> = (MAP, "file.compression.per.level", "", [], Write, "Codec of new data files of a level, `level:codec`.");
    file_compression_zstd_level: i32 = (INT, "file.compression.zstd-level", "1", [], Write, "Effort of the zstd codec.");
    file_block_size: Option<u64> = (MEMORY, "file.block-size", none, [], Write, "Size of a row group or stripe.");
    file_suffix_include_compression: bool = (BOOL, "file.suffix.include.compression", "false", [], Write, "Put the codec before the format in file names.");
    data_file_prefix: String = (STRING, "data-file.prefix", "data-", [], Write, "Start of data file names.");
    data_file_thin_mode: bool = (BOOL, "data-file.thin-mode", "false", [], Write, "Write files without the key columns that the values hold too.");
    changelog_file_prefix: String = (STRING, "changelog-file.prefix", "changelog-", [], Write, "Start of changelog file names.");
    changelog_file_format: Option<String> = (IDENTIFIER, "changelog-file.format", none, [], Write, "Format of new changelog files; that of data files when absent.");
    changelog_file_compression: Option<String> = (IDENTIFIER, "changelog-file.compression", none, [], Write, "Codec of new changelog files; that of data files when absent.");
    changelog_file_stats_mode: Option<StatsMode> = (STATS_MODE, "changelog-file.stats-mode", none, [], Write, "Statistics kept for changelog files; those of data files when absent.");
    data_file_path_directory: Option<String> = (NAME, "data-file.path-directory", none, [], Schema, "Directory under the table that holds the partitions.");
    data_file_external_paths: Option<Vec<String>> = (NAMES, "data-file.external-paths", none, [], Write, "Other roots for new data files.");
    data_file_external_paths_strategy: ExternalPathStrategy = (EXTERNAL_PATH_STRATEGY, "data-file.external-paths.strategy", "none", [], Write,
        "How a root is chosen for a new file.");
    target_file_size_option: Option<u64> = (MEMORY, "target-file-size", none, [], Write,
        "Size at which a new file is closed; 128 mb with a primary key, else 256 mb.");
    target_file_row_num: i64 = (POSITIVE_LONG, "target-file-row-num", "9223372036854775807", [], Write, "Rows after which a new file is closed.");
    write_batch_size: i32 = (POSITIVE_INT, "write.batch-size", "1024", ["orc.write.batch-size"], Write, "Rows in a batch given to a format writer.");
    write_batch_memory: u64 = (MEMORY, "write.batch-memory", "128 mb", [], Write, "Bytes in a batch given to a format writer.");
    write_buffer_size: u64 = (MEMORY, "write-buffer-size", "256 mb", [], Write, "Memory shared by the writers of one task.");
    write_buffer_spillable: bool = (BOOL, "write-buffer-spillable", "true", [], Write, "Put rows of full buffers into temporary files instead of into data files.");
    write_buffer_spill_max_disk_size: u64 = (MEMORY, "write-buffer-spill.max-disk-size", "9223372036854775807 b", [], Write,
        "Bytes of temporary files of a bucket from which full buffers become data files.");
    spill_compression: Option<String> = (IDENTIFIER, "spill-compression", none, [], Merge,
        "Codec of temporary files: zstd, lz4, lzo or none; none when absent, because to compress takes longer than to write.");
    spill_compression_zstd_level: i32 = (INT, "spill-compression.zstd-level", "1", [], Merge, "Effort of zstd for temporary files.");
    local_sort_max_num_file_handles: i32 = (POSITIVE_INT, "local-sort.max-num-file-handles", "128", [], Write, "Temporary files that are merged at once.");
    write_sequence_number_init_mode: SequenceNumberInitMode = (SEQUENCE_NUMBER_INIT_MODE, "write.sequence-number-init-mode", "scan", [], Write,
        "Where the first sequence number of a writer comes from.");
    write_only: bool = (BOOL, "write-only", "false", ["write.compaction-skip"], Write, "Skip compaction, expiration and other maintenance.");
    metadata_stats_mode: StatsMode = (STATS_MODE, "metadata.stats-mode", "truncate(16)", [], Write,
        "Statistics kept for the columns of a file; `fields.<column>.stats-mode` overrides it for one column.");
    metadata_stats_mode_per_level: BTreeMap<String, String> = (MAP, "metadata.stats-mode.per.level", "", [], Write, "Statistics kept for files of a level, `level:mode`.");
    metadata_stats_dense_store: bool = (BOOL, "metadata.stats-dense-store", "true", [], Write, "Leave columns without statistics out of the stored rows.");
    metadata_stats_keep_first_n_columns: i32 = (INT, "metadata.stats-keep-first-n-columns", "-1", [], Write,
        "Keep statistics of the first n columns only; -1 for all.");
    partition_default_name: String = (NAME, "partition.default-name", "__DEFAULT_PARTITION__", [], Schema, "Directory value of a NULL or blank partition value.");
    partition_legacy_name: bool = (BOOL, "partition.legacy-name", "true", [], Schema, "Write partition values as Java's toString does, not as SQL casts do.");

    manifest_format: String = (IDENTIFIER, "manifest.format", "avro", [], Commit, "Format of new manifests and manifest lists.");
    manifest_compression: String = (IDENTIFIER, "manifest.compression", "zstd", [], Commit, "Codec of manifests and manifest lists.");
    avro_codec: Option<String> = (IDENTIFIER, "avro.codec", none, [], Commit, "Avro codec; stronger than the other codec options.");
    manifest_target_file_size: u64 = (MEMORY, "manifest.target-file-size", "8 mb", [], Commit, "Size at which a new manifest is closed.");
    manifest_full_compaction_threshold_size: u64 = (MEMORY, "manifest.full-compaction-threshold-size", "16 mb", [], Commit,
        "Bytes of small or deleting manifests that start a full merge of manifests.");
    manifest_merge_min_count: i32 = (POSITIVE_INT, "manifest.merge-min-count", "30", [], Commit, "Fewest small manifests for a minor merge.");
    manifest_delete_file_drop_stats: bool = (BOOL, "manifest.delete-file-drop-stats", "false", [], Commit, "Write DELETE entries without statistics.");
    commit_user_prefix: Option<String> = (NAME, "commit.user-prefix", none, [], Commit, "Start of generated commit users.");
    commit_timeout_millis: Option<i64> = (DURATION, "commit.timeout", none, [], Commit, "Time after which a commit stops trying again; no limit when absent.");
    commit_max_retries: i32 = (COUNT, "commit.max-retries", "10", [], Commit, "How often a commit tries again after a lost race.");
    commit_min_retry_wait_millis: i64 = (DURATION, "commit.min-retry-wait", "10 ms", [], Commit, "Shortest wait between tries.");
    commit_max_retry_wait_millis: i64 = (DURATION, "commit.max-retry-wait", "10 s", [], Commit, "Longest wait between tries.");
    commit_force_create_snapshot: bool = (BOOL, "commit.force-create-snapshot", "false", [], Commit, "Commit a snapshot even when there is nothing to commit.");
    commit_discard_duplicate_files: bool = (BOOL, "commit.discard-duplicate-files", "false", [], Commit, "Ignore appended files that the table has already.");
    commit_strict_mode_last_safe_snapshot: Option<i64> = (LONG, "commit.strict-mode.last-safe-snapshot", none, [], Commit,
        "Fail when others changed the same partitions after this snapshot.");
    snapshot_ignore_empty_commit: Option<bool> = (BOOL, "snapshot.ignore-empty-commit", none, [], Commit, "Do not commit when there is nothing to commit; batch: true when absent.");
    overwrite_upgrade: bool = (BOOL, "overwrite-upgrade", "true", [], Commit, "Put the files of an overwrite that share no key on the top level.");
    dynamic_partition_overwrite: bool = (BOOL, "dynamic-partition-overwrite", "true", [], Commit, "Overwrite replaces only the partitions that the new rows have.");
    row_tracking_partition_group_on_commit: bool = (BOOL, "row-tracking.partition-group-on-commit", "true", [], Commit,
        "Group new files by partition before row ids are given.");
    file_operation_thread_num: Option<i32> = (POSITIVE_INT, "file-operation.thread-num", none, ["delete-file.thread-num"], Commit,
        "Concurrent deletes and checks of files; as many as processors when absent.");

    snapshot_num_retained_min: i32 = (POSITIVE_INT, "snapshot.num-retained.min", "10", [], Expire, "Snapshots that are always kept.");
    snapshot_num_retained_max: i32 = (POSITIVE_INT, "snapshot.num-retained.max", "2147483647", [], Expire, "Snapshots beyond this number expire.");
    snapshot_time_retained_millis: i64 = (DURATION, "snapshot.time-retained", "1 h", [], Expire, "Age from which snapshots may expire.");
    changelog_num_retained_min: Option<i32> = (POSITIVE_INT, "changelog.num-retained.min", none, [], Expire, "Changelogs that are always kept; as snapshots when absent.");
    changelog_num_retained_max: Option<i32> = (POSITIVE_INT, "changelog.num-retained.max", none, [], Expire, "Changelogs beyond this number expire; as snapshots when absent.");
    changelog_time_retained_millis: Option<i64> = (DURATION, "changelog.time-retained", none, [], Expire, "Age from which changelogs may expire; as snapshots when absent.");
    snapshot_expire_limit: i32 = (POSITIVE_INT, "snapshot.expire.limit", "50", [], Expire, "Most snapshots that expire at once.");
    snapshot_clean_empty_directories: bool = (BOOL, "snapshot.clean-empty-directories", "false", ["snapshot.expire.clean-empty-directories"], Expire,
        "Delete directories that expiration left empty.");

    source_split_target_size: u64 = (MEMORY, "source.split.target-size", "128 mb", [], Scan, "Bytes of files packed into one split.");
    source_split_open_file_cost: u64 = (MEMORY, "source.split.open-file-cost", "4 mb", [], Scan, "Least weight of a file when splits are packed.");
    scan_mode: StartupMode = (STARTUP_MODE, "scan.mode", "default", ["log.scan"], Scan, "Where a read starts; `default` follows from the other scan options.");
    scan_snapshot_id: Option<i64> = (LONG, "scan.snapshot-id", none, [], Scan, "Snapshot to read.");
    scan_tag_name: Option<String> = (NAME, "scan.tag-name", none, [], Scan, "Tag to read.");
    scan_version: Option<String> = (NAME, "scan.version", none, [], Scan, "Tag name, `watermark-<n>` or snapshot id to read.");
    scan_timestamp_millis: Option<i64> = (LONG, "scan.timestamp-millis", none, ["log.scan.timestamp-millis"], Scan,
        "Read the last snapshot at or before this time (epoch milliseconds).");
    scan_timestamp: Option<String> = (NAME, "scan.timestamp", none, [], Scan, "Read the last snapshot at or before this local time.");
    scan_watermark: Option<i64> = (LONG, "scan.watermark", none, [], Scan, "Read the first snapshot with this watermark or a later one.");
    scan_file_creation_time_millis: Option<i64> = (LONG, "scan.file-creation-time-millis", none, [], Scan, "Read files created at or after this time only.");
    scan_creation_time_millis: Option<i64> = (LONG, "scan.creation-time-millis", none, [], Scan, "Start of mode from-creation-timestamp.");
    incremental_between: Option<String> = (NAME, "incremental-between", none, [], Scan, "Start (excluded) and end of an incremental read: snapshot ids or tags `a,b`.");
    incremental_between_timestamp: Option<String> = (NAME, "incremental-between-timestamp", none, [], Scan, "Start (excluded) and end of an incremental read as times `a,b`.");
    incremental_to_auto_tag: Option<String> = (NAME, "incremental-to-auto-tag", none, [], Scan, "Read what changed from the previous automatic tag to this one.");
    incremental_between_scan_mode: IncrementalScanMode = (INCREMENTAL_SCAN_MODE, "incremental-between-scan-mode", "auto", [], Scan, "Source of the rows of an incremental read.");
    incremental_between_tag_to_snapshot: bool = (BOOL, "incremental-between-tag-to-snapshot", "false", [], Scan,
        "Read the snapshots between two tags, not the difference of the tags.");
    scan_manifest_parallelism: Option<i32> = (POSITIVE_INT, "scan.manifest.parallelism", none, [], Scan, "Manifests read at once; as many as processors when absent.");
    scan_plan_sort_partition: bool = (BOOL, "scan.plan-sort-partition", "false", [], Scan, "Give splits in the order of partitions.");
    scan_bucket: Option<i32> = (COUNT, "scan.bucket", none, [], Scan, "Plan one bucket only (primary key tables).");
    scan_fallback_branch: Option<String> = (NAME, "scan.fallback-branch", none, [], Scan, "Branch that is read for partitions missing in this one.");
    scan_primary_branch: Option<String> = (NAME, "scan.primary-branch", none, [], Scan, "Branch that is read first; this branch fills its gaps.");
    chain_table_enabled: bool = (BOOL, "chain-table.enabled", "false", [], Scan, "Read a chain of a snapshot branch and a delta branch.");
    query_auth_enabled: bool = (BOOL, "query-auth.enabled", "false", [], Scan, "Ask the catalog which rows and columns the user may read.");
    batch_scan_mode: String = (IDENTIFIER, "batch-scan-mode", "none", [], Scan, "Internal: plan for compaction (`none` or `compact`).");
    key_value_sequence_number_enabled: bool = (BOOL, "key-value.sequence_number.enabled", "false", [], Scan, "Internal: add the sequence number to what is read.");

    file_index_read_enabled: bool = (BOOL, "file-index.read.enabled", "true", [], Read, "Use file indexes to leave files and rows out.");
    read_batch_size: i32 = (POSITIVE_INT, "read.batch-size", "1024", [], Read, "Rows in a batch that a reader gives.");
    scan_ignore_corrupt_files: bool = (BOOL, "scan.ignore-corrupt-files", "false", [], Read, "Leave data files out that cannot be read.");
    scan_ignore_lost_files: bool = (BOOL, "scan.ignore-lost-files", "false", [], Read, "Leave data files out that do not exist.");
    blob_field: Option<Vec<String>> = (NAMES, "blob-field", none, [], Read, "BYTES columns stored as BLOB.");
    blob_descriptor_field: Option<Vec<String>> = (NAMES, "blob-descriptor-field", none, ["blob.stored-descriptor-fields"], Read, "BLOB columns stored as descriptors.");
    blob_view_field: Option<Vec<String>> = (NAMES, "blob-view-field", none, [], Read, "BLOB columns stored as references to another table.");
}

impl Default for CoreOptions {
    fn default() -> Self {
        let map = BTreeMap::new();
        match CoreOptions::parse(&Source {
            map: &map,
            for_read: false,
        }) {
            Ok(options) => options,
            // Every default is parsed by a test; an empty map has no other value that could be bad.
            Err(error) => unreachable!("default options: {error}"),
        }
    }
}

impl CoreOptions {
    /// Parses table options. Unknown keys are ignored.
    ///
    /// # Errors
    /// `InvalidInput` that names the option, its value and what is allowed.
    pub fn from_map(options: &BTreeMap<String, String>) -> Result<CoreOptions> {
        CoreOptions::parse(&Source {
            map: options,
            for_read: false,
        })
    }

    /// As [`from_map`](CoreOptions::from_map) for a reader: an option that only concerns writers and has a value that is
    /// not understood keeps its default, so that tables of newer writers stay readable.
    ///
    /// # Errors
    /// `InvalidInput` for a bad value of an option that readers use.
    pub fn from_map_for_read(options: &BTreeMap<String, String>) -> Result<CoreOptions> {
        CoreOptions::parse(&Source {
            map: options,
            for_read: true,
        })
    }

    /// All options as text, unknown ones included.
    pub fn raw(&self) -> &BTreeMap<String, String> {
        &self.raw
    }

    /// How partition values are written in paths: `partition.default-name` and `partition.legacy-name`.
    pub fn partition_naming(&self) -> PartitionNaming {
        PartitionNaming {
            default_name: self.partition_default_name.clone(),
            legacy: self.partition_legacy_name,
        }
    }

    /// `target-file-size`, or its default: 128 MiB with a primary key, else 256 MiB.
    pub fn target_file_size(&self, has_primary_key: bool) -> u64 {
        self.target_file_size_option
            .unwrap_or(if has_primary_key { 128 << 20 } else { 256 << 20 })
    }

    /// The highest level that compactions fill: `num-levels` less one, by default `num-sorted-run.compaction-trigger`.
    pub fn top_level(&self) -> i32 {
        match self.num_levels {
            Some(levels) => levels.saturating_sub(1),
            None => self.num_sorted_run_compaction_trigger,
        }
    }

    /// `commit.*`: true when an empty batch commit makes no snapshot (Java batch builder).
    pub fn ignore_empty_batch_commit(&self) -> bool {
        !self.commit_force_create_snapshot && self.snapshot_ignore_empty_commit.unwrap_or(true)
    }

    /// The options whose key starts with `<format>.` in any case, prefix kept; they go to the format.
    pub fn format_options(&self, format: &str) -> BTreeMap<String, String> {
        let prefix = format!("{}.", format.to_lowercase());
        let wanted = self
            .raw
            .iter()
            .filter(|(key, _)| key.to_lowercase().starts_with(&prefix));
        wanted.map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// Statistics kept for a user column, `index` being its position among the user columns of the file
    /// (`metadata.md` 5): its own option, then the first-n rule, then the table's mode.
    ///
    /// # Errors
    /// `InvalidInput` when `fields.<column>.stats-mode` is not a mode.
    pub fn stats_mode(&self, column: &str, index: usize) -> Result<StatsMode> {
        let key = format!("fields.{column}.stats-mode");
        if let Some(text) = self.raw.get(&key) {
            return StatsMode::parse(text).ok_or_else(|| bad_value(&key, text, STATS_MODE.allowed));
        }
        match usize::try_from(self.metadata_stats_keep_first_n_columns) {
            Ok(first) if index >= first => Ok(StatsMode::None),
            _ => Ok(self.metadata_stats_mode),
        }
    }
}
