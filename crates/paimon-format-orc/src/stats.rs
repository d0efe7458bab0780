// SPDX-License-Identifier: Apache-2.0

//! Statistics of columns (Java `OrcSimpleStatsExtractor`; `data-files.md` 7).

use std::sync::Arc;

use async_trait::async_trait;
use paimon_format::{FileInfo, FormatStatsExtractor, MemoryPool, MemoryReservation};
use paimon_storage::InputFile;
use paimon_types::{ColumnStats, DataField, DataType, Datum, Result, Timestamp, TypeKind};

use crate::decode::{Zone, decompress_all};
use crate::error::at;
use crate::options::ReadOptions;
use crate::proto::{Calendar, ColumnStatistics, Kind, StripeFooter, TimestampStatistics};
use crate::read::{FileTail, load_tail};
use crate::schema::{Node, TypeTree};

const DAY_MILLIS: i64 = 86_400_000;
/// 1582-10-15 in days since 1970-01-01, the first day of the Gregorian calendar.
pub(crate) const GREGORIAN_DAY: i64 = -141_427;
/// No zone is farther from another one.
const ZONE_MILLIS: i64 = 27 * 3_600_000;

/// Reads the statistics of a file.
#[derive(Debug)]
pub(crate) struct OrcStatsExtractor {
    fields: Vec<DataField>,
    options: ReadOptions,
}

impl OrcStatsExtractor {
    pub(crate) fn new(fields: &[DataField], options: ReadOptions) -> Result<Self> {
        Ok(OrcStatsExtractor {
            fields: fields.to_vec(),
            options,
        })
    }
}

#[async_trait]
impl FormatStatsExtractor for OrcStatsExtractor {
    async fn extract_with_file_info(
        &self,
        file: Arc<dyn InputFile>,
        pool: Arc<dyn MemoryPool>,
    ) -> Result<(Vec<ColumnStats>, FileInfo)> {
        let (tail, _) = load_tail(&file, None).await?;
        let mut reservation = MemoryReservation::new(pool);
        reservation.try_grow(tail.weight())?;
        let zoned = |field: &DataField| matches!(field.data_type.kind, TypeKind::TimestampLtz(_));
        let zone = match self.options.legacy_ltz && self.fields.iter().any(zoned) {
            true => writer_zone(&file, &tail).await.map_err(|e| at(file.path(), e))?,
            false => Zone::utc(),
        };
        let stats = file_stats(
            &tail.types,
            &tail.footer.statistics,
            tail.footer.number_of_rows,
            tail.footer.calendar,
            &zone,
            &self.fields,
            self.options,
        );
        Ok((stats, FileInfo::new(tail.footer.number_of_rows)))
    }
}

/// The zone of the writer, which only stripes tell.
async fn writer_zone(file: &Arc<dyn InputFile>, tail: &FileTail) -> Result<Zone> {
    let Some(stripe) = tail.footer.stripes.first() else {
        return Ok(Zone::utc());
    };
    let start = stripe.offset + stripe.index_length + stripe.data_length;
    let bytes = file.read_range(start..start + stripe.footer_length).await?;
    let footer = StripeFooter::decode(&decompress_all(tail.codec, &bytes)?)?;
    match footer.writer_timezone.as_deref() {
        None | Some("") => Ok(Zone::utc()),
        Some(name) => Zone::get(name),
    }
}

/// Statistics of `fields` as Java tells them of a file with these types and statistics, written in `zone`.
pub(crate) fn file_stats(
    types: &TypeTree,
    statistics: &[ColumnStatistics],
    rows: u64,
    calendar: Calendar,
    zone: &Zone,
    fields: &[DataField],
    options: ReadOptions,
) -> Vec<ColumnStats> {
    let shift = Shift::Java {
        julian: calendar != Calendar::ProlepticGregorian,
        zone,
        legacy_ltz: options.legacy_ltz,
    };
    fields
        .iter()
        .map(|field| {
            let node = types
                .root
                .find(field.id, &field.name)
                .and_then(|index| types.root.children.get(index));
            let stored = node.and_then(|node| Some((node, statistics.get(node.column as usize)?)));
            match stored {
                Some((node, statistics)) => {
                    let column = StatsColumn::of(node, &field.data_type);
                    column_stats(statistics, &column, rows, &shift)
                }
                None => ColumnStats::default(),
            }
        })
        .collect()
}

/// A column that statistics are of.
#[derive(Clone, Debug)]
pub(crate) struct StatsColumn {
    pub(crate) kind: Kind,
    /// As it is read.
    pub(crate) data_type: DataType,
}

impl StatsColumn {
    pub(crate) fn of(node: &Node, data_type: &DataType) -> Self {
        StatsColumn {
            kind: node.kind,
            data_type: data_type.clone(),
        }
    }
}

/// What bounds are for.
#[derive(Debug)]
pub(crate) enum Shift<'a> {
    /// To leave out rows: bounds are never narrower than the values that are read.
    Prune {
        /// TIMESTAMP_LTZ of a writer whose zone is not known to be UTC, under `orc.timestamp-ltz.legacy.type`.
        foreign_ltz: bool,
    },
    /// To be told: the bounds that Java tells.
    Java {
        /// Days before 1582-10-15 are those of the Julian calendar.
        julian: bool,
        zone: &'a Zone,
        legacy_ltz: bool,
    },
}

/// Statistics of one column over `rows` rows.
pub(crate) fn column_stats(
    statistics: &ColumnStatistics,
    column: &StatsColumn,
    rows: u64,
    shift: &Shift<'_>,
) -> ColumnStats {
    let values = statistics.number_of_values;
    let nulls = values.and_then(|values| rows.checked_sub(values));
    // A writer that contradicts itself says nothing.
    let nulls = nulls.filter(|nulls| {
        statistics
            .has_null
            .is_none_or(|has_null| has_null == (*nulls > 0))
    });
    let (Some(nulls), Ok(null_count)) = (nulls, i64::try_from(nulls.unwrap_or(0))) else {
        return ColumnStats::default();
    };
    let (min, max) = match nulls == rows {
        true => (None, None),
        false => bounds(statistics, column, shift),
    };
    ColumnStats {
        min,
        max,
        null_count: Some(null_count),
    }
}

type Bounds = (Option<Datum>, Option<Datum>);

fn bounds(statistics: &ColumnStatistics, column: &StatsColumn, shift: &Shift<'_>) -> Bounds {
    let found = match &column.data_type.kind {
        TypeKind::Boolean => booleans(statistics),
        TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::Int | TypeKind::BigInt | TypeKind::Time(_) => {
            integers(statistics, &column.data_type.kind)
        }
        TypeKind::Float | TypeKind::Double => floats(statistics, &column.data_type.kind, shift),
        TypeKind::Date => dates(statistics, shift),
        TypeKind::Char(_) | TypeKind::VarChar(_) => Some(texts(statistics, column.kind, shift)),
        TypeKind::Decimal { precision, scale } => decimals(statistics, *precision, *scale),
        TypeKind::Timestamp(precision) => statistics
            .timestamp
            .and_then(|stored| timestamps(&stored, *precision, false, shift)),
        TypeKind::TimestampLtz(precision) => statistics
            .timestamp
            .and_then(|stored| timestamps(&stored, *precision, true, shift)),
        _ => None,
    };
    let (min, max) = found.unwrap_or((None, None));
    if let (Shift::Prune { .. }, Some(low), Some(high)) = (shift, &min, &max)
        && low.compare(high).is_none_or(std::cmp::Ordering::is_gt)
    {
        return (None, None);
    }
    (min, max)
}

fn both(min: Option<Datum>, max: Option<Datum>) -> Option<Bounds> {
    Some((Some(min?), Some(max?)))
}

fn booleans(statistics: &ColumnStatistics) -> Option<Bounds> {
    let trues = *statistics.bucket.as_ref()?.first()?;
    let values = statistics.number_of_values?;
    if trues > values {
        return None;
    }
    both(
        Some(Datum::Boolean(trues == values)),
        Some(Datum::Boolean(trues != 0)),
    )
}

fn integers(statistics: &ColumnStatistics, kind: &TypeKind) -> Option<Bounds> {
    let stored = statistics.integer?;
    let datum = |value: Option<i64>| {
        let value = value?;
        Some(match kind {
            TypeKind::TinyInt => Datum::TinyInt(value.try_into().ok()?),
            TypeKind::SmallInt => Datum::SmallInt(value.try_into().ok()?),
            TypeKind::Int => Datum::Int(value.try_into().ok()?),
            TypeKind::Time(_) => Datum::Time(value.try_into().ok()?),
            _ => Datum::BigInt(value),
        })
    };
    both(datum(stored.minimum), datum(stored.maximum))
}

fn floats(statistics: &ColumnStatistics, kind: &TypeKind, shift: &Shift<'_>) -> Option<Bounds> {
    let stored = statistics.double?;
    let (mut min, mut max) = (stored.minimum?, stored.maximum?);
    if let Shift::Prune { .. } = shift {
        // Writers leave NaN out of the bounds, here it is greater than all; the sum tells of it. They also take zeros for
        // equal, whatever their sign.
        if stored.sum.is_none_or(f64::is_nan) {
            return None;
        }
        min = if min == 0.0 { -0.0 } else { min };
        max = if max == 0.0 { 0.0 } else { max };
    }
    let datum = |value: f64| match kind {
        TypeKind::Float => Datum::Float(value as f32),
        _ => Datum::Double(value),
    };
    Some((Some(datum(min)), Some(datum(max))))
}

fn dates(statistics: &ColumnStatistics, shift: &Shift<'_>) -> Option<Bounds> {
    let days = statistics.date.map(|date| (date.minimum, date.maximum));
    // A DATE that is stored as INT.
    let ints = || {
        let day = |value: Option<i64>| value.and_then(|value| i32::try_from(value).ok());
        statistics.integer.map(|int| (day(int.minimum), day(int.maximum)))
    };
    let (min, max) = days.or_else(ints)?;
    let (mut min, mut max) = (min?, max?);
    if let Shift::Prune { .. } = shift {
        min = min.checked_sub(slack(i64::from(min)) as i32)?;
        max = max.checked_add(slack(i64::from(max)) as i32)?;
    }
    Some((Some(Datum::Date(min)), Some(Datum::Date(max))))
}

/// Days by which a bound may be off: before 1582-10-15 values and bounds of one file can count in different calendars, which are
/// at most ten days apart from year 0 on and 300 days some 40 000 years before.
fn slack(day: i64) -> i64 {
    if day < GREGORIAN_DAY + 12 { 300 } else { 0 }
}

fn texts(statistics: &ColumnStatistics, kind: Kind, shift: &Shift<'_>) -> Bounds {
    let Some(stored) = statistics.string.as_deref() else {
        return (None, None);
    };
    let text = |text: &String| Datum::String(text.clone());
    match shift {
        // Java does not tell a bound that is cut; those of CHAR have the blanks that the file has.
        Shift::Java { .. } => (
            stored.minimum.as_ref().map(text),
            stored.maximum.as_ref().map(text),
        ),
        Shift::Prune { .. } => {
            let min = stored.minimum.as_ref().or(stored.lower_bound.as_ref());
            let max = stored.maximum.as_ref().or(stored.upper_bound.as_ref());
            let min = min.map(|min| match kind {
                // Values are read without the blanks that they were compared with: one that is a prefix of the bound
                // may have been greater for its blanks.
                Kind::Char => {
                    let end = min.bytes().position(|byte| byte <= b' ').unwrap_or(min.len());
                    Datum::String(min.get(..end).unwrap_or_default().to_string())
                }
                _ => text(min),
            });
            (min, max.map(text))
        }
    }
}

fn decimals(statistics: &ColumnStatistics, precision: u8, scale: u8) -> Option<Bounds> {
    let stored = statistics.decimal.as_deref()?;
    let datum = |text: &Option<String>| {
        let unscaled = decimal_from_text(text.as_deref()?, precision, scale)?;
        Some(Datum::Decimal { unscaled, scale })
    };
    both(datum(&stored.minimum), datum(&stored.maximum))
}

/// A plain decimal number at `scale`, rounded half up; `None` when it is none or has too many digits.
fn decimal_from_text(text: &str, precision: u8, scale: u8) -> Option<i128> {
    let text = text.trim();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value = 0i128;
    let mut kept = fraction.bytes();
    let wanted = whole.bytes().chain(kept.by_ref().take(usize::from(scale)));
    for byte in wanted {
        let digit = char::from(byte).to_digit(10)?;
        value = value.checked_mul(10)?.checked_add(i128::from(digit))?;
    }
    for _ in fraction.len()..usize::from(scale) {
        value = value.checked_mul(10)?;
    }
    let next = kept.next();
    if !next.into_iter().chain(kept).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if next.is_some_and(|byte| byte >= b'5') {
        value = value.checked_add(1)?;
    }
    let limit = 10i128.checked_pow(u32::from(precision))?;
    (value < limit).then_some(if negative { -value } else { value })
}

fn timestamps(stored: &TimestampStatistics, precision: u8, ltz: bool, shift: &Shift<'_>) -> Option<Bounds> {
    let nanos = |nanos: Option<i32>, absent: i32| match nanos {
        None => Some(absent),
        Some(nanos) => nanos
            .checked_sub(1)
            .filter(|nanos| (0..1_000_000).contains(nanos)),
    };
    let nanos = (
        nanos(stored.minimum_nanos, 0)?,
        nanos(stored.maximum_nanos, 999_999)?,
    );
    let (min, max) = match shift {
        Shift::Java {
            julian,
            zone,
            legacy_ltz,
        } => {
            let min = stored.minimum_utc.or(stored.minimum)?;
            let max = stored.maximum_utc.or(stored.maximum)?;
            let told = |millis: i64| {
                let shifted = match ltz && *legacy_ltz {
                    true => millis.saturating_add(zone.offset(millis.div_euclid(1000)).saturating_mul(1000)),
                    false => millis,
                };
                match *julian && (!ltz || *legacy_ltz) {
                    true => hybrid_millis(shifted),
                    false => shifted,
                }
            };
            (told(min), told(max))
        }
        Shift::Prune { foreign_ltz } => {
            let (mut min, mut max) = (stored.minimum_utc?, stored.maximum_utc?);
            // Values of the second before 1970 are read a second late, but some writers tell them as they were.
            if (-1000..0).contains(&max) {
                max = 999;
            }
            if ltz && *foreign_ltz {
                min = min.checked_sub(ZONE_MILLIS)?;
                max = max.checked_add(ZONE_MILLIS)?;
            }
            min = min.checked_sub(slack(min.div_euclid(DAY_MILLIS)) * DAY_MILLIS)?;
            max = max.checked_add(slack(max.div_euclid(DAY_MILLIS)) * DAY_MILLIS)?;
            (min, max)
        }
    };
    let exact = |millis, nanos_of_milli| Timestamp {
        millis,
        nanos_of_milli,
    };
    let datum = |timestamp: Timestamp| {
        let nanos = match (shift, precision) {
            (Shift::Java { .. }, _) | (_, 7..) => timestamp.nanos_of_milli,
            // Readers cut what the type does not have.
            (_, 0..=3) => 0,
            _ => timestamp.nanos_of_milli / 1000 * 1000,
        };
        Datum::Timestamp(exact(timestamp.millis, nanos))
    };
    Some((Some(datum(exact(min, nanos.0))), Some(datum(exact(max, nanos.1)))))
}

/// Milliseconds that count days before 1582-10-15 in the Julian calendar, in the Gregorian one: the same year, month and
/// day.
fn hybrid_millis(millis: i64) -> i64 {
    let day = millis.div_euclid(DAY_MILLIS);
    if day >= GREGORIAN_DAY {
        return millis;
    }
    // Days since 4800-03-01 BC of the Julian calendar.
    let count = day.saturating_add(2_440_588 + 32_082);
    let year = (count * 4 + 3).div_euclid(1461);
    let of_year = count - (1461 * year).div_euclid(4);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5;
    // The same date of the Gregorian calendar.
    let gregorian = of_month + (153 * month + 2) / 5 + 365 * year + year.div_euclid(4) - year.div_euclid(100)
        + year.div_euclid(400)
        - 32_044
        - 2_440_588;
    gregorian
        .saturating_mul(DAY_MILLIS)
        .saturating_add(millis.rem_euclid(DAY_MILLIS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn julian_days_keep_their_date() {
        // 0001-01-01, 1000-01-01 and 1582-10-04 of the Julian calendar, in days since 1970.
        for (julian, gregorian) in [(-719_164, -719_162), (-354_280, -354_285), (-141_428, -141_438)] {
            assert_eq!(
                hybrid_millis(julian * DAY_MILLIS + 5),
                gregorian * DAY_MILLIS + 5,
                "{julian}"
            );
        }
        assert_eq!(
            hybrid_millis(GREGORIAN_DAY * DAY_MILLIS),
            GREGORIAN_DAY * DAY_MILLIS
        );
    }

    #[test]
    fn decimals_in_text() {
        assert_eq!(decimal_from_text("12.345", 10, 2), Some(1235));
        assert_eq!(decimal_from_text("-12.345", 10, 2), Some(-1235));
        assert_eq!(decimal_from_text("-12.3", 10, 2), Some(-1230));
        assert_eq!(decimal_from_text("7", 10, 0), Some(7));
        assert_eq!(decimal_from_text("99999", 4, 0), None);
        for bad in ["", ".", "1e5", "1.2x", "NaN", "--1"] {
            assert_eq!(decimal_from_text(bad, 10, 0), None, "{bad}");
        }
    }

    #[test]
    fn bounds_of_char_hold_for_values_without_blanks() {
        let statistics = ColumnStatistics {
            number_of_values: Some(2),
            string: Some(Arc::new(crate::proto::StringStatistics {
                minimum: Some("ab\t  ".to_string()),
                maximum: Some("ab   ".to_string()),
                ..Default::default()
            })),
            ..Default::default()
        };
        let (min, max) = texts(&statistics, Kind::Char, &Shift::Prune { foreign_ltz: false });
        assert_eq!(min, Some(Datum::String("ab".to_string())));
        assert_eq!(max, Some(Datum::String("ab   ".to_string())));
    }

    #[test]
    fn contradictions_say_nothing() {
        let column = StatsColumn {
            kind: Kind::Long,
            data_type: DataType::new(TypeKind::BigInt),
        };
        let prune = Shift::Prune { foreign_ltz: false };
        let mut statistics = ColumnStatistics {
            number_of_values: Some(5),
            has_null: Some(false),
            integer: Some(crate::proto::IntegerStatistics {
                minimum: Some(1),
                maximum: Some(9),
                sum: None,
            }),
            ..Default::default()
        };
        let told = column_stats(&statistics, &column, 5, &prune);
        assert_eq!((told.min, told.null_count), (Some(Datum::BigInt(1)), Some(0)));
        assert_eq!(
            column_stats(&statistics, &column, 6, &prune),
            ColumnStats::default()
        );
        assert_eq!(
            column_stats(&statistics, &column, 4, &prune),
            ColumnStats::default()
        );
        statistics.number_of_values = None;
        assert_eq!(
            column_stats(&statistics, &column, 5, &prune),
            ColumnStats::default()
        );
    }
}
