// SPDX-License-Identifier: Apache-2.0

//! The values that descriptions of vectors in prose mean. (The other vectors have the text that Java printed of the value.)

use paimon_protocol::{
    ChainSplit, CommitMessage, DataFileMeta, DataSplit, DeletionFile, DeletionVectorMeta, FileSource,
    GlobalIndexMeta, Increment, IncrementalSplit, IndexFileMeta, IndexedSplit, ManifestCommittable,
    NullCounts, Partition, QueryAuth, RowRange, RowValues, SimpleStats, Split,
};
use paimon_types::{DataType, Datum, TypeKind};

use crate::sample;

fn int(value: i32) -> RowValues {
    RowValues::of(&[DataType::new(TypeKind::Int)], &[Some(Datum::Int(value))]).unwrap()
}

fn string(value: &str) -> RowValues {
    RowValues::of(&[DataType::string()], &[Some(Datum::String(value.to_owned()))]).unwrap()
}

/// `minimal 'name'`.
pub(crate) fn minimal(name: &str) -> DataFileMeta {
    DataFileMeta {
        file_name: name.to_owned(),
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
        extra_files: Vec::new(),
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

/// `fileName f-1,…`, as far as a record of so many fields goes.
pub(crate) fn full(arity: usize) -> DataFileMeta {
    let stats = |min_values, max_values, nulls| SimpleStats {
        min_values,
        max_values,
        null_counts: NullCounts::from([Some(nulls)]),
    };
    let names = |names: [&str; 2]| names.map(str::to_owned);
    let mut file = DataFileMeta {
        file_name: "f-1".to_owned(),
        file_size: 1024,
        row_count: 100,
        min_key: int(1),
        max_key: int(99),
        key_stats: stats(int(1), int(99), 0),
        value_stats: stats(string("aaa"), string("zzzzzzzzz"), 3),
        min_sequence_number: 15,
        max_sequence_number: 200,
        schema_id: 5,
        level: 3,
        extra_files: names(["extra1", "extra-file-2"]).into(),
        creation_time: Some(1_646_252_412_000),
        delete_row_count: Some(11),
        embedded_index: Some(vec![1, 2, 4]),
        file_source: Some(FileSource::Compact),
        value_stats_cols: Some(names(["c1", "c2"]).into()),
        external_path: Some("hdfs://h/p/f-1".to_owned()),
        first_row_id: Some(12),
        write_cols: Some(names(["a", "b"]).into()),
        write_cols_sequences: Some(vec![15, 200]),
    };
    sample::trim_file(&mut file, arity);
    file
}

pub(crate) fn index_file(name: &str) -> IndexFileMeta {
    let file = |index_type: &str, file_size, row_count| IndexFileMeta {
        index_type: index_type.to_owned(),
        file_name: name.to_owned(),
        file_size,
        row_count,
        dv_ranges: None,
        external_path: None,
        global_index: None,
    };
    let global = GlobalIndexMeta {
        row_range_start: 1,
        row_range_end: 2,
        index_field_id: 3,
        extra_field_ids: None,
        index_meta: None,
        source_meta: None,
    };
    match name {
        "h-1" => file("HASH", 40, 10),
        "index-file-1" => IndexFileMeta {
            dv_ranges: Some(vec![
                vector("dv_key1", 1, 2, Some(3)),
                vector("data-file-name-2", 30, 40, None),
            ]),
            external_path: Some("ext/path".to_owned()),
            ..file("DELETION_VECTORS", 1000, 2)
        },
        "g-1" => IndexFileMeta {
            global_index: Some(GlobalIndexMeta {
                extra_field_ids: Some(vec![5, 6, 7]),
                index_meta: Some(vec![0x23, 0x45]),
                ..global
            }),
            ..file("btree", 77, 9)
        },
        "g-2" => IndexFileMeta {
            global_index: Some(GlobalIndexMeta {
                source_meta: Some((1..=9).rev().collect()),
                ..global
            }),
            ..file("btree", 77, 9)
        },
        other => panic!("no index file {other} is described"),
    }
}

fn vector(name: &str, offset: i32, length: i32, cardinality: Option<i64>) -> DeletionVectorMeta {
    DeletionVectorMeta {
        data_file_name: name.to_owned(),
        offset,
        length,
        cardinality,
    }
}

fn deletion_file(path: &str, place: [i64; 2], cardinality: Option<i64>) -> Option<DeletionFile> {
    Some(DeletionFile {
        path: path.to_owned(),
        offset: place[0],
        length: place[1],
        cardinality,
    })
}

/// `null list`, or `[null,(path,offset,length,cardinality),…]`.
pub(crate) fn deletion_files(input: &str) -> Option<Vec<Option<DeletionFile>>> {
    match input {
        "null list" => None,
        "[null,(deletion_file,100,22,33),(d2,0,1,null)]" => Some(vec![
            None,
            deletion_file("deletion_file", [100, 22], Some(33)),
            deletion_file("d2", [0, 1], None),
        ]),
        other => panic!("no list of deletion files {other} is described"),
    }
}

/// `DataSplit{snapshot 18, …}`.
fn split_18() -> DataSplit {
    DataSplit {
        snapshot_id: 18,
        partition: string("aaaaa").into(),
        bucket: 20,
        bucket_path: "my path".to_owned(),
        total_buckets: Some(32),
        data_files: vec![minimal("m")],
        deletion_files: Some(vec![deletion_file("deletion_file", [100, 22], Some(33))]),
        is_streaming: false,
        raw_convertible: true,
    }
}

pub(crate) fn data_split(input: &str) -> Option<DataSplit> {
    if input.starts_with("DataSplit{snapshot 18,") {
        Some(split_18())
    } else if input.starts_with("DataSplit{snapshot 1, EMPTY_ROW") {
        Some(DataSplit {
            snapshot_id: 1,
            partition: Partition::unpartitioned(),
            bucket: 0,
            bucket_path: "b".to_owned(),
            total_buckets: None,
            deletion_files: None,
            is_streaming: true,
            raw_convertible: false,
            ..split_18()
        })
    } else if input.starts_with("snapshot 18, partition ('aaaaa')") {
        Some(DataSplit {
            total_buckets: None,
            data_files: vec![full(16)],
            deletion_files: Some(vec![deletion_file("deletion_file", [100, 22], None)]),
            ..split_18()
        })
    } else {
        None
    }
}

fn chain() -> Split {
    let pair = |value: &str| vec![("m".to_owned(), value.to_owned())];
    Split::Chain(ChainSplit {
        logical_partition: int(7).into(),
        data_files: vec![minimal("m")],
        file_bucket_paths: pair("dt=1/bucket-0"),
        file_branches: pair("snapshot"),
        deletion_files: Some(vec![deletion_file("d2", [0, 1], None)]),
    })
}

/// A split of any other kind, or a data split in a frame.
pub(crate) fn split(input: &str) -> Option<Split> {
    let query_auth = |auth| {
        Some(Split::QueryAuth {
            split: Box::new(chain()),
            auth,
        })
    };
    if input.starts_with("snapshot 43,") {
        return Some(Split::Incremental(IncrementalSplit {
            snapshot_id: 43,
            partition: int(7).into(),
            bucket: 4,
            total_buckets: 8,
            before_files: vec![minimal("b")],
            before_deletion_files: None,
            after_files: vec![minimal("a")],
            after_deletion_files: Some(vec![None]),
            is_streaming: true,
        }));
    }
    if input.ends_with(" + ranges [1..4],[11..13], scores [0.5,0.25]") {
        return Some(Split::Indexed(IndexedSplit {
            split: data_split(input)?,
            row_ranges: vec![RowRange { from: 1, to: 4 }, RowRange { from: 11, to: 13 }],
            scores: Some(vec![0.5, 0.25]),
        }));
    }
    match input {
        "QueryAuthSplit(chain_split above, auth null)" => query_auth(None),
        "FallbackSplitImpl(chain_split above, isFallback false)" => Some(Split::Fallback {
            split: Box::new(chain()),
            is_fallback: false,
        }),
        _ if input.starts_with("logicalPartition (INT 7),") => Some(chain()),
        _ if input.starts_with("QueryAuthSplit(chain_split above, filter ['f1',null]") => {
            query_auth(Some(QueryAuth {
                filter: Some(vec![Some("f1".to_owned()), None]),
                column_masking: Some(vec![
                    ("a".to_owned(), Some("x".to_owned())),
                    ("b".to_owned(), Some(r#"{"name":"NULL"}"#.to_owned())),
                ]),
            }))
        }
        _ if input.starts_with("DataSplit DataSplit{snapshot 18,") => Some(Split::Data(split_18())),
        _ if input.starts_with("FallbackDataSplit(DataSplit{snapshot 18,") => Some(Split::FallbackData {
            split: split_18(),
            is_fallback: true,
        }),
        _ => None,
    }
}

pub(crate) fn message(input: &str) -> Option<CommitMessage> {
    if input.starts_with("EMPTY_ROW, bucket 0, totalBuckets null, all lists empty") {
        return Some(CommitMessage::append(
            Partition::unpartitioned(),
            0,
            None,
            Vec::new(),
        ));
    }
    let message = CommitMessage::append(string("p").into(), 11, None, Vec::new());
    if input.starts_with("partition ('p'), bucket 11, totalBuckets 16") {
        Some(CommitMessage {
            total_buckets: Some(16),
            data_increment: Increment {
                new_files: vec![minimal("n")],
                deleted_files: vec![minimal("d")],
                new_index_files: vec![index_file("h-1")],
                ..Increment::default()
            },
            compact_increment: Increment {
                new_index_files: vec![index_file("index-file-1")],
                deleted_index_files: vec![index_file("g-1")],
                ..Increment::default()
            },
            ..message
        })
    } else if input.starts_with("partition ('p'), bucket 11, newFiles [f-1 as 0.9 meta]") {
        Some(CommitMessage {
            data_increment: Increment {
                new_files: vec![full(16)],
                new_index_files: vec![
                    index_file("h-1"),
                    IndexFileMeta {
                        dv_ranges: Some(vec![vector("dv_key1", 1, 2, None), vector("dv_key2", 3, 4, None)]),
                        external_path: None,
                        ..index_file("index-file-1")
                    },
                ],
                deleted_index_files: vec![index_file("h-1")],
                ..Increment::default()
            },
            ..message
        })
    } else {
        None
    }
}

pub(crate) fn messages(input: &str) -> Option<Vec<CommitMessage>> {
    (input == "[empty message above x2]")
        .then(|| vec![message("EMPTY_ROW, bucket 0, totalBuckets null, all lists empty").unwrap(); 2])
}

pub(crate) fn committable(input: &str) -> Option<ManifestCommittable> {
    let empty = || message("EMPTY_ROW, bucket 0, totalBuckets null, all lists empty").unwrap();
    match input {
        "identifier 5, watermark 202020, properties {k1:v1}, messages [empty message]" => {
            Some(ManifestCommittable {
                identifier: 5,
                watermark: Some(202_020),
                properties: [("k1".to_owned(), "v1".to_owned())].into(),
                messages: vec![empty()],
                ..ManifestCommittable::default()
            })
        }
        "identifier -1, watermark null, no properties, no messages" => Some(ManifestCommittable {
            identifier: -1,
            ..ManifestCommittable::default()
        }),
        "identifier 5, watermark 202020, log offsets {0:100}, messages [commit_message v3 above]" => {
            Some(ManifestCommittable {
                identifier: 5,
                watermark: Some(202_020),
                log_offsets: [(0, 100)].into(),
                messages: vec![message("partition ('p'), bucket 11, newFiles [f-1 as 0.9 meta]").unwrap()],
                ..ManifestCommittable::default()
            })
        }
        _ => None,
    }
}
