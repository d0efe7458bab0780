// SPDX-License-Identifier: Apache-2.0

//! `append-scan`: ours through the facade, and the bare `parquet` crate on the same files with the same threads.

use std::collections::VecDeque;
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use futures_util::StreamExt;
use paimon::{BatchStream, Storage, Table};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::data::{batches, definition};
use crate::{BenchResult, Sample};

const BATCH_ROWS: usize = 8192;

/// Two tables with the same rows: `one` in one file, `eight` in eight.
pub(crate) async fn make_tables(dir: &str, rows: usize) -> BenchResult<()> {
    for (name, files) in [("one", 1), ("eight", 8)] {
        let location = format!("{dir}/{name}");
        if Path::new(&location).exists() {
            continue;
        }
        let table = Table::create(
            Storage::default(),
            &location,
            definition(&[("target-file-size", "4 gb")])?,
        )
        .await?;
        let all = batches(rows)?;
        for part in all.chunks(all.len().div_ceil(files)) {
            let mut writer = table.write().await?;
            for batch in part {
                writer.write(batch).await?;
            }
            writer.commit().await?;
        }
    }
    Ok(())
}

/// Reads all rows of a table with at most `threads` files decoded at once, in the order of the table or as they come.
#[allow(clippy::disallowed_methods)]
pub(crate) async fn ours(location: &str, threads: usize, ordered: bool) -> BenchResult<Sample> {
    let table = Table::open(location).await?;
    let start = Instant::now();
    let read = table.read().parallelism(threads).batch_size(BATCH_ROWS);
    let read = if ordered { read } else { read.unordered() };
    let rows = count(read.to_stream().await?).await?;
    Ok(Sample {
        elapsed: start.elapsed(),
        rows,
    })
}

async fn count(mut stream: BatchStream) -> BenchResult<u64> {
    let mut rows = 0;
    while let Some(batch) = stream.next().await {
        rows += batch?.num_rows() as u64;
    }
    Ok(rows)
}

/// As [`ours`] with `threads` consumers, each a task of its own.
#[allow(clippy::disallowed_methods)]
pub(crate) async fn streams(location: &str, threads: usize) -> BenchResult<Sample> {
    let table = Table::open(location).await?;
    let start = Instant::now();
    let read = table.read().parallelism(threads).batch_size(BATCH_ROWS);
    let streams = read.to_streams().await?;
    let consumers: Vec<_> = streams
        .into_iter()
        .map(|stream| tokio::spawn(count(stream)))
        .collect();
    let mut rows = 0;
    for consumer in consumers {
        rows += consumer.await??;
    }
    Ok(Sample {
        elapsed: start.elapsed(),
        rows,
    })
}

/// Reads the same files with the `parquet` crate, one thread a file, at most `threads` at once.
#[allow(clippy::disallowed_methods)]
pub(crate) async fn floor(location: &str, threads: usize) -> BenchResult<Sample> {
    let plan = Table::open(location).await?.scan().plan().await?;
    let files: VecDeque<String> = plan
        .splits
        .iter()
        .flat_map(|s| s.data_files.iter().map(|f| s.data_file_path(f)))
        .collect();
    let start = Instant::now();
    let queue = Arc::new(Mutex::new(files));
    let workers: Vec<_> = (0..threads)
        .map(|_| {
            let queue = queue.clone();
            std::thread::spawn(move || -> BenchResult<u64> {
                let mut rows = 0;
                loop {
                    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                    let Some(path) = next else { return Ok(rows) };
                    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
                    for batch in reader.with_batch_size(BATCH_ROWS).build()? {
                        rows += batch?.num_rows() as u64;
                    }
                }
            })
        })
        .collect();
    let mut rows = 0;
    for worker in workers {
        rows += worker.join().map_err(|_| "a floor thread panicked")??;
    }
    Ok(Sample {
        elapsed: start.elapsed(),
        rows,
    })
}
