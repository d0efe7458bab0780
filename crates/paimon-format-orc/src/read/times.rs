// SPDX-License-Identifier: Apache-2.0

//! Stored seconds and nanoseconds as timestamps, in the way of the Java library (`TimestampTreeReader`).

use arrow_schema::TimeUnit;
use paimon_types::{Error, Result};

use crate::decode::{ORC_EPOCH_SECONDS, Zone, nanos_of};
use crate::error::damaged;

/// The option that lets timestamps be read in microseconds.
const UNIT_OPTION: &str = "read.timestamp-unit";

/// What stored seconds count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// From 2015 in the writer's zone; the value is what the clocks of that zone show.
    WallClock,
    /// From 2015 in UTC; the value is that instant.
    Instant,
    /// From 2015 in UTC; the value is what clocks of the writer's zone show at that instant (TIMESTAMP_LTZ under
    /// `orc.timestamp-ltz.legacy.type`).
    LegacyInstant,
}

/// Converts stored seconds.
#[derive(Debug)]
pub(crate) struct Clock {
    base: i64,
    /// The zone whose clocks are read; `None` for UTC.
    zone: Option<Zone>,
}

impl Clock {
    pub(crate) fn new(reading: Reading, writer: Zone) -> Self {
        let base = match reading {
            Reading::WallClock => writer.orc_epoch(),
            Reading::Instant | Reading::LegacyInstant => ORC_EPOCH_SECONDS,
        };
        let zone = (reading != Reading::Instant && !writer.is_utc()).then_some(writer);
        Clock { base, zone }
    }

    /// Replaces `seconds` by timestamps of `unit`. Finer digits are cut towards the past.
    ///
    /// # Errors
    /// `InvalidInput` that names the option when one does not fit, `Corrupt` when the nanoseconds are none.
    pub(crate) fn convert(&self, seconds: &mut [i64], nanos: &[i64], unit: TimeUnit) -> Result<()> {
        let (per_second, divisor) = match unit {
            TimeUnit::Second => (1, 1_000_000_000),
            TimeUnit::Millisecond => (1_000, 1_000_000),
            TimeUnit::Microsecond => (1_000_000, 1_000),
            TimeUnit::Nanosecond => (1_000_000_000, 1),
        };
        for (value, stored) in seconds.iter_mut().zip(nanos) {
            let nanos = nanos_of(*stored).ok_or_else(|| {
                damaged(format!(
                    "a timestamp has {stored} where nanoseconds of a second are expected"
                ))
            })?;
            let instant = self
                .instant(*value, nanos)
                .ok_or_else(|| too_large(*value, unit))?;
            let clock = match &self.zone {
                Some(zone) => instant.checked_add(zone.offset(instant.saturating_sub(i64::from(nanos < 0)))),
                None => Some(instant),
            };
            *value = clock
                .and_then(|second| {
                    i64::try_from(i128::from(second) * per_second + i128::from(nanos.div_euclid(divisor)))
                        .ok()
                })
                .ok_or_else(|| too_large(instant, unit))?;
        }
        Ok(())
    }

    /// The second since 1970. Writers cut seconds before 1970 towards zero, so that one is missing when there are
    /// milliseconds; for those of the second before 1970 itself nothing tells, and they come out a second late, in Java
    /// as here.
    fn instant(&self, stored: i64, nanos: i64) -> Option<i64> {
        let second = stored.checked_add(self.base)?;
        if second < 0 && nanos > 999_999 {
            second.checked_sub(1)
        } else {
            Some(second)
        }
    }
}

fn too_large(second: i64, unit: TimeUnit) -> Error {
    let unit = match unit {
        TimeUnit::Second => "seconds",
        TimeUnit::Millisecond => "milliseconds",
        TimeUnit::Microsecond => "microseconds",
        TimeUnit::Nanosecond => "nanoseconds",
    };
    Error::invalid(format!(
        "timestamp of {second} seconds since 1970-01-01 does not fit 64-bit {unit}, set the option to 'us' to read microseconds"
    ))
    .with("option", UNIT_OPTION)
}
