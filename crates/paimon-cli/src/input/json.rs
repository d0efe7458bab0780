// SPDX-License-Identifier: Apache-2.0

//! JSON lines in the form that `paimon scan --output jsonl` writes; missing keys are NULL.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use paimon::types::{DataField, DataType, Error, Result, TypeKind, to_arrow_field};
use serde_json::{Map, Value};

use super::json_array::build;
use super::{BATCH_ROWS, Batches, open_file, unreadable};

const INFER_ROWS: usize = 10_000;

/// Lines as objects, with their numbers for messages.
struct Lines {
    path: PathBuf,
    reader: BufReader<std::fs::File>,
    number: usize,
    buffer: String,
}

impl Lines {
    fn open(path: &Path) -> Result<Self> {
        let reader = BufReader::with_capacity(1 << 20, open_file(path)?);
        Ok(Lines {
            path: path.to_path_buf(),
            reader,
            number: 0,
            buffer: String::new(),
        })
    }

    /// The next object, `None` at the end. Blank lines are skipped.
    fn next(&mut self) -> Result<Option<Map<String, Value>>> {
        loop {
            self.buffer.clear();
            self.number += 1;
            if self
                .reader
                .read_line(&mut self.buffer)
                .map_err(|e| unreadable(&self.path, e))?
                == 0
            {
                return Ok(None);
            }
            let text = self.buffer.trim();
            if text.is_empty() {
                continue;
            }
            return match serde_json::from_str(text) {
                Ok(Value::Object(object)) => Ok(Some(object)),
                Ok(_) => Err(self.at(Error::invalid("a line is not a JSON object"))),
                Err(err) => {
                    Err(self.at(Error::invalid(format!("a line is not JSON: {err}")).with_source(err)))
                }
            };
        }
    }

    fn at(&self, error: Error) -> Error {
        error.with("path", self.path.display()).with("line", self.number)
    }
}

pub(super) fn infer(path: &Path) -> Result<Vec<DataField>> {
    let mut lines = Lines::open(path)?;
    let mut rows = Vec::new();
    while rows.len() < INFER_ROWS {
        match lines.next()? {
            Some(row) => rows.push(Value::Object(row)),
            None => break,
        }
    }
    match infer_type(&rows.iter().collect::<Vec<_>>()).kind {
        TypeKind::Row(fields) => Ok(fields),
        _ => Err(Error::invalid("the file has no rows to take columns from").with("path", path.display())),
    }
}

/// The narrowest type that holds all values: BIGINT, DOUBLE, BOOLEAN, ARRAY, ROW, else STRING.
fn infer_type(values: &[&Value]) -> DataType {
    let present: Vec<&Value> = values.iter().copied().filter(|v| !v.is_null()).collect();
    let all = |test: fn(&Value) -> bool| !present.is_empty() && present.iter().all(|v| test(v));
    DataType::new(if all(Value::is_boolean) {
        TypeKind::Boolean
    } else if all(Value::is_i64) {
        TypeKind::BigInt
    } else if all(Value::is_number) {
        TypeKind::Double
    } else if all(Value::is_array) {
        let elements: Vec<&Value> = present.iter().filter_map(|v| v.as_array()).flatten().collect();
        TypeKind::Array(Box::new(infer_type(&elements)))
    } else if all(Value::is_object) {
        let mut names: Vec<&String> = Vec::new();
        for key in present.iter().filter_map(|v| v.as_object()).flat_map(Map::keys) {
            if !names.contains(&key) {
                names.push(key);
            }
        }
        let field = |name: &String| {
            let inner: Vec<&Value> = present.iter().filter_map(|v| v.get(name)).collect();
            DataField::new(0, name, infer_type(&inner))
        };
        TypeKind::Row(names.into_iter().map(field).collect())
    } else {
        return DataType::string();
    })
}

pub(super) fn open(path: &Path, fields: &[DataField]) -> Result<Batches> {
    let mut lines = Lines::open(path)?;
    let fields = fields.to_vec();
    let schema = Arc::new(Schema::new(
        fields
            .iter()
            .map(|f| to_arrow_field(f).with_nullable(true))
            .collect::<Vec<_>>(),
    ));
    let mut next = move || -> Result<Option<RecordBatch>> {
        let mut rows = Vec::with_capacity(BATCH_ROWS);
        while rows.len() < BATCH_ROWS {
            let Some(row) = lines.next()? else { break };
            if let Some(key) = row.keys().find(|k| fields.iter().all(|f| f.name != **k)) {
                return Err(lines.at(Error::invalid(format!("the table has no column '{key}'"))));
            }
            rows.push(row);
        }
        if rows.is_empty() {
            return Ok(None);
        }
        let columns = fields
            .iter()
            .map(|field| {
                let values: Vec<Option<&Value>> = rows.iter().map(|row| row.get(&field.name)).collect();
                build(&values, &field.data_type).map_err(|e| lines.at(e.with("column", &field.name)))
            })
            .collect::<Result<Vec<_>>>()?;
        RecordBatch::try_new(schema.clone(), columns)
            .map(Some)
            .map_err(|e| lines.at(Error::invalid("the rows do not form a batch").with_source(e)))
    };
    let mut failed = false;
    Ok(Box::new(std::iter::from_fn(move || {
        if failed {
            return None;
        }
        let batch = next().transpose();
        failed = matches!(batch, Some(Err(_)));
        batch
    })))
}
