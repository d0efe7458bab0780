// SPDX-License-Identifier: Apache-2.0

//! Files that `paimon ingest` reads, as record batches with the columns of a table.

mod cast;
mod csv;
mod json;
mod json_array;

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use paimon::types::{DataField, Error, Result, from_arrow_schema};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::args::InputFormat;

pub(crate) use cast::to_table_columns;
pub(crate) use json_array::from_hex;

/// Rows of one file.
pub(crate) type Batches = Box<dyn Iterator<Item = Result<RecordBatch>>>;

const BATCH_ROWS: usize = 8192;

/// The format that was asked for, else the one of the file's extension.
pub(crate) fn format_of(path: &Path, given: Option<InputFormat>) -> Result<InputFormat> {
    if let Some(format) = given {
        return Ok(format);
    }
    let extension = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default()
        .to_ascii_lowercase();
    match extension.as_str() {
        "csv" => Ok(InputFormat::Csv),
        "jsonl" | "ndjson" | "json" => Ok(InputFormat::Jsonl),
        "parquet" => Ok(InputFormat::Parquet),
        "arrow" | "arrows" | "ipc" | "feather" => Ok(InputFormat::Arrow),
        _ => Err(Error::invalid(
            "the extension names no known format; give --format csv|jsonl|parquet|arrow",
        )
        .with("path", path.display())),
    }
}

/// The columns that a table made from this file has.
pub(crate) fn infer(path: &Path, format: InputFormat) -> Result<Vec<DataField>> {
    let fields = match format {
        InputFormat::Csv => csv::infer(path)?,
        InputFormat::Jsonl => json::infer(path)?,
        InputFormat::Parquet | InputFormat::Arrow => {
            let schema = match format {
                InputFormat::Parquet => parquet_reader(path)?.schema().as_ref().clone(),
                _ => arrow_reader(path)?.0,
            };
            from_arrow_schema(&cast::plain_schema(&schema))?
        }
    };
    if fields.is_empty() {
        return Err(Error::invalid("the file has no columns").with("path", path.display()));
    }
    Ok(fields)
}

/// The rows of the file; the columns that it has of `fields`, with the types of `fields`.
pub(crate) fn open(path: &Path, format: InputFormat, fields: &[DataField]) -> Result<Batches> {
    match format {
        InputFormat::Csv => csv::open(path, fields),
        InputFormat::Jsonl => json::open(path, fields),
        InputFormat::Parquet => {
            let reader = parquet_reader(path)?
                .with_batch_size(BATCH_ROWS)
                .build()
                .map_err(|e| unreadable(path, e))?;
            let shown = path.to_path_buf();
            Ok(cast_all(
                reader.map(move |batch| batch.map_err(|e| unreadable(&shown, e))),
                fields,
            ))
        }
        InputFormat::Arrow => {
            let (_, batches) = arrow_reader(path)?;
            Ok(cast_all(batches, fields))
        }
    }
}

fn cast_all(batches: impl Iterator<Item = Result<RecordBatch>> + 'static, fields: &[DataField]) -> Batches {
    let fields = fields.to_vec();
    Box::new(batches.map(move |batch| to_table_columns(&batch?, &fields)))
}

/// Opens an input file.
pub(crate) fn open_file(path: &Path) -> Result<File> {
    File::open(path).map_err(|e| unreadable(path, e))
}

/// The error of an input file that cannot be read.
pub(crate) fn unreadable(path: &Path, err: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    let err = err.into();
    Error::invalid(format!("the input file cannot be read: {err}"))
        .with("path", path.display())
        .with_source(err)
}

fn parquet_reader(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<File>> {
    ParquetRecordBatchReaderBuilder::try_new(open_file(path)?).map_err(|e| unreadable(path, e))
}

/// An IPC file when it begins with the file magic, else an IPC stream.
fn arrow_reader(path: &Path) -> Result<(Schema, Batches)> {
    let mut file = open_file(path)?;
    let mut magic = [0u8; 6];
    let is_file = file.read_exact(&mut magic).is_ok() && &magic == b"ARROW1";
    file.seek(SeekFrom::Start(0)).map_err(|e| unreadable(path, e))?;
    let shown = path.to_path_buf();
    if is_file {
        let reader = arrow_ipc::reader::FileReader::try_new(BufReader::new(file), None)
            .map_err(|e| unreadable(path, e))?;
        let schema = reader.schema().as_ref().clone();
        Ok((
            schema,
            Box::new(reader.map(move |batch| batch.map_err(|e| unreadable(&shown, e)))),
        ))
    } else {
        let reader = arrow_ipc::reader::StreamReader::try_new(BufReader::new(file), None)
            .map_err(|e| unreadable(path, e))?;
        let schema = reader.schema().as_ref().clone();
        Ok((
            schema,
            Box::new(reader.map(move |batch| batch.map_err(|e| unreadable(&shown, e)))),
        ))
    }
}
