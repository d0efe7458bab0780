// SPDX-License-Identifier: Apache-2.0

//! Many writers at once: every acknowledged commit is there, once.

use std::collections::BTreeMap;

use paimon_meta::{CommitOutcome, Table, TableCommit};
use paimon_storage::{Environment, Storage};
use paimon_types::ErrorKind;

use crate::support::{append, append_to, create, latest, live_names, new_table};

const WRITERS: usize = 8;
const COMMITS: usize = 25;

async fn race(storage: Storage, location: &str) {
    let options = [
        ("commit.max-retries", "1000"),
        ("commit.min-retry-wait", "1 ms"),
        ("commit.max-retry-wait", "50 ms"),
    ];
    let table = create(&storage, location, false, &options).await;
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        // Each writer opens the table by itself, as another process would.
        let (storage, location) = (storage.clone(), location.to_string());
        writers.spawn(async move {
            let table = Table::open(storage, &location, BTreeMap::new()).await.unwrap();
            let mut acknowledged = Vec::new();
            for i in 0..COMMITS {
                let name = format!("w{writer}-{i:02}");
                let outcome = table.new_commit().commit(append(&name, 1)).await.unwrap();
                let CommitOutcome::Committed { snapshot_ids } = outcome else {
                    panic!("{outcome:?}")
                };
                acknowledged.push((name, snapshot_ids[0]));
            }
            acknowledged
        });
    }
    let mut acknowledged: Vec<(String, i64)> = writers.join_all().await.into_iter().flatten().collect();
    acknowledged.sort();
    let snapshot = latest(&table).await;
    let names: Vec<String> = acknowledged.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(live_names(&table, &snapshot).await, names);
    let mut ids: Vec<i64> = acknowledged.iter().map(|(_, id)| *id).collect();
    ids.sort_unstable();
    let expected: Vec<i64> = (1..=(WRITERS * COMMITS) as i64).collect();
    assert_eq!(ids, expected);
    assert_eq!(table.snapshot_manager().list_ids().await.unwrap(), expected);
    assert_eq!(snapshot.total_record_count, (WRITERS * COMMITS) as i64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn case_29_writers_in_memory() {
    race(Storage::memory(), "memory://w/t").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn case_29_writers_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    race(Storage::default(), dir.path().join("t").to_str().unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_many_creates_the_table() {
    let dir = tempfile::tempdir().unwrap();
    let location = dir.path().join("t").to_str().unwrap().to_string();
    let mut makers = tokio::task::JoinSet::new();
    for maker in 0..8 {
        let location = location.clone();
        makers.spawn(async move {
            let mut new = new_table(false, &[]);
            new.comment = Some(format!("maker {maker}"));
            match Table::create(Storage::default(), Environment::default(), &location, new).await {
                Ok(table) => Some(table.schema().comment.clone()),
                Err(e) => {
                    assert_eq!(e.kind(), ErrorKind::AlreadyExists, "{e:?}");
                    None
                }
            }
        });
    }
    let made: Vec<_> = makers.join_all().await.into_iter().flatten().collect();
    assert_eq!(made.len(), 1);
    let table = Table::open(Storage::default(), &location, BTreeMap::new())
        .await
        .unwrap();
    assert_eq!(table.schema().comment, made[0]);
}

#[derive(Clone, Copy, Debug)]
enum Change {
    /// A file for a partition.
    Append(i32),
    /// One file instead of all of partition 1.
    Overwrite,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn overwrites_and_appends_are_serial() {
    let storage = Storage::memory();
    let options = [
        ("manifest.merge-min-count", "4"),
        ("commit.max-retries", "1000"),
        ("commit.max-retry-wait", "50 ms"),
    ];
    let table = create(&storage, "memory://w/t", true, &options).await;
    let mut writers = tokio::task::JoinSet::new();
    for (writer, change) in [
        Change::Append(1),
        Change::Append(2),
        Change::Overwrite,
        Change::Overwrite,
    ]
    .into_iter()
    .enumerate()
    {
        let table = table.clone();
        writers.spawn(async move {
            let mut done = Vec::new();
            for i in 0..COMMITS {
                let name = format!("w{writer}-{i:02}");
                let commit = table.new_commit();
                let outcome = match change {
                    Change::Append(p) => commit.commit(append_to(Some(p), &name, 1)).await,
                    Change::Overwrite => commit.overwrite(None, append_to(Some(1), &name, 1)).await,
                };
                done.push((outcome.unwrap().snapshot_ids()[0], change, name));
            }
            done
        });
    }
    let mut done: Vec<_> = writers.join_all().await.into_iter().flatten().collect();
    done.sort_by_key(|(id, ..)| *id);
    let mut expected: Vec<(i32, String)> = Vec::new();
    for (id, change, name) in done {
        match change {
            Change::Append(p) => expected.push((p, name)),
            Change::Overwrite => {
                expected.retain(|(p, _)| *p != 1);
                expected.push((1, name));
            }
        }
        let snapshot = table.snapshot_manager().snapshot(id).await.unwrap();
        let mut names: Vec<String> = expected.iter().map(|(_, name)| name.clone()).collect();
        names.sort();
        assert_eq!(live_names(&table, &snapshot).await, names, "snapshot {id}");
        assert_eq!(snapshot.total_record_count, names.len() as i64, "snapshot {id}");
    }
}

/// A commit that nobody polls any more although its snapshot is there; `None` when it was quicker than we looked.
async fn dropped_in_the_middle(dir: &std::path::Path) -> Option<(Table, TableCommit)> {
    let table = create(&Storage::default(), dir.to_str()?, false, &[]).await;
    let commit = table.new_commit();
    {
        let mut running = std::pin::pin!(commit.commit(append("a", 1)));
        while !dir.join("snapshot/snapshot-1").exists() {
            if futures_util::poll!(&mut running).is_ready() {
                return None;
            }
            // The disk is served by other threads, so that the snapshot appears while nobody listens.
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
    Some((table, commit))
}

#[tokio::test]
async fn a_commit_that_is_dropped_in_the_middle_is_recognised() {
    let dir = tempfile::tempdir().unwrap();
    let mut dropped = None;
    for attempt in 0..50 {
        dropped = dropped_in_the_middle(&dir.path().join(attempt.to_string())).await;
        if dropped.is_some() {
            break;
        }
    }
    let (table, commit) = dropped.unwrap();
    assert_eq!(
        commit.abort(&append("a", 1)).await.unwrap_err().kind(),
        ErrorKind::Unknown
    );
    let again = commit.commit(append("a", 1)).await.unwrap();
    assert_eq!(
        again,
        CommitOutcome::AlreadyCommitted {
            snapshot_ids: vec![1]
        }
    );
    assert_eq!(live_names(&table, &latest(&table).await).await, ["a"]);
    commit.abort(&append("b", 1)).await.unwrap();
}
