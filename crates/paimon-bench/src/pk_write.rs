// SPDX-License-Identifier: Apache-2.0

//! `pk-write`: batches in memory to one committed snapshot of a table with a primary key; about a third of the rows are later
//! versions of keys that came before, and a quarter of the values are NULL.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Decimal128Array, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray,
};
use arrow_schema::Schema;
use futures_util::StreamExt;
use paimon::json_rows::JsonRows;
use paimon::types::{DataField, DataType, NewTable, to_arrow_schema};
use paimon::{Storage, Table};
use serde_json::json;

use crate::BenchResult;
use crate::data::{BATCH_ROWS, Random, write_ipc_batches};

/// Columns and what `aggregation` does with them.
const COLUMNS: [(&str, &str, &str); 7] = [
    ("id", "BIGINT NOT NULL", ""),
    ("n", "BIGINT", "sum"),
    ("x", "DOUBLE", "max"),
    ("y", "DOUBLE", "min"),
    ("name", "STRING", "last_non_null_value"),
    ("ts", "TIMESTAMP(3)", "max"),
    ("amount", "DECIMAL(18, 2)", "sum"),
];

fn fields() -> BenchResult<Vec<DataField>> {
    let columns = COLUMNS.iter().zip(0..);
    let field = |((name, data_type, _), id): (&(&str, &str, &str), i32)| {
        Ok(DataField::new(id, *name, DataType::parse(data_type)?))
    };
    columns.map(field).collect()
}

/// Makes the table that ours or the peer writes.
pub(crate) async fn make_table(location: &str, engine: &str, buckets: &str) -> BenchResult<()> {
    let mut options = BTreeMap::from([
        ("bucket".to_owned(), buckets.to_owned()),
        ("merge-engine".to_owned(), engine.to_owned()),
        ("file.format".to_owned(), "parquet".to_owned()),
        ("file.compression".to_owned(), "zstd".to_owned()),
        ("write-only".to_owned(), "true".to_owned()),
    ]);
    if engine == "aggregation" {
        for (name, _, function) in COLUMNS.iter().filter(|column| !column.2.is_empty()) {
            options.insert(
                format!("fields.{name}.aggregate-function"),
                (*function).to_owned(),
            );
        }
    }
    let definition = NewTable {
        columns: fields()?,
        primary_keys: vec!["id".to_owned()],
        options,
        ..NewTable::default()
    };
    Table::create(Storage::default(), location, definition).await?;
    Ok(())
}

/// Writes the rows as an Arrow file, the input of ours and of the peer.
pub(crate) fn make_input(path: &str, rows: usize) -> BenchResult<()> {
    let schema = Arc::new(to_arrow_schema(&fields()?));
    let mut random = Random(7);
    let mut batches = Vec::new();
    let mut left = rows;
    while left > 0 {
        let count = BATCH_ROWS.min(left);
        batches.push(batch(&schema, count, rows as u64, &mut random)?);
        left -= count;
    }
    write_ipc_batches(path, &batches)
}

fn batch(schema: &Arc<Schema>, count: usize, keys: u64, random: &mut Random) -> BenchResult<RecordBatch> {
    let ids: Int64Array = (0..count).map(|_| (random.next() % keys).cast_signed()).collect();
    let mut values = |below: u64| -> Vec<Option<i64>> {
        let value = |number: u64| (!number.is_multiple_of(4)).then(|| (number / 4 % below).cast_signed());
        (0..count).map(|_| value(random.next())).collect()
    };
    let n = Int64Array::from(values(1_000_000));
    let x: Float64Array = values(1 << 40)
        .into_iter()
        .map(|v| v.map(|v| v as f64 / 7.0))
        .collect();
    let y: Float64Array = values(1 << 40)
        .into_iter()
        .map(|v| v.map(|v| v as f64 / 3.0))
        .collect();
    let names = values(5_000)
        .into_iter()
        .map(|v| v.map(|v| format!("customer-{v:05}")));
    let names: StringArray = names.collect();
    let times = values(1 << 30)
        .into_iter()
        .map(|v| v.map(|v| 1_700_000_000_000 + v));
    let times: TimestampMillisecondArray = times.collect();
    let amounts: Decimal128Array = values(10_000_000)
        .into_iter()
        .map(|v| v.map(i128::from))
        .collect();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(ids),
        Arc::new(n),
        Arc::new(x),
        Arc::new(y),
        Arc::new(names),
        Arc::new(times),
        Arc::new(amounts.with_precision_and_scale(18, 2)?),
    ];
    Ok(RecordBatch::try_new(schema.clone(), columns)?)
}

/// How many rows a table has, merged, a number that depends on all of them and not on their order, and the number of files.
pub(crate) async fn digest(location: &str) -> BenchResult<String> {
    let table = Table::open(location).await?;
    let plan = table.read().plan().await?;
    let files: usize = plan.splits.iter().map(|split| split.data_files.len()).sum();
    let stored: i64 = plan.splits.iter().map(|split| split.row_count()).sum();
    let form = JsonRows::new(plan.read_fields.clone())?;
    let mut stream = table.read().read_plan(plan)?;
    let (mut rows, mut sum) = (0, 0u64);
    let mut text = String::new();
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        rows += batch.num_rows();
        text.clear();
        form.write_batch(&mut text, &batch)?;
        for line in text.lines() {
            let mut hasher = DefaultHasher::new();
            line.hash(&mut hasher);
            sum = sum.wrapping_add(hasher.finish());
        }
    }
    Ok(json!({ "rows": rows, "sum": sum.to_string(), "files": files, "stored_rows": stored }).to_string())
}
