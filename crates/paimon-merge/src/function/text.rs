// SPDX-License-Identifier: Apache-2.0

//! `listagg` (Java `FieldListaggAgg`).

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, StringArray};
use paimon_types::{Error, Result};

use super::column::{Column, ColumnFunction};
use super::program::{Op, Program};

/// Texts joined by a delimiter.
#[derive(Clone, Debug)]
pub(super) struct ListAgg {
    pub(super) delimiter: String,
    pub(super) distinct: bool,
    pub(super) ignore_retract: bool,
}

impl ListAgg {
    /// Java `agg(accumulator, inputField)`: blank texts are nothing. True when `accumulator` stays, else it is replaced by `joined`.
    fn join(&self, accumulator: Option<&str>, input: Option<&str>, joined: &mut String) -> Joined {
        let Some(input) = input.filter(|text| !is_blank(text)) else {
            return Joined::Accumulator;
        };
        let Some(accumulator) = accumulator.filter(|text| !is_blank(text)) else {
            return Joined::Input;
        };
        joined.clear();
        joined.push_str(accumulator);
        if !self.distinct {
            joined.push_str(&self.delimiter);
            joined.push_str(input);
            return Joined::Both;
        }
        // Java splits at blanks where the delimiter is empty.
        let separator = if self.delimiter.is_empty() {
            " "
        } else {
            self.delimiter.as_str()
        };
        let mut seen: HashSet<&str> = accumulator.split(separator).collect();
        for token in input.split(separator) {
            if !is_blank(token) && seen.insert(token) {
                joined.push_str(&self.delimiter);
                joined.push_str(token);
            }
        }
        Joined::Both
    }
}

/// What [`ListAgg::join`] gives.
enum Joined {
    Accumulator,
    Input,
    Both,
}

impl ColumnFunction for ListAgg {
    fn merge(&self, column: &Column<'_>, program: &Program) -> Result<ArrayRef> {
        let arrays = column.typed::<StringArray>()?;
        let mut out = StringBuilder::new();
        let (mut value, mut joined) = (String::new(), String::new());
        let mut bytes = 0usize;
        for steps in program.keys() {
            let mut present = false;
            value.clear();
            for step in steps {
                let array = arrays.get(step.source as usize).filter(|_| column.is_valid(step));
                let input = array.map(|array| array.value(step.row as usize));
                let current = present.then_some(value.as_str());
                let result = match step.op {
                    Op::Pass | Op::Set => {
                        present = input.is_some();
                        value.clear();
                        value.push_str(input.unwrap_or_default());
                        continue;
                    }
                    Op::Retract | Op::RetractOlder if self.ignore_retract => continue,
                    Op::Retract | Op::RetractOlder => return Err(column.cannot_retract("listagg")),
                    Op::Add => self.join(current, input, &mut joined),
                    Op::AddOlder => match self.join(input, current, &mut joined) {
                        Joined::Accumulator => Joined::Input,
                        Joined::Input => Joined::Accumulator,
                        Joined::Both => Joined::Both,
                    },
                };
                match result {
                    Joined::Accumulator => {}
                    Joined::Input => {
                        present = input.is_some();
                        value.clear();
                        value.push_str(input.unwrap_or_default());
                    }
                    Joined::Both => std::mem::swap(&mut value, &mut joined),
                }
            }
            if !present {
                out.append_null();
                continue;
            }
            bytes += value.len();
            if i32::try_from(bytes).is_err() {
                let problem = format!("{bytes} bytes of joined texts do not fit into one array");
                return Err(Error::resources(problem).with("column", column.name));
            }
            out.append_value(&value);
        }
        Ok(Arc::new(out.finish()))
    }
}

/// Java `StringUtils.isBlank`.
fn is_blank(text: &str) -> bool {
    text.chars().all(is_java_whitespace)
}

/// Java `Character.isWhitespace`.
fn is_java_whitespace(c: char) -> bool {
    matches!(c,
        '\t'..='\r' | '\u{1c}'..='\u{20}' | '\u{1680}' | '\u{2000}'..='\u{2006}' | '\u{2008}'..='\u{200a}'
        | '\u{2028}' | '\u{2029}' | '\u{205f}' | '\u{3000}')
}
