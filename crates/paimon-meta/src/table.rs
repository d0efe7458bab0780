// SPDX-License-Identifier: Apache-2.0

//! The table handle (Java `FileStoreTable`): one branch of one table with one schema and one set of options.

use std::collections::BTreeMap;
use std::sync::Arc;

use paimon_format::FormatRegistry;
use paimon_protocol::Partition;
use paimon_storage::{Environment, Storage};
use paimon_types::{CoreOptions, Error, NewTable, PartitionNaming, Result, TableSchema};

use crate::branch::{self, BranchManager};
use crate::catalog::{Identifier, SystemTable};
use crate::commit::TableCommit;
use crate::paths::{MAIN_BRANCH, TablePaths, trim_location};
use crate::schema_manager::SchemaManager;
use crate::snapshot_manager::SnapshotManager;
use crate::tag::TagManager;

const BRANCH_OPTION: &str = "branch";

/// A handle on one branch of one table with one schema and one set of options. Cheap to clone; it never changes: another
/// branch, schema or option gives a new handle.
#[derive(Clone, Debug)]
pub struct Table {
    inner: Arc<Inner>,
}

#[derive(Clone, Debug)]
struct Inner {
    storage: Storage,
    environment: Environment,
    formats: Arc<FormatRegistry>,
    identifier: Identifier,
    uuid: Option<String>,
    branch: String,
    paths: TablePaths,
    schema: Arc<TableSchema>,
    dynamic_options: BTreeMap<String, String>,
    options: CoreOptions,
    schema_manager: SchemaManager,
    snapshot_manager: SnapshotManager,
}

/// What a catalog knows about a table, enough to make a handle.
#[derive(Clone, Debug)]
pub struct TableMetadata {
    /// Name in the catalog; its branch, if any, is the branch of the schema.
    pub identifier: Identifier,
    /// Root directory of the table.
    pub location: String,
    /// Current schema of the branch.
    pub schema: Arc<TableSchema>,
    /// Id that a catalog gave to the table.
    pub uuid: Option<String>,
}

impl Table {
    /// Opens the table at `location` (a path or URL, with `$branch_<name>` at the end for a branch, `$ro` for the read-optimized
    /// table) with its newest schema. `dynamic_options` go over the stored ones; the option `branch` selects a branch as well.
    ///
    /// # Errors
    /// `NotFound` when there is no table or no such branch (branches that exist are named); `InvalidInput` for options.
    pub async fn open(
        storage: Storage,
        location: &str,
        dynamic_options: BTreeMap<String, String>,
    ) -> Result<Table> {
        Self::open_in(storage, Environment::default(), location, dynamic_options).await
    }

    /// [`Table::open`] with a given clock and id source.
    ///
    /// # Errors
    /// As [`Table::open`].
    pub async fn open_in(
        storage: Storage,
        environment: Environment,
        location: &str,
        dynamic_options: BTreeMap<String, String>,
    ) -> Result<Table> {
        let mut identifier = Identifier::from_location(location)?;
        let root = Identifier::split_location(location)?.0.to_string();
        identifier.branch = selected_branch(identifier.branch.take(), &dynamic_options)?;
        let branch = identifier
            .branch
            .clone()
            .unwrap_or_else(|| MAIN_BRANCH.to_string());
        let schemas = SchemaManager::new(storage.clone(), &root, &branch);
        let schema = match schemas.latest().await? {
            Some(schema) => schema,
            None if branch == MAIN_BRANCH => {
                return Err(Error::not_found("there is no table at this location").with("path", root));
            }
            None => return Err(branch::missing(&storage, &root, &branch).await),
        };
        let metadata = TableMetadata {
            identifier,
            location: root,
            schema,
            uuid: None,
        };
        Self::from_metadata(storage, environment, metadata, dynamic_options)
    }

    /// Makes a handle from what a catalog knows, without any I/O.
    ///
    /// # Errors
    /// `InvalidInput` for options.
    pub fn from_metadata(
        storage: Storage,
        environment: Environment,
        metadata: TableMetadata,
        dynamic_options: BTreeMap<String, String>,
    ) -> Result<Table> {
        let TableMetadata {
            identifier,
            location,
            schema,
            uuid,
        } = metadata;
        let location = trim_location(&location).to_string();
        let branch = identifier
            .branch
            .clone()
            .unwrap_or_else(|| MAIN_BRANCH.to_string());
        let options = merge_options(&schema, &dynamic_options, &branch)?;
        Ok(Table {
            inner: Arc::new(Inner {
                paths: TablePaths::new(&location, &branch),
                schema_manager: SchemaManager::new(storage.clone(), &location, &branch),
                snapshot_manager: SnapshotManager::new(storage.clone(), &location, &branch),
                storage,
                environment,
                formats: Arc::default(),
                identifier,
                uuid,
                branch,
                schema,
                dynamic_options,
                options,
            }),
        })
    }

    /// Creates a table at a location and opens it.
    ///
    /// # Errors
    /// `AlreadyExists` when there is a table; `InvalidInput` when the definition does not validate.
    pub async fn create(
        storage: Storage,
        environment: Environment,
        location: &str,
        new: NewTable,
    ) -> Result<Table> {
        let identifier = Identifier::from_location(location)?;
        if identifier.system_table.is_some() {
            return Err(Error::invalid("a system table comes and goes with its table").with("path", location));
        }
        if identifier.branch.is_some() {
            return Err(Error::invalid("a table is created on the main branch").with("path", location));
        }
        let location = trim_location(location).to_string();
        let schema = create_schema(&storage, &environment, &location, new).await?;
        let metadata = TableMetadata {
            identifier,
            location,
            schema,
            uuid: None,
        };
        Self::from_metadata(storage, environment, metadata, BTreeMap::new())
    }

    /// Name of the table; derived from the location when the table was opened by it.
    pub fn identifier(&self) -> &Identifier {
        &self.inner.identifier
    }

    /// True for the system table `t$ro`: scans are read-optimized ([`TableScan::read_optimized`](crate::scan::TableScan::read_optimized)),
    /// and nothing can be written.
    pub fn is_read_optimized(&self) -> bool {
        self.inner.identifier.system_table == Some(SystemTable::ReadOptimized)
    }

    /// Id that a catalog gave to the table.
    pub fn uuid(&self) -> Option<&str> {
        self.inner.uuid.as_deref()
    }

    /// Root directory of the table (of the main branch, whatever branch this handle is on), without trailing slash.
    pub fn location(&self) -> &str {
        self.inner.paths.root()
    }

    /// Branch of this handle, `main` unless selected.
    pub fn branch(&self) -> &str {
        &self.inner.branch
    }

    /// Schema of this handle.
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.inner.schema
    }

    /// Stored options with dynamic options over them, parsed; [`CoreOptions::raw`] has the text.
    pub fn options(&self) -> &CoreOptions {
        &self.inner.options
    }

    /// The options that are not stored with the table.
    pub fn dynamic_options(&self) -> &BTreeMap<String, String> {
        &self.inner.dynamic_options
    }

    /// The store.
    pub fn storage(&self) -> &Storage {
        &self.inner.storage
    }

    /// Clock and id source.
    pub fn environment(&self) -> &Environment {
        &self.inner.environment
    }

    /// Formats of manifests that are not in Avro; none unless given with [`Table::with_formats`].
    pub fn formats(&self) -> &Arc<FormatRegistry> {
        &self.inner.formats
    }

    /// The same table with formats for manifests that are not in Avro (`manifest.format`). Handles that are made of this one
    /// have them too.
    #[must_use]
    pub fn with_formats(&self, formats: Arc<FormatRegistry>) -> Table {
        let mut inner = (*self.inner).clone();
        inner.formats = formats;
        Table {
            inner: Arc::new(inner),
        }
    }

    /// Names of metadata files.
    pub fn paths(&self) -> &TablePaths {
        &self.inner.paths
    }

    /// Schema files of the branch.
    pub fn schema_manager(&self) -> &SchemaManager {
        &self.inner.schema_manager
    }

    /// Snapshot files of the branch.
    pub fn snapshot_manager(&self) -> &SnapshotManager {
        &self.inner.snapshot_manager
    }

    /// Tags of the branch.
    pub fn tag_manager(&self) -> TagManager {
        TagManager::new(
            self.storage().clone(),
            self.environment().clone(),
            self.location(),
            self.branch(),
        )
    }

    /// Branches of the table.
    pub fn branch_manager(&self) -> BranchManager {
        BranchManager::new(self.storage().clone(), self.location(), self.branch())
    }

    /// How partition values are spelled in paths.
    pub fn partition_naming(&self) -> PartitionNaming {
        PartitionNaming {
            default_name: self.options().partition_default_name.clone(),
            legacy: self.options().partition_legacy_name,
        }
    }

    /// The partition as it is spelled in paths: `k=v/k2=v2`, escaped, without trailing slash; empty for a table without
    /// partition columns.
    ///
    /// # Errors
    /// When a value has no text; `Corrupt` when the partition has another number of values than the table has columns.
    pub fn partition_path(&self, partition: &Partition) -> Result<String> {
        self.partition_naming()
            .path(&self.schema().partition_fields(), partition.encoded_row())
    }

    /// Directory of the data files of a bucket, without trailing slash (`metadata.md` 1).
    ///
    /// # Errors
    /// When a partition value has no text.
    pub fn bucket_path(&self, partition: &Partition, bucket: i32) -> Result<String> {
        let mut path = self.location().to_string();
        if let Some(directory) = &self.options().data_file_path_directory {
            path.push('/');
            path.push_str(directory.trim_matches('/'));
        }
        let partition = self.partition_path(partition)?;
        if !partition.is_empty() {
            path.push('/');
            path.push_str(&partition);
        }
        match bucket {
            -2 => path.push_str("/bucket-postpone"),
            bucket => path.push_str(&format!("/bucket-{bucket}")),
        }
        Ok(path)
    }

    /// The same table with further dynamic options over those that this handle has.
    ///
    /// # Errors
    /// `InvalidInput` when a value does not parse, an option cannot change on an existing table, or `branch` is given
    /// (use [`Table::at_branch`]).
    pub fn with_options(&self, dynamic_options: BTreeMap<String, String>) -> Result<Table> {
        let mut merged = self.inner.dynamic_options.clone();
        merged.extend(dynamic_options);
        if let Some(branch) = merged.get(BRANCH_OPTION)
            && branch != self.branch()
        {
            return Err(Error::invalid(format!(
                "this handle is on branch {:?}; open branch {branch:?} instead of setting the option",
                self.branch()
            ))
            .with("option", BRANCH_OPTION));
        }
        let mut inner = (*self.inner).clone();
        inner.options = merge_options(&inner.schema, &merged, &inner.branch)?;
        inner.dynamic_options = merged;
        Ok(Table {
            inner: Arc::new(inner),
        })
    }

    /// The same table with another of its schemas, as time travel needs it.
    ///
    /// # Errors
    /// `InvalidInput` when the options of that schema do not parse.
    pub fn with_schema(&self, schema: Arc<TableSchema>) -> Result<Table> {
        let mut inner = (*self.inner).clone();
        inner.options = merge_options(&schema, &inner.dynamic_options, &inner.branch)?;
        inner.schema = schema;
        Ok(Table {
            inner: Arc::new(inner),
        })
    }

    /// The same table with its newest schema.
    ///
    /// # Errors
    /// Those of reading schemas.
    pub async fn refresh(&self) -> Result<Table> {
        match self.schema_manager().latest().await? {
            Some(schema) => self.with_schema(schema),
            None => Err(Error::not_found("the table was dropped").with("path", self.location())),
        }
    }

    /// Another branch of the same table with the newest schema of that branch; dynamic options stay.
    ///
    /// # Errors
    /// `NotFound`, naming the branches that exist.
    pub async fn at_branch(&self, branch: &str) -> Result<Table> {
        let schemas = SchemaManager::new(self.storage().clone(), self.location(), branch);
        let Some(schema) = schemas.latest().await? else {
            return Err(branch::missing(self.storage(), self.location(), branch).await);
        };
        let mut identifier = self.identifier().clone();
        identifier.branch = if branch == MAIN_BRANCH {
            None
        } else {
            Some(branch.to_string())
        };
        let mut dynamic_options = self.dynamic_options().clone();
        dynamic_options.remove(BRANCH_OPTION);
        let metadata = TableMetadata {
            identifier,
            location: self.location().to_string(),
            schema,
            uuid: self.inner.uuid.clone(),
        };
        let table = Self::from_metadata(
            self.storage().clone(),
            self.environment().clone(),
            metadata,
            dynamic_options,
        )?;
        Ok(table.with_formats(self.formats().clone()))
    }

    /// Starts a commit on this branch.
    pub fn new_commit(&self) -> TableCommit {
        TableCommit::new(self.clone())
    }
}

/// The branch out of a name or location and out of the option; both may be given when they agree.
fn selected_branch(named: Option<String>, options: &BTreeMap<String, String>) -> Result<Option<String>> {
    let option = options
        .get(BRANCH_OPTION)
        .map(|b| b.trim())
        .filter(|b| !b.is_empty());
    let branch = match (named, option) {
        (Some(named), Some(option)) if named != option => {
            return Err(Error::invalid(format!(
                "the name selects branch {named:?}, the option {option:?}"
            ))
            .with("option", BRANCH_OPTION));
        }
        (Some(named), _) => Some(named),
        (None, option) => option.map(str::to_string),
    };
    Ok(branch.filter(|b| b != MAIN_BRANCH))
}

/// Validates the definition and publishes `schema-0`.
pub(crate) async fn create_schema(
    storage: &Storage,
    environment: &Environment,
    location: &str,
    new: NewTable,
) -> Result<Arc<TableSchema>> {
    let schema = new.into_schema(environment.clock.now_millis())?;
    CoreOptions::from_map(&schema.options)?;
    let schemas = SchemaManager::new(storage.clone(), location, MAIN_BRANCH);
    let taken = || Error::already_exists("there is a table at this location already").with("path", location);
    if schemas.latest().await?.is_some() {
        return Err(taken());
    }
    match schemas.publish(&schema).await {
        Ok(()) => Ok(Arc::new(schema)),
        Err(e) if e.kind() == paimon_types::ErrorKind::AlreadyExists => Err(taken()),
        Err(e) => Err(e),
    }
}

fn merge_options(
    schema: &TableSchema,
    dynamic: &BTreeMap<String, String>,
    branch: &str,
) -> Result<CoreOptions> {
    let mut merged = schema.options.clone();
    for (key, value) in dynamic {
        check_dynamic_option(&schema.options, key, value)?;
        merged.insert(key.clone(), value.clone());
    }
    if branch != MAIN_BRANCH {
        merged.insert(BRANCH_OPTION.to_string(), branch.to_string());
    }
    CoreOptions::from_map_for_read(&merged)
}

/// Options that fix what is stored (`metadata.md` 2.6).
const IMMUTABLE_OPTIONS: [&str; 22] = [
    "type",
    "bucket-key",
    "bucket-function.type",
    "data-file.path-directory",
    "merge-engine",
    "sequence.snapshot-ordering",
    "aggregation.remove-record-on-delete",
    "partial-update.remove-record-on-delete",
    "partial-update.remove-record-on-sequence-group",
    "rowkind.field",
    "primary-key",
    "primary-key.nullable",
    "partition",
    "dynamic-bucket.initial-buckets",
    "force-lookup",
    "row-tracking.enabled",
    "data-evolution.enabled",
    "index-file-in-data-file-dir",
    "blob-field",
    "blob-descriptor-field",
    "blob-view-field",
    "pk-clustering-override",
];

/// Refuses a dynamic option that would make this handle disagree with what is stored.
fn check_dynamic_option(stored: &BTreeMap<String, String>, key: &str, value: &str) -> Result<()> {
    let old = stored.get(key).map(String::as_str);
    if old == Some(value) || (key == "type" && old.unwrap_or("table").eq_ignore_ascii_case(value)) {
        return Ok(());
    }
    let is_true = |text: Option<&str>| text.is_some_and(|t| t.eq_ignore_ascii_case("true"));
    let refused = match key {
        "bucket" => old.unwrap_or("-1") != value,
        "deletion-vectors.enabled" => {
            is_true(old) != is_true(Some(value))
                && !is_true(stored.get("deletion-vectors.modifiable").map(String::as_str))
        }
        "ignore-delete" | "ignore-update-before" => is_true(old) && !is_true(Some(value)),
        _ => IMMUTABLE_OPTIONS.contains(&key),
    };
    if !refused {
        return Ok(());
    }
    let old = old.map_or("unset".to_string(), |old| format!("{old:?}"));
    Err(Error::invalid(format!(
        "the table has {key} {old}; it cannot be {value:?} for one handle"
    ))
    .with("option", key))
}
