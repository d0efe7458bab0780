// SPDX-License-Identifier: Apache-2.0

use std::collections::BTreeMap;

use apache_avro::types::Value;
use paimon_protocol::{
    DataFileMeta, DeletionVectorMeta, FileSource, GlobalIndexMeta, IndexFileMeta, Partition, RowValues,
    SimpleStats,
};
use paimon_storage::{Storage, UuidSource};
use paimon_types::{DataType, Datum, ErrorKind, TypeKind};

use super::codec::*;
use super::schemas::*;
use super::*;

pub(crate) const ZSTD: ManifestCompression = ManifestCompression::Zstd(1);
pub(crate) const SYNC: [u8; 16] = [3; 16];

fn int_partition(values: &[Option<i32>]) -> Partition {
    Partition::from(int_values(values))
}

fn int_values(values: &[Option<i32>]) -> RowValues {
    let types = vec![DataType::new(TypeKind::Int); values.len()];
    let values: Vec<_> = values.iter().map(|v| v.map(Datum::Int)).collect();
    RowValues::of(&types, &values).unwrap()
}

pub(crate) fn simple_file(name: &str) -> DataFileMeta {
    DataFileMeta {
        file_name: name.to_owned(),
        file_size: 100,
        row_count: 10,
        min_key: RowValues::empty(),
        max_key: RowValues::empty(),
        key_stats: SimpleStats::empty(),
        value_stats: SimpleStats::empty(),
        min_sequence_number: 0,
        max_sequence_number: 9,
        schema_id: 0,
        level: 0,
        extra_files: Vec::new(),
        creation_time: None,
        delete_row_count: None,
        embedded_index: None,
        file_source: None,
        value_stats_cols: None,
        external_path: None,
        first_row_id: None,
        write_cols: None,
        write_cols_sequences: None,
    }
}

fn full_file() -> DataFileMeta {
    DataFileMeta {
        file_size: i64::MAX,
        row_count: 7,
        min_key: int_values(&[Some(1), None]),
        max_key: int_values(&[Some(i32::MIN), Some(3)]),
        key_stats: SimpleStats {
            min_values: int_values(&[Some(1), None]),
            max_values: int_values(&[Some(2), None]),
            null_counts: [Some(0), None].into(),
        },
        value_stats: SimpleStats {
            min_values: int_values(&[None]),
            max_values: int_values(&[None]),
            null_counts: [Some(7)].into(),
        },
        min_sequence_number: -5,
        max_sequence_number: 1 << 40,
        schema_id: 3,
        level: 5,
        extra_files: vec!["a.index".into(), "ü".into()],
        creation_time: Some(1_700_000_000_123),
        delete_row_count: Some(2),
        embedded_index: Some(vec![1, 2, 3]),
        file_source: Some(FileSource::Compact),
        value_stats_cols: Some(["v".into()].into()),
        external_path: Some("s3://b/x".into()),
        first_row_id: Some(11),
        write_cols: Some(["v".into(), "w".into()].into()),
        write_cols_sequences: Some(vec![4, 5]),
        ..simple_file("full")
    }
}

pub(crate) fn sample_entries() -> Vec<ManifestEntry> {
    let partition = int_partition(&[Some(4)]);
    vec![
        ManifestEntry::add(partition.clone(), 0, 2, simple_file("a")),
        ManifestEntry::delete(partition, 1, 2, full_file()),
        ManifestEntry::add(int_partition(&[None]), -2, -2, simple_file("b")),
    ]
}

pub(crate) fn sample_metas() -> Vec<ManifestFileMeta> {
    let full = ManifestFileMeta {
        file_name: "manifest-x-0".into(),
        file_size: 123,
        num_added_files: 4,
        num_deleted_files: 5,
        partition_stats: SimpleStats {
            min_values: int_values(&[Some(1)]),
            max_values: int_values(&[Some(9)]),
            null_counts: [Some(0)].into(),
        },
        schema_id: 7,
        min_bucket: Some(-2),
        max_bucket: Some(3),
        min_level: Some(0),
        max_level: Some(5),
        min_row_id: Some(0),
        max_row_id: Some(99),
    };
    let bare = ManifestFileMeta {
        partition_stats: SimpleStats::empty(),
        min_bucket: None,
        max_bucket: None,
        min_level: None,
        max_level: None,
        min_row_id: None,
        max_row_id: None,
        ..full.clone()
    };
    vec![full, bare]
}

pub(crate) fn sample_index() -> Vec<IndexManifestEntry> {
    let file = |index_type: &str| IndexFileMeta {
        index_type: index_type.into(),
        file_name: "index-x-0".into(),
        file_size: 40,
        row_count: 2,
        dv_ranges: None,
        external_path: None,
        global_index: None,
    };
    let dv = IndexFileMeta {
        dv_ranges: Some(vec![
            DeletionVectorMeta {
                data_file_name: "a".into(),
                offset: 1,
                length: 22,
                cardinality: Some(3),
            },
            DeletionVectorMeta {
                data_file_name: "b".into(),
                offset: 31,
                length: 22,
                cardinality: None,
            },
        ]),
        ..file("DELETION_VECTORS")
    };
    let global = IndexFileMeta {
        external_path: Some("s3://b/i".into()),
        global_index: Some(GlobalIndexMeta {
            row_range_start: 0,
            row_range_end: 41,
            index_field_id: 3,
            extra_field_ids: Some(vec![5, 6]),
            index_meta: Some(vec![9]),
            source_meta: None,
        }),
        ..file("btree")
    };
    let entry = |index_file| IndexManifestEntry {
        kind: FileKind::Add,
        partition: int_partition(&[Some(1)]),
        bucket: 0,
        index_file,
    };
    vec![entry(file("HASH")), entry(dv), entry(global)]
}

#[test]
fn everything_round_trips_in_every_codec() {
    for compression in [
        ManifestCompression::None,
        ManifestCompression::Deflate,
        ManifestCompression::Snappy,
        ZSTD,
    ] {
        let entries = sample_entries();
        assert_eq!(
            decode_manifest(&encode_manifest(&entries, compression, SYNC).unwrap()).unwrap(),
            entries
        );
        let metas = sample_metas();
        assert_eq!(
            decode_manifest_list(&encode_manifest_list(&metas, compression, SYNC).unwrap()).unwrap(),
            metas
        );
        let index = sample_index();
        assert_eq!(
            decode_index_manifest(&encode_index_manifest(&index, compression, SYNC).unwrap()).unwrap(),
            index
        );
        let empty = encode_manifest_list(&[], compression, SYNC).unwrap();
        assert_eq!(decode_manifest_list(&empty).unwrap(), vec![]);
    }
}

/// Reads with the public Avro library and its strict schema, as a stand-in for any other reader.
fn foreign_read(bytes: &[u8]) -> Vec<BTreeMap<String, Value>> {
    let reader = apache_avro::Reader::new(bytes).unwrap();
    reader
        .map(|value| match value.unwrap() {
            Value::Record(fields) => fields.into_iter().collect(),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn apache_avro_reads_what_we_write() {
    let entries = foreign_read(&encode_manifest(&sample_entries(), ZSTD, SYNC).unwrap());
    assert_eq!(entries.len(), 3);
    assert_eq!(entries[1]["_VERSION"], Value::Int(2));
    assert_eq!(entries[1]["_KIND"], Value::Int(1));
    assert_eq!(entries[2]["_BUCKET"], Value::Int(-2));
    let Value::Record(file) = &entries[1]["_FILE"] else {
        panic!()
    };
    let file: BTreeMap<_, _> = file.iter().cloned().collect();
    assert_eq!(file["_FILE_SIZE"], Value::Long(i64::MAX));
    assert_eq!(
        file["_CREATION_TIME"],
        Value::Union(1, Box::new(Value::TimestampMillis(1_700_000_000_123)))
    );
    assert_eq!(
        file["_WRITE_COLS_SEQUENCES"],
        Value::Union(1, Box::new(Value::Array(vec![Value::Long(4), Value::Long(5)])))
    );
    let Value::Record(file) = &entries[0]["_FILE"] else {
        panic!()
    };
    assert!(file.contains(&(
        "_EXTERNAL_PATH".to_owned(),
        Value::Union(0, Box::new(Value::Null))
    )));

    let metas = foreign_read(&encode_manifest_list(&sample_metas(), ZSTD, SYNC).unwrap());
    assert_eq!(
        metas[0]["_MAX_ROW_ID"],
        Value::Union(1, Box::new(Value::Long(99)))
    );
    assert_eq!(metas[1]["_MIN_BUCKET"], Value::Union(0, Box::new(Value::Null)));
    let index = foreign_read(&encode_index_manifest(&sample_index(), ZSTD, SYNC).unwrap());
    assert_eq!(index[0]["_VERSION"], Value::Int(1));
    assert!(
        matches!(&index[2]["_GLOBAL_INDEX"], Value::Union(1, record) if matches!(**record, Value::Record(_)))
    );
}

#[test]
pub(crate) fn sample_entries_decode_with_the_selector_in_effect() {
    struct OnlyBucket(i32, i32);
    impl EntrySelector for OnlyBucket {
        fn select(&mut self, head: &EntryHead<'_>) -> paimon_types::Result<bool> {
            Ok(head.bucket >= self.0)
        }
        fn select_level(&mut self, _: &EntryHead<'_>, level: i32) -> paimon_types::Result<bool> {
            Ok(level <= self.1)
        }
    }
    let bytes = encode_manifest(&sample_entries(), ZSTD, SYNC).unwrap();
    let names = |bucket, level| {
        let mut names = Vec::new();
        decode_manifest_selected(&bytes, &mut OnlyBucket(bucket, level), |e| {
            names.push(e.file.file_name);
            Ok(())
        })
        .unwrap();
        names
    };
    assert_eq!(names(0, 9), ["a", "full"]);
    assert_eq!(names(-9, 0), ["a", "b"]);
}

/// A manifest in an older or foreign shape: our schema, changed, filled with the fields that it has.
fn foreign_manifest(change: impl Fn(&mut serde_json::Value)) -> Vec<u8> {
    let mut schema: serde_json::Value = serde_json::from_str(MANIFEST_SCHEMA).unwrap();
    change(&mut schema);
    let schema = apache_avro::Schema::parse(&schema).unwrap();
    let ours = encode_manifest(&sample_entries()[..1], ManifestCompression::None, SYNC).unwrap();
    let value = apache_avro::Reader::new(ours.as_slice())
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let mut writer = apache_avro::Writer::new(&schema, Vec::new()).unwrap();
    writer.append_value(value.resolve(&schema).unwrap()).unwrap();
    writer.into_inner().unwrap()
}

fn file_fields(schema: &mut serde_json::Value) -> &mut Vec<serde_json::Value> {
    schema["fields"][5]["type"]["fields"].as_array_mut().unwrap()
}

#[test]
fn case_59_missing_extra_and_reordered_fields_read_by_name() {
    let expected = vec![sample_entries()[0].clone()];
    for keep in 12..=21 {
        let bytes = foreign_manifest(|schema| file_fields(schema).truncate(keep));
        assert_eq!(decode_manifest(&bytes).unwrap(), expected, "{keep} fields");
    }
    let extra = foreign_manifest(|schema| {
        for (at, kind) in [
            (3, serde_json::json!("double")),
            (9, serde_json::json!(["null", {"type": "map", "values": "long"}])),
            (
                14,
                serde_json::json!({"type": "fixed", "name": "four", "size": 4}),
            ),
        ] {
            let default = match at {
                3 => serde_json::json!(1.5),
                9 => serde_json::json!(null),
                _ => serde_json::json!("abcd"),
            };
            let field = serde_json::json!({"name": format!("_NEW_{at}"), "type": kind, "default": default});
            file_fields(schema).insert(at, field);
        }
    });
    assert_eq!(decode_manifest(&extra).unwrap(), expected);
    let renamed = foreign_manifest(|schema| {
        schema["name"] = "ManifestEntry".into();
        schema["namespace"] = "a.b".into();
        schema["fields"].as_array_mut().unwrap().reverse();
        // The position moves with the reversal.
        schema["fields"][0]["type"]["fields"]
            .as_array_mut()
            .unwrap()
            .reverse();
    });
    assert_eq!(decode_manifest(&renamed).unwrap(), expected);
    let swapped = foreign_manifest(|schema| {
        for field in file_fields(schema).iter_mut().skip(12) {
            field["type"].as_array_mut().unwrap().reverse();
            field.as_object_mut().unwrap().remove("default");
        }
    });
    assert_eq!(decode_manifest(&swapped).unwrap(), expected);

    let missing = foreign_manifest(|schema| {
        file_fields(schema).remove(2);
    });
    let error = decode_manifest(&missing).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.message().contains("_ROW_COUNT"), "{error}");
}

#[test]
fn other_versions_are_refused_with_their_number() {
    let ours = encode_manifest(&sample_entries()[..1], ManifestCompression::None, SYNC).unwrap();
    let at = ours.windows(16).position(|w| w == SYNC).unwrap() + 16;
    // Behind the sync marker: record count, byte size, `_VERSION`.
    let version = ours[at..].iter().position(|b| *b == 4).unwrap() + at;
    let mut changed = ours.clone();
    changed[version] = 2 * 9;
    let error = decode_manifest(&changed).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(error.message(), "manifest version 9, expected 2");
}

#[test]
fn damaged_manifests_never_panic() {
    for compression in [ManifestCompression::None, ZSTD] {
        let bytes = encode_manifest(&sample_entries(), compression, SYNC).unwrap();
        for cut in 0..bytes.len() {
            let _ = decode_manifest(&bytes[..cut]);
        }
        for at in 0..bytes.len() {
            for bit in [1u8, 0x10, 0x80] {
                let mut damaged = bytes.clone();
                damaged[at] ^= bit;
                let _ = decode_manifest(&damaged);
            }
        }
        let bytes = encode_index_manifest(&sample_index(), compression, SYNC).unwrap();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            let _ = decode_index_manifest(&damaged);
        }
    }
}

fn store(options: ManifestOptions) -> ManifestStore {
    let types = vec![DataType::new(TypeKind::Int)];
    ManifestStore::new(
        Storage::memory(),
        "memory:///t",
        options,
        types,
        std::sync::Arc::new(UuidSource),
    )
}

#[tokio::test]
async fn writing_rolls_and_names_count_up() {
    let store = store(ManifestOptions {
        target_file_size: 1,
        ..ManifestOptions::default()
    });
    let entries: Vec<_> = (0..2500)
        .map(|i| {
            let file = DataFileMeta {
                first_row_id: Some(i * 10),
                ..simple_file(&format!("f{i}"))
            };
            ManifestEntry::add(int_partition(&[Some((i % 3) as i32)]), (i % 4) as i32, 4, file)
        })
        .collect();
    let metas = store.write_manifests(&entries).await.unwrap();
    assert_eq!(
        metas.iter().map(|m| m.num_added_files).collect::<Vec<_>>(),
        [1000, 1000, 500]
    );
    assert!(metas[0].file_name.ends_with("-0") && metas[2].file_name.ends_with("-2"));
    assert_eq!((metas[0].min_row_id, metas[0].max_row_id), (Some(0), Some(9999)));
    assert_eq!((metas[0].min_bucket, metas[0].max_bucket), (Some(0), Some(3)));
    assert_eq!(metas[0].partition_stats.min_values, int_values(&[Some(0)]));
    assert_eq!(metas[0].partition_stats.max_values, int_values(&[Some(2)]));
    let read: Vec<_> = store.read_manifests(&metas).await.unwrap().concat();
    assert_eq!(read, entries);
    let (name, size) = store.write_list(&metas).await.unwrap();
    assert!(name.starts_with("manifest-list-") && name.ends_with("-0") && size > 0);
    assert_eq!(store.read_list(&name).await.unwrap(), metas);
    assert_eq!(store.write_manifests(&[]).await.unwrap(), vec![]);
    let error = store.read_list("manifest-list-gone-0").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(
        error.to_string().contains("manifest/manifest-list-gone-0"),
        "{error}"
    );
}

/// A small generator of numbers that repeats.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// Whatever the history and the thresholds, merging does not change the set of live files.
#[tokio::test]
async fn merging_keeps_the_live_files() {
    for seed in 1..25u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut options = ManifestOptions {
            target_file_size: [200, 3000, 8 << 20][random.below(3) as usize],
            full_compaction_threshold: [1, 6000, 1 << 30][random.below(3) as usize],
            merge_min_count: 1 + random.below(6) as usize,
            ..ManifestOptions::default()
        };
        options.parallelism = 1 + random.below(4) as usize;
        let store = store(options);
        let mut live: BTreeMap<String, ManifestEntry> = BTreeMap::new();
        let mut metas: Vec<ManifestFileMeta> = Vec::new();
        let mut number = 0;
        for _commit in 0..25 {
            let mut entries = Vec::new();
            for _ in 0..random.below(40) {
                let partition = match random.below(5) {
                    0 => None,
                    p => Some(p as i32),
                };
                let file = simple_file(&format!("f{number}"));
                number += 1;
                entries.push(ManifestEntry::add(
                    int_partition(&[partition]),
                    random.below(3) as i32,
                    3,
                    file,
                ));
            }
            let names: Vec<String> = live.keys().cloned().collect();
            for name in names {
                if random.below(6) == 0 {
                    let entry = live.remove(&name).unwrap();
                    entries.push(ManifestEntry {
                        kind: FileKind::Delete,
                        ..entry
                    });
                }
            }
            for entry in entries.iter().filter(|e| e.kind == FileKind::Add) {
                live.insert(entry.file.file_name.clone(), entry.clone());
            }
            metas.extend(store.write_manifests(&entries).await.unwrap());
            let before = metas.clone();
            let (merged, written) = store.merge(metas).await.unwrap();
            for name in &written {
                assert!(
                    merged.iter().any(|m| m.file_name == *name)
                        && !before.iter().any(|m| m.file_name == *name)
                );
            }
            metas = merged;
            let found = store.live_entries(&metas, KeepAll).await.unwrap();
            let names: Vec<_> = found.iter().map(|e| e.file.file_name.clone()).collect();
            let found: BTreeMap<_, _> = found.into_iter().map(|e| (e.file.file_name.clone(), e)).collect();
            assert_eq!(found.len(), names.len(), "seed {seed}: a file occurs twice");
            assert_eq!(found, live, "seed {seed}");
        }
        let (all, _) = store.compact(metas).await.unwrap();
        assert_eq!(store.live_entries(&all, KeepAll).await.unwrap().len(), live.len());
    }
}

#[test]
fn deletes_cancel_in_any_order_and_stay_when_unmatched() {
    let p = int_partition(&[Some(1)]);
    let add = |n: &str| ManifestEntry::add(p.clone(), 0, 1, simple_file(n));
    let delete = |n: &str| ManifestEntry::delete(p.clone(), 0, 1, simple_file(n));
    assert_eq!(
        merge_entries([add("a"), add("b"), delete("a"), delete("c")]).unwrap(),
        [add("b"), delete("c")]
    );
    assert_eq!(merge_entries([delete("c"), delete("c")]).unwrap(), [delete("c")]);
    assert_eq!(
        merge_entries([add("a"), add("a")]).unwrap_err().kind(),
        ErrorKind::Corrupt
    );
    let upgraded = ManifestEntry::add(
        p.clone(),
        0,
        1,
        DataFileMeta {
            level: 1,
            ..simple_file("a")
        },
    );
    assert_eq!(
        merge_entries([add("a"), delete("a"), upgraded.clone()]).unwrap(),
        [upgraded]
    );
}
