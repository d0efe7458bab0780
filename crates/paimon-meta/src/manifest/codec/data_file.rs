// SPDX-License-Identifier: Apache-2.0

//! The `_FILE` record (Java `DataFileMetaSerializer`; `metadata.md` 4.3).

use std::sync::Arc;

use paimon_protocol::{DataFileMeta, FileSource};
use paimon_types::{Error, Result};

use super::{ListReader, RawStats, Rows, StatsReader, encode_stats, required};
use crate::manifest::avro::{Access, Cursor, Encoder, Kind, Layout, NodeId, Presence, Program, Wanted};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    FileName,
    FileSize,
    RowCount,
    MinKey,
    MaxKey,
    KeyStats,
    ValueStats,
    MinSequence,
    MaxSequence,
    SchemaId,
    Level,
    ExtraFiles,
    CreationTime,
    DeleteRowCount,
    EmbeddedIndex,
    FileSource,
    ValueStatsCols,
    ExternalPath,
    FirstRowId,
    WriteCols,
    WriteColsSequences,
}

use Presence::{Optional, Required};

const FIELDS: [Wanted<Field>; 21] = [
    ("_FILE_NAME", Field::FileName, Kind::Text, Required),
    ("_FILE_SIZE", Field::FileSize, Kind::Integer, Required),
    ("_ROW_COUNT", Field::RowCount, Kind::Integer, Required),
    ("_MIN_KEY", Field::MinKey, Kind::Bytes, Required),
    ("_MAX_KEY", Field::MaxKey, Kind::Bytes, Required),
    ("_KEY_STATS", Field::KeyStats, Kind::Record, Required),
    ("_VALUE_STATS", Field::ValueStats, Kind::Record, Required),
    (
        "_MIN_SEQUENCE_NUMBER",
        Field::MinSequence,
        Kind::Integer,
        Required,
    ),
    (
        "_MAX_SEQUENCE_NUMBER",
        Field::MaxSequence,
        Kind::Integer,
        Required,
    ),
    ("_SCHEMA_ID", Field::SchemaId, Kind::Integer, Required),
    ("_LEVEL", Field::Level, Kind::Integer, Required),
    ("_EXTRA_FILES", Field::ExtraFiles, Kind::Array, Optional),
    ("_CREATION_TIME", Field::CreationTime, Kind::Integer, Optional),
    (
        "_DELETE_ROW_COUNT",
        Field::DeleteRowCount,
        Kind::Integer,
        Optional,
    ),
    (
        "_EMBEDDED_FILE_INDEX",
        Field::EmbeddedIndex,
        Kind::Bytes,
        Optional,
    ),
    ("_FILE_SOURCE", Field::FileSource, Kind::Integer, Optional),
    ("_VALUE_STATS_COLS", Field::ValueStatsCols, Kind::Array, Optional),
    ("_EXTERNAL_PATH", Field::ExternalPath, Kind::Text, Optional),
    ("_FIRST_ROW_ID", Field::FirstRowId, Kind::Integer, Optional),
    ("_WRITE_COLS", Field::WriteCols, Kind::Array, Optional),
    (
        "_WRITE_COLS_SEQUENCES",
        Field::WriteColsSequences,
        Kind::Array,
        Optional,
    ),
];

/// Decoder of `_FILE` records of one manifest.
#[derive(Debug)]
pub(super) struct DataFileReader {
    layout: Layout<Field>,
    key_stats: StatsReader,
    value_stats: StatsReader,
    extra_files: Option<ListReader>,
    value_stats_cols: Option<ListReader>,
    write_cols: Option<ListReader>,
    write_cols_sequences: Option<ListReader>,
}

/// A file record that was passed over: numbers are read, everything that needs memory is a slice of the block.
#[derive(Debug, Default)]
pub(super) struct RawFile<'a> {
    file_name: Option<&'a str>,
    file_size: Option<i64>,
    row_count: Option<i64>,
    min_key: Option<&'a [u8]>,
    max_key: Option<&'a [u8]>,
    key_stats: Option<RawStats<'a>>,
    value_stats: Option<RawStats<'a>>,
    min_sequence: Option<i64>,
    max_sequence: Option<i64>,
    schema_id: Option<i64>,
    pub(super) level: Option<i32>,
    extra_files: Option<&'a [u8]>,
    creation_time: Option<i64>,
    delete_row_count: Option<i64>,
    embedded_index: Option<&'a [u8]>,
    file_source: Option<i32>,
    value_stats_cols: Option<&'a [u8]>,
    external_path: Option<&'a str>,
    first_row_id: Option<i64>,
    write_cols: Option<&'a [u8]>,
    write_cols_sequences: Option<&'a [u8]>,
}

impl DataFileReader {
    pub(super) fn bind(program: &Program, node: NodeId) -> Result<Self> {
        let layout = Layout::bind(program, node, &FIELDS)?;
        let stats = |field| match layout.access(field) {
            Some(access) => StatsReader::bind(program, access.node),
            None => Err(Error::corrupt("file record without statistics")),
        };
        let list = |field, kind| ListReader::bind(program, layout.access(field), kind);
        Ok(DataFileReader {
            key_stats: stats(Field::KeyStats)?,
            value_stats: stats(Field::ValueStats)?,
            extra_files: list(Field::ExtraFiles, Kind::Text)?,
            value_stats_cols: list(Field::ValueStatsCols, Kind::Text)?,
            write_cols: list(Field::WriteCols, Kind::Text)?,
            write_cols_sequences: list(Field::WriteColsSequences, Kind::Integer)?,
            layout,
        })
    }

    pub(super) fn read<'a>(&self, program: &Program, cursor: &mut Cursor<'a>) -> Result<RawFile<'a>> {
        let mut raw = RawFile::default();
        self.layout.read(program, cursor, |field, access, c| {
            match field {
                Field::FileName => raw.file_name = access.string(c)?,
                Field::FileSize => raw.file_size = access.long(c)?,
                Field::RowCount => raw.row_count = access.long(c)?,
                Field::MinKey => raw.min_key = access.bytes(c)?,
                Field::MaxKey => raw.max_key = access.bytes(c)?,
                Field::KeyStats => raw.key_stats = read_stats(&self.key_stats, program, access, c)?,
                Field::ValueStats => raw.value_stats = read_stats(&self.value_stats, program, access, c)?,
                Field::MinSequence => raw.min_sequence = access.long(c)?,
                Field::MaxSequence => raw.max_sequence = access.long(c)?,
                Field::SchemaId => raw.schema_id = access.long(c)?,
                Field::Level => raw.level = access.int(c)?,
                Field::ExtraFiles => raw.extra_files = access.raw(program, c)?,
                Field::CreationTime => raw.creation_time = access.long(c)?,
                Field::DeleteRowCount => raw.delete_row_count = access.long(c)?,
                Field::EmbeddedIndex => raw.embedded_index = access.bytes(c)?,
                Field::FileSource => raw.file_source = access.int(c)?,
                Field::ValueStatsCols => raw.value_stats_cols = access.raw(program, c)?,
                Field::ExternalPath => raw.external_path = access.string(c)?,
                Field::FirstRowId => raw.first_row_id = access.long(c)?,
                Field::WriteCols => raw.write_cols = access.raw(program, c)?,
                Field::WriteColsSequences => raw.write_cols_sequences = access.raw(program, c)?,
            }
            Ok(())
        })?;
        Ok(raw)
    }

    pub(super) fn decode(&self, program: &Program, rows: &Rows, raw: &RawFile<'_>) -> Result<DataFileMeta> {
        let strings = |list: &Option<ListReader>, bytes: Option<&[u8]>| match (list, bytes) {
            (Some(list), Some(bytes)) => list.strings(program, bytes).map(Some),
            _ => Ok(None),
        };
        let columns = |list, bytes| strings(list, bytes).map(|names| names.map(Arc::from));
        let write_cols_sequences = match (&self.write_cols_sequences, raw.write_cols_sequences) {
            (Some(list), Some(bytes)) => Some(list.longs(program, bytes)?),
            _ => None,
        };
        let file_name = required(raw.file_name, "_FILE_NAME")?;
        Ok(DataFileMeta {
            file_name: file_name.to_owned(),
            file_size: required(raw.file_size, "_FILE_SIZE")?,
            row_count: required(raw.row_count, "_ROW_COUNT")?,
            min_key: rows.decode(required(raw.min_key, "_MIN_KEY")?)?,
            max_key: rows.decode(required(raw.max_key, "_MAX_KEY")?)?,
            key_stats: self
                .key_stats
                .decode(program, rows, required(raw.key_stats, "_KEY_STATS")?)?,
            value_stats: self.value_stats.decode(
                program,
                rows,
                required(raw.value_stats, "_VALUE_STATS")?,
            )?,
            min_sequence_number: required(raw.min_sequence, "_MIN_SEQUENCE_NUMBER")?,
            max_sequence_number: required(raw.max_sequence, "_MAX_SEQUENCE_NUMBER")?,
            schema_id: required(raw.schema_id, "_SCHEMA_ID")?,
            level: required(raw.level, "_LEVEL")?,
            extra_files: strings(&self.extra_files, raw.extra_files)?.unwrap_or_default(),
            creation_time: raw.creation_time,
            delete_row_count: raw.delete_row_count,
            embedded_index: raw.embedded_index.map(<[u8]>::to_vec),
            file_source: raw
                .file_source
                .map(file_source)
                .transpose()
                .map_err(|e| e.with("file", file_name))?,
            value_stats_cols: columns(&self.value_stats_cols, raw.value_stats_cols)?,
            external_path: raw.external_path.map(str::to_owned),
            first_row_id: raw.first_row_id,
            write_cols: columns(&self.write_cols, raw.write_cols)?,
            write_cols_sequences,
        })
    }
}

fn read_stats<'a>(
    reader: &StatsReader,
    program: &Program,
    access: &Access,
    cursor: &mut Cursor<'a>,
) -> Result<Option<RawStats<'a>>> {
    if access.enter(cursor)? {
        reader.read(program, cursor).map(Some)
    } else {
        Ok(None)
    }
}

fn file_source(code: i32) -> Result<FileSource> {
    match code {
        0 => Ok(FileSource::Append),
        1 => Ok(FileSource::Compact),
        other => Err(Error::corrupt(format!(
            "file source {other}, expected 0 (APPEND) or 1 (COMPACT)"
        ))),
    }
}

/// Writes the record in the order of `schemas::MANIFEST_SCHEMA`.
pub(super) fn encode_file(out: &mut Encoder, file: &DataFileMeta) {
    let strings = |out: &mut Encoder, list: &[String]| out.array(list, |out, item| out.string(item));
    out.string(&file.file_name);
    out.long(file.file_size);
    out.long(file.row_count);
    out.bytes(&file.min_key.to_serialized());
    out.bytes(&file.max_key.to_serialized());
    encode_stats(out, &file.key_stats);
    encode_stats(out, &file.value_stats);
    out.long(file.min_sequence_number);
    out.long(file.max_sequence_number);
    out.long(file.schema_id);
    out.int(file.level);
    strings(out, &file.extra_files);
    out.optional(file.creation_time, Encoder::long);
    out.optional(file.delete_row_count, Encoder::long);
    out.optional(file.embedded_index.as_deref(), Encoder::bytes);
    let source = file.file_source.map(|source| match source {
        FileSource::Append => 0,
        FileSource::Compact => 1,
    });
    out.optional(source, Encoder::int);
    out.optional(file.value_stats_cols.as_deref(), strings);
    out.optional(file.external_path.as_deref(), Encoder::string);
    out.optional(file.first_row_id, Encoder::long);
    out.optional(file.write_cols.as_deref(), strings);
    out.optional(file.write_cols_sequences.as_deref(), |out, list| {
        out.array(list, |out, item| out.long(*item))
    });
}
