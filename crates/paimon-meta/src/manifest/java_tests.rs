// SPDX-License-Identifier: Apache-2.0

//! Manifests that Java wrote.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use paimon_protocol::FileSource;

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

/// Every manifest of every table, in Avro or in ORC, reads, writes again to the same entries in both formats, and has the
/// aggregates that Java computed.
#[tokio::test]
async fn aggregates_equal_those_of_java() {
    let Some(dir) = conformance() else { return };
    let decoder = decoder();
    let (mut lists, mut checked, mut orc, mut orc_tables) = (0, 0, 0, BTreeSet::new());
    for table in tables(&dir) {
        let Ok(schema) = std::fs::read_to_string(table.join("schema/schema-0")) else {
            continue;
        };
        let types = paimon_types::TableSchema::from_json(&schema)
            .unwrap()
            .partition_types();
        for file in std::fs::read_dir(table.join("manifest")).unwrap().flatten() {
            let name = file.file_name().into_string().unwrap();
            let what = file.path().display().to_string();
            let bytes = std::fs::read(file.path()).unwrap();
            if bytes.starts_with(b"ORC") {
                orc += 1;
                orc_tables.insert(table.clone());
            }
            if name.starts_with("index-manifest-") {
                let entries = decoder.index_manifest(&what, bytes.into()).await.unwrap();
                assert!(!entries.is_empty(), "{what}");
                let again = encode_index_manifest(&entries, ZSTD, SYNC).unwrap();
                assert_eq!(decode_index_manifest(&again).unwrap(), entries);
                assert_eq!(columnar::tests::through_index(&entries).await, entries, "{what}");
                continue;
            }
            if !name.starts_with("manifest-list-") {
                continue;
            }
            lists += 1;
            let metas = decoder.manifest_list(&what, bytes.into()).await.unwrap();
            let again = encode_manifest_list(&metas, ZSTD, SYNC).unwrap();
            assert_eq!(decode_manifest_list(&again).unwrap(), metas);
            assert_eq!(columnar::tests::through_list(&metas).await, metas, "{what}");
            for meta in metas {
                let Ok(bytes) = std::fs::read(file.path().with_file_name(&meta.file_name)) else {
                    continue;
                };
                let size = bytes.len() as i64;
                let entries = decoder.manifest(&what, bytes.into(), KeepAll).await.unwrap();
                let again = encode_manifest(&entries, ZSTD, SYNC).unwrap();
                assert_eq!(decode_manifest(&again).unwrap(), entries);
                assert_eq!(
                    columnar::tests::through_manifest(&entries).await,
                    entries,
                    "{what}"
                );
                let mut aggregates = Aggregates::default();
                entries.iter().for_each(|e| aggregates.add(e));
                let mut ours = aggregates
                    .finish(meta.file_name.clone(), size, &types, 0)
                    .unwrap();
                if meta.min_bucket.is_none() {
                    (ours.min_bucket, ours.max_bucket, ours.min_level, ours.max_level) =
                        (None, None, None, None);
                }
                if meta.min_row_id.is_none() {
                    (ours.min_row_id, ours.max_row_id) = (None, None);
                }
                assert_eq!(ours, meta, "{what}");
                checked += 1;
            }
        }
    }
    println!(
        "{lists} lists, {checked} manifests; ORC: {orc} files in {} tables",
        orc_tables.len()
    );
    assert!(lists > 50 && checked > 50, "{lists} lists, {checked} manifests");
    assert!(
        orc > 200 && orc_tables.len() == 27,
        "{orc} files in {} tables",
        orc_tables.len()
    );
}

/// The directories of all tables.
fn tables(dir: &Path) -> Vec<PathBuf> {
    let folders = |dir: &Path| std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    folders(&dir.join("tables"))
        .flat_map(|format| folders(&format))
        .collect()
}

/// The ORC manifests in the fixtures of the repository: what they say is what the data files are.
#[tokio::test]
async fn fixtures_with_manifests_in_orc() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/java/formats");
    let decoder = decoder();
    let (mut files, mut manifests) = (0, 0);
    for fixture in std::fs::read_dir(&dir).unwrap().map(|f| f.unwrap().path()) {
        if !fixture
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("manifest-orc")
        {
            continue;
        }
        for file in std::fs::read_dir(fixture.join("table/manifest"))
            .unwrap()
            .map(|f| f.unwrap().path())
        {
            let name = file.file_name().unwrap().to_str().unwrap();
            let what = file.display().to_string();
            let bytes = std::fs::read(&file).unwrap();
            assert!(bytes.starts_with(b"ORC"), "{what}");
            files += 1;
            if name.starts_with("manifest-list-") {
                for meta in decoder.manifest_list(&what, bytes.into()).await.unwrap() {
                    let bytes = std::fs::read(file.with_file_name(&meta.file_name)).unwrap();
                    assert_eq!(meta.file_size, bytes.len() as i64);
                    let entries = decoder.manifest(&what, bytes.into(), KeepAll).await.unwrap();
                    for entry in entries {
                        // Local time of the writer, whose zone was UTC, between 2020 and 2100.
                        let time = entry.file.creation_time.unwrap();
                        assert!(
                            (1_577_836_800_000..4_102_444_800_000).contains(&time),
                            "{what}: {time}"
                        );
                        assert!(
                            entry.file.file_source.is_some() && entry.total_buckets != 0,
                            "{what}"
                        );
                    }
                    manifests += 1;
                }
            } else if name.starts_with("index-manifest-") {
                let entries = decoder.index_manifest(&what, bytes.into()).await.unwrap();
                assert_eq!(entries[0].index_file.index_type, "DELETION_VECTORS");
                assert!(
                    entries[0].index_file.dv_ranges.as_ref().unwrap()[0]
                        .cardinality
                        .is_some()
                );
            }
        }
    }
    assert!(
        files > 50 && manifests > 30,
        "{files} files, {manifests} manifests"
    );
}

fn decoder() -> ManifestDecoder {
    ManifestDecoder::new(columnar::tests::registry())
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
