// SPDX-License-Identifier: Apache-2.0

//! Between the structs of splits and files and the mirrors of the body; `convert_message` has the other structs.

use std::ops::Range;
use std::sync::Arc;

use paimon_types::{BinaryRow, Error, Result, SharedBytes};

use super::body::{
    AnySplit, Arena, Counts, DeletionBody, FileBody, List, Names, RowBody, SplitBody, StatsBody,
};
use crate::{
    DataFileMeta, DataSplit, DeletionFile, FileSource, NullCounts, Partition, RowValues, SimpleStats,
};

impl<'a> From<&'a RowValues> for RowBody<'a> {
    fn from(values: &'a RowValues) -> Self {
        let row = values.encoded_row();
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

impl<'a> From<&'a Partition> for RowBody<'a> {
    fn from(partition: &'a Partition) -> Self {
        partition.as_values().into()
    }
}

impl<'a> From<&'a SimpleStats> for StatsBody<'a> {
    fn from(stats: &'a SimpleStats) -> Self {
        StatsBody {
            min_values: (&stats.min_values).into(),
            max_values: (&stats.max_values).into(),
            null_counts: Counts::Of(&stats.null_counts),
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
            extra_files: Names::Of(&file.extra_files),
            creation_time: file.creation_time,
            delete_row_count: file.delete_row_count,
            embedded_index: file.embedded_index.as_deref(),
            file_source: file.file_source.map(|source| match source {
                FileSource::Append => 0,
                FileSource::Compact => 1,
            }),
            value_stats_cols: file.value_stats_cols.as_deref().map(Names::Of),
            external_path: file.external_path.as_deref(),
            first_row_id: file.first_row_id,
            write_cols: file.write_cols.as_deref().map(Names::Of),
            write_cols_sequences: file.write_cols_sequences.clone().map(List),
        }
    }
}

pub(super) fn files(files: &[DataFileMeta]) -> List<FileBody<'_>> {
    List(files.iter().map(FileBody::from).collect())
}

pub(super) fn deletion_files(
    files: Option<&[Option<DeletionFile>]>,
) -> Option<List<Option<DeletionBody<'_>>>> {
    files.map(|files| {
        let files = files.iter().map(|file| file.as_ref().map(DeletionBody::from));
        List(files.collect())
    })
}

impl<'a> From<&'a DataSplit> for SplitBody<'a> {
    fn from(split: &'a DataSplit) -> Self {
        SplitBody {
            snapshot_id: split.snapshot_id,
            partition: (&split.partition).into(),
            bucket: split.bucket,
            bucket_path: &split.bucket_path,
            total_buckets: split.total_buckets,
            data_files: files(&split.data_files),
            deletion_files: deletion_files(split.deletion_files.as_deref()),
            is_streaming: split.is_streaming,
            raw_convertible: split.raw_convertible,
        }
    }
}

impl<'a> From<&'a DataSplit> for AnySplit<'a> {
    fn from(split: &'a DataSplit) -> Self {
        AnySplit::Data(split.into())
    }
}

/// Refuses to write a list that no reader takes.
pub(super) fn check_deletion_files(files: usize, list: Option<&[Option<DeletionFile>]>) -> Result<()> {
    let Some(list) = list else { return Ok(()) };
    if list.len() != files {
        let entries = list.len();
        return Err(Error::invalid(format!(
            "{entries} deletion file entries for {files} data files, expected one each"
        )));
    }
    let mut entries = list.iter().flatten();
    match entries.find(|file| file.cardinality.is_some_and(|c| c < 0)) {
        None => Ok(()),
        Some(file) => {
            Err(Error::invalid("cardinality of a deletion file is negative").with("path", &file.path))
        }
    }
}

/// Turns mirrors back into values. Rows and null counts are parts of two buffers, and equal lists of columns are one, so that
/// a file takes one allocation for its name and one for each of its rarer texts and lists.
pub(super) struct ValueReader<'a> {
    empty: RowValues,
    input: &'a SharedBytes,
    counts: SharedBytes,
    names: Vec<&'a str>,
    columns: Vec<(Range<usize>, Arc<[String]>)>,
}

impl<'a> ValueReader<'a> {
    /// Most files of a table have one of very few lists of columns.
    const COLUMN_LISTS: usize = 8;

    /// `input` is what the mirrors were decoded from.
    pub(super) fn new(input: &'a SharedBytes, arena: Arena<'a>) -> Self {
        ValueReader {
            empty: RowValues::empty(),
            input,
            counts: SharedBytes::from(Arc::from(arena.counts)),
            names: arena.names,
            columns: Vec::new(),
        }
    }

    pub(super) fn row(&self, row: RowBody<'a>) -> Result<RowValues> {
        if row.arity == 0 && row.bytes.is_empty() {
            return Ok(self.empty.clone());
        }
        BinaryRow::from_shared(row.arity as usize, self.input.part(row.bytes))
            .map(RowValues::from_encoded_row)
    }

    pub(super) fn partition(&self, row: RowBody<'a>) -> Result<Partition> {
        self.row(row).map(Partition::from)
    }

    fn stats(&self, stats: StatsBody<'a>) -> Result<SimpleStats> {
        let null_counts = match stats.null_counts {
            Counts::Of(counts) => counts.clone(),
            Counts::Read(range) => {
                let array = self.counts.get(range).unwrap_or_default();
                NullCounts::from_array(self.counts.part(array))?
            }
        };
        Ok(SimpleStats {
            min_values: self.row(stats.min_values)?,
            max_values: self.row(stats.max_values)?,
            null_counts,
        })
    }

    fn names(&self, names: Names<'a>) -> Vec<String> {
        match names {
            Names::Of(names) => names.to_vec(),
            Names::Read(range) => {
                let names = self.names.get(range).unwrap_or_default();
                names.iter().map(|name| (*name).to_owned()).collect()
            }
        }
    }

    fn columns(&mut self, names: Names<'a>) -> Arc<[String]> {
        let Names::Read(range) = names else {
            return self.names(names).into();
        };
        let list = |range: &Range<usize>| self.names.get(range.clone());
        let found = self.columns.iter().find(|(known, _)| list(known) == list(&range));
        if let Some((_, columns)) = found {
            return Arc::clone(columns);
        }
        let columns: Arc<[String]> = self.names(Names::Read(range.clone())).into();
        if self.columns.len() == Self::COLUMN_LISTS {
            self.columns.clear();
        }
        self.columns.push((range, Arc::clone(&columns)));
        columns
    }

    fn file(&mut self, file: FileBody<'a>) -> Result<DataFileMeta> {
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
            extra_files: self.names(file.extra_files),
            creation_time: file.creation_time,
            delete_row_count: file.delete_row_count,
            embedded_index: file.embedded_index.map(<[u8]>::to_vec),
            file_source,
            value_stats_cols: file.value_stats_cols.map(|names| self.columns(names)),
            external_path: file.external_path.map(str::to_owned),
            first_row_id: file.first_row_id,
            write_cols: file.write_cols.map(|names| self.columns(names)),
            write_cols_sequences: file.write_cols_sequences.map(|list| list.0),
        })
    }

    pub(super) fn files(&mut self, files: List<FileBody<'a>>) -> Result<Vec<DataFileMeta>> {
        let mut values = Vec::with_capacity(files.0.len());
        for file in files.0 {
            values.push(self.file(file)?);
        }
        Ok(values)
    }

    /// The deletion files of `files` data files.
    pub(super) fn deletion_files(
        &self,
        files: usize,
        list: Option<List<Option<DeletionBody<'a>>>>,
    ) -> Result<Option<Vec<Option<DeletionFile>>>> {
        let Some(List(list)) = list else { return Ok(None) };
        if list.len() != files {
            let entries = list.len();
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
        let list = list.into_iter().map(|file| file.map(deletion).transpose());
        list.collect::<Result<Vec<_>>>().map(Some)
    }

    pub(super) fn split(&mut self, split: SplitBody<'a>) -> Result<DataSplit> {
        let data_files = self.files(split.data_files)?;
        let deletion_files = self.deletion_files(data_files.len(), split.deletion_files)?;
        Ok(DataSplit {
            snapshot_id: split.snapshot_id,
            partition: self.partition(split.partition)?,
            bucket: split.bucket,
            bucket_path: split.bucket_path.to_owned(),
            total_buckets: split.total_buckets,
            data_files,
            deletion_files,
            is_streaming: split.is_streaming,
            raw_convertible: split.raw_convertible,
        })
    }
}
