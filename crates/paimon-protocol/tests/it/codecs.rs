// SPDX-License-Identifier: Apache-2.0

//! One way in and out for every form, and partitions as values.

use paimon_protocol::codec::java::{SplitEncoding, encode_commit_message, encode_commit_messages};
use paimon_protocol::{BucketState, Codec, CommitMessage, DataSplit, NullCounts, Partition, Split};
use paimon_types::{DataType, Datum, ErrorKind, TypeKind};

use crate::native_work::{all_kinds, message};
use crate::sample;

#[test]
fn partitions_are_values() {
    let types = [DataType::string(), DataType::new(TypeKind::Int)];
    let values = [Some(Datum::String("2024-01-31, a longer text".into())), None];
    let partition = Partition::of(&types, &values).unwrap();
    assert_eq!(partition.values(&types).unwrap(), values);
    assert_eq!((partition.len(), partition.is_empty()), (2, false));
    assert_eq!(partition, Partition::of(&types, &values).unwrap());
    assert_ne!(partition, Partition::of(&types, &[None, None]).unwrap());
    assert_eq!(
        partition.values(&types[..1]).unwrap_err().message(),
        "row of 2 fields, expected 1"
    );
    assert_eq!(
        Partition::of(&types, &[Some(Datum::Int(1)), None])
            .unwrap_err()
            .kind(),
        ErrorKind::InvalidInput
    );
    assert!(Partition::unpartitioned().is_empty());
    assert_eq!(Partition::unpartitioned(), Partition::default());
    assert_eq!(Partition::of(&[], &[]).unwrap(), Partition::unpartitioned());
    assert_eq!(Partition::unpartitioned().values(&[]).unwrap(), []);
    let text = format!(
        "{:?}",
        Partition::of(&types[1..], &[Some(Datum::Int(7))]).unwrap()
    );
    assert_eq!(text, "Partition(1 values, 00000000000000000700000000000000)");
}

#[test]
fn messages_tell_what_engines_ask() {
    let message = message();
    let named = message.partition_values(&sample::schema(0)).unwrap();
    assert_eq!(
        named,
        [("dt".to_owned(), Some(Datum::String("2024-01-31".into())))]
    );
    assert_eq!(message.new_files().count(), 2);
    assert_eq!(message.deleted_files().count(), 1);
    assert_eq!(message.changelog_files().count(), 1);
    assert_eq!(
        (
            message.new_index_files().count(),
            message.deleted_index_files().count()
        ),
        (1, 1)
    );
    assert_eq!(message.new_row_count(), 101);
    assert!(!message.is_empty());
    assert!(CommitMessage::append(Partition::unpartitioned(), 0, None, vec![]).is_empty());
}

#[test]
fn null_counts_are_a_list() {
    let counts = NullCounts::from(vec![Some(3), None, Some(-1)]);
    assert_eq!((counts.len(), counts.is_empty()), (3, false));
    assert_eq!(
        (counts.get(0), counts.get(1), counts.get(2), counts.get(3)),
        (Some(3), None, Some(-1), None)
    );
    assert_eq!(counts, [Some(3), None, Some(-1)]);
    assert_eq!(counts.to_vec(), [Some(3), None, Some(-1)]);
    assert_eq!(counts, counts.iter().collect::<NullCounts>());
    assert_ne!(counts, NullCounts::new());
    assert_ne!(counts, [Some(3), None, None]);
    assert_eq!(NullCounts::new(), NullCounts::from([]));
    assert_eq!(format!("{counts:?}"), "[Some(3), None, Some(-1)]");
    let many: Vec<Option<i64>> = (0..100).map(|i| (i % 3 != 0).then_some(i)).collect();
    assert_eq!(NullCounts::from(many.clone()).to_vec(), many);
}

#[test]
fn splits_of_every_kind_in_every_codec() {
    for split in all_kinds() {
        let bytes = split.to_bytes(Codec::Native).unwrap();
        assert_eq!(Split::from_bytes(&bytes).unwrap(), split);
        let own_version = |version: i32| match (split.kind(), version) {
            ("incremental", version) | ("fallback", version) => version - 7,
            ("chain", version) | ("query-auth", version) => version - 6,
            (_, version) => version,
        };
        // The content needs version 9 or nothing newer than 8.
        for version in [8, 9] {
            let Ok(bytes) = split.to_bytes(Codec::Java(version)) else {
                assert_eq!(version, 8, "{}", split.kind());
                let error = split.to_bytes(Codec::Java(8)).unwrap_err();
                assert!(
                    error.message().contains("cannot carry write_cols_sequences"),
                    "{error}"
                );
                continue;
            };
            assert_eq!(Split::from_bytes(&bytes).unwrap(), split);
            let framed = matches!(split.kind(), "query-auth" | "fallback");
            let expected = SplitEncoding {
                framed,
                version: own_version(version),
            };
            assert_eq!(
                Split::from_java_bytes(&bytes).unwrap().1,
                expected,
                "{}",
                split.kind()
            );
        }
        for version in [0, 10] {
            let error = split.to_bytes(Codec::Java(version)).unwrap_err();
            let expected = format!("unknown data split version {version}, this build knows versions 1 to 9");
            assert_eq!(error.message(), expected);
        }
    }
}

#[test]
fn young_kinds_have_no_old_form() {
    for (kind, innermost) in [
        ("incremental", "incremental"),
        ("chain", "chain"),
        ("query-auth", "chain"),
    ] {
        let split = all_kinds()
            .into_iter()
            .find(|split| split.kind() == kind)
            .unwrap();
        let error = split.to_bytes(Codec::Java(7)).unwrap_err();
        let expected =
            format!("data split version 7 has no {innermost} splits beside it, expected version 8 or newer");
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::InvalidInput, expected.as_str())
        );
    }
}

#[test]
fn data_splits_refuse_other_kinds() {
    let chain = all_kinds()
        .into_iter()
        .find(|split| split.kind() == "chain")
        .unwrap();
    for codec in [Codec::Native, Codec::Java(9)] {
        let error = DataSplit::from_bytes(&chain.to_bytes(codec).unwrap()).unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::Unsupported, "split of kind chain, expected data")
        );
    }
    let data = all_kinds().remove(0);
    let Split::Data(split) = &data else {
        panic!("{data:?}")
    };
    for codec in [Codec::Native, Codec::Java(9)] {
        assert_eq!(split.to_bytes(codec).unwrap(), data.to_bytes(codec).unwrap());
        assert_eq!(
            &DataSplit::from_bytes(&split.to_bytes(codec).unwrap()).unwrap(),
            split
        );
    }
    let mut old = split.clone();
    sample::trim_split(&mut old, 3);
    let error = split.to_bytes(Codec::Java(3)).unwrap_err();
    assert!(
        error
            .message()
            .contains("data split version 3 cannot carry total_buckets"),
        "{error}"
    );
    assert_eq!(
        DataSplit::from_bytes(&old.to_bytes(Codec::Java(3)).unwrap()).unwrap(),
        old
    );
}

#[test]
fn messages_in_every_codec() {
    let message = message();
    let list = [
        message.clone(),
        CommitMessage::append(Partition::unpartitioned(), 3, None, vec![]),
    ];
    for codec in [Codec::Native, Codec::Java(14)] {
        let bytes = message.to_bytes(codec).unwrap();
        assert_eq!(CommitMessage::from_bytes(&bytes, codec).unwrap(), message);
        let bytes = CommitMessage::list_to_bytes(&list, codec).unwrap();
        assert_eq!(CommitMessage::list_from_bytes(&bytes, codec).unwrap(), list);
    }
    let mut trimmed = message.clone();
    sample::trim_message(&mut trimmed, 11);
    assert_eq!(
        trimmed.to_bytes(Codec::JAVA_COMMIT_MESSAGE).unwrap(),
        encode_commit_message(&trimmed, 11).unwrap()
    );
    assert_eq!(
        CommitMessage::list_to_bytes(&[trimmed.clone()], Codec::Java(11)).unwrap(),
        encode_commit_messages(&[trimmed], 11).unwrap()
    );
    let error = message.to_bytes(Codec::Java(13)).unwrap_err();
    assert_eq!(
        error.message(),
        "commit message version 13 cannot carry check_from_snapshot, expected version 14 or newer"
    );
    let two = CommitMessage::list_to_bytes(&list, Codec::Native).unwrap();
    let error = CommitMessage::from_bytes(&two, Codec::Native).unwrap_err();
    assert_eq!(error.message(), "2 commit messages, expected one");
}

#[test]
fn bucket_states_count_and_check() {
    let mut state = BucketState::empty(Partition::unpartitioned(), 3);
    assert_eq!(state.next_sequence_number().unwrap(), 0);
    state.check_total_buckets(8).unwrap();
    state.total_buckets = Some(4);
    state.check_total_buckets(4).unwrap();
    let error = state.check_total_buckets(8).unwrap_err();
    let expected = "the partition was written with 4 buckets, the table now has 8: overwrite the partition to rescale it \
                    before appending";
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::InvalidInput, expected)
    );
    state.max_sequence_number = Some(41);
    assert_eq!(state.next_sequence_number().unwrap(), 42);
    state.max_sequence_number = Some(i64::MAX);
    assert_eq!(
        state.next_sequence_number().unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    assert_eq!(state.files_of_level(0).count(), 0);
}
