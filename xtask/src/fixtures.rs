// SPDX-License-Identifier: Apache-2.0

//! Java writes `testdata/java`.

use crate::TaskResult;
use crate::java::{command, missing, option};
use crate::process::{root, run as run_command};

/// The task.
pub(crate) fn run(args: &[String]) -> TaskResult {
    if let Some(what) = missing() {
        return Err(format!("fixtures: {what}"));
    }
    let out = root().join("testdata").join("java");
    let mut java = command(option(args, "--paimon-jar")?);
    java.arg("fixtures").arg(&out);
    if let Some(prefix) = option(args, "--only")? {
        java.args(["--only", prefix]);
    }
    run_command(&mut java)
}
