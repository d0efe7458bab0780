// SPDX-License-Identifier: Apache-2.0

//! `split-codec`: 100 splits of 1000 files each, as a table with a primary key and dense statistics has them, in both codecs.
//! A program of its own, because it counts allocations and the other samples are not to pay for that.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::alloc::System;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use paimon::protocol::{
    Codec, DataFileMeta, DataSplit, FileSource, Partition, PlanEnvelope, RowValues, SimpleStats,
};
use paimon::types::{DataField, DataType, Datum, NewTable, TypeKind};
use serde_json::{Value, json};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

type BenchResult<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

const SPLITS: usize = 100;
const FILES: usize = 1000;
/// Samples of one process; the first warms up.
const ROUNDS: usize = 6;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args.as_slice() {
        ["make-input", file] => write_java(file),
        ["run", codec] => run(codec).map(|sample| println!("{sample}")),
        other => Err(format!("unknown sample {other:?}").into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(err) => {
            eprintln!("paimon-bench-codec: {err}");
            ExitCode::FAILURE
        }
    }
}

fn file(split: usize, file: usize) -> BenchResult<DataFileMeta> {
    let number = (split * FILES + file) as i64;
    let key = |n: i64| RowValues::of(&[DataType::new(TypeKind::BigInt)], &[Some(Datum::BigInt(n))]);
    let types = [
        DataType::new(TypeKind::BigInt),
        DataType::string(),
        DataType::new(TypeKind::Int),
        DataType::new(TypeKind::Double),
        DataType::string(),
    ];
    let values = |n: i64, text: &str| {
        let values = [
            Some(Datum::BigInt(n)),
            Some(Datum::String(format!("{text} {n:08}"))),
            Some(Datum::Int(n as i32)),
            Some(Datum::Double(n as f64 / 3.0)),
            None,
        ];
        RowValues::of(&types, &values)
    };
    let columns = ["id", "name", "amount", "price", "note"];
    Ok(DataFileMeta {
        file_name: format!("data-7e8c2f10-3b1d-4c5e-9a77-{number:012x}-0.parquet"),
        file_size: 128 << 20,
        row_count: 1_000_000 + number,
        min_key: key(number * 1000)?,
        max_key: key(number * 1000 + 999)?,
        key_stats: SimpleStats {
            min_values: key(number * 1000)?,
            max_values: key(number * 1000 + 999)?,
            null_counts: [Some(0)].into(),
        },
        value_stats: SimpleStats {
            min_values: values(number * 1000, "from")?,
            max_values: values(number * 1000 + 999, "to")?,
            null_counts: [Some(0), Some(number % 7), Some(0), Some(number), None].into(),
        },
        min_sequence_number: number * 1000,
        max_sequence_number: number * 1000 + 999,
        schema_id: 0,
        level: (file % 6) as i32,
        extra_files: Vec::new(),
        creation_time: Some(1_700_000_000_000 + number),
        delete_row_count: Some(0),
        embedded_index: None,
        file_source: Some(FileSource::Compact),
        value_stats_cols: Some(columns.map(str::to_owned).to_vec().into()),
        external_path: None,
        first_row_id: None,
        write_cols: None,
        write_cols_sequences: None,
    })
}

fn plan() -> BenchResult<PlanEnvelope> {
    let split = |number: usize| -> BenchResult<DataSplit> {
        Ok(DataSplit {
            snapshot_id: 42,
            partition: Partition::of(
                &[DataType::string()],
                &[Some(Datum::String(format!("2024-01-{number:02}")))],
            )?,
            bucket: number as i32,
            bucket_path: format!("s3://bucket/warehouse/db.db/t/dt=2024-01-{number:02}/bucket-{number}"),
            total_buckets: Some(128),
            data_files: (0..FILES)
                .map(|at| file(number, at))
                .collect::<BenchResult<_>>()?,
            deletion_files: None,
            is_streaming: false,
            raw_convertible: false,
        })
    };
    let columns = ["id BIGINT", "name STRING", "n INT", "x DOUBLE"];
    let column = |(id, text): (i32, &str)| {
        let (name, data_type) = text.split_once(' ').unwrap_or((text, ""));
        Ok(DataField::new(id, name, DataType::parse(data_type)?))
    };
    let definition = NewTable {
        columns: (0..).zip(columns).map(column).collect::<BenchResult<_>>()?,
        ..NewTable::default()
    };
    let schema = definition.into_schema(0)?;
    Ok(PlanEnvelope {
        location: "s3://bucket/warehouse/db.db/t".to_owned(),
        branch: "main".to_owned(),
        schemas: Vec::new(),
        read_schema: schema,
        options: BTreeMap::new(),
        snapshot_id: Some(42),
        splits: (0..SPLITS).map(split).collect::<BenchResult<_>>()?,
    })
}

fn java_bytes(plan: &PlanEnvelope) -> BenchResult<Vec<Vec<u8>>> {
    let bytes = plan.splits.iter().map(|split| split.to_bytes(Codec::JAVA_SPLIT));
    Ok(bytes.collect::<Result<_, _>>()?)
}

/// Writes the splits for the Java program: count, then length and bytes of each, big-endian.
fn write_java(path: &str) -> BenchResult<()> {
    let splits = java_bytes(&plan()?)?;
    let mut bytes = (splits.len() as u32).to_be_bytes().to_vec();
    for split in &splits {
        bytes.extend_from_slice(&(split.len() as u32).to_be_bytes());
        bytes.extend_from_slice(split);
    }
    Ok(std::fs::write(path, bytes)?)
}

/// What a task takes: median of the samples after the first, and the allocations of one.
#[allow(clippy::disallowed_methods)]
fn measure<T>(task: impl Fn() -> BenchResult<T>) -> BenchResult<(Duration, usize)> {
    let mut samples = Vec::new();
    let mut allocations = 0;
    for _ in 0..ROUNDS {
        let region = Region::new(ALLOCATOR);
        let start = Instant::now();
        let result = std::hint::black_box(task()?);
        samples.push(start.elapsed());
        let change = region.change();
        allocations = change.allocations + change.reallocations;
        drop(result);
    }
    samples.remove(0);
    samples.sort_unstable();
    Ok((
        samples.get(samples.len() / 2).copied().unwrap_or_default(),
        allocations,
    ))
}

/// Encodes and decodes in one codec.
fn run(codec: &str) -> BenchResult<Value> {
    let plan = plan()?;
    let files = SPLITS * FILES;
    let (size, encode, decode) = match codec {
        "java" => {
            let bytes = java_bytes(&plan)?;
            let encode = measure(|| java_bytes(&plan))?;
            let decode = measure(|| {
                let splits = bytes.iter().map(|bytes| DataSplit::from_bytes(bytes));
                Ok(splits.collect::<Result<Vec<_>, _>>()?)
            })?;
            (bytes.iter().map(Vec::len).sum::<usize>(), encode, decode)
        }
        "native" => {
            let bytes = plan.to_bytes()?;
            if PlanEnvelope::from_bytes(&bytes)? != plan {
                return Err("the plan did not come back".into());
            }
            let encode = measure(|| Ok(plan.to_bytes()?))?;
            let decode = measure(|| Ok(PlanEnvelope::from_bytes(&bytes)?))?;
            (bytes.len(), encode, decode)
        }
        other => return Err(format!("unknown codec {other}, expected java or native").into()),
    };
    let rate = |(time, allocations): (Duration, usize)| {
        let seconds = time.as_secs_f64();
        json!({
            "seconds": seconds,
            "files_per_second": files as f64 / seconds,
            "bytes_per_second": size as f64 / seconds,
            "allocations_per_file": allocations as f64 / files as f64,
        })
    };
    Ok(json!({ "files": files, "bytes": size, "encode": rate(encode), "decode": rate(decode) }))
}
