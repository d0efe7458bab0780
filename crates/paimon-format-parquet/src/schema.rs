// SPDX-License-Identifier: Apache-2.0

//! Parquet schema of Paimon columns (Java `ParquetSchemaConverter`; `data-files.md` 3).

use std::sync::Arc;

use arrow_schema::{DataType as ArrowType, Field, Schema};
use paimon_types::{DataField, DataType, Error, Result, TypeKind, to_arrow_schema};
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;
use parquet::basic::{EdgeInterpolationAlgorithm, LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::schema::types::{ColumnDescriptor, Type, TypePtr};

/// Name of the root of files that Paimon writes.
pub(crate) const ROOT_NAME: &str = "paimon_schema";
/// Bytes of an INT96 value.
pub(crate) const INT96_BYTES: i32 = 12;
/// Name of the only child of the repeated group of a list.
const ELEMENT: &str = "element";

/// How INT96 columns stand in a schema.
///
/// The parquet crate neither writes INT96 from Arrow nor reads it without silent overflow. Its bytes are those of a
/// 12 byte FIXED_LEN_BYTE_ARRAY in every encoding that is legal for INT96, so pages are encoded and decoded with a
/// schema where the one stands for the other; only files show the true type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Int96 {
    /// INT96, as in files.
    True,
    /// FIXED_LEN_BYTE_ARRAY(12), as given to encoder and decoder.
    AsBytes,
}

/// True for a column that stands for INT96 (either form) in schemas that [`parquet_schema`] made.
pub(crate) fn is_int96_column(column: &ColumnDescriptor) -> bool {
    match column.physical_type() {
        PhysicalType::INT96 => true,
        PhysicalType::FIXED_LEN_BYTE_ARRAY => {
            column.type_length() == INT96_BYTES && column.logical_type_ref().is_none()
        }
        _ => false,
    }
}

/// True for TIMESTAMP and TIMESTAMP_LTZ that are stored as INT96.
pub(crate) fn is_int96(data_type: &DataType) -> bool {
    matches!(data_type.kind, TypeKind::Timestamp(p) | TypeKind::TimestampLtz(p) if p > 6)
}

/// The schema of a file with these columns.
///
/// # Errors
/// `Unsupported` that names the column when Parquet cannot store it, `InvalidInput` for a schema without columns.
pub(crate) fn parquet_schema(fields: &[DataField], int96: Int96) -> Result<TypePtr> {
    if fields.is_empty() {
        return Err(Error::invalid("a parquet file needs at least one column"));
    }
    let arrow: Schema = to_arrow_schema(fields);
    let children = fields
        .iter()
        .zip(arrow.fields())
        .map(|(field, arrow)| {
            node(&field.name, &field.data_type, arrow, int96).map_err(|e| e.with("column", &field.name))
        })
        .collect::<Result<Vec<_>>>()?;
    Type::group_type_builder(ROOT_NAME)
        .with_fields(children)
        .build()
        .map(Arc::new)
        .map_err(invalid)
}

fn invalid(error: ParquetError) -> Error {
    Error::invalid(format!("schema cannot be stored in parquet: {error}"))
}

/// Bytes of the two's complement of any decimal of `precision` digits.
fn decimal_bytes(precision: u8) -> i32 {
    let digits = 10i128.checked_pow(u32::from(precision)).unwrap_or(i128::MAX);
    // One bit for the sign.
    let bits = 128 - (digits - 1).leading_zeros() + 1;
    i32::try_from(bits.div_ceil(8)).unwrap_or(16)
}

fn field_id(field: &Field) -> Option<i32> {
    field.metadata().get(PARQUET_FIELD_ID_META_KEY)?.parse().ok()
}

fn node(name: &str, data_type: &DataType, arrow: &Field, int96: Int96) -> Result<TypePtr> {
    let repetition = if data_type.nullable {
        Repetition::OPTIONAL
    } else {
        Repetition::REQUIRED
    };
    let id = field_id(arrow);
    let primitive = |physical: PhysicalType, logical: Option<LogicalType>| {
        let builder = Type::primitive_type_builder(name, physical)
            .with_repetition(repetition)
            .with_id(id);
        let builder = match &logical {
            Some(LogicalType::Decimal(decimal)) => builder
                .with_precision(decimal.precision)
                .with_scale(decimal.scale),
            _ => builder,
        };
        let builder = match (physical, &data_type.kind) {
            (PhysicalType::FIXED_LEN_BYTE_ARRAY, TypeKind::Decimal { precision, .. }) => {
                builder.with_length(decimal_bytes(*precision))
            }
            (PhysicalType::FIXED_LEN_BYTE_ARRAY, _) => builder.with_length(INT96_BYTES),
            _ => builder,
        };
        builder
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
            .map_err(invalid)
    };
    let group = |logical: Option<LogicalType>, children: Vec<TypePtr>| {
        Type::group_type_builder(name)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .with_id(id)
            .with_fields(children)
            .build()
            .map(Arc::new)
            .map_err(invalid)
    };
    match &data_type.kind {
        TypeKind::Char(_) | TypeKind::VarChar(_) => {
            primitive(PhysicalType::BYTE_ARRAY, Some(LogicalType::String))
        }
        TypeKind::Boolean => primitive(PhysicalType::BOOLEAN, None),
        TypeKind::Binary(_) | TypeKind::VarBinary(_) | TypeKind::Blob => {
            primitive(PhysicalType::BYTE_ARRAY, None)
        }
        TypeKind::Decimal { precision, scale } => {
            let physical = match precision {
                0..=9 => PhysicalType::INT32,
                10..=18 => PhysicalType::INT64,
                _ => PhysicalType::FIXED_LEN_BYTE_ARRAY,
            };
            primitive(
                physical,
                Some(LogicalType::decimal(i32::from(*scale), i32::from(*precision))),
            )
        }
        TypeKind::TinyInt => primitive(PhysicalType::INT32, Some(LogicalType::integer(8, true))),
        TypeKind::SmallInt => primitive(PhysicalType::INT32, Some(LogicalType::integer(16, true))),
        TypeKind::Int => primitive(PhysicalType::INT32, None),
        TypeKind::BigInt => primitive(PhysicalType::INT64, None),
        TypeKind::Float => primitive(PhysicalType::FLOAT, None),
        TypeKind::Double => primitive(PhysicalType::DOUBLE, None),
        TypeKind::Date => primitive(PhysicalType::INT32, Some(LogicalType::Date)),
        TypeKind::Time(_) => primitive(
            PhysicalType::INT32,
            Some(LogicalType::time(true, TimeUnit::MILLIS)),
        ),
        TypeKind::Timestamp(precision) | TypeKind::TimestampLtz(precision) => {
            let utc = matches!(data_type.kind, TypeKind::TimestampLtz(_));
            match (precision, int96) {
                (0..=3, _) => primitive(
                    PhysicalType::INT64,
                    Some(LogicalType::timestamp(utc, TimeUnit::MILLIS)),
                ),
                (4..=6, _) => primitive(
                    PhysicalType::INT64,
                    Some(LogicalType::timestamp(utc, TimeUnit::MICROS)),
                ),
                (_, Int96::True) => primitive(PhysicalType::INT96, None),
                (_, Int96::AsBytes) => primitive(PhysicalType::FIXED_LEN_BYTE_ARRAY, None),
            }
        }
        TypeKind::Geometry(crs) => primitive(
            PhysicalType::BYTE_ARRAY,
            Some(LogicalType::geometry(Some(crs.clone()))),
        ),
        TypeKind::Geography { crs, algorithm } => {
            let algorithm = edge_algorithm(algorithm)?;
            primitive(
                PhysicalType::BYTE_ARRAY,
                Some(LogicalType::geography(Some(crs.clone()), Some(algorithm))),
            )
        }
        TypeKind::Array(element) | TypeKind::Vector(element, _) => {
            let inner = match arrow.data_type() {
                ArrowType::List(inner) | ArrowType::FixedSizeList(inner, _) => inner,
                other => return Err(mismatch(other)),
            };
            let list = Type::group_type_builder("list")
                .with_repetition(Repetition::REPEATED)
                .with_fields(vec![node(ELEMENT, element, inner, int96)?])
                .build()
                .map_err(invalid)?;
            group(Some(LogicalType::List), vec![Arc::new(list)])
        }
        TypeKind::Map(key, value) => map(&group, arrow, key, value, int96),
        TypeKind::Multiset(element) => map(&group, arrow, element, &DataType::required(TypeKind::Int), int96),
        TypeKind::Row(fields) => {
            let ArrowType::Struct(children) = arrow.data_type() else {
                return Err(mismatch(arrow.data_type()));
            };
            if fields.is_empty() {
                return Err(Error::unsupported(
                    "a ROW without fields cannot be stored in parquet",
                ));
            }
            let children = fields
                .iter()
                .zip(children)
                .map(|(field, child)| node(&field.name, &field.data_type, child, int96))
                .collect::<Result<Vec<_>>>()?;
            group(None, children)
        }
        TypeKind::Variant => {
            let part = |name: &str, id: i32| {
                Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY)
                    .with_repetition(Repetition::REQUIRED)
                    .with_id(Some(id))
                    .build()
                    .map(Arc::new)
                    .map_err(invalid)
            };
            group(None, vec![part("value", 0)?, part("metadata", 1)?])
        }
    }
}

fn map(
    group: &dyn Fn(Option<LogicalType>, Vec<TypePtr>) -> Result<TypePtr>,
    arrow: &Field,
    key: &DataType,
    value: &DataType,
    int96: Int96,
) -> Result<TypePtr> {
    let entries = match arrow.data_type() {
        ArrowType::Map(entries, _) => entries,
        other => return Err(mismatch(other)),
    };
    let (key_field, value_field) = match entries.data_type() {
        ArrowType::Struct(fields) => match (fields.first(), fields.get(1)) {
            (Some(key), Some(value)) => (key, value),
            _ => return Err(mismatch(entries.data_type())),
        },
        other => return Err(mismatch(other)),
    };
    let entries = Type::group_type_builder("key_value")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![
            // A declared nullable key is stored REQUIRED all the same.
            node("key", &key.with_nullable(false), key_field, int96)?,
            node("value", value, value_field, int96)?,
        ])
        .build()
        .map_err(invalid)?;
    group(Some(LogicalType::Map), vec![Arc::new(entries)])
}

fn mismatch(arrow: &ArrowType) -> Error {
    Error::invalid(format!("arrow type {arrow} does not belong to the column type"))
}

fn edge_algorithm(name: &str) -> Result<EdgeInterpolationAlgorithm> {
    Ok(match name.to_ascii_lowercase().as_str() {
        "" | "spherical" => EdgeInterpolationAlgorithm::SPHERICAL,
        "vincenty" => EdgeInterpolationAlgorithm::VINCENTY,
        "thomas" => EdgeInterpolationAlgorithm::THOMAS,
        "andoyer" => EdgeInterpolationAlgorithm::ANDOYER,
        "karney" => EdgeInterpolationAlgorithm::KARNEY,
        _ => {
            return Err(Error::invalid(format!(
                "edge algorithm is {name:?}, expected one of spherical, vincenty, thomas, andoyer, karney"
            )));
        }
    })
}
