// SPDX-License-Identifier: Apache-2.0

//! Predicates and their three-valued evaluation over rows and statistics (Java `org.apache.paimon.predicate`;
//! `metadata.md` 9.1).
//!
//! Order and equality of values are those of [`Datum::compare`]: floats as Java compares them (−0.0 below 0.0, NaN equal to
//! itself and greater than everything). The SQL side ([`Predicate::compare`] over a [`BoundLiteral`]) takes both zeros as one.

mod bind;
mod display;
mod evaluate;
mod json;
mod like;
mod rewrite;
mod stats;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::{DataField, DataType, Datum, Error, Result, TypeKind};

pub use bind::{BoundLiteral, Literal, bind_literal, bind_literal_in};
pub use like::LikePattern;

/// A boolean expression over columns. Columns are known by field id; the name is for messages and formats.
#[derive(Clone, Debug, PartialEq)]
pub enum Predicate {
    /// Always true or always false.
    Constant(bool),
    /// A test of one column.
    Leaf(LeafPredicate),
    /// All children true.
    And(Vec<Predicate>),
    /// At least one child true.
    Or(Vec<Predicate>),
    /// Negation that could not be pushed into a leaf. NOT NULL(unknown) stays unknown.
    Not(Box<Predicate>),
}

/// A test of one column against literals of the column's type.
#[derive(Clone, Debug, PartialEq)]
pub struct LeafPredicate {
    /// Field id in the table schema.
    pub field_id: i32,
    /// Column name in the table schema.
    pub name: String,
    /// Column type in the table schema.
    pub data_type: DataType,
    /// The test.
    pub op: PredicateOp,
    /// Literals, `None` is SQL NULL. One for comparisons and patterns, two for BETWEEN, any number for IN, none for null tests.
    pub literals: Vec<Option<Datum>>,
}

/// Test of a [`LeafPredicate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum PredicateOp {
    Eq,
    NotEq,
    Lt,
    LtEq,
    Gt,
    GtEq,
    IsNull,
    IsNotNull,
    IsNan,
    In,
    NotIn,
    Between,
    NotBetween,
    StartsWith,
    EndsWith,
    Contains,
    Like,
}

impl PredicateOp {
    /// The test that is true where this one is false, false where it is true and unknown where it is unknown.
    pub fn negated(self) -> Option<PredicateOp> {
        Some(match self {
            PredicateOp::Eq => PredicateOp::NotEq,
            PredicateOp::NotEq => PredicateOp::Eq,
            PredicateOp::Lt => PredicateOp::GtEq,
            PredicateOp::LtEq => PredicateOp::Gt,
            PredicateOp::Gt => PredicateOp::LtEq,
            PredicateOp::GtEq => PredicateOp::Lt,
            PredicateOp::IsNull => PredicateOp::IsNotNull,
            PredicateOp::IsNotNull => PredicateOp::IsNull,
            PredicateOp::In => PredicateOp::NotIn,
            PredicateOp::NotIn => PredicateOp::In,
            PredicateOp::Between => PredicateOp::NotBetween,
            PredicateOp::NotBetween => PredicateOp::Between,
            PredicateOp::IsNan
            | PredicateOp::StartsWith
            | PredicateOp::EndsWith
            | PredicateOp::Contains
            | PredicateOp::Like => return None,
        })
    }

    fn is_pattern(self) -> bool {
        matches!(
            self,
            PredicateOp::StartsWith | PredicateOp::EndsWith | PredicateOp::Contains | PredicateOp::Like
        )
    }

    /// Number of literals, `None` for any number.
    fn arity(self) -> Option<usize> {
        match self {
            PredicateOp::IsNull | PredicateOp::IsNotNull | PredicateOp::IsNan => Some(0),
            PredicateOp::Between | PredicateOp::NotBetween => Some(2),
            PredicateOp::In | PredicateOp::NotIn => None,
            _ => Some(1),
        }
    }
}

/// Statistics of one column of a file or of a partition column of a manifest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnStats {
    /// Smallest value or a lower bound; `None` when unknown or all values are null.
    pub min: Option<Datum>,
    /// Largest value or an upper bound; `None` when unknown or all values are null.
    pub max: Option<Datum>,
    /// Number of nulls, `None` when unknown.
    pub null_count: Option<i64>,
}

impl LeafPredicate {
    /// A test of a column, checked: number and types of the literals, an ordered type for comparisons, text for patterns.
    ///
    /// # Errors
    /// `InvalidInput` that names column, type and literal.
    pub fn new(field: &DataField, op: PredicateOp, literals: Vec<Option<Datum>>) -> Result<LeafPredicate> {
        let fail = |problem: String| Err(Error::invalid(problem).with("column", &field.name));
        if op.arity().is_some_and(|n| n != literals.len()) {
            return fail(format!(
                "{op} takes {:?} literals, found {}",
                op.arity().unwrap_or(0),
                literals.len()
            ));
        }
        let data_type = &field.data_type;
        let is_text = matches!(data_type.kind, TypeKind::Char(_) | TypeKind::VarChar(_));
        let is_float = matches!(data_type.kind, TypeKind::Float | TypeKind::Double);
        let bad_type = (op.is_pattern() && !is_text)
            || (op == PredicateOp::IsNan && !is_float)
            || (op.arity() != Some(0) && (data_type.is_nested() || data_type.kind == TypeKind::Variant));
        if bad_type {
            return fail(format!("{op} cannot be used with type {data_type}"));
        }
        if let Some(literal) = literals
            .iter()
            .flatten()
            .find(|literal| !literal.is_of(data_type))
        {
            return fail(format!("the literal {literal:?} is not of type {data_type}"));
        }
        if op == PredicateOp::Like
            && let Some(Some(Datum::String(pattern))) = literals.first()
        {
            LikePattern::parse(pattern).map_err(|e| e.with("column", &field.name))?;
        }
        Ok(LeafPredicate {
            field_id: field.id,
            name: field.name.clone(),
            data_type: field.data_type.clone(),
            op,
            literals,
        })
    }

    fn first(&self) -> Option<&Datum> {
        self.literals.first().and_then(Option::as_ref)
    }

    fn second(&self) -> Option<&Datum> {
        self.literals.get(1).and_then(Option::as_ref)
    }
}

fn leaf(field: &DataField, op: PredicateOp, literals: Vec<Option<Datum>>) -> Result<Predicate> {
    LeafPredicate::new(field, op, literals).map(Predicate::Leaf)
}

/// Makers of leaves. Those with literals check them ([`LeafPredicate::new`]); a NULL literal is `None`.
impl Predicate {
    /// `column = literal`.
    ///
    /// # Errors
    /// `InvalidInput` when the literal is not of the column's type.
    pub fn eq(field: &DataField, literal: impl Into<Option<Datum>>) -> Result<Predicate> {
        leaf(field, PredicateOp::Eq, vec![literal.into()])
    }

    /// `column <> literal`.
    ///
    /// # Errors
    /// As [`eq`](Predicate::eq).
    pub fn not_eq(field: &DataField, literal: impl Into<Option<Datum>>) -> Result<Predicate> {
        leaf(field, PredicateOp::NotEq, vec![literal.into()])
    }

    /// `column < literal`.
    ///
    /// # Errors
    /// As [`eq`](Predicate::eq).
    pub fn lt(field: &DataField, literal: impl Into<Option<Datum>>) -> Result<Predicate> {
        leaf(field, PredicateOp::Lt, vec![literal.into()])
    }

    /// `column <= literal`.
    ///
    /// # Errors
    /// As [`eq`](Predicate::eq).
    pub fn lt_eq(field: &DataField, literal: impl Into<Option<Datum>>) -> Result<Predicate> {
        leaf(field, PredicateOp::LtEq, vec![literal.into()])
    }

    /// `column > literal`.
    ///
    /// # Errors
    /// As [`eq`](Predicate::eq).
    pub fn gt(field: &DataField, literal: impl Into<Option<Datum>>) -> Result<Predicate> {
        leaf(field, PredicateOp::Gt, vec![literal.into()])
    }

    /// `column >= literal`.
    ///
    /// # Errors
    /// As [`eq`](Predicate::eq).
    pub fn gt_eq(field: &DataField, literal: impl Into<Option<Datum>>) -> Result<Predicate> {
        leaf(field, PredicateOp::GtEq, vec![literal.into()])
    }

    /// `column IS NULL`.
    pub fn is_null(field: &DataField) -> Predicate {
        null_test(field, PredicateOp::IsNull)
    }

    /// `column IS NOT NULL`.
    pub fn is_not_null(field: &DataField) -> Predicate {
        null_test(field, PredicateOp::IsNotNull)
    }

    /// The value is NaN; unknown for NULL.
    ///
    /// # Errors
    /// `InvalidInput` when the column is neither FLOAT nor DOUBLE.
    pub fn is_nan(field: &DataField) -> Result<Predicate> {
        leaf(field, PredicateOp::IsNan, Vec::new())
    }

    /// `column IN (…)`; a NULL in the list makes the answer unknown instead of false. False for an empty list.
    ///
    /// # Errors
    /// As [`eq`](Predicate::eq).
    pub fn in_list(field: &DataField, literals: Vec<Option<Datum>>) -> Result<Predicate> {
        leaf(field, PredicateOp::In, literals)
    }

    /// `column NOT IN (…)`: never true when the list has a NULL.
    ///
    /// # Errors
    /// As [`eq`](Predicate::eq).
    pub fn not_in_list(field: &DataField, literals: Vec<Option<Datum>>) -> Result<Predicate> {
        leaf(field, PredicateOp::NotIn, literals)
    }

    /// `column BETWEEN low AND high`, both included.
    ///
    /// # Errors
    /// As [`eq`](Predicate::eq).
    pub fn between(
        field: &DataField,
        low: impl Into<Option<Datum>>,
        high: impl Into<Option<Datum>>,
    ) -> Result<Predicate> {
        leaf(field, PredicateOp::Between, vec![low.into(), high.into()])
    }

    /// `column NOT BETWEEN low AND high`.
    ///
    /// # Errors
    /// As [`eq`](Predicate::eq).
    pub fn not_between(
        field: &DataField,
        low: impl Into<Option<Datum>>,
        high: impl Into<Option<Datum>>,
    ) -> Result<Predicate> {
        leaf(field, PredicateOp::NotBetween, vec![low.into(), high.into()])
    }

    /// The text starts with `prefix`.
    ///
    /// # Errors
    /// `InvalidInput` when the column is not text.
    pub fn starts_with(field: &DataField, prefix: &str) -> Result<Predicate> {
        leaf(
            field,
            PredicateOp::StartsWith,
            vec![Some(Datum::String(prefix.to_owned()))],
        )
    }

    /// The text ends with `suffix`.
    ///
    /// # Errors
    /// `InvalidInput` when the column is not text.
    pub fn ends_with(field: &DataField, suffix: &str) -> Result<Predicate> {
        leaf(
            field,
            PredicateOp::EndsWith,
            vec![Some(Datum::String(suffix.to_owned()))],
        )
    }

    /// The text contains `part`.
    ///
    /// # Errors
    /// `InvalidInput` when the column is not text.
    pub fn contains(field: &DataField, part: &str) -> Result<Predicate> {
        leaf(
            field,
            PredicateOp::Contains,
            vec![Some(Datum::String(part.to_owned()))],
        )
    }

    /// `column LIKE pattern` with `%` (any text), `_` (one code point) and `\` before one of `%`, `_`, `\` for itself.
    /// Patterns that are plain, a prefix, a suffix or a part become those tests, which statistics can prune.
    ///
    /// # Errors
    /// `InvalidInput` for another character after `\`, or when the column is not text.
    pub fn like(field: &DataField, pattern: &str) -> Result<Predicate> {
        let (op, text) = LikePattern::parse(pattern)
            .map_err(|e| e.with("column", &field.name))?
            .simplest(pattern);
        leaf(field, op, vec![Some(Datum::String(text))])
    }
}

fn null_test(field: &DataField, op: PredicateOp) -> Predicate {
    Predicate::Leaf(LeafPredicate {
        field_id: field.id,
        name: field.name.clone(),
        data_type: field.data_type.clone(),
        op,
        literals: Vec::new(),
    })
}

impl Predicate {
    /// All of them: nested ANDs become one, constants are folded, `Constant(true)` for none.
    pub fn and(children: impl IntoIterator<Item = Predicate>) -> Predicate {
        let mut kept = Vec::new();
        for child in children {
            match child {
                Predicate::Constant(true) => {}
                Predicate::Constant(false) => return Predicate::Constant(false),
                Predicate::And(inner) => kept.extend(inner),
                other => kept.push(other),
            }
        }
        match kept.len() {
            0 => Predicate::Constant(true),
            1 => kept.remove(0),
            _ => Predicate::And(kept),
        }
    }

    /// At least one of them: nested ORs become one, constants are folded, `Constant(false)` for none.
    pub fn or(children: impl IntoIterator<Item = Predicate>) -> Predicate {
        let mut kept = Vec::new();
        for child in children {
            match child {
                Predicate::Constant(false) => {}
                Predicate::Constant(true) => return Predicate::Constant(true),
                Predicate::Or(inner) => kept.extend(inner),
                other => kept.push(other),
            }
        }
        match kept.len() {
            0 => Predicate::Constant(false),
            1 => kept.remove(0),
            _ => Predicate::Or(kept),
        }
    }

    /// The negation, pushed to the leaves by De Morgan's laws; `Not` stays only around tests without an opposite.
    #[allow(clippy::should_implement_trait)]
    pub fn not(self) -> Predicate {
        match self {
            Predicate::Constant(value) => Predicate::Constant(!value),
            Predicate::And(children) => Predicate::or(children.into_iter().map(Predicate::not)),
            Predicate::Or(children) => Predicate::and(children.into_iter().map(Predicate::not)),
            Predicate::Not(inner) => *inner,
            Predicate::Leaf(leaf) => match leaf.op.negated() {
                Some(op) => Predicate::Leaf(LeafPredicate { op, ..leaf }),
                None => Predicate::Not(Box::new(Predicate::Leaf(leaf))),
            },
        }
    }

    /// Ids of the columns that are tested, ascending, each once.
    pub fn columns(&self) -> Vec<i32> {
        let mut ids = BTreeSet::new();
        self.visit(&mut |leaf| {
            ids.insert(leaf.field_id);
        });
        ids.into_iter().collect()
    }

    /// Calls `f` for every leaf, in order.
    pub fn visit<'a>(&'a self, f: &mut dyn FnMut(&'a LeafPredicate)) {
        match self {
            Predicate::Constant(_) => {}
            Predicate::Leaf(leaf) => f(leaf),
            Predicate::And(children) | Predicate::Or(children) => {
                children.iter().for_each(|child| child.visit(f))
            }
            Predicate::Not(inner) => inner.visit(f),
        }
    }

    /// The parts of the outermost AND; none for `Constant(true)`.
    pub fn split_conjuncts(self) -> Vec<Predicate> {
        match self {
            Predicate::Constant(true) => Vec::new(),
            Predicate::And(children) => children
                .into_iter()
                .flat_map(Predicate::split_conjuncts)
                .collect(),
            other => vec![other],
        }
    }

    fn conjuncts(&self) -> Vec<&Predicate> {
        match self {
            Predicate::Constant(true) => Vec::new(),
            Predicate::And(children) => children.iter().flat_map(Predicate::conjuncts).collect(),
            other => vec![other],
        }
    }

    /// True for `Constant(true)`.
    pub fn is_always_true(&self) -> bool {
        *self == Predicate::Constant(true)
    }
}
