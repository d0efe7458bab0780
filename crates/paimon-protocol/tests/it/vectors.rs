// SPDX-License-Identifier: Apache-2.0

//! Every vector of `testdata/wire-vectors.jsonl` of the kinds of this crate: decode, write again, same bytes.

use paimon_protocol::codec::java::{
    decode_commit_message, decode_commit_messages, encode_commit_message, encode_commit_messages,
};
use paimon_protocol::{DataSplit, ManifestCommittable, Split};
use serde_json::Value;

use crate::{hex, render, repository, unhex};

/// The vectors of one kind: (position in the file, version text, vector).
fn vectors(kind: &str) -> Vec<(usize, String, Value)> {
    let text = std::fs::read_to_string(repository("testdata/wire-vectors.jsonl")).unwrap();
    let lines = text
        .lines()
        .enumerate()
        .map(|(i, line)| (i + 1, serde_json::from_str::<Value>(line).unwrap()));
    let found: Vec<_> = lines
        .filter(|(_, vector)| vector["kind"] == kind)
        .map(|(line, vector)| (line, vector["version"].as_str().unwrap().to_owned(), vector))
        .collect();
    assert!(!found.is_empty(), "no vector of kind {kind}");
    found
}

fn bytes_of(vector: &Value) -> Vec<u8> {
    unhex(vector["hex"].as_str().unwrap())
}

/// Compares with the text that Java printed for the decoded value, in vectors that have it.
fn check_text(line: usize, vector: &Value, start: &str, found: &str) -> bool {
    let expected = vector["input"].as_str().unwrap();
    let is_text = expected.starts_with(start) && !expected.ends_with("AMBIGUOUS");
    if is_text {
        assert_eq!(
            found,
            expected.trim_end_matches(" (single message, not a list)"),
            "line {line}"
        );
    }
    is_text
}

#[test]
fn data_splits() {
    let mut texts = 0;
    for (line, version, vector) in vectors("data_split") {
        let bytes = bytes_of(&vector);
        let (split, found) =
            DataSplit::from_java_bytes(&bytes).unwrap_or_else(|e| panic!("line {line}: {e:?}"));
        assert_eq!(found.to_string(), version, "line {line}");
        assert_eq!(
            hex(&split.to_java_bytes(found).unwrap()),
            hex(&bytes),
            "line {line}"
        );
        texts += usize::from(check_text(
            line,
            &vector,
            "DataSplit{snapshot=",
            &render::data_split(&split),
        ));
    }
    assert!(texts > 20, "{texts}");
}

#[test]
fn other_splits() {
    let mut texts = 0;
    for kind in [
        "split_frame",
        "incremental_split",
        "indexed_split",
        "chain_split",
        "fallback_data_split_unframed",
    ] {
        for (line, _, vector) in vectors(kind) {
            let bytes = bytes_of(&vector);
            let (split, encoding) =
                Split::from_java_bytes(&bytes).unwrap_or_else(|e| panic!("line {line}: {e:?}"));
            assert_eq!(
                hex(&split.to_java_bytes(encoding).unwrap()),
                hex(&bytes),
                "line {line}"
            );
            assert_eq!(encoding.framed, kind == "split_frame", "line {line}");
            let expected = match (kind, vector["input"].as_str().unwrap()) {
                ("incremental_split", _) => "incremental",
                ("indexed_split", _) => "indexed",
                ("chain_split", _) => "chain",
                ("fallback_data_split_unframed", _) => "fallback-data",
                (_, input) if input.starts_with("QueryAuth") => "query-auth",
                (_, input) if input.starts_with("FallbackData") => "fallback-data",
                (_, input) if input.starts_with("FallbackSplit") => "fallback",
                (_, input) if input.starts_with("Indexed") => "indexed",
                (_, input) if input.starts_with("Chain") => "chain",
                (_, input) if input.starts_with("Incremental") => "incremental",
                _ => "data",
            };
            assert_eq!(split.kind(), expected, "line {line}");
            if vector["source"].as_str().unwrap().contains("fixture split-v1") {
                assert!(check_text(line, &vector, "", &render::split(&split)));
                texts += 1;
            }
        }
    }
    assert_eq!(texts, 7);
}

/// Any kind of bytes that is a data split is one for the general reader too.
#[test]
fn data_splits_read_as_any_kind() {
    for (line, _, vector) in vectors("data_split") {
        let bytes = bytes_of(&vector);
        let (split, encoding) =
            Split::from_java_bytes(&bytes).unwrap_or_else(|e| panic!("line {line}: {e:?}"));
        assert_eq!(split.kind(), "data", "line {line}");
        assert_eq!(split.to_java_bytes(encoding).unwrap(), bytes, "line {line}");
    }
}

#[test]
fn commit_messages() {
    let mut texts = 0;
    for (line, version, vector) in vectors("commit_message") {
        let (bytes, version) = (bytes_of(&vector), version.parse().unwrap());
        let message = decode_commit_message(&bytes, version).unwrap_or_else(|e| panic!("line {line}: {e:?}"));
        assert_eq!(
            hex(&encode_commit_message(&message, version).unwrap()),
            hex(&bytes),
            "line {line}"
        );
        texts += usize::from(check_text(line, &vector, "Msg{", &render::message(&message)));
    }
    assert!(texts > 0);
}

/// The vector of the fact sheet for the version that is younger than the other vectors.
#[test]
fn commit_message_version_14() {
    let text = format!(
        "0000000c0000000000000000000000000000000300{}010000000000000007",
        "00000000".repeat(10)
    );
    let bytes = unhex(&text);
    let message = decode_commit_message(&bytes, 14).unwrap();
    assert_eq!((message.bucket, message.check_from_snapshot), (3, Some(7)));
    assert_eq!(encode_commit_message(&message, 14).unwrap(), bytes);
    let refused = encode_commit_message(&message, 13).unwrap_err().to_string();
    assert_eq!(
        refused,
        "commit message version 13 cannot carry check_from_snapshot, expected version 14 or newer"
    );
}

#[test]
fn commit_message_lists() {
    let mut texts = 0;
    for (line, versions, vector) in vectors("commit_message_list") {
        let bytes = bytes_of(&vector);
        // Java reads these bytes at several versions; one of them is the version that they were written with, and the
        // others must be refused or give the same content.
        let mut written = Vec::new();
        for version in versions.split('|').map(|version| version.parse::<i32>().unwrap()) {
            match decode_commit_messages(&bytes, version) {
                Ok(messages) => written.push((
                    messages.clone(),
                    encode_commit_messages(&messages, version).unwrap(),
                )),
                Err(e) => assert!(e.message().contains("this version has"), "line {line}: {e:?}"),
            }
        }
        assert!(
            written.iter().any(|(_, again)| *again == bytes),
            "line {line}: {}",
            written.len()
        );
        assert!(
            written.windows(2).all(|pair| pair[0].0 == pair[1].0),
            "line {line}"
        );
        texts += usize::from(check_text(
            line,
            &vector,
            "[Msg{",
            &render::messages(&written[0].0),
        ));
    }
    assert!(texts > 5, "{texts}");
}

#[test]
fn committables() {
    let mut texts = 0;
    for (line, version, vector) in vectors("manifest_committable") {
        let bytes = bytes_of(&vector);
        let decoded = ManifestCommittable::from_java_bytes(&bytes, version.parse().unwrap());
        let (committable, encoding) = decoded.unwrap_or_else(|e| panic!("line {line}: {e:?}"));
        if let Some(message_version) = vector["message_version"].as_str() {
            assert_eq!(
                encoding.message_version.to_string(),
                message_version,
                "line {line}"
            );
        }
        let release_0_7 = vector["source"].as_str().unwrap().ends_with("v2-0.7");
        assert_eq!(encoding.release_0_7, release_0_7, "line {line}");
        assert_eq!(
            hex(&committable.to_java_bytes(encoding).unwrap()),
            hex(&bytes),
            "line {line}"
        );
        texts += usize::from(check_text(
            line,
            &vector,
            "Committable{",
            &render::committable(&committable),
        ));
    }
    assert!(texts > 10, "{texts}");
}
