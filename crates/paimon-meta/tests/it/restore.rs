// SPDX-License-Identifier: Apache-2.0

//! States of buckets for writers that go on with them.

use paimon_meta::Table;
use paimon_protocol::{BucketState, CommitMessage, IndexFileMeta};
use paimon_storage::Storage;
use paimon_types::ErrorKind;

use crate::support::*;

async fn add(table: &Table, p: i32, bucket: i32, total: i32, name: &str, numbers: (i64, i64)) {
    let mut file = file(name, 10);
    (file.min_sequence_number, file.max_sequence_number) = numbers;
    let partition = partition(Some(p));
    let message = CommitMessage::append(partition, bucket, Some(total), vec![file]);
    table.new_commit().commit(vec![message]).await.unwrap();
}

fn of(states: &[BucketState], p: i32, bucket: i32) -> BucketState {
    let partition = partition(Some(p));
    let mut found = states
        .iter()
        .filter(|s| s.partition == partition && s.bucket == bucket);
    let state = found.next().unwrap().clone();
    assert!(found.next().is_none());
    state
}

fn names(state: &BucketState) -> Vec<&str> {
    let files = state.data_files.as_ref().unwrap();
    files.iter().map(|file| file.file_name.as_str()).collect()
}

#[tokio::test]
async fn states_of_all_buckets_and_of_one() {
    let storage = Storage::memory();
    let pairs = [
        ("bucket", "2"),
        ("bucket-key", "id"),
        ("deletion-vectors.enabled", "true"),
    ];
    let table = create(&storage, "memory://w/t", true, &pairs).await;
    let restore = table.new_write_restore();
    assert_eq!(restore.plan().await.unwrap(), []);
    let p = |p| partition(Some(p));
    assert_eq!(
        restore.bucket(&p(1), 0).await.unwrap(),
        BucketState::empty(p(1), 0)
    );

    add(&table, 1, 0, 2, "a", (5, 14)).await;
    add(&table, 1, 0, 2, "b", (0, 4)).await;
    add(&table, 2, 1, 2, "c", (100, 109)).await;
    let index = IndexFileMeta {
        index_type: "DELETION_VECTORS".into(),
        file_name: "i".into(),
        file_size: 31,
        row_count: 1,
        dv_ranges: Some(vec![paimon_protocol::DeletionVectorMeta {
            data_file_name: "c".into(),
            offset: 1,
            length: 22,
            cardinality: Some(3),
        }]),
        external_path: None,
        global_index: None,
    };
    let mut deletes = CommitMessage::append(p(2), 1, Some(2), vec![]);
    deletes.data_increment.new_index_files = vec![index.clone()];
    table.new_commit().commit(vec![deletes]).await.unwrap();

    let states = restore.plan().await.unwrap();
    assert_eq!(states.len(), 2);
    let (first, second) = (of(&states, 1, 0), of(&states, 2, 1));
    assert_eq!(
        (first.snapshot_id, first.total_buckets, first.max_sequence_number),
        (Some(4), Some(2), Some(14))
    );
    assert_eq!((&first.data_files, first.deletion_vectors.len()), (&None, 0));
    assert_eq!(second.max_sequence_number, Some(109));
    assert_eq!(
        (&second.hash_index, &second.deletion_vectors),
        (&None, &vec![index])
    );

    let restore = restore.with_data_files();
    let states = restore.plan().await.unwrap();
    assert_eq!(names(&of(&states, 1, 0)), ["a", "b"]);
    assert_eq!(restore.bucket(&p(2), 1).await.unwrap(), of(&states, 2, 1));
    // A bucket without files has the count of its partition; a partition without files has none.
    let empty = restore.bucket(&p(1), 1).await.unwrap();
    assert_eq!(
        (empty.snapshot_id, empty.total_buckets, empty.max_sequence_number),
        (Some(4), Some(2), None)
    );
    assert_eq!(names(&empty), Vec::<&str>::new());
    assert_eq!(restore.bucket(&p(3), 0).await.unwrap().total_buckets, None);
    // They travel to the writers as bytes.
    let bytes = BucketState::list_to_bytes(&states).unwrap();
    assert_eq!(BucketState::list_from_bytes(&bytes).unwrap(), states);
}

#[tokio::test]
async fn deleted_files_count_no_more() {
    let storage = Storage::memory();
    let table = create(
        &storage,
        "memory://w/t",
        true,
        &[("bucket", "2"), ("bucket-key", "id")],
    )
    .await;
    add(&table, 1, 0, 2, "a", (0, 99)).await;
    table.new_commit().truncate().await.unwrap();
    assert_eq!(table.new_write_restore().plan().await.unwrap(), []);
    add(&table, 1, 0, 2, "b", (0, 9)).await;
    let states = table.new_write_restore().with_data_files().plan().await.unwrap();
    assert_eq!(
        (names(&states[0]), states[0].max_sequence_number),
        (vec!["b"], Some(9))
    );
}

/// No directory is listed and nothing but metadata is opened: the manifests are enough when the data directory is gone.
#[tokio::test]
async fn unreadable_manifests_are_an_error() {
    let storage = Storage::memory();
    let table = create(
        &storage,
        "memory://w/t",
        true,
        &[("bucket", "2"), ("bucket-key", "id")],
    )
    .await;
    add(&table, 1, 0, 2, "a", (0, 99)).await;
    for name in manifest_files(&table).await {
        let path = format!(
            "{}/{}",
            table.paths().manifest_dir(),
            name.rsplit('/').next().unwrap()
        );
        storage.delete(&path).await.unwrap();
    }
    let error = table.new_write_restore().plan().await.unwrap_err();
    assert_ne!(error.kind(), ErrorKind::InvalidInput, "{error}");
}
