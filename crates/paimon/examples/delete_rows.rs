// SPDX-License-Identifier: Apache-2.0

//! Deletes rows of an append table with deletion vectors, as an engine does that found them by their position:
//! `delete_rows LOCATION STEP FIRST` deletes the rows FIRST, FIRST + STEP, FIRST + 2 STEP … of every data file.
//!
//! The control plane tells which files and vectors there are ([`WriteRestore`](paimon::WriteRestore)), the engine writes an index file a
//! bucket with the vectors of before and the new deletions, and its commit messages replace the old ones.

use std::collections::BTreeMap;
use std::error::Error;

use paimon::protocol::{DeletionVectorMeta, IndexFileMeta};
use paimon::{BucketState, CommitMessage, Storage, Table};
use paimon_index::{DELETION_VECTORS, DeletionVector, DeletionVectorFileWriter, DeletionVectorKind};

#[tokio::main(flavor = "multi_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(location), Some(step), Some(first)) = (args.next(), args.next(), args.next()) else {
        return Err("usage: delete_rows LOCATION STEP FIRST".into());
    };
    let (step, first): (usize, u64) = (step.parse()?, first.parse()?);
    let table = Table::open(&location).await?;
    let wide = table.schema().options.get("deletion-vectors.bitmap64");
    let kind = match wide.is_some_and(|wide| wide == "true") {
        true => DeletionVectorKind::Bitmap64,
        false => DeletionVectorKind::Bitmap32,
    };
    let mut messages = Vec::new();
    for state in table.meta().new_write_restore().with_data_files().plan().await? {
        let mut vectors = vectors_of(&table, &state).await?;
        for file in state.data_files.iter().flatten() {
            let deleted = (first..file.row_count as u64).step_by(step);
            let mut vector = DeletionVector::from_positions(kind, deleted)?;
            if let Some(before) = vectors.get(&file.file_name) {
                vector.merge(before)?;
            }
            if !vector.is_empty() {
                vectors.insert(file.file_name.clone(), vector);
            }
        }
        let mut message =
            CommitMessage::append(state.partition, state.bucket, state.total_buckets, Vec::new());
        message.data_increment.new_index_files = vec![write(&table, &vectors).await?];
        message.data_increment.deleted_index_files = state.deletion_vectors;
        messages.push(message);
    }
    table.new_commit().commit(messages).await?;
    Ok(())
}

fn index_path(table: &Table, name: &str) -> String {
    Storage::join(&Storage::join(table.location(), "index"), name)
}

/// The vectors of a bucket, by data file.
async fn vectors_of(
    table: &Table,
    state: &BucketState,
) -> Result<BTreeMap<String, DeletionVector>, Box<dyn Error>> {
    let mut vectors = BTreeMap::new();
    for file in &state.deletion_vectors {
        let bytes = table
            .meta()
            .storage()
            .read(&index_path(table, &file.file_name))
            .await?;
        for place in file.dv_ranges.iter().flatten() {
            let own = bytes.get(place.offset as usize..).unwrap_or_default();
            let cardinality = place.cardinality.map(|rows| rows as u64);
            let vector = DeletionVector::decode_recorded(own, place.length as u64, cardinality)?;
            vectors.insert(place.data_file_name.clone(), vector);
        }
    }
    Ok(vectors)
}

/// Writes one index file.
async fn write(
    table: &Table,
    vectors: &BTreeMap<String, DeletionVector>,
) -> Result<IndexFileMeta, Box<dyn Error>> {
    let mut writer = DeletionVectorFileWriter::new();
    let mut places = Vec::new();
    for (data_file, vector) in vectors {
        let place = writer.write(vector)?;
        places.push(DeletionVectorMeta {
            data_file_name: data_file.clone(),
            offset: place.offset,
            length: place.length,
            cardinality: Some(place.cardinality as i64),
        });
    }
    let bytes = writer.finish();
    let file_name = format!("index-{}-0", table.meta().environment().ids.next_uuid());
    let meta = IndexFileMeta {
        index_type: DELETION_VECTORS.to_owned(),
        file_name,
        file_size: bytes.len() as i64,
        row_count: places.len() as i64,
        dv_ranges: Some(places),
        external_path: None,
        global_index: None,
    };
    let storage = table.meta().storage();
    storage
        .write(&index_path(table, &meta.file_name), bytes.into())
        .await?;
    Ok(meta)
}
