// SPDX-License-Identifier: Apache-2.0

//! What only the local disk shows.

use std::fs;

use bytes::Bytes;
use futures_util::TryStreamExt;
use paimon_storage::Storage;
use paimon_types::ErrorKind;

#[tokio::test]
async fn names_on_disk_are_those_of_the_table_format() {
    let dir = tempfile::tempdir().unwrap();
    let path = format!("{}/pt=a b%2Fc%3Dd/ключ=1/f", dir.path().display());
    Storage::default()
        .write(&format!("file://{path}"), Bytes::from_static(b"x"))
        .await
        .unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"x");
}

#[tokio::test]
async fn stores_share_nothing_but_clones_do() {
    let one = Storage::memory();
    one.write("memory://a", Bytes::from_static(b"x")).await.unwrap();
    assert!(one.clone().exists("memory://a").await.unwrap());
    assert!(!Storage::memory().exists("memory://a").await.unwrap());
}

#[tokio::test]
async fn plain_calls_work_without_a_runtime() {
    let dir = tempfile::tempdir().unwrap();
    let path = format!("{}/f", dir.path().display());
    std::thread::spawn(move || {
        let storage = Storage::default();
        let run = async {
            storage.write(&path, Bytes::from_static(b"x")).await?;
            storage.read(&path).await
        };
        assert_eq!(futures_util::FutureExt::now_or_never(run).unwrap().unwrap(), "x");
    })
    .join()
    .unwrap();
}

#[tokio::test]
async fn unusable_locations_are_named() {
    let storage = Storage::default();
    let err = storage.read("oss://bucket/t").await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Unsupported);
    let broken = storage.with_store(
        "oss://bucket",
        std::sync::Arc::new(object_store::memory::InMemory::new()),
    );
    assert!(broken.read("/x").await.unwrap_err().to_string().contains("oss"));
    assert_eq!(
        storage.read("").await.unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    assert_eq!(
        storage.delete_dir("/").await.unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    assert_eq!(
        storage.delete_dir("memory://").await.unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
}

#[cfg(unix)]
#[tokio::test]
async fn links_and_files_in_the_way() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    let storage = Storage::default();
    storage
        .write(&format!("{root}/real/f"), Bytes::from_static(b"x"))
        .await
        .unwrap();
    std::os::unix::fs::symlink(format!("{root}/real"), format!("{root}/link")).unwrap();
    std::os::unix::fs::symlink(format!("{root}/gone"), format!("{root}/dangling")).unwrap();
    assert_eq!(storage.list_dirs(root).await.unwrap(), ["link", "real"]);
    assert_eq!(storage.list(root).await.unwrap(), []);
    let all: Vec<_> = storage
        .list_recursive(root)
        .map_ok(|f| f.path)
        .try_collect()
        .await
        .unwrap();
    assert_eq!(all, [format!("{root}/real/f")]);

    // a file where a directory would have to be
    assert_eq!(storage.status(&format!("{root}/real/f/g")).await.unwrap(), None);
    assert_eq!(
        storage.read_optional(&format!("{root}/real/f/g")).await.unwrap(),
        None
    );
    assert!(
        storage
            .write(&format!("{root}/real/f/g"), Bytes::new())
            .await
            .is_err()
    );
    let err = storage
        .open_input(&format!("{root}/real"), None)
        .await
        .err()
        .unwrap();
    assert_eq!(err.kind(), ErrorKind::InvalidInput);

    // create-if-absent does not follow or replace a dangling link
    let path = format!("{root}/dangling");
    assert!(
        !storage
            .create_if_absent(&path, Bytes::from_static(b"x"))
            .await
            .unwrap()
    );
    assert!(!fs::exists(format!("{root}/gone")).unwrap());
    // nor a directory
    assert!(
        !storage
            .create_if_absent(&format!("{root}/real"), Bytes::from_static(b"x"))
            .await
            .unwrap()
    );
}
