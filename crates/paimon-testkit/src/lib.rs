// SPDX-License-Identifier: Apache-2.0

//! What integration tests share: the tables in `testdata/java`, the conformance tables beside the repository, and rows as
//! sorted `jsonl` lines. Everything panics when the test data are not as they must be.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod conformance;
mod fixtures;
mod random;
mod rows;

use std::path::{Path, PathBuf};

pub use conformance::{ConformanceTable, conformance_dir, conformance_tables};
pub use fixtures::{Fixture, Selector, fixture, fixtures};
pub use random::Random;
use rows::unordered;
pub use rows::{json_lines, read_lines, sorted};

/// The root of the repository.
pub fn repo_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// Copies a directory with everything in it.
pub fn copy_dir(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_dir(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The selectors of the expected files of a folder, sorted by name.
fn selectors(expected: &Path) -> Vec<Selector> {
    let mut names: Vec<String> = std::fs::read_dir(expected)
        .unwrap_or_else(|e| panic!("{}: {e}", expected.display()))
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.strip_suffix(".jsonl").map(str::to_owned)
        })
        .collect();
    names.sort_unstable();
    names
        .iter()
        .map(|name| Selector::parse(name, expected.join(format!("{name}.jsonl"))))
        .collect()
}
