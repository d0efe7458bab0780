// SPDX-License-Identifier: Apache-2.0

//! Tests by partition and bucket: on manifests by their aggregates, on entries exactly.

use std::cmp::Ordering;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use paimon_protocol::Partition;
use paimon_types::{ColumnStats, DataType, Datum, Predicate, Result, TableSchema};

use super::bucket_pruning::BucketPruner;
use super::levels::Levels;
use crate::manifest::{EntryHead, EntrySelector, FileKind, ManifestFileMeta};

/// What a filter says about partitions: true wherever the filter can be true for a row.
#[derive(Debug)]
pub(super) struct PartitionFilter {
    field_ids: Vec<i32>,
    types: Vec<DataType>,
    predicate: Predicate,
}

impl PartitionFilter {
    pub(super) fn new(schema: &TableSchema, filter: &Predicate) -> Self {
        let fields = schema.partition_fields();
        let field_ids: Vec<i32> = fields.iter().map(|f| f.id).collect();
        let types = fields.iter().map(|f| f.data_type.with_nullable(true)).collect();
        PartitionFilter {
            predicate: filter.partition_only(&field_ids),
            field_ids,
            types,
        }
    }

    /// Field ids of the partition columns in order.
    pub(super) fn field_ids(&self) -> &[i32] {
        &self.field_ids
    }

    /// The partition values by field id, `None` when the id is no partition column.
    pub(super) fn values(&self, partition: &Partition) -> Result<HashMap<i32, Option<Datum>>> {
        Ok(self
            .field_ids
            .iter()
            .copied()
            .zip(partition.values(&self.types)?)
            .collect())
    }

    /// False when no partition of the manifest can match.
    pub(super) fn may_match(&self, meta: &ManifestFileMeta) -> Result<bool> {
        let entries = meta.num_added_files.saturating_add(meta.num_deleted_files);
        let stats = &meta.partition_stats;
        if self.predicate.is_always_true() || stats.min_values.len() != self.types.len() {
            return Ok(true);
        }
        let mins = stats.min_values.values(&self.types)?;
        let maxs = stats.max_values.values(&self.types)?;
        let column = |id: i32| {
            let at = self.field_ids.iter().position(|f| *f == id)?;
            Some(ColumnStats {
                min: mins.get(at).cloned().flatten(),
                max: maxs.get(at).cloned().flatten(),
                null_count: stats.null_counts.get(at),
            })
        };
        Ok(self.predicate.may_match_stats(entries, &column))
    }

    /// True when rows of the partition can match.
    pub(super) fn matches(&self, partition: &Partition) -> Result<bool> {
        if self.predicate.is_always_true() {
            return Ok(true);
        }
        let values = self.values(partition)?;
        Ok(self.predicate.eval_row(&|id| values.get(&id).cloned().flatten()) == Some(true))
    }

    /// Orders items by their partition values, nulls first; equal ones keep their order.
    pub(super) fn sort_by_partition<T>(
        &self,
        items: &mut [T],
        partition: impl Fn(&T) -> &Partition,
    ) -> Result<()> {
        let mut keys: HashMap<Partition, Vec<Option<Datum>>> = HashMap::new();
        for item in items.iter() {
            let partition = partition(item);
            if !keys.contains_key(partition) {
                keys.insert(partition.clone(), partition.values(&self.types)?);
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
    levels: Levels,
    /// Files of a bucket below 0 (postponed) are not sorted yet and do not show.
    real_buckets_only: bool,
    verdicts: HashMap<Partition, bool>,
    /// Buckets that can match, by partition and bucket count; `None` for all.
    wanted: HashMap<(Partition, i32), Option<BTreeSet<i32>>>,
}

impl ScanSelector {
    pub(super) fn new(
        partitions: Arc<PartitionFilter>,
        bucket: Option<i32>,
        buckets: Option<Arc<BucketPruner>>,
        levels: Levels,
        real_buckets_only: bool,
    ) -> Self {
        ScanSelector {
            partitions,
            bucket,
            buckets,
            levels,
            real_buckets_only,
            verdicts: HashMap::new(),
            wanted: HashMap::new(),
        }
    }

    fn partition_matches(&mut self, partition: &Partition) -> Result<bool> {
        if let Some(verdict) = self.verdicts.get(partition) {
            return Ok(*verdict);
        }
        let verdict = self.partitions.matches(partition)?;
        self.verdicts.insert(partition.clone(), verdict);
        Ok(verdict)
    }

    fn bucket_matches(&mut self, head: &EntryHead<'_>) -> Result<bool> {
        let Some(pruner) = &self.buckets else {
            return Ok(true);
        };
        let wanted = match self.wanted.entry((head.partition.clone(), head.total_buckets)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let values = self.partitions.values(head.partition)?;
                place.insert(pruner.buckets(&values, head.total_buckets))
            }
        };
        Ok(wanted
            .as_ref()
            .is_none_or(|wanted| head.bucket < 0 || wanted.contains(&head.bucket)))
    }
}

impl EntrySelector for ScanSelector {
    fn select(&mut self, head: &EntryHead<'_>) -> Result<bool> {
        if self.bucket.is_some_and(|bucket| bucket != head.bucket)
            || (self.real_buckets_only && head.bucket < 0)
            || !self.partition_matches(head.partition)?
        {
            return Ok(false);
        }
        // Only for ADD: the bucket count is no part of the identity, a DELETE may carry another one.
        if head.kind == FileKind::Add {
            self.bucket_matches(head)
        } else {
            Ok(true)
        }
    }

    fn select_level(&mut self, _: &EntryHead<'_>, level: i32) -> Result<bool> {
        Ok(self.levels.takes(level))
    }
}
