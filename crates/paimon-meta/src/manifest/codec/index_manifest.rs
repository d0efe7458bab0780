// SPDX-License-Identifier: Apache-2.0

//! Index manifests (Java `IndexManifestFile`, `IndexManifestEntrySerializer`; `metadata.md` 4.4).

use paimon_protocol::{DeletionVectorMeta, GlobalIndexMeta, IndexFileMeta};
use paimon_types::{Error, Result};

use super::{ListReader, Rows, check_version, required};
use crate::manifest::avro::{
    self, Access, ContainerWriter, Cursor, Encoder, Kind, Layout, Presence, Program, Wanted, read_array,
};
use crate::manifest::schemas::{INDEX_MANIFEST_SCHEMA, INDEX_MANIFEST_VERSION};
use crate::manifest::{FileKind, IndexManifestEntry, ManifestCompression};

use Presence::{Optional, Required};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
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

const FIELDS: [Wanted<Field>; 11] = [
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
enum RangeField {
    DataFile,
    Offset,
    Length,
    Cardinality,
}

const RANGE_FIELDS: [Wanted<RangeField>; 4] = [
    ("f0", RangeField::DataFile, Kind::Text, Required),
    ("f1", RangeField::Offset, Kind::Integer, Required),
    ("f2", RangeField::Length, Kind::Integer, Required),
    ("_CARDINALITY", RangeField::Cardinality, Kind::Integer, Optional),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GlobalField {
    Start,
    End,
    FieldId,
    ExtraFieldIds,
    IndexMeta,
    SourceMeta,
}

const GLOBAL_FIELDS: [Wanted<GlobalField>; 6] = [
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

/// Decodes an index manifest in stored order.
///
/// # Errors
/// `Corrupt` for damaged bytes, `Unsupported` for a version, codec or file format (ORC) that we do not read.
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
        let (mut version, mut kind, mut partition, mut bucket) = (None, None, None, None);
        let (mut index_type, mut name, mut size, mut rows) = (None, None, None, None);
        let (mut dv_ranges, mut external_path, mut global_index) = (None, None, None);
        self.layout.read(self.program, cursor, |field, access, c| {
            match field {
                Field::Version => version = access.long(c)?,
                Field::Kind => kind = access.long(c)?,
                Field::Partition => partition = access.bytes(c)?,
                Field::Bucket => bucket = access.int(c)?,
                Field::IndexType => index_type = access.string(c)?,
                Field::FileName => name = access.string(c)?,
                Field::FileSize => size = access.long(c)?,
                Field::RowCount => rows = access.long(c)?,
                Field::Ranges => dv_ranges = if access.enter(c)? { self.ranges(c)? } else { None },
                Field::ExternalPath => external_path = access.string(c)?.map(str::to_owned),
                Field::GlobalIndex => global_index = if access.enter(c)? { self.global(c)? } else { None },
            }
            Ok(())
        })?;
        check_version(
            required(version, "_VERSION")?,
            INDEX_MANIFEST_VERSION,
            "index manifest",
        )?;
        Ok(IndexManifestEntry {
            kind: FileKind::from_code(required(kind, "_KIND")?)?,
            partition: self.rows.decode(required(partition, "_PARTITION")?)?,
            bucket: required(bucket, "_BUCKET")?,
            index_file: IndexFileMeta {
                index_type: required(index_type, "_INDEX_TYPE")?.to_owned(),
                file_name: required(name, "_FILE_NAME")?.to_owned(),
                file_size: required(size, "_FILE_SIZE")?,
                row_count: required(rows, "_ROW_COUNT")?,
                dv_ranges,
                external_path,
                global_index,
            },
        })
    }

    fn ranges(&self, cursor: &mut Cursor<'_>) -> Result<Option<Vec<DeletionVectorMeta>>> {
        let Some((array, items, layout)) = &self.ranges else {
            return Ok(None);
        };
        let ranges = read_array(self.program, array, cursor, |c| {
            if !items.enter(c)? {
                return Err(Error::corrupt("null in _DELETIONS_VECTORS_RANGES"));
            }
            let (mut file, mut offset, mut length, mut cardinality) = (None, None, None, None);
            layout.read(self.program, c, |field, access, c| {
                match field {
                    RangeField::DataFile => file = access.string(c)?,
                    RangeField::Offset => offset = access.int(c)?,
                    RangeField::Length => length = access.int(c)?,
                    RangeField::Cardinality => cardinality = access.long(c)?,
                }
                Ok(())
            })?;
            Ok(DeletionVectorMeta {
                data_file_name: required(file, "f0")?.to_owned(),
                offset: required(offset, "f1")?,
                length: required(length, "f2")?,
                cardinality,
            })
        })?;
        Ok(Some(ranges))
    }

    fn global(&self, cursor: &mut Cursor<'_>) -> Result<Option<GlobalIndexMeta>> {
        let Some((layout, extra)) = &self.global else {
            return Ok(None);
        };
        let (mut start, mut end, mut field_id) = (None, None, None);
        let (mut extra_ids, mut index_meta, mut source_meta) = (None, None, None);
        layout.read(self.program, cursor, |field, access, c| {
            match field {
                GlobalField::Start => start = access.long(c)?,
                GlobalField::End => end = access.long(c)?,
                GlobalField::FieldId => field_id = access.int(c)?,
                GlobalField::ExtraFieldIds => extra_ids = access.raw(self.program, c)?,
                GlobalField::IndexMeta => index_meta = access.bytes(c)?.map(<[u8]>::to_vec),
                GlobalField::SourceMeta => source_meta = access.bytes(c)?.map(<[u8]>::to_vec),
            }
            Ok(())
        })?;
        let extra_field_ids = match (extra, extra_ids) {
            (Some(list), Some(bytes)) => {
                let ids = list.longs(self.program, bytes)?.into_iter().map(|id| {
                    i32::try_from(id)
                        .map_err(|_| Error::corrupt(format!("field id {id} has more than 32 bits")))
                });
                Some(ids.collect::<Result<Vec<_>>>()?)
            }
            _ => None,
        };
        Ok(Some(GlobalIndexMeta {
            row_range_start: required(start, "_ROW_RANGE_START")?,
            row_range_end: required(end, "_ROW_RANGE_END")?,
            index_field_id: required(field_id, "_INDEX_FIELD_ID")?,
            extra_field_ids,
            index_meta,
            source_meta,
        }))
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
            out.bytes(&entry.partition.to_serialized());
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
