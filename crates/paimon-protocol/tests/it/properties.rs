// SPDX-License-Identifier: Apache-2.0

//! Random values go through every version and come back; damaged bytes give an error or a value, never a panic.

use std::collections::BTreeSet;

use paimon_protocol::codec::java::{
    CommittableEncoding, SplitEncoding, decode_commit_message, decode_commit_messages, encode_commit_message,
    encode_commit_messages,
};
use paimon_protocol::{
    BucketState, ChainSplit, Codec, CommitMessage, DataSplit, IncrementalSplit, IndexedSplit,
    ManifestCommittable, PlanEnvelope, QueryAuth, RowRange, Split,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use crate::sample;

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 48,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Every kind over the files of one data split.
fn kinds(split: &DataSplit) -> Vec<(Split, i32)> {
    let incremental = Split::Incremental(IncrementalSplit {
        snapshot_id: split.snapshot_id,
        partition: split.partition.clone(),
        bucket: split.bucket,
        total_buckets: 7,
        before_files: split.data_files.clone(),
        before_deletion_files: split.deletion_files.clone(),
        after_files: split.data_files.iter().take(1).cloned().collect(),
        after_deletion_files: None,
        is_streaming: split.is_streaming,
    });
    // Two drawn files may have one name; the maps of a chain split have it once.
    let names: BTreeSet<String> = split
        .data_files
        .iter()
        .map(|file| file.file_name.clone())
        .collect();
    let chain = Split::Chain(ChainSplit {
        logical_partition: split.partition.clone(),
        data_files: split.data_files.clone(),
        file_bucket_paths: names
            .iter()
            .map(|name| (name.clone(), "dt=1/bucket-0".into()))
            .collect(),
        file_branches: names.into_iter().map(|name| (name, "b😀".into())).collect(),
        deletion_files: split.deletion_files.clone(),
    });
    let indexed = Split::Indexed(IndexedSplit {
        split: split.clone(),
        row_ranges: vec![RowRange {
            from: 0,
            to: split.snapshot_id,
        }],
        scores: split.is_streaming.then(|| vec![0.5, -1.25]),
    });
    let auth = QueryAuth {
        filter: Some(vec![None, Some("{}".into())]),
        column_masking: Some(vec![("a".into(), None), ("é".into(), Some("x".into()))]),
    };
    let query_auth = Split::QueryAuth {
        split: Box::new(chain.clone()),
        auth: Some(auth),
    };
    let fallback = Split::Fallback {
        split: Box::new(incremental.clone()),
        is_fallback: true,
    };
    vec![
        (Split::Data(split.clone()), 9),
        (incremental, 2),
        (indexed, 9),
        (chain, 3),
        (query_auth, 3),
        (
            Split::FallbackData {
                split: split.clone(),
                is_fallback: false,
            },
            9,
        ),
        (fallback, 2),
    ]
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn data_split_of_every_version(split in sample::split()) {
        for version in 1..=9 {
            let mut split = split.clone();
            sample::trim_split(&mut split, version);
            let bytes = split.to_java_bytes(version).unwrap();
            let (again, found) = DataSplit::from_java_bytes(&bytes).unwrap();
            prop_assert_eq!(found, version);
            prop_assert_eq!(&again, &split);
            prop_assert_eq!(again.to_java_bytes(version).unwrap(), bytes);
        }
    }

    #[test]
    fn every_kind_of_split(split in sample::split()) {
        for (split, version) in kinds(&split) {
            for framed in [true, false] {
                let encoding = SplitEncoding { framed, version };
                let bytes = match split.to_java_bytes(encoding) {
                    Ok(bytes) => bytes,
                    Err(e) => {
                        prop_assert!(!framed && e.message().contains("no form without frame"), "{:?}", e);
                        continue;
                    }
                };
                let (again, found) = Split::from_java_bytes(&bytes).unwrap();
                prop_assert_eq!(found, encoding);
                prop_assert_eq!(&again, &split);
            }
        }
    }

    /// Each kind at each version of its own form, with what the version carries.
    #[test]
    fn every_kind_of_split_at_every_version(split in sample::split()) {
        for (kind, newest) in kinds(&split) {
            for version in 1..=newest {
                let mut kind = kind.clone();
                trim_kind(&mut kind, version);
                let framed = matches!(kind, Split::QueryAuth { .. } | Split::Fallback { .. });
                let encoding = SplitEncoding { framed, version };
                let bytes = kind.to_java_bytes(encoding).unwrap();
                let (again, found) = Split::from_java_bytes(&bytes).unwrap();
                prop_assert_eq!(found, encoding);
                prop_assert_eq!(&again, &kind);
                prop_assert_eq!(again.to_java_bytes(encoding).unwrap(), bytes);
            }
            let bytes = kind.to_bytes(Codec::Native).unwrap();
            let again = Split::from_bytes(&bytes).unwrap();
            prop_assert_eq!(&again, &kind);
            prop_assert_eq!(again.to_bytes(Codec::Native).unwrap(), bytes);
        }
    }

    /// What the kinds add to files: ranges, scores, paths, branches, filters, masking.
    #[test]
    fn what_kinds_add_to_files(
        split in sample::split(),
        ranges in vec(any::<[i64; 2]>(), 0..4),
        scores in of(vec(-1.0f32..1.0, 0..5)),
        (paths, branches) in (sample::pairs(), sample::pairs()),
        auth in of(sample::auth()),
        is_fallback: bool,
    ) {
        let indexed = Split::Indexed(IndexedSplit {
            split: split.clone(),
            row_ranges: ranges.into_iter().map(|[a, b]| RowRange { from: a.min(b), to: a.max(b) }).collect(),
            scores,
        });
        let chain = Split::Chain(ChainSplit {
            logical_partition: split.partition,
            data_files: split.data_files,
            file_bucket_paths: paths,
            file_branches: branches,
            deletion_files: split.deletion_files,
        });
        let query_auth = Split::QueryAuth { split: Box::new(indexed.clone()), auth };
        let fallback = Split::Fallback { split: Box::new(query_auth.clone()), is_fallback };
        for kind in [indexed, chain, query_auth, fallback] {
            for codec in [Codec::Java(9), Codec::Native] {
                let bytes = kind.to_bytes(codec).unwrap();
                let again = Split::from_bytes(&bytes).unwrap();
                prop_assert_eq!(&again, &kind);
                prop_assert_eq!(again.to_bytes(codec).unwrap(), bytes);
            }
        }
    }

    #[test]
    fn committable_of_every_version(
        messages in proptest::collection::vec(sample::message(), 0..3),
        identifier: i64,
        watermark: Option<i64>,
        properties in proptest::collection::btree_map(sample::text(), sample::text(), 0..3),
        log_offsets: std::collections::BTreeMap<i32, i64>,
    ) {
        for version in 1..=5 {
            for message_version in 2..=14 {
                let mut messages = messages.clone();
                messages.iter_mut().for_each(|message| sample::trim_message(message, message_version));
                let committable = ManifestCommittable {
                    identifier,
                    watermark,
                    log_offsets: if version <= 4 { log_offsets.clone() } else { Default::default() },
                    properties: if version >= 4 { properties.clone() } else { Default::default() },
                    messages,
                };
                let encoding = CommittableEncoding { version, message_version, release_0_7: false };
                let bytes = committable.to_java_bytes(encoding).unwrap();
                let (again, found) = ManifestCommittable::from_java_bytes(&bytes, version).unwrap();
                prop_assert_eq!((&again, found), (&committable, encoding));
            }
        }
    }

    /// Version 2 of the messages in the form of release 0.7: read after that of 0.8 was tried, known by its shorter records.
    #[test]
    fn committable_of_release_0_7(
        messages in proptest::collection::vec(sample::message(), 1..3),
        identifier: i64,
        watermark: Option<i64>,
        log_offsets: std::collections::BTreeMap<i32, i64>,
    ) {
        let mut messages = messages;
        messages.iter_mut().for_each(sample::trim_message_0_7);
        for version in 1..=3 {
            let committable = ManifestCommittable {
                identifier,
                watermark,
                log_offsets: log_offsets.clone(),
                properties: Default::default(),
                messages: messages.clone(),
            };
            let encoding = CommittableEncoding { version, message_version: 2, release_0_7: true };
            let bytes = committable.to_java_bytes(encoding).unwrap();
            let (again, found) = ManifestCommittable::from_java_bytes(&bytes, version).unwrap();
            prop_assert_eq!((&again, found), (&committable, encoding));
            prop_assert_eq!(again.to_java_bytes(found).unwrap(), bytes.clone());
            // The messages alone: the list ends the committable, behind the version of the messages.
            let head = CommittableEncoding::default();
            let empty = ManifestCommittable { messages: Vec::new(), ..committable };
            let empty = empty.to_java_bytes(CommittableEncoding { version, message_version: 2, ..head }).unwrap();
            let list = &bytes[empty.len() - 4..];
            prop_assert_eq!(&decode_commit_messages(list, 2).unwrap(), &messages);
        }
    }

    #[test]
    fn native_messages(messages in proptest::collection::vec(sample::message(), 0..3)) {
        let bytes = CommitMessage::list_to_bytes(&messages, Codec::Native).unwrap();
        prop_assert_eq!(&CommitMessage::list_from_bytes(&bytes, Codec::Native).unwrap(), &messages);
    }

    #[test]
    fn bucket_states(states in proptest::collection::vec(sample::bucket_state(), 0..4)) {
        let bytes = BucketState::list_to_bytes(&states).unwrap();
        let again = BucketState::list_from_bytes(&bytes).unwrap();
        prop_assert_eq!(&again, &states);
        prop_assert_eq!(BucketState::list_to_bytes(&again).unwrap(), bytes);
    }

    #[test]
    fn commit_message_of_every_version(message in sample::message()) {
        for version in 2..=14 {
            let mut message = message.clone();
            sample::trim_message(&mut message, version);
            let bytes = encode_commit_message(&message, version).unwrap();
            prop_assert_eq!(&decode_commit_message(&bytes, version).unwrap(), &message);
            let list = [message.clone(), message];
            let bytes = encode_commit_messages(&list, version).unwrap();
            prop_assert_eq!(&decode_commit_messages(&bytes, version).unwrap()[..], &list[..]);
        }
    }

    #[test]
    fn plan_envelope(splits in proptest::collection::vec(sample::split(), 0..3), snapshot_id: Option<i64>) {
        let plan = envelope(splits, snapshot_id);
        let bytes = plan.to_bytes().unwrap();
        prop_assert_eq!(&PlanEnvelope::from_bytes(&bytes).unwrap(), &plan);
    }

    #[test]
    fn arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        decode_everything(&bytes);
    }

    #[test]
    fn damaged_bytes(split in sample::split(), message in sample::message(), seed: u64) {
        let version = 2 + (seed % 13) as i32;
        let mut message = message;
        sample::trim_message(&mut message, version);
        let mut inputs: Vec<Vec<u8>> = kinds(&split)
            .iter()
            .map(|(split, version)| split.to_java_bytes(SplitEncoding { framed: true, version: *version }).unwrap())
            .collect();
        inputs.push(split.to_java_bytes(9).unwrap());
        inputs.push(encode_commit_message(&message, version).unwrap());
        inputs.push(envelope(vec![split], None).to_bytes().unwrap());
        let mut state = seed;
        let mut next = |below: usize| {
            // Numerical Recipes' generator: quality does not matter here.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for bytes in inputs {
            for _ in 0..20 {
                let mut damaged = bytes.clone();
                for _ in 0..=next(3) {
                    let at = next(damaged.len());
                    damaged[at] = if next(2) == 0 { damaged[at] ^ (1 << next(8)) } else { next(256) as u8 };
                }
                decode_everything(&damaged);
                let _ = decode_commit_message(&damaged, version);
                let _ = decode_commit_messages(&damaged, version);
            }
        }
    }
}

/// Drops what this version of the innermost split's own form cannot hold.
fn trim_kind(split: &mut Split, version: i32) {
    match split {
        Split::Data(split) | Split::FallbackData { split, .. } => sample::trim_split(split, version),
        Split::Indexed(indexed) => sample::trim_split(&mut indexed.split, version),
        Split::Incremental(split) => {
            let arity = if version < 2 { 20 } else { 21 };
            let files = split.before_files.iter_mut().chain(&mut split.after_files);
            files.for_each(|file| sample::trim_file(file, arity));
        }
        Split::Chain(split) => {
            let arity = if version < 3 { 20 } else { 21 };
            split
                .data_files
                .iter_mut()
                .for_each(|file| sample::trim_file(file, arity));
            split.deletion_files = split.deletion_files.take().filter(|_| version >= 2);
        }
        Split::QueryAuth { split, .. } | Split::Fallback { split, .. } => trim_kind(split, version),
    }
}

fn envelope(mut splits: Vec<DataSplit>, snapshot_id: Option<i64>) -> PlanEnvelope {
    for (i, file) in splits
        .iter_mut()
        .flat_map(|split| &mut split.data_files)
        .enumerate()
    {
        file.schema_id = (i % 3) as i64;
    }
    PlanEnvelope {
        location: "s3://bucket/db.db/t".into(),
        branch: "main".into(),
        read_schema: sample::schema(2),
        schemas: vec![sample::schema(0), sample::schema(1)],
        options: std::collections::BTreeMap::from([("read.batch-size".into(), "1024".into())]),
        snapshot_id,
        splits,
    }
}

/// Runs every decoder; a value that comes out can be written again.
fn decode_everything(bytes: &[u8]) {
    if let Ok((split, version)) = DataSplit::from_java_bytes(bytes) {
        split.to_java_bytes(version).unwrap();
    }
    if let Ok((split, encoding)) = Split::from_java_bytes(bytes) {
        split.to_java_bytes(encoding).unwrap();
    }
    for version in 2..=14 {
        let _ = decode_commit_message(bytes, version);
        let _ = decode_commit_messages(bytes, version);
    }
    for version in 1..=5 {
        let _ = ManifestCommittable::from_java_bytes(bytes, version);
    }
    let _ = PlanEnvelope::from_bytes(bytes);
    let _ = Split::from_bytes(bytes);
    let _ = CommitMessage::list_from_bytes(bytes, Codec::Native);
    let _ = BucketState::list_from_bytes(bytes);
}

/// One value of each decoder, cut at every length.
#[test]
fn truncation_at_every_length() {
    let (split, message) = fixed();
    for (kind, version) in kinds(&split) {
        for framed in [true, false] {
            let Ok(bytes) = kind.to_java_bytes(SplitEncoding { framed, version }) else {
                continue;
            };
            for len in 0..bytes.len() {
                let result = Split::from_java_bytes(&bytes[..len]);
                // A bare fallback split without its last byte is a data split.
                let data = matches!(
                    (&kind, &result),
                    (Split::FallbackData { .. }, Ok((Split::Data(_), _)))
                );
                assert!(
                    result.is_err() || (data && !framed && len + 1 == bytes.len()),
                    "{} cut at {len}",
                    kind.kind()
                );
            }
        }
    }
    for version in 2..=14 {
        let mut message = message.clone();
        sample::trim_message(&mut message, version);
        let bytes = encode_commit_messages(std::slice::from_ref(&message), version).unwrap();
        for len in 0..bytes.len() {
            assert!(
                decode_commit_messages(&bytes[..len], version).is_err(),
                "version {version} cut at {len}"
            );
        }
    }
    let committable = ManifestCommittable {
        messages: vec![message],
        watermark: Some(7),
        ..Default::default()
    };
    let encoding = CommittableEncoding {
        message_version: 14,
        ..Default::default()
    };
    let bytes = committable.to_java_bytes(encoding).unwrap();
    assert_eq!(
        ManifestCommittable::from_java_bytes(&bytes, 5).unwrap(),
        (committable, encoding)
    );
    for len in 0..bytes.len() {
        assert!(
            ManifestCommittable::from_java_bytes(&bytes[..len], 5).is_err(),
            "cut at {len}"
        );
    }
    let bytes = envelope(vec![split], Some(1)).to_bytes().unwrap();
    for len in 0..bytes.len() {
        assert!(PlanEnvelope::from_bytes(&bytes[..len]).is_err(), "cut at {len}");
    }
}

/// A split and a message with something in every field that the generator knows.
fn fixed() -> (DataSplit, CommitMessage) {
    use proptest::strategy::{Strategy, ValueTree};
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let split = sample::split().prop_filter("rich", |s| s.data_files.len() > 1 && s.deletion_files.is_some());
    let split = split.new_tree(&mut runner).unwrap().current();
    let message = sample::message().prop_filter("rich", |m| !m.data_increment.new_index_files.is_empty());
    let message = message.new_tree(&mut runner).unwrap().current();
    (split, message)
}
