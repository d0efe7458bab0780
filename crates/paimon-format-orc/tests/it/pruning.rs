// SPDX-License-Identifier: Apache-2.0

use std::sync::Arc;

use arrow_array::{ArrayRef, Date32Array, Int32Array, RecordBatch, StringArray};
use paimon_format::testkit::{ReadRequest, check_push_down_with, open, read_file, write_file};
use paimon_storage::Storage;
use paimon_types::{DataField, DataType, Datum, Predicate, TypeKind, to_arrow_schema};

use crate::support::format;

const ROWS: usize = 8000;

fn fields() -> Vec<DataField> {
    let types = [
        DataType::new(TypeKind::Int),
        DataType::string(),
        DataType::new(TypeKind::Date),
    ];
    (0..)
        .zip(types)
        .map(|(id, data_type)| DataField::new(id, format!("c{id}"), data_type))
        .collect()
}

/// Values that rise every ten rows; the dates of the rows from 1000 to 2000 are null.
fn batch() -> RecordBatch {
    let places = || 0..ROWS as i32;
    let dates: Date32Array = places()
        .map(|row| (!(1000..2000).contains(&row)).then_some(row / 10))
        .collect();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from_iter_values(places().map(|row| row / 10 - 300))),
        Arc::new(StringArray::from_iter_values(
            places().map(|row| format!("{:04}", row / 10)),
        )),
        Arc::new(dates),
    ];
    RecordBatch::try_new(Arc::new(to_arrow_schema(&fields())), columns).unwrap()
}

#[tokio::test]
async fn a_narrow_predicate_reads_a_row_group() {
    let storage = Storage::memory();
    let format = format(&[
        ("orc.row.index.stride", "1000"),
        ("orc.bloom.filter.columns", "c1"),
    ]);
    let path = "memory:///t/a.orc";
    write_file(format.as_ref(), &storage, path, &fields(), &[batch()], "none")
        .await
        .unwrap();
    let all = fields();
    let cases = [
        (
            Predicate::eq(&all[0], Some(Datum::Int(150))).unwrap(),
            1000..=1000,
        ),
        // Between the bounds of a row group, but in no bloom filter.
        (
            Predicate::eq(&all[1], Some(Datum::String("0150x".to_owned()))).unwrap(),
            0..=0,
        ),
        (Predicate::is_not_null(&all[2]), 7000..=7000),
    ];
    for (predicate, expected) in cases {
        let mut reader = open(format.as_ref(), &storage, path, 1000).await.unwrap();
        reader.set_read_schema(&all, Some(&predicate), None).unwrap();
        let mut rows = 0;
        while let Some(batch) = reader.next_batch().await.unwrap() {
            rows += batch.num_rows();
        }
        assert!(expected.contains(&rows), "{rows} {predicate:?}");
        assert_eq!(reader.metrics().get("orc.read.rows"), Some(rows as u64));
    }
}

/// The predicate names a column by id; its name is of another schema.
#[tokio::test]
async fn renamed_columns_are_pruned_by_id() {
    let storage = Storage::memory();
    let format = format(&[]);
    let path = "memory:///t/r.orc";
    write_file(format.as_ref(), &storage, path, &fields(), &[batch()], "none")
        .await
        .unwrap();
    let other = |id, name: &str| DataField::new(id, name, DataType::new(TypeKind::Int));
    for (field, found) in [(other(0, "c1"), 0), (other(99, "c0"), ROWS)] {
        let predicate = Predicate::gt(&field, Some(Datum::Int(5000))).unwrap();
        let request = ReadRequest {
            fields: Some(fields()),
            predicate: Some(predicate),
            ..ReadRequest::default()
        };
        let (_, rows) = read_file(format.as_ref(), &storage, path, &request)
            .await
            .unwrap();
        assert_eq!(rows.len(), found, "{field:?}");
    }
}

/// Every type, predicates and selections and projections together.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn push_down_of_every_type() {
    let stride = ("orc.row.index.stride", "1000");
    let rows = ("orc.stripe.row.count", "2500");
    let bloom = [
        ("orc.bloom.filter.columns", "c1,c3,c4,c6,c7,c8,c9,c13,c16,c17"),
        ("orc.bloom.filter.fpp", "0.01"),
    ];
    let options = [
        vec![stride],
        vec![rows],
        [&[stride, rows], &bloom[..]].concat(),
        vec![stride, ("orc.dictionary.key.threshold", "0")],
        vec![rows, ("orc.create.index", "false")],
        vec![stride, ("orc.stripe.size", "65536")],
    ];
    check_push_down_with(format, &options, 6000, 20).await.unwrap();
}
