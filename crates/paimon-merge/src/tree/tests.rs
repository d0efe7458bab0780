// SPDX-License-Identifier: Apache-2.0

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{
    ArrayRef, Decimal128Array, Float64Array, Int8Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use paimon_types::ErrorKind;
use proptest::prelude::*;

use super::*;
use crate::{Merged, Versions};

/// One version: key, user sequence, sequence number, kind, value.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    key: i64,
    user: Option<i32>,
    number: i64,
    kind: i8,
    value: i64,
}

/// Ways to write a key that keep the order of small numbers.
#[derive(Clone, Copy, Debug)]
enum KeyShape {
    Int,
    BigInt,
    Double,
    Decimal,
    IntAndTiny,
    ThreeInts,
    Text,
    LongText,
    TextAndInt,
    ThreeLongs,
}

const SHAPES: [KeyShape; 10] = [
    KeyShape::Int,
    KeyShape::BigInt,
    KeyShape::Double,
    KeyShape::Decimal,
    KeyShape::IntAndTiny,
    KeyShape::ThreeInts,
    KeyShape::Text,
    KeyShape::LongText,
    KeyShape::TextAndInt,
    KeyShape::ThreeLongs,
];

fn ints(values: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(
        values.map(|v| i32::try_from(v).unwrap()),
    ))
}

fn key_columns(shape: KeyShape, keys: &[i64]) -> Vec<ArrayRef> {
    let of = keys.iter().copied();
    match shape {
        KeyShape::Int => vec![ints(of)],
        KeyShape::BigInt => vec![Arc::new(Int64Array::from_iter_values(of.map(|k| k << 40)))],
        KeyShape::Double => vec![Arc::new(Float64Array::from_iter_values(
            of.map(|k| k as f64 / 3.0),
        ))],
        KeyShape::Decimal => {
            let values = Decimal128Array::from_iter_values(of.map(|k| i128::from(k) << 70));
            vec![Arc::new(values.with_precision_and_scale(38, 2).unwrap())]
        }
        KeyShape::IntAndTiny => {
            let small = of.clone().map(|k| i8::try_from(k.rem_euclid(8)).unwrap());
            vec![
                ints(of.map(|k| k.div_euclid(8))),
                Arc::new(Int8Array::from_iter_values(small)),
            ]
        }
        KeyShape::ThreeInts => vec![
            ints(of.clone().map(|k| k.div_euclid(64))),
            ints(of.clone().map(|k| k.div_euclid(8).rem_euclid(8))),
            ints(of.map(|k| k.rem_euclid(8))),
        ],
        KeyShape::Text => vec![Arc::new(StringArray::from_iter_values(
            of.map(|k| format!("{:05}", k + 5000)),
        ))],
        KeyShape::LongText => {
            let text = |k: i64| format!("a prefix that all keys have {:05} and an end", k + 5000);
            vec![Arc::new(StringArray::from_iter_values(of.map(text)))]
        }
        KeyShape::TextAndInt => {
            let text = |k: i64| format!("group {:04}", k.div_euclid(8) + 1000);
            let texts = StringArray::from_iter_values(of.clone().map(text));
            vec![Arc::new(texts), ints(of.map(|k| k.rem_euclid(8)))]
        }
        KeyShape::ThreeLongs => vec![
            Arc::new(Int64Array::from_iter_values(of.clone().map(|k| k.div_euclid(64)))),
            Arc::new(Int64Array::from_iter_values(
                of.clone().map(|k| k.div_euclid(8).rem_euclid(8)),
            )),
            Arc::new(Int64Array::from_iter_values(of.map(|k| k.rem_euclid(8)))),
        ],
    }
}

/// Columns: value, key as a number, user sequence, then the key in its shape. The first two come out.
fn batch(shape: KeyShape, rows: &[Row]) -> RunBatch {
    let keys: Vec<i64> = rows.iter().map(|r| r.key).collect();
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.value))),
        Arc::new(Int64Array::from_iter_values(keys.iter().copied())),
        Arc::new(rows.iter().map(|r| r.user).collect::<Int32Array>()),
    ];
    columns.extend(key_columns(shape, &keys));
    RunBatch {
        rows: RecordBatch::try_new(schema(shape), columns).unwrap(),
        sequence: rows.iter().map(|r| r.number).collect(),
        kinds: rows.iter().map(|r| r.kind).collect(),
        levels: None,
    }
}

fn schema(shape: KeyShape) -> SchemaRef {
    let mut fields = vec![
        Field::new("value", DataType::Int64, false),
        Field::new("number", DataType::Int64, false),
        Field::new("user", DataType::Int32, true),
    ];
    for (at, column) in key_columns(shape, &[]).iter().enumerate() {
        fields.push(Field::new(format!("key{at}"), column.data_type().clone(), false));
    }
    Arc::new(Schema::new(fields))
}

fn spec(shape: KeyShape, mode: MergeMode) -> MergeSpec {
    let schema = schema(shape);
    MergeSpec {
        keys: (3..schema.fields().len()).collect(),
        schema,
        sequence: Vec::new(),
        descending: false,
        output_columns: 2,
        mode,
        keep_retracts: false,
        batch_size: 100,
        one_above_level_0: false,
        repeated_keys: false,
    }
}

/// (value, key, kind, sequence number) of every row that comes out, and the sizes of the batches.
type Out = (Vec<(i64, i64, Option<i8>, Option<i64>)>, Vec<usize>);

/// Runs a merge in which run `i` comes in batches of `sizes[i]` rows.
fn merge(spec: MergeSpec, shape: KeyShape, runs: &[Vec<Row>], sizes: &[usize]) -> Result<Out> {
    let mut tree = MergeTree::new(spec, runs.len())?;
    let mut given = vec![0; runs.len()];
    let (mut rows, mut batches) = (Vec::new(), Vec::new());
    loop {
        match tree.next()? {
            Step::Need(run) => {
                let rest = &runs[run][given[run]..];
                if rest.is_empty() {
                    tree.end(run)?;
                } else {
                    let now = rest.len().min(sizes[run % sizes.len()]);
                    tree.push(run, batch(shape, &rest[..now]))?;
                    given[run] += now;
                }
            }
            Step::Batch(batch) => {
                let batch = batch.gather().unwrap();
                assert!(batch.rows.num_rows() > 0);
                batches.push(batch.rows.num_rows());
                let values = batch.rows.column(0).as_primitive::<Int64Type>();
                let keys = batch.rows.column(1).as_primitive::<Int64Type>();
                for row in 0..batch.rows.num_rows() {
                    let kind = batch.kinds.as_ref().map(|k| k[row]);
                    let number = batch.sequence.as_ref().map(|n| n[row]);
                    rows.push((values.value(row), keys.value(row), kind, number));
                }
            }
            Step::End => return Ok((rows, batches)),
        }
    }
}

/// All versions in merge order, key by key.
fn sorted(runs: &[Vec<Row>], by_user: bool, descending: bool) -> Vec<Vec<Row>> {
    let mut all: Vec<Row> = runs.iter().flatten().cloned().collect();
    let user = |row: &Row| match (by_user, row.user) {
        (false, _) => None,
        (true, user) => user.map(|u| if descending { -i64::from(u) } else { i64::from(u) }),
    };
    all.sort_by_key(|row| (row.key, user(row), row.number, row.kind & 1 == 0));
    all.chunk_by(|a, b| a.key == b.key).map(<[Row]>::to_vec).collect()
}

/// Sums the values of all versions that are not retractions.
#[derive(Debug)]
struct Sum;

impl MergeFunction for Sum {
    fn merge(&self, versions: &Versions<'_>) -> Result<Merged> {
        let (mut sums, mut keys, mut kinds, mut origins) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut from = 0;
        for end in versions.ends {
            let mut sum = 0;
            for at in from..*end {
                let (source, row) = versions.rows[at];
                assert_eq!(versions.sources[source].num_columns(), 2);
                let value = versions.sources[source]
                    .column(0)
                    .as_primitive::<Int64Type>()
                    .value(row);
                sum = sum * 3 + value;
            }
            let (source, row) = versions.rows[end - 1];
            keys.push(
                versions.sources[source]
                    .column(1)
                    .as_primitive::<Int64Type>()
                    .value(row),
            );
            sums.push(sum);
            kinds.push(versions.kinds[end - 1]);
            origins.push(end - 1);
            from = *end;
        }
        Ok(Merged {
            columns: vec![
                Arc::new(Int64Array::from(sums)) as ArrayRef,
                Arc::new(Int64Array::from(keys)) as ArrayRef,
            ],
            origins,
            kinds,
        })
    }
}

fn left(mode: &MergeMode, versions: &[Row]) -> Option<Row> {
    if let [one] = versions {
        return Some(one.clone());
    }
    let additions = || versions.iter().filter(|r| r.kind & 1 == 0);
    match mode {
        MergeMode::Deduplicate { ignore_delete: false } => versions.last().cloned(),
        MergeMode::Deduplicate { ignore_delete: true } => additions().next_back().cloned(),
        MergeMode::FirstRow { .. } => additions().next().cloned(),
        MergeMode::Function(_) => versions.last().map(|last| Row {
            value: versions.iter().fold(0, |sum, r| sum * 3 + r.value),
            ..last.clone()
        }),
        MergeMode::All => unreachable!(),
    }
}

/// Runs of unique ascending keys: dense or far apart, so that blocks and stretches both come up.
fn runs() -> impl Strategy<Value = Vec<Vec<Row>>> {
    let row = (0..3i8, prop::option::of(0..3i32), 0..4i64, 0..1000i64);
    let one = (
        0..4000i64,
        1..40i64,
        prop::collection::vec((1..6i64, row), 0..300),
    );
    prop::collection::vec(one, 1..7).prop_map(|runs| {
        let mut out = Vec::new();
        for (start, step, rows) in runs {
            let mut key = start - 2000;
            let mut run = Vec::new();
            for (gap, (kind, user, number, value)) in rows {
                key += if gap < 5 { 1 } else { step };
                // Kinds +I, -U, -D.
                let kind = [0, 1, 3][usize::try_from(kind).unwrap()];
                run.push(Row {
                    key,
                    user,
                    number,
                    kind,
                    value,
                });
            }
            out.push(run);
        }
        out
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn a_merge_equals_sorting_everything(
        runs in runs(),
        sizes in prop::collection::vec(1..200usize, 1..4),
        shape in 0..SHAPES.len(),
        mode in 0..4usize,
        by_user in any::<bool>(),
        descending in any::<bool>(),
        keep in any::<bool>(),
        batch_size in 1..150usize,
    ) {
        let shape = SHAPES[shape];
        let mode = [
            MergeMode::Deduplicate { ignore_delete: false },
            MergeMode::Deduplicate { ignore_delete: true },
            MergeMode::FirstRow { ignore_delete: true },
            MergeMode::Function(Arc::new(Sum)),
        ][mode].clone();
        let spec = MergeSpec {
            sequence: if by_user { vec![2] } else { Vec::new() },
            descending,
            keep_retracts: keep,
            batch_size,
            ..spec(shape, mode.clone())
        };
        let (found, batches) = merge(spec, shape, &runs, &sizes).unwrap();
        let expected: Vec<Row> = sorted(&runs, by_user, descending)
            .iter()
            .filter_map(|versions| left(&mode, versions))
            .filter(|row| keep || row.kind & 1 == 0)
            .collect();
        // Versions that nothing tells apart may come either way: only keys are compared then.
        let tied = |key: i64| {
            let all: Vec<&Row> = runs.iter().flatten().filter(|r| r.key == key).collect();
            all.iter().enumerate().any(|(i, a)| all.iter().skip(i + 1).any(|b| {
                a.number == b.number && (a.kind & 1) == (b.kind & 1) && (!by_user || a.user == b.user)
            }))
        };
        prop_assert_eq!(found.len(), expected.len());
        for (found, row) in found.iter().zip(&expected) {
            prop_assert_eq!(found.1, row.key);
            if !tied(row.key) {
                prop_assert_eq!(found.0, row.value);
                prop_assert_eq!(found.2, keep.then_some(row.kind));
            }
        }
        if let Some((_, full)) = batches.split_last() {
            prop_assert!(full.iter().all(|rows| *rows == batch_size));
        }
    }

    #[test]
    fn rounds_give_what_one_merge_gives(
        runs in runs(),
        sizes in prop::collection::vec(1..200usize, 1..4),
        shape in 0..SHAPES.len(),
        by_user in any::<bool>(),
    ) {
        let shape = SHAPES[shape];
        let sequence = if by_user { vec![2] } else { Vec::new() };
        let all = MergeSpec {
            sequence,
            output_columns: 2,
            ..spec(shape, MergeMode::All)
        };
        let (found, _) = merge(all, shape, &runs, &sizes).unwrap();
        let expected: Vec<Row> = sorted(&runs, by_user, false).into_iter().flatten().collect();
        prop_assert_eq!(found.len(), expected.len());
        for (found, row) in found.iter().zip(&expected) {
            prop_assert_eq!(found.1, row.key);
            prop_assert_eq!(found.3.is_some(), true);
        }
    }
}

fn row(key: i64, number: i64, kind: i8, value: i64) -> Row {
    Row {
        key,
        user: None,
        number,
        kind,
        value,
    }
}

fn values(out: Out) -> Vec<i64> {
    out.0.into_iter().map(|r| r.0).collect()
}

#[test]
fn one_version_passes_unchanged_and_many_are_merged() {
    let deduplicate = |ignore_delete, keep_retracts| MergeSpec {
        keep_retracts,
        ..spec(KeyShape::Int, MergeMode::Deduplicate { ignore_delete })
    };
    let runs = [
        vec![
            row(1, 0, 0, 10),
            row(2, 1, 0, 20),
            row(3, 2, 3, 30),
            row(4, 3, 3, 40),
        ],
        vec![row(2, 4, 3, 21), row(4, 5, 3, 41)],
    ];
    assert_eq!(
        values(merge(deduplicate(false, false), KeyShape::Int, &runs, &[3]).unwrap()),
        [10]
    );
    assert_eq!(
        values(merge(deduplicate(false, true), KeyShape::Int, &runs, &[3]).unwrap()),
        [10, 21, 30, 41]
    );
    // A key with nothing but retractions has no result once there are two of them.
    assert_eq!(
        values(merge(deduplicate(true, false), KeyShape::Int, &runs, &[3]).unwrap()),
        [10, 20]
    );
    assert_eq!(
        values(merge(deduplicate(true, true), KeyShape::Int, &runs, &[3]).unwrap()),
        [10, 20, 30]
    );
    let first = spec(KeyShape::Int, MergeMode::FirstRow { ignore_delete: false });
    let err = merge(first, KeyShape::Int, &runs, &[3]).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidInput);
    assert!(err.message().contains("first-row"), "{err}");
}

#[test]
fn a_retraction_comes_before_an_addition_of_the_same_number() {
    let runs = [
        vec![row(1, 7, 0, 10)],
        vec![row(1, 7, 3, 11)],
        vec![row(1, 7, 1, 12)],
    ];
    let spec = spec(KeyShape::Text, MergeMode::Deduplicate { ignore_delete: false });
    assert_eq!(values(merge(spec, KeyShape::Text, &runs, &[3]).unwrap()), [10]);
}

#[test]
fn keys_that_do_not_ascend_are_found() {
    for shape in SHAPES {
        let deduplicate = || spec(shape, MergeMode::Deduplicate { ignore_delete: false });
        for bad in [
            vec![row(1, 0, 0, 0), row(3, 0, 0, 0), row(2, 0, 0, 0)],
            vec![row(1, 0, 0, 0), row(1, 1, 0, 0)],
        ] {
            for size in [1, 10] {
                let runs = [bad.clone(), vec![row(2, 0, 0, 5)]];
                let err = merge(deduplicate(), shape, &runs, &[size]).unwrap_err();
                assert_eq!(err.kind(), ErrorKind::Corrupt, "{shape:?} {size}");
            }
        }
    }
    let kind = [vec![row(1, 0, 4, 0)]];
    let deduplicate = spec(KeyShape::Int, MergeMode::Deduplicate { ignore_delete: false });
    assert_eq!(
        merge(deduplicate, KeyShape::Int, &kind, &[1]).unwrap_err().kind(),
        ErrorKind::Corrupt
    );
}

#[test]
fn one_version_above_level_0_counts_where_keys_are_looked_up() {
    // Level 4 holds what was merged with level 5 already.
    let runs = [
        (vec![row(1, 0, 0, 1), row(2, 1, 0, 2), row(3, 1, 0, 9)], 5),
        (vec![row(1, 5, 0, 4), row(2, 6, 0, 5)], 4),
        (vec![row(1, 9, 0, 7)], 0),
    ];
    let merged = |mode: MergeMode, one_above_level_0: bool| {
        let spec = MergeSpec {
            one_above_level_0,
            ..spec(KeyShape::Int, mode)
        };
        let mut tree = MergeTree::new(spec, runs.len()).unwrap();
        for (index, (rows, level)) in runs.iter().enumerate() {
            let levels = Some(vec![*level; rows.len()].into());
            let batch = batch(KeyShape::Int, rows);
            tree.push(index, RunBatch { levels, ..batch }).unwrap();
        }
        let mut values = Vec::new();
        loop {
            match tree.next().unwrap() {
                Step::Need(run) => tree.end(run).unwrap(),
                Step::Batch(batch) => {
                    let batch = batch.gather().unwrap();
                    values.extend_from_slice(batch.rows.column(0).as_primitive::<Int64Type>().values());
                }
                Step::End => return values,
            }
        }
    };
    let sum = MergeMode::Function(Arc::new(Sum));
    assert_eq!(merged(sum.clone(), false), [9 + 4 * 3 + 7, 2 * 3 + 5, 9]);
    assert_eq!(merged(sum, true), [4 * 3 + 7, 5, 9]);
    let deduplicate = MergeMode::Deduplicate { ignore_delete: false };
    assert_eq!(merged(deduplicate, true), [7, 5, 9]);
}

#[test]
fn special_floats_have_their_order() {
    let keys = [f64::NEG_INFINITY, -1.0, -0.0, 0.0, 1.0, f64::INFINITY, f64::NAN];
    let column: ArrayRef = Arc::new(Float64Array::from(keys.to_vec()));
    let ordered = keys::ordered(&column).unwrap();
    assert!(ordered.is_sorted_by(|a, b| a < b), "{ordered:?}");
    let negative_nan: ArrayRef = Arc::new(Float64Array::from(vec![-f64::NAN]));
    assert_eq!(keys::ordered(&negative_nan).unwrap()[0], ordered[6]);
}

#[test]
fn a_long_stretch_is_one_slice() {
    let long: Vec<Row> = (0..100).map(|k| row(k, 0, 0, k)).collect();
    let other: Vec<Row> = (100..200).map(|k| row(k, 0, 0, k)).collect();
    let spec = spec(KeyShape::Int, MergeMode::Deduplicate { ignore_delete: false });
    let mut tree = MergeTree::new(spec, 2).unwrap();
    let input = batch(KeyShape::Int, &long);
    let start = input.rows.column(0).as_primitive::<Int64Type>().values().as_ptr();
    assert!(matches!(tree.next().unwrap(), Step::Need(0)));
    tree.push(0, input).unwrap();
    assert!(matches!(tree.next().unwrap(), Step::Need(1)));
    tree.push(1, batch(KeyShape::Int, &other)).unwrap();
    let Step::Batch(out) = tree.next().unwrap() else {
        panic!("expected a batch")
    };
    let out = out.gather().unwrap();
    assert_eq!(out.rows.num_rows(), 100);
    assert_eq!(
        out.rows.column(0).as_primitive::<Int64Type>().values().as_ptr(),
        start
    );
}

#[test]
fn few_rows_of_many_batches_do_not_hold_them() {
    // One row in a hundred is left, in batches of ten: most batches leave nothing.
    let run = |number: i64| -> Vec<Row> {
        let kind = |k: i64| if k % 100 == 0 { 0 } else { 3 };
        (0..20_000).map(|k| row(k, number, kind(k), k)).collect()
    };
    let runs = [run(0), run(1), run(2)];
    let spec = MergeSpec {
        batch_size: 150,
        ..spec(KeyShape::Int, MergeMode::Deduplicate { ignore_delete: false })
    };
    let out = values(merge(spec, KeyShape::Int, &runs, &[10]).unwrap());
    assert_eq!(out, (0..200).map(|k| k * 100).collect::<Vec<_>>());
}

#[test]
fn users_of_the_tree_who_answer_wrongly_get_errors() {
    let spec = || spec(KeyShape::Int, MergeMode::Deduplicate { ignore_delete: false });
    let mut tree = MergeTree::new(spec(), 1).unwrap();
    assert!(tree.push(5, batch(KeyShape::Int, &[])).is_err());
    tree.push(0, batch(KeyShape::Int, &[row(1, 0, 0, 0)])).unwrap();
    assert!(tree.push(0, batch(KeyShape::Int, &[row(2, 0, 0, 0)])).is_err());
    assert!(tree.end(0).is_err());
    assert!(
        MergeTree::new(
            MergeSpec {
                keys: vec![99],
                ..spec()
            },
            1
        )
        .is_err()
    );
    assert!(
        MergeTree::new(
            MergeSpec {
                keys: vec![],
                ..spec()
            },
            1
        )
        .is_err()
    );
    assert!(
        MergeTree::new(
            MergeSpec {
                batch_size: 0,
                ..spec()
            },
            1
        )
        .is_err()
    );
}

/// Makes a column of keys.
type Column<'a> = &'a dyn Fn(&[Option<i64>]) -> ArrayRef;

#[test]
fn null_is_the_smallest_key_where_it_is_allowed() {
    // One column that fits a number with the mark of NULL, one that does not, and text.
    let ints = |keys: &[Option<i64>]| Arc::new(Int64Array::from(keys.to_vec())) as ArrayRef;
    let decimals = |keys: &[Option<i64>]| {
        let values: Decimal128Array = keys.iter().map(|k| k.map(|k| i128::from(k) << 64)).collect();
        Arc::new(values.with_precision_and_scale(38, 0).unwrap()) as ArrayRef
    };
    let texts = |keys: &[Option<i64>]| {
        let values: StringArray = keys
            .iter()
            .map(|k| k.map(|k| format!("{:03}", k + 500)))
            .collect();
        Arc::new(values) as ArrayRef
    };
    let shapes: [Column<'_>; 3] = [&ints, &decimals, &texts];
    for column in shapes {
        for nullable in [true, false] {
            let key = column(&[]).data_type().clone();
            let fields = vec![
                Field::new("value", DataType::Int64, false),
                Field::new("key", key, nullable),
            ];
            let schema: SchemaRef = Arc::new(Schema::new(fields));
            let spec = MergeSpec {
                schema: schema.clone(),
                keys: vec![1],
                output_columns: 1,
                ..spec(KeyShape::Int, MergeMode::Deduplicate { ignore_delete: false })
            };
            let run = |keys: &[Option<i64>], number: i64| RunBatch {
                rows: RecordBatch::try_new(
                    // What the schema says does not bind a damaged file.
                    Arc::new(Schema::new(vec![
                        Field::new("value", DataType::Int64, false),
                        Field::new("key", column(&[]).data_type().clone(), true),
                    ])),
                    vec![
                        Arc::new(Int64Array::from_iter_values(
                            keys.iter().map(|k| k.unwrap_or(99) + number),
                        )),
                        column(keys),
                    ],
                )
                .unwrap(),
                sequence: vec![number; keys.len()].into(),
                kinds: vec![0; keys.len()].into(),
                levels: None,
            };
            let mut tree = MergeTree::new(spec, 2).unwrap();
            let first = tree.push(0, run(&[None, Some(-5), Some(7)], 1000));
            if !nullable {
                assert_eq!(first.unwrap_err().kind(), ErrorKind::Corrupt);
                continue;
            }
            first.unwrap();
            tree.push(1, run(&[None, Some(-6), Some(7)], 2000)).unwrap();
            let mut values = Vec::new();
            loop {
                match tree.next().unwrap() {
                    Step::Need(run) => tree.end(run).unwrap(),
                    Step::Batch(batch) => {
                        let batch = batch.gather().unwrap();
                        values.extend_from_slice(batch.rows.column(0).as_primitive::<Int64Type>().values());
                    }
                    Step::End => break,
                }
            }
            assert_eq!(values, [2099, 1994, 995, 2007]);
        }
    }
}

#[test]
fn packed_rows_compare_by_key_then_list() {
    use super::block::Packing;
    assert!(Packing::of(u64::MAX, 1, 1).is_none());
    for (distance, lists, rows) in [(0, 1, 1), (7, 2, 64), (1 << 40, 64, 8192), ((1 << 62) - 1, 1, 1)] {
        let packing = Packing::of(distance, lists, rows).unwrap();
        let mut all = Vec::new();
        for at in [0, distance / 2, distance] {
            for list in [0, lists - 1] {
                for row in [0, rows - 1] {
                    all.push((at, list, row));
                }
            }
        }
        all.sort_unstable();
        let packed: Vec<u64> = all
            .iter()
            .map(|(at, list, row)| packing.pack(*at, *list, *row))
            .collect();
        assert!(packed.is_sorted());
        assert!(packed.iter().map(|packed| packing.unpack(*packed)).eq(all));
    }
    assert!(Packing::of(1 << 62, 1, 1).is_none());
}
