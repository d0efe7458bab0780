// SPDX-License-Identifier: Apache-2.0

//! Random tables with primary keys from a seed. Java writes them, commit by commit, with schema changes and compactions
//! in between, and leaves the rows of every snapshot; we read them. The other way, we do the same steps and Java reads
//! and compacts what we wrote.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{Interop, Selector, read, text};
use crate::TaskResult;
use crate::process::root;

/// Tables that Java writes before we read them.
const TABLES_AT_ONCE: usize = 10;
/// Rows of each side that a difference prints.
const SHOWN_ROWS: usize = 12;

/// Which tables, and who writes them.
pub(super) struct RandomTables {
    seed: String,
    first: usize,
    count: usize,
    java_writes: bool,
    we_write: bool,
}

impl RandomTables {
    /// `--random SEED [--count N] [--from N] [--writer java|ours|both]`.
    pub(super) fn parse(
        seed: &str,
        option: impl Fn(&str) -> Result<Option<String>, String>,
    ) -> Result<Self, String> {
        let number = |name: &str, default: usize| match option(name)? {
            None => Ok(default),
            Some(text) => text
                .parse()
                .map_err(|_| format!("{name} needs a number, not '{text}'")),
        };
        seed.parse::<i64>()
            .map_err(|_| format!("--random needs a number as seed, not '{seed}'"))?;
        let writer = option("--writer")?.unwrap_or_else(|| "java".to_owned());
        if !["java", "ours", "both"].contains(&writer.as_str()) {
            return Err(format!("--writer is java, ours or both, not '{writer}'"));
        }
        Ok(RandomTables {
            seed: seed.to_owned(),
            first: number("--from", 0)?,
            count: number("--count", 20)?,
            java_writes: writer != "ours",
            we_write: writer != "java",
        })
    }
}

/// What became of the tables.
#[derive(Default)]
struct Tally {
    selections: usize,
    equal: usize,
    /// Written by us and read by both.
    ours: usize,
    /// Java could not write or read its own table.
    java_failed: usize,
    /// Refused by name, with how often.
    refused: BTreeMap<String, usize>,
    different: Vec<String>,
}

/// Why a table is not equal.
enum Problem {
    /// We say that we cannot.
    Refused(String),
    Different(String),
}

impl Interop {
    pub(super) fn random_pk(&mut self, wanted: &RandomTables) -> Result<String, String> {
        let mut tally = Tally::default();
        let out = self.dir.join("pk");
        let end = wanted.first + wanted.count;
        let mut index = wanted.first;
        while index < end {
            let chunk = TABLES_AT_ONCE.min(end - index);
            self.java(&[
                "write-random-pk",
                text(&out)?,
                &wanted.seed,
                &index.to_string(),
                &chunk.to_string(),
            ])?;
            for table in index..index + chunk {
                self.random_table(wanted, &out, table, &mut tally)?;
            }
            index += chunk;
            println!(
                "interop: tables {}..{index} of seed {}: {} equal, {} refused, {} different",
                wanted.first,
                wanted.seed,
                tally.equal,
                tally.refused.values().sum::<usize>(),
                tally.different.len()
            );
        }
        for (reason, count) in &tally.refused {
            println!("interop: refused {count} times: {reason}");
        }
        if !tally.different.is_empty() {
            let list = tally.different.join("\n");
            return Err(format!(
                "{} of {} tables differ:\n{list}",
                tally.different.len(),
                wanted.count
            ));
        }
        Ok(format!(
            "random tables with primary keys: {} equal at {} selections, {} of ours equal, {} refused by name, {} that Java cannot read itself",
            tally.equal,
            tally.selections,
            tally.ours,
            tally.refused.values().sum::<usize>(),
            tally.java_failed
        ))
    }

    fn random_table(
        &mut self,
        wanted: &RandomTables,
        out: &Path,
        index: usize,
        tally: &mut Tally,
    ) -> TaskResult {
        let case = out.join(index.to_string());
        if case.join("failed.txt").exists() {
            tally.java_failed += 1;
            return fs::remove_dir_all(&case).map_err(|e| e.to_string());
        }
        let mut problems = Vec::new();
        if wanted.java_writes {
            match self.we_read_random(&case) {
                Ok(selections) => {
                    tally.selections += selections;
                    tally.equal += 1;
                }
                Err(problem) => problems.push(problem),
            }
        }
        if wanted.we_write && is_write_only(&case)? {
            match self.we_write_random(&case) {
                Ok(()) => tally.ours += 1,
                Err(problem) => problems.push(problem),
            }
        }
        let mut kept = false;
        for problem in problems {
            match problem {
                Problem::Refused(reason) => *tally.refused.entry(reason).or_insert(0) += 1,
                Problem::Different(what) => {
                    kept = true;
                    let place = keep(&case, &wanted.seed, index)?;
                    let line = format!("seed {} table {index} ({}): {what}", wanted.seed, place.display());
                    println!("interop: {line}\n{}", history(&place)?);
                    fs::write(place.join("difference.txt"), format!("{line}\n"))
                        .map_err(|e| e.to_string())?;
                    tally.different.push(line);
                }
            }
        }
        match kept {
            true => Ok(()),
            false => fs::remove_dir_all(&case).map_err(|e| e.to_string()),
        }
    }

    /// Our rows of a table of Java at every selector.
    fn we_read_random(&self, case: &Path) -> Result<usize, Problem> {
        let expected = Selector::all(&case.join("expected")).map_err(Problem::Different)?;
        let count = expected.len();
        for (selector, rows) in expected {
            let found = self.our_rows(&case.join("table"), &selector)?;
            self.compare(
                case,
                &format!("we read {selector} of Java's table"),
                &found,
                &rows,
            )?;
        }
        Ok(count)
    }

    /// The same steps with our writer, read by both; then Java compacts it, and both read it again.
    fn we_write_random(&mut self, case: &Path) -> Result<(), Problem> {
        let (ours, steps) = (case.join("ours"), case.join("steps"));
        self.our_step(&[
            "create",
            path(&ours)?,
            "--schema",
            path(&steps.join("create.json"))?,
        ])?;
        let list = steps_of(&steps).map_err(Problem::Different)?;
        for (i, step) in list.iter().enumerate() {
            if step["op"] == "write" {
                let rows = steps.join(format!("rows-{i}.jsonl"));
                let mut words = vec!["ingest", path(&ours)?, path(&rows)?];
                // every other time the buffer is full with each batch
                if i % 2 == 1 {
                    words.extend(["-o", "write-buffer-size=1 b"]);
                }
                self.our_step(&words)?;
            } else {
                self.java(&["apply", path(&ours)?, &step.to_string()])
                    .map_err(|e| Problem::Different(format!("Java cannot {} our table: {e}", step["op"])))?;
            }
        }
        // Whether a compaction that is not full finds something to do depends on the sizes of files, which are not those of
        // Java's table: where the snapshots are not the same ones only the last is compared.
        let same_snapshots = snapshots(&ours)? == snapshots(&case.join("table"))?;
        for (selector, rows) in Selector::all(&case.join("expected")).map_err(Problem::Different)? {
            if !same_snapshots && selector != Selector::latest() {
                continue;
            }
            let by_java = self.java_rows(&ours, &selector)?;
            self.compare(
                case,
                &format!("Java reads {selector} of our table"),
                &by_java,
                &rows,
            )?;
            let found = self.our_rows(&ours, &selector)?;
            self.compare(case, &format!("we read {selector} of our table"), &found, &rows)?;
        }
        let compact = r#"{"op": "compact", "full": true}"#;
        self.java(&["apply", path(&ours)?, compact])
            .map_err(|e| Problem::Different(format!("Java cannot compact our table: {e}")))?;
        let by_java = self.java_rows(&ours, &Selector::latest())?;
        let found = self.our_rows(&ours, &Selector::latest())?;
        self.compare(case, "we read our table that Java compacted", &found, &by_java)
    }

    fn java_rows(&mut self, location: &Path, selector: &Selector) -> Result<String, Problem> {
        let mut words = vec!["read", path(location)?];
        words.extend(selector.words());
        self.java(&words)
            .map_err(|e| Problem::Different(format!("Java cannot read our table at {selector}: {e}")))
    }

    fn our_rows(&self, location: &Path, selector: &Selector) -> Result<String, Problem> {
        let mut words = vec!["scan", path(location)?, "--output", "jsonl"];
        words.extend(selector.words());
        self.our_step(&words)
    }

    /// What our program prints. An error of the kind "unsupported" is a refusal.
    fn our_step(&self, words: &[&str]) -> Result<String, Problem> {
        let made = Command::new(&self.paimon)
            .arg("--verbose")
            .args(words)
            .output()
            .map_err(|e| Problem::Different(e.to_string()))?;
        if made.status.success() {
            return String::from_utf8(made.stdout).map_err(|e| Problem::Different(e.to_string()));
        }
        let error = String::from_utf8_lossy(&made.stderr).trim().to_owned();
        match error.strip_prefix("error: unsupported: ") {
            Some(reason) => Err(Problem::Refused(reason_of(reason))),
            None => Err(Problem::Different(format!("{} fails: {error}", words.join(" ")))),
        }
    }

    fn compare(&self, case: &Path, what: &str, found: &str, expected: &str) -> Result<(), Problem> {
        let form = Form {
            unordered: case.join("unordered").exists(),
        };
        let (found, expected) = (form.rows(found)?, form.rows(expected)?);
        if found == expected {
            return Ok(());
        }
        let only = |a: &[String], b: &[String]| {
            let mut rest = b.to_vec();
            let mut missing = Vec::new();
            for row in a {
                match rest.iter().position(|other| other == row) {
                    Some(at) => drop(rest.swap_remove(at)),
                    None => missing.push(row.clone()),
                }
            }
            let more = missing.len().saturating_sub(SHOWN_ROWS);
            missing.truncate(SHOWN_ROWS);
            match more {
                0 => missing.join("\n    "),
                _ => format!("{}\n    and {more} more", missing.join("\n    ")),
            }
        };
        Err(Problem::Different(format!(
            "{what}: {} rows, expected {}\n  missing:\n    {}\n  not expected:\n    {}",
            found.len(),
            expected.len(),
            only(&expected, &found),
            only(&found, &expected)
        )))
    }
}

/// How many snapshots a table has.
fn snapshots(table: &Path) -> Result<usize, Problem> {
    let files = fs::read_dir(table.join("snapshot")).map_err(|e| Problem::Different(e.to_string()))?;
    let names = files.filter_map(|file| Some(file.ok()?.file_name().to_string_lossy().into_owned()));
    Ok(names.filter(|name| name.starts_with("snapshot-")).count())
}

fn path(path: &Path) -> Result<&str, Problem> {
    text(path).map_err(Problem::Different)
}

/// An error without the values of this one table, so that equal reasons are counted together.
fn reason_of(error: &str) -> String {
    let reason = error.lines().next().unwrap_or_default();
    reason.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// How lines are compared.
struct Form {
    /// Elements of arrays in any order.
    unordered: bool,
}

impl Form {
    /// Lines in a form of their own, sorted.
    fn rows(&self, lines: &str) -> Result<Vec<String>, Problem> {
        let mut rows = Vec::new();
        for line in lines.split('\n').filter(|l| !l.trim().is_empty()) {
            let mut value: Value = serde_json::from_str(line)
                .map_err(|e| Problem::Different(format!("no JSON line: {e}: {line}")))?;
            self.normalize(&mut value);
            // Java's ORC reader loses signs of zeros.
            rows.push(value.to_string().replace(":-0.0", ":0.0"));
        }
        rows.sort_unstable();
        Ok(rows)
    }

    /// Maps (lists of pairs of which no two begin alike) have no order, and neither have some arrays.
    fn normalize(&self, value: &mut Value) {
        match value {
            Value::Array(items) => {
                items.iter_mut().for_each(|item| self.normalize(item));
                let mut keys: Vec<String> = items
                    .iter()
                    .filter_map(|item| match item.as_array().map(Vec::as_slice) {
                        Some([key, _]) => Some(key.to_string()),
                        _ => None,
                    })
                    .collect();
                keys.sort_unstable();
                keys.dedup();
                if self.unordered || keys.len() == items.len() {
                    items.sort_by_cached_key(Value::to_string);
                }
            }
            Value::Object(fields) => fields.values_mut().for_each(|field| self.normalize(field)),
            _ => {}
        }
    }
}

/// A table whose steps give the same snapshots with another writer: nothing is compacted but by steps, and nothing is looked up.
fn is_write_only(case: &Path) -> Result<bool, String> {
    let definition: Value =
        serde_json::from_str(&read(&case.join("steps").join("create.json"))?).map_err(|e| e.to_string())?;
    let options = &definition["options"];
    // Java 1.4 forgets the descending order within one write buffer, so that the files of both differ.
    let same_order = options["sequence.field.sort-order"] != "descending";
    Ok(options["write-only"] == "true" && options["bucket"] != "-1" && same_order)
}

/// Moves a table that differs to where later runs do not remove it.
fn keep(case: &Path, seed: &str, index: usize) -> Result<PathBuf, String> {
    let place = root()
        .join("target")
        .join("interop-differences")
        .join(format!("pk-{seed}-{index}"));
    if case.exists() {
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(place.parent().unwrap_or(&place)).map_err(|e| e.to_string())?;
        fs::rename(case, &place).map_err(|e| e.to_string())?;
    }
    Ok(place)
}

/// Schema, options and what was done to a table, commit by commit.
fn history(case: &Path) -> Result<String, String> {
    let steps = case.join("steps");
    let mut lines = vec![format!("  table: {}", read(&steps.join("create.json"))?.trim())];
    for (i, step) in steps_of(&steps)?.iter().enumerate() {
        lines.push(format!("  step {i}: {step}"));
        let rows = steps.join(format!("rows-{i}.jsonl"));
        if rows.exists() {
            lines.extend(
                read(&rows)?
                    .lines()
                    .take(4 * SHOWN_ROWS)
                    .map(|row| format!("    {row}")),
            );
        }
    }
    Ok(lines.join("\n"))
}

fn steps_of(steps: &Path) -> Result<Vec<Value>, String> {
    serde_json::from_str(&read(&steps.join("steps.json"))?).map_err(|e| e.to_string())
}
