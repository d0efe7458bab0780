// SPDX-License-Identifier: Apache-2.0

//! Rows for comparison: lines of the `jsonl` form, sorted by text.

use arrow_array::RecordBatch;
use paimon::json_rows::JsonRows;
use paimon::{DataField, ReadBuilder, Result};

/// Lines in the order of their bytes. VARIANT values are any JSON text of their value (Java writes the exponents of
/// numbers in its own way), so lines with some are written anew; all other text stays as it is.
pub fn sorted(mut lines: Vec<String>) -> Vec<String> {
    for line in lines.iter_mut().filter(|line| line.contains("{\"variant\": ")) {
        *line = serde_json::from_str::<serde_json::Value>(line)
            .unwrap()
            .to_string();
    }
    lines.sort_unstable();
    lines
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
