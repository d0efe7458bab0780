// SPDX-License-Identifier: Apache-2.0

//! Single typed values: literals, partition values, statistics bounds. Never used per row on a data path.

use std::cmp::Ordering;

use crate::{DataType, TypeKind};

/// A non-null value of some logical type. NULL is `None` of an `Option<Datum>`.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// BOOLEAN.
    Boolean(bool),
    /// TINYINT.
    TinyInt(i8),
    /// SMALLINT.
    SmallInt(i16),
    /// INT.
    Int(i32),
    /// BIGINT.
    BigInt(i64),
    /// FLOAT.
    Float(f32),
    /// DOUBLE.
    Double(f64),
    /// CHAR, VARCHAR, STRING.
    String(String),
    /// BINARY, VARBINARY, BYTES, BLOB, GEOMETRY, GEOGRAPHY.
    Bytes(Vec<u8>),
    /// DECIMAL: unscaled value at `scale`.
    Decimal {
        /// Value × 10^scale.
        unscaled: i128,
        /// Digits after the point.
        scale: u8,
    },
    /// DATE: days since 1970-01-01.
    Date(i32),
    /// TIME: milliseconds of the day.
    Time(i32),
    /// TIMESTAMP (wall clock as if UTC) and TIMESTAMP_LTZ (instant).
    Timestamp(Timestamp),
    /// ARRAY and VECTOR.
    Array(Vec<Option<Datum>>),
    /// MAP and MULTISET (value = INT count), in stored order.
    Map(Vec<(Option<Datum>, Option<Datum>)>),
    /// ROW.
    Row(Vec<Option<Datum>>),
    /// VARIANT.
    Variant {
        /// Encoded value.
        value: Vec<u8>,
        /// Encoded dictionary.
        metadata: Vec<u8>,
    },
}

/// Java `Timestamp`: epoch milliseconds (floor) and nanoseconds within the millisecond (0–999999).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    /// Milliseconds since 1970-01-01T00:00:00.
    pub millis: i64,
    /// Nanoseconds within the millisecond, 0–999999.
    pub nanos_of_milli: i32,
}

impl Timestamp {
    /// From epoch milliseconds.
    pub fn from_millis(millis: i64) -> Self {
        Timestamp {
            millis,
            nanos_of_milli: 0,
        }
    }

    /// From epoch microseconds.
    pub fn from_micros(micros: i64) -> Self {
        Timestamp {
            millis: micros.div_euclid(1000),
            nanos_of_milli: (micros.rem_euclid(1000) * 1000) as i32,
        }
    }

    /// From epoch nanoseconds.
    pub fn from_nanos(nanos: i128) -> Self {
        Timestamp {
            millis: nanos.div_euclid(1_000_000) as i64,
            nanos_of_milli: nanos.rem_euclid(1_000_000) as i32,
        }
    }

    /// Epoch microseconds, floored; `None` when outside 64 bits.
    pub fn to_micros(self) -> Option<i64> {
        self.millis
            .checked_mul(1000)?
            .checked_add(i64::from(self.nanos_of_milli / 1000))
    }

    /// Epoch nanoseconds; `None` when outside 64 bits (before 1677 or after 2262).
    pub fn to_nanos(self) -> Option<i64> {
        i64::try_from(i128::from(self.millis) * 1_000_000 + i128::from(self.nanos_of_milli)).ok()
    }
}

impl Datum {
    /// True when the value can be one of a column of this type; lengths, precisions and scales are not looked at, nor is
    /// what is inside nested values.
    pub fn is_of(&self, data_type: &DataType) -> bool {
        use TypeKind as K;
        let kind = &data_type.kind;
        match self {
            Datum::Boolean(_) => *kind == K::Boolean,
            Datum::TinyInt(_) => *kind == K::TinyInt,
            Datum::SmallInt(_) => *kind == K::SmallInt,
            Datum::Int(_) => *kind == K::Int,
            Datum::BigInt(_) => *kind == K::BigInt,
            Datum::Float(_) => *kind == K::Float,
            Datum::Double(_) => *kind == K::Double,
            Datum::String(_) => matches!(kind, K::Char(_) | K::VarChar(_)),
            Datum::Bytes(_) => matches!(
                kind,
                K::Binary(_) | K::VarBinary(_) | K::Blob | K::Geometry(_) | K::Geography { .. }
            ),
            Datum::Decimal { .. } => matches!(kind, K::Decimal { .. }),
            Datum::Date(_) => *kind == K::Date,
            Datum::Time(_) => matches!(kind, K::Time(_)),
            Datum::Timestamp(_) => matches!(kind, K::Timestamp(_) | K::TimestampLtz(_)),
            Datum::Array(_) => matches!(kind, K::Array(_) | K::Vector(..)),
            Datum::Map(_) => matches!(kind, K::Map(..) | K::Multiset(_)),
            Datum::Row(_) => matches!(kind, K::Row(_)),
            Datum::Variant { .. } => *kind == K::Variant,
        }
    }

    /// Order of two values of the same type as Java compares them: bytes unsigned, strings by UTF-8 bytes, decimals by
    /// value, floats by Java `compare` (−0.0 < 0.0, NaN greatest). `None` for different or unordered types.
    pub fn compare(&self, other: &Datum) -> Option<Ordering> {
        Some(match (self, other) {
            (Datum::Boolean(a), Datum::Boolean(b)) => a.cmp(b),
            (Datum::TinyInt(a), Datum::TinyInt(b)) => a.cmp(b),
            (Datum::SmallInt(a), Datum::SmallInt(b)) => a.cmp(b),
            (Datum::Int(a), Datum::Int(b)) => a.cmp(b),
            (Datum::BigInt(a), Datum::BigInt(b)) => a.cmp(b),
            (Datum::Float(a), Datum::Float(b)) => java_compare(f64::from(*a), f64::from(*b)),
            (Datum::Double(a), Datum::Double(b)) => java_compare(*a, *b),
            (Datum::String(a), Datum::String(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Datum::Bytes(a), Datum::Bytes(b)) => a.cmp(b),
            (
                Datum::Decimal {
                    unscaled: a,
                    scale: sa,
                },
                Datum::Decimal {
                    unscaled: b,
                    scale: sb,
                },
            ) => compare_decimal(*a, *sa, *b, *sb),
            (Datum::Date(a), Datum::Date(b)) | (Datum::Time(a), Datum::Time(b)) => a.cmp(b),
            (Datum::Timestamp(a), Datum::Timestamp(b)) => a.cmp(b),
            _ => return None,
        })
    }
}

/// Java `Double.compare`: −0.0 < 0.0 and NaN equals itself and is greater than everything.
fn java_compare(a: f64, b: f64) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => a.total_cmp(&b),
    }
}

fn compare_decimal(a: i128, scale_a: u8, b: i128, scale_b: u8) -> Ordering {
    if scale_a == scale_b {
        return a.cmp(&b);
    }
    // Compare integer parts first so that no product can overflow.
    let pow = |s: u8| 10i128.checked_pow(u32::from(s)).unwrap_or(i128::MAX);
    let (pa, pb) = (pow(scale_a), pow(scale_b));
    let order = a.div_euclid(pa).cmp(&b.div_euclid(pb));
    if order != Ordering::Equal {
        return order;
    }
    let (fa, fb) = (a.rem_euclid(pa), b.rem_euclid(pb));
    if scale_a < scale_b {
        fa.saturating_mul(pow(scale_b - scale_a)).cmp(&fb)
    } else {
        fa.cmp(&fb.saturating_mul(pow(scale_a - scale_b)))
    }
}
