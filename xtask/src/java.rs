// SPDX-License-Identifier: Apache-2.0

//! The Java program of `xtask/fixtures-gen`, the judge of what tables mean.

use std::path::PathBuf;
use std::process::Command;

use crate::process::{installed, root};

/// What is missing to run Java Paimon, `None` when all is there.
pub(crate) fn missing() -> Option<String> {
    let absent: Vec<&str> = [("java", "-version"), ("mvn", "--version"), ("sh", "-c :")]
        .iter()
        .filter(|(program, argument)| match *program {
            "sh" => !Command::new("sh")
                .args(["-c", ":"])
                .status()
                .is_ok_and(|s| s.success()),
            _ => !installed(program, argument),
        })
        .map(|(program, _)| *program)
        .collect();
    if !absent.is_empty() {
        return Some(format!("needs {}", absent.join(" and ")));
    }
    // Building it downloads Java Paimon the first time.
    match Command::new(program()).output() {
        Ok(out) if String::from_utf8_lossy(&out.stderr).contains("usage") || out.status.code() == Some(2) => {
            None
        }
        Ok(out) => {
            let text = String::from_utf8_lossy(&out.stderr).into_owned();
            let last = text
                .lines()
                .find(|l| l.contains("ERROR"))
                .or(text.lines().last())
                .unwrap_or_default()
                .to_owned();
            Some(format!("xtask/fixtures-gen cannot be built: {last}"))
        }
        Err(err) => Some(format!("xtask/fixtures-gen cannot be run: {err}")),
    }
}

fn program() -> PathBuf {
    root().join("xtask").join("fixtures-gen").join("run")
}

/// The program with another bundle when one is given.
pub(crate) fn command(jar: Option<&str>) -> Command {
    let mut command = Command::new(program());
    if let Some(jar) = jar {
        command.args(["--paimon-jar", jar]);
    }
    command
}

/// Takes `--name VALUE` out of the arguments.
pub(crate) fn option<'a>(args: &'a [String], name: &str) -> Result<Option<&'a str>, String> {
    match args.iter().position(|a| a == name) {
        None => Ok(None),
        Some(at) => match args.get(at + 1) {
            Some(value) => Ok(Some(value)),
            None => Err(format!("{name} needs a value")),
        },
    }
}
