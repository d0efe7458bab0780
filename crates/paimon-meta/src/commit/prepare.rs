// SPDX-License-Identifier: Apache-2.0

//! One attempt up to the snapshot that it wants to publish (Java `FileStoreCommitImpl.tryCommitOnce`; `metadata.md` 6.4).

use std::collections::BTreeMap;
use std::sync::Arc;

use paimon_types::{Error, Result};

use super::changes::drop_delete_stats;
use super::keyed::{self, KeyedCommit};
use super::partition_filter::{PartitionFilter, live_entries};
use super::publish::{Delta, Publisher, Source};
use super::{conflict, index_changes, row_tracking};
use crate::manifest::{FileKind, IndexManifestEntry, ManifestEntry, ManifestFileMeta};
use crate::snapshot::{CommitKind, Snapshot};

impl Publisher<'_> {
    /// Writes manifests and builds the snapshot that follows `latest`.
    pub(super) async fn prepare(&mut self, latest: Option<&Snapshot>) -> Result<Snapshot> {
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
        let keyed = KeyedCommit::of(table)?;
        let check_levels = |base: &[ManifestEntry], entries: &[ManifestEntry]| match &keyed {
            Some(keyed) => keyed.check_levels(base, entries),
            None => Ok(()),
        };
        conflict::check_named_once(table, entries)?;
        let Some(latest) = latest else {
            conflict::check_total_buckets(table, [], entries)?;
            // Nothing can be removed from a table without snapshots.
            conflict::check_files(table, &[], entries)?;
            return check_levels(&[], entries);
        };
        if matches!(self.work.source, Source::Overwrite { .. }) {
            // The removed files were just read from this snapshot; the new ones must not be among what stays.
            conflict::check_total_buckets(table, [], entries)?;
            return check_levels(&[], entries);
        }
        let append = self.work.kind == CommitKind::Append;
        let discard = append && table.options().commit_discard_duplicate_files;
        if !self.work.check_conflicts && !discard {
            conflict::check_total_buckets(table, [], entries)?;
            if !self.bucket_count_may_differ().await? {
                return Ok(());
            }
        }
        let partitions = entries.iter().map(|e| &e.partition);
        let partitions = partitions.chain(index_changes::partitions(&self.work.index));
        let filter = Arc::new(PartitionFilter::Exact(partitions.cloned().collect()));
        let base = live_entries(&self.store, latest, filter).await?;
        if discard {
            conflict::discard_duplicates(&base, entries);
        }
        if self.work.kind != CommitKind::Overwrite {
            conflict::check_total_buckets(table, &base, entries)?;
        }
        if !self.work.check_conflicts {
            return Ok(());
        }
        if !table.options().deletion_vectors_enabled || !index_changes::has_unaware_buckets(table) {
            conflict::check_files(table, &base, entries)?;
            return check_levels(&base, entries);
        }
        let base_index = self.index_entries(Some(latest)).await?;
        index_changes::check_vectors(table, &base, &base_index, entries, &self.work.index)
    }

    /// Index files of a snapshot.
    async fn index_entries(&self, snapshot: Option<&Snapshot>) -> Result<Vec<IndexManifestEntry>> {
        match snapshot.and_then(|s| s.index_manifest.as_ref()) {
            Some(name) => self.store.read_index_manifest(name).await,
            None => Ok(Vec::new()),
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
        let mut current = self.store.read_data_lists(latest).await?;
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
        let ordered_by_snapshot =
            self.work.kind != CommitKind::Compact && keyed::is_ordered_by_snapshot(self.table)?;
        let fixed = matches!(self.work.source, Source::Fixed(_))
            && !row_tracking
            && !ordered_by_snapshot
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
        if ordered_by_snapshot {
            keyed::order_by_snapshot(&mut entries, id)?;
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

    /// The index manifest is state: every commit carries it on; an overwrite takes out what lies in its partitions, and the
    /// commit's own changes are applied.
    async fn index_manifest(&mut self, latest: Option<&Snapshot>) -> Result<Option<String>> {
        let before = latest.and_then(|s| s.index_manifest.clone());
        let overwritten = match &self.work.source {
            Source::Overwrite { filter, .. } if before.is_some() => Some(Arc::clone(filter)),
            _ => None,
        };
        if overwritten.is_none() && self.work.index.is_empty() {
            return Ok(before);
        }
        let mut entries = self.index_entries(latest).await?;
        let count = entries.len();
        if let Some(filter) = overwritten {
            let types = self.table.schema().partition_types();
            let mut kept = Vec::with_capacity(count);
            for entry in entries {
                if !filter.matches(&entry.partition, &types)? {
                    kept.push(entry);
                }
            }
            entries = kept;
        }
        if entries.len() == count && self.work.index.is_empty() {
            return Ok(before);
        }
        let entries = index_changes::combine(self.table, entries, &self.work.index)?;
        if entries.is_empty() {
            return Ok(None);
        }
        let name = self.store.write_index_manifest(&entries).await?;
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
