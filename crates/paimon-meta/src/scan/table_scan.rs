// SPDX-License-Identifier: Apache-2.0

//! The builder of a batch scan and its planning.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use futures_util::TryStreamExt;
use paimon_protocol::{DataFileMeta, DataSplit, DeletionFile};
use paimon_types::{BinaryRow, DataField, Error, Predicate, Result, TableSchema};

use super::bucket_pruning::BucketPruner;
use super::deletion::DeletionFiles;
use super::packing::{file_weight, order_append_files, pack_ordered};
use super::partition_filter::{PartitionFilter, ScanSelector};
use super::stats_filter::StatsFilter;
use super::{Plan, ScanMetrics, SnapshotSelector};
use crate::manifest::{ManifestEntry, ManifestFileMeta, ManifestOptions, ManifestStore};
use crate::{Snapshot, Table};

/// Plans a batch read of a table: chooses a snapshot, rules out files by partition, bucket and statistics, and packs the
/// rest into splits (Java `ReadBuilder` and `DataTableBatchScan`).
///
/// ```no_run
/// # async fn example(table: paimon_meta::Table) -> paimon_types::Result<()> {
/// let plan = table.new_scan().select(["a", "b"]).tag("v1").plan().await?;
/// for split in &plan.splits {
///     println!("{} rows in {}", split.row_count(), split.bucket_path);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct TableScan {
    table: Table,
    filter: Vec<Predicate>,
    partition_filter: Vec<Predicate>,
    columns: Option<Vec<String>>,
    limit: Option<u64>,
    selectors: Vec<SnapshotSelector>,
    bucket: Option<i32>,
}

impl TableScan {
    /// A scan of the whole table as its options say.
    pub fn new(table: &Table) -> Self {
        TableScan {
            table: table.clone(),
            filter: Vec::new(),
            partition_filter: Vec::new(),
            columns: None,
            limit: None,
            selectors: Vec::new(),
            bucket: None,
        }
    }

    /// Keeps rows for which the predicate is true; several are combined with AND. Columns are those of the schema that
    /// [`TableScan::target`] gives, found by field id.
    #[must_use]
    pub fn filter(mut self, predicate: Predicate) -> Self {
        self.filter.push(predicate);
        self
    }

    /// Keeps partitions for which the predicate is true; it must only use partition columns.
    #[must_use]
    pub fn partition_filter(mut self, predicate: Predicate) -> Self {
        self.partition_filter.push(predicate);
        self
    }

    /// Returns these columns in this order instead of all.
    #[must_use]
    pub fn select<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.columns = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// Stops planning when the splits hold this many rows for certain. More rows may come: the reader cuts.
    #[must_use]
    pub fn limit(mut self, rows: u64) -> Self {
        self.limit = Some(rows);
        self
    }

    /// Reads one bucket only.
    #[must_use]
    pub fn bucket(mut self, bucket: i32) -> Self {
        self.bucket = Some(bucket);
        self
    }

    /// Reads the snapshot that the selector finds. At most one selector may be given, `scan.*` options of the table included.
    #[must_use]
    pub fn at(mut self, selector: SnapshotSelector) -> Self {
        self.selectors.push(selector);
        self
    }

    /// Reads the snapshot with this id.
    #[must_use]
    pub fn snapshot_id(self, id: i64) -> Self {
        self.at(SnapshotSelector::Id(id))
    }

    /// Reads the snapshot of a tag.
    #[must_use]
    pub fn tag(self, name: impl Into<String>) -> Self {
        self.at(SnapshotSelector::Tag(name.into()))
    }

    /// Reads the last snapshot made at or before a time in epoch milliseconds.
    #[must_use]
    pub fn timestamp_millis(self, millis: i64) -> Self {
        self.at(SnapshotSelector::TimestampMillis(millis))
    }

    /// Reads the first snapshot with this watermark or a later one.
    #[must_use]
    pub fn watermark(self, watermark: i64) -> Self {
        self.at(SnapshotSelector::Watermark(watermark))
    }

    /// Reads a tag, `watermark-<number>` or snapshot id, tried in this order.
    #[must_use]
    pub fn version(self, version: impl Into<String>) -> Self {
        self.at(SnapshotSelector::Version(version.into()))
    }

    /// The selector in effect: the one given here, else that of the table options.
    ///
    /// # Errors
    /// `InvalidInput` when several were given.
    pub fn selector(&self) -> Result<SnapshotSelector> {
        let from_options = SnapshotSelector::from_options(self.table.options())?;
        match self.selectors.as_slice() {
            [] => Ok(from_options),
            [one] if from_options.is_time_travel() && *one != from_options => Err(Error::invalid(format!(
                "the scan asks for {one:?} and the table options for {from_options:?}: give one of them"
            ))
            .with("option", "scan.mode")),
            [one] => Ok(one.clone()),
            [one, other, ..] => Err(Error::invalid(format!(
                "the scan asks for {one:?} and for {other:?}: give one of them"
            ))),
        }
    }

    /// The snapshot that will be planned and the schema that filter and columns refer to: the schema of the snapshot when
    /// travelling in time, else that of the table handle.
    ///
    /// # Errors
    /// Those of finding the snapshot and reading its schema.
    pub async fn target(&self) -> Result<(Option<Snapshot>, Arc<TableSchema>)> {
        let selector = self.selector()?;
        let snapshot = selector.resolve(&self.table).await?;
        let schema = match &snapshot {
            Some(snapshot) if selector.is_time_travel() => {
                self.table.schema_manager().schema(snapshot.schema_id).await?
            }
            _ => Arc::clone(self.table.schema()),
        };
        Ok((snapshot, schema))
    }

    /// Plans the scan.
    ///
    /// # Errors
    /// `Unsupported` for tables whose reading is not implemented, `InvalidInput` for a column or predicate that does not
    /// fit the schema, and those of reading metadata.
    pub async fn plan(&self) -> Result<Plan> {
        let (snapshot, schema) = self.target().await?;
        self.table.options().check_readable(&schema)?;
        let filter = self.bound_filter(&schema)?;
        let mut plan = Plan {
            snapshot,
            read_fields: self.read_fields(&schema)?,
            filter,
            limit: self.limit,
            splits: Vec::new(),
            schemas: Vec::new(),
            location: self.table.location().to_owned(),
            branch: self.table.branch().to_owned(),
            options: self.table.options().raw().clone(),
            metrics: ScanMetrics::default(),
            schema,
        };
        let Some(snapshot) = plan.snapshot.clone() else {
            return Ok(plan);
        };
        let planner = Planner::new(self, &plan, snapshot).await?;
        planner.run(&mut plan).await?;
        let ids: BTreeSet<i64> = plan
            .splits
            .iter()
            .flat_map(|s| &s.data_files)
            .map(|f| f.schema_id)
            .collect();
        for id in ids {
            plan.schemas.push(self.table.schema_manager().schema(id).await?);
        }
        Ok(plan)
    }

    fn read_fields(&self, schema: &TableSchema) -> Result<Vec<DataField>> {
        let Some(columns) = &self.columns else {
            return Ok(schema.fields.clone());
        };
        columns
            .iter()
            .map(|name| {
                schema
                    .field(name)
                    .cloned()
                    .ok_or_else(|| unknown_column(schema, name))
            })
            .collect()
    }

    /// All predicates in one, checked against the schema.
    fn bound_filter(&self, schema: &TableSchema) -> Result<Option<Predicate>> {
        for predicate in &self.partition_filter {
            for id in predicate.columns() {
                let field = schema.field_by_id(id);
                if !field.is_some_and(|f| schema.partition_keys.contains(&f.name)) {
                    let name = field.map_or_else(|| format!("with id {id}"), |f| f.name.clone());
                    return Err(
                        Error::invalid("a partition filter may only use partition columns")
                            .with("column", name),
                    );
                }
            }
        }
        let all: Vec<Predicate> = self
            .partition_filter
            .iter()
            .chain(&self.filter)
            .cloned()
            .collect();
        for predicate in &all {
            check_columns(predicate, schema)?;
        }
        Ok(if all.is_empty() {
            None
        } else {
            Some(Predicate::and(all))
        })
    }
}

fn unknown_column(schema: &TableSchema, name: &str) -> Error {
    let names: Vec<&str> = schema.fields.iter().map(|f| f.name.as_str()).collect();
    Error::invalid(format!(
        "the table has no column {name:?}; it has {}",
        names.join(", ")
    ))
    .with("column", name)
}

fn check_columns(predicate: &Predicate, schema: &TableSchema) -> Result<()> {
    match predicate {
        Predicate::Constant(_) => Ok(()),
        Predicate::And(children) | Predicate::Or(children) => {
            children.iter().try_for_each(|child| check_columns(child, schema))
        }
        Predicate::Not(child) => check_columns(child, schema),
        Predicate::Leaf(leaf) => match schema.field_by_id(leaf.field_id) {
            None => Err(unknown_column(schema, &leaf.name)),
            Some(field) if field.data_type.same_kind(&leaf.data_type) => Ok(()),
            Some(field) => Err(Error::invalid(format!(
                "the predicate takes the column as {}, the schema of the snapshot has {}",
                leaf.data_type, field.data_type
            ))
            .with("column", &leaf.name)),
        },
    }
}

impl Table {
    /// Starts a scan.
    pub fn new_scan(&self) -> TableScan {
        TableScan::new(self)
    }

    /// The manifests of the table.
    pub fn manifest_store(&self) -> ManifestStore {
        ManifestStore::new(
            self.storage().clone(),
            self.location(),
            ManifestOptions::from(self.options()),
            self.schema().partition_types(),
            Arc::clone(&self.environment().ids),
        )
    }
}

/// Files of one bucket in manifest order.
struct Bucket {
    partition: BinaryRow,
    bucket: i32,
    total_buckets: i32,
    files: Vec<DataFileMeta>,
}

/// One run of planning.
struct Planner<'a> {
    scan: &'a TableScan,
    snapshot: Snapshot,
    store: ManifestStore,
    partitions: Arc<PartitionFilter>,
    stats: StatsFilter,
    buckets: Option<Arc<BucketPruner>>,
    deletions: DeletionFiles,
    /// Rows after which planning stops; set when every file that is kept gives all of its rows.
    enough: Option<u64>,
}

impl<'a> Planner<'a> {
    async fn new(scan: &'a TableScan, plan: &Plan, snapshot: Snapshot) -> Result<Self> {
        let table = &scan.table;
        let store = table.manifest_store();
        let filter = plan.filter.clone().unwrap_or(Predicate::Constant(true));
        let partitions = PartitionFilter::new(&plan.schema, &filter);
        let rest = filter.without_partition(partitions.field_ids());
        let buckets = BucketPruner::new(table, &plan.schema, &filter)
            .await?
            .map(Arc::new);
        let deletions = match &snapshot.index_manifest {
            Some(name) => DeletionFiles::new(table, store.read_index_manifest(name).await?),
            None => DeletionFiles::default(),
        };
        let enough = scan
            .limit
            .filter(|_| rest.is_always_true() && deletions.is_empty());
        Ok(Planner {
            scan,
            snapshot,
            store,
            partitions: Arc::new(partitions),
            stats: StatsFilter::new(table.schema_manager().clone(), Arc::clone(&plan.schema), rest),
            buckets,
            deletions,
            enough,
        })
    }

    async fn run(&self, plan: &mut Plan) -> Result<()> {
        let metas = self.manifests(&mut plan.metrics).await?;
        let buckets = self.files(metas, &mut plan.metrics).await?;
        for bucket in buckets {
            self.split(bucket, &mut plan.splits)?;
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
        let mut metas = self.store.read_list(&self.snapshot.base_manifest_list).await?;
        metas.extend(self.store.read_list(&self.snapshot.delta_manifest_list).await?);
        metrics.manifests = metas.len();
        let mut kept = Vec::with_capacity(metas.len());
        for meta in metas {
            let bucket_may_occur = self.scan.bucket.is_none_or(|bucket| {
                meta.min_bucket.is_none_or(|min| min <= bucket)
                    && meta.max_bucket.is_none_or(|max| max >= bucket)
            });
            if bucket_may_occur && self.partitions.may_match(&meta)? {
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
        );
        let mut entries = std::pin::pin!(self.store.stream_live(metas, selector).await?);
        let mut groups: Vec<Bucket> = Vec::new();
        let mut places: HashMap<(BinaryRow, i32), usize> = HashMap::new();
        let mut rows = 0u64;
        while let Some(batch) = entries.try_next().await? {
            metrics.files_considered += batch.len();
            for entry in batch {
                if !self.stats.may_match(&entry).await? {
                    metrics.files_skipped_by_stats += 1;
                    continue;
                }
                rows = rows.saturating_add(u64::try_from(entry.file.row_count).unwrap_or(0));
                add_to_group(entry, &mut groups, &mut places);
            }
            if self.enough.is_some_and(|enough| rows >= enough) {
                break;
            }
        }
        order_by_partition(&mut groups);
        if self.scan.table.options().scan_plan_sort_partition {
            self.partitions
                .sort_by_partition(&mut groups, |group| &group.partition)?;
        }
        Ok(groups)
    }

    fn split(&self, bucket: Bucket, splits: &mut Vec<DataSplit>) -> Result<()> {
        let options = self.scan.table.options();
        let bucket_path = self.scan.table.bucket_path(&bucket.partition, bucket.bucket)?;
        let mut files = bucket.files;
        order_append_files(&mut files);
        let cost = options.source_split_open_file_cost;
        for files in pack_ordered(
            files,
            |file| file_weight(file, cost),
            options.source_split_target_size,
        ) {
            let deletion_files: Option<Vec<Option<DeletionFile>>> =
                self.deletions
                    .of_files(&bucket.partition, bucket.bucket, &bucket_path, &files)?;
            splits.push(DataSplit {
                snapshot_id: self.snapshot.id,
                partition: bucket.partition.clone(),
                bucket: bucket.bucket,
                bucket_path: bucket_path.clone(),
                total_buckets: Some(bucket.total_buckets),
                data_files: files,
                deletion_files,
                is_streaming: false,
                raw_convertible: true,
            });
        }
        Ok(())
    }
}

fn add_to_group(
    entry: ManifestEntry,
    groups: &mut Vec<Bucket>,
    places: &mut HashMap<(BinaryRow, i32), usize>,
) {
    let place = *places
        .entry((entry.partition.clone(), entry.bucket))
        .or_insert(groups.len());
    match groups.get_mut(place) {
        Some(group) => group.files.push(entry.file),
        None => groups.push(Bucket {
            partition: entry.partition,
            bucket: entry.bucket,
            total_buckets: entry.total_buckets,
            files: vec![entry.file],
        }),
    }
}

/// Puts the buckets of a partition together; partitions keep the order in which they first appear.
fn order_by_partition(groups: &mut [Bucket]) {
    let mut places: HashMap<BinaryRow, usize> = HashMap::new();
    for group in groups.iter() {
        let next = places.len();
        places.entry(group.partition.clone()).or_insert(next);
    }
    groups.sort_by_key(|group| places.get(&group.partition).copied());
}

/// Keeps the first splits that together have `limit` rows for certain; all when they never do.
fn cut_at(splits: &mut Vec<DataSplit>, limit: u64) {
    let mut rows = 0u64;
    let mut keep = 0;
    for split in splits.iter() {
        if rows >= limit {
            break;
        }
        rows = rows.saturating_add(known_rows(split).unwrap_or(0));
        keep += 1;
    }
    splits.truncate(keep);
}

/// Rows that remain after deletions, `None` when a deletion file does not tell its cardinality.
fn known_rows(split: &DataSplit) -> Option<u64> {
    let deletions = split.deletion_files.iter().flatten().flatten();
    let deleted = deletions
        .map(|d| d.cardinality)
        .try_fold(0i64, |sum, n| Some(sum.saturating_add(n?)))?;
    u64::try_from(split.row_count().saturating_sub(deleted)).ok()
}
