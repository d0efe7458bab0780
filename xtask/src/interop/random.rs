// SPDX-License-Identifier: Apache-2.0

//! Random tables from a seed, both ways.

use std::path::{Path, PathBuf};

use super::{FORMATS, Interop, Selector, directories, read, text};

impl Interop {
    pub(super) fn random(&mut self, seed: &str, tables: &str) -> Result<String, String> {
        let (mut ours, mut theirs) = (0, 0);
        for format in FORMATS {
            ours += self.java_reads_ours(format, seed, tables)?;
            theirs += self.we_read_java(format, seed, tables)?;
        }
        Ok(format!(
            "random tables: Java read {ours} of ours, we read {theirs} selections of Java's"
        ))
    }

    /// Random definitions and rows for tables in a format, made once.
    pub(super) fn random_rows(
        &mut self,
        format: &str,
        seed: &str,
        tables: &str,
    ) -> Result<Vec<PathBuf>, String> {
        let rows = self.dir.join(format!("rows-{format}"));
        if !rows.exists() {
            self.java(&["random-rows", seed, tables, text(&rows)?, "--format", format])?;
        }
        directories(&rows)
    }

    /// Random definitions and rows of Java become tables of ours, which Java reads back.
    fn java_reads_ours(&mut self, format: &str, seed: &str, tables: &str) -> Result<usize, String> {
        let cases = self.random_rows(format, seed, tables)?;
        for case in &cases {
            let location = case.join("table");
            self.create(&location, &case.join("create.json"))?;
            for file in batches(case) {
                self.paimon(&["ingest", text(&location)?, text(&file)?])?;
            }
            let expected = read(&case.join("expected.jsonl"))?;
            self.both_read(&location, &Selector::latest(), &expected)?;
        }
        Ok(cases.len())
    }

    pub(super) fn create(&self, location: &Path, schema: &Path) -> Result<String, String> {
        self.paimon(&["create", text(location)?, "--schema", text(schema)?])
    }

    /// Random tables of Java are read at every selector that it left rows for.
    fn we_read_java(&mut self, format: &str, seed: &str, tables: &str) -> Result<usize, String> {
        let out = self.dir.join(format!("java-{format}"));
        self.java(&["write-random", text(&out)?, seed, tables, "--format", format])?;
        let mut count = 0;
        for group in directories(&out)? {
            for case in directories(&group)? {
                for (selector, expected) in Selector::all(&case.join("expected"))? {
                    self.we_read(&case.join("table"), &selector, &expected)?;
                    count += 1;
                }
            }
        }
        Ok(count)
    }
}

/// Rows of each commit.
pub(super) fn batches(case: &Path) -> impl Iterator<Item = PathBuf> {
    (0..)
        .map(|batch| case.join(format!("batch-{batch}.jsonl")))
        .take_while(|file| file.exists())
}
