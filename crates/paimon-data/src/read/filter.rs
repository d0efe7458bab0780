// SPDX-License-Identifier: Apache-2.0

//! The exact, vectorised filter above the formats: three-valued logic over Arrow columns.
//!
//! Values compare as in Java Paimon (`CompareUtils`): strings and bytes by unsigned bytes, floats as `Double.compare`
//! (−0.0 < 0.0, NaN equal to NaN and greater than all), decimals by value at any scale.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_buffer::BooleanBuffer;
use arrow_schema::ArrowError;
use arrow_select::filter::filter_record_batch;
use paimon_types::{
    DataField, DataType, Datum, Error, LeafPredicate, Predicate, PredicateOp, Result, TypeKind,
};

use crate::arrow_value::{datum_at, repeat_as};
use crate::read::compare::compare;

/// A predicate bound to the columns of a batch schema; literals are converted once.
#[derive(Clone, Debug)]
pub(crate) struct BatchFilter {
    node: Node,
}

#[derive(Clone, Debug)]
enum Node {
    Constant(Option<bool>),
    And(Vec<Node>),
    Or(Vec<Node>),
    Not(Box<Node>),
    Null {
        column: usize,
        negated: bool,
    },
    Compare {
        column: usize,
        op: PredicateOp,
        literal: ArrayRef,
    },
    /// Row by row with typed values: pattern tests, long lists, literals that the column's Arrow type cannot hold.
    ByValue {
        column: usize,
        data_type: DataType,
        test: LeafPredicate,
    },
    InStrings {
        column: usize,
        values: Arc<HashSet<String>>,
        has_null: bool,
        negated: bool,
    },
}

impl BatchFilter {
    /// Binds `predicate` to `fields`, the columns of the batches that will be filtered, in order.
    ///
    /// # Errors
    /// `InvalidInput` when a column of the predicate is not among `fields`; `Unsupported` for a comparison of nested values.
    pub(crate) fn new(predicate: &Predicate, fields: &[DataField]) -> Result<Self> {
        Ok(BatchFilter {
            node: bind(predicate, fields)?,
        })
    }

    /// The rows of `batch` for which the predicate is true.
    pub(crate) fn apply(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mask = evaluate(&self.node, batch)?;
        if mask.null_count() == 0 && mask.true_count() == batch.num_rows() {
            return Ok(batch.clone());
        }
        filter_record_batch(batch, &mask).map_err(kernel)
    }
}

fn kernel(err: ArrowError) -> Error {
    Error::invalid("a filter cannot be evaluated").with_source(err)
}

fn bind(predicate: &Predicate, fields: &[DataField]) -> Result<Node> {
    Ok(match predicate {
        Predicate::Constant(value) => Node::Constant(Some(*value)),
        Predicate::And(children) => {
            Node::And(children.iter().map(|c| bind(c, fields)).collect::<Result<_>>()?)
        }
        Predicate::Or(children) => Node::Or(children.iter().map(|c| bind(c, fields)).collect::<Result<_>>()?),
        Predicate::Not(child) => Node::Not(Box::new(bind(child, fields)?)),
        Predicate::Leaf(leaf) => bind_leaf(leaf, fields)?,
    })
}

fn bind_leaf(leaf: &LeafPredicate, fields: &[DataField]) -> Result<Node> {
    let column = fields.iter().position(|f| f.id == leaf.field_id).ok_or_else(|| {
        Error::invalid("the filter names a column that is not read").with("column", &leaf.name)
    })?;
    let data_type = fields
        .get(column)
        .map_or_else(|| leaf.data_type.clone(), |f| f.data_type.clone());
    match leaf.op {
        PredicateOp::IsNull => {
            return Ok(Node::Null {
                column,
                negated: false,
            });
        }
        PredicateOp::IsNotNull => {
            return Ok(Node::Null {
                column,
                negated: true,
            });
        }
        _ => {}
    }
    if data_type.is_nested() || data_type.kind == TypeKind::Variant {
        return Err(
            Error::unsupported(format!("a filter can only test {data_type} for null"))
                .with("column", &leaf.name),
        );
    }
    let literal = |index: usize| -> Result<&Option<Datum>> {
        leaf.literals.get(index).ok_or_else(|| {
            Error::invalid(format!("{:?} lacks literal {index}", leaf.op)).with("column", &leaf.name)
        })
    };
    let by_value = || Node::ByValue {
        column,
        data_type: data_type.clone(),
        test: leaf.clone(),
    };
    let comparison = |op: PredicateOp, value: &Option<Datum>| -> Node {
        let Some(value) = value else {
            return Node::Constant(None);
        };
        match repeat_as(Some(value), &data_type, &paimon_types::arrow_type(&data_type), 1) {
            Ok(array) => Node::Compare {
                column,
                op,
                literal: array,
            },
            // Another scale, or a timestamp outside of the column's unit: compare by value.
            Err(_) => Node::ByValue {
                column,
                data_type: data_type.clone(),
                test: LeafPredicate {
                    op,
                    literals: vec![Some(value.clone())],
                    ..leaf.clone()
                },
            },
        }
    };
    Ok(match leaf.op {
        PredicateOp::Eq
        | PredicateOp::NotEq
        | PredicateOp::Lt
        | PredicateOp::LtEq
        | PredicateOp::Gt
        | PredicateOp::GtEq => comparison(leaf.op, literal(0)?),
        PredicateOp::Between => Node::And(vec![
            comparison(PredicateOp::GtEq, literal(0)?),
            comparison(PredicateOp::LtEq, literal(1)?),
        ]),
        PredicateOp::NotBetween => Node::Or(vec![
            comparison(PredicateOp::Lt, literal(0)?),
            comparison(PredicateOp::Gt, literal(1)?),
        ]),
        PredicateOp::In | PredicateOp::NotIn => {
            let negated = leaf.op == PredicateOp::NotIn;
            let strings = matches!(data_type.kind, TypeKind::Char(_) | TypeKind::VarChar(_));
            if strings && leaf.literals.len() > 8 {
                let values = leaf.literals.iter().flatten().filter_map(|d| match d {
                    Datum::String(s) => Some(s.clone()),
                    _ => None,
                });
                return Ok(Node::InStrings {
                    column,
                    values: Arc::new(values.collect()),
                    has_null: leaf.literals.iter().any(Option::is_none),
                    negated,
                });
            }
            if leaf.literals.len() > 64 {
                return Ok(by_value());
            }
            let any = Node::Or(
                leaf.literals
                    .iter()
                    .map(|l| comparison(PredicateOp::Eq, l))
                    .collect(),
            );
            if negated { Node::Not(Box::new(any)) } else { any }
        }
        PredicateOp::IsNan
        | PredicateOp::StartsWith
        | PredicateOp::EndsWith
        | PredicateOp::Contains
        | PredicateOp::Like => by_value(),
        PredicateOp::IsNull | PredicateOp::IsNotNull => Node::Null {
            column,
            negated: leaf.op == PredicateOp::IsNotNull,
        },
    })
}

fn evaluate(node: &Node, batch: &RecordBatch) -> Result<BooleanArray> {
    let rows = batch.num_rows();
    match node {
        Node::Constant(Some(value)) => Ok(constant(*value, rows)),
        Node::Constant(None) => Ok(BooleanArray::new_null(rows)),
        Node::And(children) => fold(children, batch, constant(true, rows), crate::read::kleene::and),
        Node::Or(children) => fold(children, batch, constant(false, rows), crate::read::kleene::or),
        Node::Not(child) => Ok(crate::read::kleene::not(&evaluate(child, batch)?)),
        Node::Null { column, negated } => {
            let valid = match batch.column(*column).logical_nulls() {
                Some(nulls) => nulls.inner().clone(),
                None => BooleanBuffer::new_set(rows),
            };
            Ok(BooleanArray::new(if *negated { valid } else { !&valid }, None))
        }
        Node::Compare { column, op, literal } => compare(batch.column(*column), *op, literal),
        Node::InStrings {
            column,
            values,
            has_null,
            negated,
        } => {
            let array = batch.column(*column);
            let strings = array.as_string_opt::<i32>().ok_or_else(|| {
                Error::invalid(format!("expected a string column, found {}", array.data_type()))
            })?;
            Ok(strings
                .iter()
                .map(|value| match value.map(|v| values.contains(v)) {
                    None => None,
                    Some(true) => Some(!negated),
                    Some(false) if *has_null => None,
                    Some(false) => Some(*negated),
                })
                .collect())
        }
        Node::ByValue {
            column,
            data_type,
            test,
        } => {
            let array = batch.column(*column);
            (0..rows)
                .map(|row| {
                    let value = datum_at(array, row, data_type)?;
                    Ok(test.eval(value.as_ref()))
                })
                .collect()
        }
    }
}

fn fold(
    children: &[Node],
    batch: &RecordBatch,
    unit: BooleanArray,
    combine: fn(&BooleanArray, &BooleanArray) -> BooleanArray,
) -> Result<BooleanArray> {
    let mut result: Option<BooleanArray> = None;
    for child in children {
        let next = evaluate(child, batch)?;
        result = Some(match result {
            None => next,
            Some(so_far) => combine(&so_far, &next),
        });
    }
    Ok(result.unwrap_or(unit))
}

fn constant(value: bool, rows: usize) -> BooleanArray {
    let buffer = if value {
        BooleanBuffer::new_set(rows)
    } else {
        BooleanBuffer::new_unset(rows)
    };
    BooleanArray::new(buffer, None)
}
