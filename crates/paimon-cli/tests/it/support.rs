// SPDX-License-Identifier: Apache-2.0

//! Running the binary.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use paimon_testkit::{fixture, sorted};
use serde_json::Value;
use tempfile::TempDir;

/// A directory in which commands run.
pub(crate) struct Place {
    dir: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Place {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_paimon"))
            .args(arguments)
            .current_dir(self.dir.path())
            .output()
            .unwrap()
    }

    /// Standard output of a command that must succeed without a word on standard error.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        String::from_utf8(self.ok_bytes(arguments)).unwrap()
    }

    pub(crate) fn ok_bytes(&self, arguments: &[&str]) -> Vec<u8> {
        let output = self.run(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "paimon {arguments:?}: {stderr}");
        assert_eq!(stderr, "", "paimon {arguments:?}");
        output.stdout
    }

    /// The one line on standard error of a command that must fail with status 1.
    pub(crate) fn error(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "paimon {arguments:?}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "paimon {arguments:?}: {stderr}");
        assert!(stderr.starts_with("error: "), "paimon {arguments:?}: {stderr}");
        stderr
    }

    /// Fails unless the command is refused as wrong usage (status 2); gives its message.
    pub(crate) fn usage_error(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "paimon {arguments:?}: {stderr}");
        stderr
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.ok(arguments)).unwrap()
    }

    pub(crate) fn json_lines(&self, arguments: &[&str]) -> Vec<Value> {
        self.ok(arguments)
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The rows of `scan … --output jsonl`, sorted.
    pub(crate) fn rows(&self, arguments: &[&str]) -> Vec<String> {
        let all = [&["scan"], arguments, &["--output", "jsonl"]].concat();
        sorted(self.ok(&all).lines().map(str::to_owned).collect())
    }

    /// A table with the rows of a CSV text.
    pub(crate) fn table(&self, name: &str, columns: &[&str], more: &[&str], csv: &str) {
        let mut arguments = vec!["create", name];
        columns
            .iter()
            .for_each(|column| arguments.extend(["--column", column]));
        arguments.extend(more);
        self.ok(&arguments);
        self.add(name, csv);
    }

    /// Ingests a CSV text.
    pub(crate) fn add(&self, table: &str, csv: &str) {
        self.file("rows.csv", csv);
        self.ok(&["ingest", table, "rows.csv"]);
    }
}

/// The directory of a table of `testdata/java`.
pub(crate) fn java(path: &str) -> String {
    fixture(path).table_dir().display().to_string()
}

/// The only file of a directory whose name begins with `prefix`, or the first of them.
pub(crate) fn first_file(dir: &Path, prefix: &str) -> PathBuf {
    let mut names: Vec<PathBuf> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(prefix))
        .collect();
    names.sort_unstable();
    names
        .into_iter()
        .next()
        .unwrap_or_else(|| panic!("no {prefix}* in {}", dir.display()))
}
