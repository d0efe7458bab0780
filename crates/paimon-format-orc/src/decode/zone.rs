// SPDX-License-Identifier: Apache-2.0

//! Offsets of the zone that a writer lived in, as the Java library computes them.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use paimon_types::{Error, Result};

/// 2015-01-01 00:00:00 UTC in seconds since 1970, the zero of stored timestamps.
pub(crate) const ORC_EPOCH_SECONDS: i64 = 1_420_070_400;
/// 1900-01-01 00:00:00 UTC. `java.util.TimeZone` knows no changes before: it takes the standard offset of today.
const JAVA_FIRST_SECOND: i64 = -2_208_988_800;
/// Names of zones without offset.
const UTC: [&str; 12] = [
    "UTC",
    "GMT",
    "Z",
    "UCT",
    "Zulu",
    "Universal",
    "Greenwich",
    "Etc/UTC",
    "Etc/GMT",
    "Etc/UCT",
    "Etc/Zulu",
    "GMT0",
];
/// Names that only Java has.
const JAVA_ONLY: [(&str, &str); 23] = [
    ("ACT", "Australia/Darwin"),
    ("AET", "Australia/Sydney"),
    ("AGT", "America/Argentina/Buenos_Aires"),
    ("ART", "Africa/Cairo"),
    ("AST", "America/Anchorage"),
    ("BET", "America/Sao_Paulo"),
    ("BST", "Asia/Dhaka"),
    ("CAT", "Africa/Harare"),
    ("CNT", "America/St_Johns"),
    ("CST", "America/Chicago"),
    ("CTT", "Asia/Shanghai"),
    ("EAT", "Africa/Addis_Ababa"),
    ("ECT", "Europe/Paris"),
    ("IET", "America/Indiana/Indianapolis"),
    ("IST", "Asia/Kolkata"),
    ("JST", "Asia/Tokyo"),
    ("MIT", "Pacific/Apia"),
    ("NET", "Asia/Yerevan"),
    ("NST", "Pacific/Auckland"),
    ("PLT", "Asia/Karachi"),
    ("PNT", "America/Phoenix"),
    ("PRT", "America/Puerto_Rico"),
    ("PST", "America/Los_Angeles"),
];

/// A zone.
#[derive(Clone, Debug)]
pub(crate) struct Zone(Arc<Inner>);

#[derive(Debug)]
enum Inner {
    Utc,
    Fixed(i64),
    Changing {
        zone: TimeZone,
        /// Standard offset of today.
        standard: i64,
        /// The stretch of time that was asked for last and its offset.
        last: Mutex<(i64, i64, i64)>,
    },
}

impl Zone {
    /// UTC.
    pub(crate) fn utc() -> Self {
        Zone(Arc::new(Inner::Utc))
    }

    /// The zone of this name, as `java.util.TimeZone` names zones.
    ///
    /// # Errors
    /// `Unsupported` when there is none. (Java takes UTC.)
    pub(crate) fn get(name: &str) -> Result<Self> {
        let inner = if UTC.contains(&name) {
            Inner::Utc
        } else if let Some(offset) = custom(name) {
            Inner::Fixed(offset)
        } else {
            let iana = JAVA_ONLY
                .iter()
                .find(|(java, _)| *java == name)
                .map_or(name, |(_, iana)| iana);
            let zone = TimeZone::get(iana).map_err(|e| {
                Error::unsupported(format!(
                    "orc file has times of zone {name:?}, which is not known: {e}"
                ))
            })?;
            let standard = standard_offset(&zone);
            Inner::Changing {
                zone,
                standard,
                last: Mutex::new((0, 0, 0)),
            }
        };
        Ok(Zone(Arc::new(inner)))
    }

    /// True when the offset is always 0.
    pub(crate) fn is_utc(&self) -> bool {
        matches!(*self.0, Inner::Utc | Inner::Fixed(0))
    }

    /// What clocks show at second `second` since 1970-01-01 UTC, less that: seconds.
    pub(crate) fn offset(&self, second: i64) -> i64 {
        match &*self.0 {
            Inner::Utc => 0,
            Inner::Fixed(offset) => *offset,
            Inner::Changing { standard, .. } if second < JAVA_FIRST_SECOND => *standard,
            Inner::Changing { zone, last, .. } => {
                let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
                if second < last.0 || second >= last.1 {
                    *last = stretch(zone, second);
                }
                last.2
            }
        }
    }

    /// The second at which the clocks of the zone show 2015-01-01 00:00:00.
    pub(crate) fn orc_epoch(&self) -> i64 {
        let near = ORC_EPOCH_SECONDS - self.offset(ORC_EPOCH_SECONDS);
        ORC_EPOCH_SECONDS - self.offset(near)
    }
}

fn timestamp(second: i64) -> Timestamp {
    // Farther away the rules of the ends go on.
    let second = second.clamp(Timestamp::MIN.as_second() + 1, Timestamp::MAX.as_second() - 1);
    Timestamp::from_second(second).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// The stretch of time around `second` without a change, and its offset.
fn stretch(zone: &TimeZone, second: i64) -> (i64, i64, i64) {
    let at = timestamp(second);
    let offset = i64::from(zone.to_offset(at).seconds());
    // Changes come at whole seconds; a preceding one is before its argument.
    let after = timestamp(second.saturating_add(1));
    let start = zone
        .preceding(after)
        .next()
        .map_or(i64::MIN, |t| t.timestamp().as_second());
    let end = zone
        .following(at)
        .next()
        .map_or(i64::MAX, |t| t.timestamp().as_second());
    (start.max(JAVA_FIRST_SECOND), end, offset)
}

/// The offset without daylight saving after the last known change.
fn standard_offset(zone: &TimeZone) -> i64 {
    // 2037 is the last year that Java lists changes of.
    let (january, july) = (2_114_380_800, 2_130_019_200);
    [january, july]
        .into_iter()
        .map(timestamp)
        .find(|at| !zone.to_offset_info(*at).dst().is_dst())
        .map_or(0, |at| i64::from(zone.to_offset(at).seconds()))
}

/// `GMT+h`, `GMT+hh`, `GMT+hmm`, `GMT+hhmm`, `GMT+h:mm` and `GMT+hh:mm` in seconds.
fn custom(name: &str) -> Option<i64> {
    let rest = name.strip_prefix("GMT").or_else(|| name.strip_prefix("UTC"))?;
    let (sign, rest) = match rest.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = match rest.split_once(':') {
        Some((hours, minutes)) if minutes.len() == 2 => (hours, minutes),
        Some(_) => return None,
        None if rest.len() <= 2 => (rest, "0"),
        None => rest.split_at_checked(rest.len() - 2)?,
    };
    let number = |text: &str| {
        let digits = (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
        text.parse::<i64>().ok().filter(|_| digits)
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}
