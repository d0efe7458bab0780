// SPDX-License-Identifier: Apache-2.0

//! The vectors of `testdata/wire-vectors.jsonl` about blob files: decode, compare, write again, same bytes.

use paimon_format_blob::layout::{DeltaEncoder, decode_deltas};
use serde_json::{Value, json};

use crate::support::{Recorded, all, format, hex, joined, open, rows, with_placeholders, written};

/// What `input` describes, and the bytes, of each vector of a kind.
fn vectors(kind: &str) -> Vec<(String, Vec<u8>)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/wire-vectors.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let unhex = |text: &str| -> Vec<u8> {
        (0..text.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
            .collect()
    };
    let all = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let found: Vec<_> = all
        .filter(|vector| vector["kind"] == kind)
        .map(|vector| {
            let field = |name: &str| vector[name].as_str().unwrap().to_owned();
            (field("input"), unhex(&field("hex")))
        })
        .collect();
    assert!(!found.is_empty(), "no vector of kind {kind}");
    found
}

/// `4 records: 'hello', NULL, PLACEHOLDER, empty bytes` in the form of [`rows`].
fn described(input: &str) -> Vec<Value> {
    let (count, list) = input.split_once(" records: ").unwrap();
    let values: Vec<Value> = list
        .split(", ")
        .map(|item| match item {
            "NULL" => Value::Null,
            "PLACEHOLDER" => json!({"placeholder": true}),
            "empty bytes" => json!(""),
            text => json!(hex(text.trim_matches('\'').as_bytes())),
        })
        .collect();
    assert_eq!(values.len().to_string(), count, "{input}");
    values
}

#[tokio::test]
async fn files() {
    for (input, bytes) in vectors("blob_file") {
        let columns = with_placeholders("BLOB");
        let file = Recorded::new(bytes.clone());
        let mut reader = open(format(&[]).as_ref(), file, 1 << 20).await.unwrap();
        reader.set_read_schema(&columns, None, None).unwrap();
        let read = all(reader.as_mut()).await.unwrap();
        assert_eq!(rows(&read, None), described(&input), "{input}");
        let again = written(&columns, &joined(&columns, &read)).await;
        assert_eq!(hex(&again), hex(&bytes), "{input}");
    }
}

#[test]
fn deltas() {
    for (input, bytes) in vectors("delta_varint") {
        let expected: Vec<i64> = serde_json::from_str(&input).unwrap();
        let mut found = Vec::new();
        decode_deltas(&bytes, |_, value| {
            found.push(value);
            Ok(())
        })
        .unwrap();
        assert_eq!(found, expected, "{input}");
        let mut encoder = DeltaEncoder::new();
        expected.iter().for_each(|value| encoder.push(*value));
        assert_eq!(hex(&encoder.into_bytes()), hex(&bytes), "{input}");
    }
}
