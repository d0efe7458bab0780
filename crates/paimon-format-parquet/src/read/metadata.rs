// SPDX-License-Identifier: Apache-2.0

//! The footer: reading, caching, and the view of it that is given to the decoder.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use paimon_format::Cache;
use paimon_format::blocking::spawn;
use paimon_storage::InputFile;
use paimon_types::Result;
use parquet::basic::{ConvertedType, LogicalType, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, PageIndexPolicy, ParquetMetaData, ParquetMetaDataBuilder,
    ParquetMetaDataReader, RowGroupMetaData,
};
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

use super::source::Source;
use crate::error::{corrupt, read_error};
use crate::format::IDENTIFIER;
use crate::schema::INT96_BYTES;

/// Bytes of the end of the file that are read at first; most footers fit.
const TAIL: u64 = 64 << 10;
/// Rows of a page whose values are short, unless an option says otherwise.
const PAGE_ROWS: u64 = 20_000;
/// Length of the footer and magic at the very end.
const FOOTER: usize = 8;

/// Reads the footer of `file`, or finds it in `cache`.
///
/// # Errors
/// `Corrupt` when the file is not Parquet, is cut, or its footer contradicts itself; errors of the store.
pub(crate) async fn load_metadata(
    file: &Arc<dyn InputFile>,
    cache: Option<&Arc<dyn Cache>>,
) -> Result<Arc<ParquetMetaData>> {
    let size = file.size().await?;
    let key = cache_key(file.path(), size);
    if let Some(found) = cache.and_then(|cache| cache.get(&key))
        && let Ok(metadata) = found.downcast::<ParquetMetaData>()
    {
        return Ok(metadata);
    }
    let bytes = footer_bytes(file, size).await?;
    let path = file.path().to_string();
    let metadata = spawn("reading a parquet footer", move || {
        let metadata = ParquetMetaDataReader::decode_metadata(&bytes).map_err(|e| read_error(&path, e))?;
        validate(&path, size, &metadata)?;
        Ok(Arc::new(metadata))
    })
    .await
    .map_err(|e| {
        if e.context().any(|(key, _)| key == "path") {
            e
        } else {
            e.with("path", file.path())
        }
    })?;
    if let Some(cache) = cache {
        cache.put(&key, metadata.clone(), metadata.memory_size());
    }
    Ok(metadata)
}

/// Where a part begins that is to begin at about `row`: a page that has an index, else the next row group.
pub(crate) fn part_start(metadata: &ParquetMetaData, row: u64) -> u64 {
    let mut first = 0;
    for group in metadata.row_groups() {
        let length = u64::try_from(group.num_rows()).unwrap_or(0);
        let indexed = |column: &ColumnChunkMetaData| column.offset_index_offset().is_some();
        if row <= first {
            return first;
        }
        if row - first < length && group.columns().iter().all(indexed) {
            return row - (row - first) % part_rows(group, length);
        }
        first += length;
    }
    first
}

/// Rows of the smallest part of a row group. Each part reads all dictionaries again, so there are no more than make an eighth of it.
fn part_rows(group: &RowGroupMetaData, rows: u64) -> u64 {
    let (mut dictionaries, mut all) = (0, 0);
    for column in group.columns() {
        let start = column.dictionary_page_offset().filter(|start| *start > 0);
        dictionaries += start
            .map_or(0, |start| column.data_page_offset() - start)
            .max(0)
            .cast_unsigned();
        all += column.compressed_size().max(0).cast_unsigned();
    }
    let parts = (all / (8 * dictionaries).max(1)).max(1);
    rows.div_ceil(parts).next_multiple_of(PAGE_ROWS)
}

fn cache_key(path: &str, size: u64) -> String {
    format!("{IDENTIFIER}:{size}:{path}")
}

async fn footer_bytes(file: &Arc<dyn InputFile>, size: u64) -> Result<Bytes> {
    let path = file.path();
    let bad = |what: String| corrupt(path, what);
    if size < (FOOTER + 4) as u64 {
        return Err(bad(format!("{size} bytes are too few for a parquet file")));
    }
    let tail_start = size.saturating_sub(TAIL);
    let tail = file.read_range(tail_start..size).await?;
    let Some((rest, footer)) = tail.split_last_chunk::<FOOTER>() else {
        return Err(bad(format!(
            "{} bytes read at the end, {FOOTER} expected",
            tail.len()
        )));
    };
    let [l0, l1, l2, l3, magic @ ..] = *footer;
    match &magic {
        b"PAR1" => {}
        b"PARE" => {
            return Err(paimon_types::Error::unsupported("parquet file is encrypted").with("path", path));
        }
        other => {
            let found = other.escape_ascii();
            return Err(bad(format!(
                "it ends with \"{found}\", \"PAR1\" expected; the file is no parquet file or is cut"
            )));
        }
    }
    let length = u64::from(u32::from_le_bytes([l0, l1, l2, l3]));
    let Some(start) = (size - FOOTER as u64).checked_sub(length) else {
        return Err(bad(format!(
            "footer of {length} bytes is longer than the file of {size}"
        )));
    };
    if start >= tail_start {
        let skip = usize::try_from(start - tail_start).unwrap_or(usize::MAX);
        return Ok(tail.slice(skip.min(rest.len())..rest.len()));
    }
    let head = file.read_range(start..tail_start).await?;
    let mut all = BytesMut::with_capacity(head.len() + rest.len());
    all.extend_from_slice(&head);
    all.extend_from_slice(rest);
    Ok(all.freeze())
}

/// Refuses metadata that the decoder would trip over.
fn validate(path: &str, size: u64, metadata: &ParquetMetaData) -> Result<()> {
    let columns = metadata.file_metadata().schema_descr().num_columns();
    let mut rows = 0i64;
    for (index, group) in metadata.row_groups().iter().enumerate() {
        let bad = |what: String| corrupt(path, format!("row group {index} {what}"));
        if group.num_rows() < 0 {
            return Err(bad(format!("has {} rows", group.num_rows())));
        }
        rows = rows.saturating_add(group.num_rows());
        if group.num_columns() != columns {
            return Err(bad(format!(
                "has {} columns, {columns} expected",
                group.num_columns()
            )));
        }
        for column in group.columns() {
            let start = column
                .dictionary_page_offset()
                .unwrap_or_else(|| column.data_page_offset());
            let end = start.checked_add(column.compressed_size());
            let inside = |offset: i64| u64::try_from(offset).is_ok_and(|offset| offset <= size);
            if !inside(start)
                || !inside(column.data_page_offset())
                || column.compressed_size() < 0
                || !end.is_some_and(inside)
            {
                return Err(bad(format!(
                    "has column {} at {start} with {} bytes, outside of the file of {size}",
                    column.column_path(),
                    column.compressed_size()
                )));
            }
        }
    }
    let told = metadata.file_metadata().num_rows();
    if rows != told {
        return Err(corrupt(
            path,
            format!("its row groups have {rows} rows, its footer tells {told}"),
        ));
    }
    Ok(())
}

/// `metadata` with column and offset indexes, if the file has them. Blocks.
///
/// An index that cannot be decoded counts as missing: it only helps to skip pages.
pub(crate) fn with_page_index(
    path: &str,
    metadata: &Arc<ParquetMetaData>,
    source: &Source,
    cache: Option<&Arc<dyn Cache>>,
) -> Result<Arc<ParquetMetaData>> {
    if metadata.offset_index().is_some() {
        return Ok(metadata.clone());
    }
    let size = parquet::file::reader::Length::len(source);
    let mut reader = ParquetMetaDataReader::new_with_metadata(metadata.as_ref().clone())
        .with_page_index_policy(PageIndexPolicy::Optional);
    let read = reader
        .read_page_indexes_sized(source, size)
        .and_then(|()| reader.finish());
    match read {
        Ok(indexed) => {
            let indexed = Arc::new(indexed);
            if let Some(cache) = cache {
                cache.put(&cache_key(path, size), indexed.clone(), indexed.memory_size());
            }
            Ok(indexed)
        }
        Err(error) => match source.take_error() {
            Some(error) => Err(error),
            None => {
                tracing::warn!(path, %error, "page index cannot be read, no pages are skipped");
                Ok(metadata.clone())
            }
        },
    }
}

/// How the decoder is to see a leaf column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeafView {
    /// As annotated, INT96 as bytes.
    Annotated,
    /// Text, whatever the annotation.
    Text,
    /// Without annotation, INT96 as bytes.
    Plain,
}

/// The schema of a file as the decoder is to see it. `view` is asked for each leaf column; groups without any leaf that
/// is not [`LeafView::Plain`] lose their annotation too, so that columns nobody reads cannot be in the way.
/// `None` when nothing changes.
pub(crate) fn view_schema(
    schema: &SchemaDescriptor,
    view: &dyn Fn(usize) -> LeafView,
) -> parquet::errors::Result<Option<TypePtr>> {
    let mut rewriter = Rewriter { view, leaf: 0 };
    let root = schema.root_schema();
    let children = rewriter.children(root.get_fields())?;
    if children
        .iter()
        .zip(root.get_fields())
        .all(|(new, old)| Arc::ptr_eq(&new.node, old))
    {
        return Ok(None);
    }
    let fields = children.into_iter().map(|child| child.node).collect();
    Ok(Some(Arc::new(
        Type::group_type_builder(root.name())
            .with_fields(fields)
            .build()?,
    )))
}

struct Rewriter<'a> {
    view: &'a dyn Fn(usize) -> LeafView,
    leaf: usize,
}

struct Rewritten {
    node: TypePtr,
    read: bool,
}

impl Rewriter<'_> {
    fn children(&mut self, fields: &[TypePtr]) -> parquet::errors::Result<Vec<Rewritten>> {
        fields.iter().map(|field| self.node(field)).collect()
    }

    fn node(&mut self, node: &TypePtr) -> parquet::errors::Result<Rewritten> {
        let info = node.get_basic_info();
        let id = info.has_id().then(|| info.id());
        if let Type::PrimitiveType {
            physical_type,
            type_length,
            scale,
            precision,
            ..
        } = node.as_ref()
        {
            let view = (self.view)(self.leaf);
            self.leaf += 1;
            let int96 = *physical_type == PhysicalType::INT96;
            let annotated = info.logical_type_ref().is_some() || info.converted_type() != ConvertedType::NONE;
            let text = info.logical_type_ref() == Some(&LogicalType::String);
            let keep = match view {
                LeafView::Annotated => !int96,
                LeafView::Text => text,
                LeafView::Plain => !int96 && !annotated,
            };
            let read = view != LeafView::Plain;
            if keep {
                return Ok(Rewritten {
                    node: node.clone(),
                    read,
                });
            }
            let physical = if int96 {
                PhysicalType::FIXED_LEN_BYTE_ARRAY
            } else {
                *physical_type
            };
            let length = if int96 { INT96_BYTES } else { *type_length };
            let mut builder = Type::primitive_type_builder(info.name(), physical)
                .with_repetition(info.repetition())
                .with_length(length)
                .with_id(id);
            match view {
                LeafView::Text => builder = builder.with_logical_type(Some(LogicalType::String)),
                LeafView::Annotated if !int96 => {
                    builder = builder
                        .with_logical_type(info.logical_type_ref().cloned())
                        .with_converted_type(info.converted_type())
                        .with_precision(*precision)
                        .with_scale(*scale);
                }
                _ => {}
            }
            return Ok(Rewritten {
                node: Arc::new(builder.build()?),
                read,
            });
        }
        let children = self.children(node.get_fields())?;
        let read = children.iter().any(|child| child.read);
        let annotated = info.logical_type_ref().is_some() || info.converted_type() != ConvertedType::NONE;
        let same = children
            .iter()
            .zip(node.get_fields())
            .all(|(new, old)| Arc::ptr_eq(&new.node, old));
        if same && (read || !annotated) {
            return Ok(Rewritten {
                node: node.clone(),
                read,
            });
        }
        let mut builder = Type::group_type_builder(info.name())
            .with_repetition(info.repetition())
            .with_id(id)
            .with_fields(children.into_iter().map(|child| child.node).collect());
        if read {
            builder = builder
                .with_logical_type(info.logical_type_ref().cloned())
                .with_converted_type(info.converted_type());
        }
        Ok(Rewritten {
            node: Arc::new(builder.build()?),
            read,
        })
    }
}

/// `metadata` under another schema with the same leaf columns, without statistics.
pub(crate) fn with_schema(
    metadata: &ParquetMetaData,
    schema: TypePtr,
) -> Result<ParquetMetaData, ParquetError> {
    let schema = Arc::new(SchemaDescriptor::new(schema));
    let old = metadata.file_metadata();
    let file = FileMetaData::new(
        old.version(),
        old.num_rows(),
        old.created_by().map(str::to_string),
        None,
        schema.clone(),
        None,
    );
    let mut groups = Vec::with_capacity(metadata.num_row_groups());
    for group in metadata.row_groups() {
        let mut columns = Vec::with_capacity(group.num_columns());
        for (chunk, column) in group.columns().iter().zip(schema.columns()) {
            let builder = ColumnChunkMetaData::builder(column.clone())
                .set_compression_codec(chunk.compression_codec())
                .set_encodings_mask(*chunk.encodings_mask())
                .set_total_compressed_size(chunk.compressed_size())
                .set_total_uncompressed_size(chunk.uncompressed_size())
                .set_num_values(chunk.num_values())
                .set_data_page_offset(chunk.data_page_offset())
                .set_dictionary_page_offset(chunk.dictionary_page_offset());
            columns.push(builder.build()?);
        }
        let mut builder = RowGroupMetaData::builder(schema.clone())
            .set_num_rows(group.num_rows())
            .set_total_byte_size(group.total_byte_size())
            .set_column_metadata(columns);
        if let Some(ordinal) = group.ordinal() {
            builder = builder.set_ordinal(ordinal);
        }
        groups.push(builder.build()?);
    }
    Ok(ParquetMetaDataBuilder::new(file)
        .set_row_groups(groups)
        .set_offset_index(metadata.offset_index().cloned())
        .build())
}
