// SPDX-License-Identifier: Apache-2.0

//! The suite.

use std::sync::Arc;

use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_schema::Schema;
use arrow_select::concat::concat_batches;
use arrow_select::filter::filter_record_batch;
use paimon_storage::Storage;
use paimon_types::{ColumnStats, DataField, Datum, Error, ErrorKind, Predicate, Result, to_arrow_schema};
use roaring::RoaringBitmap;

use super::sample::{Sampler, sample_batch};
use crate::{FileBatchReader, FileFormat, MemoryPool, UnboundedMemoryPool};

/// A file that [`write_file`] wrote.
#[derive(Clone, Debug)]
pub struct WrittenFile {
    /// Length in bytes.
    pub size: u64,
    /// Statistics of the writer, if it has them.
    pub stats: Option<Vec<ColumnStats>>,
}

/// What [`read_file`] reads.
#[derive(Clone, Debug, Default)]
pub struct ReadRequest {
    /// Columns; `None` for what the file has.
    pub fields: Option<Vec<DataField>>,
    /// Predicate for pruning.
    pub predicate: Option<Predicate>,
    /// Positions of rows.
    pub selection: Option<RoaringBitmap>,
    /// Rows of a batch, 1000 when 0.
    pub batch_size: usize,
}

fn pool() -> Arc<dyn MemoryPool> {
    Arc::new(UnboundedMemoryPool::new())
}

pub(super) fn ensure(truth: bool, what: &str) -> Result<()> {
    if truth {
        Ok(())
    } else {
        Err(Error::invalid(format!("conformance: {what}")))
    }
}

/// Writes `batches` to `path` and closes the file.
///
/// # Errors
/// Those of the writer, and a broken contract.
pub async fn write_file(
    format: &dyn FileFormat,
    storage: &Storage,
    path: &str,
    fields: &[DataField],
    batches: &[RecordBatch],
    compression: &str,
) -> Result<WrittenFile> {
    let before = storage.exists(path).await?;
    let mut builder = format.create_writer_builder(fields, 1024)?;
    let pool = pool();
    builder.with_memory_pool(pool.clone());
    let mut writer = builder.build(storage.open_output(path).await?, compression)?;
    for batch in batches {
        writer.add_batch(batch).await?;
        writer.reach_target_size(true, 1 << 30)?;
    }
    writer.finish().await?;
    let again = writer
        .add_batch(&RecordBatch::new_empty(Arc::new(to_arrow_schema(fields))))
        .await;
    ensure(again.is_err(), "add_batch after finish fails")?;
    let stats = writer
        .written_stats()
        .map(|stats| stats.extract_written_file_stats(&pool))
        .transpose()?;
    ensure(
        before || !storage.exists(path).await?,
        "finish leaves the stream open",
    )?;
    let mut out = writer.into_output();
    out.close().await?;
    let status = storage
        .status(path)
        .await?
        .ok_or_else(|| Error::not_found("conformance: the file was not written"))?;
    ensure(pool.reserved() == 0, "a writer gives its memory back")?;
    Ok(WrittenFile {
        size: status.size,
        stats,
    })
}

/// Opens `path`.
///
/// # Errors
/// Those of the reader.
pub async fn open(
    format: &dyn FileFormat,
    storage: &Storage,
    path: &str,
    batch_size: usize,
) -> Result<Box<dyn FileBatchReader>> {
    let builder = format.create_reader_builder(batch_size)?;
    builder.build(storage.open_input(path, None).await?).await
}

/// Reads a file and returns the rows with their positions.
///
/// # Errors
/// Those of the reader, and a broken contract.
pub async fn read_file(
    format: &dyn FileFormat,
    storage: &Storage,
    path: &str,
    request: &ReadRequest,
) -> Result<(Vec<RecordBatch>, Vec<u64>)> {
    let batch_size = if request.batch_size == 0 {
        1000
    } else {
        request.batch_size
    };
    let mut reader = open(format, storage, path, batch_size).await?;
    if let Some(fields) = &request.fields {
        reader.set_read_schema(fields, request.predicate.as_ref(), request.selection.clone())?;
    }
    read_rest(reader.as_mut(), batch_size).await
}

async fn read_rest(
    reader: &mut dyn FileBatchReader,
    batch_size: usize,
) -> Result<(Vec<RecordBatch>, Vec<u64>)> {
    ensure(
        reader.previous_batch_file_row_id(0).is_err(),
        "there is no row id before the first batch",
    )?;
    let (mut batches, mut rows) = (Vec::new(), Vec::new());
    while let Some(batch) = reader.next_batch().await? {
        ensure(
            (1..=batch_size).contains(&batch.num_rows()),
            "a batch has 1 to batch size rows",
        )?;
        for row in 0..batch.num_rows() as u64 {
            rows.push(reader.previous_batch_file_row_id(row)?);
        }
        let behind = reader.previous_batch_file_row_id(batch.num_rows() as u64);
        ensure(
            behind.is_err_and(|e| e.kind() == ErrorKind::InvalidInput),
            "row ids end with the batch",
        )?;
        batches.push(batch);
    }
    ensure(reader.next_batch().await?.is_none(), "the end stays the end")?;
    ensure(
        reader.previous_batch_file_row_id(0).is_err(),
        "there is no row id after the end",
    )?;
    ensure(
        rows.is_sorted_by(|a, b| a < b),
        "rows come in the order of the file",
    )?;
    Ok((batches, rows))
}

pub(super) fn joined(fields: &[DataField], batches: &[RecordBatch]) -> Result<RecordBatch> {
    let schema = Arc::new(to_arrow_schema(fields));
    for batch in batches {
        ensure(
            batch.schema_ref() == &schema,
            "a batch has the schema that was asked for",
        )?;
    }
    concat_batches(&schema, batches).map_err(|e| Error::invalid(e.to_string()))
}

/// Runs the suite with files of `fields` (of types that the format stores) below `dir`.
///
/// # Errors
/// The first rule of the interface that the format breaks.
pub async fn check_format(
    format: &dyn FileFormat,
    storage: &Storage,
    dir: &str,
    fields: &[DataField],
) -> Result<()> {
    let path = format!("{dir}/conformance.{}", format.identifier());
    let written: Vec<RecordBatch> = [700, 1, 1300, 999]
        .iter()
        .zip(1..)
        .map(|(rows, seed)| sample_batch(fields, *rows, seed))
        .collect::<Result<_>>()?;
    let all = joined(fields, &written)?;
    let rows = all.num_rows() as u64;
    let file = write_file(format, storage, &path, fields, &written, "none").await?;

    let whole = ReadRequest {
        fields: Some(fields.to_vec()),
        ..ReadRequest::default()
    };
    let (read, positions) = read_file(format, storage, &path, &whole).await?;
    ensure(joined(fields, &read)? == all, "what was written is read")?;
    ensure(positions.into_iter().eq(0..rows), "row ids count from 0")?;
    for batch_size in [1, 7, 5000] {
        let request = ReadRequest {
            batch_size,
            ..whole.clone()
        };
        let (read, _) = read_file(format, storage, &path, &request).await?;
        ensure(joined(fields, &read)? == all, "the batch size changes no rows")?;
    }

    check_projection(format, storage, &path, fields, &all).await?;
    check_selection(format, storage, &path, fields, &all).await?;
    check_parts(format, storage, &path, rows).await?;
    check_calls(format, storage, &path, fields, &all).await?;
    check_stats(format, storage, &path, fields, &all, &file).await?;
    check_damage(format, storage, dir, &path, fields).await?;

    let empty = format!("{dir}/empty.{}", format.identifier());
    write_file(format, storage, &empty, fields, &[], "none").await?;
    let (read, _) = read_file(format, storage, &empty, &whole).await?;
    ensure(read.is_empty(), "a file without rows has no batches")
}

async fn check_projection(
    format: &dyn FileFormat,
    storage: &Storage,
    path: &str,
    fields: &[DataField],
    all: &RecordBatch,
) -> Result<()> {
    let picked: Vec<usize> = (0..fields.len()).rev().step_by(2).collect();
    let some: Vec<DataField> = picked.iter().filter_map(|i| fields.get(*i).cloned()).collect();
    let request = ReadRequest {
        fields: Some(some.clone()),
        ..ReadRequest::default()
    };
    let (read, _) = read_file(format, storage, path, &request).await?;
    let expected = all.project(&picked).map_err(|e| Error::invalid(e.to_string()))?;
    ensure(
        joined(&some, &read)?.columns() == expected.columns(),
        "columns come in the order asked for",
    )?;

    let request = ReadRequest {
        fields: Some(Vec::new()),
        ..ReadRequest::default()
    };
    let (read, _) = read_file(format, storage, path, &request).await?;
    let count: usize = read.iter().map(RecordBatch::num_rows).sum();
    ensure(count == all.num_rows(), "rows are counted without columns")?;

    let Some(first) = fields.first() else {
        return Ok(());
    };
    let missing = DataField::new(i32::MAX - 7, "no such column", first.data_type.clone());
    let mut reader = open(format, storage, path, 10).await?;
    let refused = reader.set_read_schema(&[missing], None, None);
    ensure(
        refused.is_err_and(|e| e.kind() == ErrorKind::InvalidInput),
        "a column that is not there is refused",
    )
}

async fn check_selection(
    format: &dyn FileFormat,
    storage: &Storage,
    path: &str,
    fields: &[DataField],
    all: &RecordBatch,
) -> Result<()> {
    let rows = u32::try_from(all.num_rows()).unwrap_or(u32::MAX);
    let mut sampler = Sampler::new(11);
    let scattered: RoaringBitmap = (0..rows).filter(|_| sampler.below(3) == 0).collect();
    let mut ranges = RoaringBitmap::new();
    ranges.insert_range(3..50);
    ranges.insert_range(1100..2500);
    ranges.insert(rows.saturating_sub(1));
    ranges.insert(rows + 1000);
    for selection in [scattered, ranges, RoaringBitmap::new()] {
        let request = ReadRequest {
            fields: Some(fields.to_vec()),
            selection: Some(selection.clone()),
            batch_size: 64,
            ..ReadRequest::default()
        };
        let precise = open(format, storage, path, 10)
            .await?
            .supports_precise_selection();
        let (read, positions) = read_file(format, storage, path, &request).await?;
        let positions: RoaringBitmap = positions
            .into_iter()
            .filter_map(|p| u32::try_from(p).ok())
            .collect();
        let mut wanted = selection;
        wanted.remove_range(rows..);
        ensure(wanted.is_subset(&positions), "selected rows are read")?;
        ensure(!precise || wanted == positions, "only selected rows are read")?;
        let mask: BooleanArray = (0..rows).map(|row| Some(positions.contains(row))).collect();
        let expected = filter_record_batch(all, &mask).map_err(|e| Error::invalid(e.to_string()))?;
        ensure(joined(fields, &read)? == expected, "row ids belong to the rows")?;
    }
    Ok(())
}

async fn check_parts(format: &dyn FileFormat, storage: &Storage, path: &str, rows: u64) -> Result<()> {
    let reader = open(format, storage, path, 10).await?;
    let mut last = 0;
    for row in (0..rows + 3).chain([u64::from(u32::MAX), u64::MAX]) {
        let start = reader.part_start(row)?;
        ensure(row > 0 || start == 0, "the first part begins with the first row")?;
        ensure(
            row < rows || start == rows,
            "the last part ends behind the last row",
        )?;
        ensure(start >= last && start <= rows, "beginnings of parts ascend")?;
        last = start;
    }
    Ok(())
}

async fn check_calls(
    format: &dyn FileFormat,
    storage: &Storage,
    path: &str,
    fields: &[DataField],
    all: &RecordBatch,
) -> Result<()> {
    let mut reader = open(format, storage, path, 100).await?;
    reader.warmup();
    ensure(
        reader.count_rows().await? == all.num_rows() as u64,
        "the number of rows is that of the file",
    )?;
    let schema: Arc<Schema> = reader.file_schema()?;
    ensure(
        schema.fields().len() == fields.len(),
        "the file schema has all columns",
    )?;
    reader.set_read_schema(fields, None, None)?;
    reader.warmup();
    reader.warmup();
    let first = reader.next_batch().await?;
    reader.set_read_schema(fields, None, None)?;
    ensure(
        reader.previous_batch_file_row_id(0).is_err(),
        "a new read schema forgets the last batch",
    )?;
    ensure(
        reader.next_batch().await? == first,
        "a new read schema starts with the first row",
    )?;
    let Some((batch, valid)) = reader.next_batch_with_bitmap().await? else {
        return ensure(false, "there is a second batch");
    };
    ensure(!valid.is_empty(), "a batch with bitmap has a valid row")?;
    ensure(
        valid.max().is_some_and(|row| (row as usize) < batch.num_rows()),
        "valid rows are rows of the batch",
    )?;
    reader.close();
    reader.warmup();
    ensure(
        reader.next_batch().await.is_err(),
        "a closed reader reads nothing",
    )?;
    let _ = reader.metrics();
    drop(reader);
    // Copies every value.
    let rows = batch.num_rows();
    let expected = all.slice(first.map_or(0, |batch| batch.num_rows()), rows);
    ensure(
        joined(fields, &[batch])? == joined(fields, &[expected])?,
        "batches outlive their reader",
    )
}

async fn check_stats(
    format: &dyn FileFormat,
    storage: &Storage,
    path: &str,
    fields: &[DataField],
    all: &RecordBatch,
    file: &WrittenFile,
) -> Result<()> {
    let extractor = format.create_stats_extractor(fields)?;
    let input = storage.open_input(path, Some(file.size)).await?;
    let (stats, info) = extractor.extract_with_file_info(input.clone(), pool()).await?;
    ensure(
        info.row_count == all.num_rows() as u64,
        "file info has the number of rows",
    )?;
    ensure(
        stats.len() == fields.len(),
        "there is one statistic for each column",
    )?;
    let again = extractor.extract(input, pool()).await?;
    ensure(
        again.len() == stats.len() && std::iter::zip(&again, &stats).all(|(a, b)| same(a, b)),
        "both extractions agree",
    )?;
    if let Some(written) = &file.stats {
        let stored = |found: &ColumnStats| *found != ColumnStats::default();
        ensure(
            written.len() == stats.len()
                && std::iter::zip(written, &stats).all(|(w, found)| same(w, found) || !stored(found)),
            "statistics of the writer equal those of the file",
        )?;
    }
    let columns = all.columns();
    let written = file.stats.iter().flatten().zip(columns);
    for (stats, column) in stats.iter().zip(columns).chain(written) {
        if let Some(nulls) = stats.null_count {
            ensure(
                usize::try_from(nulls).ok() == Some(column.logical_null_count()),
                "null counts are right",
            )?;
        }
        if let (Some(min), Some(max)) = (&stats.min, &stats.max) {
            ensure(
                !min.compare(max).is_some_and(std::cmp::Ordering::is_gt),
                "min is not above max",
            )?;
        }
    }
    Ok(())
}

/// Equal statistics; a NaN equals itself.
fn same(a: &ColumnStats, b: &ColumnStats) -> bool {
    let bounds = |a: &Option<Datum>, b: &Option<Datum>| match (a, b) {
        (Some(a), Some(b)) => a.compare(b).is_some_and(std::cmp::Ordering::is_eq),
        (None, None) => true,
        _ => false,
    };
    bounds(&a.min, &b.min) && bounds(&a.max, &b.max) && a.null_count == b.null_count
}

/// A file that is cut never yields rows as if it were whole, and its errors are sticky.
async fn check_damage(
    format: &dyn FileFormat,
    storage: &Storage,
    dir: &str,
    path: &str,
    fields: &[DataField],
) -> Result<()> {
    let whole = storage.read(path).await?;
    let cut_path = format!("{dir}/cut.{}", format.identifier());
    for part in 0..20 {
        let length = whole.len() * part / 20;
        storage.write(&cut_path, whole.slice(..length)).await?;
        let mut reader = match open(format, storage, &cut_path, 500).await {
            Ok(reader) => reader,
            Err(error) => {
                ensure(error.to_string().contains(&cut_path), "an error names the file")?;
                continue;
            }
        };
        let mut failed = reader.set_read_schema(fields, None, None).err();
        while failed.is_none() {
            match reader.next_batch().await {
                Ok(Some(_)) => {}
                Ok(None) => return ensure(false, "a cut file is an error"),
                Err(error) => {
                    let again = reader.next_batch().await;
                    ensure(
                        again.is_err_and(|e| e.kind() == error.kind()),
                        "errors are sticky",
                    )?;
                    failed = Some(error);
                }
            }
        }
    }
    Ok(())
}
