// SPDX-License-Identifier: Apache-2.0

//! Deletion vectors of the files of a split, from the snapshot's index manifest (`metadata.md` 4.4, 9.5).

use std::collections::HashMap;

use paimon_protocol::{DataFileMeta, DeletionFile, DeletionVectorMeta};
use paimon_types::{BinaryRow, Error, Result};

use crate::Table;
use crate::manifest::{FileKind, IndexManifestEntry};

/// Index type of deletion vectors.
const DELETION_VECTORS: &str = "DELETION_VECTORS";

/// Where the deletion vector of each data file lies.
#[derive(Debug, Default)]
pub(super) struct DeletionFiles {
    /// Index files and their vectors by (partition, bucket).
    buckets: HashMap<(BinaryRow, i32), Vec<IndexFile>>,
    index_dir: String,
    in_bucket_dir: bool,
}

#[derive(Debug)]
struct IndexFile {
    name: String,
    external_path: Option<String>,
    vectors: Vec<DeletionVectorMeta>,
}

impl DeletionFiles {
    pub(super) fn new(table: &Table, entries: Vec<IndexManifestEntry>) -> Self {
        let mut buckets: HashMap<_, Vec<IndexFile>> = HashMap::new();
        for entry in entries {
            let file = entry.index_file;
            if entry.kind != FileKind::Add || file.index_type != DELETION_VECTORS {
                continue;
            }
            let vectors = file.dv_ranges.unwrap_or_default();
            if vectors.is_empty() {
                continue;
            }
            let file = IndexFile {
                name: file.file_name,
                external_path: file.external_path,
                vectors,
            };
            buckets
                .entry((entry.partition, entry.bucket))
                .or_default()
                .push(file);
        }
        DeletionFiles {
            buckets,
            index_dir: table.paths().index_dir(),
            in_bucket_dir: table.options().index_file_in_data_file_dir,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// One entry a file, or `None` when none of the files has a vector.
    ///
    /// # Errors
    /// `Corrupt` when a file has two vectors.
    pub(super) fn of_files(
        &self,
        partition: &BinaryRow,
        bucket: i32,
        bucket_path: &str,
        files: &[DataFileMeta],
    ) -> Result<Option<Vec<Option<DeletionFile>>>> {
        // The clone is of a shared row; a lookup by reference would need a key type of its own.
        let Some(index_files) = self.buckets.get(&(partition.clone(), bucket)) else {
            return Ok(None);
        };
        let found = files
            .iter()
            .map(|file| self.of_file(index_files, bucket_path, &file.file_name));
        let found = found.collect::<Result<Vec<_>>>()?;
        Ok(if found.iter().any(Option::is_some) {
            Some(found)
        } else {
            None
        })
    }

    fn of_file(
        &self,
        index_files: &[IndexFile],
        bucket_path: &str,
        data_file: &str,
    ) -> Result<Option<DeletionFile>> {
        let mut found = None;
        for index_file in index_files {
            for vector in index_file
                .vectors
                .iter()
                .filter(|v| v.data_file_name == data_file)
            {
                if found.is_some() {
                    return Err(Error::corrupt("data file has two deletion vectors").with("path", data_file));
                }
                found = Some(DeletionFile {
                    path: self.path(index_file, bucket_path),
                    offset: i64::from(vector.offset),
                    length: i64::from(vector.length),
                    cardinality: vector.cardinality,
                });
            }
        }
        Ok(found)
    }

    fn path(&self, file: &IndexFile, bucket_path: &str) -> String {
        match &file.external_path {
            Some(path) => path.clone(),
            None if self.in_bucket_dir => format!("{bucket_path}/{}", file.name),
            None => format!("{}/{}", self.index_dir, file.name),
        }
    }
}
