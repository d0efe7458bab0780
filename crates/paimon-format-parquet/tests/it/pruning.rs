// SPDX-License-Identifier: Apache-2.0

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int32Array, RecordBatch, StringArray};
use paimon_format::testkit::{
    ReadRequest, Sampler, check_push_down, open, push_down_fields, read_file, write_file,
};
use paimon_storage::Storage;
use paimon_types::{
    DataField, DataType, Datum, LeafPredicate, Predicate, PredicateOp, TypeKind, to_arrow_schema,
};
use roaring::RoaringBitmap;

use crate::support::{format, joined};

fn fields() -> Vec<DataField> {
    vec![
        DataField::new(0, "i", DataType::new(TypeKind::Int)),
        DataField::new(1, "d", DataType::new(TypeKind::Double)),
        DataField::new(2, "s", DataType::string()),
    ]
}

/// Columns that are nearly sorted, so that statistics separate pages; NaN, zeros, NULL and long common prefixes among them.
fn batch(rows: usize, seed: u64) -> RecordBatch {
    let mut s = Sampler::new(seed);
    let null = |s: &mut Sampler, row: usize| s.below(7) == 0 || (200..330).contains(&row);
    let ints: Int32Array = (0..rows)
        .map(|row| (!null(&mut s, row)).then(|| (row / 10) as i32 + s.below(5) as i32))
        .collect();
    let doubles: Float64Array = (0..rows)
        .map(|row| {
            (!null(&mut s, row)).then(|| match s.below(150) {
                0 => f64::NAN,
                1 => -0.0,
                2 => 0.0,
                _ => (row as f64 - 500.0) / 10.0 + s.below(3) as f64,
            })
        })
        .collect();
    let prefix = "p".repeat(70);
    let strings: StringArray = (0..rows)
        .map(|row| (!null(&mut s, row)).then(|| format!("{prefix}{:04}", row / 20 + s.below(3) as usize)))
        .collect();
    let columns: Vec<ArrayRef> = vec![Arc::new(ints), Arc::new(doubles), Arc::new(strings)];
    RecordBatch::try_new(Arc::new(to_arrow_schema(&fields())), columns).unwrap()
}

fn value(batch: &RecordBatch, column: usize, row: usize) -> Option<Datum> {
    let array = batch.column(column);
    array.is_valid(row).then(|| match column {
        0 => Datum::Int(array.as_primitive::<Int32Type>().value(row)),
        1 => Datum::Double(array.as_primitive::<Float64Type>().value(row)),
        _ => Datum::String(array.as_string::<i32>().value(row).to_string()),
    })
}

fn leaf(s: &mut Sampler) -> Predicate {
    let column = s.below(3) as usize;
    let field = &fields()[column];
    let mut literal = || -> Option<Datum> {
        if s.below(15) == 0 {
            return None;
        }
        Some(match column {
            0 => Datum::Int(s.below(110) as i32 - 3),
            1 => Datum::Double(match s.below(6) {
                0 => f64::NAN,
                1 => 0.0,
                2 => -0.0,
                _ => s.below(1000) as f64 / 10.0 - 50.0,
            }),
            _ => Datum::String(format!("{}{:04}", "p".repeat(70), s.below(60))),
        })
    };
    let (one, two) = (literal(), literal());
    let list: Vec<Option<Datum>> = (0..3).map(|_| literal()).collect();
    use PredicateOp as P;
    let ops = [
        P::Eq,
        P::NotEq,
        P::Lt,
        P::LtEq,
        P::Gt,
        P::GtEq,
        P::IsNull,
        P::IsNotNull,
        P::In,
        P::NotIn,
        P::Between,
        P::NotBetween,
    ];
    let op = ops[s.below(ops.len() as u64) as usize];
    let literals = match op {
        P::IsNull | P::IsNotNull => vec![],
        P::In | P::NotIn => list,
        P::Between | P::NotBetween => vec![one, two],
        _ => vec![one],
    };
    Predicate::Leaf(LeafPredicate::new(field, op, literals).unwrap())
}

fn predicate(s: &mut Sampler, depth: u32) -> Predicate {
    match s.below(if depth == 0 { 1 } else { 5 }) {
        0 | 1 => leaf(s),
        2 => Predicate::And((0..2).map(|_| predicate(s, depth - 1)).collect()),
        3 => Predicate::Or((0..2).map(|_| predicate(s, depth - 1)).collect()),
        _ => Predicate::Not(Box::new(predicate(s, depth - 1))),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pruning_loses_no_matching_row() {
    let storage = Storage::memory();
    let dictionaries = [
        ("parquet.enable.dictionary", "false"),
        ("parquet.page.row.count.limit", "20"),
    ];
    let mut read_rows = 0;
    for (name, options) in [
        ("groups", vec![("parquet.block.row.count.limit", "90")]),
        (
            "pages",
            vec![
                ("parquet.page.row.count.limit", "25"),
                ("parquet.page.size", "256"),
            ],
        ),
        (
            "both",
            [&[("parquet.block.row.count.limit", "300")], &dictionaries[..]].concat(),
        ),
    ] {
        let format = format(&options);
        let path = format!("memory:///t/{name}.parquet");
        let all = batch(1000, 3);
        // Pages end with batches as well.
        let parts: Vec<RecordBatch> = (0..50).map(|i| all.slice(i * 20, 20)).collect();
        write_file(format.as_ref(), &storage, &path, &fields(), &parts, "zstd")
            .await
            .unwrap();
        let mut s = Sampler::new(17);
        for case in 0..300 {
            let predicate = predicate(&mut s, 3);
            let matching: Vec<u64> = (0..1000u64)
                .filter(|row| predicate.eval_row(&|id| value(&all, id as usize, *row as usize)) == Some(true))
                .collect();
            let selection: Option<RoaringBitmap> =
                (case % 3 == 0).then(|| (0..1000u32).filter(|_| s.below(2) == 0).collect());
            let request = ReadRequest {
                fields: Some(fields()),
                predicate: Some(predicate.clone()),
                selection: selection.clone(),
                batch_size: 37,
            };
            let (read, rows) = read_file(format.as_ref(), &storage, &path, &request)
                .await
                .unwrap();
            let selected = |row: &u64| selection.as_ref().is_none_or(|s| s.contains(*row as u32));
            let wanted: Vec<u64> = matching.into_iter().filter(selected).collect();
            let missing: Vec<&u64> = wanted.iter().filter(|row| !rows.contains(row)).collect();
            assert!(missing.is_empty(), "{name}: {predicate:?} lost {missing:?}");
            assert!(rows.iter().all(selected));
            read_rows += rows.len();
            let read = joined(&fields(), &read);
            for (index, row) in rows.iter().enumerate() {
                assert_eq!(
                    value(&read, 0, index),
                    value(&all, 0, *row as usize),
                    "{name}: {predicate:?}"
                );
            }
        }
    }
    // And it does leave rows out.
    assert!(read_rows < 3 * 300 * 1000 * 3 / 4, "{read_rows}");
}

#[tokio::test]
async fn a_narrow_predicate_reads_a_page() {
    let storage = Storage::memory();
    let format = format(&[("parquet.page.row.count.limit", "100")]);
    let all = batch(20_000, 5);
    let parts: Vec<RecordBatch> = (0..200).map(|i| all.slice(i * 100, 100)).collect();
    write_file(
        format.as_ref(),
        &storage,
        "memory:///t/a.parquet",
        &fields(),
        &parts,
        "none",
    )
    .await
    .unwrap();
    let mut reader = open(format.as_ref(), &storage, "memory:///t/a.parquet", 1000)
        .await
        .unwrap();
    let predicate = Predicate::eq(&fields()[0], Some(Datum::Int(1500))).unwrap();
    reader.set_read_schema(&fields(), Some(&predicate), None).unwrap();
    let mut rows = 0;
    while let Some(batch) = reader.next_batch().await.unwrap() {
        rows += batch.num_rows();
    }
    assert!((1..=3000).contains(&rows), "{rows}");
    assert_eq!(reader.metrics().get("parquet.read.rows"), Some(rows as u64));
}

/// The predicate names a column by id; its name is of another schema.
#[tokio::test]
async fn renamed_columns_are_pruned_by_id() {
    let storage = Storage::memory();
    let format = format(&[]);
    write_file(
        format.as_ref(),
        &storage,
        "memory:///t/r.parquet",
        &fields(),
        &[batch(100, 9)],
        "none",
    )
    .await
    .unwrap();
    let other = |id, name: &str| DataField::new(id, name, DataType::new(TypeKind::Int));
    for (field, found) in [(other(0, "s"), 0), (other(9, "i"), 100)] {
        let predicate = Predicate::gt(&field, Some(Datum::Int(5000))).unwrap();
        let request = ReadRequest {
            fields: Some(fields()),
            predicate: Some(predicate),
            ..ReadRequest::default()
        };
        let (_, rows) = read_file(format.as_ref(), &storage, "memory:///t/r.parquet", &request)
            .await
            .unwrap();
        assert_eq!(rows.len(), found, "{field:?}");
    }
}

/// Every type, predicates and selections and projections together.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn push_down_of_every_type() {
    let pages = [
        ("parquet.page.row.count.limit", "40"),
        ("parquet.enable.dictionary", "false"),
    ];
    let short = ("parquet.columnindex.truncate.length", "8");
    let groups = ("parquet.block.row.count.limit", "150");
    let cut = ("parquet.statistics.truncate.length", "16");
    let (mut read, mut selected) = (0, 0);
    for (seed, options) in (1..).zip([
        vec![groups],
        pages.to_vec(),
        [&pages[..], &[short, groups]].concat(),
        vec![groups, cut, ("parquet.writer.version", "v2")],
        [&pages[..], &[cut, ("parquet.bloom.filter.enabled", "true")]].concat(),
    ]) {
        let format = format(&options);
        let (some, all) = check_push_down(
            format.as_ref(),
            &Storage::memory(),
            "memory:///t",
            &push_down_fields(),
            1200,
            seed,
            40,
        )
        .await
        .unwrap();
        read += some;
        selected += all;
    }
    assert!(read < selected * 9 / 10, "{read} of {selected}");
}
