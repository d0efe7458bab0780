// SPDX-License-Identifier: Apache-2.0

//! One sample of one benchmark a process: prints `{"seconds", "rows", "peak_kib"}`. `cargo xtask bench` runs samples of
//! ours, the floor and the peer in turn and prints ratios.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod data;
mod formats;
mod formats_data;
mod formats_peers;
mod merge;
mod pk_write;
mod scan;
mod write;

use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;

type BenchResult<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// What a sample measured.
struct Sample {
    elapsed: Duration,
    rows: u64,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(Some(sample)) => {
            let seconds = sample.elapsed.as_secs_f64();
            println!(
                "{}",
                json!({ "seconds": seconds, "rows": sample.rows, "peak_kib": peak_kib() })
            );
            ExitCode::SUCCESS
        }
        Ok(None) => ExitCode::SUCCESS,
        Err(err) => {
            eprintln!("paimon-bench: {err}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> BenchResult<Option<Sample>> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match words.as_slice() {
        ["make-scan-tables", dir, rows] => runtime
            .block_on(scan::make_tables(dir, rows.parse()?))
            .map(|()| None),
        ["scan", table, threads] => runtime
            .block_on(scan::ours(table, threads.parse()?, false))
            .map(Some),
        ["scan-in-order", table, threads] => runtime
            .block_on(scan::ours(table, threads.parse()?, true))
            .map(Some),
        ["scan-streams", table, threads] => {
            runtime.block_on(scan::streams(table, threads.parse()?)).map(Some)
        }
        ["scan-floor", table, threads] => runtime.block_on(scan::floor(table, threads.parse()?)).map(Some),
        [
            "make-merge-table",
            table,
            key,
            order,
            runs,
            columns,
            rows,
            engine,
            buckets,
        ] => {
            let shape = merge::Shape {
                key,
                order,
                runs: runs.parse()?,
                columns: columns.parse()?,
                rows: rows.parse()?,
                engine,
                buckets: buckets.parse()?,
            };
            runtime.block_on(merge::make_table(table, &shape)).map(|()| None)
        }
        ["merge", table, threads, how @ ..] => runtime
            .block_on(merge::ours(table, threads.parse()?, how))
            .map(Some),
        ["merge-floor", table, threads] => runtime.block_on(merge::floor(table, threads.parse()?)).map(Some),
        ["make-pk-write-input", file, rows] => pk_write::make_input(file, rows.parse()?).map(|()| None),
        ["make-pk-write-table", table, engine, buckets] => runtime
            .block_on(pk_write::make_table(table, engine, buckets))
            .map(|()| None),
        ["pk-write-digest", table] => {
            println!("{}", runtime.block_on(pk_write::digest(table))?);
            Ok(None)
        }
        ["make-write-input", file, rows] => data::write_ipc(file, rows.parse()?).map(|()| None),
        ["make-write-table", table, buckets] => runtime
            .block_on(write::make_table(table, buckets.parse()?))
            .map(|()| None),
        ["write", input, table, repeat] => runtime
            .block_on(write::ours(input, table, repeat.parse()?))
            .map(Some),
        ["format-families"] => {
            formats_data::FAMILIES
                .iter()
                .for_each(|family| println!("{family}"));
            Ok(None)
        }
        ["make-formats", dir, rows] => runtime.block_on(formats::make(dir, rows.parse()?)).map(|()| None),
        ["format-read", who, format, dir, family, rows] => runtime
            .block_on(formats::read(who, format, dir, family, rows))
            .map(Some),
        ["format-write", who, format, dir, family] => runtime
            .block_on(formats::write(who, format, dir, family))
            .map(Some),
        other => Err(format!("unknown sample {other:?}").into()),
    }
}

/// Largest resident set of this process so far, in KiB; 0 where the system does not tell.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.trim().trim_end_matches("kB").trim().parse().ok())
        .unwrap_or(0)
}
