// SPDX-License-Identifier: Apache-2.0

//! Java writes `testdata/java` and `testdata/wire`.

use std::path::PathBuf;

use crate::TaskResult;
use crate::java::{command, missing, option};
use crate::process::{output, root, run as run_command};

/// The task.
pub(crate) fn run(args: &[String]) -> TaskResult {
    if let Some(what) = missing() {
        return Err(format!("fixtures: {what}"));
    }
    let out = match option(args, "--out")? {
        Some(dir) => PathBuf::from(dir),
        None => root().join("testdata"),
    };
    let jar = option(args, "--paimon-jar")?;
    let only = option(args, "--only")?;
    let mut java = command(jar);
    java.arg("fixtures").arg(out.join("java"));
    if let Some(prefixes) = only {
        java.args(["--only", prefixes]);
    }
    run_command(&mut java)?;
    if only.is_some() {
        return Ok(());
    }
    let version = output(command(jar).arg("version"))?;
    let file = out.join("wire").join(format!("{}.jsonl", version.trim()));
    run_command(command(jar).arg("wire").arg(file))
}
