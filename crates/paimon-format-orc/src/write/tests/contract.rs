// SPDX-License-Identifier: Apache-2.0

use std::sync::Arc;

use arrow_array::*;
use paimon_format::testkit::sample_batch;
use paimon_format::{
    BoundedMemoryPool, FileFormatFactory, FormatWriter, MemoryPool, UnboundedMemoryPool, WriterBuilder,
};
use paimon_storage::Storage;
use paimon_types::{DataField, DataType, Datum, ErrorKind, Timestamp, TypeKind, to_arrow_schema};

use super::interop::{fields, options, write};
use crate::OrcFormatFactory;
use crate::write::OrcWriterBuilder;

fn one(kind: TypeKind) -> Vec<DataField> {
    vec![DataField::new(0, "c", DataType::new(kind))]
}

async fn writer(fields: &[DataField], pairs: &[(&str, &str)]) -> Box<dyn FormatWriter> {
    let builder = OrcWriterBuilder::new(fields, &options(pairs), 10).unwrap();
    let out = Storage::memory().open_output("memory:///t/f.orc").await.unwrap();
    builder.build(out, "zstd").unwrap()
}

async fn refused(kind: TypeKind, column: ArrayRef) -> String {
    let fields = one(kind);
    let batch = RecordBatch::try_new(Arc::new(to_arrow_schema(&fields)), vec![column]).unwrap();
    let mut writer = writer(&fields, &[]).await;
    let mut result = writer.add_batch(&batch).await;
    if result.is_ok() {
        result = writer.finish().await;
    }
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert_eq!(
        error.context().find(|(key, _)| *key == "column"),
        Some(("column", "c"))
    );
    // Errors stay.
    assert_eq!(writer.finish().await.unwrap_err().kind(), ErrorKind::InvalidInput);
    error.message().to_string()
}

#[test]
fn types_and_options_are_refused_by_name() {
    let vector = TypeKind::Vector(Box::new(DataType::required(TypeKind::Float)), 3);
    let nested = TypeKind::Row(vec![DataField::new(1, "v", DataType::new(TypeKind::Variant))]);
    for kind in [
        TypeKind::Variant,
        vector,
        nested,
        TypeKind::Geometry("OGC:CRS84".into()),
    ] {
        let error = OrcWriterBuilder::new(&one(kind), &options(&[]), 10).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.context().any(|entry| entry == ("column", "c")), "{error}");
        assert!(error.context().any(|(key, _)| key == "type"), "{error}");
    }
    let fields = one(TypeKind::Int);
    for (key, value) in [
        ("orc.row.index.stride", "10"),
        ("orc.compress.size", "8388608"),
        ("orc.stripe.size", "many"),
        ("orc.bloom.filter.columns", "c,other"),
        ("orc.bloom.filter.fpp", "1"),
        ("orc.encrypt", "key:c"),
        ("orc.write.format", "0.11"),
        ("ORC.encoding.strategy", "BEST"),
        ("orc.timestamp-ltz.legacy.type", "maybe"),
        ("orc.proleptic.gregorian", "true"),
        ("file.compression.zstd-level", "high"),
    ] {
        let error = OrcWriterBuilder::new(&fields, &options(&[(key, value)]), 10).unwrap_err();
        let named = key.replace("ORC", "orc");
        assert!(
            error.context().any(|entry| entry == ("option", named.as_str())),
            "{key}: {error}"
        );
    }
}

#[tokio::test]
async fn values_that_cannot_be_read_again_are_refused() {
    let text: ArrayRef = Arc::new(StringArray::from(vec!["äöü", "äöüß"]));
    assert!(
        refused(TypeKind::VarChar(3), text.clone())
            .await
            .contains("4 characters")
    );
    assert!(refused(TypeKind::Char(3), text).await.contains("4 characters"));
    let second: ArrayRef = Arc::new(TimestampMillisecondArray::from(vec![-1000, -1]));
    assert!(
        refused(TypeKind::Timestamp(3), second)
            .await
            .contains("1969-12-31 23:59:59.999")
    );
    let decimal = Decimal128Array::from(vec![99_999, 100_000]);
    let decimal: ArrayRef = Arc::new(decimal.with_precision_and_scale(5, 2).unwrap());
    let kind = TypeKind::Decimal {
        precision: 5,
        scale: 2,
    };
    assert!(refused(kind, decimal).await.contains("1000"));
}

#[tokio::test]
async fn nulls_are_refused_at_every_level() {
    let element = DataType::required(TypeKind::Int);
    let fields = [DataField::new(
        0,
        "c",
        DataType::new(TypeKind::Array(Box::new(element))),
    )];
    let list = {
        let mut builder = builder::ListBuilder::new(builder::Int32Builder::new());
        builder.append_value([Some(1), None]);
        builder.finish()
    };
    let schema = arrow_schema::Schema::new(vec![arrow_schema::Field::new(
        "c",
        list.data_type().clone(),
        true,
    )]);
    let batch = RecordBatch::try_new(Arc::new(schema), vec![Arc::new(list)]).unwrap();
    let mut writer = writer(&fields, &[]).await;
    writer.add_batch(&batch).await.unwrap();
    let error = writer.finish().await.unwrap_err();
    assert!(error.message().contains("NOT NULL"), "{error}");
    assert!(error.context().any(|entry| entry == ("column", "c")), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statistics_of_writer_and_file_are_the_same() {
    let fields = fields();
    let batches: Vec<RecordBatch> = (0..3)
        .map(|seed| sample_batch(&fields, 900, seed).unwrap())
        .collect();
    let pool: Arc<dyn MemoryPool> = Arc::new(UnboundedMemoryPool::new());
    for pairs in [
        &[][..],
        &[
            ("orc.timestamp-ltz.legacy.type", "false"),
            ("orc.stripe.row.count", "1000"),
        ],
    ] {
        let storage = Storage::memory();
        let path = "memory:///t/f.orc";
        let writer = write(&storage, path, &fields, &batches, pairs, "zstd").await;
        let written = writer
            .written_stats()
            .unwrap()
            .extract_written_file_stats(&pool)
            .unwrap();
        writer.into_output().close().await.unwrap();
        let format = OrcFormatFactory::new().create(&options(pairs)).unwrap();
        let extractor = format.create_stats_extractor(&fields).unwrap();
        let file = storage.open_input(path, None).await.unwrap();
        let (read, info) = extractor
            .extract_with_file_info(file, pool.clone())
            .await
            .unwrap();
        assert_eq!(written, read);
        assert_eq!(info.row_count, 2700);
    }
}

#[tokio::test]
async fn statistics_are_exact() {
    let fields = [
        DataField::new(0, "t", DataType::new(TypeKind::Timestamp(3))),
        DataField::new(1, "d", DataType::new(TypeKind::Double)),
        DataField::new(2, "s", DataType::string()),
        DataField::new(3, "n", DataType::new(TypeKind::Double)),
    ];
    // 0001-01-01, 1582-10-10 and 1970-01-01.
    let times = vec![
        Some(-62_135_596_800_000),
        None,
        Some(-12_219_724_800_000),
        Some(0),
    ];
    let long = "y".repeat(2000);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(TimestampMillisecondArray::from(times)),
        Arc::new(Float64Array::from(vec![Some(0.0), Some(-0.0), None, Some(-0.0)])),
        Arc::new(StringArray::from(vec![Some("b"), Some(&long), None, Some("c")])),
        Arc::new(Float64Array::from(vec![1.0, f64::NAN, 2.0, 3.0])),
    ];
    let batch = RecordBatch::try_new(Arc::new(to_arrow_schema(&fields)), columns).unwrap();
    let pool: Arc<dyn MemoryPool> = Arc::new(UnboundedMemoryPool::new());
    let storage = Storage::memory();
    let writer = write(&storage, "memory:///t/f.orc", &fields, &[batch], &[], "none").await;
    let stats = writer
        .written_stats()
        .unwrap()
        .extract_written_file_stats(&pool)
        .unwrap();
    let [times, doubles, strings, nans] = &stats[..] else {
        panic!("four columns");
    };
    let time = |millis| Some(Datum::Timestamp(Timestamp::from_millis(millis)));
    assert_eq!(
        (times.min.clone(), times.max.clone()),
        (time(-62_135_596_800_000), time(0))
    );
    assert_eq!(times.null_count, Some(1));
    assert_eq!(doubles.min, Some(Datum::Double(-0.0)));
    assert_eq!(doubles.max, Some(Datum::Double(0.0)));
    // Java tells no bound that was cut.
    assert_eq!(strings.min, Some(Datum::String("b".into())));
    assert_eq!(strings.max, None);
    assert_eq!((nans.min.clone(), nans.max.clone()), (None, None));
}

#[tokio::test]
async fn blanks_at_the_end_of_char_are_no_part_of_it() {
    let fields = one(TypeKind::Char(3));
    let column: ArrayRef = Arc::new(StringArray::from(vec![
        Some("b  "),
        None,
        Some("a    "),
        Some("abc"),
    ]));
    let batch = RecordBatch::try_new(Arc::new(to_arrow_schema(&fields)), vec![column]).unwrap();
    let pool: Arc<dyn MemoryPool> = Arc::new(UnboundedMemoryPool::new());
    let storage = Storage::memory();
    let writer = write(&storage, "memory:///t/f.orc", &fields, &[batch], &[], "none").await;
    let stats = writer
        .written_stats()
        .unwrap()
        .extract_written_file_stats(&pool)
        .unwrap();
    assert_eq!(stats[0].min, Some(Datum::String("a".into())));
    assert_eq!(stats[0].max, Some(Datum::String("b".into())));
    assert_eq!(stats[0].null_count, Some(1));
}

#[tokio::test]
async fn memory_is_charged_and_given_back() {
    let fields = fields();
    let batch = sample_batch(&fields, 5000, 1).unwrap();
    let mut builder = OrcWriterBuilder::new(&fields, &options(&[]), 10).unwrap();
    let pool: Arc<dyn MemoryPool> = Arc::new(UnboundedMemoryPool::new());
    builder.with_memory_pool(pool.clone());
    let storage = Storage::memory();
    let out = storage.open_output("memory:///t/f.orc").await.unwrap();
    let mut writer = builder.build(out, "snappy").unwrap();
    writer.add_batch(&batch).await.unwrap();
    assert!(pool.reserved() > 100_000);
    assert!(writer.reach_target_size(true, 1000).unwrap());
    writer.flush().await.unwrap();
    assert!(!writer.reach_target_size(true, 1 << 30).unwrap());
    writer.finish().await.unwrap();
    assert_eq!(pool.reserved(), 0);
    assert_eq!(writer.metrics().get("orc.write.rows"), Some(5000));
    builder.with_memory_pool(Arc::new(BoundedMemoryPool::new(1000)));
    let out = storage.open_output("memory:///t/g.orc").await.unwrap();
    let mut writer = builder.build(out, "snappy").unwrap();
    let error = writer.add_batch(&batch).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourcesExhausted);
}
