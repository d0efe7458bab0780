// SPDX-License-Identifier: Apache-2.0

//! Stand-ins until predicates evaluate themselves; they rule nothing out.

use paimon_types::{ColumnStats, Datum, Predicate};

pub(super) trait PredicateExt: Sized {
    fn and(all: Vec<Predicate>) -> Predicate;
    fn split_conjuncts(self) -> Vec<Predicate>;
    fn columns(&self) -> Vec<i32>;
    fn may_match_stats(&self, _rows: i64, _column: &dyn Fn(i32) -> Option<ColumnStats>) -> bool {
        true
    }
    fn eval_row(&self, _column: &dyn Fn(i32) -> Option<Datum>) -> Option<bool> {
        Some(true)
    }
}

impl PredicateExt for Predicate {
    fn and(all: Vec<Predicate>) -> Predicate {
        Predicate::And(all)
    }

    fn split_conjuncts(self) -> Vec<Predicate> {
        match self {
            Predicate::And(all) => all.into_iter().flat_map(Self::split_conjuncts).collect(),
            other => vec![other],
        }
    }

    fn columns(&self) -> Vec<i32> {
        match self {
            Predicate::Constant(_) => Vec::new(),
            Predicate::Leaf(leaf) => vec![leaf.field_id],
            Predicate::Not(child) => Self::columns(child),
            Predicate::And(all) | Predicate::Or(all) => all.iter().flat_map(Self::columns).collect(),
        }
    }
}
