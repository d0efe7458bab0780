// SPDX-License-Identifier: Apache-2.0

//! Decoding takes at most two allocations for each file record, in every form. A binary of its own: it counts all allocations of
//! the process.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::alloc::System;

use paimon_protocol::{
    BucketState, Codec, CommitMessage, DataFileMeta, DataSplit, FileSource, Partition, RowValues, SimpleStats,
};
use paimon_types::{DataType, Datum, TypeKind};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const FILES: usize = 2000;

/// A file of a table with a primary key and dense statistics, in another place than its bucket.
fn file(number: i64) -> DataFileMeta {
    let row = |n: i64| {
        let types = [DataType::new(TypeKind::BigInt), DataType::string()];
        RowValues::of(
            &types,
            &[
                Some(Datum::BigInt(n)),
                Some(Datum::String(format!("value {n:010}"))),
            ],
        )
        .unwrap()
    };
    let stats = SimpleStats {
        min_values: row(number),
        max_values: row(number + 9),
        null_counts: [Some(0), Some(number)].into(),
    };
    let columns: Vec<String> = vec!["id".into(), format!("column {}", number % 3)];
    DataFileMeta {
        file_name: format!("data-7e8c2f10-3b1d-4c5e-9a77-{number:012x}-0.parquet"),
        file_size: 1 << 27,
        row_count: number,
        min_key: row(number),
        max_key: row(number + 9),
        key_stats: stats.clone(),
        value_stats: stats,
        min_sequence_number: number,
        max_sequence_number: number + 9,
        schema_id: 0,
        level: 5,
        extra_files: vec![],
        creation_time: Some(number),
        delete_row_count: Some(0),
        embedded_index: None,
        file_source: Some(FileSource::Compact),
        value_stats_cols: Some(columns.clone().into()),
        external_path: Some(format!("s3://elsewhere/db.db/t/bucket-0/data-{number}.parquet")),
        first_row_id: Some(number),
        write_cols: Some(columns.into()),
        write_cols_sequences: None,
    }
}

fn check<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, decode: impl Fn() -> T) {
    let region = Region::new(ALLOCATOR);
    let value = decode();
    let change = region.change();
    let count = change.allocations + change.reallocations;
    assert!(&value == expected, "{what} came back changed");
    // What does not depend on the number of files: the buffer, the lists of columns, growing lists.
    assert!(
        count <= 2 * FILES + 100,
        "{what}: {count} allocations for {FILES} files"
    );
}

#[test]
fn two_allocations_a_file() {
    let files: Vec<DataFileMeta> = (0..FILES as i64).map(file).collect();
    let split = DataSplit {
        snapshot_id: 1,
        partition: Partition::unpartitioned(),
        bucket: 0,
        bucket_path: "b".into(),
        total_buckets: Some(1),
        data_files: files.clone(),
        deletion_files: None,
        is_streaming: false,
        raw_convertible: true,
    };
    for codec in [Codec::Native, Codec::JAVA_SPLIT] {
        let bytes = split.to_bytes(codec).unwrap();
        check(&format!("split in {codec:?}"), &split, || {
            DataSplit::from_bytes(&bytes).unwrap()
        });
    }
    let message = CommitMessage::append(Partition::unpartitioned(), 0, Some(1), files.clone());
    for codec in [Codec::Native, Codec::JAVA_COMMIT_MESSAGE] {
        let bytes = message.to_bytes(codec).unwrap();
        let decode = || CommitMessage::from_bytes(&bytes, codec).unwrap();
        check(&format!("message in {codec:?}"), &message, decode);
    }
    let state = BucketState {
        data_files: Some(files),
        ..BucketState::empty(Partition::unpartitioned(), 0)
    };
    let bytes = state.to_bytes().unwrap();
    check("bucket state", &state, || {
        BucketState::from_bytes(&bytes).unwrap()
    });
}
