// SPDX-License-Identifier: Apache-2.0

//! Row ids and sequence numbers that a commit gives (Java `RowTrackingCommitUtils`; `metadata.md` 6.5).

use std::collections::HashMap;

use paimon_protocol::{DataFileMeta, FileSource, Partition};
use paimon_types::{Error, Result};

use crate::manifest::{FileKind, ManifestEntry};

const ROW_ID: &str = "_ROW_ID";

/// Brings entries of a partition together; partitions stay in order of first appearance, entries in their order.
pub(super) fn group_by_partition(entries: &mut [ManifestEntry]) {
    let mut places: HashMap<Partition, usize> = HashMap::new();
    for entry in entries.iter() {
        let next = places.len();
        places.entry(entry.partition.clone()).or_insert(next);
    }
    entries.sort_by_key(|entry| places.get(&entry.partition).copied().unwrap_or(usize::MAX));
}

/// Gives sequence numbers and row ids to new files and returns the next free row id.
///
/// A smallest sequence number of 0 means that the snapshot id is the sequence number of all rows, a largest of 0 that it is
/// the largest. Files of an append without row id and without a `_ROW_ID` column get ids from `start` on; a blob or vector
/// file gets those of the rows of the normal file before it.
///
/// # Errors
/// `InvalidInput` when a file has no source, or blob rows exceed those of their normal file.
pub(super) fn assign(entries: &mut [ManifestEntry], snapshot_id: i64, start: i64) -> Result<i64> {
    let mut next = start;
    let mut blob_start = start;
    let mut blobs: HashMap<String, i64> = HashMap::new();
    let mut vector = start;
    for entry in entries.iter_mut().filter(|e| e.kind == FileKind::Add) {
        let file = &mut entry.file;
        if file.min_sequence_number == 0 {
            file.min_sequence_number = snapshot_id;
            file.max_sequence_number = snapshot_id;
        } else if file.max_sequence_number == 0 {
            file.max_sequence_number = snapshot_id;
        }
        let source = file.file_source.ok_or_else(|| {
            Error::invalid("a file of a table with row tracking has no source").with("path", &file.file_name)
        })?;
        let has_ids = file
            .write_cols
            .as_ref()
            .is_some_and(|cols| cols.iter().any(|c| c == ROW_ID));
        if source != FileSource::Append || file.first_row_id.is_some() || has_ids {
            continue;
        }
        let cursor = if is_blob(file) {
            let column = file
                .write_cols
                .as_ref()
                .and_then(|cols| cols.first())
                .cloned()
                .unwrap_or_default();
            blobs.entry(column).or_insert(blob_start)
        } else if is_vector(file) {
            &mut vector
        } else {
            file.first_row_id = Some(next);
            blob_start = next;
            blobs.clear();
            next = advance(next, file)?;
            continue;
        };
        if *cursor >= next {
            return Err(Error::invalid(format!(
                "a blob or vector file begins at row {cursor}, but only {next} rows have an id; its normal file must come first"
            ))
            .with("path", &file.file_name));
        }
        file.first_row_id = Some(*cursor);
        *cursor = advance(*cursor, file)?;
    }
    Ok(next)
}

fn advance(from: i64, file: &DataFileMeta) -> Result<i64> {
    from.checked_add(file.row_count)
        .filter(|next| *next >= from)
        .ok_or_else(|| {
            Error::invalid(format!(
                "row count {} leaves no row ids after {from}",
                file.row_count
            ))
            .with("path", &file.file_name)
        })
}

fn is_blob(file: &DataFileMeta) -> bool {
    file.file_name.ends_with(".blob")
}

fn is_vector(file: &DataFileMeta) -> bool {
    file.file_name.contains(".vector.")
}

#[cfg(test)]
mod tests;
