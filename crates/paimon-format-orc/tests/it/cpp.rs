// SPDX-License-Identifier: Apache-2.0

//! Files of the C++ library, which pyarrow wrote: without field ids, times in zone GMT.

use std::path::{Path, PathBuf};

use paimon_format::testkit::{ReadRequest, open, read_file};
use paimon_storage::Storage;
use paimon_types::{DataField, DataType, TypeKind, from_arrow_schema};
use serde_json::Value;

use crate::json::rows;
use crate::support::{files, format};

/// The columns of a file as it tells them, timestamps in microseconds.
async fn columns(path: &str) -> Vec<DataField> {
    let reader = open(format(&[]).as_ref(), &Storage::default(), path, 10)
        .await
        .unwrap();
    let mut fields = from_arrow_schema(&reader.file_schema().unwrap()).unwrap();
    for field in &mut fields {
        if matches!(field.data_type.kind, TypeKind::Timestamp(_)) {
            field.data_type = DataType::new(TypeKind::Timestamp(6));
        }
    }
    fields
}

#[tokio::test]
async fn every_compression() {
    let dir = std::env::var_os("ORC_CPP_DIR").map(PathBuf::from);
    let dir = dir.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cpp"));
    let text = std::fs::read_to_string(dir.join("rows.jsonl")).unwrap();
    let expected: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let paths = files(&dir, "orc");
    assert_eq!(paths.len(), 5);
    for path in paths {
        let fields = columns(&path).await;
        let request = ReadRequest {
            fields: Some(fields.clone()),
            ..ReadRequest::default()
        };
        let (read, _) = read_file(format(&[]).as_ref(), &Storage::default(), &path, &request)
            .await
            .unwrap();
        let found = rows(&fields, &read);
        assert_eq!(found.len(), expected.len());
        for (row, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(found, expected, "{path}: row {row}");
        }
        // Groups of rows here and there, with the row index.
        let selection = (0..expected.len() as u32).filter(|n| n / 37 % 5 == 3).collect();
        let request = ReadRequest {
            selection: Some(selection),
            ..request
        };
        let (read, positions) = read_file(format(&[]).as_ref(), &Storage::default(), &path, &request)
            .await
            .unwrap();
        let found = rows(&fields, &read);
        assert_eq!(found.len(), positions.len());
        for (found, position) in found.iter().zip(positions) {
            assert_eq!(found, &expected[position as usize], "{path}: row {position}");
        }
    }
}
