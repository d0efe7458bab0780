// SPDX-License-Identifier: Apache-2.0

//! Predicates as SQL-like text, for plans and messages.

use std::fmt;

use super::{LeafPredicate, Predicate, PredicateOp};
use crate::{DataType, Datum, TypeKind, datum_to_string};

impl fmt::Display for PredicateOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PredicateOp::Eq => "=",
            PredicateOp::NotEq => "<>",
            PredicateOp::Lt => "<",
            PredicateOp::LtEq => "<=",
            PredicateOp::Gt => ">",
            PredicateOp::GtEq => ">=",
            PredicateOp::IsNull => "IS NULL",
            PredicateOp::IsNotNull => "IS NOT NULL",
            PredicateOp::IsNan => "IS NAN",
            PredicateOp::In => "IN",
            PredicateOp::NotIn => "NOT IN",
            PredicateOp::Between => "BETWEEN",
            PredicateOp::NotBetween => "NOT BETWEEN",
            PredicateOp::StartsWith => "STARTS WITH",
            PredicateOp::EndsWith => "ENDS WITH",
            PredicateOp::Contains => "CONTAINS",
            PredicateOp::Like => "LIKE",
        })
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Predicate::Constant(true) => f.write_str("TRUE"),
            Predicate::Constant(false) => f.write_str("FALSE"),
            Predicate::Leaf(leaf) => leaf.fmt(f),
            Predicate::And(children) => list(f, children, " AND ", |child| matches!(child, Predicate::Or(_))),
            Predicate::Or(children) => list(f, children, " OR ", |_| false),
            Predicate::Not(inner) => write!(f, "NOT ({inner})"),
        }
    }
}

fn list(
    f: &mut fmt::Formatter<'_>,
    children: &[Predicate],
    separator: &str,
    in_parentheses: impl Fn(&Predicate) -> bool,
) -> fmt::Result {
    for (i, child) in children.iter().enumerate() {
        if i > 0 {
            f.write_str(separator)?;
        }
        if in_parentheses(child) {
            write!(f, "({child})")?
        } else {
            write!(f, "{child}")?
        }
    }
    Ok(())
}

impl fmt::Display for LeafPredicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = self
            .name
            .starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && self.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if plain {
            f.write_str(&self.name)?
        } else {
            write!(f, "`{}`", self.name.replace('`', "``"))?
        }
        write!(f, " {}", self.op)?;
        let literal = |i: usize| literal_text(self.literals.get(i).and_then(Option::as_ref), &self.data_type);
        match self.op {
            PredicateOp::IsNull | PredicateOp::IsNotNull | PredicateOp::IsNan => Ok(()),
            PredicateOp::Between | PredicateOp::NotBetween => write!(f, " {} AND {}", literal(0), literal(1)),
            PredicateOp::In | PredicateOp::NotIn => {
                let texts: Vec<String> = (0..self.literals.len()).map(literal).collect();
                write!(f, " ({})", texts.join(", "))
            }
            _ => write!(f, " {}", literal(0)),
        }
    }
}

fn literal_text(literal: Option<&Datum>, data_type: &DataType) -> String {
    let Some(literal) = literal else {
        return "NULL".to_owned();
    };
    let word = match (literal, &data_type.kind) {
        (Datum::Bytes(bytes), _) => {
            let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            return format!("X'{}'", digits.concat());
        }
        (Datum::String(text), _) => return format!("'{}'", text.replace('\'', "''")),
        (Datum::Date(_), _) => "DATE ",
        (Datum::Time(_), _) => "TIME ",
        (Datum::Timestamp(_), TypeKind::TimestampLtz(_)) => "TIMESTAMP_LTZ ",
        (Datum::Timestamp(_), _) => "TIMESTAMP ",
        (Datum::Decimal { scale, .. }, _) => {
            // The literal's own scale, which may be another than the column's.
            let own = DataType::new(TypeKind::Decimal {
                precision: 38,
                scale: *scale,
            });
            return datum_to_string(literal, &own);
        }
        (Datum::Float(v), _) if !v.is_finite() => "",
        (Datum::Double(v), _) if !v.is_finite() => "",
        _ => return datum_to_string(literal, data_type),
    };
    format!("{word}'{}'", datum_to_string(literal, data_type))
}
