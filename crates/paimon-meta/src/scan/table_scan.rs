// SPDX-License-Identifier: Apache-2.0

//! The builder of a batch scan and its planning.

use std::collections::BTreeSet;
use std::sync::Arc;

use paimon_types::{DataField, Error, Predicate, Result, TableSchema};

use super::planner::Planner;
use super::{Plan, ScanMetrics, SnapshotSelector};
use crate::manifest::{ManifestOptions, ManifestStore};
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
    pub(super) table: Table,
    filter: Vec<Predicate>,
    partition_filter: Vec<Predicate>,
    columns: Option<Vec<String>>,
    pub(super) limit: Option<u64>,
    selectors: Vec<SnapshotSelector>,
    pub(super) bucket: Option<i32>,
    pub(super) read_optimized: bool,
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
            read_optimized: table.is_read_optimized(),
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

    /// Reads what is fast to read only, as Java's system table `t$ro`: of a table with a primary key the files of the top level
    /// (option `num-levels`), the state of its last full compaction, in which nothing is left to merge. Makes no difference to
    /// a table without.
    #[must_use]
    pub fn read_optimized(mut self) -> Self {
        self.read_optimized = true;
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
        ManifestStore::with_formats(
            self.storage().clone(),
            self.location(),
            ManifestOptions::from(self.options()),
            self.schema().partition_types(),
            Arc::clone(&self.environment().ids),
            Arc::clone(self.formats()),
        )
    }
}
