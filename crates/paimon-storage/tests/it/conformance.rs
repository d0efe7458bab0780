// SPDX-License-Identifier: Apache-2.0

//! The same checks on the local disk, the memory store, an S3-like store and, when a server is given, a real S3 API.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::TryStreamExt;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use paimon_storage::Storage;
use paimon_types::ErrorKind;

/// Names as the table format writes them: escapes, `=`, blanks, beyond ASCII.
const ODD_NAMES: &[&str] = &[
    "pt=a b%2Fc%3Dd",
    "ключ=значение",
    "p=%25",
    "k=a+b&c",
    "p=日本",
    "_tmp",
    ".hidden.tmp",
    "p=a~b|c<d>`e$f;g,h@i!j(k)'l",
];

#[tokio::test]
async fn on_local_disk() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    check_all(&Storage::default(), root).await;
    check_all(&Storage::default(), &format!("file:{root}/one-slash")).await;
    check_all(&Storage::default(), &format!("file://{root}/three-slashes")).await;
}

#[tokio::test]
async fn on_memory() {
    check_all(&Storage::memory(), "memory://warehouse").await;
    check_all(&Storage::memory(), "memory:/").await;
}

#[tokio::test]
async fn on_injected_stores() {
    let storage = Storage::default()
        .with_store("s3://bucket", Arc::new(InMemory::new()))
        .with_store("gs://bucket/base", Arc::new(InMemory::new()));
    check_all(&storage, "s3a://bucket/db.db/t").await;
    check_all(&storage, "gs://bucket/base").await;
    let dir = tempfile::tempdir().unwrap();
    let local = LocalFileSystem::new_with_prefix(dir.path()).unwrap();
    let root = dir.path().to_str().unwrap();
    let storage = Storage::default().with_store(root, Arc::new(local));
    assert_eq!(storage.local_path(root), None);
    check_all(&storage, &format!("{root}/t")).await;
}

/// Runs when `PAIMON_TEST_S3_LOCATION` (`s3://bucket/prefix`) is set; `PAIMON_TEST_S3_OPTIONS` is `key=value,key=value`.
#[cfg(feature = "s3")]
#[tokio::test]
async fn on_s3() {
    let Ok(location) = std::env::var("PAIMON_TEST_S3_LOCATION") else {
        return;
    };
    let options = std::env::var("PAIMON_TEST_S3_OPTIONS").unwrap_or_default();
    let options: paimon_storage::StorageOptions = options
        .split(',')
        .filter_map(|pair| pair.split_once('='))
        .collect();
    check_all(&Storage::new(options), &location).await;
}

async fn check_all(storage: &Storage, root: &str) {
    reads_and_writes(storage, &Storage::join(root, "rw")).await;
    creates_once(storage, &Storage::join(root, "create")).await;
    lists(storage, &Storage::join(root, "lists")).await;
    names_are_literal(storage, &Storage::join(root, "names")).await;
    streams(storage, &Storage::join(root, "streams")).await;
    directories(storage, &Storage::join(root, "dirs")).await;
}

async fn reads_and_writes(storage: &Storage, root: &str) {
    let path = format!("{root}/a//b/file.txt");
    let err = storage.read(&path).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::NotFound);
    assert!(err.to_string().contains(&path), "{err}");
    assert_eq!(storage.read_optional(&path).await.unwrap(), None);
    assert_eq!(storage.status(&path).await.unwrap(), None);
    assert!(!storage.exists(&path).await.unwrap());

    storage
        .write(&path, Bytes::from_static(b"0123456789"))
        .await
        .unwrap();
    assert_eq!(
        storage.read(&format!("{root}/a/b/file.txt")).await.unwrap(),
        "0123456789"
    );
    storage
        .write(&path, Bytes::from_static(b"abcdefgh"))
        .await
        .unwrap();
    assert_eq!(storage.read_optional(&path).await.unwrap().unwrap(), "abcdefgh");
    let status = storage.status(&path).await.unwrap().unwrap();
    assert_eq!((status.size, status.path.as_str()), (8, path.as_str()));
    assert!(status.modified_millis > 1_500_000_000_000);
    assert!(storage.exists(&path).await.unwrap());
    assert!(storage.exists(root).await.unwrap());
    assert_eq!(storage.status(root).await.unwrap(), None);

    assert_eq!(storage.read_range(&path, 2..5).await.unwrap(), "cde");
    let ranges = [6..8, 0..1, 3..3, 1..4];
    assert_eq!(
        storage.read_ranges(&path, &ranges).await.unwrap(),
        ["gh", "a", "", "bcd"]
    );
    for bad in [6..9, 8..9, 100..101] {
        assert!(storage.read_range(&path, bad.clone()).await.is_err(), "{bad:?}");
        assert!(storage.read_ranges(&path, &[0..1, bad]).await.is_err());
    }
    assert_eq!(
        storage.read_range(&path, 6..9).await.unwrap_err().kind(),
        ErrorKind::Corrupt
    );

    for size in [None, Some(8)] {
        let input = storage.open_input(&path, size).await.unwrap();
        assert_eq!(input.path(), path);
        assert_eq!(input.size().await.unwrap(), 8);
        assert_eq!(input.read_range(0..8).await.unwrap(), "abcdefgh");
        assert_eq!(input.read_ranges(&ranges).await.unwrap(), ["gh", "a", "", "bcd"]);
        assert_eq!(
            input.read_range(7..9).await.unwrap_err().kind(),
            ErrorKind::Corrupt
        );
        assert_eq!(input.local_file().is_some(), storage.local_path(&path).is_some());
    }
    let missing = match storage.open_input(&format!("{root}/missing"), None).await {
        Ok(input) => input.size().await.unwrap_err(),
        Err(e) => e,
    };
    assert_eq!(missing.kind(), ErrorKind::NotFound);

    storage
        .write(&format!("{root}/empty"), Bytes::new())
        .await
        .unwrap();
    assert_eq!(storage.read(&format!("{root}/empty")).await.unwrap(), "");
    storage.delete(&path).await.unwrap();
    storage.delete(&path).await.unwrap();
    assert_eq!(storage.status(&path).await.unwrap(), None);
}

async fn creates_once(storage: &Storage, root: &str) {
    let path = format!("{root}/snapshot/snapshot-1");
    assert!(
        storage
            .create_if_absent(&path, Bytes::from_static(b"one"))
            .await
            .unwrap()
    );
    assert!(
        !storage
            .create_if_absent(&path, Bytes::from_static(b"two"))
            .await
            .unwrap()
    );
    assert_eq!(storage.read(&path).await.unwrap(), "one");

    // a race has exactly one winner, whose content is there
    for round in 0..20 {
        let path = format!("{root}/snapshot/race-{round}");
        let tasks: Vec<_> = (0..8)
            .map(|i| {
                let (storage, path) = (storage.clone(), path.clone());
                tokio::spawn(async move {
                    storage
                        .create_if_absent(&path, Bytes::from(format!("w{i}")))
                        .await
                        .unwrap()
                })
            })
            .collect();
        let mut winners = Vec::new();
        for (i, task) in tasks.into_iter().enumerate() {
            if task.await.unwrap() {
                winners.push(i);
            }
        }
        assert_eq!(winners.len(), 1, "{winners:?}");
        assert_eq!(storage.read(&path).await.unwrap(), format!("w{}", winners[0]));
    }
    let left = storage.list(&format!("{root}/snapshot")).await.unwrap();
    assert!(left.iter().all(|f| !f.path.ends_with(".tmp")), "{left:?}");
}

async fn lists(storage: &Storage, root: &str) {
    assert_eq!(storage.list(root).await.unwrap(), []);
    assert_eq!(storage.list_dirs(root).await.unwrap(), [""; 0]);
    assert_eq!(
        storage
            .list_recursive(root)
            .try_collect::<Vec<_>>()
            .await
            .unwrap(),
        []
    );
    for name in ["b", "a", "d/x", "c/y", "c/z/deep"] {
        storage
            .write(&format!("{root}/{name}"), Bytes::from_static(b".."))
            .await
            .unwrap();
    }
    // not below the directory, although its name begins alike
    storage
        .write(&format!("{root}-other/q"), Bytes::from_static(b".."))
        .await
        .unwrap();
    for dir in [root.to_owned(), format!("{root}/")] {
        let files: Vec<String> = storage
            .list(&dir)
            .await
            .unwrap()
            .into_iter()
            .map(|f| f.path)
            .collect();
        assert_eq!(files, [format!("{root}/a"), format!("{root}/b")]);
        assert_eq!(storage.list_dirs(&dir).await.unwrap(), ["c", "d"]);
        let mut all: Vec<String> = storage
            .list_recursive(&dir)
            .map_ok(|f| f.path)
            .try_collect()
            .await
            .unwrap();
        all.sort();
        let expected = ["a", "b", "c/y", "c/z/deep", "d/x"].map(|n| format!("{root}/{n}"));
        assert_eq!(all, expected);
    }
    assert_eq!(storage.list(&format!("{root}/c")).await.unwrap()[0].size, 2);
}

async fn names_are_literal(storage: &Storage, root: &str) {
    for name in ODD_NAMES {
        storage
            .write(&format!("{root}/{name}/{name}"), Bytes::from(name.to_string()))
            .await
            .unwrap();
    }
    let mut expected: Vec<String> = ODD_NAMES.iter().map(|n| n.to_string()).collect();
    expected.sort();
    assert_eq!(storage.list_dirs(root).await.unwrap(), expected);
    for name in ODD_NAMES {
        let path = format!("{root}/{name}/{name}");
        assert_eq!(
            storage.list(&format!("{root}/{name}")).await.unwrap()[0].path,
            path
        );
        assert_eq!(storage.read(&path).await.unwrap(), name.as_bytes());
        // nothing was decoded or encoded on the way
        assert_eq!(
            storage
                .status(&path.replace("%2F", "/").replace("%25", "%"))
                .await
                .unwrap()
                .is_some(),
            { !name.contains("%2F") && !name.contains("%25") }
        );
    }
}

async fn streams(storage: &Storage, root: &str) {
    let path = format!("{root}/out/data.bin");
    let big: Vec<u8> = (0..20_000_000u32).map(|i| (i % 251) as u8).collect();
    let mut out = storage.open_output(&path).await.unwrap();
    out.write(Bytes::from_static(b"head")).await.unwrap();
    let mut rest = Bytes::from(big.clone());
    for size in [1usize, 100, 3_000_000, 9_000_000] {
        out.write(rest.split_to(size)).await.unwrap();
    }
    out.write(rest).await.unwrap();
    assert_eq!(out.position(), 4 + big.len() as u64);
    assert_eq!(storage.status(&path).await.unwrap(), None, "visible before close");
    out.close().await.unwrap();
    out.close().await.unwrap();
    out.abort().await.unwrap();
    assert!(out.write(Bytes::from_static(b"x")).await.is_err());
    let read = storage.read(&path).await.unwrap();
    assert_eq!(&read[..4], b"head");
    assert!(read[4..] == big[..]);

    // small, empty, replaced
    for content in ["tiny", ""] {
        let mut out = storage.open_output(&path).await.unwrap();
        out.write(Bytes::from(content)).await.unwrap();
        out.close().await.unwrap();
        assert_eq!(storage.read(&path).await.unwrap(), content);
    }

    // aborted and dropped streams leave nothing
    for length in [10usize, 9_000_000] {
        let mut out = storage.open_output(&format!("{root}/out/aborted")).await.unwrap();
        out.write(Bytes::from(vec![1; length])).await.unwrap();
        out.abort().await.unwrap();
        assert!(out.write(Bytes::from_static(b"x")).await.is_err());
    }
    let mut out = storage.open_output(&format!("{root}/out/dropped")).await.unwrap();
    out.write(Bytes::from_static(b"x")).await.unwrap();
    drop(out);
    let names: Vec<_> = storage
        .list(&format!("{root}/out"))
        .await
        .unwrap()
        .into_iter()
        .map(|f| f.path)
        .collect();
    assert_eq!(names, [path]);
}

async fn directories(storage: &Storage, root: &str) {
    let (a, b) = (format!("{root}/a"), format!("{root}/b"));
    assert_eq!(
        storage.rename_dir(&a, &b).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
    storage.create_dir(&format!("{root}/made")).await.unwrap();
    for name in ["x", "p=%2F/y"] {
        storage
            .write(&format!("{a}/{name}"), Bytes::from(name))
            .await
            .unwrap();
    }
    storage.rename_dir(&a, &b).await.unwrap();
    assert!(!storage.exists(&a).await.unwrap());
    for name in ["x", "p=%2F/y"] {
        assert_eq!(storage.read(&format!("{b}/{name}")).await.unwrap(), name);
    }
    storage
        .write(&format!("{a}/x"), Bytes::from_static(b"new"))
        .await
        .unwrap();
    assert_eq!(
        storage.rename_dir(&a, &b).await.unwrap_err().kind(),
        ErrorKind::AlreadyExists
    );
    storage.delete_dir(&b).await.unwrap();
    storage.delete_dir(&b).await.unwrap();
    assert!(!storage.exists(&b).await.unwrap());
    assert_eq!(storage.read(&format!("{a}/x")).await.unwrap(), "new");
}
