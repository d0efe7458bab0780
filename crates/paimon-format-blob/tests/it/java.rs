// SPDX-License-Identifier: Apache-2.0

//! Files that Java wrote.

use std::path::PathBuf;

use paimon_format::testkit::{ReadRequest, read_file};
use paimon_storage::Storage;
use paimon_types::DataField;
use serde_json::Value;

use crate::support::{field, format, joined, rows, with_placeholders, written};

pub(crate) struct JavaFile {
    pub(crate) path: PathBuf,
    pub(crate) type_text: String,
    rows: Value,
    places: Value,
}

fn repository(path: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

/// The conformance tables, which not every machine has.
fn conformance_dir() -> Option<PathBuf> {
    let dir = std::env::var_os("PAIMON_CONFORMANCE_DIR")
        .map_or_else(|| repository("../shared/conformance"), PathBuf::from);
    if dir.join("tables").is_dir() {
        return Some(dir);
    }
    println!("skipped: there are no conformance tables at {}", dir.display());
    None
}

/// `testdata/java/blob`.
pub(crate) fn java_files() -> Vec<JavaFile> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(repository("testdata/java/blob")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let mut expected: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            files.push(JavaFile {
                path: path.with_extension("blob"),
                type_text: expected["type"].as_str().unwrap().to_owned(),
                rows: expected["rows"].take(),
                places: expected["places"].take(),
            });
        }
    }
    assert!(files.len() >= 19, "{}", files.len());
    files
}

fn request(fields: &[DataField]) -> ReadRequest {
    ReadRequest {
        fields: Some(fields.to_vec()),
        batch_size: 100,
        ..ReadRequest::default()
    }
}

#[tokio::test]
async fn rows_places_and_bytes_are_those_of_java() {
    let storage = Storage::default();
    for file in java_files() {
        let path = file.path.to_str().unwrap();
        let fields = with_placeholders(&file.type_text);
        let (batches, positions) = read_file(format(&[]).as_ref(), &storage, path, &request(&fields))
            .await
            .unwrap();
        assert!(
            positions
                .into_iter()
                .eq(0..file.rows.as_array().unwrap().len() as u64),
            "{path}"
        );
        assert_eq!(Value::from(rows(&batches, None)), file.rows, "{path}");

        let descriptors = format(&[("blob-as-descriptor", "TRUE")]);
        let (read, _) = read_file(descriptors.as_ref(), &storage, path, &request(&fields))
            .await
            .unwrap();
        assert_eq!(Value::from(rows(&read, Some(path))), file.places, "{path}");

        let again = written(&fields, &joined(&fields, &batches)).await;
        assert!(again == std::fs::read(path).unwrap(), "{path}");
    }
}

/// The blob files of a table, in the order of their rows, and its rows.
fn conformance(table: &str, files: &[&str], column: &str, order: &str) -> Option<(Vec<String>, Vec<Value>)> {
    let dir = conformance_dir()?;
    let bucket = dir.join("tables").join(table).join("bucket-0");
    let paths = files
        .iter()
        .map(|file| bucket.join(file).to_str().unwrap().to_owned())
        .collect();
    let lines = std::fs::read_to_string(dir.join("expected").join(table).join("latest.jsonl")).unwrap();
    let mut rows: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    rows.sort_by_key(|row| row[order].as_i64());
    let column = rows.into_iter().map(|mut row| row[column].take()).collect();
    Some((paths, column))
}

#[tokio::test]
async fn files_of_the_conformance_tables() {
    let multi = "append_table_with_multi_blob";
    let name = |number: u8| format!("data-63649021-d8ac-4f92-af27-684f83c7fee9-{number}.blob");
    let (f5, f6) = ([1, 4].map(name), [2, 3, 5, 6].map(name));
    let dense = ["data-4ee4e773-9636-407f-aa01-64dd883af9d2-1.blob".to_owned()];
    let cases = [
        (multi, &f5[..], "f5", "f1"),
        (multi, &f6[..], "f6", "f1"),
        ("blob_data_evolution_with_dense_stats", &dense[..], "f0", "f1"),
    ];
    for (table, files, column, order) in cases {
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let Some((paths, expected)) = conformance(&format!("orc/{table}"), &files, column, order) else {
            return;
        };
        let fields = [field("BLOB")];
        let mut found = Vec::new();
        for path in &paths {
            let (batches, _) = read_file(format(&[]).as_ref(), &Storage::default(), path, &request(&fields))
                .await
                .unwrap();
            found.extend(rows(&batches, None));
            let again = written(&fields, &joined(&fields, &batches)).await;
            assert!(again == std::fs::read(path).unwrap(), "{path}");
        }
        let expected: Vec<Value> = expected.into_iter().map(shortened).collect();
        assert_eq!(found, expected, "{table} {column}");
    }
}

/// Longer blobs as their checksum.
fn shortened(value: Value) -> Value {
    match &value {
        Value::String(hex) if hex.len() > 64 => {
            let bytes: Vec<u8> = (0..hex.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
                .collect();
            serde_json::json!({"crc32": crc32fast::hash(&bytes)})
        }
        _ => value,
    }
}
