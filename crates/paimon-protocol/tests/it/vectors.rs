// SPDX-License-Identifier: Apache-2.0

//! Every vector of `testdata/wire-vectors.jsonl` of the kinds of this crate: decode, write again, same bytes. Who reads those of
//! other kinds is checked here, too.

use std::collections::{BTreeMap, BTreeSet};

use paimon_protocol::codec::java::{
    decode_commit_message, decode_commit_messages, encode_commit_message, encode_commit_messages,
};
use paimon_protocol::{DataSplit, ManifestCommittable, Split};
use serde_json::Value;

use crate::{described, hex, render, repository, sample, unhex};

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
    let is_text = expected.starts_with(start);
    if is_text {
        let expected = expected.trim_end_matches(" (single message, not a list)");
        assert_eq!(found, expected.trim_end_matches(" AMBIGUOUS"), "line {line}");
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
        let text = check_text(line, &vector, "DataSplit{snapshot=", &render::data_split(&split));
        let expected = described::data_split(vector["input"].as_str().unwrap());
        assert!(text || expected == Some(split), "line {line}");
        texts += usize::from(text);
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
            } else if let Split::FallbackData { split, .. } = &split
                && !encoding.framed
            {
                // Java reads the split and leaves one byte.
                let text = format!("{} trailing=1", render::data_split(split));
                assert!(check_text(line, &vector, "DataSplit{", &text), "line {line}");
                texts += 1;
            } else {
                let input = vector["input"].as_str().unwrap();
                assert_eq!(Some(split), described::split(input), "line {line}");
            }
        }
    }
    assert_eq!(texts, 9);
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
        let text = check_text(line, &vector, "Msg{", &render::message(&message));
        let expected = described::message(vector["input"].as_str().unwrap());
        assert!(text || expected == Some(message), "line {line}");
        texts += usize::from(text);
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
        let (mut messages, _) = written.swap_remove(0);
        if vector["input"].as_str().unwrap().ends_with("AMBIGUOUS") {
            // The text is of the oldest version, in which Java does not see what came later.
            let oldest = versions
                .split('|')
                .map(|version| version.parse().unwrap())
                .min()
                .unwrap();
            messages
                .iter_mut()
                .for_each(|message| sample::trim_message(message, oldest));
        }
        let text = check_text(line, &vector, "[Msg{", &render::messages(&messages));
        let input = vector["input"].as_str().unwrap();
        assert!(
            text || described::messages(input) == Some(messages),
            "line {line}"
        );
        texts += usize::from(text);
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
        let text = check_text(line, &vector, "Committable{", &render::committable(&committable));
        let expected = described::committable(vector["input"].as_str().unwrap());
        assert!(text || expected == Some(committable), "line {line}");
        texts += usize::from(text);
    }
    assert!(texts > 10, "{texts}");
}

/// Records have no public form of their own: those of files and deletion files are found in splits that hold what their
/// descriptions say, those of index files in messages. (That they are read and written alone is tested beside the codec.)
#[test]
fn records_of_described_values() {
    let found_in = |line: usize, vector: &Value, bytes: &[u8]| {
        let record = bytes_of(vector);
        let found = bytes.windows(record.len()).any(|window| window == record);
        assert!(found, "line {line}: {}\n{}", hex(&record), hex(bytes));
    };
    let split = |file, deletion_files| DataSplit {
        data_files: vec![file; 1],
        deletion_files,
        ..described::data_split("DataSplit{snapshot 1, EMPTY_ROW").unwrap()
    };
    for (line, version, vector) in vectors("data_file_meta_stream") {
        let inside = version.split('(').nth(1).unwrap();
        let digits: String = inside.chars().take_while(char::is_ascii_digit).collect();
        let arity: usize = digits.parse().unwrap();
        let (_, split_version) = [(15, 1), (16, 2), (17, 3), (18, 5), (19, 8), (20, 8), (21, 9)]
            .into_iter()
            .find(|(known, _)| *known == arity)
            .unwrap();
        let file = match vector["input"].as_str().unwrap() {
            input if input.starts_with("fileName f-1,size 1024,") => described::full(arity),
            input if input.starts_with("minimal: fileName 'm'") => described::minimal("m"),
            input => panic!("line {line}: {input}"),
        };
        let bytes = split(file, None).to_java_bytes(split_version).unwrap();
        found_in(line, &vector, &bytes);
    }
    for (line, _, vector) in vectors("index_file_meta_stream") {
        let input = vector["input"].as_str().unwrap();
        let name = input.split([' ', ',']).nth(1).unwrap();
        let mut message =
            described::message("EMPTY_ROW, bucket 0, totalBuckets null, all lists empty").unwrap();
        message.data_increment.new_index_files = vec![described::index_file(name)];
        found_in(line, &vector, &encode_commit_message(&message, 13).unwrap());
    }
    for (line, _, vector) in vectors("deletion_file_list") {
        let list = described::deletion_files(vector["input"].as_str().unwrap());
        let files = list.as_ref().map_or(1, Vec::len);
        let mut split = split(described::minimal("m"), list);
        split.data_files = vec![described::minimal("m"); files];
        found_in(line, &vector, &split.to_java_bytes(9).unwrap());
    }
}

/// Kind and number of vectors by the file of tests that reads them, below `crates`.
type Consumer = (&'static str, &'static [(&'static str, usize)]);

const CONSUMERS: [Consumer; 11] = [
    (
        "paimon-format-blob/tests/it/vectors.rs",
        &[("blob_file", 1), ("delta_varint", 1)],
    ),
    (
        "paimon-index/tests/it/vectors.rs",
        &[
            ("dv32", 9),
            ("dv32_body", 1),
            ("dv64", 11),
            ("dv_index_file", 2),
            ("hash_index_file", 1),
        ],
    ),
    (
        "paimon-protocol/src/codec/java/tests.rs",
        &[
            ("data_file_meta_stream", 8),
            ("deletion_file_list", 2),
            ("index_file_meta_stream", 4),
        ],
    ),
    (
        "paimon-protocol/tests/it/vectors.rs",
        &[
            ("chain_split", 1),
            ("commit_message", 4),
            ("commit_message_list", 15),
            ("data_split", 31),
            ("fallback_data_split_unframed", 2),
            ("incremental_split", 1),
            ("indexed_split", 1),
            ("manifest_committable", 17),
            ("split_frame", 12),
        ],
    ),
    ("paimon-types/src/variant/tests.rs", &[("variant", 13)]),
    (
        "paimon-types/tests/it/blobs.rs",
        &[("blob_descriptor", 2), ("blob_view", 2)],
    ),
    (
        "paimon-types/tests/it/buckets.rs",
        &[
            ("binary_string_hash", 1),
            ("bucket_default", 9),
            ("bucket_hive", 39),
            ("bucket_mod", 7),
            ("default_bucket", 3),
            ("dynamic_bucket_assigner", 1),
            ("murmur_bytes_seed42", 5),
        ],
    ),
    ("paimon-types/tests/it/partitions.rs", &[("partition_string", 49)]),
    (
        "paimon-types/tests/it/predicate_json.rs",
        &[("predicate_json", 12)],
    ),
    (
        "paimon-types/tests/it/rows.rs",
        &[
            ("binary_array", 8),
            ("binary_row", 44),
            ("binary_row_codegen_projection", 5),
            ("serialize_binary_row", 2),
            ("stream_binary_row_serializer", 1),
            ("stream_serialize_binary_row", 1),
            ("stream_variant", 1),
            ("stream_vector", 1),
        ],
    ),
    (
        "paimon-types/tests/it/streams.rs",
        &[("varint", 7), ("varlong", 2), ("write_utf", 7)],
    ),
];

/// A vector of a new kind, or one more of a known kind, needs a test.
#[test]
fn every_vector_is_read_by_a_test() {
    let text = std::fs::read_to_string(repository("testdata/wire-vectors.jsonl")).unwrap();
    let mut found = BTreeMap::<String, usize>::new();
    for line in text.lines() {
        let vector: Value = serde_json::from_str(line).unwrap();
        *found
            .entry(vector["kind"].as_str().unwrap().to_owned())
            .or_default() += 1;
    }
    let mut expected = BTreeMap::new();
    for (file, kinds) in CONSUMERS {
        let source = std::fs::read_to_string(repository("crates").join(file)).unwrap();
        // This list does not count as reading.
        let source = source.split("const CONSUMERS").next().unwrap();
        for (kind, count) in kinds {
            assert!(
                source.contains(&format!("\"{kind}\"")),
                "{file} does not read {kind}"
            );
            assert_eq!(expected.insert((*kind).to_owned(), *count), None, "{kind}");
        }
    }
    assert_eq!(found, expected);
}

/// The table of `docs/protocol.md` names every kind of vector and every fuzz target, and tests that exist.
#[test]
fn the_table_of_decoders_is_complete() {
    let read = |path: &str| std::fs::read_to_string(repository(path)).unwrap();
    let document = read("docs/protocol.md");
    let (_, section) = document.split_once("## How each decoder is proven").unwrap();
    let words =
        |cell: &str| -> Vec<String> { cell.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    let (mut kinds, mut targets) = (BTreeSet::new(), BTreeSet::new());
    for row in section.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        let [_, vectors, round_trip, fuzz] = cells[..] else {
            panic!("{row}")
        };
        kinds.extend(words(vectors));
        targets.extend(words(fuzz));
        let mut tests = words(round_trip).into_iter();
        let file = tests.next().unwrap();
        let source = read(&format!("crates/{file}"));
        for test in tests {
            assert!(source.contains(&format!("fn {test}(")), "{file} has no {test}");
        }
        assert!(!words(fuzz).is_empty(), "no fuzz target: {row}");
    }
    let known = CONSUMERS.iter().flat_map(|(_, kinds)| *kinds);
    assert_eq!(kinds, known.map(|(kind, _)| (*kind).to_owned()).collect());
    let mut files = BTreeSet::new();
    for entry in std::fs::read_dir(repository("fuzz/fuzz_targets")).unwrap() {
        files.insert(
            entry
                .unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned(),
        );
    }
    assert_eq!(targets, files, "fuzz/fuzz_targets");
    let manifest = read("fuzz/Cargo.toml");
    let bins = manifest
        .split("[[bin]]")
        .skip(1)
        .map(|bin| bin.split('"').nth(1).unwrap().to_owned());
    assert_eq!(bins.collect::<BTreeSet<_>>(), files, "fuzz/Cargo.toml");
}
