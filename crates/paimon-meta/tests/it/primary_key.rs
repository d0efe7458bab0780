// SPDX-License-Identifier: Apache-2.0

//! Commits to tables with a primary key.

use paimon_meta::{CommitKind, CommitOutcome, Table};
use paimon_protocol::{
    CommitMessage, DataFileMeta, FileSource, Increment, IndexFileMeta, Partition, RowValues,
};
use paimon_storage::{Environment, Storage};
use paimon_types::{DataType, Datum, ErrorKind, NewTable, TypeKind};

use crate::support::{file, live_names, new_table};

const LOCATION: &str = "memory:///db.db/t";

async fn table(pairs: &[(&str, &str)]) -> Table {
    let mut new: NewTable = new_table(false, pairs);
    new.primary_keys = vec!["id".into()];
    new.options.entry("bucket".into()).or_insert_with(|| "1".into());
    Table::create(Storage::memory(), Environment::default(), LOCATION, new)
        .await
        .unwrap()
}

fn key(value: i32) -> RowValues {
    RowValues::of(&[DataType::new(TypeKind::Int)], &[Some(Datum::Int(value))]).unwrap()
}

fn keyed(name: &str, level: i32, keys: (i32, i32), rows: i64) -> DataFileMeta {
    DataFileMeta {
        level,
        min_key: key(keys.0),
        max_key: key(keys.1),
        file_source: Some(if level == 0 {
            FileSource::Append
        } else {
            FileSource::Compact
        }),
        ..file(name, rows)
    }
}

fn append(files: Vec<DataFileMeta>) -> CommitMessage {
    CommitMessage::append(Partition::unpartitioned(), 0, Some(1), files)
}

fn compact(before: Vec<DataFileMeta>, after: Vec<DataFileMeta>) -> CommitMessage {
    CommitMessage {
        compact_increment: Increment {
            new_files: after,
            deleted_files: before,
            ..Increment::default()
        },
        ..append(Vec::new())
    }
}

#[tokio::test]
async fn appended_and_compacted_files_with_changelogs_make_two_snapshots() {
    let table = table(&[]).await;
    let old = keyed("old", 0, (1, 9), 10);
    table
        .new_commit()
        .commit(vec![append(vec![old.clone()])])
        .await
        .unwrap();
    let new = keyed("new", 0, (1, 4), 4);
    let mut message = compact(vec![old, new.clone()], vec![keyed("merged", 5, (1, 9), 11)]);
    message.data_increment.new_files = vec![new];
    message.data_increment.changelog_files = vec![keyed("log-0", 0, (1, 4), 5)];
    message.compact_increment.changelog_files = vec![keyed("log-5", 5, (1, 9), 6)];
    let commit = table.new_commit().commit_user("u").with_identifier(7);
    let outcome = commit.commit(vec![message.clone()]).await.unwrap();
    assert_eq!(
        outcome,
        CommitOutcome::Committed {
            snapshot_ids: vec![2, 3]
        }
    );
    let again = table.new_commit().commit_user("u").with_identifier(7);
    let outcome = again.commit(vec![message]).await.unwrap();
    assert_eq!(
        outcome,
        CommitOutcome::AlreadyCommitted {
            snapshot_ids: vec![2, 3]
        }
    );

    let snapshots = table.snapshot_manager();
    let append = snapshots.snapshot(2).await.unwrap();
    assert_eq!(append.commit_kind, CommitKind::Append);
    assert_eq!((append.delta_record_count, append.total_record_count), (4, 14));
    assert_eq!(append.changelog_record_count, Some(5));
    assert!(append.changelog_manifest_list.is_some());
    let compact = snapshots.snapshot(3).await.unwrap();
    assert_eq!(compact.commit_kind, CommitKind::Compact);
    assert_eq!((compact.delta_record_count, compact.total_record_count), (-3, 11));
    assert_eq!(compact.changelog_record_count, Some(6));
    assert_eq!(live_names(&table, &compact).await, ["merged"]);
}

#[tokio::test]
async fn a_compaction_of_files_that_are_gone_is_a_conflict() {
    let table = table(&[]).await;
    let old = keyed("old", 0, (1, 9), 10);
    table
        .new_commit()
        .commit(vec![append(vec![old.clone()])])
        .await
        .unwrap();
    let one = compact(vec![old.clone()], vec![keyed("one", 5, (1, 9), 10)]);
    table.new_commit().commit(vec![one]).await.unwrap();
    let other = compact(vec![old], vec![keyed("other", 5, (1, 9), 10)]);
    let error = table.new_commit().commit(vec![other]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
}

#[tokio::test]
async fn files_of_a_level_keep_apart() {
    let table = table(&[]).await;
    let files = vec![keyed("a", 0, (1, 5), 1), keyed("b", 0, (5, 9), 1)];
    table
        .new_commit()
        .commit(vec![append(files.clone())])
        .await
        .unwrap();
    let one = compact(vec![files[0].clone()], vec![keyed("one", 5, (1, 5), 1)]);
    table.new_commit().commit(vec![one]).await.unwrap();
    let other = compact(vec![files[1].clone()], vec![keyed("other", 5, (5, 9), 1)]);
    let error = table.new_commit().commit(vec![other]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.to_string().contains("keys in common"), "{error}");
    // Another level is another matter, and so is a file that changes its level.
    let other = compact(vec![files[1].clone()], vec![keyed("b", 4, (5, 9), 1)]);
    table.new_commit().commit(vec![other]).await.unwrap();
    let latest = table.snapshot_manager().latest().await.unwrap().unwrap();
    assert_eq!(live_names(&table, &latest).await, ["b", "one"]);
}

#[tokio::test]
async fn files_need_keys_and_a_source() {
    let table = table(&[("sequence.snapshot-ordering", "true"), ("write-only", "true")]).await;
    let error = table
        .new_commit()
        .commit(vec![append(vec![file("a", 1)])])
        .await
        .unwrap_err();
    assert!(error.to_string().contains("no usable keys"), "{error}");
    let mut without = keyed("a", 0, (1, 2), 2);
    without.file_source = None;
    let error = table
        .new_commit()
        .commit(vec![append(vec![without])])
        .await
        .unwrap_err();
    assert!(error.to_string().contains("no source"), "{error}");
    assert_eq!(table.snapshot_manager().latest().await.unwrap(), None);
}

#[tokio::test]
async fn the_snapshot_gives_the_order() {
    let table = table(&[("sequence.snapshot-ordering", "true"), ("write-only", "true")]).await;
    for (name, keys) in [("a", (1, 2)), ("b", (1, 2))] {
        table
            .new_commit()
            .commit(vec![append(vec![keyed(name, 0, keys, 2)])])
            .await
            .unwrap();
    }
    let numbers = |files: Vec<(String, i64, i64)>| files;
    let latest = table.snapshot_manager().latest().await.unwrap().unwrap();
    let files = table.list_files(&latest).await.unwrap();
    let found = files
        .iter()
        .map(|e| {
            (
                e.file.file_name.clone(),
                e.file.min_sequence_number,
                e.file.max_sequence_number,
            )
        })
        .collect();
    assert_eq!(numbers(found), [("a".to_owned(), 1, 1), ("b".to_owned(), 2, 2)]);
    // A compaction keeps the numbers of its rows.
    let before: Vec<DataFileMeta> = files.into_iter().map(|e| e.file).collect();
    let mut after = keyed("c", 5, (1, 2), 2);
    (after.min_sequence_number, after.max_sequence_number) = (1, 2);
    table
        .new_commit()
        .commit(vec![compact(before, vec![after])])
        .await
        .unwrap();
    let latest = table.snapshot_manager().latest().await.unwrap().unwrap();
    let file = table.list_files(&latest).await.unwrap().remove(0).file;
    assert_eq!((file.min_sequence_number, file.max_sequence_number), (1, 2));
}

#[tokio::test]
async fn an_overwrite_goes_to_the_top_level_when_its_files_keep_apart() {
    for (options, keys, levels) in [
        (vec![], [(5, 9), (1, 4)], [5, 5]),
        (vec![("num-levels", "3")], [(5, 9), (1, 4)], [2, 2]),
        (vec![], [(4, 9), (1, 4)], [0, 0]),
        (vec![("overwrite-upgrade", "false")], [(5, 9), (1, 4)], [0, 0]),
    ] {
        let table = table(&options).await;
        table
            .new_commit()
            .commit(vec![append(vec![keyed("old", 0, (1, 9), 3)])])
            .await
            .unwrap();
        let files = vec![keyed("x", 0, keys[0], 1), keyed("y", 0, keys[1], 1)];
        table
            .new_commit()
            .overwrite(None, vec![append(files)])
            .await
            .unwrap();
        let latest = table.snapshot_manager().latest().await.unwrap().unwrap();
        assert_eq!(latest.commit_kind, CommitKind::Overwrite);
        assert_eq!((latest.delta_record_count, latest.total_record_count), (-1, 2));
        let mut files = table.list_files(&latest).await.unwrap();
        files.sort_by(|a, b| a.file.file_name.cmp(&b.file.file_name));
        let found: Vec<i32> = files.iter().map(|e| e.file.level).collect();
        assert_eq!(found, levels, "{options:?} {keys:?}");
    }
}

#[tokio::test]
async fn index_files_of_a_bucket_take_the_place_of_others() {
    let table = table(&[("bucket", "-1")]).await;
    let index = |name: &str| IndexFileMeta {
        index_type: "HASH".into(),
        file_name: name.into(),
        file_size: 8,
        row_count: 2,
        dv_ranges: None,
        external_path: None,
        global_index: None,
    };
    for (name, hashes) in [("a", "hash-1"), ("b", "hash-2")] {
        let mut message = append(vec![keyed(name, 0, (1, 2), 2)]);
        message.total_buckets = Some(-1);
        message.data_increment.new_index_files = vec![index(hashes)];
        table.new_commit().commit(vec![message]).await.unwrap();
    }
    let latest = table.snapshot_manager().latest().await.unwrap().unwrap();
    let names = |files: Vec<paimon_meta::manifest::IndexManifestEntry>| {
        files
            .into_iter()
            .map(|e| e.index_file.file_name)
            .collect::<Vec<_>>()
    };
    assert_eq!(names(table.list_index_files(&latest).await.unwrap()), ["hash-2"]);
    let mut message = append(vec![keyed("c", 0, (1, 2), 2)]);
    message.total_buckets = Some(-1);
    message.data_increment.new_index_files = vec![index("hash-3")];
    table.new_commit().overwrite(None, vec![message]).await.unwrap();
    let latest = table.snapshot_manager().latest().await.unwrap().unwrap();
    assert_eq!(names(table.list_index_files(&latest).await.unwrap()), ["hash-3"]);
    let error = table.new_write_restore().plan().await.unwrap_err();
    assert!(error.to_string().contains("option bucket is '-1'"), "{error}");
}

#[tokio::test]
async fn writers_go_on_behind_the_largest_sequence_number_of_every_level() {
    let table = table(&[]).await;
    let mut old = keyed("old", 5, (1, 9), 10);
    (old.min_sequence_number, old.max_sequence_number) = (0, 41);
    let mut new = keyed("new", 0, (1, 2), 2);
    (new.min_sequence_number, new.max_sequence_number) = (30, 35);
    table
        .new_commit()
        .commit(vec![append(vec![old, new])])
        .await
        .unwrap();
    let restore = table.new_write_restore().with_data_files();
    let state = restore.bucket(&Partition::unpartitioned(), 0).await.unwrap();
    assert_eq!(state.next_sequence_number().unwrap(), 42);
    assert_eq!(state.total_buckets, Some(1));
    let names = |level| {
        state
            .files_of_level(level)
            .map(|f| f.file_name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (names(0), names(5)),
        (vec!["new".to_owned()], vec!["old".to_owned()])
    );
}
