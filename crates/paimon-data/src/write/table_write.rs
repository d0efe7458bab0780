// SPDX-License-Identifier: Apache-2.0

//! The writer of a table (Java `TableWriteImpl`, `AbstractFileStoreWrite`, `AppendOnlyWriter`).

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use paimon_format::{MemoryPool, UnboundedMemoryPool};
use paimon_protocol::{BucketState, CommitMessage, DataFileMeta, Partition};
use paimon_storage::Storage;
use paimon_types::{BinaryRow, ChangelogProducer, DataField, Error, Result, to_arrow_schema};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::batch::BatchMapper;
use super::context::TableWriteContext;
use super::file_name::extension;
use super::file_writer::{BucketWriter, FileSettings};
use super::key_value::{KeyValueLayout, KeyValueTable, KeyValueWriter, KindColumn, RowBuffer, file_settings};
use super::restore::RestoredBuckets;
use super::router::{Group, Router};
use super::stats::StatsCollector;

/// Bytes of rows that a bucket of an append table gathers before they are encoded.
const FLUSH_BYTES: u64 = 2 << 20;
/// Bytes that a flush needs for each row besides the row.
const SORT_BYTES: u64 = 24;

/// Writes record batches as data files.
///
/// Rows are split by partition and bucket, each of which has one open file that is closed at `target-file-size` or
/// `target-file-row-num`. Encoding runs on the blocking pool of the tokio runtime, several buckets at once, so a call
/// of [`write`](Self::write) must be made inside of one. Nothing is visible to readers before the messages of
/// [`prepare_commit`](Self::prepare_commit) are committed. Only one writer may write a (partition, bucket) of fixed buckets at a time.
///
/// Rows of a table with a primary key are gathered. When the buffers are full, those that hold most are sorted and kept in temporary
/// files (option `write-buffer-spillable`); `prepare_commit` merges the versions of a key by the table's merge engine and writes one
/// or more files of level 0, as does a full buffer that may not be spilled. Compaction is left to others, as with Java's option
/// `write-only`. Kinds of rows come from a column `_VALUE_KIND` of the batch (Int8: 0 +I, 1 -U, 2 +U, 3 -D) or from the column that
/// option `rowkind.field` names; rows without a kind are upserts. Errors of the merge (an overflow, a retraction that an aggregate
/// function cannot take) come when rows are merged, at a later `write` or at `prepare_commit`.
///
/// After an error of the store or a format, and after a call whose future was dropped, the writer is broken: every call but
/// [`abort`](Self::abort) fails. A batch that is refused (`InvalidInput` of `write`) leaves the writer as it was.
/// Dropping a writer leaves finished files that were not handed out behind as orphans; [`abort`](Self::abort) deletes them. Temporary
/// files go in either case.
pub struct TableWrite {
    context: TableWriteContext,
    files: Files,
    mapper: BatchMapper,
    router: Router,
    buckets: Vec<Bucket>,
    index: HashMap<(BinaryRow, i32), usize>,
    restore: RestoredBuckets,
    permits: Arc<Semaphore>,
    broken: bool,
}

impl fmt::Debug for TableWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableWrite")
            .field("location", &self.context.location)
            .field("buckets", &self.buckets.len())
            .finish_non_exhaustive()
    }
}

/// What files of the table are made of.
enum Files {
    Plain(Arc<FileSettings>),
    KeyValue {
        kinds: KindColumn,
        table: Arc<KeyValueTable>,
        data: Arc<FileSettings>,
        /// With changelog producer `input`.
        changelog: Option<Arc<FileSettings>>,
    },
}

impl Files {
    fn of_primary_key(context: &TableWriteContext, batch_size: usize) -> Result<Self> {
        let (schema, options) = (&context.schema, &context.options);
        let layout = KeyValueLayout::new(schema, options.data_file_thin_mode)?;
        let settings = |changelog| file_settings(context, &layout, batch_size, changelog).map(Arc::new);
        let with_changelog = options.changelog_producer == ChangelogProducer::Input;
        Ok(Files::KeyValue {
            kinds: KindColumn::new(schema, options)?,
            data: settings(false)?,
            changelog: with_changelog.then(|| settings(true)).transpose()?,
            table: Arc::new(KeyValueTable::new(context, layout)?),
        })
    }

    /// A writer of the files of one bucket.
    fn writer(&self, dir: String, first_sequence: i64, pool: &Arc<UnboundedMemoryPool>) -> BucketFiles {
        match self {
            Files::Plain(settings) => BucketFiles::Plain(Box::new(BucketWriter::new(
                settings.clone(),
                dir,
                first_sequence,
                pool.clone(),
            ))),
            Files::KeyValue {
                table,
                data,
                changelog,
                ..
            } => {
                let files = |settings: &Arc<FileSettings>, dir| {
                    BucketWriter::new(settings.clone(), dir, 0, pool.clone())
                };
                let changelog = changelog.as_ref().map(|changelog| files(changelog, dir.clone()));
                let writer = KeyValueWriter::new(table.clone(), files(data, dir), changelog, first_sequence);
                BucketFiles::KeyValue(Box::new(writer))
            }
        }
    }
}

/// Writes the files of one bucket.
enum BucketFiles {
    Plain(Box<BucketWriter>),
    KeyValue(Box<KeyValueWriter>),
}

impl BucketFiles {
    fn is_open(&self) -> bool {
        match self {
            BucketFiles::Plain(writer) => writer.is_open(),
            BucketFiles::KeyValue(writer) => writer.is_open(),
        }
    }

    async fn write(&mut self, rows: Vec<RecordBatch>, bytes: u64, close: bool, helped: bool) -> Result<()> {
        match self {
            BucketFiles::Plain(writer) => {
                writer.write(rows).await?;
                if close { writer.close_file().await } else { Ok(()) }
            }
            BucketFiles::KeyValue(writer) => writer.write(rows, bytes, close, helped).await,
        }
    }

    /// Data and changelog files closed since the last call.
    fn take_files(&mut self) -> (Vec<DataFileMeta>, Vec<DataFileMeta>) {
        match self {
            BucketFiles::Plain(writer) => (writer.take_files(), Vec::new()),
            BucketFiles::KeyValue(writer) => writer.take_files(),
        }
    }

    async fn abort(self) -> Result<()> {
        match self {
            BucketFiles::Plain(writer) => writer.abort().await,
            BucketFiles::KeyValue(writer) => writer.abort().await,
        }
    }
}

/// Rows that wait for their encoding.
enum Waiting {
    Plain(Vec<RecordBatch>),
    KeyValue(RowBuffer),
}

impl Waiting {
    fn is_empty(&self) -> bool {
        match self {
            Waiting::Plain(rows) => rows.is_empty(),
            Waiting::KeyValue(rows) => rows.is_empty(),
        }
    }

    fn take(&mut self) -> Result<Vec<RecordBatch>> {
        match self {
            Waiting::Plain(rows) => Ok(std::mem::take(rows)),
            Waiting::KeyValue(rows) => rows.take(),
        }
    }
}

/// One (partition, bucket).
struct Bucket {
    partition: BinaryRow,
    bucket: i32,
    rows: Waiting,
    row_bytes: u64,
    /// Absent while a task has it.
    writer: Option<Box<BucketFiles>>,
    task: Option<Task>,
    pool: Arc<UnboundedMemoryPool>,
}

struct Task {
    handle: JoinHandle<(Box<BucketFiles>, Result<()>)>,
    bytes: u64,
}

impl Bucket {
    /// Bytes of rows and of the open file.
    fn held(&self) -> u64 {
        self.row_bytes + self.task.as_ref().map_or(0, |task| task.bytes) + self.pool.reserved() as u64
    }
}

impl TableWrite {
    /// A writer of the table of `context`.
    ///
    /// # Errors
    /// `Unsupported` for tables that cannot be written (primary keys, dynamic buckets, data evolution, BLOB columns, external
    /// paths, a format or column type that this build does not have), `InvalidInput` for options that contradict the schema.
    pub fn new(context: TableWriteContext) -> Result<Self> {
        context.check_writable()?;
        let (schema, options) = (&context.schema, &context.options);
        let batch_size = usize::try_from(options.write_batch_size).unwrap_or(1024);
        let files = match schema.primary_keys.is_empty() {
            true => Files::Plain(Arc::new(plain_settings(&context, batch_size)?)),
            false => Files::of_primary_key(&context, batch_size)?,
        };
        let mapper = BatchMapper::new(&schema.fields, context.static_partition.clone())?;
        let router = Router::new(schema, options)?;
        let restore = RestoredBuckets::new(context.restore.as_deref(), !schema.primary_keys.is_empty())?;
        Ok(TableWrite {
            files,
            mapper,
            router,
            buckets: Vec::new(),
            index: HashMap::new(),
            restore,
            permits: Arc::new(Semaphore::new(context.parallelism.max(1))),
            broken: false,
            context,
        })
    }

    /// Writes the rows of `batch`. Columns are matched by name; their order is free, a missing column gets its default value
    /// or NULL.
    ///
    /// # Errors
    /// `InvalidInput` that names the column (and row) when the batch does not fit the table: unknown column, other type, NULL
    /// in a NOT NULL column; nothing of the batch is written then. Errors of the store and the format.
    pub async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.check()?;
        let batch = match &self.files {
            Files::Plain(_) => self.mapper.map(batch)?,
            Files::KeyValue { kinds, .. } => {
                let (rows, given) = kinds.split(batch)?;
                kinds.attach(self.mapper.map(&rows)?, given)?
            }
        };
        let groups = self.router.route(&batch)?;
        let places = groups
            .iter()
            .map(|group| self.bucket(&group.partition, group.bucket))
            .collect::<Result<Vec<_>>>()?;
        self.broken = true;
        for (group, at) in groups.into_iter().zip(places) {
            self.add(at, group).await?;
        }
        self.limit_memory().await?;
        self.broken = false;
        Ok(())
    }

    /// Finishes all open files and returns what was written since the last call, one message for each (partition, bucket) with
    /// new files, in order of their first rows. The writer can be used on.
    ///
    /// # Errors
    /// Errors of the store and the format; the writer is broken then.
    pub async fn prepare_commit(&mut self) -> Result<Vec<CommitMessage>> {
        self.check()?;
        self.broken = true;
        for at in 0..self.buckets.len() {
            self.encode(at, true).await?;
        }
        let mut messages = Vec::new();
        let total_buckets = Some(self.context.options.bucket);
        self.wait_all().await?;
        for bucket in &mut self.buckets {
            let (files, changelog) = bucket.writer.as_mut().map(|w| w.take_files()).unwrap_or_default();
            if !files.is_empty() || !changelog.is_empty() {
                let partition = Partition::from_encoded_row(bucket.partition.clone());
                let mut message = CommitMessage::append(partition, bucket.bucket, total_buckets, files);
                message.data_increment.changelog_files = changelog;
                messages.push(message);
            }
        }
        self.broken = false;
        Ok(messages)
    }

    /// Gives up: deletes every file that this writer wrote and did not hand out by [`prepare_commit`](Self::prepare_commit).
    ///
    /// # Errors
    /// The first error of the store; the other files are deleted nevertheless.
    pub async fn abort(mut self) -> Result<()> {
        let mut result = Ok(());
        for at in 0..self.buckets.len() {
            // the task's own error is the reason to abort, not a failure of it
            if let Err(e) = self.wait(at).await {
                tracing::debug!(error = %e, "a file failed before the writer was aborted");
            }
        }
        for bucket in std::mem::take(&mut self.buckets) {
            if let Some(writer) = bucket.writer {
                result = result.and(writer.abort().await);
            }
        }
        result
    }

    /// Forgets the states of the buckets that are there: what this writer writes replaces them, so that bucket counts need not
    /// agree and rows are numbered from 0 (Java `withIgnorePreviousFiles`). Call it before the first rows.
    pub fn ignore_previous_files(&mut self) {
        self.restore = RestoredBuckets::default();
    }

    /// The state that the writer of a bucket went on with; `None` for a new bucket.
    pub fn restored_bucket(&self, partition: &Partition, bucket: i32) -> Option<&BucketState> {
        self.restore
            .states
            .get(&(partition.encoded_row().clone(), bucket))
    }

    fn check(&self) -> Result<()> {
        if self.broken {
            return Err(Error::invalid(
                "the writer failed before or a call was cancelled: abort it and write the rows again with a new one",
            ));
        }
        Ok(())
    }

    /// The place of a bucket, made when it is new.
    fn bucket(&mut self, partition: &BinaryRow, bucket: i32) -> Result<usize> {
        let key = (partition.clone(), bucket);
        if let Some(at) = self.index.get(&key) {
            return Ok(*at);
        }
        let wanted = self.context.options.bucket;
        let first = self.restore.next_sequence_number(&key, wanted)?;
        let dir = self.bucket_dir(partition, bucket)?;
        let pool = Arc::new(UnboundedMemoryPool::new());
        let writer = Box::new(self.files.writer(dir, first, &pool));
        self.buckets.push(Bucket {
            partition: partition.clone(),
            bucket,
            rows: match &self.files {
                Files::Plain(_) => Waiting::Plain(Vec::new()),
                Files::KeyValue { .. } => Waiting::KeyValue(RowBuffer::default()),
            },
            row_bytes: 0,
            pool,
            writer: Some(writer),
            task: None,
        });
        let at = self.buckets.len() - 1;
        self.index.insert(key, at);
        Ok(at)
    }

    /// `<location>[/<data-file.path-directory>]/<partition>/bucket-<n>`.
    fn bucket_dir(&self, partition: &BinaryRow, bucket: i32) -> Result<String> {
        let options = &self.context.options;
        let fields: Vec<&DataField> = self.context.schema.partition_fields();
        let path = options.partition_naming().path(&fields, partition)?;
        let mut dir = self.context.location.clone();
        let data_dir = options.data_file_path_directory.as_deref().unwrap_or_default();
        for part in [data_dir.trim_matches('/'), &path, &format!("bucket-{bucket}")] {
            if !part.is_empty() {
                dir = Storage::join(&dir, part);
            }
        }
        Ok(dir)
    }

    async fn add(&mut self, at: usize, group: Group) -> Result<()> {
        let bucket = self.buckets.get_mut(at).ok_or_else(no_bucket)?;
        let mut bytes = batch_bytes(&group.rows);
        let full = match &mut bucket.rows {
            Waiting::Plain(rows) => {
                rows.push(group.rows);
                bucket.row_bytes + bytes >= FLUSH_BYTES
            }
            Waiting::KeyValue(rows) => {
                let count = group.rows.num_rows();
                rows.push(group.rows, bytes)?;
                bytes += SORT_BYTES * count as u64;
                false
            }
        };
        bucket.row_bytes += bytes;
        if full {
            self.encode(at, false).await?;
        }
        Ok(())
    }

    /// Hands the gathered rows of a bucket to a task, after the one before. With `close` the file is finished too; without it rows
    /// of a table with a primary key are spilled.
    async fn encode(&mut self, at: usize, close: bool) -> Result<()> {
        self.wait(at).await?;
        let bucket = self.buckets.get(at).ok_or_else(no_bucket)?;
        let open = bucket.writer.as_ref().ok_or_else(no_bucket)?.is_open();
        if bucket.rows.is_empty() && !(close && open) {
            return Ok(());
        }
        let handle = Handle::try_current()
            .map_err(|e| Error::invalid("writing needs a running tokio runtime").with_source(e))?;
        // a bucket that has the writer for itself gets two threads
        let is_open = |bucket: &Bucket| bucket.writer.as_ref().is_some_and(|writer| writer.is_open());
        let busy = |bucket: &Bucket| bucket.task.is_some() || !bucket.rows.is_empty() || is_open(bucket);
        let helped = self.context.parallelism > 1 && self.buckets.iter().filter(|b| busy(b)).count() == 1;
        let permit = self
            .permits
            .clone()
            .acquire_owned()
            .await
            .map_err(|e| Error::io("the writer's task limit is closed").with_source(e))?;
        let bucket = self.buckets.get_mut(at).ok_or_else(no_bucket)?;
        let mut writer = bucket.writer.take().ok_or_else(no_bucket)?;
        let rows = bucket.rows.take();
        let bytes = std::mem::take(&mut bucket.row_bytes);
        let work = async move {
            let result = match rows {
                Ok(rows) => writer.write(rows, bytes, close, helped).await,
                Err(e) => Err(e),
            };
            (writer, result)
        };
        let runtime = handle.clone();
        let handle = handle.spawn_blocking(move || {
            let done = runtime.block_on(work);
            drop(permit);
            done
        });
        bucket.task = Some(Task { handle, bytes });
        Ok(())
    }

    /// Waits for the task of a bucket.
    async fn wait(&mut self, at: usize) -> Result<()> {
        let Some(bucket) = self.buckets.get_mut(at) else {
            return Ok(());
        };
        let Some(task) = &mut bucket.task else {
            return Ok(());
        };
        // the task stays in its place until it is over, so that a cancelled call does not lose the writer
        let done = (&mut task.handle).await;
        bucket.task = None;
        let (writer, result) =
            done.map_err(|e| Error::io("encoding a data file was cancelled or panicked").with_source(e))?;
        bucket.writer = Some(writer);
        result
    }

    /// Waits for all tasks; the first error is returned when all are over.
    async fn wait_all(&mut self) -> Result<()> {
        let mut result = Ok(());
        for at in 0..self.buckets.len() {
            result = result.and(self.wait(at).await);
        }
        result
    }

    /// Keeps what all buckets hold below the limit: those that hold most spill their rows, or finish their files.
    async fn limit_memory(&mut self) -> Result<()> {
        let held: u64 = self.buckets.iter().map(Bucket::held).sum();
        if held <= self.context.memory_limit {
            return Ok(());
        }
        let mut largest: Vec<(Reverse<u64>, usize)> = self
            .buckets
            .iter()
            .enumerate()
            .map(|(at, bucket)| (Reverse(bucket.held()), at))
            .collect();
        largest.sort_unstable();
        // down to half, so that the next batch does not begin it again
        let mut too_much = held.saturating_sub(self.context.memory_limit / 2);
        let close = matches!(self.files, Files::Plain(_));
        let mut closing = Vec::new();
        for (Reverse(bytes), at) in largest {
            if too_much == 0 {
                break;
            }
            self.encode(at, close).await?;
            closing.push(at);
            too_much = too_much.saturating_sub(bytes);
        }
        tracing::debug!(
            held,
            buckets = closing.len(),
            "memory limit reached, buckets give their rows away"
        );
        for at in closing {
            self.wait(at).await?;
        }
        Ok(())
    }
}

/// Files of the rows as they are.
fn plain_settings(context: &TableWriteContext, batch_size: usize) -> Result<FileSettings> {
    let (schema, options) = (&context.schema, &context.options);
    let format = context
        .registry
        .get(&options.file_format, options.raw())
        .map_err(|e| e.with("option", "file.format"))?;
    // refuses column types that the format cannot store before anything is written
    format.create_writer_builder(&schema.fields, batch_size)?;
    Ok(FileSettings {
        storage: context.storage.clone(),
        fields: schema.fields.clone(),
        schema: Arc::new(to_arrow_schema(&schema.fields)),
        schema_id: schema.id,
        compression: options.file_compression.clone(),
        prefix: options.data_file_prefix.clone(),
        extension: extension(
            format.identifier(),
            &options.file_compression,
            options.file_suffix_include_compression,
        ),
        target_size: options.target_file_size(false),
        target_rows: u64::try_from(options.target_file_row_num).unwrap_or(u64::MAX),
        batch_size,
        stats: StatsCollector::new(&schema.fields, options)?,
        environment: context.environment.clone(),
        key_value: None,
        format,
    })
}

fn no_bucket() -> Error {
    Error::io("a bucket writer was lost after a failure")
}

/// Bytes of the rows of a batch, without what its buffers hold besides.
fn batch_bytes(batch: &RecordBatch) -> u64 {
    let column = |array: &Arc<dyn Array>| {
        array
            .to_data()
            .get_slice_memory_size()
            .unwrap_or_else(|_| array.get_array_memory_size()) as u64
    };
    batch.columns().iter().map(column).sum()
}
