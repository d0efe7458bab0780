// SPDX-License-Identifier: Apache-2.0

//! Files that are cut or flipped.

use std::sync::Arc;

use arrow_array::RecordBatch;
use paimon_types::{DataField, ErrorKind, Result};
use serde_json::Value;

use crate::java::java_files;
use crate::support::{Recorded, all, blobs, field, format, open, rows, with_placeholders, written};

async fn read(bytes: Vec<u8>, fields: &[DataField], descriptors: &str) -> Result<Vec<RecordBatch>> {
    let format = format(&[("blob-as-descriptor", descriptors)]);
    let mut reader = open(format.as_ref(), Recorded::new(bytes), 1 << 20).await?;
    reader.set_read_schema(fields, None, None)?;
    all(reader.as_mut()).await
}

#[tokio::test]
async fn every_cut_is_an_error() {
    for file in java_files() {
        let whole = std::fs::read(&file.path).unwrap();
        let fields = with_placeholders(&file.type_text);
        for end in (0..whole.len()).filter(|end| whole.len() < 2000 || end % 97 == 0) {
            let error = read(whole[..end].to_vec(), &fields, "false").await.unwrap_err();
            assert!(
                matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported),
                "{error}"
            );
            assert!(error.to_string().contains("recorded.blob"), "{error}");
        }
    }
}

/// Records have a checksum, the index has none: there a null can become a placeholder, or two nulls one, but no other
/// value comes out.
#[tokio::test]
async fn every_flipped_bit_of_a_record_is_an_error() {
    for file in java_files() {
        let whole = std::fs::read(&file.path).unwrap();
        let fields = with_placeholders(&file.type_text);
        let good = read(whole.clone(), &fields, "false").await.unwrap();
        let index = i32::from_le_bytes(whole[whole.len() - 5..whole.len() - 1].try_into().unwrap());
        let records = whole.len() - 5 - index as usize;
        let step = if whole.len() < 500 { 1 } else { 1031 };
        for bit in (0..whole.len() * 8).step_by(step) {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let _ = read(bytes.clone(), &fields, "true").await;
            match read(bytes, &fields, "false").await {
                Err(error) => assert!(
                    matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported),
                    "{error}"
                ),
                Ok(found) => {
                    assert!(
                        bit / 8 >= records,
                        "{}: bit {bit} is not checked",
                        file.path.display()
                    );
                    let values = |batches: &[RecordBatch]| -> Vec<Value> {
                        let rows = rows(batches, None).into_iter();
                        rows.filter(|row| !row.is_null() && !row.is_object()).collect()
                    };
                    let found = values(&found);
                    let good: Vec<Value> = values(&good);
                    assert_eq!(found, good, "{}: bit {bit}", file.path.display());
                }
            }
        }
    }
}

#[tokio::test]
async fn a_checksum_error_tells_file_row_and_both_values() {
    let fields = [field("BLOB")];
    let mut bytes = written(&fields, &blobs(&[Some(b"first"), None, Some(b"third")]))
        .await
        .to_vec();
    let at = bytes.windows(5).position(|part| part == b"third").unwrap();
    bytes[at] = b'T';
    let error = read(bytes, &fields, "false").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let text = error.to_string();
    for part in [
        "row 2",
        "checksum 0x",
        " 0x",
        "expected",
        "recorded.blob",
        "column: b",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Lengths that only a much larger file could have.
#[tokio::test]
async fn lengths_are_not_believed() {
    for (index, footer) in [
        (
            vec![0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
            10i32,
        ),
        (vec![0xff; 30], 30),
        (vec![0x05], 1),
        (vec![], i32::MAX),
        (vec![], -1),
        (vec![0x20], 1),
    ] {
        let mut bytes = index;
        bytes.extend_from_slice(&footer.to_le_bytes());
        bytes.push(1);
        let error = read(bytes, &[field("BLOB")], "false").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    }
    let later = read(vec![0, 0, 0, 0, 2], &[field("BLOB")], "false")
        .await
        .unwrap_err();
    assert_eq!(later.kind(), ErrorKind::Unsupported);
    assert!(later.to_string().contains("version is 2, 1 expected"), "{later}");
    let nothing = Arc::new(
        read(vec![0, 0, 0, 0, 1], &[field("BLOB")], "false")
            .await
            .unwrap(),
    );
    assert!(nothing.is_empty());
}
