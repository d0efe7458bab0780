// SPDX-License-Identifier: Apache-2.0

//! Buckets that a predicate on the bucket key leaves (Java `BucketSelectConverter`; `metadata.md` 9.2).

use std::collections::{BTreeSet, HashMap};

use paimon_types::{
    BinaryRow, BucketFunction, DataField, DataType, Datum, Predicate, Result, TableSchema, TypeKind,
};

use crate::Table;

/// From the values that a filter allows for the bucket key to buckets.
#[derive(Debug)]
pub(super) struct BucketPruner {
    filter: Predicate,
    function: BucketFunction,
    field_ids: Vec<i32>,
    types: Vec<DataType>,
}

impl BucketPruner {
    /// `None` when the table is not bucketed by hash or the filter does not look at every column of the bucket key.
    ///
    /// A bucket was computed from the types of its time: when some schema of the table has another type for a bucket key
    /// column, nothing is pruned.
    ///
    /// # Errors
    /// Those of reading schemas.
    pub(super) async fn new(table: &Table, schema: &TableSchema, filter: &Predicate) -> Result<Option<Self>> {
        if table.options().bucket < 1 {
            return Ok(None);
        }
        let names = schema.bucket_keys();
        let fields: Vec<&DataField> = names.iter().filter_map(|name| schema.field(name)).collect();
        let used = filter.columns();
        if fields.is_empty() || fields.len() != names.len() || !fields.iter().all(|f| used.contains(&f.id)) {
            return Ok(None);
        }
        // Equal floats can have different bytes.
        if fields
            .iter()
            .any(|f| matches!(f.data_type.kind, TypeKind::Float | TypeKind::Double))
        {
            return Ok(None);
        }
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
        Ok(Some(BucketPruner {
            filter: filter.clone(),
            function: table.options().bucket_function,
            field_ids: fields.iter().map(|f| f.id).collect(),
            types: fields.iter().map(|f| f.data_type.with_nullable(true)).collect(),
        }))
    }

    /// The buckets in which rows of a partition with `total_buckets` buckets can match, `None` when that cannot be said.
    pub(super) fn buckets(
        &self,
        partition: &HashMap<i32, Option<Datum>>,
        total_buckets: i32,
    ) -> Option<BTreeSet<i32>> {
        if total_buckets < 1 {
            return None;
        }
        let filter = self
            .filter
            .with_known_values(&|id| partition.get(&id).map(Option::as_ref));
        let bucket = |key: Vec<Option<Datum>>| {
            let row = BinaryRow::encode(&self.types, &key).ok()?;
            self.function.bucket(&row, &self.types, total_buckets).ok()
        };
        filter
            .bucket_candidates(&self.field_ids)?
            .into_iter()
            .map(bucket)
            .collect()
    }
}
