// SPDX-License-Identifier: Apache-2.0

//! Comparing what two readers print.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::TaskResult;

/// Rows as multisets of parsed JSON lines.
pub(super) fn same_rows(found: &str, expected: &str) -> TaskResult {
    same_lines(&rows(found)?, &rows(expected)?)
}

/// Multisets of lines.
pub(super) fn same_lines(found: &BTreeMap<String, usize>, expected: &BTreeMap<String, usize>) -> TaskResult {
    let differs = |a: &BTreeMap<String, usize>, b: &BTreeMap<String, usize>| {
        a.iter()
            .find(|(row, count)| b.get(*row) != Some(count))
            .map(|(row, _)| row.clone())
    };
    match (differs(expected, found), differs(found, expected)) {
        (None, None) => Ok(()),
        (missing, surplus) => Err(format!(
            "{} lines, expected {}; missing {}; not expected {}",
            found.values().sum::<usize>(),
            expected.values().sum::<usize>(),
            missing.as_deref().unwrap_or("none"),
            surplus.as_deref().unwrap_or("none")
        )),
    }
}

/// JSON lines in a form of their own, with how often each is there.
pub(super) fn rows(text: &str) -> Result<BTreeMap<String, usize>, String> {
    let mut rows = BTreeMap::new();
    for line in text.split('\n').filter(|l| !l.trim().is_empty()) {
        let value: Value = serde_json::from_str(line).map_err(|e| format!("no JSON line: {e}: {line}"))?;
        *rows.entry(value.to_string()).or_insert(0) += 1;
    }
    Ok(rows)
}
