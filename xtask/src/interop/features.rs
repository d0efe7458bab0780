// SPDX-License-Identifier: Apache-2.0

//! The tables of `testdata/java` once more: Java writes each, we do the same steps, and Java reads both. Rows and
//! metadata (snapshots, statistics, levels, manifests) must be equal.

use std::path::Path;

use serde_json::Value;

use super::rows::{rows, same_lines};
use super::{Interop, Selector, directories, read, text};
use crate::TaskResult;

/// Features whose tables our writer makes too.
const FEATURES: &str =
    "basic/,partition/,bucket/,types/,nested/,history/,stats/,files/,evolution/,formats/parquet-";

/// Tables whose metadata are not compared, and why; rows are.
const OTHER_METADATA: [(&str, &str); 1] = [(
    "files/rolled-by-size",
    "the size of a file is looked at after 16 384 rows, Java looks after 1 000",
)];

impl Interop {
    pub(super) fn features(&mut self) -> Result<String, String> {
        let out = self.dir.join("features");
        self.java(&["fixtures", text(&out)?, "--only", FEATURES, "--steps"])?;
        let (mut tables, mut selections, mut wrong) = (0, 0, Vec::new());
        for feature in directories(&out)? {
            for case in directories(&feature)? {
                match self.feature(&case) {
                    Ok(selected) => selections += selected,
                    Err(e) => wrong.push(e),
                }
                tables += 1;
            }
        }
        if wrong.is_empty() {
            Ok(format!(
                "{tables} tables of every feature: rows and metadata equal those of Java at {selections} selections, both ways"
            ))
        } else {
            Err(format!(
                "{} of {tables} tables differ:\n{}",
                wrong.len(),
                wrong.join("\n")
            ))
        }
    }

    fn feature(&mut self, case: &Path) -> Result<usize, String> {
        let (theirs, ours) = (case.join("table"), case.join("ours"));
        let steps = case.join("steps");
        self.create(&ours, &steps.join("create.json"))?;
        let list: Vec<Value> =
            serde_json::from_str(&read(&steps.join("steps.json"))?).map_err(|e| e.to_string())?;
        let definition: Value =
            serde_json::from_str(&read(&steps.join("create.json"))?).map_err(|e| e.to_string())?;
        // Java takes the partitions of the rows and not the given ones, unless it is told otherwise.
        let is_static = definition["options"]["dynamic-partition-overwrite"] == "false";
        for (i, step) in list.iter().enumerate() {
            if step["op"] == "write" {
                self.write(&ours, step, is_static, &steps.join(format!("rows-{i}.jsonl")))?;
            } else {
                self.java(&["apply", text(&ours)?, &step.to_string()])?;
            }
        }
        let expected = Selector::all(&case.join("expected"))?;
        let mut branches = vec![None];
        for (selector, rows) in &expected {
            self.we_read(&theirs, selector, rows)?;
            self.both_read(&ours, selector, rows)?;
            if let Some((branch, _)) = selector.0.split_once('@') {
                branches.push(Some(branch));
            }
        }
        branches.dedup();
        for branch in branches {
            self.same_metadata(&theirs, &ours, branch)?;
        }
        Ok(expected.len())
    }

    /// One commit of ours.
    fn write(&self, table: &Path, step: &Value, is_static: bool, rows: &Path) -> Result<String, String> {
        let pairs = |key: &str| -> Vec<String> {
            let object = step[key].as_object().into_iter().flatten();
            object
                .map(|(k, v)| format!("{k}={}", v.as_str().unwrap_or_default()))
                .collect()
        };
        let (options, partition) = (pairs("options"), pairs("overwrite"));
        let mut words = vec!["ingest", text(table)?, text(rows)?];
        words.extend(options.iter().flat_map(|o| ["-o", o]));
        words.extend(step["branch"].as_str().iter().flat_map(|b| ["--branch", b]));
        if !step["overwrite"].is_null() {
            words.push("--overwrite");
            if is_static {
                words.extend(partition.iter().flat_map(|p| ["--partition", p]));
            }
        }
        self.paimon(&words)
    }

    /// What Java says about the files of both tables, apart from names and sizes.
    fn same_metadata(&mut self, theirs: &Path, ours: &Path, branch: Option<&str>) -> TaskResult {
        if let Some((name, why)) = OTHER_METADATA
            .iter()
            .find(|(name, _)| theirs.parent().is_some_and(|p| p.ends_with(name)))
        {
            println!("interop: metadata of {name} are not compared: {why}");
            return Ok(());
        }
        let mut described = Vec::new();
        for table in [theirs, ours] {
            let mut words = vec!["describe", text(table)?];
            words.extend(branch.iter().flat_map(|b| ["--branch", b]));
            described.push(rows(&self.java(&words)?)?);
        }
        same_lines(&described[1], &described[0])
            .map_err(|e| format!("Java describes {} otherwise: {e}", ours.display()))
    }
}
