// SPDX-License-Identifier: Apache-2.0

//! One JSON object a row, keys in schema order.

use std::io::Write;

use arrow_array::RecordBatch;
use paimon::types::{DataField, Error, Result};

use super::json_value::{write_string, write_value};

/// Writes batches as lines of JSON.
pub(crate) struct JsonLines<W> {
    out: W,
    fields: Vec<DataField>,
    keys: Vec<String>,
    buffer: String,
}

impl<W: Write> JsonLines<W> {
    pub(crate) fn new(out: W, fields: Vec<DataField>) -> Result<Self> {
        let keys = fields
            .iter()
            .map(|field| {
                let mut key = String::new();
                write_string(&mut key, &field.name)?;
                key.push_str(": ");
                Ok(key)
            })
            .collect::<Result<_>>()?;
        Ok(JsonLines { out, fields, keys, buffer: String::new() })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.buffer.clear();
        for row in 0..batch.num_rows() {
            self.buffer.push('{');
            let columns = self.fields.iter().zip(&self.keys).zip(batch.columns());
            for (index, ((field, key), column)) in columns.enumerate() {
                if index > 0 {
                    self.buffer.push_str(", ");
                }
                self.buffer.push_str(key);
                write_value(&mut self.buffer, column, row, &field.data_type).map_err(|e| e.with("column", &field.name))?;
            }
            self.buffer.push_str("}\n");
        }
        self.out.write_all(self.buffer.as_bytes()).map_err(output_failed)
    }

    pub(crate) fn finish(mut self) -> Result<()> {
        self.out.flush().map_err(output_failed)
    }
}

/// The error of a failed write to the output.
pub(crate) fn output_failed(err: std::io::Error) -> Error {
    Error::io("the output cannot be written").with_source(err)
}
