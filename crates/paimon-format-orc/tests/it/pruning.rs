// SPDX-License-Identifier: Apache-2.0

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Decimal128Type, Float64Type, Int32Type, TimestampMicrosecondType};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int32Array, RecordBatch,
    StringArray, TimestampMicrosecondArray,
};
use paimon_format::testkit::{
    ReadRequest, Sampler, check_push_down, open, push_down_fields, read_file, write_file,
};
use paimon_storage::Storage;
use paimon_types::{
    DataField, DataType, Datum, LeafPredicate, Predicate, PredicateOp, Timestamp, TypeKind, to_arrow_schema,
};
use roaring::RoaringBitmap;

use crate::support::{format, joined};

const ROWS: usize = 8000;

fn fields() -> Vec<DataField> {
    let types = [
        TypeKind::Int,
        TypeKind::Double,
        TypeKind::VarChar(i32::MAX as u32),
        TypeKind::Char(8),
        TypeKind::Timestamp(6),
        TypeKind::TimestampLtz(6),
        TypeKind::Decimal {
            precision: 12,
            scale: 2,
        },
        TypeKind::Date,
        TypeKind::Boolean,
    ];
    types
        .into_iter()
        .enumerate()
        .map(|(id, kind)| DataField::new(id as i32, format!("c{id}"), DataType::new(kind)))
        .collect()
}

/// The value of a column for about the place `at` (0 to 800).
fn sample(column: usize, at: i64, s: &mut Sampler) -> Datum {
    let near = at + s.below(5) as i64;
    // Microseconds around 1970, where seconds are cut in another direction.
    let time = || Datum::Timestamp(Timestamp::from_micros((near - 400) * 15_000 + 123));
    match column {
        0 => Datum::Int(near as i32 - 300),
        1 => match near % 97 {
            0 => Datum::Double(f64::NAN),
            1 => Datum::Double(-0.0),
            2 => Datum::Double(0.0),
            _ => Datum::Double(near as f64 / 4.0 - 100.0),
        },
        2 => Datum::String(format!(
            "{}{near:04}",
            "p".repeat(if at > 600 { 1100 } else { 20 })
        )),
        3 => {
            let texts = ["ab", "ab\t", "abc", "a\u{1}", "", "zz"];
            Datum::String(format!("{}{}", near / 100, texts[near as usize % texts.len()]))
        }
        4 | 5 => time(),
        6 => Datum::Decimal {
            unscaled: i128::from(near) * 7 - 2000,
            scale: 2,
        },
        7 => Datum::Date(near as i32 - 400),
        _ => Datum::Boolean(near > 400),
    }
}

fn batch(seed: u64) -> RecordBatch {
    let mut s = Sampler::new(seed);
    let mut values: Vec<Vec<Option<Datum>>> = Vec::new();
    for column in 0..fields().len() {
        values.push(
            (0..ROWS)
                .map(|row| {
                    let null = s.below(9) == 0 || (2000..3100).contains(&row);
                    let datum = sample(column, row as i64 / 10, &mut s);
                    // As all readers and the Java writer see it: a second before 1970 with milliseconds is lost.
                    (!null).then(|| after_1970(datum))
                })
                .collect(),
        );
    }
    let columns = values
        .iter()
        .enumerate()
        .map(|(column, values)| array(column, values))
        .collect();
    RecordBatch::try_new(Arc::new(to_arrow_schema(&fields())), columns).unwrap()
}

fn after_1970(datum: Datum) -> Datum {
    match datum {
        Datum::Timestamp(t) if (-1000..0).contains(&t.millis) => {
            Datum::Timestamp(Timestamp::from_millis(t.millis + 1000))
        }
        other => other,
    }
}

fn array(column: usize, values: &[Option<Datum>]) -> ArrayRef {
    macro_rules! all {
        ($array:ty, $datum:pat => $value:expr) => {
            values
                .iter()
                .map(|v| match v {
                    Some($datum) => Some($value),
                    _ => None,
                })
                .collect::<$array>()
        };
    }
    match column {
        0 => Arc::new(all!(Int32Array, Datum::Int(v) => *v)),
        1 => Arc::new(all!(Float64Array, Datum::Double(v) => *v)),
        2 | 3 => Arc::new(all!(StringArray, Datum::String(v) => v.as_str())),
        4 => Arc::new(all!(TimestampMicrosecondArray, Datum::Timestamp(v) => v.to_micros().unwrap())),
        5 => {
            let array = all!(TimestampMicrosecondArray, Datum::Timestamp(v) => v.to_micros().unwrap());
            Arc::new(array.with_timezone("UTC"))
        }
        6 => {
            let array = all!(Decimal128Array, Datum::Decimal { unscaled, .. } => *unscaled);
            Arc::new(array.with_precision_and_scale(12, 2).unwrap())
        }
        7 => Arc::new(all!(Date32Array, Datum::Date(v) => *v)),
        _ => Arc::new(all!(BooleanArray, Datum::Boolean(v) => *v)),
    }
}

fn value(batch: &RecordBatch, column: usize, row: usize) -> Option<Datum> {
    let array = batch.column(column);
    array.is_valid(row).then(|| match column {
        0 => Datum::Int(array.as_primitive::<Int32Type>().value(row)),
        1 => Datum::Double(array.as_primitive::<Float64Type>().value(row)),
        2 | 3 => Datum::String(array.as_string::<i32>().value(row).to_string()),
        4 | 5 => Datum::Timestamp(Timestamp::from_micros(
            array.as_primitive::<TimestampMicrosecondType>().value(row),
        )),
        6 => Datum::Decimal {
            unscaled: array.as_primitive::<Decimal128Type>().value(row),
            scale: 2,
        },
        7 => Datum::Date(array.as_primitive::<Date32Type>().value(row)),
        _ => Datum::Boolean(array.as_boolean().value(row)),
    })
}

fn leaf(s: &mut Sampler) -> Predicate {
    let columns = fields();
    let column = s.below(columns.len() as u64) as usize;
    let mut literal = || -> Option<Datum> {
        if s.below(15) == 0 {
            return None;
        }
        let at = s.below(830) as i64;
        Some(after_1970(sample(column, at, s)))
    };
    let (one, two) = (literal(), literal());
    let list: Vec<Option<Datum>> = (0..3).map(|_| literal()).collect();
    use PredicateOp as P;
    let mut ops = vec![
        P::Eq,
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
    if matches!(column, 2 | 3) {
        ops.push(P::StartsWith);
    }
    let op = ops[s.below(ops.len() as u64) as usize];
    let literals = match op {
        P::IsNull | P::IsNotNull => vec![],
        P::In | P::NotIn => list,
        P::Between | P::NotBetween => vec![one, two],
        _ => vec![one],
    };
    Predicate::Leaf(LeafPredicate::new(&columns[column], op, literals).unwrap())
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
    let mut read_rows = 0;
    let all = batch(3);
    let parts: Vec<RecordBatch> = (0..ROWS / 500).map(|i| all.slice(i * 500, 500)).collect();
    for (name, options, compression) in [
        ("groups", vec![("orc.row.index.stride", "1000")], "zstd"),
        (
            "blooms",
            vec![
                ("orc.row.index.stride", "1000"),
                ("orc.bloom.filter.columns", "c0,c1,c2,c3,c7"),
                ("orc.bloom.filter.fpp", "0.001"),
            ],
            "none",
        ),
        (
            "stripes",
            vec![("orc.stripe.size", "16384"), ("orc.row.index.stride", "1000")],
            "snappy",
        ),
        ("no-index", vec![("orc.create.index", "false")], "zstd"),
    ] {
        let format = format(&options);
        let path = format!("memory:///t/{name}.orc");
        write_file(format.as_ref(), &storage, &path, &fields(), &parts, compression)
            .await
            .unwrap();
        let mut s = Sampler::new(17);
        for case in 0..250 {
            let predicate = predicate(&mut s, 2);
            let selection: Option<RoaringBitmap> =
                (case % 3 == 0).then(|| (0..ROWS as u32).filter(|_| s.below(2) == 0).collect());
            let request = ReadRequest {
                fields: Some(fields()),
                predicate: Some(predicate.clone()),
                selection: selection.clone(),
                batch_size: 370,
            };
            let (read, rows) = read_file(format.as_ref(), &storage, &path, &request)
                .await
                .unwrap();
            let kept: RoaringBitmap = rows.iter().map(|row| *row as u32).collect();
            for row in 0..ROWS as u32 {
                let selected = selection.as_ref().is_none_or(|s| s.contains(row));
                assert!(
                    selected || !kept.contains(row),
                    "{name}: row {row} was not selected"
                );
                if selected && !kept.contains(row) {
                    let matches = predicate.eval_row(&|id| value(&all, id as usize, row as usize));
                    assert_ne!(matches, Some(true), "{name}: {predicate:?} lost row {row}");
                }
            }
            read_rows += rows.len();
            let read = joined(&fields(), &read);
            for (index, row) in rows.iter().enumerate().step_by(13) {
                for column in 0..fields().len() {
                    let (found, stored) = (value(&read, column, index), value(&all, column, *row as usize));
                    assert_eq!(
                        format!("{found:?}"),
                        format!("{stored:?}"),
                        "{name}: row {row} column {column}"
                    );
                }
            }
        }
    }
    // And it does leave rows out.
    println!("{read_rows} of {}", 4 * 250 * ROWS);
    assert!(read_rows < 4 * 250 * ROWS * 3 / 4, "{read_rows}");
}

#[tokio::test]
async fn a_narrow_predicate_reads_a_row_group() {
    let storage = Storage::memory();
    let format = format(&[
        ("orc.row.index.stride", "1000"),
        ("orc.bloom.filter.columns", "c2"),
    ]);
    let path = "memory:///t/a.orc";
    write_file(format.as_ref(), &storage, path, &fields(), &[batch(5)], "none")
        .await
        .unwrap();
    let all = fields();
    let cases = [
        (
            Predicate::eq(&all[0], Some(Datum::Int(150))).unwrap(),
            1000..=2000,
        ),
        // Between the bounds of a row group, but in no bloom filter.
        (
            Predicate::eq(&all[2], Some(Datum::String(format!("{}0150x", "p".repeat(20))))).unwrap(),
            0..=0,
        ),
        (Predicate::is_not_null(&all[7]), 7000..=8000),
    ];
    for (predicate, expected) in cases {
        let mut reader = open(format.as_ref(), &storage, path, 1000).await.unwrap();
        reader.set_read_schema(&all, Some(&predicate), None).unwrap();
        let mut rows = 0;
        while let Some(batch) = reader.next_batch().await.unwrap() {
            rows += batch.num_rows();
        }
        assert!(expected.contains(&rows), "{rows} {predicate:?}");
        assert_eq!(reader.metrics().get("orc.read.rows"), Some(rows as u64));
    }
}

/// The predicate names a column by id; its name is of another schema.
#[tokio::test]
async fn renamed_columns_are_pruned_by_id() {
    let storage = Storage::memory();
    let format = format(&[]);
    let path = "memory:///t/r.orc";
    write_file(format.as_ref(), &storage, path, &fields(), &[batch(9)], "none")
        .await
        .unwrap();
    let other = |id, name: &str| DataField::new(id, name, DataType::new(TypeKind::Int));
    for (field, found) in [(other(0, "c1"), 0), (other(99, "c0"), ROWS)] {
        let predicate = Predicate::gt(&field, Some(Datum::Int(5000))).unwrap();
        let request = ReadRequest {
            fields: Some(fields()),
            predicate: Some(predicate),
            ..ReadRequest::default()
        };
        let (_, rows) = read_file(format.as_ref(), &storage, path, &request)
            .await
            .unwrap();
        assert_eq!(rows.len(), found, "{field:?}");
    }
}

/// Every type, predicates and selections and projections together.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn push_down_of_every_type() {
    let stride = ("orc.row.index.stride", "1000");
    let rows = ("orc.stripe.row.count", "2500");
    let bloom = [
        ("orc.bloom.filter.columns", "c1,c3,c4,c6,c7,c8,c9,c13,c16,c17"),
        ("orc.bloom.filter.fpp", "0.01"),
    ];
    let (mut read, mut selected) = (0, 0);
    for (seed, options) in (1..).zip([
        vec![stride],
        vec![rows],
        [&[stride, rows], &bloom[..]].concat(),
        vec![stride, ("orc.dictionary.key.threshold", "0")],
        vec![rows, ("orc.create.index", "false")],
    ]) {
        let format = format(&options);
        let (some, all) = check_push_down(
            format.as_ref(),
            &Storage::memory(),
            "memory:///t",
            &push_down_fields(),
            6000,
            seed,
            20,
        )
        .await
        .unwrap();
        read += some;
        selected += all;
    }
    assert!(read < selected * 9 / 10, "{read} of {selected}");
}
