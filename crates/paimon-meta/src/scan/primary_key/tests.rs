// SPDX-License-Identifier: Apache-2.0

use paimon_protocol::{
    CommitMessage, DataFileMeta, DataSplit, DeletionVectorMeta, IndexFileMeta, Partition, RowValues,
    SimpleStats,
};
use paimon_storage::{Environment, Storage};
use paimon_types::{DataField, DataType, Datum, ErrorKind, NewTable, Predicate, Result, TypeKind};

use super::super::{Plan, TableScan};
use crate::Table;
use crate::manifest::tests::simple_file;

const LOCATION: &str = "memory:///db.db/t";

fn int() -> DataType {
    DataType::new(TypeKind::Int)
}

fn values(values: &[i32]) -> RowValues {
    let types = vec![int(); values.len()];
    let values: Vec<_> = values.iter().map(|v| Some(Datum::Int(*v))).collect();
    RowValues::of(&types, &values).unwrap()
}

/// Columns `k INT NOT NULL`, the key, and `v INT`; one bucket.
async fn table(options: &[(&str, &str)]) -> Table {
    let new = NewTable {
        columns: vec![
            DataField::new(0, "k", int().with_nullable(false)),
            DataField::new(0, "v", int()),
        ],
        primary_keys: vec!["k".into()],
        options: [("bucket", "1"), ("source.split.open-file-cost", "1 b")]
            .iter()
            .chain(options)
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
        ..NewTable::default()
    };
    Table::create(Storage::memory(), Environment::default(), LOCATION, new)
        .await
        .unwrap()
}

/// A file with these keys and values, 100 bytes and 10 rows.
fn file(name: &str, level: i32, keys: (i32, i32), v: (i32, i32)) -> DataFileMeta {
    let stats = |columns: &[(i32, i32)]| SimpleStats {
        min_values: values(&columns.iter().map(|c| c.0).collect::<Vec<_>>()),
        max_values: values(&columns.iter().map(|c| c.1).collect::<Vec<_>>()),
        null_counts: columns.iter().map(|_| Some(0)).collect(),
    };
    DataFileMeta {
        level,
        file_size: 100,
        row_count: 10,
        min_key: values(&[keys.0]),
        max_key: values(&[keys.1]),
        key_stats: stats(&[keys]),
        value_stats: stats(&[keys, v]),
        value_stats_cols: None,
        delete_row_count: Some(0),
        ..simple_file(name)
    }
}

async fn add(table: &Table, files: Vec<DataFileMeta>) {
    let message = CommitMessage::append(Partition::unpartitioned(), 0, Some(1), files);
    table.new_commit().commit(vec![message]).await.unwrap();
}

async fn plan(scan: TableScan) -> Result<Plan> {
    scan.plan().await
}

/// Files of each split, with `*` behind those that are read without merging.
async fn planned(scan: TableScan) -> Vec<String> {
    let name = |split: &DataSplit| {
        let names: Vec<&str> = split.data_files.iter().map(|f| f.file_name.as_str()).collect();
        format!(
            "{}{}",
            names.join(" "),
            if split.raw_convertible { "*" } else { "" }
        )
    };
    plan(scan).await.unwrap().splits.iter().map(name).collect()
}

fn is(table: &Table, column: &str, value: i32) -> Predicate {
    Predicate::eq(table.schema().field(column).unwrap(), Datum::Int(value)).unwrap()
}

#[tokio::test]
async fn overlapping_files_stay_in_one_split() {
    let table = table(&[("source.split.target-size", "250 b")]).await;
    add(
        &table,
        vec![file("a", 0, (1, 2), (0, 0)), file("b", 0, (5, 180), (0, 0))],
    )
    .await;
    add(
        &table,
        vec![file("c", 0, (3, 4), (0, 0)), file("d", 0, (5, 190), (0, 0))],
    )
    .await;
    add(
        &table,
        vec![file("e", 0, (200, 600), (0, 0)), file("f", 0, (210, 700), (0, 0))],
    )
    .await;
    // A third section would exceed the target size, though two of them hold overlapping files.
    assert_eq!(planned(table.new_scan()).await, ["a c", "b d", "e f"]);
    let plan = plan(table.new_scan()).await.unwrap();
    assert_eq!((plan.row_count(), plan.live_row_count()), (60, None));
    assert_eq!(plan.splits[0].total_buckets, Some(1));
    assert_eq!(plan.splits[0].live_row_count(), None);
}

#[tokio::test]
async fn one_file_or_one_level_is_read_as_it_is() {
    let table = table(&[("source.split.target-size", "150 b")]).await;
    let with_deletes = |mut file: DataFileMeta| {
        file.delete_row_count = Some(1);
        file
    };
    add(
        &table,
        vec![
            file("a", 0, (1, 2), (0, 0)),
            with_deletes(file("b", 0, (3, 4), (0, 0))),
        ],
    )
    .await;
    assert_eq!(planned(table.new_scan()).await, ["a*", "b"]);

    let table = self::table(&[("source.split.target-size", "250 b")]).await;
    add(
        &table,
        vec![
            file("c", 3, (5, 6), (0, 0)),
            file("a", 3, (1, 2), (0, 0)),
            file("b", 3, (3, 4), (0, 0)),
        ],
    )
    .await;
    assert_eq!(planned(table.new_scan()).await, ["c a*", "b*"]);
    add(&table, vec![file("d", 4, (7, 8), (0, 0))]).await;
    assert_eq!(planned(table.new_scan()).await, ["a b", "c d"]);
}

#[tokio::test]
async fn filters_on_values_keep_newer_versions() {
    let table = table(&[]).await;
    add(&table, vec![file("old", 0, (1, 3), (10, 30))]).await;
    let v_is = |value| table.new_scan().filter(is(&table, "v", value));
    assert_eq!(planned(v_is(21)).await, ["old*"]);
    assert_eq!(planned(v_is(31)).await, Vec::<String>::new());
    add(&table, vec![file("new", 0, (1, 3), (11, 31))]).await;
    // The older file alone matches 10: the newer one hides its rows and must be read.
    for value in [10, 21, 31] {
        assert_eq!(planned(v_is(value)).await, ["new old"], "{value}");
    }
    assert_eq!(planned(v_is(40)).await, Vec::<String>::new());
    let k_is = |value| table.new_scan().filter(is(&table, "k", value));
    add(&table, vec![file("other", 0, (4, 9), (5, 5))]).await;
    assert_eq!(planned(k_is(4)).await, ["other*"]);
    assert_eq!(planned(k_is(2)).await, ["new old"]);
    let both = v_is(5).filter(is(&table, "k", 4));
    assert_eq!(planned(both).await, ["other*"]);
    let metrics = plan(k_is(4)).await.unwrap().metrics;
    assert_eq!(
        (
            metrics.files_considered,
            metrics.files_skipped_by_stats,
            metrics.files
        ),
        (3, 2, 1)
    );
}

#[tokio::test]
async fn merged_values_can_match_where_no_file_does() {
    for (engine, left) in [
        ("aggregation", 2),
        ("partial-update", 2),
        ("deduplicate", 0),
        ("first-row", 0),
    ] {
        let mut options = vec![("merge-engine", engine)];
        if engine == "aggregation" {
            options.push(("fields.v.aggregate-function", "sum"));
        }
        let table = table(&options).await;
        add(
            &table,
            vec![file("a", 0, (1, 3), (1, 5)), file("b", 0, (1, 3), (1, 5))],
        )
        .await;
        let scan = table.new_scan().filter(is(&table, "v", 8));
        assert_eq!(plan(scan).await.unwrap().metrics.files, left, "{engine}");
    }
}

#[tokio::test]
async fn one_level_goes_file_by_file() {
    let table = table(&[]).await;
    add(
        &table,
        vec![file("a", 5, (1, 2), (1, 2)), file("b", 5, (3, 4), (3, 4))],
    )
    .await;
    let v_is_1 = || table.new_scan().filter(is(&table, "v", 1));
    assert_eq!(planned(v_is_1()).await, ["a*"]);
    add(&table, vec![file("c", 0, (4, 4), (9, 9))]).await;
    // c hides rows of b, so the bucket is taken as a whole.
    assert_eq!(planned(v_is_1()).await, ["a c b"]);
}

#[tokio::test]
async fn level_0_is_hidden_where_a_compaction_must_come_first() {
    let files = || {
        vec![
            file("l0", 0, (1, 9), (1, 1)),
            file("l4", 4, (1, 5), (2, 2)),
            file("l5", 5, (1, 9), (3, 3)),
        ]
    };
    for options in [
        vec![("deletion-vectors.enabled", "true")],
        vec![("merge-engine", "first-row")],
    ] {
        let table = table(&options).await;
        add(&table, files()).await;
        assert_eq!(planned(table.new_scan()).await, ["l4 l5*"], "{options:?}");
        let v_is_3 = table.new_scan().filter(is(&table, "v", 3));
        assert_eq!(planned(v_is_3).await, ["l5*"]);
        let first = plan(table.new_scan()).await.unwrap().splits.remove(0);
        assert_eq!(first.live_row_count(), Some(20));
    }
    let table = table(&[
        ("deletion-vectors.enabled", "true"),
        ("deletion-vectors.merge-on-read", "true"),
    ])
    .await;
    add(&table, files()).await;
    assert_eq!(planned(table.new_scan()).await, ["l4 l5 l0"]);
    assert_eq!(planned(table.new_scan().read_optimized()).await, ["l5*"]);
}

#[tokio::test]
async fn deletion_vectors_are_attached_and_counted() {
    let table = table(&[("deletion-vectors.enabled", "true")]).await;
    let mut message = CommitMessage::append(
        Partition::unpartitioned(),
        0,
        Some(1),
        vec![file("a", 1, (1, 5), (0, 0)), file("b", 2, (1, 9), (0, 0))],
    );
    message.data_increment.new_index_files = vec![IndexFileMeta {
        index_type: "DELETION_VECTORS".into(),
        file_name: "index-1".into(),
        file_size: 100,
        row_count: 1,
        dv_ranges: Some(vec![DeletionVectorMeta {
            data_file_name: "b".into(),
            offset: 1,
            length: 22,
            cardinality: Some(4),
        }]),
        external_path: None,
        global_index: None,
    }];
    table.new_commit().commit(vec![message]).await.unwrap();
    let split = plan(table.new_scan()).await.unwrap().splits.remove(0);
    assert!(split.raw_convertible);
    let deletions = split.deletion_files.clone().unwrap();
    assert!(deletions[0].is_none());
    let vector = deletions[1].clone().unwrap();
    assert_eq!(
        (vector.offset, vector.length, vector.cardinality),
        (1, 22, Some(4))
    );
    assert_eq!(split.live_row_count(), Some(16));
}

#[tokio::test]
async fn a_limit_stops_where_rows_are_counted() {
    let table = table(&[("source.split.target-size", "1 b")]).await;
    add(
        &table,
        vec![file("a", 0, (1, 2), (0, 0)), file("b", 0, (1, 2), (0, 0))],
    )
    .await;
    add(
        &table,
        vec![file("c", 0, (3, 4), (0, 0)), file("d", 0, (5, 6), (0, 0))],
    )
    .await;
    assert_eq!(planned(table.new_scan().limit(10)).await, ["c*"]);
    assert_eq!(planned(table.new_scan().limit(11)).await, ["c*", "d*"]);
    // Not enough rows are certain: everything is read.
    assert_eq!(planned(table.new_scan().limit(21)).await, ["b a", "c*", "d*"]);
    let filtered = table.new_scan().filter(is(&table, "v", 0)).limit(1);
    assert_eq!(planned(filtered).await, ["b a", "c*", "d*"]);
}

#[tokio::test]
async fn the_read_optimized_table_is_the_top_level() {
    for (options, expected) in [
        (vec![], "top*"),
        (vec![("num-levels", "5")], "mid*"),
        (vec![("num-sorted-run.compaction-trigger", "4")], "mid*"),
    ] {
        let table = table(&options).await;
        add(
            &table,
            vec![
                file("l0", 0, (1, 9), (1, 1)),
                file("mid", 4, (1, 9), (2, 2)),
                file("top", 5, (1, 9), (3, 3)),
            ],
        )
        .await;
        assert_eq!(planned(table.new_scan().read_optimized()).await, [expected]);
        let storage = table.storage().clone();
        let view = Table::open(storage, &format!("{LOCATION}$ro"), Default::default())
            .await
            .unwrap();
        assert_eq!(planned(view.new_scan()).await, [expected]);
        assert_eq!(view.identifier().to_string(), "db.t$ro");
        let message = CommitMessage::append(
            Partition::unpartitioned(),
            0,
            Some(1),
            vec![file("x", 0, (1, 1), (1, 1))],
        );
        let error = view.new_commit().commit(vec![message]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert_eq!(
            view.new_write_restore().plan().await.unwrap_err().kind(),
            ErrorKind::Unsupported
        );
    }
}

#[tokio::test]
async fn postponed_files_do_not_show() {
    let table = table(&[("bucket", "-2")]).await;
    let mut postponed = file("p", 0, (1, 9), (1, 1));
    postponed.min_key = values(&[9]);
    let message = CommitMessage::append(Partition::unpartitioned(), -2, Some(-2), vec![postponed]);
    table.new_commit().commit(vec![message]).await.unwrap();
    add(&table, vec![file("real", 0, (1, 9), (1, 1))]).await;
    assert_eq!(planned(table.new_scan()).await, ["real*"]);
    let merging = table
        .with_options([("postpone.merge-on-read".to_owned(), "true".to_owned())].into())
        .unwrap();
    let error = plan(merging.new_scan()).await.unwrap_err();
    assert!(error.to_string().contains("postpone.merge-on-read"), "{error}");
    assert_eq!(
        table.new_write_restore().plan().await.unwrap_err().kind(),
        ErrorKind::Unsupported
    );
}

#[tokio::test]
async fn clustered_files_are_refused() {
    let table = table(&[("pk-clustering-override", "true")]).await;
    add(&table, vec![file("a", 0, (1, 2), (0, 0))]).await;
    let error = plan(table.new_scan()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("pk-clustering-override"), "{error}");
}
