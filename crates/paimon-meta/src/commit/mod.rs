// SPDX-License-Identifier: Apache-2.0

//! Commit: the one place that makes a snapshot visible (Java `FileStoreCommitImpl`, `TableCommitImpl`; `metadata.md` 6).

mod changes;
mod conflict;
mod index_changes;
mod keyed;
mod partition_filter;
mod prepare;
mod publish;
mod row_tracking;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use paimon_protocol::CommitMessage;
use paimon_types::{CoreOptions, Error, Result};

use crate::snapshot::{CommitKind, Snapshot};
use crate::table::Table;
use changes::{Changes, check_table};
use keyed::KeyedCommit;
use partition_filter::PartitionFilter;
use publish::{Publisher, Source, Unsettled, Work};

/// Partition values as text in the form of partition paths, by column; columns that are left out match every value.
/// The value of `partition.default-name` means NULL.
pub type PartitionSpec = BTreeMap<String, String>;

/// What a commit did. Failures are errors: kind `Conflict` when another commit won and the work must be planned again,
/// `Unknown` when the store did not tell whether the snapshot exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitOutcome {
    /// These snapshots are new: one, or an append and a compact snapshot.
    Committed {
        /// Ids in order.
        snapshot_ids: Vec<i64>,
    },
    /// The same (user, identifier, kind) was committed before by these snapshots; nothing was committed again.
    AlreadyCommitted {
        /// Ids in order.
        snapshot_ids: Vec<i64>,
    },
    /// There was nothing to commit and empty commits are ignored: no snapshot.
    NothingToCommit,
}

impl CommitOutcome {
    /// Ids of the snapshots that hold the changes.
    pub fn snapshot_ids(&self) -> &[i64] {
        match self {
            CommitOutcome::Committed { snapshot_ids } | CommitOutcome::AlreadyCommitted { snapshot_ids } => {
                snapshot_ids
            }
            CommitOutcome::NothingToCommit => &[],
        }
    }
}

/// Commits to one branch of a table. Made by [`Table::new_commit`]; set what is needed, then call one of the commit methods.
///
/// A commit takes the newest snapshot, writes manifests and creates the file of the next snapshot only if it is absent; a
/// lost race is tried again on the new state (options `commit.max-retries`, `commit.min-retry-wait`,
/// `commit.max-retry-wait`, `commit.timeout`). When the store fails while the snapshot is created, the snapshot is read back
/// to see whether it is ours; files of a commit whose outcome is unknown are never deleted.
///
/// Retries of a whole job are safe when they give the same user and identifier, see [`TableCommit::with_identifier`].
///
/// Snapshots are not expired, tags not created and partitions not marked: maintenance is not part of a commit yet.
///
/// Needs a tokio runtime with time enabled.
#[derive(Debug)]
pub struct TableCommit {
    table: Table,
    user: String,
    user_given: bool,
    identifier: i64,
    ignore_empty: Option<bool>,
    check_conflicts: bool,
    watermark: Option<i64>,
    properties: BTreeMap<String, String>,
    operation: Option<String>,
    unsettled: Mutex<Vec<Unsettled>>,
}

impl TableCommit {
    pub(crate) fn new(table: Table) -> Self {
        let id = table.environment().ids.next_uuid();
        let user = match &table.options().commit_user_prefix {
            Some(prefix) => format!("{prefix}_{id}"),
            None => id,
        };
        TableCommit {
            table,
            user,
            user_given: false,
            identifier: i64::MAX,
            ignore_empty: None,
            check_conflicts: false,
            watermark: None,
            properties: BTreeMap::new(),
            operation: None,
            unsettled: Mutex::default(),
        }
    }

    /// Sets the commit user; without it a random one is made.
    #[must_use]
    pub fn commit_user(mut self, user: impl Into<String>) -> Self {
        self.user = user.into();
        self.user_given = true;
        self
    }

    /// Sets the commit identifier, a number that grows with every commit of a user. Without it, it is [`i64::MAX`], as for
    /// batch jobs.
    ///
    /// With a user and an identifier given, a commit that was made before with the same user, identifier and kind is found and
    /// not made again.
    #[must_use]
    pub fn with_identifier(mut self, identifier: i64) -> Self {
        self.identifier = identifier;
        self
    }

    /// Whether a commit without changes makes no snapshot. Default: option `snapshot.ignore-empty-commit` (true) without an
    /// identifier, false with one.
    #[must_use]
    pub fn ignore_empty(mut self, ignore: bool) -> Self {
        self.ignore_empty = Some(ignore);
        self
    }

    /// Checks that appended files are not part of the table yet; for commits that are repeated by hand.
    #[must_use]
    pub fn check_conflicts(mut self, check: bool) -> Self {
        self.check_conflicts = check;
        self
    }

    /// Sets the watermark in epoch milliseconds; the snapshot gets the larger one of this and the table's.
    #[must_use]
    pub fn watermark(mut self, watermark: i64) -> Self {
        self.watermark = Some(watermark);
        self
    }

    /// Adds a property to the snapshot.
    #[must_use]
    pub fn property(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.properties.insert(key.into(), value.into());
        self
    }

    /// Says what the engine does, one of the names of `metadata.md` 3.1 (`WRITE`, `DELETE`, `UPDATE`, `MERGE` …).
    #[must_use]
    pub fn operation(mut self, operation: impl Into<String>) -> Self {
        self.operation = Some(operation.into());
        self
    }

    /// The commit user.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// Commits the changes of writers: one snapshot for appended and removed files, then one for compacted files, if any.
    ///
    /// # Errors
    /// `Conflict` when a file to be removed is gone, bucket counts disagree or the retries are used up; `Unknown` when the
    /// outcome cannot be settled; `InvalidInput` or `Unsupported` for messages that this table cannot take. When the compact
    /// snapshot fails after the append snapshot was made, the error says so.
    pub async fn commit(&self, messages: Vec<CommitMessage>) -> Result<CommitOutcome> {
        self.check()?;
        let changes = Changes::collect(&self.table, &messages)?;
        let ignore_empty = self.ignore_empty.unwrap_or_else(|| {
            self.identifier == i64::MAX && self.table.options().ignore_empty_batch_commit()
        });
        if !changes.has_append() && !changes.has_compact() && ignore_empty {
            return Ok(CommitOutcome::NothingToCommit);
        }
        let has_compact = changes.has_compact();
        let mut results = Vec::new();
        if changes.has_append() || !has_compact || !ignore_empty {
            // Deleting rows changes what other commits were made for, like removing files.
            let removes = changes
                .append
                .iter()
                .any(|e| e.kind == crate::manifest::FileKind::Delete)
                || changes
                    .append_index
                    .iter()
                    .any(|e| e.index_file.index_type == crate::scan::DELETION_VECTORS);
            let work = Work {
                kind: if removes {
                    CommitKind::Overwrite
                } else {
                    CommitKind::Append
                },
                source: Source::Fixed(changes.append),
                changelog: changes.append_changelog,
                index: changes.append_index,
                check_conflicts: removes || self.check_conflicts,
            };
            results.push(self.publish(work).await?);
        }
        if has_compact {
            results.push(
                self.publish_compact(
                    changes.compact,
                    changes.compact_changelog,
                    changes.compact_index,
                    &results,
                )
                .await?,
            );
        }
        Ok(outcome(results))
    }

    /// Replaces rows by those of `messages` (which may be empty).
    ///
    /// - `Some(spec)`: every row in the partitions that match `spec` goes; an empty specification matches the whole table.
    ///   New files must lie in those partitions.
    /// - `None`: on a partitioned table with option `dynamic-partition-overwrite` (the default) the partitions of the new
    ///   files are replaced, and no new file means that nothing changes; otherwise the whole table is replaced.
    ///
    /// Changelog files of the messages are ignored, as in Java.
    ///
    /// # Errors
    /// As [`TableCommit::commit`].
    pub async fn overwrite(
        &self,
        spec: Option<&PartitionSpec>,
        messages: Vec<CommitMessage>,
    ) -> Result<CommitOutcome> {
        self.check()?;
        let mut changes = Changes::collect(&self.table, &messages)?;
        if changes
            .append
            .iter()
            .any(|e| e.kind == crate::manifest::FileKind::Delete)
        {
            return Err(Error::invalid(
                "an overwrite takes new files only, a commit message removes files",
            ));
        }
        if !changes.append_changelog.is_empty() || !changes.compact_changelog.is_empty() {
            tracing::warn!("changelog files of an overwrite are ignored");
            changes.append_changelog.clear();
            changes.compact_changelog.clear();
        }
        let dynamic = spec.is_none()
            && !self.table.schema().partition_keys.is_empty()
            && self.table.options().dynamic_partition_overwrite;
        // A new bucket may come with the index of its keys; vectors and removed index files belong to files that are there.
        let index_comes_with_files = |e: &crate::manifest::IndexManifestEntry| {
            e.kind == crate::manifest::FileKind::Add
                && e.index_file.index_type != crate::scan::DELETION_VECTORS
        };
        if !changes.append_index.iter().all(index_comes_with_files) {
            return Err(Error::invalid(
                "an overwrite takes new files only, a commit message changes index files",
            ));
        }
        let filter = match spec {
            Some(spec) => PartitionFilter::from_specs(&self.table, std::slice::from_ref(spec))?,
            None if dynamic => PartitionFilter::of_entries(&changes.append),
            None => PartitionFilter::All,
        };
        let types = self.table.schema().partition_types();
        for entry in &changes.append {
            if !filter.matches(&entry.partition, &types)? {
                let path = self.table.bucket_path(&entry.partition, entry.bucket)?;
                return Err(
                    Error::invalid("a new file lies outside of the partitions that are overwritten")
                        .with("path", format_args!("{path}/{}", entry.file.file_name)),
                );
            }
        }
        let compacts = !changes.compact.is_empty() || !changes.compact_index.is_empty();
        if let Some(keyed) = KeyedCommit::of(&self.table)?
            && !compacts
        {
            changes.append = keyed.upgrade(changes.append)?;
        }
        let mut results = Vec::new();
        if !dynamic || !changes.append.is_empty() {
            let mut work = self.overwriting(filter, changes.append);
            work.index = changes.append_index;
            results.push(self.publish(work).await?);
        }
        if compacts {
            results.push(
                self.publish_compact(changes.compact, Vec::new(), changes.compact_index, &results)
                    .await?,
            );
        }
        Ok(outcome(results))
    }

    /// Removes all rows.
    ///
    /// # Errors
    /// As [`TableCommit::commit`].
    pub async fn truncate(&self) -> Result<CommitOutcome> {
        self.check()?;
        let work = self.overwriting(PartitionFilter::All, Vec::new());
        let operation = self.operation.clone().unwrap_or_else(|| "TRUNCATE".to_string());
        Ok(outcome(vec![self.publish_as(work, Some(operation)).await?]))
    }

    /// Removes the rows of every partition that matches one of the specifications.
    ///
    /// # Errors
    /// `InvalidInput` for no or an empty specification, an unknown column or a bad value; as [`TableCommit::commit`].
    pub async fn drop_partitions(&self, specs: &[PartitionSpec]) -> Result<CommitOutcome> {
        self.check()?;
        if specs.is_empty() || specs.iter().any(BTreeMap::is_empty) {
            return Err(Error::invalid(
                "no partition is named; truncate the table to remove all rows",
            ));
        }
        let filter = PartitionFilter::from_specs(&self.table, specs)?;
        Ok(outcome(vec![
            self.publish(self.overwriting(filter, Vec::new())).await?,
        ]))
    }

    /// Deletes the files of messages that will not be committed.
    ///
    /// # Errors
    /// `Unknown` when an earlier commit of this object has an unknown outcome: its files must stay. Those of the store; files
    /// that are left are found by the orphan clean-up.
    pub async fn abort(&self, messages: &[CommitMessage]) -> Result<()> {
        if !self.unsettled().is_empty() {
            return Err(Error::new(
                paimon_types::ErrorKind::Unknown,
                "a commit has an unknown outcome; its files may be part of the table and are kept",
            ));
        }
        let storage = self.table.storage();
        for message in messages {
            let dir = self.table.bucket_path(&message.partition, message.bucket)?;
            let (data, compact) = (&message.data_increment, &message.compact_increment);
            let groups = [
                &data.new_files,
                &data.changelog_files,
                &compact.new_files,
                &compact.changelog_files,
            ];
            for file in groups.into_iter().flatten() {
                let path = file
                    .external_path
                    .clone()
                    .unwrap_or_else(|| format!("{dir}/{}", file.file_name));
                let parent = path
                    .rsplit_once('/')
                    .map_or(dir.as_str(), |(parent, _)| parent)
                    .to_string();
                storage.delete(&path).await?;
                for extra in &file.extra_files {
                    storage.delete(&format!("{parent}/{extra}")).await?;
                }
            }
            for index in data.new_index_files.iter().chain(&compact.new_index_files) {
                let dir = if self.table.options().index_file_in_data_file_dir {
                    dir.clone()
                } else {
                    self.table.paths().index_dir()
                };
                let path = index
                    .external_path
                    .clone()
                    .unwrap_or_else(|| format!("{dir}/{}", index.file_name));
                storage.delete(&path).await?;
            }
        }
        Ok(())
    }

    /// Of the given commit identifiers, those that this user has not committed: the ones above that of the user's newest
    /// snapshot, ascending.
    ///
    /// # Errors
    /// Those of reading snapshots.
    pub async fn filter_committed(&self, mut identifiers: Vec<i64>) -> Result<Vec<i64>> {
        identifiers.sort_unstable();
        identifiers.dedup();
        if let Some(last) = self.table.snapshot_manager().latest_of_user(&self.user).await? {
            identifiers.retain(|identifier| *identifier > last.commit_identifier);
        }
        Ok(identifiers)
    }

    fn check(&self) -> Result<()> {
        // Readers let bad writer options pass; a commit does not.
        CoreOptions::from_map(self.table.options().raw())?;
        check_table(&self.table)
    }

    fn overwriting(&self, filter: PartitionFilter, new: Vec<crate::manifest::ManifestEntry>) -> Work {
        Work {
            kind: CommitKind::Overwrite,
            source: Source::Overwrite {
                filter: Arc::new(filter),
                new,
            },
            changelog: Vec::new(),
            index: Vec::new(),
            check_conflicts: true,
        }
    }

    async fn publish_compact(
        &self,
        entries: Vec<crate::manifest::ManifestEntry>,
        changelog: Vec<crate::manifest::ManifestEntry>,
        index: Vec<crate::manifest::IndexManifestEntry>,
        before: &[Published],
    ) -> Result<Published> {
        let work = Work {
            kind: CommitKind::Compact,
            source: Source::Fixed(entries),
            changelog,
            index,
            check_conflicts: true,
        };
        self.publish(work).await.map_err(|e| match before.first() {
            Some(published) => e.with("committed before as snapshot", published.id),
            None => e,
        })
    }

    async fn publish(&self, work: Work) -> Result<Published> {
        self.publish_as(work, self.operation.clone()).await
    }

    async fn publish_as(&self, work: Work, operation: Option<String>) -> Result<Published> {
        Publisher::new(self, work, operation).run().await
    }

    /// True when user and identifier name one logical commit, whichever process makes it.
    fn has_stable_identity(&self) -> bool {
        self.user_given && self.identifier != i64::MAX
    }

    fn is_same_commit(&self, snapshot: &Snapshot, kind: CommitKind) -> bool {
        snapshot.commit_user == self.user
            && snapshot.commit_identifier == self.identifier
            && snapshot.commit_kind == kind
    }

    fn unsettled(&self) -> std::sync::MutexGuard<'_, Vec<Unsettled>> {
        self.unsettled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One snapshot of a commit.
#[derive(Clone, Copy, Debug)]
struct Published {
    id: i64,
    new: bool,
}

fn outcome(results: Vec<Published>) -> CommitOutcome {
    if results.is_empty() {
        return CommitOutcome::NothingToCommit;
    }
    let new = results.iter().any(|r| r.new);
    let snapshot_ids = results.into_iter().map(|r| r.id).collect();
    if new {
        CommitOutcome::Committed { snapshot_ids }
    } else {
        CommitOutcome::AlreadyCommitted { snapshot_ids }
    }
}
