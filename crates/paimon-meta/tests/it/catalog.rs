// SPDX-License-Identifier: Apache-2.0

//! The filesystem catalog, table handles, tags and branches.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use paimon_meta::{Catalog, DropMode, FileSystemCatalog, Identifier, Table};
use paimon_storage::Storage;
use paimon_types::ErrorKind;

use crate::support::{append, create, latest, live_names, new_table, options};

fn name(text: &str) -> Identifier {
    Identifier::parse(text).unwrap()
}

async fn databases_and_tables(storage: Storage, warehouse: &str) {
    let catalog: Arc<dyn Catalog> = Arc::new(FileSystemCatalog::new(storage, warehouse));
    assert_eq!(catalog.list_databases().await.unwrap(), [] as [&str; 0]);
    assert!(!catalog.database_exists("db").await.unwrap());
    let err = catalog.list_tables("db").await.unwrap_err();
    assert!(
        err.kind() == ErrorKind::NotFound && err.message().contains("has none"),
        "{err}"
    );
    catalog.create_database("db", false).await.unwrap();
    catalog.create_database("db", true).await.unwrap();
    assert_eq!(
        catalog.create_database("db", false).await.unwrap_err().kind(),
        ErrorKind::AlreadyExists
    );
    assert!(catalog.database_exists("db").await.unwrap());
    assert_eq!(catalog.list_databases().await.unwrap(), ["db"]);
    assert_eq!(catalog.list_tables("db").await.unwrap(), [] as [&str; 0]);

    let new = new_table(true, &[]);
    let err = catalog
        .create_table(&name("other.t"), new.clone(), false)
        .await
        .unwrap_err();
    assert!(
        err.kind() == ErrorKind::NotFound && err.message().contains("db"),
        "{err}"
    );
    catalog
        .create_table(&name("db.t"), new.clone(), false)
        .await
        .unwrap();
    catalog
        .create_table(&name("db.t"), new.clone(), true)
        .await
        .unwrap();
    let err = catalog
        .create_table(&name("db.t"), new.clone(), false)
        .await
        .unwrap_err();
    assert_eq!(err.kind(), ErrorKind::AlreadyExists);
    catalog
        .create_table(&name("in_default"), new.clone(), false)
        .await
        .unwrap();
    assert_eq!(catalog.list_databases().await.unwrap(), ["db", "default"]);
    assert_eq!(catalog.list_tables("default").await.unwrap(), ["in_default"]);

    let table = catalog.table(&name("db.t")).await.unwrap();
    assert_eq!(table.identifier(), &name("db.t"));
    assert_eq!(table.schema().partition_keys, ["p"]);
    assert!(table.location().ends_with("/db.db/t"), "{}", table.location());
    let err = catalog.table(&name("db.x")).await.unwrap_err();
    assert!(
        err.kind() == ErrorKind::NotFound && err.message().contains("the database has t"),
        "{err}"
    );
    let err = catalog.table(&name("db.t$branch_b")).await.unwrap_err();
    assert!(
        err.kind() == ErrorKind::NotFound && err.message().contains("no branch but main"),
        "{err}"
    );
    assert!(catalog.table_exists(&name("db.t")).await.unwrap());
    assert!(!catalog.table_exists(&name("db.t$branch_b")).await.unwrap());

    let err = catalog
        .rename_table(&name("db.t"), &name("default.in_default"))
        .await
        .unwrap_err();
    assert_eq!(err.kind(), ErrorKind::AlreadyExists);
    catalog
        .rename_table(&name("db.t"), &name("default.t2"))
        .await
        .unwrap();
    assert_eq!(catalog.list_tables("db").await.unwrap(), [] as [&str; 0]);
    assert_eq!(
        catalog.list_tables("default").await.unwrap(),
        ["in_default", "t2"]
    );
    catalog.table(&name("default.t2")).await.unwrap();

    let err = catalog
        .drop_database("default", DropMode::Restrict, false)
        .await
        .unwrap_err();
    assert!(err.message().contains("in_default"), "{err}");
    catalog.drop_table(&name("in_default"), false).await.unwrap();
    catalog.drop_table(&name("in_default"), true).await.unwrap();
    let err = catalog.drop_table(&name("in_default"), false).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::NotFound);
    catalog
        .drop_database("default", DropMode::Cascade, false)
        .await
        .unwrap();
    catalog
        .drop_database("db", DropMode::Restrict, false)
        .await
        .unwrap();
    catalog
        .drop_database("db", DropMode::Restrict, true)
        .await
        .unwrap();
    assert_eq!(catalog.list_databases().await.unwrap(), [] as [&str; 0]);
    for bad in ["", "a/b", "..", "a.b"] {
        assert_eq!(
            catalog.create_database(bad, false).await.unwrap_err().kind(),
            ErrorKind::InvalidInput,
            "{bad}"
        );
    }
}

#[tokio::test]
async fn catalog_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    databases_and_tables(Storage::default(), dir.path().join("warehouse").to_str().unwrap()).await;
}

#[tokio::test]
async fn catalog_in_an_object_store() {
    databases_and_tables(Storage::memory(), "memory://warehouse").await;
}

#[tokio::test]
async fn open_by_location() {
    let storage = Storage::memory();
    let err = Table::open(storage.clone(), "memory://w/t", BTreeMap::new())
        .await
        .unwrap_err();
    assert_eq!(err.kind(), ErrorKind::NotFound);
    create(&storage, "memory://w/db.db/t/", false, &[("a", "1")]).await;
    let table = Table::open(
        storage,
        "memory://w/db.db/t/",
        options(&[("read.batch-size", "7")]),
    )
    .await
    .unwrap();
    assert_eq!(table.identifier().to_string(), "db.t");
    assert_eq!(table.location(), "memory://w/db.db/t");
    assert_eq!(table.options().read_batch_size, 7);
    assert_eq!(table.options().raw().get("a").map(String::as_str), Some("1"));
    assert!(!table.schema().options.contains_key("read.batch-size"));

    let other = table.with_options(options(&[("read.batch-size", "9")])).unwrap();
    assert_eq!(
        (table.options().read_batch_size, other.options().read_batch_size),
        (7, 9)
    );
    for (key, value) in [
        ("bucket", "4"),
        ("merge-engine", "first-row"),
        ("bucket-key", "id"),
        ("branch", "b"),
    ] {
        let err = table.with_options(options(&[(key, value)])).unwrap_err();
        assert!(
            err.kind() == ErrorKind::InvalidInput && err.to_string().contains(key),
            "{key}: {err}"
        );
    }
    table
        .with_options(options(&[("bucket", "-1"), ("type", "TABLE")]))
        .unwrap();
}

#[tokio::test]
async fn case_65_writer_only_options_do_not_stop_readers() {
    let storage = Storage::memory();
    create(&storage, "memory://w/t", false, &[]).await;
    let table = Table::open(
        storage,
        "memory://w/t",
        options(&[("commit.max-retries", "many")]),
    )
    .await
    .unwrap();
    assert_eq!(table.options().commit_max_retries, 10);
}

#[tokio::test]
async fn tags() {
    let table = create(&Storage::memory(), "memory://w/t", false, &[]).await;
    table.new_commit().commit(append("a", 1)).await.unwrap();
    let first = latest(&table).await;
    table.new_commit().commit(append("b", 1)).await.unwrap();
    let tags = table.tag_manager();
    assert!(tags.tag("v1").await.unwrap_err().message().contains("no tags"));
    tags.create("v1", &first, None).await.unwrap();
    tags.create(
        "kept a day",
        &latest(&table).await,
        Some(Duration::from_secs(86_400)),
    )
    .await
    .unwrap();
    assert_eq!(
        tags.create("v1", &first, None).await.unwrap_err().kind(),
        ErrorKind::AlreadyExists
    );
    for bad in ["", "  ", "a/b"] {
        assert_eq!(
            tags.create(bad, &first, None).await.unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
    }
    assert_eq!(tags.list_names().await.unwrap(), ["kept a day", "v1"]);
    let all = tags.list().await.unwrap();
    assert_eq!(
        all.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(),
        ["v1", "kept a day"]
    );
    assert_eq!((all[0].create_time, all[0].time_retained), (None, None));
    assert_eq!(all[1].time_retained, Some(Duration::from_secs(86_400)));
    assert!(all[1].create_time.is_some());

    // case_07: the snapshot expires, the tag still has it, the id is an error that names the range.
    table
        .storage()
        .delete(&table.snapshot_manager().snapshot_path(1))
        .await
        .unwrap();
    assert_eq!(
        live_names(&table, &tags.tag("v1").await.unwrap().snapshot).await,
        ["a"]
    );
    let err = table.snapshot_manager().snapshot(1).await.unwrap_err();
    assert!(
        err.kind() == ErrorKind::NotFound && err.message().contains("2 to 2"),
        "{err}"
    );
    assert!(tags.tag("v2").await.unwrap_err().message().contains("v1"));
    assert!(tags.delete("v1").await.unwrap());
    assert!(!tags.delete("v1").await.unwrap());
}

#[tokio::test]
async fn branches() {
    let storage = Storage::memory();
    let table = create(&storage, "memory://w/t", false, &[]).await;
    table.new_commit().commit(append("a", 1)).await.unwrap();
    let tag = table
        .tag_manager()
        .create("v1", &latest(&table).await, None)
        .await
        .unwrap();
    table.new_commit().commit(append("b", 1)).await.unwrap();
    let branches = table.branch_manager();
    for bad in ["main", " ", "12", "a/b", ""] {
        assert_eq!(
            branches.create(bad).await.unwrap_err().kind(),
            ErrorKind::InvalidInput,
            "{bad}"
        );
    }
    branches.create("empty").await.unwrap();
    branches.create_from_tag("dev", &tag).await.unwrap();
    assert_eq!(
        branches.create("dev").await.unwrap_err().kind(),
        ErrorKind::AlreadyExists
    );
    assert_eq!(branches.list().await.unwrap(), ["dev", "empty"]);

    let dev = table.at_branch("dev").await.unwrap();
    assert_eq!(
        (dev.branch(), dev.identifier().to_string().as_str()),
        ("dev", "default.t$branch_dev")
    );
    assert_eq!(live_names(&dev, &latest(&dev).await).await, ["a"]);
    assert_eq!(
        dev.new_commit()
            .commit(append("c", 1))
            .await
            .unwrap()
            .snapshot_ids(),
        [2]
    );
    assert_eq!(live_names(&dev, &latest(&dev).await).await, ["a", "c"]);
    assert_eq!(live_names(&table, &latest(&table).await).await, ["a", "b"]);
    assert!(
        storage
            .exists("memory://w/t/branch/branch-dev/snapshot/snapshot-2")
            .await
            .unwrap()
    );
    assert!(
        !storage
            .exists("memory://w/t/branch/branch-dev/manifest")
            .await
            .unwrap()
    );

    for (location, pairs) in [
        ("memory://w/t$branch_dev", vec![]),
        ("memory://w/t", vec![("branch", "dev")]),
    ] {
        let opened = Table::open(storage.clone(), location, options(&pairs))
            .await
            .unwrap();
        assert_eq!((opened.branch(), opened.location()), ("dev", "memory://w/t"));
        assert_eq!(opened.options().branch, "dev");
        assert_eq!(latest(&opened).await.id, 2);
    }
    let err = Table::open(
        storage.clone(),
        "memory://w/t$branch_dev",
        options(&[("branch", "empty")]),
    )
    .await
    .unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidInput);
    let err = table.at_branch("nope").await.unwrap_err();
    assert!(
        err.kind() == ErrorKind::NotFound && err.message().contains("dev, empty"),
        "{err}"
    );
    let empty = table.at_branch("empty").await.unwrap();
    assert_eq!(empty.snapshot_manager().latest().await.unwrap(), None);
    branches.drop("empty").await.unwrap();
    assert_eq!(
        branches.drop("empty").await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
}

#[tokio::test]
async fn case_45_time_travel_before_the_first_snapshot() {
    let storage = Storage::memory();
    let table = create(&storage, "memory://w/t", false, &[]).await;
    let snapshots = table.snapshot_manager();
    assert_eq!(
        snapshots.at_or_before(0).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
    table.new_commit().commit(append("a", 1)).await.unwrap();
    let mut text = latest(&table).await;
    for id in 1..=9 {
        text.id = id;
        text.time_millis = id * 100;
        text.watermark = (id % 3 == 0).then_some(id);
        storage
            .write(&snapshots.snapshot_path(id), text.to_json().into())
            .await
            .unwrap();
    }
    storage.delete("memory://w/t/snapshot/LATEST").await.unwrap();
    for (millis, id) in [(100, 1), (199, 1), (500, 5), (899, 8), (900, 9), (i64::MAX, 9)] {
        assert_eq!(snapshots.at_or_before(millis).await.unwrap().id, id, "{millis}");
    }
    let err = snapshots.at_or_before(99).await.unwrap_err();
    assert!(
        err.kind() == ErrorKind::NotFound && err.message().contains("snapshot 1 of 100"),
        "{err}"
    );
    assert_eq!(snapshots.first_with_watermark(4).await.unwrap().unwrap().id, 6);
    assert_eq!(snapshots.first_with_watermark(10).await.unwrap(), None);
    // The oldest ones expire.
    for id in 1..=4 {
        storage.delete(&snapshots.snapshot_path(id)).await.unwrap();
    }
    assert_eq!(snapshots.earliest().await.unwrap().unwrap().id, 5);
    assert_eq!(snapshots.earliest_id().await.unwrap(), Some(5));
    assert_eq!(snapshots.latest_id().await.unwrap(), Some(9));
    // Hints that are wrong in every way.
    for hint in ["3", "0", "-1", "x", "", "7"] {
        storage
            .write("memory://w/t/snapshot/LATEST", hint.into())
            .await
            .unwrap();
        storage
            .write("memory://w/t/snapshot/EARLIEST", hint.into())
            .await
            .unwrap();
        assert_eq!(snapshots.latest_id().await.unwrap(), Some(9), "{hint}");
        assert_eq!(snapshots.latest().await.unwrap().unwrap().id, 9, "{hint}");
    }
    storage
        .write("memory://w/t/snapshot/snapshot-99x.tmp", "x".into())
        .await
        .unwrap();
    assert_eq!(snapshots.list_ids().await.unwrap(), [5, 6, 7, 8, 9]);
}
