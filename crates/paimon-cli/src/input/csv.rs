// SPDX-License-Identifier: Apache-2.0

//! CSV with a header, in the form that `paimon scan --output csv` writes: an empty field is NULL, `""` the empty text, bytes are
//! hexadecimal, nested values JSON. A blank line is a NULL in a file of one column, else it is skipped.

mod infer;
mod records;

#[cfg(test)]
mod tests;

use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::StringBuilder;
use arrow_schema::Schema;
use paimon::types::{DataField, Error, JsonTree, Result, TypeKind, to_arrow_field};

use super::json_array::{array_of, build_column};
use super::text::{check_chars, from_text};
use super::{BATCH_ROWS, Batches, Places, Rows, Target, check_given, missing_partition, open_file};

pub(super) use infer::infer;
use records::Records;

/// A CSV file behind its header.
struct Csv {
    path: PathBuf,
    records: Records<BufReader<std::fs::File>>,
    names: Vec<String>,
}

impl Csv {
    fn open(path: &Path) -> Result<Self> {
        let mut records = Records::new(BufReader::with_capacity(1 << 18, open_file(path)?));
        let at_path = |e: Error| e.with("path", path.display());
        if !records.next().map_err(at_path)? {
            return Err(at_path(Error::invalid(
                "the file is empty; a CSV file begins with a header",
            )));
        }
        let mut names: Vec<String> = Vec::new();
        for index in 0..records.len() {
            let name = records.text(index).map_err(at_path)?.0;
            let name = match index {
                0 => name.trim_start_matches('\u{feff}'),
                _ => name,
            };
            if names.iter().any(|known| known == name) {
                return Err(at_path(Error::invalid(format!("the header has '{name}' twice"))));
            }
            names.push(name.to_owned());
        }
        Ok(Csv {
            path: path.to_path_buf(),
            records,
            names,
        })
    }

    /// Moves to the next row; false at the end.
    fn next(&mut self) -> Result<bool> {
        loop {
            if !self
                .records
                .next()
                .map_err(|e| e.with("path", self.path.display()))?
            {
                return Ok(false);
            }
            if self.records.is_blank() && self.names.len() > 1 {
                continue;
            }
            if self.records.len() != self.names.len() {
                let (found, wanted) = (self.records.len(), self.names.len());
                return Err(self.at(Error::invalid(format!(
                    "the row has {found} field(s), the header has {wanted}"
                ))));
            }
            return Ok(true);
        }
    }

    fn at(&self, error: Error) -> Error {
        error
            .with("path", self.path.display())
            .with("line", self.records.start_line())
    }
}

/// Fields of a batch of rows; one text for all, so that a cell costs no allocation.
#[derive(Default)]
struct Cells {
    text: String,
    /// Where each cell stands in the text, row after row; `None` for NULL.
    cells: Vec<Option<(usize, usize)>>,
    lines: Vec<usize>,
}

impl Cells {
    fn column(&self, index: usize, width: usize) -> Vec<Option<&str>> {
        let cells = self.cells.iter().skip(index).step_by(width);
        cells
            .map(|cell| cell.and_then(|(start, end)| self.text.get(start..end)))
            .collect()
    }
}

pub(super) fn open(path: &Path, target: &Arc<Target>) -> Result<Batches> {
    let mut csv = Csv::open(path)?;
    let mut columns = Vec::with_capacity(csv.names.len());
    for name in &csv.names {
        let field = target.fields.iter().find(|f| f.name == *name).ok_or_else(|| {
            let known: Vec<&str> = target.fields.iter().map(|f| f.name.as_str()).collect();
            let unknown = Error::invalid(format!(
                "the header has '{name}', which is no column of the table: {}",
                known.join(", ")
            ))
            .with("path", path.display());
            match csv.names.len() == 1 && name.contains([';', '\t', '|']) {
                true => unknown.with("hint", "fields are separated by commas"),
                false => unknown,
            }
        })?;
        columns.push(field.clone());
    }
    if let Some(missing) = missing_partition(target, |name| csv.names.iter().any(|n| n == name)) {
        return Err(missing.with("path", path.display()));
    }
    let target = Arc::clone(target);
    let mut next = move || -> Result<Option<Rows>> {
        let mut cells = Cells::default();
        while cells.lines.len() < BATCH_ROWS && csv.next()? {
            for index in 0..columns.len() {
                let (text, quoted) = csv.records.text(index).map_err(|e| csv.at(e))?;
                let start = cells.text.len();
                cells.text.push_str(text);
                let place = (start, cells.text.len());
                cells.cells.push((quoted || !text.is_empty()).then_some(place));
            }
            cells.lines.push(csv.records.start_line());
        }
        if cells.lines.is_empty() {
            return Ok(None);
        }
        let (mut fields, mut arrays) = (Vec::new(), Vec::new());
        for (index, field) in columns.iter().enumerate() {
            let at = |(row, err): (usize, Error)| {
                let err = err.with("path", csv.path.display());
                match cells.lines.get(row) {
                    Some(line) => err.with("line", line),
                    None => err,
                }
            };
            let array = column(&cells.column(index, columns.len()), field, &target).map_err(at)?;
            if !check_given(&target, field, &array, |_| true).map_err(at)? {
                fields.push(to_arrow_field(field).with_nullable(true));
                arrays.push(array);
            }
        }
        Rows::new(
            Schema::new(fields),
            arrays,
            Places::Lines(std::mem::take(&mut cells.lines)),
        )
        .map(Some)
        .map_err(|e| e.with("path", csv.path.display()))
    };
    Ok(Box::new(std::iter::from_fn(move || next().transpose()).fuse()))
}

/// The array of a column; an error comes with its row.
fn column(texts: &[Option<&str>], field: &DataField, target: &Target) -> Result<ArrayRef, (usize, Error)> {
    let data_type = &field.data_type;
    let at = |row: usize, e: Error| (row, e.with("column", &field.name));
    if matches!(data_type.kind, TypeKind::Char(_) | TypeKind::VarChar(_)) {
        let mut builder = StringBuilder::with_capacity(texts.len(), 0);
        for (row, text) in texts.iter().enumerate() {
            if let Some(text) = text {
                check_chars(text, data_type).map_err(|e| at(row, e))?;
            }
            builder.append_option(*text);
        }
        return Ok(Arc::new(builder.finish()));
    }
    if data_type.is_nested() || data_type.kind == TypeKind::Variant {
        let mut values = Vec::with_capacity(texts.len());
        for (row, text) in texts.iter().enumerate() {
            let value = text.map(JsonTree::parse).transpose().map_err(|e| at(row, e))?;
            if let Some(value) = &value {
                build_column(&[Some(value)], field, &target.zone).map_err(|e| (row, e))?;
            }
            values.push(value);
        }
        let values: Vec<Option<&JsonTree<'_>>> = values.iter().map(Option::as_ref).collect();
        return build_column(&values, field, &target.zone).map_err(|e| (0, e));
    }
    let mut values = Vec::with_capacity(texts.len());
    for (row, text) in texts.iter().enumerate() {
        values.push(match text {
            None => None,
            Some(text) => Some(from_text(text, data_type, &target.zone).map_err(|e| at(row, e))?),
        });
    }
    let made = array_of(values, field);
    made.map_err(|e| (usize::MAX, e))
}
