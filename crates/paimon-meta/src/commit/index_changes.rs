// SPDX-License-Identifier: Apache-2.0

//! Changes of index files: the index manifest of the next snapshot (Java `IndexManifestFileHandler`; `metadata.md` 4.4), and
//! whether deletion vectors still fit the files that they are about (Java `ConflictDetection`; `metadata.md` 6.8).

use std::collections::{HashMap, HashSet};

use paimon_protocol::Partition;
use paimon_types::{Error, Result};

use super::conflict::place;
use crate::manifest::{FileIdentifier, FileKind, IndexManifestEntry, ManifestEntry};
use crate::scan::DELETION_VECTORS;
use crate::table::Table;

/// Applies changes to the state of the snapshot before.
///
/// # Errors
/// `Conflict` when an index file or a vector is added twice or removed without being there.
pub(super) fn combine(
    table: &Table,
    previous: Vec<IndexManifestEntry>,
    changes: &[IndexManifestEntry],
) -> Result<Vec<IndexManifestEntry>> {
    if has_unaware_buckets(table) {
        combine_by_name(previous, changes)
    } else {
        Ok(combine_by_bucket(previous, changes))
    }
}

/// Without fixed buckets a partition has any number of index files; a data file has one vector at most.
fn combine_by_name(
    mut entries: Vec<IndexManifestEntry>,
    changes: &[IndexManifestEntry],
) -> Result<Vec<IndexManifestEntry>> {
    let mut names: HashSet<String> = entries.iter().map(|e| e.index_file.file_name.clone()).collect();
    let mut with_vector: HashSet<String> = entries.iter().flat_map(data_files).map(str::to_owned).collect();
    for change in changes {
        let name = &change.index_file.file_name;
        let conflict = |what: &str, file: &str| Err(Error::conflict(what).with("path", file));
        if change.kind == FileKind::Add {
            if !names.insert(name.clone()) {
                return conflict("an index file of this commit is part of the table already", name);
            }
            for file in data_files(change) {
                if !with_vector.insert(file.to_owned()) {
                    return conflict(
                        "a data file has a deletion vector already, another commit deleted rows of it",
                        file,
                    );
                }
            }
            entries.push(change.clone());
        } else {
            if !names.remove(name) {
                return conflict(
                    "an index file that this commit replaces is no longer part of the table, another commit changed it",
                    name,
                );
            }
            for file in data_files(change) {
                with_vector.remove(file);
            }
            entries.retain(|entry| entry.index_file.file_name != *name);
        }
    }
    Ok(entries)
}

/// With fixed buckets a bucket has one index file of a type: a new one takes the place of the old one.
fn combine_by_bucket(
    mut entries: Vec<IndexManifestEntry>,
    changes: &[IndexManifestEntry],
) -> Vec<IndexManifestEntry> {
    let remove = |change: &IndexManifestEntry, entries: &mut Vec<IndexManifestEntry>| {
        entries.retain(|e| {
            e.partition != change.partition
                || e.bucket != change.bucket
                || e.index_file.index_type != change.index_file.index_type
        });
    };
    let of_kind = |kind| changes.iter().filter(move |change| change.kind == kind);
    for change in of_kind(FileKind::Delete) {
        remove(change, &mut entries);
    }
    for change in of_kind(FileKind::Add) {
        remove(change, &mut entries);
        entries.push(change.clone());
    }
    entries
}

/// Buckets are numbers of no meaning: everything lies in bucket 0.
pub(super) fn has_unaware_buckets(table: &Table) -> bool {
    table.options().bucket == -1 && table.schema().primary_keys.is_empty()
}

fn data_files(entry: &IndexManifestEntry) -> impl Iterator<Item = &str> {
    let vectors = entry.index_file.dv_ranges.as_deref().unwrap_or_default();
    vectors.iter().map(|vector| vector.data_file_name.as_str())
}

/// A data file together with the index file that holds its vector: what a commit was made for.
type Pairing = (FileIdentifier, Option<String>);

/// A commit that deletes rows, or removes files, must have seen the vectors that the files have now: else deleted rows would be
/// back, or rows of a file that is gone be marked. A file with another vector counts as another file.
///
/// `base` are the live files of the partitions concerned, `base_index` all index files.
///
/// # Errors
/// `Conflict`; `Corrupt` when a file of the table has two vectors.
pub(super) fn check_vectors(
    table: &Table,
    base: &[ManifestEntry],
    base_index: &[IndexManifestEntry],
    delta: &[ManifestEntry],
    delta_index: &[IndexManifestEntry],
) -> Result<()> {
    let mut vectors: HashMap<&str, &str> = HashMap::new();
    for entry in base_index
        .iter()
        .filter(|e| e.index_file.index_type == DELETION_VECTORS)
    {
        for file in data_files(entry) {
            if vectors.insert(file, &entry.index_file.file_name).is_some() {
                return Err(Error::corrupt("data file has two deletion vectors").with("path", file));
            }
        }
    }
    let vector_of = |file: &str| vectors.get(file).map(|name| (*name).to_owned());
    let pairing = |entry: &ManifestEntry, vector: Option<String>| (entry.identifier(), vector);
    let mut live: HashSet<Pairing> = base
        .iter()
        .map(|entry| pairing(entry, vector_of(&entry.file.file_name)))
        .collect();

    let mut changed: HashMap<&str, Vec<(FileKind, &str)>> = HashMap::new();
    let mut order = Vec::new();
    for change in delta_index
        .iter()
        .filter(|e| e.index_file.index_type == DELETION_VECTORS)
    {
        for file in data_files(change) {
            let changes = changed.entry(file).or_default();
            if changes.is_empty() {
                order.push(file);
            }
            changes.push((change.kind, &change.index_file.file_name));
        }
    }
    let mut steps: Vec<(FileKind, Pairing, &ManifestEntry)> = Vec::new();
    for entry in delta {
        let vector = match changed.get(entry.file.file_name.as_str()).map(Vec::as_slice) {
            None => None,
            Some([(_, vector)]) => Some((*vector).to_owned()),
            Some(_) => {
                return Err(changes_twice(table, entry));
            }
        };
        steps.push((entry.kind, pairing(entry, vector), entry));
    }
    let in_delta: HashSet<&str> = delta.iter().map(|e| e.file.file_name.as_str()).collect();
    let by_name: HashMap<&str, &ManifestEntry> = base
        .iter()
        .map(|entry| (entry.file.file_name.as_str(), entry))
        .collect();
    for file in order.into_iter().filter(|file| !in_delta.contains(file)) {
        let Some(entry) = by_name.get(file) else {
            return Err(Error::conflict(
                "this commit deletes rows of a file that is not part of the table, another commit removed it",
            )
            .with("path", file));
        };
        let changes = changed.get(file).map(Vec::as_slice).unwrap_or_default();
        for (kind, vector) in changes {
            steps.push((*kind, pairing(entry, Some((*vector).to_owned())), entry));
        }
        // The first vector of a file replaces none.
        if let [(FileKind::Add, _)] = changes {
            steps.push((FileKind::Delete, pairing(entry, None), entry));
        }
    }
    for (kind, pairing, entry) in steps {
        let what = match kind {
            FileKind::Delete if live.remove(&pairing) => continue,
            FileKind::Delete => {
                "a file or its deletion vector is not what this commit was made for, another commit changed it"
            }
            FileKind::Add if live.insert(pairing) => continue,
            FileKind::Add => "a file of this commit is part of the table already",
        };
        return Err(Error::conflict(what).with(
            "path",
            format_args!("{}/{}", place(table, entry), entry.file.file_name),
        ));
    }
    Ok(())
}

fn changes_twice(table: &Table, entry: &ManifestEntry) -> Error {
    Error::conflict("the commit adds or removes a file and changes its deletion vector more than once").with(
        "path",
        format_args!("{}/{}", place(table, entry), entry.file.file_name),
    )
}

/// Partitions that index changes are about.
pub(super) fn partitions(changes: &[IndexManifestEntry]) -> impl Iterator<Item = &Partition> {
    changes.iter().map(|change| &change.partition)
}
