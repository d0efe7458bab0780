// SPDX-License-Identifier: Apache-2.0

//! Types of columns from their texts: the narrowest that gives every text back.

use std::path::Path;

use paimon::types::{DataField, DataType, MAX_LENGTH, Result, TypeKind};

use super::Csv;
use crate::input::INFER_ROWS;
use crate::input::text::from_text;

/// What the texts of a column can be, without loss.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Boolean,
    /// `exact` when all are integers that a double holds.
    Integer {
        exact: bool,
    },
    LongInteger,
    Double,
    Date,
    Timestamp,
    NanoTimestamp,
    Instant,
    Text,
}

pub(in crate::input) fn infer(path: &Path) -> Result<Vec<DataField>> {
    let mut csv = Csv::open(path)?;
    let mut shapes: Vec<Option<Shape>> = vec![None; csv.names.len()];
    for _ in 0..INFER_ROWS {
        if !csv.next()? {
            break;
        }
        for (index, shape) in shapes.iter_mut().enumerate() {
            let (text, quoted) = csv.records.text(index).map_err(|e| csv.at(e))?;
            if !text.is_empty() || quoted {
                let new = shape_of(text);
                *shape = Some(shape.map_or(new, |known| both(known, new)));
            }
        }
    }
    Ok(csv
        .names
        .iter()
        .zip(shapes)
        .map(|(name, shape)| DataField::new(0, name, DataType::new(kind(shape.unwrap_or(Shape::Text)))))
        .collect())
}

fn kind(shape: Shape) -> TypeKind {
    match shape {
        Shape::Boolean => TypeKind::Boolean,
        Shape::Integer { .. } => TypeKind::BigInt,
        Shape::LongInteger => TypeKind::Decimal {
            precision: 38,
            scale: 0,
        },
        Shape::Double => TypeKind::Double,
        Shape::Date => TypeKind::Date,
        Shape::Timestamp => TypeKind::Timestamp(6),
        Shape::NanoTimestamp => TypeKind::Timestamp(9),
        Shape::Instant => TypeKind::TimestampLtz(6),
        Shape::Text => TypeKind::VarChar(MAX_LENGTH),
    }
}

fn both(a: Shape, b: Shape) -> Shape {
    use Shape::{Date, Double, Integer, LongInteger, NanoTimestamp, Text, Timestamp};
    match (a, b) {
        (a, b) if a == b => a,
        (Integer { .. }, Integer { .. }) => Integer { exact: false },
        (Integer { .. } | LongInteger, Integer { .. } | LongInteger) => LongInteger,
        (Integer { exact: true }, Double) | (Double, Integer { exact: true }) => Double,
        (Date | Timestamp, Date | Timestamp) => Timestamp,
        (Date | Timestamp | NanoTimestamp, Date | Timestamp | NanoTimestamp) => NanoTimestamp,
        _ => Text,
    }
}

fn shape_of(text: &str) -> Shape {
    if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") {
        return Shape::Boolean;
    }
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let numeric = unsigned
        .bytes()
        .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'))
        && unsigned
            .bytes()
            .next()
            .is_some_and(|b| b.is_ascii_digit() || b == b'.');
    let is = |kind: TypeKind| from_text(text, &DataType::new(kind), &jiff::tz::TimeZone::UTC).is_ok();
    if numeric {
        // 007 is a code, not the number seven; neither is -0 the number zero.
        let coded = unsigned.len() > 1
            && unsigned.starts_with('0')
            && unsigned.as_bytes().get(1).is_some_and(u8::is_ascii_digit)
            || text == "-0";
        if coded {
            return Shape::Text;
        }
        if unsigned.bytes().all(|b| b.is_ascii_digit()) {
            return match text.parse::<i64>() {
                Ok(value) => Shape::Integer {
                    exact: value.unsigned_abs() <= 1 << 53,
                },
                Err(_) if unsigned.len() <= 38 => Shape::LongInteger,
                Err(_) => Shape::Text,
            };
        }
        if is(TypeKind::Double) {
            return Shape::Double;
        }
    }
    // Four digits of the year, so that 1-2-3 stays what it is.
    let bytes = text.as_bytes();
    if bytes.len() < 10 || bytes.get(4) != Some(&b'-') || bytes.get(7) != Some(&b'-') {
        return Shape::Text;
    }
    if bytes.len() == 10 {
        return if is(TypeKind::Date) {
            Shape::Date
        } else {
            Shape::Text
        };
    }
    match () {
        () if is(TypeKind::Timestamp(6)) => Shape::Timestamp,
        () if is(TypeKind::Timestamp(9)) => Shape::NanoTimestamp,
        () if is(TypeKind::TimestampLtz(6)) => Shape::Instant,
        () => Shape::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::{Shape, both, shape_of};

    #[test]
    fn texts_that_would_change_stay_text() {
        for text in [
            "007",
            "-07",
            "00.5",
            "-0",
            "1-2-3",
            "2024-02-30",
            "1.2.3",
            "+5",
            "12345678901234567890123456789012345678901",
            "x",
            "",
        ] {
            assert_eq!(shape_of(text), Shape::Text, "{text}");
        }
        for (text, shape) in [
            ("0", Shape::Integer { exact: true }),
            ("-12", Shape::Integer { exact: true }),
            ("9223372036854775807", Shape::Integer { exact: false }),
            ("9223372036854775808", Shape::LongInteger),
            ("0.5", Shape::Double),
            ("1e5", Shape::Double),
            ("TRUE", Shape::Boolean),
            ("2024-02-29", Shape::Date),
            ("2024-02-29 10:00:00", Shape::Timestamp),
            ("2024-02-29T10:00:00.123456789", Shape::NanoTimestamp),
            ("2024-02-29T10:00:00Z", Shape::Instant),
            ("2024-02-29 10:00:00+08:00", Shape::Instant),
        ] {
            assert_eq!(shape_of(text), shape, "{text}");
        }
        assert_eq!(both(shape_of("1"), shape_of("1.5")), Shape::Double);
        assert_eq!(
            both(shape_of("9223372036854775807"), shape_of("1.5")),
            Shape::Text
        );
        assert_eq!(
            both(shape_of("1"), shape_of("99999999999999999999")),
            Shape::LongInteger
        );
    }
}
