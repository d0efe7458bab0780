// SPDX-License-Identifier: Apache-2.0

//! `testdata/wire`: splits, messages and committables of every kind that Java wrote, with what its getters tell.

use std::collections::BTreeSet;

use paimon_protocol::codec::java::{decode_commit_messages, encode_commit_messages};
use paimon_protocol::{ManifestCommittable, Split, json};
use serde_json::Value;

use crate::{hex, repository, unhex};

/// The samples of all Java versions, each with its place.
fn samples() -> Vec<(String, Value)> {
    let mut samples = Vec::new();
    for entry in std::fs::read_dir(repository("testdata/wire")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        for (i, line) in text.lines().enumerate() {
            let sample: Value = serde_json::from_str(line).unwrap();
            let what = format!(
                "{}:{}: {} {}",
                path.display(),
                i + 1,
                sample["kind"],
                sample["name"]
            );
            samples.push((what, sample));
        }
    }
    samples
}

/// Decodes a sample: its value as JSON, and the bytes that we write for it.
fn decode(sample: &Value) -> paimon_types::Result<(Value, Vec<u8>)> {
    let bytes = unhex(sample["hex"].as_str().unwrap());
    let version = || i32::try_from(sample["version"].as_i64().unwrap()).unwrap();
    match sample["kind"].as_str().unwrap() {
        "split" => {
            let (split, encoding) = Split::from_java_bytes(&bytes)?;
            assert_eq!(
                encoding.framed,
                sample["name"].as_str().unwrap().ends_with("-framed")
            );
            Ok((json::split(&split, None), split.to_java_bytes(encoding)?))
        }
        "commit-messages" => {
            let messages = decode_commit_messages(&bytes, version())?;
            let value = messages.iter().map(|m| json::commit_message(m, None)).collect();
            Ok((value, encode_commit_messages(&messages, version())?))
        }
        "committable" => {
            let (committable, encoding) = ManifestCommittable::from_java_bytes(&bytes, version())?;
            Ok((
                json::committable(&committable, None),
                committable.to_java_bytes(encoding)?,
            ))
        }
        other => panic!("unknown kind {other}"),
    }
}

#[test]
fn samples_of_java_are_read_as_java_reads_them_and_written_again() {
    let mut kinds = BTreeSet::new();
    for (what, sample) in samples() {
        let (value, again) = decode(&sample).unwrap_or_else(|e| panic!("{what}: {e:?}"));
        assert_eq!(value, sample["value"], "{what}");
        assert_eq!(hex(&again), sample["hex"].as_str().unwrap(), "{what}");
        let kind = value["kind"].as_str().unwrap_or(sample["kind"].as_str().unwrap());
        kinds.insert(kind.to_owned());
    }
    let expected = [
        "chain",
        "commit-messages",
        "committable",
        "data",
        "fallback",
        "fallback-data",
        "incremental",
        "indexed",
        "query-auth",
    ];
    assert_eq!(kinds.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

/// Cut anywhere, a sample is an error or, where a fallback flag is cut off, the split without it.
#[test]
fn samples_that_are_cut_are_errors() {
    for (what, sample) in samples() {
        let text = sample["hex"].as_str().unwrap();
        for length in (0..text.len() / 2).rev().step_by(61) {
            let mut cut = sample.clone();
            cut["hex"] = text[..2 * length].into();
            if let Ok((value, _)) = decode(&cut) {
                assert_eq!(value["kind"], "data", "{what}, {length} bytes");
            }
        }
    }
}
