// SPDX-License-Identifier: Apache-2.0

//! What a version cannot carry and what nobody knows: errors with the number or field found and what is known.

use paimon_protocol::codec::java::{
    CommittableEncoding, SplitEncoding, decode_commit_message, encode_commit_message, encode_commit_messages,
};
use paimon_protocol::{
    ChainSplit, Codec, CommitMessage, DataFileMeta, DataSplit, DeletionFile, DeletionVectorMeta, FileSource,
    GlobalIndexMeta, IndexFileMeta, ManifestCommittable, Partition, QueryAuth, RowValues, SimpleStats, Split,
};
use paimon_types::ErrorKind;

fn file() -> DataFileMeta {
    DataFileMeta {
        file_name: "f".into(),
        file_size: 10,
        row_count: 1,
        min_key: RowValues::empty(),
        max_key: RowValues::empty(),
        key_stats: SimpleStats::empty(),
        value_stats: SimpleStats::empty(),
        min_sequence_number: 0,
        max_sequence_number: 0,
        schema_id: 0,
        level: 0,
        extra_files: vec![],
        creation_time: Some(0),
        delete_row_count: None,
        embedded_index: None,
        file_source: None,
        value_stats_cols: None,
        external_path: None,
        first_row_id: None,
        write_cols: None,
        write_cols_sequences: None,
    }
}

fn split() -> DataSplit {
    DataSplit {
        snapshot_id: 1,
        partition: Partition::unpartitioned(),
        bucket: 0,
        bucket_path: "b".into(),
        total_buckets: None,
        data_files: vec![file()],
        deletion_files: None,
        is_streaming: false,
        raw_convertible: true,
    }
}

fn index() -> IndexFileMeta {
    IndexFileMeta {
        index_type: "HASH".into(),
        file_name: "i".into(),
        file_size: 4,
        row_count: 1,
        dv_ranges: None,
        external_path: None,
        global_index: None,
    }
}

#[test]
fn split_fields_and_the_version_that_carries_them() {
    type Change = fn(&mut DataSplit);
    let cases: [(&str, i32, Change); 9] = [
        ("file_source of a data file", 2, |s| {
            s.data_files[0].file_source = Some(FileSource::Append)
        }),
        ("value_stats_cols of a data file", 3, |s| {
            s.data_files[0].value_stats_cols = Some([].into())
        }),
        ("cardinality of a deletion file", 4, |s| {
            let file = DeletionFile {
                path: "p".into(),
                offset: 1,
                length: 2,
                cardinality: Some(0),
            };
            s.deletion_files = Some(vec![Some(file)]);
        }),
        ("external_path of a data file", 5, |s| {
            s.data_files[0].external_path = Some("p".into())
        }),
        ("total_buckets", 6, |s| s.total_buckets = Some(1)),
        ("first_row_id of a data file", 7, |s| {
            s.data_files[0].first_row_id = Some(0)
        }),
        ("write_cols of a data file", 8, |s| {
            s.data_files[0].write_cols = Some([].into())
        }),
        ("write_cols_sequences of a data file", 9, |s| {
            s.data_files[0].write_cols_sequences = Some(vec![])
        }),
        ("", 1, |_| {}),
    ];
    for (field, since, change) in cases {
        let mut split = split();
        change(&mut split);
        for version in 1..since {
            let error = split.to_java_bytes(version).unwrap_err();
            let expected = format!(
                "data split version {version} cannot carry {field}, expected version {since} or newer"
            );
            assert_eq!(
                (error.kind(), error.message()),
                (ErrorKind::InvalidInput, expected.as_str())
            );
        }
        for version in since..=9 {
            let bytes = split.to_java_bytes(version).unwrap();
            assert_eq!(
                DataSplit::from_java_bytes(&bytes).unwrap(),
                (split.clone(), version)
            );
        }
    }
}

/// Version 1 begins with the snapshot id, where the other forms have their magic or version.
#[test]
fn snapshot_ids_that_begin_another_form() {
    let ids = [
        2 << 32,
        (3 << 32) | 7,
        i64::from_be_bytes(*b"SPLIT_V1"),
        i64::from_be_bytes(*b"\x89PMSPLT\n"),
    ];
    for id in ids {
        let split = DataSplit {
            snapshot_id: id,
            ..split()
        };
        let error = split.to_java_bytes(1).unwrap_err();
        assert!(error.message().contains("begin another form"), "{error}");
        let bytes = split.to_java_bytes(2).unwrap();
        assert_eq!(DataSplit::from_java_bytes(&bytes).unwrap(), (split, 2));
    }
    let mut bytes = DataSplit {
        snapshot_id: 1,
        ..split()
    }
    .to_java_bytes(1)
    .unwrap();
    bytes[..8].copy_from_slice(&(1i64 << 32).to_be_bytes());
    assert_eq!(
        DataSplit::from_java_bytes(&bytes).unwrap_err().kind(),
        ErrorKind::Corrupt
    );
    // A version of incremental or chain splits that is to come.
    bytes[..8].copy_from_slice(&(4i64 << 32).to_be_bytes());
    let error = DataSplit::from_bytes(&bytes).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (
            ErrorKind::Unsupported,
            "unknown version 4 of an incremental or chain split, this build knows versions 1 to 2 and 1 to 3"
        )
    );
    bytes[..8].copy_from_slice(&(256i64 << 32).to_be_bytes());
    assert_eq!(DataSplit::from_bytes(&bytes).unwrap().snapshot_id, 256 << 32);
}

#[test]
fn message_fields_and_the_version_that_carries_them() {
    let global = |source_meta| GlobalIndexMeta {
        row_range_start: 0,
        row_range_end: 1,
        index_field_id: 2,
        extra_field_ids: None,
        index_meta: None,
        source_meta,
    };
    let with_index = |change: &dyn Fn(&mut IndexFileMeta)| {
        let (mut message, mut index) = (
            CommitMessage::append(Partition::unpartitioned(), 0, None, vec![]),
            index(),
        );
        change(&mut index);
        message.data_increment.new_index_files = vec![index];
        message
    };
    let mut total_buckets = CommitMessage::append(Partition::unpartitioned(), 0, Some(1), vec![]);
    let mut deleted = CommitMessage::append(Partition::unpartitioned(), 0, None, vec![]);
    deleted.data_increment.deleted_index_files = vec![index()];
    let mut beside = CommitMessage::append(Partition::unpartitioned(), 0, None, vec![]);
    beside.data_increment.new_index_files = vec![index()];
    beside.compact_increment.new_files = vec![file()];
    let mut alone = CommitMessage::append(Partition::unpartitioned(), 0, None, vec![]);
    alone.compact_increment.new_index_files = vec![index()];
    let mut checked = CommitMessage::append(Partition::unpartitioned(), 0, None, vec![]);
    checked.check_from_snapshot = Some(1);
    let mut sourced = CommitMessage::append(Partition::unpartitioned(), 0, None, vec![file()]);
    sourced.data_increment.new_files[0].write_cols_sequences = Some(vec![]);
    total_buckets.bucket = 3;
    let vector = DeletionVectorMeta {
        data_file_name: "f".into(),
        offset: 1,
        length: 2,
        cardinality: Some(1),
    };
    let cases = [
        ("deleted index files", 3, deleted),
        (
            "cardinality of a deletion vector",
            5,
            with_index(&|i| i.dv_ranges = Some(vec![vector.clone()])),
        ),
        ("total_buckets", 7, total_buckets),
        (
            "external_path of an index file",
            9,
            with_index(&|i| i.external_path = Some("p".into())),
        ),
        (
            "index files of the data increment beside a compaction",
            10,
            beside,
        ),
        ("index files of a compact increment without files", 10, alone),
        (
            "global_index of an index file",
            11,
            with_index(&|i| i.global_index = Some(global(None))),
        ),
        ("write_cols_sequences of a data file", 13, sourced),
        ("check_from_snapshot", 14, checked),
    ];
    for (field, since, message) in cases {
        for version in 2..since {
            let error = encode_commit_message(&message, version).unwrap_err();
            let expected = format!(
                "commit message version {version} cannot carry {field}, expected version {since} or newer"
            );
            assert_eq!(
                (error.kind(), error.message()),
                (ErrorKind::InvalidInput, expected.as_str())
            );
        }
        for version in since..=14 {
            let bytes = encode_commit_message(&message, version).unwrap();
            assert_eq!(
                decode_commit_message(&bytes, version).unwrap(),
                message,
                "version {version}"
            );
        }
    }
    let message = with_index(&|i| i.global_index = Some(global(Some(vec![1]))));
    let error = encode_commit_messages(&[message], 11).unwrap_err();
    let expected =
        "commit message version 11 cannot carry source_meta of a global index, expected version 12 or newer";
    assert_eq!(error.message(), expected);
}

#[test]
fn unknown_versions_and_kinds() {
    let bytes = split().to_java_bytes(9).unwrap();
    let with_i32 = |at: usize, value: i32| {
        let mut bytes = bytes.clone();
        bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
        bytes
    };
    for version in [0, 10, -1, 100] {
        let error = DataSplit::from_java_bytes(&with_i32(8, version)).unwrap_err();
        let expected = format!("unknown data split version {version}, this build knows versions 1 to 9");
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::Unsupported, expected.as_str())
        );
        assert_eq!(
            Split::from_java_bytes(&with_i32(8, version))
                .unwrap_err()
                .message(),
            expected
        );
        let error = split().to_java_bytes(version).unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::InvalidInput, expected.as_str())
        );
    }
    for version in [1, 15] {
        let expected = format!("unknown commit message version {version}, this build knows versions 2 to 14");
        assert_eq!(
            decode_commit_message(&[], version).unwrap_err().message(),
            expected
        );
        let message = CommitMessage::append(Partition::unpartitioned(), 0, None, vec![]);
        assert_eq!(
            encode_commit_message(&message, version).unwrap_err().message(),
            expected
        );
    }
    let error = ManifestCommittable::from_java_bytes(&[], 6).unwrap_err();
    assert_eq!(
        error.message(),
        "unknown committable version 6, this build knows versions 1 to 5"
    );
    let mut frame = Split::from(split())
        .to_java_bytes(SplitEncoding {
            framed: true,
            version: 9,
        })
        .unwrap();
    frame[15] = 8;
    let error = Split::from_java_bytes(&frame).unwrap_err();
    assert!(
        error
            .message()
            .starts_with("unknown split type 8, this build knows 1 data, 2 incremental"),
        "{error}"
    );
    frame[11] = 2;
    let error = Split::from_java_bytes(&frame).unwrap_err();
    assert_eq!(
        error.message(),
        "unknown split frame version 2, this build knows versions 1 to 1"
    );
}

/// Versions, kinds and trailing bytes of the kinds beside data splits.
#[test]
fn unknown_versions_and_leftovers_of_other_kinds() {
    use crate::native_work::all_kinds;
    for split in all_kinds() {
        let kind = split.kind();
        let framed = SplitEncoding {
            framed: true,
            ..split
                .to_bytes(paimon_protocol::Codec::Java(9))
                .map(|b| Split::from_java_bytes(&b).unwrap().1)
                .unwrap()
        };
        let bytes = split.to_java_bytes(framed).unwrap();
        let mut longer = bytes.clone();
        longer.push(0);
        let error = Split::from_java_bytes(&longer).unwrap_err();
        let expected = format!(
            "1 unexpected bytes after the last value at offset {}",
            bytes.len()
        );
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::Corrupt, expected.as_str()),
            "{kind}"
        );
        // Where the version stands behind the frame's head of sixteen bytes, what it may be, and its name.
        let (at, newest, name) = match kind {
            "data" | "fallback-data" => (24, 9, "data split"),
            "incremental" => (16, 2, "incremental split"),
            "indexed" => (24, 1, "indexed split"),
            "chain" => (16, 3, "chain split"),
            "query-auth" => (32, 3, "chain split"),
            "fallback" => (33, 2, "incremental split"),
            other => panic!("{other}"),
        };
        for version in [0, newest + 1, -7] {
            let mut other = bytes.clone();
            other[at..at + 4].copy_from_slice(&i32::to_be_bytes(version));
            let error = Split::from_java_bytes(&other).unwrap_err();
            let expected =
                format!("unknown {name} version {version}, this build knows versions 1 to {newest}");
            assert_eq!(
                (error.kind(), error.message()),
                (ErrorKind::Unsupported, expected.as_str()),
                "{kind}"
            );
        }
        // The kind of the inner frame.
        if matches!(kind, "query-auth" | "fallback") {
            let at = if kind == "query-auth" { 31 } else { 32 };
            let mut other = bytes.clone();
            other[at] = 9;
            let error = Split::from_java_bytes(&other).unwrap_err();
            assert!(
                error
                    .message()
                    .starts_with("unknown split type 9, this build knows 1 data"),
                "{kind}: {error}"
            );
        }
    }
}

#[test]
fn bytes_left_over() {
    let mut bytes = split().to_java_bytes(8).unwrap();
    let len = bytes.len();
    bytes.push(1);
    let error = DataSplit::from_java_bytes(&bytes).unwrap_err();
    let expected = format!("1 unexpected bytes after the last value at offset {len}");
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Corrupt, expected.as_str())
    );
    let (fallback, _) = Split::from_java_bytes(&bytes).unwrap();
    assert_eq!(
        fallback,
        Split::FallbackData {
            split: split(),
            is_fallback: true
        }
    );
    bytes[len] = 2;
    assert!(Split::from_java_bytes(&bytes).is_err());
    bytes.push(0);
    assert!(Split::from_java_bytes(&bytes).is_err());
}

/// A newer record under an older version: Java drops the value, we refuse.
#[test]
fn records_of_another_version() {
    let mut newer = split();
    newer.data_files[0].write_cols = Some(["a".into()].into());
    let mut bytes = newer.to_java_bytes(8).unwrap();
    bytes[11] = 7;
    let error = DataSplit::from_java_bytes(&bytes).unwrap_err();
    assert!(
        error
            .message()
            .contains("has a value in field 19, this version has 19 fields"),
        "{error}"
    );
    let mut bytes = split().to_java_bytes(8).unwrap();
    bytes[11] = 7;
    assert_eq!(DataSplit::from_java_bytes(&bytes).unwrap(), (split(), 7));
    bytes[11] = 9;
    let error = DataSplit::from_java_bytes(&bytes).unwrap_err();
    assert!(
        error
            .message()
            .contains("was written with 20 fields, this version has 21"),
        "{error}"
    );
}

#[test]
fn deletion_files_match_data_files() {
    let mut uneven = split();
    uneven.deletion_files = Some(vec![None, None]);
    let error = uneven.to_java_bytes(8).unwrap_err();
    assert_eq!(
        error.message(),
        "2 deletion file entries for 1 data files, expected one each"
    );
}

#[test]
fn frames_are_not_nested_without_limit() {
    let mut deep = Split::from(split());
    for _ in 0..7 {
        deep = Split::Fallback {
            split: Box::new(deep),
            is_fallback: false,
        };
    }
    let encoding = SplitEncoding {
        framed: true,
        version: 8,
    };
    let bytes = deep.to_java_bytes(encoding).unwrap();
    assert_eq!(Split::from_java_bytes(&bytes).unwrap(), (deep.clone(), encoding));
    let deep = Split::Fallback {
        split: Box::new(deep),
        is_fallback: false,
    };
    assert_eq!(
        deep.to_java_bytes(encoding).unwrap_err().message(),
        "splits are nested deeper than 8 levels"
    );
    // The eighth level by hand: magic, version 1, type 7, flag.
    let hostile = [&b"SPLIT_V1\0\0\0\x01\0\0\0\x07\0"[..], &bytes].concat();
    assert_eq!(
        Split::from_java_bytes(&hostile).unwrap_err().message(),
        "splits are nested deeper than 8 levels"
    );
}

/// Masking rules are a map: read in its order, a column twice is refused.
#[test]
fn masking_rules_are_one_a_column() {
    let rules = |columns: [&str; 2]| {
        let auth = QueryAuth {
            filter: None,
            column_masking: Some(columns.map(|column| (column.to_owned(), None)).into()),
        };
        Split::QueryAuth {
            split: Box::new(Split::Data(split())),
            auth: Some(auth),
        }
    };
    let sorted = rules(["c1", "c2"]);
    let bytes = sorted.to_bytes(Codec::JAVA_SPLIT).unwrap();
    assert_eq!(rules(["c2", "c1"]).to_bytes(Codec::JAVA_SPLIT).unwrap(), bytes);
    let swap = |to: [u8; 2]| {
        let mut bytes = bytes.clone();
        let at: Vec<usize> = (1..bytes.len())
            .filter(|i| bytes[i - 1] == b'c' && matches!(bytes[*i], b'1' | b'2'))
            .collect();
        assert_eq!(at.len(), 2);
        at.iter().zip(to).for_each(|(at, digit)| bytes[*at] = digit);
        Split::from_bytes(&bytes)
    };
    assert_eq!(swap(*b"21").unwrap(), sorted);
    let problem = "column has two masking rules, expected one";
    let error = swap(*b"11").unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Corrupt, problem));
    let native = |columns| rules(columns).to_bytes(Codec::Native);
    let error = Split::from_bytes(&replaced(native(["c1", "c2"]).unwrap(), b"c2", b"c1")).unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Corrupt, problem));
    for error in [native(["c", "c"]), rules(["c", "c"]).to_bytes(Codec::JAVA_SPLIT)] {
        let error = error.unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::InvalidInput, problem)
        );
    }
}

/// The last place of a text replaced in our own form, with a right checksum.
fn replaced(mut bytes: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = bytes
        .windows(from.len())
        .rposition(|window| window == from)
        .unwrap();
    bytes[at..at + to.len()].copy_from_slice(to);
    let body = bytes.len() - 4;
    let checksum = crc32fast::hash(&bytes[..body]).to_le_bytes();
    bytes[body..].copy_from_slice(&checksum);
    bytes
}

/// So are the bucket paths and branches of the files of a chain split.
#[test]
fn files_of_chain_splits_have_one_path_and_one_branch() {
    let chain = |paths: [&str; 2], branches: [&str; 2]| {
        let pairs = |names: [&str; 2]| names.map(|name| (name.to_owned(), "x".to_owned())).into();
        Split::Chain(ChainSplit {
            logical_partition: Partition::unpartitioned(),
            data_files: vec![],
            file_bucket_paths: pairs(paths),
            file_branches: pairs(branches),
            deletion_files: None,
        })
    };
    for codec in [Codec::JAVA_SPLIT, Codec::Native] {
        for (paths, branches, problem) in [
            (
                ["f1", "f1"],
                ["f1", "f2"],
                "file of a chain split has two bucket paths, expected one",
            ),
            (
                ["f1", "f2"],
                ["f1", "f1"],
                "file of a chain split has two branches, expected one",
            ),
        ] {
            let error = chain(paths, branches).to_bytes(codec).unwrap_err();
            assert_eq!(
                (error.kind(), error.message()),
                (ErrorKind::InvalidInput, problem)
            );
        }
        let bytes = chain(["f1", "f2"], ["f3", "f4"]).to_bytes(codec).unwrap();
        let bytes = match codec {
            Codec::Native => replaced(bytes, b"f4", b"f3"),
            Codec::Java(_) => {
                let at = bytes.windows(2).rposition(|window| window == b"f4").unwrap();
                [&bytes[..at], b"f3", &bytes[at + 2..]].concat()
            }
        };
        let error = Split::from_bytes(&bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.message().contains("two branches"), "{error}");
    }
}

#[test]
fn committable_fields() {
    let mut committable = ManifestCommittable::default();
    committable.properties.insert("k".into(), "v".into());
    let encoding = CommittableEncoding {
        version: 3,
        ..Default::default()
    };
    let error = committable.to_java_bytes(encoding).unwrap_err();
    assert_eq!(
        error.message(),
        "committable version 3 cannot carry properties, expected version 4 or newer"
    );
    committable.log_offsets.insert(0, 1);
    let error = committable
        .to_java_bytes(CommittableEncoding::default())
        .unwrap_err();
    assert_eq!(
        error.message(),
        "committable version 5 cannot carry log offsets, expected version 4 or older"
    );
    let encoding = CommittableEncoding {
        release_0_7: true,
        ..Default::default()
    };
    assert!(ManifestCommittable::default().to_java_bytes(encoding).is_err());
}
