// SPDX-License-Identifier: Apache-2.0

//! The `_FILE` record (Java `DataFileMetaSerializer`; `metadata.md` 4.3).

use std::sync::Arc;

use paimon_protocol::{DataFileMeta, FileSource};
use paimon_types::{Error, Result};

use super::{AvroList, ListReader, RawList, RawStats, Rows, StatsReader, encode_stats, no_nulls, required};
use crate::manifest::avro::{Cursor, Encoder, Kind, Layout, NodeId, Presence, Program, Wanted};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::manifest) enum Field {
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

pub(in crate::manifest) const FIELDS: [Wanted<Field>; 21] = [
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

/// A file record that was passed over: numbers are read, everything that needs memory is borrowed from the file.
#[derive(Debug)]
pub(in crate::manifest) struct RawFile<'a, L> {
    pub(in crate::manifest) file_name: Option<&'a str>,
    pub(in crate::manifest) file_size: Option<i64>,
    pub(in crate::manifest) row_count: Option<i64>,
    pub(in crate::manifest) min_key: Option<&'a [u8]>,
    pub(in crate::manifest) max_key: Option<&'a [u8]>,
    pub(in crate::manifest) key_stats: Option<RawStats<'a, L>>,
    pub(in crate::manifest) value_stats: Option<RawStats<'a, L>>,
    pub(in crate::manifest) min_sequence: Option<i64>,
    pub(in crate::manifest) max_sequence: Option<i64>,
    pub(in crate::manifest) schema_id: Option<i64>,
    pub(in crate::manifest) level: Option<i32>,
    pub(in crate::manifest) extra_files: Option<L>,
    pub(in crate::manifest) creation_time: Option<i64>,
    pub(in crate::manifest) delete_row_count: Option<i64>,
    pub(in crate::manifest) embedded_index: Option<&'a [u8]>,
    pub(in crate::manifest) file_source: Option<i32>,
    pub(in crate::manifest) value_stats_cols: Option<L>,
    pub(in crate::manifest) external_path: Option<&'a str>,
    pub(in crate::manifest) first_row_id: Option<i64>,
    pub(in crate::manifest) write_cols: Option<L>,
    pub(in crate::manifest) write_cols_sequences: Option<L>,
}

impl<L> Default for RawFile<'_, L> {
    fn default() -> Self {
        RawFile {
            file_name: None,
            file_size: None,
            row_count: None,
            min_key: None,
            max_key: None,
            key_stats: None,
            value_stats: None,
            min_sequence: None,
            max_sequence: None,
            schema_id: None,
            level: None,
            extra_files: None,
            creation_time: None,
            delete_row_count: None,
            embedded_index: None,
            file_source: None,
            value_stats_cols: None,
            external_path: None,
            first_row_id: None,
            write_cols: None,
            write_cols_sequences: None,
        }
    }
}

impl<L: RawList> RawFile<'_, L> {
    /// The record, whatever format it was stored in.
    pub(super) fn build(&self, rows: &Rows) -> Result<DataFileMeta> {
        let strings = |list: Option<L>| list.map(L::strings).transpose();
        let columns = |list| strings(list).map(|names| names.map(Arc::from));
        let sequences = self
            .write_cols_sequences
            .map(|list| list.longs().and_then(no_nulls));
        let file_name = required(self.file_name, "_FILE_NAME")?;
        Ok(DataFileMeta {
            file_name: file_name.to_owned(),
            file_size: required(self.file_size, "_FILE_SIZE")?,
            row_count: required(self.row_count, "_ROW_COUNT")?,
            min_key: rows.values(self.min_key, "_MIN_KEY")?,
            max_key: rows.values(self.max_key, "_MAX_KEY")?,
            key_stats: required(self.key_stats, "_KEY_STATS")?.build(rows)?,
            value_stats: required(self.value_stats, "_VALUE_STATS")?.build(rows)?,
            min_sequence_number: required(self.min_sequence, "_MIN_SEQUENCE_NUMBER")?,
            max_sequence_number: required(self.max_sequence, "_MAX_SEQUENCE_NUMBER")?,
            schema_id: required(self.schema_id, "_SCHEMA_ID")?,
            level: required(self.level, "_LEVEL")?,
            extra_files: strings(self.extra_files)?.unwrap_or_default(),
            creation_time: self.creation_time,
            delete_row_count: self.delete_row_count,
            embedded_index: self.embedded_index.map(<[u8]>::to_vec),
            file_source: self
                .file_source
                .map(file_source)
                .transpose()
                .map_err(|e| e.with("file", file_name))?,
            value_stats_cols: columns(self.value_stats_cols)?,
            external_path: self.external_path.map(str::to_owned),
            first_row_id: self.first_row_id,
            write_cols: columns(self.write_cols)?,
            write_cols_sequences: sequences.transpose()?,
        })
    }
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

    pub(super) fn read<'r, 'a>(
        &'r self,
        program: &'r Program,
        cursor: &mut Cursor<'a>,
    ) -> Result<RawFile<'a, AvroList<'r, 'a>>> {
        let mut raw = RawFile::default();
        self.layout.read(program, cursor, |field, access, c| {
            match field {
                Field::FileName => raw.file_name = access.string(c)?,
                Field::FileSize => raw.file_size = access.long(c)?,
                Field::RowCount => raw.row_count = access.long(c)?,
                Field::MinKey => raw.min_key = access.bytes(c)?,
                Field::MaxKey => raw.max_key = access.bytes(c)?,
                Field::KeyStats => raw.key_stats = self.key_stats.read(program, access, c)?,
                Field::ValueStats => raw.value_stats = self.value_stats.read(program, access, c)?,
                Field::MinSequence => raw.min_sequence = access.long(c)?,
                Field::MaxSequence => raw.max_sequence = access.long(c)?,
                Field::SchemaId => raw.schema_id = access.long(c)?,
                Field::Level => raw.level = access.int(c)?,
                Field::ExtraFiles => raw.extra_files = AvroList::pass(&self.extra_files, program, c)?,
                Field::CreationTime => raw.creation_time = access.long(c)?,
                Field::DeleteRowCount => raw.delete_row_count = access.long(c)?,
                Field::EmbeddedIndex => raw.embedded_index = access.bytes(c)?,
                Field::FileSource => raw.file_source = access.int(c)?,
                Field::ValueStatsCols => {
                    raw.value_stats_cols = AvroList::pass(&self.value_stats_cols, program, c)?;
                }
                Field::ExternalPath => raw.external_path = access.string(c)?,
                Field::FirstRowId => raw.first_row_id = access.long(c)?,
                Field::WriteCols => raw.write_cols = AvroList::pass(&self.write_cols, program, c)?,
                Field::WriteColsSequences => {
                    raw.write_cols_sequences = AvroList::pass(&self.write_cols_sequences, program, c)?;
                }
            }
            Ok(())
        })?;
        Ok(raw)
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

/// The stored number of a source.
pub(in crate::manifest) fn file_source_code(source: FileSource) -> i32 {
    match source {
        FileSource::Append => 0,
        FileSource::Compact => 1,
    }
}

/// Writes the record in the order of `schemas::MANIFEST_SCHEMA`.
pub(super) fn encode_file(out: &mut Encoder, file: &DataFileMeta) {
    let strings = |out: &mut Encoder, list: &[String]| out.array(list, |out, item| out.string(item));
    out.string(&file.file_name);
    out.long(file.file_size);
    out.long(file.row_count);
    out.bytes(&file.min_key.encoded_row().to_serialized());
    out.bytes(&file.max_key.encoded_row().to_serialized());
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
    out.optional(file.file_source.map(file_source_code), Encoder::int);
    out.optional(file.value_stats_cols.as_deref(), strings);
    out.optional(file.external_path.as_deref(), Encoder::string);
    out.optional(file.first_row_id, Encoder::long);
    out.optional(file.write_cols.as_deref(), strings);
    out.optional(file.write_cols_sequences.as_deref(), |out, list| {
        out.array(list, |out, item| out.long(*item))
    });
}
