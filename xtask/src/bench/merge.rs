// SPDX-License-Identifier: Apache-2.0

//! `bench merge`: reading tables with a primary key whose files overlap, beside the bare decode of the same files, the peer, and
//! DuckDB's `arg_max` over them.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::measure::{Contestant, Measured, measure, median};
use super::{binary, directory, peer};
use crate::process::{self, root};

const THREADS: &str = "2";
const ROUNDS: usize = 3;
const DUCKDB: &str = "duckdb";

/// A table to read.
struct Case {
    name: &'static str,
    /// As `paimon-bench make-merge-table` takes them.
    key: &'static str,
    order: &'static str,
    runs: &'static str,
    columns: &'static str,
    rows: &'static str,
    engine: &'static str,
    buckets: &'static str,
}

const BASE: Case = Case {
    name: "unique",
    key: "long",
    order: "unique",
    runs: "16",
    columns: "6",
    rows: "4000000",
    engine: "deduplicate",
    buckets: "1",
};

const CASES: [Case; 17] = [
    BASE,
    Case {
        name: "clustered",
        order: "clustered",
        ..BASE
    },
    Case {
        name: "updated",
        order: "updated",
        ..BASE
    },
    Case {
        name: "text",
        key: "text",
        rows: "2000000",
        ..BASE
    },
    Case {
        name: "three",
        key: "three",
        rows: "2000000",
        ..BASE
    },
    Case {
        name: "runs-2",
        runs: "2",
        ..BASE
    },
    Case {
        name: "runs-64",
        runs: "64",
        ..BASE
    },
    Case {
        name: "columns-40",
        columns: "40",
        rows: "1000000",
        ..BASE
    },
    Case {
        name: "columns-40-updated",
        order: "updated",
        columns: "40",
        rows: "1000000",
        ..BASE
    },
    Case {
        name: "columns-40-repeated",
        order: "repeated",
        columns: "40",
        rows: "1600000",
        ..BASE
    },
    Case {
        name: "columns-40-shuffled",
        order: "shuffled",
        columns: "40",
        rows: "1600000",
        ..BASE
    },
    Case {
        name: "columns-40-mixed",
        order: "mixed",
        columns: "40",
        rows: "1600000",
        ..BASE
    },
    Case {
        name: "columns-40-runs-64",
        columns: "40",
        runs: "64",
        rows: "1920000",
        ..BASE
    },
    Case {
        name: "partial-update",
        order: "updated",
        engine: "partial-update",
        rows: "2000000",
        ..BASE
    },
    Case {
        name: "aggregation",
        order: "updated",
        engine: "aggregation",
        rows: "2000000",
        ..BASE
    },
    Case {
        name: "aggregation-unique",
        engine: "aggregation",
        rows: "2000000",
        ..BASE
    },
    Case {
        name: "duckdb",
        order: "updated",
        runs: "5",
        rows: "10000000",
        buckets: "2",
        ..BASE
    },
];

impl Case {
    fn table(&self) -> String {
        format!("merge_{}", self.name.replace('-', "_"))
    }
}

/// The task; `only` are parts of names of cases.
pub(super) fn run(only: &[&str]) -> Result<Value, String> {
    let (dir, bin, python) = (directory()?, binary()?, peer());
    let duckdb = python.as_deref().filter(|python| has_duckdb(python));
    let warehouse = dir.join("warehouse");
    let mut report = serde_json::Map::new();
    println!(
        "merge, {THREADS} decoding threads: seconds, peak memory, how many times as fast as the others ours is"
    );
    let wanted = |case: &&Case| only.is_empty() || only.iter().any(|o| case.name.contains(o));
    for case in CASES.iter().filter(wanted) {
        let location = warehouse.join("default.db").join(case.table());
        make(&bin, &location, case)?;
        let sample = |what: &str| {
            let mut command = Command::new(&bin);
            command.arg(what).arg(&location).arg(THREADS);
            command
        };
        let mut all = vec![
            contestant("ours", &sample("merge")),
            contestant("floor (parquet crate)", &sample("merge-floor")),
        ];
        if let Some(python) = &python {
            let mut command = script(python, "scan.py");
            command.arg(&warehouse).arg(format!("default.{}", case.table()));
            // Not every table is one for the peer.
            if command.output().is_ok_and(|out| out.status.success()) {
                all.push(contestant("peer (pypaimon-rust)", &command));
            } else {
                println!("  {}: the peer does not read the table", case.name);
            }
        }
        if let Some(python) = duckdb.filter(|_| case.name == "duckdb") {
            let mut command = script(python, "duckdb_merge.py");
            command.arg(&location).arg("k").arg(THREADS);
            all.push(contestant("DuckDB", &command));
        }
        let measured = measure(&all, ROUNDS, None)?;
        same_merged_rows(&all, &measured)?;
        report.insert(case.name.to_owned(), print(case, &all, &measured));
    }
    Ok(Value::Object(report))
}

/// Makes the table of a case in a directory beside its own, so that a run that is stopped leaves none that is not whole.
fn make(bin: &Path, location: &Path, case: &Case) -> Result<(), String> {
    if location.exists() {
        return Ok(());
    }
    let part = location.with_extension("part");
    if part.exists() {
        std::fs::remove_dir_all(&part).map_err(|e| e.to_string())?;
    }
    let shape = [
        case.key,
        case.order,
        case.runs,
        case.columns,
        case.rows,
        case.engine,
        case.buckets,
    ];
    process::run(Command::new(bin).arg("make-merge-table").arg(&part).args(shape))?;
    std::fs::rename(&part, location).map_err(|e| e.to_string())
}

fn script(python: &Path, name: &str) -> Command {
    let mut command = Command::new(python);
    command.arg(root().join("xtask").join("peer").join(name));
    command
}

/// Whether DuckDB is there or can be put beside the peer.
fn has_duckdb(python: &Path) -> bool {
    let imports = |python: &Path| {
        let out = Command::new(python)
            .args(["-c", "import duckdb, pyarrow"])
            .output();
        out.is_ok_and(|out| out.status.success())
    };
    let install = ["-m", "pip", "install", "-q", DUCKDB];
    imports(python) || process::run(Command::new(python).args(install)).is_ok() && imports(python)
}

fn contestant(name: &'static str, command: &Command) -> Contestant {
    let program = PathBuf::from(command.get_program());
    let words: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    Contestant {
        name,
        command: Box::new(move || {
            let mut command = Command::new(&program);
            command.args(&words);
            Ok(command)
        }),
    }
}

/// All but the floor, which merges nothing, saw the same number of rows.
fn same_merged_rows(contestants: &[Contestant], measured: &[Measured]) -> Result<(), String> {
    let of = |at: usize| Some((contestants.get(at)?, measured.get(at)?));
    let Some((ours, rows)) = of(0) else { return Ok(()) };
    for (other, found) in (2..contestants.len()).filter_map(of) {
        if rows.rows != found.rows {
            return Err(format!(
                "{} saw {} rows, {} {}",
                other.name, found.rows, ours.name, rows.rows
            ));
        }
    }
    Ok(())
}

fn print(case: &Case, contestants: &[Contestant], measured: &[Measured]) -> Value {
    let mut report = serde_json::Map::new();
    let mut line = format!("  {:<19}", case.name);
    for (at, (contestant, found)) in contestants.iter().zip(measured).enumerate() {
        let (seconds, ratio) = (median(&found.seconds), found.times_first);
        line += &match at {
            0 => format!(
                " {} of {} rows {seconds:>6.3} s, peak {:>5.0} MiB",
                found.rows,
                case.rows,
                found.peak_kib as f64 / 1024.0
            ),
            _ => format!("   {} {ratio:.2} x", contestant.name),
        };
        report.insert(
            contestant.name.to_owned(),
            json!({
                "seconds": seconds,
                "rows": found.rows,
                "peak_kib": found.peak_kib,
                "ours_faster": ratio,
            }),
        );
    }
    println!("{line}");
    Value::Object(report)
}
