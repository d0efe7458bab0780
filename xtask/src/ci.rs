// SPDX-License-Identifier: Apache-2.0

//! What continuous integration runs, in the order in which it fails fastest.

use crate::TaskResult;
use crate::process::{self, cargo, installed};
use crate::{check_deps, interop, java};

/// Runs all checks; says plainly what it skipped.
fn run_all(skip_tests: bool) -> TaskResult {
    let mut skipped = Vec::new();
    process::run(cargo().args(["fmt", "--all", "--check"]))?;
    check_deps::run()?;
    process::run(cargo().args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--locked",
        "--",
        "-D",
        "warnings",
    ]))?;
    if skip_tests {
        skipped.push("tests and doc tests (--skip-tests: the caller ran them)".to_owned());
    } else {
        process::run(cargo().args(["test", "--workspace", "--locked"]))?;
    }
    process::run(
        cargo()
            .args([
                "doc",
                "--workspace",
                "--no-deps",
                "--locked",
                "--exclude",
                "xtask",
            ])
            .env("RUSTDOCFLAGS", "-D warnings"),
    )?;
    if installed("cargo-deny", "--version") {
        process::run(cargo().args(["deny", "--all-features", "check", "licenses", "bans", "sources"]))?;
    } else {
        skipped.push("cargo deny (not installed: cargo install cargo-deny)".to_owned());
    }
    match java::missing() {
        None => interop::run(&["--tables".to_owned(), "12".to_owned()])?,
        Some(what) => skipped.push(format!("interop with Java Paimon ({what})")),
    }
    println!("\nci: all checks passed");
    for what in skipped {
        println!("ci: SKIPPED {what}");
    }
    Ok(())
}

/// The task.
pub(crate) fn run(args: &[String]) -> TaskResult {
    match args {
        [] => run_all(false),
        [flag] if flag == "--skip-tests" => run_all(true),
        other => Err(format!("ci knows only --skip-tests, found {other:?}")),
    }
}
