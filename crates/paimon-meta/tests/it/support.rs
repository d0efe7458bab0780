// SPDX-License-Identifier: Apache-2.0

//! Tables and files for tests.

use std::collections::BTreeMap;
use std::path::PathBuf;

use paimon_meta::manifest::{FileKind, ManifestOptions, ManifestStore, merge_entries};
use paimon_meta::{Snapshot, Table};
use paimon_protocol::{CommitMessage, DataFileMeta, FileSource, Partition, RowValues, SimpleStats};
use paimon_storage::{Environment, Storage};
use paimon_types::{DataField, DataType, Datum, NewTable, TypeKind};

/// The folder with tables written by Java, `None` (with a message) when this machine does not have it.
pub(crate) fn conformance_dir() -> Option<PathBuf> {
    let dir = match std::env::var_os("PAIMON_CONFORMANCE_DIR") {
        Some(dir) => PathBuf::from(dir),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance"),
    };
    if dir.join("tables").is_dir() {
        return Some(dir);
    }
    println!(
        "skipped: there are no conformance tables at {}; set PAIMON_CONFORMANCE_DIR",
        dir.display()
    );
    None
}

pub(crate) fn options(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(k, v)| (k.to_string(), v.to_string()))
        .collect()
}

/// `id INT, v STRING, p INT`, partitioned by p or not.
pub(crate) fn new_table(partitioned: bool, pairs: &[(&str, &str)]) -> NewTable {
    NewTable {
        columns: vec![
            DataField::new(0, "id", DataType::new(TypeKind::Int)),
            DataField::new(0, "v", DataType::string()),
            DataField::new(0, "p", DataType::new(TypeKind::Int)),
        ],
        partition_keys: if partitioned { vec!["p".into()] } else { Vec::new() },
        primary_keys: Vec::new(),
        options: options(pairs),
        comment: None,
    }
}

pub(crate) async fn create(
    storage: &Storage,
    location: &str,
    partitioned: bool,
    pairs: &[(&str, &str)],
) -> Table {
    Table::create(
        storage.clone(),
        Environment::default(),
        location,
        new_table(partitioned, pairs),
    )
    .await
    .unwrap()
}

pub(crate) fn partition(value: Option<i32>) -> Partition {
    Partition::of(&[DataType::new(TypeKind::Int)], &[value.map(Datum::Int)]).unwrap()
}

pub(crate) fn file(name: &str, rows: i64) -> DataFileMeta {
    DataFileMeta {
        file_name: name.into(),
        file_size: 100,
        row_count: rows,
        min_key: RowValues::empty(),
        max_key: RowValues::empty(),
        key_stats: SimpleStats::empty(),
        value_stats: SimpleStats::empty(),
        min_sequence_number: 0,
        max_sequence_number: rows - 1,
        schema_id: 0,
        level: 0,
        extra_files: Vec::new(),
        creation_time: Some(0),
        delete_row_count: Some(0),
        embedded_index: None,
        file_source: Some(FileSource::Append),
        value_stats_cols: Some([].into()),
        external_path: None,
        first_row_id: None,
        write_cols: None,
        write_cols_sequences: None,
    }
}

/// Adds one file of an unpartitioned table without buckets.
pub(crate) fn append(name: &str, rows: i64) -> Vec<CommitMessage> {
    vec![CommitMessage::append(
        Partition::unpartitioned(),
        0,
        Some(-1),
        vec![file(name, rows)],
    )]
}

/// Adds one file to partition `p`.
pub(crate) fn append_to(p: Option<i32>, name: &str, rows: i64) -> Vec<CommitMessage> {
    vec![CommitMessage::append(
        partition(p),
        0,
        Some(-1),
        vec![file(name, rows)],
    )]
}

/// Names of the live files of a snapshot, sorted, by an independent merge of all its manifests.
pub(crate) async fn live_names(table: &Table, snapshot: &Snapshot) -> Vec<String> {
    let store = ManifestStore::new(
        table.storage().clone(),
        table.location(),
        ManifestOptions::default(),
        table.schema().partition_types(),
        table.environment().ids.clone(),
    );
    let mut entries = Vec::new();
    for list in [&snapshot.base_manifest_list, &snapshot.delta_manifest_list] {
        for meta in store.read_list(list).await.unwrap() {
            entries.extend(store.read_manifest(&meta).await.unwrap());
        }
    }
    let live = merge_entries(entries).unwrap();
    assert!(
        live.iter().all(|e| e.kind == FileKind::Add),
        "unmatched DELETE entries"
    );
    let mut names: Vec<String> = live.into_iter().map(|e| e.file.file_name).collect();
    names.sort_unstable();
    names
}

pub(crate) async fn latest(table: &Table) -> Snapshot {
    table.snapshot_manager().latest().await.unwrap().unwrap()
}

/// Names of all files of the manifest directory.
pub(crate) async fn manifest_files(table: &Table) -> Vec<String> {
    let files = table.storage().list(&table.paths().manifest_dir()).await.unwrap();
    files
        .into_iter()
        .map(|f| f.path.rsplit('/').next().unwrap().to_string())
        .collect()
}

/// A storage whose `memory://` is a store that fails on command.
pub(crate) fn faulty() -> (Storage, paimon_storage::fault::FaultStore) {
    let store = paimon_storage::fault::FaultStore::memory();
    (
        Storage::memory().with_store("memory://", std::sync::Arc::new(store.clone())),
        store,
    )
}
