// SPDX-License-Identifier: Apache-2.0

//! Store errors to the kinds of the project.

use std::io;
use std::ops::Range;

use paimon_types::{Error, ErrorKind};

/// Maps an object store error; `doing` is an infinitive such as "read".
#[cfg(feature = "object-store")]
pub(crate) fn from_object(err: object_store::Error, doing: &str, path: &str) -> Error {
    use object_store::Error as E;
    let (kind, text) = match &err {
        E::NotFound { .. } => (ErrorKind::NotFound, "file does not exist".to_owned()),
        E::AlreadyExists { .. } => (ErrorKind::AlreadyExists, "file exists already".to_owned()),
        E::Precondition { .. } | E::NotModified { .. } => (
            ErrorKind::Conflict,
            format!("cannot {doing} the file: it changed meanwhile"),
        ),
        E::PermissionDenied { .. } | E::Unauthenticated { .. } => (
            ErrorKind::PermissionDenied,
            format!("no permission to {doing} the file"),
        ),
        E::NotSupported { .. } | E::NotImplemented { .. } => (
            ErrorKind::Unsupported,
            format!("the store cannot {doing} files in this way"),
        ),
        E::InvalidPath { .. } => (
            ErrorKind::InvalidInput,
            "the path is not valid in this store".to_owned(),
        ),
        E::UnknownConfigurationKey { .. } => (ErrorKind::InvalidInput, "unknown storage option".to_owned()),
        _ => (ErrorKind::Io, format!("failed to {doing} the file")),
    };
    Error::new(kind, text).with("path", path).with_source(err)
}

/// Maps an error of the operating system.
pub(crate) fn from_io(err: io::Error, doing: &str, path: &str) -> Error {
    let (kind, text) = match err.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            (ErrorKind::NotFound, "file does not exist".to_owned())
        }
        io::ErrorKind::AlreadyExists => (ErrorKind::AlreadyExists, "file exists already".to_owned()),
        io::ErrorKind::PermissionDenied => (
            ErrorKind::PermissionDenied,
            format!("no permission to {doing} the file"),
        ),
        io::ErrorKind::UnexpectedEof => (
            ErrorKind::Corrupt,
            format!("cannot {doing} the file: it is shorter than expected"),
        ),
        _ => (ErrorKind::Io, format!("failed to {doing} the file")),
    };
    Error::new(kind, text).with("path", path).with_source(err)
}

/// A range that reaches past the end.
pub(crate) fn past_end(range: &Range<u64>, got: u64, path: &str) -> Error {
    Error::corrupt(format!(
        "file is shorter than expected: range {}..{} gave {got} bytes instead of {}",
        range.start,
        range.end,
        range.end.saturating_sub(range.start)
    ))
    .with("path", path)
}

/// True when the error says that the file is not there.
pub(crate) fn is_absent(err: &io::Error) -> bool {
    matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
