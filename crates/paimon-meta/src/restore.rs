// SPDX-License-Identifier: Apache-2.0

//! What writers need to know about the buckets that they go on with (Java `WriteRestore`, `FileSystemWriteRestore`).

use std::collections::HashMap;

use paimon_protocol::{BucketState, IndexFileMeta, Partition};
use paimon_types::{Error, Result};

use crate::manifest::{EntryHead, EntrySelector, FileKind, IndexManifestEntry, ManifestEntry};
use crate::scan::DELETION_VECTORS;
use crate::{Snapshot, Table};

/// Index type of the hash index of a dynamic bucket.
const HASH: &str = "HASH";

/// Plans [`BucketState`]s from the newest snapshot's manifests; no directory is listed, no data file opened.
#[derive(Clone, Debug)]
pub struct WriteRestore {
    table: Table,
    data_files: bool,
}

impl Table {
    /// Plans what writers of this table must know of its buckets.
    pub fn new_write_restore(&self) -> WriteRestore {
        WriteRestore {
            table: self.clone(),
            data_files: false,
        }
    }
}

impl WriteRestore {
    /// The states hold the live data files too, as writers that merge or compact need them.
    #[must_use]
    pub fn with_data_files(mut self) -> Self {
        self.data_files = true;
        self
    }

    /// The state of every bucket of the newest snapshot that has data or index files, in the order of the manifests; none for a
    /// table without snapshots.
    ///
    /// # Errors
    /// `Unsupported` for a primary-key table whose buckets are not fixed (`bucket` -1 or -2) and for a system table; `Corrupt` when
    /// the files of a bucket tell different bucket counts or it has two hash indexes; those of reading manifests.
    pub async fn plan(&self) -> Result<Vec<BucketState>> {
        self.check_table()?;
        match self.table.snapshot_manager().latest().await? {
            Some(snapshot) => self.states(&snapshot, Wanted(None)).await,
            None => Ok(Vec::new()),
        }
    }

    /// The state of one bucket, empty ([`BucketState::empty`]) when it has no files. Its bucket count is then that of the other
    /// buckets of the partition.
    ///
    /// # Errors
    /// As [`WriteRestore::plan`].
    pub async fn bucket(&self, partition: &Partition, bucket: i32) -> Result<BucketState> {
        self.check_table()?;
        let mut empty = BucketState::empty(partition.clone(), bucket);
        let Some(snapshot) = self.table.snapshot_manager().latest().await? else {
            return Ok(empty);
        };
        let wanted = Wanted(Some(partition.clone()));
        let states = self.states(&snapshot, wanted).await?;
        empty.snapshot_id = Some(snapshot.id);
        empty.total_buckets = states.iter().find_map(|state| state.total_buckets);
        empty.data_files = self.data_files.then(Vec::new);
        let found = states.into_iter().find(|state| state.bucket == bucket);
        Ok(found.unwrap_or(empty))
    }

    /// Refuses tables whose writers need more than the state of their buckets.
    fn check_table(&self) -> Result<()> {
        if let Some(system_table) = self.table.identifier().system_table {
            return Err(Error::unsupported(format!(
                "${} is a view of a table and cannot be written",
                system_table.as_str()
            ))
            .with("table", self.table.identifier()));
        }
        let schema = self.table.schema();
        let why = match self.table.options().bucket {
            _ if schema.primary_keys.is_empty() => return Ok(()),
            -1 if schema.is_cross_partition_update() => {
                "finding the bucket of a key in an index over all partitions"
            }
            -1 => "finding the bucket of a key in the hash index of its partition",
            -2 => "postponing the choice of a bucket to a compaction",
            _ => return Ok(()),
        };
        Err(Error::unsupported(format!(
            "option bucket is '{}': {why} is not implemented yet, a table with a fixed number of buckets can be written",
            self.table.options().bucket
        ))
        .with("option", "bucket"))
    }

    async fn states(&self, snapshot: &Snapshot, wanted: Wanted) -> Result<Vec<BucketState>> {
        let store = self.table.manifest_store();
        let metas = store.read_data_lists(snapshot).await?;
        let mut states = States {
            snapshot_id: snapshot.id,
            data_files: self.data_files,
            states: Vec::new(),
            places: HashMap::new(),
        };
        for entry in store.live_entries(&metas, wanted.clone()).await? {
            states.add_file(entry)?;
        }
        for entry in self.table.list_index_files(snapshot).await? {
            if entry.kind == FileKind::Add && wanted.takes(&entry.partition) {
                states.add_index(entry)?;
            }
        }
        Ok(states.states)
    }
}

/// Entries of one partition, or all.
#[derive(Clone, Debug)]
struct Wanted(Option<Partition>);

impl Wanted {
    fn takes(&self, partition: &Partition) -> bool {
        self.0.as_ref().is_none_or(|wanted| wanted == partition)
    }
}

impl EntrySelector for Wanted {
    fn select(&mut self, head: &EntryHead<'_>) -> Result<bool> {
        Ok(self.takes(head.partition))
    }
}

struct States {
    snapshot_id: i64,
    data_files: bool,
    states: Vec<BucketState>,
    places: HashMap<(Partition, i32), usize>,
}

impl States {
    fn state(&mut self, partition: Partition, bucket: i32) -> Result<&mut BucketState> {
        let place = *self
            .places
            .entry((partition.clone(), bucket))
            .or_insert(self.states.len());
        if place == self.states.len() {
            self.states.push(BucketState {
                snapshot_id: Some(self.snapshot_id),
                data_files: self.data_files.then(Vec::new),
                ..BucketState::empty(partition, bucket)
            });
        }
        self.states
            .get_mut(place)
            .ok_or_else(|| Error::corrupt("a bucket was lost while its state was planned"))
    }

    fn add_file(&mut self, entry: ManifestEntry) -> Result<()> {
        let ManifestEntry {
            partition,
            bucket,
            total_buckets,
            file,
            ..
        } = entry;
        let state = self.state(partition, bucket)?;
        match state.total_buckets {
            Some(known) if known != total_buckets => {
                return Err(Error::corrupt(format!(
                    "files of bucket {bucket} tell {known} and {total_buckets} buckets, expected one count"
                ))
                .with("file", &file.file_name));
            }
            _ => state.total_buckets = Some(total_buckets),
        }
        let largest = state.max_sequence_number.unwrap_or(i64::MIN);
        state.max_sequence_number = Some(largest.max(file.max_sequence_number));
        if let Some(files) = &mut state.data_files {
            files.push(file);
        }
        Ok(())
    }

    fn add_index(&mut self, entry: IndexManifestEntry) -> Result<()> {
        let file: IndexFileMeta = entry.index_file;
        match file.index_type.as_str() {
            HASH => {
                let state = self.state(entry.partition, entry.bucket)?;
                if state.hash_index.is_some() {
                    return Err(Error::corrupt(format!(
                        "bucket {} has two hash indexes, expected one",
                        entry.bucket
                    ))
                    .with("file", &file.file_name));
                }
                state.hash_index = Some(file);
            }
            DELETION_VECTORS => {
                let state = self.state(entry.partition, entry.bucket)?;
                state.deletion_vectors.push(file);
            }
            // Global indexes belong to no writer's bucket.
            _ => {}
        }
        Ok(())
    }
}
