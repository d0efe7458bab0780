// SPDX-License-Identifier: Apache-2.0

//! The simple door of a read.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use futures_util::{StreamExt, TryStreamExt, stream};
use paimon_data::{BatchStream, TableRead, TableReadBuilder};
use paimon_meta::scan::{Plan, SnapshotSelector, TableScan};
use paimon_types::{Error, Predicate, Result};

use crate::Table;

/// Plans a read of a table and runs it.
#[derive(Debug)]
pub struct ReadBuilder {
    table: Table,
    scan: TableScan,
    columns: Option<Vec<String>>,
    filter: Option<Predicate>,
    limit: Option<usize>,
    batch_size: Option<usize>,
    parallelism: Option<usize>,
    unordered: bool,
    row_kind: bool,
}

impl ReadBuilder {
    pub(crate) fn new(table: Table) -> Self {
        let scan = table.scan();
        ReadBuilder {
            table,
            scan,
            columns: None,
            filter: None,
            limit: None,
            batch_size: None,
            parallelism: None,
            unordered: false,
            row_kind: false,
        }
    }

    /// Returns these columns in this order; all by default.
    #[must_use]
    pub fn select<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.columns = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// Returns only rows for which `predicate` is true.
    #[must_use]
    pub fn filter(mut self, predicate: Predicate) -> Self {
        self.filter = Some(match self.filter.take() {
            None => predicate,
            Some(other) => Predicate::and([other, predicate]),
        });
        self
    }

    /// Returns at most this many rows, whichever come first.
    #[must_use]
    pub fn limit(mut self, rows: usize) -> Self {
        self.limit = Some(rows);
        self
    }

    /// Reads this snapshot, tag or time instead of the newest snapshot; the schema is the one of that snapshot.
    #[must_use]
    pub fn at(mut self, selector: SnapshotSelector) -> Self {
        self.scan = self.scan.at(selector);
        self
    }

    /// Reads the snapshot with this id.
    #[must_use]
    pub fn snapshot_id(mut self, id: i64) -> Self {
        self.scan = self.scan.snapshot_id(id);
        self
    }

    /// Reads the snapshot that a tag names.
    #[must_use]
    pub fn tag(mut self, name: impl Into<String>) -> Self {
        self.scan = self.scan.tag(name);
        self
    }

    /// Reads the newest snapshot at or before this time, epoch milliseconds.
    #[must_use]
    pub fn timestamp_millis(mut self, millis: i64) -> Self {
        self.scan = self.scan.timestamp_millis(millis);
        self
    }

    /// Largest number of rows of a batch.
    #[must_use]
    pub fn batch_size(mut self, rows: usize) -> Self {
        self.batch_size = Some(rows);
        self
    }

    /// Number of files, or parts of large ones, that are decoded at once.
    #[must_use]
    pub fn parallelism(mut self, files: usize) -> Self {
        self.parallelism = Some(files);
        self
    }

    /// Gives batches of different files as they are decoded instead of in the order of the plan: faster with many files.
    #[must_use]
    pub fn unordered(mut self) -> Self {
        self.unordered = true;
        self
    }

    /// Returns the kind of each row as the first column, and rows of kind −U and −D too
    /// ([`TableReadBuilder::with_row_kind`]).
    #[must_use]
    pub fn with_row_kind(mut self, with_row_kind: bool) -> Self {
        self.row_kind = with_row_kind;
        self
    }

    /// Plans without reading.
    ///
    /// # Errors
    /// As [`TableScan::plan`].
    pub async fn plan(&self) -> Result<Plan> {
        let mut scan = self.scan.clone();
        if let Some(columns) = &self.columns {
            scan = scan.select(columns.iter().cloned());
        }
        if let Some(filter) = &self.filter {
            scan = scan.filter(filter.clone());
        }
        if let Some(limit) = self.limit {
            scan = scan.limit(limit as u64);
        }
        scan.plan().await
    }

    /// The rows as a stream of batches; split after split, in the order of the plan, unless [`ReadBuilder::unordered`]. The plan
    /// itself orders rows within a split only: another filter may bring splits in another order.
    ///
    /// # Errors
    /// Errors of planning, and those of [`TableReadBuilder::build`]; the stream yields those of reading.
    pub async fn to_stream(&self) -> Result<BatchStream> {
        let plan = self.plan().await?;
        self.read_plan(plan)
    }

    /// Reads a plan of this builder.
    ///
    /// # Errors
    /// Those of [`TableReadBuilder::build`]; the stream yields those of reading.
    pub fn read_plan(&self, plan: Plan) -> Result<BatchStream> {
        let read = self.table_read(&plan)?;
        let rows = match self.unordered {
            true => read.read_unordered(plan.splits),
            false => read.read_all(plan.splits),
        };
        Ok(match self.limit {
            None => rows,
            Some(limit) => limited(rows, limit),
        })
    }

    /// The rows as [`parallelism`](Self::parallelism) streams, each for a thread or task of its own, which decodes local files itself
    /// ([`TableRead::read_streams`]): the fastest way for consumers that work on several threads.
    ///
    /// # Errors
    /// As [`ReadBuilder::to_stream`]; `InvalidInput` with a limit, which several streams cannot keep.
    pub async fn to_streams(&self) -> Result<Vec<BatchStream>> {
        if let Some(limit) = self.limit {
            return Err(Error::invalid(format!(
                "a limit of {limit} rows cannot be kept by several streams, read one"
            )));
        }
        let plan = self.plan().await?;
        Ok(self.table_read(&plan)?.read_streams(plan.splits))
    }

    /// Plans, reads and collects all rows: for small results.
    ///
    /// # Errors
    /// As [`ReadBuilder::to_stream`] and the stream itself.
    pub async fn to_batches(&self) -> Result<(SchemaRef, Vec<RecordBatch>)> {
        let plan = self.plan().await?;
        let schema = self.table_read(&plan)?.schema();
        let batches = self.read_plan(plan)?.try_collect().await?;
        Ok((schema, batches))
    }

    fn table_read(&self, plan: &Plan) -> Result<TableRead> {
        let mut builder: TableReadBuilder =
            TableRead::builder(self.table.read_context(plan)?).with_row_kind(self.row_kind);
        if let Some(columns) = &self.columns {
            builder = builder.select(columns.iter().cloned());
        }
        if let Some(filter) = &self.filter {
            builder = builder.filter(filter.clone());
        }
        if let Some(rows) = self.batch_size {
            builder = builder.batch_size(rows);
        }
        if let Some(files) = self.parallelism {
            builder = builder.parallelism(files);
        }
        builder.build()
    }
}

/// The first `limit` rows of a stream; what comes after is not read.
fn limited(rows: BatchStream, limit: usize) -> BatchStream {
    stream::unfold((rows, limit), |(mut rows, left)| async move {
        if left == 0 {
            return None;
        }
        match rows.next().await? {
            Ok(batch) => {
                let batch = if batch.num_rows() > left {
                    batch.slice(0, left)
                } else {
                    batch
                };
                let left = left - batch.num_rows();
                Some((Ok(batch), (rows, left)))
            }
            Err(err) => Some((Err(err), (rows, 0))),
        }
    })
    .boxed()
}
