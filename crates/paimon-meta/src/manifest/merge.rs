// SPDX-License-Identifier: Apache-2.0

//! Keeping the number of manifests small: the merge at every commit (Java `ManifestFileMerger`; `metadata.md` 7).

use std::collections::HashSet;

use futures_util::{StreamExt, TryStreamExt, stream};
use paimon_protocol::Partition;
use paimon_types::{DataType, Result};

use super::stats::ValueRange;
use super::store::RollingManifestWriter;
use super::{
    EntryHead, EntrySelector, FileIdentifier, FileKind, ManifestFileMeta, ManifestStore, merge_entries,
};

impl ManifestStore {
    /// Merges the manifests of a snapshot: rewrites all small and deleting ones when they reach
    /// `manifest.full-compaction-threshold-size` (full), else batches of small ones (minor). The set of live files stays
    /// the same.
    ///
    /// Returns the new list and the names of the manifests that were written for it, to delete when the commit fails. When
    /// the merge itself fails, they are deleted already.
    ///
    /// # Errors
    /// Those of reading and writing manifests; `Corrupt` when a file is added twice.
    pub async fn merge(&self, metas: Vec<ManifestFileMeta>) -> Result<(Vec<ManifestFileMeta>, Vec<String>)> {
        let mut written = Vec::new();
        let merged = match self.full_merge(&metas, &mut written).await {
            Ok(Some(merged)) => Ok(merged),
            Ok(None) => self.minor_merge(metas, &mut written).await,
            Err(e) => Err(e),
        };
        match merged {
            Ok(merged) => Ok((merged, written)),
            Err(e) => {
                self.delete_quietly(&written).await;
                Err(e)
            }
        }
    }

    /// Merges all manifests whatever their number (Java `compactManifest`): as [`ManifestStore::merge`] with a minimum
    /// count of 1 and a threshold of 1 byte.
    ///
    /// # Errors
    /// As [`ManifestStore::merge`].
    pub async fn compact(
        &self,
        metas: Vec<ManifestFileMeta>,
    ) -> Result<(Vec<ManifestFileMeta>, Vec<String>)> {
        let mut options = self.options().clone();
        options.merge_min_count = 1;
        options.full_compaction_threshold = 1;
        self.with_options(options).merge(metas).await
    }

    fn target(&self) -> i64 {
        i64::try_from(self.options().target_file_size).unwrap_or(i64::MAX)
    }

    async fn minor_merge(
        &self,
        metas: Vec<ManifestFileMeta>,
        written: &mut Vec<String>,
    ) -> Result<Vec<ManifestFileMeta>> {
        let mut result = Vec::new();
        let mut batch = Vec::new();
        let mut size = 0i64;
        for meta in metas {
            size = size.saturating_add(meta.file_size);
            batch.push(meta);
            if size >= self.target() {
                self.merge_batch(std::mem::take(&mut batch), &mut result, written)
                    .await?;
                size = 0;
            }
        }
        if batch.len() >= self.options().merge_min_count {
            self.merge_batch(batch, &mut result, written).await?;
        } else {
            result.extend(batch);
        }
        Ok(result)
    }

    async fn merge_batch(
        &self,
        batch: Vec<ManifestFileMeta>,
        result: &mut Vec<ManifestFileMeta>,
        written: &mut Vec<String>,
    ) -> Result<()> {
        if batch.len() <= 1 {
            result.extend(batch);
            return Ok(());
        }
        let entries = self.read_manifests(&batch).await?;
        let merged = merge_entries(entries.into_iter().flatten())?;
        let metas = self.write_manifests(&merged).await?;
        written.extend(metas.iter().map(|meta| meta.file_name.clone()));
        result.extend(metas);
        Ok(())
    }

    /// `None` when a full merge is not due or would change nothing.
    async fn full_merge(
        &self,
        metas: &[ManifestFileMeta],
        written: &mut Vec<String>,
    ) -> Result<Option<Vec<ManifestFileMeta>>> {
        let must_change =
            |meta: &ManifestFileMeta| meta.num_deleted_files > 0 || meta.file_size < self.target();
        let due: i64 = metas
            .iter()
            .filter(|m| must_change(m))
            .fold(0, |sum, m| sum.saturating_add(m.file_size));
        let threshold = i64::try_from(self.options().full_compaction_threshold).unwrap_or(i64::MAX);
        if due < threshold {
            return Ok(None);
        }
        let deleted = self.read_deleted(metas).await?;
        let partitions = PartitionBounds::of(&deleted, self.partition_types())?;
        let untouched = |meta: &ManifestFileMeta| {
            !must_change(meta) && (deleted.is_empty() || partitions.excludes(meta, self.partition_types()))
        };
        let (mut result, rest): (Vec<_>, Vec<_>) = metas.iter().cloned().partition(untouched);
        if rest.len() <= 1 {
            return Ok(None);
        }
        let mut writer = RollingManifestWriter::new(self)?;
        let mut reads = stream::iter(rest)
            .map(|meta| async move { self.read_manifest(&meta).await.map(|entries| (meta, entries)) })
            .buffered(self.options().parallelism);
        loop {
            let (meta, entries) = match reads.try_next().await {
                Ok(Some(read)) => read,
                Ok(None) => break,
                Err(e) => return writer.abort(e).await,
            };
            let all = entries.len();
            let live: Vec<_> = entries
                .into_iter()
                .filter(|e| e.kind == FileKind::Add && !deleted.contains(&e.identifier()))
                .collect();
            if !must_change(&meta) && live.len() == all {
                result.push(meta);
                continue;
            }
            for entry in &live {
                if let Err(e) = writer.write(entry).await {
                    return writer.abort(e).await;
                }
            }
        }
        let new = writer.close().await?;
        written.extend(new.iter().map(|meta| meta.file_name.clone()));
        result.extend(new);
        Ok(Some(result))
    }

    /// Identities of all DELETE entries.
    pub(crate) async fn read_deleted(&self, metas: &[ManifestFileMeta]) -> Result<HashSet<FileIdentifier>> {
        let with_deletes: Vec<_> = metas
            .iter()
            .filter(|meta| meta.num_deleted_files > 0)
            .cloned()
            .collect();
        let mut reads = stream::iter(with_deletes)
            .map(|meta| async move { self.read_manifest_selected(&meta, OnlyDeletes).await })
            .buffered(self.options().parallelism);
        let mut deleted = HashSet::new();
        while let Some(entries) = reads.try_next().await? {
            deleted.extend(entries.iter().map(|entry| entry.identifier()));
        }
        Ok(deleted)
    }
}

/// Selects DELETE entries.
#[derive(Clone, Copy, Debug)]
struct OnlyDeletes;

impl EntrySelector for OnlyDeletes {
    fn select(&mut self, head: &EntryHead<'_>) -> Result<bool> {
        Ok(head.kind == FileKind::Delete)
    }
}

/// Bounds of each partition column over the partitions that lose files.
struct PartitionBounds {
    columns: Vec<ValueRange>,
}

impl PartitionBounds {
    fn of(deleted: &HashSet<FileIdentifier>, types: &[DataType]) -> Result<Self> {
        let mut columns: Vec<ValueRange> = types.iter().map(|_| ValueRange::default()).collect();
        let partitions: HashSet<&Partition> = deleted.iter().map(|id| &id.partition).collect();
        for partition in partitions {
            for (column, value) in columns.iter_mut().zip(partition.values(types)?) {
                column.add(value, 1);
            }
        }
        Ok(PartitionBounds { columns })
    }

    /// True when no file of the manifest can be in one of the partitions. Statistics that are missing or do not decode
    /// exclude nothing.
    fn excludes(&self, meta: &ManifestFileMeta, types: &[DataType]) -> bool {
        let stats = &meta.partition_stats;
        let (Ok(mins), Ok(maxs)) = (stats.min_values.values(types), stats.max_values.values(types)) else {
            return false;
        };
        self.columns.iter().enumerate().any(|(i, column)| {
            let min = mins.get(i).and_then(Option::as_ref);
            let max = maxs.get(i).and_then(Option::as_ref);
            column.excluded_by(min, max, stats.null_counts.get(i))
        })
    }
}
