// SPDX-License-Identifier: Apache-2.0

//! Files that `paimon ingest` reads, as record batches with the columns of a table.

mod cast;
mod csv;
mod json;
mod json_array;
mod text;

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::Schema;
use jiff::tz::TimeZone;
use paimon::types::{DataField, Datum, Error, Result, datum_to_string, from_arrow_schema};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::args::InputFormat;

pub(crate) use text::{from_hex, from_text, shorten};

/// Rows of one file, batch after batch.
pub(crate) type Batches = Box<dyn Iterator<Item = Result<Rows>>>;

/// Batches of a file with an Arrow schema, as they are.
type ForeignBatches = Box<dyn Iterator<Item = Result<RecordBatch>>>;

const BATCH_ROWS: usize = 8192;
/// Rows that the types of a created table are taken from.
const INFER_ROWS: usize = 10_000;

/// What rows are made for.
pub(crate) struct Target {
    /// Columns of the table.
    pub(crate) fields: Vec<DataField>,
    /// Partition columns of the table.
    pub(crate) partition_keys: Vec<String>,
    /// Partition columns whose value was given for all rows.
    pub(crate) given: Vec<(DataField, Option<Datum>)>,
    /// Zone of TIMESTAMP_LTZ text without one.
    pub(crate) zone: TimeZone,
}

/// Rows of a file with the places that they come from. Columns of [`Target::given`] are checked and left out.
pub(crate) struct Rows {
    pub(crate) batch: RecordBatch,
    places: Places,
}

/// Where rows stand in their file.
enum Places {
    /// Lines, from 1.
    Lines(Vec<usize>),
    /// The number of the first row, from 1.
    From(usize),
}

impl Rows {
    fn new(schema: Schema, columns: Vec<ArrayRef>, places: Places) -> Result<Self> {
        let rows = match &places {
            Places::Lines(lines) => lines.len(),
            Places::From(_) => columns.first().map_or(0, |c| c.len()),
        };
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::new(schema), columns, &options)
            .map_err(|e| Error::invalid(format!("the rows do not form a batch: {e}")).with_source(e))?;
        Ok(Rows { batch, places })
    }

    /// Says where a row of the batch stands in the file.
    pub(crate) fn at(&self, error: Error, row: usize) -> Error {
        match &self.places {
            Places::Lines(lines) => match lines.get(row) {
                Some(line) => error.with("line", line),
                None => error,
            },
            Places::From(first) => error.with("row", first + row),
        }
    }
}

/// True when the value of this column was given for all rows; the rows that have one must have the same. An error comes with its row.
fn check_given(
    target: &Target,
    field: &DataField,
    array: &dyn Array,
    has_value: impl Fn(usize) -> bool,
) -> Result<bool, (usize, Error)> {
    let Some((_, given)) = target.given.iter().find(|(f, _)| f.name == field.name) else {
        return Ok(false);
    };
    let shown = |value: &Option<Datum>| match value {
        Some(value) => format!("'{}'", datum_to_string(value, &field.data_type)),
        None => "NULL".to_owned(),
    };
    for row in (0..array.len()).filter(|row| has_value(*row)) {
        let value = paimon::data::datum_at(array, row, &field.data_type).map_err(|e| (row, e))?;
        if value != *given {
            let err = Error::invalid(format!(
                "the file has {}, but --partition gives {}",
                shown(&value),
                shown(given)
            ));
            return Err((row, err.with("column", &field.name)));
        }
    }
    Ok(true)
}

/// The error of a partition column that neither the file nor the call gives.
fn missing_partition(target: &Target, file_has: impl Fn(&str) -> bool) -> Option<Error> {
    let given = |name: &str| target.given.iter().any(|(f, _)| f.name == name);
    let default = |name: &str| {
        let field = target.fields.iter().find(|f| f.name == name);
        field.is_some_and(|f| f.default_value.is_some())
    };
    let name = target
        .partition_keys
        .iter()
        .find(|name| !file_has(name) && !given(name) && !default(name))?;
    Some(
        Error::invalid("the file does not have this partition column")
            .with("column", name)
            .with("hint", format!("give its value with --partition {name}=VALUE")),
    )
}

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

/// The rows of the file, with the types of the table's columns.
pub(crate) fn open(path: &Path, format: InputFormat, target: &Arc<Target>) -> Result<Batches> {
    match format {
        InputFormat::Csv => csv::open(path, target),
        InputFormat::Jsonl => json::open(path, target),
        InputFormat::Parquet => {
            let builder = parquet_reader(path)?;
            let schema = builder.schema().as_ref().clone();
            let reader = builder
                .with_batch_size(BATCH_ROWS)
                .build()
                .map_err(|e| unreadable(path, e))?;
            let shown = path.to_path_buf();
            cast_all(
                &schema,
                reader.map(move |batch| batch.map_err(|e| unreadable(&shown, e))),
                target,
            )
        }
        InputFormat::Arrow => {
            let (schema, batches) = arrow_reader(path)?;
            cast_all(&schema, batches, target)
        }
    }
}

fn cast_all(
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch>> + 'static,
    target: &Arc<Target>,
) -> Result<Batches> {
    if let Some(missing) = missing_partition(target, |name| schema.field_with_name(name).is_ok()) {
        return Err(missing);
    }
    let target = Arc::clone(target);
    let mut first = 1;
    Ok(Box::new(batches.map(move |batch| {
        let batch = batch?;
        let places = Places::From(first);
        first += batch.num_rows();
        cast::to_rows(&batch, &target, places)
    })))
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
fn arrow_reader(path: &Path) -> Result<(Schema, ForeignBatches)> {
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
