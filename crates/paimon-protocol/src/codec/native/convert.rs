// SPDX-License-Identifier: Apache-2.0

//! Between the public structs and the mirrors of the body.

use paimon_types::{BinaryRow, Error, Result};

use super::body::{DeletionBody, FileBody, List, RowBody, SplitBody, StatsBody};
use crate::{DataFileMeta, DataSplit, DeletionFile, FileSource, SimpleStats};

impl<'a> From<&'a BinaryRow> for RowBody<'a> {
    fn from(row: &'a BinaryRow) -> Self {
        let bytes = row.as_bytes();
        let bytes = if row.arity() == 0 && bytes == [0; 8] {
            &[]
        } else {
            bytes
        };
        RowBody {
            arity: row.arity() as u32,
            bytes,
        }
    }
}

fn strings(values: &[String]) -> List<&str> {
    List(values.iter().map(String::as_str).collect())
}

impl<'a> From<&'a SimpleStats> for StatsBody<'a> {
    fn from(stats: &'a SimpleStats) -> Self {
        StatsBody {
            min_values: (&stats.min_values).into(),
            max_values: (&stats.max_values).into(),
            null_counts: List(stats.null_counts.clone()),
        }
    }
}

impl<'a> From<&'a DeletionFile> for DeletionBody<'a> {
    fn from(file: &'a DeletionFile) -> Self {
        let DeletionFile {
            path,
            offset,
            length,
            cardinality,
        } = file;
        DeletionBody {
            path,
            offset: *offset,
            length: *length,
            cardinality: *cardinality,
        }
    }
}

impl<'a> From<&'a DataFileMeta> for FileBody<'a> {
    fn from(file: &'a DataFileMeta) -> Self {
        FileBody {
            file_name: &file.file_name,
            file_size: file.file_size,
            row_count: file.row_count,
            min_key: (&file.min_key).into(),
            max_key: (&file.max_key).into(),
            key_stats: (&file.key_stats).into(),
            value_stats: (&file.value_stats).into(),
            min_sequence_number: file.min_sequence_number,
            max_sequence_number: file.max_sequence_number,
            schema_id: file.schema_id,
            level: file.level,
            extra_files: strings(&file.extra_files),
            creation_time: file.creation_time,
            delete_row_count: file.delete_row_count,
            embedded_index: file.embedded_index.as_deref(),
            file_source: file.file_source.map(|source| match source {
                FileSource::Append => 0,
                FileSource::Compact => 1,
            }),
            value_stats_cols: file.value_stats_cols.as_deref().map(strings),
            external_path: file.external_path.as_deref(),
            first_row_id: file.first_row_id,
            write_cols: file.write_cols.as_deref().map(strings),
            write_cols_sequences: file.write_cols_sequences.clone().map(List),
        }
    }
}

impl<'a> From<&'a DataSplit> for SplitBody<'a> {
    fn from(split: &'a DataSplit) -> Self {
        let deletion_files = split.deletion_files.as_ref();
        SplitBody {
            snapshot_id: split.snapshot_id,
            partition: (&split.partition).into(),
            bucket: split.bucket,
            bucket_path: &split.bucket_path,
            total_buckets: split.total_buckets,
            data_files: List(split.data_files.iter().map(FileBody::from).collect()),
            deletion_files: deletion_files.map(|list| {
                List(
                    list.iter()
                        .map(|file| file.as_ref().map(DeletionBody::from))
                        .collect(),
                )
            }),
            is_streaming: split.is_streaming,
            raw_convertible: split.raw_convertible,
        }
    }
}

/// Turns mirrors back into values; shares one empty row.
pub(super) struct Reader {
    empty: BinaryRow,
}

impl Reader {
    pub(super) fn new() -> Self {
        Reader {
            empty: BinaryRow::empty(),
        }
    }

    fn row(&self, row: RowBody<'_>) -> Result<BinaryRow> {
        if row.arity == 0 && row.bytes.is_empty() {
            return Ok(self.empty.clone());
        }
        BinaryRow::new(row.arity as usize, row.bytes)
    }

    fn stats(&self, stats: StatsBody<'_>) -> Result<SimpleStats> {
        Ok(SimpleStats {
            min_values: self.row(stats.min_values)?,
            max_values: self.row(stats.max_values)?,
            null_counts: stats.null_counts.0,
        })
    }

    fn file(&self, file: FileBody<'_>) -> Result<DataFileMeta> {
        let owned = |list: List<&str>| list.0.into_iter().map(str::to_owned).collect::<Vec<_>>();
        let file_source = match file.file_source {
            None => None,
            Some(0) => Some(FileSource::Append),
            Some(1) => Some(FileSource::Compact),
            Some(other) => {
                return Err(Error::corrupt(format!(
                    "unknown file source {other}, expected 0 (append) or 1 (compact)"
                )));
            }
        };
        Ok(DataFileMeta {
            file_name: file.file_name.to_owned(),
            file_size: file.file_size,
            row_count: file.row_count,
            min_key: self.row(file.min_key)?,
            max_key: self.row(file.max_key)?,
            key_stats: self.stats(file.key_stats)?,
            value_stats: self.stats(file.value_stats)?,
            min_sequence_number: file.min_sequence_number,
            max_sequence_number: file.max_sequence_number,
            schema_id: file.schema_id,
            level: file.level,
            extra_files: owned(file.extra_files),
            creation_time: file.creation_time,
            delete_row_count: file.delete_row_count,
            embedded_index: file.embedded_index.map(<[u8]>::to_vec),
            file_source,
            value_stats_cols: file.value_stats_cols.map(owned),
            external_path: file.external_path.map(str::to_owned),
            first_row_id: file.first_row_id,
            write_cols: file.write_cols.map(owned),
            write_cols_sequences: file.write_cols_sequences.map(|list| list.0),
        })
    }

    pub(super) fn split(&self, split: SplitBody<'_>) -> Result<DataSplit> {
        let files = split.data_files.0.into_iter().map(|file| self.file(file));
        let data_files = files.collect::<Result<Vec<_>>>()?;
        let deletion_files = split.deletion_files.map(|list| list.0);
        if let Some(list) = deletion_files
            .as_ref()
            .filter(|list| list.len() != data_files.len())
        {
            let (entries, files) = (list.len(), data_files.len());
            return Err(Error::corrupt(format!(
                "{entries} deletion file entries for {files} data files, expected one each"
            )));
        }
        let deletion = |file: DeletionBody<'_>| match file.cardinality {
            Some(negative @ ..0) => Err(Error::corrupt(format!(
                "cardinality of a deletion file is {negative}, expected 0 or more"
            ))),
            cardinality => Ok(DeletionFile {
                path: file.path.to_owned(),
                offset: file.offset,
                length: file.length,
                cardinality,
            }),
        };
        let deletions = |list: Vec<Option<DeletionBody<'_>>>| {
            list.into_iter()
                .map(|file| file.map(deletion).transpose())
                .collect::<Result<Vec<_>>>()
        };
        Ok(DataSplit {
            snapshot_id: split.snapshot_id,
            partition: self.row(split.partition)?,
            bucket: split.bucket,
            bucket_path: split.bucket_path.to_owned(),
            total_buckets: split.total_buckets,
            data_files,
            deletion_files: deletion_files.map(deletions).transpose()?,
            is_streaming: split.is_streaming,
            raw_convertible: split.raw_convertible,
        })
    }
}
