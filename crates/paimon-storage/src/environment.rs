// SPDX-License-Identifier: Apache-2.0

//! Time and ids, injected so that tests repeat.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// A wall clock.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    fn now_millis(&self) -> i64;
}

/// A source of unique ids.
pub trait IdSource: Send + Sync + fmt::Debug {
    /// A new id in UUID text form, never returned before.
    fn next_uuid(&self) -> String;
}

/// The clock of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods)]
    fn now_millis(&self) -> i64 {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(elapsed) => i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX),
            Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
        }
    }
}

/// Random version 4 UUIDs.
#[derive(Clone, Copy, Debug, Default)]
pub struct UuidSource;

impl IdSource for UuidSource {
    #[allow(clippy::disallowed_methods)]
    fn next_uuid(&self) -> String {
        uuid::Uuid::new_v4().to_string()
    }
}

/// Clock and ids of a table handle.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Wall clock.
    pub clock: Arc<dyn Clock>,
    /// Ids of files and commits.
    pub ids: Arc<dyn IdSource>,
}

impl Default for Environment {
    fn default() -> Self {
        Environment {
            clock: Arc::new(SystemClock),
            ids: Arc::new(UuidSource),
        }
    }
}
