// SPDX-License-Identifier: Apache-2.0

//! Native forms of splits, messages and bucket states: files of every version decode for ever.

use std::path::PathBuf;

use paimon_protocol::codec::native::{
    NATIVE_BUCKET_STATE_VERSION, NATIVE_COMMIT_MESSAGE_VERSION, NATIVE_SPLIT_VERSION,
};
use paimon_protocol::{
    BucketState, ChainSplit, Codec, CommitMessage, DataSplit, DeletionVectorMeta, GlobalIndexMeta, Increment,
    IncrementalSplit, IndexFileMeta, IndexedSplit, Partition, QueryAuth, RowRange, Split,
};
use paimon_types::ErrorKind;

use crate::native::plan;

fn golden(name: &str, version: u16) -> PathBuf {
    let file = format!("testdata/{name}-v{version}.bin");
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

fn data_split() -> DataSplit {
    plan().splits.remove(0)
}

/// A split of every kind with a value in every field. Never change it: the golden files hold it.
pub(crate) fn all_kinds() -> Vec<Split> {
    let split = data_split();
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    let incremental = Split::Incremental(IncrementalSplit {
        snapshot_id: 19,
        partition: split.partition.clone(),
        bucket: 2,
        total_buckets: 4,
        before_files: split.data_files.clone(),
        before_deletion_files: split.deletion_files.clone(),
        after_files: split.data_files[1..].to_vec(),
        after_deletion_files: None,
        is_streaming: true,
    });
    let chain = Split::Chain(ChainSplit {
        logical_partition: split.partition.clone(),
        data_files: split.data_files.clone(),
        file_bucket_paths: vec![
            pair("data-1.parquet", "dt=1/bucket-0"),
            pair("é😀.parquet", "dt=2/bucket-0"),
        ],
        file_branches: vec![pair("data-1.parquet", "main"), pair("é😀.parquet", "b😀")],
        deletion_files: split.deletion_files.clone(),
    });
    let auth = QueryAuth {
        filter: Some(vec![None, Some("{\"kind\":\"LEAF\"}".into())]),
        column_masking: Some(vec![("a".into(), None), ("é".into(), Some("x".into()))]),
    };
    vec![
        Split::Data(split.clone()),
        incremental.clone(),
        Split::Indexed(IndexedSplit {
            split: split.clone(),
            row_ranges: vec![RowRange { from: 0, to: 7 }, RowRange { from: 9, to: 9 }],
            scores: Some(vec![0.5, -1.25]),
        }),
        chain.clone(),
        Split::QueryAuth {
            split: Box::new(chain),
            auth: Some(auth),
        },
        Split::FallbackData {
            split,
            is_fallback: true,
        },
        Split::Fallback {
            split: Box::new(incremental),
            is_fallback: false,
        },
    ]
}

fn index_file(index_type: &str) -> IndexFileMeta {
    IndexFileMeta {
        index_type: index_type.into(),
        file_name: "index-1".into(),
        file_size: 99,
        row_count: 2,
        dv_ranges: Some(vec![DeletionVectorMeta {
            data_file_name: "data-1.parquet".into(),
            offset: 1,
            length: 22,
            cardinality: Some(5),
        }]),
        external_path: Some("s3://other/index-1".into()),
        global_index: Some(GlobalIndexMeta {
            row_range_start: 0,
            row_range_end: 99,
            index_field_id: 1,
            extra_field_ids: Some(vec![2, 3]),
            index_meta: Some(vec![1, 2]),
            source_meta: Some(vec![3]),
        }),
    }
}

/// A message with a value in every field. Never change it.
pub(crate) fn message() -> CommitMessage {
    let DataSplit {
        partition,
        data_files,
        ..
    } = data_split();
    let changes = |new: usize| Increment {
        new_files: vec![data_files[new].clone()],
        ..Increment::default()
    };
    CommitMessage {
        partition,
        bucket: 20,
        total_buckets: Some(32),
        data_increment: Increment {
            changelog_files: vec![data_files[1].clone()],
            new_index_files: vec![index_file("DELETION_VECTORS")],
            ..changes(0)
        },
        compact_increment: Increment {
            deleted_files: vec![data_files[0].clone()],
            deleted_index_files: vec![index_file("HASH")],
            ..changes(1)
        },
        check_from_snapshot: Some(7),
    }
}

/// States with a value in every field, and with none. Never change them.
fn states() -> Vec<BucketState> {
    let split = data_split();
    let full = BucketState {
        snapshot_id: Some(18),
        partition: split.partition,
        bucket: 20,
        total_buckets: Some(32),
        max_sequence_number: Some(200),
        data_files: Some(split.data_files),
        hash_index: Some(index_file("HASH")),
        deletion_vectors: vec![index_file("DELETION_VECTORS")],
    };
    vec![full, BucketState::empty(Partition::unpartitioned(), -1)]
}

/// Every golden file: name, version, bytes of what it must hold.
fn current() -> Vec<(String, u16, Vec<u8>)> {
    let split = |split: &Split| {
        let name = format!("split-{}", split.kind());
        (name, NATIVE_SPLIT_VERSION, split.to_bytes(Codec::Native).unwrap())
    };
    let mut files: Vec<_> = all_kinds().iter().map(split).collect();
    let messages = [
        message(),
        CommitMessage::append(Partition::unpartitioned(), 0, None, vec![]),
    ];
    let messages = CommitMessage::list_to_bytes(&messages, Codec::Native).unwrap();
    files.push(("commit-messages".into(), NATIVE_COMMIT_MESSAGE_VERSION, messages));
    let states = BucketState::list_to_bytes(&states()).unwrap();
    files.push(("bucket-states".into(), NATIVE_BUCKET_STATE_VERSION, states));
    files
}

#[test]
fn golden_files_decode_for_ever() {
    for version in 1..=NATIVE_SPLIT_VERSION {
        for split in all_kinds() {
            let bytes = std::fs::read(golden(&format!("split-{}", split.kind()), version)).unwrap();
            assert_eq!(Split::from_bytes(&bytes).unwrap(), split, "version {version}");
        }
    }
    for version in 1..=NATIVE_COMMIT_MESSAGE_VERSION {
        let bytes = std::fs::read(golden("commit-messages", version)).unwrap();
        let messages = CommitMessage::list_from_bytes(&bytes, Codec::Native).unwrap();
        assert_eq!(
            (messages.len(), &messages[0]),
            (2, &message()),
            "version {version}"
        );
    }
    for version in 1..=NATIVE_BUCKET_STATE_VERSION {
        let bytes = std::fs::read(golden("bucket-states", version)).unwrap();
        assert_eq!(
            BucketState::list_from_bytes(&bytes).unwrap(),
            states(),
            "version {version}"
        );
    }
    for (name, version, bytes) in current() {
        let stored = std::fs::read(golden(&name, version)).unwrap();
        assert_eq!(stored, bytes, "{name}: the same version must stay the same bytes");
    }
}

/// Run once for a new version: `cargo test -p paimon-protocol -- --ignored write_golden_files_of_work`.
#[test]
#[ignore = "writes golden files of the current versions, which must not change afterwards"]
fn write_golden_files_of_work() {
    for (name, version, bytes) in current() {
        let path = golden(&name, version);
        if !path.exists() {
            std::fs::write(path, bytes).unwrap();
        }
    }
}

#[test]
fn bucket_state_alone() {
    let states = states();
    let one = states[0].to_bytes().unwrap();
    assert_eq!(BucketState::from_bytes(&one).unwrap(), states[0]);
    assert_eq!(states[0].files_of_level(3).count(), 1);
    assert_eq!(states[0].files_of_level(1).count(), 0);
    let error = BucketState::from_bytes(&BucketState::list_to_bytes(&states).unwrap()).unwrap_err();
    assert_eq!(error.message(), "2 bucket states, expected one");
}

#[cfg(feature = "json")]
#[test]
fn bucket_state_as_json() {
    let states = states();
    let schema = crate::sample::schema(0);
    let value = paimon_protocol::json::bucket_state(&states[0], Some(&schema));
    assert_eq!(value["partition"]["values"]["dt"], "2024-01-31");
    assert_eq!(
        (&value["maxSequenceNumber"], &value["totalBuckets"]),
        (&200.into(), &32.into())
    );
    assert_eq!(value["dataFiles"].as_array().map(Vec::len), Some(2));
    assert_eq!(value["dynamicBucketIndex"]["indexType"], "HASH");
    let empty = paimon_protocol::json::bucket_state(&states[1], None);
    assert!(empty["dataFiles"].is_null() && empty["dynamicBucketIndex"].is_null());
}

/// Puts another body into a frame.
fn forge(bytes: &[u8], body: &[u8]) -> Vec<u8> {
    let mut forged = bytes[..24].to_vec();
    forged[16..24].copy_from_slice(&(body.len() as u64).to_le_bytes());
    forged.extend_from_slice(body);
    let checksum = crc32fast::hash(&forged);
    forged.extend_from_slice(&checksum.to_le_bytes());
    forged
}

#[test]
fn unknown_kinds_versions_and_leftovers_are_refused() {
    let bytes = all_kinds()[0].to_bytes(Codec::Native).unwrap();
    let body = &bytes[24..bytes.len() - 4];
    let error = Split::from_bytes(&forge(&bytes, &[&[8], &body[1..]].concat())).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (
            ErrorKind::Unsupported,
            "unknown split type 8, this build knows types 1 to 7"
        )
    );
    let error = Split::from_bytes(&forge(&bytes, &[body, &[1]].concat())).unwrap_err();
    assert_eq!(error.message(), "1 unexpected bytes after the body of a split");
    let error = Split::from_bytes(&forge(&bytes, &[7; 200])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let mut newer = bytes.clone();
    (newer[8], newer[10]) = (3, 2);
    let error = Split::from_bytes(&newer).unwrap_err();
    let expected = "split version 3 needs a reader of version 2 or newer, this build knows versions 1 to 1";
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Unsupported, expected)
    );
    let error = BucketState::list_from_bytes(&bytes).unwrap_err();
    assert!(
        error.message().starts_with("not a list of bucket states"),
        "{error}"
    );
    let messages = CommitMessage::list_to_bytes(&[message()], Codec::Native).unwrap();
    for len in 0..messages.len() {
        assert!(
            CommitMessage::list_from_bytes(&messages[..len], Codec::Native).is_err(),
            "cut at {len}"
        );
    }
}

#[test]
fn native_splits_are_not_nested_without_limit() {
    let mut split = all_kinds().remove(0);
    for _ in 0..8 {
        split = Split::Fallback {
            split: Box::new(split),
            is_fallback: true,
        };
    }
    let bytes = split.to_bytes(Codec::Native).unwrap();
    assert_eq!(Split::from_bytes(&bytes).unwrap(), split);
    let deeper = Split::Fallback {
        split: Box::new(split),
        is_fallback: true,
    };
    let error = deeper.to_bytes(Codec::Native).unwrap_err();
    assert_eq!(error.message(), "splits are nested deeper than 8 levels");
    let body = [&[7][..], &bytes[24..bytes.len() - 4], &[1]].concat();
    assert_eq!(
        Split::from_bytes(&forge(&bytes, &body)).unwrap_err().kind(),
        ErrorKind::Corrupt
    );
}
