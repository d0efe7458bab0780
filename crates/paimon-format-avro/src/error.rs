// SPDX-License-Identifier: Apache-2.0

//! Errors that name file and format.

use arrow_schema::ArrowError;
use paimon_types::Error;

use crate::format::IDENTIFIER;

/// `error` of the file at `path`.
pub(crate) fn of_file(error: Error, path: &str) -> Error {
    let named = error.context().any(|(key, _)| key == "path");
    let error = error.with("format", IDENTIFIER);
    if named { error } else { error.with("path", path) }
}

/// A decoded column that Arrow refuses: text that is not UTF-8, offsets beyond 32 bits.
pub(crate) fn refused(error: ArrowError) -> Error {
    Error::corrupt(format!("stored value does not fit its type: {error}"))
}
