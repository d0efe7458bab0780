// SPDX-License-Identifier: Apache-2.0

//! Values read behind the keys: the same rows in the same order as when all is read together.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, Int8Array, Int32Array, Int64Array, RecordBatch, StringArray};
use futures_util::TryStreamExt;
use paimon::protocol::DeletionFile;
use paimon::storage::fault::{FaultStore, Operation};
use paimon::types::Datum;
use paimon::{
    DataField, DataSplit, NewTable, Plan, Predicate, ReadBuilder, Result, Storage, Table, TableRead,
};
use paimon_index::{DeletionVector, DeletionVectorFileWriter, DeletionVectorKind};
use paimon_testkit::{Fixture, Random, Selector, fixtures, json_lines};

use crate::filters::{random_filter, simple_columns};
use crate::support::definition;

/// How a plan is read.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) batch_size: usize,
    pub(crate) fan_in: usize,
    pub(crate) kinds: bool,
    pub(crate) columns: Vec<DataField>,
    pub(crate) filter: Option<Predicate>,
    /// Bytes of memory: little makes batches of the runs small.
    pub(crate) budget: usize,
}

impl Way {
    /// With the values of so many stretches behind the keys.
    async fn read(&self, table: &Table, plan: &Plan, late: usize) -> Result<Vec<RecordBatch>> {
        let mut read = TableRead::builder(table.read_context(plan)?)
            .late_values(false)
            .batch_size(self.batch_size)
            .merge_fan_in(self.fan_in)
            .with_row_kind(self.kinds)
            .parallelism(2)
            .memory_budget(self.budget)
            .select(self.columns.iter().map(|field| field.name.as_str()));
        if let Some(filter) = &self.filter {
            read = read.filter(filter.clone());
        }
        if late > 0 {
            read = read.late_stretches(late);
        }
        let splits: Vec<DataSplit> = plan.splits.clone();
        read.build()?.read_all(splits).try_collect().await
    }

    fn lines(&self, batches: &[RecordBatch]) -> Vec<String> {
        let first = usize::from(self.kinds);
        let mut kinds = Vec::new();
        let mut rows = Vec::new();
        for batch in batches {
            if self.kinds {
                kinds.extend_from_slice(batch.column(0).as_primitive::<Int8Type>().values());
            }
            let columns: Vec<usize> = (first..batch.num_columns()).collect();
            rows.push(batch.project(&columns).unwrap());
        }
        let mut lines = json_lines(&self.columns, &rows);
        for (line, kind) in lines.iter_mut().zip(kinds) {
            line.push_str(&kind.to_string());
        }
        lines
    }

    /// Reads both ways; tells the number of rows.
    pub(crate) async fn check(&self, what: &str, table: &Table, plan: &Plan) -> usize {
        let mut rows = 0;
        for stretches in [1, 2, 3, usize::MAX] {
            rows = self.check_stretches(what, table, plan, stretches).await;
        }
        rows
    }

    async fn check_stretches(&self, what: &str, table: &Table, plan: &Plan, stretches: usize) -> usize {
        let whole = self.read(table, plan, 0).await;
        let late = self.read(table, plan, stretches).await;
        let (whole, late) = match (whole, late) {
            (Ok(whole), Ok(late)) => (whole, late),
            (Err(whole), Err(late)) => {
                assert_eq!(whole.kind(), late.kind(), "{what}: {whole:?}, {late:?}");
                return 0;
            }
            (whole, late) => panic!(
                "{what}: {:?}, {:?}\n{self:?}",
                whole.map(|batches| batches.len()),
                late.map(|batches| batches.len())
            ),
        };
        let expected = self.lines(&whole);
        assert_eq!(self.lines(&late), expected, "{what}\n{self:?}");
        if self.filter.is_none() && stretches == usize::MAX {
            let sizes =
                |batches: &[RecordBatch]| batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>();
            assert_eq!(sizes(&late), sizes(&whole), "{what}\n{self:?}");
        }
        expected.len()
    }
}

async fn check_fixture(fixture: &Fixture, selector: &Selector, random: &mut Random) -> usize {
    let what = format!("{} {}", fixture.path, selector.name);
    let table = fixture.open(selector, &[]).await.unwrap();
    if table.schema().primary_keys.is_empty() {
        return 0;
    }
    let read = || -> ReadBuilder {
        match &selector.at {
            Some(at) => table.read().at(at.clone()),
            None => table.read(),
        }
    };
    let Ok(plan) = read().plan().await else { return 0 };
    let engine = table.schema().options.get("merge-engine").map(String::as_str);
    let merged = |split: &DataSplit| !split.raw_convertible && split.data_files.len() > 1;
    if !matches!(engine, None | Some("deduplicate" | "first-row")) || !plan.splits.iter().any(merged) {
        return 0;
    }
    let Ok((_, batches)) = read().to_batches().await else {
        return 0;
    };
    let fields = plan.read_fields.clone();
    let simple = simple_columns(&fields, &batches);
    let mut rows = 0;
    for (round, batch_size) in [1, 5].into_iter().enumerate() {
        let way = Way {
            batch_size,
            fan_in: *random.pick(&[2, 3, 64]),
            kinds: random.below(3) == 0,
            columns: match random.below(3) {
                0 => random.some(&fields),
                _ => fields.clone(),
            },
            filter: (round % 2 == 1 && !simple.is_empty()).then(|| random_filter(&fields, &simple, random)),
            budget: 96 << 20,
        };
        rows += way.check(&what, &table, &plan).await;
    }
    rows
}

/// Every table with a primary key that Java wrote: deletion vectors, first-row, levels, changed schemas, all formats.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_of_java() {
    let mut random = Random::new("late");
    let mut rows = 0;
    for fixture in fixtures() {
        for selector in fixture.selectors() {
            rows += check_fixture(&fixture, &selector, &mut random).await;
        }
    }
    assert!(rows > 1000, "{rows}");
}

/// A filter of one row finds it wherever it is, and the rows before it, which have other values now, do not count.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_newest_versions_are_filtered() {
    let (table, left) = crate::pk_read::history().await;
    let plan = table.read().plan().await.unwrap();
    let v = table.field("v").unwrap();
    for value in [3 * 1000 + 11, 3 * 1000 + 2, 5 * 1000 + 7] {
        let way = Way {
            batch_size: 8192,
            fan_in: 3,
            kinds: false,
            columns: plan.read_fields.clone(),
            filter: Some(Predicate::eq(v, Datum::Int(value)).unwrap()),
            budget: 96 << 20,
        };
        let found = way.check("history", &table, &plan).await;
        assert_eq!(found, usize::from(left.values().any(|newest| *newest == value)));
    }
}

/// Of files whose rows are all replaced nothing is read but keys.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_without_a_winner_are_not_read() {
    let store = FaultStore::memory();
    let storage = Storage::memory().with_store("memory://", Arc::new(store.clone()));
    let columns = [("id", "INT"), ("v", "INT"), ("name", "STRING")];
    let definition = NewTable {
        primary_keys: vec!["id".to_owned()],
        ..definition(&columns, &[], &[("bucket", "1")])
    };
    let table = Table::create(storage, "memory://w/t", definition).await.unwrap();
    let ids: Vec<i32> = (0..200).collect();
    for round in 0..4 {
        crate::pk_read::upsert(&table, &ids, round).await;
    }
    let plan = table.read().plan().await.unwrap();
    let mut way = Way {
        batch_size: 50,
        fan_in: 64,
        kinds: false,
        columns: plan.read_fields.clone(),
        filter: None,
        budget: 96 << 20,
    };
    let mut files = plan.splits[0].data_files.clone();
    files.sort_by_key(|file| file.min_sequence_number);
    let reads = async |way: &Way, late: usize| -> Vec<usize> {
        store.forget_calls();
        let batches = way.read(&table, &plan, late).await.unwrap();
        assert!(batches.iter().map(RecordBatch::num_rows).sum::<usize>() <= 200);
        let counts = files
            .iter()
            .map(|file| store.count(Operation::Get, &file.file_name));
        counts.collect()
    };
    let together = reads(&way, 0).await;
    assert!(
        together.iter().all(|count| *count == together[0] && *count > 0),
        "{together:?}"
    );
    let late = reads(&way, usize::MAX).await;
    assert!(late[..3].iter().all(|count| *count < late[3]), "{late:?}");
    // A filter that no newest version passes: not even the newest file is read again.
    let v = table.field("v").unwrap();
    way.filter = Some(Predicate::eq(v, Datum::Int(7001)).unwrap());
    let late = reads(&way, usize::MAX).await;
    assert!(late.iter().all(|count| *count <= together[0]), "{late:?}");
}

/// Rows of a commit: key, value, sequence, name, kind.
fn commit_rows(random: &mut Random, keys: usize) -> RecordBatch {
    let share = 1 + random.below(6);
    let ids: Vec<i64> = (0..keys as i64).filter(|_| random.below(share) == 0).collect();
    let mut of = |below: usize| -> Vec<i32> { ids.iter().map(|_| random.below(below) as i32).collect() };
    let (values, order, kinds) = (of(40), of(1000), of(8));
    let names: StringArray = ids.iter().map(|id| Some(format!("name {}", id % 97))).collect();
    let columns: [(&str, ArrayRef); 5] = [
        (
            "_VALUE_KIND",
            Arc::new(
                kinds
                    .iter()
                    .map(|k| Some(if *k == 7 { 3 } else { 0 }))
                    .collect::<Int8Array>(),
            ),
        ),
        ("id", Arc::new(Int64Array::from(ids))),
        ("v", Arc::new(Int32Array::from(values))),
        ("s", Arc::new(Int32Array::from(order))),
        ("name", Arc::new(names)),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// Deletes some rows of every other file of a split.
pub(crate) async fn delete_some(random: &mut Random, table: &Table, plan: &mut Plan) {
    for (at, split) in plan.splits.iter_mut().enumerate() {
        let path = format!("{}/index/forged-{at}", table.location());
        let mut writer = DeletionVectorFileWriter::new();
        let mut deletions = Vec::new();
        for file in &split.data_files {
            if random.below(2) == 0 {
                deletions.push(None);
                continue;
            }
            let share = 1 + random.below(5);
            let rows: Vec<u64> = (0..file.row_count as u64)
                .filter(|_| random.below(share) == 0)
                .collect();
            let vector = DeletionVector::from_positions(DeletionVectorKind::Bitmap32, rows).unwrap();
            let place = writer.write(&vector).unwrap();
            deletions.push(Some(DeletionFile {
                path: path.clone(),
                offset: i64::from(place.offset),
                length: i64::from(place.length),
                cardinality: Some(place.cardinality as i64),
            }));
        }
        table
            .meta()
            .storage()
            .write(&path, writer.finish().into())
            .await
            .unwrap();
        split.deletion_files = Some(deletions);
    }
}

/// Runs of many batches, so that a merge is left in their middle: all formats, rows deleted, orders of versions.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_runs() {
    let columns = [("id", "BIGINT"), ("v", "INT"), ("s", "INT"), ("name", "STRING")];
    for seed in 0..12 {
        let mut random = Random::new(&format!("long runs {seed}"));
        let mut options = vec![
            ("bucket", "1"),
            ("target-file-size", *random.pick(&["8 kb", "1 gb"])),
        ];
        options.push(("file.format", *random.pick(&["parquet", "orc", "avro"])));
        match random.below(3) {
            0 => options.push(("sequence.field", "s")),
            1 => options.extend([
                ("sequence.field", "s,v"),
                ("sequence.field.sort-order", "descending"),
            ]),
            _ => {}
        }
        let definition = NewTable {
            primary_keys: vec!["id".to_owned()],
            ..definition(&columns, &[], &options)
        };
        let table = Table::create(Storage::memory(), "memory://w/t", definition)
            .await
            .unwrap();
        for _ in 0..2 + random.below(4) {
            let mut writer = table.write().await.unwrap();
            writer.write(&commit_rows(&mut random, 3000)).await.unwrap();
            writer.commit().await.unwrap();
        }
        let mut plan = table.read().plan().await.unwrap();
        if random.below(2) == 0 {
            delete_some(&mut random, &table, &mut plan).await;
        }
        for filtered in [false, true] {
            let v = table.field("v").unwrap();
            let way = Way {
                batch_size: *random.pick(&[10, 64, 300]),
                fan_in: 64,
                kinds: random.below(3) == 0,
                columns: plan.read_fields.clone(),
                filter: filtered.then(|| Predicate::lt(v, Datum::Int(6)).unwrap()),
                budget: 16 << 10,
            };
            let found = way.check(&format!("{seed} {options:?}"), &table, &plan).await;
            assert!(found > 20, "{seed}: {found}");
        }
    }
}
