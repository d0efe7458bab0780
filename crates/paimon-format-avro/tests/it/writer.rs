// SPDX-License-Identifier: Apache-2.0

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, Int32Array, RecordBatch, StringArray, StructArray};
use paimon_format::testkit::{open, sample_batch, write_file};
use paimon_format::{BoundedMemoryPool, MemoryPool, ReadHints};
use paimon_storage::Storage;
use paimon_types::{Datum, ErrorKind, to_arrow_schema};

use crate::support::{bytes_of, fields, format, request};

fn batch(row: &str, columns: Vec<ArrayRef>) -> RecordBatch {
    RecordBatch::try_new(Arc::new(to_arrow_schema(&fields(row))), columns).unwrap()
}

#[tokio::test]
async fn types_and_names_that_avro_lacks_are_refused() {
    let refused = |row: &str| {
        let error = format(&[]).create_writer_builder(&fields(row), 1).err();
        error
            .map(|e| (e.kind(), e.to_string()))
            .unwrap_or_else(|| panic!("{row}"))
    };
    for row in [
        "ROW<bad VARIANT>",
        "ROW<bad TIMESTAMP(7)>",
        "ROW<bad TIMESTAMP(9) WITH LOCAL TIME ZONE>",
        "ROW<bad TIME(4)>",
        "ROW<a INT, bad ARRAY<TIME(9)>>",
        "ROW<`bad name` INT>",
        "ROW<`1bad` INT>",
    ] {
        let (kind, text) = refused(row);
        assert_eq!(kind, ErrorKind::Unsupported, "{row}");
        assert!(text.contains("column") && text.contains("bad"), "{text}");
    }
    // Two records of one name: equal ones are one, different ones cannot be.
    let (kind, _) = refused("ROW<a ROW<b ROW<x INT>>, a_b ROW<y INT>>");
    assert_eq!(kind, ErrorKind::Unsupported);
    let same = fields("ROW<a ROW<b ROW<x INT>>, a_b ROW<x INT>, `größe` INT, _x1 INT>");
    let rows = sample_batch(&same, 10, 1).unwrap();
    let bytes = bytes_of(format(&[]).as_ref(), &same, &rows, "none").await;
    let read = crate::support::read_bytes(bytes, &request(&same)).await.unwrap();
    assert_eq!(crate::support::joined(&same, &read), rows);
}

#[tokio::test]
async fn options_choose_the_codec() {
    let fields = fields("ROW<a INT>");
    let rows = batch("ROW<a INT>", vec![Arc::new(Int32Array::from(vec![1; 100]))]);
    let codec = async |options: &[(&str, &str)], compression: &str| {
        let bytes = bytes_of(format(options).as_ref(), &fields, &rows, compression).await;
        let header = paimon_avro::Header::read(&mut paimon_avro::Cursor::new(&bytes)).unwrap();
        header.codec.to_owned()
    };
    assert_eq!(codec(&[], "zstd").await, "zstandard");
    assert_eq!(codec(&[("avro.codec", "snappy")], "zstd").await, "snappy");
    assert_eq!(codec(&[("AVRO.codec", "deflate")], "zstd").await, "deflate");
    assert_eq!(
        codec(&[("file.compression.zstd-level", "9")], "ZSTD").await,
        "zstandard"
    );
    let build = |options: &[(&str, &str)]| {
        let out = futures_util::FutureExt::now_or_never(Storage::memory().open_output("memory:///t/x.avro"));
        let builder = format(options).create_writer_builder(&fields, 1)?;
        builder.build(out.unwrap().unwrap(), "zstd").map(drop)
    };
    for (key, value) in [
        ("avro.codec", "lzo"),
        ("file.compression.zstd-level", "high"),
        ("avro.row-name-mapping", "a:b"),
    ] {
        let error = build(&[(key, value)]).unwrap_err().to_string();
        assert!(error.contains(key) && error.contains(value), "{error}");
    }
}

#[tokio::test]
async fn statistics_are_collected_as_java_does() {
    let row = "ROW<a INT, d DOUBLE, s STRING, n INT, r ROW<x INT>>";
    let fields = fields(row);
    let inner = to_arrow_schema(&fields);
    let arrow_schema::DataType::Struct(children) = inner.field(4).data_type().clone() else {
        panic!()
    };
    let rows = |numbers: Vec<Option<i32>>, doubles: Vec<f64>, texts: Vec<&str>| {
        let len = numbers.len();
        let nested = StructArray::try_new(
            children.clone(),
            vec![Arc::new(Int32Array::from(vec![1; len]))],
            Some((0..len).map(|i| i % 2 == 0).collect::<Vec<bool>>().into()),
        );
        batch(
            row,
            vec![
                Arc::new(Int32Array::from(numbers)),
                Arc::new(Float64Array::from(doubles)),
                Arc::new(StringArray::from(texts)),
                Arc::new(Int32Array::new_null(len)),
                Arc::new(nested.unwrap()),
            ],
        )
    };
    let batches = [
        rows(vec![Some(5), None], vec![0.0, -0.0], vec!["b", "z"]),
        rows(vec![Some(-7), Some(3)], vec![f64::NAN, 1.0], vec!["", "é"]),
    ];
    let storage = Storage::memory();
    let path = "memory:///t/x.avro";
    let written = write_file(format(&[]).as_ref(), &storage, path, &fields, &batches, "zstd")
        .await
        .unwrap();
    let stats = written.stats.unwrap();
    assert_eq!(
        (stats[0].min.clone(), stats[0].max.clone()),
        (Some(Datum::Int(-7)), Some(Datum::Int(5)))
    );
    assert_eq!(stats[0].null_count, Some(1));
    assert!(matches!(stats[1].min, Some(Datum::Double(zero)) if zero == 0.0 && zero.is_sign_negative()));
    assert!(matches!(stats[1].max, Some(Datum::Double(nan)) if nan.is_nan()));
    assert_eq!(stats[2].max, Some(Datum::String("é".to_owned())));
    assert_eq!(stats[2].min, Some(Datum::String(String::new())));
    assert_eq!((stats[3].min.clone(), stats[3].null_count), (None, Some(4)));
    assert_eq!((stats[4].min.clone(), stats[4].null_count), (None, Some(2)));
}

#[tokio::test]
async fn errors_are_sticky_and_the_stream_comes_back() {
    let fields = fields("ROW<a INT NOT NULL, s ROW<x INT NOT NULL>>");
    let storage = Storage::memory();
    let path = "memory:///t/x.avro";
    let mut builder = format(&[]).create_writer_builder(&fields, 1).unwrap();
    builder.with_memory_pool(Arc::new(BoundedMemoryPool::new(1 << 20)));
    let out = storage.open_output(path).await.unwrap();
    let mut writer = builder.build(out, "zstd").unwrap();
    let wrong =
        RecordBatch::try_from_iter([("a", Arc::new(StringArray::from(vec!["x"])) as ArrayRef)]).unwrap();
    let error = writer.add_batch(&wrong).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert_eq!(writer.finish().await.unwrap_err().kind(), ErrorKind::InvalidInput);
    assert!(writer.written_stats().is_some_and(|stats| {
        let pool: Arc<dyn paimon_format::MemoryPool> = Arc::new(BoundedMemoryPool::new(1));
        stats.extract_written_file_stats(&pool).is_err()
    }));
    writer.into_output().abort().await.unwrap();
    assert!(!storage.exists(path).await.unwrap());

    builder.with_memory_pool(Arc::new(BoundedMemoryPool::new(1 << 16)));
    let out = storage.open_output(path).await.unwrap();
    let mut writer = builder.build(out, "zstd").unwrap();
    let rows = sample_batch(&fields, 100_000, 1).unwrap();
    assert_eq!(
        writer.add_batch(&rows).await.unwrap_err().kind(),
        ErrorKind::ResourcesExhausted
    );
}

#[tokio::test]
async fn blocks_go_out_while_writing_and_reads_skip_them() {
    let fields = fields("ROW<a INT, s STRING>");
    let storage = Storage::memory();
    let path = "memory:///t/x.avro";
    let out = storage.open_output(path).await.unwrap();
    let mut writer = format(&[])
        .create_writer_builder(&fields, 1)
        .unwrap()
        .build(out, "none")
        .unwrap();
    let rows = sample_batch(&fields, 50_000, 1).unwrap();
    for _ in 0..4 {
        writer.add_batch(&rows).await.unwrap();
    }
    writer.flush().await.unwrap();
    assert!(writer.reach_target_size(true, 100_000).unwrap());
    assert!(!writer.reach_target_size(true, 100_000_000).unwrap());
    writer.finish().await.unwrap();
    writer.into_output().close().await.unwrap();
    let mut reader = open(format(&[]).as_ref(), &storage, path, 1000).await.unwrap();
    assert_eq!(reader.number_of_rows().unwrap(), 200_000);
    let selection = [7u32, 150_000, 199_999].into_iter().collect();
    reader.set_read_schema(&fields, None, Some(selection)).unwrap();
    let found = reader.next_batch().await.unwrap().unwrap();
    assert_eq!(found.num_rows(), 3);
    assert_eq!(
        found.column(0).as_ref().slice(1, 1).to_data(),
        rows.column(0).slice(0, 1).to_data()
    );
    assert_eq!(reader.previous_batch_file_row_id(1).unwrap(), 150_000);
    assert_eq!(reader.next_batch().await.unwrap(), None);
    let skipped = reader.metrics().get("avro.read.blocks-skipped").unwrap();
    assert!(skipped > 10, "{skipped}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_does_not_grow_with_the_file() {
    let fields = fields("ROW<a INT, s STRING>");
    let storage = Storage::memory();
    let path = "memory:///t/x.avro";
    let rows = sample_batch(&fields, 100_000, 1).unwrap();
    let batches = vec![rows; 10];
    let file = write_file(format(&[]).as_ref(), &storage, path, &fields, &batches, "none")
        .await
        .unwrap();
    assert!(file.size > 8 << 20, "{}", file.size);
    let pool: Arc<dyn MemoryPool> = Arc::new(BoundedMemoryPool::new(2 << 20));
    let mut builder = format(&[]).create_reader_builder(10_000).unwrap();
    builder.with_memory_pool(pool.clone());
    builder.with_read_hints(Some(ReadHints::new().with_read_ahead_bytes(1 << 20)));
    let mut reader = builder
        .build(storage.open_input(path, Some(file.size)).await.unwrap())
        .await
        .unwrap();
    let mut count = 0;
    while let Some(batch) = reader.next_batch().await.unwrap() {
        count += batch.num_rows();
    }
    assert_eq!(count, 1_000_000);
    assert_eq!(reader.number_of_rows().unwrap(), 1_000_000);
    reader.set_read_schema(&fields, None, None).unwrap();
    reader.next_batch().await.unwrap();
    // Work in the background ends by itself, and gives everything back.
    drop(reader);
    for _ in 0..200 {
        if pool.reserved() == 0 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(pool.reserved(), 0);
    let mut builder = format(&[]).create_reader_builder(10_000).unwrap();
    builder.with_memory_pool(Arc::new(BoundedMemoryPool::new(1000)));
    let mut reader = builder
        .build(storage.open_input(path, Some(file.size)).await.unwrap())
        .await
        .unwrap();
    reader.set_read_schema(&fields, None, None).unwrap();
    let error = reader.next_batch().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourcesExhausted);
    assert_eq!(
        reader.next_batch().await.unwrap_err().kind(),
        ErrorKind::ResourcesExhausted
    );
}
