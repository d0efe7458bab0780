// SPDX-License-Identifier: Apache-2.0

//! Commits: what a snapshot holds, overwrites, idempotency, lost races and failing stores.

use std::collections::BTreeMap;

use paimon_meta::{CommitKind, CommitOutcome, PartitionSpec, Snapshot, Table};
use paimon_protocol::{CommitMessage, Increment, Partition};
use paimon_storage::Storage;
use paimon_storage::fault::{Fault, Operation, Rule};
use paimon_types::ErrorKind;

use crate::support::{
    append, append_to, create, faulty, file, latest, live_names, manifest_files, options, partition,
};

fn spec(value: &str) -> PartitionSpec {
    options(&[("p", value)])
}

async fn table() -> Table {
    create(
        &Storage::memory(),
        "memory://w/t",
        false,
        &[("commit.min-retry-wait", "1 ms")],
    )
    .await
}

#[tokio::test]
async fn append_snapshots_follow_each_other() {
    let table = table().await;
    let commit = table
        .new_commit()
        .operation("WRITE")
        .property("k", "v")
        .watermark(7);
    assert_eq!(
        commit.commit(append("a", 3)).await.unwrap(),
        CommitOutcome::Committed {
            snapshot_ids: vec![1]
        }
    );
    assert_eq!(
        table
            .new_commit()
            .commit(append("b", 4))
            .await
            .unwrap()
            .snapshot_ids(),
        [2]
    );

    let first = table.snapshot_manager().snapshot(1).await.unwrap();
    assert_eq!(
        (first.version, first.schema_id, first.commit_kind),
        (3, 0, CommitKind::Append)
    );
    assert_eq!(first.commit_identifier, i64::MAX);
    assert_eq!(first.commit_user, commit.user());
    assert_eq!(first.properties, options(&[("k", "v")]));
    assert_eq!(first.operation.as_deref(), Some("WRITE"));
    assert_eq!((first.watermark, first.next_row_id), (Some(7), Some(0)));
    assert!(first.writer_version.as_ref().unwrap().starts_with("rust-"));
    let second = latest(&table).await;
    assert_eq!(
        (second.id, second.total_record_count, second.delta_record_count),
        (2, 7, 4)
    );
    assert_eq!(second.watermark, Some(7));
    assert_ne!(first.uuid, second.uuid);
    assert_eq!(live_names(&table, &second).await, ["a", "b"]);
    let hint = table
        .storage()
        .read("memory://w/t/snapshot/LATEST")
        .await
        .unwrap();
    assert_eq!(&hint[..], b"2");
    assert_eq!(
        &table
            .storage()
            .read("memory://w/t/snapshot/EARLIEST")
            .await
            .unwrap()[..],
        b"1"
    );
}

#[tokio::test]
async fn empty_commits() {
    let table = table().await;
    assert_eq!(
        table.new_commit().commit(vec![]).await.unwrap(),
        CommitOutcome::NothingToCommit
    );
    assert_eq!(
        table
            .new_commit()
            .ignore_empty(false)
            .commit(vec![])
            .await
            .unwrap()
            .snapshot_ids(),
        [1]
    );
    assert_eq!(
        table
            .new_commit()
            .with_identifier(5)
            .commit(vec![])
            .await
            .unwrap()
            .snapshot_ids(),
        [2]
    );
    assert_eq!(live_names(&table, &latest(&table).await).await, [] as [&str; 0]);
}

#[tokio::test]
async fn many_commits_merge_manifests() {
    let storage = Storage::memory();
    let table = create(
        &storage,
        "memory://w/t",
        false,
        &[("manifest.merge-min-count", "5")],
    )
    .await;
    let mut names = Vec::new();
    for i in 0..23 {
        names.push(format!("f{i:02}"));
        table.new_commit().commit(append(&names[i], 1)).await.unwrap();
    }
    let snapshot = latest(&table).await;
    assert_eq!(snapshot.total_record_count, 23);
    assert_eq!(live_names(&table, &snapshot).await, names);
}

#[tokio::test]
async fn deleted_files_make_an_overwrite_snapshot_and_conflict_when_gone() {
    let table = table().await;
    table.new_commit().commit(append("a", 3)).await.unwrap();
    let mut rewrite = append("b", 2);
    rewrite[0].data_increment.deleted_files = vec![file("a", 3)];
    table.new_commit().commit(rewrite.clone()).await.unwrap();
    let snapshot = latest(&table).await;
    assert_eq!(
        (snapshot.commit_kind, snapshot.total_record_count),
        (CommitKind::Overwrite, 2)
    );
    assert_eq!(live_names(&table, &snapshot).await, ["b"]);

    rewrite[0].data_increment.new_files = vec![file("c", 1)];
    let before = manifest_files(&table).await;
    let err = table.new_commit().commit(rewrite).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Conflict);
    assert!(err.to_string().contains("bucket-0/a"), "{err}");
    assert_eq!(latest(&table).await.id, 2);
    assert_eq!(
        manifest_files(&table).await,
        before,
        "files of the failed commit are gone"
    );
}

#[tokio::test]
async fn compaction_is_a_second_snapshot() {
    let table = table().await;
    table.new_commit().commit(append("a", 3)).await.unwrap();
    let mut message = append("b", 2);
    let mut compacted = file("ab", 3);
    compacted.file_source = Some(paimon_protocol::FileSource::Compact);
    message[0].compact_increment = Increment {
        deleted_files: vec![file("a", 3)],
        new_files: vec![compacted],
        ..Increment::default()
    };
    assert_eq!(
        table.new_commit().commit(message).await.unwrap().snapshot_ids(),
        [2, 3]
    );
    let snapshot = latest(&table).await;
    assert_eq!(
        (snapshot.commit_kind, snapshot.total_record_count),
        (CommitKind::Compact, 5)
    );
    assert_eq!(live_names(&table, &snapshot).await, ["ab", "b"]);
}

#[tokio::test]
async fn a_file_twice_is_refused() {
    let table = table().await;
    let mut twice = append("a", 3);
    twice.extend(append("a", 3));
    assert_eq!(
        table.new_commit().commit(twice).await.unwrap_err().kind(),
        ErrorKind::Conflict
    );
    table.new_commit().commit(append("a", 3)).await.unwrap();
    let err = table
        .new_commit()
        .check_conflicts(true)
        .commit(append("a", 3))
        .await
        .unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Conflict);
    let discarding = table
        .with_options(options(&[("commit.discard-duplicate-files", "true")]))
        .unwrap();
    let mut again = append("a", 3);
    again.extend(append("b", 1));
    discarding.new_commit().commit(again).await.unwrap();
    assert_eq!(live_names(&table, &latest(&table).await).await, ["a", "b"]);
}

async fn partitioned() -> Table {
    let table = create(&Storage::memory(), "memory://w/t", true, &[]).await;
    for (p, name) in [(Some(1), "p1"), (Some(2), "p2"), (None, "pn")] {
        table.new_commit().commit(append_to(p, name, 10)).await.unwrap();
    }
    table
}

#[tokio::test]
async fn dynamic_overwrite_replaces_the_partitions_of_the_new_files() {
    let table = partitioned().await;
    table
        .new_commit()
        .overwrite(None, append_to(Some(1), "n1", 5))
        .await
        .unwrap();
    let snapshot = latest(&table).await;
    assert_eq!(snapshot.commit_kind, CommitKind::Overwrite);
    assert_eq!(
        (snapshot.total_record_count, snapshot.delta_record_count),
        (25, -5)
    );
    assert_eq!(live_names(&table, &snapshot).await, ["n1", "p2", "pn"]);
    assert_eq!(
        table.new_commit().overwrite(None, vec![]).await.unwrap(),
        CommitOutcome::NothingToCommit
    );
}

#[tokio::test]
async fn static_overwrite_by_specification_or_whole_table() {
    let table = partitioned().await;
    table
        .new_commit()
        .overwrite(Some(&spec("1")), vec![])
        .await
        .unwrap();
    assert_eq!(live_names(&table, &latest(&table).await).await, ["p2", "pn"]);
    let null = spec("__DEFAULT_PARTITION__");
    table
        .new_commit()
        .overwrite(Some(&null), append_to(None, "nn", 1))
        .await
        .unwrap();
    assert_eq!(live_names(&table, &latest(&table).await).await, ["nn", "p2"]);
    let err = table
        .new_commit()
        .overwrite(Some(&spec("2")), append_to(Some(3), "x", 1))
        .await
        .unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidInput);
    let err = table
        .new_commit()
        .overwrite(Some(&options(&[("q", "2")])), vec![])
        .await
        .unwrap_err();
    assert!(err.to_string().contains("partition columns are p"), "{err}");

    let fixed = table
        .with_options(options(&[("dynamic-partition-overwrite", "false")]))
        .unwrap();
    fixed
        .new_commit()
        .overwrite(None, append_to(Some(7), "n7", 1))
        .await
        .unwrap();
    assert_eq!(live_names(&table, &latest(&table).await).await, ["n7"]);
}

#[tokio::test]
async fn drop_partitions_and_truncate() {
    let table = partitioned().await;
    let commit = table.new_commit();
    assert_eq!(
        commit.drop_partitions(&[]).await.unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    assert_eq!(
        commit
            .drop_partitions(&[BTreeMap::new()])
            .await
            .unwrap_err()
            .kind(),
        ErrorKind::InvalidInput
    );
    commit
        .drop_partitions(&[spec("1"), spec("__DEFAULT_PARTITION__")])
        .await
        .unwrap();
    assert_eq!(live_names(&table, &latest(&table).await).await, ["p2"]);
    table.new_commit().truncate().await.unwrap();
    let snapshot = latest(&table).await;
    assert_eq!(
        (snapshot.total_record_count, snapshot.operation.as_deref()),
        (0, Some("TRUNCATE"))
    );
    assert_eq!(live_names(&table, &snapshot).await, [] as [&str; 0]);
}

#[tokio::test]
async fn bucket_counts_of_a_partition_agree() {
    let storage = Storage::memory();
    let table = create(
        &storage,
        "memory://w/t",
        false,
        &[("bucket", "4"), ("bucket-key", "id")],
    )
    .await;
    let bucketed = |name: &str, bucket, total| {
        vec![CommitMessage::append(
            Partition::unpartitioned(),
            bucket,
            Some(total),
            vec![file(name, 1)],
        )]
    };
    table.new_commit().commit(bucketed("a", 3, 4)).await.unwrap();
    let err = table.new_commit().commit(bucketed("b", 4, 4)).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidInput);
    let err = table.new_commit().commit(bucketed("b", 1, 2)).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Conflict);
    table
        .new_commit()
        .overwrite(None, bucketed("b", 1, 2))
        .await
        .unwrap();
    table.new_commit().commit(bucketed("c", 0, 2)).await.unwrap();
    assert_eq!(live_names(&table, &latest(&table).await).await, ["b", "c"]);
}

#[tokio::test]
async fn row_tracking_gives_ids() {
    let table = create(
        &Storage::memory(),
        "memory://w/t",
        false,
        &[("row-tracking.enabled", "true")],
    )
    .await;
    table.new_commit().commit(append("a", 3)).await.unwrap();
    table.new_commit().commit(append("b", 4)).await.unwrap();
    assert_eq!(latest(&table).await.next_row_id, Some(7));
}

#[tokio::test]
async fn case_06_the_index_manifest_is_carried_on() {
    let table = table().await;
    table.new_commit().commit(append("a", 3)).await.unwrap();
    // A snapshot with an index manifest, as a writer of deletion vectors leaves it.
    let mut with_index = latest(&table).await;
    with_index.id = 2;
    with_index.index_manifest = Some("index-manifest-x-0".into());
    with_index.statistics = Some("stat-x-0".into());
    let text = with_index.to_json().into_bytes();
    table
        .storage()
        .write("memory://w/t/snapshot/snapshot-2", text.into())
        .await
        .unwrap();
    table
        .storage()
        .write("memory://w/t/statistics/stat-x-0", r#"{"schemaId" : 0}"#.into())
        .await
        .unwrap();
    table.new_commit().commit(append("b", 3)).await.unwrap();
    let snapshot = latest(&table).await;
    assert_eq!(snapshot.id, 3);
    assert_eq!(snapshot.index_manifest.as_deref(), Some("index-manifest-x-0"));
    assert_eq!(snapshot.statistics.as_deref(), Some("stat-x-0"));
}

#[tokio::test]
async fn case_67_a_late_acknowledgement_commits_once() {
    let (storage, fault) = faulty();
    let table = create(
        &storage,
        "memory://w/t",
        false,
        &[("commit.min-retry-wait", "1 ms")],
    )
    .await;
    fault.add(
        Rule::on(Operation::Create, Fault::After)
            .path("snapshot-")
            .times(1),
    );
    assert_eq!(
        table
            .new_commit()
            .commit(append("a", 3))
            .await
            .unwrap()
            .snapshot_ids(),
        [1]
    );
    let snapshots = table.snapshot_manager().all().await.unwrap();
    assert_eq!(snapshots.len(), 1);
    assert_eq!(live_names(&table, &snapshots[0]).await, ["a"]);
}

#[tokio::test]
async fn case_67_the_store_fails_before_the_effect() {
    let (storage, fault) = faulty();
    let table = create(
        &storage,
        "memory://w/t",
        false,
        &[("commit.min-retry-wait", "1 ms")],
    )
    .await;
    fault.add(
        Rule::on(Operation::Create, Fault::Before)
            .path("snapshot-")
            .times(3),
    );
    assert_eq!(
        table
            .new_commit()
            .commit(append("a", 3))
            .await
            .unwrap()
            .snapshot_ids(),
        [1]
    );
    assert_eq!(live_names(&table, &latest(&table).await).await, ["a"]);
}

#[tokio::test]
async fn case_68_retries_after_lost_replies_do_not_duplicate() {
    let (storage, fault) = faulty();
    let table = create(
        &storage,
        "memory://w/t",
        false,
        &[("commit.min-retry-wait", "1 ms")],
    )
    .await;
    table.new_commit().commit(append("old", 1)).await.unwrap();
    // Neither the put nor reading back tells anything: the outcome stays unknown.
    fault.add(
        Rule::on(Operation::Create, Fault::After)
            .path("snapshot-2")
            .times(1),
    );
    fault.add(Rule::on(Operation::Get, Fault::Before).path("snapshot/snapshot-2"));
    // Two looks for a newer snapshot come before the put.
    fault.add(
        Rule::on(Operation::Head, Fault::Before)
            .path("snapshot/snapshot-2")
            .skip(2),
    );
    let overwrite = table.new_commit().commit_user("job").with_identifier(8);
    let err = overwrite.overwrite(None, append("new", 2)).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Unknown, "{err:?}");
    let files = manifest_files(&table).await;
    assert_eq!(
        overwrite.abort(&append("new", 2)).await.unwrap_err().kind(),
        ErrorKind::Unknown
    );
    fault.heal();

    // The same object, another object of the same job, and a later one.
    let again = overwrite.overwrite(None, append("new", 2)).await.unwrap();
    assert_eq!(
        again,
        CommitOutcome::AlreadyCommitted {
            snapshot_ids: vec![2]
        }
    );
    let other = table.new_commit().commit_user("job").with_identifier(8);
    let again = other.overwrite(None, append("new2", 2)).await.unwrap();
    assert_eq!(
        again,
        CommitOutcome::AlreadyCommitted {
            snapshot_ids: vec![2]
        }
    );
    assert_eq!(other.filter_committed(vec![9, 8, 7]).await.unwrap(), [9]);
    assert_eq!(latest(&table).await.id, 2);
    assert_eq!(live_names(&table, &latest(&table).await).await, ["new"]);
    assert_eq!(manifest_files(&table).await, files);
}

#[tokio::test]
async fn an_unknown_batch_commit_is_recognised_by_the_same_object() {
    let (storage, fault) = faulty();
    let table = create(&storage, "memory://w/t", false, &[("commit.max-retries", "0")]).await;
    fault.add(
        Rule::on(Operation::Create, Fault::After)
            .path("snapshot-1")
            .times(1),
    );
    fault.add(Rule::on(Operation::Get, Fault::Before).path("snapshot-1"));
    let commit = table.new_commit();
    assert_eq!(
        commit.commit(append("a", 2)).await.unwrap_err().kind(),
        ErrorKind::Unknown
    );
    fault.heal();
    assert_eq!(
        commit.commit(append("a", 2)).await.unwrap(),
        CommitOutcome::AlreadyCommitted {
            snapshot_ids: vec![1]
        }
    );
    assert_eq!(commit.commit(append("b", 2)).await.unwrap().snapshot_ids(), [2]);
}

#[tokio::test]
async fn case_69_no_list_permission_is_needed() {
    let (storage, fault) = faulty();
    let table = create(&storage, "memory://w/t", false, &[]).await;
    fault.add(Rule::on(Operation::List, Fault::Denied));
    for i in 0..3 {
        table
            .new_commit()
            .commit(append(&format!("f{i}"), 1))
            .await
            .unwrap();
    }
    let reopened = Table::open(storage, "memory://w/t", BTreeMap::new())
        .await
        .unwrap();
    assert_eq!(
        live_names(&reopened, &latest(&reopened).await).await,
        ["f0", "f1", "f2"]
    );
    // Without the hint, or with one that is behind, snapshots are found by probing.
    for hint in [None, Some("1")] {
        fault.heal();
        match hint {
            None => table
                .storage()
                .delete("memory://w/t/snapshot/LATEST")
                .await
                .unwrap(),
            Some(id) => table
                .storage()
                .write("memory://w/t/snapshot/LATEST", id.into())
                .await
                .unwrap(),
        }
        fault.add(Rule::on(Operation::List, Fault::Denied));
        assert_eq!(latest(&reopened).await.id, 3, "{hint:?}");
        assert_eq!(reopened.snapshot_manager().latest_id().await.unwrap(), Some(3));
    }
}

#[tokio::test]
async fn a_refused_put_is_an_error_at_once() {
    let (storage, fault) = faulty();
    let table = create(&storage, "memory://w/t", false, &[]).await;
    fault.add(Rule::on(Operation::Create, Fault::Denied).path("snapshot-"));
    let err = table.new_commit().commit(append("a", 1)).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::PermissionDenied);
    assert_eq!(fault.count(Operation::Create, "snapshot-"), 1);
}

#[tokio::test]
async fn a_failing_manifest_write_leaves_nothing() {
    let (storage, fault) = faulty();
    let table = create(&storage, "memory://w/t", false, &[]).await;
    table.new_commit().commit(append("a", 1)).await.unwrap();
    let before = manifest_files(&table).await;
    for skip in 0..3 {
        fault.add(
            Rule::on(Operation::Put, Fault::Before)
                .path("manifest/")
                .skip(skip)
                .times(1),
        );
        let err = table.new_commit().commit(append("b", 1)).await.unwrap_err();
        assert_eq!(err.kind(), ErrorKind::Io);
        fault.heal();
        assert_eq!(manifest_files(&table).await, before, "after put {skip}");
    }
}

#[tokio::test]
async fn a_lost_race_is_tried_again_and_leaves_no_garbage() {
    let (storage, fault) = faulty();
    let table = create(
        &storage,
        "memory://w/t",
        false,
        &[("commit.min-retry-wait", "1 ms")],
    )
    .await;
    table.new_commit().commit(append("a", 1)).await.unwrap();
    let stale = latest(&table).await;
    table.new_commit().commit(append("b", 1)).await.unwrap();
    // The next commit builds on snapshot 1 first: the hint is behind and the look at snapshot 2 is refused.
    table
        .snapshot_manager()
        .write_latest_hint(stale.id)
        .await
        .unwrap();
    fault.add(
        Rule::on(Operation::Head, Fault::Denied)
            .path("snapshot-2")
            .times(1),
    );
    assert_eq!(
        table
            .new_commit()
            .commit(append("c", 1))
            .await
            .unwrap()
            .snapshot_ids(),
        [3]
    );
    let snapshot = latest(&table).await;
    assert_eq!(live_names(&table, &snapshot).await, ["a", "b", "c"]);
    let files = manifest_files(&table).await;
    // Per snapshot two lists and one manifest.
    assert_eq!(files.len(), 9, "{files:?}");
}

#[tokio::test]
async fn retries_end() {
    let (storage, fault) = faulty();
    let table = create(
        &storage,
        "memory://w/t",
        false,
        &[("commit.max-retries", "2"), ("commit.min-retry-wait", "1 ms")],
    )
    .await;
    table.new_commit().commit(append("a", 1)).await.unwrap();
    let before = manifest_files(&table).await;
    let taken: Snapshot = latest(&table).await;
    table
        .storage()
        .write("memory://w/t/snapshot/snapshot-2", taken.to_json().into())
        .await
        .unwrap();
    fault.add(Rule::on(Operation::Head, Fault::Denied).path("snapshot-2"));
    let err = table.new_commit().commit(append("b", 1)).await.unwrap_err();
    // Snapshot 2 is damaged here (it says 1), so that reading it back fails: the outcome cannot be settled.
    assert_eq!(err.kind(), ErrorKind::Unknown, "{err:?}");
    fault.heal();

    let mut other = taken.clone();
    other.id = 2;
    other.uuid = Some("other".into());
    table
        .storage()
        .write("memory://w/t/snapshot/snapshot-2", other.to_json().into())
        .await
        .unwrap();
    for name in manifest_files(&table).await {
        if !before.contains(&name) {
            table
                .storage()
                .delete(&table.paths().manifest(&name))
                .await
                .unwrap();
        }
    }
    fault.add(Rule::on(Operation::Head, Fault::Denied).path("snapshot-2"));
    let err = table.new_commit().commit(append("b", 1)).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Conflict, "{err:?}");
    assert!(err.message().contains("won 3 times"), "{err}");
    fault.heal();
    assert_eq!(manifest_files(&table).await, before);
}

#[tokio::test]
async fn abort_deletes_files() {
    let table = partitioned().await;
    let mut message = append_to(Some(1), "x", 1);
    message[0].data_increment.new_files[0].extra_files = vec!["x.index".into()];
    for name in ["x", "x.index", "kept"] {
        table
            .storage()
            .write(&format!("memory://w/t/p=1/bucket-0/{name}"), "1".into())
            .await
            .unwrap();
    }
    table.new_commit().abort(&message).await.unwrap();
    let left = table.storage().list("memory://w/t/p=1/bucket-0").await.unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(
        table.bucket_path(&partition(None), -2).unwrap(),
        "memory://w/t/p=__DEFAULT_PARTITION__/bucket-postpone"
    );
}

#[tokio::test]
async fn what_is_not_implemented_is_refused() {
    let table = table().await;
    let mut message = append("a", 1);
    message[0].data_increment.new_index_files = vec![paimon_protocol::IndexFileMeta {
        index_type: "HASH".into(),
        file_name: "i".into(),
        file_size: 1,
        row_count: 1,
        dv_ranges: None,
        external_path: None,
        global_index: None,
    }];
    assert_eq!(
        table.new_commit().commit(message).await.unwrap_err().kind(),
        ErrorKind::Unsupported
    );
    let strict = table
        .with_options(options(&[("commit.strict-mode.last-safe-snapshot", "1")]))
        .unwrap();
    assert_eq!(
        strict
            .new_commit()
            .commit(append("a", 1))
            .await
            .unwrap_err()
            .kind(),
        ErrorKind::Unsupported
    );
    let bad = table
        .with_options(options(&[("commit.max-retries", "many")]))
        .unwrap();
    let err = bad.new_commit().commit(append("a", 1)).await.unwrap_err();
    assert!(
        err.kind() == ErrorKind::InvalidInput && err.message().contains("many"),
        "{err}"
    );
}
