// SPDX-License-Identifier: Apache-2.0

//! Tests by partition and bucket: on manifests by their aggregates, on entries exactly.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use paimon_types::{BinaryRow, ColumnStats, DataType, Datum, Predicate, Result, TableSchema};

use super::bucket_pruning::BucketPruner;
use super::shim::PredicateExt as _;
use crate::manifest::{EntryHead, EntrySelector, FileKind, ManifestFileMeta};

/// The conjuncts of a filter that use partition columns only.
#[derive(Debug)]
pub(super) struct PartitionFilter {
    field_ids: Vec<i32>,
    types: Vec<DataType>,
    conjuncts: Vec<Predicate>,
}

impl PartitionFilter {
    /// Takes the conjuncts that it can decide and gives back the others.
    pub(super) fn split(schema: &TableSchema, conjuncts: Vec<Predicate>) -> Result<(Self, Vec<Predicate>)> {
        let fields = schema.partition_fields();
        let field_ids: Vec<i32> = fields.iter().map(|f| f.id).collect();
        let types = fields.iter().map(|f| f.data_type.with_nullable(true)).collect();
        let (mine, rest) = conjuncts
            .into_iter()
            .partition(|p| p.columns().iter().all(|id| field_ids.contains(id)));
        Ok((
            PartitionFilter {
                field_ids,
                types,
                conjuncts: mine,
            },
            rest,
        ))
    }

    /// False when no partition of the manifest can match.
    pub(super) fn may_match(&self, meta: &ManifestFileMeta) -> Result<bool> {
        let entries = meta.num_added_files.saturating_add(meta.num_deleted_files);
        let stats = &meta.partition_stats;
        if self.conjuncts.is_empty() || stats.min_values.arity() != self.types.len() {
            return Ok(true);
        }
        let mins = stats.min_values.decode(&self.types)?;
        let maxs = stats.max_values.decode(&self.types)?;
        let column = |id: i32| {
            let at = self.field_ids.iter().position(|f| *f == id)?;
            Some(ColumnStats {
                min: mins.get(at).cloned().flatten(),
                max: maxs.get(at).cloned().flatten(),
                null_count: stats.null_counts.get(at).copied().flatten(),
            })
        };
        Ok(self.conjuncts.iter().all(|p| p.may_match_stats(entries, &column)))
    }

    /// True when every conjunct is true for the partition.
    pub(super) fn matches(&self, partition: &BinaryRow) -> Result<bool> {
        if self.conjuncts.is_empty() {
            return Ok(true);
        }
        let values = partition.decode(&self.types)?;
        let column = |id: i32| {
            let at = self.field_ids.iter().position(|f| *f == id)?;
            values.get(at).cloned().flatten()
        };
        Ok(self.conjuncts.iter().all(|p| p.eval_row(&column) == Some(true)))
    }

    /// Orders items by their partition values, nulls first; equal ones keep their order.
    pub(super) fn sort_by_partition<T>(
        &self,
        items: &mut [T],
        partition: impl Fn(&T) -> &BinaryRow,
    ) -> Result<()> {
        let mut keys: HashMap<BinaryRow, Vec<Option<Datum>>> = HashMap::new();
        for item in items.iter() {
            let row = partition(item);
            if !keys.contains_key(row) {
                keys.insert(row.clone(), row.decode(&self.types)?);
            }
        }
        items.sort_by(|a, b| compare_values(keys.get(partition(a)), keys.get(partition(b))));
        Ok(())
    }
}

fn compare_values(a: Option<&Vec<Option<Datum>>>, b: Option<&Vec<Option<Datum>>>) -> Ordering {
    let (Some(a), Some(b)) = (a, b) else {
        return Ordering::Equal;
    };
    let orders = a.iter().zip(b).map(|(a, b)| match (a, b) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Less,
        (Some(_), None) => Ordering::Greater,
        (Some(a), Some(b)) => a.compare(b).unwrap_or(Ordering::Equal),
    });
    orders.fold(Ordering::Equal, Ordering::then)
}

/// Selects entries by partition and bucket while a manifest is decoded.
#[derive(Clone, Debug)]
pub(super) struct ScanSelector {
    partitions: Arc<PartitionFilter>,
    bucket: Option<i32>,
    buckets: Option<Arc<BucketPruner>>,
    verdicts: HashMap<BinaryRow, bool>,
}

impl ScanSelector {
    pub(super) fn new(
        partitions: Arc<PartitionFilter>,
        bucket: Option<i32>,
        buckets: Option<Arc<BucketPruner>>,
    ) -> Self {
        ScanSelector {
            partitions,
            bucket,
            buckets,
            verdicts: HashMap::new(),
        }
    }
}

impl EntrySelector for ScanSelector {
    fn select(&mut self, head: &EntryHead<'_>) -> Result<bool> {
        if self.bucket.is_some_and(|bucket| bucket != head.bucket) {
            return Ok(false);
        }
        // Only for ADD: the bucket count is no part of the identity, a DELETE may carry another one.
        if head.kind == FileKind::Add
            && self
                .buckets
                .as_ref()
                .is_some_and(|b| !b.may_contain(head.bucket, head.total_buckets))
        {
            return Ok(false);
        }
        if let Some(verdict) = self.verdicts.get(head.partition) {
            return Ok(*verdict);
        }
        let verdict = self.partitions.matches(head.partition)?;
        self.verdicts.insert(head.partition.clone(), verdict);
        Ok(verdict)
    }
}
