// SPDX-License-Identifier: Apache-2.0

//! Predicates over statistics: can any row match? (`metadata.md` 9.1, Java `LeafPredicate.test(rowCount, min, max, nulls)`).

use std::borrow::Cow;
use std::cmp::Ordering;

use super::{ColumnStats, LeafPredicate, Predicate, PredicateOp};
use crate::Datum;

impl Predicate {
    /// False only when no row can match. `row_count` is the number of rows that the statistics are of, `stats` gives what is
    /// known of a column by field id, `None` when nothing is.
    ///
    /// Bounds may be wider than the values (cut strings). What is unknown never prunes: a missing bound, a test under NOT that
    /// has no opposite. The bounds of floats say nothing about NaN, which is greater than everything, so `>`, `>=`, `<>` and
    /// their kin keep FLOAT and DOUBLE columns; both zeros count as inside a bound that is zero.
    pub fn may_match_stats(&self, row_count: i64, stats: &dyn Fn(i32) -> Option<ColumnStats>) -> bool {
        match self {
            Predicate::Constant(truth) => *truth,
            Predicate::Leaf(leaf) => {
                leaf.may_match_column(&stats(leaf.field_id).unwrap_or_default(), row_count)
            }
            Predicate::And(children) => children
                .iter()
                .all(|child| child.may_match_stats(row_count, stats)),
            Predicate::Or(children) => children
                .iter()
                .any(|child| child.may_match_stats(row_count, stats)),
            Predicate::Not(inner) => **inner != Predicate::Constant(true),
        }
    }
}

impl LeafPredicate {
    /// False only when no row of the column can match.
    fn may_match_column(&self, stats: &ColumnStats, row_count: i64) -> bool {
        let all_null = stats.null_count == Some(row_count);
        match self.op {
            PredicateOp::IsNull => return stats.null_count != Some(0),
            PredicateOp::IsNotNull => return !all_null,
            PredicateOp::In if self.literals.is_empty() => return false,
            PredicateOp::NotIn if self.literals.is_empty() => return true,
            _ => {}
        }
        if all_null || self.never_true() {
            return false;
        }
        let (Some(min), Some(max)) = (&stats.min, &stats.max) else {
            return true;
        };
        if is_float(min) {
            if self.nan_may_match() {
                return true;
            }
            let (min, max) = (float_bound(min, true), float_bound(max, false));
            return self.may_match_bounds(min.as_deref(), max.as_deref());
        }
        self.may_match_bounds(Some(min), Some(max))
    }

    /// A NULL literal makes the test false or unknown for every row.
    fn never_true(&self) -> bool {
        match self.op {
            PredicateOp::In => self.literals.iter().all(Option::is_none),
            PredicateOp::NotBetween => self.literals.iter().all(Option::is_none),
            PredicateOp::IsNull | PredicateOp::IsNotNull | PredicateOp::IsNan => false,
            _ => self.literals.iter().any(Option::is_none),
        }
    }

    /// True when a NaN would match.
    fn nan_may_match(&self) -> bool {
        matches!(
            self.op,
            PredicateOp::NotEq
                | PredicateOp::Gt
                | PredicateOp::GtEq
                | PredicateOp::NotIn
                | PredicateOp::NotBetween
                | PredicateOp::IsNan
        ) || self.literals.iter().flatten().any(is_nan)
    }

    /// `None` for a side without bound. A comparison that has no answer keeps.
    fn may_match_bounds(&self, min: Option<&Datum>, max: Option<&Datum>) -> bool {
        let order = |bound: Option<&Datum>, literal: &Datum| bound.and_then(|bound| bound.compare(literal));
        // The bound is certainly above / at or above (below / at or below) the literal.
        let min_above = |literal: &Datum| order(min, literal) == Some(Ordering::Greater);
        let min_at_least = |literal: &Datum| order(min, literal).is_some_and(Ordering::is_ge);
        let max_below = |literal: &Datum| order(max, literal) == Some(Ordering::Less);
        let max_at_most = |literal: &Datum| order(max, literal).is_some_and(Ordering::is_le);
        let only = |literal: &Datum| {
            order(min, literal) == Some(Ordering::Equal) && order(max, literal) == Some(Ordering::Equal)
        };
        let inside = |literal: &Datum| !min_above(literal) && !max_below(literal);
        match (self.op, self.first(), self.second()) {
            (PredicateOp::Eq, Some(v), _) => inside(v),
            (PredicateOp::NotEq, Some(v), _) => !only(v),
            (PredicateOp::Lt, Some(v), _) => !min_at_least(v),
            (PredicateOp::LtEq, Some(v), _) => !min_above(v),
            (PredicateOp::Gt, Some(v), _) => !max_at_most(v),
            (PredicateOp::GtEq, Some(v), _) => !max_below(v),
            (PredicateOp::In, ..) => self.literals.iter().flatten().any(inside),
            (PredicateOp::NotIn, ..) => !self.literals.iter().flatten().any(only),
            (PredicateOp::Between, Some(low), Some(high)) => !max_below(low) && !min_above(high),
            (PredicateOp::NotBetween, low, high) => {
                low.is_some_and(|low| !min_at_least(low)) || high.is_some_and(|high| !max_at_most(high))
            }
            (PredicateOp::StartsWith, Some(prefix), _) => {
                let outside = |bound: Option<&Datum>, order: Ordering| match (bound, prefix) {
                    (Some(Datum::String(bound)), Datum::String(prefix)) => {
                        bound.as_bytes().cmp(prefix.as_bytes()) == order
                            && !bound.starts_with(prefix.as_str())
                    }
                    _ => false,
                };
                !outside(min, Ordering::Greater) && !outside(max, Ordering::Less)
            }
            _ => true,
        }
    }
}

fn is_float(datum: &Datum) -> bool {
    matches!(datum, Datum::Float(_) | Datum::Double(_))
}

fn is_nan(datum: &Datum) -> bool {
    match datum {
        Datum::Float(v) => v.is_nan(),
        Datum::Double(v) => v.is_nan(),
        _ => false,
    }
}

/// A bound of a float column: a NaN bounds nothing, a zero stands for both zeros.
fn float_bound(datum: &Datum, lower: bool) -> Option<Cow<'_, Datum>> {
    let sign = if lower { -1.0 } else { 1.0 };
    match datum {
        _ if is_nan(datum) => None,
        Datum::Float(v) if *v == 0.0 => Some(Cow::Owned(Datum::Float(0.0f32.copysign(sign)))),
        Datum::Double(v) if *v == 0.0 => Some(Cow::Owned(Datum::Double(0.0f64.copysign(f64::from(sign))))),
        _ => Some(Cow::Borrowed(datum)),
    }
}
