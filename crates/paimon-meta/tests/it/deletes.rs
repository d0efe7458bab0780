// SPDX-License-Identifier: Apache-2.0

//! Commits of deletion vectors to append tables.

use paimon_meta::{CommitKind, Table};
use paimon_protocol::{CommitMessage, DeletionVectorMeta, IndexFileMeta, Partition};
use paimon_storage::Storage;
use paimon_types::{Error, ErrorKind, Result};

use crate::support::*;

const ENABLED: (&str, &str) = ("deletion-vectors.enabled", "true");

fn index(name: &str, files: &[(&str, i64)]) -> IndexFileMeta {
    let vectors = files.iter().map(|(file, cardinality)| DeletionVectorMeta {
        data_file_name: (*file).into(),
        offset: 1,
        length: 22,
        cardinality: Some(*cardinality),
    });
    IndexFileMeta {
        index_type: "DELETION_VECTORS".into(),
        file_name: name.into(),
        file_size: 31,
        row_count: 1,
        dv_ranges: Some(vectors.collect()),
        external_path: None,
        global_index: None,
    }
}

/// A message that replaces index files.
fn deletes(p: Option<i32>, gone: &[IndexFileMeta], new: &[IndexFileMeta]) -> CommitMessage {
    let partition = match p {
        None => Partition::unpartitioned(),
        Some(p) => partition(Some(p)),
    };
    let mut message = CommitMessage::append(partition, 0, None, Vec::new());
    message.data_increment.deleted_index_files = gone.to_vec();
    message.data_increment.new_index_files = new.to_vec();
    message
}

async fn commit(table: &Table, message: CommitMessage) -> Result<()> {
    table.new_commit().commit(vec![message]).await.map(|_| ())
}

/// Deleted rows by data file, as the plan of the newest snapshot has them.
async fn planned(table: &Table) -> Vec<(String, Option<i64>)> {
    let plan = table.new_scan().plan().await.unwrap();
    let mut found = Vec::new();
    for split in &plan.splits {
        let list = split.deletion_files.as_ref().unwrap();
        assert_eq!(list.len(), split.data_files.len());
        for (file, deletion) in split.data_files.iter().zip(list) {
            found.push((
                file.file_name.clone(),
                deletion.as_ref().and_then(|d| d.cardinality),
            ));
        }
    }
    found.sort();
    found
}

fn expect(pairs: &[(&str, Option<i64>)]) -> Vec<(String, Option<i64>)> {
    pairs.iter().map(|(f, n)| ((*f).to_owned(), *n)).collect()
}

fn is_conflict(result: Result<()>) -> Error {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    error
}

#[tokio::test]
async fn case_06_deleted_rows_stay_deleted() {
    let table = create(&Storage::memory(), "memory://w/t", false, &[ENABLED]).await;
    for name in ["a", "b"] {
        table.new_commit().commit(append(name, 10)).await.unwrap();
    }
    let first = index("i1", &[("a", 3)]);
    commit(&table, deletes(None, &[], std::slice::from_ref(&first)))
        .await
        .unwrap();
    let snapshot = latest(&table).await;
    assert_eq!(snapshot.commit_kind, CommitKind::Overwrite);
    assert_eq!(
        (snapshot.delta_record_count, snapshot.total_record_count),
        (0, 20)
    );
    assert_eq!(planned(&table).await, expect(&[("a", Some(3)), ("b", None)]));

    // A plain append carries the index manifest on, by its name.
    table.new_commit().commit(append("c", 10)).await.unwrap();
    assert_eq!(latest(&table).await.index_manifest, snapshot.index_manifest);
    assert_eq!(
        planned(&table).await,
        expect(&[("a", Some(3)), ("b", None), ("c", None)])
    );

    let second = index("i2", &[("a", 4), ("b", 1)]);
    commit(&table, deletes(None, &[first], &[second])).await.unwrap();
    assert_eq!(
        planned(&table).await,
        expect(&[("a", Some(4)), ("b", Some(1)), ("c", None)])
    );
    let plan = table.new_scan().plan().await.unwrap();
    assert_eq!((plan.row_count(), plan.live_row_count()), (30, Some(25)));
    // The snapshots before are as they were.
    let old = table.new_scan().snapshot_id(3).plan().await.unwrap();
    assert_eq!(old.live_row_count(), Some(17));
    assert_eq!(
        table
            .new_scan()
            .snapshot_id(2)
            .plan()
            .await
            .unwrap()
            .live_row_count(),
        Some(20)
    );
}

#[tokio::test]
async fn two_deletes_of_the_same_rows_conflict() {
    let table = create(&Storage::memory(), "memory://w/t", false, &[ENABLED]).await;
    for name in ["a", "b"] {
        table.new_commit().commit(append(name, 10)).await.unwrap();
    }
    let first = index("i1", &[("a", 3)]);
    commit(&table, deletes(None, &[], std::slice::from_ref(&first)))
        .await
        .unwrap();
    // Made for a file without a vector, or for another vector than it has by now.
    let error = is_conflict(commit(&table, deletes(None, &[], &[index("x", &[("a", 1)])])).await);
    assert!(error.to_string().contains("bucket-0/a"), "{error}");
    let second = index("i2", &[("a", 4)]);
    commit(
        &table,
        deletes(None, std::slice::from_ref(&first), std::slice::from_ref(&second)),
    )
    .await
    .unwrap();
    is_conflict(
        commit(
            &table,
            deletes(None, std::slice::from_ref(&first), &[index("y", &[("a", 5)])]),
        )
        .await,
    );
    // Another file is nobody's business.
    commit(&table, deletes(None, &[], &[index("i3", &[("b", 1)])]))
        .await
        .unwrap();
    let error = is_conflict(commit(&table, deletes(None, &[], &[index("z", &[("gone", 1)])])).await);
    assert!(error.to_string().contains("gone"), "{error}");
    assert_eq!(planned(&table).await, expect(&[("a", Some(4)), ("b", Some(1))]));

    // A compaction must take the vectors that it has applied along.
    let mut compaction = CommitMessage::append(Partition::unpartitioned(), 0, Some(-1), Vec::new());
    compaction.compact_increment.deleted_files = vec![file("a", 10)];
    compaction.compact_increment.new_files = vec![file("c", 6)];
    is_conflict(commit(&table, compaction.clone()).await);
    compaction.compact_increment.deleted_index_files = vec![first];
    is_conflict(commit(&table, compaction.clone()).await);
    compaction.compact_increment.deleted_index_files = vec![second];
    commit(&table, compaction).await.unwrap();
    let snapshot = latest(&table).await;
    assert_eq!(snapshot.commit_kind, CommitKind::Compact);
    assert_eq!(planned(&table).await, expect(&[("b", Some(1)), ("c", None)]));

    let mut removal = CommitMessage::append(Partition::unpartitioned(), 0, Some(-1), Vec::new());
    removal.data_increment.deleted_files = vec![file("b", 10)];
    is_conflict(commit(&table, removal.clone()).await);
    removal.data_increment.deleted_index_files = vec![index("i3", &[("b", 1)])];
    commit(&table, removal).await.unwrap();
    assert_eq!(planned(&table).await, expect(&[("c", None)]));
    assert_eq!(latest(&table).await.index_manifest, None);
}

#[tokio::test]
async fn an_overwrite_takes_the_vectors_of_its_partitions() {
    let table = create(&Storage::memory(), "memory://w/t", true, &[ENABLED]).await;
    for (p, name) in [(1, "a"), (2, "b")] {
        table
            .new_commit()
            .commit(append_to(Some(p), name, 10))
            .await
            .unwrap();
        let vector = index(&format!("i{p}"), &[(name, 2)]);
        commit(&table, deletes(Some(p), &[], &[vector])).await.unwrap();
    }
    table
        .new_commit()
        .overwrite(None, append_to(Some(1), "c", 5))
        .await
        .unwrap();
    assert_eq!(planned(&table).await, expect(&[("b", Some(2)), ("c", None)]));
    let index_files = table.list_index_files(&latest(&table).await).await.unwrap();
    assert_eq!(index_files.len(), 1);
    assert_eq!(index_files[0].index_file.file_name, "i2");
    let error = table
        .new_commit()
        .overwrite(None, vec![deletes(Some(1), &[], &[index("x", &[("c", 1)])])])
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    table.new_commit().truncate().await.unwrap();
    assert_eq!(latest(&table).await.index_manifest, None);
}

/// A bucket has one index file: the new one takes the place of the old one.
#[tokio::test]
async fn buckets_have_one_index_file() {
    let pairs = [ENABLED, ("bucket", "2"), ("bucket-key", "id")];
    let table = create(&Storage::memory(), "memory://w/t", false, &pairs).await;
    for (bucket, name) in [(0, "a"), (1, "b")] {
        let mut message = append(name, 10);
        (message[0].bucket, message[0].total_buckets) = (bucket, Some(2));
        table.new_commit().commit(message).await.unwrap();
    }
    let in_bucket = |bucket, new: &[IndexFileMeta]| {
        let mut message = deletes(None, &[], new);
        message.bucket = bucket;
        message
    };
    for (bucket, name, file, rows) in [(0, "i0", "a", 1), (1, "i1", "b", 1), (0, "i2", "a", 7)] {
        commit(&table, in_bucket(bucket, &[index(name, &[(file, rows)])]))
            .await
            .unwrap();
    }
    assert_eq!(planned(&table).await, expect(&[("a", Some(7)), ("b", Some(1))]));
    // One without vectors, as Java writes it.
    commit(&table, in_bucket(0, &[index("i3", &[])])).await.unwrap();
    assert_eq!(planned(&table).await, expect(&[("a", None), ("b", Some(1))]));
    let mut names: Vec<_> = table.list_index_files(&latest(&table).await).await.unwrap();
    names.sort_by(|a, b| a.index_file.file_name.cmp(&b.index_file.file_name));
    let names: Vec<_> = names.iter().map(|e| e.index_file.file_name.as_str()).collect();
    assert_eq!(names, ["i1", "i3"]);
}

/// A late answer of the store: the commit of vectors is recognised, though it has no data file.
#[tokio::test]
async fn case_67_a_delete_is_recognised() {
    use paimon_storage::fault::{Fault, Operation, Rule};
    let (storage, fault) = faulty();
    let table = create(
        &storage,
        "memory://w/t",
        false,
        &[ENABLED, ("commit.min-retry-wait", "1 ms")],
    )
    .await;
    for name in ["a", "b"] {
        table.new_commit().commit(append(name, 10)).await.unwrap();
    }
    fault.add(
        Rule::on(Operation::Create, Fault::After)
            .path("snapshot-3")
            .times(1),
    );
    let one = table.new_commit();
    one.commit(vec![deletes(None, &[], &[index("i1", &[("a", 3)])])])
        .await
        .unwrap();
    let two = one
        .commit(vec![deletes(None, &[], &[index("i2", &[("b", 3)])])])
        .await
        .unwrap();
    assert_eq!(two.snapshot_ids(), [4]);
    assert_eq!(planned(&table).await, expect(&[("a", Some(3)), ("b", Some(3))]));
}
