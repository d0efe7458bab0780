// SPDX-License-Identifier: Apache-2.0

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, Decimal128Array, Float64Array, Int32Array, RecordBatch, StringArray, StructArray,
};
use arrow_schema::{DataType as ArrowType, Field, Schema};
use futures_util::{StreamExt, stream};
use paimon_types::{
    DataField, DataType, Datum, Error, ErrorKind, LeafPredicate, Predicate, PredicateOp, TypeKind,
    arrow_type, to_arrow_schema,
};

use super::BatchStream;
use super::evolution::{SchemaMapping, Source, adapt};
use super::filter::BatchFilter;
use super::read_ahead::{Budget, in_order, shared, unordered};
use crate::datum_at;

fn field(id: i32, name: &str, data_type: &str) -> DataField {
    DataField::new(id, name, DataType::parse(data_type).unwrap())
}

fn numbers(from: i32, count: i32) -> RecordBatch {
    let schema = Arc::new(Schema::new(vec![Field::new("n", ArrowType::Int32, false)]));
    RecordBatch::try_new(
        schema,
        vec![Arc::new(Int32Array::from_iter_values(from..from + count))],
    )
    .unwrap()
}

/// Files of ten batches of 100 rows, numbered through.
fn file(index: i32) -> BatchStream {
    stream::iter((0..10).map(move |batch| Ok(numbers(index * 1000 + batch * 100, 100)))).boxed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn batches_come_in_the_order_of_the_files_whatever_the_budget() {
    for budget in [0, 1 << 10, 1 << 20] {
        for parallelism in [1, 2, 5] {
            let mut rows = in_order((0..7).collect(), parallelism, Budget::new(budget), file);
            let mut expected = 0;
            while let Some(batch) = rows.next().await {
                for value in batch.unwrap().column(0).as_primitive::<Int32Type>().values() {
                    assert_eq!(*value, expected);
                    expected += 1;
                }
            }
            assert_eq!(expected, 7000, "budget {budget}, parallelism {parallelism}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn without_order_all_rows_come_once() {
    for parallelism in [1, 2, 5] {
        let mut rows = unordered((0..7).collect(), parallelism, file);
        let mut found = Vec::new();
        while let Some(batch) = rows.next().await {
            found.extend_from_slice(batch.unwrap().column(0).as_primitive::<Int32Type>().values());
        }
        found.sort_unstable();
        assert_eq!(found, (0..7000).collect::<Vec<i32>>());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn streams_share_their_inputs() {
    for count in [1, 2, 5, 20] {
        let streams = shared((0..7).collect(), count, file);
        assert_eq!(streams.len(), count);
        let consumers: Vec<_> = streams
            .into_iter()
            .map(|rows| tokio::spawn(rows.collect::<Vec<_>>()))
            .collect();
        let mut found = Vec::new();
        for consumer in consumers {
            for batch in consumer.await.unwrap() {
                found.extend_from_slice(batch.unwrap().column(0).as_primitive::<Int32Type>().values());
            }
        }
        found.sort_unstable();
        assert_eq!(found, (0..7000).collect::<Vec<i32>>());
    }
}

#[tokio::test]
async fn an_error_ends_one_stream_of_several() {
    let open = |index: i32| match index {
        0 => stream::iter([Err(Error::corrupt("bad file")), Ok(numbers(1, 1))]).boxed(),
        index => stream::iter([Ok(numbers(index, 1))]).boxed(),
    };
    let mut streams = shared(vec![0, 1, 2], 2, open);
    let second = streams.pop().unwrap();
    let mut first = streams.pop().unwrap();
    assert!(first.next().await.unwrap().is_err());
    assert!(first.next().await.is_none());
    assert_eq!(second.count().await, 2);
}

#[tokio::test]
async fn an_error_ends_the_stream() {
    let open = |index: i32| match index {
        1 => stream::iter([
            Ok(numbers(0, 1)),
            Err(Error::corrupt("bad file")),
            Ok(numbers(1, 1)),
        ])
        .boxed(),
        _ => file(index),
    };
    let mut rows = in_order(vec![0, 1, 2], 2, Budget::new(1 << 20), open);
    for _ in 0..11 {
        rows.next().await.unwrap().unwrap();
    }
    assert_eq!(rows.next().await.unwrap().unwrap_err().kind(), ErrorKind::Corrupt);
    assert!(rows.next().await.is_none());
}

#[tokio::test]
async fn a_dropped_stream_opens_nothing_more() {
    static OPENED: AtomicUsize = AtomicUsize::new(0);
    let open = |index: i32| {
        OPENED.fetch_add(1, Ordering::SeqCst);
        file(index)
    };
    let mut rows = in_order((0..100).collect(), 2, Budget::new(1 << 20), open);
    rows.next().await.unwrap().unwrap();
    drop(rows);
    tokio::task::yield_now().await;
    assert!(OPENED.load(Ordering::SeqCst) <= 3);
}

/// A small generator with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

fn columns() -> (Vec<DataField>, RecordBatch, Vec<Vec<Option<Datum>>>) {
    let fields = vec![
        field(3, "i", "INT"),
        field(4, "d", "DOUBLE"),
        field(7, "s", "STRING"),
        field(9, "x", "DECIMAL(10, 2)"),
    ];
    let ints = vec![
        None,
        Some(-1),
        Some(0),
        Some(3),
        Some(3),
        Some(i32::MAX),
        Some(i32::MIN),
        None,
        Some(7),
        Some(2),
    ];
    let doubles: Vec<Option<f64>> = vec![
        Some(f64::NAN),
        Some(-f64::NAN),
        Some(0.0),
        Some(-0.0),
        None,
        Some(1.5),
        Some(f64::INFINITY),
        Some(f64::NEG_INFINITY),
        Some(-2.5),
        Some(1.5),
    ];
    let texts = vec![
        Some(""),
        Some("a"),
        Some("ab"),
        None,
        Some("b%"),
        Some("ä"),
        Some("abc"),
        Some("_"),
        Some("zz"),
        Some("ab"),
    ];
    let decimals = [
        Some(150),
        Some(-150),
        None,
        Some(0),
        Some(1),
        Some(999),
        Some(-1),
        Some(150),
        None,
        Some(100),
    ];
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(ints)),
        Arc::new(Float64Array::from(doubles)),
        Arc::new(StringArray::from(texts)),
        Arc::new(
            Decimal128Array::from(decimals.to_vec())
                .with_precision_and_scale(10, 2)
                .unwrap(),
        ),
    ];
    let pools = fields
        .iter()
        .zip(&arrays)
        .map(|(f, a)| {
            (0..a.len())
                .map(|row| datum_at(a, row, &f.data_type).unwrap())
                .collect()
        })
        .collect();
    let batch = RecordBatch::try_new(Arc::new(to_arrow_schema(&fields)), arrays).unwrap();
    (fields, batch, pools)
}

fn random_predicate(
    random: &mut Random,
    fields: &[DataField],
    pools: &[Vec<Option<Datum>>],
    depth: usize,
) -> Predicate {
    if depth > 0 && random.below(2) == 0 {
        let mut child = || random_predicate(random, fields, pools, depth - 1);
        let children = vec![child(), child()];
        return match random.below(3) {
            0 => Predicate::And(children),
            1 => Predicate::Or(children),
            _ => Predicate::Not(Box::new(Predicate::And(children))),
        };
    }
    let column = random.below(fields.len());
    let (field, pool) = (&fields[column], &pools[column]);
    let mut literal = || match (random.below(12), &field.data_type.kind) {
        (0, TypeKind::Decimal { .. }) => Some(Datum::Decimal {
            unscaled: 1_501,
            scale: 3,
        }),
        (1, TypeKind::Decimal { .. }) => Some(Datum::Decimal {
            unscaled: 15,
            scale: 1,
        }),
        (2, _) => None,
        _ => pool[random.below(pool.len())].clone(),
    };
    use PredicateOp::*;
    let many: Vec<Option<Datum>> = (0..12).map(|_| literal()).collect();
    let ops = [
        Eq, NotEq, Lt, LtEq, Gt, GtEq, In, NotIn, Between, NotBetween, IsNull, IsNotNull, Like, StartsWith,
    ];
    let op = ops[random.below(if column == 2 { ops.len() } else { 12 })];
    let literals = match op {
        In | NotIn => many[..1 + random.below(12)].to_vec(),
        Between | NotBetween => many[..2].to_vec(),
        IsNull | IsNotNull => Vec::new(),
        Like => vec![Some(Datum::String(
            ["a%", "%b", "_", "\\_", "%", "b\\%"][random.below(6)].to_owned(),
        ))],
        _ => many[..1].to_vec(),
    };
    let literals = if op == StartsWith && literals[0].is_none() {
        vec![Some(Datum::String("a".into()))]
    } else {
        literals
    };
    Predicate::Leaf(LeafPredicate {
        field_id: field.id,
        name: field.name.clone(),
        data_type: field.data_type.clone(),
        op,
        literals,
    })
}

#[test]
fn the_vectorised_filter_is_the_row_by_row_filter() {
    let (fields, batch, pools) = columns();
    let mut random = Random(42);
    for _ in 0..20_000 {
        let predicate = random_predicate(&mut random, &fields, &pools, 3);
        let expected: Vec<usize> = (0..batch.num_rows())
            .filter(|row| {
                let value = |id: i32| pools[fields.iter().position(|f| f.id == id).unwrap()][*row].clone();
                predicate.eval_row(&value) == Some(true)
            })
            .collect();
        let numbered = {
            let mut columns = batch.columns().to_vec();
            columns.push(Arc::new(Int32Array::from_iter_values(0..10)));
            let mut all = fields.clone();
            all.push(field(20, "row", "INT"));
            RecordBatch::try_new(Arc::new(to_arrow_schema(&all)), columns).unwrap()
        };
        let filtered = BatchFilter::new(&predicate, &fields)
            .unwrap()
            .apply(&numbered)
            .unwrap();
        let rows = filtered.column(4).as_primitive::<Int32Type>().values();
        let found: Vec<usize> = rows.iter().map(|v| usize::try_from(*v).unwrap()).collect();
        assert_eq!(found, expected, "{predicate:?}");
    }
}

/// `ROW<…>` fields with ids.
fn row_type(fields: Vec<DataField>) -> DataType {
    DataType::new(TypeKind::Row(fields))
}

#[test]
fn columns_are_mapped_by_id_at_every_depth() {
    let file = vec![
        field(0, "a", "INT"),
        DataField::new(
            1,
            "r",
            row_type(vec![field(2, "old", "INT"), field(3, "gone", "STRING")]),
        ),
        field(5, "p", "INT"),
    ];
    let read = vec![
        field(5, "p", "INT"),
        DataField::new(
            1,
            "renamed",
            row_type(vec![field(4, "added", "INT"), field(2, "new", "INT")]),
        ),
        field(6, "fresh", "STRING"),
        field(0, "b", "INT"),
    ];
    let mapping = SchemaMapping::new(&read, &["p".to_owned()], &file).unwrap();
    assert!(matches!(mapping.sources[0], Source::Partition(0)));
    assert!(matches!(mapping.sources[2], Source::Missing));
    assert!(matches!(mapping.sources[3], Source::File { index: 1, .. }));
    let Source::File { index: 0, from } = &mapping.sources[1] else {
        panic!("{:?}", mapping.sources[1])
    };
    assert_eq!(*from, row_type(vec![field(2, "old", "INT")]));

    let stored: ArrayRef = Arc::new(StructArray::from(vec![(
        Arc::new(to_arrow_schema(&[field(2, "old", "INT")]).field(0).clone()),
        Arc::new(Int32Array::from(vec![Some(1), None])) as ArrayRef,
    )]));
    let target = &read[1].data_type;
    let adapted = adapt(&stored, from, target, &arrow_type(target)).unwrap();
    let rows = adapted.as_struct();
    assert_eq!(rows.column_names(), ["added", "new"]);
    assert_eq!(rows.column(0).null_count(), 2);
    assert_eq!(
        rows.column(1)
            .as_primitive::<Int32Type>()
            .iter()
            .collect::<Vec<_>>(),
        [Some(1), None]
    );
}

#[test]
fn a_type_that_became_narrower_is_refused_by_name() {
    let error = SchemaMapping::new(&[field(0, "a", "INT")], &[], &[field(0, "a", "BIGINT")]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("column: a"), "{error}");
    let nested = |leaf: &str| DataField::new(0, "r", row_type(vec![field(1, "leaf", leaf)]));
    let error = SchemaMapping::new(&[nested("INT")], &[], &[nested("BIGINT")]).unwrap_err();
    assert!(error.to_string().contains("field: leaf"), "{error}");
}
