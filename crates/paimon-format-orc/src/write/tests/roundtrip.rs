// SPDX-License-Identifier: Apache-2.0

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::*;
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_select::concat::concat_batches;
use arrow_select::filter::filter_record_batch;
use paimon_format::testkit::{ReadRequest, Sampler, read_file, sample_batch};
use paimon_format::{FileFormat, FileFormatFactory};
use paimon_storage::Storage;
use paimon_types::{DataField, DataType, TypeKind, to_arrow_schema};
use roaring::RoaringBitmap;

use super::interop::{fields, options, shapes, shapes_fields, write};
use crate::OrcFormatFactory;

async fn store(
    storage: &Storage,
    fields: &[DataField],
    batches: &[RecordBatch],
    pairs: &[(&str, &str)],
    codec: &str,
) -> String {
    let path = "memory:///t/file.orc".to_string();
    let mut out = write(storage, &path, fields, batches, pairs, codec)
        .await
        .into_output();
    out.close().await.unwrap();
    path
}

async fn read(
    storage: &Storage,
    path: &str,
    fields: &[DataField],
    selection: Option<RoaringBitmap>,
) -> RecordBatch {
    let format: Arc<dyn FileFormat> = OrcFormatFactory::new().create(&options(&[])).unwrap();
    let request = ReadRequest {
        fields: Some(fields.to_vec()),
        selection,
        ..ReadRequest::default()
    };
    let (batches, _) = read_file(format.as_ref(), storage, path, &request).await.unwrap();
    concat_batches(&Arc::new(to_arrow_schema(fields)), &batches).unwrap()
}

/// CHAR values without the blanks at their end, which no reader gives.
fn trimmed(batch: &RecordBatch, fields: &[DataField]) -> RecordBatch {
    let trim = |column: &ArrayRef| -> ArrayRef {
        let text = column.as_string::<i32>().iter();
        Arc::new(
            text.map(|t| t.map(|t| t.trim_end_matches(' ')))
                .collect::<StringArray>(),
        )
    };
    let columns = batch.columns().iter().zip(fields);
    let columns = columns.map(|(column, field)| match field.data_type.kind {
        TypeKind::Char(_) => trim(column),
        _ => column.clone(),
    });
    RecordBatch::try_new(batch.schema(), columns.collect()).unwrap()
}

#[track_caller]
fn assert_same(read: &RecordBatch, wanted: &RecordBatch, what: &str) {
    assert_eq!(read.num_rows(), wanted.num_rows(), "{what}");
    for (index, field) in wanted.schema().fields().iter().enumerate() {
        assert!(
            read.column(index) == wanted.column(index),
            "{what}: column {}",
            field.name()
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_type_and_codec_with_any_selection() {
    let fields = fields();
    let schema = Arc::new(to_arrow_schema(&fields));
    for (seed, codec) in (1..).zip(["none", "zlib", "snappy", "lz4", "zstd"]) {
        for pairs in [
            &[("orc.row.index.stride", "1000"), ("orc.compress.size", "700")][..],
            &[
                ("orc.stripe.row.count", "1300"),
                ("orc.dictionary.key.threshold", "1"),
            ],
            &[
                ("orc.stripe.size", "20000"),
                ("orc.dictionary.early.check", "false"),
            ],
        ] {
            let batches: Vec<RecordBatch> = (0..5)
                .map(|part| sample_batch(&fields, 713, seed * 10 + part).unwrap())
                .collect();
            let storage = Storage::memory();
            let path = store(&storage, &fields, &batches, pairs, codec).await;
            let all = trimmed(&concat_batches(&schema, &batches).unwrap(), &fields);
            let what = format!("{codec} {pairs:?}");
            assert_same(&read(&storage, &path, &fields, None).await, &all, &what);
            let mut sampler = Sampler::new(seed);
            for share in [2, 50, 1500] {
                let wanted: Vec<bool> = (0..all.num_rows()).map(|_| sampler.below(share) == 0).collect();
                let rows = (0..)
                    .zip(&wanted)
                    .filter(|(_, wanted)| **wanted)
                    .map(|(row, _)| row);
                let selection = rows.collect::<RoaringBitmap>();
                let some = filter_record_batch(&all, &BooleanArray::from(wanted)).unwrap();
                assert_same(
                    &read(&storage, &path, &fields, Some(selection)).await,
                    &some,
                    &what,
                );
            }
        }
    }
}

#[tokio::test]
async fn runs_and_seeks_of_every_stream() {
    let fields = shapes_fields();
    let schema = Arc::new(to_arrow_schema(&fields));
    let batches: Vec<RecordBatch> = (0..4).map(|part| shapes(&fields, part * 5000, 5000)).collect();
    let all = concat_batches(&schema, &batches).unwrap();
    for codec in ["none", "snappy", "zstd"] {
        for size in ["300", "262144"] {
            let storage = Storage::memory();
            let pairs = [("orc.row.index.stride", "1000"), ("orc.compress.size", size)];
            let path = store(&storage, &fields, &batches, &pairs, codec).await;
            assert_same(&read(&storage, &path, &fields, None).await, &all, codec);
            // The first and the last row of each row group alone.
            for group in 0..20u32 {
                let rows = [group * 1000, group * 1000 + 999];
                let some = concat_batches(&schema, &rows.map(|row| all.slice(row as usize, 1))).unwrap();
                let selection = rows.into_iter().collect::<RoaringBitmap>();
                let read = read(&storage, &path, &fields, Some(selection)).await;
                assert_same(&read, &some, &format!("{codec} {size} group {group}"));
            }
        }
    }
}

#[tokio::test]
async fn values_of_null_rows_are_not_written() {
    let element = DataType::required(TypeKind::Int);
    let row = TypeKind::Row(vec![DataField::new(5, "x", element.clone())]);
    let fields = [
        DataField::new(0, "l", DataType::new(TypeKind::Array(Box::new(element)))),
        DataField::new(1, "r", DataType::new(row)),
    ];
    let schema = Arc::new(to_arrow_schema(&fields));
    let (list, children) = match (schema.field(0).data_type(), schema.field(1).data_type()) {
        (arrow_schema::DataType::List(inner), arrow_schema::DataType::Struct(children)) => (inner, children),
        _ => panic!("other types"),
    };
    let nulls = NullBuffer::from(vec![true, false, true, false]);
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3, 4, 5, 6]));
    let lists = ListArray::new(
        list.clone(),
        OffsetBuffer::from_lengths([1, 2, 2, 1]),
        numbers.clone(),
        Some(nulls.clone()),
    );
    let structs = StructArray::new(children.clone(), vec![numbers.slice(0, 4)], Some(nulls));
    let batch = RecordBatch::try_new(schema, vec![Arc::new(lists), Arc::new(structs)]).unwrap();
    let storage = Storage::memory();
    let path = store(
        &storage,
        &fields,
        &[batch.slice(0, 2), batch.slice(2, 2)],
        &[],
        "none",
    )
    .await;
    let read = read(&storage, &path, &fields, None).await;
    let list = read.column(0).as_list::<i32>();
    assert_eq!(list.values().as_ref(), &Int32Array::from(vec![1, 4, 5]));
    assert_eq!(read.column(0), batch.column(0));
    assert_eq!(read.column(1), batch.column(1));
}

#[tokio::test]
async fn very_long_strings_and_dictionaries_that_do_not_fit() {
    let fields = [DataField::new(0, "s", DataType::string())];
    let schema = Arc::new(to_arrow_schema(&fields));
    let long = "ä".repeat(300_000);
    let text = |i: usize| match i % 100 {
        7 => Some(long.clone()),
        8 => None,
        _ => Some(format!("{}", i % 3)),
    };
    let batches: Vec<RecordBatch> = (0..3)
        .map(|part| {
            let column = (part * 1500..(part + 1) * 1500).map(|i| {
                // More distinct bytes than a dictionary may have come in the second batch.
                if part == 1 {
                    text(i).map(|t| format!("{i}{t}"))
                } else {
                    text(i)
                }
            });
            RecordBatch::try_new(schema.clone(), vec![Arc::new(column.collect::<StringArray>())]).unwrap()
        })
        .collect();
    let all = concat_batches(&schema, &batches).unwrap();
    for codec in ["none", "lz4"] {
        let storage = Storage::memory();
        let path = store(
            &storage,
            &fields,
            &batches,
            &[("orc.row.index.stride", "1000")],
            codec,
        )
        .await;
        assert_same(&read(&storage, &path, &fields, None).await, &all, codec);
        let selection = (3999..4010).collect::<RoaringBitmap>();
        let read = read(&storage, &path, &fields, Some(selection)).await;
        assert_same(&read, &all.slice(3999, 11), codec);
    }
}
