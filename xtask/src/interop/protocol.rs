// SPDX-License-Identifier: Apache-2.0

//! Work crosses over: Java reads splits that we planned and commits messages that we encoded.

use std::fs;
use std::path::PathBuf;

use super::random::batches;
use super::rows::same_rows;
use super::{Interop, Selector, read, text};
use crate::process::root;

/// Version at which `paimon ingest --messages` writes.
const MESSAGE_VERSION: &str = "11";

impl Interop {
    pub(super) fn protocol(&mut self, seed: &str) -> Result<String, String> {
        let splits = self.java_reads_splits()?;
        let messages = self.java_commits_messages(seed)?;
        Ok(format!(
            "Java read {splits} splits that we planned and committed {messages} lists of messages that we wrote"
        ))
    }

    fn java_reads_splits(&mut self) -> Result<usize, String> {
        let fixtures = root().join("testdata").join("java");
        let mut splits = 0;
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
        Ok(splits)
    }

    /// We write the files, Java commits them.
    fn java_commits_messages(&mut self, seed: &str) -> Result<usize, String> {
        let mut messages = 0;
        for case in self.random_rows("parquet", seed, "5")?.into_iter().take(5) {
            let (location, encoded) = (case.join("committed-by-java"), self.dir.join("messages.bin"));
            self.create(&location, &case.join("create.json"))?;
            for file in batches(&case) {
                let (table, file) = (text(&location)?, text(&file)?);
                self.paimon(&["ingest", table, file, "--messages", text(&encoded)?])?;
                self.java(&["commit-messages", text(&encoded)?, MESSAGE_VERSION, table])?;
                messages += 1;
            }
            let expected = read(&case.join("expected.jsonl"))?;
            self.both_read(&location, &Selector::latest(), &expected)?;
        }
        Ok(messages)
    }
}
