// SPDX-License-Identifier: Apache-2.0

//! Statistics of a column over a row group, a stripe or a file (Java `ColumnStatisticsImpl`).

use super::decimal::decimal_text;
use super::proto::Message;
use super::temporal::{LAST_JULIAN_MILLIS, julian_millis};
use super::types::Kind;

/// Longer strings are cut in statistics.
const MAX_STRING_BYTES: usize = 1024;
/// Nanoseconds of the millisecond that are not written: 0 for a minimum, the largest for a maximum.
const DEFAULT_MAX_NANOS: u32 = 999_999;

/// Statistics that are being collected.
#[derive(Clone, Debug)]
pub(super) struct Statistics {
    /// Values that are not NULL.
    pub(super) count: u64,
    pub(super) has_null: bool,
    /// Bytes of the data streams of the column.
    pub(super) bytes_on_disk: u64,
    pub(super) values: Values,
}

/// What is collected of the values of a type.
#[derive(Clone, Debug)]
pub(super) enum Values {
    /// Nothing (ROW).
    None,
    /// Number of `true`.
    Boolean(u64),
    /// Bounds and sum.
    Integer {
        bounds: Option<(i64, i64)>,
        sum: i128,
    },
    Double(Doubles),
    /// Bounds, whole, and the sum of the lengths.
    String {
        bounds: Option<(Vec<u8>, Vec<u8>)>,
        sum: u64,
    },
    /// Unscaled bounds and sum; no sum after an overflow.
    Decimal {
        scale: u8,
        bounds: Option<(i128, i128)>,
        sum: Option<i128>,
    },
    /// Days.
    Date(Option<(i32, i32)>),
    /// Sum of the lengths.
    Binary(u64),
    Timestamp(Times),
    /// Bounds and sum of the lengths.
    Collection {
        bounds: Option<(u64, u64)>,
        total: u64,
    },
}

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

    fn merge(&mut self, other: &Times) {
        widen(&mut self.late, other.late);
        widen(&mut self.early, other.early);
        widen(&mut self.julian, other.julian);
    }

    fn bounds(&self, scope: Scope) -> Option<Instants> {
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

/// What statistics are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// A row group or a stripe, which readers leave out by them: whatever they look for is within the bounds.
    Part,
    /// The file, whose bounds are told to others: as Java's.
    File,
}

/// Bounds leave out NaNs unless there is nothing else, and tell −0 from 0; a NaN shows in the sum, where readers look
/// for it. Those of a file with a NaN are not told: others would take the file for one without.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Doubles {
    bounds: Option<(f64, f64)>,
    sum: f64,
    has_nan: bool,
}

impl Doubles {
    pub(super) fn add(&mut self, value: f64) {
        self.widen(value, value);
        self.sum += value;
        self.has_nan |= value.is_nan();
    }

    fn widen(&mut self, low: f64, high: f64) {
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

impl Statistics {
    fn new(values: Values) -> Self {
        Statistics {
            count: 0,
            has_null: false,
            bytes_on_disk: 0,
            values,
        }
    }

    /// Statistics of nothing, for columns of this kind; `legacy_ltz` is `orc.timestamp-ltz.legacy.type`.
    pub(super) fn of(kind: Kind, legacy_ltz: bool) -> Self {
        Statistics::new(match kind {
            Kind::Boolean => Values::Boolean(0),
            Kind::Byte | Kind::Short | Kind::Int | Kind::Long => Values::Integer { bounds: None, sum: 0 },
            Kind::Float | Kind::Double => Values::Double(Doubles::default()),
            Kind::String | Kind::Varchar(_) | Kind::Char(_) => Values::String { bounds: None, sum: 0 },
            Kind::Binary => Values::Binary(0),
            Kind::Decimal { scale, .. } => Values::Decimal {
                scale,
                bounds: None,
                sum: Some(0),
            },
            Kind::Date => Values::Date(None),
            Kind::Timestamp | Kind::TimestampInstant => Values::Timestamp(Times {
                plain: kind == Kind::TimestampInstant && !legacy_ltz,
                ..Times::default()
            }),
            Kind::List | Kind::Map => Values::Collection {
                bounds: None,
                total: 0,
            },
            Kind::Struct => Values::None,
        })
    }

    /// Statistics of nothing, of the same type.
    pub(super) fn empty(&self) -> Self {
        Statistics::new(match &self.values {
            Values::None => Values::None,
            Values::Boolean(_) => Values::Boolean(0),
            Values::Integer { .. } => Values::Integer { bounds: None, sum: 0 },
            Values::Double(_) => Values::Double(Doubles::default()),
            Values::String { .. } => Values::String { bounds: None, sum: 0 },
            Values::Decimal { scale, .. } => Values::Decimal {
                scale: *scale,
                bounds: None,
                sum: Some(0),
            },
            Values::Date(_) => Values::Date(None),
            Values::Binary(_) => Values::Binary(0),
            Values::Timestamp(times) => Values::Timestamp(Times {
                plain: times.plain,
                ..Times::default()
            }),
            Values::Collection { .. } => Values::Collection {
                bounds: None,
                total: 0,
            },
        })
    }

    /// Adds the statistics of more values of the same type.
    pub(super) fn merge(&mut self, other: &Statistics) {
        self.count += other.count;
        self.has_null |= other.has_null;
        self.bytes_on_disk += other.bytes_on_disk;
        match (&mut self.values, &other.values) {
            (Values::Boolean(a), Values::Boolean(b)) | (Values::Binary(a), Values::Binary(b)) => *a += b,
            (
                Values::Integer { bounds, sum },
                Values::Integer {
                    bounds: more,
                    sum: add,
                },
            ) => {
                widen(bounds, *more);
                *sum += add;
            }
            (Values::Double(a), Values::Double(b)) => {
                if let Some((low, high)) = b.bounds {
                    a.widen(low, high);
                }
                a.sum += b.sum;
                a.has_nan |= b.has_nan;
            }
            (
                Values::String { bounds, sum },
                Values::String {
                    bounds: more,
                    sum: add,
                },
            ) => {
                if let Some((low, high)) = more {
                    widen_bytes(bounds, low, high);
                }
                *sum += add;
            }
            (
                Values::Decimal { bounds, sum, .. },
                Values::Decimal {
                    bounds: more,
                    sum: add,
                    ..
                },
            ) => {
                widen(bounds, *more);
                *sum = sum.zip(*add).and_then(|(a, b)| a.checked_add(b));
            }
            (Values::Date(a), Values::Date(b)) => widen(a, *b),
            (Values::Timestamp(a), Values::Timestamp(b)) => a.merge(b),
            (
                Values::Collection { bounds, total },
                Values::Collection {
                    bounds: more,
                    total: add,
                },
            ) => {
                widen(bounds, *more);
                *total += add;
            }
            // Never: a column has statistics of one type.
            _ => {}
        }
    }

    /// `ColumnStatistics`.
    pub(super) fn encode(&self, scope: Scope) -> Message {
        let mut message = Message::new();
        message.uint(1, self.count);
        let mut inner = Message::new();
        // Readers take the type of the statistics from this field, so it is there without values as well.
        let field = match &self.values {
            Values::None => None,
            Values::Boolean(trues) => {
                inner.packed(1, &[*trues]);
                Some(5)
            }
            Values::Integer { bounds, sum } => {
                if let Some((min, max)) = bounds {
                    inner.sint(1, *min).sint(2, *max);
                }
                if let Ok(sum) = i64::try_from(*sum) {
                    inner.sint(3, sum);
                }
                Some(2)
            }
            Values::Double(doubles) => {
                let told = scope == Scope::Part || !doubles.has_nan;
                if let Some((min, max)) = doubles.bounds.filter(|_| told) {
                    inner.double(1, min).double(2, max);
                }
                inner.double(3, doubles.sum);
                Some(3)
            }
            Values::String { bounds, sum } => {
                if let Some((min, max)) = bounds {
                    string_bounds(min, max, &mut inner);
                    inner.sint(3, i64::try_from(*sum).unwrap_or(i64::MAX));
                }
                Some(4)
            }
            Values::Decimal { scale, bounds, sum } => {
                if let Some((min, max)) = bounds {
                    inner.bytes(1, decimal_text(*min, *scale).as_bytes());
                    inner.bytes(2, decimal_text(*max, *scale).as_bytes());
                }
                // Readers know 38 digits.
                if let Some(sum) = sum.filter(|sum| sum.unsigned_abs() < 10u128.pow(38)) {
                    inner.bytes(3, decimal_text(sum, *scale).as_bytes());
                }
                Some(6)
            }
            Values::Date(bounds) => {
                if let Some((min, max)) = bounds {
                    inner.sint(1, i64::from(*min)).sint(2, i64::from(*max));
                }
                Some(7)
            }
            Values::Binary(sum) => {
                inner.sint(1, i64::try_from(*sum).unwrap_or(i64::MAX));
                Some(8)
            }
            Values::Timestamp(times) => {
                if let Some(((min, min_nanos), (max, max_nanos))) = times.bounds(scope) {
                    inner.sint(3, min).sint(4, max);
                    if min_nanos != 0 {
                        inner.uint(5, u64::from(min_nanos + 1));
                    }
                    if max_nanos != DEFAULT_MAX_NANOS {
                        inner.uint(6, u64::from(max_nanos + 1));
                    }
                }
                Some(9)
            }
            Values::Collection { bounds, total } => {
                if let Some((min, max)) = bounds {
                    inner.uint(1, *min).uint(2, *max);
                }
                if *total != 0 {
                    inner.uint(3, *total);
                }
                Some(12)
            }
        };
        if let Some(field) = field {
            message.message(field, &inner);
        }
        message.bool(10, self.has_null);
        if self.bytes_on_disk != 0 {
            message.uint(11, self.bytes_on_disk);
        }
        message
    }
}

fn string_bounds(min: &[u8], max: &[u8], message: &mut Message) {
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
