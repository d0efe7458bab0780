// SPDX-License-Identifier: Apache-2.0

//! One run of planning: manifests, files, splits.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::TryStreamExt;
use paimon_protocol::{DataFileMeta, DataSplit, Partition};
use paimon_types::{Error, Predicate, Result};

use super::bucket_pruning::BucketPruner;
use super::deletion::DeletionFiles;
use super::levels::Levels;
use super::packing::{file_weight, order_append_files, pack_ordered};
use super::partition_filter::{PartitionFilter, ScanSelector};
use super::primary_key::{Candidate, KeyedFiles, SplitFiles};
use super::stats_filter::{StatsFilter, StatsKind};
use super::{Plan, ScanMetrics, TableScan};
use crate::Snapshot;
use crate::manifest::{ManifestEntry, ManifestFileMeta, ManifestStore};

/// Number of the bucket whose files a compaction has yet to sort into buckets, and the value of option `bucket` for that.
const POSTPONED: i32 = -2;

/// Files of one bucket in manifest order.
struct Bucket {
    partition: Partition,
    bucket: i32,
    total_buckets: i32,
    files: Vec<Candidate>,
}

/// One run of planning.
pub(super) struct Planner<'a> {
    scan: &'a TableScan,
    snapshot: Snapshot,
    store: ManifestStore,
    partitions: Arc<PartitionFilter>,
    levels: Levels,
    /// Of a primary-key table.
    keyed: Option<KeyedFiles>,
    /// What the filter says about keys: holds for every version of a row, so it is asked of every file.
    keys: StatsFilter,
    stats: StatsFilter,
    /// What `stats` rules out goes file by file: no file needs another one to tell its rows.
    each_file_alone: bool,
    buckets: Option<Arc<BucketPruner>>,
    /// Where deletion vectors lie; `None` when the table does not use them.
    deletions: Option<DeletionFiles>,
    /// Rows after which planning stops; set when every file that is kept gives all of its rows.
    enough: Option<u64>,
}

impl<'a> Planner<'a> {
    pub(super) async fn new(scan: &'a TableScan, plan: &Plan, snapshot: Snapshot) -> Result<Self> {
        let table = &scan.table;
        let store = table.manifest_store();
        let (schema, options) = (&plan.schema, table.options());
        let filter = plan.filter.clone().unwrap_or(Predicate::Constant(true));
        let partitions = PartitionFilter::new(schema, &filter);
        let rest = filter.without_partition(partitions.field_ids());
        let buckets = BucketPruner::new(table, schema, &filter).await?.map(Arc::new);
        let keyed = KeyedFiles::new(schema, options)?;
        let levels = Levels::of(schema, options, scan.read_optimized);
        let key_ids: Vec<i32> = match &keyed {
            Some(_) => schema
                .trimmed_primary_keys()
                .into_iter()
                .filter_map(|name| schema.field(name))
                .map(|field| field.id)
                .collect(),
            None => Vec::new(),
        };
        let stats = |kind, predicate| {
            StatsFilter::new(
                kind,
                table.schema_manager().clone(),
                Arc::clone(schema),
                predicate,
            )
        };
        // As in Java, the option decides: switched off, rows that were deleted with it are back.
        let deletions = match &snapshot.index_manifest {
            _ if !options.deletion_vectors_enabled => None,
            Some(name) => Some(DeletionFiles::new(table, store.read_index_manifest(name).await?)),
            None => Some(DeletionFiles::default()),
        };
        let no_deletions = deletions.as_ref().is_none_or(DeletionFiles::is_empty);
        let enough = scan
            .limit
            .filter(|_| rest.is_always_true() && no_deletions && keyed.is_none());
        Ok(Planner {
            scan,
            snapshot,
            store,
            partitions: Arc::new(partitions),
            keys: stats(StatsKind::Key, rest.partition_only(&key_ids)),
            stats: stats(StatsKind::Value, rest),
            each_file_alone: keyed.is_none() || levels != Levels::All,
            keyed,
            levels,
            buckets,
            deletions,
            enough,
        })
    }

    pub(super) async fn run(&self, plan: &mut Plan) -> Result<()> {
        let metas = self.manifests(&mut plan.metrics).await?;
        let buckets = self.files(metas, &mut plan.metrics).await?;
        for bucket in buckets {
            self.split(bucket, plan)?;
        }
        if let Some(limit) = self.scan.limit.filter(|_| self.stats.is_empty()) {
            cut_at(&mut plan.splits, limit);
        }
        for file in plan.splits.iter().flat_map(|s| &s.data_files) {
            plan.metrics.files += 1;
            plan.metrics.bytes += u64::try_from(file.file_size).unwrap_or(0);
        }
        Ok(())
    }

    /// Manifests that may hold wanted entries. A manifest with DELETE entries goes by the same tests: what it deletes has
    /// the same partition and bucket as what it would delete.
    async fn manifests(&self, metrics: &mut ScanMetrics) -> Result<Vec<ManifestFileMeta>> {
        let metas = self.store.read_data_lists(&self.snapshot).await?;
        metrics.manifests = metas.len();
        let mut kept = Vec::with_capacity(metas.len());
        for meta in metas {
            let bucket_may_occur = self.scan.bucket.is_none_or(|bucket| {
                meta.min_bucket.is_none_or(|min| min <= bucket)
                    && meta.max_bucket.is_none_or(|max| max >= bucket)
            });
            if bucket_may_occur && self.levels.may_occur(&meta) && self.partitions.may_match(&meta)? {
                kept.push(meta);
            }
        }
        metrics.manifests_skipped = metrics.manifests - kept.len();
        Ok(kept)
    }

    /// Live files that pass every test, grouped by partition and then by bucket, each in order of first appearance.
    async fn files(&self, metas: Vec<ManifestFileMeta>, metrics: &mut ScanMetrics) -> Result<Vec<Bucket>> {
        let selector = ScanSelector::new(
            Arc::clone(&self.partitions),
            self.scan.bucket,
            self.buckets.clone(),
            self.levels,
            self.keyed.is_some() && self.scan.table.options().bucket == POSTPONED,
        );
        let mut entries = std::pin::pin!(self.store.stream_live(metas, selector).await?);
        let mut groups: Vec<Bucket> = Vec::new();
        let mut places: HashMap<(Partition, i32), usize> = HashMap::new();
        let mut rows = 0u64;
        while let Some(batch) = entries.try_next().await? {
            metrics.files_considered += batch.len();
            for entry in batch {
                let may_match = self.stats.may_match(&entry).await?;
                if (!may_match && self.each_file_alone) || !self.keys.may_match(&entry).await? {
                    metrics.files_skipped_by_stats += 1;
                    continue;
                }
                rows = rows.saturating_add(u64::try_from(entry.file.row_count).unwrap_or(0));
                add_to_group(entry, may_match, &mut groups, &mut places);
            }
            if self.enough.is_some_and(|enough| rows >= enough) {
                break;
            }
        }
        if let Some(keyed) = &self.keyed {
            for group in &mut groups {
                let candidates = group.files.len();
                keyed.filter(&mut group.files);
                metrics.files_skipped_by_stats += candidates - group.files.len();
            }
            // The order of partitions is that of the files that are left.
            groups.retain(|group| !group.files.is_empty());
        }
        order_by_partition(&mut groups);
        if self.scan.table.options().scan_plan_sort_partition {
            self.partitions
                .sort_by_partition(&mut groups, |group| &group.partition)?;
        }
        Ok(groups)
    }

    /// Splits of the files of a bucket that are left.
    fn split(&self, bucket: Bucket, plan: &mut Plan) -> Result<()> {
        let bucket_path = self.scan.table.bucket_path(&bucket.partition, bucket.bucket)?;
        let files = bucket.files.into_iter().map(|candidate| candidate.file).collect();
        let split_files = match &self.keyed {
            None => self.append_splits(files),
            Some(_) if bucket.bucket < 0 => {
                return Err(Error::unsupported(
                    "the table has files that were postponed and are not sorted into buckets yet, but option bucket no longer \
                     says so: reading such a table is not implemented yet",
                )
                .with("path", bucket_path));
            }
            Some(keyed) => keyed.splits(files).map_err(|e| e.with("path", &bucket_path))?,
        };
        for SplitFiles {
            files,
            raw_convertible,
        } in split_files
        {
            let deletion_files = match &self.deletions {
                Some(deletions) => {
                    Some(deletions.of_files(&bucket.partition, bucket.bucket, &bucket_path, &files)?)
                }
                None => None,
            };
            plan.splits.push(DataSplit {
                snapshot_id: self.snapshot.id,
                partition: bucket.partition.clone(),
                bucket: bucket.bucket,
                bucket_path: bucket_path.clone(),
                total_buckets: Some(bucket.total_buckets),
                data_files: files,
                deletion_files,
                is_streaming: false,
                raw_convertible,
            });
        }
        Ok(())
    }

    fn append_splits(&self, mut files: Vec<DataFileMeta>) -> Vec<SplitFiles> {
        let options = self.scan.table.options();
        order_append_files(&mut files);
        let cost = options.source_split_open_file_cost;
        let bins = pack_ordered(
            files,
            |file| file_weight(file, cost),
            options.source_split_target_size,
        );
        bins.into_iter()
            .map(|files| SplitFiles {
                files,
                raw_convertible: true,
            })
            .collect()
    }
}

fn add_to_group(
    entry: ManifestEntry,
    may_match: bool,
    groups: &mut Vec<Bucket>,
    places: &mut HashMap<(Partition, i32), usize>,
) {
    let place = *places
        .entry((entry.partition.clone(), entry.bucket))
        .or_insert(groups.len());
    let candidate = Candidate {
        file: entry.file,
        may_match,
    };
    match groups.get_mut(place) {
        Some(group) => group.files.push(candidate),
        None => groups.push(Bucket {
            partition: entry.partition,
            bucket: entry.bucket,
            total_buckets: entry.total_buckets,
            files: vec![candidate],
        }),
    }
}

/// Puts the buckets of a partition together; partitions keep the order in which they first appear.
fn order_by_partition(groups: &mut [Bucket]) {
    let mut places: HashMap<Partition, usize> = HashMap::new();
    for group in groups.iter() {
        let next = places.len();
        places.entry(group.partition.clone()).or_insert(next);
    }
    groups.sort_by_key(|group| places.get(&group.partition).copied());
}

/// Keeps the first splits that together have `limit` rows for certain, of those that tell how many they have; all when they
/// never do.
fn cut_at(splits: &mut Vec<DataSplit>, limit: u64) {
    let mut rows = 0u64;
    let mut keep = Vec::with_capacity(splits.len());
    for split in splits.iter() {
        let known = split.live_row_count().and_then(|n| u64::try_from(n).ok());
        keep.push(rows < limit && known.is_some());
        rows = rows.saturating_add(known.unwrap_or(0));
    }
    if rows >= limit {
        let mut keep = keep.into_iter();
        splits.retain(|_| keep.next().unwrap_or(false));
    }
}
