// SPDX-License-Identifier: Apache-2.0

//! Data files: opened, read whole, and read again with a selection of rows.

use std::collections::BTreeMap;
use std::future::Future;
use std::ops::Range;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use arrow_array::{Array, RecordBatch};
use async_trait::async_trait;
use bytes::Bytes;
use paimon_format::{FileBatchReader, FileFormatFactory, FormatRegistry, RoaringBitmap};
use paimon_format_avro::AvroFileFormatFactory;
use paimon_format_blob::BlobFormatFactory;
use paimon_format_blob::layout::{
    ArrayLayout, BlobEntry, BlobIndex, BlobKeyType, FOOTER_BYTES, FileFooter, MapLayout, check_record,
};
use paimon_format_orc::OrcFormatFactory;
use paimon_meta::manifest::codec::{
    decode_index_manifest, decode_manifest, decode_manifest_list, encode_index_manifest, encode_manifest,
    encode_manifest_list,
};
use paimon_meta::manifest::{KeepAll, ManifestCompression, ManifestDecoder};
use paimon_storage::InputFile;
use paimon_types::{DataField, DataType, Error, Result, from_arrow_schema};

use crate::{bounded, crc32};

const BATCH_ROWS: usize = 257;
/// A few bytes may stand for rows without end.
const MOST_BATCHES: usize = 40;

/// A file that is in memory.
struct InMemory(Bytes);

#[async_trait]
impl InputFile for InMemory {
    fn path(&self) -> &str {
        "fuzz"
    }

    async fn size(&self) -> Result<u64> {
        Ok(self.0.len() as u64)
    }

    async fn read_range(&self, range: Range<u64>) -> Result<Bytes> {
        let fits = range.start <= range.end && range.end <= self.0.len() as u64;
        if !fits {
            return Err(Error::corrupt(format!(
                "{range:?} is outside of {} bytes",
                self.0.len()
            )));
        }
        Ok(self.0.slice(range.start as usize..range.end as usize))
    }

    async fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let mut all = Vec::new();
        for range in ranges {
            all.push(self.read_range(range.clone()).await?);
        }
        Ok(all)
    }
}

/// Nothing here waits for another thread, so that polling again and again ends.
fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..10_000 {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
    panic!("a read in memory does not end");
}

fn no_panic<T>(result: Result<T>) -> Option<T> {
    if let Err(error) = &result {
        assert!(!error.to_string().contains("panic"), "{error}");
    }
    result.ok()
}

/// The rows of a reader, valid arrays in batches that are neither empty nor too large, at positions that ascend.
async fn rows(reader: &mut dyn FileBatchReader, selected: Option<&RoaringBitmap>) -> Result<()> {
    let mut last = None;
    for _ in 0..MOST_BATCHES {
        let Some(batch) = reader.next_batch().await? else {
            return Ok(());
        };
        assert!(
            (1..=BATCH_ROWS).contains(&batch.num_rows()),
            "{} rows",
            batch.num_rows()
        );
        valid(&batch);
        for row in 0..batch.num_rows() as u64 {
            let position = reader
                .previous_batch_file_row_id(row)
                .expect("a row has a position");
            assert!(last < Some(position), "{position} after {last:?}");
            last = Some(position);
            if let Some(selected) = selected {
                assert!(
                    u32::try_from(position).is_ok_and(|p| selected.contains(p)),
                    "{position} was not selected"
                );
            }
        }
    }
    Ok(())
}

fn valid(batch: &RecordBatch) {
    for column in batch.columns() {
        column.to_data().validate_full().expect("a valid array");
    }
}

/// Opens and reads `data`; `columns` are read, or those that the file tells.
fn file(factory: &dyn FileFormatFactory, data: &[u8], columns: Option<&[DataField]>) {
    let read = async {
        let format = factory
            .create(&BTreeMap::new())
            .expect("a format without options");
        let builder = format.create_reader_builder(BATCH_ROWS).expect("a builder");
        let input = Arc::new(InMemory(Bytes::copy_from_slice(data)));
        let mut reader = builder.build(input).await?;
        let fields = match columns {
            Some(columns) => columns.to_vec(),
            None => {
                rows(&mut *reader, None).await?;
                from_arrow_schema(&*reader.file_schema()?)?
            }
        };
        reader.set_read_schema(&fields, None, None)?;
        let whole = rows(&mut *reader, None).await;
        let half = fields.get(fields.len() / 2..).unwrap_or_default();
        let selected: RoaringBitmap = (0..20_000)
            .filter(|row| row % 1000 < 20 || row % 37 == 5)
            .collect();
        reader.set_read_schema(half, None, Some(selected.clone()))?;
        let part = rows(&mut *reader, Some(&selected)).await;
        whole.and(part)
    };
    no_panic(wait(read));
}

/// ORC files.
pub fn orc_file(data: &[u8]) {
    file(&OrcFormatFactory::new(), data, None);
}

/// Manifests in ORC: the first byte tells which kind. What is read is the same after Avro.
pub fn orc_manifest(data: &[u8]) {
    let Some((kind, data)) = data.split_first() else {
        return;
    };
    if !data.starts_with(b"ORC") {
        return;
    }
    let formats = FormatRegistry::new().with(Arc::new(OrcFormatFactory::new()));
    let decoder = ManifestDecoder::new(Arc::new(formats));
    let bytes = Bytes::copy_from_slice(data);
    let (none, sync) = (ManifestCompression::None, [7; 16]);
    match kind % 3 {
        0 => {
            let Some(metas) = no_panic(wait(decoder.manifest_list("fuzz", bytes))) else {
                return;
            };
            let avro = encode_manifest_list(&metas, none, sync).expect("what was decoded is encoded");
            assert_eq!(
                decode_manifest_list(&avro).expect("what was encoded is decoded"),
                metas
            );
        }
        1 => {
            let Some(entries) = no_panic(wait(decoder.manifest("fuzz", bytes, KeepAll))) else {
                return;
            };
            let avro = encode_manifest(&entries, none, sync).expect("what was decoded is encoded");
            assert_eq!(
                decode_manifest(&avro).expect("what was encoded is decoded"),
                entries
            );
        }
        _ => {
            let Some(entries) = no_panic(wait(decoder.index_manifest("fuzz", bytes))) else {
                return;
            };
            let avro = encode_index_manifest(&entries, none, sync).expect("what was decoded is encoded");
            assert_eq!(
                decode_index_manifest(&avro).expect("what was encoded is decoded"),
                entries
            );
        }
    }
}

/// Avro data files.
pub fn avro_file(data: &[u8]) {
    file(&AvroFileFormatFactory::new(), data, None);
}

/// Blob files of the column type that the first byte names; the rest is a file, or the payload of its one record.
pub fn blob_file(data: &[u8]) {
    let Some((first, data)) = data.split_first() else {
        return;
    };
    let types = [
        "BLOB",
        "ARRAY<BLOB>",
        "MAP<STRING, BLOB>",
        "MAP<INT, BLOB>",
        "MAP<DECIMAL(30, 2), BLOB>",
    ];
    let data_type = types[usize::from(first >> 1) % types.len()];
    let column = DataField::new(0, "b", DataType::parse(data_type).expect("a type"));
    let bytes = if first % 2 == 1 {
        data.to_vec()
    } else {
        one_record(data)
    };
    file(&BlobFormatFactory::new(), &bytes, Some(&[column]));
}

/// A file of one record around `payload`.
fn one_record(payload: &[u8]) -> Vec<u8> {
    let mut file = 1_481_511_375i32.to_le_bytes().to_vec();
    file.extend_from_slice(payload);
    let length = payload.len() as u64 + 16;
    file.extend_from_slice(&length.to_le_bytes());
    file.extend_from_slice(&crc32(&file).to_le_bytes());
    let start = file.len();
    let mut rest = length << 1;
    while rest > 0x7f {
        file.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    file.push(rest as u8);
    let index = (file.len() - start) as i32;
    file.extend_from_slice(&index.to_le_bytes());
    file.push(1);
    file
}

/// The bytes of blob files: footer, index, records, payloads of arrays and maps, keys.
pub fn blob_layout(data: &[u8]) {
    let size = data.len() as u64;
    bounded(data.len(), || ArrayLayout::decode(data, data, size)).inspect(|array| {
        let ends = array.elements.ranges().flatten().map(|range| range.end);
        assert!(ends.max().unwrap_or(0) <= size && array.elements.span().end <= size);
    });
    bounded(data.len(), || MapLayout::decode(data, data, size)).inspect(|map| {
        assert_eq!(map.keys.span().end, map.values.span().start);
        assert!(map.values.span().end <= size && map.keys.len() == map.values.len());
    });
    for key_type in [
        BlobKeyType::Boolean,
        BlobKeyType::TinyInt,
        BlobKeyType::SmallInt,
        BlobKeyType::Int,
        BlobKeyType::BigInt,
        BlobKeyType::Date,
        BlobKeyType::Time,
        BlobKeyType::Decimal { precision: 9 },
        BlobKeyType::Decimal { precision: 38 },
        BlobKeyType::Text,
        BlobKeyType::Binary,
    ] {
        let Some(key) = bounded(data.len(), || key_type.decode(data)) else {
            continue;
        };
        let mut again = Vec::new();
        key_type
            .encode(key, &mut again)
            .expect("a key that was read is written");
        assert_eq!(
            key_type.decode(&again).expect("a key that was written is read"),
            key
        );
    }
    let Some(footer) = bounded(data.len(), || FileFooter::decode(data, size)) else {
        return;
    };
    let start = footer.index_start as usize;
    let index = &data[start..start + footer.index_bytes as usize];
    assert_eq!(footer.index_start + footer.index_bytes + FOOTER_BYTES, size);
    let Some(index) = bounded(data.len(), || BlobIndex::decode(index, footer.index_start)) else {
        return;
    };
    for row in 0..index.rows() {
        if let BlobEntry::Record(range) = index.entry(row).expect("an entry for each row") {
            let record = &data[range.start as usize..range.end as usize];
            if let Ok(payload) = check_record(record) {
                assert_eq!(payload.len() + 16, record.len());
            }
        }
    }
    assert_eq!(index.entry(index.rows()), None);
}
