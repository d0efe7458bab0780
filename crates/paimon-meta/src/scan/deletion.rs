// SPDX-License-Identifier: Apache-2.0

//! Deletion vectors of the files of a split, from the snapshot's index manifest (`metadata.md` 4.4, 9.5).

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use paimon_protocol::{DataFileMeta, DeletionFile, DeletionVectorMeta, Partition};
use paimon_types::{Error, Result};

use crate::Table;
use crate::manifest::{FileKind, IndexManifestEntry};

/// Index type of deletion vectors.
pub(crate) const DELETION_VECTORS: &str = "DELETION_VECTORS";

/// Where the deletion vector of each data file lies.
#[derive(Debug, Default)]
pub(super) struct DeletionFiles {
    /// Of each (partition, bucket), the vectors by name of their data file.
    buckets: HashMap<(Partition, i32), HashMap<String, Found>>,
    index_files: Vec<IndexFile>,
    index_dir: String,
    in_bucket_dir: bool,
}

#[derive(Debug)]
struct IndexFile {
    name: String,
    external_path: Option<String>,
}

/// A vector and its index file.
#[derive(Debug)]
enum Found {
    Once(usize, DeletionVectorMeta),
    /// Several vectors for one file: which rows are deleted is not known.
    Twice,
}

impl DeletionFiles {
    pub(super) fn new(table: &Table, entries: Vec<IndexManifestEntry>) -> Self {
        let mut files = DeletionFiles {
            index_dir: table.paths().index_dir(),
            in_bucket_dir: table.options().index_file_in_data_file_dir,
            ..DeletionFiles::default()
        };
        for entry in entries {
            let file = entry.index_file;
            if entry.kind != FileKind::Add || file.index_type != DELETION_VECTORS {
                continue;
            }
            let vectors = file.dv_ranges.unwrap_or_default();
            if vectors.is_empty() {
                continue;
            }
            let index = files.index_files.len();
            files.index_files.push(IndexFile {
                name: file.file_name,
                external_path: file.external_path,
            });
            let bucket = files.buckets.entry((entry.partition, entry.bucket)).or_default();
            for vector in vectors {
                match bucket.entry(vector.data_file_name.clone()) {
                    Entry::Vacant(place) => {
                        place.insert(Found::Once(index, vector));
                    }
                    Entry::Occupied(mut place) => {
                        place.insert(Found::Twice);
                    }
                }
            }
        }
        files
    }

    pub(super) fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// One entry a file.
    ///
    /// # Errors
    /// `Corrupt` when a file has two vectors.
    pub(super) fn of_files(
        &self,
        partition: &Partition,
        bucket: i32,
        bucket_path: &str,
        files: &[DataFileMeta],
    ) -> Result<Vec<Option<DeletionFile>>> {
        // The clone is of shared values; a lookup by reference would need a key type of its own.
        let Some(vectors) = self.buckets.get(&(partition.clone(), bucket)) else {
            return Ok(vec![None; files.len()]);
        };
        let found = files.iter().map(|file| match vectors.get(&file.file_name) {
            None => Ok(None),
            Some(Found::Twice) => {
                Err(Error::corrupt("data file has two deletion vectors").with("path", &file.file_name))
            }
            Some(Found::Once(index, vector)) => Ok(self.index_files.get(*index).map(|index| DeletionFile {
                path: self.path(index, bucket_path),
                offset: i64::from(vector.offset),
                length: i64::from(vector.length),
                cardinality: vector.cardinality,
            })),
        });
        found.collect()
    }

    fn path(&self, file: &IndexFile, bucket_path: &str) -> String {
        match &file.external_path {
            Some(path) => path.clone(),
            None if self.in_bucket_dir => format!("{bucket_path}/{}", file.name),
            None => format!("{}/{}", self.index_dir, file.name),
        }
    }
}
