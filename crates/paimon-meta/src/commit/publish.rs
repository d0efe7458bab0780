// SPDX-License-Identifier: Apache-2.0

//! The loop that makes one snapshot (Java `FileStoreCommitImpl.tryCommit`; `metadata.md` 6.4, 6.7).

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use paimon_types::{Error, ErrorKind, Result};

use super::changes::drop_delete_stats;
use super::partition_filter::{PartitionFilter, live_entries};
use super::{Published, TableCommit, conflict, row_tracking};
use crate::manifest::{FileKind, ManifestEntry, ManifestFileMeta, ManifestOptions, ManifestStore};
use crate::snapshot::{CommitKind, Snapshot};
use crate::table::Table;

/// How often a snapshot is read back after the store failed while creating it.
const READ_BACK_TRIES: u32 = 3;

/// The changes of one snapshot.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) kind: CommitKind,
    pub(super) source: Source,
    pub(super) changelog: Vec<ManifestEntry>,
    pub(super) check_conflicts: bool,
}

/// Where the entries of the delta come from.
#[derive(Debug)]
pub(super) enum Source {
    /// Given by writers.
    Fixed(Vec<ManifestEntry>),
    /// DELETE entries for what is live in the partitions at the newest snapshot, then ADD entries for the new files.
    Overwrite {
        filter: Arc<PartitionFilter>,
        new: Vec<ManifestEntry>,
    },
}

impl Source {
    fn given(&self) -> &[ManifestEntry] {
        match self {
            Source::Fixed(entries) => entries,
            Source::Overwrite { new, .. } => new,
        }
    }
}

/// A commit whose outcome the store did not tell; kept to recognise it when the caller tries again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unsettled {
    kind: CommitKind,
    files: Vec<String>,
    base: i64,
    uuid: String,
}

pub(super) struct Publisher<'a> {
    commit: &'a TableCommit,
    table: &'a Table,
    store: ManifestStore,
    work: Work,
    operation: Option<String>,
    /// The uuid of our snapshot, whichever attempt makes it.
    uuid: String,
    /// Newest snapshot id before the first attempt.
    base: Option<i64>,
    /// Names of manifests and lists that we wrote.
    written: Vec<String>,
    /// Id of a snapshot file that may or may not have been created by us.
    open_attempt: Option<i64>,
    /// The store failed at least once while a snapshot was created: nothing of ours is deleted any more.
    doubt: bool,
    /// At least one attempt came to nothing and left files.
    lost: bool,
    delta: Option<Delta>,
    merge: Option<(Vec<ManifestFileMeta>, Vec<ManifestFileMeta>)>,
}

/// Delta and changelog manifests, written.
#[derive(Clone)]
struct Delta {
    list: (String, i64),
    changelog: Option<(String, i64)>,
    next_row_id: i64,
    record_count: i64,
    changelog_record_count: Option<i64>,
}

/// What became of an attempt.
enum Attempt {
    Done(i64),
    Lost,
}

impl<'a> Publisher<'a> {
    pub(super) fn new(commit: &'a TableCommit, work: Work, operation: Option<String>) -> Self {
        let table = &commit.table;
        let environment = table.environment();
        let store = ManifestStore::new(
            table.storage().clone(),
            table.location(),
            ManifestOptions::from(table.options()),
            table.schema().partition_types(),
            Arc::clone(&environment.ids),
        );
        Publisher {
            commit,
            table,
            store,
            work,
            operation,
            uuid: environment.ids.next_uuid(),
            base: None,
            written: Vec::new(),
            open_attempt: None,
            doubt: false,
            lost: false,
            delta: None,
            merge: None,
        }
    }

    /// Publishes the snapshot; see [`TableCommit::commit`] for the errors.
    pub(super) async fn run(mut self) -> Result<Published> {
        if let Some(id) = self.find_earlier().await? {
            return Ok(Published { id, new: false });
        }
        let result = self.attempts().await;
        match &result {
            Ok(_) => {}
            Err(_) if self.open_attempt.is_some() => self.remember(),
            Err(_) if !self.doubt => self.delete(&HashSet::new()).await,
            Err(_) => {}
        }
        match result {
            Err(e) if self.open_attempt.is_some() => Err(Error::new(
                ErrorKind::Unknown,
                "the store failed while the snapshot was created and did not tell whether it exists",
            )
            .with(
                "path",
                self.table
                    .snapshot_manager()
                    .snapshot_path(self.open_attempt.unwrap_or_default()),
            )
            .with_source(e)),
            other => other,
        }
    }

    async fn attempts(&mut self) -> Result<Published> {
        let options = self.table.options();
        let clock = &self.table.environment().clock;
        let start = clock.now_millis();
        let mut retries = 0;
        loop {
            let latest = self.table.snapshot_manager().latest().await?;
            let latest_id = latest.as_ref().map_or(0, |s| s.id);
            match self.base {
                None => self.base = Some(latest_id),
                Some(base) => {
                    if let Some(id) = self.find_since(base, latest_id).await? {
                        return self.finish(id).await;
                    }
                }
            }
            match self.attempt(latest.as_ref()).await {
                Ok(Attempt::Done(id)) => return self.finish(id).await,
                Ok(Attempt::Lost) => {}
                // Manifests vanish under us when the snapshot that we build on expires: a lost race, too.
                Err(e) if e.kind() == ErrorKind::NotFound && self.has_moved_on(latest_id).await => {}
                Err(e) => return Err(e),
            }
            self.lost = true;
            let elapsed = clock.now_millis().saturating_sub(start);
            let timed_out = options.commit_timeout_millis.is_some_and(|limit| elapsed > limit);
            if timed_out || retries >= options.commit_max_retries {
                // One more look, so that what has become visible meanwhile is not reported as unknown.
                if self.open_attempt.is_some()
                    && let Some(latest) = self.table.snapshot_manager().latest_id().await?
                    && let Some(id) = self.find_since(self.base.unwrap_or(0), latest).await?
                {
                    return self.finish(id).await;
                }
                return Err(Error::conflict(format!(
                    "other commits won {} times in {elapsed} ms; raise commit.max-retries or commit.timeout, or try again",
                    retries + 1
                ))
                .with("table", self.table.identifier()));
            }
            tokio::time::sleep(self.wait(retries)).await;
            retries += 1;
        }
    }

    async fn has_moved_on(&self, latest_id: i64) -> bool {
        matches!(self.table.snapshot_manager().latest_id().await, Ok(Some(id)) if id > latest_id)
    }

    /// The snapshot that an earlier try of the same logical commit made.
    async fn find_earlier(&mut self) -> Result<Option<i64>> {
        let snapshots = self.table.snapshot_manager();
        let known = self.take_remembered();
        if let Some(unsettled) = known {
            self.uuid = unsettled.uuid.clone();
            self.base = Some(unsettled.base);
            self.doubt = true;
            let latest = match snapshots.latest_id().await {
                Ok(latest) => latest.unwrap_or(0),
                Err(e) => {
                    self.commit.unsettled().push(unsettled);
                    return Err(e);
                }
            };
            return match self.find_since(unsettled.base, latest).await {
                Err(e) => {
                    self.commit.unsettled().push(unsettled);
                    Err(e)
                }
                found => found,
            };
        }
        if !self.commit.has_stable_identity() {
            return Ok(None);
        }
        let mut current = snapshots.latest().await?;
        while let Some(snapshot) = current {
            if self.commit.is_same_commit(&snapshot, self.work.kind) {
                return Ok(Some(snapshot.id));
            }
            // Identifiers of a user grow: an earlier one ends the search.
            if snapshot.commit_user == self.commit.user && snapshot.commit_identifier < self.commit.identifier
            {
                break;
            }
            current = if snapshot.id > 1 {
                snapshots.try_snapshot(snapshot.id - 1).await?
            } else {
                None
            };
        }
        Ok(None)
    }

    /// Looks for our snapshot in `(base, latest]`.
    async fn find_since(&mut self, base: i64, latest: i64) -> Result<Option<i64>> {
        for id in base + 1..=latest {
            match self.table.snapshot_manager().try_snapshot(id).await? {
                Some(snapshot) if self.is_ours(&snapshot) => return Ok(Some(id)),
                // Somebody else has the id that was open: that attempt can no longer succeed.
                Some(_) if self.open_attempt == Some(id) => self.open_attempt = None,
                Some(_) => {}
                None if self.open_attempt == Some(id) => {
                    return Err(Error::not_found(format!(
                        "snapshot {id} expired before the commit could be settled"
                    )));
                }
                None => {}
            }
        }
        Ok(None)
    }

    fn is_ours(&self, snapshot: &Snapshot) -> bool {
        snapshot.uuid.as_deref() == Some(&self.uuid)
            || (self.commit.has_stable_identity() && self.commit.is_same_commit(snapshot, self.work.kind))
    }

    async fn attempt(&mut self, latest: Option<&Snapshot>) -> Result<Attempt> {
        let snapshot = self.prepare(latest).await?;
        let snapshots = self.table.snapshot_manager();
        let id = snapshot.id;
        let failure = match snapshots.publish(&snapshot).await {
            Ok(true) => return Ok(Attempt::Done(id)),
            Ok(false) => None,
            Err(e) => Some(e),
        };
        if failure.is_some() {
            self.doubt = true;
            self.open_attempt = Some(id);
        }
        let mut tries = 0;
        loop {
            tries += 1;
            match snapshots.try_snapshot(id).await {
                Ok(Some(found)) if self.is_ours(&found) => return Ok(Attempt::Done(id)),
                Ok(Some(_)) => {
                    if self.open_attempt == Some(id) {
                        self.open_attempt = None;
                    }
                    return Ok(Attempt::Lost);
                }
                Ok(None) => break,
                Err(e) if tries >= READ_BACK_TRIES => {
                    if failure.is_none() {
                        // The name is taken, but by whom?
                        self.doubt = true;
                        self.open_attempt = Some(id);
                        return Err(e);
                    }
                    break;
                }
                Err(_) => tokio::time::sleep(self.wait(tries as i32)).await,
            }
        }
        match failure {
            Some(e) if is_refusal(&e) => {
                // Refused outright and not there: nothing was created.
                self.open_attempt = None;
                Err(e)
            }
            Some(e) => {
                tracing::warn!(snapshot = id, error = %e, "the store failed while a snapshot was created, trying again");
                Ok(Attempt::Lost)
            }
            None => Ok(Attempt::Lost),
        }
    }

    /// Writes manifests and builds the snapshot that follows `latest`.
    async fn prepare(&mut self, latest: Option<&Snapshot>) -> Result<Snapshot> {
        let id = latest.map_or(1, |s| s.id + 1);
        let table = self.table;
        let schema = table
            .schema_manager()
            .latest_from(Arc::clone(table.schema()))
            .await?;
        let mut entries = self.entries(latest).await?;
        self.check(latest, &mut entries).await?;

        let base = self.base_manifests(latest).await?;
        let base_list = self.store.write_list(&base).await?;
        self.written.push(base_list.0.clone());
        let delta = self.delta(entries, id, latest).await?;
        let index_manifest = self.index_manifest(latest).await?;
        let statistics = self.statistics(latest, schema.id).await?;
        let total = latest
            .map_or(0, |s| s.total_record_count)
            .checked_add(delta.record_count);
        Ok(Snapshot {
            version: Snapshot::CURRENT_VERSION,
            uuid: Some(self.uuid.clone()),
            id,
            schema_id: schema.id,
            base_manifest_list: base_list.0,
            base_manifest_list_size: Some(base_list.1),
            delta_manifest_list: delta.list.0,
            delta_manifest_list_size: Some(delta.list.1),
            changelog_manifest_list: delta.changelog.as_ref().map(|list| list.0.clone()),
            changelog_manifest_list_size: delta.changelog.as_ref().map(|list| list.1),
            index_manifest,
            commit_user: self.commit.user.clone(),
            writer_version: Some(format!("rust-{}", env!("CARGO_PKG_VERSION"))),
            commit_identifier: self.commit.identifier,
            commit_kind: self.work.kind,
            time_millis: table.environment().clock.now_millis(),
            total_record_count: total
                .ok_or_else(|| Error::invalid("the table would have more than 2^63 rows"))?,
            delta_record_count: delta.record_count,
            changelog_record_count: delta.changelog_record_count,
            watermark: latest.and_then(|s| s.watermark).max(self.commit.watermark),
            statistics,
            properties: self.commit.properties.clone(),
            next_row_id: Some(delta.next_row_id),
            operation: self.operation.clone(),
        })
    }

    /// The entries of the delta on top of `latest`.
    async fn entries(&self, latest: Option<&Snapshot>) -> Result<Vec<ManifestEntry>> {
        match &self.work.source {
            Source::Fixed(entries) => Ok(entries.clone()),
            Source::Overwrite { filter, new } => {
                let mut entries = match latest {
                    Some(latest) => live_entries(&self.store, latest, Arc::clone(filter)).await?,
                    None => Vec::new(),
                };
                let postponed = self.table.options().bucket == -2;
                entries.retain(|entry| entry.bucket >= 0 || postponed);
                for entry in &mut entries {
                    entry.kind = FileKind::Delete;
                }
                entries.extend(new.iter().cloned());
                Ok(entries)
            }
        }
    }

    /// Conflict checks of `metadata.md` 6.8.
    async fn check(&self, latest: Option<&Snapshot>, entries: &mut Vec<ManifestEntry>) -> Result<()> {
        let table = self.table;
        let Some(latest) = latest else {
            conflict::check_total_buckets(table, [], entries)?;
            // Nothing can be removed from a table without snapshots.
            return conflict::check_files(table, &[], entries);
        };
        if matches!(self.work.source, Source::Overwrite { .. }) {
            // The removed files were just read from this snapshot; the new ones must not be among what stays.
            return conflict::check_total_buckets(table, [], entries);
        }
        let append = self.work.kind == CommitKind::Append;
        let discard = append && table.options().commit_discard_duplicate_files;
        conflict::check_added_once(table, entries)?;
        if !self.work.check_conflicts && !discard {
            conflict::check_total_buckets(table, [], entries)?;
            if !self.bucket_count_may_differ().await? {
                return Ok(());
            }
        }
        let filter = Arc::new(PartitionFilter::of_entries(entries.iter()));
        let base = live_entries(&self.store, latest, filter).await?;
        if discard {
            conflict::discard_duplicates(&base, entries);
        }
        if self.work.kind != CommitKind::Overwrite {
            conflict::check_total_buckets(table, &base, entries)?;
        }
        if self.work.check_conflicts {
            conflict::check_files(table, &base, entries)
        } else {
            Ok(())
        }
    }

    /// A fixed bucket count that was altered at some time: partitions may still have another one.
    async fn bucket_count_may_differ(&self) -> Result<bool> {
        let counts = |entry: &ManifestEntry| entry.total_buckets;
        let mut given = self.work.source.given().iter().map(counts);
        let Some(count) = given.next().filter(|count| *count > 0) else {
            return Ok(false);
        };
        if given.any(|other| other != count) {
            return Ok(true);
        }
        let schemas = self.table.schema_manager();
        let latest = schemas.latest_from(Arc::clone(self.table.schema())).await?;
        for id in 0..=latest.id {
            let Some(schema) = schemas.try_schema(id).await? else {
                return Ok(true);
            };
            let stored = schema
                .options
                .get("bucket")
                .and_then(|b| b.trim().parse::<i32>().ok());
            if stored != Some(count) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Manifests of `latest`, merged. A retry reuses the merge of the attempt before when its input is still there, and
    /// does not merge otherwise: it must be quick.
    async fn base_manifests(&mut self, latest: Option<&Snapshot>) -> Result<Vec<ManifestFileMeta>> {
        let Some(latest) = latest else {
            return Ok(Vec::new());
        };
        let mut current = self.store.read_list(&latest.base_manifest_list).await?;
        current.extend(self.store.read_list(&latest.delta_manifest_list).await?);
        match &self.merge {
            None => {
                let (merged, written) = self.store.merge(current.clone()).await?;
                self.written.extend(written);
                self.merge = Some((current, merged.clone()));
                Ok(merged)
            }
            Some((before, _)) if before.is_empty() => Ok(current),
            Some((before, after)) => {
                let at = current
                    .windows(before.len())
                    .position(|window| window == before.as_slice());
                if let Some(at) = at {
                    current.splice(at..at + before.len(), after.iter().cloned());
                }
                Ok(current)
            }
        }
    }

    /// Writes delta and changelog manifests, or reuses those of the attempt before when they cannot differ.
    async fn delta(
        &mut self,
        mut entries: Vec<ManifestEntry>,
        id: i64,
        latest: Option<&Snapshot>,
    ) -> Result<Delta> {
        let options = self.table.options();
        let first_row_id = latest.and_then(|s| s.next_row_id).unwrap_or(0);
        let row_tracking = options.row_tracking_enabled;
        let fixed = matches!(self.work.source, Source::Fixed(_))
            && !row_tracking
            && !options.commit_discard_duplicate_files;
        if fixed && let Some(delta) = &self.delta {
            return Ok(Delta {
                next_row_id: first_row_id,
                ..delta.clone()
            });
        }
        let mut next_row_id = first_row_id;
        if row_tracking {
            if options.row_tracking_partition_group_on_commit {
                row_tracking::group_by_partition(&mut entries);
            }
            next_row_id = row_tracking::assign(&mut entries, id, first_row_id)?;
        }
        let record_count = count_rows(&entries)?;
        if options.manifest_delete_file_drop_stats {
            drop_delete_stats(&mut entries);
        }
        let list = self.write(&entries).await?;
        let (changelog, changelog_record_count) = if self.work.changelog.is_empty() {
            (None, None)
        } else {
            let entries = self.work.changelog.clone();
            (Some(self.write(&entries).await?), Some(count_rows(&entries)?))
        };
        let delta = Delta {
            list,
            changelog,
            next_row_id,
            record_count,
            changelog_record_count,
        };
        self.delta = Some(delta.clone());
        Ok(delta)
    }

    async fn write(&mut self, entries: &[ManifestEntry]) -> Result<(String, i64)> {
        let metas = self.store.write_manifests(entries).await?;
        self.written
            .extend(metas.iter().map(|meta| meta.file_name.clone()));
        let list = self.store.write_list(&metas).await?;
        self.written.push(list.0.clone());
        Ok(list)
    }

    /// The index manifest is state: every commit carries it on; an overwrite takes out what lies in its partitions.
    async fn index_manifest(&mut self, latest: Option<&Snapshot>) -> Result<Option<String>> {
        let Some(name) = latest.and_then(|s| s.index_manifest.clone()) else {
            return Ok(None);
        };
        let Source::Overwrite { filter, .. } = &self.work.source else {
            return Ok(Some(name));
        };
        let mut entries = self.store.read_index_manifest(&name).await?;
        let before = entries.len();
        let types = self.table.schema().partition_types();
        let mut kept = Vec::with_capacity(before);
        for entry in entries.drain(..) {
            if !filter.matches(&entry.partition, &types)? {
                kept.push(entry);
            }
        }
        if kept.len() == before {
            return Ok(Some(name));
        }
        if kept.is_empty() {
            return Ok(None);
        }
        let name = self.store.write_index_manifest(&kept).await?;
        self.written.push(name.clone());
        Ok(Some(name))
    }

    /// Statistics stay while the schema is the one that they were made for.
    async fn statistics(&self, latest: Option<&Snapshot>, schema_id: i64) -> Result<Option<String>> {
        let Some(name) = latest.and_then(|s| s.statistics.clone()) else {
            return Ok(None);
        };
        let path = self.table.paths().statistics(&name);
        let schema_of_statistics = match self.table.storage().read_optional(&path).await? {
            Some(bytes) => serde_json::from_slice::<BTreeMap<String, serde_json::Value>>(&bytes)
                .ok()
                .and_then(|file| file.get("schemaId")?.as_i64()),
            None => None,
        };
        Ok(Some(name).filter(|_| schema_of_statistics == Some(schema_id)))
    }

    /// After the snapshot is there: hints, and files of attempts that lost go.
    async fn finish(&mut self, id: i64) -> Result<Published> {
        self.open_attempt = None;
        let snapshots = self.table.snapshot_manager();
        if let Err(e) = snapshots.write_latest_hint(id).await {
            tracing::warn!(snapshot = id, error = %e, "cannot write the hint of the latest snapshot");
        }
        if id == 1
            && let Err(e) = snapshots.write_earliest_hint(id).await
        {
            tracing::warn!(snapshot = id, error = %e, "cannot write the hint of the earliest snapshot");
        }
        if self.lost
            && !self.doubt
            && let Err(e) = self.delete_unused(id).await
        {
            tracing::warn!(snapshot = id, error = %e, "cannot clean up after a lost race");
        }
        Ok(Published { id, new: true })
    }

    async fn delete_unused(&mut self, id: i64) -> Result<()> {
        let Some(snapshot) = self.table.snapshot_manager().try_snapshot(id).await? else {
            return Ok(());
        };
        let mut used = HashSet::new();
        let lists = [
            Some(&snapshot.base_manifest_list),
            Some(&snapshot.delta_manifest_list),
            snapshot.changelog_manifest_list.as_ref(),
        ];
        for list in lists.into_iter().flatten() {
            used.extend(
                self.store
                    .read_list(list)
                    .await?
                    .into_iter()
                    .map(|meta| meta.file_name),
            );
            used.insert(list.clone());
        }
        used.extend(snapshot.index_manifest);
        self.delete(&used).await;
        Ok(())
    }

    /// Deletes what we wrote but for `used`. Only when it is certain that no snapshot refers to it.
    async fn delete(&mut self, used: &HashSet<String>) {
        for name in std::mem::take(&mut self.written)
            .iter()
            .filter(|name| !used.contains(*name))
        {
            if let Err(e) = self.store.delete(name).await {
                tracing::warn!(name, error = %e, "cannot delete a manifest that is not used");
            }
        }
    }

    /// min(min-wait · 2^k, max-wait) and up to a fifth more.
    fn wait(&self, retries: i32) -> Duration {
        let options = self.table.options();
        let factor = 1i64 << retries.clamp(0, 32);
        let wait = options
            .commit_min_retry_wait_millis
            .saturating_mul(factor)
            .min(options.commit_max_retry_wait_millis)
            .max(0);
        let id = self.table.environment().ids.next_uuid();
        let spread = id
            .bytes()
            .fold(0u64, |hash, b| hash.wrapping_mul(31).wrapping_add(u64::from(b)));
        let extra = wait as u64 / 5 * (spread % 1000) / 1000;
        Duration::from_millis(wait as u64 + extra)
    }

    fn fingerprint(&self) -> Vec<String> {
        self.work
            .source
            .given()
            .iter()
            .map(|e| e.file.file_name.clone())
            .collect()
    }

    fn remember(&self) {
        self.commit.unsettled().push(Unsettled {
            kind: self.work.kind,
            files: self.fingerprint(),
            base: self.base.unwrap_or(0),
            uuid: self.uuid.clone(),
        });
    }

    fn take_remembered(&self) -> Option<Unsettled> {
        let files = self.fingerprint();
        let mut unsettled = self.commit.unsettled();
        let at = unsettled
            .iter()
            .position(|u| u.kind == self.work.kind && u.files == files)?;
        Some(unsettled.remove(at))
    }
}

/// Failures by which a store says that it did nothing.
fn is_refusal(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::PermissionDenied | ErrorKind::InvalidInput | ErrorKind::Unsupported
    )
}

fn count_rows(entries: &[ManifestEntry]) -> Result<i64> {
    let mut sum = 0i64;
    for entry in entries {
        let next = match entry.kind {
            FileKind::Add => sum.checked_add(entry.file.row_count),
            FileKind::Delete => sum.checked_sub(entry.file.row_count),
        };
        sum = next.ok_or_else(|| Error::invalid("the row counts of the files exceed 2^63"))?;
    }
    Ok(sum)
}
