// SPDX-License-Identifier: Apache-2.0

//! The tables of `testdata/java`; `testdata/README.md` describes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use paimon::{Result, SnapshotSelector, Storage, Table};
use serde_json::Value;

use crate::{repo_root, selectors, sorted, unordered};

/// One table that Java wrote, with what Java says about it.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// `<feature>/<name>`.
    pub path: String,
    /// What it is there for.
    pub features: Vec<String>,
    /// Where the table was when it was written; paths inside splits begin with it.
    pub location: String,
    /// Number of messages in `messages.bin`.
    pub messages: usize,
    /// Version of the messages.
    pub message_version: i32,
    /// Version of the splits, `None` when there are none.
    pub split_version: Option<i32>,
    /// Number of splits of each selector that has a plan.
    pub splits: BTreeMap<String, usize>,
    /// Format of the data files (`file.format`).
    pub file_format: String,
    /// Format of the manifests.
    pub manifest_format: String,
    /// Time zone of the writer when it was not the session zone; rows read in it are in `expected-in-zone`.
    pub writer_zone: Option<String>,
    dir: PathBuf,
}

/// Which rows of a table: branch and snapshot.
#[derive(Clone, Debug)]
pub struct Selector {
    /// As in the name of the file: `latest`, `snapshot-2`, `tag-x`, `branch@latest`.
    pub name: String,
    /// The branch, `None` for main.
    pub branch: Option<String>,
    /// The snapshot, `None` for the newest.
    pub at: Option<SnapshotSelector>,
    file: PathBuf,
}

/// All tables of the manifest.
pub fn fixtures() -> Vec<Fixture> {
    let root = repo_root().join("testdata/java");
    let text = std::fs::read_to_string(root.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&text).unwrap();
    let tables = manifest["tables"].as_array().unwrap();
    tables.iter().map(|table| Fixture::parse(&root, table)).collect()
}

/// The table at `<feature>/<name>`.
pub fn fixture(path: &str) -> Fixture {
    let found = fixtures().into_iter().find(|f| f.path == path);
    found.unwrap_or_else(|| panic!("there is no table {path} in testdata/java"))
}

/// Lines without the bytes of a column of sets: Java keeps spare slots of its growing arrays in bitmaps, and the order in which
/// things were added in sketches. That unions are the same sets is tested beside the functions.
fn without_bytes(lines: Vec<String>, column: &str) -> Vec<String> {
    let key = format!("\"{column}\": \"");
    let cut = |line: String| match line.split_once(&key) {
        Some((before, value)) => {
            let behind = value.split_once('"').map_or("", |(_, behind)| behind);
            format!("{before}{key}\"{behind}")
        }
        None => line,
    };
    lines.into_iter().map(cut).collect()
}

impl Fixture {
    fn parse(root: &Path, table: &Value) -> Self {
        let number = |value: &Value| i32::try_from(value.as_i64().unwrap()).unwrap();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let path = table["path"].as_str().unwrap().to_owned();
        Fixture {
            dir: root.join(&path),
            features: table["features"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(text)
                .collect(),
            location: table["location"].as_str().unwrap().to_owned(),
            messages: usize::try_from(table["messages"].as_u64().unwrap()).unwrap(),
            message_version: number(&table["messageVersion"]),
            split_version: Some(&table["splitVersion"]).filter(|v| !v.is_null()).map(number),
            splits: table["splits"]
                .as_object()
                .unwrap()
                .iter()
                .map(|(name, count)| (name.clone(), usize::try_from(count.as_u64().unwrap()).unwrap()))
                .collect(),
            file_format: text(&table["fileFormat"]).unwrap_or_else(|| "parquet".to_owned()),
            manifest_format: text(&table["manifestFormat"]).unwrap_or_else(|| "avro".to_owned()),
            writer_zone: text(&table["writerZone"]),
            path,
        }
    }

    /// Whether this table needs what is not there yet, so that it may be refused.
    pub fn is_pending(&self) -> bool {
        let needs = |what: &str| self.features.iter().any(|f| f.contains(what));
        self.feature() == "later"
            || self.path == "formats/manifest-orc-deletion-vectors"
            || self.feature() == "pk" && (needs("widened") || needs("altered to BIGINT") || needs("_sketch"))
    }

    /// Lines in the form in which ours and Java's are compared. Java's ORC reader takes a batch of doubles that are all equal to the
    /// first one (`0.0 == -0.0`) for a repetition of it, and so shows zeros with a sign that they do not have in the file.
    pub fn comparable(&self, lines: Vec<String>) -> Vec<String> {
        let lines = match self.path.as_str() {
            "pk/aggregation-bitmaps" => without_bytes(lines, "r64"),
            path if path.contains("-sketch") => without_bytes(lines, "s"),
            _ => lines,
        };
        let lines = match self.features.iter().any(|f| f == "order of elements free") {
            true => unordered(&lines),
            false => lines,
        };
        match self.file_format.as_str() {
            "orc" => sorted(
                lines
                    .iter()
                    .map(|line| line.replace(": -0.0,", ": 0.0,"))
                    .collect(),
            ),
            _ => lines,
        }
    }

    /// `basic`, `partition`, …
    pub fn feature(&self) -> &str {
        self.path.split('/').next().unwrap()
    }

    /// The table directory.
    pub fn table_dir(&self) -> PathBuf {
        self.dir.join("table")
    }

    /// Every selector that has expected rows.
    pub fn selectors(&self) -> Vec<Selector> {
        // An ORC file says in which zone it was written, and so which instants were meant. Java's reader takes its own zone.
        let in_zone = self.writer_zone.is_some() && self.file_format == "orc";
        selectors(
            &self
                .dir
                .join(if in_zone { "expected-in-zone" } else { "expected" }),
        )
    }

    /// The selectors that have rows of a system table, `ro` or `audit_log`; none when the table has no such rows.
    pub fn system_selectors(&self, table: &str) -> Vec<Selector> {
        let dir = self.dir.join(format!("expected-{table}"));
        if dir.is_dir() { selectors(&dir) } else { Vec::new() }
    }

    /// The selector with this name.
    pub fn selector(&self, name: &str) -> Selector {
        let found = self.selectors().into_iter().find(|s| s.name == name);
        found.unwrap_or_else(|| panic!("{} has no rows for {name}", self.path))
    }

    /// Opens the table on the branch of a selector, with options over the stored ones.
    ///
    /// # Errors
    /// As [`Table::open_with`].
    pub async fn open(&self, selector: &Selector, options: &[(&str, &str)]) -> Result<Table> {
        selector.open(&self.table_dir(), options).await
    }

    /// The splits of Java's plan, in order; `None` for a selector whose plan was not kept.
    pub fn split_bytes(&self, selector: &Selector) -> Option<Vec<Vec<u8>>> {
        let count = *self.splits.get(&selector.name)?;
        let file = |i| self.dir.join(format!("splits/{}-{i}.bin", selector.name));
        Some((0..count).map(|i| std::fs::read(file(i)).unwrap()).collect())
    }

    /// All commit messages as one list, `None` for a table that was never written.
    pub fn message_bytes(&self) -> Option<Vec<u8>> {
        std::fs::read(self.dir.join("messages.bin")).ok()
    }

    /// A path of a split as it is here.
    pub fn localized(&self, path: &str) -> String {
        let rest = path.strip_prefix(&self.location);
        let rest = rest.unwrap_or_else(|| panic!("{path} does not begin with {}", self.location));
        format!("{}{rest}", self.table_dir().display())
    }
}

impl Selector {
    pub(crate) fn parse(name: &str, file: PathBuf) -> Self {
        let (branch, what) = match name.split_once('@') {
            Some((branch, what)) => (Some(branch.to_owned()), what),
            None => (None, name),
        };
        let at = match (what.strip_prefix("snapshot-"), what.strip_prefix("tag-")) {
            (Some(id), _) => Some(SnapshotSelector::Id(id.parse().unwrap())),
            (_, Some(tag)) => Some(SnapshotSelector::Tag(tag.to_owned())),
            _ if what == "latest" => None,
            _ => panic!("unknown selector {name}"),
        };
        Selector {
            name: name.to_owned(),
            branch,
            at,
            file,
        }
    }

    /// The rows as Java reads them, sorted by text.
    pub fn expected(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.file).unwrap();
        sorted(text.lines().map(str::to_owned).collect())
    }

    /// Opens the table in a directory on the branch of this selector.
    ///
    /// # Errors
    /// As [`Table::open_with`].
    pub async fn open(&self, table_dir: &Path, options: &[(&str, &str)]) -> Result<Table> {
        let mut all: BTreeMap<String, String> = options
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect();
        if let Some(branch) = &self.branch {
            all.insert("branch".to_owned(), branch.clone());
        }
        Table::open_with(Storage::default(), table_dir.to_str().unwrap(), all).await
    }
}
