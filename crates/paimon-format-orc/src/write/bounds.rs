// SPDX-License-Identifier: Apache-2.0

//! Bounds of values.

use super::proto::Message;
use super::statistics::Scope;
use super::temporal::{LAST_JULIAN_MILLIS, julian_millis};

/// Longer strings are cut in statistics.
const MAX_STRING_BYTES: usize = 1024;

/// Bounds as milliseconds and nanoseconds of the millisecond.
pub(super) type Instants = ((i64, u32), (i64, u32));

/// Bounds of timestamps, apart for those before 1582-10-15, for which Java has other numbers in statistics than in rows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    /// Those since 1582-10-15.
    late: Option<Instants>,
    /// Those before.
    early: Option<Instants>,
    /// Those before, in the Julian calendar.
    julian: Option<Instants>,
    /// True when Java takes the statistics of the file as they are (TIMESTAMP_LTZ that is not stored the legacy way).
    plain: bool,
}

impl Times {
    /// Of nothing; with `plain` Java takes the statistics of the file as they are.
    pub(super) fn new(plain: bool) -> Self {
        Times {
            plain,
            ..Times::default()
        }
    }

    /// Of nothing, for the same column.
    pub(super) fn empty(&self) -> Self {
        Times::new(self.plain)
    }

    #[inline]
    pub(super) fn add(&mut self, bound: (i64, u32)) {
        match julian_millis(bound.0) {
            None => widen(&mut self.late, Some((bound, bound))),
            Some(julian) => {
                widen(&mut self.early, Some((bound, bound)));
                // Ten days are in no Julian calendar and after the last of its days.
                let low = julian.min(LAST_JULIAN_MILLIS);
                widen(&mut self.julian, Some(((low, bound.1), (julian, bound.1))));
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Times) {
        widen(&mut self.late, other.late);
        widen(&mut self.early, other.early);
        widen(&mut self.julian, other.julian);
    }

    pub(super) fn bounds(&self, scope: Scope) -> Option<Instants> {
        let mut bounds = self.late;
        if scope == Scope::Part || self.plain {
            widen(&mut bounds, self.early);
        }
        if scope == Scope::Part || !self.plain {
            widen(&mut bounds, self.julian);
        }
        bounds
    }
}

/// Bounds leave out NaNs unless there is nothing else, and tell −0 from 0; a NaN shows in the sum, where readers look
/// for it. Those of a file with a NaN are not told: others would take the file for one without.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Doubles {
    pub(super) bounds: Option<(f64, f64)>,
    pub(super) sum: f64,
    pub(super) has_nan: bool,
}

impl Doubles {
    pub(super) fn add(&mut self, value: f64) {
        self.widen(value, value);
        self.sum += value;
        self.has_nan |= value.is_nan();
    }

    pub(super) fn widen(&mut self, low: f64, high: f64) {
        let Some((min, max)) = &mut self.bounds else {
            self.bounds = Some((low, high));
            return;
        };
        // Either both bounds are NaN or none.
        if min.is_nan() {
            (*min, *max) = (low, high);
        } else if !low.is_nan() {
            if low.total_cmp(min).is_lt() {
                *min = low;
            }
            if high.total_cmp(max).is_gt() {
                *max = high;
            }
        }
    }
}

/// Widens bounds by other ones.
pub(super) fn widen<T: PartialOrd + Copy>(bounds: &mut Option<(T, T)>, other: Option<(T, T)>) {
    let Some((low, high)) = other else { return };
    match bounds {
        Some((min, max)) => {
            if low < *min {
                *min = low;
            }
            if high > *max {
                *max = high;
            }
        }
        None => *bounds = other,
    }
}

/// Widens the bounds by `low` and `high`, copying only what changes them.
pub(super) fn widen_bytes(bounds: &mut Option<(Vec<u8>, Vec<u8>)>, low: &[u8], high: &[u8]) {
    match bounds {
        Some((min, max)) => {
            if low < min.as_slice() {
                min.clear();
                min.extend_from_slice(low);
            }
            if high > max.as_slice() {
                max.clear();
                max.extend_from_slice(high);
            }
        }
        None => *bounds = Some((low.to_vec(), high.to_vec())),
    }
}

/// Puts the bounds of strings into `StringStatistics`.
pub(super) fn string_bounds(min: &[u8], max: &[u8], message: &mut Message) {
    if min.len() > MAX_STRING_BYTES {
        message.bytes(4, prefix(min));
    } else {
        message.bytes(1, min);
    }
    match (max.len() > MAX_STRING_BYTES).then(|| upper_bound(prefix(max))) {
        Some(Some(bound)) => message.bytes(5, bound.as_bytes()),
        // Nothing of that length is greater: the value itself.
        _ => message.bytes(2, max),
    };
}

/// The longest prefix of whole characters that is not longer than is allowed.
fn prefix(text: &[u8]) -> &[u8] {
    let mut end = MAX_STRING_BYTES.min(text.len());
    // Bytes 10xxxxxx continue a character.
    while text.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}

/// The prefix with its last character that has a successor replaced by that.
fn upper_bound(prefix: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(prefix).ok()?;
    text.char_indices().rev().find_map(|(at, last)| {
        let next = match last {
            '\u{d7ff}' => '\u{e000}',
            other => char::from_u32(u32::from(other) + 1)?,
        };
        let mut bound = text.get(..at)?.to_owned();
        bound.push(next);
        (bound.len() <= MAX_STRING_BYTES + 3).then_some(bound)
    })
}
