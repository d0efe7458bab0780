// SPDX-License-Identifier: Apache-2.0

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use arrow_select::concat::concat_batches;
use paimon_format::{FileFormat, FileFormatFactory};
use paimon_format_orc::OrcFormatFactory;
use paimon_types::{DataField, TableSchema, to_arrow_schema};

pub(crate) fn format(options: &[(&str, &str)]) -> Arc<dyn FileFormat> {
    let options: BTreeMap<String, String> = options
        .iter()
        .map(|(key, value)| (key.to_string(), value.to_string()))
        .collect();
    OrcFormatFactory::new().create(&options).unwrap()
}

pub(crate) fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata/java")
        .join(path)
}

/// Every file below `dir` with this extension, in order of names.
pub(crate) fn files(dir: &Path, extension: &str) -> Vec<String> {
    let mut files = Vec::new();
    let mut dirs = vec![dir.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else {
            continue;
        };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                files.push(path.to_str().unwrap().to_string());
            }
        }
    }
    files.sort();
    files
}

/// The columns and options of a table of `testdata`.
pub(crate) fn schema(table: &Path) -> (Vec<DataField>, BTreeMap<String, String>) {
    let text = std::fs::read_to_string(table.join("table/schema/schema-0")).unwrap();
    let schema = TableSchema::from_json(&text).unwrap();
    (schema.fields, schema.options.into_iter().collect())
}

pub(crate) fn joined(fields: &[DataField], batches: &[RecordBatch]) -> RecordBatch {
    concat_batches(&Arc::new(to_arrow_schema(fields)), batches).unwrap()
}

/// Fails with the first row and column that differ.
pub(crate) fn assert_same(found: &RecordBatch, expected: &RecordBatch, what: &str) {
    assert_eq!(found.num_rows(), expected.num_rows(), "{what}");
    assert_eq!(found.schema(), expected.schema(), "{what}");
    for (column, field) in expected.schema().fields().iter().enumerate() {
        let (found, expected) = (found.column(column), expected.column(column));
        for row in 0..expected.len() {
            let (found, expected) = (found.slice(row, 1), expected.slice(row, 1));
            assert_eq!(&found, &expected, "{what}: row {row} of {field}");
        }
    }
}
