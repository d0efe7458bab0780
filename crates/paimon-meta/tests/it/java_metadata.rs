// SPDX-License-Identifier: Apache-2.0

//! Snapshots and tables written by Java.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use paimon_meta::{Snapshot, Table};
use paimon_storage::Storage;

use crate::support::conformance_dir;

fn tables(root: &Path) -> Vec<PathBuf> {
    let mut tables = Vec::new();
    for format in std::fs::read_dir(root.join("tables")).unwrap() {
        tables.extend(
            std::fs::read_dir(format.unwrap().path())
                .unwrap()
                .map(|t| t.unwrap().path()),
        );
    }
    tables.sort();
    tables
}

/// What old versions wrote and the newest does not.
fn without_old_keys(text: &str) -> String {
    let old = [
        "\"logOffsets\" : { }",
        "\"changelogManifestList\" : null",
        "\"watermark\" : -9223372036854775808",
    ];
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !old.contains(&line.trim().trim_end_matches(',')))
        .collect();
    lines.join("\n")
}

#[test]
fn snapshot_files_round_trip() {
    let Some(root) = conformance_dir() else { return };
    let mut count = 0;
    for table in tables(&root) {
        let mut dirs = vec![table.join("snapshot")];
        if let Ok(branches) = std::fs::read_dir(table.join("branch")) {
            dirs.extend(branches.map(|b| b.unwrap().path().join("snapshot")));
        }
        for dir in dirs {
            for file in std::fs::read_dir(&dir).unwrap() {
                let path = file.unwrap().path();
                if !path
                    .file_name()
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .starts_with("snapshot-")
                {
                    continue;
                }
                let text = std::fs::read_to_string(&path).unwrap();
                let snapshot =
                    Snapshot::from_json(&text).unwrap_or_else(|e| panic!("{}: {e:?}", path.display()));
                let written = snapshot.to_json();
                assert_eq!(
                    Snapshot::from_json(&written).unwrap(),
                    snapshot,
                    "{}",
                    path.display()
                );
                assert_eq!(written, without_old_keys(&text), "{}", path.display());
                count += 1;
            }
        }
    }
    println!("{count} snapshot files");
    assert!(count > 100);
}

#[tokio::test]
async fn tables_open_and_snapshots_are_found() {
    let Some(root) = conformance_dir() else { return };
    for path in tables(&root) {
        let location = path.to_str().unwrap();
        let table = Table::open(Storage::default(), location, BTreeMap::new())
            .await
            .unwrap_or_else(|e| panic!("{location}: {e:?}"));
        let snapshots = table.snapshot_manager();
        let ids = snapshots.list_ids().await.unwrap();
        assert_eq!(
            snapshots.latest_id().await.unwrap().as_ref(),
            ids.last(),
            "{location}"
        );
        assert_eq!(
            snapshots.earliest_id().await.unwrap().as_ref(),
            ids.first(),
            "{location}"
        );
        for branch in table.branch_manager().list().await.unwrap() {
            let branch = Table::open(
                Storage::default(),
                &format!("{location}$branch_{branch}"),
                BTreeMap::new(),
            )
            .await
            .unwrap_or_else(|e| panic!("{location}: {e:?}"));
            assert!(branch.snapshot_manager().latest().await.unwrap().is_some());
        }
        table.tag_manager().list().await.unwrap();
    }
}
