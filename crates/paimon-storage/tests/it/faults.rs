// SPDX-License-Identifier: Apache-2.0

//! The fault store, and what the storage makes of failures.

use std::sync::Arc;

use bytes::Bytes;
use paimon_storage::Storage;
use paimon_storage::fault::{Fault, FaultStore, Operation, Rule};
use paimon_types::ErrorKind;

fn setup() -> (FaultStore, Storage) {
    let faults = FaultStore::memory();
    let storage = Storage::default().with_store("s3://b", Arc::new(faults.clone()));
    (faults, storage)
}

#[tokio::test]
async fn late_acknowledgement_is_an_error_and_the_file_is_there() {
    let (faults, storage) = setup();
    faults.add(
        Rule::on(Operation::Create, Fault::After)
            .path("snapshot-")
            .times(1),
    );
    let err = storage
        .create_if_absent("s3://b/snapshot/snapshot-1", Bytes::from_static(b"x"))
        .await
        .unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Io);
    assert_eq!(storage.read("s3://b/snapshot/snapshot-1").await.unwrap(), "x");
    assert!(
        !storage
            .create_if_absent("s3://b/snapshot/snapshot-1", Bytes::from_static(b"y"))
            .await
            .unwrap()
    );
    assert_eq!(faults.count(Operation::Create, "snapshot-1"), 2);
}

#[tokio::test]
async fn early_failure_has_no_effect() {
    let (faults, storage) = setup();
    faults.add(Rule::on(Operation::Put, Fault::Before).skip(1).times(1));
    storage.write("s3://b/a", Bytes::from_static(b"1")).await.unwrap();
    assert!(storage.write("s3://b/a", Bytes::from_static(b"2")).await.is_err());
    assert_eq!(storage.read("s3://b/a").await.unwrap(), "1");
    storage.write("s3://b/a", Bytes::from_static(b"3")).await.unwrap();
    assert_eq!(storage.read("s3://b/a").await.unwrap(), "3");
}

#[tokio::test]
async fn case_69_without_list_permission() {
    let (faults, storage) = setup();
    faults.add(Rule::on(Operation::List, Fault::Denied));
    assert_eq!(
        storage.list("s3://b/t").await.unwrap_err().kind(),
        ErrorKind::PermissionDenied
    );
    // what a commit needs
    assert!(
        storage
            .create_if_absent("s3://b/t/snapshot/snapshot-1", Bytes::from_static(b"x"))
            .await
            .unwrap()
    );
    assert!(
        !storage
            .create_if_absent("s3://b/t/snapshot/snapshot-1", Bytes::from_static(b"x"))
            .await
            .unwrap()
    );
    assert_eq!(
        storage
            .read_optional("s3://b/t/snapshot/snapshot-2")
            .await
            .unwrap(),
        None
    );
    assert_eq!(
        storage.status("s3://b/t/snapshot/snapshot-2").await.unwrap(),
        None
    );
    storage
        .write("s3://b/t/snapshot/LATEST", Bytes::from_static(b"1"))
        .await
        .unwrap();
    storage.delete("s3://b/t/snapshot/LATEST").await.unwrap();
}

#[tokio::test]
async fn failed_uploads_stay_failed() {
    for (skip, fault) in [
        (0, Fault::Before),
        (1, Fault::Before),
        (2, Fault::After),
        (3, Fault::Before),
    ] {
        let (faults, storage) = setup();
        faults.add(Rule::on(Operation::Multipart, fault).skip(skip).times(1));
        let mut out = storage.open_output("s3://b/data").await.unwrap();
        let part = Bytes::from(vec![7; 9 << 20]);
        let mut failed = false;
        for _ in 0..2 {
            failed |= out.write(part.clone()).await.is_err();
        }
        failed |= out.close().await.is_err();
        assert!(failed, "skip {skip}");
        assert!(out.close().await.is_err(), "skip {skip}");
        out.abort().await.unwrap();
        assert_eq!(storage.status("s3://b/data").await.unwrap(), None, "skip {skip}");
    }
}
