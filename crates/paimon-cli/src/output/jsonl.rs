// SPDX-License-Identifier: Apache-2.0

//! One JSON object a row, keys in schema order.

use std::io::Write;

use arrow_array::RecordBatch;
use paimon::json_rows::JsonRows;
use paimon::types::{DataField, Error, Result};

/// Writes batches as lines of JSON.
pub(crate) struct JsonLines<W> {
    out: W,
    rows: JsonRows,
    buffer: String,
}

impl<W: Write> JsonLines<W> {
    pub(crate) fn new(out: W, fields: Vec<DataField>) -> Result<Self> {
        Ok(JsonLines {
            out,
            rows: JsonRows::new(fields)?,
            buffer: String::new(),
        })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.buffer.clear();
        self.rows.write_batch(&mut self.buffer, batch)?;
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
