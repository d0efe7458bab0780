// SPDX-License-Identifier: Apache-2.0

//! Known traps of partitions and buckets.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::Date32Array;
use paimon::types::Datum;
use paimon::{ErrorKind, NewTable, Predicate, Storage, Table};
use paimon_testkit::read_lines;

use crate::support::{append, create, definition, ints, rows, strings};

/// The directories of the table's files, without buckets.
async fn directories(table: &Table) -> BTreeSet<String> {
    let plan = table.read().plan().await.unwrap();
    let prefix = format!("{}/", table.location());
    plan.splits
        .iter()
        .map(|s| {
            s.bucket_path
                .strip_prefix(&prefix)
                .unwrap()
                .rsplit_once('/')
                .unwrap()
                .0
                .to_owned()
        })
        .collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|n| (*n).to_owned()).collect()
}

#[tokio::test]
async fn case_24_null_empty_and_blank_partitions() {
    for (options, default) in [
        (vec![], "__DEFAULT_PARTITION__"),
        (vec![("partition.default-name", "none here")], "none here"),
    ] {
        let table = create(&[("id", "INT"), ("p", "STRING")], &["p"], &options).await;
        let values = [
            Some("a"),
            None,
            Some(""),
            Some("  "),
            Some("None"),
            Some("null"),
            Some("x/y"),
        ];
        append(&table, &[("id", ints(0..7)), ("p", strings(values))]).await;
        let default = format!("p={default}");
        assert_eq!(
            directories(&table).await,
            set(&["p=a", &default, "p=None", "p=null", "p=x%2Fy"]),
            "NULL, empty and blank share a directory"
        );
        assert_eq!(
            rows(&table).await,
            [
                r#"{"id": 0, "p": "a"}"#,
                r#"{"id": 1, "p": null}"#,
                r#"{"id": 2, "p": ""}"#,
                r#"{"id": 3, "p": "  "}"#,
                r#"{"id": 4, "p": "None"}"#,
                r#"{"id": 5, "p": "null"}"#,
                r#"{"id": 6, "p": "x/y"}"#,
            ],
            "the values are those of the manifest, not of the directory"
        );
        let filter = Predicate::is_null(table.field("p").unwrap());
        assert_eq!(
            read_lines(&table.read().filter(filter)).await.unwrap(),
            [r#"{"id": 1, "p": null}"#]
        );
        let filter = Predicate::eq(table.field("p").unwrap(), Datum::String(String::new())).unwrap();
        assert_eq!(
            read_lines(&table.read().filter(filter)).await.unwrap(),
            [r#"{"id": 2, "p": ""}"#]
        );
    }
}

#[tokio::test]
async fn case_25_and_66_date_partitions() {
    for (options, second) in [
        (vec![], "day=1"),
        (vec![("partition.legacy-name", "false")], "day=1970-01-02"),
    ] {
        let table = create(&[("id", "INT"), ("day", "DATE")], &["day"], &options).await;
        let days = Arc::new(Date32Array::from(vec![Some(1), None, Some(1)]));
        append(&table, &[("id", ints([1, 2, 3])), ("day", days)]).await;
        assert_eq!(
            directories(&table).await,
            set(&[second, "day=__DEFAULT_PARTITION__"])
        );
        let all = [
            r#"{"id": 1, "day": "1970-01-02"}"#,
            r#"{"id": 2, "day": null}"#,
            r#"{"id": 3, "day": "1970-01-02"}"#,
        ];
        assert_eq!(rows(&table).await, all);
        let filter = Predicate::eq(table.field("day").unwrap(), Datum::Date(1)).unwrap();
        assert_eq!(
            read_lines(&table.read().filter(filter)).await.unwrap(),
            [all[0], all[2]]
        );
        let filter = Predicate::is_null(table.field("day").unwrap());
        assert_eq!(read_lines(&table.read().filter(filter)).await.unwrap(), [all[1]]);
    }
}

#[tokio::test]
async fn case_30_rows_lie_in_the_buckets_where_others_look_for_them() {
    let table = create(&[("id", "INT")], &[], &[("bucket", "4"), ("bucket-key", "id")]).await;
    append(&table, &[("id", ints(1..=7))]).await;
    for (id, bucket) in (1..=7).zip([2, 0, 1, 2, 0, 0, 3]) {
        let filter = Predicate::eq(table.field("id").unwrap(), Datum::Int(id)).unwrap();
        let read = table.read().filter(filter);
        let plan = read.plan().await.unwrap();
        assert_eq!(
            plan.splits.iter().map(|s| s.bucket).collect::<Vec<_>>(),
            [bucket],
            "id {id}"
        );
        assert_eq!(read_lines(&read).await.unwrap(), [format!("{{\"id\": {id}}}")]);
    }
}

/// A primary key without a column besides the partition columns.
#[tokio::test]
async fn case_49_a_key_that_is_the_partition_is_refused() {
    let refused = |primary: &'static [&'static str], options: &'static [(&'static str, &'static str)]| async move {
        let new = NewTable {
            primary_keys: primary.iter().map(|k| (*k).to_owned()).collect(),
            ..definition(
                &[("p", "INT NOT NULL"), ("id", "INT NOT NULL"), ("v", "INT")],
                &["p"],
                options,
            )
        };
        Table::create(Storage::memory(), "memory://w/t", new).await
    };
    let err = refused(&["p"], &[("bucket", "1")]).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidInput, "{err}");
    assert!(
        err.message().contains("no column besides the partition keys"),
        "{err}"
    );

    // A bucket key that the primary key does not have would hash rows of one key apart.
    let err = refused(&["p", "id"], &[("bucket", "2"), ("bucket-key", "v")])
        .await
        .unwrap_err();
    assert!(
        err.kind() == ErrorKind::InvalidInput && err.to_string().contains("bucket key v"),
        "{err}"
    );

    // A good primary key: rows lie where their key without the partition column says.
    let table = refused(&["p", "id"], &[("bucket", "2")]).await.unwrap();
    for (ids, values) in [([1, 2, 3], [10, 20, 30]), ([3, 4, 1], [31, 40, 11])] {
        append(
            &table,
            &[("p", ints([7, 7, 7])), ("id", ints(ids)), ("v", ints(values))],
        )
        .await;
    }
    assert_eq!(
        rows(&table).await,
        [
            r#"{"p": 7, "id": 1, "v": 11}"#,
            r#"{"p": 7, "id": 2, "v": 20}"#,
            r#"{"p": 7, "id": 3, "v": 31}"#,
            r#"{"p": 7, "id": 4, "v": 40}"#,
        ]
    );
    let by_id = table_with_bucket_key().await;
    append(&by_id, &[("id", ints([1, 2, 3, 4]))]).await;
    let buckets = async |table: &Table| -> Vec<(i32, i64)> {
        let splits = table.read().plan().await.unwrap().splits;
        let mut found: Vec<_> = splits.iter().map(|s| (s.bucket, s.row_count())).collect();
        found.sort_unstable();
        found
    };
    let written = buckets(&table).await;
    let expected = buckets(&by_id).await;
    assert_eq!(
        written.iter().map(|(bucket, _)| *bucket).collect::<Vec<_>>(),
        expected.iter().map(|(bucket, _)| *bucket).collect::<Vec<_>>()
    );
}

/// An append table whose rows are spread by `id` alone.
async fn table_with_bucket_key() -> Table {
    create(
        &[("id", "INT NOT NULL")],
        &[],
        &[("bucket", "2"), ("bucket-key", "id")],
    )
    .await
}
