// SPDX-License-Identifier: Apache-2.0

//! Development tasks. `cargo xtask help` lists them.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod bench;
mod check_deps;
mod ci;
mod fixtures;
mod fuzz;
mod interop;
mod java;
mod process;
mod race;

use std::process::ExitCode;

/// Result of a task; the error is the line that is shown.
type TaskResult = Result<(), String>;

const HELP: &str = "\
cargo xtask TASK

  ci [--skip-tests]      fmt, clippy, check-deps, tests, doc tests, docs, deny, interop: what continuous integration runs
  check-deps             the dependency rules of ARCHITECTURE.md
  fixtures [--only FEATURE/NAME,…] [--paimon-jar FILE] [--out DIR]
                         write testdata/java and testdata/wire with Java Paimon (needs Java and Maven)
  interop [--seed N] [--tables N] [--only features,random,protocol,wire,deletes] [--paimon-jar FILE] [--paimon BINARY]
                         Java reads what we wrote and we read what Java wrote (needs Java and Maven)
  interop --random SEED [--count N] [--from N] [--writer java|ours|both] [--paimon BINARY]
                         random tables with primary keys; what differs is kept in target/interop-differences
  fuzz [--seconds N] [--seeds-only] [TARGET...]
                         the fuzz targets one after the other (needs cargo-fuzz and a nightly compiler); logs in target/fuzz
  bench NAME [--json]    append-scan | append-write | split-codec | race, side by side with the floor and the peer
  bench formats [FORMAT|FAMILY|read|write|select…] [--json]
                         each file format and family of types, beside the bare library and pyarrow or fastavro
  bench merge [CASE…] [--json]
                         tables with a primary key whose files overlap, beside the floor, the peer and DuckDB
  bench build-cost       clean release build of paimon-data: seconds and crates
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (task, rest) = match args.split_first() {
        Some((task, rest)) => (task.as_str(), rest),
        None => ("help", &[] as &[String]),
    };
    let result = match task {
        "ci" => ci::run(rest),
        "check-deps" => check_deps::run(),
        "fixtures" => fixtures::run(rest),
        "interop" => interop::run(rest),
        "fuzz" => fuzz::run(rest),
        "bench" => bench::run(rest),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(())
        }
        other => Err(format!("unknown task '{other}'; `cargo xtask help` lists them")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
