// SPDX-License-Identifier: Apache-2.0

//! Predicates as JSON (Java `PredicateJsonSerde`; `wire.md` 15), in which REST catalogs send row filters.

use std::fmt::Write;

use super::{LeafPredicate, Predicate, PredicateOp};
use crate::text::{
    civil_from_days, days_from_civil, days_in_month, decimal_to_string, java_double_to_string,
    java_float_to_string,
};
use crate::{DataField, DataType, Datum, Error, JsonTree, Result, Timestamp, TypeKind};

/// Compounds within compounds; below what the JSON parser takes.
const MAX_DEPTH: usize = 60;

const DAY_MILLIS: i64 = 86_400_000;

const FUNCTIONS: [(&str, PredicateOp); 16] = [
    ("EQUAL", PredicateOp::Eq),
    ("NOT_EQUAL", PredicateOp::NotEq),
    ("LESS_THAN", PredicateOp::Lt),
    ("LESS_OR_EQUAL", PredicateOp::LtEq),
    ("GREATER_THAN", PredicateOp::Gt),
    ("GREATER_OR_EQUAL", PredicateOp::GtEq),
    ("IS_NULL", PredicateOp::IsNull),
    ("IS_NOT_NULL", PredicateOp::IsNotNull),
    ("STARTS_WITH", PredicateOp::StartsWith),
    ("ENDS_WITH", PredicateOp::EndsWith),
    ("CONTAINS", PredicateOp::Contains),
    ("LIKE", PredicateOp::Like),
    ("IN", PredicateOp::In),
    ("NOT_IN", PredicateOp::NotIn),
    ("BETWEEN", PredicateOp::Between),
    ("NOT_BETWEEN", PredicateOp::NotBetween),
];

impl Predicate {
    /// Reads a predicate; columns are found by name among `fields`, whose types the literals must have.
    ///
    /// Temporal literals and decimals are read in the form in which Java writes them, which Java itself does not read.
    ///
    /// # Errors
    /// `InvalidInput` for what is not such JSON, an unknown column or a literal of another type; `Unsupported` for functions and
    /// transforms (casts, text functions) that predicates here do not have.
    pub fn from_json(text: &str, fields: &[DataField]) -> Result<Predicate> {
        read(&JsonTree::parse(text)?, fields, MAX_DEPTH)
    }

    /// Writes the predicate; a column's index is its place among `fields`.
    ///
    /// # Errors
    /// `InvalidInput` for a column that is not there; `Unsupported` for NOT, NaN tests and binary literals, which the form does not have.
    pub fn to_json(&self, fields: &[DataField]) -> Result<String> {
        let mut out = String::new();
        write(&mut out, self, fields)?;
        Ok(out)
    }
}

fn member<'t, 'a>(tree: &'t JsonTree<'a>, key: &str) -> Result<&'t JsonTree<'a>> {
    tree.get(key)
        .ok_or_else(|| Error::invalid(format!("predicate has no '{key}'")))
}

fn text<'t>(tree: &'t JsonTree<'_>, key: &str) -> Result<&'t str> {
    match member(tree, key)? {
        JsonTree::String(text) => Ok(text),
        other => Err(Error::invalid(format!(
            "'{key}' of a predicate is {other:?}, expected text"
        ))),
    }
}

fn list<'t, 'a>(tree: &'t JsonTree<'a>, key: &str) -> Result<&'t [JsonTree<'a>]> {
    match member(tree, key)? {
        JsonTree::Array(items) => Ok(items),
        _ => Err(Error::invalid(format!("'{key}' of a predicate is no list"))),
    }
}

fn read(tree: &JsonTree<'_>, fields: &[DataField], depth: usize) -> Result<Predicate> {
    let depth = depth
        .checked_sub(1)
        .ok_or_else(|| Error::unsupported(format!("predicate is nested deeper than {MAX_DEPTH} levels")))?;
    match text(tree, "kind")? {
        "COMPOUND" => {
            let children = list(tree, "children")?.iter();
            let children = children
                .map(|child| read(child, fields, depth))
                .collect::<Result<Vec<_>>>()?;
            match text(tree, "function")? {
                "AND" => Ok(Predicate::And(children)),
                "OR" => Ok(Predicate::Or(children)),
                other => Err(unknown("compound function", other, "AND or OR")),
            }
        }
        "LEAF" => read_leaf(tree, fields),
        other => Err(unknown("predicate kind", other, "LEAF or COMPOUND")),
    }
}

fn unknown(what: &str, found: &str, known: &str) -> Error {
    Error::unsupported(format!("unknown {what} '{found}', expected {known}"))
}

fn read_leaf(tree: &JsonTree<'_>, fields: &[DataField]) -> Result<Predicate> {
    let (function, transform) = (text(tree, "function")?, member(tree, "transform")?);
    match function {
        "TRUE" => return Ok(Predicate::Constant(true)),
        "FALSE" => return Ok(Predicate::Constant(false)),
        _ => {}
    }
    let op = FUNCTIONS.iter().find(|(name, _)| *name == function);
    let Some((_, op)) = op else {
        let known = FUNCTIONS.map(|(name, _)| name).join(", ");
        return Err(unknown(
            "predicate function",
            function,
            &format!("TRUE, FALSE, {known}"),
        ));
    };
    match text(transform, "name")? {
        "FIELD_REF" => {}
        other => return Err(unknown("predicate transform", other, "FIELD_REF")),
    }
    let name = text(member(transform, "fieldRef")?, "name")?;
    let field = fields.iter().find(|field| field.name == name).ok_or_else(|| {
        Error::invalid("predicate names a column that the table does not have").with("column", name)
    })?;
    let literals = list(tree, "literals")?.iter();
    let literals = literals
        .map(|tree| literal(tree, &field.data_type).map_err(|e| e.with("column", name)))
        .collect::<Result<Vec<_>>>()?;
    LeafPredicate::new(field, *op, literals).map(Predicate::Leaf)
}

fn literal(tree: &JsonTree<'_>, data_type: &DataType) -> Result<Option<Datum>> {
    let bad = || {
        Error::invalid(format!(
            "literal {tree:?} of a predicate is not of type {data_type}"
        ))
    };
    let datum = match (&data_type.kind, tree) {
        (_, JsonTree::Null) => return Ok(None),
        (TypeKind::Boolean, JsonTree::Bool(value)) => Some(Datum::Boolean(*value)),
        (TypeKind::TinyInt, JsonTree::Number(text)) => text.parse().ok().map(Datum::TinyInt),
        (TypeKind::SmallInt, JsonTree::Number(text)) => text.parse().ok().map(Datum::SmallInt),
        (TypeKind::Int, JsonTree::Number(text)) => text.parse().ok().map(Datum::Int),
        (TypeKind::BigInt, JsonTree::Number(text)) => text.parse().ok().map(Datum::BigInt),
        (TypeKind::Float, tree) => float(tree).and_then(|text| text.parse().ok()).map(Datum::Float),
        (TypeKind::Double, tree) => float(tree).and_then(|text| text.parse().ok()).map(Datum::Double),
        (TypeKind::Char(_) | TypeKind::VarChar(_), JsonTree::String(text)) => {
            Some(Datum::String(text.to_string()))
        }
        (TypeKind::Decimal { precision, scale }, JsonTree::Number(text)) => decimal(text, *precision, *scale),
        (TypeKind::Date, JsonTree::Array(parts)) => match numbers(parts).as_deref() {
            Some(&[year, month, day]) => days(year, month, day)
                .and_then(|d| i32::try_from(d).ok())
                .map(Datum::Date),
            _ => None,
        },
        (TypeKind::Time(_), JsonTree::Array(parts)) => numbers(parts)
            .and_then(|parts| time(&parts))
            .and_then(|nanos| {
                i32::try_from(nanos / 1_000_000)
                    .ok()
                    .filter(|_| nanos % 1_000_000 == 0)
            })
            .map(Datum::Time),
        (TypeKind::Timestamp(_), JsonTree::Array(parts)) => numbers(parts).and_then(|parts| {
            let (date, rest) = parts.split_first_chunk::<3>()?;
            let [year, month, day] = *date;
            let nanos = i128::from(days(year, month, day)?) * i128::from(DAY_MILLIS) * 1_000_000;
            Some(Datum::Timestamp(Timestamp::from_nanos(
                nanos + i128::from(time(rest)?),
            )))
        }),
        (TypeKind::TimestampLtz(_), JsonTree::Number(text)) => match decimal(text, 38, 9) {
            Some(Datum::Decimal { unscaled, .. }) => i64::try_from(unscaled.div_euclid(1_000_000))
                .ok()
                .map(|_| Datum::Timestamp(Timestamp::from_nanos(unscaled))),
            _ => None,
        },
        _ => None,
    };
    datum.map(Some).ok_or_else(bad)
}

/// A number, or one of the texts that stand for what JSON has no number for.
fn float<'t>(tree: &'t JsonTree<'_>) -> Option<&'t str> {
    match tree {
        JsonTree::Number(text) => Some(text),
        JsonTree::String(text) if text == "NaN" => Some("NaN"),
        JsonTree::String(text) if text == "Infinity" => Some("inf"),
        JsonTree::String(text) if text == "-Infinity" => Some("-inf"),
        _ => None,
    }
}

/// A plain decimal number, exactly.
fn decimal(text: &str, precision: u8, scale: u8) -> Option<Datum> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = fraction.trim_end_matches('0');
    let scale_len = usize::from(scale);
    if fraction.len() > scale_len || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return None;
    }
    let unscaled: i128 = format!("{whole}{fraction:0<scale_len$}").parse().ok()?;
    if unscaled >= 10i128.checked_pow(u32::from(precision))? {
        return None;
    }
    let unscaled = if negative { -unscaled } else { unscaled };
    Some(Datum::Decimal { unscaled, scale })
}

fn numbers(parts: &[JsonTree<'_>]) -> Option<Vec<i64>> {
    let number = |part: &JsonTree<'_>| match part {
        JsonTree::Number(text) => text.parse().ok(),
        _ => None,
    };
    parts.iter().map(number).collect()
}

fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let (month, day) = (u8::try_from(month).ok()?, u8::try_from(day).ok()?);
    let valid = (-999_999..=999_999).contains(&year) && (1..=12).contains(&month);
    (valid && day >= 1 && day <= days_in_month(year, month)).then(|| days_from_civil(year, month, day))
}

/// Nanoseconds of the day; seconds and nanoseconds may be missing.
fn time(parts: &[i64]) -> Option<i64> {
    let (hour, minute, second, nano) = match *parts {
        [hour, minute] => (hour, minute, 0, 0),
        [hour, minute, second] => (hour, minute, second, 0),
        [hour, minute, second, nano] => (hour, minute, second, nano),
        _ => return None,
    };
    let valid = (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..60).contains(&second)
        && (0..1_000_000_000).contains(&nano);
    valid.then_some(((hour * 60 + minute) * 60 + second) * 1_000_000_000 + nano)
}

fn write(out: &mut String, predicate: &Predicate, fields: &[DataField]) -> Result<()> {
    let (function, children) = match predicate {
        Predicate::Constant(value) => {
            let function = if *value { "TRUE" } else { "FALSE" };
            let leaf = r#"{"kind":"LEAF","transform":{"name":"NULL"},"function":""#;
            out.push_str(leaf);
            out.push_str(function);
            out.push_str(r#"","literals":[]}"#);
            return Ok(());
        }
        Predicate::Leaf(leaf) => return write_leaf(out, leaf, fields),
        Predicate::And(children) => ("AND", children),
        Predicate::Or(children) => ("OR", children),
        Predicate::Not(_) => return Err(Error::unsupported("a negation has no form as predicate JSON")),
    };
    out.push_str(r#"{"kind":"COMPOUND","function":""#);
    out.push_str(function);
    out.push_str(r#"","children":["#);
    for (index, child) in children.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(out, child, fields)?;
    }
    out.push_str("]}");
    Ok(())
}

fn write_leaf(out: &mut String, leaf: &LeafPredicate, fields: &[DataField]) -> Result<()> {
    let refuse = |what: String| Err(Error::unsupported(what).with("column", &leaf.name));
    let Some((function, _)) = FUNCTIONS.iter().find(|(_, op)| *op == leaf.op) else {
        return refuse(format!("{} has no form as predicate JSON", leaf.op));
    };
    let index = fields.iter().position(|field| field.id == leaf.field_id);
    let Some(index) = index else {
        return Err(
            Error::invalid("predicate names a column that the table does not have")
                .with("column", &leaf.name),
        );
    };
    let name = serde_json::Value::from(leaf.name.as_str());
    let data_type = leaf.data_type.to_json();
    out.push_str(r#"{"kind":"LEAF","transform":{"name":"FIELD_REF","fieldRef":{"index":"#);
    // Writing to a String cannot fail.
    let _ = write!(
        out,
        r#"{index},"name":{name},"type":{data_type}}}}},"function":"{function}","literals":["#
    );
    for (index, literal) in leaf.literals.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        if !write_literal(out, literal.as_ref(), &leaf.data_type) {
            return refuse(format!(
                "literals of type {} have no form as predicate JSON",
                leaf.data_type
            ));
        }
    }
    out.push_str("]}");
    Ok(())
}

/// False when the type has no form.
fn write_literal(out: &mut String, literal: Option<&Datum>, data_type: &DataType) -> bool {
    let Some(literal) = literal else {
        out.push_str("null");
        return true;
    };
    // Writing to a String cannot fail.
    let _ = match literal {
        Datum::Boolean(value) => write!(out, "{value}"),
        Datum::TinyInt(value) => write!(out, "{value}"),
        Datum::SmallInt(value) => write!(out, "{value}"),
        Datum::Int(value) => write!(out, "{value}"),
        Datum::BigInt(value) => write!(out, "{value}"),
        Datum::Float(value) if value.is_finite() => write!(out, "{}", java_float_to_string(*value)),
        Datum::Double(value) if value.is_finite() => write!(out, "{}", java_double_to_string(*value)),
        Datum::Float(value) => write!(out, "\"{}\"", java_float_to_string(*value)),
        Datum::Double(value) => write!(out, "\"{}\"", java_double_to_string(*value)),
        Datum::String(text) => write!(out, "{}", serde_json::Value::from(text.as_str())),
        Datum::Decimal { unscaled, scale } => write!(out, "{}", decimal_to_string(*unscaled, *scale)),
        Datum::Date(days) => {
            let (year, month, day) = civil_from_days(i64::from(*days));
            write!(out, "[{year},{month},{day}]")
        }
        Datum::Time(millis) => {
            let time = time_parts(i64::from(*millis) * 1_000_000);
            write!(out, "[{time}]")
        }
        Datum::Timestamp(value) if matches!(data_type.kind, TypeKind::TimestampLtz(_)) => {
            write!(out, "{}", decimal_to_string(nanos(*value), 9))
        }
        Datum::Timestamp(value) => {
            let day = i128::from(DAY_MILLIS) * 1_000_000;
            let (year, month, date) = civil_from_days(nanos(*value).div_euclid(day) as i64);
            let time = time_parts(nanos(*value).rem_euclid(day) as i64);
            write!(out, "[{year},{month},{date},{time}]")
        }
        _ => return false,
    };
    true
}

fn nanos(value: Timestamp) -> i128 {
    i128::from(value.millis) * 1_000_000 + i128::from(value.nanos_of_milli)
}

/// Hour and minute, and seconds and nanoseconds unless they and what follows are zero.
fn time_parts(nanos: i64) -> String {
    let (seconds, nano) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (second, nano) {
        (0, 0) => format!("{hour},{minute}"),
        (_, 0) => format!("{hour},{minute},{second}"),
        _ => format!("{hour},{minute},{second},{nano}"),
    }
}
