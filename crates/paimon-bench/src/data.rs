// SPDX-License-Identifier: Apache-2.0

//! The rows of the benchmarks: long, int, two doubles, a string of 5 000 values, timestamp(3), decimal(18,2).

use std::fs::File;
use std::io::BufWriter;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Decimal128Array, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMillisecondArray,
};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;
use arrow_schema::Schema;
use paimon::types::{DataField, DataType, NewTable, to_arrow_schema};

use crate::BenchResult;

pub(crate) const BATCH_ROWS: usize = 65_536;

/// The table definition.
pub(crate) fn definition(options: &[(&str, &str)]) -> BenchResult<NewTable> {
    let columns = [
        ("id", "BIGINT"),
        ("n", "INT"),
        ("x", "DOUBLE"),
        ("y", "DOUBLE"),
        ("name", "STRING"),
        ("ts", "TIMESTAMP(3)"),
        ("amount", "DECIMAL(18, 2)"),
    ];
    let mut fields = Vec::new();
    for (id, (name, data_type)) in columns.iter().enumerate() {
        fields.push(DataField::new(
            i32::try_from(id)?,
            *name,
            DataType::parse(data_type)?,
        ));
    }
    Ok(NewTable {
        columns: fields,
        options: options
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect(),
        ..NewTable::default()
    })
}

/// A small generator with a fixed seed (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Batches with `rows` rows in all, the same in every run.
pub(crate) fn batches(rows: usize) -> BenchResult<Vec<RecordBatch>> {
    let schema = Arc::new(to_arrow_schema(&definition(&[])?.columns));
    let mut start = 0;
    let mut out = Vec::new();
    while start < rows {
        let count = BATCH_ROWS.min(rows - start);
        out.push(batch(&schema, start, count)?);
        start += count;
    }
    Ok(out)
}

fn batch(schema: &Arc<Schema>, start: usize, count: usize) -> BenchResult<RecordBatch> {
    let mut random = Random(start as u64 + 1);
    let mut draw = |limit: u64| random.next() % limit;
    let ids: Int64Array = (start..start + count)
        .map(|i| i as i64 * 7 % 1_000_003 + (i as i64) * 3)
        .collect();
    let ints: Int32Array = (0..count).map(|_| draw(1_000_000) as i32).collect();
    let names: StringArray = (0..count)
        .map(|_| Some(format!("customer-{:05}", draw(5_000))))
        .collect();
    let times: TimestampMillisecondArray = (0..count)
        .map(|i| 1_700_000_000_000 + (start + i) as i64 * 137 + draw(1000) as i64)
        .map(Some)
        .collect();
    let amounts: Vec<i128> = (0..count).map(|_| i128::from(draw(10_000_000))).collect();
    let amounts = Decimal128Array::from(amounts).with_precision_and_scale(18, 2)?;
    let xs: Float64Array = (0..count).map(|_| random.unit() * 1000.0).collect();
    let ys: Float64Array = (0..count).map(|_| random.unit()).collect();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(ids),
        Arc::new(ints),
        Arc::new(xs),
        Arc::new(ys),
        Arc::new(names),
        Arc::new(times),
        Arc::new(amounts),
    ];
    Ok(RecordBatch::try_new(schema.clone(), columns)?)
}

/// Writes the rows as an Arrow file, the input of ours and of the peer.
pub(crate) fn write_ipc(path: &str, rows: usize) -> BenchResult<()> {
    write_ipc_batches(path, &batches(rows)?)
}

/// Writes batches as an Arrow file.
pub(crate) fn write_ipc_batches(path: &str, batches: &[RecordBatch]) -> BenchResult<()> {
    let first = batches.first().ok_or("no rows")?;
    let mut writer = FileWriter::try_new(BufWriter::new(File::create(path)?), &first.schema())?;
    for batch in batches {
        writer.write(batch)?;
    }
    writer.finish()?;
    Ok(())
}

/// Reads what [`write_ipc`] wrote.
pub(crate) fn read_ipc(path: &str) -> BenchResult<Vec<RecordBatch>> {
    Ok(FileReader::try_new_buffered(File::open(path)?, None)?.collect::<Result<_, _>>()?)
}
