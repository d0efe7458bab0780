// SPDX-License-Identifier: Apache-2.0

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch, StringArray};
use paimon_format::testkit::{ReadRequest, check_push_down_with, open, read_file, write_file};
use paimon_storage::Storage;
use paimon_types::{DataField, DataType, Datum, Predicate, TypeKind, to_arrow_schema};

use crate::support::format;

fn fields() -> Vec<DataField> {
    vec![
        DataField::new(0, "i", DataType::new(TypeKind::Int)),
        DataField::new(1, "d", DataType::new(TypeKind::Double)),
        DataField::new(2, "s", DataType::string()),
    ]
}

/// Numbers that rise a hundred rows at a time, and others.
fn batch(rows: usize) -> RecordBatch {
    let ints: Int32Array = (0..rows as i32)
        .map(|row| (row % 7 > 0).then_some(row / 10))
        .collect();
    let doubles = Float64Array::from_iter_values((0..rows).map(|row| row as f64));
    let strings = StringArray::from_iter_values((0..rows).map(|row| row.to_string()));
    let columns: Vec<ArrayRef> = vec![Arc::new(ints), Arc::new(doubles), Arc::new(strings)];
    RecordBatch::try_new(Arc::new(to_arrow_schema(&fields())), columns).unwrap()
}

#[tokio::test]
async fn a_narrow_predicate_reads_a_page() {
    let storage = Storage::memory();
    let format = format(&[("parquet.page.row.count.limit", "100")]);
    let all = batch(20_000);
    let parts: Vec<RecordBatch> = (0..200).map(|i| all.slice(i * 100, 100)).collect();
    write_file(
        format.as_ref(),
        &storage,
        "memory:///t/a.parquet",
        &fields(),
        &parts,
        "none",
    )
    .await
    .unwrap();
    let mut reader = open(format.as_ref(), &storage, "memory:///t/a.parquet", 1000)
        .await
        .unwrap();
    let predicate = Predicate::eq(&fields()[0], Some(Datum::Int(1500))).unwrap();
    reader.set_read_schema(&fields(), Some(&predicate), None).unwrap();
    let mut rows = 0;
    while let Some(batch) = reader.next_batch().await.unwrap() {
        rows += batch.num_rows();
    }
    assert!((1..=3000).contains(&rows), "{rows}");
    assert_eq!(reader.metrics().get("parquet.read.rows"), Some(rows as u64));
}

/// The predicate names a column by id; its name is of another schema.
#[tokio::test]
async fn renamed_columns_are_pruned_by_id() {
    let storage = Storage::memory();
    let format = format(&[]);
    write_file(
        format.as_ref(),
        &storage,
        "memory:///t/r.parquet",
        &fields(),
        &[batch(100)],
        "none",
    )
    .await
    .unwrap();
    let other = |id, name: &str| DataField::new(id, name, DataType::new(TypeKind::Int));
    for (field, found) in [(other(0, "s"), 0), (other(9, "i"), 100)] {
        let predicate = Predicate::gt(&field, Some(Datum::Int(5000))).unwrap();
        let request = ReadRequest {
            fields: Some(fields()),
            predicate: Some(predicate),
            ..ReadRequest::default()
        };
        let (_, rows) = read_file(format.as_ref(), &storage, "memory:///t/r.parquet", &request)
            .await
            .unwrap();
        assert_eq!(rows.len(), found, "{field:?}");
    }
}

/// Every type, predicates and selections and projections together.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn push_down_of_every_type() {
    let pages = [
        ("parquet.page.row.count.limit", "40"),
        ("parquet.enable.dictionary", "false"),
    ];
    let short = ("parquet.columnindex.truncate.length", "8");
    let groups = ("parquet.block.row.count.limit", "150");
    let cut = ("parquet.statistics.truncate.length", "16");
    let options = [
        vec![groups],
        pages.to_vec(),
        [&pages[..], &[short, groups]].concat(),
        vec![groups, cut, ("parquet.writer.version", "v2")],
        [&pages[..], &[cut, ("parquet.bloom.filter.enabled", "true")]].concat(),
        vec![
            ("parquet.page.row.count.limit", "25"),
            ("parquet.page.size", "256"),
        ],
    ];
    check_push_down_with(format, &options, 1200, 40).await.unwrap();
}

/// Parts of a row group begin at pages, where each does not have to read much of dictionaries again.
#[tokio::test]
async fn parts_begin_where_little_is_read_twice() {
    let storage = Storage::memory();
    let starts = async |dictionary: &str, of: usize| -> Vec<u64> {
        let format = format(&[("parquet.enable.dictionary", dictionary)]);
        let path = format!("memory:///t/{dictionary}-{of}.parquet");
        let field = DataField::new(0, "s", DataType::string());
        let texts = StringArray::from_iter_values((0..100_000).map(|row| format!("text {:09}", row % of)));
        let schema = Arc::new(to_arrow_schema(std::slice::from_ref(&field)));
        let all = RecordBatch::try_new(schema, vec![Arc::new(texts)]).unwrap();
        write_file(format.as_ref(), &storage, &path, &[field], &[all], "none")
            .await
            .unwrap();
        let reader = open(format.as_ref(), &storage, &path, 1000).await.unwrap();
        let rows = [0, 19_999, 45_000, 99_999, 100_000, 200_000];
        rows.iter().map(|row| reader.part_start(*row).unwrap()).collect()
    };
    assert_eq!(
        starts("false", 1000).await,
        [0, 0, 40_000, 80_000, 100_000, 100_000]
    );
    // A dictionary of a fiftieth and one of more than an eighth of the row group.
    assert_eq!(
        starts("true", 100).await,
        [0, 0, 40_000, 80_000, 100_000, 100_000]
    );
    assert_eq!(starts("true", 20_000).await, [0, 0, 0, 0, 100_000, 100_000]);
}
