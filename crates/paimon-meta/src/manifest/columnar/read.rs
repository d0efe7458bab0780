// SPDX-License-Identifier: Apache-2.0

//! From batches to entries.

use arrow_array::{Array, RecordBatch, StructArray};
use paimon_protocol::{DeletionVectorMeta, GlobalIndexMeta};
use paimon_types::{Error, Result};

use super::columns::{Column, Columns, ItemList};
use crate::manifest::codec::data_file::{self, Field as FileField};
use crate::manifest::codec::index_manifest::{self, Field as IndexField, GlobalField, RangeField};
use crate::manifest::codec::manifest::{self, Field as EntryField};
use crate::manifest::codec::manifest_list::{self, Field as ListField};
use crate::manifest::codec::{
    Head, Partitions, RawFile, RawGlobalIndex, RawHead, RawIndexEntry, RawListEntry, RawRange, RawStats,
    Rows, STATS_FIELDS, StatsField,
};
use crate::manifest::{EntrySelector, IndexManifestEntry, ManifestEntry, ManifestFileMeta};

fn bind<'a, T: Copy + PartialEq>(
    batch: &'a RecordBatch,
    wanted: &[crate::manifest::avro::Wanted<T>],
) -> Result<Columns<'a, T>> {
    Columns::bind(batch.schema_ref().fields(), batch.columns(), wanted)
}

/// `SimpleStats` records.
struct StatsColumns<'a> {
    records: &'a StructArray,
    min: Column<'a>,
    max: Column<'a>,
    null_counts: Column<'a>,
}

impl<'a> StatsColumns<'a> {
    fn bind(column: Column<'a>) -> Result<Self> {
        let Some(records) = column.records()? else {
            return Err(Error::corrupt("a manifest has no statistics"));
        };
        let columns = Columns::of(records, &STATS_FIELDS)?;
        Ok(StatsColumns {
            records,
            min: columns.get(StatsField::Min),
            max: columns.get(StatsField::Max),
            null_counts: columns.get(StatsField::NullCounts),
        })
    }

    fn read(&self, row: usize) -> Result<Option<RawStats<'a, ItemList<'a>>>> {
        if self.records.is_null(row) {
            return Ok(None);
        }
        Ok(Some(RawStats {
            min: self.min.bytes(row)?,
            max: self.max.bytes(row)?,
            null_counts: self.null_counts.list(row)?,
        }))
    }
}

/// Appends the entries of a manifest list.
pub(super) fn list_entries(
    batch: &RecordBatch,
    rows: &Rows,
    entries: &mut Vec<ManifestFileMeta>,
) -> Result<()> {
    let columns = bind(batch, &manifest_list::FIELDS)?;
    let stats = StatsColumns::bind(columns.get(ListField::PartitionStats))?;
    for row in 0..batch.num_rows() {
        let long = |field| columns.get(field).long(row);
        let int = |field| columns.get(field).int(row);
        let raw = RawListEntry {
            version: long(ListField::Version)?,
            file_name: columns.get(ListField::FileName).string(row)?,
            file_size: long(ListField::FileSize)?,
            added: long(ListField::Added)?,
            deleted: long(ListField::Deleted)?,
            partition_stats: stats.read(row)?,
            schema_id: long(ListField::SchemaId)?,
            min_bucket: int(ListField::MinBucket)?,
            max_bucket: int(ListField::MaxBucket)?,
            min_level: int(ListField::MinLevel)?,
            max_level: int(ListField::MaxLevel)?,
            min_row_id: long(ListField::MinRowId)?,
            max_row_id: long(ListField::MaxRowId)?,
        };
        entries.push(raw.build(rows)?);
    }
    Ok(())
}

/// The entries of a manifest that are wanted, with their place in the file, before their file records are looked at.
#[derive(Debug)]
pub(super) struct Wish<S> {
    pub(super) selector: S,
    pub(super) partitions: Partitions,
    /// Entries seen.
    pub(super) seen: u64,
    pub(super) heads: Vec<(u32, Head)>,
}

impl<S: EntrySelector> Wish<S> {
    /// Looks at the columns before `_FILE`.
    pub(super) fn select(&mut self, batch: &RecordBatch) -> Result<()> {
        let head_fields = manifest::FIELDS.iter().copied();
        let head_fields: Vec<_> = head_fields.filter(|field| field.1 != EntryField::File).collect();
        let columns = bind(batch, &head_fields)?;
        let [version, kind, partition, bucket, total_buckets] = [
            EntryField::Version,
            EntryField::Kind,
            EntryField::Partition,
            EntryField::Bucket,
            EntryField::TotalBuckets,
        ]
        .map(|field| columns.get(field));
        for row in 0..batch.num_rows() {
            let raw = RawHead {
                version: version.long(row)?,
                kind: kind.long(row)?,
                partition: partition.bytes(row)?,
                bucket: bucket.int(row)?,
                total_buckets: total_buckets.int(row)?,
            };
            let head = raw.build(&mut self.partitions)?;
            if self.selector.select(&head.entry_head())? {
                let place = u32::try_from(self.seen)
                    .map_err(|_| Error::unsupported("a manifest has more than 2^32 entries"))?;
                self.heads.push((place, head));
            }
            self.seen += 1;
        }
        Ok(())
    }
}

/// Entries that are completed by their file records.
#[derive(Debug)]
pub(super) struct Completion<S> {
    pub(super) selector: S,
    pub(super) partitions: Partitions,
    pub(super) heads: std::vec::IntoIter<(u32, Head)>,
    pub(super) entries: Vec<ManifestEntry>,
}

impl<S: EntrySelector> Completion<S> {
    /// Takes a batch of `_FILE` whose rows stand at `places` in the file.
    pub(super) fn complete(&mut self, batch: &RecordBatch, places: &[u64]) -> Result<()> {
        let file_field = manifest::FIELDS.iter().copied();
        let file_field: Vec<_> = file_field.filter(|field| field.1 == EntryField::File).collect();
        let Some(records) = bind(batch, &file_field)?.get(EntryField::File).records()? else {
            return Err(Error::corrupt("a manifest has no column _FILE"));
        };
        let files = FileColumns::bind(records)?;
        for (row, place) in places.iter().enumerate() {
            match self.heads.as_slice().first() {
                // Not wanted, but the format does not select row by row.
                Some((next, _)) if u64::from(*next) > *place => continue,
                None => continue,
                Some((next, _)) if u64::from(*next) < *place => return Err(lost(*next)),
                Some(_) => {}
            }
            let Some((_, head)) = self.heads.next() else {
                continue;
            };
            if records.is_null(row) {
                return Err(Error::corrupt("required field _FILE is null or missing"));
            }
            let raw = files.read(row)?;
            let entry = head.with_file(&raw, self.partitions.rows(), &mut self.selector)?;
            self.entries.extend(entry);
        }
        Ok(())
    }

    /// # Errors
    /// `Corrupt` when a file record did not come.
    pub(super) fn finish(mut self) -> Result<Vec<ManifestEntry>> {
        match self.heads.next() {
            None => Ok(self.entries),
            Some((place, _)) => Err(lost(place)),
        }
    }
}

fn lost(place: u32) -> Error {
    Error::corrupt(format!("entry {place} of a manifest has no file record"))
}

/// `_FILE` records.
struct FileColumns<'a> {
    columns: Columns<'a, FileField>,
    key_stats: StatsColumns<'a>,
    value_stats: StatsColumns<'a>,
}

impl<'a> FileColumns<'a> {
    fn bind(records: &'a StructArray) -> Result<Self> {
        let columns = Columns::of(records, &data_file::FIELDS)?;
        Ok(FileColumns {
            key_stats: StatsColumns::bind(columns.get(FileField::KeyStats))?,
            value_stats: StatsColumns::bind(columns.get(FileField::ValueStats))?,
            columns,
        })
    }

    fn read(&self, row: usize) -> Result<RawFile<'a, ItemList<'a>>> {
        let long = |field| self.columns.get(field).long(row);
        let int = |field| self.columns.get(field).int(row);
        let bytes = |field| self.columns.get(field).bytes(row);
        let string = |field| self.columns.get(field).string(row);
        let list = |field| self.columns.get(field).list(row);
        Ok(RawFile {
            file_name: string(FileField::FileName)?,
            file_size: long(FileField::FileSize)?,
            row_count: long(FileField::RowCount)?,
            min_key: bytes(FileField::MinKey)?,
            max_key: bytes(FileField::MaxKey)?,
            key_stats: self.key_stats.read(row)?,
            value_stats: self.value_stats.read(row)?,
            min_sequence: long(FileField::MinSequence)?,
            max_sequence: long(FileField::MaxSequence)?,
            schema_id: long(FileField::SchemaId)?,
            level: int(FileField::Level)?,
            extra_files: list(FileField::ExtraFiles)?,
            creation_time: long(FileField::CreationTime)?,
            delete_row_count: long(FileField::DeleteRowCount)?,
            embedded_index: bytes(FileField::EmbeddedIndex)?,
            file_source: int(FileField::FileSource)?,
            value_stats_cols: list(FileField::ValueStatsCols)?,
            external_path: string(FileField::ExternalPath)?,
            first_row_id: long(FileField::FirstRowId)?,
            write_cols: list(FileField::WriteCols)?,
            write_cols_sequences: list(FileField::WriteColsSequences)?,
        })
    }
}

/// Appends the entries of an index manifest.
pub(super) fn index_entries(
    batch: &RecordBatch,
    rows: &Rows,
    entries: &mut Vec<IndexManifestEntry>,
) -> Result<()> {
    let columns = bind(batch, &index_manifest::FIELDS)?;
    let ranges = RangeColumns::bind(columns.get(IndexField::Ranges))?;
    let globals = GlobalColumns::bind(columns.get(IndexField::GlobalIndex))?;
    for row in 0..batch.num_rows() {
        let long = |field| columns.get(field).long(row);
        let string = |field| columns.get(field).string(row);
        let raw = RawIndexEntry {
            version: long(IndexField::Version)?,
            kind: long(IndexField::Kind)?,
            partition: columns.get(IndexField::Partition).bytes(row)?,
            bucket: columns.get(IndexField::Bucket).int(row)?,
            index_type: string(IndexField::IndexType)?,
            file_name: string(IndexField::FileName)?,
            file_size: long(IndexField::FileSize)?,
            row_count: long(IndexField::RowCount)?,
            ranges: match &ranges {
                Some(ranges) => ranges.read(row)?,
                None => None,
            },
            external_path: string(IndexField::ExternalPath)?,
            global_index: match &globals {
                Some(globals) => globals.read(row)?,
                None => None,
            },
        };
        entries.push(raw.build(rows)?);
    }
    Ok(())
}

/// Lists of the places of deletion vectors.
struct RangeColumns<'a> {
    lists: Column<'a>,
    records: &'a StructArray,
    columns: Columns<'a, RangeField>,
}

impl<'a> RangeColumns<'a> {
    fn bind(lists: Column<'a>) -> Result<Option<Self>> {
        let Some(items) = lists.items()? else {
            return Ok(None);
        };
        let Some(records) = items.as_any().downcast_ref::<StructArray>() else {
            return Err(Error::corrupt("_DELETIONS_VECTORS_RANGES holds no records"));
        };
        Ok(Some(RangeColumns {
            lists,
            records,
            columns: Columns::of(records, &index_manifest::RANGE_FIELDS)?,
        }))
    }

    fn read(&self, row: usize) -> Result<Option<Vec<DeletionVectorMeta>>> {
        let Some(list) = self.lists.list(row)? else {
            return Ok(None);
        };
        let ranges = list.rows().map(|row| {
            if self.records.is_null(row) {
                return Err(RawRange::null());
            }
            let raw = RawRange {
                data_file: self.columns.get(RangeField::DataFile).string(row)?,
                offset: self.columns.get(RangeField::Offset).int(row)?,
                length: self.columns.get(RangeField::Length).int(row)?,
                cardinality: self.columns.get(RangeField::Cardinality).long(row)?,
            };
            raw.build()
        });
        ranges.collect::<Result<_>>().map(Some)
    }
}

/// `_GLOBAL_INDEX` records.
struct GlobalColumns<'a> {
    records: &'a StructArray,
    columns: Columns<'a, GlobalField>,
}

impl<'a> GlobalColumns<'a> {
    fn bind(column: Column<'a>) -> Result<Option<Self>> {
        let Some(records) = column.records()? else {
            return Ok(None);
        };
        Ok(Some(GlobalColumns {
            records,
            columns: Columns::of(records, &index_manifest::GLOBAL_FIELDS)?,
        }))
    }

    fn read(&self, row: usize) -> Result<Option<GlobalIndexMeta>> {
        if self.records.is_null(row) {
            return Ok(None);
        }
        let raw = RawGlobalIndex {
            start: self.columns.get(GlobalField::Start).long(row)?,
            end: self.columns.get(GlobalField::End).long(row)?,
            field_id: self.columns.get(GlobalField::FieldId).int(row)?,
            extra_field_ids: self.columns.get(GlobalField::ExtraFieldIds).list(row)?,
            index_meta: self.columns.get(GlobalField::IndexMeta).bytes(row)?,
            source_meta: self.columns.get(GlobalField::SourceMeta).bytes(row)?,
        };
        raw.build().map(Some)
    }
}
