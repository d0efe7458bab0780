// SPDX-License-Identifier: Apache-2.0

//! The one error type of the project: a small kind that says what the caller can do, a message, context pairs, a source.

use std::error::Error as StdError;
use std::fmt;

/// Result with the project's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

type Source = Box<dyn StdError + Send + Sync + 'static>;

/// What the caller can do about an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The call, an option or a value is wrong: fix the call.
    InvalidInput,
    /// A database, table, snapshot, tag or file does not exist.
    NotFound,
    /// A database, table or file exists already.
    AlreadyExists,
    /// The input is legal but this build does not implement it: use another engine or another option.
    Unsupported,
    /// Stored bytes contradict the format: the file is damaged or was written by something unknown.
    Corrupt,
    /// Another writer won: plan again from the new state.
    Conflict,
    /// The store failed; the same call may succeed later.
    Io,
    /// The store refused the credentials.
    PermissionDenied,
    /// A memory or size budget was exceeded: raise the budget or ask for less.
    ResourcesExhausted,
    /// The outcome of a commit could not be settled: read the table before trying again.
    Unknown,
}

impl ErrorKind {
    /// Lower-case name used in logs.
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorKind::InvalidInput => "invalid input",
            ErrorKind::NotFound => "not found",
            ErrorKind::AlreadyExists => "already exists",
            ErrorKind::Unsupported => "unsupported",
            ErrorKind::Corrupt => "corrupt",
            ErrorKind::Conflict => "conflict",
            ErrorKind::Io => "i/o",
            ErrorKind::PermissionDenied => "permission denied",
            ErrorKind::ResourcesExhausted => "resources exhausted",
            ErrorKind::Unknown => "unknown outcome",
        }
    }
}

/// An error for the person who must act: kind, message, context (path, table, option, snapshot), source.
///
/// `Display` is one line without the source chain; walk [`std::error::Error::source`] for the chain.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    context: Vec<(&'static str, String)>,
    source: Option<Source>,
}

impl Error {
    /// Makes an error of `kind` with a lower-case message without trailing dot.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner {
            kind,
            message: message.into(),
            context: Vec::new(),
            source: None,
        }))
    }

    /// [`ErrorKind::InvalidInput`].
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidInput, message)
    }

    /// [`ErrorKind::NotFound`].
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// [`ErrorKind::AlreadyExists`].
    pub fn already_exists(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::AlreadyExists, message)
    }

    /// [`ErrorKind::Unsupported`].
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// [`ErrorKind::Corrupt`].
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt, message)
    }

    /// [`ErrorKind::Conflict`].
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Conflict, message)
    }

    /// [`ErrorKind::Io`].
    pub fn io(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Io, message)
    }

    /// [`ErrorKind::ResourcesExhausted`].
    pub fn resources(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::ResourcesExhausted, message)
    }

    /// Adds a context pair, shown as `key: value`; keys are `path`, `table`, `option`, `snapshot`, `column` …
    #[must_use]
    pub fn with(mut self, key: &'static str, value: impl fmt::Display) -> Self {
        self.0.context.push((key, value.to_string()));
        self
    }

    /// Sets the underlying error.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Source>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What the caller can do.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message without context and source.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The context pairs in the order in which they were added (innermost first).
    pub fn context(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.context.iter().map(|(k, v)| (*k, v.as_str()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        // An option that the message names already is not named again, and what to do stands at the end.
        let mut open = false;
        let hint = |pair: &&(&'static str, String)| pair.0 == "hint";
        let others = self.0.context.iter().filter(|pair| !hint(pair));
        for (key, value) in others.chain(self.0.context.iter().filter(hint)) {
            if *key == "option" && self.0.message.contains(value.as_str()) {
                continue;
            }
            f.write_str(if open { ", " } else { " (" })?;
            write!(f, "{key}: {value}")?;
            open = true;
        }
        f.write_str(if open { ")" } else { "" })
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.kind.as_str(), self.0.message)?;
        for (key, value) in &self.0.context {
            write!(f, "\n  {key}: {value}")?;
        }
        let mut source = self.source();
        while let Some(err) = source {
            write!(f, "\n  caused by: {err}")?;
            source = err.source();
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0
            .source
            .as_ref()
            .map(|s| s.as_ref() as &(dyn StdError + 'static))
    }
}
