// SPDX-License-Identifier: Apache-2.0

//! Aggregates of a manifest, gathered while its entries are written (`metadata.md` 4.2).

use std::cmp::Ordering;
use std::collections::HashMap;

use paimon_protocol::{Partition, RowValues, SimpleStats};
use paimon_types::{DataType, Datum, Result};

use super::{FileKind, ManifestEntry, ManifestFileMeta};

/// Running aggregates of the entries of one manifest.
#[derive(Debug, Default)]
pub(super) struct Aggregates {
    added: i64,
    deleted: i64,
    schema_id: Option<i64>,
    bucket: Option<(i32, i32)>,
    level: Option<(i32, i32)>,
    row_ids: Option<(i64, i64)>,
    without_row_id: bool,
    /// Entries of each partition.
    partitions: HashMap<Partition, i64>,
}

impl Aggregates {
    pub(super) fn add(&mut self, entry: &ManifestEntry) {
        match entry.kind {
            FileKind::Add => self.added += 1,
            FileKind::Delete => self.deleted += 1,
        }
        let file = &entry.file;
        self.schema_id = Some(self.schema_id.map_or(file.schema_id, |id| id.max(file.schema_id)));
        widen(&mut self.bucket, entry.bucket, entry.bucket);
        widen(&mut self.level, file.level, file.level);
        match file.first_row_id {
            Some(first) => {
                let last = first.saturating_add(file.row_count).saturating_sub(1);
                widen(&mut self.row_ids, first, last);
            }
            None => self.without_row_id = true,
        }
        match self.partitions.get_mut(&entry.partition) {
            Some(count) => *count += 1,
            None => {
                self.partitions.insert(entry.partition.clone(), 1);
            }
        }
    }

    /// The entry of the manifest list. `schema_id` stands in when there was no entry.
    pub(super) fn finish(
        self,
        file_name: String,
        file_size: i64,
        partition_types: &[DataType],
        schema_id: i64,
    ) -> Result<ManifestFileMeta> {
        let row_ids = if self.without_row_id { None } else { self.row_ids };
        Ok(ManifestFileMeta {
            file_name,
            file_size,
            num_added_files: self.added,
            num_deleted_files: self.deleted,
            partition_stats: partition_stats(&self.partitions, partition_types)?,
            schema_id: self.schema_id.unwrap_or(schema_id),
            min_bucket: self.bucket.map(|b| b.0),
            max_bucket: self.bucket.map(|b| b.1),
            min_level: self.level.map(|l| l.0),
            max_level: self.level.map(|l| l.1),
            min_row_id: row_ids.map(|r| r.0),
            max_row_id: row_ids.map(|r| r.1),
        })
    }
}

fn widen<T: Ord + Copy>(range: &mut Option<(T, T)>, low: T, high: T) {
    *range = Some(range.map_or((low, high), |(min, max)| (min.min(low), max.max(high))));
}

/// Smallest and largest value and null count of each partition column. Values of a type without order give no bounds.
fn partition_stats(partitions: &HashMap<Partition, i64>, types: &[DataType]) -> Result<SimpleStats> {
    if types.is_empty() {
        return Ok(SimpleStats::empty());
    }
    let mut columns: Vec<ValueRange> = types.iter().map(|_| ValueRange::default()).collect();
    for (partition, count) in partitions {
        for (column, value) in columns.iter_mut().zip(partition.values(types)?) {
            column.add(value, *count);
        }
    }
    let nullable: Vec<DataType> = types.iter().map(|t| t.with_nullable(true)).collect();
    let mins: Vec<Option<Datum>> = columns.iter().map(|c| c.bounds().map(|b| b.0.clone())).collect();
    let maxs: Vec<Option<Datum>> = columns.iter().map(|c| c.bounds().map(|b| b.1.clone())).collect();
    Ok(SimpleStats {
        min_values: RowValues::of(&nullable, &mins)?,
        max_values: RowValues::of(&nullable, &maxs)?,
        null_counts: columns.iter().map(|c| Some(c.nulls)).collect(),
    })
}

/// Smallest and largest value and number of nulls of a partition column.
#[derive(Debug, Default)]
pub(super) struct ValueRange {
    range: Option<(Datum, Datum)>,
    unordered: bool,
    nulls: i64,
}

impl ValueRange {
    /// Adds a value that occurs `count` times.
    pub(super) fn add(&mut self, value: Option<Datum>, count: i64) {
        let Some(value) = value else {
            self.nulls += count;
            return;
        };
        match &mut self.range {
            None => {
                self.unordered |= value.compare(&value).is_none();
                self.range = Some((value.clone(), value));
            }
            Some((min, max)) => match (value.compare(min), value.compare(max)) {
                (Some(Ordering::Less), _) => *min = value,
                (_, Some(Ordering::Greater)) => *max = value,
                (Some(_), Some(_)) => {}
                _ => self.unordered = true,
            },
        }
    }

    fn bounds(&self) -> Option<&(Datum, Datum)> {
        if self.unordered { None } else { self.range.as_ref() }
    }

    /// True when no value here can occur where these statistics were taken; a missing bound says nothing.
    pub(super) fn excluded_by(&self, min: Option<&Datum>, max: Option<&Datum>, nulls: Option<i64>) -> bool {
        if self.unordered || (self.nulls > 0 && nulls != Some(0)) {
            return false;
        }
        match (&self.range, min, max) {
            // Only nulls here, and none there.
            (None, _, _) => true,
            (Some((low, high)), Some(min), Some(max)) => {
                high.compare(min) == Some(Ordering::Less) || low.compare(max) == Some(Ordering::Greater)
            }
            _ => false,
        }
    }
}
