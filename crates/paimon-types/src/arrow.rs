// SPDX-License-Identifier: Apache-2.0

//! Arrow types of Paimon types and back (Java `ArrowUtils`, `ParquetSchemaConverter`; `data-files.md` 1.5).
//!
//! A field carries two kinds of metadata: [`FIELD_ID`] with its id (computed ids for elements, keys and values), and
//! [`TYPE`] with the SQL text of its type where the Arrow type alone does not say it. With them the way back is exact.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_schema::{DataType as ArrowType, Field, Schema, TimeUnit};

use crate::parse::MAX_DEPTH;
use crate::schema::{assign_field_ids, check_unique_ids};
use crate::{DataField, DataType, Error, MAX_LENGTH, Result, TypeKind};

/// Metadata key of the field id, the one that Arrow's Parquet reader and writer use.
pub const FIELD_ID: &str = "PARQUET:field_id";
/// Metadata key of the SQL text of a type that Arrow has no type of its own for.
pub const TYPE: &str = "paimon.type";
/// Metadata key, with the value `false`, on map keys and vector elements of a NOT NULL type: Arrow has no nullable ones.
const NOT_NULL: &str = "paimon.nullable";
/// Computed ids of elements, keys and values start around here.
const ID_BASE: i32 = 536_870_911;
/// Distance of the computed ids of two columns.
const ID_STEP: i32 = 1024;

/// The Arrow field of a column: name, nullability, Arrow type, id and, where needed, its SQL type text. ROW fields below carry
/// their own ids; elements, keys and values the ids that Parquet files have (`data-files.md` 1.5).
pub fn to_arrow_field(field: &DataField) -> Field {
    arrow_field(&field.name, &field.data_type, Some(field.id), Some(field.id), 0)
}

/// The Arrow schema of columns.
pub fn to_arrow_schema(fields: &[DataField]) -> Schema {
    Schema::new(fields.iter().map(to_arrow_field).collect::<Vec<_>>())
}

/// The Arrow type of a value that belongs to no column: as [`to_arrow_field`], but elements, keys and values have no ids.
pub fn arrow_type(data_type: &DataType) -> ArrowType {
    arrow_data_type(data_type, None, 0)
}

/// `named` is the id of the enclosing named field and `depth` the number of levels below it.
fn arrow_field(name: &str, data_type: &DataType, id: Option<i32>, named: Option<i32>, depth: i32) -> Field {
    let mut metadata = HashMap::new();
    if let Some(id) = id {
        metadata.insert(FIELD_ID.to_owned(), id.to_string());
    }
    if needs_text(&data_type.kind) {
        metadata.insert(TYPE.to_owned(), data_type.kind.to_string());
    }
    Field::new(name, arrow_data_type(data_type, named, depth), data_type.nullable).with_metadata(metadata)
}

fn element_id(named: Option<i32>, depth: i32) -> Option<i32> {
    named.map(|id| ID_BASE.wrapping_add(id.wrapping_mul(ID_STEP)).wrapping_add(depth))
}

fn key_id(named: Option<i32>, depth: i32) -> Option<i32> {
    named.map(|id| ID_BASE.wrapping_sub(id.wrapping_mul(ID_STEP)).wrapping_sub(depth))
}

/// A field that Arrow wants NOT NULL whatever the type says.
fn required_field(
    name: &str,
    data_type: &DataType,
    id: Option<i32>,
    named: Option<i32>,
    depth: i32,
) -> Field {
    let mut field = arrow_field(name, data_type, id, named, depth);
    if !data_type.nullable {
        field
            .metadata_mut()
            .insert(NOT_NULL.to_owned(), "false".to_owned());
    }
    field.with_nullable(false)
}

fn map_type(key: Field, value: Field) -> ArrowType {
    let entries = Field::new("entries", ArrowType::Struct(vec![key, value].into()), false);
    ArrowType::Map(Arc::new(entries), false)
}

fn arrow_data_type(data_type: &DataType, named: Option<i32>, depth: i32) -> ArrowType {
    let below = depth.wrapping_add(1);
    let timestamp = |precision: u8, zone: Option<Arc<str>>| {
        let unit = match precision {
            0..=3 => TimeUnit::Millisecond,
            4..=6 => TimeUnit::Microsecond,
            _ => TimeUnit::Nanosecond,
        };
        ArrowType::Timestamp(unit, zone)
    };
    match &data_type.kind {
        TypeKind::Char(_) | TypeKind::VarChar(_) => ArrowType::Utf8,
        TypeKind::Boolean => ArrowType::Boolean,
        TypeKind::Binary(_) | TypeKind::VarBinary(_) | TypeKind::Geometry(_) | TypeKind::Geography { .. } => {
            ArrowType::Binary
        }
        TypeKind::Blob => ArrowType::LargeBinary,
        TypeKind::Decimal { precision, scale } => {
            ArrowType::Decimal128(*precision, i8::try_from(*scale).unwrap_or(i8::MAX))
        }
        TypeKind::TinyInt => ArrowType::Int8,
        TypeKind::SmallInt => ArrowType::Int16,
        TypeKind::Int => ArrowType::Int32,
        TypeKind::BigInt => ArrowType::Int64,
        TypeKind::Float => ArrowType::Float32,
        TypeKind::Double => ArrowType::Float64,
        TypeKind::Date => ArrowType::Date32,
        TypeKind::Time(_) => ArrowType::Time32(TimeUnit::Millisecond),
        TypeKind::Timestamp(precision) => timestamp(*precision, None),
        TypeKind::TimestampLtz(precision) => timestamp(*precision, Some("UTC".into())),
        TypeKind::Variant => {
            let part = |name: &str| Field::new(name, ArrowType::Binary, false);
            ArrowType::Struct(vec![part("value"), part("metadata")].into())
        }
        TypeKind::Array(element) => {
            let id = element_id(named, below);
            ArrowType::List(Arc::new(arrow_field("element", element, id, named, below)))
        }
        TypeKind::Vector(element, length) => {
            let id = element_id(named, below);
            let element = required_field("element", element, id, named, below);
            ArrowType::FixedSizeList(Arc::new(element), i32::try_from(*length).unwrap_or(i32::MAX))
        }
        TypeKind::Map(key, value) => map_type(
            required_field("key", key, key_id(named, below), named, below),
            arrow_field("value", value, element_id(named, below), named, below),
        ),
        TypeKind::Multiset(element) => map_type(
            required_field("key", element, key_id(named, below), named, below),
            arrow_field(
                "value",
                &DataType::required(TypeKind::Int),
                element_id(named, below),
                named,
                below,
            ),
        ),
        TypeKind::Row(fields) => ArrowType::Struct(fields.iter().map(to_arrow_field).collect()),
    }
}

/// True when the Arrow type alone would come back as another type.
fn needs_text(kind: &TypeKind) -> bool {
    match kind {
        TypeKind::VarChar(n) | TypeKind::VarBinary(n) => *n != MAX_LENGTH,
        TypeKind::Time(p) => *p != 3,
        TypeKind::Timestamp(p) | TypeKind::TimestampLtz(p) => !matches!(p, 3 | 6 | 9),
        TypeKind::Char(_)
        | TypeKind::Binary(_)
        | TypeKind::Blob
        | TypeKind::Variant
        | TypeKind::Geometry(_)
        | TypeKind::Geography { .. }
        | TypeKind::Multiset(_)
        | TypeKind::Vector(..) => true,
        _ => false,
    }
}

/// The columns of an Arrow schema: exactly what [`to_arrow_schema`] was given when it made the schema. Foreign schemas map to
/// the narrowest type that holds every value: large and view types as their plain ones, UINT8/16/32 one size up, UINT64 to
/// DECIMAL(20, 0), dictionaries as their values, any zone to TIMESTAMP_LTZ. Ids come from [`FIELD_ID`] when every field
/// has one and none is repeated; else fields are numbered as in a new table.
///
/// # Errors
/// `Unsupported` that names the column for an Arrow type without a Paimon type (null, interval, union, 64-bit time …);
/// `InvalidInput` when [`TYPE`] does not fit the Arrow type.
pub fn from_arrow_schema(schema: &Schema) -> Result<Vec<DataField>> {
    let mut complete = true;
    let mut fields = schema
        .fields()
        .iter()
        .map(|field| from_field(field, &mut complete, 0))
        .collect::<Result<Vec<_>>>()?;
    let mut ids = HashSet::new();
    if !complete || check_unique_ids(&fields, &mut ids).is_err() {
        assign_field_ids(&mut fields);
    }
    Ok(fields)
}

fn from_field(field: &Field, complete: &mut bool, depth: usize) -> Result<DataField> {
    let id = field.metadata().get(FIELD_ID).and_then(|text| text.parse().ok());
    *complete &= id.is_some();
    let data_type = field_type(field, complete, depth).map_err(|e| e.with("column", field.name()))?;
    Ok(DataField::new(id.unwrap_or(0), field.name(), data_type))
}

fn field_type(field: &Field, complete: &mut bool, depth: usize) -> Result<DataType> {
    let text = field.metadata().get(TYPE).map(String::as_str);
    let kind = arrow_kind(field.data_type(), text, complete, depth)?;
    Ok(DataType {
        kind,
        nullable: field.is_nullable(),
    })
}

/// The type of a field that Arrow wants NOT NULL: nullable unless marked otherwise.
fn required_type(field: &Field, complete: &mut bool, depth: usize) -> Result<DataType> {
    let nullable = field.metadata().get(NOT_NULL).is_none_or(|text| text != "false");
    Ok(field_type(field, complete, depth)?.with_nullable(nullable))
}

/// Applies the SQL text to the kind that Arrow alone gives.
fn refine(kind: TypeKind, text: Option<&str>) -> Result<TypeKind> {
    let Some(text) = text else { return Ok(kind) };
    let wanted = DataType::parse(text)?.kind;
    let fits = match (&kind, &wanted) {
        (TypeKind::VarChar(_), TypeKind::Char(_) | TypeKind::VarChar(_))
        | (TypeKind::Time(_), TypeKind::Time(_))
        | (
            TypeKind::VarBinary(_),
            TypeKind::Binary(_)
            | TypeKind::VarBinary(_)
            | TypeKind::Blob
            | TypeKind::Geometry(_)
            | TypeKind::Geography { .. },
        ) => true,
        (TypeKind::Timestamp(unit), TypeKind::Timestamp(p))
        | (TypeKind::TimestampLtz(unit), TypeKind::TimestampLtz(p)) => match unit {
            3 => *p <= 3,
            6 => (4..=6).contains(p),
            9 => (7..=9).contains(p),
            _ => unit == p,
        },
        _ => kind == wanted,
    };
    if fits {
        return Ok(wanted);
    }
    Err(Error::invalid(format!(
        "metadata {TYPE} is '{text}', which does not fit the Arrow type of {kind}"
    )))
}

fn arrow_kind(arrow: &ArrowType, text: Option<&str>, complete: &mut bool, depth: usize) -> Result<TypeKind> {
    if depth > MAX_DEPTH {
        return Err(Error::unsupported(format!(
            "types are nested deeper than {MAX_DEPTH}"
        )));
    }
    let below = depth + 1;
    let is = |word: &str| text.is_some_and(|text| text.starts_with(word));
    let kind = match arrow {
        ArrowType::Boolean => TypeKind::Boolean,
        ArrowType::Int8 => TypeKind::TinyInt,
        ArrowType::Int16 | ArrowType::UInt8 => TypeKind::SmallInt,
        ArrowType::Int32 | ArrowType::UInt16 => TypeKind::Int,
        ArrowType::Int64 | ArrowType::UInt32 => TypeKind::BigInt,
        ArrowType::UInt64 => TypeKind::Decimal {
            precision: 20,
            scale: 0,
        },
        ArrowType::Float16 | ArrowType::Float32 => TypeKind::Float,
        ArrowType::Float64 => TypeKind::Double,
        ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View => TypeKind::VarChar(MAX_LENGTH),
        ArrowType::Binary | ArrowType::LargeBinary | ArrowType::BinaryView => TypeKind::VarBinary(MAX_LENGTH),
        ArrowType::FixedSizeBinary(n) if *n > 0 => TypeKind::Binary(n.unsigned_abs()),
        ArrowType::Decimal32(precision, scale)
        | ArrowType::Decimal64(precision, scale)
        | ArrowType::Decimal128(precision, scale)
        | ArrowType::Decimal256(precision, scale) => {
            let kind = u8::try_from(*scale).ok().map(|scale| TypeKind::Decimal {
                precision: *precision,
                scale,
            });
            kind.filter(|kind| kind.check_parameters().is_ok())
                .ok_or_else(|| unsupported(arrow))?
        }
        ArrowType::Date32 | ArrowType::Date64 => TypeKind::Date,
        ArrowType::Time32(TimeUnit::Second) => TypeKind::Time(0),
        ArrowType::Time32(_) => TypeKind::Time(3),
        ArrowType::Timestamp(unit, zone) => {
            let precision = match unit {
                TimeUnit::Second => 0,
                TimeUnit::Millisecond => 3,
                TimeUnit::Microsecond => 6,
                TimeUnit::Nanosecond => 9,
            };
            if zone.is_some() {
                TypeKind::TimestampLtz(precision)
            } else {
                TypeKind::Timestamp(precision)
            }
        }
        ArrowType::Dictionary(_, value) => return arrow_kind(value, text, complete, below),
        ArrowType::RunEndEncoded(_, values) => return arrow_kind(values.data_type(), text, complete, below),
        ArrowType::List(element)
        | ArrowType::LargeList(element)
        | ArrowType::ListView(element)
        | ArrowType::LargeListView(element) => {
            TypeKind::Array(Box::new(field_type(element, complete, below)?))
        }
        ArrowType::FixedSizeList(element, length) => {
            let vector = is("VECTOR") || !element.is_nullable();
            if vector && *length > 0 {
                let inner = required_type(element, complete, below)?;
                let kind = TypeKind::Vector(Box::new(inner), length.unsigned_abs());
                if kind.check_parameters().is_ok() {
                    return Ok(kind);
                }
            }
            TypeKind::Array(Box::new(field_type(element, complete, below)?))
        }
        ArrowType::Map(entries, _) => {
            let ArrowType::Struct(parts) = entries.data_type() else {
                return Err(unsupported(arrow));
            };
            let [key, value] = parts.as_ref() else {
                return Err(unsupported(arrow));
            };
            let key = Box::new(required_type(key, complete, below)?);
            let value = field_type(value, complete, below)?;
            if is("MULTISET") && value == DataType::required(TypeKind::Int) {
                TypeKind::Multiset(key)
            } else {
                TypeKind::Map(key, Box::new(value))
            }
        }
        ArrowType::Struct(_) if is("VARIANT") => TypeKind::Variant,
        ArrowType::Struct(fields) => TypeKind::Row(
            fields
                .iter()
                .map(|f| from_field(f, complete, below))
                .collect::<Result<_>>()?,
        ),
        _ => return Err(unsupported(arrow)),
    };
    let constructed = matches!(
        kind,
        TypeKind::Array(_) | TypeKind::Map(..) | TypeKind::Multiset(_) | TypeKind::Row(_) | TypeKind::Variant
    );
    if constructed { Ok(kind) } else { refine(kind, text) }
}

fn unsupported(arrow: &ArrowType) -> Error {
    Error::unsupported(format!("the Arrow type {arrow} has no Paimon type"))
}
