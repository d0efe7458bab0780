// SPDX-License-Identifier: Apache-2.0

//! CSV with a header. An empty field is NULL, also for strings.

use std::io::{BufReader, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_csv::ReaderBuilder;
use arrow_csv::reader::Format;
use arrow_schema::{DataType as ArrowType, Field, Schema};
use paimon::types::{DataField, DataType, Error, Result, TypeKind, from_arrow_schema, to_arrow_field};

use super::json_array::{array_of, from_text};
use super::{BATCH_ROWS, Batches, open_file, unreadable};

const INFER_ROWS: usize = 10_000;

pub(super) fn infer(path: &Path) -> Result<Vec<DataField>> {
    let (schema, _) = Format::default()
        .with_header(true)
        .infer_schema(BufReader::new(open_file(path)?), Some(INFER_ROWS))
        .map_err(|e| unreadable(path, e))?;
    let plain = |data_type: &ArrowType| match data_type {
        ArrowType::Null => ArrowType::Utf8,
        ArrowType::Timestamp(_, _) => ArrowType::Timestamp(arrow_schema::TimeUnit::Microsecond, None),
        other => other.clone(),
    };
    let fields = schema
        .fields()
        .iter()
        .map(|f| Field::new(f.name(), plain(f.data_type()), true));
    from_arrow_schema(&Schema::new(fields.collect::<Vec<_>>()))
}

pub(super) fn open(path: &Path, fields: &[DataField]) -> Result<Batches> {
    let mut file = open_file(path)?;
    let header = header(path, BufReader::new(&file))?;
    file.seek(SeekFrom::Start(0)).map_err(|e| unreadable(path, e))?;
    let mut columns = Vec::with_capacity(header.len());
    for name in &header {
        let field = fields.iter().find(|f| f.name == *name).ok_or_else(|| {
            let known: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
            Error::invalid(format!(
                "the header has '{name}', which is no column of the table: {}",
                known.join(", ")
            ))
            .with("path", path.display())
        })?;
        columns.push(field.clone());
    }
    let raw: Vec<Field> = columns
        .iter()
        .map(|f| match direct(&f.data_type) {
            true => to_arrow_field(f).with_nullable(true),
            false => Field::new(&f.name, ArrowType::Utf8, true),
        })
        .collect();
    let reader = ReaderBuilder::new(Arc::new(Schema::new(raw)))
        .with_header(true)
        .with_batch_size(BATCH_ROWS)
        .build(BufReader::new(file))
        .map_err(|e| unreadable(path, e))?;
    let shown = path.to_path_buf();
    let target = Arc::new(Schema::new(
        columns
            .iter()
            .map(|f| to_arrow_field(f).with_nullable(true))
            .collect::<Vec<_>>(),
    ));
    Ok(Box::new(reader.map(move |batch| {
        let batch = batch.map_err(|e| unreadable(&shown, e))?;
        let arrays = columns
            .iter()
            .zip(batch.columns())
            .map(|(field, column)| convert(column, field).map_err(|e| e.with("path", shown.display())))
            .collect::<Result<Vec<_>>>()?;
        RecordBatch::try_new(target.clone(), arrays).map_err(|e| unreadable(&shown, e))
    })))
}

fn header(path: &Path, file: impl std::io::Read) -> Result<Vec<String>> {
    let (schema, _) = Format::default()
        .with_header(true)
        .infer_schema(file, Some(0))
        .map_err(|e| unreadable(path, e))?;
    Ok(schema.fields().iter().map(|f| f.name().clone()).collect())
}

/// Types that the CSV library parses exactly as we would.
fn direct(data_type: &DataType) -> bool {
    matches!(
        data_type.kind,
        TypeKind::TinyInt
            | TypeKind::SmallInt
            | TypeKind::Int
            | TypeKind::BigInt
            | TypeKind::Float
            | TypeKind::Double
            | TypeKind::Char(_)
            | TypeKind::VarChar(_)
    )
}

fn convert(column: &ArrayRef, field: &DataField) -> Result<ArrayRef> {
    if direct(&field.data_type) {
        return Ok(column.clone());
    }
    if field.data_type.is_nested() || field.data_type.kind == TypeKind::Variant {
        return Err(Error::unsupported(format!(
            "CSV cannot hold {}; use jsonl, parquet or arrow",
            field.data_type
        ))
        .with("column", &field.name));
    }
    let texts = column
        .as_string_opt::<i32>()
        .ok_or_else(|| Error::invalid("a text column is expected"))?;
    let mut values = Vec::with_capacity(texts.len());
    for (row, text) in texts.iter().enumerate() {
        values.push(match text {
            None => None,
            Some(text) => from_text(text.trim(), &field.data_type)
                .map_err(|e| e.with("column", &field.name).with("row", row + 1))?,
        });
    }
    array_of(values, field)
}
