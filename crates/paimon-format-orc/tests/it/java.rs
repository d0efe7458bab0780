// SPDX-License-Identifier: Apache-2.0

//! Data files that Java wrote, read without their tables.

use std::path::{Path, PathBuf};

use paimon_format::FileFormatFactory;
use paimon_format::testkit::{ReadRequest, read_file};
use paimon_format_orc::OrcFormatFactory;
use paimon_storage::Storage;
use paimon_types::{DataField, DataType, TypeKind};
use serde_json::Value;

use crate::json::rows;
use crate::support::{files, format, schema, testdata};

fn expected(table: &Path, folder: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(table.join(folder).join("latest.jsonl")).unwrap();
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

/// True for tables whose files have all rows of the table, under its only schema.
fn is_plain(table: &Path) -> bool {
    !table.join("table/schema/schema-1").exists() && !files(&table.join("table"), "orc").is_empty()
}

async fn check(table: &Path, folder: &str) {
    let (mut fields, options) = schema(table);
    let mut expected = expected(table, folder);
    let mut found = Vec::new();
    let format = OrcFormatFactory::new().create(&options).unwrap();
    for path in files(&table.join("table"), "orc") {
        if path.contains("/manifest/") {
            continue;
        }
        let request = ReadRequest {
            fields: Some(fields.clone()),
            ..ReadRequest::default()
        };
        let mut read = read_file(format.as_ref(), &Storage::default(), &path, &request).await;
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
            read = read_file(format.as_ref(), &Storage::default(), &path, &request).await;
        }
        let (batches, _) = read.unwrap_or_else(|e| panic!("{path}: {e:?}"));
        found.extend(rows(&fields, &batches));
    }
    let text = |values: &[Value]| {
        let mut text: Vec<String> = values.iter().map(Value::to_string).collect();
        text.sort();
        text
    };
    // Java takes a 0.0 for the -0.0 of the row before it when all rows of a batch are zeros.
    if table
        .file_name()
        .is_some_and(|name| name.to_str().unwrap().starts_with("orc-stats-"))
    {
        let plain = |rows: &mut Vec<Value>| {
            for row in rows.iter_mut() {
                if row["d"] == 0.0 {
                    row["d"] = Value::from(0.0);
                }
            }
        };
        plain(&mut found);
        plain(&mut expected);
    }
    for (found, expected) in text(&found).iter().zip(&text(&expected)) {
        assert_eq!(found, expected, "{}", table.display());
    }
    assert_eq!(found.len(), expected.len(), "{}", table.display());
}

fn tables(prefix: &str) -> Vec<PathBuf> {
    let mut tables: Vec<PathBuf> = std::fs::read_dir(testdata("formats"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.file_name()
                .is_some_and(|n| n.to_str().unwrap().starts_with(prefix))
        })
        .filter(|path| is_plain(path))
        .collect();
    tables.sort();
    assert!(!tables.is_empty(), "{prefix}");
    tables
}

#[tokio::test]
async fn every_table() {
    for table in tables("orc-") {
        let name = table.file_name().unwrap().to_str().unwrap().to_string();
        // Files of another zone are read below.
        if !name.contains("-zone-") {
            check(&table, "expected").await;
        }
    }
}

/// Times that a writer in another zone wrote come out as it wrote them: TIMESTAMP as the same wall clock, TIMESTAMP_LTZ
/// as the same instant, whatever our zone is.
#[tokio::test]
async fn writers_in_other_zones() {
    for table in tables("orc-zone-") {
        check(&table, "expected-in-zone").await;
    }
}

/// Files of several versions of several products: each is read with the schema that it tells itself.
#[tokio::test]
async fn files_of_the_conformance_tables() {
    let dir = std::env::var_os("PAIMON_CONFORMANCE_DIR").map(PathBuf::from);
    let dir =
        dir.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance"));
    let files = files(&dir.join("tables"), "orc");
    for path in &files {
        let read = read_file(
            format(&[]).as_ref(),
            &Storage::default(),
            path,
            &ReadRequest::default(),
        )
        .await;
        let (batches, _) = read.unwrap_or_else(|e| panic!("{path}: {e:?}"));
        assert!(batches.iter().all(|batch| batch.num_columns() > 0), "{path}");
    }
    println!("{} files", files.len());
}

/// Every table with every portion of rows and many selections: the same rows.
#[tokio::test]
async fn selections_and_batch_sizes() {
    use roaring::RoaringBitmap;
    for table in tables("orc-") {
        let (fields, options) = schema(&table);
        let fields: Vec<DataField> = fields
            .into_iter()
            .map(|field| DataField {
                data_type: with_micros(&field.data_type),
                ..field
            })
            .collect();
        let format = OrcFormatFactory::new().create(&options).unwrap();
        let storage = Storage::default();
        for path in files(&table.join("table"), "orc") {
            if path.contains("/manifest/") {
                continue;
            }
            let request = |batch_size, selection| ReadRequest {
                fields: Some(fields.clone()),
                batch_size,
                selection,
                ..ReadRequest::default()
            };
            let (all, positions) = read_file(format.as_ref(), &storage, &path, &request(0, None))
                .await
                .unwrap();
            let all = rows(&fields, &all);
            assert!(positions.into_iter().eq(0..all.len() as u64));
            for batch_size in [1, 3, 64, 1 << 20] {
                let (read, _) = read_file(format.as_ref(), &storage, &path, &request(batch_size, None))
                    .await
                    .unwrap();
                assert!(rows(&fields, &read) == all, "{path} {batch_size}");
            }
            let count = all.len() as u32;
            let mut selections: Vec<RoaringBitmap> = vec![
                (0..count).filter(|n| n % 3 == 1).collect(),
                (0..count).filter(|n| n % 311 == 5).collect(),
                (count / 2..count).collect(),
                (0..count).filter(|n| n / 300 % 2 == 1).collect(),
            ];
            selections.push(
                [count.saturating_sub(1)]
                    .into_iter()
                    .filter(|_| count > 0)
                    .collect(),
            );
            selections.push((1234..1237).chain(2100..2101).filter(|n| *n < count).collect());
            for selection in selections {
                for batch_size in [7, 1000] {
                    let request = request(batch_size, Some(selection.clone()));
                    let (read, positions) = read_file(format.as_ref(), &storage, &path, &request)
                        .await
                        .unwrap();
                    let wanted: Vec<u64> = selection.iter().map(u64::from).collect();
                    assert_eq!(positions, wanted, "{path}");
                    let read = rows(&fields, &read);
                    for (row, position) in read.iter().zip(&positions) {
                        assert_eq!(row, &all[*position as usize], "{path} {position}");
                    }
                    assert_eq!(read.len(), positions.len());
                }
            }
        }
    }
}
