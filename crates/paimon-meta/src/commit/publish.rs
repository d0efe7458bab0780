// SPDX-License-Identifier: Apache-2.0

//! The loop that makes one snapshot (Java `FileStoreCommitImpl.tryCommit`; `metadata.md` 6.4, 6.7).

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt;
use paimon_types::{Error, ErrorKind, Result};

use super::partition_filter::PartitionFilter;
use super::{Published, TableCommit};
use crate::manifest::{IndexManifestEntry, ManifestEntry, ManifestFileMeta, ManifestStore};
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
    /// Index files that come and go.
    pub(super) index: Vec<IndexManifestEntry>,
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
    pub(super) fn given(&self) -> &[ManifestEntry] {
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
    pub(super) commit: &'a TableCommit,
    pub(super) table: &'a Table,
    pub(super) store: ManifestStore,
    pub(super) work: Work,
    pub(super) operation: Option<String>,
    /// The uuid of our snapshot, whichever attempt makes it.
    pub(super) uuid: String,
    /// Newest snapshot id before the first attempt.
    pub(super) base: Option<i64>,
    /// Names of manifests and lists that we wrote.
    pub(super) written: Vec<String>,
    /// Id of a snapshot file that may or may not have been created by us.
    pub(super) open_attempt: Option<i64>,
    /// The store failed at least once while a snapshot was created: nothing of ours is deleted any more.
    pub(super) doubt: bool,
    /// What the store said then.
    failure: Option<Error>,
    /// The commit object knows of this publication.
    remembered: bool,
    /// At least one attempt came to nothing and left files.
    pub(super) lost: bool,
    pub(super) delta: Option<Delta>,
    pub(super) merge: Option<(Vec<ManifestFileMeta>, Vec<ManifestFileMeta>)>,
}

/// Delta and changelog manifests, written.
#[derive(Clone)]
pub(super) struct Delta {
    pub(super) list: (String, i64),
    pub(super) changelog: Option<(String, i64)>,
    pub(super) next_row_id: i64,
    pub(super) record_count: i64,
    pub(super) changelog_record_count: Option<i64>,
}

/// What became of an attempt.
enum Attempt {
    Done(Published),
    Lost,
}

impl<'a> Publisher<'a> {
    pub(super) fn new(commit: &'a TableCommit, work: Work, operation: Option<String>) -> Self {
        let table = &commit.table;
        let environment = table.environment();
        let store = table.manifest_store();
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
            failure: None,
            remembered: false,
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
        if self.open_attempt.is_none() {
            self.forget();
            if result.is_err() && !self.doubt {
                self.delete(&HashSet::new()).await;
            }
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
                    if let Some(published) = self.find_since(base, latest_id).await? {
                        return self.finish(published).await;
                    }
                }
            }
            match self.attempt(latest.as_ref()).await {
                Ok(Attempt::Done(published)) => return self.finish(published).await,
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
                    && let Some(published) = self.find_since(self.base.unwrap_or(0), latest).await?
                {
                    return self.finish(published).await;
                }
                if self.open_attempt.is_some()
                    && let Some(failure) = self.failure.take()
                {
                    return Err(failure);
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
        let known = self.find_remembered();
        if let Some(unsettled) = known {
            self.remembered = true;
            self.uuid = unsettled.uuid.clone();
            self.base = Some(unsettled.base);
            self.doubt = true;
            let latest = snapshots.latest_id().await?.unwrap_or(0);
            let found = self.find_since(unsettled.base, latest).await?;
            if found.is_some() {
                self.forget();
            }
            return Ok(found.map(|published| published.id));
        }
        if !self.commit.has_stable_identity() {
            return Ok(None);
        }
        let Some(latest) = snapshots.latest().await? else {
            return Ok(None);
        };
        let mut history = snapshots.descending(latest);
        while let Some(snapshot) = history.try_next().await? {
            if self.commit.is_same_commit(&snapshot, self.work.kind) {
                return Ok(Some(snapshot.id));
            }
            // Identifiers of a user grow: an earlier one ends the search.
            if snapshot.commit_user == self.commit.user && snapshot.commit_identifier < self.commit.identifier
            {
                break;
            }
        }
        Ok(None)
    }

    /// Looks for our snapshot in `(base, latest]`.
    async fn find_since(&mut self, base: i64, latest: i64) -> Result<Option<Published>> {
        for id in base + 1..=latest {
            match self.table.snapshot_manager().try_snapshot(id).await? {
                Some(snapshot) if self.is_ours(&snapshot) => return Ok(Some(self.published(&snapshot))),
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

    /// Of another process that makes the same logical commit, the snapshot is not new.
    fn published(&self, snapshot: &Snapshot) -> Published {
        Published {
            id: snapshot.id,
            new: snapshot.uuid.as_deref() == Some(&self.uuid),
        }
    }

    async fn attempt(&mut self, latest: Option<&Snapshot>) -> Result<Attempt> {
        let snapshot = self.prepare(latest).await?;
        let snapshots = self.table.snapshot_manager();
        let id = snapshot.id;
        // From here on the snapshot may exist, even when this future is dropped.
        self.remember();
        let failure = match snapshots.publish(&snapshot).await {
            Ok(true) => return Ok(Attempt::Done(self.published(&snapshot))),
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
                Ok(Some(found)) if self.is_ours(&found) => return Ok(Attempt::Done(self.published(&found))),
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
                self.failure = Some(e);
                Ok(Attempt::Lost)
            }
            None => Ok(Attempt::Lost),
        }
    }

    /// After the snapshot is there: hints, and files of attempts that lost go.
    async fn finish(&mut self, published: Published) -> Result<Published> {
        self.open_attempt = None;
        let id = published.id;
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
        Ok(published)
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
            .chain(self.work.index.iter().map(|e| e.index_file.file_name.clone()))
            .collect()
    }

    /// Notes on the commit object that the outcome is open.
    fn remember(&mut self) {
        if !self.remembered {
            self.remembered = true;
            self.commit.unsettled().push(Unsettled {
                kind: self.work.kind,
                files: self.fingerprint(),
                base: self.base.unwrap_or(0),
                uuid: self.uuid.clone(),
            });
        }
    }

    fn forget(&mut self) {
        self.remembered = false;
        self.commit.unsettled().retain(|u| u.uuid != self.uuid);
    }

    fn find_remembered(&self) -> Option<Unsettled> {
        let files = self.fingerprint();
        let unsettled = self.commit.unsettled();
        unsettled
            .iter()
            .find(|u| u.kind == self.work.kind && u.files == files)
            .cloned()
    }
}

/// Failures by which a store says that it did nothing.
fn is_refusal(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::PermissionDenied | ErrorKind::InvalidInput | ErrorKind::Unsupported
    )
}
