// SPDX-License-Identifier: Apache-2.0

//! Manifest lists (Java `ManifestList`, `ManifestFileMetaSerializer`).

use paimon_types::{Error, Result};

use super::{RawList, RawStats, Rows, StatsReader, check_version, encode_stats, required};
use crate::manifest::avro::{self, Access, ContainerWriter, Encoder, Kind, Layout, Presence, Wanted};
use crate::manifest::schemas::{MANIFEST_LIST_SCHEMA, MANIFEST_LIST_VERSION};
use crate::manifest::{ManifestCompression, ManifestFileMeta};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::manifest) enum Field {
    Version,
    FileName,
    FileSize,
    Added,
    Deleted,
    PartitionStats,
    SchemaId,
    MinBucket,
    MaxBucket,
    MinLevel,
    MaxLevel,
    MinRowId,
    MaxRowId,
}

use Presence::{Optional, Required};

pub(in crate::manifest) const FIELDS: [Wanted<Field>; 13] = [
    ("_VERSION", Field::Version, Kind::Integer, Required),
    ("_FILE_NAME", Field::FileName, Kind::Text, Required),
    ("_FILE_SIZE", Field::FileSize, Kind::Integer, Required),
    ("_NUM_ADDED_FILES", Field::Added, Kind::Integer, Required),
    ("_NUM_DELETED_FILES", Field::Deleted, Kind::Integer, Required),
    ("_PARTITION_STATS", Field::PartitionStats, Kind::Record, Required),
    ("_SCHEMA_ID", Field::SchemaId, Kind::Integer, Required),
    ("_MIN_BUCKET", Field::MinBucket, Kind::Integer, Optional),
    ("_MAX_BUCKET", Field::MaxBucket, Kind::Integer, Optional),
    ("_MIN_LEVEL", Field::MinLevel, Kind::Integer, Optional),
    ("_MAX_LEVEL", Field::MaxLevel, Kind::Integer, Optional),
    ("_MIN_ROW_ID", Field::MinRowId, Kind::Integer, Optional),
    ("_MAX_ROW_ID", Field::MaxRowId, Kind::Integer, Optional),
];

/// An entry of a manifest list that was passed over.
#[derive(Debug)]
pub(in crate::manifest) struct RawListEntry<'a, L> {
    pub(in crate::manifest) version: Option<i64>,
    pub(in crate::manifest) file_name: Option<&'a str>,
    pub(in crate::manifest) file_size: Option<i64>,
    pub(in crate::manifest) added: Option<i64>,
    pub(in crate::manifest) deleted: Option<i64>,
    pub(in crate::manifest) partition_stats: Option<RawStats<'a, L>>,
    pub(in crate::manifest) schema_id: Option<i64>,
    pub(in crate::manifest) min_bucket: Option<i32>,
    pub(in crate::manifest) max_bucket: Option<i32>,
    pub(in crate::manifest) min_level: Option<i32>,
    pub(in crate::manifest) max_level: Option<i32>,
    pub(in crate::manifest) min_row_id: Option<i64>,
    pub(in crate::manifest) max_row_id: Option<i64>,
}

impl<L: RawList> RawListEntry<'_, L> {
    /// The entry, whatever format it was stored in.
    pub(in crate::manifest) fn build(self, rows: &Rows) -> Result<ManifestFileMeta> {
        check_version(
            required(self.version, "_VERSION")?,
            MANIFEST_LIST_VERSION,
            "manifest list",
        )?;
        Ok(ManifestFileMeta {
            file_name: required(self.file_name, "_FILE_NAME")?.to_owned(),
            file_size: required(self.file_size, "_FILE_SIZE")?,
            num_added_files: required(self.added, "_NUM_ADDED_FILES")?,
            num_deleted_files: required(self.deleted, "_NUM_DELETED_FILES")?,
            partition_stats: required(self.partition_stats, "_PARTITION_STATS")?.build(rows)?,
            schema_id: required(self.schema_id, "_SCHEMA_ID")?,
            min_bucket: self.min_bucket,
            max_bucket: self.max_bucket,
            min_level: self.min_level,
            max_level: self.max_level,
            min_row_id: self.min_row_id,
            max_row_id: self.max_row_id,
        })
    }
}

/// Decodes a manifest list in stored order.
///
/// # Errors
/// `Corrupt` for damaged bytes and other file formats, `Unsupported` for a version or codec that we do not read.
pub fn decode_manifest_list(bytes: &[u8]) -> Result<Vec<ManifestFileMeta>> {
    let (mut container, program) = avro::open(bytes)?;
    let root = Access::new(&program, program.root())?;
    let layout = Layout::bind(&program, root.node, &FIELDS)?;
    let stats_access = required(layout.access(Field::PartitionStats), "_PARTITION_STATS")?;
    let stats_reader = StatsReader::bind(&program, stats_access.node)?;
    let rows = Rows::new();
    let mut out = Vec::new();
    container.for_each_block(|cursor, count| {
        for _ in 0..count {
            if !root.enter(cursor)? {
                return Err(Error::corrupt("manifest list holds a null entry"));
            }
            let mut raw = RawListEntry {
                version: None,
                file_name: None,
                file_size: None,
                added: None,
                deleted: None,
                partition_stats: None,
                schema_id: None,
                min_bucket: None,
                max_bucket: None,
                min_level: None,
                max_level: None,
                min_row_id: None,
                max_row_id: None,
            };
            layout.read(&program, cursor, |field, access, c| {
                match field {
                    Field::Version => raw.version = access.long(c)?,
                    Field::FileName => raw.file_name = access.string(c)?,
                    Field::FileSize => raw.file_size = access.long(c)?,
                    Field::Added => raw.added = access.long(c)?,
                    Field::Deleted => raw.deleted = access.long(c)?,
                    Field::PartitionStats => raw.partition_stats = stats_reader.read(&program, access, c)?,
                    Field::SchemaId => raw.schema_id = access.long(c)?,
                    Field::MinBucket => raw.min_bucket = access.int(c)?,
                    Field::MaxBucket => raw.max_bucket = access.int(c)?,
                    Field::MinLevel => raw.min_level = access.int(c)?,
                    Field::MaxLevel => raw.max_level = access.int(c)?,
                    Field::MinRowId => raw.min_row_id = access.long(c)?,
                    Field::MaxRowId => raw.max_row_id = access.long(c)?,
                }
                Ok(())
            })?;
            out.push(raw.build(&rows)?);
        }
        Ok(())
    })?;
    Ok(out)
}

/// Encodes a manifest list in the newest form; an empty list is a file without blocks.
///
/// # Errors
/// When compression fails.
pub fn encode_manifest_list(
    metas: &[ManifestFileMeta],
    compression: ManifestCompression,
    sync: [u8; 16],
) -> Result<Vec<u8>> {
    let mut container = ContainerWriter::new(MANIFEST_LIST_SCHEMA, compression, sync);
    for meta in metas {
        container.append(|out| {
            out.int(MANIFEST_LIST_VERSION);
            out.string(&meta.file_name);
            out.long(meta.file_size);
            out.long(meta.num_added_files);
            out.long(meta.num_deleted_files);
            encode_stats(out, &meta.partition_stats);
            out.long(meta.schema_id);
            for bound in [meta.min_bucket, meta.max_bucket, meta.min_level, meta.max_level] {
                out.optional(bound, Encoder::int);
            }
            out.optional(meta.min_row_id, Encoder::long);
            out.optional(meta.max_row_id, Encoder::long);
        })?;
    }
    container.finish()
}
