// SPDX-License-Identifier: Apache-2.0

//! Tables with a primary key: what stands in the files of level 0 and in their metas.

mod spill;

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int8Type, Int32Type, Int64Type};
use arrow_array::{Array, Float64Array, Int8Array, Int32Array, Int64Array, RecordBatch, StringArray};
use paimon_protocol::{BucketState, CommitMessage, DataFileMeta, FileSource, Partition, RowValues};
use paimon_storage::Storage;
use paimon_types::{DataType, Datum, ErrorKind, TableSchema, TypeKind};

use super::{arc, batch, int, schema};
use crate::file_format::default_registry;
use crate::{TableWrite, TableWriteContext};

fn keyed(
    columns: &[(&str, DataType)],
    partition: &[&str],
    primary: &[&str],
    options: &[(&str, &str)],
) -> TableSchema {
    let mut options = options.to_vec();
    if !options.iter().any(|(key, _)| *key == "bucket") {
        options.push(("bucket", "1"));
    }
    TableSchema {
        primary_keys: primary.iter().map(ToString::to_string).collect(),
        ..schema(columns, partition, &options)
    }
}

/// id BIGINT NOT NULL, v INT, s STRING with key id.
fn plain(options: &[(&str, &str)]) -> TableSchema {
    let columns = [
        ("id", DataType::required(TypeKind::BigInt)),
        ("v", int()),
        ("s", DataType::string()),
    ];
    keyed(&columns, &[], &["id"], options)
}

fn context(storage: &Storage, schema: TableSchema) -> TableWriteContext {
    let mut context = TableWriteContext::new(storage.clone(), "memory://db/t", schema).unwrap();
    context.restore = Some(Vec::new());
    context
}

fn writer(storage: &Storage, schema: TableSchema) -> TableWrite {
    TableWrite::new(context(storage, schema)).unwrap()
}

fn rows(rows: &[(i64, i32, &str)]) -> RecordBatch {
    batch(vec![
        ("id", arc(Int64Array::from_iter_values(rows.iter().map(|r| r.0)))),
        ("v", arc(Int32Array::from_iter_values(rows.iter().map(|r| r.1)))),
        ("s", arc(StringArray::from_iter_values(rows.iter().map(|r| r.2)))),
    ])
}

/// Rows with their kinds.
fn changes(list: &[(i8, i64, i32, &str)]) -> RecordBatch {
    let plain: Vec<(i64, i32, &str)> = list.iter().map(|(_, id, v, s)| (*id, *v, *s)).collect();
    let kinds = Int8Array::from_iter_values(list.iter().map(|(kind, ..)| *kind));
    let plain = rows(&plain);
    let mut columns = vec![("_VALUE_KIND", arc(kinds))];
    columns.extend(["id", "v", "s"].into_iter().zip(plain.columns().iter().cloned()));
    batch(columns)
}

/// All columns of a file as they are stored.
async fn stored(storage: &Storage, path: &str, file: &DataFileMeta) -> Vec<RecordBatch> {
    let format = file.file_name.rsplit('.').next().unwrap();
    let format = default_registry().get(format, &BTreeMap::new()).unwrap();
    let path = format!("{path}/{}", file.file_name);
    let input = storage
        .open_input(&path, Some(file.file_size as u64))
        .await
        .unwrap();
    let mut reader = format
        .create_reader_builder(1024)
        .unwrap()
        .build(input)
        .await
        .unwrap();
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch().await.unwrap() {
        batches.push(batch);
    }
    batches
}

/// (key, sequence number, kind, id, v, s) of a file of a [`plain`] table.
type Stored = (i64, i64, i8, i64, Option<i32>, Option<String>);

async fn stored_rows(storage: &Storage, file: &DataFileMeta) -> Vec<Stored> {
    let mut found = Vec::new();
    for batch in stored(storage, "memory://db/t/bucket-0", file).await {
        let names: Vec<_> = batch.schema().fields().iter().map(|f| f.name().clone()).collect();
        assert_eq!(
            names,
            ["_KEY_id", "_SEQUENCE_NUMBER", "_VALUE_KIND", "id", "v", "s"]
        );
        let long = |at: usize| batch.column(at).as_primitive::<Int64Type>().clone();
        let (key, sequence, id) = (long(0), long(1), long(3));
        let kind = batch.column(2).as_primitive::<Int8Type>();
        let v = batch.column(4).as_primitive::<Int32Type>();
        let s = batch.column(5).as_string::<i32>();
        for row in 0..batch.num_rows() {
            found.push((
                key.value(row),
                sequence.value(row),
                kind.value(row),
                id.value(row),
                v.is_valid(row).then(|| v.value(row)),
                s.is_valid(row).then(|| s.value(row).to_owned()),
            ));
        }
    }
    found
}

fn row(id: i64, sequence: i64, kind: i8, v: i32, s: &str) -> Stored {
    (id, sequence, kind, id, Some(v), Some(s.to_owned()))
}

fn only_file(messages: &[CommitMessage]) -> &DataFileMeta {
    let [message] = messages else {
        panic!("expected one message, found {messages:?}")
    };
    let [file] = message.data_increment.new_files.as_slice() else {
        panic!("expected one file, found {message:?}")
    };
    file
}

#[tokio::test]
async fn case_48_versions_in_one_buffer_are_merged_at_flush() {
    let storage = Storage::memory();
    let mut write = writer(&storage, plain(&[]));
    write
        .write(&rows(&[(5, 1, "e"), (1, 1, "a"), (3, 1, "c")]))
        .await
        .unwrap();
    write
        .write(&changes(&[(2, 1, 2, "b"), (3, 3, 9, ""), (0, 9, 1, "i")]))
        .await
        .unwrap();
    let messages = write.prepare_commit().await.unwrap();
    assert_eq!(messages[0].total_buckets, Some(1));
    let file = only_file(&messages);
    assert_eq!(
        stored_rows(&storage, file).await,
        [
            row(1, 3, 2, 2, "b"),
            row(3, 4, 3, 9, ""),
            row(5, 0, 0, 1, "e"),
            row(9, 5, 0, 1, "i"),
        ]
    );
    let key = |id| {
        RowValues::of(
            &[DataType::required(TypeKind::BigInt)],
            &[Some(Datum::BigInt(id))],
        )
        .unwrap()
    };
    assert_eq!(
        (file.row_count, file.delete_row_count, file.level),
        (4, Some(1), 0)
    );
    assert_eq!((&file.min_key, &file.max_key), (&key(1), &key(9)));
    // the number of a version that lost is not the file's
    assert_eq!((file.min_sequence_number, file.max_sequence_number), (0, 5));
    assert_eq!(file.file_source, Some(FileSource::Append));
    assert_eq!((file.schema_id, &file.value_stats_cols), (7, &None));
    assert_eq!(file.key_stats.min_values, key(1));
    assert_eq!(file.key_stats.max_values, key(9));
    assert_eq!(file.key_stats.null_counts, [Some(0)]);
    assert_eq!(file.value_stats.null_counts, [Some(0), Some(0), Some(0)]);
    // the numbers go on
    write.write(&rows(&[(2, 7, "x")])).await.unwrap();
    let messages = write.prepare_commit().await.unwrap();
    assert_eq!(
        stored_rows(&storage, only_file(&messages)).await,
        [row(2, 6, 0, 7, "x")]
    );
    assert!(write.prepare_commit().await.unwrap().is_empty());
}

#[tokio::test]
async fn numbers_go_on_with_the_state_of_the_bucket() {
    let storage = Storage::memory();
    let mut context = context(&storage, plain(&[]));
    context.restore = Some(vec![BucketState {
        total_buckets: Some(1),
        max_sequence_number: Some(41),
        ..BucketState::empty(Partition::unpartitioned(), 0)
    }]);
    let mut write = TableWrite::new(context.clone()).unwrap();
    write.write(&rows(&[(1, 1, "a")])).await.unwrap();
    let messages = write.prepare_commit().await.unwrap();
    assert_eq!(only_file(&messages).min_sequence_number, 42);

    context.restore = None;
    let mut write = TableWrite::new(context.clone()).unwrap();
    let error = write.write(&rows(&[(1, 1, "a")])).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(
        error
            .message()
            .starts_with("the states of the buckets were not planned")
    );
    write.ignore_previous_files();
    write.write(&rows(&[(1, 1, "a")])).await.unwrap();
    let messages = write.prepare_commit().await.unwrap();
    assert_eq!(only_file(&messages).min_sequence_number, 0);
}

#[tokio::test]
async fn sequence_fields_decide_before_the_arrival() {
    for (order, winner) in [("ascending", 2), ("descending", 3)] {
        let storage = Storage::memory();
        let options = [("sequence.field", "v"), ("sequence.field.sort-order", order)];
        let mut write = writer(&storage, plain(&options));
        // NULL is the oldest in both directions; equal values keep their order
        let ids = Int64Array::from(vec![1, 1, 1, 1, 1, 2, 2]);
        let v = Int32Array::from(vec![Some(7), Some(3), Some(7), Some(3), None, None, None]);
        let s = StringArray::from(vec!["0", "1", "2", "3", "4", "5", "6"]);
        write
            .write(&batch(vec![("id", arc(ids)), ("v", arc(v)), ("s", arc(s))]))
            .await
            .unwrap();
        let messages = write.prepare_commit().await.unwrap();
        let found = stored_rows(&storage, only_file(&messages)).await;
        let text: Vec<_> = found.iter().map(|r| (r.1, r.5.clone().unwrap())).collect();
        assert_eq!(
            text,
            [(winner, winner.to_string()), (6, "6".to_owned())],
            "{order}"
        );
    }
}

#[tokio::test]
async fn kinds_that_are_ignored_leave_nothing() {
    let all = [(0, 1, 1, "i"), (1, 2, 2, "ub"), (2, 3, 3, "ua"), (3, 4, 4, "d")];
    for (option, kept) in [
        (None, vec![1, 2, 3, 4]),
        (Some(("ignore-delete", "true")), vec![1, 3]),
        (Some(("deduplicate.ignore-delete", "TRUE")), vec![1, 3]),
        (Some(("ignore-update-before", "true")), vec![1, 3, 4]),
    ] {
        let storage = Storage::memory();
        let options: Vec<_> = option.into_iter().collect();
        let mut write = writer(&storage, plain(&options));
        write.write(&changes(&all)).await.unwrap();
        let messages = write.prepare_commit().await.unwrap();
        let found = stored_rows(&storage, only_file(&messages)).await;
        assert_eq!(found.iter().map(|r| r.3).collect::<Vec<_>>(), kept, "{option:?}");
        // dropped rows take no number
        let numbers: Vec<i64> = found.iter().map(|r| r.1).collect();
        assert_eq!(numbers, (0..kept.len() as i64).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn kinds_of_a_column_of_the_table() {
    let storage = Storage::memory();
    let mut write = writer(&storage, plain(&[("rowkind.field", "s")]));
    write
        .write(&rows(&[(1, 1, "+I"), (2, 2, "-D"), (3, 3, "+U"), (4, 4, "-U")]))
        .await
        .unwrap();
    let messages = write.prepare_commit().await.unwrap();
    let found = stored_rows(&storage, only_file(&messages)).await;
    assert_eq!(found.iter().map(|r| r.2).collect::<Vec<_>>(), [0, 3, 2, 1]);
    assert_eq!(only_file(&messages).delete_row_count, Some(2));

    let refused = [
        (
            rows(&[(1, 1, "+I"), (2, 2, "D")]),
            "the row kind is 'D', expected '+I', '-U', '+U' or '-D'",
        ),
        (
            batch(vec![
                ("id", arc(Int64Array::from(vec![1, 2]))),
                ("s", arc(StringArray::from(vec![Some("+I"), None]))),
            ]),
            "the row kind is NULL in row 1 of the batch",
        ),
        (
            changes(&[(0, 1, 1, "+I")]),
            "the batch tells kinds of rows, but option rowkind.field says that column 's' does",
        ),
    ];
    for (rows, message) in refused {
        let error = write.write(&rows).await.unwrap_err();
        assert_eq!(error.message(), message);
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
    let bad = TableWrite::new(context(&storage, plain(&[("rowkind.field", "v")]))).unwrap_err();
    assert_eq!(bad.message(), "rowkind.field 'v' has type INT, expected STRING");
}

#[tokio::test]
async fn kinds_that_are_none_are_refused_with_their_row() {
    let storage = Storage::memory();
    let mut write = writer(&storage, plain(&[]));
    let error = write
        .write(&changes(&[(0, 1, 1, ""), (4, 2, 2, "")]))
        .await
        .unwrap_err();
    assert!(
        error.context().any(|(key, value)| key == "row" && value == "1"),
        "{error}"
    );
    let text = batch(vec![
        ("id", arc(Int64Array::from(vec![1]))),
        ("_VALUE_KIND", arc(StringArray::from(vec!["+I"]))),
    ]);
    let error = write.write(&text).await.unwrap_err();
    assert_eq!(
        error.message(),
        "the kinds of rows have Arrow type Utf8, expected Int8"
    );
    // refused batches leave nothing behind
    assert!(write.prepare_commit().await.unwrap().is_empty());
}

#[tokio::test]
async fn case_54_null_in_a_key_is_refused_and_key_columns_are_enough_for_a_delete() {
    let storage = Storage::memory();
    let mut write = writer(&storage, plain(&[("fields.v.default-value", "x")]));
    let nulls = batch(vec![("id", arc(Int64Array::from(vec![Some(1), None])))]);
    let error = write.write(&nulls).await.unwrap_err();
    assert_eq!(
        error.message(),
        "NULL in row 1 of the batch, but the column is NOT NULL"
    );
    let delete = batch(vec![
        ("id", arc(Int64Array::from(vec![4]))),
        ("_VALUE_KIND", arc(Int8Array::from(vec![3]))),
    ]);
    write.write(&delete).await.unwrap();
    let messages = write.prepare_commit().await.unwrap();
    assert_eq!(
        stored_rows(&storage, only_file(&messages)).await,
        [(4, 0, 3, 4, None, None)]
    );
}

#[tokio::test]
async fn changelog_of_the_input() {
    let storage = Storage::memory();
    let options = [
        ("changelog-producer", "input"),
        ("changelog-file.prefix", "log-"),
        ("changelog-file.stats-mode", "none"),
        ("target-file-row-num", "1"),
    ];
    let mut write = writer(&storage, plain(&options));
    write
        .write(&changes(&[
            (0, 2, 1, "a"),
            (0, 1, 2, "b"),
            (1, 2, 1, "a"),
            (2, 2, 5, "c"),
        ]))
        .await
        .unwrap();
    let messages = write.prepare_commit().await.unwrap();
    let increment = &messages[0].data_increment;
    // rows per file bind data files only
    assert_eq!(
        (increment.new_files.len(), increment.changelog_files.len()),
        (2, 1)
    );
    let log = &increment.changelog_files[0];
    assert!(log.file_name.starts_with("log-") && log.file_name.ends_with(".parquet"));
    assert_eq!(
        stored_rows(&storage, log).await,
        [
            row(1, 1, 0, 2, "b"),
            row(2, 0, 0, 1, "a"),
            row(2, 2, 1, 1, "a"),
            row(2, 3, 2, 5, "c")
        ]
    );
    assert_eq!((log.row_count, log.delete_row_count, log.level), (4, Some(1), 0));
    assert_eq!((log.min_sequence_number, log.max_sequence_number), (0, 3));
    // columns with system names keep their statistics
    assert_eq!(log.value_stats_cols.as_ref().unwrap().len(), 0);
    assert_eq!(log.key_stats.null_counts, [Some(0)]);
    let mut merged = Vec::new();
    for file in &increment.new_files {
        merged.extend(stored_rows(&storage, file).await);
    }
    assert_eq!(merged, [row(1, 1, 0, 2, "b"), row(2, 3, 2, 5, "c")]);
    // a writer that gives up deletes both kinds
    write.write(&rows(&[(1, 1, "")])).await.unwrap();
    write.prepare_commit().await.unwrap();
}

#[tokio::test]
async fn thin_files_have_no_key_columns() {
    let storage = Storage::memory();
    let options = [("data-file.thin-mode", "true"), ("metadata.stats-mode", "counts")];
    let mut write = writer(&storage, plain(&options));
    write.write(&rows(&[(2, 1, "b"), (1, 1, "a")])).await.unwrap();
    let messages = write.prepare_commit().await.unwrap();
    let file = only_file(&messages);
    let batches = stored(&storage, "memory://db/t/bucket-0", file).await;
    let names: Vec<_> = batches[0]
        .schema()
        .fields()
        .iter()
        .map(|f| f.name().clone())
        .collect();
    assert_eq!(names, ["_SEQUENCE_NUMBER", "_VALUE_KIND", "id", "v", "s"]);
    let key = |id| {
        RowValues::of(
            &[DataType::required(TypeKind::BigInt)],
            &[Some(Datum::BigInt(id))],
        )
        .unwrap()
    };
    assert_eq!((&file.min_key, &file.max_key), (&key(1), &key(2)));
    assert_eq!(
        (&file.key_stats.min_values, &file.key_stats.max_values),
        (&key(1), &key(2))
    );
    // the key keeps its bounds among the columns of the table too
    let types = [DataType::new(TypeKind::BigInt), int(), DataType::string()];
    let min = file.value_stats.min_values.values(&types).unwrap();
    assert_eq!(min, [Some(Datum::BigInt(1)), None, None]);
}

#[tokio::test]
async fn routing_by_the_trimmed_key_or_the_bucket_key() {
    // case 49: the partition column is no part of what is hashed; the key order is the declared one
    let columns = [
        ("p", int()),
        ("a", DataType::required(TypeKind::Int)),
        ("b", DataType::required(TypeKind::Int)),
    ];
    let data = batch(vec![
        ("p", arc(Int32Array::from(vec![1, 1, 1, 1, 1, 1, 1]))),
        ("a", arc(Int32Array::from(vec![9, 8, 7, 6, 5, 4, 3]))),
        ("b", arc(Int32Array::from(vec![1, 2, 3, 4, 5, 6, 7]))),
    ]);
    let storage = Storage::memory();
    let mut by_key = keyed(&columns, &["p"], &["p", "b"], &[("bucket", "4")]);
    by_key.fields[0].data_type.nullable = false;
    let mut by_option = keyed(
        &columns,
        &["p"],
        &["b", "a", "p"],
        &[("bucket", "4"), ("bucket-key", "b")],
    );
    by_option.fields[0].data_type.nullable = false;
    for schema in [by_key, by_option] {
        let mut write = writer(&storage, schema);
        write.write(&data).await.unwrap();
        let messages = write.prepare_commit().await.unwrap();
        // the buckets of the INT keys 1..=7 of four
        let mut rows: Vec<(i32, i64)> = messages.iter().map(|m| (m.bucket, m.new_row_count())).collect();
        rows.sort_unstable();
        assert_eq!(rows, [(0, 3), (1, 1), (2, 2), (3, 1)]);
    }
}

#[tokio::test]
async fn key_order_is_the_declared_one_and_strings_compare_by_bytes() {
    let columns = [
        ("a", DataType::required(TypeKind::Int)),
        ("v", int()),
        ("k", DataType::string().with_nullable(false)),
    ];
    let storage = Storage::memory();
    let mut write = writer(&storage, keyed(&columns, &[], &["k", "a"], &[]));
    let data = batch(vec![
        (
            "k",
            arc(StringArray::from(vec!["b", "", "a", "ab", "é", "z", "a", "b"])),
        ),
        ("a", arc(Int32Array::from(vec![1, 5, -1, 2, 3, 4, 1, 1]))),
        ("v", arc(Int32Array::from(vec![0, 1, 2, 3, 4, 5, 6, 7]))),
    ]);
    write.write(&data).await.unwrap();
    let messages = write.prepare_commit().await.unwrap();
    let batches = stored(&storage, "memory://db/t/bucket-0", only_file(&messages)).await;
    let v = batches[0]
        .column_by_name("v")
        .unwrap()
        .as_primitive::<Int32Type>();
    assert_eq!(v.values(), &[1, 2, 6, 3, 7, 5, 4]);
    let names: Vec<_> = batches[0]
        .schema()
        .fields()
        .iter()
        .map(|f| f.name().clone())
        .collect();
    assert_eq!(names[..2], ["_KEY_k", "_KEY_a"]);
    let types = [DataType::string(), int()];
    let max = only_file(&messages).max_key.values(&types).unwrap();
    assert_eq!(max, [Some(Datum::String("é".into())), Some(Datum::Int(3))]);
}

#[tokio::test]
async fn floats_compare_as_java_compares_them() {
    let columns = [("k", DataType::required(TypeKind::Double)), ("v", int())];
    let storage = Storage::memory();
    let mut write = writer(&storage, keyed(&columns, &[], &["k"], &[]));
    let nan = f64::from_bits(f64::NAN.to_bits() | (1 << 63) | 1);
    let data = batch(vec![
        (
            "k",
            arc(Float64Array::from(vec![
                0.0,
                nan,
                -0.0,
                f64::INFINITY,
                f64::NEG_INFINITY,
                f64::NAN,
                1.0,
            ])),
        ),
        ("v", arc(Int32Array::from(vec![0, 1, 2, 3, 4, 5, 6]))),
    ]);
    write.write(&data).await.unwrap();
    let messages = write.prepare_commit().await.unwrap();
    let batches = stored(&storage, "memory://db/t/bucket-0", only_file(&messages)).await;
    let v = batches[0]
        .column_by_name("v")
        .unwrap()
        .as_primitive::<Int32Type>();
    assert_eq!(v.values(), &[4, 2, 0, 6, 3, 5]);
    assert!(
        batches[0]
            .column(0)
            .as_primitive::<Float64Type>()
            .value(5)
            .is_nan()
    );
}

#[tokio::test]
async fn a_full_buffer_that_is_not_spilled_becomes_a_file_of_its_own() {
    let storage = Storage::memory();
    let mut context = context(&storage, plain(&[("write-buffer-spillable", "false")]));
    context.memory_limit = 100_000;
    let mut write = TableWrite::new(context).unwrap();
    for round in 0..20i32 {
        let list: Vec<(i64, i32, String)> = (0..500)
            .map(|i| (i64::from((i * 7919) % 1000), round, format!("round {round} {i}")))
            .collect();
        let list: Vec<(i64, i32, &str)> = list.iter().map(|(a, b, c)| (*a, *b, c.as_str())).collect();
        write.write(&rows(&list)).await.unwrap();
    }
    let messages = write.prepare_commit().await.unwrap();
    let files = &messages[0].data_increment.new_files;
    assert!(files.len() > 3, "{} files", files.len());
    let mut last = -1;
    for file in files {
        assert!(file.min_sequence_number > last);
        last = file.max_sequence_number;
        let found = stored_rows(&storage, file).await;
        assert!(found.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(found.len() as i64, file.row_count);
    }
    assert_eq!(last, 9999);
    write.write(&rows(&[(1, 1, "")])).await.unwrap();
    write.abort().await.unwrap();
}

#[test]
fn what_compaction_would_have_to_do_is_refused_by_name() {
    let storage = Storage::memory();
    let check = |options: &[(&str, &str)], named: &str| {
        let error = TableWrite::new(context(&storage, plain(options))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(
            error
                .context()
                .any(|(key, value)| key == "option" && value == named),
            "{error}"
        );
        assert!(error.message().contains(named), "{error}");
    };
    for (key, value) in [
        ("changelog-producer", "lookup"),
        ("changelog-producer", "full-compaction"),
        ("merge-engine", "first-row"),
        ("deletion-vectors.enabled", "true"),
        ("sequence.snapshot-ordering", "true"),
        ("write.sequence-number-init-mode", "snapshot"),
        ("pk-clustering-override", "true"),
        ("bucket", "-1"),
        ("bucket", "-2"),
    ] {
        check(&[(key, value)], key);
    }
    // another job compacts
    for (key, value) in [("changelog-producer", "lookup"), ("merge-engine", "first-row")] {
        TableWrite::new(context(&storage, plain(&[(key, value), ("write-only", "true")]))).unwrap();
    }
    let columns = [("id", DataType::required(TypeKind::Int)), ("p", int())];
    let moving = keyed(&columns, &["p"], &["id"], &[("bucket", "-1")]);
    let error = TableWrite::new(context(&storage, moving)).unwrap_err();
    assert!(error.message().contains("may move between partitions"), "{error}");
}

#[test]
fn formats_of_changelog_and_level() {
    let storage = Storage::memory();
    for (key, value) in [
        ("file.format.per.level", "0:nothing"),
        ("changelog-file.format", "nothing"),
    ] {
        let options = [(key, value), ("changelog-producer", "input")];
        let error = TableWrite::new(context(&storage, plain(&options))).unwrap_err();
        assert!(error.context().any(|(k, v)| k == "option" && v == key), "{error}");
    }
    let bad = [("metadata.stats-mode.per.level", "0:some")];
    assert!(TableWrite::new(context(&storage, plain(&bad))).is_err());
}
