// SPDX-License-Identifier: Apache-2.0

//! Buckets that a predicate on the bucket key leaves (Java `BucketSelectConverter`; `metadata.md` 9.2).

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use paimon_types::{
    BinaryRow, BucketFunction, DataField, DataType, Datum, LeafPredicate, Predicate, PredicateOp, Result,
    TableSchema, TypeKind,
};

use crate::Table;

/// Most combinations of values for which buckets are computed.
const MAX_COMBINATIONS: usize = 1000;

/// The values that the bucket key can have in matching rows.
#[derive(Debug)]
pub(crate) struct BucketPruner {
    function: BucketFunction,
    types: Vec<DataType>,
    /// Bucket keys of all combinations.
    keys: Vec<BinaryRow>,
    /// Buckets by bucket count.
    buckets: Mutex<HashMap<i32, BTreeSet<i32>>>,
}

impl BucketPruner {
    /// `None` when the table is not bucketed by hash, or the conjuncts do not bind every bucket key column to few values.
    ///
    /// A bucket was computed from the types of its time: when some schema of the table has another type for a bucket key
    /// column, nothing is pruned.
    ///
    /// # Errors
    /// Those of reading schemas.
    pub(super) async fn new(
        table: &Table,
        schema: &TableSchema,
        conjuncts: &[Predicate],
    ) -> Result<Option<Self>> {
        if table.options().bucket < 1 {
            return Ok(None);
        }
        let names = schema.bucket_keys();
        let fields: Vec<&DataField> = names.iter().filter_map(|name| schema.field(name)).collect();
        if fields.is_empty() || fields.len() != names.len() {
            return Ok(None);
        }
        let Some(keys) = bucket_keys(&fields, conjuncts) else {
            return Ok(None);
        };
        for id in 0..=table.schema().id.max(schema.id) {
            // A schema that is gone (a branch keeps only some) may have had other types.
            let Some(other) = table.schema_manager().try_schema(id).await? else {
                return Ok(None);
            };
            let same = fields.iter().all(|field| {
                other
                    .field_by_id(field.id)
                    .is_some_and(|f| f.data_type.same_kind(&field.data_type))
            });
            if !same {
                return Ok(None);
            }
        }
        let types = fields.iter().map(|f| f.data_type.clone()).collect();
        let function = table.options().bucket_function;
        Ok(Some(BucketPruner {
            function,
            types,
            keys,
            buckets: Mutex::default(),
        }))
    }

    /// True when a row with one of the keys can be in the bucket of a table of `total_buckets`.
    pub(super) fn may_contain(&self, bucket: i32, total_buckets: i32) -> bool {
        if total_buckets < 1 || bucket < 0 {
            return true;
        }
        let mut cache = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(buckets) = cache.get(&total_buckets) {
            return buckets.contains(&bucket);
        }
        let buckets: Result<BTreeSet<i32>> = self
            .keys
            .iter()
            .map(|key| self.function.bucket(key, &self.types, total_buckets))
            .collect();
        // A function that cannot take the types prunes nothing.
        let Ok(buckets) = buckets else { return true };
        let found = buckets.contains(&bucket);
        cache.insert(total_buckets, buckets);
        found
    }
}

/// All combinations of the values that the conjuncts allow for each field, `None` when a field is free or there are too many.
fn bucket_keys(fields: &[&DataField], conjuncts: &[Predicate]) -> Option<Vec<BinaryRow>> {
    let mut combinations: Vec<Vec<Option<Datum>>> = vec![Vec::new()];
    for field in fields {
        let mut allowed: Option<Vec<Datum>> = None;
        for conjunct in conjuncts {
            let Some(values) = values_of(conjunct, field) else {
                continue;
            };
            allowed = Some(match allowed {
                None => values,
                Some(before) => before.into_iter().filter(|v| values.contains(v)).collect(),
            });
        }
        let allowed = allowed?;
        // Contradictory conjuncts: statistics deal with them.
        if allowed.is_empty() || combinations.len().checked_mul(allowed.len())? > MAX_COMBINATIONS {
            return None;
        }
        combinations = combinations
            .iter()
            .flat_map(|prefix| {
                allowed
                    .iter()
                    .map(|value| [prefix.as_slice(), &[Some(value.clone())]].concat())
            })
            .collect();
    }
    let types: Vec<DataType> = fields.iter().map(|f| f.data_type.clone()).collect();
    combinations
        .iter()
        .map(|values| BinaryRow::encode(&types, values).ok())
        .collect()
}

/// The values for which a conjunct can be true when it is an OR of `=` and IN on one field; `None` for anything else.
fn values_of(predicate: &Predicate, field: &DataField) -> Option<Vec<Datum>> {
    match predicate {
        Predicate::Or(children) => {
            let mut all = Vec::new();
            for child in children {
                all.extend(values_of(child, field)?);
            }
            Some(all)
        }
        Predicate::Leaf(leaf) => leaf_values(leaf, field),
        _ => None,
    }
}

fn leaf_values(leaf: &LeafPredicate, field: &DataField) -> Option<Vec<Datum>> {
    let equality = matches!(leaf.op, PredicateOp::Eq | PredicateOp::In);
    if leaf.field_id != field.id || !equality || !leaf.data_type.same_kind(&field.data_type) {
        return None;
    }
    // `= NULL` is never true.
    let values = leaf.literals.iter().flatten();
    values
        .map(|value| has_one_encoding(value, &field.data_type).then(|| value.clone()))
        .collect()
}

/// True when equal values of the type have equal bytes, so that a bucket is a function of the value.
fn has_one_encoding(value: &Datum, data_type: &DataType) -> bool {
    match (value, &data_type.kind) {
        // −0.0 and 0.0, and the NaNs.
        (Datum::Float(_) | Datum::Double(_), _) => false,
        (Datum::Decimal { scale, .. }, TypeKind::Decimal { scale: wanted, .. }) => scale == wanted,
        (Datum::Array(_) | Datum::Map(_) | Datum::Row(_) | Datum::Variant { .. }, _) => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(id: i32, kind: TypeKind) -> DataField {
        DataField::new(id, format!("f{id}"), DataType::new(kind))
    }

    fn leaf(field: &DataField, op: PredicateOp, literals: Vec<Option<Datum>>) -> Predicate {
        Predicate::Leaf(LeafPredicate {
            field_id: field.id,
            name: field.name.clone(),
            data_type: field.data_type.clone(),
            op,
            literals,
        })
    }

    #[test]
    fn keys_are_combined_and_intersected() {
        let (a, b) = (field(0, TypeKind::Int), field(1, TypeKind::Int));
        let int = |v| Some(Datum::Int(v));
        let conjuncts = [
            leaf(&a, PredicateOp::In, vec![int(1), None, int(2)]),
            Predicate::Or(vec![
                leaf(&b, PredicateOp::Eq, vec![int(5)]),
                leaf(&b, PredicateOp::Eq, vec![int(6)]),
            ]),
            leaf(&a, PredicateOp::In, vec![int(2), int(3)]),
        ];
        assert_eq!(bucket_keys(&[&a, &b], &conjuncts).map(|k| k.len()), Some(2));
        assert_eq!(bucket_keys(&[&a, &b], &conjuncts[..1]), None, "b is free");
        let mixed = Predicate::Or(vec![
            leaf(&a, PredicateOp::Eq, vec![int(5)]),
            leaf(&b, PredicateOp::Eq, vec![int(6)]),
        ]);
        assert_eq!(bucket_keys(&[&a], &[mixed]), None);
        assert_eq!(
            bucket_keys(&[&a], &[leaf(&a, PredicateOp::Gt, vec![int(1)])]),
            None
        );
        let many = leaf(&a, PredicateOp::In, (0..1001).map(int).collect());
        assert_eq!(bucket_keys(&[&a], &[many]), None);
    }
}
