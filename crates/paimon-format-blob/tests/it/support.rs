// SPDX-License-Identifier: Apache-2.0

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, LargeBinaryArray, ListArray, MapArray, RecordBatch,
    StringArray,
};
use arrow_schema::DataType as ArrowType;
use arrow_select::concat::concat_batches;
use bytes::Bytes;
use paimon_format::testkit::write_file;
use paimon_format::{FileBatchReader, FileFormat, FileFormatFactory, ReadHints};
use paimon_format_blob::{BlobFormatFactory, placeholder_field};
use paimon_storage::{InputFile, Storage};
use paimon_types::{BlobDescriptor, DataField, DataType, Error, Result, to_arrow_schema};
use serde_json::{Value, json};

pub(crate) fn format(options: &[(&str, &str)]) -> Arc<dyn FileFormat> {
    let options: BTreeMap<String, String> = options
        .iter()
        .map(|(key, value)| (key.to_string(), value.to_string()))
        .collect();
    BlobFormatFactory::new().create(&options).unwrap()
}

pub(crate) fn field(type_text: &str) -> DataField {
    DataField::new(7, "b", DataType::parse(type_text).unwrap())
}

/// The column and that of its placeholders.
pub(crate) fn with_placeholders(type_text: &str) -> Vec<DataField> {
    vec![field(type_text), placeholder_field()]
}

pub(crate) fn joined(fields: &[DataField], batches: &[RecordBatch]) -> RecordBatch {
    concat_batches(&Arc::new(to_arrow_schema(fields)), batches).unwrap()
}

pub(crate) async fn all(reader: &mut dyn FileBatchReader) -> Result<Vec<RecordBatch>> {
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch().await? {
        batches.push(batch);
    }
    Ok(batches)
}

/// Scalar blobs as a batch of one column.
pub(crate) fn blobs(values: &[Option<&[u8]>]) -> RecordBatch {
    let column: LargeBinaryArray = values.iter().copied().collect();
    let schema = to_arrow_schema(&[field("BLOB")]);
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(column)]).unwrap()
}

/// The bytes of a file with these rows.
pub(crate) async fn written(fields: &[DataField], batch: &RecordBatch) -> Bytes {
    let storage = Storage::memory();
    let path = "memory:///t/written.blob";
    write_file(
        format(&[]).as_ref(),
        &storage,
        path,
        fields,
        std::slice::from_ref(batch),
        "none",
    )
    .await
    .unwrap();
    storage.read(path).await.unwrap()
}

/// A file in memory that remembers what was read.
pub(crate) struct Recorded {
    pub(crate) bytes: Bytes,
    pub(crate) ranges: Mutex<Vec<Range<u64>>>,
}

impl Recorded {
    pub(crate) fn new(bytes: impl Into<Bytes>) -> Arc<Self> {
        Arc::new(Recorded {
            bytes: bytes.into(),
            ranges: Mutex::default(),
        })
    }

    /// What was read since the last call.
    pub(crate) fn taken(&self) -> Vec<Range<u64>> {
        std::mem::take(&mut *self.ranges.lock().unwrap())
    }
}

#[async_trait::async_trait]
impl InputFile for Recorded {
    fn path(&self) -> &str {
        "memory:///t/recorded.blob"
    }

    async fn size(&self) -> Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    async fn read_range(&self, range: Range<u64>) -> Result<Bytes> {
        self.ranges.lock().unwrap().push(range.clone());
        if range.end > self.bytes.len() as u64 {
            return Err(Error::corrupt("past the end"));
        }
        Ok(self.bytes.slice(range.start as usize..range.end as usize))
    }

    async fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let mut all = Vec::new();
        for range in ranges {
            all.push(self.read_range(range.clone()).await?);
        }
        Ok(all)
    }
}

pub(crate) async fn open(
    format: &dyn FileFormat,
    file: Arc<Recorded>,
    batch_bytes: usize,
) -> Result<Box<dyn FileBatchReader>> {
    let mut builder = format.create_reader_builder(1000)?;
    builder.with_read_hints(Some(ReadHints::new().with_read_ahead_bytes(batch_bytes)));
    builder.build(file).await
}

/// The rows in the form of `testdata/java/blob/*.json`; descriptors as offset and length.
pub(crate) fn rows(batches: &[RecordBatch], descriptor_path: Option<&str>) -> Vec<Value> {
    let mut rows = Vec::new();
    for batch in batches {
        let flags = (batch.num_columns() > 1).then(|| batch.column(1).as_boolean());
        for row in 0..batch.num_rows() {
            rows.push(if flags.is_some_and(|flags: &BooleanArray| flags.value(row)) {
                json!({"placeholder": true})
            } else {
                value(batch.column(0), row, descriptor_path)
            });
        }
    }
    rows
}

fn value(array: &ArrayRef, row: usize, descriptor_path: Option<&str>) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    if let Some(list) = array.as_any().downcast_ref::<ListArray>() {
        let elements = list.value(row);
        return (0..elements.len())
            .map(|at| value(&elements, at, descriptor_path))
            .collect();
    }
    if let Some(map) = array.as_any().downcast_ref::<MapArray>() {
        let entries = map.value(row);
        return (0..entries.len())
            .map(|at| {
                json!([
                    key(entries.column(0), at),
                    value(entries.column(1), at, descriptor_path)
                ])
            })
            .collect();
    }
    let bytes = array.as_binary::<i64>().value(row);
    match descriptor_path {
        Some(path) => {
            let descriptor = BlobDescriptor::decode(bytes).unwrap();
            assert_eq!(descriptor.uri, path);
            json!([descriptor.offset, descriptor.length])
        }
        None if bytes.len() <= 32 => json!(hex(bytes)),
        None => json!({"crc32": crc32fast::hash(bytes)}),
    }
}

fn key(array: &ArrayRef, at: usize) -> String {
    match array.data_type() {
        ArrowType::Boolean => array.as_boolean().value(at).to_string(),
        ArrowType::Int8 => array.as_primitive::<Int8Type>().value(at).to_string(),
        ArrowType::Int16 => array.as_primitive::<Int16Type>().value(at).to_string(),
        ArrowType::Int32 => array.as_primitive::<Int32Type>().value(at).to_string(),
        ArrowType::Int64 => array.as_primitive::<Int64Type>().value(at).to_string(),
        ArrowType::Date32 => array.as_primitive::<Date32Type>().value(at).to_string(),
        ArrowType::Time32(_) => array
            .as_primitive::<Time32MillisecondType>()
            .value(at)
            .to_string(),
        ArrowType::Decimal128(..) => array.as_primitive::<Decimal128Type>().value_as_string(at),
        ArrowType::Utf8 => array
            .as_any()
            .downcast_ref::<StringArray>()
            .unwrap()
            .value(at)
            .to_owned(),
        ArrowType::Binary => hex(array.as_any().downcast_ref::<BinaryArray>().unwrap().value(at)),
        other => panic!("{other}"),
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
