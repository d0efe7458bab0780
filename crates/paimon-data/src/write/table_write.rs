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
use paimon_types::{BinaryRow, DataField, Error, Result, to_arrow_schema};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::batch::BatchMapper;
use super::context::TableWriteContext;
use super::file_name::extension;
use super::file_writer::{BucketWriter, FileSettings};
use super::restore::RestoredBuckets;
use super::router::{Group, Router};
use super::stats::StatsCollector;

/// Bytes of rows that a bucket gathers before they are encoded.
const FLUSH_BYTES: u64 = 2 << 20;

/// Writes record batches as data files of an append table.
///
/// Rows are split by partition and bucket, each of which has one open file that is closed at `target-file-size` or
/// `target-file-row-num`. Encoding runs on the blocking pool of the tokio runtime, several buckets at once, so a call
/// of [`write`](Self::write) must be made inside of one. Nothing is visible to readers before the messages of
/// [`prepare_commit`](Self::prepare_commit) are committed. Only one writer may write a (partition, bucket) of fixed buckets at a time.
///
/// After an error of the store or a format, and after a call whose future was dropped, the writer is broken: every call but
/// [`abort`](Self::abort) fails. A batch that is refused (`InvalidInput` of `write`) leaves the writer as it was.
/// Dropping a writer leaves finished files that were not handed out behind as orphans; [`abort`](Self::abort) deletes them.
pub struct TableWrite {
    context: TableWriteContext,
    settings: Arc<FileSettings>,
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

/// One (partition, bucket).
struct Bucket {
    partition: BinaryRow,
    bucket: i32,
    rows: Vec<RecordBatch>,
    row_bytes: u64,
    /// Absent while a task has it.
    writer: Option<Box<BucketWriter>>,
    task: Option<Task>,
    pool: Arc<UnboundedMemoryPool>,
}

struct Task {
    handle: JoinHandle<(Box<BucketWriter>, Result<()>)>,
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
        let format = context
            .registry
            .get(&options.file_format, options.raw())
            .map_err(|e| e.with("option", "file.format"))?;
        let batch_size = usize::try_from(options.write_batch_size).unwrap_or(1024);
        // refuses column types that the format cannot store before anything is written
        format.create_writer_builder(&schema.fields, batch_size)?;
        let settings = FileSettings {
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
            format,
        };
        let mapper = BatchMapper::new(&schema.fields, context.static_partition.clone())?;
        let router = Router::new(schema, options)?;
        let restore = RestoredBuckets::new(&context.restore)?;
        Ok(TableWrite {
            settings: Arc::new(settings),
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
        let batch = self.mapper.map(batch)?;
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
            let files: Vec<DataFileMeta> = bucket.writer.as_mut().map(|w| w.take_files()).unwrap_or_default();
            if !files.is_empty() {
                messages.push(CommitMessage::append(
                    Partition::from_encoded_row(bucket.partition.clone()),
                    bucket.bucket,
                    total_buckets,
                    files,
                ));
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
        let writer = Box::new(BucketWriter::new(self.settings.clone(), dir, first));
        self.buckets.push(Bucket {
            partition: partition.clone(),
            bucket,
            rows: Vec::new(),
            row_bytes: 0,
            pool: writer.pool(),
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
        bucket.row_bytes += batch_bytes(&group.rows);
        bucket.rows.push(group.rows);
        if bucket.row_bytes >= FLUSH_BYTES {
            self.encode(at, false).await?;
        }
        Ok(())
    }

    /// Hands the gathered rows of a bucket to a task, after the one before. With `close` the file is finished too.
    async fn encode(&mut self, at: usize, close: bool) -> Result<()> {
        self.wait(at).await?;
        let bucket = self.buckets.get(at).ok_or_else(no_bucket)?;
        let open = bucket.writer.as_ref().ok_or_else(no_bucket)?.is_open();
        if bucket.rows.is_empty() && !(close && open) {
            return Ok(());
        }
        let handle = Handle::try_current()
            .map_err(|e| Error::invalid("writing needs a running tokio runtime").with_source(e))?;
        let permit = self
            .permits
            .clone()
            .acquire_owned()
            .await
            .map_err(|e| Error::io("the writer's task limit is closed").with_source(e))?;
        let bucket = self.buckets.get_mut(at).ok_or_else(no_bucket)?;
        let mut writer = bucket.writer.take().ok_or_else(no_bucket)?;
        let rows = std::mem::take(&mut bucket.rows);
        let bytes = std::mem::take(&mut bucket.row_bytes);
        let work = async move {
            let mut result = writer.write(rows).await;
            if result.is_ok() && close {
                result = writer.close_file().await;
            }
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

    /// Keeps what all buckets hold below the limit: finishes the files of those that hold most.
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
        let mut closing = Vec::new();
        for (Reverse(bytes), at) in largest {
            if too_much == 0 {
                break;
            }
            self.encode(at, true).await?;
            closing.push(at);
            too_much = too_much.saturating_sub(bytes);
        }
        tracing::debug!(
            held,
            files = closing.len(),
            "memory limit reached, files are finished early"
        );
        for at in closing {
            self.wait(at).await?;
        }
        Ok(())
    }
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
