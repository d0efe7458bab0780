// SPDX-License-Identifier: Apache-2.0

use std::sync::Arc;

use arrow_array::{
    BooleanArray, Date32Array, Decimal128Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array,
    StringArray, TimestampMicrosecondArray,
};
use proptest::prelude::*;

use super::*;

fn source(columns: Vec<(&str, ArrayRef)>, nullable: bool) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, nullable))).unwrap()
}

fn sort(sources: &[RecordBatch], keys: &[usize], sequence: &[usize], descending: bool) -> OrderedRows {
    let order = RowOrder::new(&sources[0].schema(), keys, sequence, descending).unwrap();
    let sorted = order.sort(sources).unwrap();
    // what is in order has the same keys
    let arrays: Vec<_> = (0..sources[0].num_columns())
        .map(|column| {
            let of: Vec<&dyn arrow_array::Array> =
                sources.iter().map(|s| s.column(column).as_ref()).collect();
            let places: Vec<(usize, usize)> = sorted
                .places
                .iter()
                .map(|p| (p.0 as usize, p.1 as usize))
                .collect();
            arrow_select::interleave::interleave(&of, &places).unwrap()
        })
        .collect();
    let whole = RecordBatch::try_new(sources[0].schema(), arrays).unwrap();
    assert_eq!(order.ends(&whole).unwrap(), sorted.ends);
    sorted
}

/// The order that comparing values one by one gives; `cut` is the length of the first batch.
fn plain<K: Ord>(keys: &[K], cut: usize, compare: impl Fn(usize, usize) -> Ordering) -> OrderedRows {
    let mut rows: Vec<usize> = (0..keys.len()).collect();
    rows.sort_by(|a, b| {
        keys[*a]
            .cmp(&keys[*b])
            .then_with(|| compare(*a, *b))
            .then(a.cmp(b))
    });
    let mut ends: Vec<usize> = (1..rows.len())
        .filter(|at| keys[rows[at - 1]] != keys[rows[*at]])
        .collect();
    if !rows.is_empty() {
        ends.push(rows.len());
    }
    let place = |row: usize| {
        if row < cut {
            (0, row as u32)
        } else {
            (1, (row - cut) as u32)
        }
    };
    OrderedRows {
        places: rows.into_iter().map(place).collect(),
        ends,
    }
}

#[test]
fn nothing_to_sort() {
    let batch = source(vec![("i", Arc::new(Int32Array::from(Vec::<i32>::new())))], false);
    for nullable in [&[batch.clone()][..], &[batch.clone(), batch][..]] {
        assert_eq!(sort(nullable, &[0], &[], false), OrderedRows::default());
        assert_eq!(sort(nullable, &[0], &[0], true), OrderedRows::default());
    }
}

#[test]
fn an_empty_text_before_another_column() {
    // the first bytes of the row form of '' and of 'a' differ: what follows must not be compared in their place
    for nullable in [true, false] {
        let batch = source(
            vec![
                (
                    "s",
                    Arc::new(StringArray::from(vec!["a", "", "", "a"])) as ArrayRef,
                ),
                ("i", Arc::new(Int32Array::from(vec![i32::MIN, i32::MAX, 0, -1]))),
            ],
            nullable,
        );
        let sorted = sort(&[batch], &[0, 1], &[], false);
        assert_eq!(sorted.places, [(0, 2), (0, 1), (0, 0), (0, 3)]);
        assert_eq!(sorted.ends, [1, 2, 3, 4]);
    }
}

#[test]
fn numbers_that_are_none_are_the_newest_and_equal() {
    let values = vec![f64::NAN, 1.0, -f64::NAN, f64::NEG_INFINITY, 0.0, -0.0];
    let batch = source(
        vec![
            ("k", Arc::new(Int32Array::from(vec![1; 6])) as ArrayRef),
            ("s", Arc::new(Float64Array::from(values))),
        ],
        false,
    );
    let rows = |descending| {
        let sorted = sort(std::slice::from_ref(&batch), &[0], &[1], descending);
        sorted.places.iter().map(|p| p.1).collect::<Vec<_>>()
    };
    assert_eq!(rows(false), [3, 5, 4, 1, 0, 2]);
    assert_eq!(rows(true), [0, 2, 1, 4, 5, 3]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Numbers sort as the values do, over several batches, whatever the form of the key.
    #[test]
    fn numbers_are_in_the_order_of_values(
        values in prop::collection::vec(prop_oneof![-3i64..4, any::<i64>()], 0..60),
        cut in 0usize..60,
        nullable in any::<bool>(),
    ) {
        let cut = cut.min(values.len());
        let of = |part: &[i64]| {
            let list: Vec<i64> = part.to_vec();
            source(vec![
                ("l", Arc::new(Int64Array::from(list.clone())) as ArrayRef),
                ("i", Arc::new(Int32Array::from_iter_values(list.iter().map(|v| *v as i32)))),
                ("h", Arc::new(Int16Array::from_iter_values(list.iter().map(|v| *v as i16)))),
                ("b", Arc::new(Int8Array::from_iter_values(list.iter().map(|v| *v as i8)))),
                ("d", Arc::new(Date32Array::from_iter_values(list.iter().map(|v| *v as i32)))),
                ("t", Arc::new(TimestampMicrosecondArray::from(list.clone()))),
                ("n", Arc::new(Decimal128Array::from_iter_values(list.iter().map(|v| i128::from(*v % 1_000_000)))
                    .with_precision_and_scale(18, 2).unwrap())),
            ], nullable)
        };
        let sources = [of(&values[..cut]), of(&values[cut..])];
        let casts: [fn(i64) -> i64; 7] = [
            |v| v, |v| i64::from(v as i32), |v| i64::from(v as i16), |v| i64::from(v as i8),
            |v| i64::from(v as i32), |v| v, |v| v % 1_000_000,
        ];
        for (place, cast) in casts.into_iter().enumerate() {
            let keys: Vec<i64> = values.iter().map(|v| cast(*v)).collect();
            let expected = plain(&keys, cut, |_, _| Ordering::Equal);
            prop_assert_eq!(&sort(&sources, &[place], &[], false), &expected);
        }
        let keys: Vec<_> = values.iter().map(|v| (*v as i32, *v as i8, *v, *v as i16)).collect();
        let expected = plain(&keys, cut, |_, _| Ordering::Equal);
        prop_assert_eq!(&sort(&sources, &[1, 3, 0, 2], &[], false), &expected);
    }

    /// Keys of several columns, sequence columns in both directions, NULL first.
    #[test]
    fn sequence_columns_order_the_versions_of_a_key(
        rows in prop::collection::vec((prop::option::of(-2i32..2), "[ab]{0,9}", prop::option::of(-3i64..3), any::<bool>()), 0..80),
        descending in any::<bool>(),
        cut in 0usize..80,
    ) {
        let cut = cut.min(rows.len());
        let batch = source(vec![
            ("s", Arc::new(Int64Array::from_iter(rows.iter().map(|r| r.2))) as ArrayRef),
            ("k", Arc::new(StringArray::from_iter_values(rows.iter().map(|r| &r.1)))),
            ("i", Arc::new(Int32Array::from_iter(rows.iter().map(|r| r.0)))),
            ("b", Arc::new(BooleanArray::from_iter(rows.iter().map(|r| Some(r.3))))),
        ], true);
        let sources = [batch.slice(0, cut), batch.slice(cut, rows.len() - cut)];
        let keys: Vec<(&str, Option<i32>)> = rows.iter().map(|r| (r.1.as_str(), r.0)).collect();
        let directed = |a: Option<i64>, b: Option<i64>| match (a, b) {
            (Some(a), Some(b)) if descending => b.cmp(&a),
            (a, b) => a.cmp(&b),
        };
        let one = plain(&keys, cut, |a, b| directed(rows[a].2, rows[b].2));
        prop_assert_eq!(&sort(&sources, &[1, 2], &[0], descending), &one);
        let two = plain(&keys, cut, |a, b| {
            let flags = directed(Some(i64::from(rows[a].3)), Some(i64::from(rows[b].3)));
            flags.then_with(|| directed(rows[a].2, rows[b].2))
        });
        prop_assert_eq!(&sort(&sources, &[1, 2], &[3, 0], descending), &two);
    }
}
