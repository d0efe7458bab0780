// SPDX-License-Identifier: Apache-2.0

//! Snapshot files and hints of one branch (Java `SnapshotManager`, `HintFileUtils`; `metadata.md` 3.2).

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use paimon_storage::Storage;
use paimon_types::{Error, ErrorKind, Result};

use crate::paths::{self, TablePaths};
use crate::schema_manager::cannot_list;
use crate::snapshot::Snapshot;

/// How many ids a search for the earliest snapshot walks past files that expired meanwhile.
const EXPIRED_WALK: i64 = 300;
/// A file that ends too early may still be being written by a writer without atomic rename.
const PARTIAL_READ_TRIES: u32 = 10;
/// A user's last snapshot is mostly among the newest ones.
const NEAR_HISTORY: i64 = 4;
const READ_AHEAD: usize = 16;
const PARTIAL_READ_WAIT: Duration = Duration::from_millis(200);

/// Finds and reads `snapshot/snapshot-<id>` of one branch.
#[derive(Clone, Debug)]
pub struct SnapshotManager {
    storage: Storage,
    paths: TablePaths,
}

impl SnapshotManager {
    /// Snapshots of `branch` (`main` for the table itself) of the table at `location`.
    pub fn new(storage: Storage, location: &str, branch: &str) -> Self {
        SnapshotManager {
            storage,
            paths: TablePaths::new(location, branch),
        }
    }

    /// Path of a snapshot file.
    pub fn snapshot_path(&self, id: i64) -> String {
        self.paths.snapshot(id)
    }

    /// Snapshot `id`.
    ///
    /// # Errors
    /// `NotFound`, naming the range that is retained; `Corrupt` or `Unsupported` when the file does not parse.
    pub async fn snapshot(&self, id: i64) -> Result<Snapshot> {
        match self.try_snapshot(id).await? {
            Some(snapshot) => Ok(snapshot),
            None => Err(self.out_of_range(id).await),
        }
    }

    async fn out_of_range(&self, id: i64) -> Error {
        let range = match (self.earliest_id().await, self.latest_id().await) {
            (Ok(Some(first)), Ok(Some(last))) => format!("the table retains snapshots {first} to {last}"),
            (Ok(None), Ok(None)) => "the table has no snapshot".to_string(),
            (Err(e), _) | (_, Err(e)) => format!("and the range that is retained is not readable: {e}"),
            _ => "and the range that is retained is changing".to_string(),
        };
        Error::not_found(format!("snapshot {id} does not exist, {range}"))
            .with("path", self.snapshot_path(id))
    }

    /// Snapshot `id`, `None` when there is no such file.
    ///
    /// # Errors
    /// `Corrupt` or `Unsupported` when the file does not parse; those of the store.
    pub async fn try_snapshot(&self, id: i64) -> Result<Option<Snapshot>> {
        let path = self.snapshot_path(id);
        let snapshot = read_snapshot_file(&self.storage, &path).await?;
        match snapshot {
            Some(snapshot) if snapshot.id != id => Err(Error::corrupt(format!(
                "snapshot file of id {id} holds id {}",
                snapshot.id
            ))
            .with("path", path)),
            other => Ok(other),
        }
    }

    /// True when the file of snapshot `id` exists.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn exists(&self, id: i64) -> Result<bool> {
        Ok(self.storage.status(&self.snapshot_path(id)).await?.is_some())
    }

    /// Ids of all snapshot files, ascending. Lists the directory.
    ///
    /// # Errors
    /// Those of listing.
    pub async fn list_ids(&self) -> Result<Vec<i64>> {
        paths::list_numbered(&self.storage, &self.paths.snapshot_dir(), "snapshot-").await
    }

    /// All snapshots that can be read, ascending by id; those that expire meanwhile are left out.
    ///
    /// # Errors
    /// Those of listing and reading.
    pub async fn all(&self) -> Result<Vec<Snapshot>> {
        let mut snapshots = Vec::new();
        for id in self.list_ids().await? {
            snapshots.extend(self.try_snapshot(id).await?);
        }
        Ok(snapshots)
    }

    /// The newest snapshot, `None` for a table without one.
    ///
    /// The hint answers in the common case; the directory is listed when there is no hint or it is behind.
    ///
    /// # Errors
    /// Those of listing and reading.
    pub async fn latest(&self) -> Result<Option<Snapshot>> {
        let Some(mut id) = self.latest_id_by_hint().await? else {
            return match self.latest_id_by_listing(0).await? {
                Some(id) => self.snapshot(id).await.map(Some),
                None => Ok(None),
            };
        };
        if let Some(snapshot) = self.try_snapshot(id).await? {
            return Ok(Some(snapshot));
        }
        // The hint names an expired or rolled back snapshot.
        match self.latest_id_by_listing(0).await? {
            Some(found) => id = found,
            None => return Ok(None),
        }
        self.snapshot(id).await.map(Some)
    }

    /// Id of the newest snapshot, `None` for a table without one.
    ///
    /// # Errors
    /// Those of listing and reading.
    pub async fn latest_id(&self) -> Result<Option<i64>> {
        match self.latest_id_by_hint().await? {
            Some(id) if self.exists(id).await? => Ok(Some(id)),
            _ => self.latest_id_by_listing(0).await,
        }
    }

    /// The hint when it is usable: positive and without a successor; a hint that is behind is moved on.
    async fn latest_id_by_hint(&self) -> Result<Option<i64>> {
        let Some(hint) = self.read_hint(&self.paths.latest_hint()).await? else {
            return Ok(None);
        };
        if !self.exists_for_probe(hint.saturating_add(1)).await? {
            return Ok(Some(hint));
        }
        self.latest_id_by_listing(hint + 1).await
    }

    /// The largest id in the directory; without the permission to list, walks upward from `known` (0: none is known).
    async fn latest_id_by_listing(&self, known: i64) -> Result<Option<i64>> {
        match self.list_ids().await {
            Ok(ids) => Ok(ids.last().copied()),
            Err(e) if cannot_list(&e) => {
                let start = match known {
                    0 => self.read_hint(&self.paths.earliest_hint()).await?.unwrap_or(1),
                    known => known,
                };
                match self.exists(start).await {
                    Ok(true) => {}
                    Ok(false) => return Ok(None),
                    Err(e) if e.kind() == ErrorKind::PermissionDenied && self.may_read().await => {
                        return Ok(None);
                    }
                    Err(e) => return Err(e),
                }
                let mut id = start;
                while self.exists_for_probe(id + 1).await? {
                    id += 1;
                }
                Ok(Some(id))
            }
            Err(e) => Err(e),
        }
    }

    /// Id of the oldest snapshot, `None` for a table without one.
    ///
    /// # Errors
    /// Those of listing and reading.
    pub async fn earliest_id(&self) -> Result<Option<i64>> {
        if let Some(hint) = self.read_hint(&self.paths.earliest_hint()).await?
            && self.exists(hint).await?
        {
            return Ok(Some(hint));
        }
        match self.list_ids().await {
            Ok(ids) => Ok(ids.first().copied()),
            Err(e) if cannot_list(&e) => Ok(if self.exists(1).await? { Some(1) } else { None }),
            Err(e) => Err(e),
        }
    }

    /// The oldest snapshot; walks on when it expires between finding and reading it.
    ///
    /// # Errors
    /// Those of listing and reading.
    pub async fn earliest(&self) -> Result<Option<Snapshot>> {
        let Some(first) = self.earliest_id().await? else {
            return Ok(None);
        };
        for id in first..=first.saturating_add(EXPIRED_WALK) {
            if let Some(snapshot) = self.try_snapshot(id).await? {
                return Ok(Some(snapshot));
            }
        }
        Err(Error::not_found(format!(
            "snapshots {first} and the {EXPIRED_WALK} after it expired while reading"
        ))
        .with("path", self.paths.snapshot_dir()))
    }

    /// The newest snapshot made at or before `millis` (epoch milliseconds).
    ///
    /// # Errors
    /// `NotFound` when the table has no snapshot or the first one that is retained is younger.
    pub async fn at_or_before(&self, millis: i64) -> Result<Snapshot> {
        match self.find_last(|snapshot| snapshot.time_millis <= millis).await? {
            Search::Found(snapshot) => Ok(*snapshot),
            Search::Empty => Err(Error::not_found(format!(
                "no snapshot was made at or before {millis}: the table has no snapshot"
            ))),
            Search::AllAfter(first) => Err(Error::not_found(format!(
                "no snapshot was made at or before {millis}: the earliest that is retained is snapshot {} of {}",
                first.id, first.time_millis
            ))),
        }
    }

    /// The first snapshot with a watermark of at least `watermark`; snapshots without one count as the nearest earlier
    /// one that has one. `None` when no snapshot has reached it.
    ///
    /// # Errors
    /// Those of listing and reading.
    pub async fn first_with_watermark(&self, watermark: i64) -> Result<Option<Snapshot>> {
        let (Some(first), Some(last)) = (self.earliest_id().await?, self.latest_id().await?) else {
            return Ok(None);
        };
        for id in first..=last {
            if let Some(snapshot) = self.try_snapshot(id).await?
                && snapshot.watermark.is_some_and(|w| w >= watermark)
            {
                return Ok(Some(snapshot));
            }
        }
        Ok(None)
    }

    /// The newest snapshot that `user` committed, looking down from the latest until a file is missing.
    ///
    /// # Errors
    /// Those of listing and reading.
    pub async fn latest_of_user(&self, user: &str) -> Result<Option<Snapshot>> {
        let Some(latest) = self.latest().await? else {
            return Ok(None);
        };
        let mut history = self.descending(latest);
        while let Some(snapshot) = history.try_next().await? {
            if snapshot.commit_user == user {
                return Ok(Some(snapshot));
            }
        }
        Ok(None)
    }

    /// `latest` and the snapshots before it, newest first, until one is missing. Reads ahead after the first few.
    pub(crate) fn descending(&self, latest: Snapshot) -> BoxStream<'_, Result<Snapshot>> {
        let below = |from: i64, to: i64, ahead: usize| {
            stream::iter((to..=from).rev())
                .map(|id| self.try_snapshot(id))
                .buffered(ahead)
        };
        let near = latest.id.saturating_sub(NEAR_HISTORY).max(1);
        let rest = below(latest.id - 1, near, 1).chain(below(near - 1, 1, READ_AHEAD));
        let rest = rest.try_take_while(|found| std::future::ready(Ok(found.is_some())));
        let rest = rest.try_filter_map(|found| std::future::ready(Ok(found)));
        stream::once(std::future::ready(Ok(latest))).chain(rest).boxed()
    }

    /// Binary search for the last snapshot for which `test` holds; `test` holds for a prefix of the history.
    async fn find_last(&self, test: impl Fn(&Snapshot) -> bool) -> Result<Search> {
        let Some(earliest) = self.earliest().await? else {
            return Ok(Search::Empty);
        };
        if !test(&earliest) {
            return Ok(Search::AllAfter(Box::new(earliest)));
        }
        let Some(latest) = self.latest_id().await? else {
            return Ok(Search::Empty);
        };
        let mut best = earliest;
        let mut low = best.id + 1;
        let mut high = latest;
        while low <= high {
            let middle = low + (high - low) / 2;
            match self.try_snapshot(middle).await? {
                Some(snapshot) if test(&snapshot) => {
                    low = middle + 1;
                    best = snapshot;
                }
                Some(_) => high = middle - 1,
                // Expired since the search began: what is left is younger.
                None => low = middle + 1,
            }
        }
        Ok(Search::Found(Box::new(best)))
    }

    /// Publishes a snapshot: false when this id exists already. The one place that makes a snapshot visible.
    ///
    /// # Errors
    /// Those of the store; the outcome is then unknown.
    pub(crate) async fn publish(&self, snapshot: &Snapshot) -> Result<bool> {
        let content = Bytes::from(snapshot.to_json().into_bytes());
        self.storage
            .create_if_absent(&self.snapshot_path(snapshot.id), content)
            .await
    }

    /// Moves the LATEST hint on. A hint is advice: readers correct one that is behind.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn write_latest_hint(&self, id: i64) -> Result<()> {
        self.storage
            .write(&self.paths.latest_hint(), Bytes::from(id.to_string()))
            .await
    }

    /// Writes the EARLIEST hint.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn write_earliest_hint(&self, id: i64) -> Result<()> {
        self.storage
            .write(&self.paths.earliest_hint(), Bytes::from(id.to_string()))
            .await
    }

    /// A positive hint; anything else in the file counts as absent.
    async fn read_hint(&self, path: &str) -> Result<Option<i64>> {
        let bytes = match self.storage.read_optional(path).await {
            Err(e) if e.kind() == ErrorKind::PermissionDenied && self.may_read().await => None,
            other => other?,
        };
        Ok(bytes
            .and_then(|b| std::str::from_utf8(&b).ok()?.trim().parse().ok())
            .filter(|id: &i64| *id > 0))
    }

    /// True when files of the table can be read, so that "forbidden" for another name means that it is missing: some stores
    /// answer so when the caller may not list.
    async fn may_read(&self) -> bool {
        matches!(self.storage.status(&self.paths.schema(0)).await, Ok(Some(_)))
    }

    /// Existence of the snapshot after a known one. Taking "forbidden" for absent is safe here, since publishing is
    /// conditional.
    async fn exists_for_probe(&self, id: i64) -> Result<bool> {
        match self.exists(id).await {
            Err(e) if e.kind() == ErrorKind::PermissionDenied => Ok(false),
            other => other,
        }
    }
}

enum Search {
    Found(Box<Snapshot>),
    Empty,
    AllAfter(Box<Snapshot>),
}

/// Reads a snapshot or tag file; a file that ends in the middle is read again for a while.
pub(crate) async fn read_json_file(storage: &Storage, path: &str) -> Result<Option<String>> {
    let mut tries = 0;
    loop {
        let Some(bytes) = storage.read_optional(path).await? else {
            return Ok(None);
        };
        let text = std::str::from_utf8(&bytes).map_err(|e| {
            Error::corrupt("metadata file is not UTF-8")
                .with("path", path)
                .with_source(e)
        })?;
        tries += 1;
        let complete = match serde_json::from_str::<serde::de::IgnoredAny>(text) {
            Ok(_) => true,
            Err(e) => !e.is_eof(),
        };
        if complete || tries >= PARTIAL_READ_TRIES {
            return Ok(Some(text.to_string()));
        }
        tokio::time::sleep(PARTIAL_READ_WAIT).await;
    }
}

pub(crate) async fn read_snapshot_file(storage: &Storage, path: &str) -> Result<Option<Snapshot>> {
    match read_json_file(storage, path).await? {
        Some(text) => Snapshot::from_json(&text)
            .map(Some)
            .map_err(|e| e.with("path", path)),
        None => Ok(None),
    }
}
