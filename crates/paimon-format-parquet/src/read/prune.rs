// SPDX-License-Identifier: Apache-2.0

//! Row groups and pages that cannot hold a row of the predicate.

use paimon_format::rows::{RowRanges, intersect, push, union};
use paimon_types::{ColumnStats, DataField, DataType, LeafPredicate, Predicate};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::page_index::offset_index::PageLocation;

use super::resolve::Projection;
use crate::stats::{Nans, chunk_stats, page_stats};

/// The part of a predicate that statistics of the file can say something about.
#[derive(Debug)]
pub(crate) struct Pruner {
    predicate: Predicate,
    columns: Vec<Column>,
}

#[derive(Debug)]
struct Column {
    field_id: i32,
    leaf: usize,
    data_type: DataType,
}

impl Pruner {
    /// `None` when nothing can be left out. Only tests of columns that are read count, because they were found in the
    /// file, and only when they test the type that is read.
    pub(crate) fn new(predicate: &Predicate, fields: &[DataField], projection: &Projection) -> Option<Self> {
        let columns: Vec<Column> = fields
            .iter()
            .zip(&projection.flat_leaves)
            .filter_map(|(field, leaf)| {
                Some(Column {
                    field_id: field.id,
                    leaf: (*leaf)?,
                    data_type: field.data_type.clone(),
                })
            })
            .collect();
        let known = |leaf: &LeafPredicate| {
            columns
                .iter()
                .any(|c| c.field_id == leaf.field_id && c.data_type.same_kind(&leaf.data_type))
        };
        let predicate = predicate.weaken(&mut |leaf| known(leaf).then(|| leaf.clone()));
        (predicate != Predicate::Constant(true)).then_some(Pruner { predicate, columns })
    }

    fn column(&self, field_id: i32) -> Option<&Column> {
        self.columns.iter().find(|column| column.field_id == field_id)
    }

    /// False when no row of row group `group` can match.
    pub(crate) fn row_group(&self, metadata: &ParquetMetaData, group: usize) -> bool {
        let Some(row_group) = metadata.row_groups().get(group) else {
            return true;
        };
        let nans = Nans::of(metadata);
        self.predicate.may_match_stats(row_group.num_rows(), &|id| {
            let column = self.column(id)?;
            Some(chunk_stats(
                row_group.columns().get(column.leaf)?,
                &column.data_type,
                nans,
            ))
        })
    }

    /// The rows of row group `group`, counted from its first, that lie in pages that can match. `None` for all, when the
    /// file has no page index.
    pub(crate) fn pages(&self, metadata: &ParquetMetaData, group: usize) -> Option<RowRanges> {
        metadata.column_index()?;
        metadata.offset_index()?;
        let rows = u64::try_from(metadata.row_groups().get(group)?.num_rows()).ok()?;
        let pages = Pages {
            pruner: self,
            metadata,
            group,
            rows,
            nans: Nans::of(metadata),
        };
        Some(pages.matching(&self.predicate))
    }
}

struct Pages<'a> {
    pruner: &'a Pruner,
    metadata: &'a ParquetMetaData,
    group: usize,
    rows: u64,
    nans: Nans,
}

impl Pages<'_> {
    fn all(&self) -> RowRanges {
        let mut all = RowRanges::new();
        push(&mut all, 0..self.rows);
        all
    }

    fn matching(&self, predicate: &Predicate) -> RowRanges {
        match predicate {
            Predicate::Leaf(leaf) => self.leaf(leaf).unwrap_or_else(|| self.all()),
            Predicate::And(children) => children
                .iter()
                .fold(self.all(), |rows, child| intersect(&rows, &self.matching(child))),
            Predicate::Or(children) => children.iter().fold(RowRanges::new(), |rows, child| {
                union(&rows, &self.matching(child))
            }),
            // Nothing is known of pages here.
            other => match other.may_match_stats(i64::try_from(self.rows).unwrap_or(i64::MAX), &|_| None) {
                true => self.all(),
                false => RowRanges::new(),
            },
        }
    }

    /// `None` when there is no usable index.
    fn leaf(&self, leaf: &LeafPredicate) -> Option<RowRanges> {
        let column = self.pruner.column(leaf.field_id)?;
        let index = self.metadata.column_index()?.get(self.group)?.get(column.leaf)?;
        let locations = self
            .metadata
            .offset_index()?
            .get(self.group)?
            .get(column.leaf)?
            .page_locations();
        if matches!(index, ColumnIndexMetaData::NONE) || index.num_pages() != locations.len() as u64 {
            return None;
        }
        let descriptor = self
            .metadata
            .file_metadata()
            .schema_descr()
            .columns()
            .get(column.leaf)?;
        let test = Predicate::Leaf(leaf.clone());
        let mut rows = RowRanges::new();
        for (page, range) in page_ranges(locations, self.rows)?.into_iter().enumerate() {
            let length = range.end - range.start;
            let stats: ColumnStats =
                page_stats(index, page, length, descriptor, &column.data_type, self.nans);
            if test.may_match_stats(i64::try_from(length).ok()?, &|_| Some(stats.clone())) {
                push(&mut rows, range);
            }
        }
        Some(rows)
    }
}

/// Rows of each page, `None` when the index does not make sense.
fn page_ranges(locations: &[PageLocation], rows: u64) -> Option<RowRanges> {
    let starts: Vec<u64> = locations
        .iter()
        .map(|location| u64::try_from(location.first_row_index).ok())
        .collect::<Option<_>>()?;
    if starts.first() != Some(&0) {
        return None;
    }
    let ends = starts.iter().skip(1).copied().chain(std::iter::once(rows));
    starts
        .iter()
        .zip(ends)
        .map(|(start, end)| (*start < end && end <= rows).then_some(*start..end))
        .collect()
}
