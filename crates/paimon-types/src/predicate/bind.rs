// SPDX-License-Identifier: Apache-2.0

//! From literals as a user writes them to tests of a column's own type, without changing what the comparison means:
//! `int_column < 1.5` is `int_column <= 1`.

use super::{LeafPredicate, Predicate, PredicateOp, leaf};
use crate::text::{ZoneOffset, utc};
use crate::{DataField, DataType, Datum, Error, Result, TypeKind};

/// A literal as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal<'a> {
    /// `NULL`.
    Null,
    /// `TRUE`, `FALSE`.
    Boolean(bool),
    /// `-12.5e3`, sign included.
    Number(&'a str),
    /// `'text'` without quotes, also of `DATE '…'`, `TIMESTAMP '…'`.
    Text(&'a str),
    /// `X'0aff'`, decoded.
    Bytes(&'a [u8]),
}

/// A literal in terms of a column's type. Values of the type are ordered; a literal is one of them or lies beside them.
#[derive(Clone, Debug, PartialEq)]
pub enum BoundLiteral {
    /// SQL NULL.
    Null,
    /// A value of the type.
    Exact(Datum),
    /// No value of the type: between this value and the next greater one.
    After(Datum),
    /// Smaller than every value of the type.
    Below,
    /// Greater than every value of the type.
    Above,
}

/// Binds a literal to a type; text of TIMESTAMP_LTZ is taken as UTC.
///
/// # Errors
/// `InvalidInput` when a literal of this form cannot be compared with the type, or when the text is not a value of it.
pub fn bind_literal(literal: Literal<'_>, data_type: &DataType) -> Result<BoundLiteral> {
    bind_literal_in(literal, data_type, &utc)
}

/// As [`bind_literal`] with the zone that text of TIMESTAMP_LTZ is in.
///
/// Numbers bind to numeric types by value: FLOAT and DOUBLE take the nearest value, the others compare exactly. Text binds to
/// CHAR, VARCHAR as it is, to BINARY (padded with zeros), VARBINARY and BYTES as UTF-8, to numeric types when it is a
/// number, to dates and times by the cast rules (`data-files.md` 17.3).
///
/// # Errors
/// As [`bind_literal`].
pub fn bind_literal_in(
    literal: Literal<'_>,
    data_type: &DataType,
    zone: ZoneOffset<'_>,
) -> Result<BoundLiteral> {
    let mismatch = || {
        let shown = match literal {
            Literal::Null => "NULL".to_owned(),
            Literal::Boolean(value) => value.to_string(),
            Literal::Number(text) => text.to_owned(),
            Literal::Text(text) => format!("'{text}'"),
            Literal::Bytes(_) => "a binary literal".to_owned(),
        };
        Error::invalid(format!(
            "{shown} cannot be compared with a value of type {data_type}"
        ))
    };
    match (literal, &data_type.kind) {
        (Literal::Null, _) => Ok(BoundLiteral::Null),
        (Literal::Boolean(value), TypeKind::Boolean) => Ok(BoundLiteral::Exact(Datum::Boolean(value))),
        (Literal::Text(text), TypeKind::Char(_) | TypeKind::VarChar(_)) => {
            Ok(BoundLiteral::Exact(Datum::String(text.to_owned())))
        }
        (Literal::Number(text), _) if is_numeric(&data_type.kind) => {
            bind_number(text, &data_type.kind).ok_or_else(mismatch)
        }
        (Literal::Text(text), _) if is_numeric(&data_type.kind) => {
            let text = text.trim();
            let special = special_float(text, &data_type.kind).map(BoundLiteral::Exact);
            special
                .or_else(|| bind_number(text, &data_type.kind))
                .ok_or_else(mismatch)
        }
        (Literal::Text(text), kind) => bind_text(text, kind, data_type, zone)?.ok_or_else(mismatch),
        (Literal::Bytes(bytes), kind) => bind_bytes(bytes, kind).ok_or_else(mismatch),
        (Literal::Boolean(_) | Literal::Number(_), _) => Err(mismatch()),
    }
}

fn is_numeric(kind: &TypeKind) -> bool {
    matches!(
        kind,
        TypeKind::TinyInt
            | TypeKind::SmallInt
            | TypeKind::Int
            | TypeKind::BigInt
            | TypeKind::Float
            | TypeKind::Double
            | TypeKind::Decimal { .. }
    )
}

fn special_float(text: &str, kind: &TypeKind) -> Option<Datum> {
    let value = match text.to_ascii_lowercase().as_str() {
        "nan" => f64::NAN,
        "infinity" | "+infinity" | "inf" | "+inf" => f64::INFINITY,
        "-infinity" | "-inf" => f64::NEG_INFINITY,
        _ => return None,
    };
    match kind {
        TypeKind::Float => Some(Datum::Float(value as f32)),
        TypeKind::Double => Some(Datum::Double(value)),
        _ => None,
    }
}

fn bind_bytes(bytes: &[u8], kind: &TypeKind) -> Option<BoundLiteral> {
    let mut bytes = bytes.to_vec();
    match kind {
        TypeKind::Binary(length) => {
            let length = usize::try_from(*length).ok()?;
            // A stored value has exactly this length; padding far beyond what was written helps nobody.
            if bytes.len() < length && length <= 1 << 20 {
                bytes.resize(length, 0);
            }
        }
        TypeKind::VarBinary(_) | TypeKind::Blob => {}
        _ => return None,
    }
    Some(BoundLiteral::Exact(Datum::Bytes(bytes)))
}

fn bind_text(
    text: &str,
    kind: &TypeKind,
    data_type: &DataType,
    zone: ZoneOffset<'_>,
) -> Result<Option<BoundLiteral>> {
    let cast = |target: &DataType| crate::text::datum_from_string_in(text, target, zone);
    match kind {
        TypeKind::Binary(_) | TypeKind::VarBinary(_) | TypeKind::Blob => {
            Ok(bind_bytes(text.as_bytes(), kind))
        }
        TypeKind::Boolean | TypeKind::Date | TypeKind::Time(_) => {
            Ok(cast(data_type)?.map(BoundLiteral::Exact))
        }
        TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_) => {
            let Some(floor) = cast(data_type)? else {
                return Ok(None);
            };
            if text.contains('.') {
                let finest = match kind {
                    TypeKind::Timestamp(_) => TypeKind::Timestamp(9),
                    _ => TypeKind::TimestampLtz(9),
                };
                // The cast cuts the fraction; what was cut lies after the value.
                if cast(&DataType::new(finest))?.is_some_and(|exact| exact != floor) {
                    return Ok(Some(BoundLiteral::After(floor)));
                }
            }
            Ok(Some(BoundLiteral::Exact(floor)))
        }
        _ => Ok(None),
    }
}

/// A decimal number as written: digits × 10^exponent, digits without zeros at either end.
struct Number<'a> {
    negative: bool,
    digits: String,
    exponent: i64,
    text: &'a str,
}

impl<'a> Number<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => {
                let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
                if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                    return None;
                }
                // Exponents beyond 64 bits are as good as the largest one.
                let limit = if exponent.starts_with('-') {
                    i64::MIN / 4
                } else {
                    i64::MAX / 4
                };
                (
                    mantissa,
                    exponent
                        .parse()
                        .unwrap_or(limit)
                        .clamp(i64::MIN / 4, i64::MAX / 4),
                )
            }
            None => (rest, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.len() + fraction.len() == 0
            || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit())
        {
            return None;
        }
        let digits = format!("{whole}{fraction}");
        let digits = digits.trim_start_matches('0');
        let kept = digits.trim_end_matches('0');
        let exponent =
            exponent - i64::try_from(fraction.len()).ok()? + i64::try_from(digits.len() - kept.len()).ok()?;
        Some(Number {
            negative,
            digits: kept.to_owned(),
            exponent,
            text,
        })
    }

    /// floor(value × 10^scale) and whether that is exact; `Err(sign)` when it has more than 38 digits.
    fn scaled(&self, scale: u8) -> std::result::Result<(i128, bool), bool> {
        if self.digits.is_empty() {
            return Ok((0, true));
        }
        let shift = self.exponent + i64::from(scale);
        let length = i64::try_from(self.digits.len()).unwrap_or(i64::MAX / 4) + shift;
        if length > 38 {
            return Err(self.negative);
        }
        let magnitude: i128 = if length <= 0 {
            0
        } else {
            let wanted = usize::try_from(length).unwrap_or(0);
            let taken = self.digits.get(..wanted).unwrap_or(&self.digits);
            let zeros = wanted - taken.len();
            // At most 38 digits always fit.
            format!("{taken}{}", "0".repeat(zeros))
                .parse()
                .map_err(|_| self.negative)?
        };
        let exact = shift >= 0;
        Ok(match (self.negative, exact) {
            (false, _) => (magnitude, exact),
            (true, true) => (-magnitude, true),
            (true, false) => (-magnitude - 1, false),
        })
    }
}

fn bind_number(text: &str, kind: &TypeKind) -> Option<BoundLiteral> {
    let number = Number::parse(text)?;
    let integer = |min: i64, max: i64, make: fn(i64) -> Datum| {
        Some(place(&number, 0, i128::from(min), i128::from(max), |v| {
            make(i64::try_from(v).unwrap_or_default())
        }))
    };
    match kind {
        TypeKind::TinyInt => integer(i8::MIN.into(), i8::MAX.into(), |v| Datum::TinyInt(v as i8)),
        TypeKind::SmallInt => integer(i16::MIN.into(), i16::MAX.into(), |v| Datum::SmallInt(v as i16)),
        TypeKind::Int => integer(i32::MIN.into(), i32::MAX.into(), |v| Datum::Int(v as i32)),
        TypeKind::BigInt => integer(i64::MIN, i64::MAX, Datum::BigInt),
        TypeKind::Decimal { precision, scale } => {
            let limit = 10i128.checked_pow(u32::from(*precision))? - 1;
            Some(place(&number, *scale, -limit, limit, |unscaled| Datum::Decimal {
                unscaled,
                scale: *scale,
            }))
        }
        TypeKind::Float => {
            let value: f32 = number.text.parse().ok()?;
            let beyond = if number.negative {
                f32::NEG_INFINITY
            } else {
                f32::MAX
            };
            Some(finite_or_after(
                value.is_finite(),
                Datum::Float(value),
                Datum::Float(beyond),
            ))
        }
        TypeKind::Double => {
            let value: f64 = number.text.parse().ok()?;
            let beyond = if number.negative {
                f64::NEG_INFINITY
            } else {
                f64::MAX
            };
            Some(finite_or_after(
                value.is_finite(),
                Datum::Double(value),
                Datum::Double(beyond),
            ))
        }
        _ => None,
    }
}

/// A number beyond the finite range lies between the last finite value and infinity.
fn finite_or_after(finite: bool, value: Datum, before: Datum) -> BoundLiteral {
    if finite {
        BoundLiteral::Exact(value)
    } else {
        BoundLiteral::After(before)
    }
}

/// Where the number lies among the values min … max, which are one apart at the scale.
fn place(number: &Number<'_>, scale: u8, min: i128, max: i128, make: impl Fn(i128) -> Datum) -> BoundLiteral {
    match number.scaled(scale) {
        Err(true) => BoundLiteral::Below,
        Err(false) => BoundLiteral::Above,
        Ok((floor, _)) if floor < min => BoundLiteral::Below,
        Ok((floor, true)) if floor <= max => BoundLiteral::Exact(make(floor)),
        Ok((floor, false)) if floor < max => BoundLiteral::After(make(floor)),
        Ok(_) => BoundLiteral::Above,
    }
}

impl Predicate {
    /// `column op literal` for the six comparisons, with the meaning that it has for the literal as written; both zeros of
    /// floats are equal here. NULL stays unknown in every case, also under NOT.
    ///
    /// # Errors
    /// `InvalidInput` when `op` is not a comparison or the type has no order.
    pub fn compare(field: &DataField, op: PredicateOp, literal: &BoundLiteral) -> Result<Predicate> {
        use PredicateOp::{Eq, Gt, GtEq, In, Lt, LtEq, NotEq, NotIn};
        if !matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq) {
            return Err(Error::invalid(format!("{op} is not a comparison")));
        }
        match literal {
            BoundLiteral::Null => leaf(field, op, vec![None]),
            BoundLiteral::Exact(value) => {
                let Some((negative, positive)) = zeros(value) else {
                    return leaf(field, op, vec![Some(value.clone())]);
                };
                match op {
                    Eq => leaf(field, In, vec![Some(negative), Some(positive)]),
                    NotEq => leaf(field, NotIn, vec![Some(negative), Some(positive)]),
                    Lt | GtEq => leaf(field, op, vec![Some(negative)]),
                    _ => leaf(field, op, vec![Some(positive)]),
                }
            }
            BoundLiteral::After(value) => match op {
                Eq => never(field),
                NotEq => always(field),
                Lt | LtEq => leaf(field, LtEq, vec![Some(value.clone())]),
                _ => leaf(field, Gt, vec![Some(value.clone())]),
            },
            BoundLiteral::Below => match op {
                Eq | Lt | LtEq => never(field),
                _ => always(field),
            },
            BoundLiteral::Above => match op {
                Eq | Gt | GtEq => never(field),
                _ => always(field),
            },
        }
    }

    /// `column IN (literals)`; use [`not`](Predicate::not) for NOT IN. Literals that are no value of the type equal nothing.
    ///
    /// # Errors
    /// `InvalidInput` when the type has no order.
    pub fn in_literals(field: &DataField, literals: &[BoundLiteral]) -> Result<Predicate> {
        let mut values = Vec::new();
        for literal in literals {
            match literal {
                BoundLiteral::Null => values.push(None),
                BoundLiteral::Exact(value) => match zeros(value) {
                    Some((negative, positive)) => values.extend([Some(negative), Some(positive)]),
                    None => values.push(Some(value.clone())),
                },
                BoundLiteral::After(_) | BoundLiteral::Below | BoundLiteral::Above => {}
            }
        }
        if values.is_empty() && !literals.is_empty() {
            never(field)
        } else {
            Predicate::in_list(field, values)
        }
    }

    /// `column BETWEEN low AND high`; use [`not`](Predicate::not) for NOT BETWEEN.
    ///
    /// # Errors
    /// As [`compare`](Predicate::compare).
    pub fn between_literals(field: &DataField, low: &BoundLiteral, high: &BoundLiteral) -> Result<Predicate> {
        if let (BoundLiteral::Exact(low), BoundLiteral::Exact(high)) = (low, high)
            && zeros(low).is_none()
            && zeros(high).is_none()
        {
            return Predicate::between(field, low.clone(), high.clone());
        }
        let low = Predicate::compare(field, PredicateOp::GtEq, low)?;
        Ok(Predicate::and([
            low,
            Predicate::compare(field, PredicateOp::LtEq, high)?,
        ]))
    }
}

/// Both zeros when the value is one of them.
fn zeros(value: &Datum) -> Option<(Datum, Datum)> {
    match value {
        Datum::Float(v) if *v == 0.0 => Some((Datum::Float(-0.0), Datum::Float(0.0))),
        Datum::Double(v) if *v == 0.0 => Some((Datum::Double(-0.0), Datum::Double(0.0))),
        _ => None,
    }
}

/// False for every value, unknown for NULL.
fn never(field: &DataField) -> Result<Predicate> {
    let unknown = LeafPredicate::new(field, PredicateOp::Eq, vec![None])?;
    Ok(Predicate::and([
        Predicate::is_null(field),
        Predicate::Leaf(unknown),
    ]))
}

/// True for every value, unknown for NULL.
fn always(field: &DataField) -> Result<Predicate> {
    never(field).map(Predicate::not)
}
