// SPDX-License-Identifier: Apache-2.0

//! From commit messages to manifest entries (`metadata.md` 6.1), refusing what cannot be committed safely yet.

use paimon_protocol::{CommitMessage, DataFileMeta, Increment, IndexFileMeta, SimpleStats};
use paimon_types::{Error, Result, SequenceNumberInitMode, TableType};

use super::keyed::KeyedCommit;
use crate::manifest::{FileKind, IndexManifestEntry, ManifestEntry};
use crate::scan::DELETION_VECTORS;
use crate::table::Table;

/// Index type of the hash index of a dynamic bucket.
const HASH: &str = "HASH";

/// Entries of the append and of the compact snapshot.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) append: Vec<ManifestEntry>,
    pub(super) append_changelog: Vec<ManifestEntry>,
    pub(super) append_index: Vec<IndexManifestEntry>,
    pub(super) compact: Vec<ManifestEntry>,
    pub(super) compact_changelog: Vec<ManifestEntry>,
    pub(super) compact_index: Vec<IndexManifestEntry>,
}

impl Changes {
    /// Collects messages in order: for an append new files before deleted ones, for a compaction the other way round, of
    /// index files those that go before those that come.
    ///
    /// # Errors
    /// `InvalidInput` for a message that does not fit the table, `Unsupported` for what is not implemented.
    pub(super) fn collect(table: &Table, messages: &[CommitMessage]) -> Result<Self> {
        let mut changes = Changes::default();
        let keyed = KeyedCommit::of(table)?;
        for message in messages {
            check_message(table, message)?;
            if let Some(keyed) = &keyed {
                keyed.check_message(message)?;
            }
            let total_buckets = message.total_buckets.unwrap_or(table.options().bucket);
            let entry = |kind: FileKind, file: &DataFileMeta| ManifestEntry {
                kind,
                partition: message.partition.clone(),
                bucket: message.bucket,
                total_buckets,
                file: file.clone(),
            };
            let adds =
                |files: &[DataFileMeta]| files.iter().map(|f| entry(FileKind::Add, f)).collect::<Vec<_>>();
            let deletes = |files: &[DataFileMeta]| {
                files
                    .iter()
                    .map(|f| entry(FileKind::Delete, f))
                    .collect::<Vec<_>>()
            };
            let data = &message.data_increment;
            changes.append.extend(adds(&data.new_files));
            changes.append.extend(deletes(&data.deleted_files));
            changes.append_changelog.extend(adds(&data.changelog_files));
            let compact = &message.compact_increment;
            changes.compact.extend(deletes(&compact.deleted_files));
            changes.compact.extend(adds(&compact.new_files));
            changes.compact_changelog.extend(adds(&compact.changelog_files));
            let index = |increment: &Increment| {
                let entry = |kind: FileKind, file: &IndexFileMeta| IndexManifestEntry {
                    kind,
                    partition: message.partition.clone(),
                    bucket: message.bucket,
                    index_file: file.clone(),
                };
                let gone = increment
                    .deleted_index_files
                    .iter()
                    .map(|f| entry(FileKind::Delete, f));
                let new = increment.new_index_files.iter().map(|f| entry(FileKind::Add, f));
                gone.chain(new).collect::<Vec<_>>()
            };
            changes.append_index.extend(index(data));
            changes.compact_index.extend(index(compact));
        }
        Ok(changes)
    }

    pub(super) fn has_append(&self) -> bool {
        !self.append.is_empty() || !self.append_changelog.is_empty() || !self.append_index.is_empty()
    }

    pub(super) fn has_compact(&self) -> bool {
        !self.compact.is_empty() || !self.compact_changelog.is_empty() || !self.compact_index.is_empty()
    }
}

/// Refuses tables whose commits need steps that are not implemented.
pub(super) fn check_table(table: &Table) -> Result<()> {
    let options = table.options();
    if let Some(system_table) = table.identifier().system_table {
        return Err(Error::unsupported(format!(
            "${} is a view of a table and takes no commits",
            system_table.as_str()
        ))
        .with("table", table.identifier()));
    }
    if options.table_type != TableType::Table {
        return Err(refuse(
            "type",
            options.table_type.as_str(),
            "only tables of type 'table' take commits",
        ));
    }
    if let Some(snapshot) = options.commit_strict_mode_last_safe_snapshot {
        return Err(refuse(
            "commit.strict-mode.last-safe-snapshot",
            &snapshot.to_string(),
            NOT_YET,
        ));
    }
    match options.write_sequence_number_init_mode {
        SequenceNumberInitMode::Scan => Ok(()),
        mode => Err(refuse("write.sequence-number-init-mode", mode.as_str(), NOT_YET)),
    }
}

fn check_message(table: &Table, message: &CommitMessage) -> Result<()> {
    let schema = table.schema();
    if message.partition.len() != schema.partition_keys.len() {
        return Err(Error::invalid(format!(
            "commit message has {} partition values, the table has {} partition columns",
            message.partition.len(),
            schema.partition_keys.len()
        )));
    }
    let total = message.total_buckets.unwrap_or(table.options().bucket);
    let postponed = table.options().bucket == -2 && message.bucket == -2;
    if !postponed && (message.bucket < 0 || (total > 0 && message.bucket >= total)) {
        return Err(Error::invalid(format!(
            "commit message is for bucket {} of {total}",
            message.bucket
        )));
    }
    let (data, compact) = (&message.data_increment, &message.compact_increment);
    let mut index_files = [data, compact]
        .into_iter()
        .flat_map(|i| i.new_index_files.iter().chain(&i.deleted_index_files))
        .peekable();
    let changes_index = index_files.peek().is_some();
    let has_keys = !schema.primary_keys.is_empty();
    let known = |index_type: &str| index_type == DELETION_VECTORS || (has_keys && index_type == HASH);
    if let Some(other) = index_files.find(|f| !known(&f.index_type)) {
        return Err(Error::unsupported(format!(
            "commit message changes index files of type {}; this is not implemented yet",
            other.index_type
        )));
    }
    let removes = !data.deleted_files.is_empty() || !compact.is_empty() || changes_index;
    if removes {
        if message.check_from_snapshot.is_some_and(|snapshot| snapshot >= 0) {
            return Err(Error::unsupported(
                "commit message asks for a row-level conflict check; this is not implemented yet",
            ));
        }
        if !table.options().data_evolution_enabled {
            return Ok(());
        }
        return Err(Error::unsupported(
            "removing or compacting files, or deleting rows, of a table with data evolution is not implemented yet",
        )
        .with("option", "data-evolution.enabled"));
    }
    if table.options().data_evolution_enabled && data.new_files.iter().any(|f| f.first_row_id.is_some()) {
        return Err(
            Error::unsupported("writing columns of existing rows is not implemented yet")
                .with("option", "data-evolution.enabled"),
        );
    }
    Ok(())
}

const NOT_YET: &str = "committing to such a table is not implemented yet";

pub(super) fn refuse(key: &'static str, value: &str, why: &str) -> Error {
    Error::unsupported(format!("option {key} is '{value}': {why}")).with("option", key)
}

/// Removes the value statistics of DELETE entries (option `manifest.delete-file-drop-stats`); they are no part of a file's
/// identity.
pub(super) fn drop_delete_stats(entries: &mut [ManifestEntry]) {
    for entry in entries.iter_mut().filter(|e| e.kind == FileKind::Delete) {
        entry.file.value_stats = SimpleStats::empty();
        entry.file.value_stats_cols = Some([].into());
    }
}
