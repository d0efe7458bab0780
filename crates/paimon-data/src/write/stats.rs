// SPDX-License-Identifier: Apache-2.0

//! Column statistics of a written file in the form of the file meta (Java `SimpleColStatsCollector`, `SimpleStatsConverter`;
//! `metadata.md` 5).

use paimon_protocol::{RowValues, SimpleStats};
use paimon_types::{
    ColumnStats, CoreOptions, DataField, DataType, Datum, Error, Result, StatsMode, TypeKind,
};

use super::key_value::KeyValueLayout;

/// Characters or bytes that bounds of system columns have.
const SYSTEM_CHARS: u32 = 128;

/// The statistics modes of the columns of a file.
#[derive(Clone, Debug)]
pub(crate) struct StatsCollector {
    /// All columns of the file.
    columns: Vec<(DataField, StatsMode)>,
    /// Places of the key columns of key-value files.
    keys: Vec<usize>,
    /// Place of the first column of the table.
    first_value: usize,
    dense: bool,
}

/// Statistics of a file in stored form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileStats {
    /// Of the key columns, all of them; empty without key.
    pub(crate) key_stats: SimpleStats,
    /// Columns that `value_stats` covers; `None`: all.
    pub(crate) value_stats_cols: Option<Vec<String>>,
    /// Of the columns of the table.
    pub(crate) value_stats: SimpleStats,
}

impl StatsCollector {
    /// The modes of `fields`, the user columns of a file in order.
    pub(crate) fn new(fields: &[DataField], options: &CoreOptions) -> Result<Self> {
        let columns = fields
            .iter()
            .enumerate()
            .map(|(index, field)| Ok((field.clone(), options.stats_mode(&field.name, index)?)))
            .collect::<Result<_>>()?;
        Ok(StatsCollector {
            columns,
            keys: Vec::new(),
            first_value: 0,
            dense: options.metadata_stats_dense_store,
        })
    }

    /// The modes of key-value files (Java `StatsCollectorFactories`). Columns with a system name, and the key columns of thin
    /// files, keep 128 characters whatever the table says; files of a row format (`by_row`: Avro) know no such rule.
    ///
    /// # Errors
    /// `InvalidInput` when `fields.<column>.stats-mode` is not a mode.
    pub(crate) fn key_value(
        layout: &KeyValueLayout,
        options: &CoreOptions,
        mode: StatsMode,
        by_row: bool,
    ) -> Result<Self> {
        let mut options = options.clone();
        options.metadata_stats_mode = mode;
        let first_value = layout.first_value_column();
        let thin_key =
            |index: usize| layout.thin && layout.keys.iter().any(|(place, _)| first_value + place == index);
        let mut counted = 0;
        let mut columns = Vec::with_capacity(layout.fields.len());
        for (index, field) in layout.fields.iter().enumerate() {
            let own = options
                .raw()
                .contains_key(&format!("fields.{}.stats-mode", field.name));
            let mode = if !by_row && !own && (index < first_value || thin_key(index)) {
                StatsMode::Truncate(SYSTEM_CHARS)
            } else {
                let mode = options.stats_mode(&field.name, counted)?;
                counted += 1;
                mode
            };
            columns.push((field.clone(), mode));
        }
        Ok(StatsCollector {
            columns,
            keys: layout.key_places(),
            first_value,
            dense: options.metadata_stats_dense_store,
        })
    }

    /// False when no column wants statistics: then none need be extracted.
    pub(crate) fn wanted(&self) -> bool {
        self.columns.iter().any(|(_, mode)| *mode != StatsMode::None)
    }

    /// Converts whole statistics, one entry a column of the file, to what is stored.
    ///
    /// # Errors
    /// `InvalidInput` when the number of entries or a value does not belong to the columns.
    pub(crate) fn convert(&self, found: &[ColumnStats]) -> Result<FileStats> {
        if found.len() != self.columns.len() {
            return Err(Error::invalid(format!(
                "the format gave statistics of {} columns, expected {}",
                found.len(),
                self.columns.len()
            )));
        }
        let all: Vec<(&DataField, ColumnStats)> = self
            .columns
            .iter()
            .zip(found)
            .map(|((field, mode), stats)| (field, apply_mode(*mode, &field.data_type, stats)))
            .collect();
        let keys: Vec<_> = self.keys.iter().filter_map(|place| all.get(*place)).collect();
        let values = all.get(self.first_value..).unwrap_or_default();
        let kept: Vec<_> = values
            .iter()
            .filter(|(_, stats)| !self.dense || !is_none(stats))
            .collect();
        let value_stats_cols = (self.dense && kept.len() != values.len())
            .then(|| kept.iter().map(|(field, _)| field.name.clone()).collect());
        Ok(FileStats {
            key_stats: pack(&keys)?,
            value_stats_cols,
            value_stats: pack(&kept)?,
        })
    }

    /// The statistics of a file whose format has none.
    pub(crate) fn nothing(&self) -> Result<FileStats> {
        self.convert(&vec![ColumnStats::default(); self.columns.len()])
    }
}

/// The stored form of the statistics of some columns.
fn pack(columns: &[&(&DataField, ColumnStats)]) -> Result<SimpleStats> {
    let types: Vec<DataType> = columns
        .iter()
        .map(|(field, _)| field.data_type.with_nullable(true))
        .collect();
    let row = |values: Vec<Option<Datum>>| RowValues::of(&types, &values);
    Ok(SimpleStats {
        min_values: row(columns.iter().map(|(_, stats)| stats.min.clone()).collect())?,
        max_values: row(columns.iter().map(|(_, stats)| stats.max.clone()).collect())?,
        null_counts: columns.iter().map(|(_, stats)| stats.null_count).collect(),
    })
}

fn is_none(stats: &ColumnStats) -> bool {
    stats.min.is_none() && stats.max.is_none() && stats.null_count.is_none()
}

/// What `mode` keeps of a column's statistics.
fn apply_mode(mode: StatsMode, data_type: &DataType, stats: &ColumnStats) -> ColumnStats {
    let counts = ColumnStats {
        min: None,
        max: None,
        null_count: stats.null_count,
    };
    let bounded = !data_type.is_nested()
        && !matches!(
            data_type.kind,
            TypeKind::Variant | TypeKind::Blob | TypeKind::Geometry(_) | TypeKind::Geography { .. }
        );
    match mode {
        StatsMode::None => ColumnStats::default(),
        StatsMode::Counts => counts,
        StatsMode::Truncate(_) | StatsMode::Full if !bounded => counts,
        StatsMode::Full => stats.clone(),
        StatsMode::Truncate(length) => {
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            let min = stats.min.as_ref().map(|min| truncate_min(min, length));
            let max = match &stats.max {
                None => None,
                Some(max) => match truncate_max(max, length) {
                    // no short value is above the maximum: the column has no bounds
                    None => return counts,
                    some => some,
                },
            };
            ColumnStats {
                min,
                max,
                null_count: stats.null_count,
            }
        }
    }
}

/// The first `length` code points or bytes: not above the value.
fn truncate_min(value: &Datum, length: usize) -> Datum {
    match value {
        Datum::String(text) => Datum::String(text.chars().take(length).collect()),
        Datum::Bytes(bytes) => Datum::Bytes(bytes.iter().take(length).copied().collect()),
        other => other.clone(),
    }
}

/// The value when it is short enough, else the smallest short value above its prefix; `None` when there is none.
fn truncate_max(value: &Datum, length: usize) -> Option<Datum> {
    match value {
        Datum::String(text) => {
            let mut chars: Vec<char> = text.chars().take(length).collect();
            if text.chars().count() <= length {
                return Some(value.clone());
            }
            while let Some(last) = chars.pop() {
                if let Some(next) = next_char(last) {
                    chars.push(next);
                    return Some(Datum::String(chars.into_iter().collect()));
                }
            }
            None
        }
        Datum::Bytes(bytes) => {
            if bytes.len() <= length {
                return Some(value.clone());
            }
            let mut bytes: Vec<u8> = bytes.iter().take(length).copied().collect();
            while let Some(last) = bytes.pop() {
                if let Some(next) = last.checked_add(1) {
                    bytes.push(next);
                    return Some(Datum::Bytes(bytes));
                }
            }
            None
        }
        other => Some(other.clone()),
    }
}

/// The next code point. Java's rule would make a lone surrogate after U+D7FF, which no string can hold; the next
/// character that exists is as good a bound.
fn next_char(c: char) -> Option<char> {
    match u32::from(c) {
        0xD7FF => Some('\u{E000}'),
        code => char::from_u32(code + 1),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn fields() -> Vec<DataField> {
        let types = [
            DataType::new(TypeKind::Int),
            DataType::string(),
            DataType::bytes(),
        ];
        let types = types
            .into_iter()
            .chain([DataType::new(TypeKind::Array(Box::new(DataType::new(
                TypeKind::Int,
            ))))]);
        types
            .enumerate()
            .map(|(i, t)| DataField::new(i as i32, ["i", "s", "b", "a"][i], t))
            .collect()
    }

    fn collector(options: &[(&str, &str)]) -> StatsCollector {
        let map: BTreeMap<String, String> = options
            .iter()
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .collect();
        StatsCollector::new(&fields(), &CoreOptions::from_map(&map).unwrap()).unwrap()
    }

    fn stats(min: Datum, max: Datum, nulls: i64) -> ColumnStats {
        ColumnStats {
            min: Some(min),
            max: Some(max),
            null_count: Some(nulls),
        }
    }

    fn found() -> Vec<ColumnStats> {
        vec![
            stats(Datum::Int(1), Datum::Int(9), 2),
            stats(
                Datum::String("abcdefghijklmnopqrst".into()),
                Datum::String("zbcdefghijklmnopqrst".into()),
                0,
            ),
            stats(Datum::Bytes(vec![0xff; 20]), Datum::Bytes(vec![0xff; 20]), 1),
            ColumnStats::default(),
        ]
    }

    fn decoded(stats: &SimpleStats, types: &[DataType]) -> (Vec<Option<Datum>>, Vec<Option<Datum>>) {
        (
            stats.min_values.values(types).unwrap(),
            stats.max_values.values(types).unwrap(),
        )
    }

    fn parts(stats: FileStats) -> (Option<Vec<String>>, SimpleStats) {
        assert_eq!(stats.key_stats, SimpleStats::empty());
        (stats.value_stats_cols, stats.value_stats)
    }

    #[test]
    fn default_mode_truncates_and_leaves_columns_without_stats_out() {
        let (columns, stats) = parts(collector(&[]).convert(&found()).unwrap());
        assert_eq!(columns.unwrap(), ["i", "s", "b"]);
        let types: Vec<DataType> = fields().iter().take(3).map(|f| f.data_type.clone()).collect();
        let (min, max) = decoded(&stats, &types);
        assert_eq!(
            min,
            [
                Some(Datum::Int(1)),
                Some(Datum::String("abcdefghijklmnop".into())),
                None
            ]
        );
        assert_eq!(
            max,
            [
                Some(Datum::Int(9)),
                Some(Datum::String("zbcdefghijklmnoq".into())),
                None
            ]
        );
        assert_eq!(stats.null_counts, [Some(2), Some(0), Some(1)]);
    }

    #[test]
    fn modes_of_columns() {
        let collector = collector(&[
            ("metadata.stats-mode", "counts"),
            ("fields.s.stats-mode", "FULL"),
            ("fields.b.stats-mode", "none"),
        ]);
        let (columns, stats) = parts(collector.convert(&found()).unwrap());
        assert_eq!(columns.unwrap(), ["i", "s"]);
        let types: Vec<DataType> = fields().iter().take(2).map(|f| f.data_type.clone()).collect();
        let (min, max) = decoded(&stats, &types);
        assert_eq!(min, [None, Some(Datum::String("abcdefghijklmnopqrst".into()))]);
        assert_eq!(max, [None, Some(Datum::String("zbcdefghijklmnopqrst".into()))]);
        assert_eq!(stats.null_counts, [Some(2), Some(0)]);
    }

    #[test]
    fn dense_store_off_keeps_all_columns() {
        let all = collector(&[("metadata.stats-dense-store", "false")]);
        let (columns, stats) = parts(all.convert(&found()).unwrap());
        assert_eq!(columns, None);
        assert_eq!(stats.min_values.len(), 4);
        assert_eq!(stats.null_counts, [Some(2), Some(0), Some(1), None]);
    }

    #[test]
    fn no_stats_at_all() {
        let none = collector(&[("metadata.stats-mode", "none")]);
        assert!(!none.wanted());
        let (columns, stats) = parts(none.nothing().unwrap());
        assert_eq!(columns, Some(vec![]));
        assert_eq!(stats, SimpleStats::empty());
        assert!(none.convert(&[]).is_err());
    }

    #[test]
    fn first_n_columns() {
        let collector = collector(&[("metadata.stats-keep-first-n-columns", "1")]);
        assert_eq!(parts(collector.convert(&found()).unwrap()).0.unwrap(), ["i"]);
    }

    #[test]
    fn all_kept_means_no_list() {
        let mut all = found();
        all[3].null_count = Some(0);
        assert_eq!(parts(collector(&[]).convert(&all).unwrap()).0, None);
    }

    #[test]
    fn upper_bounds() {
        let max = |s: &str, n| truncate_max(&Datum::String(s.into()), n);
        let text = |s: &str| Some(Datum::String(s.into()));
        assert_eq!(max("abc", 3), text("abc"));
        assert_eq!(max("abcd", 3), text("abd"));
        assert_eq!(max("a\u{10FFFF}\u{10FFFF}x", 3), text("b"));
        assert_eq!(max("\u{10FFFF}\u{10FFFF}", 1), None);
        assert_eq!(max("\u{D7FF}x", 1), text("\u{E000}"));
        assert_eq!(max("éé", 1), text("ê"));
        assert_eq!(max("😀😀😀", 2), text("😀😁"));
        let bytes = |b: &[u8], n| truncate_max(&Datum::Bytes(b.to_vec()), n);
        assert_eq!(bytes(&[1, 0xff, 3], 2), Some(Datum::Bytes(vec![2])));
        assert_eq!(bytes(&[0xff, 0xff, 3], 2), None);
        assert_eq!(truncate_max(&Datum::Int(7), 1), Some(Datum::Int(7)));
    }
}
