// SPDX-License-Identifier: Apache-2.0

//! Index manifests (Java `IndexManifestFile`, `IndexManifestEntrySerializer`; `metadata.md` 4.4).

use paimon_protocol::{DeletionVectorMeta, GlobalIndexMeta, IndexFileMeta};
use paimon_types::{Error, Result};

use super::{AvroList, ListReader, RawList, Rows, check_version, no_nulls, required};
use crate::manifest::avro::{
    self, Access, ContainerWriter, Cursor, Encoder, Kind, Layout, Presence, Program, Wanted, read_array,
};
use crate::manifest::schemas::{INDEX_MANIFEST_SCHEMA, INDEX_MANIFEST_VERSION};
use crate::manifest::{FileKind, IndexManifestEntry, ManifestCompression};

use Presence::{Optional, Required};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::manifest) enum Field {
    Version,
    Kind,
    Partition,
    Bucket,
    IndexType,
    FileName,
    FileSize,
    RowCount,
    Ranges,
    ExternalPath,
    GlobalIndex,
}

pub(in crate::manifest) const FIELDS: [Wanted<Field>; 11] = [
    ("_VERSION", Field::Version, Kind::Integer, Required),
    ("_KIND", Field::Kind, Kind::Integer, Required),
    ("_PARTITION", Field::Partition, Kind::Bytes, Required),
    ("_BUCKET", Field::Bucket, Kind::Integer, Required),
    ("_INDEX_TYPE", Field::IndexType, Kind::Text, Required),
    ("_FILE_NAME", Field::FileName, Kind::Text, Required),
    ("_FILE_SIZE", Field::FileSize, Kind::Integer, Required),
    ("_ROW_COUNT", Field::RowCount, Kind::Integer, Required),
    ("_DELETIONS_VECTORS_RANGES", Field::Ranges, Kind::Array, Optional),
    ("_EXTERNAL_PATH", Field::ExternalPath, Kind::Text, Optional),
    ("_GLOBAL_INDEX", Field::GlobalIndex, Kind::Record, Optional),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::manifest) enum RangeField {
    DataFile,
    Offset,
    Length,
    Cardinality,
}

pub(in crate::manifest) const RANGE_FIELDS: [Wanted<RangeField>; 4] = [
    ("f0", RangeField::DataFile, Kind::Text, Required),
    ("f1", RangeField::Offset, Kind::Integer, Required),
    ("f2", RangeField::Length, Kind::Integer, Required),
    ("_CARDINALITY", RangeField::Cardinality, Kind::Integer, Optional),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::manifest) enum GlobalField {
    Start,
    End,
    FieldId,
    ExtraFieldIds,
    IndexMeta,
    SourceMeta,
}

pub(in crate::manifest) const GLOBAL_FIELDS: [Wanted<GlobalField>; 6] = [
    ("_ROW_RANGE_START", GlobalField::Start, Kind::Integer, Required),
    ("_ROW_RANGE_END", GlobalField::End, Kind::Integer, Required),
    ("_INDEX_FIELD_ID", GlobalField::FieldId, Kind::Integer, Required),
    (
        "_EXTRA_FIELD_IDS",
        GlobalField::ExtraFieldIds,
        Kind::Array,
        Optional,
    ),
    ("_INDEX_META", GlobalField::IndexMeta, Kind::Bytes, Optional),
    ("_SOURCE_META", GlobalField::SourceMeta, Kind::Bytes, Optional),
];

/// An entry of an index manifest that was passed over.
#[derive(Debug, Default)]
pub(in crate::manifest) struct RawIndexEntry<'a> {
    pub(in crate::manifest) version: Option<i64>,
    pub(in crate::manifest) kind: Option<i64>,
    pub(in crate::manifest) partition: Option<&'a [u8]>,
    pub(in crate::manifest) bucket: Option<i32>,
    pub(in crate::manifest) index_type: Option<&'a str>,
    pub(in crate::manifest) file_name: Option<&'a str>,
    pub(in crate::manifest) file_size: Option<i64>,
    pub(in crate::manifest) row_count: Option<i64>,
    pub(in crate::manifest) ranges: Option<Vec<DeletionVectorMeta>>,
    pub(in crate::manifest) external_path: Option<&'a str>,
    pub(in crate::manifest) global_index: Option<GlobalIndexMeta>,
}

impl RawIndexEntry<'_> {
    /// The entry, whatever format it was stored in.
    pub(in crate::manifest) fn build(self, rows: &Rows) -> Result<IndexManifestEntry> {
        check_version(
            required(self.version, "_VERSION")?,
            INDEX_MANIFEST_VERSION,
            "index manifest",
        )?;
        Ok(IndexManifestEntry {
            kind: FileKind::from_code(required(self.kind, "_KIND")?)?,
            partition: rows.partition(required(self.partition, "_PARTITION")?)?,
            bucket: required(self.bucket, "_BUCKET")?,
            index_file: IndexFileMeta {
                index_type: required(self.index_type, "_INDEX_TYPE")?.to_owned(),
                file_name: required(self.file_name, "_FILE_NAME")?.to_owned(),
                file_size: required(self.file_size, "_FILE_SIZE")?,
                row_count: required(self.row_count, "_ROW_COUNT")?,
                dv_ranges: self.ranges,
                external_path: self.external_path.map(str::to_owned),
                global_index: self.global_index,
            },
        })
    }
}

/// The place of one deletion vector, passed over. A null instead of it is [`RawRange::null`].
#[derive(Debug, Default)]
pub(in crate::manifest) struct RawRange<'a> {
    pub(in crate::manifest) data_file: Option<&'a str>,
    pub(in crate::manifest) offset: Option<i32>,
    pub(in crate::manifest) length: Option<i32>,
    pub(in crate::manifest) cardinality: Option<i64>,
}

impl RawRange<'_> {
    /// What is wrong with a null range.
    pub(in crate::manifest) fn null() -> Error {
        Error::corrupt("null in _DELETIONS_VECTORS_RANGES")
    }

    pub(in crate::manifest) fn build(self) -> Result<DeletionVectorMeta> {
        Ok(DeletionVectorMeta {
            data_file_name: required(self.data_file, "f0")?.to_owned(),
            offset: required(self.offset, "f1")?,
            length: required(self.length, "f2")?,
            cardinality: self.cardinality,
        })
    }
}

/// What an entry of a global index has beside, passed over.
#[derive(Debug)]
pub(in crate::manifest) struct RawGlobalIndex<'a, L> {
    pub(in crate::manifest) start: Option<i64>,
    pub(in crate::manifest) end: Option<i64>,
    pub(in crate::manifest) field_id: Option<i32>,
    pub(in crate::manifest) extra_field_ids: Option<L>,
    pub(in crate::manifest) index_meta: Option<&'a [u8]>,
    pub(in crate::manifest) source_meta: Option<&'a [u8]>,
}

impl<L: RawList> RawGlobalIndex<'_, L> {
    pub(in crate::manifest) fn build(self) -> Result<GlobalIndexMeta> {
        let extra_field_ids = match self.extra_field_ids {
            Some(list) => {
                let ids = no_nulls(list.longs()?)?.into_iter().map(|id| {
                    i32::try_from(id)
                        .map_err(|_| Error::corrupt(format!("field id {id} has more than 32 bits")))
                });
                Some(ids.collect::<Result<Vec<_>>>()?)
            }
            None => None,
        };
        Ok(GlobalIndexMeta {
            row_range_start: required(self.start, "_ROW_RANGE_START")?,
            row_range_end: required(self.end, "_ROW_RANGE_END")?,
            index_field_id: required(self.field_id, "_INDEX_FIELD_ID")?,
            extra_field_ids,
            index_meta: self.index_meta.map(<[u8]>::to_vec),
            source_meta: self.source_meta.map(<[u8]>::to_vec),
        })
    }
}

/// Decodes an index manifest in stored order.
///
/// # Errors
/// `Corrupt` for damaged bytes and other file formats, `Unsupported` for a version or codec that we do not read.
pub fn decode_index_manifest(bytes: &[u8]) -> Result<Vec<IndexManifestEntry>> {
    let (mut container, program) = avro::open(bytes)?;
    let decoder = Decoder::bind(&program)?;
    let mut out = Vec::new();
    container.for_each_block(|cursor, count| {
        for _ in 0..count {
            out.push(decoder.next(cursor)?);
        }
        Ok(())
    })?;
    Ok(out)
}

struct Decoder<'p> {
    program: &'p Program,
    root: Access,
    layout: Layout<Field>,
    ranges: Option<(Access, Access, Layout<RangeField>)>,
    global: Option<(Layout<GlobalField>, Option<ListReader>)>,
    rows: Rows,
}

impl<'p> Decoder<'p> {
    fn bind(program: &'p Program) -> Result<Self> {
        let root = Access::new(program, program.root())?;
        let layout = Layout::bind(program, root.node, &FIELDS)?;
        let ranges = match layout.access(Field::Ranges) {
            None => None,
            Some(array) => {
                let items = array.items(program)?;
                Some((array, items, Layout::bind(program, items.node, &RANGE_FIELDS)?))
            }
        };
        let global = match layout.access(Field::GlobalIndex) {
            None => None,
            Some(access) => {
                let layout = Layout::bind(program, access.node, &GLOBAL_FIELDS)?;
                let extra =
                    ListReader::bind(program, layout.access(GlobalField::ExtraFieldIds), Kind::Integer)?;
                Some((layout, extra))
            }
        };
        Ok(Decoder {
            program,
            root,
            layout,
            ranges,
            global,
            rows: Rows::new(),
        })
    }

    fn next(&self, cursor: &mut Cursor<'_>) -> Result<IndexManifestEntry> {
        if !self.root.enter(cursor)? {
            return Err(Error::corrupt("index manifest holds a null entry"));
        }
        let mut raw = RawIndexEntry::default();
        self.layout.read(self.program, cursor, |field, access, c| {
            match field {
                Field::Version => raw.version = access.long(c)?,
                Field::Kind => raw.kind = access.long(c)?,
                Field::Partition => raw.partition = access.bytes(c)?,
                Field::Bucket => raw.bucket = access.int(c)?,
                Field::IndexType => raw.index_type = access.string(c)?,
                Field::FileName => raw.file_name = access.string(c)?,
                Field::FileSize => raw.file_size = access.long(c)?,
                Field::RowCount => raw.row_count = access.long(c)?,
                Field::Ranges => raw.ranges = if access.enter(c)? { self.ranges(c)? } else { None },
                Field::ExternalPath => raw.external_path = access.string(c)?,
                Field::GlobalIndex => {
                    raw.global_index = if access.enter(c)? { self.global(c)? } else { None };
                }
            }
            Ok(())
        })?;
        raw.build(&self.rows)
    }

    fn ranges(&self, cursor: &mut Cursor<'_>) -> Result<Option<Vec<DeletionVectorMeta>>> {
        let Some((array, items, layout)) = &self.ranges else {
            return Ok(None);
        };
        let ranges = read_array(self.program, array, cursor, |c| {
            if !items.enter(c)? {
                return Err(RawRange::null());
            }
            let mut raw = RawRange::default();
            layout.read(self.program, c, |field, access, c| {
                match field {
                    RangeField::DataFile => raw.data_file = access.string(c)?,
                    RangeField::Offset => raw.offset = access.int(c)?,
                    RangeField::Length => raw.length = access.int(c)?,
                    RangeField::Cardinality => raw.cardinality = access.long(c)?,
                }
                Ok(())
            })?;
            raw.build()
        })?;
        Ok(Some(ranges))
    }

    fn global(&self, cursor: &mut Cursor<'_>) -> Result<Option<GlobalIndexMeta>> {
        let Some((layout, extra)) = &self.global else {
            return Ok(None);
        };
        let mut raw = RawGlobalIndex {
            start: None,
            end: None,
            field_id: None,
            extra_field_ids: None,
            index_meta: None,
            source_meta: None,
        };
        layout.read(self.program, cursor, |field, access, c| {
            match field {
                GlobalField::Start => raw.start = access.long(c)?,
                GlobalField::End => raw.end = access.long(c)?,
                GlobalField::FieldId => raw.field_id = access.int(c)?,
                GlobalField::ExtraFieldIds => {
                    raw.extra_field_ids = AvroList::pass(extra, self.program, c)?;
                }
                GlobalField::IndexMeta => raw.index_meta = access.bytes(c)?,
                GlobalField::SourceMeta => raw.source_meta = access.bytes(c)?,
            }
            Ok(())
        })?;
        raw.build().map(Some)
    }
}

/// Encodes an index manifest in the newest form.
///
/// # Errors
/// When compression fails.
pub fn encode_index_manifest(
    entries: &[IndexManifestEntry],
    compression: ManifestCompression,
    sync: [u8; 16],
) -> Result<Vec<u8>> {
    let mut container = ContainerWriter::new(INDEX_MANIFEST_SCHEMA, compression, sync);
    for entry in entries {
        let file = &entry.index_file;
        container.append(|out| {
            out.int(INDEX_MANIFEST_VERSION);
            out.int(entry.kind.code());
            out.bytes(&entry.partition.encoded_row().to_serialized());
            out.int(entry.bucket);
            out.string(&file.index_type);
            out.string(&file.file_name);
            out.long(file.file_size);
            out.long(file.row_count);
            out.optional(file.dv_ranges.as_deref(), |out, ranges| {
                out.array(ranges, |out, range| out.optional(Some(range), encode_range));
            });
            out.optional(file.external_path.as_deref(), Encoder::string);
            out.optional(file.global_index.as_ref(), encode_global);
        })?;
    }
    container.finish()
}

fn encode_range(out: &mut Encoder, range: &DeletionVectorMeta) {
    out.string(&range.data_file_name);
    out.int(range.offset);
    out.int(range.length);
    out.optional(range.cardinality, Encoder::long);
}

fn encode_global(out: &mut Encoder, global: &GlobalIndexMeta) {
    out.long(global.row_range_start);
    out.long(global.row_range_end);
    out.int(global.index_field_id);
    out.optional(global.extra_field_ids.as_deref(), |out, ids| {
        out.array(ids, |out, id| out.int(*id))
    });
    out.optional(global.index_meta.as_deref(), Encoder::bytes);
    out.optional(global.source_meta.as_deref(), Encoder::bytes);
}
