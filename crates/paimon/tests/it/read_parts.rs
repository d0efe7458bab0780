// SPDX-License-Identifier: Apache-2.0

//! Files read in parts: every row once, and in order where an order is asked for.

use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use futures_util::TryStreamExt;
use paimon::storage::fault::{FaultStore, Operation};
use paimon::types::Datum;
use paimon::{Plan, Predicate, ReadBuilder, Result, Storage, Table, TableRead};
use paimon_testkit::{Random, fixtures, json_lines};
use std::sync::Arc;

use crate::pk_late::delete_some;
use crate::support::{create_in, definition};

const COLUMNS: [(&str, &str); 3] = [("id", "BIGINT"), ("v", "INT"), ("name", "STRING")];

/// Reads a plan with so many decoders, files in parts of about so many bytes.
async fn lines(
    table: &Table,
    plan: &Plan,
    filter: Option<&Predicate>,
    (decoders, bytes, ordered): (usize, u64, bool),
) -> Result<Vec<String>> {
    let mut read = TableRead::builder(table.read_context(plan)?)
        .parallelism(decoders)
        .memory_budget(1 << 10)
        .smallest_part(bytes);
    if let Some(filter) = filter {
        read = read.filter(filter.clone());
    }
    let read = read.build()?;
    let batches: Vec<RecordBatch> = match ordered {
        true => read.read_all(plan.splits.clone()).try_collect().await?,
        false => read.read_unordered(plan.splits.clone()).try_collect().await?,
    };
    Ok(json_lines(&plan.read_fields, &batches))
}

/// Reads whole files one after the other and parts of them at once; tells the number of rows.
async fn check(
    what: &str,
    table: &Table,
    plan: &Plan,
    filter: Option<&Predicate>,
    parts: (usize, u64),
) -> usize {
    let Ok(mut whole) = lines(table, plan, filter, (1, 1, true)).await else {
        return 0;
    };
    let (decoders, bytes) = parts;
    let ordered = lines(table, plan, filter, (decoders, bytes, true)).await.unwrap();
    assert_eq!(ordered, whole, "{what}, {parts:?}");
    whole.sort_unstable();
    let mut unordered = lines(table, plan, filter, (decoders, bytes, false))
        .await
        .unwrap();
    unordered.sort_unstable();
    assert_eq!(unordered, whole, "{what}, without order, {parts:?}");
    let mut shared = streams(table, plan, filter, bytes).await.unwrap();
    shared.sort_unstable();
    assert_eq!(shared, whole, "{what}, streams, {bytes} bytes");
    whole.len()
}

/// Reads by three streams.
async fn streams(table: &Table, plan: &Plan, filter: Option<&Predicate>, bytes: u64) -> Result<Vec<String>> {
    let mut read = TableRead::builder(table.read_context(plan)?)
        .parallelism(3)
        .smallest_part(bytes);
    if let Some(filter) = filter {
        read = read.filter(filter.clone());
    }
    let streams = read.build()?.read_streams(plan.splits.clone());
    assert_eq!(streams.len(), 3);
    let consumers = streams
        .into_iter()
        .map(|stream| tokio::spawn(stream.try_collect::<Vec<RecordBatch>>()));
    let mut lines = Vec::new();
    for consumer in consumers.collect::<Vec<_>>() {
        lines.extend(json_lines(&plan.read_fields, &consumer.await.unwrap()?));
    }
    Ok(lines)
}

fn rows(random: &mut Random, from: i64, count: usize) -> RecordBatch {
    let ids = Int64Array::from_iter_values((from..).take(count));
    let values: Int32Array = (0..count)
        .map(|_| (random.below(9) > 0).then(|| random.below(50) as i32))
        .collect();
    let long = 1 + random.below(40);
    let names: StringArray = (0..count).map(|_| Some("n".repeat(random.below(long)))).collect();
    let columns: [(&str, ArrayRef); 3] = [
        ("id", Arc::new(ids)),
        ("v", Arc::new(values)),
        ("name", Arc::new(names)),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// Files of many pages and few, of one row group or stripe and many, with rows deleted, filtered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_of_many_pages() {
    for seed in 0..12 {
        let mut random = Random::new(&format!("parts {seed}"));
        let format = *random.pick(&["parquet", "parquet", "orc", "orc", "avro"]);
        let block = *random.pick(&["64 kb", "300 kb", "128 mb"]);
        let options = [
            ("bucket", "-1"),
            ("file.format", format),
            ("file.block-size", block),
        ];
        let directory = tempfile::tempdir().unwrap();
        let (storage, location) = match random.below(2) {
            0 => (Storage::memory(), "memory://w/t".to_owned()),
            _ => (
                Storage::default(),
                directory.path().join("t").display().to_string(),
            ),
        };
        let definition = definition(&COLUMNS, &[], &options);
        let table = Table::create(storage, &location, definition).await.unwrap();
        let mut from = 0;
        for _ in 0..1 + random.below(3) {
            let count = 5000 + random.below(45_000);
            let mut writer = table.write().await.unwrap();
            writer.write(&rows(&mut random, from, count)).await.unwrap();
            writer.commit().await.unwrap();
            from += count as i64;
        }
        let mut plan = table.read().plan().await.unwrap();
        if random.below(2) == 0 {
            delete_some(&mut random, &table, &mut plan).await;
        }
        let v = table.field("v").unwrap();
        let id = table.field("id").unwrap();
        let filters = [
            None,
            Some(Predicate::eq(v, Datum::Int(3)).unwrap()),
            Some(Predicate::lt(id, Datum::BigInt(from / 2)).unwrap()),
        ];
        for filter in &filters {
            let what = format!("seed {seed}, {format}, {block}");
            let bytes = *random.pick(&[1, 5_000, 20_000, 60_000]);
            let decoders = 2 + random.below(6);
            let found = check(&what, &table, &plan, filter.as_ref(), (decoders, bytes)).await;
            assert!(found > 0, "{what}");
        }
    }
}

/// Tables that Java wrote.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_of_java() {
    let (mut random, mut rows) = (Random::new("parts of tables of Java"), 0);
    for fixture in fixtures() {
        for selector in fixture.selectors() {
            if random.below(3) > 0 {
                continue;
            }
            let table = fixture.open(&selector, &[]).await.unwrap();
            let read = || -> ReadBuilder {
                match &selector.at {
                    Some(at) => table.read().at(at.clone()),
                    None => table.read(),
                }
            };
            let Ok(plan) = read().plan().await else { continue };
            let what = format!("{} {}", fixture.path, selector.name);
            rows += check(&what, &table, &plan, None, (3, 1)).await;
        }
    }
    assert!(rows > 1000, "{rows}");
}

/// A file is decoded by several decoders, which share its footer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parts_of_a_file_share_its_footer() {
    let store = FaultStore::memory();
    let storage = Storage::memory().with_store("memory://", Arc::new(store.clone()));
    let table = create_in(storage, &COLUMNS, &[], &[("bucket", "-1")]).await;
    let mut writer = table.write().await.unwrap();
    writer
        .write(&rows(&mut Random::new("footer"), 0, 100_000))
        .await
        .unwrap();
    writer.commit().await.unwrap();
    let plan = table.read().plan().await.unwrap();
    let file = &plan.splits[0].data_files[0];
    let requests = async |bytes: u64| -> usize {
        store.forget_calls();
        let rows = lines(&table, &plan, None, (2, bytes, true)).await.unwrap();
        assert_eq!(rows.len(), 100_000);
        store.count(Operation::Get, &file.file_name)
    };
    // The footer and the row group; then the page index and five parts of one page each.
    assert_eq!(requests(1 << 30).await, 2);
    let parts = requests(file.file_size as u64 / 5).await;
    assert!((4..=12).contains(&parts), "{parts}");
}
