// SPDX-License-Identifier: Apache-2.0

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use super::*;
use crate::{DataField, DataType, TableSchema};

fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect()
}

fn options(pairs: &[(&str, &str)]) -> CoreOptions {
    CoreOptions::from_map(&map(pairs)).unwrap()
}

fn schema(options: &[(&str, &str)]) -> TableSchema {
    TableSchema {
        version: 3,
        id: 0,
        fields: vec![DataField::new(0, "a", DataType::string())],
        highest_field_id: 0,
        partition_keys: vec![],
        primary_keys: vec![],
        options: map(options),
        comment: None,
        time_millis: 0,
    }
}

#[test]
fn every_row_of_the_table_is_parsed_and_defaults_agree() {
    let defaults = CoreOptions::default();
    let mut keys = HashSet::new();
    for spec in OPTIONS {
        for key in std::iter::once(&spec.key).chain(spec.fallback_keys) {
            assert!(keys.insert(*key), "{key} is in the table twice");
        }
        assert!(
            spec.meaning.ends_with('.') && !spec.allowed.is_empty(),
            "{}",
            spec.key
        );
        // The default given as text is the default.
        if let Some(text) = spec.default {
            for key in std::iter::once(&spec.key).chain(spec.fallback_keys) {
                let mut given = options(&[(key, text)]);
                given.raw.clear();
                assert_eq!(given, defaults, "{key} = {text}");
            }
        }
        // The option is looked at: some text is refused, by key, value and what is allowed; or it changes the result.
        let bad = "\u{0}, :";
        let mut outcome = CoreOptions::from_map(&map(&[(spec.key, bad)]));
        if let Ok(parsed) = &mut outcome {
            parsed.raw.clear();
        }
        match outcome {
            Err(error) => {
                let text = error.to_string();
                for part in [spec.key, bad, spec.allowed] {
                    assert!(text.contains(part), "{text}");
                }
                assert_eq!(error.kind(), crate::ErrorKind::InvalidInput);
            }
            Ok(parsed) => assert_ne!(parsed, defaults, "{} is not parsed", spec.key),
        }
    }
}

#[test]
fn documentation_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/options.md");
    let page = options_markdown();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        stored, page,
        "run UPDATE_DOCS=1 cargo test -p paimon-types documentation"
    );
}

/// The default of a kind of values is that of its option, which the table says.
#[test]
fn enums_begin_with_the_default() {
    let d = CoreOptions::default();
    assert_eq!(d.table_type, TableType::default());
    assert_eq!(d.scan_mode, StartupMode::default());
    assert_eq!(d.merge_engine, MergeEngine::default());
    assert_eq!(d.changelog_producer, ChangelogProducer::default());
    assert_eq!(d.sequence_field_sort_order, SortOrder::default());
    assert_eq!(
        d.write_sequence_number_init_mode,
        SequenceNumberInitMode::default()
    );
    assert_eq!(d.incremental_between_scan_mode, IncrementalScanMode::default());
    assert_eq!(
        d.data_file_external_paths_strategy,
        ExternalPathStrategy::default()
    );
    assert_eq!(d.metadata_stats_mode, StatsMode::default());
    assert_eq!(d.bucket_function, BucketFunction::default());
}

#[test]
fn documented_defaults() {
    let d = CoreOptions::default();
    assert_eq!(
        (d.bucket, d.file_format.as_str(), d.file_compression.as_str()),
        (-1, "parquet", "zstd")
    );
    assert_eq!(
        (d.source_split_target_size, d.source_split_open_file_cost),
        (128 << 20, 4 << 20)
    );
    assert_eq!(
        (d.target_file_size(true), d.target_file_size(false)),
        (128 << 20, 256 << 20)
    );
    assert_eq!(
        (d.snapshot_num_retained_min, d.snapshot_num_retained_max),
        (10, i32::MAX)
    );
    assert_eq!(
        (d.snapshot_time_retained_millis, d.commit_max_retry_wait_millis),
        (3_600_000, 10_000)
    );
    assert_eq!(d.partition_naming(), PartitionNaming::default());
    assert_eq!(d.metadata_stats_mode, StatsMode::Truncate(16));
    assert_eq!((d.commit_timeout_millis, d.commit_max_retries), (None, 10));
    assert!(d.dynamic_partition_overwrite && d.metadata_stats_dense_store && d.ignore_empty_batch_commit());
}

#[test]
fn memory_sizes() {
    let good = [
        ("128 mb", 128u64 << 20),
        ("500 B", 500),
        ("1b", 1),
        ("1024", 1024),
        (" 8 Mb ", 8 << 20),
        ("2kibibytes", 2048),
        ("1 t", 1 << 40),
        ("9223372036854775807", i64::MAX as u64),
        ("0", 0),
    ];
    for (text, bytes) in good {
        assert_eq!(parse_memory_size(text).unwrap(), bytes, "{text}");
    }
    for text in [
        "",
        "mb",
        "-1",
        "1.5 mb",
        "1 pb",
        "9223372036854775808",
        "8589934592 gb",
        "1 mb x",
    ] {
        assert!(parse_memory_size(text).is_err(), "{text}");
    }
}

#[test]
fn durations() {
    let good = [
        ("1 h", 3_600_000),
        ("10 min", 600_000),
        ("30 s", 30_000),
        ("500 ms", 500),
        ("500", 500),
        ("2 days", 172_800_000),
        ("1999 µs", 1),
        ("5000000ns", 5),
        ("0", 0),
    ];
    for (text, millis) in good {
        assert_eq!(parse_duration_millis(text).unwrap(), millis, "{text}");
    }
    for text in ["", "h", "-1 s", "1 year", "1.5 s", "106751991168 d"] {
        assert!(parse_duration_millis(text).is_err(), "{text}");
    }
}

#[test]
fn values_of_every_kind() {
    let o = options(&[
        ("bucket", "4"),
        ("bucket-key", "a,b"),
        ("bucket-function.type", "MOD"),
        ("file.format", "ORC"),
        ("file.format.per.level", "0:avro, 3:orc"),
        ("write-only", "True"),
        ("metadata.stats-mode", "Truncate(4)"),
        ("scan.mode", "full"),
        ("unknown.key", "kept"),
    ]);
    assert_eq!(
        (o.bucket, o.bucket_function, o.file_format.as_str()),
        (4, BucketFunction::Mod, "orc")
    );
    assert_eq!(o.bucket_key, Some(vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!(o.file_format_per_level, map(&[("0", "avro"), ("3", "orc")]));
    assert_eq!(
        (o.write_only, o.metadata_stats_mode),
        (true, StatsMode::Truncate(4))
    );
    assert_eq!(o.scan_mode, StartupMode::LatestFull);
    assert_eq!(o.raw().get("unknown.key").map(String::as_str), Some("kept"));
    // The main key is stronger than the others.
    assert!(options(&[("write.compaction-skip", "true")]).write_only);
    assert!(!options(&[("write.compaction-skip", "true"), ("write-only", "false")]).write_only);
    for bad in [
        ("bucket", "0"),
        ("bucket", "-3"),
        ("write-only", "yes"),
        ("target-file-row-num", "0"),
    ] {
        assert!(CoreOptions::from_map(&map(&[bad])).is_err(), "{bad:?}");
    }
}

#[test]
fn case_65_readers_ignore_bad_values_of_writers() {
    let newer = map(&[
        ("metadata.stats-mode", "histogram"),
        ("changelog-producer", "magic"),
    ]);
    assert!(CoreOptions::from_map(&newer).is_err());
    let options = CoreOptions::from_map_for_read(&newer).unwrap();
    assert_eq!(options.metadata_stats_mode, StatsMode::Truncate(16));
    assert!(CoreOptions::from_map_for_read(&map(&[("merge-engine", "magic")])).is_err());
    assert!(CoreOptions::from_map_for_read(&map(&[("bucket-function.type", "magic")])).is_err());
}

#[test]
fn stats_mode_precedence() {
    let o = options(&[
        ("metadata.stats-mode", "full"),
        ("metadata.stats-keep-first-n-columns", "2"),
        ("fields.z.stats-mode", "counts"),
    ]);
    assert_eq!(o.stats_mode("a", 0).unwrap(), StatsMode::Full);
    assert_eq!(o.stats_mode("b", 1).unwrap(), StatsMode::Full);
    assert_eq!(o.stats_mode("c", 2).unwrap(), StatsMode::None);
    assert_eq!(o.stats_mode("z", 25).unwrap(), StatsMode::Counts);
    assert_eq!(
        options(&[("metadata.stats-keep-first-n-columns", "0")])
            .stats_mode("a", 0)
            .unwrap(),
        StatsMode::None
    );
    let error = options(&[("fields.a.stats-mode", "truncate(0)")])
        .stats_mode("a", 0)
        .unwrap_err();
    assert!(error.to_string().contains("fields.a.stats-mode"), "{error}");
    for (text, mode) in [
        ("none", StatsMode::None),
        ("truncate(16)", StatsMode::Truncate(16)),
    ] {
        assert_eq!(
            (StatsMode::parse(text), mode.to_string()),
            (Some(mode), text.to_owned())
        );
    }
}

#[test]
fn format_options_by_prefix() {
    let o = options(&[
        ("parquet.block.size", "1"),
        ("Parquet.page.size", "2"),
        ("orc.x", "3"),
        ("parquetx", "4"),
    ]);
    assert_eq!(
        o.format_options("PARQUET"),
        map(&[("parquet.block.size", "1"), ("Parquet.page.size", "2")])
    );
}

#[test]
fn startup_mode_follows_from_the_selectors() {
    let cases: &[(&[(&str, &str)], StartupMode)] = &[
        (&[], StartupMode::LatestFull),
        (&[("scan.timestamp-millis", "1")], StartupMode::FromTimestamp),
        (&[("scan.timestamp", "2024-01-01")], StartupMode::FromTimestamp),
        (&[("scan.snapshot-id", "1")], StartupMode::FromSnapshot),
        (&[("scan.tag-name", "t")], StartupMode::FromSnapshot),
        (&[("scan.watermark", "1")], StartupMode::FromSnapshot),
        (&[("scan.version", "t")], StartupMode::FromSnapshot),
        (
            &[("scan.file-creation-time-millis", "1")],
            StartupMode::FromFileCreationTime,
        ),
        (
            &[("scan.creation-time-millis", "1")],
            StartupMode::FromCreationTimestamp,
        ),
        (&[("incremental-between", "1,2")], StartupMode::Incremental),
        (&[("scan.mode", "latest-delta")], StartupMode::LatestDelta),
        (
            &[("scan.mode", "from-snapshot-full"), ("scan.snapshot-id", "3")],
            StartupMode::FromSnapshotFull,
        ),
    ];
    for (pairs, mode) in cases {
        let o = options(pairs);
        assert_eq!(o.startup_mode(), *mode, "{pairs:?}");
        o.check_startup().unwrap();
    }
    let bad: &[&[(&str, &str)]] = &[
        &[("scan.snapshot-id", "1"), ("scan.tag-name", "t")],
        &[("scan.snapshot-id", "1"), ("scan.timestamp-millis", "1")],
        &[("scan.mode", "from-snapshot")],
        &[("scan.mode", "from-snapshot-full"), ("scan.tag-name", "t")],
        &[("scan.mode", "latest"), ("scan.snapshot-id", "1")],
        &[
            ("scan.mode", "incremental"),
            ("incremental-between", "1,2"),
            ("incremental-between-timestamp", "1,2"),
        ],
    ];
    for pairs in bad {
        assert!(options(pairs).check_startup().is_err(), "{pairs:?}");
    }
}

#[test]
fn readers_refuse_by_name_what_changes_the_rows() {
    let refused = [
        ("type", "format-table"),
        ("type", "materialized-table"),
        ("data-evolution.enabled", "true"),
        ("chain-table.enabled", "true"),
        ("query-auth.enabled", "true"),
        ("scan.fallback-branch", "rt"),
        ("scan.primary-branch", "rt"),
        ("scan.bucket", "1"),
        ("batch-scan-mode", "compact"),
    ];
    for (key, value) in refused {
        let schema = schema(&[(key, value)]);
        let error = options(&[(key, value)]).check_readable(&schema).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Unsupported);
        assert!(
            error.to_string().contains(key) && error.to_string().contains(value),
            "{error}"
        );
    }
    let mut keyed = schema(&[]);
    keyed.primary_keys = vec!["a".to_owned()];
    options(&[]).check_readable(&keyed).unwrap();

    let fine = [
        ("row-tracking.enabled", "true"),
        ("deletion-vectors.enabled", "true"),
        ("commit.force-compact", "true"),
        ("file-index.bloom-filter.columns", "a"),
        ("data-evolution.enabled", "false"),
        ("type", "TABLE"),
        ("scan.snapshot-id", "4"),
    ];
    let schema = schema(&fine);
    options(&fine).check_readable(&schema).unwrap();
}

#[test]
fn case_64_odd_columns_are_refused_only_when_selected() {
    let pairs = [
        ("fields.m.map.storage-layout", "shared-shredding"),
        ("blob-descriptor-field", "b, c"),
    ];
    let o = options(&pairs);
    o.check_readable(&schema(&pairs)).unwrap();
    o.check_column_readable("a").unwrap();
    for column in ["m", "b", "c"] {
        assert!(
            o.check_column_readable(column)
                .unwrap_err()
                .to_string()
                .contains(column)
        );
    }
    options(&[("fields.m.map.storage-layout", "default")])
        .check_column_readable("m")
        .unwrap();
}
