// SPDX-License-Identifier: Apache-2.0

//! Parts of predicates: what concerns partitions, buckets, or a file of another schema.

use std::collections::BTreeMap;

use super::{LeafPredicate, Predicate, PredicateOp};
use crate::{DataField, DataType, Datum, TypeKind};

/// Most combinations of bucket key values that are tried (Java `BucketSelectConverter.MAX_VALUES`).
const MAX_COMBINATIONS: usize = 1000;

impl Predicate {
    /// A predicate that is true wherever this one is, made of leaves that `keep` maps; other leaves are taken as true.
    /// A negation is kept only when all below it is.
    pub fn weaken(&self, keep: &mut dyn FnMut(&LeafPredicate) -> Option<LeafPredicate>) -> Predicate {
        match self {
            Predicate::Constant(_) => self.clone(),
            Predicate::Leaf(leaf) => keep(leaf).map_or(Predicate::Constant(true), Predicate::Leaf),
            Predicate::And(children) => Predicate::and(children.iter().map(|child| child.weaken(keep))),
            Predicate::Or(children) => Predicate::or(children.iter().map(|child| child.weaken(keep))),
            Predicate::Not(inner) => {
                let mut complete = true;
                let weaker = inner.weaken(&mut |leaf| {
                    let kept = keep(leaf);
                    complete &= kept.is_some();
                    kept
                });
                if complete {
                    weaker.not()
                } else {
                    Predicate::Constant(true)
                }
            }
        }
    }

    /// What the predicate says about the columns `ids` (the partition columns): true wherever the predicate is, so whatever
    /// it refuses can be left out. `(p = 1 AND a = 2) OR p = 3` gives `p = 1 OR p = 3`.
    pub fn partition_only(&self, ids: &[i32]) -> Predicate {
        self.weaken(&mut |leaf| ids.contains(&leaf.field_id).then(|| leaf.clone()))
    }

    /// The conjuncts that look at a column outside `ids`; with the conjuncts inside `ids` they are the whole predicate.
    pub fn without_partition(&self, ids: &[i32]) -> Predicate {
        let conjuncts = self.conjuncts().into_iter();
        Predicate::and(
            conjuncts
                .filter(|c| !c.columns().iter().all(|id| ids.contains(id)))
                .cloned(),
        )
    }

    /// The predicate as a filter over rows in which some columns are known (`Some(value)`, NULL is `Some(None)`): tests of
    /// those become constants. For a filter unknown is as good as false, so a row is kept exactly as before.
    pub fn with_known_values<'a>(&self, known: &dyn Fn(i32) -> Option<Option<&'a Datum>>) -> Predicate {
        match self {
            Predicate::Constant(_) => self.clone(),
            Predicate::Leaf(leaf) => match known(leaf.field_id) {
                Some(value) => Predicate::Constant(leaf.eval(value) == Some(true)),
                None => self.clone(),
            },
            Predicate::And(children) => {
                Predicate::and(children.iter().map(|child| child.with_known_values(known)))
            }
            Predicate::Or(children) => {
                Predicate::or(children.iter().map(|child| child.with_known_values(known)))
            }
            Predicate::Not(inner) => {
                if inner.columns().iter().all(|id| known(*id).is_some()) {
                    return Predicate::Constant(
                        self.eval_row(&|id| known(id).flatten().cloned()) == Some(true),
                    );
                }
                self.clone()
            }
        }
    }

    /// All bucket keys that rows matching the predicate can have, in the order of `key_ids`; `None` when that cannot be said
    /// (a key column without `=`, IN or IS NULL, contradicting conjuncts, more than 1000 combinations). Substitute known
    /// partition values first ([`with_known_values`](Predicate::with_known_values)).
    pub fn bucket_candidates(&self, key_ids: &[i32]) -> Option<Vec<Vec<Option<Datum>>>> {
        let mut values: BTreeMap<i32, Vec<Option<Datum>>> = BTreeMap::new();
        for conjunct in self.conjuncts() {
            let Some((id, found)) = conjunct.equal_values().filter(|(id, _)| key_ids.contains(id)) else {
                continue;
            };
            let merged = match values.remove(&id) {
                Some(before) => before.into_iter().filter(|value| found.contains(value)).collect(),
                None => found,
            };
            values.insert(id, merged);
        }
        let mut combinations: Vec<Vec<Option<Datum>>> = vec![Vec::new()];
        for id in key_ids {
            let column = values.get(id).filter(|column| !column.is_empty())?;
            if combinations.len().checked_mul(column.len())? > MAX_COMBINATIONS {
                return None;
            }
            let longer = combinations.iter().flat_map(|start| {
                column
                    .iter()
                    .map(|value| start.iter().cloned().chain([value.clone()]).collect())
            });
            combinations = longer.collect();
        }
        (!key_ids.is_empty()).then_some(combinations)
    }

    /// The column and its values when the predicate is `=`, IN, IS NULL or an OR of those on one column.
    fn equal_values(&self) -> Option<(i32, Vec<Option<Datum>>)> {
        match self {
            Predicate::Leaf(leaf) => {
                let values = match leaf.op {
                    PredicateOp::IsNull => vec![None],
                    PredicateOp::Eq | PredicateOp::In => {
                        // A NULL literal equals no row.
                        let literals = leaf.literals.iter().flatten();
                        let stored = literals.map(|literal| stored_form(literal, &leaf.data_type).map(Some));
                        stored.collect::<Option<Vec<_>>>()?
                    }
                    _ => return None,
                };
                let mut distinct: Vec<Option<Datum>> = Vec::new();
                for value in values {
                    if !distinct.contains(&value) {
                        distinct.push(value);
                    }
                    if distinct.len() > MAX_COMBINATIONS {
                        return None;
                    }
                }
                Some((leaf.field_id, distinct))
            }
            Predicate::Or(children) => {
                let mut all: Option<(i32, Vec<Option<Datum>>)> = None;
                for child in children {
                    let (id, values) = child.equal_values()?;
                    match &mut all {
                        None => all = Some((id, values)),
                        Some((first, so_far)) if *first == id => {
                            for value in values {
                                if !so_far.contains(&value) {
                                    so_far.push(value);
                                }
                            }
                        }
                        Some(_) => return None,
                    }
                }
                all
            }
            _ => None,
        }
    }

    /// The predicate over the columns of a file of another schema version (`data-files.md` 16.7), true wherever this one is:
    /// columns are found by field id and get the file's name and type. A test is dropped (taken as true) when the file lacks
    /// the column, or when the types differ, except for a narrower integer in the file into which every literal fits.
    pub fn for_file_schema(&self, file_fields: &[DataField]) -> Predicate {
        self.weaken(&mut |leaf| {
            let field = file_fields.iter().find(|field| field.id == leaf.field_id)?;
            let literals = if field.data_type.same_kind(&leaf.data_type) {
                leaf.literals.clone()
            } else {
                let narrow = |literal: &Option<Datum>| match literal {
                    None => Some(None),
                    Some(literal) => narrow_integer(literal, &leaf.data_type, &field.data_type).map(Some),
                };
                integer_width(&leaf.data_type)
                    .zip(integer_width(&field.data_type))
                    .filter(|(table, file)| table > file)?;
                leaf.literals.iter().map(narrow).collect::<Option<Vec<_>>>()?
            };
            Some(LeafPredicate {
                field_id: leaf.field_id,
                name: field.name.clone(),
                data_type: field.data_type.clone(),
                op: leaf.op,
                literals,
            })
        })
    }
}

fn integer_width(data_type: &DataType) -> Option<u8> {
    match data_type.kind {
        TypeKind::TinyInt => Some(1),
        TypeKind::SmallInt => Some(2),
        TypeKind::Int => Some(4),
        TypeKind::BigInt => Some(8),
        _ => None,
    }
}

fn narrow_integer(literal: &Datum, from: &DataType, to: &DataType) -> Option<Datum> {
    if !literal.is_of(from) {
        return None;
    }
    let value = match literal {
        Datum::TinyInt(v) => i64::from(*v),
        Datum::SmallInt(v) => i64::from(*v),
        Datum::Int(v) => i64::from(*v),
        Datum::BigInt(v) => *v,
        _ => return None,
    };
    match to.kind {
        TypeKind::TinyInt => value.try_into().ok().map(Datum::TinyInt),
        TypeKind::SmallInt => value.try_into().ok().map(Datum::SmallInt),
        TypeKind::Int => value.try_into().ok().map(Datum::Int),
        TypeKind::BigInt => Some(Datum::BigInt(value)),
        _ => None,
    }
}

/// The literal as a column of the type stores it; `None` when it has no single stored form there (NaN has many, a finer
/// decimal or timestamp has none).
fn stored_form(literal: &Datum, data_type: &DataType) -> Option<Datum> {
    if !literal.is_of(data_type) {
        return None;
    }
    match (literal, &data_type.kind) {
        (Datum::Float(v), _) if v.is_nan() || *v == 0.0 => None,
        (Datum::Double(v), _) if v.is_nan() || *v == 0.0 => None,
        (
            Datum::Decimal {
                unscaled,
                scale: from,
            },
            TypeKind::Decimal { precision, scale },
        ) => {
            let power = 10i128.checked_pow(u32::from(scale.abs_diff(*from)))?;
            let unscaled = if scale >= from {
                unscaled.checked_mul(power)?
            } else {
                (unscaled % power == 0).then(|| unscaled / power)?
            };
            let limit = 10u128.checked_pow(u32::from(*precision))?;
            (unscaled.unsigned_abs() < limit).then_some(Datum::Decimal {
                unscaled,
                scale: *scale,
            })
        }
        (Datum::Timestamp(timestamp), TypeKind::Timestamp(p) | TypeKind::TimestampLtz(p)) => {
            let digits = u32::from(9u8.saturating_sub(*p));
            let nanos = timestamp.millis.rem_euclid(1000) * 1_000_000 + i64::from(timestamp.nanos_of_milli);
            (nanos % 10i64.pow(digits) == 0).then(|| literal.clone())
        }
        _ => Some(literal.clone()),
    }
}
