// SPDX-License-Identifier: Apache-2.0

//! Random histories of tables with a primary key, written, committed, planned and read back, beside the row-by-row model of the
//! merge rules.
//!
//! `PAIMON_PK_CASES` sets the number of cases (200), `PAIMON_PK_SEED` replays one.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int8Array, RecordBatch};
use arrow_schema::{DataType as ArrowType, Field, Schema};
use futures_util::TryStreamExt;
use paimon::types::{Datum, RowKind};
use paimon::{DataType, NewTable, Predicate, Storage, Table};
use proptest::prelude::*;

use crate::convert;
use crate::model::{Model, Row};
use crate::pk_late::Way;
use crate::support::definition;

const COLUMNS: [(&str, &str); 13] = [
    ("v", "INT"),
    ("k", "INT NOT NULL"),
    ("p", "STRING NOT NULL"),
    ("t", "STRING NOT NULL"),
    ("l", "BIGINT"),
    ("d", "DOUBLE"),
    ("n", "DECIMAL(5, 2)"),
    ("c", "STRING"),
    ("a", "ARRAY<INT>"),
    ("u", "TIMESTAMP(6)"),
    ("g1", "INT"),
    ("g2", "STRING"),
    ("x", "BIGINT"),
];

/// Numbers from a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn of<T: Clone>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())].clone()
    }
}

/// A table and what its rows may do.
struct Case {
    definition: NewTable,
    retracts: bool,
}

impl Case {
    fn new(random: &mut Random) -> Self {
        let mut options: Vec<(String, String)> = Vec::new();
        let mut set = |key: &str, value: &str| options.push((key.to_owned(), value.to_owned()));
        let engine = random.of(&["deduplicate", "deduplicate", "partial-update", "aggregation"]);
        let mut retracts = random.one_in(2);
        set("merge-engine", engine);
        set("bucket", random.of(&["1", "1", "3"]));
        set("file.format", random.of(&["parquet", "parquet", "orc", "avro"]));
        if random.one_in(4) {
            set("data-file.thin-mode", "true");
        }
        if random.one_in(4) {
            set("changelog-producer", "input");
        }
        // every batch of rows is spilled: nothing may come of it
        if random.one_in(3) {
            set("write-buffer-size", random.of(&["1 b", "4 kb"]));
            set("local-sort.max-num-file-handles", random.of(&["2", "3", "128"]));
        }
        let ignores_delete = random.one_in(6);
        if ignores_delete {
            set("ignore-delete", "true");
        }
        if random.one_in(6) {
            set("ignore-update-before", "true");
        }
        match engine {
            "aggregation" => {
                set("fields.v.aggregate-function", random.of(&["sum", "last_value"]));
                set("fields.l.aggregate-function", random.of(&["sum", "product"]));
                set("fields.n.aggregate-function", "sum");
                set("fields.a.aggregate-function", "collect");
                let text = if retracts {
                    "last_non_null_value"
                } else {
                    random.of(&["listagg", "max", "first_value"])
                };
                set("fields.c.aggregate-function", text);
                if random.one_in(3) {
                    set("aggregation.remove-record-on-delete", "true");
                }
            }
            "partial-update" => match random.below(3) {
                0 => {
                    set("fields.g1.sequence-group", "v,l,a");
                    set("fields.g2.sequence-group", "c,d");
                    set("fields.l.aggregate-function", "sum");
                }
                1 if retracts && !ignores_delete => set("partial-update.remove-record-on-delete", "true"),
                _ => retracts = false,
            },
            _ => {}
        }
        let grouped = options.iter().any(|(key, _)| key.ends_with("sequence-group"));
        if random.one_in(3) {
            let fields = if grouped {
                "x"
            } else {
                random.of(&["x", "g1", "g2", "g1,x", "u"])
            };
            options.push(("sequence.field".to_owned(), fields.to_owned()));
            if random.one_in(2) {
                options.push(("sequence.field.sort-order".to_owned(), "descending".to_owned()));
            }
        }
        let partitioned = random.one_in(3);
        let keys = match (partitioned, random.below(3)) {
            (true, 0) => vec!["p", "k"],
            (true, _) => vec!["t", "p", "k"],
            (false, 0) => vec!["k"],
            (false, 1) => vec!["t"],
            (false, _) => vec!["t", "k"],
        };
        let options: Vec<(&str, &str)> = options.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let partition: &[&str] = if partitioned { &["p"] } else { &[] };
        let mut definition = definition(&COLUMNS, partition, &options);
        definition.primary_keys = keys.into_iter().map(str::to_owned).collect();
        Case { definition, retracts }
    }

    fn row(&self, random: &mut Random) -> (Row, RowKind) {
        let value = |random: &mut Random, name: &str, text: &str| {
            if text.ends_with("NOT NULL") {
                return Some(match name {
                    "k" => Datum::Int(random.below(9) as i32 - 4),
                    "p" => Datum::String(random.of(&["a", "b c"]).to_owned()),
                    _ => Datum::String(random.of(&["", "é", "a", "ab", "b"]).to_owned()),
                });
            }
            if random.one_in(4) {
                return None;
            }
            let small = random.below(7) as i32 - 3;
            Some(match name {
                "v" | "g1" => Datum::Int(if random.one_in(60) { i32::MAX } else { small }),
                "l" | "x" => Datum::BigInt(i64::from(small)),
                "d" => Datum::Double(random.of(&[-0.0, 0.0, 1.5, f64::NAN])),
                "n" => Datum::Decimal {
                    unscaled: i128::from(small) * 101,
                    scale: 2,
                },
                "c" | "g2" => Datum::String(random.of(&["", "a", "b", "a,b"]).to_owned()),
                "a" => Datum::Array((0..random.below(3)).map(|_| Some(Datum::Int(small))).collect()),
                _ => Datum::Timestamp(paimon::types::Timestamp::from_micros(
                    1_000_000 + i64::from(small),
                )),
            })
        };
        let row = COLUMNS
            .iter()
            .map(|(name, text)| value(random, name, text))
            .collect();
        let kind = match random.below(if self.retracts { 6 } else { 4 }) {
            0..=2 => RowKind::Insert,
            3 => RowKind::UpdateAfter,
            4 => RowKind::UpdateBefore,
            _ => RowKind::Delete,
        };
        (row, kind)
    }
}

fn with_kinds(table: &Table, rows: &[(Row, RowKind)]) -> RecordBatch {
    let plain: Vec<Row> = rows.iter().map(|(row, _)| row.clone()).collect();
    let batch = convert::batch(&table.schema().fields, &plain);
    let kinds = Int8Array::from_iter_values(rows.iter().map(|(_, kind)| kind.to_byte()));
    let mut fields: Vec<_> = batch.schema().fields().iter().cloned().collect();
    fields.insert(0, Arc::new(Field::new("_VALUE_KIND", ArrowType::Int8, false)));
    let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
    columns.insert(0, Arc::new(kinds));
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

/// A stored version: row, kind and sequence number.
type Version = (Row, RowKind, i64);

/// What the table holds, as the sheet has it.
struct Expected {
    model: Model,
    keys: Vec<usize>,
    ignore: Vec<RowKind>,
    sequence: Vec<usize>,
    descending: bool,
    /// Versions of each key, oldest commit first.
    versions: BTreeMap<String, Vec<Version>>,
}

impl Expected {
    fn new(table: &Table) -> Self {
        let schema = table.schema();
        let place = |name: &str| schema.fields.iter().position(|field| field.name == name).unwrap();
        let option = |key: &str| schema.options.get(key).map(String::as_str);
        let mut ignore = Vec::new();
        if option("ignore-delete") == Some("true") {
            ignore.extend([RowKind::UpdateBefore, RowKind::Delete]);
        }
        if option("ignore-update-before") == Some("true") {
            ignore.push(RowKind::UpdateBefore);
        }
        Expected {
            model: Model::new(schema),
            keys: schema.primary_keys.iter().map(|name| place(name)).collect(),
            ignore,
            sequence: option("sequence.field")
                .into_iter()
                .flat_map(|names| names.split(','))
                .map(place)
                .collect(),
            descending: option("sequence.field.sort-order") == Some("descending"),
            versions: BTreeMap::new(),
        }
    }

    fn key(&self, row: &Row) -> String {
        self.keys.iter().map(|at| format!("{:?}|", row[*at])).collect()
    }

    /// Older versions first.
    fn compare(&self, a: &Version, b: &Version) -> Ordering {
        for at in &self.sequence {
            let order = match (&a.0[*at], &b.0[*at]) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Less,
                (Some(_), None) => Ordering::Greater,
                (Some(a), Some(b)) => {
                    let order = match (a, b) {
                        (Datum::Int(a), Datum::Int(b)) => a.cmp(b),
                        (Datum::BigInt(a), Datum::BigInt(b)) => a.cmp(b),
                        (Datum::String(a), Datum::String(b)) => a.as_bytes().cmp(b.as_bytes()),
                        (Datum::Timestamp(a), Datum::Timestamp(b)) => {
                            (a.millis, a.nanos_of_milli).cmp(&(b.millis, b.nanos_of_milli))
                        }
                        other => panic!("{other:?}"),
                    };
                    if self.descending { order.reverse() } else { order }
                }
            };
            if order != Ordering::Equal {
                return order;
            }
        }
        a.2.cmp(&b.2)
    }

    fn merge(&self, mut versions: Vec<Version>) -> Result<Option<Version>, String> {
        versions.sort_by(|a, b| self.compare(a, b));
        let plain: Vec<(Row, RowKind)> = versions
            .iter()
            .map(|(row, kind, _)| (row.clone(), *kind))
            .collect();
        let merged = self.model.merge(&plain)?;
        Ok(merged.map(|merged| (merged.row, merged.kind, versions[merged.origin].2)))
    }

    /// What a commit of these rows stores; an error when a merge fails. Sequence numbers are counted a bucket: what the order
    /// needs of them is that they ascend.
    fn commit(&mut self, rows: &[(Row, RowKind)], first: i64) -> Result<(), String> {
        let mut of_keys: BTreeMap<String, Vec<Version>> = BTreeMap::new();
        for (at, (row, kind)) in rows.iter().enumerate() {
            if !self.ignore.contains(kind) {
                let version = (row.clone(), *kind, first + at as i64);
                of_keys.entry(self.key(row)).or_default().push(version);
            }
        }
        let mut stored = Vec::new();
        for (key, versions) in of_keys {
            if let Some(version) = self.merge(versions)? {
                stored.push((key, version));
            }
        }
        for (key, version) in stored {
            self.versions.entry(key).or_default().push(version);
        }
        Ok(())
    }

    /// What a read gives.
    fn rows(&self) -> Result<Vec<String>, String> {
        let mut rows = Vec::new();
        for versions in self.versions.values() {
            if let Some((row, kind, _)) = self.merge(versions.clone())?
                && !kind.is_retract()
            {
                rows.push(format!("{row:?}"));
            }
        }
        rows.sort();
        Ok(rows)
    }
}

async fn read(table: &Table) -> paimon::Result<Vec<String>> {
    let batches: Vec<RecordBatch> = table.read().to_stream().await?.try_collect().await?;
    let types: Vec<DataType> = table
        .schema()
        .fields
        .iter()
        .map(|field| field.data_type.clone())
        .collect();
    let mut rows = Vec::new();
    for batch in &batches {
        for row in 0..batch.num_rows() {
            let columns = batch.columns().iter().zip(&types);
            let row: Row = columns
                .map(|(column, of)| convert::value(column, row, of))
                .collect();
            rows.push(format!("{row:?}"));
        }
    }
    rows.sort();
    Ok(rows)
}

/// Whether values are read together with what decides or behind it, the rows are the same.
async fn check_late(what: &str, table: &Table, random: &mut Random) {
    let plan = table.read().plan().await.unwrap();
    let fields = table.schema().fields.clone();
    let filter = match random.below(4) {
        0 => Predicate::gt(table.field("v").unwrap(), Datum::Int(0)),
        1 => Predicate::eq(table.field("g2").unwrap(), Datum::String("a".to_owned())),
        2 => Predicate::lt(table.field("k").unwrap(), Datum::Int(2)),
        _ => Ok(Predicate::Constant(true)),
    };
    let way = Way {
        batch_size: random.of(&[1, 2, 4, 9]),
        fan_in: random.of(&[2, 3, 64]),
        kinds: random.one_in(2),
        columns: fields.into_iter().filter(|_| !random.one_in(5)).collect(),
        filter: Some(filter.unwrap()).filter(|filter| *filter != Predicate::Constant(true)),
        budget: 96 << 20,
    };
    way.check(what, table, &plan).await;
}

async fn check(seed: u64) {
    let mut random = Random(seed);
    let case = Case::new(&mut random);
    let what = format!(
        "seed {seed}\n{:?}\n{:?}",
        case.definition.primary_keys, case.definition.options
    );
    let table = Table::create(Storage::memory(), "memory://w/t", case.definition.clone())
        .await
        .unwrap_or_else(|e| panic!("{e}\n{what}"));
    let mut expected = Expected::new(&table);
    let mut number = 0;
    for _ in 0..1 + random.below(5) {
        let rows: Vec<(Row, RowKind)> = (0..random.below(40)).map(|_| case.row(&mut random)).collect();
        let mut writer = table.write().await.unwrap_or_else(|e| panic!("{e}\n{what}"));
        let mut from = 0;
        while from < rows.len() {
            let to = (from + 1 + random.below(25)).min(rows.len());
            writer
                .write(&with_kinds(&table, &rows[from..to]))
                .await
                .unwrap_or_else(|e| panic!("{e}\n{what}"));
            from = to;
        }
        let committed = writer.commit().await;
        match expected.commit(&rows, number) {
            Ok(()) => drop(committed.unwrap_or_else(|e| panic!("{e:?}\n{what}"))),
            Err(problem) => assert!(committed.is_err(), "the model says {problem}\n{what}"),
        }
        number += rows.len() as i64;
        let found = read(&table).await;
        match expected.rows() {
            Ok(rows) => assert_eq!(found.unwrap_or_else(|e| panic!("{e:?}\n{what}")), rows, "{what}"),
            Err(problem) => {
                assert!(found.is_err(), "the model says {problem}\n{what}");
                return;
            }
        }
        check_late(&what, &table, &mut random).await;
    }
}

fn cases() -> u32 {
    let set = std::env::var("PAIMON_PK_CASES").ok();
    set.and_then(|text| text.parse().ok()).unwrap_or(200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn histories_agree_with_the_model(seed in any::<u64>()) {
        let seed = std::env::var("PAIMON_PK_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(seed);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        runtime.block_on(check(seed));
    }
}
