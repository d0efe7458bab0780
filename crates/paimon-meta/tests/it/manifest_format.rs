// SPDX-License-Identifier: Apache-2.0

//! Tables with `manifest.format` = `orc`: committed, planned and merged like those with Avro manifests.

use std::sync::Arc;

use paimon_format::FormatRegistry;
use paimon_format_orc::OrcFormatFactory;
use paimon_meta::{PartitionSpec, Table};
use paimon_storage::Storage;
use paimon_types::ErrorKind;

use crate::support::{append_to, create, manifest_files, options};

fn formats() -> Arc<FormatRegistry> {
    Arc::new(FormatRegistry::new().with(Arc::new(OrcFormatFactory::new())))
}

/// Twelve commits, with merges of manifests, an overwrite of a partition and one dropped.
async fn fill(table: &Table) {
    for i in 0..12 {
        let messages = append_to(Some(i % 3), &format!("f{i}"), i64::from(i) + 1);
        table.new_commit().commit(messages).await.unwrap();
    }
    let spec = PartitionSpec::from([("p".to_string(), "1".to_string())]);
    let overwrite = append_to(Some(1), "new", 5);
    table
        .new_commit()
        .overwrite(Some(&spec), overwrite)
        .await
        .unwrap();
    let dropped = PartitionSpec::from([("p".to_string(), "2".to_string())]);
    table.new_commit().drop_partitions(&[dropped]).await.unwrap();
}

/// What a plan says, without what differs from one table to another.
async fn planned(table: &Table) -> Vec<String> {
    let mut lines = Vec::new();
    for snapshot in table.snapshot_manager().all().await.unwrap() {
        for entry in table.list_files(&snapshot).await.unwrap() {
            lines.push(format!("{} {:?}", snapshot.id, entry));
        }
    }
    let plan = table.new_scan().plan().await.unwrap();
    lines.extend(
        plan.splits
            .iter()
            .map(|s| format!("{} {:?}", s.bucket, s.data_files)),
    );
    lines
}

async fn starts_with(table: &Table, magic: &[u8]) -> usize {
    let mut count = 0;
    for name in manifest_files(table).await {
        let bytes = table
            .storage()
            .read(&table.paths().manifest(&name))
            .await
            .unwrap();
        count += usize::from(bytes.starts_with(magic));
    }
    count
}

#[tokio::test]
async fn plans_equal_those_of_avro_manifests() {
    let storage = Storage::memory();
    let pairs = [("manifest.format", "orc"), ("manifest.merge-min-count", "3")];
    let orc = create(&storage, "memory:///orc", true, &pairs)
        .await
        .with_formats(formats());
    let avro = create(&storage, "memory:///avro", true, &pairs[1..]).await;
    fill(&orc).await;
    fill(&avro).await;
    assert_eq!(planned(&orc).await, planned(&avro).await);
    let files = manifest_files(&orc).await.len();
    assert_eq!(starts_with(&orc, b"ORC").await, files);
    assert_eq!(manifest_files(&avro).await.len(), files);

    // The option decides about new files only: one table may hold both formats.
    let changed = orc.with_options(options(&[("manifest.format", "avro")])).unwrap();
    let before = starts_with(&changed, b"Obj").await;
    for table in [&changed, &avro] {
        table
            .new_commit()
            .commit(append_to(Some(0), "last", 1))
            .await
            .unwrap();
    }
    assert!(before == 0 && starts_with(&changed, b"Obj").await >= 3);
    assert_eq!(planned(&orc).await, planned(&avro).await);
}

#[tokio::test]
async fn without_the_format_nothing_is_written_or_read() {
    let storage = Storage::memory();
    let bare = create(&storage, "memory:///t", true, &[("manifest.format", "orc")]).await;
    let err = bare
        .new_commit()
        .commit(append_to(Some(1), "a", 1))
        .await
        .unwrap_err();
    let text = err.to_string();
    assert_eq!(err.kind(), ErrorKind::Unsupported, "{text}");
    assert!(
        text.contains("cargo feature orc") && text.contains("manifest.format"),
        "{text}"
    );
    assert!(bare.snapshot_manager().latest().await.unwrap().is_none());
    assert!(manifest_files(&bare).await.is_empty());

    let table = bare.with_formats(formats());
    table
        .new_commit()
        .commit(append_to(Some(1), "a", 1))
        .await
        .unwrap();
    let err = bare.new_scan().plan().await.unwrap_err();
    let text = err.to_string();
    assert_eq!(err.kind(), ErrorKind::Unsupported, "{text}");
    assert!(
        text.contains("cargo feature orc") && text.contains("manifest-list-"),
        "{text}"
    );
    assert_eq!(table.new_scan().plan().await.unwrap().splits.len(), 1);
}
