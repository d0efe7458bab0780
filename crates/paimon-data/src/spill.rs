// SPDX-License-Identifier: Apache-2.0

//! Sorted rows in temporary files: between the rounds of a merge of many runs, and of a write buffer that was full.
//!
//! The files have no name where the system allows it and are gone when they are closed, however that comes about. Methods whose name
//! ends in `_here` wait for the disk on this thread, the others on one of the blocking pool.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type, Int64Type};
use arrow_array::{Int8Array, Int32Array, Int64Array, RecordBatch, RecordBatchOptions, make_array};
use arrow_buffer::Buffer;
use arrow_ipc::CompressionType;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use paimon_merge::{MergedBatch, RunBatch};
use paimon_types::{CoreOptions, Error, Result};

/// Where temporary files are and how they are written.
#[derive(Clone, Debug)]
pub(crate) struct SpillFiles {
    directory: Arc<Path>,
    format: IpcWriteOptions,
}

impl SpillFiles {
    /// Files in `directory`, compressed as the options say (Java `BlockCompressionFactory`; nobody else reads them, so that LZ4 stands
    /// for LZO, which it descends from).
    ///
    /// # Errors
    /// `InvalidInput` that names the option for a codec or an effort that does not exist.
    pub(crate) fn new(directory: &Path, options: &CoreOptions) -> Result<Self> {
        let name = options.spill_compression.as_deref().unwrap_or("none");
        let level = options.spill_compression_zstd_level;
        let codec = match name {
            "none" => None,
            "zstd" => Some(CompressionType::ZSTD),
            "lz4" | "lzo" => Some(CompressionType::LZ4_FRAME),
            _ => {
                let problem = format!("'{name}' is not a codec of temporary files: zstd, lz4, lzo, none");
                return Err(Error::invalid(problem).with("option", "spill-compression"));
            }
        };
        let level = (name == "zstd").then_some(level);
        let format = IpcWriteOptions::default().try_with_compression(codec);
        let format = format.and_then(|format| format.try_with_compression_level(level));
        let wrong = |e| {
            Error::invalid("not an effort of zstd")
                .with_source(e)
                .with("option", "spill-compression.zstd-level")
        };
        Ok(SpillFiles {
            directory: directory.into(),
            format: format.map_err(wrong)?,
        })
    }
}

/// Writes one sorted run.
pub(crate) struct SpillWriter {
    writer: StreamWriter<BufWriter<File>>,
    schema: SchemaRef,
    rows: SchemaRef,
    /// Where each batch ends.
    ends: Vec<u64>,
}

/// A sorted run that was written.
pub(crate) struct SpilledRun {
    /// Not there while it is used, and behind the last batch.
    reader: Option<Reader>,
    rows: SchemaRef,
    bytes: u64,
}

/// What is left of a run. Each batch is read as one block that its columns share.
struct Reader {
    file: File,
    decoder: StreamDecoder,
    at: u64,
    ends: std::vec::IntoIter<u64>,
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
    /// A file for rows of `rows`, with levels or without.
    ///
    /// # Errors
    /// `ResourcesExhausted` when the file cannot be made.
    pub(crate) async fn create(files: SpillFiles, rows: SchemaRef, levels: bool) -> Result<Self> {
        blocking(move || Self::create_here(&files, rows, levels)).await
    }

    /// As [`create`](Self::create).
    pub(crate) fn create_here(files: &SpillFiles, rows: SchemaRef, levels: bool) -> Result<Self> {
        let mut fields: Vec<_> = rows.fields().iter().cloned().collect();
        fields.push(Arc::new(Field::new("_SEQUENCE_NUMBER", DataType::Int64, false)));
        fields.push(Arc::new(Field::new("_VALUE_KIND", DataType::Int8, false)));
        if levels {
            fields.push(Arc::new(Field::new("_LEVEL", DataType::Int32, false)));
        }
        let schema = Arc::new(Schema::new(fields));
        let directory = files.directory.as_ref();
        let file = tempfile::tempfile_in(directory)
            .map_err(|e| io(e).with("directory", directory.display().to_string()))?;
        let (file, format) = (BufWriter::new(file), files.format.clone());
        let writer = StreamWriter::try_new_with_options(file, &schema, format).map_err(failed)?;
        Ok(SpillWriter {
            writer,
            schema,
            rows,
            ends: Vec::new(),
        })
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
        columns.push(make_array(
            Int64Array::try_new(sequence, None).map_err(failed)?.into(),
        ));
        let kinds = batch.kinds.ok_or_else(missing)?;
        columns.push(make_array(
            Int8Array::try_new(kinds, None).map_err(failed)?.into(),
        ));
        if let Some(levels) = batch.levels {
            columns.push(make_array(
                Int32Array::try_new(levels, None).map_err(failed)?.into(),
            ));
        }
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(failed)?;
        self.writer.write(&batch).map_err(failed)?;
        self.ends
            .push(self.writer.get_mut().stream_position().map_err(io)?);
        Ok(())
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
        let reader = Reader {
            file,
            decoder: StreamDecoder::new(),
            at: 0,
            ends: self.ends.into_iter(),
        };
        Ok(SpilledRun {
            reader: Some(reader),
            rows: self.rows,
            bytes,
        })
    }
}

impl Reader {
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        let Some(end) = self.ends.next() else {
            return Ok(None);
        };
        let damaged = || Error::corrupt("a temporary file of a merge is shorter than was written");
        let length = end - self.at;
        let mut block = Vec::with_capacity(usize::try_from(length).map_err(|_| damaged())?);
        let read = (&mut self.file)
            .take(length)
            .read_to_end(&mut block)
            .map_err(io)?;
        self.at = end;
        if read as u64 != length {
            return Err(damaged());
        }
        let batch = self
            .decoder
            .decode(&mut Buffer::from_vec(block))
            .map_err(failed)?;
        batch.map(Some).ok_or_else(damaged)
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
            let batch = reader.next()?;
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
        match reader.next()? {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn files(options: &[(&str, &str)]) -> Result<SpillFiles> {
        let of = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let options = CoreOptions::from_map(&options.iter().map(of).collect())?;
        SpillFiles::new(&std::env::temp_dir(), &options)
    }

    #[tokio::test]
    async fn options_say_how_files_are_compressed() {
        let rows = Arc::new(Schema::new(vec![Field::new("k", DataType::Int64, false)]));
        let keys: Vec<i64> = (0..20_000).collect();
        let mut sizes = Vec::new();
        for options in [
            &[("spill-compression", "none")][..],
            &[("spill-compression", "LZ4")],
            &[("spill-compression", "lzo")],
            &[("spill-compression", "zstd")],
            &[
                ("spill-compression", "zstd"),
                ("spill-compression.zstd-level", "9"),
            ],
            &[],
        ] {
            let writer = SpillWriter::create(files(options).unwrap(), rows.clone(), true)
                .await
                .unwrap();
            let batch = MergedBatch {
                rows: RecordBatch::try_new(rows.clone(), vec![Arc::new(Int64Array::from(keys.clone()))])
                    .unwrap(),
                sequence: Some(keys.clone().into()),
                kinds: Some(vec![0; keys.len()].into()),
                levels: Some(vec![1; keys.len()].into()),
            };
            let mut run = writer.write(batch).await.unwrap().finish().await.unwrap();
            sizes.push(run.bytes());
            let read = run.next().await.unwrap().unwrap();
            assert_eq!(
                read.rows.column(0).as_primitive::<Int64Type>().values(),
                keys.as_slice()
            );
            assert_eq!(read.sequence.as_ref(), keys.as_slice());
            assert!(run.next().await.unwrap().is_none());
        }
        assert_eq!(sizes.pop(), Some(sizes[0]));
        assert!(sizes.iter().skip(1).all(|size| *size < sizes[0] / 2), "{sizes:?}");
        assert!(sizes[3] < sizes[1], "{sizes:?}");
    }

    #[test]
    fn unknown_codecs_are_refused() {
        for (codec, level, option) in [
            ("brotli", "1", "spill-compression"),
            ("zstd", "99", "spill-compression.zstd-level"),
        ] {
            let options = [
                ("spill-compression", codec),
                ("spill-compression.zstd-level", level),
            ];
            let error = files(&options).unwrap_err();
            let names = error
                .context()
                .any(|(key, value)| key == "option" && value == option);
            assert!(names, "{error:?}");
        }
    }
}
