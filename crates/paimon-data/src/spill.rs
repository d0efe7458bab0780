// SPDX-License-Identifier: Apache-2.0

//! Sorted rows in temporary files: between the rounds of a merge of many runs, and of a write buffer that was full.
//!
//! The files have no name where the system allows it and are gone when they are closed, however that comes about. Methods whose name
//! ends in `_here` wait for the disk on this thread, the others on one of the blocking pool.

use std::fs::File;
use std::io::{BufReader, BufWriter, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type, Int64Type};
use arrow_array::{Int8Array, Int32Array, Int64Array, RecordBatch, RecordBatchOptions};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use paimon_merge::{MergedBatch, RunBatch};
use paimon_types::{Error, Result};

/// Writes one sorted run.
pub(crate) struct SpillWriter {
    writer: StreamWriter<BufWriter<File>>,
    schema: SchemaRef,
    rows: SchemaRef,
}

/// A sorted run that was written.
pub(crate) struct SpilledRun {
    /// Not there while it is used, and behind the last batch.
    reader: Option<StreamReader<BufReader<File>>>,
    rows: SchemaRef,
    bytes: u64,
}

fn failed(error: ArrowError) -> Error {
    Error::resources("a temporary file of a merge cannot be used").with_source(error)
}

fn io(error: std::io::Error) -> Error {
    Error::resources("a temporary file of a merge cannot be used").with_source(error)
}

/// Runs work that waits for the disk where it may.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(Error::resources("work on a temporary file did not end").with_source(error)),
    }
}

impl SpillWriter {
    /// A file in `directory` for rows of `rows`, with levels or without.
    ///
    /// # Errors
    /// `ResourcesExhausted` when the file cannot be made.
    pub(crate) async fn create(directory: PathBuf, rows: SchemaRef, levels: bool) -> Result<Self> {
        blocking(move || Self::create_here(&directory, rows, levels)).await
    }

    /// As [`create`](Self::create).
    pub(crate) fn create_here(directory: &Path, rows: SchemaRef, levels: bool) -> Result<Self> {
        let mut fields: Vec<_> = rows.fields().iter().cloned().collect();
        fields.push(Arc::new(Field::new("_SEQUENCE_NUMBER", DataType::Int64, false)));
        fields.push(Arc::new(Field::new("_VALUE_KIND", DataType::Int8, false)));
        if levels {
            fields.push(Arc::new(Field::new("_LEVEL", DataType::Int32, false)));
        }
        let schema = Arc::new(Schema::new(fields));
        let file = tempfile::tempfile_in(directory)
            .map_err(|e| io(e).with("directory", directory.display().to_string()))?;
        let writer = StreamWriter::try_new(BufWriter::new(file), &schema).map_err(failed)?;
        Ok(SpillWriter { writer, schema, rows })
    }

    /// Adds rows with their sequence numbers and kinds.
    ///
    /// # Errors
    /// `ResourcesExhausted` when the file cannot be written.
    pub(crate) async fn write(mut self, batch: MergedBatch) -> Result<Self> {
        blocking(move || {
            self.write_here(batch)?;
            Ok(self)
        })
        .await
    }

    /// As [`write`](Self::write).
    pub(crate) fn write_here(&mut self, batch: MergedBatch) -> Result<()> {
        let missing = || Error::invalid("rows between the rounds of a merge lack their system columns");
        let mut columns = batch.rows.columns().to_vec();
        let sequence = batch.sequence.ok_or_else(missing)?;
        columns.push(Arc::new(Int64Array::try_new(sequence, None).map_err(failed)?));
        let kinds = batch.kinds.ok_or_else(missing)?;
        columns.push(Arc::new(Int8Array::try_new(kinds, None).map_err(failed)?));
        if let Some(levels) = batch.levels {
            columns.push(Arc::new(Int32Array::try_new(levels, None).map_err(failed)?));
        }
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(failed)?;
        self.writer.write(&batch).map_err(failed)
    }

    /// Ends the run.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub(crate) async fn finish(self) -> Result<SpilledRun> {
        blocking(move || self.finish_here()).await
    }

    /// As [`finish`](Self::finish).
    pub(crate) fn finish_here(mut self) -> Result<SpilledRun> {
        self.writer.finish().map_err(failed)?;
        let buffered = self.writer.into_inner().map_err(failed)?;
        let mut file = buffered.into_inner().map_err(|e| io(e.into_error()))?;
        let bytes = file.stream_position().map_err(io)?;
        file.seek(SeekFrom::Start(0)).map_err(io)?;
        let reader = StreamReader::try_new(BufReader::new(file), None).map_err(failed)?;
        Ok(SpilledRun {
            reader: Some(reader),
            rows: self.rows,
            bytes,
        })
    }
}

impl SpilledRun {
    /// Size of the file.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next batch, cut as it was written.
    ///
    /// # Errors
    /// `ResourcesExhausted` when the file cannot be read, `Corrupt` when it is not what was written.
    pub(crate) async fn next(&mut self) -> Result<Option<RunBatch>> {
        let Some(mut reader) = self.reader.take() else {
            return Ok(None);
        };
        let (reader, batch) = blocking(move || {
            let batch = reader.next().transpose().map_err(failed)?;
            Ok((reader, batch))
        })
        .await?;
        let Some(batch) = batch else { return Ok(None) };
        self.reader = Some(reader);
        self.rows_of(&batch).map(Some)
    }

    /// As [`next`](Self::next).
    pub(crate) fn next_here(&mut self) -> Result<Option<RunBatch>> {
        let Some(reader) = &mut self.reader else {
            return Ok(None);
        };
        match reader.next().transpose().map_err(failed)? {
            Some(batch) => self.rows_of(&batch).map(Some),
            None => {
                self.reader = None;
                Ok(None)
            }
        }
    }

    fn rows_of(&self, batch: &RecordBatch) -> Result<RunBatch> {
        let damaged = || Error::corrupt("a temporary file of a merge has other columns than were written");
        let width = self.rows.fields().len();
        let system = |at: usize| batch.columns().get(width + at).ok_or_else(damaged);
        let sequence = system(0)?.as_primitive_opt::<Int64Type>().ok_or_else(damaged)?;
        let kinds = system(1)?.as_primitive_opt::<Int8Type>().ok_or_else(damaged)?;
        let levels = match batch.columns().get(width + 2) {
            None => None,
            Some(levels) => Some(levels.as_primitive_opt::<Int32Type>().ok_or_else(damaged)?),
        };
        let columns = batch.columns().iter().take(width).cloned().collect();
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RunBatch {
            rows: RecordBatch::try_new_with_options(self.rows.clone(), columns, &options).map_err(failed)?,
            sequence: sequence.values().clone(),
            kinds: kinds.values().clone(),
            levels: levels.map(|levels| levels.values().clone()),
        })
    }
}
