// SPDX-License-Identifier: Apache-2.0

//! The JSON form for people.

use paimon_protocol::{DataFileMeta, DataSplit, FileSource, Partition, RowValues, SimpleStats, Split, json};
use paimon_types::{DataType, Datum, Timestamp, TypeKind};
use serde_json::json;

use crate::sample;

fn split() -> DataSplit {
    let schema = sample::schema(0);
    let types: Vec<DataType> = schema
        .fields
        .iter()
        .map(|field| field.data_type.clone())
        .collect();
    let amount = Some(Datum::Decimal {
        unscaled: -1250,
        scale: 2,
    });
    let values = RowValues::of(&types, &[None, Some(Datum::BigInt(7)), amount]).unwrap();
    let file = DataFileMeta {
        file_name: "f".into(),
        file_size: 10,
        row_count: 1,
        min_key: RowValues::empty(),
        max_key: RowValues::empty(),
        key_stats: SimpleStats::empty(),
        value_stats: SimpleStats {
            min_values: values.clone(),
            max_values: values,
            null_counts: [Some(1), None, None].into(),
        },
        min_sequence_number: 0,
        max_sequence_number: 0,
        schema_id: 0,
        level: 0,
        extra_files: vec![],
        creation_time: Some(0),
        delete_row_count: None,
        embedded_index: Some(vec![0xab]),
        file_source: Some(FileSource::Append),
        value_stats_cols: None,
        external_path: None,
        first_row_id: None,
        write_cols: None,
        write_cols_sequences: None,
    };
    DataSplit {
        snapshot_id: 1,
        partition: Partition::of(&types[..1], &[Some(Datum::String("2024".into()))]).unwrap(),
        bucket: 0,
        bucket_path: "b".into(),
        total_buckets: None,
        data_files: vec![file],
        deletion_files: None,
        is_streaming: false,
        raw_convertible: true,
    }
}

#[test]
fn rows_are_decoded_when_the_schema_is_known() {
    let bare = json::data_split(&split(), None);
    assert_eq!(
        bare["partition"],
        json!({ "arity": 1, "hex": "00000000000000003230323400000084" })
    );
    let full = json::split(&Split::from(split()), Some(&sample::schema(0)));
    assert_eq!(full["kind"], "data");
    assert_eq!(full["partition"]["values"], json!({ "dt": "2024" }));
    let file = &full["dataFiles"][0];
    assert_eq!(
        file["valueStats"]["minValues"]["values"],
        json!({ "dt": null, "id": 7, "amount": "-12.50" })
    );
    assert_eq!(file["valueStats"]["nullCounts"], json!([1, null, null]));
    assert_eq!(
        (&file["fileSource"], &file["embeddedIndex"]),
        (&json!("APPEND"), &json!("ab"))
    );
    // The file was written with schema 0, so another schema says nothing about its columns.
    let other = json::split(&Split::from(split()), Some(&sample::schema(1)));
    assert!(
        other["dataFiles"][0]["valueStats"]["minValues"]
            .get("values")
            .is_none()
    );
}

#[test]
fn rows_that_do_not_decode_say_so() {
    let mut split = split();
    split.partition = Partition::unpartitioned();
    split.data_files[0].value_stats.min_values = split.data_files[0].value_stats.max_values.clone();
    split.data_files[0].value_stats_cols = Some(["id".into()].into());
    let value = json::data_split(&split, Some(&sample::schema(0)));
    assert!(
        value["dataFiles"][0]["valueStats"]["minValues"]["error"].is_string(),
        "{value}"
    );
}

#[test]
fn values() {
    let check = |datum: Datum, kind: TypeKind, expected: serde_json::Value| {
        assert_eq!(json::datum(Some(&datum), &DataType::new(kind)), expected);
    };
    check(Datum::Float(0.1), TypeKind::Float, json!(0.1));
    check(Datum::Double(f64::NAN), TypeKind::Double, json!("NaN"));
    check(
        Datum::Double(f64::NEG_INFINITY),
        TypeKind::Double,
        json!("-Infinity"),
    );
    check(Datum::Date(19_753), TypeKind::Date, json!("2024-01-31"));
    let instant = Timestamp {
        millis: 1_706_695_200_123,
        nanos_of_milli: 456_000,
    };
    check(
        Datum::Timestamp(instant),
        TypeKind::Timestamp(6),
        json!("2024-01-31 10:00:00.123456"),
    );
    check(
        Datum::Timestamp(instant),
        TypeKind::TimestampLtz(6),
        json!("2024-01-31 10:00:00.123456Z"),
    );
    check(Datum::Bytes(vec![1, 0xff]), TypeKind::VarBinary(4), json!("01ff"));
    let list = Datum::Array(vec![Some(Datum::Int(1)), None]);
    check(
        list,
        TypeKind::Array(Box::new(DataType::new(TypeKind::Int))),
        json!([1, null]),
    );
    let counts = Datum::Map(vec![(Some(Datum::String("a".into())), Some(Datum::Int(2)))]);
    check(
        counts,
        TypeKind::Multiset(Box::new(DataType::string())),
        json!([["a", 2]]),
    );
}
