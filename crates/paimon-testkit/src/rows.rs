// SPDX-License-Identifier: Apache-2.0

//! Rows for comparison: lines of the `jsonl` form, sorted by text.

use std::collections::BTreeSet;

use arrow_array::RecordBatch;
use paimon::json_rows::JsonRows;
use paimon::{DataField, ReadBuilder, Result};
use serde_json::Value;

/// Lines in the order of their bytes. Two kinds of lines are written anew, all other text stays as it is: those with VARIANT
/// values, which are any JSON text of their value (Java writes the exponents of numbers in its own way), and those with
/// lists of lists, because the entries of a map have no order (Java reads those of Avro files in the order of their hashes).
pub fn sorted(mut lines: Vec<String>) -> Vec<String> {
    for line in &mut lines {
        let maps = line.contains("[[");
        if maps || line.contains("{\"variant\": ") {
            let mut row = serde_json::from_str(line).unwrap();
            if maps {
                sort_entries(&mut row);
            }
            *line = row.to_string();
        }
    }
    lines.sort_unstable();
    lines
}

/// Sorts lists of pairs of which no two begin alike: maps look like that.
fn sort_entries(value: &mut Value) {
    match value {
        Value::Array(items) => {
            items.iter_mut().for_each(sort_entries);
            let key = |item: &Value| match item.as_array().map(Vec::as_slice) {
                Some([key, _]) => Some(key.to_string()),
                _ => None,
            };
            let keys: Option<BTreeSet<String>> = items.iter().map(key).collect();
            if keys.is_some_and(|keys| keys.len() == items.len()) {
                items.sort_by_cached_key(key);
            }
        }
        Value::Object(fields) => fields.values_mut().for_each(sort_entries),
        _ => {}
    }
}

/// Lines whose arrays, at any depth, have their elements in the order of their text.
pub(crate) fn unordered(lines: &[String]) -> Vec<String> {
    let sort = |line: &String| {
        let mut row = serde_json::from_str(line).unwrap();
        sort_elements(&mut row);
        row.to_string()
    };
    sorted(lines.iter().map(sort).collect())
}

fn sort_elements(value: &mut Value) {
    match value {
        Value::Array(items) => {
            items.iter_mut().for_each(sort_elements);
            items.sort_by_cached_key(Value::to_string);
        }
        Value::Object(fields) => fields.values_mut().for_each(sort_elements),
        _ => {}
    }
}

/// Rows of batches in `jsonl` form, in their order.
pub fn json_lines(fields: &[DataField], batches: &[RecordBatch]) -> Vec<String> {
    let rows = JsonRows::new(fields.to_vec()).unwrap();
    let mut lines = Vec::new();
    for batch in batches {
        assert_eq!(batch.num_columns(), fields.len(), "columns of a batch");
        for row in 0..batch.num_rows() {
            let mut line = String::new();
            rows.write_row(&mut line, batch, row).unwrap();
            lines.push(line);
        }
    }
    lines
}

/// Plans and reads; the rows sorted.
///
/// # Errors
/// Those of the read.
pub async fn read_lines(read: &ReadBuilder) -> Result<Vec<String>> {
    let fields = read.plan().await?.read_fields;
    let (_, batches) = read.to_batches().await?;
    Ok(sorted(json_lines(&fields, &batches)))
}
