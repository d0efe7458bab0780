// SPDX-License-Identifier: Apache-2.0

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::builder::{Int32Builder, LargeBinaryBuilder, MapBuilder, MapFieldNames};
use arrow_array::{Array, ArrayRef, BooleanArray, LargeBinaryArray, RecordBatch, StringArray};
use arrow_schema::{DataType as ArrowType, Field};
use paimon_format::{FileFormatFactory, MemoryPool, UnboundedMemoryPool};
use paimon_format_blob::{BlobFormatFactory, placeholder_field};
use paimon_storage::Storage;
use paimon_types::{ColumnStats, DataField, ErrorKind, to_arrow_schema};

use crate::support::{Recorded, all, blobs, field, format, open, rows, with_placeholders, written};

type Entry<'a> = (i32, Option<&'a [u8]>);

type OwnedEntry = (i32, Option<Vec<u8>>);

/// Rows of a `MAP<INT, BLOB>`, null ones among them.
fn maps(rows: &[Option<&[Entry<'_>]>]) -> RecordBatch {
    let schema = to_arrow_schema(&[field("MAP<INT, BLOB>")]);
    let ArrowType::Map(entries, _) = schema.field(0).data_type() else {
        unreachable!()
    };
    let ArrowType::Struct(inner) = entries.data_type() else {
        unreachable!()
    };
    let names = MapFieldNames {
        entry: "entries".to_owned(),
        key: "key".to_owned(),
        value: "value".to_owned(),
    };
    let mut builder = MapBuilder::new(Some(names), Int32Builder::new(), LargeBinaryBuilder::new())
        .with_keys_field(inner[0].clone())
        .with_values_field(inner[1].clone());
    for row in rows {
        for (key, value) in row.iter().flat_map(|entries| entries.iter()) {
            builder.keys().append_value(*key);
            builder.values().append_option(*value);
        }
        builder.append(row.is_some()).unwrap();
    }
    RecordBatch::try_new(
        Arc::new(schema.clone()),
        vec![Arc::new(builder.finish()) as ArrayRef],
    )
    .unwrap()
}

#[tokio::test]
async fn maps_in_slices() {
    let fields = [field("MAP<INT, BLOB>")];
    let batch = maps(&[
        Some(&[(9, Some(b"cut off"))]),
        None,
        Some(&[(1, Some(b"a")), (-1, None), (i32::MAX, Some(b""))]),
        Some(&[]),
        Some(&[(5, Some(b"cut off"))]),
    ]);
    let file = Recorded::new(written(&fields, &batch.slice(1, 3)).await);
    let mut reader = open(format(&[]).as_ref(), file, 1 << 20).await.unwrap();
    reader.set_read_schema(&fields, None, None).unwrap();
    let read = all(reader.as_mut()).await.unwrap();
    assert_eq!(rows(&read, None), rows(&[batch.slice(1, 3)], None));
    assert_eq!(read[0].schema().as_ref(), &to_arrow_schema(&fields));
}

/// Bytes without copies and with: a file of both kinds equals that of single rows.
#[tokio::test]
async fn values_of_any_size_and_slices() {
    let values: Vec<Vec<u8>> = [0usize, 1, 65_535, 65_536, 65_537, 300_000, 10]
        .iter()
        .map(|length| (0..*length).map(|i| (i * 31) as u8).collect())
        .collect();
    let values: Vec<Option<&[u8]>> = values.iter().map(|value| Some(value.as_slice())).collect();
    let batch = blobs(&values);
    let whole = written(&[field("BLOB")], &batch).await;
    let storage = Storage::memory();
    let builder = format(&[]).create_writer_builder(&[field("BLOB")], 10).unwrap();
    let mut writer = builder
        .build(storage.open_output("memory:///t/x").await.unwrap(), "zstd")
        .unwrap();
    let mut length = 0;
    for row in 0..batch.num_rows() {
        assert!(writer.reach_target_size(false, length).unwrap());
        assert!(!writer.reach_target_size(true, length + 1).unwrap());
        writer.add_batch(&batch.slice(row, 1)).await.unwrap();
        writer.flush().await.unwrap();
        length += batch
            .column(0)
            .as_any()
            .downcast_ref::<LargeBinaryArray>()
            .unwrap()
            .value(row)
            .len() as u64
            + 16;
    }
    let pool: Arc<dyn MemoryPool> = Arc::new(UnboundedMemoryPool::new());
    assert!(
        writer
            .written_stats()
            .unwrap()
            .extract_written_file_stats(&pool)
            .is_err()
    );
    assert!(writer.add_metadata(&BTreeMap::new()).is_ok());
    let error = writer
        .add_metadata(&BTreeMap::from([("k".to_owned(), String::new())]))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    writer.finish().await.unwrap();
    let stats = writer
        .written_stats()
        .unwrap()
        .extract_written_file_stats(&pool)
        .unwrap();
    assert_eq!(stats, [ColumnStats::default()]);
    assert_eq!(writer.metrics().get("blob.write.rows"), Some(7));
    writer.into_output().close().await.unwrap();
    assert!(storage.read("memory:///t/x").await.unwrap() == whole);
}

#[tokio::test]
async fn placeholders_need_no_value() {
    let fields = with_placeholders("BLOB NOT NULL");
    let columns: Vec<ArrayRef> = vec![
        Arc::new(LargeBinaryArray::from_vec(vec![b"a", b"ignored", b""])),
        Arc::new(BooleanArray::from(vec![false, true, false])),
    ];
    let batch = RecordBatch::try_new(Arc::new(to_arrow_schema(&fields)), columns).unwrap();
    let bytes = written(&fields, &batch).await;
    assert!(!bytes.windows(7).any(|part| part == b"ignored"));
    let mut reader = open(format(&[]).as_ref(), Recorded::new(bytes), 1 << 20)
        .await
        .unwrap();
    reader
        .set_read_schema(&[placeholder_field(), fields[0].clone()], None, None)
        .unwrap();
    let read = reader.next_batch().await.unwrap().unwrap();
    assert_eq!(read.column(0), batch.column(1));
    let values: LargeBinaryArray = vec![Some(&b"a"[..]), Some(b""), Some(b"")].into_iter().collect();
    assert_eq!(read.column(1).as_ref(), &values as &dyn Array);
}

async fn refused(fields: &[DataField], batch: &RecordBatch) -> String {
    let storage = Storage::memory();
    let builder = format(&[]).create_writer_builder(fields, 10).unwrap();
    let mut writer = builder
        .build(storage.open_output("memory:///t/x").await.unwrap(), "none")
        .unwrap();
    let error = writer.add_batch(batch).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
    let again = writer.finish().await.unwrap_err();
    assert_eq!(again.kind(), error.kind());
    writer.into_output().abort().await.unwrap();
    assert!(!storage.exists("memory:///t/x").await.unwrap());
    error.to_string()
}

#[tokio::test]
async fn what_is_refused() {
    for type_text in [
        "INT",
        "BYTES",
        "ARRAY<BYTES>",
        "MAP<FLOAT, BLOB>",
        "ARRAY<ARRAY<BLOB>>",
        "MULTISET<BLOB>",
    ] {
        let error = format(&[])
            .create_writer_builder(&[field(type_text)], 10)
            .err()
            .unwrap();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("column: b"), "{error}");
    }
    for fields in [
        vec![],
        vec![placeholder_field()],
        vec![field("BLOB"), DataField::new(1, "c", field("BLOB").data_type)],
    ] {
        let error = format(&[]).create_writer_builder(&fields, 10).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
    let twice = maps(&[Some(&[(1, None), (2, None), (1, Some(b"x"))])]);
    assert!(
        refused(&[field("MAP<INT, BLOB>")], &twice)
            .await
            .contains("Number(1) twice")
    );
    assert!(
        refused(&[field("BLOB NOT NULL")], &blobs(&[Some(b"a"), None]))
            .await
            .contains("NOT NULL")
    );
    let text: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
    let batch = RecordBatch::try_from_iter([("b", text)]).unwrap();
    for type_text in ["BLOB", "ARRAY<BLOB>", "MAP<INT, BLOB>"] {
        assert!(
            refused(&[field(type_text)], &batch)
                .await
                .contains("column is Utf8")
        );
    }
    assert!(
        refused(&[field("MAP<BIGINT, BLOB>")], &maps(&[None]))
            .await
            .contains("expected")
    );
    assert!(
        refused(&with_placeholders("BLOB"), &blobs(&[None]))
            .await
            .contains("2 expected")
    );
    let element = Field::new("element", ArrowType::LargeBinary, true);
    let values: LargeBinaryArray = vec![Some(&b"a"[..]), None].into_iter().collect();
    let offsets = arrow_buffer::OffsetBuffer::from_lengths([2]);
    let list = arrow_array::ListArray::new(Arc::new(element), offsets, Arc::new(values), None);
    let batch = RecordBatch::try_from_iter([("b", Arc::new(list) as ArrayRef)]).unwrap();
    assert!(
        refused(&[field("ARRAY<BLOB NOT NULL>")], &batch)
            .await
            .contains("NOT NULL element")
    );

    let options = BTreeMap::from([("blob-as-descriptor".to_owned(), "yes".to_owned())]);
    let error = BlobFormatFactory::new().create(&options).err().unwrap();
    assert!(
        error.to_string().contains("\"yes\", true or false expected"),
        "{error}"
    );
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    fn value(&mut self) -> Option<Vec<u8>> {
        let length = if self.below(8) == 0 { 3000 } else { 20 };
        let length = self.below(length);
        (self.below(4) > 0).then(|| (0..length).map(|_| self.below(256) as u8).collect())
    }
}

#[tokio::test]
async fn random_rows_come_back() {
    for seed in 0..60 {
        let mut random = Random(seed);
        let count = random.below(40);
        let values: Vec<Option<Vec<u8>>> = (0..count).map(|_| random.value()).collect();
        let flags: Vec<bool> = (0..count).map(|_| random.below(5) == 0).collect();
        let fields = with_placeholders("BLOB");
        // Placeholders have no value.
        let shown = values
            .iter()
            .zip(&flags)
            .map(|(v, flag)| v.as_deref().filter(|_| !flag));
        let columns: Vec<ArrayRef> = vec![
            Arc::new(shown.collect::<LargeBinaryArray>()),
            Arc::new(BooleanArray::from(flags.clone())),
        ];
        let batch = RecordBatch::try_new(Arc::new(to_arrow_schema(&fields)), columns).unwrap();
        come_back(&fields, batch).await;

        let entries: Vec<Option<Vec<OwnedEntry>>> = (0..count)
            .map(|_| {
                let count = random.below(5) as i32;
                let mut entry = |i| (i * 1000 - 7, random.value());
                let entries: Vec<_> = (0..count).map(&mut entry).collect();
                (random.below(5) > 0).then_some(entries)
            })
            .collect();
        let borrowed: Vec<Option<Vec<Entry<'_>>>> = entries
            .iter()
            .map(|row| {
                row.as_ref()
                    .map(|row| row.iter().map(|(k, v)| (*k, v.as_deref())).collect())
            })
            .collect();
        let borrowed: Vec<Option<&[Entry<'_>]>> = borrowed.iter().map(|row| row.as_deref()).collect();
        come_back(&[field("MAP<INT, BLOB>")], maps(&borrowed)).await;
    }
}

/// Written and read, the rows are the same.
async fn come_back(fields: &[DataField], batch: RecordBatch) {
    let file = Recorded::new(written(fields, &batch).await);
    let mut reader = open(format(&[]).as_ref(), file, 1 << 20).await.unwrap();
    assert_eq!(reader.number_of_rows().unwrap(), batch.num_rows() as u64);
    reader.set_read_schema(fields, None, None).unwrap();
    let read = all(reader.as_mut()).await.unwrap();
    assert_eq!(rows(&read, None), rows(&[batch], None));
}
