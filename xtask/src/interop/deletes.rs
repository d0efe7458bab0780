// SPDX-License-Identifier: Apache-2.0

//! Deleted rows: Java reads tables whose index files and index manifests we wrote, and random files of deletion vectors.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::{Interop, Selector, text};
use crate::TaskResult;
use crate::process::output;

/// Random files, and vectors in each.
const FILES: u64 = 6;
const VECTORS: &str = "12";

impl Interop {
    pub(super) fn deletes(&mut self, seed: &str) -> Result<String, String> {
        let mut states = 0;
        for wide in [false, true] {
            for partitioned in [false, true] {
                states += self.deleted_rows(wide, partitioned)?;
            }
        }
        let seed: u64 = seed.parse().map_err(|e| format!("--seed: {e}"))?;
        let mut vectors = 0;
        for file in 0..FILES {
            vectors += self.random_vectors(seed * FILES + file)?;
        }
        Ok(format!(
            "Java read {states} states of tables whose rows we deleted, and {vectors} random deletion vectors of ours"
        ))
    }

    /// Rows by batch and partition, deleted by their place in their file; more rows, more deletions.
    fn deleted_rows(&mut self, wide: bool, partitioned: bool) -> Result<usize, String> {
        let name = format!("deletes-{wide}-{partitioned}");
        let location = self.dir.join(&name);
        let (location, rows) = (
            text(&location)?.to_owned(),
            self.dir.join(format!("{name}.jsonl")),
        );
        let wide = format!("deletion-vectors.bitmap64={wide}");
        let mut words = vec!["create", &location, "--column", "id INT", "--column", "p STRING"];
        words.extend(["-o", "deletion-vectors.enabled=true", "-o", &wide]);
        if partitioned {
            words.extend(["--partition-by", "p"]);
        }
        self.paimon(&words)?;
        // The rows of each file in order; deleted ones are NULL.
        let mut files: Vec<Vec<Value>> = Vec::new();
        let (mut states, mut next) = (0, 0);
        for (count, deletions) in [(300, vec![]), (40, vec![(7, 3)]), (1, vec![(5, 0), (2, 1)])] {
            let mut written: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
            let mut lines = String::new();
            for id in next..next + count {
                let p = if partitioned { ["a", "b"][id % 2] } else { "a" };
                let row = json!({ "id": id, "p": p });
                writeln!(lines, "{row}").map_err(|e| e.to_string())?;
                written.entry(p).or_default().push(row);
            }
            next += count;
            files.extend(written.into_values());
            fs::write(&rows, lines).map_err(|e| e.to_string())?;
            self.paimon(&["ingest", &location, text(&rows)?])?;
            for (step, first) in deletions {
                self.example("delete_rows", &[&location, &step.to_string(), &first.to_string()])?;
                for file in &mut files {
                    for row in file.iter_mut().skip(first).step_by(step) {
                        *row = Value::Null;
                    }
                }
                let left = files.iter().flatten().filter(|row| !row.is_null());
                let expected: String = left.map(|row| format!("{row}\n")).collect();
                self.both_read(location.as_ref(), &Selector::latest(), &expected)?;
                states += 1;
            }
        }
        Ok(states)
    }

    /// Java reads the file as we do and would write the same bytes.
    fn random_vectors(&mut self, seed: u64) -> Result<usize, String> {
        let file = self.dir.join("vectors.bin");
        self.example("random_vectors", &[&seed.to_string(), VECTORS, text(&file)?])?;
        let by_java = self.java(&["deletion-vectors", text(&file)?])?;
        let mut theirs = Vec::new();
        for line in by_java.lines() {
            let mut vector: Value =
                serde_json::from_str(line).map_err(|e| format!("no JSON: {e}: {line}"))?;
            let again = vector.as_object_mut().and_then(|object| object.remove("again"));
            if again != Some(Value::Bool(true)) {
                return Err(format!(
                    "Java writes other bytes for the vector of seed {seed} that it reads as {vector}"
                ));
            }
            theirs.push(vector);
        }
        let ours: Vec<Value> =
            serde_json::from_str(&self.paimon(&["decode", "deletion-vectors", text(&file)?])?)
                .map_err(|e| format!("no JSON: {e}"))?;
        match ours == theirs {
            true => Ok(ours.len()),
            false => Err(format!(
                "Java reads the vectors of seed {seed} otherwise: {by_java}"
            )),
        }
    }

    /// An example program, which is built beside the command line.
    fn example(&self, name: &str, words: &[&str]) -> TaskResult {
        let beside = self.paimon.parent().map(|dir| dir.join("examples").join(name));
        let program: PathBuf = beside.filter(|path| path.exists()).ok_or_else(|| {
            format!(
                "no example {name} beside {}: build it with cargo build --examples",
                self.paimon.display()
            )
        })?;
        output(Command::new(program).args(words)).map(drop)
    }
}
