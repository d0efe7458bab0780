// SPDX-License-Identifier: Apache-2.0

//! The calls of the README: create, write, commit, read through both doors.
#![allow(clippy::print_stdout)]

use std::sync::Arc;

use arrow_array::{Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType as ArrowType, Field, Schema};
use futures_util::StreamExt;
use paimon::data::{ReadContext, default_registry};
use paimon::types::Datum;
use paimon::{
    BatchStream, DataField, DataType, Error, NewTable, PlanEnvelope, Predicate, Result, Storage, Table,
    TableRead,
};

#[tokio::main(flavor = "multi_thread")]
async fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let location = format!("{}/default.db/orders", dir.path().display());
    let schema = Arc::new(Schema::new(vec![
        Field::new("id", ArrowType::Int64, false),
        Field::new("amount", ArrowType::Int64, true),
        Field::new("day", ArrowType::Utf8, true),
    ]));
    let batch = RecordBatch::try_new(
        schema,
        vec![
            Arc::new(Int64Array::from(vec![1, 2, 3])),
            Arc::new(Int64Array::from(vec![Some(50), Some(150), None])),
            Arc::new(StringArray::from(vec!["2024-01-30", "2024-01-31", "2024-01-31"])),
        ],
    )?;
    let bytes = planner(&location, batch).await?;
    worker(&bytes).await?;
    Ok(())
}

/// Writes a table and plans a read of it; the plan is bytes.
async fn planner(location: &str, batch: RecordBatch) -> Result<Vec<u8>> {
    let definition = NewTable {
        columns: vec![
            DataField::new(0, "id", DataType::parse("BIGINT NOT NULL")?),
            DataField::new(1, "amount", DataType::parse("BIGINT")?),
            DataField::new(2, "day", DataType::parse("STRING")?),
        ],
        partition_keys: vec!["day".into()],
        ..NewTable::default()
    };

    // Create, write, commit.
    let table = Table::create(Storage::default(), location, definition).await?;
    let mut writer = table.write().await?;
    writer.write(&batch).await?;
    writer.commit().await?;

    // Read: the simple door.
    let big = Predicate::gt(table.field("amount")?, Datum::BigInt(100))?;
    let mut rows = table
        .read()
        .select(["id", "amount"])
        .filter(big)
        .to_stream()
        .await?;
    while let Some(batch) = rows.next().await {
        println!("{} row(s) above 100", batch?.num_rows());
    }

    // Read: the distributed door. The planner sends bytes, a worker needs the bytes and the store.
    let plan = table.scan().plan().await?;
    plan.envelope().to_bytes()
}

/// Reads a plan. Uses nothing but what `paimon-data` offers.
async fn worker(bytes: &[u8]) -> Result<()> {
    let envelope = PlanEnvelope::from_bytes(bytes)?;
    let context = ReadContext::from_envelope(&envelope, Storage::default(), default_registry())?;
    let read = TableRead::builder(context).select(["id"]).build()?;
    for split in envelope.splits.clone() {
        let place = split.bucket_path.clone();
        let mut rows = read.read(split);
        while let Some(batch) = rows.next().await {
            println!("{} row(s) in {place}", batch?.num_rows());
        }
    }

    // A stream for each thread of an engine.
    let streams = read.read_streams(envelope.splits);
    let consumers: Vec<_> = streams
        .into_iter()
        .map(|rows| tokio::spawn(consume(rows)))
        .collect();
    let mut rows = 0;
    for consumer in consumers {
        rows += consumer
            .await
            .map_err(|e| Error::io("a consumer failed").with_source(e))??;
    }
    println!("{rows} row(s) in all");
    Ok(())
}

/// Counts the rows of a stream.
async fn consume(mut stream: BatchStream) -> Result<usize> {
    let mut rows = 0;
    while let Some(batch) = stream.next().await {
        rows += batch?.num_rows();
    }
    Ok(rows)
}
