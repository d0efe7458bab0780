// SPDX-License-Identifier: Apache-2.0

//! Aligned tables and CSV.

use std::io::Write;

use arrow_array::{Array, RecordBatch};
use paimon::json_rows::write_value;
use paimon::types::{DataField, Result};

use super::jsonl::output_failed;

/// Rows that fix the widths of an aligned table; later rows may be wider.
const WIDTH_ROWS: usize = 1000;
const MAX_WIDTH: usize = 60;

/// A value as a cell: JSON without the quotes of a plain string; `empty` for NULL.
fn cell(array: &dyn Array, row: usize, field: &DataField, empty: &str) -> Result<String> {
    if array.is_null(row) {
        return Ok(empty.to_owned());
    }
    let mut text = String::new();
    write_value(&mut text, array, row, &field.data_type).map_err(|e| e.with("column", &field.name))?;
    if text.starts_with('"')
        && let Ok(serde_json::Value::String(plain)) = serde_json::from_str(&text)
    {
        return Ok(plain);
    }
    Ok(text)
}

/// Aligned text with a header; widths come from the first rows, so that it streams.
pub(super) struct Table<W> {
    out: W,
    fields: Vec<DataField>,
    pending: Vec<Vec<String>>,
    widths: Vec<usize>,
    rows: u64,
}

impl<W: Write> Table<W> {
    pub(super) fn new(out: W, fields: Vec<DataField>) -> Self {
        Table {
            out,
            fields,
            pending: Vec::new(),
            widths: Vec::new(),
            rows: 0,
        }
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        for row in 0..batch.num_rows() {
            let cells = self
                .fields
                .iter()
                .zip(batch.columns())
                .map(|(field, column)| {
                    cell(column, row, field, "NULL").map(|c| c.replace(['\n', '\r', '\t'], " "))
                })
                .collect::<Result<Vec<_>>>()?;
            self.rows += 1;
            if self.widths.is_empty() {
                self.pending.push(cells);
                if self.pending.len() >= WIDTH_ROWS {
                    self.start()?;
                }
            } else {
                self.line(&cells)?;
            }
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<()> {
        if self.widths.is_empty() {
            self.start()?;
        }
        let plural = if self.rows == 1 { "row" } else { "rows" };
        writeln!(self.out, "({} {plural})", self.rows).map_err(output_failed)?;
        self.out.flush().map_err(output_failed)
    }

    fn start(&mut self) -> Result<()> {
        let header: Vec<String> = self.fields.iter().map(|f| f.name.clone()).collect();
        let pending = std::mem::take(&mut self.pending);
        self.widths = header.iter().map(|name| name.chars().count()).collect();
        for row in &pending {
            for (width, text) in self.widths.iter_mut().zip(row) {
                *width = (*width).max(text.chars().count().min(MAX_WIDTH));
            }
        }
        self.line(&header)?;
        let rule: Vec<String> = self.widths.iter().map(|w| "-".repeat(*w)).collect();
        self.line(&rule)?;
        pending.iter().try_for_each(|row| self.line(row))
    }

    fn line(&mut self, cells: &[String]) -> Result<()> {
        let mut line = String::new();
        for (index, (text, width)) in cells.iter().zip(&self.widths).enumerate() {
            if index > 0 {
                line.push_str("  ");
            }
            line.push_str(text);
            line.extend(std::iter::repeat_n(
                ' ',
                width.saturating_sub(text.chars().count()),
            ));
        }
        writeln!(self.out, "{}", line.trim_end()).map_err(output_failed)
    }
}

/// Comma separated values with a header; NULL is the empty field, nested values are JSON.
pub(super) struct Csv<W> {
    out: W,
    fields: Vec<DataField>,
    buffer: String,
}

impl<W: Write> Csv<W> {
    pub(super) fn new(mut out: W, fields: Vec<DataField>) -> Result<Self> {
        let mut header = String::new();
        for (index, field) in fields.iter().enumerate() {
            if index > 0 {
                header.push(',');
            }
            quote(&mut header, &field.name, false);
        }
        writeln!(out, "{header}").map_err(output_failed)?;
        Ok(Csv {
            out,
            fields,
            buffer: String::new(),
        })
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.buffer.clear();
        for row in 0..batch.num_rows() {
            for (index, (field, column)) in self.fields.iter().zip(batch.columns()).enumerate() {
                if index > 0 {
                    self.buffer.push(',');
                }
                // An empty string is quoted, so that it differs from NULL.
                let text = cell(column, row, field, "")?;
                quote(&mut self.buffer, &text, text.is_empty() && column.is_valid(row));
            }
            self.buffer.push('\n');
        }
        self.out.write_all(self.buffer.as_bytes()).map_err(output_failed)
    }

    pub(super) fn finish(mut self) -> Result<()> {
        self.out.flush().map_err(output_failed)
    }
}

fn quote(out: &mut String, text: &str, always: bool) {
    if always || text.contains([',', '"', '\n', '\r']) {
        out.push('"');
        out.push_str(&text.replace('"', "\"\""));
        out.push('"');
    } else {
        out.push_str(text);
    }
}
