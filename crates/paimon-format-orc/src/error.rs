// SPDX-License-Identifier: Apache-2.0

//! Errors of this crate.

use std::any::Any;

use paimon_types::Error;

/// A damaged file. The path is added where it is known.
pub(crate) fn damaged(what: impl AsRef<str>) -> Error {
    Error::corrupt(format!("orc file is damaged: {}", what.as_ref()))
}

/// `error` with the file that it came from, unless it tells one.
pub(crate) fn at(path: &str, error: Error) -> Error {
    if error.context().any(|(key, _)| key == "path") {
        error
    } else {
        error.with("path", path)
    }
}

/// A panic of a codec, or of ours.
pub(crate) fn panic_error(action: &str, payload: Box<dyn Any + Send>) -> Error {
    let text = payload
        .downcast_ref::<&str>()
        .map(|s| (*s).to_string())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_string());
    Error::corrupt(format!("panic while {action}: {text}"))
}
