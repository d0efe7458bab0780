// SPDX-License-Identifier: Apache-2.0

//! A pool that has room for a stripe and little more.

use std::sync::Arc;

use arrow_array::{Int64Array, RecordBatch};
use paimon_format::testkit::{Sampler, write_file};
use paimon_format::{BoundedMemoryPool, MemoryPool};
use paimon_storage::Storage;
use paimon_types::{DataField, DataType, ErrorKind, TypeKind, to_arrow_schema};

use crate::support::format;

const ROWS: usize = 60_000;

async fn read(path: &str, limit: usize) -> paimon_types::Result<usize> {
    let format = format(&[]);
    let pool: Arc<dyn MemoryPool> = Arc::new(BoundedMemoryPool::new(limit));
    let mut builder = format.create_reader_builder(1000).unwrap();
    builder.with_memory_pool(pool.clone());
    let file = Storage::default().open_input(path, None).await.unwrap();
    let mut reader = builder.build(file).await.unwrap();
    let mut rows = 0;
    while let Some(batch) = reader.next_batch().await? {
        rows += batch.num_rows();
        // Long enough for the decoder to run into the limit.
        std::thread::sleep(std::time::Duration::from_micros(200));
    }
    drop(reader);
    assert_eq!(pool.reserved(), 0);
    Ok(rows)
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_ahead_make_room_for_a_stripe() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.orc");
    let path = path.to_str().unwrap();
    let fields = vec![DataField::new(0, "a", DataType::new(TypeKind::BigInt))];
    let mut s = Sampler::new(1);
    let column: Int64Array = (0..ROWS).map(|_| Some(s.next_u64() as i64)).collect();
    let batch = RecordBatch::try_new(Arc::new(to_arrow_schema(&fields)), vec![Arc::new(column)]).unwrap();
    let written = format(&[("orc.stripe.size", "40000")]);
    let batches: Vec<_> = (0..ROWS / 1000).map(|n| batch.slice(n * 1000, 1000)).collect();
    write_file(
        written.as_ref(),
        &Storage::default(),
        path,
        &fields,
        &batches,
        "none",
    )
    .await
    .unwrap();
    let largest = {
        // The smallest pool with which the file can be read: one stripe and one batch.
        let mut limit = 20_000;
        while let Err(error) = read(path, limit).await {
            assert_eq!(error.kind(), ErrorKind::ResourcesExhausted, "{error}");
            limit += 4_000;
            assert!(limit < 4_000_000, "{error}");
        }
        limit
    };
    // From there on every pool will do, whatever the order in which things happen.
    for more in 0..12 {
        assert_eq!(
            read(path, largest + more * 2_500).await.unwrap(),
            ROWS,
            "{largest} + {more}"
        );
    }
}
