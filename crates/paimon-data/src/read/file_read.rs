// SPDX-License-Identifier: Apache-2.0

//! One data file: open, map its schema to the read, decode, fill, filter, project.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int8Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Int8Array, Int64Array, RecordBatch, RecordBatchOptions, make_array,
    new_null_array,
};
use arrow_buffer::ScalarBuffer;
use arrow_schema::{DataType as ArrowType, Field, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use futures_util::future::try_join;
use futures_util::{StreamExt, TryStreamExt, stream};
use paimon_format::{Cache, FileBatchReader, MemoryPool, ReadHints};
use paimon_index::DeletionVector;
use paimon_protocol::{DataFileMeta, DataSplit};
use paimon_types::{DataField, Datum, Error, Predicate, Result, Timestamp};
use roaring::RoaringBitmap;

use super::deletions::Deletions;
use super::evolution::{SchemaMapping, Source, adapt};
use super::filter::BatchFilter;
use super::key_value::{KIND, is_retract, kind_field, sequence_field};
use super::timestamp_unit::cut_fields;
use super::{BatchStream, ReadContext};
use crate::arrow_value::repeat_as;
use crate::file_format::format_of_file;

/// What all files of one read share.
#[derive(Clone, Debug)]
pub(crate) struct FileReader {
    pub(crate) context: ReadContext,
    /// Columns to produce: the selected ones, then those that only the filter needs.
    pub(crate) read: Vec<DataField>,
    /// Arrow schema of `read`.
    pub(crate) arrow: Arc<Schema>,
    /// How many of `read` are returned.
    pub(crate) output_columns: usize,
    /// Schema of what is returned.
    pub(crate) output: SchemaRef,
    /// The kind of each row is returned too, as the first column, and no row is left out for it.
    pub(crate) row_kinds: bool,
    /// TIMESTAMP(7–9) is read as microseconds.
    pub(crate) micros: bool,
    pub(crate) predicate: Option<Predicate>,
    pub(crate) filter: Option<BatchFilter>,
    pub(crate) batch_size: usize,
    pub(crate) pool: Arc<dyn MemoryPool>,
    pub(crate) cache: Arc<dyn Cache>,
}

/// One file to read.
#[derive(Clone, Debug)]
pub(crate) struct FileTask {
    pub(crate) split: Arc<DataSplit>,
    /// Which of the split's files.
    pub(crate) index: usize,
    /// Deleted rows of all files of the read.
    pub(crate) deletions: Arc<Deletions>,
    /// Rows have kinds (files of tables with a primary key), and not all of them need be additions.
    pub(crate) kinds: bool,
    /// The file may be opened again, so that its deletion vector is still needed.
    pub(crate) again: bool,
    /// The rows that are read, as positions about which the format decides (`FileBatchReader::part_start`); all without.
    pub(crate) part: Option<Range<u64>>,
}

impl FileTask {
    pub(crate) fn file(&self) -> Result<&DataFileMeta> {
        self.split
            .data_files
            .get(self.index)
            .ok_or_else(|| Error::invalid("the split has no such file"))
    }

    /// Some rows of the file.
    pub(crate) fn part(&self, rows: Range<u64>) -> Self {
        FileTask {
            part: Some(rows),
            again: true,
            ..self.clone()
        }
    }
}

/// How a file is opened.
#[derive(Clone, Debug)]
pub(crate) struct OpenOptions {
    /// Largest number of rows of a batch.
    pub(crate) batch_size: usize,
    /// Sequence numbers are read.
    pub(crate) sequence: bool,
    /// Kinds are read.
    pub(crate) kinds: bool,
    /// The only rows that are read, none of them deleted; all that are not deleted without.
    pub(crate) selected: Option<RoaringBitmap>,
    /// The first row that is read.
    pub(crate) from: Option<u32>,
    /// How far the format may read ahead; its own choice without.
    pub(crate) hints: Option<ReadHints>,
}

/// One file being read.
pub(crate) struct OpenFile {
    shared: Arc<FileReader>,
    reader: Box<dyn FileBatchReader>,
    mapping: SchemaMapping,
    options: OpenOptions,
    /// Which of the split's files.
    index: usize,
    /// Columns that are the same in every row, for a full batch: partition values and missing columns.
    constants: Vec<Option<ArrayRef>>,
    /// Rows that are not deleted, when the format does not leave out the others itself.
    kept: Option<RoaringBitmap>,
    path: String,
}

/// Some rows of a file in the columns of the read.
pub(crate) struct FileRows {
    pub(crate) rows: RecordBatch,
    /// When asked for.
    pub(crate) sequence: Option<ScalarBuffer<i64>>,
    /// When asked for.
    pub(crate) kinds: Option<ScalarBuffer<i8>>,
}

impl FileReader {
    /// The rows of a file that are not deleted and that the filter lets through, decoded `in_place` where that needs no waiting.
    pub(crate) fn stream(self: Arc<Self>, task: FileTask, in_place: bool) -> BatchStream {
        let opened = async move {
            let options = OpenOptions {
                batch_size: self.batch_size,
                sequence: false,
                kinds: task.kinds,
                selected: None,
                from: None,
                hints: in_place.then(|| ReadHints::new().with_in_place(true)),
            };
            let open = self.open(&task, options).await?;
            Ok(stream::try_unfold(open, |open| async move {
                let Some(mut open) = open else { return Ok(None) };
                match open.next().await? {
                    Some(batch) => Ok(Some((batch, Some(open)))),
                    None => Ok(None),
                }
            }))
        };
        stream::once(opened).try_flatten().boxed()
    }

    /// `None` when no row of the file can match.
    pub(crate) async fn open(
        self: Arc<Self>,
        task: &FileTask,
        options: OpenOptions,
    ) -> Result<Option<OpenFile>> {
        let path = task.split.data_file_path(task.file()?);
        let opened = self.open_path(task, options, &path).await;
        opened.map_err(|e| at(e, &path))
    }

    async fn open_path(
        self: Arc<Self>,
        task: &FileTask,
        mut options: OpenOptions,
        path: &str,
    ) -> Result<Option<OpenFile>> {
        let (split, file) = (&task.split, task.file()?);
        let table = &self.context.read_schema;
        let file_schema = match file.schema_id == table.id {
            true => table.clone(),
            false => self.context.schemas.schema(file.schema_id).await?,
        };
        let partition = split.partition.values(&table.partition_types())?;
        let mapping = match self.micros {
            false => SchemaMapping::new(&self.read, &table.partition_keys, &file_schema.fields)?,
            true => SchemaMapping::new(
                &self.read,
                &table.partition_keys,
                &cut_fields(&file_schema.fields),
            )?,
        };
        let predicate = self
            .predicate
            .as_ref()
            .map(|p| self.in_file(p, &mapping, &partition));
        if predicate == Some(Predicate::Constant(false)) {
            return Ok(None);
        }
        let format = self
            .context
            .registry
            .get(&format_of_file(path)?, self.context.options.raw())?;
        let mut builder = format.create_reader_builder(options.batch_size)?;
        builder.with_memory_pool(self.pool.clone());
        builder.with_cache(self.cache.clone());
        let size = u64::try_from(file.file_size).ok().filter(|s| *s > 0);
        let input = self.context.storage.open_input(path, size).await?;
        if let Some(hints) = &options.hints {
            let in_place = hints.in_place && input.local_file().is_some();
            builder.with_read_hints(Some(hints.clone().with_in_place(in_place)));
        }
        let selected = options.selected.take();
        let vector = async {
            match &selected {
                None => self.deletion_vector(task).await,
                Some(_) => Ok(None),
            }
        };
        let (mut reader, vector) = try_join(builder.build(input), vector).await?;
        let predicate = predicate.filter(|p| *p != Predicate::Constant(true));
        let rows = match reader.number_of_rows() {
            Ok(rows) => rows,
            Err(_) => u64::try_from(file.row_count).unwrap_or(0),
        };
        let mut kept = match vector {
            None => selected,
            Some(vector) => Some(vector.kept_rows(rows)?),
        };
        let position = |row: u64| u32::try_from(row).unwrap_or(u32::MAX);
        let wanted = match &task.part {
            None => options.from.map(|from| from..position(rows)),
            Some(part) => match part_of_file(part, reader.as_ref())? {
                part if part.is_empty() => return Ok(None),
                part if part == (0..rows) => None,
                part => Some(position(part.start)..position(part.end)),
            },
        };
        if let Some(wanted) = wanted {
            let mut rows = RoaringBitmap::new();
            rows.insert_range(wanted);
            kept = Some(match kept {
                None => rows,
                Some(kept) => kept & rows,
            });
        }
        let mut fields = mapping.file_fields.clone();
        fields.extend(options.sequence.then(sequence_field));
        fields.extend(options.kinds.then(kind_field));
        reader.set_read_schema(&fields, predicate.as_ref(), kept.clone())?;
        let kept = kept.filter(|_| !reader.supports_precise_selection());
        if options.hints.as_ref().is_none_or(|hints| hints.read_ahead) {
            reader.warmup();
        }
        let constants = self.constants(&mapping, &partition, options.batch_size)?;
        Ok(Some(OpenFile {
            shared: self,
            reader,
            mapping,
            options,
            index: task.index,
            constants,
            kept,
            path: path.to_owned(),
        }))
    }

    /// The deleted rows of a file; `None` when there are none.
    async fn deletion_vector(&self, task: &FileTask) -> Result<Option<DeletionVector>> {
        let entries = task.split.deletion_files.as_deref().unwrap_or_default();
        let Some(Some(deletion)) = entries.get(task.index) else {
            return Ok(None);
        };
        let vector = task
            .deletions
            .vector(&self.context.storage, deletion, task.again)
            .await;
        let vector = vector.map_err(|e| match task.file() {
            Ok(file) => e.with("data file", &file.file_name),
            Err(_) => e,
        })?;
        Ok(Some(vector).filter(|vector| !vector.is_empty()))
    }

    /// The part of the predicate that the file can be asked; partition values and missing columns are known.
    fn in_file(
        &self,
        predicate: &Predicate,
        mapping: &SchemaMapping,
        partition: &[Option<Datum>],
    ) -> Predicate {
        let known = |id: i32| {
            let column = self.read.iter().position(|f| f.id == id)?;
            match mapping.sources.get(column)? {
                Source::Partition(index) => partition.get(*index).map(Option::as_ref),
                Source::Missing => Some(None),
                Source::File { .. } | Source::Place => None,
            }
        };
        predicate
            .with_known_values(&known)
            .for_file_schema(&mapping.file_fields)
    }

    /// A partition value in the unit of the read.
    fn cut(&self, value: &Datum) -> Datum {
        match value {
            Datum::Timestamp(t) if self.micros => Datum::Timestamp(Timestamp {
                nanos_of_milli: t.nanos_of_milli / 1000 * 1000,
                ..*t
            }),
            other => other.clone(),
        }
    }

    fn constants(
        &self,
        mapping: &SchemaMapping,
        partition: &[Option<Datum>],
        rows: usize,
    ) -> Result<Vec<Option<ArrayRef>>> {
        let columns = mapping.sources.iter().zip(&self.read).zip(self.arrow.fields());
        columns
            .map(|((source, field), arrow)| match source {
                Source::File { .. } | Source::Place => Ok(None),
                Source::Missing => Ok(Some(new_null_array(arrow.data_type(), rows))),
                Source::Partition(index) => {
                    let value = partition
                        .get(*index)
                        .and_then(Option::as_ref)
                        .map(|v| self.cut(v));
                    repeat_as(value.as_ref(), &field.data_type, arrow.data_type(), rows)
                        .map(Some)
                        .map_err(|e| e.with("column", &field.name))
                }
            })
            .collect()
    }
}

/// The rows of a part. Files of more rows than positions have are one part.
fn part_of_file(part: &Range<u64>, reader: &dyn FileBatchReader) -> Result<Range<u64>> {
    let rows = reader.number_of_rows()?;
    let at = |row: u64| match row {
        0 => Ok(0),
        _ if rows > u64::from(u32::MAX) => Ok(rows),
        _ => Ok(reader.part_start(row)?.min(rows)),
    };
    Ok(at(part.start)?..at(part.end)?)
}

impl OpenFile {
    /// The next rows, whatever the filter says.
    pub(crate) async fn next_rows(&mut self) -> Result<Option<FileRows>> {
        match self.decode().await {
            Ok(rows) => Ok(rows),
            Err(error) => Err(at(error, &self.path)),
        }
    }

    async fn decode(&mut self) -> Result<Option<FileRows>> {
        while let Some(mut stored) = self.reader.next_batch().await? {
            if self.mapping.has_places() {
                stored = self.with_places(&stored)?;
            }
            let stored = self.without_deleted(stored)?;
            if stored.num_rows() == 0 {
                continue;
            }
            let system = self.mapping.file_fields.len();
            let kinds_at = system + usize::from(self.options.sequence);
            let sequence = self
                .options
                .sequence
                .then(|| system_column::<Int64Type>(&stored, system));
            let kinds = self
                .options
                .kinds
                .then(|| system_column::<Int8Type>(&stored, kinds_at));
            return Ok(Some(FileRows {
                rows: self.produce(&stored)?,
                sequence: sequence.transpose()?,
                kinds: kinds.transpose()?,
            }));
        }
        Ok(None)
    }

    /// The next batch that has rows.
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        while let Some(rows) = self.next_rows().await? {
            let batch = self
                .shared
                .finish(rows.rows, rows.kinds)
                .map_err(|e| at(e, &self.path))?;
            if batch.num_rows() > 0 {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    /// The rows of the last batch that are not deleted.
    fn without_deleted(&self, stored: RecordBatch) -> Result<RecordBatch> {
        let Some(kept) = &self.kept else {
            return Ok(stored);
        };
        let mut mask = Vec::with_capacity(stored.num_rows());
        for row in 0..stored.num_rows() as u64 {
            let position = self.reader.previous_batch_file_row_id(row)?;
            mask.push(u32::try_from(position).is_ok_and(|position| kept.contains(position)));
        }
        if mask.iter().all(|keep| *keep) {
            return Ok(stored);
        }
        filter_record_batch(&stored, &BooleanArray::from(mask))
            .map_err(|e| Error::corrupt("deleted rows could not be left out").with_source(e))
    }

    /// The last batch with the places of its rows as the last column.
    fn with_places(&self, stored: &RecordBatch) -> Result<RecordBatch> {
        let wide = |_| Error::unsupported("the rows of a file cannot be numbered in 32 bits");
        let file = i64::from(u32::try_from(self.index).map_err(wide)?) << 32;
        let of = |row: u64| -> Result<i64> {
            let position = self.reader.previous_batch_file_row_id(row)?;
            Ok(file | i64::from(u32::try_from(position).map_err(wide)?))
        };
        let rows = stored.num_rows() as u64;
        let places: Vec<i64> = match rows.checked_sub(1) {
            None => Vec::new(),
            // Positions ascend.
            Some(last) if of(last)? - of(0)? == last.cast_signed() => (of(0)?..=of(last)?).collect(),
            Some(_) => (0..rows).map(of).collect::<Result<_>>()?,
        };
        let mut fields: Vec<_> = stored.schema().fields().iter().cloned().collect();
        fields.push(Arc::new(Field::new("_PLACE", ArrowType::Int64, false)));
        let mut columns = stored.columns().to_vec();
        columns.push(make_array(Int64Array::from(places).into()));
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
            .map_err(|e| Error::corrupt("rows could not be numbered").with_source(e))
    }

    /// Brings a batch of the file to the columns of the read.
    fn produce(&self, stored: &RecordBatch) -> Result<RecordBatch> {
        let rows = stored.num_rows();
        let shared = &self.shared;
        let mut columns = Vec::with_capacity(shared.read.len());
        let sources = self
            .mapping
            .sources
            .iter()
            .zip(&self.constants)
            .zip(&shared.read)
            .zip(shared.arrow.fields());
        for (((source, constant), field), arrow) in sources {
            columns.push(match (source, constant) {
                (Source::File { index, from }, _) => {
                    let array = stored.columns().get(*index).ok_or_else(|| {
                        Error::corrupt("the format returned too few columns").with("column", &field.name)
                    })?;
                    adapt(array, from, &field.data_type, arrow.data_type())
                        .map_err(|e| e.with("column", &field.name))?
                }
                (Source::Place, _) => {
                    let places = stored.columns().last().cloned();
                    places.ok_or_else(|| Error::invalid("the rows were not numbered"))?
                }
                (_, Some(constant)) if rows <= constant.len() => constant.slice(0, rows),
                (Source::Missing, _) => new_null_array(arrow.data_type(), rows),
                (Source::Partition(_), _) => {
                    return Err(Error::corrupt(format!(
                        "the format returned {rows} rows, more than the batch size"
                    )));
                }
            });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(shared.arrow.clone(), columns, &options)
            .map_err(|e| Error::corrupt("the rows of the file do not fit the table's schema").with_source(e))
    }
}

impl FileReader {
    /// From rows in the columns of the read to what is returned: the filter, kinds, the columns asked for. `kinds` are those of
    /// the rows, all additions without.
    pub(crate) fn finish(&self, rows: RecordBatch, kinds: Option<ScalarBuffer<i8>>) -> Result<RecordBatch> {
        let wrong = |e| Error::corrupt("a batch could not be projected").with_source(e);
        let (mut batch, width) = (rows, self.read.len());
        if self.row_kinds {
            let kinds = kinds.unwrap_or_else(|| vec![0; batch.num_rows()].into());
            let mut fields: Vec<_> = batch.schema().fields().iter().cloned().collect();
            fields.extend(self.output.fields().first().cloned());
            let mut columns = batch.columns().to_vec();
            columns.push(make_array(Int8Array::try_new(kinds, None).map_err(wrong)?.into()));
            batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(wrong)?;
        } else if let Some(kinds) = kinds
            && kinds.iter().any(|kind| is_retract(*kind))
        {
            let additions: Vec<bool> = kinds.iter().map(|kind| !is_retract(*kind)).collect();
            batch = filter_record_batch(&batch, &additions.into()).map_err(wrong)?;
        }
        if let Some(filter) = &self.filter {
            batch = filter.apply(&batch)?;
        }
        let kinds = self
            .row_kinds
            .then(|| batch.columns().get(width).cloned())
            .flatten();
        let columns = kinds
            .into_iter()
            .chain(batch.columns().iter().take(self.output_columns).cloned())
            .collect();
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(self.output.clone(), columns, &options).map_err(wrong)
    }
}

/// A column of numbers that every row has.
fn system_column<T: ArrowPrimitiveType>(stored: &RecordBatch, at: usize) -> Result<ScalarBuffer<T::Native>> {
    let column = stored.columns().get(at).and_then(|c| c.as_primitive_opt::<T>());
    let column =
        column.ok_or_else(|| Error::corrupt(format!("the format did not return {KIND} or its like")))?;
    if column.null_count() > 0 {
        return Err(Error::corrupt(
            "a row has no sequence number or kind, expected one in every row",
        ));
    }
    Ok(column.values().clone())
}

/// Adds the path unless the error has one.
pub(crate) fn at(error: Error, path: &str) -> Error {
    let known = error.context().any(|(key, _)| key == "path");
    if known { error } else { error.with("path", path) }
}
