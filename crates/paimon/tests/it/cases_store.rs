// SPDX-License-Identifier: Apache-2.0

//! Known traps of stores and of commits at once, with data files.

use std::collections::BTreeMap;
use std::sync::Arc;

use paimon::storage::fault::{Fault, FaultStore, Operation, Rule};
use paimon::{CommitOutcome, ErrorKind, Storage, Table};

use crate::support::{append, batch, create, create_in, ints, rows, try_append};

const QUICK: [(&str, &str); 2] = [
    ("commit.min-retry-wait", "1 ms"),
    ("commit.max-retry-wait", "2 ms"),
];

fn faulty() -> (Storage, FaultStore) {
    let store = FaultStore::memory();
    (
        Storage::memory().with_store("memory://", Arc::new(store.clone())),
        store,
    )
}

#[tokio::test]
async fn case_29_two_writers_from_one_snapshot() {
    let table = create(&[("id", "INT")], &[], &QUICK).await;
    append(&table, &[("id", ints([0]))]).await;
    let mut writers = Vec::new();
    for id in [1, 2] {
        let mut writer = table.write().await.unwrap();
        writer.write(&batch(&table, &[("id", ints([id]))])).await.unwrap();
        writers.push(writer);
    }
    let (b, a) = (writers.pop().unwrap(), writers.pop().unwrap());
    let (a, b) = tokio::join!(a.commit(), b.commit());
    let mut ids = [a.unwrap().snapshot_ids(), b.unwrap().snapshot_ids()].concat();
    ids.sort_unstable();
    assert_eq!(ids, [2, 3]);
    assert_eq!(
        rows(&table).await,
        [r#"{"id": 0}"#, r#"{"id": 1}"#, r#"{"id": 2}"#]
    );
}

#[tokio::test]
async fn case_67_a_put_that_is_acknowledged_late() {
    let (storage, fault) = faulty();
    let table = create_in(storage, &[("id", "INT")], &[], &QUICK).await;
    for id in 1..=3 {
        fault.add(
            Rule::on(Operation::Create, Fault::After)
                .path(format!("snapshot-{id}"))
                .times(1),
        );
        append(&table, &[("id", ints([id]))]).await;
        fault.heal();
    }
    assert_eq!(
        rows(&table).await,
        [r#"{"id": 1}"#, r#"{"id": 2}"#, r#"{"id": 3}"#]
    );
    assert_eq!(
        table.meta().snapshot_manager().list_ids().await.unwrap(),
        [1, 2, 3]
    );
}

#[tokio::test]
async fn case_68_an_overwrite_that_is_sent_twice() {
    let (storage, fault) = faulty();
    let table = create_in(storage, &[("id", "INT")], &[], &QUICK).await;
    append(&table, &[("id", ints([1]))]).await;
    let mut write = table.new_write().await.unwrap();
    write.write(&batch(&table, &[("id", ints([2]))])).await.unwrap();
    let messages = write.prepare_commit().await.unwrap();
    fault.add(
        Rule::on(Operation::Create, Fault::After)
            .path("snapshot-2")
            .times(1),
    );
    let job = || table.new_commit().commit_user("job").with_identifier(4);
    assert_eq!(
        job()
            .overwrite(None, messages.clone())
            .await
            .unwrap()
            .snapshot_ids(),
        [2]
    );
    append(&table, &[("id", ints([3]))]).await;
    for _ in 0..2 {
        let again = job().overwrite(None, messages.clone()).await.unwrap();
        assert_eq!(
            again,
            CommitOutcome::AlreadyCommitted {
                snapshot_ids: vec![2]
            }
        );
    }
    assert_eq!(rows(&table).await, [r#"{"id": 2}"#, r#"{"id": 3}"#]);
}

#[tokio::test]
async fn case_69_without_list_permission() {
    let (storage, fault) = faulty();
    let table = create_in(storage.clone(), &[("id", "INT")], &[], &QUICK).await;
    fault.add(Rule::on(Operation::List, Fault::Denied));
    for id in 1..=3 {
        append(&table, &[("id", ints([id]))]).await;
    }
    let reopened = Table::open_with(storage, "memory://w/t", BTreeMap::new())
        .await
        .unwrap();
    assert_eq!(
        rows(&reopened).await,
        [r#"{"id": 1}"#, r#"{"id": 2}"#, r#"{"id": 3}"#]
    );
}

/// A data file that cannot be written leaves no snapshot; the rows come with the next try.
#[tokio::test]
async fn a_write_that_fails_commits_nothing() {
    let (storage, fault) = faulty();
    let table = create_in(storage, &[("id", "INT")], &[], &QUICK).await;
    fault.add(Rule::on(Operation::Put, Fault::Denied).path("bucket-"));
    fault.add(Rule::on(Operation::Create, Fault::Denied).path("bucket-"));
    fault.add(Rule::on(Operation::Multipart, Fault::Denied).path("bucket-"));
    let err = try_append(&table, &[("id", ints([1]))]).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::PermissionDenied, "{err}");
    assert_eq!(rows(&table).await, [""; 0]);
    fault.heal();
    append(&table, &[("id", ints([1]))]).await;
    assert_eq!(rows(&table).await, [r#"{"id": 1}"#]);
}
