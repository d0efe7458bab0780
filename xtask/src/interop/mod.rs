// SPDX-License-Identifier: Apache-2.0

//! Java reads what we wrote and we read what Java wrote: tables of every feature, random tables from a seed, splits,
//! commit messages, deleted rows.

mod deletes;
mod features;
mod pk;
mod protocol;
mod random;
mod rows;
mod wire;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::TaskResult;
use crate::java::{Judge, missing, option};
use crate::process::{cargo, output, root, run as run_command};
use rows::same_rows;

/// File formats whose tables cross over; about a third of the tables have their manifests in ORC.
const FORMATS: [&str; 3] = ["parquet", "orc", "avro"];

/// The task.
pub(crate) fn run(args: &[String]) -> TaskResult {
    if let Some(what) = missing() {
        return Err(format!("interop: {what}"));
    }
    let seed = option(args, "--seed")?.unwrap_or("1").to_owned();
    let tables = option(args, "--tables")?.unwrap_or("20").to_owned();
    let only = option(args, "--only")?;
    let paimon = match option(args, "--paimon")? {
        Some(binary) => PathBuf::from(binary),
        None => {
            // As the tests build it, so that dependencies are not built twice.
            run_command(cargo().args(["test", "--locked", "--workspace", "--no-run", "--quiet"]))?;
            root().join("target").join("debug").join("paimon")
        }
    };
    let random = option(args, "--random")?;
    let name = if random.is_some() { "interop-pk" } else { "interop" };
    let dir = root().join("target").join(name);
    if dir.exists() {
        fs::remove_dir_all(&dir).map_err(|e| e.to_string())?;
    }
    fs::create_dir_all(&dir).map_err(|e| e.to_string())?;
    let mut interop = Interop {
        paimon,
        judge: Judge::start(option(args, "--paimon-jar")?)?,
        dir,
    };
    if let Some(seed) = random {
        let tables = pk::RandomTables::parse(seed, |name| Ok(option(args, name)?.map(str::to_owned)))?;
        println!("interop: {}", interop.random_pk(&tables)?);
        return Ok(());
    }
    let wanted = |part: &str| only.is_none_or(|o| o.split(',').any(|o| o == part));
    if wanted("features") {
        println!("interop: {}", interop.features()?);
    }
    if wanted("random") {
        println!("interop: {}", interop.random(&seed, &tables)?);
    }
    if wanted("protocol") {
        println!("interop: {}", interop.protocol(&seed)?);
    }
    if wanted("wire") {
        println!("interop: {}", interop.wire()?);
    }
    if wanted("deletes") {
        println!("interop: {}", interop.deletes(&seed)?);
    }
    Ok(())
}

struct Interop {
    paimon: PathBuf,
    judge: Judge,
    dir: PathBuf,
}

impl Interop {
    fn java(&mut self, words: &[&str]) -> Result<String, String> {
        self.judge.ask(words)
    }

    fn paimon(&self, words: &[&str]) -> Result<String, String> {
        output(Command::new(&self.paimon).args(words))
    }

    /// Both read the rows of one table as they must be.
    fn both_read(&mut self, location: &Path, selector: &Selector, expected: &str) -> TaskResult {
        let mut words = vec!["read", text(location)?];
        words.extend(selector.words());
        let by_java = self.java(&words)?;
        same_rows(&by_java, expected)
            .map_err(|e| format!("Java reads {} at {selector} otherwise: {e}", location.display()))?;
        self.we_read(location, selector, expected)
    }

    fn we_read(&self, location: &Path, selector: &Selector, expected: &str) -> TaskResult {
        let mut words = vec!["scan", text(location)?, "--output", "jsonl"];
        words.extend(selector.words());
        same_rows(&self.paimon(&words)?, expected)
            .map_err(|e| format!("we read {} at {selector} otherwise: {e}", location.display()))
    }
}

/// Which rows of a table, in the words that both command lines take: the name of a file of expected rows.
#[derive(PartialEq, Eq)]
struct Selector(String);

impl Selector {
    fn latest() -> Self {
        Selector("latest".to_owned())
    }

    /// The selectors of a directory of expected rows, with these.
    fn all(expected: &Path) -> Result<Vec<(Self, String)>, String> {
        let mut all = Vec::new();
        for entry in fs::read_dir(expected).map_err(|e| format!("{}: {e}", expected.display()))? {
            let path = entry.map_err(|e| e.to_string())?.path();
            let name = path
                .file_stem()
                .map(|s| s.to_string_lossy().into_owned())
                .unwrap_or_default();
            all.push((Selector(name), read(&path)?));
        }
        all.sort_by(|(a, _), (b, _)| a.0.cmp(&b.0));
        Ok(all)
    }

    fn words(&self) -> Vec<&str> {
        let (branch, at) = match self.0.split_once('@') {
            Some((branch, at)) => (Some(branch), at),
            None => (None, self.0.as_str()),
        };
        let mut words: Vec<&str> = branch.iter().flat_map(|b| ["--branch", b]).collect();
        if let Some(id) = at.strip_prefix("snapshot-") {
            words.extend(["--snapshot-id", id]);
        } else if let Some(tag) = at.strip_prefix("tag-") {
            words.extend(["--tag", tag]);
        }
        words
    }
}

impl std::fmt::Display for Selector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The directories in a directory, sorted.
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

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn text(path: &Path) -> Result<&str, String> {
    path.to_str()
        .ok_or_else(|| format!("{} is not UTF-8", path.display()))
}
