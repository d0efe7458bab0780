// SPDX-License-Identifier: Apache-2.0

//! `TableRead`: a compiled read of one table, run on any of its splits.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use futures_core::stream::BoxStream;
use paimon_format::{Cache, FormatRegistry, LruCache, MemoryPool, UnboundedMemoryPool};
use paimon_protocol::sorted_runs::KeyOrder;
use paimon_protocol::{DataSplit, PlanEnvelope};
use paimon_storage::Storage;
use paimon_types::{
    CoreOptions, DataField, DataType, Error, Predicate, Result, TableSchema, TypeKind, to_arrow_schema,
};

use super::file_read::FileReader;
use super::filter::BatchFilter;
use super::key_value::{KeyValueMerge, kind_field};
use super::late::LateValues;
use super::parts::{PartSize, SMALLEST_PART};
use super::read_ahead::{Budget, failed, in_order, shared, unordered};
use super::tasks::{Keyed, Work, merge_reader};
use super::timestamp_unit::{cut_to_micros, reads_micros};
use super::{FixedSchemas, SchemaSource};
use crate::spill::SpillFiles;

/// Batches of a read, in order.
pub type BatchStream = BoxStream<'static, Result<RecordBatch>>;

const DEFAULT_BATCH_SIZE: usize = 8192;
const DEFAULT_BUDGET: usize = 96 << 20;
/// Footers that are kept for other parts of their files, and for values that are read behind the keys.
const FOOTER_BYTES: usize = 8 << 20;
const DEFAULT_FAN_IN: usize = 64;

/// What a worker must know about a table to read its splits. Nothing is read from the table's metadata.
#[derive(Clone, Debug)]
pub struct ReadContext {
    /// Where the files are.
    pub storage: Storage,
    /// File formats by name.
    pub registry: Arc<FormatRegistry>,
    /// Schema in which rows are returned.
    pub read_schema: Arc<TableSchema>,
    /// Schemas of older files.
    pub schemas: Arc<dyn SchemaSource>,
    /// Table options, dynamic ones applied.
    pub options: CoreOptions,
}

impl ReadContext {
    /// The context of a plan envelope.
    ///
    /// # Errors
    /// `InvalidInput` for a bad option of readers.
    pub fn from_envelope(
        envelope: &PlanEnvelope,
        storage: Storage,
        registry: Arc<FormatRegistry>,
    ) -> Result<Self> {
        let read_schema = Arc::new(envelope.read_schema.clone());
        let schemas = envelope
            .schemas
            .iter()
            .cloned()
            .map(Arc::new)
            .chain([read_schema.clone()]);
        Ok(ReadContext {
            storage,
            registry,
            schemas: Arc::new(FixedSchemas::new(schemas)),
            options: CoreOptions::from_map_for_read(&envelope.options)?,
            read_schema,
        })
    }
}

/// Chooses columns, rows and resources of a [`TableRead`].
#[derive(Debug)]
pub struct TableReadBuilder {
    context: ReadContext,
    columns: Option<Vec<String>>,
    filter: Option<Predicate>,
    batch_size: Option<usize>,
    parallelism: usize,
    budget: usize,
    pool: Option<Arc<dyn MemoryPool>>,
    cache: Option<Arc<dyn Cache>>,
    row_kinds: bool,
    fan_in: usize,
    late_values: LateValues,
    smallest_part: u64,
    spill_directory: Option<PathBuf>,
}

impl TableReadBuilder {
    /// Returns these columns in this order; all columns by default. An empty list reads rows without columns.
    #[must_use]
    pub fn select<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.columns = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// Returns only rows for which `predicate` is true (not false, not unknown). Columns of the predicate need not be selected.
    #[must_use]
    pub fn filter(mut self, predicate: Predicate) -> Self {
        self.filter = Some(match self.filter.take() {
            None => predicate,
            Some(other) => Predicate::and([other, predicate]),
        });
        self
    }

    /// Largest number of rows of a batch; option `read.batch-size`, else 8192.
    #[must_use]
    pub fn batch_size(mut self, rows: usize) -> Self {
        self.batch_size = Some(rows);
        self
    }

    /// Number of files, or parts of large ones, that are decoded at once; by default the number of processors, at most 8.
    #[must_use]
    pub fn parallelism(mut self, files: usize) -> Self {
        self.parallelism = files.max(1);
        self
    }

    /// Bytes of decoded batches that may wait for the consumer; 96 MiB by default.
    #[must_use]
    pub fn memory_budget(mut self, bytes: usize) -> Self {
        self.budget = bytes;
        self
    }

    /// A pool that the formats charge for what they hold.
    #[must_use]
    pub fn memory_pool(mut self, pool: Arc<dyn MemoryPool>) -> Self {
        self.pool = Some(pool);
        self
    }

    /// Returns the kind of each row as the first column, `_VALUE_KIND` (TINYINT NOT NULL: 0 is +I, 1 −U, 2 +U, 3 −D), as it is
    /// stored, and rows of kind −U and −D too, which are left out otherwise. A split of a stream of a table with a primary key
    /// can only be read so. Rows of tables without a primary key are all +I.
    #[must_use]
    pub fn with_row_kind(mut self, with_row_kind: bool) -> Self {
        self.row_kinds = with_row_kind;
        self
    }

    /// Most sorted runs of a bucket that are merged at once, at least 2; 64 by default. More are merged in rounds, with the rows in
    /// between in temporary files of [`spill_directory`](Self::spill_directory).
    #[must_use]
    pub fn merge_fan_in(mut self, runs: usize) -> Self {
        self.fan_in = runs.max(2);
        self
    }

    /// How the values of rows whose versions are merged are read: `true` behind the columns that tell which version is left, for
    /// the rows that are, `false` together with them. By default what is known about the files decides, and the first rows: it saves
    /// much where keys were written often or a filter leaves little. Rows and their order are the same. Merge engines that make rows
    /// of several versions always read all together.
    #[must_use]
    pub fn late_values(mut self, late: bool) -> Self {
        self.late_values = match late {
            true => LateValues::Stretches(usize::MAX),
            false => LateValues::Never,
        };
        self
    }

    /// As [`late_values`](Self::late_values) for the first `stretches` parts of a section, the others together: for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn late_stretches(mut self, stretches: usize) -> Self {
        self.late_values = LateValues::Stretches(stretches);
        self
    }

    /// Reads files in parts of at least so many bytes, where several parts of a file are decoded at once: for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn smallest_part(mut self, bytes: u64) -> Self {
        self.smallest_part = bytes;
        self
    }

    /// Where temporary files go; the directory of the system by default. They have no name where the system allows it.
    #[must_use]
    pub fn spill_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.spill_directory = Some(directory.into());
        self
    }

    /// A cache of file footers. Without one, each read keeps 8 MiB of those that it read last.
    #[must_use]
    pub fn cache(mut self, cache: Arc<dyn Cache>) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Checks everything that can be checked before a file is opened.
    ///
    /// # Errors
    /// `InvalidInput` for an unknown column or option value; `Unsupported` that names what this reader does not implement.
    pub fn build(self) -> Result<TableRead> {
        let TableReadBuilder {
            context,
            columns,
            filter,
            batch_size,
            parallelism,
            budget,
            pool,
            cache,
            row_kinds,
            fan_in,
            late_values,
            smallest_part,
            spill_directory,
        } = self;
        let schema = &context.read_schema;
        context.options.check_readable(schema)?;
        let micros = reads_micros(&context.options)?;
        let output = match &columns {
            None => schema.fields.clone(),
            Some(names) => names
                .iter()
                .map(|name| column(schema, name))
                .collect::<Result<_>>()?,
        };
        let mut read = output.clone();
        if let Some(filter) = &filter {
            for id in filter.columns().into_iter().collect::<BTreeSet<i32>>() {
                if read.iter().all(|f| f.id != id) {
                    let field = schema.field_by_id(id).ok_or_else(|| {
                        Error::invalid(format!(
                            "the filter uses field id {id}, which the table does not have"
                        ))
                    })?;
                    read.push(field.clone());
                }
            }
        }
        let prepare = |mut field: DataField| {
            context.options.check_column_readable(&field.name)?;
            check_type(&field.data_type).map_err(|e| e.with("column", &field.name))?;
            if micros {
                field.data_type = cut_to_micros(&field.data_type);
            }
            Ok(field)
        };
        let read = read.into_iter().map(prepare).collect::<Result<Vec<_>>>()?;
        let merge = match schema.primary_keys.is_empty() {
            true => None,
            false => Some((
                KeyOrder::of(schema)?,
                KeyValueMerge::new(schema, &context.options, &read, &prepare)?,
            )),
        };
        let output_columns = output.len();
        let returned = read.get(..output_columns).unwrap_or_default().iter().cloned();
        let returned: Vec<DataField> = row_kinds.then(kind_field).into_iter().chain(returned).collect();
        let output_schema = Arc::new(to_arrow_schema(&returned));
        let batch_filter = filter.as_ref().map(|f| BatchFilter::new(f, &read)).transpose()?;
        let explicit = context.options.raw().contains_key("read.batch-size");
        let from_option = usize::try_from(context.options.read_batch_size)
            .ok()
            .filter(|_| explicit);
        let file = Arc::new(FileReader {
            batch_size: batch_size.or(from_option).unwrap_or(DEFAULT_BATCH_SIZE).max(1),
            pool: pool.unwrap_or_else(|| Arc::new(UnboundedMemoryPool::new())),
            cache: cache.unwrap_or_else(|| Arc::new(LruCache::new(FOOTER_BYTES))),
            arrow: Arc::new(to_arrow_schema(&read)),
            read,
            output_columns,
            output: output_schema.clone(),
            row_kinds,
            micros,
            predicate: filter,
            filter: batch_filter,
            context,
        });
        let spill_directory = spill_directory.unwrap_or_else(std::env::temp_dir);
        let keyed = match merge {
            None => None,
            Some((order, merge)) => {
                let spill = SpillFiles::new(&spill_directory, &file.context.options)?;
                let reader = merge_reader(merge, &file, fan_in, spill, parallelism, late_values)?;
                let reader = Arc::new(reader);
                Some(Keyed { reader, order })
            }
        };
        Ok(TableRead {
            output_schema,
            parallelism,
            budget_bytes: budget,
            budget: Budget::new(budget),
            smallest_part,
            keyed: keyed.map(Arc::new),
            file,
        })
    }
}

/// A compiled read: schema mapping, filter and resources. Cheap to clone; reads any number of splits at once.
///
/// The same read with the same split gives the same rows in the same order, whatever the parallelism.
#[derive(Clone, Debug)]
pub struct TableRead {
    pub(super) file: Arc<FileReader>,
    /// For tables with a primary key.
    pub(super) keyed: Option<Arc<Keyed>>,
    pub(super) output_schema: SchemaRef,
    pub(super) parallelism: usize,
    pub(super) budget: Budget,
    pub(super) budget_bytes: usize,
    pub(super) smallest_part: u64,
}

impl TableRead {
    /// Starts a read of a table.
    pub fn builder(context: ReadContext) -> TableReadBuilder {
        let parallelism = std::thread::available_parallelism().map_or(2, |n| n.get().min(8));
        TableReadBuilder {
            context,
            columns: None,
            filter: None,
            batch_size: None,
            parallelism,
            budget: DEFAULT_BUDGET,
            pool: None,
            cache: None,
            row_kinds: false,
            fan_in: DEFAULT_FAN_IN,
            late_values: LateValues::default(),
            smallest_part: SMALLEST_PART,
            spill_directory: None,
        }
    }

    /// Schema of every batch, independent of the files read.
    pub fn schema(&self) -> SchemaRef {
        self.output_schema.clone()
    }

    /// Rows of a split that are not deleted: files in the order of the split, rows in file order; where versions of keys are
    /// merged, rows by ascending keys. No batch is empty.
    ///
    /// Must be polled inside a tokio runtime. Dropping the stream stops all work that it started. After an error the stream ends.
    ///
    /// # Errors
    /// The stream yields `Unsupported` for splits that this reader does not implement (data evolution), `Corrupt`
    /// that names the file, and errors of the store.
    pub fn read(&self, split: DataSplit) -> BatchStream {
        self.read_all(vec![split])
    }

    /// Rows of several splits, one split after the other; files are read ahead across splits.
    ///
    /// # Errors
    /// As [`TableRead::read`].
    pub fn read_all(&self, splits: Vec<DataSplit>) -> BatchStream {
        match self.tasks(splits) {
            Ok(tasks) => {
                let parts = self.in_parts(tasks, PartSize::Equal);
                in_order(
                    parts,
                    self.parallelism,
                    self.budget.clone(),
                    self.opener(Work::Ahead),
                )
            }
            Err(err) => failed(err),
        }
    }

    /// Rows of several splits in no order: batches of different files come as they are decoded. The fastest way through many
    /// files, and the one with the least memory.
    ///
    /// # Errors
    /// As [`TableRead::read`].
    pub fn read_unordered(&self, splits: Vec<DataSplit>) -> BatchStream {
        match self.tasks(splits) {
            Ok(tasks) => {
                let parts = self.in_parts(tasks, PartSize::Shrinking);
                unordered(parts, self.parallelism, self.opener(Work::InTasks))
            }
            Err(err) => failed(err),
        }
    }

    /// Rows of several splits as [`parallelism`](TableReadBuilder::parallelism) streams, for engines that have a thread for each:
    /// a stream takes the next file, or part of one, when it is through with the last, so that all end at about the same time.
    /// Local files are decoded where the stream is polled: no batch goes from one thread to another, and nothing is read ahead.
    /// A poll may take as long as it takes to read and decode a batch.
    ///
    /// # Errors
    /// As [`TableRead::read`]; an error ends the stream that it comes from only.
    pub fn read_streams(&self, splits: Vec<DataSplit>) -> Vec<BatchStream> {
        match self.tasks(splits) {
            Ok(tasks) => {
                let parts = self.in_parts(tasks, PartSize::Shrinking);
                shared(parts, self.parallelism, self.opener(Work::InPlace))
            }
            Err(err) => vec![failed(err)],
        }
    }
}

fn column(schema: &TableSchema, name: &str) -> Result<DataField> {
    schema.field(name).cloned().ok_or_else(|| {
        let known: Vec<&str> = schema.fields.iter().map(|f| f.name.as_str()).collect();
        Error::invalid(format!(
            "the table has no column '{name}', it has: {}",
            known.join(", ")
        ))
        .with("column", name)
    })
}

/// Types that no reader here knows how to return.
fn check_type(data_type: &DataType) -> Result<()> {
    match &data_type.kind {
        TypeKind::Blob => Err(Error::unsupported("reading BLOB columns is not implemented")),
        TypeKind::Array(e) | TypeKind::Multiset(e) | TypeKind::Vector(e, _) => check_type(e),
        TypeKind::Map(k, v) => check_type(k).and_then(|()| check_type(v)),
        TypeKind::Row(fields) => fields.iter().try_for_each(|f| check_type(&f.data_type)),
        _ => Ok(()),
    }
}
