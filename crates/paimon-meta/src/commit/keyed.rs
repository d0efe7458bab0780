// SPDX-License-Identifier: Apache-2.0

//! What a commit to a primary-key table does besides (Java `PrimaryKeyConflictDetection`, `FileStoreCommitImpl.tryUpgrade`,
//! `stampSequenceWithSnapshotId`; `metadata.md` 6.3, 6.4, 6.8).

use std::collections::HashMap;

use paimon_protocol::sorted_runs::{Key, KeyOrder};
use paimon_protocol::{CommitMessage, DataFileMeta, Partition};
use paimon_types::{Error, Result};

use super::changes::refuse;
use super::conflict::place;
use crate::manifest::{FileIdentifier, FileKind, ManifestEntry};
use crate::table::Table;

const SNAPSHOT_ORDERING: &str = "sequence.snapshot-ordering";

/// A file between its first and its last key.
type Ranged<E> = (Key, Key, E);

/// A level of a bucket: partition, bucket, level.
type Level<'a> = (&'a Partition, i32, i32);

/// A commit to a primary-key table.
#[derive(Debug)]
pub(super) struct KeyedCommit<'a> {
    table: &'a Table,
    order: KeyOrder,
    /// Files above level 0 are sorted by other columns than the key, and so are their bounds (`pk-clustering-override`).
    clustered: bool,
}

impl<'a> KeyedCommit<'a> {
    /// `None` for a table without primary key.
    ///
    /// # Errors
    /// As [`KeyOrder::of`].
    pub(super) fn of(table: &'a Table) -> Result<Option<Self>> {
        if table.schema().primary_keys.is_empty() {
            return Ok(None);
        }
        Ok(Some(KeyedCommit {
            table,
            order: KeyOrder::of(table.schema())?,
            clustered: table.options().pk_clustering_override,
        }))
    }

    /// New files have keys: else nobody could say what to merge them with.
    pub(super) fn check_message(&self, message: &CommitMessage) -> Result<()> {
        if self.clustered || message.bucket < 0 {
            return Ok(());
        }
        message.new_files().try_for_each(|file| {
            self.order.bounds(file).map(|_| ()).map_err(|e| {
                Error::invalid("a new file of a table with a primary key has no usable keys").with_source(e)
            })
        })
    }

    /// In a bucket, the files of a level above 0 have no key in common: two compactions that both filled a level cannot both stay.
    ///
    /// # Errors
    /// `Conflict` with both files.
    pub(super) fn check_levels(&self, base: &[ManifestEntry], delta: &[ManifestEntry]) -> Result<()> {
        if self.clustered {
            return Ok(());
        }
        let mut levels: HashMap<Level<'_>, Vec<Ranged<&ManifestEntry>>> = HashMap::new();
        for entry in merged(base, delta)
            .into_iter()
            .filter(|entry| entry.file.level >= 1)
        {
            let (min, max) = self.order.bounds(&entry.file)?;
            let level = (&entry.partition, entry.bucket, entry.file.level);
            levels.entry(level).or_default().push((min, max, entry));
        }
        for files in levels.values_mut() {
            files.sort_by(|a, b| self.order.compare(&a.0, &b.0));
            for pair in files.windows(2) {
                if let [(_, max, one), (min, _, other)] = pair
                    && self.order.compare(max, min).is_ge()
                {
                    return Err(Error::conflict(format!(
                        "files {} and {} of level {} have keys in common: another commit compacted the same bucket",
                        one.file.file_name, other.file.file_name, one.file.level
                    ))
                    .with("path", place(self.table, one)));
                }
            }
        }
        Ok(())
    }

    /// Of an overwrite that adds files of level 0 only: those of a bucket go to the top level when they have no key in common, as
    /// nothing below them is left that they would have to be merged with (option `overwrite-upgrade`).
    ///
    /// # Errors
    /// `Corrupt` for keys that do not decode.
    pub(super) fn upgrade(&self, entries: Vec<ManifestEntry>) -> Result<Vec<ManifestEntry>> {
        let stays = |entry: &ManifestEntry| entry.file.level > 0 || entry.bucket < 0;
        if self.clustered || !self.table.options().overwrite_upgrade || entries.iter().any(stays) {
            return Ok(entries);
        }
        let top = self.table.options().top_level();
        let mut places: HashMap<(Partition, i32), usize> = HashMap::new();
        let mut buckets: Vec<Vec<Ranged<ManifestEntry>>> = Vec::new();
        for entry in entries {
            let next = buckets.len();
            let at = *places
                .entry((entry.partition.clone(), entry.bucket))
                .or_insert(next);
            let (min, max) = self.order.bounds(&entry.file)?;
            match buckets.get_mut(at) {
                Some(bucket) => bucket.push((min, max, entry)),
                None => buckets.push(vec![(min, max, entry)]),
            }
        }
        let mut upgraded = Vec::new();
        for bucket in buckets {
            let mut sorted: Vec<&Ranged<ManifestEntry>> = bucket.iter().collect();
            sorted.sort_by(|a, b| self.order.compare(&a.0, &b.0));
            let apart = sorted
                .windows(2)
                .all(|pair| matches!(pair, [a, b] if self.order.compare(&a.1, &b.0).is_lt()));
            if !apart {
                upgraded.extend(bucket.into_iter().map(|(_, _, entry)| entry));
                continue;
            }
            upgraded.extend(sorted.into_iter().map(|(_, _, entry)| ManifestEntry {
                file: DataFileMeta {
                    level: top,
                    ..entry.file.clone()
                },
                ..entry.clone()
            }));
        }
        Ok(upgraded)
    }
}

/// The files that are there after the commit.
fn merged<'a>(base: &'a [ManifestEntry], delta: &'a [ManifestEntry]) -> Vec<&'a ManifestEntry> {
    let of_kind = |kind| delta.iter().filter(move |entry| entry.kind == kind);
    let gone: std::collections::HashSet<FileIdentifier> =
        of_kind(FileKind::Delete).map(ManifestEntry::identifier).collect();
    base.iter()
        .chain(of_kind(FileKind::Add))
        .filter(|entry| !gone.contains(&entry.identifier()))
        .collect()
}

/// Whether the id of a snapshot is the sequence number of the rows that it adds (option `sequence.snapshot-ordering`).
///
/// # Errors
/// `Unsupported` for a table without primary key.
pub(super) fn is_ordered_by_snapshot(table: &Table) -> Result<bool> {
    let on = table.options().sequence_snapshot_ordering;
    if on && table.schema().primary_keys.is_empty() {
        return Err(refuse(
            SNAPSHOT_ORDERING,
            "true",
            "only tables with a primary key have such an order",
        ));
    }
    Ok(on)
}

/// Gives new files the id of their snapshot as sequence number.
///
/// # Errors
/// `InvalidInput` for a file that does not say whether an append or a compaction wrote it: readers could not tell its order.
pub(super) fn order_by_snapshot(entries: &mut [ManifestEntry], snapshot_id: i64) -> Result<()> {
    for entry in entries.iter_mut().filter(|entry| entry.kind == FileKind::Add) {
        let file = &mut entry.file;
        if file.file_source.is_none() {
            return Err(
                Error::invalid("a new file has no source, expected one that says append or compact")
                    .with("path", &file.file_name)
                    .with("option", SNAPSHOT_ORDERING),
            );
        }
        (file.min_sequence_number, file.max_sequence_number) = (snapshot_id, snapshot_id);
    }
    Ok(())
}
