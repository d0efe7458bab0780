// SPDX-License-Identifier: Apache-2.0

//! Manifest lists (Java `ManifestList`, `ManifestFileMetaSerializer`).

use paimon_types::{Error, Result};

use super::{RawStats, Rows, StatsReader, check_version, encode_stats, required};
use crate::manifest::avro::{self, Access, ContainerWriter, Encoder, Kind, Layout, Presence, Wanted};
use crate::manifest::schemas::{MANIFEST_LIST_SCHEMA, MANIFEST_LIST_VERSION};
use crate::manifest::{ManifestCompression, ManifestFileMeta};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
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

const FIELDS: [Wanted<Field>; 13] = [
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

/// Decodes a manifest list in stored order.
///
/// # Errors
/// `Corrupt` for damaged bytes, `Unsupported` for a version, codec or file format (ORC) that we do not read.
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
            let mut longs = [None; 12];
            let mut set = |field: Field, value| {
                if let Some(slot) = longs.get_mut(field as usize) {
                    *slot = value;
                }
            };
            let mut name = None;
            let mut stats: Option<RawStats<'_>> = None;
            let mut max_row_id = None;
            layout.read(&program, cursor, |field, access, c| {
                match field {
                    Field::FileName => name = access.string(c)?,
                    Field::PartitionStats => {
                        stats = if access.enter(c)? {
                            Some(stats_reader.read(&program, c)?)
                        } else {
                            None
                        };
                    }
                    Field::MinBucket | Field::MaxBucket | Field::MinLevel | Field::MaxLevel => {
                        set(field, access.int(c)?.map(i64::from));
                    }
                    Field::MaxRowId => max_row_id = access.long(c)?,
                    _ => set(field, access.long(c)?),
                }
                Ok(())
            })?;
            let get = |field: Field| longs.get(field as usize).copied().flatten();
            let int = |field: Field| get(field).and_then(|v| i32::try_from(v).ok());
            check_version(
                required(get(Field::Version), "_VERSION")?,
                MANIFEST_LIST_VERSION,
                "manifest list",
            )?;
            out.push(ManifestFileMeta {
                file_name: required(name, "_FILE_NAME")?.to_owned(),
                file_size: required(get(Field::FileSize), "_FILE_SIZE")?,
                num_added_files: required(get(Field::Added), "_NUM_ADDED_FILES")?,
                num_deleted_files: required(get(Field::Deleted), "_NUM_DELETED_FILES")?,
                partition_stats: stats_reader.decode(
                    &program,
                    &rows,
                    required(stats, "_PARTITION_STATS")?,
                )?,
                schema_id: required(get(Field::SchemaId), "_SCHEMA_ID")?,
                min_bucket: int(Field::MinBucket),
                max_bucket: int(Field::MaxBucket),
                min_level: int(Field::MinLevel),
                max_level: int(Field::MaxLevel),
                min_row_id: get(Field::MinRowId),
                max_row_id,
            });
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
