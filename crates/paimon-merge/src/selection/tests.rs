// SPDX-License-Identifier: Apache-2.0

use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder, StringBuilder, StringDictionaryBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Decimal128Array, Decimal256Array, FixedSizeListArray,
    Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, IntervalMonthDayNanoArray, MapArray,
    StringArray, StructArray, TimestampMicrosecondArray, new_null_array,
};
use arrow_buffer::{IntervalMonthDayNano, NullBuffer, OffsetBuffer, i256};
use arrow_schema::{DataType, Field, Fields};

use super::Selection;

fn random(state: &mut u64, below: usize) -> usize {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % below
}

/// Arrays of `len` rows of every kind that has a loop, and of some that have none; every third value is NULL when `nulls`.
fn arrays(state: &mut u64, len: usize, nulls: bool) -> Vec<ArrayRef> {
    let valid: Vec<bool> = (0..len).map(|_| !nulls || random(state, 3) > 0).collect();
    let numbers: Vec<Option<i32>> = valid
        .iter()
        .map(|v| v.then(|| random(state, 100) as i32))
        .collect();
    let texts: Vec<Option<String>> = numbers
        .iter()
        .map(|n| n.map(|n| "é".repeat(n as usize % 20)))
        .collect();
    let mask = Some(NullBuffer::from(valid.clone()));
    let mut lists = ListBuilder::new(StringBuilder::new());
    let mut words = StringDictionaryBuilder::<Int32Type>::new();
    let mut fixed = Int32Builder::new();
    for text in &texts {
        let items = random(state, 4);
        for _ in 0..items {
            lists.values().append_option(text.as_ref());
        }
        lists.append(text.is_some());
        words.append_option(text.as_ref());
        fixed.append_option((items > 0).then_some(items as i32));
        fixed.append_value(7);
    }
    let integers: ArrayRef = Arc::new(Int32Array::from(numbers.clone()));
    let fields = Fields::from(vec![
        Field::new("n", DataType::Int32, true),
        Field::new("r", DataType::Int32, false),
    ]);
    let required: ArrayRef = Arc::new(Int32Array::from((0..len as i32).collect::<Vec<_>>()));
    let structs = StructArray::new(fields, vec![integers.clone(), required.clone()], mask.clone());
    let entries = Fields::from(vec![
        Field::new("key", DataType::Int32, false),
        Field::new("value", DataType::Int32, true),
    ]);
    let entries = StructArray::new(entries, vec![required, integers.clone()], None);
    let entry = Arc::new(Field::new("entries", entries.data_type().clone(), false));
    let offsets = OffsetBuffer::from_lengths((0..len).map(|row| usize::from(row % 3 > 0)));
    let entries = entries.slice(0, offsets.last().map_or(0, |last| *last as usize));
    let maps = MapArray::new(entry, offsets, entries, mask.clone(), false);
    let item = Arc::new(Field::new("element", DataType::Int32, true));
    let wide = numbers.iter().map(|n| n.map(|n| i64::from(n) << 40));
    let wide: Vec<Option<i64>> = wide.collect();
    let small = numbers.iter().map(|n| n.map(|n| n as i8));
    vec![
        integers,
        Arc::new(small.clone().collect::<Int8Array>()),
        Arc::new(small.map(|n| n.map(i16::from)).collect::<Int16Array>()),
        Arc::new(Int64Array::from(wide.clone())),
        Arc::new(
            numbers
                .iter()
                .map(|n| n.map(|n| f64::from(n) / 3.0))
                .collect::<Float64Array>(),
        ),
        Arc::new(TimestampMicrosecondArray::from(wide.clone()).with_timezone("UTC")),
        Arc::new(
            wide.iter()
                .map(|n| n.map(|n| i256::from(i128::from(n))))
                .collect::<Decimal256Array>(),
        ),
        Arc::new(
            numbers
                .iter()
                .map(|n| n.map(|n| IntervalMonthDayNano::new(n, 1, 2)))
                .collect::<IntervalMonthDayNanoArray>(),
        ),
        Arc::new(StringArray::from(texts.clone())),
        Arc::new(BinaryArray::from(
            texts
                .iter()
                .map(|t| t.as_ref().map(|t| t.as_bytes()))
                .collect::<Vec<_>>(),
        )),
        Arc::new(BooleanArray::from(
            numbers.iter().map(|n| n.map(|n| n % 2 == 0)).collect::<Vec<_>>(),
        )),
        Arc::new(
            numbers
                .iter()
                .map(|n| n.map(i128::from))
                .collect::<Decimal128Array>()
                .with_precision_and_scale(12, 3)
                .unwrap(),
        ),
        Arc::new(structs),
        Arc::new(lists.finish()),
        Arc::new(maps),
        Arc::new(FixedSizeListArray::new(item, 2, Arc::new(fixed.finish()), mask)),
        Arc::new(words.finish()),
    ]
}

#[test]
fn gathers_what_interleave_gathers() {
    let mut state = 1;
    for case in 0..200 {
        let nulls = case % 3 > 0;
        let sources: Vec<Vec<ArrayRef>> = (0..1 + case % 4)
            .map(|_| {
                let arrays = arrays(&mut state, 40, nulls);
                let skip = random(&mut state, 5);
                arrays.iter().map(|array| array.slice(skip, 30)).collect()
            })
            .collect();
        let mut selection = Selection::new();
        let mut places = Vec::new();
        for _ in 0..random(&mut state, 30) {
            let source = random(&mut state, sources.len());
            let (start, len) = (random(&mut state, 20), 1 + random(&mut state, 10));
            match random(&mut state, 4) {
                0 if case % 2 == 0 => {
                    selection.push_null();
                    places.push((sources.len(), 0));
                }
                1 => {
                    selection.push_run(source, start, len);
                    places.extend((start..start + len).map(|row| (source, row)));
                }
                _ => {
                    selection.push(source, start);
                    places.push((source, start));
                }
            }
        }
        assert_eq!(selection.len(), places.len());
        for column in 0..sources[0].len() {
            let null = new_null_array(sources[0][column].data_type(), 1);
            let arrays: Vec<&dyn Array> = sources.iter().map(|source| source[column].as_ref()).collect();
            let found = selection.gather(&arrays).unwrap();
            let with_null: Vec<&dyn Array> = arrays.iter().copied().chain([null.as_ref()]).collect();
            let expected = arrow_select::interleave::interleave(&with_null, &places).unwrap();
            assert_eq!(found.data_type(), expected.data_type());
            assert_eq!(&found, &expected, "case {case}, {}", found.data_type());
            found.to_data().validate_full().unwrap();
        }
    }
}

#[test]
fn one_stretch_is_a_slice() {
    let array: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3, 4]));
    let mut selection = Selection::with_capacity(4);
    for row in 1..4 {
        selection.push(0, row);
    }
    assert_eq!(selection.stretches(), 1);
    let found = selection.gather(&[array.as_ref()]).unwrap();
    assert_eq!(
        found.to_data().buffers()[0].data_ptr(),
        array.to_data().buffers()[0].data_ptr()
    );
    assert_eq!(found.len(), 3);
}

#[test]
fn nothing_outside_of_a_source() {
    let array = Int32Array::from(vec![1, 2, 3]);
    for (source, row) in [(1, 0), (0, 3), (0, usize::MAX), (usize::MAX, 0)] {
        let mut selection = Selection::new();
        selection.push(0, 0);
        selection.push(source, row);
        let error = selection.gather(&[&array]).unwrap_err();
        assert_eq!(error.kind(), paimon_types::ErrorKind::Corrupt, "{source} {row}");
    }
    assert!(
        Selection::of_rows([(0, 0)])
            .gather(&[&array, &StringArray::from(vec!["a"])])
            .is_err()
    );
    assert!(Selection::new().gather(&[]).is_err());
    assert!(Selection::new().gather(&[&array]).unwrap().is_empty());
}
