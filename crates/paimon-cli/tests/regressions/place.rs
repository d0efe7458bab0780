// SPDX-License-Identifier: Apache-2.0

//! Running the binary in a directory of its own.

use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;

pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Place(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_paimon"))
            .args(arguments)
            .current_dir(self.0.path())
            .output()
            .unwrap()
    }

    /// Standard output of a command that must succeed.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "paimon {arguments:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Standard error of a command that must fail with this status.
    pub(crate) fn fails(&self, status: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            output.status.code(),
            Some(status),
            "paimon {arguments:?}: {stderr}"
        );
        stderr
    }

    /// Creates a table.
    pub(crate) fn table(&self, name: &str, columns: &[&str], more: &[&str]) {
        let mut arguments = vec!["create", name];
        columns
            .iter()
            .for_each(|column| arguments.extend(["--column", column]));
        arguments.extend(more);
        self.ok(&arguments);
    }

    /// Ingests a text in a file with this extension.
    pub(crate) fn add(&self, table: &str, extension: &str, text: &str, more: &[&str]) {
        let name = format!("rows.{extension}");
        self.file(&name, text);
        self.ok(&[&["ingest", table, &name], more].concat());
    }

    /// The error of ingesting a text; it names the file, and nothing is committed.
    pub(crate) fn refused(&self, table: &str, extension: &str, text: &str, more: &[&str]) -> String {
        let name = format!("bad.{extension}");
        self.file(&name, text);
        let err = self.fails(1, &[&["ingest", table, &name], more].concat());
        assert!(err.contains(&name) || err.contains("--partition"), "{err}");
        err
    }

    /// The rows of `scan … --output jsonl`, sorted.
    pub(crate) fn rows(&self, arguments: &[&str]) -> Vec<String> {
        let text = self.ok(&[&["scan"], arguments, &["--output", "jsonl"]].concat());
        let mut rows: Vec<String> = text.lines().map(str::to_owned).collect();
        rows.sort_unstable();
        rows
    }
}
