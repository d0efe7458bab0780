// SPDX-License-Identifier: Apache-2.0

//! The conformance tables: a folder beside the repository, which not every machine has.

use std::path::PathBuf;

use crate::{Selector, repo_root, selectors};

/// A table written by Java 0.9 to 2.0 with the rows that Java reads from it.
#[derive(Clone, Debug)]
pub struct ConformanceTable {
    /// `<format>/<name>`.
    pub path: String,
    /// The table directory.
    pub table_dir: PathBuf,
    expected: PathBuf,
}

impl ConformanceTable {
    /// Every selector that has expected rows.
    pub fn selectors(&self) -> Vec<Selector> {
        selectors(&self.expected)
    }
}

/// The folder: `PAIMON_CONFORMANCE_DIR`, else `../shared/conformance` beside the repository. `None`, and a message, when
/// this machine does not have it.
pub fn conformance_dir() -> Option<PathBuf> {
    let dir = match std::env::var_os("PAIMON_CONFORMANCE_DIR") {
        Some(dir) => PathBuf::from(dir),
        None => repo_root().join("../shared/conformance"),
    };
    if dir.join("tables").is_dir() {
        return Some(dir);
    }
    println!(
        "skipped: there are no conformance tables at {}; set PAIMON_CONFORMANCE_DIR",
        dir.display()
    );
    None
}

/// All conformance tables, sorted by path; none when the folder is missing.
pub fn conformance_tables() -> Vec<ConformanceTable> {
    let Some(dir) = conformance_dir() else {
        return Vec::new();
    };
    let mut tables = Vec::new();
    for format in std::fs::read_dir(dir.join("tables")).unwrap() {
        let format = format.unwrap().file_name().into_string().unwrap();
        for table in std::fs::read_dir(dir.join("tables").join(&format)).unwrap() {
            let table = table.unwrap();
            let path = format!("{format}/{}", table.file_name().into_string().unwrap());
            tables.push(ConformanceTable {
                expected: dir.join("expected").join(&path),
                table_dir: table.path(),
                path,
            });
        }
    }
    tables.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    tables
}
