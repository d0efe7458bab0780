// SPDX-License-Identifier: Apache-2.0

//! Random values of the protocol, and what is left of them in an older version.

use std::collections::BTreeMap;

use paimon_protocol::{
    BucketState, CommitMessage, DataFileMeta, DataSplit, DeletionFile, DeletionVectorMeta, FileSource,
    GlobalIndexMeta, Increment, IndexFileMeta, Partition, QueryAuth, RowValues, SimpleStats,
};
use paimon_types::{DataField, DataType, Datum, TableSchema, TypeKind};
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;

/// Text with ASCII, NUL, two-byte, three-byte and supplementary characters around the inline limit of seven bytes.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z0-9/=-]{0,12}", "[a\u{0}é你😀]{0,5}", "[a-z]{20,40}"]
}

/// Rows of up to three STRING and BIGINT fields; often the empty row.
pub(crate) fn row() -> impl Strategy<Value = RowValues> {
    let string = of(text()).prop_map(|v| (DataType::string(), v.map(Datum::String)));
    let bigint = of(any::<i64>()).prop_map(|v| (DataType::new(TypeKind::BigInt), v.map(Datum::BigInt)));
    let fields = vec(prop_oneof![string, bigint], 0..3);
    fields.prop_map(|fields| {
        let (types, values): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
        RowValues::of(&types, &values).unwrap()
    })
}

pub(crate) fn stats() -> impl Strategy<Value = SimpleStats> {
    (row(), row(), vec(of(any::<i64>()), 0..40)).prop_map(|(min_values, max_values, null_counts)| {
        SimpleStats {
            min_values,
            max_values,
            null_counts: null_counts.into(),
        }
    })
}

fn names() -> impl Strategy<Value = Vec<String>> {
    vec(text(), 0..4)
}

pub(crate) fn file() -> impl Strategy<Value = DataFileMeta> {
    let numbers = (
        any::<[i64; 5]>(),
        any::<i32>(),
        of(any::<i64>()),
        of(any::<i64>()),
        of(any::<i64>()),
    );
    let rows = (row(), row(), stats(), stats());
    let lists = (names(), of(names()), of(names()), of(vec(any::<i64>(), 0..4)));
    let rest = (text(), of(vec(any::<u8>(), 0..12)), of(any::<bool>()), of(text()));
    (numbers, rows, lists, rest).prop_map(|(numbers, rows, lists, rest)| DataFileMeta {
        file_name: rest.0,
        file_size: numbers.0[0],
        row_count: numbers.0[1],
        min_key: rows.0,
        max_key: rows.1,
        key_stats: rows.2,
        value_stats: rows.3,
        min_sequence_number: numbers.0[2],
        max_sequence_number: numbers.0[3],
        schema_id: numbers.0[4],
        level: numbers.1,
        extra_files: lists.0,
        creation_time: numbers.2,
        delete_row_count: numbers.3,
        embedded_index: rest.1,
        file_source: rest.2.map(|append| {
            if append {
                FileSource::Append
            } else {
                FileSource::Compact
            }
        }),
        value_stats_cols: lists.1.map(Into::into),
        external_path: rest.3,
        first_row_id: numbers.4,
        write_cols: lists.2.map(Into::into),
        write_cols_sequences: lists.3,
    })
}

fn files() -> impl Strategy<Value = Vec<DataFileMeta>> {
    vec(file(), 0..3)
}

pub(crate) fn split() -> impl Strategy<Value = DataSplit> {
    let deletion = (text(), any::<i64>(), any::<i64>(), of(0..i64::MAX)).prop_map(
        |(path, offset, length, cardinality)| DeletionFile {
            path,
            offset,
            length,
            cardinality,
        },
    );
    let files = vec((file(), of(deletion)), 0..4);
    let head = (0..i64::MAX, row(), any::<i32>(), text(), of(any::<i32>()));
    (head, files, any::<[bool; 3]>()).prop_map(|(head, files, flags)| {
        let (data_files, deletion_files): (Vec<_>, Vec<_>) = files.into_iter().unzip();
        DataSplit {
            snapshot_id: head.0,
            partition: Partition::from(head.1),
            bucket: head.2,
            bucket_path: head.3,
            total_buckets: head.4,
            data_files,
            deletion_files: flags[0].then_some(deletion_files),
            is_streaming: flags[1],
            raw_convertible: flags[2],
        }
    })
}

pub(crate) fn index_file() -> impl Strategy<Value = IndexFileMeta> {
    let vector =
        (text(), any::<[i32; 2]>(), of(any::<i64>())).prop_map(|(data_file_name, place, cardinality)| {
            DeletionVectorMeta {
                data_file_name,
                offset: place[0],
                length: place[1],
                cardinality,
            }
        });
    let bytes = || of(vec(any::<u8>(), 0..12));
    let global = (
        any::<[i64; 2]>(),
        any::<i32>(),
        of(vec(any::<i32>(), 0..4)),
        bytes(),
        bytes(),
    );
    let global = global.prop_map(
        |(range, index_field_id, extra_field_ids, index_meta, source_meta)| GlobalIndexMeta {
            row_range_start: range[0],
            row_range_end: range[1],
            index_field_id,
            extra_field_ids,
            index_meta,
            source_meta,
        },
    );
    (
        text(),
        text(),
        any::<[i64; 2]>(),
        of(vec(vector, 0..3)),
        of(text()),
        of(global),
    )
        .prop_map(
            |(index_type, file_name, sizes, dv_ranges, external_path, global_index)| IndexFileMeta {
                index_type,
                file_name,
                file_size: sizes[0],
                row_count: sizes[1],
                dv_ranges,
                external_path,
                global_index,
            },
        )
}

fn increment() -> impl Strategy<Value = Increment> {
    let index_files = || vec(index_file(), 0..2);
    (files(), files(), files(), index_files(), index_files()).prop_map(
        |(new_files, deleted_files, changelog_files, new_index_files, deleted_index_files)| Increment {
            new_files,
            deleted_files,
            changelog_files,
            new_index_files,
            deleted_index_files,
        },
    )
}

pub(crate) fn message() -> impl Strategy<Value = CommitMessage> {
    (
        row(),
        any::<i32>(),
        of(any::<i32>()),
        increment(),
        increment(),
        of(any::<i64>()),
    )
        .prop_map(
            |(partition, bucket, total_buckets, data_increment, compact_increment, check_from_snapshot)| {
                CommitMessage {
                    partition: Partition::from(partition),
                    bucket,
                    total_buckets,
                    data_increment,
                    compact_increment,
                    check_from_snapshot,
                }
            },
        )
}

pub(crate) fn bucket_state() -> impl Strategy<Value = BucketState> {
    let numbers = (of(any::<i64>()), any::<i32>(), of(any::<i32>()), of(any::<i64>()));
    let files = (of(files()), of(index_file()), vec(index_file(), 0..3));
    (numbers, row(), files).prop_map(|(numbers, partition, files)| BucketState {
        snapshot_id: numbers.0,
        partition: Partition::from(partition),
        bucket: numbers.1,
        total_buckets: numbers.2,
        max_sequence_number: numbers.3,
        data_files: files.0,
        hash_index: files.1,
        deletion_vectors: files.2,
    })
}

/// Row filter and masking rules, in the order of Java's strings.
pub(crate) fn auth() -> impl Strategy<Value = QueryAuth> {
    let filter = of(vec(of(text()), 0..3));
    let masking = of(btree_map(text(), of(text()), 0..4));
    (filter, masking).prop_map(|(filter, masking)| QueryAuth {
        filter,
        column_masking: masking.map(|rules| {
            let mut rules: Vec<_> = rules.into_iter().collect();
            rules.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            rules
        }),
    })
}

/// Names with what belongs to each, a name once.
pub(crate) fn pairs() -> impl Strategy<Value = Vec<(String, String)>> {
    btree_map(text(), text(), 0..4).prop_map(|pairs| pairs.into_iter().collect())
}

/// Drops what a file record with `arity` fields cannot hold.
pub(crate) fn trim_file(file: &mut DataFileMeta, arity: usize) {
    let keep = |field: usize| field < arity;
    file.delete_row_count = file.delete_row_count.filter(|_| keep(13));
    file.embedded_index = file.embedded_index.take().filter(|_| keep(14));
    file.file_source = file.file_source.filter(|_| keep(15));
    file.value_stats_cols = file.value_stats_cols.take().filter(|_| keep(16));
    file.external_path = file.external_path.take().filter(|_| keep(17));
    file.first_row_id = file.first_row_id.filter(|_| keep(18));
    file.write_cols = file.write_cols.take().filter(|_| keep(19));
    file.write_cols_sequences = file.write_cols_sequences.take().filter(|_| keep(20));
}

/// Drops what a data split of this version cannot hold.
pub(crate) fn trim_split(split: &mut DataSplit, version: i32) {
    let arity = [15, 16, 17, 17, 18, 18, 19, 20, 21][version as usize - 1];
    split
        .data_files
        .iter_mut()
        .for_each(|file| trim_file(file, arity));
    split.total_buckets = split.total_buckets.filter(|_| version >= 6);
    if version < 4 {
        split
            .deletion_files
            .iter_mut()
            .flatten()
            .flatten()
            .for_each(|file| file.cardinality = None);
    }
}

/// Drops what a commit message of this version cannot hold.
pub(crate) fn trim_message(message: &mut CommitMessage, version: i32) {
    let arity = [15, 16, 17, 17, 18, 18, 19, 20, 20, 20, 20, 21, 21][version as usize - 2];
    message.total_buckets = message.total_buckets.filter(|_| version >= 7);
    message.check_from_snapshot = message.check_from_snapshot.filter(|_| version >= 14);
    for increment in [&mut message.data_increment, &mut message.compact_increment] {
        let Increment {
            new_files,
            deleted_files,
            changelog_files,
            new_index_files,
            deleted_index_files,
        } = increment;
        let files = new_files.iter_mut().chain(deleted_files).chain(changelog_files);
        files.for_each(|file| trim_file(file, arity));
        for index in new_index_files.iter_mut().chain(deleted_index_files.iter_mut()) {
            index.external_path = index.external_path.take().filter(|_| version >= 9);
            index.global_index = index.global_index.take().filter(|_| version >= 11);
            if version < 12 {
                index
                    .global_index
                    .iter_mut()
                    .for_each(|global| global.source_meta = None);
            }
            if version < 5 {
                index
                    .dv_ranges
                    .iter_mut()
                    .flatten()
                    .for_each(|vector| vector.cardinality = None);
            }
        }
        if version < 3 {
            deleted_index_files.clear();
        }
    }
    if version < 10 {
        let compact = &message.compact_increment;
        let compacts = [
            &compact.new_files,
            &compact.deleted_files,
            &compact.changelog_files,
        ];
        let loser = if compacts.iter().all(|files| files.is_empty()) {
            &mut message.compact_increment
        } else {
            &mut message.data_increment
        };
        loser.new_index_files.clear();
        loser.deleted_index_files.clear();
    }
}

/// Drops what a commit message of release 0.7 cannot hold.
pub(crate) fn trim_message_0_7(message: &mut CommitMessage) {
    trim_message(message, 2);
    message.data_increment.deleted_files.clear();
    for increment in [&mut message.data_increment, &mut message.compact_increment] {
        let lists = [
            &mut increment.new_files,
            &mut increment.deleted_files,
            &mut increment.changelog_files,
        ];
        for file in lists.into_iter().flatten() {
            trim_file(file, 13);
        }
        for index in &mut increment.new_index_files {
            index.dv_ranges = None;
        }
    }
}

/// A schema with this id: partition `dt` STRING, key `id` BIGINT, `amount` DECIMAL(10, 2).
pub(crate) fn schema(id: i64) -> TableSchema {
    let field = |id, name, kind| DataField::new(id, name, DataType::new(kind));
    TableSchema {
        version: 3,
        id,
        fields: vec![
            DataField::new(0, "dt", DataType::string()),
            field(1, "id", TypeKind::BigInt),
            field(
                2,
                "amount",
                TypeKind::Decimal {
                    precision: 10,
                    scale: 2,
                },
            ),
        ],
        highest_field_id: 2,
        partition_keys: vec!["dt".into()],
        primary_keys: vec![],
        options: BTreeMap::from([("bucket".into(), "-1".into())]),
        comment: None,
        time_millis: 1_700_000_000_000,
    }
}
