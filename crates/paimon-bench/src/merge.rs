// SPDX-License-Identifier: Apache-2.0

//! `merge`: reading tables with a primary key whose files overlap, and the bare decode of the same columns of the same files.

use std::collections::VecDeque;
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use arrow_array::{
    ArrayRef, Decimal128Array, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMillisecondArray,
};
use arrow_schema::Schema;
use futures_util::StreamExt;
use paimon::types::{DataField, DataType, Datum, NewTable, Predicate, to_arrow_schema};
use paimon::{Storage, Table, TableRead};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::data::Random;
use crate::{BenchResult, Sample};

const BATCH_ROWS: usize = 8192;
const WRITE_ROWS: usize = 65_536;
/// Keys of a stretch of a run in `clustered` tables.
const CLUSTER: u64 = 5000;

/// What a table of a sample looks like.
pub(crate) struct Shape<'a> {
    /// `long`, `text` or `three` (columns).
    pub(crate) key: &'a str,
    /// `unique` (runs interleave, no key twice), `clustered` (stretches of keys), `updated` (about half of the keys twice),
    /// `repeated` (each key in every run), `shuffled` (the same, and a column tells which row is the newest) or `mixed` (the
    /// first eighth as repeated, the others as unique).
    pub(crate) order: &'a str,
    /// Sorted runs, each of one commit.
    pub(crate) runs: usize,
    /// Columns, those of the key included.
    pub(crate) columns: usize,
    /// Rows of all runs.
    pub(crate) rows: usize,
    /// `deduplicate`, `partial-update` or `aggregation`.
    pub(crate) engine: &'a str,
    pub(crate) buckets: usize,
}

/// Makes a table, unless it is there.
pub(crate) async fn make_table(location: &str, shape: &Shape<'_>) -> BenchResult<()> {
    if Path::new(location).exists() {
        return Ok(());
    }
    let keys: &[(&str, &str)] = match shape.key {
        "long" => &[("k", "BIGINT")],
        "text" => &[("k", "STRING")],
        "three" => &[("k", "INT"), ("l", "STRING"), ("m", "BIGINT")],
        other => return Err(format!("unknown key {other}").into()),
    };
    let values = [
        "BIGINT",
        "DOUBLE",
        "INT",
        "STRING",
        "TIMESTAMP(3)",
        "DECIMAL(18, 2)",
    ];
    let mut fields = Vec::new();
    let mut names = Vec::new();
    for (name, data_type) in keys {
        names.push((*name).to_owned());
        fields.push(DataField::new(
            i32::try_from(fields.len())?,
            *name,
            DataType::parse(data_type)?,
        ));
    }
    for (at, data_type) in (keys.len()..shape.columns).zip(values.iter().cycle()) {
        fields.push(DataField::new(
            i32::try_from(at)?,
            format!("v{at}"),
            DataType::parse(data_type)?,
        ));
    }
    let mut options = vec![
        ("bucket".to_owned(), shape.buckets.to_string()),
        ("merge-engine".to_owned(), shape.engine.to_owned()),
        ("target-file-size".to_owned(), "4 gb".to_owned()),
        ("write-only".to_owned(), "true".to_owned()),
    ];
    if shape.order == "shuffled" {
        let first = format!("v{}", keys.len());
        options.push(("sequence.field".to_owned(), first));
    }
    if shape.engine == "aggregation" {
        for field in fields.iter().skip(keys.len()) {
            let numeric = !matches!(field.data_type.to_string().as_str(), "STRING" | "TIMESTAMP(3)");
            let function = if numeric { "sum" } else { "last_non_null_value" };
            options.push((
                format!("fields.{}.aggregate-function", field.name),
                function.to_owned(),
            ));
        }
    }
    let definition = NewTable {
        columns: fields.clone(),
        primary_keys: names,
        options: options.into_iter().collect(),
        ..NewTable::default()
    };
    let table = Table::create(Storage::default(), location, definition).await?;
    let columns = table.schema().fields.clone();
    let schema = Arc::new(to_arrow_schema(&columns));
    for run in 0..shape.runs {
        let keys = keys_of(shape, run as u64)?;
        let mut writer = table.write().await?;
        for chunk in keys.chunks(WRITE_ROWS) {
            writer.write(&batch(&schema, shape.key, chunk, run)?).await?;
        }
        writer.commit().await?;
    }
    Ok(())
}

/// Ascending numbers of the keys of a run.
fn keys_of(shape: &Shape<'_>, run: u64) -> BenchResult<Vec<u64>> {
    let (runs, rows) = (shape.runs as u64, (shape.rows / shape.runs) as u64);
    let mut random = Random(run + 1);
    let mut key = 0;
    let mut step = |most: u64| {
        key += 1 + random.next() % most;
        key
    };
    Ok(match shape.order {
        "unique" => (0..rows).map(|_| step(2 * runs) * runs + run).collect(),
        "clustered" => (0..rows)
            .map(|i| (i / CLUSTER * runs + run) * CLUSTER + i % CLUSTER)
            .collect(),
        // Each key is in a run with a chance of 1.6 of all runs.
        "updated" => (0..rows).map(|_| step((runs * 5 / 4).max(2))).collect(),
        "repeated" | "shuffled" => (0..rows).collect(),
        "mixed" => {
            let head = rows / 8;
            let unique = (0..rows - head).map(|_| head + step(2 * runs) * runs + run);
            (0..head).chain(unique).collect()
        }
        other => return Err(format!("unknown order of keys {other}").into()),
    })
}

fn batch(schema: &Arc<Schema>, key: &str, keys: &[u64], run: usize) -> BenchResult<RecordBatch> {
    let of = || keys.iter().copied();
    let mut columns: Vec<ArrayRef> = match key {
        "long" => vec![Arc::new(Int64Array::from_iter_values(of().map(u64::cast_signed)))],
        "text" => {
            let text = of().map(|k| format!("https://example.org/customers/{k:012}"));
            vec![Arc::new(StringArray::from_iter_values(text))]
        }
        _ => {
            let high = of().map(|k| i32::try_from(k >> 16).unwrap_or(i32::MAX));
            let text = of().map(|k| format!("group {:03}", k >> 8 & 255));
            let low = of().map(|k| (k & 255).cast_signed());
            vec![
                Arc::new(Int32Array::from_iter_values(high)),
                Arc::new(StringArray::from_iter_values(text)),
                Arc::new(Int64Array::from_iter_values(low)),
            ]
        }
    };
    let mut random = Random(keys.first().copied().unwrap_or_default() + run as u64);
    for column in columns.len()..schema.fields().len() {
        let kind = (column - if key == "three" { 3 } else { 1 }) % 6;
        let mut number = |below: u64| (random.next() % below).cast_signed();
        columns.push(match kind {
            0 => Arc::new(Int64Array::from_iter_values(of().map(|_| number(1 << 30)))),
            1 => Arc::new(Float64Array::from_iter_values(
                of().map(|_| number(1 << 30) as f64 / 7.0),
            )),
            2 => Arc::new(Int32Array::from_iter_values(of().map(|_| number(1000) as i32))),
            3 => Arc::new(StringArray::from_iter_values(
                of().map(|_| format!("name {}", number(5000))),
            )),
            4 => Arc::new(TimestampMillisecondArray::from_iter_values(
                of().map(|_| number(1 << 40)),
            )),
            _ => {
                let values = Decimal128Array::from_iter_values(of().map(|_| i128::from(number(1 << 40))));
                Arc::new(values.with_precision_and_scale(18, 2)?)
            }
        });
    }
    Ok(RecordBatch::try_new(schema.clone(), columns)?)
}

/// Reads the rows of a table, merged: `late` or `together` say how values are read, `filtered` leaves one row in a thousand.
#[allow(clippy::disallowed_methods)]
pub(crate) async fn ours(location: &str, threads: usize, how: &[&str]) -> BenchResult<Sample> {
    let table = Table::open(location).await?;
    let start = Instant::now();
    let filter = how.contains(&"filtered").then(|| {
        let number = |f: &&DataField| f.name.starts_with('v') && f.data_type.to_string() == "INT";
        let column = table.schema().fields.iter().find(number).ok_or("no INT column")?;
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(Predicate::eq(column, Datum::Int(7))?)
    });
    let filter = filter.transpose()?;
    let scan = table.read();
    let plan = match &filter {
        Some(filter) => scan.filter(filter.clone()).plan().await?,
        None => scan.plan().await?,
    };
    let mut read = TableRead::builder(table.read_context(&plan)?)
        .parallelism(threads)
        .batch_size(BATCH_ROWS);
    if let Some(filter) = filter {
        read = read.filter(filter);
    }
    if how.contains(&"late") || how.contains(&"together") {
        read = read.late_values(how.contains(&"late"));
    }
    let mut stream = read.build()?.read_all(plan.splits);
    let mut rows = 0;
    while let Some(batch) = stream.next().await {
        rows += batch?.num_rows() as u64;
    }
    Ok(Sample {
        elapsed: start.elapsed(),
        rows,
    })
}

/// Decodes what a merge needs of the same files with the `parquet` crate: all columns but the copies of the key.
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
                    let columns = reader.parquet_schema().root_schema().get_fields();
                    let wanted = columns
                        .iter()
                        .enumerate()
                        .filter(|(_, c)| !c.name().starts_with("_KEY_"));
                    let wanted: Vec<usize> = wanted.map(|(at, _)| at).collect();
                    let mask = ProjectionMask::roots(reader.parquet_schema(), wanted);
                    for batch in reader.with_projection(mask).with_batch_size(BATCH_ROWS).build()? {
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
