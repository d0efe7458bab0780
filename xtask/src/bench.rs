// SPDX-License-Identifier: Apache-2.0

//! Benchmarks: ours, the floor and the peer in turn in one run, printed as ratios.

mod formats;
mod measure;
mod merge;
mod pk_write;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use measure::{Contestant, Measured, measure, median};

use crate::TaskResult;
use crate::process::{self, cargo, installed, output, root};

const PEER: &str = "pypaimon-rust==0.4.0";
const SCAN_ROWS: &str = "10000000";
const WRITE_ROWS: &str = "2000000";
const WRITE_REPEAT: &str = "2";
const ROUNDS: usize = 9;

/// The task.
pub(crate) fn run(args: &[String]) -> TaskResult {
    let json = args.iter().any(|a| a == "--json");
    let mut words = args.iter().filter(|a| !a.starts_with("--")).map(String::as_str);
    let name = words.next();
    let results = match name {
        Some("append-scan") => append_scan()?,
        Some("append-write") => append_write()?,
        Some("split-codec") => split_codec()?,
        Some("formats") => formats::run(&words.collect::<Vec<_>>())?,
        Some("merge") => merge::run(&words.collect::<Vec<_>>())?,
        Some("pk-write") => pk_write::run(&words.collect::<Vec<_>>())?,
        Some("build-cost") => return build_cost(json),
        Some("race") => return race(),
        other => {
            return Err(format!(
                "unknown benchmark {other:?}: append-scan, append-write, formats, merge, pk-write, split-codec, race, build-cost"
            ));
        }
    };
    if json {
        println!("{results:#}");
    }
    Ok(())
}

fn directory() -> Result<PathBuf, String> {
    let dir = root().join("target").join("bench");
    std::fs::create_dir_all(dir.join("warehouse").join("default.db")).map_err(|e| e.to_string())?;
    Ok(dir)
}

fn binary() -> Result<PathBuf, String> {
    process::run(cargo().args(["build", "--release", "--locked", "-p", "paimon-bench"]))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(target.join("release").join("paimon-bench"))
}

/// Python with the peer, in a virtual environment below `target`; `None` with a message when that is not possible.
fn peer() -> Option<PathBuf> {
    let venv = root().join("target").join("bench-venv");
    let python = venv.join("bin").join("python");
    if !python.exists() {
        if !installed("python3", "--version") {
            println!("bench: no python3, the peer ({PEER}) is not measured");
            return None;
        }
        let made = process::run(Command::new("python3").args(["-m", "venv"]).arg(&venv)).and_then(|()| {
            process::run(Command::new(&python).args(["-m", "pip", "install", "-q", PEER, "pyarrow"]))
        });
        if let Err(message) = made {
            println!("bench: the peer is not measured: {message}");
            return None;
        }
    }
    Some(python)
}

fn append_scan() -> Result<Value, String> {
    let (dir, bin, python) = (directory()?, binary()?, peer());
    let database = dir.join("warehouse").join("default.db");
    process::run(
        Command::new(&bin)
            .arg("make-scan-tables")
            .arg(&database)
            .arg(SCAN_ROWS),
    )?;
    let mut results = BTreeMap::new();
    for (table, threads) in [("one", "1"), ("one", "2"), ("eight", "2")] {
        let location = database.join(table);
        let sample = |what: &'static str| {
            let (bin, location) = (bin.clone(), location.clone());
            Box::new(move || {
                let mut command = Command::new(&bin);
                command.arg(what).arg(&location).arg(threads);
                Ok(command)
            })
        };
        let mut contestants = vec![
            Contestant {
                name: "ours",
                command: sample("scan"),
            },
            Contestant {
                name: "ours, a consumer for each thread",
                command: sample("scan-streams"),
            },
            Contestant {
                name: "ours, in order",
                command: sample("scan-in-order"),
            },
            Contestant {
                name: "floor (parquet crate)",
                command: sample("scan-floor"),
            },
        ];
        if let Some(python) = &python {
            let (python, warehouse) = (python.clone(), dir.join("warehouse"));
            let script = root().join("xtask").join("peer").join("scan.py");
            contestants.push(Contestant {
                name: "peer (pypaimon-rust)",
                command: Box::new(move || {
                    let mut command = Command::new(&python);
                    command
                        .arg(&script)
                        .arg(&warehouse)
                        .arg(format!("default.{table}"));
                    Ok(command)
                }),
            });
        }
        println!("append-scan, 10 M rows x 7 columns, {table} file(s), {threads} decoding thread(s)");
        results.insert(format!("{table}-{threads}"), race_in_turn(&contestants)?);
    }
    Ok(json!(results))
}

fn append_write() -> Result<Value, String> {
    let (dir, bin, python) = (directory()?, binary()?, peer());
    let input = dir.join("write-input.arrow");
    if !input.exists() {
        process::run(
            Command::new(&bin)
                .arg("make-write-input")
                .arg(&input)
                .arg(WRITE_ROWS),
        )?;
    }
    let warehouse = dir.join("warehouse");
    let mut results = BTreeMap::new();
    for buckets in ["1", "16"] {
        let fresh = {
            let (bin, warehouse) = (bin.clone(), warehouse.clone());
            move |name: &str| -> Result<PathBuf, String> {
                let location = warehouse.join("default.db").join(name);
                if location.exists() {
                    std::fs::remove_dir_all(&location).map_err(|e| e.to_string())?;
                }
                let made = Command::new(&bin)
                    .arg("make-write-table")
                    .arg(&location)
                    .arg(buckets)
                    .status();
                match made {
                    Ok(status) if status.success() => Ok(location),
                    other => Err(format!("the table for writing could not be made: {other:?}")),
                }
            }
        };
        let ours = {
            let (bin, input, fresh) = (bin.clone(), input.clone(), fresh.clone());
            Box::new(move || {
                let location = fresh("write_ours")?;
                let mut command = Command::new(&bin);
                command.arg("write").arg(&input).arg(location).arg(WRITE_REPEAT);
                Ok(command)
            })
        };
        let mut contestants = vec![Contestant {
            name: "ours",
            command: ours,
        }];
        if let Some(python) = &python {
            let (python, warehouse, input) = (python.clone(), warehouse.clone(), input.clone());
            let script = root().join("xtask").join("peer").join("write.py");
            contestants.push(Contestant {
                name: "peer (pypaimon-rust)",
                command: Box::new(move || {
                    fresh("write_peer")?;
                    let mut command = Command::new(&python);
                    command
                        .arg(&script)
                        .arg(&warehouse)
                        .args(["default.write_peer"])
                        .arg(&input)
                        .arg(WRITE_REPEAT);
                    Ok(command)
                }),
            });
        }
        println!("append-write, 4 M rows x 7 columns, {buckets} bucket(s)");
        results.insert(buckets.to_owned(), race_in_turn(&contestants)?);
    }
    Ok(json!(results))
}

/// 100 000 file metas in 100 splits, encoded and decoded in our own form and in Java's, and by Java itself.
fn split_codec() -> Result<Value, String> {
    let (dir, bin) = (directory()?, binary()?.with_file_name("paimon-bench-codec"));
    let parse = |text: String| -> Result<Value, String> {
        let line = text.lines().last().unwrap_or_default();
        serde_json::from_str(line).map_err(|e| format!("a sample is no JSON: {e}"))
    };
    let mut results = serde_json::Map::new();
    for codec in ["native", "java"] {
        let sample = output(Command::new(&bin).args(["run", codec]))?;
        results.insert(codec.to_owned(), parse(sample)?);
    }
    match crate::java::missing() {
        Some(why) => println!("bench: Java Paimon is not measured: {why}"),
        None => {
            let input = dir.join("split-codec.bin");
            process::run(Command::new(&bin).arg("make-input").arg(&input))?;
            let sample = output(crate::java::command(None).arg("split-codec").arg(&input))?;
            results.insert("java-paimon".to_owned(), parse(sample)?);
        }
    }
    println!("split-codec, 100 splits of 1000 file metas");
    for (name, sample) in &results {
        for what in ["encode", "decode"] {
            let seconds = sample[what]["seconds"].as_f64().unwrap_or(f64::NAN);
            let rate = |key: &str| sample[key].as_f64().unwrap_or(f64::NAN) / seconds / 1e6;
            let allocations = sample[what]["allocations_per_file"].as_f64();
            println!(
                "  {name:<12} {what}  {seconds:>7.3} s  {:>6.2} M files/s  {:>7.0} MB/s{}",
                rate("files"),
                rate("bytes"),
                allocations.map_or(String::new(), |n| format!("  {n:.2} allocations a file"))
            );
        }
    }
    Ok(Value::Object(results))
}

/// Runs the contestants in turn, prints medians and how many times faster ours is.
fn race_in_turn(contestants: &[Contestant]) -> Result<Value, String> {
    let measured = measure(contestants, ROUNDS, None)?;
    same_rows(contestants, &measured)?;
    let mut report = serde_json::Map::new();
    for (contestant, found) in contestants.iter().zip(&measured) {
        let (seconds, ratio) = (median(&found.seconds), found.times_first);
        println!(
            "  {:<24} {seconds:>8.3} s   peak {:>6.1} MiB   ours is {ratio:.2} x as fast",
            contestant.name,
            found.peak_kib as f64 / 1024.0
        );
        report.insert(
            contestant.name.to_owned(),
            json!({ "seconds": seconds, "peak_kib": found.peak_kib, "ours_faster": ratio }),
        );
    }
    Ok(Value::Object(report))
}

/// Contestants that did the same thing saw the same number of rows.
fn same_rows(contestants: &[Contestant], measured: &[Measured]) -> TaskResult {
    let rows = measured.first().map_or(0, |first| first.rows);
    let other = contestants.iter().zip(measured).find(|(_, m)| m.rows != rows);
    match other {
        None => Ok(()),
        Some((contestant, m)) => Err(format!("{} saw {} rows, another {rows}", contestant.name, m.rows)),
    }
}

/// What an engine pays for `paimon-data`: a clean release build with Parquet on the local disk.
#[allow(clippy::disallowed_methods)]
fn build_cost(json: bool) -> TaskResult {
    let target = root().join("target").join("build-cost");
    if target.exists() {
        std::fs::remove_dir_all(&target).map_err(|e| e.to_string())?;
    }
    let args = [
        "-p",
        "paimon-data",
        "--no-default-features",
        "--features",
        "parquet",
        "--locked",
    ];
    let tree = output(cargo().arg("tree").args(args).args([
        "-e",
        "normal,build",
        "--prefix",
        "none",
        "--format",
        "{p}",
    ]))?;
    let crates: std::collections::BTreeSet<&str> = tree
        .lines()
        .map(|l| l.trim_end_matches(" (*)").trim())
        .filter(|l| !l.is_empty())
        .collect();
    let start = std::time::Instant::now();
    process::run(
        cargo()
            .args(["build", "--release"])
            .args(args)
            .env("CARGO_TARGET_DIR", &target),
    )?;
    let seconds = start.elapsed().as_secs_f64();
    std::fs::remove_dir_all(&target).map_err(|e| e.to_string())?;
    println!(
        "build-cost: {seconds:.0} s, {} crates (ours included)",
        crates.len()
    );
    if json {
        println!("{}", json!({ "seconds": seconds, "crates": crates.len() }));
    }
    Ok(())
}

/// Eight writers, 25 commits each, five times, on the local disk and on an S3-compatible server.
fn race() -> TaskResult {
    crate::race::run()
}
