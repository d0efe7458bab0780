// SPDX-License-Identifier: Apache-2.0

use std::sync::Arc;

use arrow_array::builder::{MapBuilder, StringBuilder, TimestampMicrosecondBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray, TimestampMicrosecondArray};
use arrow_schema::{Field, Schema};
use paimon_format::testkit::{ReadRequest, read_file, write_file};
use paimon_storage::Storage;
use paimon_types::{DataField, DataType, ErrorKind, TypeKind, to_arrow_schema};

use crate::support::{format, joined};

fn timestamp(precision: u8) -> DataType {
    DataType::new(TypeKind::Timestamp(precision))
}

/// TIMESTAMP(p) alone, as a map value and inside a ROW.
fn fields(precision: u8) -> Vec<DataField> {
    let map = TypeKind::Map(Box::new(DataType::string()), Box::new(timestamp(precision)));
    let row = TypeKind::Row(vec![DataField::new(3, "t", timestamp(precision))]);
    vec![
        DataField::new(0, "t", timestamp(precision)),
        DataField::new(1, "m", DataType::new(map)),
        DataField::new(2, "r", DataType::new(row)),
    ]
}

/// Microseconds at noon of January 1st of `year` (proleptic Gregorian).
fn noon(year: i64) -> i64 {
    let before = year - 1;
    let days = before * 365 + before / 4 - before / 100 + before / 400 - 719_162;
    days * 86_400_000_000 + 43_200_000_001
}

fn batch(values: &[Option<i64>]) -> RecordBatch {
    let flat = TimestampMicrosecondArray::from(values.to_vec());
    let mut map = MapBuilder::new(None, StringBuilder::new(), TimestampMicrosecondBuilder::new());
    for value in values {
        map.keys().append_value("k");
        map.values().append_option(*value);
        map.append(true).unwrap();
    }
    let map: ArrayRef = Arc::new(map.finish());
    let row: ArrayRef = Arc::new(StructArray::from(vec![(
        Arc::new(Field::new("t", flat.data_type().clone(), true)),
        Arc::new(flat.clone()) as ArrayRef,
    )]));
    let schema = Schema::new(vec![
        Field::new("t", flat.data_type().clone(), true),
        Field::new("m", map.data_type().clone(), true),
        Field::new("r", row.data_type().clone(), true),
    ]);
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(flat), map, row]).unwrap()
}

#[tokio::test]
async fn int96_of_years_1_to_9999_in_microseconds() {
    let storage = Storage::memory();
    let values: Vec<Option<i64>> = (1..=9999)
        .map(|year| (year % 10 != 3).then(|| noon(year)))
        .collect();
    let batch = batch(&values);
    let path = "memory:///t/a.parquet";
    write_file(format(&[]).as_ref(), &storage, path, &fields(9), &[batch], "zstd")
        .await
        .unwrap();
    let request = ReadRequest {
        fields: Some(fields(6)),
        ..ReadRequest::default()
    };
    let (read, _) = read_file(format(&[]).as_ref(), &storage, path, &request)
        .await
        .unwrap();
    let read = joined(&fields(6), &read);
    let flat = read.column(0).as_primitive::<TimestampMicrosecondType>();
    assert_eq!(flat.iter().collect::<Vec<_>>(), values);
    let in_map = read
        .column(1)
        .as_map()
        .values()
        .as_primitive::<TimestampMicrosecondType>();
    assert_eq!(in_map.iter().collect::<Vec<_>>(), values);
    let in_row = read
        .column(2)
        .as_struct()
        .column(0)
        .as_primitive::<TimestampMicrosecondType>();
    assert_eq!(in_row.iter().collect::<Vec<_>>(), values);
}

#[tokio::test]
async fn case_70_what_does_not_fit_nanoseconds_is_an_error() {
    let storage = Storage::memory();
    for year in [1, 1582, 1677, 2263, 9999] {
        let path = format!("memory:///t/{year}.parquet");
        let values = [Some(noon(2000)), None, Some(noon(year))];
        write_file(
            format(&[]).as_ref(),
            &storage,
            &path,
            &fields(9),
            &[batch(&values)],
            "none",
        )
        .await
        .unwrap();
        for field in fields(9) {
            let request = ReadRequest {
                fields: Some(vec![field.clone()]),
                ..ReadRequest::default()
            };
            let read = read_file(format(&[]).as_ref(), &storage, &path, &request).await;
            let error = read.err().unwrap();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error:?}");
            let text = error.to_string();
            assert!(text.contains(&format!("column: {}", field.name)), "{text}");
            assert!(text.contains("option: read.timestamp-unit"), "{text}");
            assert!(text.contains(&path), "{text}");
        }
        // Rows that are not selected are not in the way.
        let selection = Some([0u32, 1].into_iter().collect());
        let request = ReadRequest {
            fields: Some(fields(9)),
            selection,
            ..ReadRequest::default()
        };
        read_file(format(&[]).as_ref(), &storage, &path, &request)
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn int64_timestamps_follow_the_unit_of_the_file() {
    let storage = Storage::memory();
    let path = "memory:///t/us.parquet";
    let one = |precision| vec![DataField::new(0, "t", timestamp(precision))];
    let values = vec![Some(1_500), Some(-1), None, Some(noon(2024))];
    let array: ArrayRef = Arc::new(TimestampMicrosecondArray::from(values));
    let batch = RecordBatch::try_new(Arc::new(to_arrow_schema(&one(6))), vec![array]).unwrap();
    write_file(format(&[]).as_ref(), &storage, path, &one(6), &[batch], "none")
        .await
        .unwrap();
    for (precision, expected) in [(3, [1, -1]), (6, [1_500, -1]), (9, [1_500_000, -1_000])] {
        let request = ReadRequest {
            fields: Some(one(precision)),
            ..ReadRequest::default()
        };
        let (read, _) = read_file(format(&[]).as_ref(), &storage, path, &request)
            .await
            .unwrap();
        let read = joined(&one(precision), &read);
        let data = read.column(0).to_data();
        assert_eq!(
            data.buffers()[0].typed_data::<i64>()[..2],
            expected,
            "{precision}"
        );
    }
}
