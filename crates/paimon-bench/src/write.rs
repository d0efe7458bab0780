// SPDX-License-Identifier: Apache-2.0

//! `append-write`: batches in memory to one committed snapshot.

use std::time::Instant;

use paimon::{Storage, Table};

use crate::data::{definition, read_ipc};
use crate::{BenchResult, Sample};

/// Makes the table that ours or the peer writes.
pub(crate) async fn make_table(location: &str, buckets: usize) -> BenchResult<()> {
    let bucket = buckets.to_string();
    let options = [("bucket", bucket.as_str()), ("bucket-key", "id")];
    Table::create(Storage::default(), location, definition(&options)?).await?;
    Ok(())
}

/// Writes the rows of `input` `repeat` times and commits once.
#[allow(clippy::disallowed_methods)]
pub(crate) async fn ours(input: &str, location: &str, repeat: usize) -> BenchResult<Sample> {
    let table = Table::open(location).await?;
    let batches = read_ipc(input)?;
    let start = Instant::now();
    let mut writer = table.write().await?;
    let mut rows = 0;
    for _ in 0..repeat {
        for batch in &batches {
            rows += batch.num_rows() as u64;
            writer.write(batch).await?;
        }
    }
    writer.commit().await?;
    Ok(Sample {
        elapsed: start.elapsed(),
        rows,
    })
}
