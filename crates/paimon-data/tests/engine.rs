// SPDX-License-Identifier: Apache-2.0

//! An engine that reads and writes with this crate alone: bytes of a planner in, record batches out; record batches in,
//! bytes for a committer out. Nothing here sees a snapshot or a manifest, and no other crate of the workspace is used.
#![cfg(feature = "parquet")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{Array, Float64Array, Int32Array, RecordBatch, StringArray};
use arrow_schema::{DataType as ArrowType, Field, Schema};
use futures_util::TryStreamExt;
use paimon_data::protocol::codec::java::{
    JAVA_COMMIT_MESSAGE_VERSION, JAVA_SPLIT_VERSION, decode_commit_messages, encode_commit_messages,
};
use paimon_data::types::Datum;
use paimon_data::{
    CommitMessage, DataSplit, ErrorKind, FixedSchemas, PlanEnvelope, Predicate, ReadContext, SchemaSource,
    Storage, StoredSchemas, TableRead, TableSchema, TableWrite, TableWriteContext, default_registry,
};

/// A table that Java wrote.
struct JavaTable {
    dir: PathBuf,
    /// Where it was when it was written: the paths of its splits begin with it.
    written_at: String,
}

impl JavaTable {
    fn new(path: &str) -> Self {
        JavaTable {
            dir: Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../../testdata/java")
                .join(path),
            written_at: format!("/tmp/paimon-fixtures/{path}/table"),
        }
    }

    fn location(&self) -> String {
        self.dir.join("table").display().to_string()
    }

    fn schema(&self, id: i64) -> TableSchema {
        let path = self.dir.join(format!("table/schema/schema-{id}"));
        TableSchema::from_json(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    /// The splits of Java's plan of the newest snapshot, their paths as they are here.
    fn splits(&self) -> Vec<DataSplit> {
        (0..)
            .map_while(|i| std::fs::read(self.dir.join(format!("splits/latest-{i}.bin"))).ok())
            .map(|bytes| {
                let (mut split, version) = DataSplit::from_java_bytes(&bytes).unwrap();
                assert_eq!(version, JAVA_SPLIT_VERSION);
                let rest = split.bucket_path.strip_prefix(&self.written_at).unwrap();
                split.bucket_path = format!("{}{rest}", self.location());
                split
            })
            .collect()
    }

    /// The bytes that a planner sends: everything that a worker needs.
    fn envelope(&self, read_schema: i64, older: &[i64]) -> Vec<u8> {
        self.plan(read_schema, older).to_bytes().unwrap()
    }

    fn plan(&self, read_schema: i64, older: &[i64]) -> PlanEnvelope {
        let read_schema = self.schema(read_schema);
        PlanEnvelope {
            location: self.location(),
            branch: "main".to_owned(),
            options: read_schema.options.clone(),
            read_schema,
            schemas: older.iter().map(|id| self.schema(*id)).collect(),
            snapshot_id: None,
            splits: self.splits(),
        }
    }
}

/// The worker: bytes in, batches out.
fn open(bytes: &[u8]) -> (ReadContext, Vec<DataSplit>) {
    let plan = PlanEnvelope::from_bytes(bytes).unwrap();
    let context = ReadContext::from_envelope(&plan, Storage::default(), default_registry()).unwrap();
    (context, plan.splits)
}

async fn batches(read: &TableRead, splits: Vec<DataSplit>) -> Vec<RecordBatch> {
    read.read_all(splits).try_collect().await.unwrap()
}

/// A column of INT over all batches.
fn ints(batches: &[RecordBatch], name: &str) -> Vec<Option<i32>> {
    let columns = batches
        .iter()
        .map(|b| b.column_by_name(name).unwrap().as_primitive::<Int32Type>());
    columns.flat_map(|c| c.iter().collect::<Vec<_>>()).collect()
}

fn strings(batches: &[RecordBatch], name: &str) -> Vec<Option<String>> {
    let columns = batches
        .iter()
        .map(|b| b.column_by_name(name).unwrap().as_string::<i32>());
    columns
        .flat_map(|c| c.iter().map(|v| v.map(str::to_owned)).collect::<Vec<_>>())
        .collect()
}

#[tokio::test]
async fn plan_bytes_become_batches() {
    let (context, splits) = open(&JavaTable::new("basic/unpartitioned").envelope(0, &[0]));
    let read = TableRead::builder(context).build().unwrap();
    let found = batches(&read, splits).await;
    assert!(found.iter().all(|b| b.schema() == read.schema()));
    assert_eq!(ints(&found, "id"), [Some(1), Some(2), Some(3)]);
    assert_eq!(
        strings(&found, "name"),
        [Some("one".into()), Some("two".into()), None]
    );
    let amounts = found[0]
        .column_by_name("amount")
        .unwrap()
        .as_primitive::<Float64Type>();
    assert_eq!(amounts.iter().collect::<Vec<_>>(), [Some(1.5), None, Some(-0.25)]);
}

#[tokio::test]
async fn columns_and_filter_are_the_workers_choice() {
    let (context, splits) = open(&JavaTable::new("basic/unpartitioned").envelope(0, &[]));
    let id = context.read_schema.field("id").unwrap();
    let filter = Predicate::gt(id, Datum::Int(1)).unwrap();
    let read = TableRead::builder(context.clone())
        .select(["name"])
        .filter(filter)
        .build()
        .unwrap();
    let found = batches(&read, splits.clone()).await;
    assert_eq!(strings(&found, "name"), [Some("two".into()), None]);
    assert_eq!(found[0].num_columns(), 1);

    let err = TableRead::builder(context).select(["nope"]).build().unwrap_err();
    assert!(
        err.kind() == ErrorKind::InvalidInput && err.message().contains("id, name, amount"),
        "{err}"
    );
}

/// Files of several schemas: the plan carries those that they were written with.
#[tokio::test]
async fn files_of_older_schemas_are_read_by_field_id() {
    let table = JavaTable::new("evolution/rename-drop-add");
    let needed: Vec<i64> = {
        let ids = table
            .splits()
            .iter()
            .flat_map(|s| s.data_files.iter().map(|f| f.schema_id))
            .collect();
        let ids: std::collections::BTreeSet<i64> = ids;
        ids.into_iter().collect()
    };
    assert!(needed.len() > 1, "{needed:?}");
    let (context, splits) = open(&table.envelope(4, &needed));
    let read = TableRead::builder(context).build().unwrap();
    let found = batches(&read, splits.clone()).await;
    let mut rows: Vec<_> = ints(&found, "key")
        .into_iter()
        .zip(strings(&found, "name"))
        .zip(ints(&found, "p").into_iter().zip(ints(&found, "age")))
        .map(|((key, name), (p, age))| (key.unwrap(), name, p.unwrap(), age))
        .collect();
    rows.sort();
    let expected = [
        (1, None, 1, None),
        (2, None, 2, None),
        (3, None, 1, Some(30)),
        (4, None, 2, Some(40)),
        (5, Some("d".to_owned()), 1, Some(50)),
    ];
    assert_eq!(rows, expected);

    // Bare splits, the schemas from the table's directory on demand.
    let context = |schemas: Arc<dyn SchemaSource>| ReadContext {
        schemas,
        ..open(&table.envelope(4, &needed)).0
    };
    let stored = StoredSchemas::new(Storage::default(), &table.location(), "main");
    let read = TableRead::builder(context(Arc::new(stored))).build().unwrap();
    assert_eq!(batches(&read, splits.clone()).await, found);

    // Without them it is an error, not NULLs; a plan that lacks them is not even made.
    let none = FixedSchemas::new([]);
    let read = TableRead::builder(context(Arc::new(none))).build().unwrap();
    let err = read.read_all(splits).try_collect::<Vec<_>>().await.unwrap_err();
    assert!(
        err.kind() == ErrorKind::NotFound && err.message().contains("schema"),
        "{err}"
    );
    let err = table.plan(4, &[]).to_bytes().unwrap_err();
    assert!(
        err.kind() == ErrorKind::InvalidInput && err.message().contains("schema"),
        "{err}"
    );
}

fn input(ids: Vec<Option<i32>>, names: Vec<&str>, amounts: Vec<f64>) -> RecordBatch {
    let schema = Schema::new(vec![
        Field::new("name", ArrowType::Utf8, true),
        Field::new("id", ArrowType::Int32, true),
        Field::new("amount", ArrowType::Float64, true),
    ]);
    let columns: Vec<Arc<dyn Array>> = vec![
        Arc::new(StringArray::from(names)),
        Arc::new(Int32Array::from(ids)),
        Arc::new(Float64Array::from(amounts)),
    ];
    RecordBatch::try_new(Arc::new(schema), columns).unwrap()
}

/// The split that a planner would make of a message.
fn split(location: &str, message: CommitMessage) -> DataSplit {
    DataSplit {
        snapshot_id: 1,
        bucket_path: format!("{location}/bucket-{}", message.bucket),
        partition: message.partition,
        bucket: message.bucket,
        total_buckets: message.total_buckets,
        data_files: message.data_increment.new_files,
        deletion_files: None,
        is_streaming: false,
        raw_convertible: true,
    }
}

#[tokio::test]
async fn batches_become_message_bytes() {
    let storage = Storage::memory();
    let location = "memory://warehouse/t";
    let mut schema = JavaTable::new("basic/unpartitioned").schema(0);
    schema.options = BTreeMap::from([("bucket".into(), "2".into()), ("bucket-key".into(), "id".into())]);
    let mut writer =
        TableWrite::new(TableWriteContext::new(storage.clone(), location, schema.clone()).unwrap()).unwrap();
    for i in 0..10 {
        writer
            .write(&input(
                vec![Some(i), Some(i + 10)],
                vec!["a", "b"],
                vec![0.5, f64::from(i)],
            ))
            .await
            .unwrap();
    }
    let messages = writer.prepare_commit().await.unwrap();
    let bytes = encode_commit_messages(&messages, JAVA_COMMIT_MESSAGE_VERSION).unwrap();

    // What the committer gets.
    let received = decode_commit_messages(&bytes, JAVA_COMMIT_MESSAGE_VERSION).unwrap();
    assert_eq!(received, messages);
    let mut buckets: Vec<i32> = received.iter().map(|m| m.bucket).collect();
    buckets.sort_unstable();
    assert_eq!(buckets, [0, 1]);
    let rows: i64 = received
        .iter()
        .flat_map(|m| &m.data_increment.new_files)
        .map(|f| f.row_count)
        .sum();
    assert_eq!(rows, 20);

    // What a worker reads once it is planned.
    let plan = PlanEnvelope {
        location: location.to_owned(),
        branch: "main".to_owned(),
        options: schema.options.clone(),
        schemas: vec![schema.clone()],
        read_schema: schema,
        snapshot_id: Some(1),
        splits: received.into_iter().map(|m| split(location, m)).collect(),
    };
    let plan = PlanEnvelope::from_bytes(&plan.to_bytes().unwrap()).unwrap();
    let context = ReadContext::from_envelope(&plan, storage, default_registry()).unwrap();
    let found = batches(&TableRead::builder(context).build().unwrap(), plan.splits).await;
    let mut ids = ints(&found, "id");
    ids.sort_unstable();
    assert_eq!(ids, (0..20).map(Some).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_writer_that_gives_up_leaves_nothing() {
    let storage = Storage::memory();
    let schema = JavaTable::new("basic/unpartitioned").schema(0);
    let context = TableWriteContext::new(storage.clone(), "memory://warehouse/t", schema).unwrap();
    let mut writer = TableWrite::new(context).unwrap();
    writer
        .write(&input(vec![Some(1)], vec!["a"], vec![0.5]))
        .await
        .unwrap();
    writer.abort().await.unwrap();
    let left: Vec<_> = storage
        .list_recursive("memory://warehouse/t")
        .try_collect()
        .await
        .unwrap();
    assert!(left.is_empty(), "{left:?}");
}
