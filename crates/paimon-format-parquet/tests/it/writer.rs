// SPDX-License-Identifier: Apache-2.0

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, Float32Array, Int32Array, RecordBatch};
use arrow_select::filter::filter;
use paimon_format::testkit::{ReadRequest, all_type_fields, open, read_file, sample_batch, write_file};
use paimon_format::{BoundedMemoryPool, Cache, LruCache, MemoryPool};
use paimon_storage::Storage;
use paimon_types::{ColumnStats, DataField, DataType, Datum, ErrorKind, TypeKind, to_arrow_schema};
use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::printer::print_schema;

use crate::support::{format, joined};

async fn footer(storage: &Storage, path: &str) -> SerializedFileReader<bytes::Bytes> {
    SerializedFileReader::new(storage.read(path).await.unwrap()).unwrap()
}

#[tokio::test]
async fn schema_of_the_file_is_javas() {
    let storage = Storage::memory();
    let path = "memory:///t/a.parquet";
    let n = DataType::new;
    let row = TypeKind::Row(vec![DataField::new(7, "x", DataType::required(TypeKind::Int))]);
    let fields = vec![
        DataField::new(
            0,
            "a",
            DataType::required(TypeKind::Decimal {
                precision: 20,
                scale: 2,
            }),
        ),
        DataField::new(1, "b", n(TypeKind::Time(9))),
        DataField::new(2, "c", n(TypeKind::Timestamp(7))),
        DataField::new(
            3,
            "d",
            n(TypeKind::Array(Box::new(n(TypeKind::Array(Box::new(n(
                TypeKind::Int,
            ))))))),
        ),
        DataField::new(
            4,
            "e",
            n(TypeKind::Map(Box::new(DataType::string()), Box::new(n(row)))),
        ),
        DataField::new(5, "f", n(TypeKind::Multiset(Box::new(DataType::string())))),
        DataField::new(6, "g", n(TypeKind::Variant)),
    ];
    let batch = sample_batch(&fields, 100, 1).unwrap();
    write_file(format(&[]).as_ref(), &storage, path, &fields, &[batch], "zstd")
        .await
        .unwrap();
    let reader = footer(&storage, path).await;
    let mut text = Vec::new();
    print_schema(&mut text, reader.metadata().file_metadata().schema());
    let expected = "\
message paimon_schema {
  REQUIRED FIXED_LEN_BYTE_ARRAY (9) a [0] (DECIMAL(20,2));
  OPTIONAL INT32 b [1] (TIME(MILLIS,true));
  OPTIONAL INT96 c [2];
  OPTIONAL group d [3] (LIST) {
    REPEATED group list {
      OPTIONAL group element [536873984] (LIST) {
        REPEATED group list {
          OPTIONAL INT32 element [536873985];
        }
      }
    }
  }
  OPTIONAL group e [4] (MAP) {
    REPEATED group key_value {
      REQUIRED BYTE_ARRAY key [536866814] (STRING);
      OPTIONAL group value [536875008] {
        REQUIRED INT32 x [7];
      }
    }
  }
  OPTIONAL group f [5] (MAP) {
    REPEATED group key_value {
      REQUIRED BYTE_ARRAY key [536865790] (STRING);
      REQUIRED INT32 value [536876032];
    }
  }
  OPTIONAL group g [6] {
    REQUIRED BYTE_ARRAY value [0];
    REQUIRED BYTE_ARRAY metadata [1];
  }
}
";
    assert_eq!(String::from_utf8(text).unwrap(), expected);
    let chunk = reader.metadata().row_group(0).column(2);
    assert_eq!(chunk.column_type(), Physical::INT96);
    let stats = chunk.statistics().unwrap();
    assert!(stats.min_bytes_opt().is_none() && stats.null_count_opt().is_some());
    assert_eq!(chunk.column_index_offset(), None);
}

#[tokio::test]
async fn widths_of_decimals() {
    let storage = Storage::memory();
    for (precision, width) in (19..=38).zip([
        9, 9, 9, 10, 10, 11, 11, 11, 12, 12, 13, 13, 13, 14, 14, 15, 15, 16, 16, 16,
    ]) {
        let fields = [DataField::new(
            0,
            "d",
            DataType::new(TypeKind::Decimal { precision, scale: 0 }),
        )];
        let path = format!("memory:///t/{precision}.parquet");
        let batch = sample_batch(&fields, 50, 1).unwrap();
        write_file(
            format(&[]).as_ref(),
            &storage,
            &path,
            &fields,
            std::slice::from_ref(&batch),
            "none",
        )
        .await
        .unwrap();
        let reader = footer(&storage, &path).await;
        let column = reader.metadata().file_metadata().schema_descr().column(0);
        assert_eq!(column.type_length(), width, "{precision}");
        assert!(matches!(column.logical_type_ref(), Some(LogicalType::Decimal(_))));
        assert_eq!(column.converted_type(), ConvertedType::DECIMAL);
        let request = ReadRequest {
            fields: Some(fields.to_vec()),
            ..ReadRequest::default()
        };
        let (read, _) = read_file(format(&[]).as_ref(), &storage, &path, &request)
            .await
            .unwrap();
        assert_eq!(joined(&fields, &read), batch);
    }
}

async fn float_stats(storage: &Storage, groups: &[&[f32]]) -> ColumnStats {
    let fields = [DataField::new(0, "f", DataType::new(TypeKind::Float))];
    let path = "memory:///t/f.parquet";
    let rows = groups[0].len().to_string();
    let batches: Vec<RecordBatch> = groups
        .iter()
        .map(|values| {
            let array: ArrayRef = Arc::new(Float32Array::from(values.to_vec()));
            RecordBatch::try_new(Arc::new(to_arrow_schema(&fields)), vec![array]).unwrap()
        })
        .collect();
    let format = format(&[("parquet.block.row.count.limit", &rows)]);
    let file = write_file(format.as_ref(), storage, path, &fields, &batches, "none")
        .await
        .unwrap();
    let input = storage.open_input(path, None).await.unwrap();
    let pool: Arc<dyn MemoryPool> = Arc::new(BoundedMemoryPool::new(1 << 20));
    let stats = format
        .create_stats_extractor(&fields)
        .unwrap()
        .extract(input, pool)
        .await
        .unwrap();
    assert_eq!(
        format!("{:?}", Some(&stats)),
        format!("{:?}", file.stats.as_ref())
    );
    stats.into_iter().next().unwrap()
}

#[tokio::test]
async fn bounds_of_floats_as_java_reads_them() {
    let storage = Storage::memory();
    let bounds = |min: f32, max: f32| ColumnStats {
        min: Some(Datum::Float(min)),
        max: Some(Datum::Float(max)),
        null_count: Some(0),
    };
    assert_eq!(
        float_stats(&storage, &[&[1.0, -2.0], &[7.0, 3.0]]).await,
        bounds(-2.0, 7.0)
    );
    // A NaN is greater than all.
    let nan = f32::NAN;
    let cases: [(&[&[f32]], f32); 3] = [
        (&[&[1.0, nan], &[2.0, 0.5]], 0.5),
        (&[&[nan, -1.0], &[nan, nan]], -1.0),
        (&[&[nan, nan]], nan),
    ];
    for (values, min) in cases {
        let nans = float_stats(&storage, values).await;
        let is = |bound: Option<Datum>, expected: f32| match bound {
            Some(Datum::Float(found)) => found.total_cmp(&expected).is_eq(),
            _ => false,
        };
        assert!(
            is(nans.min.clone(), min) && is(nans.max.clone(), f32::NAN),
            "{nans:?}"
        );
        assert_eq!(nans.null_count, Some(0));
    }
    // Zeros have both signs.
    let zeros = float_stats(&storage, &[&[0.0, 0.0], &[0.0, 0.0]]).await;
    assert!(matches!(zeros.min, Some(Datum::Float(v)) if v.to_bits() == (-0.0f32).to_bits()));
    assert!(matches!(zeros.max, Some(Datum::Float(v)) if v.to_bits() == 0.0f32.to_bits()));
}

#[tokio::test]
async fn nulls_in_not_null_columns_are_refused() {
    let storage = Storage::memory();
    let fields = [DataField::new(0, "n", DataType::required(TypeKind::Int))];
    let array: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None]));
    let batch = RecordBatch::try_from_iter([("n", array.clone())]).unwrap();
    let error = write_file(
        format(&[]).as_ref(),
        &storage,
        "memory:///t/n",
        &fields,
        &[batch],
        "none",
    )
    .await
    .err()
    .unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains("column: n"), "{error}");

    let wrong: ArrayRef = Arc::new(Float32Array::from(vec![1.0]));
    let batch = RecordBatch::try_from_iter([("n", wrong)]).unwrap();
    let error = write_file(
        format(&[]).as_ref(),
        &storage,
        "memory:///t/n",
        &fields,
        &[batch],
        "none",
    )
    .await
    .err()
    .unwrap();
    assert!(
        error.to_string().contains("Float32") && error.to_string().contains("column: n"),
        "{error}"
    );

    let row = TypeKind::Row(vec![DataField::new(1, "x", DataType::required(TypeKind::Int))]);
    let fields = [DataField::new(0, "r", DataType::new(row))];
    let inner = Arc::new(arrow_schema::Field::new("x", arrow_schema::DataType::Int32, true));
    let rows: ArrayRef = Arc::new(arrow_array::StructArray::from(vec![(inner, array)]));
    let batch = RecordBatch::try_from_iter([("r", rows)]).unwrap();
    let error = write_file(
        format(&[]).as_ref(),
        &storage,
        "memory:///t/n",
        &fields,
        &[batch],
        "none",
    )
    .await
    .err()
    .unwrap();
    assert!(error.to_string().contains("column: r"), "{error}");
}

#[tokio::test]
async fn errors_of_a_writer_are_sticky_and_the_stream_comes_back() {
    let storage = Storage::memory();
    let fields = [DataField::new(0, "n", DataType::new(TypeKind::Int))];
    let builder = format(&[]).create_writer_builder(&fields, 10).unwrap();
    let mut writer = builder
        .build(storage.open_output("memory:///t/n").await.unwrap(), "zstd")
        .unwrap();
    let good = sample_batch(&fields, 10, 1).unwrap();
    let wrong =
        RecordBatch::try_from_iter([("n", Arc::new(Float32Array::from(vec![1.0])) as ArrayRef)]).unwrap();
    writer.add_batch(&good).await.unwrap();
    writer.add_batch(&wrong).await.unwrap();
    let error = writer.flush().await.unwrap_err();
    for _ in 0..2 {
        assert_eq!(writer.add_batch(&good).await.unwrap_err().kind(), error.kind());
        assert_eq!(writer.finish().await.unwrap_err().kind(), error.kind());
    }
    assert!(
        writer
            .written_stats()
            .unwrap()
            .extract_written_file_stats(&pool())
            .is_err()
    );
    writer.into_output().abort().await.unwrap();
    assert!(!storage.exists("memory:///t/n").await.unwrap());
}

fn pool() -> Arc<dyn MemoryPool> {
    Arc::new(BoundedMemoryPool::new(1 << 30))
}

#[tokio::test]
async fn options_are_checked_by_writers_only() {
    let bad = [
        ("parquet.page.size", "many"),
        ("parquet.writer.version", "v9"),
        ("parquet.enable.dictionary", "maybe"),
    ];
    for (key, value) in bad {
        let format = format(&[(key, value)]);
        assert!(format.create_reader_builder(10).is_ok());
        let fields = [DataField::new(0, "n", DataType::new(TypeKind::Int))];
        let storage = Storage::memory();
        let result = match format.create_writer_builder(&fields, 10) {
            Ok(builder) => builder
                .build(storage.open_output("memory:///t/n").await.unwrap(), "zstd")
                .map(|_| ()),
            Err(error) => Err(error),
        };
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains(key), "{error}");
    }
}

#[tokio::test]
async fn options_of_columns_and_metadata_of_the_footer() {
    let storage = Storage::memory();
    let fields: Vec<DataField> = ["a", "b"]
        .iter()
        .zip(0..)
        .map(|(n, id)| DataField::new(id, *n, DataType::new(TypeKind::Int)))
        .collect();
    let format = format(&[
        ("parquet.compression#b", "snappy"),
        ("PARQUET.enable.dictionary#a", "false"),
        ("parquet.bloom.filter.enabled#b", "true"),
        ("parquet.block.size", "2kb"),
    ]);
    let builder = format.create_writer_builder(&fields, 10).unwrap();
    let path = "memory:///t/o.parquet";
    let mut writer = builder
        .build(storage.open_output(path).await.unwrap(), "gzip")
        .unwrap();
    assert!(!writer.reach_target_size(true, 10).unwrap());
    for seed in 0..40 {
        writer
            .add_batch(&sample_batch(&fields, 200, seed).unwrap())
            .await
            .unwrap();
    }
    assert!(writer.reach_target_size(true, 1000).unwrap());
    writer
        .add_metadata(&BTreeMap::from([("k".to_string(), "1".to_string())]))
        .unwrap();
    writer
        .add_metadata(&BTreeMap::from([("k".to_string(), "2".to_string())]))
        .unwrap();
    writer.finish().await.unwrap();
    assert!(writer.add_metadata(&BTreeMap::new()).is_err());
    assert_eq!(writer.metrics().get("parquet.write.rows"), Some(8000));
    let mut out = writer.into_output();
    out.close().await.unwrap();
    let reader = footer(&storage, path).await;
    assert!(reader.metadata().num_row_groups() > 5);
    let group = reader.metadata().row_group(0);
    assert!(matches!(
        group.column(0).compression(),
        parquet::basic::Compression::GZIP(_)
    ));
    assert_eq!(group.column(1).compression(), parquet::basic::Compression::SNAPPY);
    assert_eq!(group.column(0).dictionary_page_offset(), None);
    assert!(group.column(1).bloom_filter_offset().is_some());
    let pairs = reader.metadata().file_metadata().key_value_metadata().unwrap();
    assert_eq!(
        pairs
            .iter()
            .map(|kv| (kv.key.as_str(), kv.value.as_deref()))
            .collect::<Vec<_>>(),
        [("k", Some("2"))]
    );
}

#[tokio::test]
async fn footers_are_cached() {
    let storage = Storage::memory();
    let fields = all_type_fields();
    let path = "memory:///t/c.parquet";
    let batch = sample_batch(&fields, 500, 1).unwrap();
    write_file(
        format(&[]).as_ref(),
        &storage,
        path,
        &fields,
        std::slice::from_ref(&batch),
        "zstd",
    )
    .await
    .unwrap();
    let cache = Arc::new(LruCache::new(10 << 20));
    let mut builder = format(&[]).create_reader_builder(100).unwrap();
    builder.with_cache(cache.clone());
    for _ in 0..3 {
        let mut reader = builder
            .build(storage.open_input(path, None).await.unwrap())
            .await
            .unwrap();
        let selection = Some((100u32..200).collect());
        reader.set_read_schema(&fields, None, selection).unwrap();
        assert_eq!(
            reader.next_batch().await.unwrap().unwrap().column(0),
            &batch.column(0).slice(100, 100)
        );
    }
    let stats = cache.stats();
    assert_eq!((stats.hits, stats.misses, stats.entries), (2, 1, 1));
    assert!(stats.weight > 1000);
}

#[tokio::test]
async fn a_small_memory_pool_is_an_error_and_comes_back_whole() {
    let storage = Storage::memory();
    let fields = all_type_fields();
    let path = "memory:///t/m.parquet";
    let batch = sample_batch(&fields, 5000, 1).unwrap();
    write_file(
        format(&[]).as_ref(),
        &storage,
        path,
        &fields,
        std::slice::from_ref(&batch),
        "zstd",
    )
    .await
    .unwrap();
    let small = Arc::new(BoundedMemoryPool::new(10_000));
    let mut builder = format(&[]).create_reader_builder(5000).unwrap();
    builder.with_memory_pool(small.clone());
    let mut reader = builder
        .build(storage.open_input(path, None).await.unwrap())
        .await
        .unwrap();
    reader.set_read_schema(&fields, None, None).unwrap();
    assert_eq!(
        reader.next_batch().await.unwrap_err().kind(),
        ErrorKind::ResourcesExhausted
    );
    assert_eq!(
        reader.next_batch().await.unwrap_err().kind(),
        ErrorKind::ResourcesExhausted
    );
    drop(reader);
    assert_eq!(small.reserved(), 0);

    let mut builder = format(&[]).create_writer_builder(&fields, 10).unwrap();
    builder.with_memory_pool(small.clone());
    let mut writer = builder
        .build(storage.open_output("memory:///t/m2").await.unwrap(), "zstd")
        .unwrap();
    assert_eq!(
        writer.add_batch(&batch).await.unwrap_err().kind(),
        ErrorKind::ResourcesExhausted
    );
    drop(writer);
    assert_eq!(small.reserved(), 0);
}

#[tokio::test]
async fn nested_fields_are_found_by_id_and_missing_ones_are_null() {
    let storage = Storage::memory();
    let path = "memory:///t/n.parquet";
    let row = |fields: Vec<(i32, &str, TypeKind)>| {
        let fields = fields
            .into_iter()
            .map(|(id, name, kind)| DataField::new(id, name, DataType::new(kind)))
            .collect();
        DataType::new(TypeKind::Row(fields))
    };
    let stored = [DataField::new(
        0,
        "r",
        row(vec![(1, "a", TypeKind::Int), (2, "b", TypeKind::BigInt)]),
    )];
    let batch = sample_batch(&stored, 100, 4).unwrap();
    write_file(
        format(&[]).as_ref(),
        &storage,
        path,
        &stored,
        std::slice::from_ref(&batch),
        "none",
    )
    .await
    .unwrap();
    // Names swapped, one field new, another order.
    let wanted = [DataField::new(
        0,
        "renamed",
        row(vec![
            (9, "new", TypeKind::Double),
            (2, "a", TypeKind::BigInt),
            (1, "b", TypeKind::Int),
        ]),
    )];
    let request = ReadRequest {
        fields: Some(wanted.to_vec()),
        ..ReadRequest::default()
    };
    let (read, _) = read_file(format(&[]).as_ref(), &storage, path, &request)
        .await
        .unwrap();
    let read = joined(&wanted, &read);
    let (from, to) = (batch.column(0).as_struct(), read.column(0).as_struct());
    assert_eq!(to.column(0).null_count(), 100);
    assert_eq!(to.nulls(), from.nulls());
    // Below null rows there are no values.
    let valid = from
        .nulls()
        .map(|nulls| BooleanArray::new(nulls.inner().clone(), None))
        .unwrap();
    let below = |array: &ArrayRef| filter(array, &valid).unwrap();
    assert_eq!(&below(to.column(1)), &below(from.column(1)));
    assert_eq!(&below(to.column(2)), &below(from.column(0)));
    // Only a field that the file does not have: rows are null where they were.
    let wanted = [DataField::new(0, "r", row(vec![(9, "new", TypeKind::Double)]))];
    let request = ReadRequest {
        fields: Some(wanted.to_vec()),
        ..ReadRequest::default()
    };
    let (read, _) = read_file(format(&[]).as_ref(), &storage, path, &request)
        .await
        .unwrap();
    assert_eq!(joined(&wanted, &read).column(0).as_struct().nulls(), from.nulls());
}

#[tokio::test]
async fn every_cut_of_a_small_file_is_an_error() {
    let storage = Storage::memory();
    let fields = [DataField::new(0, "n", DataType::string())];
    let path = "memory:///t/cut.parquet";
    write_file(
        format(&[]).as_ref(),
        &storage,
        path,
        &fields,
        &[sample_batch(&fields, 20, 1).unwrap()],
        "zstd",
    )
    .await
    .unwrap();
    let whole = storage.read(path).await.unwrap();
    for length in 0..whole.len() {
        storage
            .write("memory:///t/x.parquet", whole.slice(..length))
            .await
            .unwrap();
        let error = open(format(&[]).as_ref(), &storage, "memory:///t/x.parquet", 10)
            .await
            .err()
            .unwrap();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{length}: {error:?}");
        assert!(
            error.to_string().contains("parquet") && error.to_string().contains("memory:///t/x.parquet"),
            "{error}"
        );
    }
    // One byte changed anywhere: an error or rows, no panic.
    for position in 0..whole.len() {
        for bit in [0x01, 0x80, 0xff] {
            let mut damaged = whole.to_vec();
            damaged[position] ^= bit;
            storage
                .write("memory:///t/x.parquet", damaged.into())
                .await
                .unwrap();
            let request = ReadRequest {
                fields: Some(fields.to_vec()),
                ..ReadRequest::default()
            };
            let _ = read_file(format(&[]).as_ref(), &storage, "memory:///t/x.parquet", &request).await;
        }
    }
}

#[tokio::test]
async fn slices_of_nested_columns_are_written() {
    let storage = Storage::memory();
    let fields = all_type_fields();
    let path = "memory:///t/s.parquet";
    let batch = sample_batch(&fields, 1000, 8).unwrap();
    let parts = [
        batch.slice(990, 10),
        batch.slice(17, 300),
        batch.slice(500, 0),
        batch.slice(317, 1),
    ];
    write_file(format(&[]).as_ref(), &storage, path, &fields, &parts, "none")
        .await
        .unwrap();
    let request = ReadRequest {
        fields: Some(fields.clone()),
        ..ReadRequest::default()
    };
    let (read, _) = read_file(format(&[]).as_ref(), &storage, path, &request)
        .await
        .unwrap();
    assert_eq!(joined(&fields, &read), joined(&fields, &parts));
}

/// The pool has room for some batches: reading ahead never fails a read that would fit without it.
#[tokio::test]
async fn reading_ahead_stops_at_the_memory_pool() {
    let storage = Storage::memory();
    let fields = all_type_fields();
    let path = "memory:///t/p.parquet";
    let batch = sample_batch(&fields, 6000, 1).unwrap();
    write_file(
        format(&[]).as_ref(),
        &storage,
        path,
        &fields,
        std::slice::from_ref(&batch),
        "zstd",
    )
    .await
    .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let local = dir.path().join("p.parquet");
    std::fs::write(&local, storage.read(path).await.unwrap()).unwrap();
    let one = {
        let mut reader = open(format(&[]).as_ref(), &storage, path, 100).await.unwrap();
        reader.set_read_schema(&fields, None, None).unwrap();
        reader
            .next_batch()
            .await
            .unwrap()
            .unwrap()
            .get_array_memory_size()
    };
    let pool = Arc::new(BoundedMemoryPool::new(one * 3));
    let mut builder = format(&[]).create_reader_builder(100).unwrap();
    builder.with_memory_pool(pool.clone());
    let input = Storage::default()
        .open_input(local.to_str().unwrap(), None)
        .await
        .unwrap();
    let mut reader = builder.build(input).await.unwrap();
    reader.set_read_schema(&fields, None, None).unwrap();
    let mut read = Vec::new();
    while let Some(batch) = reader.next_batch().await.unwrap() {
        read.push(batch);
        tokio::task::yield_now().await;
    }
    assert_eq!(joined(&fields, &read), batch);
    drop(reader);
    assert_eq!(pool.reserved(), 0);
}
