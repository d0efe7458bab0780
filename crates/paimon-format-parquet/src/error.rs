// SPDX-License-Identifier: Apache-2.0

//! Errors of the parquet and arrow crates as ours.

use std::io;

use arrow_schema::ArrowError;
use paimon_types::{Error, ErrorKind};
use parquet::errors::ParquetError;

/// An error of reading `path`. An error of the store that passed through the parquet crate comes out as it was.
pub(crate) fn read_error(path: &str, error: ParquetError) -> Error {
    match error {
        ParquetError::External(source) => match source.downcast::<Error>() {
            Ok(ours) => *ours,
            Err(source) => match source.downcast::<io::Error>() {
                Ok(error) => io_error(path, *error),
                Err(source) => corrupt(path, source.to_string()),
            },
        },
        ParquetError::NYI(message) => {
            Error::unsupported(format!("cannot read parquet file: {}", lower(&message))).with("path", path)
        }
        other => corrupt(path, strip(&other.to_string())),
    }
}

/// An error of decoding rows of `path`.
pub(crate) fn arrow_read_error(path: &str, error: ArrowError) -> Error {
    match error {
        ArrowError::ExternalError(source) => read_error(path, ParquetError::External(source)),
        ArrowError::IoError(_, error) => io_error(path, error),
        ArrowError::NotYetImplemented(message) => read_error(path, ParquetError::NYI(message)),
        other => corrupt(path, strip(&other.to_string())),
    }
}

/// An error of the operating system while `path` is read.
pub(crate) fn io_error(path: &str, error: io::Error) -> Error {
    if error.get_ref().is_some_and(|source| source.is::<Error>()) {
        if let Some(Ok(ours)) = error.into_inner().map(|source| source.downcast::<Error>()) {
            return *ours;
        }
        return Error::io("cannot read parquet file").with("path", path);
    }
    let kind = match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => ErrorKind::Corrupt,
        io::ErrorKind::NotFound => ErrorKind::NotFound,
        io::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
        _ => ErrorKind::Io,
    };
    Error::new(kind, format!("cannot read parquet file: {error}"))
        .with("path", path)
        .with_source(error)
}

/// A damaged file.
pub(crate) fn corrupt(path: &str, what: impl AsRef<str>) -> Error {
    Error::corrupt(format!("parquet file is damaged: {}", lower(what.as_ref()))).with("path", path)
}

/// An error of writing.
pub(crate) fn write_error(error: ParquetError) -> Error {
    Error::invalid(format!(
        "cannot write parquet: {}",
        lower(&strip(&error.to_string()))
    ))
    .with_source(error)
}

fn strip(message: &str) -> String {
    [
        "Parquet error: ",
        "Parquet argument error: ",
        "Parquet argument error: Parquet error: ",
        "EOF: ",
        "Arrow: ",
    ]
    .iter()
    .fold(message, |text, prefix| text.strip_prefix(prefix).unwrap_or(text))
    .to_string()
}

fn lower(message: &str) -> String {
    let message = message.trim_end_matches('.');
    let mut chars = message.chars();
    match chars.next() {
        // Acronyms stay.
        Some(first) if !chars.clone().next().is_some_and(char::is_uppercase) => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => message.to_string(),
    }
}
