// SPDX-License-Identifier: Apache-2.0

//! The files of one partition and bucket: open, roll, close, describe (Java `RollingFileWriterImpl`, `RowDataFileWriter`).

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;
use paimon_format::{FileFormat, FormatWriter, MemoryPool, UnboundedMemoryPool};
use paimon_protocol::{DataFileMeta, FileSource, RowValues};
use paimon_storage::{Environment, OutputStream, Storage};
use paimon_types::{DataField, Error, ErrorKind, Result};

use super::key_value::{KeyValueColumns, RowFacts};
use super::stats::{FileStats, StatsCollector};

/// Rows after which the size of the open file is looked at; batches are cut there.
const CHECK_ROWS: usize = 16 * 1024;
/// Smaller batches are joined before they are encoded.
const JOIN_ROWS: usize = 4 * 1024;

/// What all writers of a table share.
#[derive(Debug)]
pub(crate) struct FileSettings {
    pub(crate) storage: Storage,
    pub(crate) format: Arc<dyn FileFormat>,
    pub(crate) fields: Vec<DataField>,
    pub(crate) schema: SchemaRef,
    pub(crate) schema_id: i64,
    pub(crate) compression: String,
    pub(crate) prefix: String,
    pub(crate) extension: String,
    pub(crate) target_size: u64,
    pub(crate) target_rows: u64,
    pub(crate) batch_size: usize,
    pub(crate) stats: StatsCollector,
    pub(crate) environment: Environment,
    /// Where key, sequence number and kind stand in key-value files; `None` for files of plain rows.
    pub(crate) key_value: Option<KeyValueColumns>,
}

/// Writes the files of one (partition, bucket).
pub(crate) struct BucketWriter {
    settings: Arc<FileSettings>,
    dir: String,
    uuid: String,
    next_file: u64,
    /// Of the next plain row.
    next_sequence: i64,
    open: Option<OpenFile>,
    files: Vec<DataFileMeta>,
    /// What the open file holds in memory.
    pool: Arc<UnboundedMemoryPool>,
}

struct OpenFile {
    writer: Box<dyn FormatWriter>,
    name: String,
    rows: u64,
    /// Present when rows of a key-value file were written.
    facts: Option<RowFacts>,
}

impl BucketWriter {
    /// A writer into `dir` whose first row has the sequence number `next_sequence`; rows of key-value files have their own.
    /// What open files hold in memory is counted by `pool`.
    pub(crate) fn new(
        settings: Arc<FileSettings>,
        dir: String,
        next_sequence: i64,
        pool: Arc<UnboundedMemoryPool>,
    ) -> Self {
        let uuid = settings.environment.ids.next_uuid();
        BucketWriter {
            settings,
            dir,
            uuid,
            next_file: 0,
            next_sequence,
            open: None,
            files: Vec::new(),
            pool,
        }
    }

    /// True when a file is begun and not closed.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The files closed since the last call.
    pub(crate) fn take_files(&mut self) -> Vec<DataFileMeta> {
        std::mem::take(&mut self.files)
    }

    /// Encodes batches in order, beginning new files as they fill up.
    pub(crate) async fn write(&mut self, batches: Vec<RecordBatch>) -> Result<()> {
        for batch in join(&self.settings.schema, batches)? {
            self.write_one(&batch).await?;
        }
        Ok(())
    }

    async fn write_one(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut offset = 0;
        while offset < batch.num_rows() {
            let settings = self.settings.clone();
            let file = match &mut self.open {
                Some(file) => file,
                None => {
                    let file = self.open_file().await?;
                    self.open.insert(file)
                }
            };
            let room = usize::try_from(settings.target_rows.saturating_sub(file.rows))
                .unwrap_or(usize::MAX)
                .max(1);
            let length = (batch.num_rows() - offset).min(CHECK_ROWS).min(room);
            let rows = batch.slice(offset, length);
            file.writer.add_batch(&rows).await?;
            if let Some(columns) = &settings.key_value {
                columns.note(&mut file.facts, &rows)?;
            }
            file.rows += length as u64;
            offset += length;
            if file.rows >= settings.target_rows
                || file.writer.reach_target_size(true, settings.target_size)?
            {
                self.close_file().await?;
            }
        }
        Ok(())
    }

    async fn open_file(&mut self) -> Result<OpenFile> {
        let settings = self.settings.clone();
        let name = format!(
            "{}{}-{}{}",
            settings.prefix, self.uuid, self.next_file, settings.extension
        );
        let mut builder = settings
            .format
            .create_writer_builder(&settings.fields, settings.batch_size)?;
        builder.with_memory_pool(self.pool.clone());
        let output = settings
            .storage
            .open_output(&Storage::join(&self.dir, &name))
            .await?;
        let writer = builder.build(output, &settings.compression)?;
        self.next_file += 1;
        Ok(OpenFile {
            writer,
            name,
            rows: 0,
            facts: None,
        })
    }

    /// Finishes the open file, if there is one, and remembers what is to be committed.
    pub(crate) async fn close_file(&mut self) -> Result<()> {
        let Some(mut file) = self.open.take() else {
            return Ok(());
        };
        let finished = file
            .writer
            .finish()
            .await
            .and_then(|()| self.written_stats(file.writer.as_ref()));
        let mut output = file.writer.into_output();
        let stats = match finished {
            Ok(stats) => stats,
            Err(e) => {
                abort(output.as_mut()).await;
                return Err(e);
            }
        };
        let size = output.position();
        let described = match output.close().await {
            Ok(()) => {
                self.describe(file.name.clone(), file.rows, size, stats, file.facts)
                    .await
            }
            Err(e) => Err(e),
        };
        match described {
            Ok(meta) => {
                self.next_sequence = meta.max_sequence_number.saturating_add(1);
                self.files.push(meta);
                Ok(())
            }
            Err(e) => {
                // nobody else knows the name, so the file can go whether or not it became visible
                if let Err(e) = self
                    .settings
                    .storage
                    .delete(&Storage::join(&self.dir, &file.name))
                    .await
                {
                    tracing::warn!(file = file.name, error = %e, "a data file that failed was not removed");
                }
                Err(e)
            }
        }
    }

    /// The meta of a file that is closed.
    async fn describe(
        &mut self,
        name: String,
        rows: u64,
        size: u64,
        stats: Option<FileStats>,
        facts: Option<RowFacts>,
    ) -> Result<DataFileMeta> {
        let stats = match stats {
            Some(stats) => stats,
            None => self.extract(&name, size).await?,
        };
        let row_count = i64::try_from(rows).map_err(|_| Error::resources("a file has too many rows"))?;
        let facts = match facts {
            Some(facts) => facts,
            None => {
                let first = self.next_sequence;
                let next = first.checked_add(row_count).ok_or_else(|| {
                    Error::invalid("sequence numbers of the bucket are used up").with("path", &self.dir)
                })?;
                RowFacts {
                    min_key: RowValues::empty(),
                    max_key: RowValues::empty(),
                    min_sequence: first,
                    max_sequence: next - 1,
                    deletes: 0,
                }
            }
        };
        Ok(DataFileMeta {
            file_name: name,
            file_size: i64::try_from(size).map_err(|_| Error::resources("a file is too large"))?,
            row_count,
            min_key: facts.min_key,
            max_key: facts.max_key,
            key_stats: stats.key_stats,
            value_stats: stats.value_stats,
            min_sequence_number: facts.min_sequence,
            max_sequence_number: facts.max_sequence,
            schema_id: self.settings.schema_id,
            level: 0,
            extra_files: Vec::new(),
            creation_time: Some(self.settings.environment.clock.now_local_millis()),
            delete_row_count: Some(facts.deletes),
            embedded_index: None,
            file_source: Some(FileSource::Append),
            value_stats_cols: stats.value_stats_cols.map(Into::into),
            external_path: None,
            first_row_id: None,
            write_cols: None,
            write_cols_sequences: None,
        })
    }

    /// The statistics of a finished file, `None` when the writer cannot tell them.
    fn written_stats(&self, writer: &dyn FormatWriter) -> Result<Option<FileStats>> {
        let stats = &self.settings.stats;
        if !stats.wanted() {
            return stats.nothing().map(Some);
        }
        match writer.written_stats() {
            Some(provider) => {
                let pool: Arc<dyn MemoryPool> = self.pool.clone();
                stats
                    .convert(&provider.extract_written_file_stats(&pool)?)
                    .map(Some)
            }
            None => Ok(None),
        }
    }

    /// The statistics read back from a file.
    async fn extract(&mut self, name: &str, size: u64) -> Result<FileStats> {
        let settings = self.settings.clone();
        let extractor = match settings.format.create_stats_extractor(&settings.fields) {
            Ok(extractor) => extractor,
            Err(e) if e.kind() == ErrorKind::Unsupported => return settings.stats.nothing(),
            Err(e) => return Err(e),
        };
        let file = settings
            .storage
            .open_input(&Storage::join(&self.dir, name), Some(size))
            .await?;
        match extractor.extract(file, self.pool.clone()).await {
            Ok(found) => settings.stats.convert(&found),
            // the format keeps no statistics
            Err(e) if e.kind() == ErrorKind::Unsupported => settings.stats.nothing(),
            Err(e) => Err(e),
        }
    }

    /// Throws the open file away and deletes the closed ones that nobody took.
    pub(crate) async fn abort(mut self) -> Result<()> {
        if let Some(file) = self.open.take() {
            abort(file.writer.into_output().as_mut()).await;
        }
        let mut result = Ok(());
        for file in self.take_files() {
            let deleted = self
                .settings
                .storage
                .delete(&Storage::join(&self.dir, &file.file_name))
                .await;
            result = result.and(deleted);
        }
        result
    }
}

/// Aborts a stream whose file failed already: the first error is the one that matters.
async fn abort(output: &mut dyn OutputStream) {
    if let Err(e) = output.abort().await {
        tracing::warn!(error = %e, "remains of an unfinished data file were not removed");
    }
}

/// Joins neighbours until they have [`JOIN_ROWS`] rows; large batches are left alone.
fn join(schema: &SchemaRef, batches: Vec<RecordBatch>) -> Result<Vec<RecordBatch>> {
    let mut joined = Vec::new();
    let mut small: Vec<RecordBatch> = Vec::new();
    let mut rows = 0;
    let mut flush = |small: &mut Vec<RecordBatch>| {
        match small.len() {
            0 => {}
            1 => joined.append(small),
            _ => {
                let batch = concat_batches(schema, small.iter())
                    .map_err(|e| Error::resources("cannot join batches").with_source(e))?;
                small.clear();
                joined.push(batch);
            }
        }
        Ok::<(), Error>(())
    };
    for batch in batches {
        if batch.num_rows() >= JOIN_ROWS {
            flush(&mut small)?;
            rows = 0;
        }
        rows += batch.num_rows();
        small.push(batch);
        if rows >= JOIN_ROWS {
            flush(&mut small)?;
            rows = 0;
        }
    }
    flush(&mut small)?;
    Ok(joined)
}
