// SPDX-License-Identifier: Apache-2.0

//! Against `apache-avro`, and files of other writers.

use apache_avro::types::Value;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, TimestampMicrosecondType, TimestampMillisecondType};
use arrow_array::{Array, RecordBatch};
use paimon_format::testkit::{ReadRequest, sample_batch};
use paimon_types::ErrorKind;

use crate::damage::file;
use crate::support::{avro_fields, bytes_of, fields, format, joined, read_bytes, request};

#[tokio::test]
async fn apache_avro_reads_what_we_write() {
    // Its map with other keys and its `local-timestamp` names are not theirs, but the bytes are.
    let fields = avro_fields();
    let batch = sample_batch(&fields, 2000, 3).unwrap();
    for compression in ["none", "zstd", "snappy"] {
        let bytes = bytes_of(format(&[]).as_ref(), &fields, &batch, compression).await;
        let reader = apache_avro::Reader::new(bytes.as_slice()).unwrap();
        let ints = batch.column_by_name("c3").unwrap();
        let ints = ints.as_primitive::<arrow_array::types::Int32Type>();
        let mut rows = 0;
        for (row, value) in reader.enumerate() {
            let Value::Record(record) = value.unwrap() else {
                panic!()
            };
            let found = match &record[3] {
                (name, Value::Union(_, value)) if name == "c3" => match value.as_ref() {
                    Value::Int(value) => Some(*value),
                    Value::Null => None,
                    other => panic!("{other:?}"),
                },
                other => panic!("{other:?}"),
            };
            assert_eq!(found, ints.is_valid(row).then(|| ints.value(row)));
            rows += 1;
        }
        assert_eq!(rows, 2000);
    }
}

async fn one(schema: &str, row: &str, records: i64, bytes: &[u8]) -> paimon_types::Result<RecordBatch> {
    let bytes = file(schema, records, |out| out.raw(bytes));
    let fields = fields(row);
    Ok(joined(&fields, &read_bytes(bytes, &request(&fields)).await?))
}

#[tokio::test]
async fn unions_of_any_order_and_around_rows() {
    let around = r#"["null",{"type":"record","name":"r","fields":[{"name":"a","type":["long","null"]}]}]"#;
    let batch = one(around, "ROW<a BIGINT>", 3, &[2, 0, 10, 2, 2, 2, 0, 20])
        .await
        .unwrap();
    let found: Vec<_> = batch.column(0).as_primitive::<Int64Type>().iter().collect();
    assert_eq!(found, [Some(5), None, Some(10)]);
    let null_row = one(around, "ROW<a BIGINT>", 1, &[0]).await.unwrap_err();
    assert_eq!(null_row.kind(), ErrorKind::Corrupt);
    let several = r#"{"type":"record","name":"r","fields":[{"name":"a","type":["null","long","string"]},{"name":"b","type":"int"}]}"#;
    let error = one(several, "ROW<a BIGINT>", 1, &[0, 2]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    // Columns that nobody asks for may be of any type.
    let batch = one(several, "ROW<b INT>", 2, &[4, 2, 65, 2, 0, 4]).await.unwrap();
    assert_eq!(batch.num_rows(), 2);
    let bytes = file(several, 1, |out| out.raw(&[0, 2]));
    assert!(read_bytes(bytes, &ReadRequest::default()).await.is_err());
}

#[tokio::test]
async fn timestamps_are_read_by_their_unit_whatever_their_name() {
    let schema = |logical: &str| {
        format!(
            r#"{{"type":"record","name":"r","fields":[{{"name":"a","type":{{"type":"long","logicalType":"{logical}"}}}}]}}"#
        )
    };
    for prefix in ["", "local-"] {
        let millis = schema(&format!("{prefix}timestamp-millis"));
        let micros = schema(&format!("{prefix}timestamp-micros"));
        for suffix in ["", " WITH LOCAL TIME ZONE"] {
            // -1 and 1500.
            let data = [1, 0xb8, 23];
            let row = |precision: u8| format!("ROW<a TIMESTAMP({precision}){suffix}>");
            let batch = one(&millis, &row(3), 2, &data).await.unwrap();
            assert_eq!(
                batch
                    .column(0)
                    .as_primitive::<TimestampMillisecondType>()
                    .values()
                    .as_ref(),
                [-1, 1500]
            );
            let batch = one(&micros, &row(3), 2, &data).await.unwrap();
            assert_eq!(
                batch
                    .column(0)
                    .as_primitive::<TimestampMillisecondType>()
                    .values()
                    .as_ref(),
                [-1, 1]
            );
            let batch = one(&millis, &row(6), 2, &data).await.unwrap();
            let found = batch
                .column(0)
                .as_primitive::<TimestampMicrosecondType>()
                .values()
                .as_ref();
            assert_eq!(found, [-1000, 1_500_000]);
            let mut far = paimon_avro::Encoder::default();
            far.long(i64::MAX / 1000);
            let error = one(&micros, &row(9), 1, far.as_bytes()).await;
            assert!(error.is_ok());
            let error = one(&millis, &row(9), 1, far.as_bytes()).await.unwrap_err();
            assert!(error.to_string().contains("read.timestamp-unit"), "{error}");
        }
    }
    let plain = r#"{"type":"record","name":"r","fields":[{"name":"a","type":"long"}]}"#;
    let error = one(plain, "ROW<a TIMESTAMP(3)>", 1, &[2]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[tokio::test]
async fn values_that_do_not_fit_name_the_column() {
    let ints = r#"{"type":"record","name":"r","fields":[{"name":"a","type":"int"}]}"#;
    let error = one(ints, "ROW<a TINYINT>", 1, &[0x80, 2]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains("column: a"), "{error}");
    let decimal = r#"{"type":"record","name":"r","fields":[{"name":"a","type":{"type":"bytes","logicalType":"decimal","precision":4,"scale":1}}]}"#;
    let error = one(decimal, "ROW<a DECIMAL(2, 1)>", 1, &[4, 1, 0])
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
    assert!(one(decimal, "ROW<a DECIMAL(3, 1)>", 1, &[4, 1, 0]).await.is_ok());
    let error = one(decimal, "ROW<a DECIMAL(4, 2)>", 1, &[4, 1, 0])
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
}

#[tokio::test]
async fn nested_fields_are_found_by_name_and_missing_ones_are_null() {
    let schema = r#"{"type":"record","name":"r","fields":[{"name":"s","type":["null",{"type":"record","name":"s",
        "fields":[{"name":"x","type":"int"},{"name":"y","type":"string"},{"name":"z","type":["null","long"]}]}]}]}"#;
    let data = [2, 2, 2, 65, 2, 6, 0, 2, 4, 2, 66, 0];
    let batch = one(schema, "ROW<s ROW<z BIGINT, gone INT, y STRING>>", 3, &data)
        .await
        .unwrap();
    let rows = batch.column(0).as_struct();
    assert_eq!(
        rows.nulls().map(|nulls| nulls.iter().collect()),
        Some(vec![true, false, true])
    );
    assert_eq!(
        rows.column(0)
            .as_primitive::<Int64Type>()
            .iter()
            .collect::<Vec<_>>(),
        [Some(3), None, None]
    );
    assert_eq!(rows.column(1).null_count(), 3);
    assert_eq!(rows.column(2).as_string::<i32>().value(2), "B");
}
