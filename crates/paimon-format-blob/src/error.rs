// SPDX-License-Identifier: Apache-2.0

//! Errors that name the file.

use paimon_types::{Error, ErrorKind};

/// An error of decoding `path`.
pub(crate) fn read_error(path: &str, error: Error) -> Error {
    let what = match error.kind() {
        ErrorKind::Corrupt => "blob file is damaged",
        _ => "cannot read blob file",
    };
    Error::new(error.kind(), format!("{what}: {}", error.message())).with("path", path)
}

/// An error of decoding a row of `path`.
pub(crate) fn row_error(path: &str, row: u64, error: Error) -> Error {
    let error = Error::new(error.kind(), format!("row {row}: {}", error.message()));
    read_error(path, error)
}
