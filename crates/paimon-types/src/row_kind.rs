// SPDX-License-Identifier: Apache-2.0

//! What a row does to the table (Java `RowKind`).

use crate::{Error, Result};

/// Kind of a row in a changelog (Java `RowKind`; `semantics.md` 1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowKind {
    /// `+I`: a new row.
    Insert,
    /// `-U`: the old content of a row that changes.
    UpdateBefore,
    /// `+U`: the new content of a row that changes.
    UpdateAfter,
    /// `-D`: the row is gone.
    Delete,
}

impl RowKind {
    /// The byte of the `_VALUE_KIND` column.
    pub fn to_byte(self) -> i8 {
        match self {
            RowKind::Insert => 0,
            RowKind::UpdateBefore => 1,
            RowKind::UpdateAfter => 2,
            RowKind::Delete => 3,
        }
    }

    /// The kind of a `_VALUE_KIND` byte.
    ///
    /// # Errors
    /// `Corrupt` with the number found.
    pub fn from_byte(byte: i8) -> Result<Self> {
        match byte {
            0 => Ok(RowKind::Insert),
            1 => Ok(RowKind::UpdateBefore),
            2 => Ok(RowKind::UpdateAfter),
            3 => Ok(RowKind::Delete),
            other => Err(Error::corrupt(format!(
                "the row kind is {other}, expected 0 (+I), 1 (-U), 2 (+U) or 3 (-D)"
            ))),
        }
    }

    /// `+I`, `-U`, `+U` or `-D`.
    pub fn as_str(self) -> &'static str {
        match self {
            RowKind::Insert => "+I",
            RowKind::UpdateBefore => "-U",
            RowKind::UpdateAfter => "+U",
            RowKind::Delete => "-D",
        }
    }

    /// The kind of its short text.
    ///
    /// # Errors
    /// `InvalidInput` with the text found.
    pub fn parse(text: &str) -> Result<Self> {
        match text {
            "+I" => Ok(RowKind::Insert),
            "-U" => Ok(RowKind::UpdateBefore),
            "+U" => Ok(RowKind::UpdateAfter),
            "-D" => Ok(RowKind::Delete),
            other => Err(Error::invalid(format!(
                "the row kind is '{other}', expected '+I', '-U', '+U' or '-D'"
            ))),
        }
    }

    /// True for −U and −D.
    pub fn is_retract(self) -> bool {
        matches!(self, RowKind::UpdateBefore | RowKind::Delete)
    }
}
