// SPDX-License-Identifier: Apache-2.0

//! One entry of a manifest (Java `ManifestEntry`) and the rule by which ADD and DELETE cancel (Java `FileEntry`).

use std::collections::HashMap;

use paimon_protocol::{DataFileMeta, Partition};
use paimon_types::{Error, Result};

/// Whether an entry adds or removes its file (Java `FileKind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// The file became part of the table.
    Add,
    /// The file is no longer part of the table.
    Delete,
}

impl FileKind {
    /// The stored number: 0 ADD, 1 DELETE.
    pub fn code(self) -> i32 {
        match self {
            FileKind::Add => 0,
            FileKind::Delete => 1,
        }
    }

    /// The kind with this number.
    ///
    /// # Errors
    /// `Corrupt` for any other number.
    pub fn from_code(code: i64) -> Result<Self> {
        match code {
            0 => Ok(FileKind::Add),
            1 => Ok(FileKind::Delete),
            other => Err(Error::corrupt(format!(
                "file kind {other}, expected 0 (ADD) or 1 (DELETE)"
            ))),
        }
    }
}

/// A data file that was added to or removed from a bucket (Java `ManifestEntry`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestEntry {
    /// ADD or DELETE.
    pub kind: FileKind,
    /// The partition; [`Partition::unpartitioned`] for tables without partition columns.
    pub partition: Partition,
    /// Bucket number.
    pub bucket: i32,
    /// Bucket count of the partition when the file was written.
    pub total_buckets: i32,
    /// The file.
    pub file: DataFileMeta,
}

/// What makes two entries speak of the same file (Java `FileEntry.Identifier`; `metadata.md` 4.3). The row id is no part.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileIdentifier {
    /// The partition.
    pub partition: Partition,
    /// Bucket number.
    pub bucket: i32,
    /// LSM level.
    pub level: i32,
    /// File name.
    pub file_name: String,
    /// Files that live and die with it.
    pub extra_files: Vec<String>,
    /// Embedded file index.
    pub embedded_index: Option<Vec<u8>>,
    /// Path outside of the bucket directory.
    pub external_path: Option<String>,
}

impl ManifestEntry {
    /// An ADD entry.
    pub fn add(partition: Partition, bucket: i32, total_buckets: i32, file: DataFileMeta) -> Self {
        ManifestEntry {
            kind: FileKind::Add,
            partition,
            bucket,
            total_buckets,
            file,
        }
    }

    /// A DELETE entry.
    pub fn delete(partition: Partition, bucket: i32, total_buckets: i32, file: DataFileMeta) -> Self {
        ManifestEntry {
            kind: FileKind::Delete,
            partition,
            bucket,
            total_buckets,
            file,
        }
    }

    /// The identity by which ADD and DELETE cancel.
    pub fn identifier(&self) -> FileIdentifier {
        FileIdentifier {
            partition: self.partition.clone(),
            bucket: self.bucket,
            level: self.file.level,
            file_name: self.file.file_name.clone(),
            extra_files: self.file.extra_files.clone(),
            embedded_index: self.file.embedded_index.clone(),
            external_path: self.file.external_path.clone(),
        }
    }
}

/// Lets a DELETE cancel the ADD before it; keeps what is left in order of first appearance, unmatched DELETE entries
/// included (Java `FileEntry.mergeEntries`).
///
/// # Errors
/// `Corrupt` when a file is added although it is there already.
pub fn merge_entries(entries: impl IntoIterator<Item = ManifestEntry>) -> Result<Vec<ManifestEntry>> {
    let mut slots: Vec<Option<ManifestEntry>> = Vec::new();
    let mut places: HashMap<FileIdentifier, usize> = HashMap::new();
    for entry in entries {
        let id = entry.identifier();
        match (entry.kind, places.get(&id).copied()) {
            (FileKind::Add, Some(_)) => {
                return Err(Error::corrupt(format!(
                    "data file {} of bucket {} is added twice",
                    entry.file.file_name, entry.bucket
                )));
            }
            (FileKind::Delete, Some(place)) => {
                // A repeated DELETE says nothing new. Java lets the two cancel, after which the file could come back.
                if let Some(slot) = slots.get_mut(place)
                    && slot.as_ref().is_some_and(|before| before.kind == FileKind::Add)
                {
                    *slot = None;
                    places.remove(&id);
                }
            }
            (_, None) => {
                places.insert(id, slots.len());
                slots.push(Some(entry));
            }
        }
    }
    Ok(slots.into_iter().flatten().collect())
}
