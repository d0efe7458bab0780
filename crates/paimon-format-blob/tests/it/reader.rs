// SPDX-License-Identifier: Apache-2.0

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use paimon_format::{BoundedMemoryPool, Cache, LruCache, MemoryPool, ReadHints, UnboundedMemoryPool};
use paimon_format_blob::{PLACEHOLDER_COLUMN, placeholder_field};
use paimon_types::{BlobDescriptor, DataField, ErrorKind, Result};
use roaring::RoaringBitmap;

use crate::java::java_files;
use crate::support::{Recorded, all, blobs, field, format, open, rows, with_placeholders, written};

fn sizes(batches: &[RecordBatch]) -> Vec<usize> {
    batches.iter().map(RecordBatch::num_rows).collect()
}

#[tokio::test]
async fn only_selected_records_are_read() {
    let values: Vec<Vec<u8>> = (0..20_000u32)
        .map(|i| vec![i as u8; 10 + (i % 50) as usize])
        .collect();
    let values: Vec<Option<&[u8]>> = values.iter().map(|value| Some(value.as_slice())).collect();
    let file = Recorded::new(written(&[field("BLOB")], &blobs(&values)).await);
    let mut reader = open(format(&[]).as_ref(), file.clone(), 1 << 20).await.unwrap();
    // The index is longer than what is read at first.
    assert_eq!(file.taken().len(), 2);
    assert_eq!(reader.number_of_rows().unwrap(), 20_000);

    let selection: RoaringBitmap = [3u32, 4, 5, 100, 19_999, 20_000, u32::MAX].into_iter().collect();
    reader
        .set_read_schema(&[field("BLOB")], None, Some(selection))
        .unwrap();
    let batch = reader.next_batch().await.unwrap().unwrap();
    let found: Vec<&[u8]> = batch.column(0).as_binary::<i64>().iter().flatten().collect();
    let expected: Vec<&[u8]> = [3, 4, 5, 100, 19_999]
        .iter()
        .filter_map(|row| values[*row])
        .collect();
    assert_eq!(found, expected);
    let ids: Vec<u64> = (0..5)
        .map(|row| reader.previous_batch_file_row_id(row).unwrap())
        .collect();
    assert_eq!(ids, [3, 4, 5, 100, 19_999]);
    let read = file.taken();
    // Rows 3 to 5 lie side by side.
    assert_eq!(read.len(), 3);
    let bytes: u64 = read.iter().map(|range| range.end - range.start).sum();
    assert_eq!(bytes, 3 * 26 + (3 + 4 + 5) + 26 + 26 + 49);
    assert_eq!(reader.next_batch().await.unwrap(), None);

    // Neither the flags nor the number of rows need a record.
    for fields in [vec![], vec![placeholder_field()]] {
        reader.set_read_schema(&fields, None, None).unwrap();
        let batches = all(reader.as_mut()).await.unwrap();
        assert_eq!(sizes(&batches), [1000; 20]);
        assert!(file.taken().is_empty());
    }
    assert!(reader.metrics().get("blob.read.bytes") > Some(bytes));
}

#[tokio::test]
async fn batches_end_at_the_byte_budget() {
    let long = [1u8; 100];
    let values: Vec<Option<&[u8]>> = [Some(5), None, Some(100), Some(3), Some(3), None, Some(3)]
        .into_iter()
        .map(|length: Option<usize>| length.map(|length| &long[..length]))
        .collect();
    let file = Recorded::new(written(&[field("BLOB")], &blobs(&values)).await);
    let mut reader = open(format(&[]).as_ref(), file, 40).await.unwrap();
    let batches = all(reader.as_mut()).await.unwrap();
    // 21 bytes and a null; 116 alone; twice 19 and a null; 19.
    assert_eq!(sizes(&batches), [2, 1, 3, 1]);
    let schema = reader.file_schema().unwrap();
    assert_eq!(batches[0].schema(), schema);
    assert_eq!(schema.field(0).name(), "blob");
}

/// Counts the most that was reserved at a time.
#[derive(Debug, Default)]
struct Peak {
    pool: UnboundedMemoryPool,
    most: AtomicUsize,
}

impl MemoryPool for Peak {
    fn try_reserve(&self, bytes: usize) -> Result<()> {
        self.pool.try_reserve(bytes)?;
        self.most.fetch_max(self.pool.reserved(), Ordering::Relaxed);
        Ok(())
    }

    fn release(&self, bytes: usize) {
        self.pool.release(bytes);
    }

    fn reserved(&self) -> usize {
        self.pool.reserved()
    }

    fn limit(&self) -> Option<usize> {
        None
    }
}

#[tokio::test]
async fn large_values_come_alone_and_in_pieces() {
    let large: Vec<u8> = (0..20u32 << 20).map(|i| (i / 1000) as u8).collect();
    let batch = blobs(&[Some(b"a"), Some(&large), Some(b"b"), Some(b"c")]);
    let bytes = written(&[field("BLOB")], &batch).await;
    for (type_text, bytes) in [("BLOB", bytes.clone()), ("BLOB NOT NULL", bytes)] {
        let file = Recorded::new(bytes);
        let pool = Arc::new(Peak::default());
        let mut builder = format(&[]).create_reader_builder(1000).unwrap();
        builder.with_memory_pool(pool.clone());
        builder.with_read_hints(Some(ReadHints::new().with_read_ahead_bytes(1 << 20)));
        let mut reader = builder.build(file.clone()).await.unwrap();
        reader.set_read_schema(&[field(type_text)], None, None).unwrap();
        let batches = all(reader.as_mut()).await.unwrap();
        assert_eq!(sizes(&batches), [1, 1, 2]);
        assert!(batches[1].column(0).as_binary::<i64>().value(0) == large);
        assert!(
            file.taken()
                .iter()
                .all(|range| range.end - range.start <= 8 << 20)
        );
        let most = pool.most.load(Ordering::Relaxed);
        assert!((20 << 20..30 << 20).contains(&most), "{most}");
        assert_eq!(pool.reserved(), 0);
    }
}

#[tokio::test]
async fn what_does_not_fit_the_pool_is_not_read() {
    let large = vec![0u8; 3 << 20];
    let file = Recorded::new(written(&[field("BLOB")], &blobs(&[Some(b"a"), Some(&large)])).await);
    let mut builder = format(&[]).create_reader_builder(1).unwrap();
    let pool = Arc::new(BoundedMemoryPool::new(2 << 20));
    builder.with_memory_pool(pool.clone());
    let mut reader = builder.build(file.clone()).await.unwrap();
    reader.next_batch().await.unwrap().unwrap();
    file.taken();
    let error = reader.next_batch().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourcesExhausted);
    assert_eq!(reader.next_batch().await.unwrap_err().kind(), error.kind());
    assert!(file.taken().is_empty());
    assert_eq!(pool.reserved(), 0);
}

#[tokio::test]
async fn the_index_is_cached() {
    let file = Recorded::new(written(&[field("BLOB")], &blobs(&[Some(b"a"), None])).await);
    let cache = Arc::new(LruCache::new(1 << 20));
    for reads in [1, 0] {
        let mut builder = format(&[]).create_reader_builder(10).unwrap();
        builder.with_cache(cache.clone());
        let reader = builder.build(file.clone()).await.unwrap();
        assert_eq!(reader.number_of_rows().unwrap(), 2);
        assert_eq!(file.taken().len(), reads);
    }
    assert_eq!((cache.stats().hits, cache.stats().misses), (1, 1));
}

#[tokio::test]
async fn placeholders_are_never_shown_as_nulls() {
    let java = java_files()
        .into_iter()
        .find(|file| file.path.ends_with("placeholders.blob"))
        .unwrap();
    let file = Recorded::new(std::fs::read(&java.path).unwrap());
    let mut reader = open(format(&[]).as_ref(), file, 1 << 20).await.unwrap();
    reader.set_read_schema(&[field("BLOB")], None, None).unwrap();
    let error = reader.next_batch().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(
        error.to_string().contains(PLACEHOLDER_COLUMN) && error.to_string().contains("row 2"),
        "{error}"
    );

    // Rows without placeholder can be read; a null in a NOT NULL column cannot.
    let selection: RoaringBitmap = [0u32, 1, 3].into_iter().collect();
    reader
        .set_read_schema(&[field("BLOB")], None, Some(selection.clone()))
        .unwrap();
    assert_eq!(sizes(&all(reader.as_mut()).await.unwrap()), [3]);
    let required = with_placeholders("BLOB NOT NULL");
    reader.set_read_schema(&required, None, Some(selection)).unwrap();
    assert_eq!(reader.next_batch().await.unwrap_err().kind(), ErrorKind::Corrupt);
    let selection: RoaringBitmap = [0u32, 2, 3].into_iter().collect();
    reader.set_read_schema(&required, None, Some(selection)).unwrap();
    let batch = reader.next_batch().await.unwrap().unwrap();
    assert_eq!(batch.column(0).null_count(), 0);
    assert_eq!(
        rows(&[batch], None),
        [
            serde_json::json!("68656c6c6f"),
            serde_json::json!({"placeholder": true}),
            serde_json::json!("")
        ]
    );
}

#[tokio::test]
async fn descriptors_need_lengths_only() {
    let large = vec![7u8; 1 << 20];
    let file = Recorded::new(written(&[field("BLOB")], &blobs(&[Some(&large), None, Some(b"x")])).await);
    let descriptors = format(&[("blob-as-descriptor", "true")]);
    let mut reader = open(descriptors.as_ref(), file.clone(), 1 << 20).await.unwrap();
    file.taken();
    reader.set_read_schema(&[field("BLOB")], None, None).unwrap();
    let batch = reader.next_batch().await.unwrap().unwrap();
    assert!(file.taken().is_empty());
    let column = batch.column(0).as_binary::<i64>();
    let descriptor = BlobDescriptor::decode(column.value(0)).unwrap();
    assert_eq!((descriptor.offset, descriptor.length), (4, 1 << 20));
    assert!(column.is_null(1));
    let descriptor = BlobDescriptor::decode(column.value(2)).unwrap();
    assert_eq!((descriptor.offset, descriptor.length), ((1 << 20) + 20, 1));

    for name in ["array.blob", "map-string.blob"] {
        let java = java_files()
            .into_iter()
            .find(|file| file.path.ends_with(name))
            .unwrap();
        let bytes = std::fs::read(&java.path).unwrap();
        let size = bytes.len() as u64;
        let file = Recorded::new(bytes);
        let mut reader = open(descriptors.as_ref(), file.clone(), 1 << 20).await.unwrap();
        file.taken();
        reader
            .set_read_schema(&with_placeholders(&java.type_text), None, None)
            .unwrap();
        all(reader.as_mut()).await.unwrap();
        let read: u64 = file.taken().iter().map(|range| range.end - range.start).sum();
        assert!(read < size / 2, "{name}: {read} of {size}");
    }
}

#[tokio::test]
async fn schemas_that_no_blob_file_has() {
    let file = Recorded::new(written(&[field("BLOB")], &blobs(&[Some(b"a")])).await);
    let mut reader = open(format(&[]).as_ref(), file, 1 << 20).await.unwrap();
    let second = DataField::new(8, "c", field("BLOB").data_type);
    let flag = DataField::new(9, PLACEHOLDER_COLUMN, field("BOOLEAN").data_type);
    for (fields, kind) in [
        (vec![field("BLOB"), second], ErrorKind::InvalidInput),
        (vec![field("BLOB"), flag], ErrorKind::InvalidInput),
        (
            vec![placeholder_field(), placeholder_field()],
            ErrorKind::InvalidInput,
        ),
        (vec![field("BYTES")], ErrorKind::Unsupported),
        (vec![field("ARRAY<INT>")], ErrorKind::Unsupported),
        (vec![field("MAP<BLOB, INT>")], ErrorKind::Unsupported),
        (vec![field("MAP<DOUBLE, BLOB>")], ErrorKind::Unsupported),
        (vec![field("ROW<x BLOB>")], ErrorKind::Unsupported),
    ] {
        let error = reader.set_read_schema(&fields, None, None).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains("column: "), "{error}");
    }
    // The reader stays as it was.
    assert_eq!(sizes(&all(reader.as_mut()).await.unwrap()), [1]);
    reader
        .set_read_schema(&[field("ARRAY<BLOB>")], None, None)
        .unwrap();
    assert_eq!(reader.next_batch().await.unwrap_err().kind(), ErrorKind::Corrupt);
    reader.close();
    assert!(reader.set_read_schema(&[field("BLOB")], None, None).is_err());
    assert!(format(&[]).create_reader_builder(0).is_err());
}
