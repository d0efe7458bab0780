// SPDX-License-Identifier: Apache-2.0

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;
use paimon_format::testkit::{ReadRequest, all_type_fields, read_file, write_file};
use paimon_format::{FileFormat, FileFormatFactory};
use paimon_format_avro::AvroFileFormatFactory;
use paimon_storage::Storage;
use paimon_types::{DataField, DataType, Result, TypeKind, to_arrow_schema};

pub(crate) fn format(options: &[(&str, &str)]) -> Arc<dyn FileFormat> {
    let options: BTreeMap<String, String> = options
        .iter()
        .map(|(key, value)| (key.to_string(), value.to_string()))
        .collect();
    AvroFileFormatFactory::new().create(&options).unwrap()
}

pub(crate) fn joined(fields: &[DataField], batches: &[RecordBatch]) -> RecordBatch {
    concat_batches(&Arc::new(to_arrow_schema(fields)), batches).unwrap()
}

/// The columns of all types that Avro stores.
pub(crate) fn avro_fields() -> Vec<DataField> {
    let format = format(&[]);
    let mut fields = all_type_fields();
    fields.retain(|field| {
        format
            .create_writer_builder(std::slice::from_ref(field), 1)
            .is_ok()
    });
    fields
}

pub(crate) fn fields(row: &str) -> Vec<DataField> {
    let mut fields = match DataType::parse(row).unwrap().kind {
        TypeKind::Row(fields) => fields,
        kind => panic!("{kind}"),
    };
    for (field, id) in fields.iter_mut().zip(0..) {
        field.id = id;
    }
    fields
}

/// Writes `batch` to a file in memory and gives its bytes.
pub(crate) async fn bytes_of(
    format: &dyn FileFormat,
    fields: &[DataField],
    batch: &RecordBatch,
    compression: &str,
) -> Vec<u8> {
    let storage = Storage::memory();
    let path = "memory:///t/x.avro";
    let batches = std::slice::from_ref(batch);
    write_file(format, &storage, path, fields, batches, compression)
        .await
        .unwrap();
    storage.read(path).await.unwrap().to_vec()
}

/// Reads all rows of a file that is made of `bytes`.
pub(crate) async fn read_bytes(bytes: Vec<u8>, request: &ReadRequest) -> Result<Vec<RecordBatch>> {
    let storage = Storage::memory();
    let path = "memory:///t/x.avro";
    storage.write(path, bytes.into()).await.unwrap();
    Ok(read_file(format(&[]).as_ref(), &storage, path, request).await?.0)
}

pub(crate) fn request(fields: &[DataField]) -> ReadRequest {
    ReadRequest {
        fields: Some(fields.to_vec()),
        ..ReadRequest::default()
    }
}

/// The folders of tables that Java wrote in Avro, with its data files.
pub(crate) fn java_tables() -> Vec<(PathBuf, Vec<PathBuf>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/java/formats");
    let list = |dir: &Path| -> Vec<PathBuf> {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(dir)
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect();
        entries.sort();
        entries
    };
    let mut tables = Vec::new();
    for table in list(&root) {
        let bucket = table.join("table/bucket-0");
        let mut files = if bucket.exists() {
            list(&bucket)
        } else {
            Vec::new()
        };
        files.retain(|file| file.extension().is_some_and(|e| e == "avro"));
        if !files.is_empty() {
            tables.push((table, files));
        }
    }
    tables
}
