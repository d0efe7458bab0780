// SPDX-License-Identifier: Apache-2.0

//! Between the structs of splits of other kinds, messages and bucket states and the mirrors of the body.

use paimon_types::{Error, Result};

use super::body::{
    AnySplit, AuthBody, ChainBody, GlobalBody, IncrementBody, IncrementalBody, IndexBody, IndexedBody, List,
    MessageBody, StateBody, VectorBody,
};
use super::convert::{ValueReader, check_deletion_files, deletion_files, files};
use crate::split_kind::{check_masking, check_names};
use crate::{
    BucketState, ChainSplit, CommitMessage, DeletionVectorMeta, GlobalIndexMeta, Increment, IncrementalSplit,
    IndexFileMeta, IndexedSplit, QueryAuth, RowRange, Split,
};

fn pairs(pairs: &[(String, String)]) -> List<(&str, &str)> {
    let pairs = pairs.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    List(pairs.collect())
}

impl<'a> From<&'a QueryAuth> for AuthBody<'a> {
    fn from(auth: &'a QueryAuth) -> Self {
        let filter = auth.filter.as_ref();
        let masking = auth.column_masking.as_ref();
        AuthBody {
            filter: filter.map(|filter| List(filter.iter().map(Option::as_deref).collect())),
            column_masking: masking.map(|rules| {
                let rules = rules
                    .iter()
                    .map(|(column, rule)| (column.as_str(), rule.as_deref()));
                List(rules.collect())
            }),
        }
    }
}

/// The mirror of a split.
///
/// # Errors
/// `InvalidInput` for splits that are nested too deep or have another number of deletion files than data files.
pub(super) fn any_split(split: &Split, depth: usize) -> Result<AnySplit<'_>> {
    let inner = |split| match depth.checked_sub(1) {
        Some(depth) => any_split(split, depth).map(Box::new),
        None => Err(Error::invalid(format!(
            "splits are nested deeper than {} levels",
            super::MAX_DEPTH
        ))),
    };
    Ok(match split {
        Split::Data(split) => {
            check_deletion_files(split.data_files.len(), split.deletion_files.as_deref())?;
            split.into()
        }
        Split::Incremental(split) => {
            check_deletion_files(split.before_files.len(), split.before_deletion_files.as_deref())?;
            check_deletion_files(split.after_files.len(), split.after_deletion_files.as_deref())?;
            AnySplit::Incremental(IncrementalBody {
                snapshot_id: split.snapshot_id,
                partition: (&split.partition).into(),
                bucket: split.bucket,
                total_buckets: split.total_buckets,
                before_files: files(&split.before_files),
                before_deletion_files: deletion_files(split.before_deletion_files.as_deref()),
                after_files: files(&split.after_files),
                after_deletion_files: deletion_files(split.after_deletion_files.as_deref()),
                is_streaming: split.is_streaming,
            })
        }
        Split::Indexed(IndexedSplit {
            split,
            row_ranges,
            scores,
        }) => {
            check_deletion_files(split.data_files.len(), split.deletion_files.as_deref())?;
            AnySplit::Indexed(IndexedBody {
                split: split.into(),
                row_ranges: List(row_ranges.iter().map(|range| (range.from, range.to)).collect()),
                scores: scores.clone().map(List),
            })
        }
        Split::Chain(split) => {
            check_deletion_files(split.data_files.len(), split.deletion_files.as_deref())?;
            check_names(&split.file_bucket_paths, &split.file_branches, Error::invalid)?;
            AnySplit::Chain(ChainBody {
                logical_partition: (&split.logical_partition).into(),
                data_files: files(&split.data_files),
                file_bucket_paths: pairs(&split.file_bucket_paths),
                file_branches: pairs(&split.file_branches),
                deletion_files: deletion_files(split.deletion_files.as_deref()),
            })
        }
        Split::QueryAuth { split, auth } => {
            let rules = auth.as_ref().and_then(|auth| auth.column_masking.as_deref());
            check_masking(rules.unwrap_or_default(), Error::invalid)?;
            AnySplit::QueryAuth(inner(split)?, auth.as_ref().map(AuthBody::from))
        }
        Split::FallbackData { split, is_fallback } => {
            check_deletion_files(split.data_files.len(), split.deletion_files.as_deref())?;
            AnySplit::FallbackData(split.into(), *is_fallback)
        }
        Split::Fallback { split, is_fallback } => AnySplit::Fallback(inner(split)?, *is_fallback),
    })
}

impl<'a> From<&'a IndexFileMeta> for IndexBody<'a> {
    fn from(file: &'a IndexFileMeta) -> Self {
        let vector = |vector: &'a DeletionVectorMeta| VectorBody {
            data_file_name: &vector.data_file_name,
            offset: vector.offset,
            length: vector.length,
            cardinality: vector.cardinality,
        };
        let global = |global: &'a GlobalIndexMeta| GlobalBody {
            row_range_start: global.row_range_start,
            row_range_end: global.row_range_end,
            index_field_id: global.index_field_id,
            extra_field_ids: global.extra_field_ids.clone().map(List),
            index_meta: global.index_meta.as_deref(),
            source_meta: global.source_meta.as_deref(),
        };
        let ranges = file.dv_ranges.as_ref();
        IndexBody {
            index_type: &file.index_type,
            file_name: &file.file_name,
            file_size: file.file_size,
            row_count: file.row_count,
            dv_ranges: ranges.map(|ranges| List(ranges.iter().map(vector).collect())),
            external_path: file.external_path.as_deref(),
            global_index: file.global_index.as_ref().map(global),
        }
    }
}

fn index_files(files: &[IndexFileMeta]) -> List<IndexBody<'_>> {
    List(files.iter().map(IndexBody::from).collect())
}

impl<'a> From<&'a Increment> for IncrementBody<'a> {
    fn from(increment: &'a Increment) -> Self {
        IncrementBody {
            new_files: files(&increment.new_files),
            deleted_files: files(&increment.deleted_files),
            changelog_files: files(&increment.changelog_files),
            new_index_files: index_files(&increment.new_index_files),
            deleted_index_files: index_files(&increment.deleted_index_files),
        }
    }
}

impl<'a> From<&'a CommitMessage> for MessageBody<'a> {
    fn from(message: &'a CommitMessage) -> Self {
        MessageBody {
            partition: (&message.partition).into(),
            bucket: message.bucket,
            total_buckets: message.total_buckets,
            data_increment: (&message.data_increment).into(),
            compact_increment: (&message.compact_increment).into(),
            check_from_snapshot: message.check_from_snapshot,
        }
    }
}

impl<'a> From<&'a BucketState> for StateBody<'a> {
    fn from(state: &'a BucketState) -> Self {
        StateBody {
            snapshot_id: state.snapshot_id,
            partition: (&state.partition).into(),
            bucket: state.bucket,
            total_buckets: state.total_buckets,
            max_sequence_number: state.max_sequence_number,
            data_files: state.data_files.as_deref().map(files),
            hash_index: state.hash_index.as_ref().map(IndexBody::from),
            deletion_vectors: index_files(&state.deletion_vectors),
        }
    }
}

fn owned_pairs(List(pairs): List<(&str, &str)>) -> Vec<(String, String)> {
    let pairs = pairs
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value.to_owned()));
    pairs.collect()
}

fn auth(auth: AuthBody<'_>) -> Result<QueryAuth> {
    let text = |text: Option<&str>| text.map(str::to_owned);
    let column_masking: Option<Vec<_>> = auth.column_masking.map(|List(rules)| {
        let rules = rules
            .into_iter()
            .map(|(column, rule)| (column.to_owned(), text(rule)));
        rules.collect()
    });
    check_masking(column_masking.as_deref().unwrap_or_default(), Error::corrupt)?;
    Ok(QueryAuth {
        filter: auth
            .filter
            .map(|List(filter)| filter.into_iter().map(text).collect()),
        column_masking,
    })
}

fn index_file(file: IndexBody<'_>) -> IndexFileMeta {
    let vector = |vector: VectorBody<'_>| DeletionVectorMeta {
        data_file_name: vector.data_file_name.to_owned(),
        offset: vector.offset,
        length: vector.length,
        cardinality: vector.cardinality,
    };
    let global = |global: GlobalBody<'_>| GlobalIndexMeta {
        row_range_start: global.row_range_start,
        row_range_end: global.row_range_end,
        index_field_id: global.index_field_id,
        extra_field_ids: global.extra_field_ids.map(|ids| ids.0),
        index_meta: global.index_meta.map(<[u8]>::to_vec),
        source_meta: global.source_meta.map(<[u8]>::to_vec),
    };
    IndexFileMeta {
        index_type: file.index_type.to_owned(),
        file_name: file.file_name.to_owned(),
        file_size: file.file_size,
        row_count: file.row_count,
        dv_ranges: file
            .dv_ranges
            .map(|List(ranges)| ranges.into_iter().map(vector).collect()),
        external_path: file.external_path.map(str::to_owned),
        global_index: file.global_index.map(global),
    }
}

fn owned_index_files(List(files): List<IndexBody<'_>>) -> Vec<IndexFileMeta> {
    files.into_iter().map(index_file).collect()
}

impl<'a> ValueReader<'a> {
    pub(super) fn any_split(&mut self, split: AnySplit<'a>) -> Result<Split> {
        Ok(match split {
            AnySplit::Data(split) => Split::Data(self.split(split)?),
            AnySplit::Incremental(split) => {
                let before_files = self.files(split.before_files)?;
                let after_files = self.files(split.after_files)?;
                Split::Incremental(IncrementalSplit {
                    snapshot_id: split.snapshot_id,
                    partition: self.partition(split.partition)?,
                    bucket: split.bucket,
                    total_buckets: split.total_buckets,
                    before_deletion_files: self
                        .deletion_files(before_files.len(), split.before_deletion_files)?,
                    before_files,
                    after_deletion_files: self
                        .deletion_files(after_files.len(), split.after_deletion_files)?,
                    after_files,
                    is_streaming: split.is_streaming,
                })
            }
            AnySplit::Indexed(split) => Split::Indexed(IndexedSplit {
                split: self.split(split.split)?,
                row_ranges: split
                    .row_ranges
                    .0
                    .into_iter()
                    .map(|(from, to)| RowRange { from, to })
                    .collect(),
                scores: split.scores.map(|scores| scores.0),
            }),
            AnySplit::Chain(split) => {
                let data_files = self.files(split.data_files)?;
                let file_bucket_paths = owned_pairs(split.file_bucket_paths);
                let file_branches = owned_pairs(split.file_branches);
                check_names(&file_bucket_paths, &file_branches, Error::corrupt)?;
                Split::Chain(ChainSplit {
                    logical_partition: self.partition(split.logical_partition)?,
                    deletion_files: self.deletion_files(data_files.len(), split.deletion_files)?,
                    data_files,
                    file_bucket_paths,
                    file_branches,
                })
            }
            AnySplit::QueryAuth(split, rules) => Split::QueryAuth {
                split: Box::new(self.any_split(*split)?),
                auth: rules.map(auth).transpose()?,
            },
            AnySplit::FallbackData(split, is_fallback) => Split::FallbackData {
                split: self.split(split)?,
                is_fallback,
            },
            AnySplit::Fallback(split, is_fallback) => Split::Fallback {
                split: Box::new(self.any_split(*split)?),
                is_fallback,
            },
        })
    }

    fn increment(&mut self, increment: IncrementBody<'a>) -> Result<Increment> {
        Ok(Increment {
            new_files: self.files(increment.new_files)?,
            deleted_files: self.files(increment.deleted_files)?,
            changelog_files: self.files(increment.changelog_files)?,
            new_index_files: owned_index_files(increment.new_index_files),
            deleted_index_files: owned_index_files(increment.deleted_index_files),
        })
    }

    pub(super) fn message(&mut self, message: MessageBody<'a>) -> Result<CommitMessage> {
        Ok(CommitMessage {
            partition: self.partition(message.partition)?,
            bucket: message.bucket,
            total_buckets: message.total_buckets,
            data_increment: self.increment(message.data_increment)?,
            compact_increment: self.increment(message.compact_increment)?,
            check_from_snapshot: message.check_from_snapshot,
        })
    }

    pub(super) fn state(&mut self, state: StateBody<'a>) -> Result<BucketState> {
        Ok(BucketState {
            snapshot_id: state.snapshot_id,
            partition: self.partition(state.partition)?,
            bucket: state.bucket,
            total_buckets: state.total_buckets,
            max_sequence_number: state.max_sequence_number,
            data_files: state.data_files.map(|files| self.files(files)).transpose()?,
            hash_index: state.hash_index.map(index_file),
            deletion_vectors: owned_index_files(state.deletion_vectors),
        })
    }
}
