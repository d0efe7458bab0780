// SPDX-License-Identifier: Apache-2.0

//! Manifests in a columnar file format (ORC), through the interface of `paimon-format`.
//!
//! Columns are found by name at every depth, as in Avro. The columns before `_FILE` are read first; file records are read for
//! the entries that are wanted, and become entries by the same code as those in Avro.

mod columns;
mod input;
mod read;
mod schema;
#[cfg(test)]
pub(super) mod tests;
mod write;

use std::sync::Arc;

use arrow_array::RecordBatch;
use bytes::Bytes;
use paimon_format::blocking::spawn;
use paimon_format::{FileBatchReader, FileFormat, ReadHints};
use paimon_types::{DataField, Error, Result};
use roaring::RoaringBitmap;

use self::input::BytesFile;
use self::read::{Completion, Wish};
use super::codec::{Partitions, Rows};
use super::{EntrySelector, IndexManifestEntry, ManifestEntry, ManifestFileMeta};

pub(super) use write::{ManifestFileWriter, write_index_manifest, write_manifest_list};

/// Rows of a batch.
const BATCH_ROWS: usize = 1024;

/// Decodes a manifest list in stored order.
pub(super) async fn read_list(
    format: &dyn FileFormat,
    path: &str,
    bytes: Bytes,
) -> Result<Vec<ManifestFileMeta>> {
    let mut reader = open(format, path, bytes).await?;
    choose(reader.as_mut(), &schema::manifest_list(), None)?;
    let (_, entries) = each_batch(
        reader.as_mut(),
        (Rows::new(), Vec::new()),
        |(rows, entries), batch, _| read::list_entries(batch, rows, entries),
    )
    .await?;
    Ok(entries)
}

/// Decodes the entries of a manifest that `selector` wants, in stored order.
pub(super) async fn read_manifest<S>(
    format: &dyn FileFormat,
    path: &str,
    bytes: Bytes,
    selector: S,
) -> Result<Vec<ManifestEntry>>
where
    S: EntrySelector + Send + 'static,
{
    let mut reader = open(format, path, bytes).await?;
    let reader = reader.as_mut();
    choose(reader, &schema::manifest_heads(), None)?;
    let wish = Wish {
        selector,
        partitions: Partitions::new(),
        seen: 0,
        heads: Vec::new(),
    };
    let wish = each_batch(reader, wish, |wish, batch, _| wish.select(batch)).await?;
    let stored = reader.number_of_rows()?;
    if wish.seen != stored {
        return Err(Error::corrupt(format!(
            "a manifest of {stored} entries gave {}",
            wish.seen
        )));
    }
    if wish.heads.is_empty() {
        return Ok(Vec::new());
    }
    let some = u64::try_from(wish.heads.len()).is_ok_and(|wanted| wanted < stored);
    let selection: Option<RoaringBitmap> = some.then(|| wish.heads.iter().map(|(place, _)| *place).collect());
    choose(reader, &[schema::manifest_file()], selection)?;
    let completion = Completion {
        selector: wish.selector,
        partitions: wish.partitions,
        entries: Vec::with_capacity(wish.heads.len()),
        heads: wish.heads.into_iter(),
    };
    let completion = each_batch(reader, completion, |completion, batch, places| {
        completion.complete(batch, places)
    })
    .await?;
    completion.finish()
}

/// Decodes an index manifest in stored order.
pub(super) async fn read_index_manifest(
    format: &dyn FileFormat,
    path: &str,
    bytes: Bytes,
) -> Result<Vec<IndexManifestEntry>> {
    let mut reader = open(format, path, bytes).await?;
    choose(reader.as_mut(), &schema::index_manifest(), None)?;
    let (_, entries) = each_batch(
        reader.as_mut(),
        (Rows::new(), Vec::new()),
        |(rows, entries), batch, _| read::index_entries(batch, rows, entries),
    )
    .await?;
    Ok(entries)
}

/// Opens a file that is in memory.
async fn open(format: &dyn FileFormat, path: &str, bytes: Bytes) -> Result<Box<dyn FileBatchReader>> {
    let mut builder = format.create_reader_builder(BATCH_ROWS)?;
    builder.with_read_hints(Some(ReadHints::new().with_read_ahead(false)));
    builder.build(Arc::new(BytesFile::new(path, bytes))).await
}

/// Chooses those of the wanted columns that the file has.
fn choose(
    reader: &mut dyn FileBatchReader,
    wanted: &[DataField],
    selection: Option<RoaringBitmap>,
) -> Result<()> {
    let stored = reader.file_schema()?;
    let columns = schema::stored_columns(wanted, stored.fields())?;
    if columns.is_empty() {
        let names: Vec<&str> = wanted.iter().map(|field| field.name.as_str()).collect();
        return Err(Error::corrupt(format!(
            "a manifest has none of the columns {}",
            names.join(", ")
        )));
    }
    reader.set_read_schema(&columns, None, selection)
}

/// Reads to the end; `step` gets every batch with the places of its rows in the file, beside the event loop.
async fn each_batch<W: Send + 'static>(
    reader: &mut dyn FileBatchReader,
    state: W,
    step: fn(&mut W, &RecordBatch, &[u64]) -> Result<()>,
) -> Result<W> {
    let mut state = Box::new(state);
    while let Some(batch) = reader.next_batch().await? {
        let rows = u64::try_from(batch.num_rows()).unwrap_or(u64::MAX);
        let places = (0..rows)
            .map(|row| reader.previous_batch_file_row_id(row))
            .collect::<Result<Vec<u64>>>()?;
        state = spawn("decoding a manifest", move || {
            step(&mut state, &batch, &places)?;
            Ok(state)
        })
        .await?;
    }
    Ok(*state)
}
