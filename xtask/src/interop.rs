// SPDX-License-Identifier: Apache-2.0

//! Java reads what we wrote and we read what Java wrote: random tables from a seed, splits and commit messages.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::TaskResult;
use crate::java::{command, missing, option};
use crate::process::{cargo, output, root, run as run_command};

/// Version at which `paimon ingest --messages` writes.
const MESSAGE_VERSION: &str = "11";

/// The task.
pub(crate) fn run(args: &[String]) -> TaskResult {
    if let Some(what) = missing() {
        return Err(format!("interop: {what}"));
    }
    let seed = option(args, "--seed")?.unwrap_or("1").to_owned();
    let tables = option(args, "--tables")?.unwrap_or("20").to_owned();
    let jar = option(args, "--paimon-jar")?.map(str::to_owned);
    // As the tests build it, so that dependencies are not built twice.
    run_command(cargo().args(["test", "--locked", "--workspace", "--no-run", "--quiet"]))?;
    let dir = root().join("target").join("interop");
    if dir.exists() {
        fs::remove_dir_all(&dir).map_err(|e| e.to_string())?;
    }
    fs::create_dir_all(&dir).map_err(|e| e.to_string())?;
    let interop = Interop {
        paimon: root().join("target").join("debug").join("paimon"),
        jar,
        dir,
    };
    let ours = interop.java_reads_ours(&seed, &tables)?;
    let theirs = interop.we_read_java(&seed, &tables)?;
    let (splits, messages) = interop.protocol()?;
    println!(
        "interop: Java read {ours} tables of ours, we read {theirs} selections of Java's, {splits} splits and {messages} commit messages crossed over"
    );
    Ok(())
}

struct Interop {
    paimon: PathBuf,
    jar: Option<String>,
    dir: PathBuf,
}

impl Interop {
    fn java(&self, words: &[&str]) -> Result<String, String> {
        output(command(self.jar.as_deref()).args(words))
    }

    fn paimon(&self, words: &[&str]) -> Result<String, String> {
        output(Command::new(&self.paimon).args(words))
    }

    /// Random definitions and rows of Java become tables of ours, which Java reads back.
    fn java_reads_ours(&self, seed: &str, tables: &str) -> Result<usize, String> {
        let rows = self.dir.join("rows");
        self.java(&["random-rows", seed, tables, text(&rows)?])?;
        let mut count = 0;
        for case in directories(&rows)? {
            let location = case.join("table");
            self.paimon(&[
                "create",
                text(&location)?,
                "--schema",
                text(&case.join("create.json"))?,
            ])?;
            for batch in 0.. {
                let file = case.join(format!("batch-{batch}.jsonl"));
                if !file.exists() {
                    break;
                }
                self.paimon(&["ingest", text(&location)?, text(&file)?])?;
            }
            let expected = fs::read_to_string(case.join("expected.jsonl")).map_err(|e| e.to_string())?;
            let by_java = self.java(&["read", text(&location)?])?;
            same_rows(&by_java, &expected)
                .map_err(|e| format!("Java reads {} otherwise: {e}", location.display()))?;
            let by_us = self.paimon(&["scan", text(&location)?, "--output", "jsonl"])?;
            same_rows(&by_us, &expected)
                .map_err(|e| format!("we read {} otherwise: {e}", location.display()))?;
            count += 1;
        }
        Ok(count)
    }

    /// Random tables of Java are read at every selector that it left rows for.
    fn we_read_java(&self, seed: &str, tables: &str) -> Result<usize, String> {
        let out = self.dir.join("java");
        self.java(&["write-random", text(&out)?, seed, tables])?;
        let mut count = 0;
        for group in directories(&out)? {
            for case in directories(&group)? {
                count += self.check_selectors(&case)?;
            }
        }
        Ok(count)
    }

    fn check_selectors(&self, case: &Path) -> Result<usize, String> {
        let location = case.join("table");
        let mut count = 0;
        for entry in fs::read_dir(case.join("expected")).map_err(|e| format!("{}: {e}", case.display()))? {
            let path = entry.map_err(|e| e.to_string())?.path();
            let name = path
                .file_stem()
                .map(|s| s.to_string_lossy().into_owned())
                .unwrap_or_default();
            let (branch, selector) = match name.split_once('@') {
                Some((branch, selector)) => (Some(branch), selector),
                None => (None, name.as_str()),
            };
            let mut words = vec!["scan", text(&location)?, "--output", "jsonl"];
            branch.iter().for_each(|b| words.extend(["--branch", b]));
            if let Some(id) = selector.strip_prefix("snapshot-") {
                words.extend(["--snapshot-id", id]);
            } else if let Some(tag) = selector.strip_prefix("tag-") {
                words.extend(["--tag", tag]);
            }
            let expected = fs::read_to_string(&path).map_err(|e| e.to_string())?;
            same_rows(&self.paimon(&words)?, &expected)
                .map_err(|e| format!("{} at {name}: {e}", location.display()))?;
            count += 1;
        }
        Ok(count)
    }

    /// Java reads splits that we planned and commits messages that we encoded.
    fn protocol(&self) -> Result<(usize, usize), String> {
        let fixtures = root().join("testdata").join("java");
        let (mut splits, mut messages) = (0, 0);
        for name in ["partition/int", "bucket/int-key", "types/wide", "nested/deep"] {
            let location = fixtures.join(name).join("table");
            if !location.exists() {
                continue;
            }
            let plan = self.dir.join("plan.bin");
            self.paimon(&["plan", text(&location)?, "--codec", "java", "--out", text(&plan)?])?;
            let mut rows = String::new();
            for index in 0.. {
                let file = match index {
                    0 => plan.clone(),
                    n => PathBuf::from(format!("{}.{n}", plan.display())),
                };
                if !file.exists() {
                    break;
                }
                rows.push_str(&self.java(&["read-split", text(&file)?, text(&location)?])?);
                fs::remove_file(&file).map_err(|e| e.to_string())?;
                splits += 1;
            }
            let ours = self.paimon(&["scan", text(&location)?, "--output", "jsonl"])?;
            same_rows(&rows, &ours).map_err(|e| format!("Java reads our splits of {name} otherwise: {e}"))?;
        }
        // We write the files, Java commits them.
        for case in directories(&self.dir.join("rows"))?.into_iter().take(5) {
            let (location, encoded) = (case.join("committed-by-java"), self.dir.join("messages.bin"));
            self.paimon(&[
                "create",
                text(&location)?,
                "--schema",
                text(&case.join("create.json"))?,
            ])?;
            for batch in 0.. {
                let file = case.join(format!("batch-{batch}.jsonl"));
                if !file.exists() {
                    break;
                }
                self.paimon(&[
                    "ingest",
                    text(&location)?,
                    text(&file)?,
                    "--messages",
                    text(&encoded)?,
                ])?;
                self.java(&[
                    "commit-messages",
                    text(&encoded)?,
                    MESSAGE_VERSION,
                    text(&location)?,
                ])?;
                messages += 1;
            }
            let expected = fs::read_to_string(case.join("expected.jsonl")).map_err(|e| e.to_string())?;
            for rows in [
                self.java(&["read", text(&location)?])?,
                self.paimon(&["scan", text(&location)?, "--output", "jsonl"])?,
            ] {
                same_rows(&rows, &expected).map_err(|e| format!("{}: {e}", location.display()))?;
            }
        }
        Ok((splits, messages))
    }
}

/// Rows as multisets of parsed JSON lines.
fn same_rows(found: &str, expected: &str) -> TaskResult {
    let (found, expected) = (rows(found)?, rows(expected)?);
    let differs = |a: &BTreeMap<String, usize>, b: &BTreeMap<String, usize>| {
        a.iter()
            .find(|(row, count)| b.get(*row) != Some(count))
            .map(|(row, _)| row.clone())
    };
    match (differs(&expected, &found), differs(&found, &expected)) {
        (None, None) => Ok(()),
        (missing, surplus) => Err(format!(
            "{} rows, expected {}; missing {}; not expected {}",
            found.values().sum::<usize>(),
            expected.values().sum::<usize>(),
            missing.as_deref().unwrap_or("none"),
            surplus.as_deref().unwrap_or("none")
        )),
    }
}

fn rows(text: &str) -> Result<BTreeMap<String, usize>, String> {
    let mut rows = BTreeMap::new();
    for line in text.split('\n').filter(|l| !l.trim().is_empty()) {
        let value: Value = serde_json::from_str(line).map_err(|e| format!("no JSON line: {e}: {line}"))?;
        *rows.entry(value.to_string()).or_insert(0) += 1;
    }
    Ok(rows)
}

fn directories(parent: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(parent).map_err(|e| format!("{}: {e}", parent.display()))? {
        let path = entry.map_err(|e| e.to_string())?.path();
        if path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn text(path: &Path) -> Result<&str, String> {
    path.to_str()
        .ok_or_else(|| format!("{} is not UTF-8", path.display()))
}
