// SPDX-License-Identifier: Apache-2.0

//! JSON lines in the form that `paimon scan --output jsonl` writes; missing keys are NULL.

mod infer;

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::Schema;
use paimon::types::{DataField, Error, JsonTree, Result, to_arrow_field};

use super::json_array::build_column;
use super::{
    BATCH_ROWS, Batches, Places, Rows, Target, check_given, missing_partition, open_file, unreadable,
};

pub(super) use infer::infer;

/// Lines that are not blank.
struct Block {
    text: String,
    lines: Vec<Line>,
}

/// A line of a block: its place in the text and its number in the file.
struct Line {
    start: usize,
    end: usize,
    number: usize,
}

/// Lines with their numbers.
struct Lines {
    path: PathBuf,
    reader: BufReader<std::fs::File>,
    number: usize,
}

impl Lines {
    fn open(path: &Path) -> Result<Self> {
        Ok(Lines {
            path: path.to_path_buf(),
            reader: BufReader::with_capacity(1 << 20, open_file(path)?),
            number: 0,
        })
    }

    /// Up to `count` lines that are not blank; none at the end.
    fn next(&mut self, count: usize) -> Result<Block> {
        let (mut text, mut lines) = (String::new(), Vec::new());
        while lines.len() < count {
            let start = text.len();
            self.number += 1;
            let read = self.reader.read_line(&mut text).map_err(|e| {
                let err = unreadable(&self.path, e);
                err.with("line", self.number)
            })?;
            if read == 0 {
                break;
            }
            if self.number == 1 && text.starts_with('\u{feff}') {
                text.drain(..'\u{feff}'.len_utf8());
            }
            if text.get(start..).is_some_and(|line| !line.trim().is_empty()) {
                lines.push(Line {
                    start,
                    end: text.len(),
                    number: self.number,
                });
            }
        }
        Ok(Block { text, lines })
    }

    fn at(&self, error: Error, line: usize) -> Error {
        error.with("path", self.path.display()).with("line", line)
    }

    /// The lines of [`Lines::next`] as objects.
    fn parse<'a>(&self, block: &'a Block) -> Result<Vec<JsonTree<'a>>> {
        let mut rows = Vec::with_capacity(block.lines.len());
        for Line { start, end, number } in &block.lines {
            let line = block.text.get(*start..*end).unwrap_or_default();
            match JsonTree::parse(line) {
                Ok(row @ JsonTree::Object(_)) => rows.push(row),
                Ok(_) => return Err(self.at(Error::invalid("a line is not a JSON object"), *number)),
                Err(err) => {
                    let err = Error::new(
                        err.kind(),
                        format!("a line is not a row of JSON: {}", err.message()),
                    );
                    return Err(self.at(err, *number));
                }
            }
        }
        Ok(rows)
    }
}

pub(super) fn open(path: &Path, target: &Arc<Target>) -> Result<Batches> {
    let mut lines = Lines::open(path)?;
    let target = Arc::clone(target);
    let mut seen: HashSet<String> = HashSet::new();
    let mut next = move || -> Result<Option<Rows>> {
        let block = lines.next(BATCH_ROWS)?;
        if block.lines.is_empty() {
            // Only here it is known that no row of the file has a key.
            let empty = seen.is_empty();
            return match missing_partition(&target, |name| empty || seen.contains(name)) {
                Some(missing) => Err(missing.with("path", lines.path.display())),
                None => Ok(None),
            };
        }
        let rows = lines.parse(&block)?;
        let line_of = |row: usize| block.lines.get(row).map_or(lines.number, |line| line.number);
        for (row, object) in rows.iter().enumerate() {
            let JsonTree::Object(members) = object else {
                continue;
            };
            for (index, (key, _)) in members.iter().enumerate() {
                let here = target.fields.get(index).is_some_and(|f| f.name == *key);
                if !here && target.fields.iter().all(|f| f.name != *key) {
                    let known: Vec<&str> = target.fields.iter().map(|f| f.name.as_str()).collect();
                    let unknown = Error::invalid(format!(
                        "the table has no column '{key}', it has: {}",
                        known.join(", ")
                    ));
                    return Err(lines.at(unknown, line_of(row)));
                }
            }
        }
        let (mut fields, mut arrays) = (Vec::new(), Vec::new());
        for (index, field) in target.fields.iter().enumerate() {
            let values: Vec<Option<&JsonTree<'_>>> =
                rows.iter().map(|row| member(row, index, &field.name)).collect();
            let given = target.given.iter().any(|(f, _)| f.name == field.name);
            if values.iter().all(Option::is_none) {
                // The default of the column, or the given value, is filled in later.
                if given || field.default_value.is_some() {
                    continue;
                }
            } else if !seen.contains(&field.name) {
                seen.insert(field.name.clone());
            }
            let array = build_column(&values, field, &target.zone).map_err(|e| {
                let row = culprit(&values, field, &target);
                lines.at(e, line_of(row))
            })?;
            let is_given = check_given(&target, field, &array, |row| {
                values.get(row).is_some_and(Option::is_some)
            })
            .map_err(|(row, e)| lines.at(e, line_of(row)))?;
            if !is_given {
                fields.push(to_arrow_field(field).with_nullable(true));
                arrays.push(array);
            }
        }
        // A file of empty objects has seen nothing, and is not empty.
        seen.insert(String::new());
        let numbers = block.lines.iter().map(|line| line.number).collect();
        Rows::new(Schema::new(fields), arrays, Places::Lines(numbers))
            .map(Some)
            .map_err(|e| e.with("path", lines.path.display()))
    };
    let mut done = false;
    Ok(Box::new(std::iter::from_fn(move || {
        if done {
            return None;
        }
        let rows = next().transpose();
        done = !matches!(rows, Some(Ok(_)));
        rows
    })))
}

/// The member of an object that most likely stands at the index of its column.
fn member<'a, 'b>(row: &'a JsonTree<'b>, index: usize, name: &str) -> Option<&'a JsonTree<'b>> {
    match row {
        JsonTree::Object(members) => match members.get(index) {
            Some((key, value)) if key == name => Some(value),
            _ => row.get(name),
        },
        _ => None,
    }
}

/// The first row whose value alone cannot be built.
fn culprit(values: &[Option<&JsonTree<'_>>], field: &DataField, target: &Target) -> usize {
    values
        .iter()
        .position(|value| build_column(&[*value], field, &target.zone).is_err())
        .unwrap_or(0)
}
