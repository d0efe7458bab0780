// SPDX-License-Identifier: Apache-2.0

//! Manifests that Java wrote.

use std::path::PathBuf;

use paimon_protocol::FileSource;
use paimon_types::ErrorKind;

use super::codec::*;
use super::schemas::*;
use super::stats::Aggregates;
use super::tests::{SYNC, ZSTD};
use super::*;

/// Tables that Java wrote, beside the repository or where `PAIMON_CONFORMANCE_DIR` says; `None` when they are not there.
pub(crate) fn conformance() -> Option<PathBuf> {
    let dir = match std::env::var_os("PAIMON_CONFORMANCE_DIR") {
        Some(dir) => PathBuf::from(dir),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance"),
    };
    if dir.is_dir() {
        return Some(dir);
    }
    eprintln!("skipped: no conformance tables at {}", dir.display());
    None
}

#[test]
fn manifests_of_0_9_and_1_1() {
    let Some(dir) = conformance() else { return };
    let read = |name: &str| std::fs::read(dir.join("wire/avro").join(name)).unwrap();
    let old = decode_manifest(&read("avro_manifest_09")).unwrap();
    assert_eq!(old.len(), 1);
    assert_eq!(old[0].kind, FileKind::Add);
    assert_eq!(old[0].file.value_stats_cols, None);
    assert_eq!(old[0].file.external_path, None);
    assert_eq!(old[0].file.file_source, Some(FileSource::Append));
    let newer = decode_manifest(&read("avro_manifest_11")).unwrap();
    assert_eq!(newer.len(), 1);
    assert_eq!(newer[0].file.row_count, old[0].file.row_count);
    assert!(!decode_manifest(&read("manifest")).unwrap().is_empty());

    let list = decode_manifest_list(&read("avro_manifest_list_09")).unwrap();
    assert_eq!(
        list[0].file_name,
        "manifest-b09d5588-5614-46e2-b441-f196d29e60dc-0"
    );
    assert_eq!(
        (
            list[0].file_size,
            list[0].num_added_files,
            list[0].num_deleted_files
        ),
        (2010, 1, 0)
    );
    assert_eq!((list[0].min_bucket, list[0].max_level), (None, None));
    let list = decode_manifest_list(&read("avro_manifest_list_11")).unwrap();
    assert_eq!(
        list[0].file_name,
        "manifest-3c977409-ebff-4d68-8265-86d237e24e9a-0"
    );
    assert_eq!(
        (list[0].min_bucket, list[0].max_level, list[0].min_row_id),
        (Some(0), Some(0), None)
    );
}

/// Every Avro manifest of every table reads, writes again to the same entries, and has the aggregates that Java computed.
#[test]
fn aggregates_equal_those_of_java() {
    let Some(dir) = conformance() else { return };
    let (mut lists, mut checked) = (0, 0);
    for format in std::fs::read_dir(dir.join("tables")).unwrap().flatten() {
        for table in std::fs::read_dir(format.path()).unwrap().flatten() {
            let Ok(schema) = std::fs::read_to_string(table.path().join("schema/schema-0")) else {
                continue;
            };
            let types = paimon_types::TableSchema::from_json(&schema)
                .unwrap()
                .partition_types();
            for file in std::fs::read_dir(table.path().join("manifest"))
                .unwrap()
                .flatten()
            {
                let name = file.file_name().into_string().unwrap();
                let bytes = std::fs::read(file.path()).unwrap();
                if bytes.starts_with(b"ORC") {
                    assert_eq!(
                        decode_manifest(&bytes).unwrap_err().kind(),
                        ErrorKind::Unsupported
                    );
                    continue;
                }
                if name.starts_with("index-manifest-") {
                    let entries = decode_index_manifest(&bytes).unwrap();
                    let again = encode_index_manifest(&entries, ZSTD, SYNC).unwrap();
                    assert_eq!(decode_index_manifest(&again).unwrap(), entries);
                }
                if !name.starts_with("manifest-list-") {
                    continue;
                }
                lists += 1;
                let metas = decode_manifest_list(&bytes).unwrap();
                let again = encode_manifest_list(&metas, ZSTD, SYNC).unwrap();
                assert_eq!(decode_manifest_list(&again).unwrap(), metas);
                for meta in metas {
                    let Ok(bytes) = std::fs::read(file.path().with_file_name(&meta.file_name)) else {
                        continue;
                    };
                    let entries = decode_manifest(&bytes).unwrap();
                    let again = encode_manifest(&entries, ZSTD, SYNC).unwrap();
                    assert_eq!(decode_manifest(&again).unwrap(), entries);
                    let mut aggregates = Aggregates::default();
                    entries.iter().for_each(|e| aggregates.add(e));
                    let mut ours = aggregates
                        .finish(meta.file_name.clone(), bytes.len() as i64, &types, 0)
                        .unwrap();
                    if meta.min_bucket.is_none() {
                        (ours.min_bucket, ours.max_bucket, ours.min_level, ours.max_level) =
                            (None, None, None, None);
                    }
                    if meta.min_row_id.is_none() {
                        (ours.min_row_id, ours.max_row_id) = (None, None);
                    }
                    assert_eq!(ours, meta, "{}", file.path().display());
                    checked += 1;
                }
            }
        }
    }
    assert!(lists > 50 && checked > 50, "{lists} lists, {checked} manifests");
}

/// The schema in a container's header.
fn header_schema(bytes: &[u8]) -> Option<serde_json::Value> {
    let text = String::from_utf8_lossy(bytes);
    let json = &text[text.find("avro.schema")? + "avro.schema".len()..];
    let json = &json[json.find(['{', '['])?..];
    serde_json::Deserializer::from_str(json).into_iter().next()?.ok()
}

/// True when Java's schema is ours, except that records may end earlier.
fn is_prefix(java: &serde_json::Value, ours: &serde_json::Value) -> bool {
    use serde_json::Value::{Array, Object};
    match (java, ours) {
        (Object(java), Object(ours)) => {
            java.keys().eq(ours.keys())
                && java
                    .iter()
                    .all(|(key, value)| match (key.as_str(), value, &ours[key]) {
                        ("fields", Array(java), Array(ours)) => {
                            java.len() <= ours.len() && java.iter().zip(ours).all(|(j, o)| is_prefix(j, o))
                        }
                        (_, value, other) => is_prefix(value, other),
                    })
        }
        (Array(java), Array(ours)) => {
            java.len() == ours.len() && java.iter().zip(ours).all(|(j, o)| is_prefix(j, o))
        }
        (java, ours) => java == ours,
    }
}

/// Java has no schema resolution for the top level of a manifest: ours must be its own, to the letter.
#[test]
fn our_schemas_are_those_of_java() {
    let Some(dir) = conformance() else { return };
    let ours = [
        ("manifest-list-", MANIFEST_LIST_SCHEMA),
        ("index-manifest-", INDEX_MANIFEST_SCHEMA),
        ("manifest-", MANIFEST_SCHEMA),
    ];
    let mut whole = std::collections::BTreeSet::new();
    for format in std::fs::read_dir(dir.join("tables")).unwrap().flatten() {
        for table in std::fs::read_dir(format.path()).unwrap().flatten() {
            for file in std::fs::read_dir(table.path().join("manifest"))
                .unwrap()
                .flatten()
            {
                let bytes = std::fs::read(file.path()).unwrap();
                let name = file.file_name().into_string().unwrap();
                let (kind, text) = ours.iter().find(|(prefix, _)| name.starts_with(prefix)).unwrap();
                let ours: serde_json::Value = serde_json::from_str(text).unwrap();
                let Some(java) = header_schema(&bytes).filter(|_| bytes.starts_with(b"Obj")) else {
                    continue;
                };
                // Until 0.9 records were nullable.
                if java.is_array() {
                    continue;
                }
                assert!(
                    is_prefix(&java, &ours),
                    "{}\n{java}\n{ours}",
                    file.path().display()
                );
                if java == ours && same_text(&java, text) {
                    whole.insert(*kind);
                }
            }
        }
    }
    assert!(
        whole.contains("manifest-list-") && whole.contains("index-manifest-"),
        "{whole:?}"
    );
}

fn same_text(java: &serde_json::Value, text: &str) -> bool {
    let java = java.to_string();
    java == text
}
