// SPDX-License-Identifier: Apache-2.0

//! Columns by name, defaults, NOT NULL, types.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder, MapBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int32Type};
use arrow_array::{
    Array, BinaryArray, Decimal128Array, DictionaryArray, Int32Array, Int64Array, LargeStringArray,
    NullArray, RecordBatch, StringArray, StringViewArray, StructArray, TimestampMicrosecondArray,
    TimestampMillisecondArray,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType as ArrowType, Field};
use paimon_types::{DataField, DataType, Datum, ErrorKind, TypeKind, to_arrow_schema};

use super::{arc, batch, int};
use crate::write::batch::BatchMapper;

fn fields(columns: &[(&str, DataType)]) -> Vec<DataField> {
    columns
        .iter()
        .enumerate()
        .map(|(i, (name, t))| DataField::new(i as i32, *name, t.clone()))
        .collect()
}

fn mapper(columns: &[(&str, DataType)]) -> BatchMapper {
    BatchMapper::new(&fields(columns), BTreeMap::new()).unwrap()
}

fn error(mapper: &BatchMapper, batch: &RecordBatch) -> String {
    let err = mapper.map(batch).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidInput);
    err.to_string()
}

#[test]
fn columns_by_name_in_any_order_missing_ones_null() {
    let mapper = mapper(&[("a", int()), ("B", DataType::string()), ("c", int())]);
    let given = batch(vec![
        ("B", arc(StringArray::from(vec!["x", "y"]))),
        ("a", arc(Int32Array::from(vec![1, 2]))),
    ]);
    let mapped = mapper.map(&given).unwrap();
    assert_eq!(
        mapped.schema().as_ref(),
        &to_arrow_schema(&fields(&[("a", int()), ("B", DataType::string()), ("c", int())]))
    );
    assert_eq!(mapped.column(0).as_primitive::<Int32Type>().values(), &[1, 2]);
    assert_eq!(mapped.column(2).null_count(), 2);

    let text = error(&mapper, &batch(vec![("b", arc(StringArray::from(vec!["x"])))]));
    assert!(text.contains("column: b") && text.contains("(a, B, c)"), "{text}");
    let text = error(&mapper, &batch(vec![("a", arc(Int64Array::from(vec![1])))]));
    assert!(
        text.contains("Int64") && text.contains("Int32") && text.contains("column: a"),
        "{text}"
    );
    let twice = RecordBatch::try_new(
        Arc::new(arrow_schema::Schema::new(vec![
            Field::new("a", ArrowType::Int32, true),
            Field::new("a", ArrowType::Int32, true),
        ])),
        vec![arc(Int32Array::from(vec![1])), arc(Int32Array::from(vec![1]))],
    )
    .unwrap();
    assert!(error(&mapper, &twice).contains("twice"));
}

#[test]
fn case_54_null_in_a_not_null_column() {
    let mapper = mapper(&[("id", DataType::required(TypeKind::BigInt)), ("v", int())]);
    let given = batch(vec![(
        "id",
        arc(Int64Array::from(vec![Some(1), Some(2), None, None])),
    )]);
    let text = error(&mapper, &given);
    assert!(text.contains("column: id") && text.contains("row 2"), "{text}");
    let text = error(&mapper, &batch(vec![("v", arc(Int32Array::from(vec![1])))]));
    assert!(text.contains("column: id") && text.contains("missing"), "{text}");
    let text = error(&mapper, &batch(vec![("id", arc(NullArray::new(1)))]));
    assert!(text.contains("row 0"), "{text}");
}

#[test]
fn nulls_inside_of_nested_values() {
    let row = DataType::new(TypeKind::Row(vec![
        DataField::new(1, "x", DataType::required(TypeKind::Int)),
        DataField::new(2, "y", int()),
    ]));
    let mapper = mapper(&[("r", row)]);
    let rows = |x: Vec<Option<i32>>, valid: Vec<bool>| {
        let x = Arc::new(Int32Array::from(x)) as Arc<dyn Array>;
        let fields = vec![Field::new("x", ArrowType::Int32, true)];
        StructArray::new(fields.into(), vec![x], Some(NullBuffer::from(valid)))
    };
    // a field of a NULL row may be null
    let mapped = mapper
        .map(&batch(vec![(
            "r",
            arc(rows(vec![Some(1), None], vec![true, false])),
        )]))
        .unwrap();
    assert_eq!(mapped.column(0).as_struct().num_columns(), 2);
    let text = error(
        &mapper,
        &batch(vec![("r", arc(rows(vec![Some(1), None], vec![true, true])))]),
    );
    assert!(text.contains("'x'") && text.contains("column: r"), "{text}");
}

#[test]
fn nested_children_are_renamed_and_ordered() {
    let columns = [
        ("l", DataType::new(TypeKind::Array(Box::new(int())))),
        (
            "m",
            DataType::new(TypeKind::Map(Box::new(DataType::string()), Box::new(int()))),
        ),
        (
            "r",
            DataType::new(TypeKind::Row(vec![
                DataField::new(5, "x", int()),
                DataField::new(6, "y", DataType::string()),
            ])),
        ),
    ];
    let mut list = ListBuilder::new(Int32Builder::new());
    list.append_value([Some(1), None]);
    list.append_null();
    let mut pairs = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    pairs.keys().append_value("k");
    pairs.values().append_value(1);
    pairs.append(true).unwrap();
    pairs.append(true).unwrap();
    let row = StructArray::from(vec![
        (
            Arc::new(Field::new("y", ArrowType::LargeUtf8, true)),
            arc(LargeStringArray::from(vec!["a", "b"])),
        ),
        (
            Arc::new(Field::new("x", ArrowType::Int32, true)),
            arc(Int32Array::from(vec![1, 2])),
        ),
    ]);
    let given = batch(vec![
        ("l", arc(list.finish())),
        ("m", arc(pairs.finish())),
        ("r", arc(row)),
    ]);
    let mapped = mapper(&columns).map(&given).unwrap();
    assert_eq!(mapped.schema().as_ref(), &to_arrow_schema(&fields(&columns)));
    let row = mapped.column(2).as_struct();
    assert_eq!(row.column(1).as_string::<i32>().value(1), "b");
    assert_eq!(mapped.column(0).as_list::<i32>().value(0).null_count(), 1);
    assert_eq!(mapped.column(1).as_map().value_length(1), 0);
}

#[test]
fn other_encodings_are_accepted_other_types_are_not() {
    let ltz = DataType::new(TypeKind::TimestampLtz(3));
    let columns = [("s", DataType::string()), ("t", ltz)];
    let mapper = mapper(&columns);
    for array in [
        arc(StringViewArray::from(vec!["x"])),
        arc(LargeStringArray::from(vec!["x"])),
        arc(vec!["x"].into_iter().collect::<DictionaryArray<Int32Type>>()),
    ] {
        let mapped = mapper.map(&batch(vec![("s", array)])).unwrap();
        assert_eq!(mapped.column(0).as_string::<i32>().value(0), "x");
    }
    assert!(
        mapper
            .map(&batch(vec![("s", arc(BinaryArray::from(vec![&b"x"[..]])))]))
            .is_err()
    );
    let zoned = TimestampMillisecondArray::from(vec![7]).with_timezone("+02:00");
    assert!(mapper.map(&batch(vec![("t", arc(zoned))])).is_ok());
    assert!(
        mapper
            .map(&batch(vec![("t", arc(TimestampMillisecondArray::from(vec![7])))]))
            .is_err()
    );
    let micros = TimestampMicrosecondArray::from(vec![7]).with_timezone("UTC");
    assert!(mapper.map(&batch(vec![("t", arc(micros))])).is_err());
}

#[test]
fn decimals_must_fit() {
    let mapper = mapper(&[(
        "d",
        DataType::new(TypeKind::Decimal {
            precision: 4,
            scale: 2,
        }),
    )]);
    let decimal = |v: i128, p, s| {
        arc(Decimal128Array::from(vec![v])
            .with_precision_and_scale(p, s)
            .unwrap())
    };
    let mapped = mapper.map(&batch(vec![("d", decimal(9999, 38, 2))])).unwrap();
    assert_eq!(mapped.column(0).as_primitive::<Decimal128Type>().value(0), 9999);
    assert!(error(&mapper, &batch(vec![("d", decimal(10000, 38, 2))])).contains("column: d"));
    assert!(error(&mapper, &batch(vec![("d", decimal(1, 4, 1))])).contains("column: d"));
}

#[test]
fn defaults_fill_missing_columns_and_nulls() {
    let mut columns = fields(&[
        ("a", int()),
        ("b", DataType::string()),
        ("c", DataType::required(TypeKind::Int)),
    ]);
    columns[0].default_value = Some("42".to_owned());
    columns[1].default_value = Some("none".to_owned());
    columns[2].default_value = Some("1".to_owned());
    let mapper = BatchMapper::new(&columns, BTreeMap::new()).unwrap();
    let given = batch(vec![("a", arc(Int32Array::from(vec![Some(1), None])))]);
    let mapped = mapper.map(&given).unwrap();
    assert_eq!(mapped.column(0).as_primitive::<Int32Type>().values(), &[1, 42]);
    assert_eq!(mapped.column(1).as_string::<i32>().value(1), "none");
    assert_eq!(mapped.column(2).as_primitive::<Int32Type>().values(), &[1, 1]);
    // NOT NULL is looked at before the default is
    assert!(
        error(
            &mapper,
            &batch(vec![("c", arc(Int32Array::from(vec![None::<i32>])))])
        )
        .contains("row 0")
    );
    columns[0].default_value = Some("x".to_owned());
    assert!(BatchMapper::new(&columns, BTreeMap::new()).is_err());
}

#[test]
fn static_partition_values() {
    let columns = fields(&[("a", int()), ("p", DataType::string())]);
    let statics = BTreeMap::from([("p".to_owned(), Some(Datum::String("x".into())))]);
    let mapper = BatchMapper::new(&columns, statics).unwrap();
    let mapped = mapper
        .map(&batch(vec![("a", arc(Int32Array::from(vec![1, 2])))]))
        .unwrap();
    assert_eq!(mapped.column(1).as_string::<i32>().value(1), "x");
    assert!(error(&mapper, &batch(vec![("p", arc(StringArray::from(vec!["y"])))])).contains("static"));
}
