// SPDX-License-Identifier: Apache-2.0

//! Time and ids, injected so that tests repeat.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{Offset as _, TimeZone as _};

/// A wall clock.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    fn now_millis(&self) -> i64;

    /// The wall clock of the local time zone at the instant `at_millis`, in milliseconds as if it were UTC: the form of
    /// the creation times of data files and tags. The default has no zone: local time is UTC.
    fn to_local_millis(&self, at_millis: i64) -> i64 {
        at_millis
    }

    /// [`Clock::to_local_millis`] of now.
    fn now_local_millis(&self) -> i64 {
        self.to_local_millis(self.now_millis())
    }
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

    fn to_local_millis(&self, at_millis: i64) -> i64 {
        let offset = match chrono::Local.timestamp_millis_opt(at_millis) {
            chrono::MappedLocalTime::Single(at) => at.offset().fix().local_minus_utc(),
            _ => 0,
        };
        at_millis.saturating_add(i64::from(offset) * 1000)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Fixed;

    impl Clock for Fixed {
        fn now_millis(&self) -> i64 {
            5
        }
    }

    #[test]
    fn clocks() {
        assert_eq!(Fixed.now_local_millis(), 5);
        let now = SystemClock.now_millis();
        assert!(now > 1_500_000_000_000);
        // no zone is further away than a day
        assert!((SystemClock.to_local_millis(now) - now).abs() <= 24 * 3_600_000);
        assert_ne!(UuidSource.next_uuid(), UuidSource.next_uuid());
    }
}
