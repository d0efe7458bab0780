// SPDX-License-Identifier: Apache-2.0

//! Reading tables with a primary key: what a merge gives, whatever the way there.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type, Int64Type};
use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use futures_util::TryStreamExt;
use paimon::types::Datum;
use paimon::{ErrorKind, NewTable, Predicate, Storage, Table, TableRead};

use crate::support::{append, definition};

async fn keyed(columns: &[(&str, &str)], key: &[&str], options: &[(&str, &str)]) -> Table {
    let mut all = vec![("bucket", "1")];
    all.extend_from_slice(options);
    let definition = NewTable {
        primary_keys: key.iter().map(|name| (*name).to_owned()).collect(),
        ..definition(columns, &[], &all)
    };
    Table::create(Storage::memory(), "memory://w/t", definition)
        .await
        .unwrap()
}

fn ints(values: impl IntoIterator<Item = i32>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(values))
}

pub(crate) async fn upsert(table: &Table, ids: &[i32], round: i32) {
    let names: StringArray = ids
        .iter()
        .map(|id| Some(format!("name {id} of {round}")))
        .collect();
    let columns: [(&str, ArrayRef); 3] = [
        ("id", ints(ids.iter().copied())),
        ("v", ints(ids.iter().map(|id| id * 1000 + round))),
        ("name", Arc::new(names)),
    ];
    append(table, &columns).await;
}

const COLUMNS: [(&str, &str); 3] = [("id", "INT"), ("v", "INT"), ("name", "STRING")];

/// Twelve commits over 200 keys, and what they leave.
pub(crate) async fn history() -> (Table, BTreeMap<i32, i32>) {
    let table = keyed(&COLUMNS, &["id"], &[]).await;
    let mut left = BTreeMap::new();
    for round in 0..12 {
        let ids: Vec<i32> = (0..200)
            .filter(|id| (id * 7 + round * 13) % 5 < 2 || id / 20 == round)
            .collect();
        upsert(&table, &ids, round).await;
        left.extend(ids.iter().map(|id| (*id, id * 1000 + round)));
    }
    (table, left)
}

async fn splits(table: &Table) -> Vec<paimon::DataSplit> {
    table.read().plan().await.unwrap().splits
}

async fn read(read: &TableRead, table: &Table) -> Vec<RecordBatch> {
    read.read_all(splits(table).await).try_collect().await.unwrap()
}

fn pairs(batches: &[RecordBatch]) -> Vec<(i32, i32)> {
    let rows = batches.iter().flat_map(|batch| {
        let (ids, values) = (
            batch.column(0).as_primitive::<Int32Type>().values().to_vec(),
            batch.column(1).as_primitive::<Int32Type>().values().to_vec(),
        );
        ids.into_iter().zip(values)
    });
    rows.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_newest_version_of_each_key_by_ascending_keys_in_full_batches() {
    let (table, left) = history().await;
    for batch_size in [1, 7, 64, 8192] {
        for fan_in in [2, 3, 64] {
            let read_all = TableRead::builder(table.split_context().unwrap())
                .batch_size(batch_size)
                .merge_fan_in(fan_in)
                .build()
                .unwrap();
            let batches = read(&read_all, &table).await;
            assert_eq!(pairs(&batches), left.clone().into_iter().collect::<Vec<_>>());
            let (last, full) = batches.split_last().unwrap();
            assert!(full.iter().all(|b| b.num_rows() == batch_size), "{batch_size}");
            assert!(last.num_rows() <= batch_size);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn columns_and_filters_do_not_change_which_version_is_the_newest() {
    let (table, left) = history().await;
    // No column at all.
    let rows: usize = TableRead::builder(table.split_context().unwrap())
        .select(Vec::<String>::new())
        .build()
        .unwrap()
        .read_all(splits(&table).await)
        .try_fold(0, |rows, batch| async move { Ok(rows + batch.num_rows()) })
        .await
        .unwrap();
    assert_eq!(rows, left.len());
    // Without the key; a filter on a value matches the newest version or nothing.
    let v = table.field("v").unwrap();
    for value in [3 * 1000 + 11, 3 * 1000 + 2, 5 * 1000 + 7] {
        let filter = Predicate::eq(v, Datum::Int(value)).unwrap();
        let found: Vec<RecordBatch> = table
            .read()
            .select(["v"])
            .filter(filter)
            .to_stream()
            .await
            .unwrap()
            .try_collect()
            .await
            .unwrap();
        let rows: usize = found.iter().map(RecordBatch::num_rows).sum();
        assert_eq!(
            rows,
            usize::from(left.values().any(|newest| *newest == value)),
            "{value}"
        );
    }
    // A filter on the key is asked of the files too.
    let id = table.field("id").unwrap();
    let filter = Predicate::gt_eq(id, Datum::Int(190)).unwrap();
    let found: Vec<RecordBatch> = table
        .read()
        .filter(filter)
        .to_stream()
        .await
        .unwrap()
        .try_collect()
        .await
        .unwrap();
    let expected: Vec<(i32, i32)> = left.range(190..).map(|(k, v)| (*k, *v)).collect();
    assert_eq!(pairs(&found), expected);
}

#[tokio::test]
async fn kinds_come_first_when_they_are_asked_for() {
    let (table, left) = history().await;
    let read_all = TableRead::builder(table.split_context().unwrap())
        .select(["v", "id"])
        .with_row_kind(true)
        .build()
        .unwrap();
    let names: Vec<_> = read_all
        .schema()
        .fields()
        .iter()
        .map(|f| f.name().clone())
        .collect();
    assert_eq!(names, ["_VALUE_KIND", "v", "id"]);
    let batches = read(&read_all, &table).await;
    let mut rows = 0;
    for batch in &batches {
        assert_eq!(batch.schema(), read_all.schema());
        assert!(
            batch
                .column(0)
                .as_primitive::<Int8Type>()
                .values()
                .iter()
                .all(|kind| *kind == 0)
        );
        for (v, id) in batch
            .column(1)
            .as_primitive::<Int32Type>()
            .values()
            .iter()
            .zip(batch.column(2).as_primitive::<Int32Type>().values())
        {
            assert_eq!(left[id], *v);
            rows += 1;
        }
    }
    assert_eq!(rows, left.len());
}

#[tokio::test]
async fn files_that_lie_about_their_keys_are_found() {
    let table = keyed(&COLUMNS, &["id"], &[]).await;
    upsert(&table, &[1, 2, 3, 50], 0).await;
    upsert(&table, &[10, 11, 12], 1).await;
    upsert(&table, &[20, 21, 22], 2).await;
    let mut forged = splits(&table).await;
    let files = &mut forged[0].data_files;
    // The file with key 50 says that it ends at 3, and another that it begins at 2: a run of files that do not ascend.
    let types = [paimon::types::DataType::parse("INT").unwrap()];
    let key = |id: i32| paimon::protocol::RowValues::of(&types, &[Some(Datum::Int(id))]).unwrap();
    for file in files.iter_mut() {
        if file.min_key == key(1) {
            file.max_key = key(3);
        } else if file.min_key == key(20) {
            file.min_key = key(2);
        }
    }
    let read_all = TableRead::builder(table.split_context().unwrap())
        .build()
        .unwrap();
    let err = read_all
        .read_all(forged)
        .try_collect::<Vec<_>>()
        .await
        .unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Corrupt, "{err}");
    assert!(err.message().contains("ascend"), "{err}");
}

#[tokio::test]
async fn keys_of_several_columns_follow_the_declared_order() {
    let columns = [
        ("customer", "BIGINT"),
        ("order", "INT"),
        ("amount", "INT"),
        ("at", "STRING"),
    ];
    let table = keyed(&columns, &["order", "customer"], &[]).await;
    let put = async |customers: &[i64], orders: &[i32], amounts: &[i32]| {
        let at: StringArray = orders.iter().map(|o| Some(format!("at {o}"))).collect();
        let batch: [(&str, ArrayRef); 4] = [
            ("customer", Arc::new(Int64Array::from(customers.to_vec()))),
            ("order", ints(orders.iter().copied())),
            ("amount", ints(amounts.iter().copied())),
            ("at", Arc::new(at)),
        ];
        append(&table, &batch).await;
    };
    put(&[1, 2, -1, 1], &[5, 4, 5, 3], &[10, 20, 30, 40]).await;
    put(&[1], &[5], &[11]).await;
    let batches: Vec<RecordBatch> = table
        .read()
        .to_stream()
        .await
        .unwrap()
        .try_collect()
        .await
        .unwrap();
    let mut found = Vec::new();
    for batch in &batches {
        let customers = batch.column(0).as_primitive::<Int64Type>().values();
        let orders = batch.column(1).as_primitive::<Int32Type>().values();
        let amounts = batch.column(2).as_primitive::<Int32Type>().values();
        found.extend((0..batch.num_rows()).map(|row| (orders[row], customers[row], amounts[row])));
    }
    assert_eq!(found, [(3, 1, 40), (4, 2, 20), (5, -1, 30), (5, 1, 11)]);
}

#[tokio::test]
async fn what_the_meta_does_not_tell_is_read_from_the_files() {
    let columns = [("id", "INT"), ("v", "INT"), ("k", "STRING")];
    let table = keyed(&columns, &["id"], &[("rowkind.field", "k")]).await;
    let put = async |ids: &[i32], kind: &str, round: i32| {
        let batch: [(&str, ArrayRef); 3] = [
            ("id", ints(ids.iter().copied())),
            ("v", ints(ids.iter().map(|id| id * 1000 + round))),
            (
                "k",
                Arc::new(ids.iter().map(|_| Some(kind)).collect::<StringArray>()),
            ),
        ];
        append(&table, &batch).await;
    };
    put(&[1, 2, 3, 4, 5], "+I", 0).await;
    put(&[2, 3, 9], "-D", 1).await;
    put(&[3, 5], "+U", 2).await;
    put(&[20, 21], "-D", 3).await;
    let expected = [(1, 1000), (3, 3002), (4, 4000), (5, 5002)];
    let told = splits(&table).await;
    let mut overlapping = told.clone();
    let mut uncounted = told.clone();
    let mut files = Vec::new();
    for (a, b) in overlapping.iter_mut().zip(&mut uncounted) {
        a.data_files
            .iter_mut()
            .for_each(|file| file.min_sequence_number = 0);
        b.data_files
            .iter_mut()
            .for_each(|file| file.delete_row_count = None);
        // A file by itself, its retractions included.
        files.extend(b.data_files.iter().map(|file| {
            let mut alone = b.clone();
            (alone.data_files, alone.raw_convertible) = (vec![file.clone()], true);
            alone
        }));
    }
    for splits in [told, overlapping, uncounted] {
        let read_all = TableRead::builder(table.split_context().unwrap())
            .build()
            .unwrap();
        let batches: Vec<RecordBatch> = read_all.read_all(splits).try_collect().await.unwrap();
        assert_eq!(pairs(&batches), expected);
    }
    let read_all = TableRead::builder(table.split_context().unwrap())
        .build()
        .unwrap();
    let batches: Vec<RecordBatch> = read_all.read_all(files).try_collect().await.unwrap();
    assert_eq!(pairs(&batches).len(), 7, "only additions");
}
