// SPDX-License-Identifier: Apache-2.0

//! Records of CSV text (RFC 4180) one at a time: fields, whether they were quoted, and the line where the record begins.
//!
//! The `csv` crate does not tell a quoted empty field from an empty one, which here is the difference between text and NULL.

use std::io::BufRead;

use paimon::types::{Error, Result};

/// Reads records from a file.
pub(super) struct Records<R> {
    reader: R,
    data: Vec<u8>,
    fields: Vec<Field>,
    /// Line where the record begins, from 1.
    start: usize,
    /// Line of the next byte.
    line: usize,
    /// The last byte was a carriage return that ended a record.
    after_return: bool,
}

#[derive(Clone, Copy)]
struct Field {
    end: usize,
    quoted: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Start,
    Plain,
    Quoted,
    /// Behind a quote of a quoted field: its end, or the first half of a doubled quote.
    Quote,
}

impl<R: BufRead> Records<R> {
    pub(super) fn new(reader: R) -> Self {
        Records {
            reader,
            data: Vec::new(),
            fields: Vec::new(),
            start: 1,
            line: 1,
            after_return: false,
        }
    }

    /// Number of fields of the record.
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    /// True for a record that is an empty line.
    pub(super) fn is_blank(&self) -> bool {
        matches!(self.fields.as_slice(), [only] if only.end == 0 && !only.quoted)
    }

    /// Line where the record begins, from 1.
    pub(super) fn start_line(&self) -> usize {
        self.start
    }

    /// Text of a field, and whether it was quoted.
    ///
    /// # Errors
    /// `InvalidInput` when it is not UTF-8.
    pub(super) fn text(&self, index: usize) -> Result<(&str, bool)> {
        let start = match index.checked_sub(1).and_then(|before| self.fields.get(before)) {
            Some(before) => before.end,
            None => 0,
        };
        let (end, quoted) = self
            .fields
            .get(index)
            .map_or((start, false), |f| (f.end, f.quoted));
        let bytes = self.data.get(start..end).unwrap_or_default();
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok((text, quoted)),
            Err(_) => Err(Error::invalid(format!("field {} is not UTF-8", index + 1))),
        }
    }

    /// Moves to the next record; false at the end of the file.
    ///
    /// # Errors
    /// `InvalidInput` with the line for a quote that is not closed, text behind a closing quote, and a file that cannot be read.
    pub(super) fn next(&mut self) -> Result<bool> {
        self.data.clear();
        self.fields.clear();
        self.start = self.line;
        let mut state = State::Start;
        let mut field_line = self.line;
        let mut any = false;
        loop {
            let buffer = self
                .reader
                .fill_buf()
                .map_err(|e| Error::invalid(format!("the file cannot be read: {e}")).with_source(e))?;
            if buffer.is_empty() {
                if state == State::Quoted {
                    return Err(Error::invalid("a quoted field is not closed").with("line", field_line));
                }
                if any {
                    self.fields.push(Field {
                        end: self.data.len(),
                        quoted: state == State::Quote,
                    });
                }
                return Ok(any);
            }
            let mut used = 0;
            let mut done = false;
            for byte in buffer {
                used += 1;
                if std::mem::take(&mut self.after_return) && *byte == b'\n' {
                    continue;
                }
                any = true;
                if state == State::Quoted {
                    match byte {
                        b'"' => state = State::Quote,
                        other => {
                            self.line += usize::from(*other == b'\n');
                            self.data.push(*other);
                        }
                    }
                    continue;
                }
                match byte {
                    b'"' if state == State::Start => {
                        state = State::Quoted;
                        field_line = self.line;
                    }
                    b'"' if state == State::Quote => {
                        self.data.push(b'"');
                        state = State::Quoted;
                    }
                    b',' | b'\n' | b'\r' => {
                        self.fields.push(Field {
                            end: self.data.len(),
                            quoted: state == State::Quote,
                        });
                        state = State::Start;
                        if *byte != b',' {
                            self.line += 1;
                            self.after_return = *byte == b'\r';
                            done = true;
                            break;
                        }
                    }
                    _ if state == State::Quote => {
                        return Err(Error::invalid(
                            "text stands behind the closing quote of a field; a quote inside is doubled",
                        )
                        .with("line", self.line));
                    }
                    other => {
                        state = State::Plain;
                        self.data.push(*other);
                    }
                }
            }
            self.reader.consume(used);
            if done {
                return Ok(true);
            }
        }
    }
}
