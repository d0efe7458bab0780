// SPDX-License-Identifier: Apache-2.0

//! Every vector of `testdata/wire-vectors.jsonl` about index files: decode, compare, write again, same bytes.

use paimon_index::{
    DeletionVector, DeletionVectorFileWriter, DeletionVectorKind, decode_deletion_vector,
    decode_deletion_vector_body, decode_hash_index, encode_hash_index, walk_deletion_vectors,
};
use serde_json::Value;

use crate::{hex, unhex, vector};

fn vectors(kind: &str) -> Vec<(usize, Value, Vec<u8>)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/wire-vectors.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text
        .lines()
        .enumerate()
        .map(|(i, line)| (i + 1, serde_json::from_str::<Value>(line).unwrap()));
    let found: Vec<_> = lines
        .filter(|(_, vector)| vector["kind"] == kind)
        .map(|(line, vector)| {
            let bytes = unhex(vector["hex"].as_str().unwrap());
            (line, vector, bytes)
        })
        .collect();
    assert!(!found.is_empty(), "no vector of kind {kind}");
    found
}

/// The rows that a description such as `deleted {0..9,65536,2^32+7} (…)` or `{0,2,..,9998}` means.
fn rows(input: &str) -> Vec<u64> {
    let list = input.split_once('{').unwrap().1.split_once('}').unwrap().0;
    let number = |text: &str| -> u64 {
        text.split('+')
            .map(|term| match term.trim().split_once('^') {
                Some((base, power)) => base.parse::<u64>().unwrap().pow(power.parse().unwrap()),
                None => term.trim().parse().unwrap(),
            })
            .sum()
    };
    if let Some((start, end)) = list.split_once(",..,") {
        let (first, second) = start.split_once(',').unwrap();
        let step = number(second) - number(first);
        return (number(first)..=number(end)).step_by(step as usize).collect();
    }
    list.split(',')
        .filter(|item| !item.trim().is_empty())
        .flat_map(|item| match item.split_once("..") {
            Some((from, to)) => number(from)..=number(to),
            None => number(item)..=number(item),
        })
        .collect()
}

#[test]
fn deletion_vectors() {
    for (name, kind) in [
        ("dv32", DeletionVectorKind::Bitmap32),
        ("dv64", DeletionVectorKind::Bitmap64),
    ] {
        for (line, json, bytes) in vectors(name) {
            let (decoded, used) = decode_deletion_vector(&bytes).unwrap();
            assert_eq!(used, bytes.len(), "line {line}");
            let expected = rows(json["input"].as_str().unwrap());
            assert_eq!(decoded.kind(), kind, "line {line}");
            assert_eq!(decoded.iter().collect::<Vec<_>>(), expected, "line {line}");
            let cardinality = json["cardinality"].as_u64().unwrap();
            let length = json["metaLength"].as_u64().unwrap();
            assert_eq!(decoded.cardinality(), cardinality, "line {line}");
            assert_eq!(kind.recorded_length(used as u64), length, "line {line}");
            DeletionVector::decode_recorded(&bytes, length, Some(cardinality)).unwrap();
            // As it was read, and made anew from the rows.
            assert_eq!(hex(&decoded.encode().unwrap()), hex(&bytes), "line {line}");
            let built = vector(kind, expected.iter().rev().copied());
            assert_eq!(built, decoded, "line {line}");
            assert_eq!(hex(&built.encode().unwrap()), hex(&bytes), "line {line}");
        }
    }
}

/// What release 0.9 keeps in memory: the stored form without length and checksum.
#[test]
fn bodies_without_frame() {
    for (line, json, body) in vectors("dv32_body") {
        let built = vector(
            DeletionVectorKind::Bitmap32,
            rows(json["input"].as_str().unwrap()),
        );
        let bytes = built.encode().unwrap();
        assert_eq!(hex(&bytes[4..bytes.len() - 4]), hex(&body), "line {line}");
        assert_eq!(decode_deletion_vector_body(&body).unwrap(), built, "line {line}");
    }
}

#[test]
fn files() {
    for (line, json, bytes) in vectors("dv_index_file") {
        let stored: Vec<_> = walk_deletion_vectors(&bytes)
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        let lengths: Vec<String> = stored.iter().map(|s| s.place.length.to_string()).collect();
        let described = json["input"]
            .as_str()
            .unwrap()
            .split_once("meta lengths ")
            .unwrap()
            .1;
        assert_eq!(lengths.join(","), described, "line {line}");
        let found: Vec<Vec<u64>> = stored.iter().map(|s| s.vector.iter().collect()).collect();
        assert_eq!(found, [vec![2, 3], vec![1]], "line {line}");
        let mut writer = DeletionVectorFileWriter::new();
        for stored in &stored {
            let built = vector(stored.vector.kind(), stored.vector.iter());
            assert_eq!(writer.write(&built).unwrap(), stored.place, "line {line}");
        }
        assert_eq!(hex(&writer.finish()), hex(&bytes), "line {line}");
    }
}

#[test]
fn hash_indexes() {
    for (line, json, bytes) in vectors("hash_index_file") {
        let list = json["input"].as_str().unwrap();
        let list = list.split_once('[').unwrap().1.split_once(']').unwrap().0;
        let expected: Vec<i32> = list.split(',').map(|n| n.parse().unwrap()).collect();
        assert_eq!(decode_hash_index(&bytes).unwrap(), expected, "line {line}");
        assert_eq!(hex(&encode_hash_index(&expected)), hex(&bytes), "line {line}");
    }
}
