// SPDX-License-Identifier: Apache-2.0

//! Data files that Java wrote, read without their tables.

use std::path::{Path, PathBuf};

use paimon_format::testkit::{ReadRequest, read_file};
use paimon_storage::Storage;
use paimon_types::{DataField, DataType, TableSchema, TypeKind};
use serde_json::Value;

use crate::json::rows;
use crate::support::format;

fn tables(group: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata/java")
        .join(group);
    let mut tables: Vec<PathBuf> = std::fs::read_dir(&root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    tables.sort();
    tables
}

fn expected(table: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(table.join("expected/latest.jsonl")).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn with_micros(data_type: &DataType) -> DataType {
    let kind = match &data_type.kind {
        TypeKind::Timestamp(7..) => TypeKind::Timestamp(6),
        TypeKind::TimestampLtz(7..) => TypeKind::TimestampLtz(6),
        other => other.clone(),
    };
    DataType {
        kind,
        nullable: data_type.nullable,
    }
}

/// Timestamps with more than six digits, cut after the sixth.
fn cut_timestamps(value: &mut Value) {
    if let Value::Object(object) = value {
        for value in object.values_mut() {
            if let Value::String(text) = value {
                let zone = if text.ends_with('Z') { "Z" } else { "" };
                if text.len() > 26 + zone.len() && text.as_bytes()[10] == b' ' {
                    *text = format!("{}{zone}", &text[..26]);
                }
            }
        }
    }
}

async fn check(table: &Path) {
    let schema = std::fs::read_to_string(table.join("table/schema/schema-0")).unwrap();
    let mut fields: Vec<DataField> = TableSchema::from_json(&schema).unwrap().fields;
    let mut expected = expected(table);
    let mut found = Vec::new();
    let files: Vec<_> = std::fs::read_dir(table.join("table/bucket-0"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    let format = format(&[]);
    for file in files
        .iter()
        .filter(|file| file.extension().is_some_and(|e| e == "parquet"))
    {
        let path = file.to_str().unwrap();
        let request = ReadRequest {
            fields: Some(fields.clone()),
            ..ReadRequest::default()
        };
        let mut read = read_file(format.as_ref(), &Storage::default(), path, &request).await;
        if let Err(error) = &read {
            // Beyond 64-bit nanoseconds: told, and readable as microseconds.
            assert!(
                error.to_string().contains("option: read.timestamp-unit"),
                "{path}: {error:?}"
            );
            assert!(error.to_string().contains("column: "), "{path}: {error:?}");
            for field in &mut fields {
                field.data_type = with_micros(&field.data_type);
            }
            expected.iter_mut().for_each(cut_timestamps);
            let request = ReadRequest {
                fields: Some(fields.clone()),
                ..ReadRequest::default()
            };
            read = read_file(format.as_ref(), &Storage::default(), path, &request).await;
        }
        let (batches, _) = read.unwrap_or_else(|e| panic!("{path}: {e:?}"));
        found.extend(rows(&fields, &batches));
    }
    let text = |values: &[Value]| {
        let mut text: Vec<String> = values.iter().map(Value::to_string).collect();
        text.sort();
        text
    };
    assert_eq!(text(&found), text(&expected), "{}", table.display());
}

#[tokio::test]
async fn every_type() {
    for table in tables("types") {
        check(&table).await;
    }
}

#[tokio::test]
async fn nested_types() {
    for table in tables("nested") {
        check(&table).await;
    }
}

/// Files of several Java versions: each is read with the schema that it tells itself.
#[tokio::test]
async fn files_of_the_conformance_tables() {
    let dir = std::env::var_os("PAIMON_CONFORMANCE_DIR").map(PathBuf::from);
    let dir =
        dir.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance"));
    let mut dirs = vec![dir.join("tables/parquet")];
    let mut files = 0;
    while let Some(dir) = dirs.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else {
            continue;
        };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|e| e == "parquet") {
                let path = path.to_str().unwrap();
                let read = read_file(
                    format(&[]).as_ref(),
                    &Storage::default(),
                    path,
                    &ReadRequest::default(),
                )
                .await;
                let (batches, _) = read.unwrap_or_else(|e| panic!("{path}: {e:?}"));
                assert!(batches.iter().all(|batch| batch.num_columns() > 0), "{path}");
                files += 1;
            }
        }
    }
    println!("{files} files");
}
