// SPDX-License-Identifier: Apache-2.0

//! Vectors of the parts that have no public form of their own.

use paimon_types::{DataInput, DataOutput, SharedBytes};
use serde_json::Value;

use super::carrier::Carrier;
use super::file_meta::FileMetaReader;
use super::index_file::IndexShape;
use super::input::SharedInput;
use super::{deletion_file, file_meta};

/// (version text, bytes) of the vectors of one kind.
fn vectors(kind: &str) -> Vec<(String, Vec<u8>)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/wire-vectors.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let unhex = |text: &str| -> Vec<u8> {
        (0..text.len())
            .step_by(2)
            .map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap())
            .collect()
    };
    let all = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let found: Vec<_> = all
        .filter(|vector| vector["kind"] == kind)
        .map(|vector| {
            (
                vector["version"].as_str().unwrap().to_owned(),
                unhex(vector["hex"].as_str().unwrap()),
            )
        })
        .collect();
    assert!(!found.is_empty(), "no vector of kind {kind}");
    found
}

/// The part of a list behind its count.
fn one_record(out: DataOutput) -> Vec<u8> {
    out.into_bytes().split_off(4)
}

#[test]
fn data_file_records() {
    for (version, bytes) in vectors("data_file_meta_stream") {
        // "current(21)", "0.9(16 fields)", "firstRowId(19, …)": that one was written with 20 fields, the last one null.
        let inside = version.split('(').nth(1).unwrap();
        let arity: usize = inside
            .chars()
            .take_while(char::is_ascii_digit)
            .collect::<String>()
            .parse()
            .unwrap();
        let buffer = SharedBytes::copy_from(&bytes);
        let mut input = SharedInput::new(&buffer);
        let meta = FileMetaReader::new(arity)
            .read(&mut input)
            .unwrap_or_else(|e| panic!("{version}: {e:?}"));
        input.expect_end().unwrap();
        let written = if arity == 19 { 20 } else { arity };
        let growth: &'static [(i32, usize)] = Box::leak(Box::new([(1, written)]));
        let mut out = DataOutput::new();
        let carrier = Carrier {
            name: "vector",
            version: 1,
            files: growth,
        };
        file_meta::write_list(&mut out, std::slice::from_ref(&meta), &carrier).unwrap();
        assert_eq!(one_record(out), bytes, "{version}");
    }
}

#[test]
fn index_file_records() {
    for (_, bytes) in vectors("index_file_meta_stream") {
        let shape = IndexShape::of_message(13);
        let mut input = DataInput::new(&bytes);
        let meta = shape.read(&mut input).unwrap();
        input.expect_end().unwrap();
        let mut out = DataOutput::new();
        let carrier = Carrier {
            name: "vector",
            version: 13,
            files: &[],
        };
        shape
            .write_list(&mut out, std::slice::from_ref(&meta), &carrier)
            .unwrap();
        assert_eq!(one_record(out), bytes);
    }
}

#[test]
fn deletion_file_lists() {
    for (_, bytes) in vectors("deletion_file_list") {
        let mut input = DataInput::new(&bytes);
        let list = deletion_file::read_list(&mut input, 3, true).unwrap();
        input.expect_end().unwrap();
        let mut out = DataOutput::new();
        let carrier = Carrier {
            name: "vector",
            version: 9,
            files: &[],
        };
        deletion_file::write_list(&mut out, list.as_deref(), 3, &carrier, 4).unwrap();
        assert_eq!(out.into_bytes(), bytes);
    }
}
