// SPDX-License-Identifier: Apache-2.0

//! `DataFileMeta` records of every version (`wire.md` 6).

use std::sync::Arc;

use paimon_types::{DataOutput, Error, Result, SharedBytes};

use super::carrier::{Carrier, since};
use super::input::SharedInput;
use super::record::{RecordReader, fixed_part};
use super::record_writer::{RecordWriter, i64_array, opt_i64_array, string_array};
use crate::{DataFileMeta, FileSource, NullCounts, RowValues, SimpleStats};

/// Fields of `SimpleStats`.
const STATS_ARITY: usize = 3;

/// Fields of the newest form.
const CURRENT_ARITY: usize = 21;

/// Reads records of one version. Rows and null counts are parts of the input's buffer, and files with the same columns share
/// the list of them, so that a file takes one allocation for its name and one for each of its rarer texts and lists.
pub(super) struct FileMetaReader<'a> {
    arity: usize,
    empty: RowValues,
    columns: ColumnLists<'a>,
}

/// Lists of columns by their bytes.
#[derive(Default)]
struct ColumnLists<'a> {
    known: Vec<(&'a [u8], Arc<[String]>)>,
}

impl<'a> ColumnLists<'a> {
    /// Most files of a table have one of very few lists.
    const LIMIT: usize = 8;

    fn read(&mut self, row: &RecordReader<'a>, field: usize) -> Result<Option<Arc<[String]>>> {
        let Some(piece) = row.opt_piece(field)? else {
            return Ok(None);
        };
        if let Some((_, names)) = self.known.iter().find(|(bytes, _)| *bytes == piece) {
            return Ok(Some(Arc::clone(names)));
        }
        let names: Arc<[String]> = row.array_of(piece, 8)?.strings()?.into();
        if self.known.len() == Self::LIMIT {
            self.known.clear();
        }
        self.known.push((piece, Arc::clone(&names)));
        Ok(Some(names))
    }
}

impl<'a> FileMetaReader<'a> {
    pub(super) fn new(arity: usize) -> Self {
        FileMetaReader {
            arity,
            empty: RowValues::empty(),
            columns: ColumnLists::default(),
        }
    }

    /// i32 count, then records.
    pub(super) fn list(&mut self, input: &mut SharedInput<'a>) -> Result<Vec<DataFileMeta>> {
        let count = input.read_count(4 + fixed_part(self.arity))?;
        // `count` records fit into the input, so this is at most a few times its length.
        let mut files = Vec::with_capacity(count);
        for _ in 0..count {
            files.push(self.read(input)?);
        }
        Ok(files)
    }

    pub(super) fn read(&mut self, input: &mut SharedInput<'a>) -> Result<DataFileMeta> {
        let buffer = input.buffer;
        let row = RecordReader::new("data file", input.read_sized()?, self.arity)?;
        let strings = |field| row.opt_array(field, 8)?.map(|array| array.strings()).transpose();
        let meta = DataFileMeta {
            file_name: row.string(0)?,
            file_size: row.i64(1)?,
            row_count: row.i64(2)?,
            min_key: row.row(3, &self.empty, buffer)?,
            max_key: row.row(4, &self.empty, buffer)?,
            key_stats: self.stats(&row, 5, buffer)?,
            value_stats: self.stats(&row, 6, buffer)?,
            min_sequence_number: row.i64(7)?,
            max_sequence_number: row.i64(8)?,
            schema_id: row.i64(9)?,
            level: row.i32(10)?,
            extra_files: strings(11)?.unwrap_or_default(),
            creation_time: row.opt_i64(12)?,
            delete_row_count: row.opt_i64(13)?,
            embedded_index: row.opt_bytes(14)?.map(<[u8]>::to_vec),
            file_source: row.opt_i8(15)?.map(file_source).transpose()?,
            value_stats_cols: self.columns.read(&row, 16)?,
            external_path: row.opt_string(17)?,
            first_row_id: row.opt_i64(18)?,
            write_cols: self.columns.read(&row, 19)?,
            write_cols_sequences: row.opt_array(20, 8)?.map(|array| array.i64s()).transpose()?,
        };
        row.finish().map_err(|e| e.with("file", &meta.file_name))?;
        Ok(meta)
    }

    fn stats(&self, row: &RecordReader<'_>, field: usize, buffer: &SharedBytes) -> Result<SimpleStats> {
        let piece = row.opt_piece(field)?;
        let piece = piece
            .ok_or_else(|| Error::corrupt(format!("statistics in field {field} of data file are null")))?;
        let stats = RecordReader::new("statistics", piece, STATS_ARITY)?;
        let null_counts = stats
            .opt_piece(2)?
            .map(|piece| NullCounts::from_array(buffer.part(piece)));
        let stats_value = SimpleStats {
            min_values: stats.row(0, &self.empty, buffer)?,
            max_values: stats.row(1, &self.empty, buffer)?,
            null_counts: null_counts.transpose()?.unwrap_or_default(),
        };
        stats.finish()?;
        Ok(stats_value)
    }
}

fn file_source(value: i8) -> Result<FileSource> {
    match value {
        0 => Ok(FileSource::Append),
        1 => Ok(FileSource::Compact),
        _ => Err(Error::corrupt(format!(
            "unknown file source {value}, expected 0 (append) or 1 (compact)"
        ))),
    }
}

/// i32 count, then records of the carrier's version.
pub(super) fn write_list(out: &mut DataOutput, files: &[DataFileMeta], carrier: &Carrier) -> Result<()> {
    out.write_count(files.len())?;
    let mut record = Vec::new();
    for file in files {
        record.clear();
        write_record(&mut record, file, carrier)?;
        out.write_sized(&record)?;
    }
    Ok(())
}

fn write_record(buffer: &mut Vec<u8>, file: &DataFileMeta, carrier: &Carrier) -> Result<()> {
    check_fields(file, carrier)?;
    let arity = carrier.file_arity();
    let mut row = RecordWriter::new(buffer, arity);
    row.bytes(0, file.file_name.as_bytes());
    row.i64(1, file.file_size);
    row.i64(2, file.row_count);
    row.row(3, &file.min_key);
    row.row(4, &file.max_key);
    row.piece(5, |buffer| write_stats(buffer, &file.key_stats));
    row.piece(6, |buffer| write_stats(buffer, &file.value_stats));
    row.i64(7, file.min_sequence_number);
    row.i64(8, file.max_sequence_number);
    row.i64(9, file.schema_id);
    row.i32(10, file.level);
    row.piece(11, |buffer| string_array(buffer, &file.extra_files));
    row.optional(12, file.creation_time, RecordWriter::i64);
    for field in 13..arity.min(CURRENT_ARITY) {
        match field {
            13 => row.optional(field, file.delete_row_count, RecordWriter::i64),
            14 => row.optional(field, file.embedded_index.as_deref(), RecordWriter::bytes),
            15 => row.optional(field, file.file_source, |row, field, source| {
                row.i8(field, source as i8)
            }),
            16 => row.optional(field, file.value_stats_cols.as_deref(), strings),
            17 => row.optional(field, file.external_path.as_deref(), |row, field, v| {
                row.bytes(field, v.as_bytes())
            }),
            18 => row.optional(field, file.first_row_id, RecordWriter::i64),
            19 => row.optional(field, file.write_cols.as_deref(), strings),
            _ => row.optional(
                field,
                file.write_cols_sequences.as_deref(),
                |row, field, values| {
                    row.piece(field, |buffer| i64_array(buffer, values));
                },
            ),
        }
    }
    Ok(())
}

fn strings(row: &mut RecordWriter<'_>, field: usize, values: &[String]) {
    row.piece(field, |buffer| string_array(buffer, values));
}

fn write_stats(buffer: &mut Vec<u8>, stats: &SimpleStats) {
    let mut row = RecordWriter::new(buffer, STATS_ARITY);
    row.row(0, &stats.min_values);
    row.row(1, &stats.max_values);
    row.piece(2, |buffer| opt_i64_array(buffer, stats.null_counts.iter()));
}

/// Refuses a file with a value that the carrier's version has no field for.
fn check_fields(file: &DataFileMeta, carrier: &Carrier) -> Result<()> {
    let arity = carrier.file_arity();
    let optional = [
        (13, "delete_row_count", file.delete_row_count.is_some()),
        (14, "embedded_index", file.embedded_index.is_some()),
        (15, "file_source", file.file_source.is_some()),
        (16, "value_stats_cols", file.value_stats_cols.is_some()),
        (17, "external_path", file.external_path.is_some()),
        (18, "first_row_id", file.first_row_id.is_some()),
        (19, "write_cols", file.write_cols.is_some()),
        (20, "write_cols_sequences", file.write_cols_sequences.is_some()),
    ];
    match optional
        .into_iter()
        .find(|(field, _, present)| *field >= arity && *present)
    {
        None => Ok(()),
        Some((field, name, _)) => Err(carrier
            .refuse(&format!("{name} of a data file"), since(carrier.files, field))
            .with("file", &file.file_name)),
    }
}
