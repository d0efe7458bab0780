// SPDX-License-Identifier: Apache-2.0

//! Known traps of reading: history, names, NULL, literals, nested rows, time.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Decimal128Array, ListArray, StructArray};
use paimon::format::ReadHints;
use paimon::types::{Datum, to_arrow_schema};
use paimon::{DataField, ErrorKind, Predicate, Storage, TableRead};
use paimon_testkit::{fixture, json_lines, read_lines};
use roaring::RoaringBitmap;

use crate::support::{append, batch, create, ints, longs, rows, strings, try_append};

#[tokio::test]
async fn case_07_a_tag_outlives_its_snapshot() {
    let fixture = fixture("history/tags");
    let selector = fixture.selector("tag-first");
    let table = fixture.open(&selector, &[]).await.unwrap();
    let read = table.read().tag("first");
    let plan = read.plan().await.unwrap();
    let id = plan.snapshot_id().unwrap();
    assert_eq!(
        table.meta().snapshot_manager().try_snapshot(id).await.unwrap(),
        None,
        "it has expired"
    );
    assert_eq!(read_lines(&read).await.unwrap(), selector.expected());

    let err = table.read().snapshot_id(id).to_batches().await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::NotFound);
    assert!(
        err.message().contains(&format!(
            "snapshot {id} does not exist, the table retains snapshots 4 to 4"
        )),
        "{err}"
    );
}

#[tokio::test]
async fn case_21_names_with_capitals() {
    let table = create(
        &[
            ("ID", "INT"),
            ("UserName", "STRING"),
            ("username", "STRING"),
            ("pT", "STRING"),
        ],
        &["pT"],
        &[],
    )
    .await;
    append(
        &table,
        &[
            ("ID", ints([1])),
            ("UserName", strings([Some("Ann")])),
            ("username", strings([Some("ann")])),
            ("pT", strings([Some("A")])),
        ],
    )
    .await;
    assert_eq!(
        rows(&table).await,
        [r#"{"ID": 1, "UserName": "Ann", "username": "ann", "pT": "A"}"#]
    );
    assert_eq!(
        read_lines(&table.read().select(["UserName"])).await.unwrap(),
        [r#"{"UserName": "Ann"}"#]
    );
    let err = table.read().select(["id"]).to_batches().await.unwrap_err();
    assert!(
        err.kind() == ErrorKind::InvalidInput && err.message().contains("ID, UserName"),
        "{err}"
    );
}

#[tokio::test]
async fn case_27_null_in_lists() {
    let table = create(&[("v", "INT")], &[], &[]).await;
    append(&table, &[("v", ints([None, Some(1), Some(2)]))]).await;
    let v = table.field("v").unwrap();
    let one_and_null = || vec![Some(Datum::Int(1)), None];
    let filters = [
        (Predicate::in_list(v, one_and_null()), vec!["1"]),
        (Predicate::not_in_list(v, one_and_null()), vec![]),
        (Predicate::in_list(v, vec![None]), vec![]),
        (
            Predicate::gt(v, Datum::Int(10)).map(|gt| Predicate::or([gt, Predicate::is_null(v)])),
            vec!["null"],
        ),
        (Predicate::in_list(v, one_and_null()).map(Predicate::not), vec![]),
    ];
    for (filter, expected) in filters {
        let filter = filter.unwrap();
        let expected: Vec<String> = expected.iter().map(|v| format!("{{\"v\": {v}}}")).collect();
        assert_eq!(
            read_lines(&table.read().filter(filter.clone())).await.unwrap(),
            expected,
            "{filter}"
        );
    }
}

/// An array at both ends of a ROW; a ROW of NULLs, an empty array, a NULL ROW.
#[tokio::test]
async fn case_31_rows_that_begin_and_end_with_arrays() {
    let table = create(
        &[("id", "INT"), ("r", "ROW<a ARRAY<INT>, m INT, z ARRAY<INT>>")],
        &[],
        &[],
    )
    .await;
    let field = paimon::types::to_arrow_field(table.field("r").unwrap());
    let arrow_schema::DataType::Struct(fields) = field.data_type() else {
        panic!("{field}")
    };
    let list = |values: Vec<Option<Vec<Option<i32>>>>, index: usize| -> ArrayRef {
        let built = ListArray::from_iter_primitive::<Int32Type, _, _>(values);
        let arrow_schema::DataType::List(element) = fields[index].data_type() else {
            panic!()
        };
        let (_, offsets, values, nulls) = built.into_parts();
        Arc::new(ListArray::new(element.clone(), offsets, values, nulls))
    };
    let a = list(vec![Some(vec![Some(1), None]), None, Some(vec![]), None], 0);
    let z = list(vec![Some(vec![Some(9)]), None, Some(vec![]), None], 2);
    let valid = vec![true, true, true, false];
    let rows_array = StructArray::new(
        fields.clone(),
        vec![a, ints([Some(5), None, None, None]), z],
        Some(valid.into()),
    );
    append(&table, &[("id", ints(1..=4)), ("r", Arc::new(rows_array))]).await;
    assert_eq!(
        rows(&table).await,
        [
            r#"{"id": 1, "r": {"a": [1, null], "m": 5, "z": [9]}}"#,
            r#"{"id": 2, "r": {"a": null, "m": null, "z": null}}"#,
            r#"{"id": 3, "r": {"a": [], "m": null, "z": []}}"#,
            r#"{"id": 4, "r": null}"#,
        ]
    );
}

#[tokio::test]
async fn case_32_no_statistics_no_pruning() {
    let table = create(&[("v", "INT")], &[], &[("metadata.stats-mode", "none")]).await;
    append(&table, &[("v", ints([None, Some(1)]))]).await;
    append(&table, &[("v", ints([None]))]).await;
    let v = table.field("v").unwrap();
    for (filter, expected) in [
        (Predicate::eq(v, Datum::Int(1)).unwrap(), vec![r#"{"v": 1}"#]),
        (Predicate::is_null(v), vec![r#"{"v": null}"#; 2]),
        (Predicate::is_not_null(v), vec![r#"{"v": 1}"#]),
    ] {
        assert_eq!(
            read_lines(&table.read().filter(filter.clone())).await.unwrap(),
            expected,
            "{filter}"
        );
    }
}

#[tokio::test]
async fn case_35_a_decimal_literal_of_another_scale() {
    let table = create(&[("d", "DECIMAL(10, 2)")], &[], &[]).await;
    let values = Decimal128Array::from(vec![150, 151, 200])
        .with_precision_and_scale(10, 2)
        .unwrap();
    append(&table, &[("d", Arc::new(values))]).await;
    let d = table.field("d").unwrap();
    let decimal = |unscaled, scale| Datum::Decimal { unscaled, scale };
    for (filter, expected) in [
        (Predicate::eq(d, decimal(15, 1)), vec!["1.50"]),
        (Predicate::eq(d, decimal(1500, 3)), vec!["1.50"]),
        (Predicate::gt(d, decimal(1505, 3)), vec!["1.51", "2.00"]),
        (Predicate::eq(d, decimal(1505, 3)), vec![]),
        (
            Predicate::in_list(d, vec![Some(decimal(2, 0)), Some(decimal(1501, 3))]),
            vec!["2.00"],
        ),
    ] {
        // Either it compares by value or it is refused before anything is read.
        let filter = match filter {
            Ok(filter) => filter,
            Err(err) if err.kind() == ErrorKind::InvalidInput => continue,
            Err(err) => panic!("{err:?}"),
        };
        let expected: Vec<String> = expected.iter().map(|v| format!("{{\"d\": \"{v}\"}}")).collect();
        assert_eq!(
            read_lines(&table.read().filter(filter.clone())).await.unwrap(),
            expected,
            "{filter}"
        );
    }
}

/// Rows are chosen by their position in the file, also when a predicate skips row groups before them.
#[tokio::test]
async fn case_38_selected_positions_are_those_of_the_file() {
    let table = create(&[("id", "BIGINT")], &[], &[("parquet.block.size", "4 kb")]).await;
    append(&table, &[("id", longs(0..20_000))]).await;
    let plan = table.read().plan().await.unwrap();
    let split = &plan.splits[0];
    let file = &split.data_files[0];
    let fields = table.schema().fields.clone();
    let format = paimon::data::default_registry()
        .get("parquet", &BTreeMap::new())
        .unwrap();
    let mut builder = format.create_reader_builder(1000).unwrap();
    builder.with_read_hints(Some(ReadHints::new().with_read_ahead(false)));
    let storage = table.meta().storage();
    let input = storage
        .open_input(&split.data_file_path(file), Some(file.file_size as u64))
        .await
        .unwrap();
    let mut reader = builder.build(input).await.unwrap();
    assert!(reader.supports_precise_selection());
    let selection: RoaringBitmap = [3, 9_999, 15_000, 15_001, 19_999].into_iter().collect();
    let filter = Predicate::gt_eq(&fields[0], Datum::BigInt(15_000)).unwrap();
    reader
        .set_read_schema(&fields, Some(&filter), Some(selection.clone()))
        .unwrap();
    let mut found = Vec::new();
    while let Some(batch) = reader.next_batch().await.unwrap() {
        for row in 0..batch.num_rows() {
            let position = reader.previous_batch_file_row_id(row as u64).unwrap();
            let line = json_lines(&fields, &[batch.slice(row, 1)]).remove(0);
            assert_eq!(line, format!("{{\"id\": {position}}}"), "the row at a position");
            found.push(u32::try_from(position).unwrap());
        }
    }
    assert!(found.iter().all(|p| selection.contains(*p)), "{found:?}");
    assert!(found.ends_with(&[15_000, 15_001, 19_999]), "{found:?}");
}

#[tokio::test]
async fn case_45_before_the_first_snapshot() {
    let table = create(&[("id", "INT")], &[], &[]).await;
    // No snapshot at all: no rows; a time that nothing selects: an error.
    assert_eq!(rows(&table).await, [""; 0]);
    assert_eq!(
        table
            .read()
            .timestamp_millis(1)
            .to_batches()
            .await
            .unwrap_err()
            .kind(),
        ErrorKind::NotFound
    );
    append(&table, &[("id", ints([1]))]).await;
    let err = table.read().timestamp_millis(1).to_batches().await.unwrap_err();
    assert!(
        err.kind() == ErrorKind::NotFound && err.message().contains("snapshot 1"),
        "{err}"
    );
    let err = table.read().snapshot_id(7).to_batches().await.unwrap_err();
    assert!(
        err.kind() == ErrorKind::NotFound && err.message().contains("1 to 1"),
        "{err}"
    );
    let err = table.read().tag("nope").to_batches().await.unwrap_err();
    assert!(
        err.kind() == ErrorKind::NotFound && err.to_string().contains("nope"),
        "{err}"
    );
}

#[tokio::test]
async fn case_54_null_in_a_not_null_column() {
    let table = create(&[("id", "INT NOT NULL"), ("v", "INT")], &[], &[]).await;
    let columns = [
        ("id", ints([Some(1), Some(2), None])),
        ("v", ints([None, None, None])),
    ];
    let loose = {
        let schema = batch(&table, &[("v", ints([1]))]).schema();
        let id = schema.field(0).clone().with_name("id").with_nullable(true);
        let fields = vec![Arc::new(id), schema.fields()[0].clone()];
        let arrays = columns.iter().map(|(_, a)| a.clone()).collect();
        arrow_array::RecordBatch::try_new(Arc::new(arrow_schema::Schema::new(fields)), arrays).unwrap()
    };
    let mut writer = table.write().await.unwrap();
    let err = writer.write(&loose).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidInput);
    let text = err.to_string();
    assert!(
        text.contains("id") && text.contains('2'),
        "names column and row (from 0): {text}"
    );
    // The writer goes on without that batch.
    writer
        .write(&batch(&table, &[("id", ints([5])), ("v", ints([6]))]))
        .await
        .unwrap();
    writer.commit().await.unwrap();
    assert_eq!(rows(&table).await, [r#"{"id": 5, "v": 6}"#]);
}

#[tokio::test]
async fn case_65_options_of_writers_do_not_stop_readers() {
    let table = create(&[("id", "INT")], &[], &[]).await;
    append(&table, &[("id", ints([1]))]).await;
    let table = crate::support::alter(&table, |s| {
        for (key, value) in [
            ("write-only", "true"),
            ("compaction.min.file-num", "7"),
            ("write-buffer-size", "not a size"),
            ("sink.parallelism", "many"),
            ("some.engine.option", "x"),
        ] {
            s.options.insert(key.into(), value.into());
        }
    })
    .await;
    assert_eq!(rows(&table).await, [r#"{"id": 1}"#]);
    let err = try_append(&table, &[("id", ints([2]))]).await.unwrap_err();
    assert!(
        err.kind() == ErrorKind::InvalidInput && err.to_string().contains("write-buffer-size"),
        "{err}"
    );
}

/// Years that 64 bits of nanoseconds do not hold: an error with the option that helps, never another year.
#[tokio::test]
async fn case_70_timestamps_far_away() {
    let fixture = fixture("later/timestamp9-far");
    let latest = fixture.selector("latest");
    let table = fixture.open(&latest, &[]).await.unwrap();
    for column in ["ts", "ltz", "r", "m"] {
        let err = table.read().select([column]).to_batches().await.unwrap_err();
        assert_eq!(err.kind(), ErrorKind::InvalidInput, "{column}: {err}");
        let text = err.to_string();
        assert!(
            text.contains("read.timestamp-unit") && text.contains(column),
            "{column}: {text}"
        );
    }
    assert_eq!(table.read().select(["id"]).to_batches().await.unwrap().1.len(), 1);

    let micros = fixture
        .open(&latest, &[("read.timestamp-unit", "us")])
        .await
        .unwrap();
    let cut: Vec<String> = latest.expected().iter().map(|line| nanos_to_zero(line)).collect();
    assert_eq!(rows(&micros).await, cut);

    let err = fixture
        .open(&latest, &[("read.timestamp-unit", "s")])
        .await
        .unwrap()
        .read()
        .to_batches()
        .await
        .unwrap_err();
    assert!(
        err.kind() == ErrorKind::InvalidInput && err.to_string().contains("allowed: ns, us"),
        "{err}"
    );
}

/// The last three of nine fraction digits become 0.
fn nanos_to_zero(line: &str) -> String {
    let mut bytes = line.as_bytes().to_vec();
    for dot in 0..bytes.len() {
        let fraction = bytes.get(dot + 1..dot + 10);
        if bytes[dot] == b'.' && fraction.is_some_and(|f| f.iter().all(u8::is_ascii_digit)) {
            bytes[dot + 7..dot + 10].copy_from_slice(b"000");
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// Files of tables with a primary key are refused, split by split, whoever planned them.
#[tokio::test]
async fn splits_of_primary_key_tables_are_refused() {
    let dv = fixture("later/deletion-vectors");
    let bytes = dv
        .selectors()
        .iter()
        .filter_map(|s| dv.split_bytes(s))
        .flatten()
        .collect::<Vec<_>>();
    let splits: Vec<_> = bytes
        .iter()
        .map(|b| paimon::DataSplit::from_java_bytes(b).unwrap().0)
        .collect();
    let with_vectors: Vec<_> = splits
        .into_iter()
        .filter(|s| s.deletion_files.iter().flatten().any(Option::is_some))
        .collect();
    assert!(!with_vectors.is_empty());
    // Even when the worker was told another table.
    let table = create(&[("id", "INT")], &[], &[]).await;
    let read = TableRead::builder(table.split_context().unwrap())
        .build()
        .unwrap();
    for split in with_vectors {
        let mut rows = read.read(split);
        let err = futures_util::StreamExt::next(&mut rows)
            .await
            .unwrap()
            .unwrap_err();
        assert!(
            err.kind() == ErrorKind::Unsupported && err.message().contains("primary key"),
            "{err}"
        );
    }
}

/// Column order and Arrow schema of batches do not depend on what is in the table.
#[tokio::test]
async fn an_empty_table_has_the_schema_of_the_read() {
    let fixture = fixture("basic/never-written");
    let table = fixture.open(&fixture.selector("latest"), &[]).await.unwrap();
    let (schema, batches) = table.read().to_batches().await.unwrap();
    assert!(batches.is_empty());
    assert_eq!(*schema, to_arrow_schema(&table.schema().fields));
    let none = paimon::Table::open_with(Storage::memory(), "memory://w/none", BTreeMap::new())
        .await
        .unwrap_err();
    assert_eq!(none.kind(), ErrorKind::NotFound);
    let _: &[DataField] = &table.schema().fields;
}
