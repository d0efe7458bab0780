// SPDX-License-Identifier: Apache-2.0

//! Random metadata through its files and back: snapshots and tags as JSON, manifests of each kind in Avro and in ORC.

use std::sync::Arc;
use std::time::Duration;

use paimon_format::FormatRegistry;
use paimon_format_orc::OrcFormatFactory;
use paimon_meta::manifest::codec::{
    decode_index_manifest, decode_manifest, decode_manifest_list, encode_index_manifest, encode_manifest,
    encode_manifest_list,
};
use paimon_meta::manifest::{
    FileKind, IndexManifestEntry, ManifestCompression, ManifestEntry, ManifestFileMeta, ManifestOptions,
    ManifestStore,
};
use paimon_meta::{CommitKind, Snapshot, Tag};
use paimon_protocol::Partition;
use paimon_storage::{Environment, Storage};
use paimon_types::{DataType, Timestamp, TypeKind};
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;

use crate::{sample, support};

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn snapshot() -> impl Strategy<Value = Snapshot> {
    let kinds = [
        CommitKind::Append,
        CommitKind::Compact,
        CommitKind::Overwrite,
        CommitKind::Analyze,
    ];
    let names = (
        (sample::text(), sample::text(), sample::text()),
        of(sample::text()),
        of(sample::text()),
        of(sample::text()),
        of(sample::text()),
        of(sample::text()),
        of(sample::text()),
    );
    let numbers = (any::<[i64; 6]>(), any::<[Option<i64>; 6]>(), 1..=3i32);
    let properties = btree_map(sample::text(), sample::text(), 0..3);
    let kind = (0..kinds.len()).prop_map(move |i| kinds[i]);
    (numbers, names, properties, kind).prop_map(|(numbers, names, properties, commit_kind)| {
        let ([id, schema_id, commit_identifier, time_millis, total, delta], optional, version) = numbers;
        let (
            (base_manifest_list, delta_manifest_list, commit_user),
            uuid,
            changelog,
            index,
            writer,
            statistics,
            operation,
        ) = names;
        Snapshot {
            version,
            uuid,
            id,
            schema_id,
            base_manifest_list,
            base_manifest_list_size: optional[0],
            delta_manifest_list,
            delta_manifest_list_size: optional[1],
            changelog_manifest_list: changelog,
            changelog_manifest_list_size: optional[2],
            index_manifest: index,
            commit_user,
            writer_version: writer,
            commit_identifier,
            commit_kind,
            time_millis,
            total_record_count: total,
            delta_record_count: delta,
            changelog_record_count: optional[3],
            // The smallest number means none.
            watermark: optional[4].filter(|w| *w != i64::MIN),
            statistics,
            properties,
            next_row_id: optional[5],
            operation,
        }
    })
}

fn kind(delete: bool) -> FileKind {
    if delete { FileKind::Delete } else { FileKind::Add }
}

fn entry(partition: impl Strategy<Value = Partition>) -> impl Strategy<Value = ManifestEntry> {
    (any::<bool>(), partition, any::<[i32; 2]>(), sample::file()).prop_map(
        |(delete, partition, [bucket, total_buckets], file)| ManifestEntry {
            kind: kind(delete),
            partition,
            bucket,
            total_buckets,
            file,
        },
    )
}

fn index_entry(partition: impl Strategy<Value = Partition>) -> impl Strategy<Value = IndexManifestEntry> {
    (any::<bool>(), partition, any::<i32>(), sample::index_file()).prop_map(
        |(delete, partition, bucket, index_file)| IndexManifestEntry {
            kind: kind(delete),
            partition,
            bucket,
            index_file,
        },
    )
}

fn manifest_meta() -> impl Strategy<Value = ManifestFileMeta> {
    let numbers = (
        any::<[i64; 4]>(),
        any::<[Option<i32>; 4]>(),
        any::<[Option<i64>; 2]>(),
    );
    (sample::text(), sample::stats(), numbers).prop_map(|(file_name, partition_stats, numbers)| {
        let ([file_size, num_added_files, num_deleted_files, schema_id], small, rows) = numbers;
        ManifestFileMeta {
            file_name,
            file_size,
            num_added_files,
            num_deleted_files,
            partition_stats,
            schema_id,
            min_bucket: small[0],
            max_bucket: small[1],
            min_level: small[2],
            max_level: small[3],
            min_row_id: rows[0],
            max_row_id: rows[1],
        }
    })
}

fn any_partition() -> impl Strategy<Value = Partition> {
    sample::row().prop_map(Partition::from)
}

fn int_partition() -> impl Strategy<Value = Partition> {
    of(any::<i32>()).prop_map(support::partition)
}

fn compression() -> impl Strategy<Value = ManifestCompression> {
    prop_oneof![
        Just(ManifestCompression::None),
        (1..4i32).prop_map(ManifestCompression::Zstd)
    ]
}

fn store(format: &str) -> ManifestStore {
    let formats = FormatRegistry::new().with(Arc::new(OrcFormatFactory::new()));
    ManifestStore::with_formats(
        Storage::memory(),
        "memory:///t",
        ManifestOptions {
            format: format.to_owned(),
            ..ManifestOptions::default()
        },
        vec![DataType::new(TypeKind::Int)],
        Environment::default().ids,
        Arc::new(formats),
    )
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn snapshots(snapshot in snapshot()) {
        let json = snapshot.to_json();
        let again = Snapshot::from_json(&json).unwrap();
        prop_assert_eq!(&again, &snapshot);
        prop_assert_eq!(again.to_json(), json);
    }

    #[test]
    fn tags(
        snapshot in snapshot(),
        // Wall clocks of the years 1 to 9999; times to keep in milliseconds of up to 31 years.
        kept in of((-62_135_596_800_000..253_402_300_800_000i64, 0..1_000_000i32, 0..1_000_000_000_000u64)),
    ) {
        let time = |(millis, nanos_of_milli, _)| Timestamp { millis, nanos_of_milli };
        let tag = Tag {
            name: "t".to_owned(),
            snapshot,
            create_time: kept.map(time),
            time_retained: kept.map(|(_, _, millis)| Duration::from_millis(millis)),
        };
        let json = tag.to_json();
        let again = Tag::from_json("t", &json).unwrap();
        prop_assert_eq!(&again, &tag);
        prop_assert_eq!(again.to_json(), json);
    }

    #[test]
    fn manifests(entries in vec(entry(any_partition()), 0..6), compression in compression()) {
        let bytes = encode_manifest(&entries, compression, [7; 16]).unwrap();
        let again = decode_manifest(&bytes).unwrap();
        prop_assert_eq!(&again, &entries);
        prop_assert_eq!(encode_manifest(&again, compression, [7; 16]).unwrap(), bytes);
    }

    #[test]
    fn manifest_lists(metas in vec(manifest_meta(), 0..6), compression in compression()) {
        let bytes = encode_manifest_list(&metas, compression, [7; 16]).unwrap();
        let again = decode_manifest_list(&bytes).unwrap();
        prop_assert_eq!(&again, &metas);
        prop_assert_eq!(encode_manifest_list(&again, compression, [7; 16]).unwrap(), bytes);
    }

    #[test]
    fn index_manifests(entries in vec(index_entry(any_partition()), 0..6), compression in compression()) {
        let bytes = encode_index_manifest(&entries, compression, [7; 16]).unwrap();
        let again = decode_index_manifest(&bytes).unwrap();
        prop_assert_eq!(&again, &entries);
        prop_assert_eq!(encode_index_manifest(&again, compression, [7; 16]).unwrap(), bytes);
    }
}

proptest! {
    #![proptest_config(config(48))]

    /// What commits write and scans read, in both formats.
    #[test]
    fn files_in_both_formats(
        mut entries in vec(entry(int_partition()), 1..5),
        metas in vec(manifest_meta(), 0..5),
        index in vec(index_entry(int_partition()), 0..5),
    ) {
        // Timestamps of ORC are those of a calendar.
        for entry in &mut entries {
            entry.file.creation_time = entry.file.creation_time.map(|millis| millis % 200_000_000_000_000);
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        for format in ["avro", "orc"] {
            let store = store(format);
            runtime.block_on(async {
                let written = store.write_manifests(&entries).await.unwrap();
                let mut again = Vec::new();
                for meta in &written {
                    again.extend(store.read_manifest(meta).await.unwrap());
                }
                prop_assert_eq!(&again, &entries, "{}", format);
                let (name, _) = store.write_list(&metas).await.unwrap();
                prop_assert_eq!(&store.read_list(&name).await.unwrap(), &metas, "{}", format);
                let name = store.write_index_manifest(&index).await.unwrap();
                prop_assert_eq!(&store.read_index_manifest(&name).await.unwrap(), &index, "{}", format);
                Ok(())
            })?;
        }
    }
}
