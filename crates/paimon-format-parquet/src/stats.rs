// SPDX-License-Identifier: Apache-2.0

//! Statistics of columns: from the footer for the manifest, from footer and column index for pruning
//! (Java `ParquetSimpleStatsExtractor`; `data-files.md` 7).

use std::sync::Arc;

use async_trait::async_trait;
use paimon_format::{FileInfo, FormatStatsExtractor, MemoryPool, MemoryReservation};
use paimon_storage::InputFile;
use paimon_types::{
    ColumnStats, DataField, DataType, Datum, Result, Timestamp, TypeKind, i128_from_big_endian,
};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as PhysicalType};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescriptor;

use crate::options::is_own_file;
use crate::read::load_metadata;
use crate::schema::parquet_schema;

/// Reads the statistics of a file from its footer.
#[derive(Debug)]
pub(crate) struct ParquetStatsExtractor {
    fields: Vec<DataField>,
}

impl ParquetStatsExtractor {
    pub(crate) fn new(fields: &[DataField]) -> Result<Self> {
        parquet_schema(fields, crate::schema::Int96::True)?;
        Ok(ParquetStatsExtractor {
            fields: fields.to_vec(),
        })
    }
}

#[async_trait]
impl FormatStatsExtractor for ParquetStatsExtractor {
    async fn extract_with_file_info(
        &self,
        file: Arc<dyn InputFile>,
        pool: Arc<dyn MemoryPool>,
    ) -> Result<(Vec<ColumnStats>, FileInfo)> {
        let metadata = load_metadata(&file, None).await?;
        let mut reservation = MemoryReservation::new(pool);
        reservation.try_grow(metadata.memory_size())?;
        let rows = u64::try_from(metadata.file_metadata().num_rows()).unwrap_or(0);
        Ok((file_stats(&metadata, &self.fields), FileInfo::new(rows)))
    }
}

/// What the bounds of FLOAT and DOUBLE columns tell of NaNs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nans {
    /// A bound that is a NaN is given: the statistics of our own files for the manifest, as Java gives those that its writer
    /// has in memory.
    Told,
    /// parquet-java and we put a NaN for the upper bound of a column that has one. Such bounds are not used.
    Dropped,
    /// Other writers skip NaNs, so that their upper bound says nothing about rows that hold one. It is given as NaN.
    Unseen,
}

impl Nans {
    /// How bounds of a file are used to leave out rows.
    pub(crate) fn of(metadata: &ParquetMetaData) -> Self {
        let created_by = metadata.file_metadata().created_by();
        match is_own_file(created_by) || created_by.is_some_and(|by| by.starts_with("parquet-mr")) {
            true => Nans::Dropped,
            false => Nans::Unseen,
        }
    }
}

/// Statistics of `fields` over the whole file. Nested columns have none.
pub(crate) fn file_stats(metadata: &ParquetMetaData, fields: &[DataField]) -> Vec<ColumnStats> {
    let nans = match is_own_file(metadata.file_metadata().created_by()) {
        true => Nans::Told,
        false => Nans::of(metadata),
    };
    let columns = metadata.file_metadata().schema_descr().columns();
    let position = |field: &DataField| {
        columns
            .iter()
            .position(|column| column.path().parts() == std::slice::from_ref(&field.name))
    };
    fields
        .iter()
        .map(|field| match position(field) {
            Some(leaf) if !field.data_type.is_nested() && field.data_type.kind != TypeKind::Variant => {
                column_stats(metadata, leaf, &field.data_type, nans)
            }
            _ => ColumnStats::default(),
        })
        .collect()
}

fn column_stats(metadata: &ParquetMetaData, leaf: usize, data_type: &DataType, nans: Nans) -> ColumnStats {
    let mut chunks = metadata
        .row_groups()
        .iter()
        .map(|group| group.columns().get(leaf));
    let mut merged = Merged::default();
    if metadata.row_groups().is_empty() || !chunks.all(|chunk| merged.add(chunk, data_type, nans)) {
        return ColumnStats::default();
    }
    // Java keeps no bounds of binary columns, and its scan would compare ours as signed bytes.
    let binary = matches!(
        data_type.kind,
        TypeKind::Binary(_)
            | TypeKind::VarBinary(_)
            | TypeKind::Blob
            | TypeKind::Geometry(_)
            | TypeKind::Geography { .. }
    );
    let (min, max) = merged.bounds.filter(|_| merged.bounded && !binary).unzip();
    ColumnStats {
        min,
        max,
        null_count: merged.nulls.and_then(|n| i64::try_from(n).ok()),
    }
}

struct Merged {
    nulls: Option<u64>,
    bounds: Option<(Datum, Datum)>,
    bounded: bool,
}

impl Default for Merged {
    fn default() -> Self {
        Merged {
            nulls: Some(0),
            bounds: None,
            bounded: true,
        }
    }
}

impl Merged {
    /// False when there is nothing to be told at all.
    fn add(&mut self, chunk: Option<&ColumnChunkMetaData>, data_type: &DataType, nans: Nans) -> bool {
        let Some(chunk) = chunk else { return false };
        let stats = chunk_stats(chunk, data_type, nans);
        let nulls = stats.null_count.and_then(|n| u64::try_from(n).ok());
        self.nulls = self.nulls.zip(nulls).map(|(a, b)| a + b);
        match (stats.min, stats.max) {
            (Some(min), Some(max)) if nans == Nans::Told || !is_nan(&max) => match &mut self.bounds {
                Some((low, high)) => {
                    if min.compare(low).is_some_and(std::cmp::Ordering::is_lt) {
                        *low = min;
                    }
                    if max.compare(high).is_some_and(std::cmp::Ordering::is_gt) {
                        *high = max;
                    }
                }
                None => self.bounds = Some((min, max)),
            },
            _ => self.bounded &= nulls.is_some() && nulls == u64::try_from(chunk.num_values()).ok(),
        }
        true
    }
}

fn is_nan(datum: &Datum) -> bool {
    match datum {
        Datum::Float(value) => value.is_nan(),
        Datum::Double(value) => value.is_nan(),
        _ => false,
    }
}

/// Statistics of one chunk as values of `data_type`. What the chunk does not tell in a way that is safe is `None`.
pub(crate) fn chunk_stats(chunk: &ColumnChunkMetaData, data_type: &DataType, nans: Nans) -> ColumnStats {
    let Some(stats) = chunk.statistics() else {
        return ColumnStats::default();
    };
    let null_count = stats.null_count_opt().and_then(|n| i64::try_from(n).ok());
    let bytes = matches!(stats, Statistics::ByteArray(_) | Statistics::FixedLenByteArray(_));
    if stats.is_min_max_deprecated() && bytes {
        // The old fields compare bytes as signed.
        return ColumnStats {
            min: None,
            max: None,
            null_count,
        };
    }
    let (min, max) = match stats {
        Statistics::Boolean(s) => (
            s.min_opt().map(|v| Raw::Bool(*v)),
            s.max_opt().map(|v| Raw::Bool(*v)),
        ),
        Statistics::Int32(s) => (
            s.min_opt().map(|v| Raw::I32(*v)),
            s.max_opt().map(|v| Raw::I32(*v)),
        ),
        Statistics::Int64(s) => (
            s.min_opt().map(|v| Raw::I64(*v)),
            s.max_opt().map(|v| Raw::I64(*v)),
        ),
        Statistics::Float(s) => (
            s.min_opt().map(|v| Raw::F32(*v)),
            s.max_opt().map(|v| Raw::F32(*v)),
        ),
        Statistics::Double(s) => (
            s.min_opt().map(|v| Raw::F64(*v)),
            s.max_opt().map(|v| Raw::F64(*v)),
        ),
        Statistics::ByteArray(_) | Statistics::FixedLenByteArray(_) => (
            stats.min_bytes_opt().map(Raw::Bytes),
            stats.max_bytes_opt().map(Raw::Bytes),
        ),
        Statistics::Int96(_) => (None, None),
    };
    bounded(min, max, null_count, chunk.column_descr(), data_type, nans)
}

/// Statistics of page `page` as values of `data_type`, under the rules of [`chunk_stats`]. `rows` is the number of its
/// rows.
pub(crate) fn page_stats(
    index: &ColumnIndexMetaData,
    page: usize,
    rows: u64,
    column: &ColumnDescriptor,
    data_type: &DataType,
    nans: Nans,
) -> ColumnStats {
    if matches!(index, ColumnIndexMetaData::NONE) || page as u64 >= index.num_pages() {
        return ColumnStats::default();
    }
    if index.is_null_page(page) {
        return ColumnStats {
            min: None,
            max: None,
            null_count: i64::try_from(rows).ok(),
        };
    }
    let null_count = index.null_count(page);
    let (min, max) = match index {
        ColumnIndexMetaData::NONE | ColumnIndexMetaData::INT96(_) => (None, None),
        ColumnIndexMetaData::BOOLEAN(i) => (
            i.min_value(page).map(|v| Raw::Bool(*v)),
            i.max_value(page).map(|v| Raw::Bool(*v)),
        ),
        ColumnIndexMetaData::INT32(i) => (
            i.min_value(page).map(|v| Raw::I32(*v)),
            i.max_value(page).map(|v| Raw::I32(*v)),
        ),
        ColumnIndexMetaData::INT64(i) => (
            i.min_value(page).map(|v| Raw::I64(*v)),
            i.max_value(page).map(|v| Raw::I64(*v)),
        ),
        ColumnIndexMetaData::FLOAT(i) => (
            i.min_value(page).map(|v| Raw::F32(*v)),
            i.max_value(page).map(|v| Raw::F32(*v)),
        ),
        ColumnIndexMetaData::DOUBLE(i) => (
            i.min_value(page).map(|v| Raw::F64(*v)),
            i.max_value(page).map(|v| Raw::F64(*v)),
        ),
        ColumnIndexMetaData::BYTE_ARRAY(i) | ColumnIndexMetaData::FIXED_LEN_BYTE_ARRAY(i) => (
            i.min_value(page).map(Raw::Bytes),
            i.max_value(page).map(Raw::Bytes),
        ),
    };
    bounded(min, max, null_count, column, data_type, nans)
}

/// A bound as it is stored.
enum Raw<'a> {
    Bool(bool),
    I32(i32),
    I64(i64),
    F32(f32),
    F64(f64),
    Bytes(&'a [u8]),
}

fn bounded(
    min: Option<Raw<'_>>,
    max: Option<Raw<'_>>,
    null_count: Option<i64>,
    column: &ColumnDescriptor,
    data_type: &DataType,
    nans: Nans,
) -> ColumnStats {
    let min = min.and_then(|raw| datum(&raw, column, data_type));
    let max = max.and_then(|raw| datum(&raw, column, data_type));
    let (min, max) = match (min, max) {
        (Some(min), Some(max)) if nans != Nans::Told && (is_nan(&min) || is_nan(&max)) => (None, None),
        // Zeros have no sign there.
        (Some(Datum::Float(min)), Some(Datum::Float(max))) => {
            let max = if nans == Nans::Unseen {
                f32::NAN
            } else {
                positive_zero(max)
            };
            (Some(Datum::Float(negative_zero(min))), Some(Datum::Float(max)))
        }
        (Some(Datum::Double(min)), Some(Datum::Double(max))) => {
            let max = if nans == Nans::Unseen {
                f64::NAN
            } else {
                positive_zero(max)
            };
            (Some(Datum::Double(negative_zero(min))), Some(Datum::Double(max)))
        }
        (Some(min), Some(max)) if min.compare(&max).is_some_and(std::cmp::Ordering::is_gt) => (None, None),
        (Some(min), Some(max)) => (Some(min), Some(max)),
        _ => (None, None),
    };
    ColumnStats { min, max, null_count }
}

fn negative_zero<T: PartialEq + Default + std::ops::Neg<Output = T>>(value: T) -> T {
    if value == T::default() {
        -T::default()
    } else {
        value
    }
}

fn positive_zero<T: PartialEq + Default>(value: T) -> T {
    if value == T::default() {
        T::default()
    } else {
        value
    }
}

fn datum(raw: &Raw<'_>, column: &ColumnDescriptor, data_type: &DataType) -> Option<Datum> {
    if is_unsigned(column) {
        return None;
    }
    let int = match raw {
        Raw::I32(value) => Some(i64::from(*value)),
        Raw::I64(value) => Some(*value),
        _ => None,
    };
    Some(match (&data_type.kind, raw) {
        (TypeKind::Boolean, Raw::Bool(value)) => Datum::Boolean(*value),
        (TypeKind::TinyInt, _) => Datum::TinyInt(plain_int(int?, column)?.try_into().ok()?),
        (TypeKind::SmallInt, _) => Datum::SmallInt(plain_int(int?, column)?.try_into().ok()?),
        (TypeKind::Int, _) => Datum::Int(plain_int(int?, column)?.try_into().ok()?),
        (TypeKind::BigInt, _) => Datum::BigInt(plain_int(int?, column)?),
        (TypeKind::Float, Raw::F32(value)) => Datum::Float(*value),
        (TypeKind::Double, Raw::F64(value)) => Datum::Double(*value),
        (TypeKind::Double, Raw::F32(value)) => Datum::Double(f64::from(*value)),
        (TypeKind::Date, Raw::I32(value)) => Datum::Date(*value),
        (TypeKind::Time(_), Raw::I32(value)) => Datum::Time(*value),
        (TypeKind::Timestamp(precision) | TypeKind::TimestampLtz(precision), Raw::I64(value)) => {
            Datum::Timestamp(timestamp(*value, column, *precision)?)
        }
        (TypeKind::Decimal { scale, .. }, _) => Datum::Decimal {
            unscaled: decimal(raw, column, *scale)?,
            scale: *scale,
        },
        (TypeKind::Char(_) | TypeKind::VarChar(_), Raw::Bytes(value)) => {
            Datum::String(std::str::from_utf8(value).ok()?.to_string())
        }
        (TypeKind::Binary(_) | TypeKind::VarBinary(_) | TypeKind::Blob, Raw::Bytes(value)) => {
            Datum::Bytes(value.to_vec())
        }
        _ => return None,
    })
}

fn is_unsigned(column: &ColumnDescriptor) -> bool {
    match column.logical_type_ref() {
        Some(LogicalType::Integer(int)) => !int.is_signed,
        Some(_) => false,
        None => matches!(
            column.converted_type(),
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
        ),
    }
}

/// The value of a column that is an integer and nothing else.
fn plain_int(value: i64, column: &ColumnDescriptor) -> Option<i64> {
    let plain = match column.logical_type_ref() {
        Some(LogicalType::Integer(_)) => true,
        Some(_) => false,
        None => matches!(
            column.converted_type(),
            ConvertedType::NONE
                | ConvertedType::INT_8
                | ConvertedType::INT_16
                | ConvertedType::INT_32
                | ConvertedType::INT_64
        ),
    };
    plain.then_some(value)
}

fn timestamp(value: i64, column: &ColumnDescriptor, precision: u8) -> Option<Timestamp> {
    let unit = match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Timestamp(timestamp)), _) => timestamp.unit,
        (None, ConvertedType::TIMESTAMP_MILLIS) => TimeUnit::MILLIS,
        (None, ConvertedType::TIMESTAMP_MICROS) => TimeUnit::MICROS,
        _ => return None,
    };
    let exact = match unit {
        TimeUnit::MILLIS => Timestamp::from_millis(value),
        TimeUnit::MICROS => Timestamp::from_micros(value),
        TimeUnit::NANOS => Timestamp::from_nanos(i128::from(value)),
    };
    // Readers floor to the unit of the type.
    let nanos = match precision {
        0..=3 => 0,
        4..=6 => exact.nanos_of_milli / 1000 * 1000,
        _ => exact.nanos_of_milli,
    };
    Some(Timestamp {
        millis: exact.millis,
        nanos_of_milli: nanos,
    })
}

fn decimal(raw: &Raw<'_>, column: &ColumnDescriptor, scale: u8) -> Option<i128> {
    let annotated = match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Decimal(decimal)), _) => decimal.scale,
        (None, ConvertedType::DECIMAL) => column.type_scale(),
        _ => return None,
    };
    if annotated != i32::from(scale) {
        return None;
    }
    match raw {
        Raw::I32(value) => Some(i128::from(*value)),
        Raw::I64(value) => Some(i128::from(*value)),
        // The order of decimals in BYTE_ARRAY is not that of their values in files of some writers.
        Raw::Bytes(bytes) if column.physical_type() == PhysicalType::FIXED_LEN_BYTE_ARRAY => {
            i128_from_big_endian(bytes)
        }
        _ => None,
    }
}
