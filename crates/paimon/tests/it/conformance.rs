// SPDX-License-Identifier: Apache-2.0

//! The conformance tables: each selector reads equal or is refused for a reason that its files show; never wrong rows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use paimon::types::TableSchema;
use paimon::{Error, ErrorKind, Result};
use paimon_testkit::{ConformanceTable, Selector, conformance_tables, read_lines};

/// Why a table may be refused for now, from its files alone.
fn reasons(table: &ConformanceTable, branch: Option<&str>) -> Vec<&'static str> {
    let branch_dir = match branch {
        None => table.table_dir.clone(),
        Some(branch) => table.table_dir.join(format!("branch/branch-{branch}")),
    };
    let schemas: Vec<TableSchema> = files_below(&branch_dir.join("schema"))
        .iter()
        .map(|path| TableSchema::from_json(&std::fs::read_to_string(path).unwrap()).unwrap())
        .collect();
    let mut found = Vec::new();
    let is_on = |key: &str| {
        schemas
            .iter()
            .any(|s| s.options.get(key).is_some_and(|v| v == "true"))
    };
    if is_on("data-evolution.enabled") {
        found.push("data evolution");
    }
    if schemas
        .iter()
        .any(|s| s.options.contains_key("scan.fallback-branch"))
    {
        found.push("fallback branch");
    }
    let mut types: BTreeMap<i32, BTreeSet<String>> = BTreeMap::new();
    for field in schemas.iter().flat_map(|s| &s.fields) {
        types
            .entry(field.id)
            .or_default()
            .insert(field.data_type.with_nullable(true).to_string());
    }
    if types.values().any(|of_field| of_field.len() > 1) {
        found.push("type change");
    }
    let files = files_below(&table.table_dir);
    if files
        .iter()
        .any(|path| path.extension().is_some_and(|e| e == "blob"))
    {
        found.push("blobs");
    }
    found
}

fn files_below(dir: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files.sort_unstable();
    files
}

async fn read(table: &ConformanceTable, selector: &Selector) -> Result<Vec<String>> {
    let opened = selector.open(&table.table_dir, &[]).await?;
    let read = opened.read();
    read_lines(&match &selector.at {
        Some(at) => read.at(at.clone()),
        None => read,
    })
    .await
}

fn is_clear(err: &Error) -> bool {
    err.kind() == ErrorKind::Unsupported && !err.message().is_empty()
}

#[tokio::test]
async fn tables_read_equal_or_are_refused() {
    let tables = conformance_tables();
    if tables.is_empty() {
        return;
    }
    let (mut equal, mut refused, mut wrong) = (BTreeSet::new(), BTreeMap::new(), Vec::new());
    for table in &tables {
        for selector in table.selectors() {
            let what = format!("{} {}", table.path, selector.name);
            let reasons = reasons(table, selector.branch.as_deref());
            match read(table, &selector).await {
                Ok(rows) if rows == selector.expected() => {
                    equal.insert(table.path.clone());
                }
                Ok(rows) => wrong.push(format!("{what}: {rows:?} instead of {:?}", selector.expected())),
                Err(err) if reasons.is_empty() => wrong.push(format!("{what}: nothing explains {err:?}")),
                Err(err) if is_clear(&err) => {
                    refused.insert(
                        table.path.clone(),
                        format!("{}: {}", reasons.join(", "), err.message()),
                    );
                }
                Err(err) => wrong.push(format!(
                    "{what} ({}): refused unclearly: {err:?}",
                    reasons.join(", ")
                )),
            }
        }
    }
    println!("read equal: {equal:?}");
    refused
        .iter()
        .for_each(|(path, why)| println!("refused: {path}: {why}"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Compaction wrote `_ROW_ID` into its files and lists it among their columns.
    assert!(equal.contains("orc/append_table_row_tracking_with_compact"));
    for path in [
        "append_complex_build_in_fieldid",
        "append_table_with_alter_table",
        "append_with_bitmap",
        "append_with_bitmap_v1",
        "append_with_bsi",
        "append_with_rangebitmap_multi_chunk",
    ] {
        assert!(equal.contains(&format!("parquet/{path}")), "{path} must read now");
    }
}
