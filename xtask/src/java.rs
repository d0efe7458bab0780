// SPDX-License-Identifier: Apache-2.0

//! The Java program of `xtask/fixtures-gen`, the judge of what tables mean.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

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

/// The program, running: each question is one of its commands, without the start of a JVM for each.
pub(crate) struct Judge {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Judge {
    /// Starts it, with another bundle when one is given.
    pub(crate) fn start(jar: Option<&str>) -> Result<Self, String> {
        let mut child = command(jar)
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("Java Paimon cannot be started: {e}"))?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(questions), Some(answers)) => Ok(Judge {
                child,
                questions,
                answers: BufReader::new(answers),
            }),
            _ => Err("Java Paimon has no pipes".to_owned()),
        }
    }

    /// Runs a command and returns what it printed.
    pub(crate) fn ask(&mut self, words: &[&str]) -> Result<String, String> {
        let question = serde_json::Value::from(words.to_vec()).to_string();
        let broken = |e: std::io::Error| format!("Java Paimon has gone: {e}");
        writeln!(self.questions, "{question}").map_err(broken)?;
        let mut printed = String::new();
        loop {
            let start = printed.len();
            if self.answers.read_line(&mut printed).map_err(broken)? == 0 {
                return Err(format!("Java Paimon ended at {question}"));
            }
            let line = printed.get(start..).unwrap_or_default().trim_end();
            if let Some(error) = line.strip_prefix("#error ") {
                return Err(format!("Java fails at {question}: {error}"));
            }
            if line == "#ok" {
                printed.truncate(start);
                return Ok(printed);
            }
        }
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        // It ends with its input; nothing is lost when it cannot be ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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
