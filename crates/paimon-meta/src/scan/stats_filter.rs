// SPDX-License-Identifier: Apache-2.0

//! Tests by the statistics of a file, whatever schema it was written with (Java `SimpleStatsEvolution`; `metadata.md` 9.1).

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use paimon_protocol::{DataFileMeta, SimpleStats};
use paimon_types::{ColumnStats, DataField, DataType, Datum, Predicate, Result, TableSchema, TypeKind};

use crate::SchemaManager;
use crate::manifest::ManifestEntry;

/// Which statistics of a file are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatsKind {
    /// Those of the columns of a row.
    Value,
    /// Those of the key columns, which a file of a primary-key table has besides.
    Key,
}

/// A predicate that needs statistics, and where its columns are in files of each schema.
#[derive(Debug)]
pub(super) struct StatsFilter {
    kind: StatsKind,
    schemas: SchemaManager,
    schema: Arc<TableSchema>,
    predicate: Predicate,
    /// Columns of the predicate.
    columns: BTreeSet<i32>,
    files: Mutex<HashMap<i64, Arc<FileColumns>>>,
}

/// The columns of the predicate in files of one schema.
#[derive(Debug)]
struct FileColumns {
    schema: Arc<TableSchema>,
    /// By field id: where the column is in the file's schema.
    columns: HashMap<i32, Source>,
}

#[derive(Clone, Debug)]
enum Source {
    /// Partition column: index in the partition row.
    Partition(usize, DataField),
    /// The file's schema does not have it: NULL in every row.
    Absent,
    /// The file's schema has it with the table's type, or with a narrower integer type.
    Column {
        /// Position in the file's schema.
        at: usize,
        /// Field in the file's schema.
        field: DataField,
        /// Type in the table's schema.
        table_type: DataType,
    },
    /// The file has it with another type: nothing is known.
    Unknown,
}

impl StatsFilter {
    pub(super) fn new(
        kind: StatsKind,
        schemas: SchemaManager,
        schema: Arc<TableSchema>,
        predicate: Predicate,
    ) -> Self {
        let columns = predicate.columns().into_iter().collect();
        StatsFilter {
            kind,
            schemas,
            schema,
            predicate,
            columns,
            files: Mutex::default(),
        }
    }

    /// True when there is nothing to test: files that pass give all of their rows.
    pub(super) fn is_empty(&self) -> bool {
        self.predicate.is_always_true()
    }

    /// False when statistics prove that no row of the file matches.
    ///
    /// # Errors
    /// Those of reading the file's schema; `Corrupt` when stored bounds do not decode.
    pub(super) async fn may_match(&self, entry: &ManifestEntry) -> Result<bool> {
        if self.is_empty() {
            return Ok(true);
        }
        let file_columns = self.file_columns(entry.file.schema_id).await?;
        let mut stats: HashMap<i32, ColumnStats> = HashMap::with_capacity(self.columns.len());
        for id in &self.columns {
            if let Some(column) = self.column_stats(&file_columns, *id, entry)? {
                stats.insert(*id, column);
            }
        }
        Ok(self
            .predicate
            .may_match_stats(entry.file.row_count, &|id| stats.get(&id).cloned()))
    }

    async fn file_columns(&self, schema_id: i64) -> Result<Arc<FileColumns>> {
        if let Some(found) = self
            .files
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&schema_id)
        {
            return Ok(Arc::clone(found));
        }
        let file_schema = match self.schema.id == schema_id {
            true => Arc::clone(&self.schema),
            false => self.schemas.schema(schema_id).await?,
        };
        let columns = self
            .columns
            .iter()
            .map(|id| (*id, self.source(*id, &file_schema)))
            .collect();
        let made = Arc::new(FileColumns {
            schema: file_schema,
            columns,
        });
        self.files
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(schema_id, Arc::clone(&made));
        Ok(made)
    }

    fn source(&self, id: i32, file_schema: &TableSchema) -> Source {
        let Some(field) = self.schema.field_by_id(id) else {
            return Source::Unknown;
        };
        if let Some(at) = self
            .schema
            .partition_keys
            .iter()
            .position(|key| *key == field.name)
        {
            return Source::Partition(at, field.clone());
        }
        let Some(in_file) = file_schema.fields.iter().position(|f| f.id == id) else {
            return match self.kind {
                StatsKind::Value => Source::Absent,
                StatsKind::Key => Source::Unknown,
            };
        };
        let found = file_schema.fields.get(in_file);
        let at = match self.kind {
            StatsKind::Value => Some(in_file),
            StatsKind::Key => found.and_then(|found| {
                let keys = file_schema.trimmed_primary_keys();
                keys.iter().position(|key| *key == found.name)
            }),
        };
        match (at, found) {
            (Some(at), Some(found)) if keeps_values(&found.data_type, &field.data_type) => Source::Column {
                at,
                field: found.clone(),
                table_type: field.data_type.clone(),
            },
            _ => Source::Unknown,
        }
    }

    /// What is known about a column of a file, `None` when nothing is.
    fn column_stats(
        &self,
        file_columns: &FileColumns,
        id: i32,
        entry: &ManifestEntry,
    ) -> Result<Option<ColumnStats>> {
        let file = &entry.file;
        match file_columns.columns.get(&id) {
            None | Some(Source::Unknown) => Ok(None),
            Some(Source::Partition(at, field)) => {
                let value = if *at < entry.partition.len() {
                    entry
                        .partition
                        .as_values()
                        .get(*at, &field.data_type.with_nullable(true))?
                } else {
                    return Ok(None);
                };
                Ok(Some(constant(value, file.row_count)))
            }
            Some(Source::Absent) => Ok(Some(constant(None, file.row_count))),
            Some(Source::Column {
                at,
                field,
                table_type,
            }) => {
                let stored = match self.kind {
                    StatsKind::Value => value_stats(&file_columns.schema, *at, field, file)?,
                    StatsKind::Key => {
                        let width = file_columns.schema.trimmed_primary_keys().len();
                        bounds_at(&file.key_stats, *at, width, field, file)?
                    }
                };
                Ok(stored.map(|stats| ColumnStats {
                    min: stats.min.map(|v| widen(v, table_type)),
                    max: stats.max.map(|v| widen(v, table_type)),
                    null_count: stats.null_count,
                }))
            }
        }
    }
}

/// True when a value of the file's type is the same value in the table's type.
fn keeps_values(file: &DataType, table: &DataType) -> bool {
    let bits = |t: &DataType| match t.kind {
        TypeKind::TinyInt => Some(8),
        TypeKind::SmallInt => Some(16),
        TypeKind::Int => Some(32),
        TypeKind::BigInt => Some(64),
        _ => None,
    };
    file.same_kind(table) || matches!((bits(file), bits(table)), (Some(file), Some(table)) if file < table)
}

/// The value of a narrower integer type in the table's type.
fn widen(value: Datum, table: &DataType) -> Datum {
    let wide = match value {
        Datum::TinyInt(v) => i64::from(v),
        Datum::SmallInt(v) => i64::from(v),
        Datum::Int(v) => i64::from(v),
        other => return other,
    };
    match table.kind {
        TypeKind::SmallInt => i16::try_from(wide).map_or(value, Datum::SmallInt),
        TypeKind::Int => i32::try_from(wide).map_or(value, Datum::Int),
        TypeKind::BigInt => Datum::BigInt(wide),
        _ => value,
    }
}

/// Statistics of a column with one value in all rows.
fn constant(value: Option<Datum>, rows: i64) -> ColumnStats {
    let null_count = Some(if value.is_none() { rows } else { 0 });
    ColumnStats {
        min: value.clone(),
        max: value,
        null_count,
    }
}

/// The stored statistics of the column at `at` of the file's schema.
fn value_stats(
    schema: &TableSchema,
    at: usize,
    field: &DataField,
    file: &DataFileMeta,
) -> Result<Option<ColumnStats>> {
    // A file of some columns only (data evolution): what it does not hold is in other files.
    if file
        .write_cols
        .as_ref()
        .is_some_and(|cols| !cols.contains(&field.name))
    {
        return Ok(None);
    }
    let (index, width) = match (&file.value_stats_cols, &file.write_cols) {
        // Dense: only these columns, in this order.
        (Some(cols), _) => match cols.iter().position(|name| *name == field.name) {
            Some(index) => (index, cols.len()),
            None => return Ok(None),
        },
        (None, Some(cols)) => match cols.iter().position(|name| *name == field.name) {
            Some(index) => (index, cols.len()),
            None => return Ok(None),
        },
        (None, None) => (at, schema.fields.len()),
    };
    bounds_at(&file.value_stats, index, width, field, file)
}

/// The statistics at `index` of `width` columns.
fn bounds_at(
    stats: &SimpleStats,
    index: usize,
    width: usize,
    field: &DataField,
    file: &DataFileMeta,
) -> Result<Option<ColumnStats>> {
    // Rows of another width than expected describe other columns.
    if stats.min_values.len() != width || stats.max_values.len() != width {
        return Ok(None);
    }
    let data_type = field.data_type.with_nullable(true);
    let with_path = |e: paimon_types::Error| e.with("path", &file.file_name).with("column", &field.name);
    let mut min = stats.min_values.get(index, &data_type).map_err(with_path)?;
    let mut max = stats.max_values.get(index, &data_type).map_err(with_path)?;
    let unsure = |bound: &Option<Datum>| bound.as_ref().is_some_and(is_of_two_calendars);
    if file.file_name.ends_with(".orc") {
        if unsure(&min) || unsure(&max) {
            (min, max) = (None, None);
        }
        if let (TypeKind::Char(_), Some(Datum::String(text))) = (&field.data_type.kind, &mut min) {
            text.truncate(end_before_blanks(text));
        }
    }
    Ok(Some(ColumnStats {
        min,
        max,
        null_count: stats.null_counts.get(index),
    }))
}

/// Where the lower bound of a CHAR column of an ORC file ends. Bounds have the blanks that ORC fills such values up with, values
/// are read without them: one that is a prefix of the bound may have been greater for its blanks. An upper bound holds as it is.
fn end_before_blanks(bound: &str) -> usize {
    bound.bytes().position(|byte| byte <= b' ').unwrap_or(bound.len())
}

/// Whether Java tells bounds such as this one of an ORC file in another calendar than the rows are read in: before the
/// Gregorian calendar (and some days, because a bound can be moved across its start).
fn is_of_two_calendars(bound: &Datum) -> bool {
    const DAY: i64 = -141_427 + 12;
    match bound {
        Datum::Date(day) => i64::from(*day) < DAY,
        Datum::Timestamp(at) => at.millis.div_euclid(86_400_000) < DAY,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
