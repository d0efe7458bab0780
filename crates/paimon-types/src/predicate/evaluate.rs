// SPDX-License-Identifier: Apache-2.0

//! Predicates over one row, with SQL's three truth values.

use std::cmp::Ordering;

use super::{LeafPredicate, LikePattern, Predicate, PredicateOp};
use crate::Datum;

impl Predicate {
    /// The truth of the predicate for one row: `None` is unknown, a filter keeps a row only for `Some(true)`. `value` gives the
    /// value of a column by field id, `None` for NULL; it must know every column of [`columns`](Predicate::columns).
    ///
    /// Meant for single rows (partitions, statistics, tests), not for data.
    pub fn eval_row(&self, value: &dyn Fn(i32) -> Option<Datum>) -> Option<bool> {
        match self {
            Predicate::Constant(truth) => Some(*truth),
            Predicate::Leaf(leaf) => leaf.eval(value(leaf.field_id).as_ref()),
            Predicate::And(children) => all(children.iter().map(|child| child.eval_row(value))),
            Predicate::Or(children) => any(children.iter().map(|child| child.eval_row(value))),
            Predicate::Not(inner) => inner.eval_row(value).map(|truth| !truth),
        }
    }
}

/// AND: false wins over unknown.
fn all(mut truths: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let folded = truths.try_fold(Some(true), |so_far, truth| match truth {
        Some(false) => Err(()),
        Some(true) => Ok(so_far),
        None => Ok(None),
    });
    folded.unwrap_or(Some(false))
}

/// OR: true wins over unknown.
fn any(truths: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    all(truths.map(|truth| truth.map(|t| !t))).map(|truth| !truth)
}

impl LeafPredicate {
    /// The truth of the test for one value of the column, `None` for NULL. Literals of another type make it unknown.
    pub fn eval(&self, value: Option<&Datum>) -> Option<bool> {
        match self.op {
            PredicateOp::IsNull => return Some(value.is_none()),
            PredicateOp::IsNotNull => return Some(value.is_some()),
            // An empty list holds nothing, not even an unknown value.
            PredicateOp::In if self.literals.is_empty() => return Some(false),
            PredicateOp::NotIn if self.literals.is_empty() => return Some(true),
            _ => {}
        }
        let value = value?;
        let against = |literal: Option<&Datum>| value.compare(literal?);
        let (first, second) = (self.first(), self.second());
        match self.op {
            PredicateOp::Eq => against(first).map(Ordering::is_eq),
            PredicateOp::NotEq => against(first).map(Ordering::is_ne),
            PredicateOp::Lt => against(first).map(Ordering::is_lt),
            PredicateOp::LtEq => against(first).map(Ordering::is_le),
            PredicateOp::Gt => against(first).map(Ordering::is_gt),
            PredicateOp::GtEq => against(first).map(Ordering::is_ge),
            PredicateOp::In => self.is_in(value),
            PredicateOp::NotIn => self.is_in(value).map(|truth| !truth),
            PredicateOp::Between | PredicateOp::NotBetween => {
                let sides = [
                    against(first).map(Ordering::is_ge),
                    against(second).map(Ordering::is_le),
                ];
                let inside = all(sides.into_iter());
                if self.op == PredicateOp::Between {
                    inside
                } else {
                    inside.map(|truth| !truth)
                }
            }
            PredicateOp::IsNan => match value {
                Datum::Float(v) => Some(v.is_nan()),
                Datum::Double(v) => Some(v.is_nan()),
                _ => None,
            },
            PredicateOp::StartsWith | PredicateOp::EndsWith | PredicateOp::Contains | PredicateOp::Like => {
                let (Datum::String(text), Datum::String(pattern)) = (value, first?) else {
                    return None;
                };
                match self.op {
                    PredicateOp::StartsWith => Some(text.starts_with(pattern.as_str())),
                    PredicateOp::EndsWith => Some(text.ends_with(pattern.as_str())),
                    PredicateOp::Contains => Some(text.contains(pattern.as_str())),
                    _ => LikePattern::parse(pattern)
                        .ok()
                        .map(|pattern| pattern.matches(text)),
                }
            }
            PredicateOp::IsNull | PredicateOp::IsNotNull => None,
        }
    }

    fn is_in(&self, value: &Datum) -> Option<bool> {
        any(self
            .literals
            .iter()
            .map(|literal| value.compare(literal.as_ref()?).map(Ordering::is_eq)))
    }
}
