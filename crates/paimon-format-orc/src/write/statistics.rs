// SPDX-License-Identifier: Apache-2.0

//! Statistics of a column over a row group, a stripe or a file (Java `ColumnStatisticsImpl`).

use super::bounds::{Doubles, Times, string_bounds, widen, widen_bytes};
use super::decimal::decimal_text;
use super::proto::Message;
use super::types::Kind;

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

/// What statistics are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// A row group or a stripe, which readers leave out by them: whatever they look for is within the bounds.
    Part,
    /// The file, whose bounds are told to others: as Java's.
    File,
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
            Kind::Timestamp => Values::Timestamp(Times::new(false)),
            Kind::TimestampInstant => Values::Timestamp(Times::new(!legacy_ltz)),
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
            Values::Timestamp(times) => Values::Timestamp(times.empty()),
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
