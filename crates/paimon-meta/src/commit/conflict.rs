// SPDX-License-Identifier: Apache-2.0

//! Do the changes still fit the newest snapshot (Java `ConflictDetection`; `metadata.md` 6.8, what concerns append tables)?

use std::collections::{HashMap, HashSet};

use paimon_protocol::Partition;
use paimon_types::{Error, Result};

use crate::manifest::{FileKind, ManifestEntry};
use crate::table::Table;

/// All files of a partition must have been written with one bucket count (counts below 1 say nothing).
pub(super) fn check_total_buckets<'a>(
    table: &Table,
    base: impl IntoIterator<Item = &'a ManifestEntry>,
    delta: &'a [ManifestEntry],
) -> Result<()> {
    let mut counts: HashMap<&Partition, i32> = HashMap::new();
    let adds = delta.iter().filter(|e| e.kind == FileKind::Add);
    for entry in base.into_iter().chain(adds).filter(|e| e.total_buckets > 0) {
        let expected = *counts.entry(&entry.partition).or_insert(entry.total_buckets);
        if expected != entry.total_buckets {
            return Err(Error::conflict(format!(
                "the partition has {expected} buckets, new files were written for {}; overwrite the partition to change its \
                 bucket count",
                entry.total_buckets
            ))
            .with("path", place(table, entry)));
        }
    }
    Ok(())
}

/// A file may be named once by a commit: readers drop a file that a DELETE entry names, in whatever order entries come.
pub(super) fn check_named_once(table: &Table, delta: &[ManifestEntry]) -> Result<()> {
    let mut named = HashSet::new();
    for entry in delta {
        if !named.insert(entry.identifier()) {
            return Err(Error::conflict(
                "the commit names a file twice, or adds one that the table has already",
            )
            .with(
                "path",
                format_args!("{}/{}", place(table, entry), entry.file.file_name),
            ));
        }
    }
    Ok(())
}

/// A file can be added once and removed only while it is there.
pub(super) fn check_files(table: &Table, base: &[ManifestEntry], delta: &[ManifestEntry]) -> Result<()> {
    let mut live: HashSet<_> = base.iter().map(ManifestEntry::identifier).collect();
    for entry in delta {
        let what = match entry.kind {
            FileKind::Add if live.insert(entry.identifier()) => continue,
            FileKind::Add => "a file of this commit is part of the table already",
            FileKind::Delete if live.remove(&entry.identifier()) => continue,
            FileKind::Delete => {
                "a file that this commit removes is no longer part of the table, another commit changed it"
            }
        };
        return Err(Error::conflict(what).with(
            "path",
            format_args!("{}/{}", place(table, entry), entry.file.file_name),
        ));
    }
    Ok(())
}

/// Leaves out files that the table has already (option `commit.discard-duplicate-files`).
pub(super) fn discard_duplicates(base: &[ManifestEntry], delta: &mut Vec<ManifestEntry>) {
    let live: HashSet<_> = base.iter().map(ManifestEntry::identifier).collect();
    delta.retain(|entry| entry.kind != FileKind::Add || !live.contains(&entry.identifier()));
}

pub(super) fn place(table: &Table, entry: &ManifestEntry) -> String {
    table
        .bucket_path(&entry.partition, entry.bucket)
        .unwrap_or_else(|_| table.location().to_string())
}
