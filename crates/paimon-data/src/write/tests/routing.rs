// SPDX-License-Identifier: Apache-2.0

//! Vectorised routing against one row at a time.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int8Array,
    Int16Array, Int32Array, Int64Array, RecordBatch, StringArray, Time32MillisecondArray,
    TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray,
};
use paimon_types::{BinaryRow, BucketFunction, DataType, ErrorKind, TypeKind};

use super::{core_options, int, schema};
use crate::arrow_value::datum_at;
use crate::write::batch::BatchMapper;
use crate::write::router::Router;

const ROWS: i64 = 500;

/// Every key type with values, extremes and NULLs.
fn keys() -> Vec<(&'static str, DataType, ArrayRef)> {
    fn all<T>(make: impl Fn(i64) -> T) -> Vec<Option<T>> {
        (0..ROWS)
            .map(|i| {
                (i % 17 != 3).then(|| make(i.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64) >> (i % 60)))
            })
            .collect()
    }
    let text = |v: i64| "ключ-λ".repeat((v.unsigned_abs() % 4) as usize) + &v.to_string();
    let short: Vec<Option<String>> = all(|v| format!("{:x}", v & 0xfff));
    let t = DataType::new;
    let decimal = |precision, scale| t(TypeKind::Decimal { precision, scale });
    let bytes: Vec<Option<Vec<u8>>> = all(|v| v.to_le_bytes()[..(v & 7) as usize].to_vec());
    vec![
        (
            "bool",
            t(TypeKind::Boolean),
            Arc::new(BooleanArray::from(all(|v| v & 1 == 1))),
        ),
        (
            "tiny",
            t(TypeKind::TinyInt),
            Arc::new(Int8Array::from(all(|v| v as i8))),
        ),
        (
            "small",
            t(TypeKind::SmallInt),
            Arc::new(Int16Array::from(all(|v| v as i16))),
        ),
        ("int", int(), Arc::new(Int32Array::from(all(|v| v as i32)))),
        ("big", t(TypeKind::BigInt), Arc::new(Int64Array::from(all(|v| v)))),
        (
            "float",
            t(TypeKind::Float),
            Arc::new(Float32Array::from(all(|v| v as f32 / 3.0))),
        ),
        (
            "double",
            t(TypeKind::Double),
            Arc::new(Float64Array::from(all(|v| v as f64 / 7.0))),
        ),
        (
            "date",
            t(TypeKind::Date),
            Arc::new(Date32Array::from(all(|v| v as i32))),
        ),
        (
            "time",
            t(TypeKind::Time(3)),
            Arc::new(Time32MillisecondArray::from(all(|v| {
                (v as u32 % 86_400_000) as i32
            }))),
        ),
        ("char", t(TypeKind::Char(4)), Arc::new(StringArray::from(short))),
        (
            "string",
            DataType::string(),
            Arc::new(StringArray::from(all(text))),
        ),
        (
            "bytes",
            DataType::bytes(),
            Arc::new(BinaryArray::from_iter(bytes)),
        ),
        (
            "dec9",
            decimal(9, 2),
            Arc::new(
                Decimal128Array::from(all(|v| i128::from(v % 1_000_000_000)))
                    .with_precision_and_scale(9, 2)
                    .unwrap(),
            ),
        ),
        (
            "dec38",
            decimal(38, 10),
            Arc::new(
                Decimal128Array::from(all(|v| i128::from(v) * 1_000_000_007))
                    .with_precision_and_scale(38, 10)
                    .unwrap(),
            ),
        ),
        (
            "ts3",
            t(TypeKind::Timestamp(3)),
            Arc::new(TimestampMillisecondArray::from(all(|v| v >> 20))),
        ),
        (
            "ts6",
            t(TypeKind::Timestamp(6)),
            Arc::new(TimestampMicrosecondArray::from(all(|v| v))),
        ),
        (
            "ts9",
            t(TypeKind::Timestamp(9)),
            Arc::new(TimestampNanosecondArray::from(all(|v| v))),
        ),
        (
            "ltz3",
            t(TypeKind::TimestampLtz(3)),
            Arc::new(TimestampMillisecondArray::from(all(|v| v >> 20)).with_timezone("UTC")),
        ),
    ]
}

/// Routes by `names` with a row number column and returns (partition, bucket) → row numbers.
fn check(names: &[&str], partition: &[&str], options: &[(&str, &str)]) {
    let keys = keys();
    let mut columns: Vec<(&str, DataType)> = keys.iter().map(|(n, t, _)| (*n, t.clone())).collect();
    columns.push(("row", DataType::new(TypeKind::BigInt)));
    let bucket_key = names.join(",");
    let mut options = options.to_vec();
    if !names.is_empty() {
        options.push(("bucket-key", &bucket_key));
    }
    let schema = schema(&columns, partition, &options);
    let options = core_options(&options);
    let mut arrays: Vec<(&str, ArrayRef)> = keys.iter().map(|(n, _, a)| (*n, a.clone())).collect();
    arrays.push(("row", Arc::new(Int64Array::from_iter_values(0..ROWS))));
    let batch = BatchMapper::new(&schema.fields, BTreeMap::new())
        .unwrap()
        .map(&super::batch(arrays))
        .unwrap();

    let row_of = |names: &[&str], row: usize| -> (BinaryRow, Vec<DataType>) {
        let picked: Vec<_> = names
            .iter()
            .map(|n| keys.iter().find(|(k, _, _)| k == n).unwrap())
            .collect();
        let types: Vec<DataType> = picked.iter().map(|(_, t, _)| t.clone()).collect();
        let values: Vec<_> = picked
            .iter()
            .map(|(_, t, a)| datum_at(a.as_ref(), row, t).unwrap())
            .collect();
        (BinaryRow::encode(&types, &values).unwrap(), types)
    };
    let mut seen = vec![false; ROWS as usize];
    for group in Router::new(&schema, &options).unwrap().route(&batch).unwrap() {
        let rows = rows_of(&group.rows);
        assert!(rows.is_sorted(), "order within a bucket is kept");
        for row in rows {
            let row = row as usize;
            assert!(!std::mem::replace(&mut seen[row], true));
            let (key, types) = row_of(names, row);
            let expected = match names {
                [] => 0,
                _ => options
                    .bucket_function
                    .bucket(&key, &types, options.bucket)
                    .unwrap(),
            };
            assert_eq!(group.bucket, expected, "row {row}, key {names:?}");
            assert_eq!(group.partition, row_of(partition, row).0);
        }
    }
    assert!(seen.iter().all(|s| *s));
}

fn rows_of(batch: &RecordBatch) -> Vec<i64> {
    use arrow_array::cast::AsArray;
    batch
        .column_by_name("row")
        .unwrap()
        .as_primitive::<arrow_array::types::Int64Type>()
        .values()
        .to_vec()
}

#[test]
fn every_key_type_routes_as_row_by_row() {
    for (name, _, _) in keys() {
        for n in ["2", "7", "16"] {
            check(&[name], &[], &[("bucket", n)]);
        }
    }
    check(&["int", "string"], &[], &[("bucket", "16")]);
    check(&["ts9", "dec38", "bool"], &[], &[("bucket", "5")]);
}

#[test]
fn mod_and_hive() {
    for n in ["3", "16"] {
        check(&["int"], &[], &[("bucket", n), ("bucket-function.type", "mod")]);
        check(&["big"], &[], &[("bucket", n), ("bucket-function.type", "mod")]);
        for name in ["int", "big", "string", "dec9", "dec38", "float", "bytes"] {
            check(&[name], &[], &[("bucket", n), ("bucket-function.type", "hive")]);
        }
        check(
            &["int", "string"],
            &[],
            &[("bucket", n), ("bucket-function.type", "hive")],
        );
    }
}

#[test]
fn partitions_of_every_type() {
    for (name, _, _) in keys() {
        check(&[], &[name], &[]);
    }
    check(&[], &["tiny", "bool"], &[]);
    check(&["string"], &["tiny", "char"], &[("bucket", "4")]);
    // more groups than the dense table holds
    check(&["string"], &["big", "string"], &[("bucket", "1000")]);
    // one bucket needs no key
    check(&[], &["tiny"], &[("bucket", "1")]);
}

#[test]
fn case_30_int_buckets() {
    let schema = schema(&[("id", int())], &[], &[("bucket", "4"), ("bucket-key", "id")]);
    let options = core_options(&[("bucket", "4"), ("bucket-key", "id")]);
    let batch = super::batch(vec![("id", Arc::new(Int32Array::from_iter_values(1..=7)))]);
    let batch = BatchMapper::new(&schema.fields, BTreeMap::new())
        .unwrap()
        .map(&batch)
        .unwrap();
    let mut buckets = [0; 7];
    for group in Router::new(&schema, &options).unwrap().route(&batch).unwrap() {
        use arrow_array::cast::AsArray;
        for id in group
            .rows
            .column(0)
            .as_primitive::<arrow_array::types::Int32Type>()
            .values()
        {
            buckets[*id as usize - 1] = group.bucket;
        }
    }
    assert_eq!(buckets, [2, 0, 1, 2, 0, 0, 3]);
}

#[test]
fn a_single_group_is_not_copied() {
    let schema = schema(&[("a", int())], &[], &[]);
    let batch = super::batch(vec![("a", Arc::new(Int32Array::from(vec![1, 2])))]);
    let router = Router::new(&schema, &core_options(&[])).unwrap();
    let groups = router.route(&batch).unwrap();
    assert!(Arc::ptr_eq(groups[0].rows.column(0), batch.column(0)));
    assert!(router.route(&batch.slice(0, 0)).unwrap().is_empty());
}

#[test]
fn impossible_keys_are_refused() {
    let columns = [("a", int()), ("t", DataType::new(TypeKind::Timestamp(6)))];
    let router =
        |options: &[(&str, &str)]| Router::new(&schema(&columns, &[], options), &core_options(options));
    let err = router(&[("bucket", "4")]).unwrap_err();
    assert!(err.to_string().contains("bucket-key"), "{err}");
    assert!(router(&[("bucket", "4"), ("bucket-key", "x")]).is_err());
    for function in ["mod", "hive"] {
        let err = router(&[
            ("bucket", "4"),
            ("bucket-key", "t"),
            ("bucket-function.type", function),
        ])
        .unwrap_err();
        assert!(
            matches!(err.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput),
            "{err}"
        );
    }
    assert_eq!(BucketFunction::default(), BucketFunction::Default);
}
