// SPDX-License-Identifier: Apache-2.0

//! Eight writers, 25 commits each, five times: every acknowledged row is there, once.
//!
//! On the local disk always; on an S3-compatible server when `PAIMON_TEST_S3` holds its address (`cargo xtask bench race`
//! starts one).
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Int64Array, RecordBatch};
use arrow_schema::{DataType as ArrowType, Field, Schema};
#[cfg(feature = "s3")]
use paimon::StorageOptions;
use paimon::{CommitOutcome, DataField, DataType, NewTable, Storage, Table};

const ROUNDS: usize = 5;
const WRITERS: i64 = 8;
const COMMITS: i64 = 25;

fn definition() -> NewTable {
    NewTable {
        columns: vec![DataField::new(
            0,
            "id",
            DataType::parse("BIGINT NOT NULL").unwrap(),
        )],
        options: BTreeMap::from([("commit.max-retries".to_owned(), "1000".to_owned())]),
        ..NewTable::default()
    }
}

/// Commits rows of its own; the ids that were acknowledged.
async fn writer(storage: Storage, location: String, writer: i64) -> Vec<i64> {
    let table = Table::open_with(storage, &location, BTreeMap::new())
        .await
        .unwrap();
    let schema = Arc::new(Schema::new(vec![Field::new("id", ArrowType::Int64, false)]));
    let mut acknowledged = Vec::new();
    for commit in 0..COMMITS {
        let id = writer * COMMITS + commit;
        let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(Int64Array::from(vec![id]))]).unwrap();
        let mut rows = table.write().await.unwrap();
        rows.write(&batch).await.unwrap();
        match rows.commit().await {
            Ok(CommitOutcome::Committed { .. }) => acknowledged.push(id),
            Ok(other) => panic!("writer {writer} commit {commit}: {other:?}"),
            Err(err) => println!("writer {writer} commit {commit} was refused: {err:?}"),
        }
    }
    acknowledged
}

async fn race(storage: Storage, location: &str) {
    let table = Table::create(storage.clone(), location, definition())
        .await
        .unwrap();
    let writers: Vec<_> = (0..WRITERS)
        .map(|w| tokio::spawn(writer(storage.clone(), location.to_owned(), w)))
        .collect();
    let mut acknowledged = Vec::new();
    for writer in writers {
        acknowledged.extend(writer.await.unwrap());
    }
    acknowledged.sort_unstable();
    let (_, batches) = table.read().to_batches().await.unwrap();
    let mut found: Vec<i64> = batches
        .iter()
        .flat_map(|b| b.column(0).as_primitive::<Int64Type>().values().to_vec())
        .collect();
    found.sort_unstable();
    assert_eq!(
        found, acknowledged,
        "rows that are there and rows that were acknowledged"
    );
    assert!(
        acknowledged.len() as i64 > WRITERS * COMMITS / 2,
        "only {} commits went through",
        acknowledged.len()
    );
    let ids = table.meta().snapshot_manager().list_ids().await.unwrap();
    let expected: Vec<i64> = (1..=i64::try_from(acknowledged.len()).unwrap()).collect();
    assert_eq!(ids, expected, "one snapshot a commit, without gaps");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_acknowledged_row_is_lost_on_the_local_disk() {
    for round in 0..ROUNDS {
        let dir = tempfile::tempdir().unwrap();
        let location = dir.path().join(format!("race-{round}"));
        race(Storage::default(), location.to_str().unwrap()).await;
    }
}

#[cfg(feature = "s3")]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs an S3-compatible server: cargo xtask bench race"]
async fn no_acknowledged_row_is_lost_on_s3() {
    let Ok(endpoint) = std::env::var("PAIMON_TEST_S3") else {
        println!("skipped: PAIMON_TEST_S3 is not set; `cargo xtask bench race` starts a server");
        return;
    };
    create_bucket(&endpoint, "race");
    let options = StorageOptions::new()
        .with("s3.endpoint", &endpoint)
        .with("s3.access-key", "test")
        .with("s3.secret-key", "test")
        .with("s3.region", "us-east-1")
        .with("s3.path-style-access", "true")
        .with("allow_http", "true");
    for round in 0..ROUNDS {
        let storage = Storage::new(options.clone());
        race(storage, &format!("s3://race/warehouse/default.db/race-{round}")).await;
        println!("round {round} of {ROUNDS}: all rows are there");
    }
}

/// Buckets are made outside of the object store interface.
#[cfg(feature = "s3")]
fn create_bucket(endpoint: &str, bucket: &str) {
    use std::io::{Read, Write};
    let host = endpoint.trim_start_matches("http://");
    let mut stream = std::net::TcpStream::connect(host).unwrap();
    write!(
        stream,
        "PUT /{bucket} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}
