// SPDX-License-Identifier: Apache-2.0

//! The history of tables with primary keys that Java wrote, committed again by us: every snapshot has the same files, counts and
//! index files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use paimon_format::FormatRegistry;
use paimon_format_orc::OrcFormatFactory;
use paimon_meta::manifest::{FileKind, IndexManifestEntry, ManifestEntry};
use paimon_meta::scan::ManifestListKind;
use paimon_meta::{CommitKind, Snapshot, Table};
use paimon_protocol::{CommitMessage, Increment, Partition};
use paimon_storage::Storage;
use paimon_types::ErrorKind;

use crate::support::conformance_dir;

async fn open(storage: Storage, location: &str) -> Table {
    let formats = FormatRegistry::new().with(Arc::new(OrcFormatFactory::new()));
    let table = Table::open(storage, location, BTreeMap::new()).await.unwrap();
    table.with_formats(Arc::new(formats))
}

/// A table with the same schemas and nothing else.
async fn empty_copy(java: &Table) -> Table {
    let storage = Storage::memory();
    let location = "memory:///db.db/t";
    for id in 0..=java.schema().id {
        if let Some(schema) = java.schema_manager().try_schema(id).await.unwrap() {
            let path = format!("{location}/schema/schema-{id}");
            storage.write(&path, schema.to_json().into()).await.unwrap();
        }
    }
    open(storage, location).await
}

async fn entries(table: &Table, snapshot: &Snapshot, list: ManifestListKind) -> Vec<ManifestEntry> {
    let mut entries = Vec::new();
    for manifest in table.list_manifests(snapshot).await.unwrap() {
        if manifest.list == list {
            entries.extend(
                table
                    .manifest_store()
                    .read_manifest(&manifest.meta)
                    .await
                    .unwrap(),
            );
        }
    }
    entries
}

/// What writers must have handed over for a snapshot.
async fn messages(java: &Table, before: Option<&Snapshot>, snapshot: &Snapshot) -> Vec<CommitMessage> {
    let mut buckets: Vec<(Partition, i32, Option<i32>, Increment)> = Vec::new();
    let mut of =
        |partition: &Partition, bucket: i32, total: Option<i32>, change: &mut dyn FnMut(&mut Increment)| {
            let at = match buckets.iter().position(|b| b.0 == *partition && b.1 == bucket) {
                Some(at) => at,
                None => {
                    buckets.push((partition.clone(), bucket, total, Increment::default()));
                    buckets.len() - 1
                }
            };
            change(&mut buckets[at].3);
        };
    for entry in entries(java, snapshot, ManifestListKind::Delta).await {
        of(
            &entry.partition,
            entry.bucket,
            Some(entry.total_buckets),
            &mut |increment| match entry.kind {
                FileKind::Add => increment.new_files.push(entry.file.clone()),
                FileKind::Delete => increment.deleted_files.push(entry.file.clone()),
            },
        );
    }
    for entry in entries(java, snapshot, ManifestListKind::Changelog).await {
        of(
            &entry.partition,
            entry.bucket,
            Some(entry.total_buckets),
            &mut |increment| {
                increment.changelog_files.push(entry.file.clone());
            },
        );
    }
    let old = match before {
        Some(before) => java.list_index_files(before).await.unwrap(),
        None => Vec::new(),
    };
    let new = java.list_index_files(snapshot).await.unwrap();
    for entry in old.iter().filter(|entry| !new.contains(entry)) {
        of(&entry.partition, entry.bucket, None, &mut |increment| {
            increment.deleted_index_files.push(entry.index_file.clone());
        });
    }
    for entry in new.iter().filter(|entry| !old.contains(entry)) {
        of(&entry.partition, entry.bucket, None, &mut |increment| {
            increment.new_index_files.push(entry.index_file.clone());
        });
    }
    buckets
        .into_iter()
        .map(|(partition, bucket, total, increment)| {
            let mut message = CommitMessage::append(partition, bucket, total, Vec::new());
            match snapshot.commit_kind {
                CommitKind::Compact => message.compact_increment = increment,
                _ => message.data_increment = increment,
            }
            message
        })
        .collect()
}

fn by_name(mut entries: Vec<ManifestEntry>) -> Vec<ManifestEntry> {
    entries.sort_by(|a, b| (a.bucket, &a.file.file_name).cmp(&(b.bucket, &b.file.file_name)));
    entries
}

fn names(entries: &[IndexManifestEntry]) -> BTreeSet<&str> {
    entries
        .iter()
        .map(|entry| entry.index_file.file_name.as_str())
        .collect()
}

/// How many snapshots were made again; `None` for a table that is not one with a primary key, or whose first snapshot is gone.
async fn replay(location: &str) -> Option<Result<usize, paimon_types::Error>> {
    let java = open(Storage::default(), location).await;
    let snapshots = java.snapshot_manager().all().await.unwrap();
    if java.schema().primary_keys.is_empty() || snapshots.first()?.id != 1 {
        return None;
    }
    let ours = empty_copy(&java).await;
    for (at, expected) in snapshots.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| snapshots.get(at));
        let messages = messages(&java, before, expected).await;
        // A commit of no files is a commit.
        let commit = ours.new_commit().ignore_empty(!messages.is_empty());
        match commit.commit(messages).await {
            Ok(_) => {}
            Err(e) if e.kind() == ErrorKind::Unsupported => return Some(Err(e)),
            Err(e) => panic!("{location} snapshot {}: {e}", expected.id),
        }
        let made = ours.snapshot_manager().latest().await.unwrap().unwrap();
        let name = format!("{location} snapshot {}", expected.id);
        assert_eq!(made.id, expected.id, "{name}");
        assert_eq!(made.commit_kind, expected.commit_kind, "{name}");
        assert_eq!(made.delta_record_count, expected.delta_record_count, "{name}");
        assert_eq!(made.total_record_count, expected.total_record_count, "{name}");
        assert_eq!(
            made.changelog_record_count.unwrap_or(0),
            expected.changelog_record_count.unwrap_or(0),
            "{name}"
        );
        assert_eq!(
            by_name(ours.list_files(&made).await.unwrap()),
            by_name(java.list_files(expected).await.unwrap()),
            "{name}"
        );
        assert_eq!(
            names(&ours.list_index_files(&made).await.unwrap()),
            names(&java.list_index_files(expected).await.unwrap()),
            "{name}"
        );
    }
    Some(Ok(snapshots.len()))
}

fn tables_in(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return Vec::new();
    };
    entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect()
}

#[tokio::test]
async fn histories_of_java() {
    let fixtures = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/java/pk");
    let mut tables: Vec<_> = tables_in(&fixtures).iter().map(|dir| dir.join("table")).collect();
    let conformance = conformance_dir();
    if let Some(dir) = &conformance {
        for format in tables_in(&dir.join("tables")) {
            tables.extend(tables_in(&format));
        }
    }
    let (mut made, mut refused) = (0, Vec::new());
    for table in tables {
        match replay(&table.to_string_lossy()).await {
            None => {}
            Some(Ok(count)) => made += count,
            Some(Err(e)) => refused.push(format!("{}: {e}", table.display())),
        }
    }
    println!("{made} snapshots made again; refused: {refused:#?}");
    assert!(
        conformance.is_none() || made >= 40,
        "{made} snapshots; refused: {refused:#?}"
    );
}
