// SPDX-License-Identifier: Apache-2.0

//! Files, their meta and what happens when things fail.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, Int32Array, Int64Array, RecordBatch, StringArray};
use futures_util::TryStreamExt;
use paimon_protocol::{BucketState, CommitMessage, DataFileMeta, FileSource, Partition};
use paimon_storage::fault::{Fault, FaultStore, Operation, Rule};
use paimon_storage::{Clock, Environment, IdSource, Storage};
use paimon_types::{DataField, DataType, Datum, ErrorKind, TypeKind};

use super::{arc, batch, int, schema};
use crate::file_format::default_registry;
use crate::{TableWrite, TableWriteContext};

#[derive(Debug)]
struct TestClock;

impl Clock for TestClock {
    fn now_millis(&self) -> i64 {
        1_700_000_000_000
    }

    fn to_local_millis(&self, at_millis: i64) -> i64 {
        at_millis + 3_600_000
    }
}

#[derive(Debug, Default)]
struct Counter(AtomicU64);

impl IdSource for Counter {
    fn next_uuid(&self) -> String {
        format!("uuid{}", self.0.fetch_add(1, Ordering::Relaxed))
    }
}

fn context(storage: &Storage, partition: &[&str], options: &[(&str, &str)]) -> TableWriteContext {
    let columns = [
        ("id", DataType::required(TypeKind::BigInt)),
        ("p", int()),
        ("name", DataType::string()),
    ];
    let mut context = TableWriteContext::new(
        storage.clone(),
        "memory://db/t",
        schema(&columns, partition, options),
    )
    .unwrap();
    context.environment = Environment {
        clock: Arc::new(TestClock),
        ids: Arc::new(Counter::default()),
    };
    context
}

/// Rows from..to: id, p = id % 3 or NULL, a name.
fn rows(from: i64, to: i64) -> RecordBatch {
    let ids: Vec<i64> = (from..to).collect();
    let p: Vec<Option<i32>> = ids
        .iter()
        .map(|i| (i % 4 != 3).then_some((i % 4) as i32))
        .collect();
    let names: Vec<Option<String>> = ids
        .iter()
        .map(|i| (i % 5 != 0).then(|| format!("name of number {i}")))
        .collect();
    batch(vec![
        ("name", arc(StringArray::from(names))),
        ("id", arc(Int64Array::from(ids))),
        ("p", arc(Int32Array::from(p))),
    ])
}

/// (id, p, name) of a file.
async fn read(storage: &Storage, path: &str, file: &DataFileMeta) -> Vec<(i64, Option<i32>, Option<String>)> {
    let format = default_registry().get("parquet", &BTreeMap::new()).unwrap();
    let input = storage
        .open_input(path, Some(file.file_size as u64))
        .await
        .unwrap();
    let mut reader = format
        .create_reader_builder(1024)
        .unwrap()
        .build(input)
        .await
        .unwrap();
    let mut rows = Vec::new();
    while let Some(batch) = reader.next_batch().await.unwrap() {
        let (ids, p) = (
            batch.column(0).as_primitive::<Int64Type>(),
            batch.column(1).as_primitive::<Int32Type>(),
        );
        let names = batch.column(2).as_string::<i32>();
        rows.extend((0..batch.num_rows()).map(|i| {
            let name = names.is_valid(i).then(|| names.value(i).to_owned());
            (ids.value(i), p.is_valid(i).then(|| p.value(i)), name)
        }));
    }
    rows
}

fn expected(from: i64, to: i64) -> Vec<(i64, Option<i32>, Option<String>)> {
    (from..to)
        .map(|i| {
            (
                i,
                (i % 4 != 3).then_some((i % 4) as i32),
                (i % 5 != 0).then(|| format!("name of number {i}")),
            )
        })
        .collect()
}

async fn files(storage: &Storage) -> Vec<String> {
    let mut all: Vec<String> = storage
        .list_recursive("memory://db/t")
        .map_ok(|f| f.path)
        .try_collect()
        .await
        .unwrap();
    all.sort();
    all
}

fn partition(value: Option<i32>) -> Partition {
    Partition::of(&[int()], &[value.map(Datum::Int)]).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_come_back_from_partitions_and_buckets() {
    let storage = Storage::memory();
    let context = context(&storage, &["p"], &[("bucket", "3"), ("bucket-key", "id")]);
    let mut write = TableWrite::new(context).unwrap();
    for chunk in 0..20 {
        write.write(&rows(chunk * 500, chunk * 500 + 500)).await.unwrap();
    }
    write.write(&rows(0, 0)).await.unwrap();
    let messages = write.prepare_commit().await.unwrap();
    assert_eq!(messages.len(), 12);
    let mut found = Vec::new();
    for message in &messages {
        assert_eq!(message.total_buckets, Some(3));
        assert_eq!(message.data_increment.new_files.len(), 1);
        let name = match message.partition.values(&[int()]).unwrap().remove(0) {
            Some(Datum::Int(p)) => p.to_string(),
            _ => "__DEFAULT_PARTITION__".to_owned(),
        };
        let file = &message.data_increment.new_files[0];
        let path = format!(
            "memory://db/t/p={name}/bucket-{}/{}",
            message.bucket, file.file_name
        );
        let rows = read(&storage, &path, file).await;
        assert_eq!(rows.len() as i64, file.row_count);
        assert_eq!(
            (file.min_sequence_number, file.max_sequence_number),
            (0, file.row_count - 1)
        );
        for (id, p, _) in &rows {
            assert_eq!(partition(*p), message.partition);
            assert_eq!(
                paimon_types::bucket_from_hash(paimon_types::bigint_row_hash(*id), 3),
                message.bucket
            );
        }
        assert!(rows.is_sorted(), "rows keep their order");
        found.extend(rows);
    }
    found.sort();
    assert_eq!(found, expected(0, 10_000));
    assert_eq!(files(&storage).await.len(), 12);
    assert!(write.prepare_commit().await.unwrap().is_empty());
}

#[tokio::test]
async fn file_meta() {
    let storage = Storage::memory();
    let options = [
        ("data-file.path-directory", "data/"),
        ("data-file.prefix", "part-"),
        ("file.suffix.include.compression", "true"),
        ("fields.p.stats-mode", "none"),
    ];
    let mut write = TableWrite::new(context(&storage, &[], &options)).unwrap();
    write.write(&rows(1, 21)).await.unwrap();
    let messages = write.prepare_commit().await.unwrap();
    let [message] = messages.as_slice() else {
        panic!("{messages:?}")
    };
    assert_eq!((message.bucket, message.total_buckets), (0, Some(-1)));
    assert_eq!(message.partition, Partition::unpartitioned());
    let file = &message.data_increment.new_files[0];
    assert_eq!(file.file_name, "part-uuid0-0.zst.parquet");
    let path = "memory://db/t/data/bucket-0/part-uuid0-0.zst.parquet";
    assert_eq!(
        storage.status(path).await.unwrap().unwrap().size as i64,
        file.file_size
    );
    assert_eq!((file.schema_id, file.level, file.row_count), (7, 0, 20));
    assert_eq!(file.creation_time, Some(1_700_003_600_000));
    assert_eq!(
        (file.delete_row_count, file.file_source),
        (Some(0), Some(FileSource::Append))
    );
    assert_eq!(file.value_stats_cols.as_deref().unwrap(), ["id", "name"]);
    let types = [DataType::new(TypeKind::BigInt), DataType::string()];
    let text = |s: &str| Some(Datum::String(s.to_owned()));
    assert_eq!(
        file.value_stats.min_values.values(&types).unwrap(),
        [Some(Datum::BigInt(1)), text("name of number 1")]
    );
    assert_eq!(
        file.value_stats.max_values.values(&types).unwrap(),
        [Some(Datum::BigInt(20)), text("name of number 9")]
    );
    assert_eq!(file.value_stats.null_counts, [Some(0), Some(4)]);
}

#[tokio::test]
async fn another_bucket_count_is_refused_until_files_are_ignored() {
    let storage = Storage::memory();
    let options = [("bucket", "3"), ("bucket-key", "id")];
    let state = |p, bucket, total| BucketState {
        total_buckets: Some(total),
        max_sequence_number: Some(9),
        ..BucketState::empty(partition(Some(p)), bucket)
    };
    let mut context = context(&storage, &["p"], &options);
    // The bucket that is known is not the only one that its partition's count holds for.
    context.restore = Some(vec![state(0, 0, 2)]);
    let mut write = TableWrite::new(context.clone()).unwrap();
    let error = write.write(&rows(0, 100)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    let expected = "the partition was written with 2 buckets, the table now has 3: overwrite the partition to rescale it \
                    before appending";
    assert_eq!(error.message(), expected);
    assert!(files(&storage).await.is_empty());

    write.ignore_previous_files();
    write.write(&rows(0, 100)).await.unwrap();
    let messages = write.prepare_commit().await.unwrap();
    assert!(
        messages
            .iter()
            .flat_map(CommitMessage::new_files)
            .all(|f| f.min_sequence_number == 0)
    );
    assert!(messages.iter().all(|m| m.total_buckets == Some(3)));

    context.restore = Some(vec![state(0, 0, 2), state(0, 1, 3)]);
    let error = TableWrite::new(context.clone()).unwrap_err();
    assert_eq!(
        error.message(),
        "buckets 0 and 1 of one partition tell 2 and 3 buckets, expected one count"
    );
    context.restore = Some(vec![state(0, 0, 3), state(0, 0, 3)]);
    let error = TableWrite::new(context.clone()).unwrap_err();
    assert_eq!(
        error.message(),
        "bucket 0 of one partition has two states, expected one"
    );
    context.restore = Some(vec![state(0, 0, 3), state(0, 1, 3)]);
    let write = TableWrite::new(context).unwrap();
    let restored = write.restored_bucket(&partition(Some(0)), 1).unwrap();
    assert_eq!(restored.next_sequence_number().unwrap(), 10);
    assert!(write.restored_bucket(&partition(Some(1)), 0).is_none());
}

#[tokio::test]
async fn rolling_by_rows_and_going_on_after_a_commit() {
    let storage = Storage::memory();
    let mut context = context(&storage, &[], &[("target-file-row-num", "1000")]);
    context.restore = Some(vec![BucketState {
        max_sequence_number: Some(41),
        ..BucketState::empty(Partition::unpartitioned(), 0)
    }]);
    let mut write = TableWrite::new(context).unwrap();
    write.write(&rows(0, 700)).await.unwrap();
    write.write(&rows(700, 2500)).await.unwrap();
    let shape = |messages: Vec<CommitMessage>| -> Vec<(String, i64, i64)> {
        let files = messages.into_iter().flat_map(|m| m.data_increment.new_files);
        files
            .map(|f| (f.file_name, f.min_sequence_number, f.max_sequence_number))
            .collect()
    };
    let name = |n: i32| format!("data-uuid0-{n}.parquet");
    let first = shape(write.prepare_commit().await.unwrap());
    assert_eq!(
        first,
        [(name(0), 42, 1041), (name(1), 1042, 2041), (name(2), 2042, 2541)]
    );
    write.write(&rows(0, 1000)).await.unwrap();
    assert_eq!(
        shape(write.prepare_commit().await.unwrap()),
        [(name(3), 2542, 3541)]
    );
    assert_eq!(files(&storage).await.len(), 4);
}

#[tokio::test]
async fn rolling_by_size() {
    let storage = Storage::memory();
    let mut write = TableWrite::new(context(&storage, &[], &[("target-file-size", "1 b")])).unwrap();
    write.write(&rows(0, 100_000)).await.unwrap();
    let messages = write.prepare_commit().await.unwrap();
    let files = &messages[0].data_increment.new_files;
    assert!(files.len() > 3, "{}", files.len());
    assert_eq!(files.iter().map(|f| f.row_count).sum::<i64>(), 100_000);
    let mut from = 0;
    for file in files {
        let rows = read(
            &storage,
            &format!("memory://db/t/bucket-0/{}", file.file_name),
            file,
        )
        .await;
        assert_eq!(rows, expected(from, from + file.row_count));
        from += file.row_count;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_limit_finishes_files_early() {
    let storage = Storage::memory();
    let mut context = context(&storage, &[], &[("bucket", "16"), ("bucket-key", "id")]);
    context.memory_limit = 1 << 20;
    let mut write = TableWrite::new(context).unwrap();
    for chunk in 0..30 {
        write
            .write(&rows(chunk * 8000, chunk * 8000 + 8000))
            .await
            .unwrap();
    }
    let messages = write.prepare_commit().await.unwrap();
    let metas: Vec<(i32, DataFileMeta)> = messages
        .into_iter()
        .flat_map(|m| m.data_increment.new_files.into_iter().map(move |f| (m.bucket, f)))
        .collect();
    assert!(metas.len() > 16, "{}", metas.len());
    let mut found = Vec::new();
    for (bucket, file) in &metas {
        found.extend(
            read(
                &storage,
                &format!("memory://db/t/bucket-{bucket}/{}", file.file_name),
                file,
            )
            .await,
        );
    }
    found.sort();
    assert_eq!(found, expected(0, 240_000));
}

#[tokio::test]
async fn refused_batches_leave_the_writer_usable_and_abort_deletes() {
    let storage = Storage::memory();
    let mut write = TableWrite::new(context(&storage, &[], &[("target-file-row-num", "10")])).unwrap();
    write.write(&rows(0, 25)).await.unwrap();
    let bad = batch(vec![("id", arc(Int64Array::from(vec![Some(1), None])))]);
    let err = write.write(&bad).await.unwrap_err();
    assert!(
        err.to_string().contains("column: id") && err.to_string().contains("row 1"),
        "{err}"
    );
    let handed_out = write.prepare_commit().await.unwrap();
    assert_eq!(handed_out[0].data_increment.new_files.len(), 3);
    write.write(&rows(0, 25)).await.unwrap();
    write.abort().await.unwrap();
    assert_eq!(files(&storage).await.len(), 3, "what was handed out stays");
}

#[tokio::test]
async fn failures_of_the_store_break_the_writer() {
    for (operation, fault) in [(Operation::Put, Fault::Before), (Operation::Put, Fault::After)] {
        let faults = FaultStore::memory();
        let storage = Storage::default().with_store("memory://", Arc::new(faults.clone()));
        let mut write = TableWrite::new(context(&storage, &["p"], &[])).unwrap();
        write.write(&rows(0, 100)).await.unwrap();
        faults.add(Rule::on(operation, fault).path("p=1/").times(1));
        let err = write.prepare_commit().await.unwrap_err();
        assert_eq!(err.kind(), ErrorKind::Io);
        assert!(
            write
                .write(&rows(0, 1))
                .await
                .unwrap_err()
                .to_string()
                .contains("abort")
        );
        assert!(write.prepare_commit().await.is_err());
        write.abort().await.unwrap();
        assert!(files(&storage).await.is_empty());
    }
}

#[tokio::test]
async fn null_and_blank_partitions_share_a_directory() {
    let storage = Storage::memory();
    let columns = [("a", int()), ("p", DataType::string())];
    let context =
        TableWriteContext::new(storage.clone(), "memory://db/t/", schema(&columns, &["p"], &[])).unwrap();
    let mut write = TableWrite::new(context).unwrap();
    let values = StringArray::from(vec![None, Some(""), Some("  "), Some("a/b=c"), None]);
    write
        .write(&batch(vec![
            ("p", arc(values)),
            ("a", arc(Int32Array::from(vec![1, 2, 3, 4, 5]))),
        ]))
        .await
        .unwrap();
    let messages = write.prepare_commit().await.unwrap();
    let counts: Vec<i64> = messages
        .iter()
        .map(|m| m.data_increment.new_files[0].row_count)
        .collect();
    assert_eq!(counts, [2, 1, 1, 1]);
    let dirs = storage.list_dirs("memory://db/t").await.unwrap();
    assert_eq!(dirs, ["p=__DEFAULT_PARTITION__", "p=a%2Fb%3Dc"]);
    assert_eq!(
        storage
            .list("memory://db/t/p=__DEFAULT_PARTITION__/bucket-0")
            .await
            .unwrap()
            .len(),
        3
    );
}

#[test]
fn tables_that_cannot_be_written_are_refused_by_name() {
    let storage = Storage::memory();
    let refuse = |options: &[(&str, &str)], change: fn(&mut TableWriteContext)| {
        let mut context = context(&storage, &[], options);
        change(&mut context);
        TableWrite::new(context).unwrap_err()
    };
    let cases: [(&[(&str, &str)], &str); 6] = [
        (&[("data-evolution.enabled", "true")], "data-evolution.enabled"),
        (&[("bucket", "-2")], "bucket"),
        (&[("type", "format-table")], "type"),
        (&[("file.format", "mosaic")], "mosaic"),
        (
            &[
                ("data-file.external-paths", "s3://x/y"),
                ("data-file.external-paths.strategy", "round-robin"),
            ],
            "data-file.external-paths.strategy",
        ),
        (&[("blob-field", "name")], "blob-field"),
    ];
    for (options, text) in cases {
        let err = refuse(options, |_| {});
        assert_eq!(err.kind(), ErrorKind::Unsupported, "{err}");
        assert!(err.to_string().contains(text), "{err}");
    }
    let err = refuse(&[], |context| {
        Arc::make_mut(&mut context.schema).fields[2].data_type = DataType::new(TypeKind::Blob);
    });
    assert!(
        err.kind() == ErrorKind::Unsupported && err.to_string().contains("name"),
        "{err}"
    );
    let err = refuse(&[], |context| {
        context.static_partition.insert("name".into(), None);
    });
    assert_eq!(err.kind(), ErrorKind::InvalidInput);
}

#[tokio::test]
async fn a_cancelled_call_breaks_the_writer_and_abort_still_cleans_up() {
    let storage = Storage::memory();
    let mut write = TableWrite::new(context(&storage, &[], &[("target-file-row-num", "10")])).unwrap();
    write.write(&rows(0, 25)).await.unwrap();
    {
        let mut call = Box::pin(write.prepare_commit());
        assert!(futures_util::poll!(call.as_mut()).is_pending());
    }
    assert!(write.prepare_commit().await.is_err());
    write.abort().await.unwrap();
    assert!(files(&storage).await.is_empty());
}

#[tokio::test]
async fn every_type_can_be_written_and_nulls_come_back() {
    let t = DataType::new;
    let row = t(TypeKind::Row(vec![
        DataField::new(40, "x", int()),
        DataField::new(41, "y", DataType::string()),
    ]));
    let columns = [
        ("id", DataType::required(TypeKind::BigInt)),
        ("list", t(TypeKind::Array(Box::new(row.clone())))),
        (
            "map",
            t(TypeKind::Map(
                Box::new(DataType::string()),
                Box::new(t(TypeKind::Array(Box::new(int())))),
            )),
        ),
        ("set", t(TypeKind::Multiset(Box::new(DataType::string())))),
        ("row", row),
        ("variant", t(TypeKind::Variant)),
        ("vector", t(TypeKind::Vector(Box::new(t(TypeKind::Float)), 3))),
        ("ts9", t(TypeKind::Timestamp(9))),
        ("ltz6", t(TypeKind::TimestampLtz(6))),
        ("time", t(TypeKind::Time(0))),
        (
            "dec",
            t(TypeKind::Decimal {
                precision: 38,
                scale: 18,
            }),
        ),
        ("char", t(TypeKind::Char(3))),
        ("bin", t(TypeKind::Binary(3))),
    ];
    let storage = Storage::memory();
    let context =
        TableWriteContext::new(storage.clone(), "memory://db/t", schema(&columns, &[], &[])).unwrap();
    let mut write = TableWrite::new(context).unwrap();
    write
        .write(&batch(vec![("id", arc(Int64Array::from(vec![1, 2, 3])))]))
        .await
        .unwrap();
    let messages = write.prepare_commit().await.unwrap();
    let file = &messages[0].data_increment.new_files[0];
    let counted = file.value_stats_cols.clone().unwrap();
    assert!(
        !counted
            .iter()
            .any(|c| ["list", "map", "set", "row", "variant"].contains(&c.as_str())),
        "{counted:?}"
    );
    let format = default_registry().get("parquet", &BTreeMap::new()).unwrap();
    let path = format!("memory://db/t/bucket-0/{}", file.file_name);
    let input = storage.open_input(&path, None).await.unwrap();
    let mut reader = format
        .create_reader_builder(10)
        .unwrap()
        .build(input)
        .await
        .unwrap();
    reader
        .set_read_schema(&schema(&columns, &[], &[]).fields, None, None)
        .unwrap();
    let read = reader.next_batch().await.unwrap().unwrap();
    assert_eq!((read.num_rows(), read.num_columns()), (3, columns.len()));
    assert!(
        read.columns()
            .iter()
            .skip(1)
            .all(|column| column.null_count() == 3)
    );
}
