// SPDX-License-Identifier: Apache-2.0

//! From entries to files.

use std::sync::Arc;

use arrow_array::builder::{Int32Builder, Int64Builder, ListBuilder, StringBuilder};
use arrow_array::{
    ArrayRef, BinaryArray, Int8Array, Int32Array, Int64Array, ListArray, RecordBatch, StringArray,
    StructArray, TimestampMillisecondArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType as ArrowType, FieldRef, Fields};
use paimon_format::{FileFormat, FormatWriter};
use paimon_protocol::{DataFileMeta, GlobalIndexMeta, SimpleStats};
use paimon_storage::OutputStream;
use paimon_types::{DataField, Error, Result, to_arrow_schema};

use super::{BATCH_ROWS, schema};
use crate::manifest::codec::data_file::file_source_code;
use crate::manifest::schemas::{INDEX_MANIFEST_VERSION, MANIFEST_LIST_VERSION, MANIFEST_VERSION};
use crate::manifest::{IndexManifestEntry, ManifestEntry, ManifestFileMeta};

/// Writes a manifest list and returns its size in bytes.
pub(in crate::manifest) async fn write_manifest_list(
    format: &dyn FileFormat,
    out: Box<dyn OutputStream>,
    compression: &str,
    metas: &[ManifestFileMeta],
) -> Result<u64> {
    let mut file = FormatFile::create(format, out, compression, &schema::manifest_list())?;
    for part in metas.chunks(BATCH_ROWS) {
        file.write(list_columns(part)).await?;
    }
    file.finish().await
}

/// Writes an index manifest and returns its size in bytes.
pub(in crate::manifest) async fn write_index_manifest(
    format: &dyn FileFormat,
    out: Box<dyn OutputStream>,
    compression: &str,
    entries: &[IndexManifestEntry],
) -> Result<u64> {
    let mut file = FormatFile::create(format, out, compression, &schema::index_manifest())?;
    for part in entries.chunks(BATCH_ROWS) {
        file.write(index_columns(part)).await?;
    }
    file.finish().await
}

/// Writes a manifest entry by entry, so that a caller can roll.
#[derive(Debug)]
pub(in crate::manifest) struct ManifestFileWriter {
    file: FormatFile,
    pending: Vec<ManifestEntry>,
}

impl ManifestFileWriter {
    pub(in crate::manifest) fn create(
        format: &dyn FileFormat,
        out: Box<dyn OutputStream>,
        compression: &str,
    ) -> Result<Self> {
        Ok(ManifestFileWriter {
            file: FormatFile::create(format, out, compression, &schema::manifest())?,
            pending: Vec::new(),
        })
    }

    pub(in crate::manifest) async fn append(&mut self, entry: &ManifestEntry) -> Result<()> {
        self.pending.push(entry.clone());
        match self.pending.len() < BATCH_ROWS {
            true => Ok(()),
            false => self.flush().await,
        }
    }

    /// Whether the file has reached `target_size` bytes.
    pub(in crate::manifest) async fn is_full(&mut self, target_size: u64) -> Result<bool> {
        self.flush().await?;
        self.file.writer.reach_target_size(true, target_size)
    }

    /// The size of the file in bytes.
    pub(in crate::manifest) async fn finish(mut self) -> Result<u64> {
        self.flush().await?;
        self.file.finish().await
    }

    async fn flush(&mut self) -> Result<()> {
        let entries = std::mem::take(&mut self.pending);
        match entries.is_empty() {
            true => Ok(()),
            false => self.file.write(entry_columns(&entries)).await,
        }
    }
}

/// A file of some columns. Dropped before its end it leaves nothing.
struct FormatFile {
    arrow: Arc<arrow_schema::Schema>,
    writer: Box<dyn FormatWriter>,
}

impl std::fmt::Debug for FormatFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FormatFile").finish_non_exhaustive()
    }
}

impl FormatFile {
    fn create(
        format: &dyn FileFormat,
        out: Box<dyn OutputStream>,
        compression: &str,
        fields: &[DataField],
    ) -> Result<Self> {
        let builder = format.create_writer_builder(fields, BATCH_ROWS)?;
        let writer = builder.build(out, compression).map_err(option_of_manifests)?;
        Ok(FormatFile {
            arrow: Arc::new(to_arrow_schema(fields)),
            writer,
        })
    }

    async fn write(&mut self, columns: impl FnOnce(&Fields) -> Result<Vec<ArrayRef>>) -> Result<()> {
        let columns = columns(&self.arrow.fields)?;
        let batch = RecordBatch::try_new(self.arrow.clone(), columns).map_err(mismatch)?;
        self.writer.add_batch(&batch).await
    }

    async fn finish(mut self) -> Result<u64> {
        let result = self.writer.finish().await;
        let mut out = self.writer.into_output();
        match result {
            Ok(()) => {
                out.close().await?;
                Ok(out.position())
            }
            Err(error) => {
                if let Err(e) = out.abort().await {
                    tracing::warn!(error = %e, "cannot remove what is left of a manifest");
                }
                Err(error)
            }
        }
    }
}

fn mismatch(error: ArrowError) -> Error {
    Error::invalid(format!("manifest columns do not fit their schema: {error}"))
}

/// The fields of a record or of the records of a list.
fn record_fields<'a>(fields: &'a Fields, name: &str) -> Result<&'a Fields> {
    let field = fields.find(name).map(|(_, field)| field);
    let mut kind = field.map(|field| field.data_type());
    if let Some(ArrowType::List(item)) = kind {
        kind = Some(item.data_type());
    }
    match kind {
        Some(ArrowType::Struct(fields)) => Ok(fields),
        _ => Err(Error::invalid(format!(
            "the schema of manifests has no record {name}"
        ))),
    }
}

fn item_field<'a>(fields: &'a Fields, name: &str) -> Result<&'a FieldRef> {
    match fields.find(name).map(|(_, field)| field.data_type()) {
        Some(ArrowType::List(item)) => Ok(item),
        _ => Err(Error::invalid(format!(
            "the schema of manifests has no list {name}"
        ))),
    }
}

/// Makes columns of `rows` by functions of a row.
struct Rows<'a, T>(&'a [T]);

impl<'a, T> Rows<'a, T> {
    fn longs(&self, value: impl Fn(&'a T) -> Option<i64>) -> ArrayRef {
        Arc::new(self.0.iter().map(value).collect::<Int64Array>())
    }

    fn ints(&self, value: impl Fn(&'a T) -> Option<i32>) -> ArrayRef {
        Arc::new(self.0.iter().map(value).collect::<Int32Array>())
    }

    fn tinies(&self, value: impl Fn(&'a T) -> Option<i8>) -> ArrayRef {
        Arc::new(self.0.iter().map(value).collect::<Int8Array>())
    }

    fn texts(&self, value: impl Fn(&'a T) -> Option<&'a str>) -> ArrayRef {
        Arc::new(self.0.iter().map(value).collect::<StringArray>())
    }

    fn binaries<B: AsRef<[u8]>>(&self, value: impl Fn(&'a T) -> Option<B>) -> ArrayRef {
        Arc::new(self.0.iter().map(value).collect::<BinaryArray>())
    }

    fn text_lists(&self, item: &FieldRef, value: impl Fn(&'a T) -> Option<&'a [String]>) -> ArrayRef {
        let mut builder = ListBuilder::new(StringBuilder::new()).with_field(item.clone());
        for row in self.0 {
            builder.append_option(value(row).map(|list| list.iter().map(Some)));
        }
        Arc::new(builder.finish())
    }

    fn long_lists(&self, item: &FieldRef, value: impl Fn(&'a T) -> Option<Vec<Option<i64>>>) -> ArrayRef {
        let mut builder = ListBuilder::new(Int64Builder::new()).with_field(item.clone());
        for row in self.0 {
            builder.append_option(value(row));
        }
        Arc::new(builder.finish())
    }

    fn stats(&self, fields: &Fields, value: impl Fn(&'a T) -> &'a SimpleStats) -> Result<ArrayRef> {
        let columns = vec![
            self.binaries(|row| Some(value(row).min_values.encoded_row().to_serialized())),
            self.binaries(|row| Some(value(row).max_values.encoded_row().to_serialized())),
            self.long_lists(item_field(fields, "_NULL_COUNTS")?, |row| {
                Some(value(row).null_counts.to_vec())
            }),
        ];
        record(fields, columns, None)
    }
}

fn record(fields: &Fields, columns: Vec<ArrayRef>, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let array = StructArray::try_new(fields.clone(), columns, nulls).map_err(mismatch)?;
    Ok(Arc::new(array))
}

fn list_columns(metas: &[ManifestFileMeta]) -> impl FnOnce(&Fields) -> Result<Vec<ArrayRef>> {
    move |fields| {
        let rows = Rows(metas);
        Ok(vec![
            rows.ints(|_| Some(MANIFEST_LIST_VERSION)),
            rows.texts(|meta| Some(&meta.file_name)),
            rows.longs(|meta| Some(meta.file_size)),
            rows.longs(|meta| Some(meta.num_added_files)),
            rows.longs(|meta| Some(meta.num_deleted_files)),
            rows.stats(record_fields(fields, "_PARTITION_STATS")?, |meta| {
                &meta.partition_stats
            })?,
            rows.longs(|meta| Some(meta.schema_id)),
            rows.ints(|meta| meta.min_bucket),
            rows.ints(|meta| meta.max_bucket),
            rows.ints(|meta| meta.min_level),
            rows.ints(|meta| meta.max_level),
            rows.longs(|meta| meta.min_row_id),
            rows.longs(|meta| meta.max_row_id),
        ])
    }
}

/// A code that is 0 or 1.
fn tiny(code: i32) -> i8 {
    i8::try_from(code).unwrap_or_default()
}

fn entry_columns(entries: &[ManifestEntry]) -> impl FnOnce(&Fields) -> Result<Vec<ArrayRef>> {
    move |fields| {
        let rows = Rows(entries);
        let file_fields = record_fields(fields, "_FILE")?;
        let files: Vec<&DataFileMeta> = entries.iter().map(|entry| &entry.file).collect();
        Ok(vec![
            rows.ints(|_| Some(MANIFEST_VERSION)),
            rows.tinies(|entry| Some(tiny(entry.kind.code()))),
            rows.binaries(|entry| Some(entry.partition.encoded_row().to_serialized())),
            rows.ints(|entry| Some(entry.bucket)),
            rows.ints(|entry| Some(entry.total_buckets)),
            record(file_fields, file_columns(&files, file_fields)?, None)?,
        ])
    }
}

fn file_columns(files: &[&DataFileMeta], fields: &Fields) -> Result<Vec<ArrayRef>> {
    let rows = Rows(files);
    let item = |name| item_field(fields, name);
    let times: TimestampMillisecondArray = files.iter().map(|file| file.creation_time).collect();
    Ok(vec![
        rows.texts(|file| Some(&file.file_name)),
        rows.longs(|file| Some(file.file_size)),
        rows.longs(|file| Some(file.row_count)),
        rows.binaries(|file| Some(file.min_key.encoded_row().to_serialized())),
        rows.binaries(|file| Some(file.max_key.encoded_row().to_serialized())),
        rows.stats(record_fields(fields, "_KEY_STATS")?, |file| &file.key_stats)?,
        rows.stats(record_fields(fields, "_VALUE_STATS")?, |file| &file.value_stats)?,
        rows.longs(|file| Some(file.min_sequence_number)),
        rows.longs(|file| Some(file.max_sequence_number)),
        rows.longs(|file| Some(file.schema_id)),
        rows.ints(|file| Some(file.level)),
        rows.text_lists(item("_EXTRA_FILES")?, |file| Some(file.extra_files.as_slice())),
        Arc::new(times),
        rows.longs(|file| file.delete_row_count),
        rows.binaries(|file| file.embedded_index.as_deref()),
        rows.tinies(|file| file.file_source.map(|source| tiny(file_source_code(source)))),
        rows.text_lists(item("_VALUE_STATS_COLS")?, |file| {
            file.value_stats_cols.as_deref()
        }),
        rows.texts(|file| file.external_path.as_deref()),
        rows.longs(|file| file.first_row_id),
        rows.text_lists(item("_WRITE_COLS")?, |file| file.write_cols.as_deref()),
        rows.long_lists(item("_WRITE_COLS_SEQUENCES")?, |file| {
            let sequences = file.write_cols_sequences.as_ref()?;
            Some(sequences.iter().copied().map(Some).collect())
        }),
    ])
}

fn index_columns(entries: &[IndexManifestEntry]) -> impl FnOnce(&Fields) -> Result<Vec<ArrayRef>> {
    move |fields| {
        let rows = Rows(entries);
        Ok(vec![
            rows.ints(|_| Some(INDEX_MANIFEST_VERSION)),
            rows.tinies(|entry| Some(tiny(entry.kind.code()))),
            rows.binaries(|entry| Some(entry.partition.encoded_row().to_serialized())),
            rows.ints(|entry| Some(entry.bucket)),
            rows.texts(|entry| Some(&entry.index_file.index_type)),
            rows.texts(|entry| Some(&entry.index_file.file_name)),
            rows.longs(|entry| Some(entry.index_file.file_size)),
            rows.longs(|entry| Some(entry.index_file.row_count)),
            range_lists(fields, entries)?,
            rows.texts(|entry| entry.index_file.external_path.as_deref()),
            globals(fields, entries)?,
        ])
    }
}

fn range_lists(fields: &Fields, entries: &[IndexManifestEntry]) -> Result<ArrayRef> {
    const NAME: &str = "_DELETIONS_VECTORS_RANGES";
    let lists = || entries.iter().map(|entry| entry.index_file.dv_ranges.as_deref());
    let ranges: Vec<_> = lists().flatten().flatten().collect();
    let rows = Rows(&ranges);
    let columns = vec![
        rows.texts(|range| Some(&range.data_file_name)),
        rows.ints(|range| Some(range.offset)),
        rows.ints(|range| Some(range.length)),
        rows.longs(|range| range.cardinality),
    ];
    let offsets = OffsetBuffer::from_lengths(lists().map(|list| list.map_or(0, <[_]>::len)));
    let nulls: NullBuffer = lists().map(|list| list.is_some()).collect();
    let items = record(record_fields(fields, NAME)?, columns, None)?;
    let array = ListArray::try_new(item_field(fields, NAME)?.clone(), offsets, items, Some(nulls));
    Ok(Arc::new(array.map_err(mismatch)?))
}

fn globals(fields: &Fields, entries: &[IndexManifestEntry]) -> Result<ArrayRef> {
    let fields = record_fields(fields, "_GLOBAL_INDEX")?;
    let globals: Vec<Option<&GlobalIndexMeta>> = entries
        .iter()
        .map(|entry| entry.index_file.global_index.as_ref())
        .collect();
    let rows = Rows(&globals);
    let mut extra =
        ListBuilder::new(Int32Builder::new()).with_field(item_field(fields, "_EXTRA_FIELD_IDS")?.clone());
    for global in &globals {
        let ids = global.and_then(|global| global.extra_field_ids.as_ref());
        extra.append_option(ids.map(|ids| ids.iter().copied().map(Some)));
    }
    // Below a null record the fields that are never null hold 0.
    let columns = vec![
        rows.longs(|global| Some(global.map_or(0, |global| global.row_range_start))),
        rows.longs(|global| Some(global.map_or(0, |global| global.row_range_end))),
        rows.ints(|global| Some(global.map_or(0, |global| global.index_field_id))),
        Arc::new(extra.finish()) as ArrayRef,
        rows.binaries(|global| global.and_then(|global| global.index_meta.as_deref())),
        rows.binaries(|global| global.and_then(|global| global.source_meta.as_deref())),
    ];
    record(
        fields,
        columns,
        Some(globals.iter().map(Option::is_some).collect()),
    )
}

/// A format knows the codec as that of data files.
fn option_of_manifests(error: Error) -> Error {
    let named = |(key, value): (&str, &str)| key == "option" && value == "file.compression";
    if !error.context().any(named) {
        return error;
    }
    let renamed = Error::new(error.kind(), error.message().to_owned());
    error
        .context()
        .fold(renamed, |renamed, (key, value)| match named((key, value)) {
            true => renamed.with(key, "manifest.compression"),
            false => renamed.with(key, value),
        })
}
