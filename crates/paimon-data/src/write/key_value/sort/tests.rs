// SPDX-License-Identifier: Apache-2.0

use arrow_array::{
    BooleanArray, Date32Array, Decimal128Array, Int8Array, Int16Array, Int32Array, Int64Array, StringArray,
    TimestampMicrosecondArray,
};
use proptest::prelude::*;

use super::*;

fn source(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true))).unwrap()
}

fn sorter(keys: &[usize], sequence: &[usize], descending: bool) -> Sorter {
    Sorter {
        keys: keys.to_vec(),
        sequence: sequence.to_vec(),
        descending,
    }
}

/// The order that comparing values one by one gives.
fn plain<K: Ord>(keys: &[K], compare: impl Fn(usize, usize) -> Ordering) -> Sorted {
    let mut rows: Vec<u32> = (0..keys.len() as u32).collect();
    rows.sort_by(|a, b| {
        let (x, y) = (*a as usize, *b as usize);
        keys[x].cmp(&keys[y]).then_with(|| compare(x, y)).then(a.cmp(b))
    });
    let mut ends: Vec<u32> = (1..rows.len())
        .filter(|at| keys[rows[at - 1] as usize] != keys[rows[*at] as usize])
        .map(|at| at as u32)
        .collect();
    if !rows.is_empty() {
        ends.push(rows.len() as u32);
    }
    Sorted { rows, ends }
}

#[test]
fn nothing_to_sort() {
    assert_eq!(sorter(&[0], &[], false).sort(&[]).unwrap(), Sorted::default());
    assert_eq!(sorter(&[0, 1], &[1], true).sort(&[]).unwrap(), Sorted::default());
}

#[test]
fn an_empty_text_before_another_column() {
    // the first bytes of the row form of '' and of 'a' differ: what follows must not be compared in their place
    let batch = source(vec![
        ("s", Arc::new(StringArray::from(vec!["a", "", "", "a"]))),
        ("i", Arc::new(Int32Array::from(vec![i32::MIN, i32::MAX, 0, -1]))),
    ]);
    let sorted = sorter(&[0, 1], &[], false).sort(&[batch]).unwrap();
    assert_eq!((sorted.rows, sorted.ends), (vec![2, 1, 0, 3], vec![1, 2, 3, 4]));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Numbers sort as their row form and as the values do, over several batches.
    #[test]
    fn numbers_are_in_the_order_of_values(
        values in prop::collection::vec(prop_oneof![-3i64..4, any::<i64>()], 0..60),
        cut in 0usize..60,
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
            ])
        };
        let sources = [of(&values[..cut]), of(&values[cut..])];
        let casts: [fn(i64) -> i64; 7] = [
            |v| v, |v| i64::from(v as i32), |v| i64::from(v as i16), |v| i64::from(v as i8),
            |v| i64::from(v as i32), |v| v, |v| v % 1_000_000,
        ];
        for (place, cast) in casts.into_iter().enumerate() {
            let keys: Vec<i64> = values.iter().map(|v| cast(*v)).collect();
            let expected = plain(&keys, |_, _| Ordering::Equal);
            prop_assert_eq!(&sorter(&[place], &[], false).sort(&sources).unwrap(), &expected);
            let encoded = sort_encoded(&encode(&sources, &[place], false).unwrap(), values.len() as u32);
            prop_assert_eq!(&encoded, &expected);
        }
    }

    /// Keys of several columns, sequence columns in both directions, NULL first.
    #[test]
    fn sequence_columns_order_the_versions_of_a_key(
        rows in prop::collection::vec((prop::option::of(-2i32..2), "[ab]{0,9}", prop::option::of(-3i64..3), any::<bool>()), 0..80),
        descending in any::<bool>(),
    ) {
        let batch = source(vec![
            ("s", Arc::new(Int64Array::from_iter(rows.iter().map(|r| r.2))) as ArrayRef),
            ("k", Arc::new(StringArray::from_iter_values(rows.iter().map(|r| &r.1)))),
            ("i", Arc::new(Int32Array::from_iter(rows.iter().map(|r| r.0)))),
            ("b", Arc::new(BooleanArray::from_iter(rows.iter().map(|r| Some(r.3))))),
        ]);
        let keys: Vec<(&str, Option<i32>)> = rows.iter().map(|r| (r.1.as_str(), r.0)).collect();
        let directed = |a: Option<i64>, b: Option<i64>| match (a, b) {
            (Some(a), Some(b)) if descending => b.cmp(&a),
            (a, b) => a.cmp(&b),
        };
        let one = plain(&keys, |a, b| directed(rows[a].2, rows[b].2));
        prop_assert_eq!(&sorter(&[1, 2], &[0], descending).sort(std::slice::from_ref(&batch)).unwrap(), &one);
        let two = plain(&keys, |a, b| {
            let flags = directed(Some(i64::from(rows[a].3)), Some(i64::from(rows[b].3)));
            flags.then_with(|| directed(rows[a].2, rows[b].2))
        });
        prop_assert_eq!(&sorter(&[1, 2], &[3, 0], descending).sort(std::slice::from_ref(&batch)).unwrap(), &two);
    }
}
