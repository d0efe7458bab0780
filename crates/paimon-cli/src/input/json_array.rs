// SPDX-License-Identifier: Apache-2.0

//! Arrow arrays from JSON values or from single typed values.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, BooleanBuilder, LargeBinaryBuilder, StringBuilder};
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, FixedSizeListArray, ListArray, MapArray, PrimitiveArray, StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use jiff::tz::TimeZone;
use paimon::types::{
    DataField, DataType, Datum, Error, JsonTree, Result, TypeKind, datum_to_string, to_arrow_field,
    variant_from_json,
};

use super::text::{float, from_text, number, shorten};

/// The array of a column from JSON values; `None` and null are NULL. Whether the column itself takes NULL is for the writer to say.
pub(super) fn build_column(
    values: &[Option<&JsonTree<'_>>],
    field: &DataField,
    zone: &TimeZone,
) -> Result<ArrayRef> {
    build(values, &field.data_type, to_arrow_field(field).data_type(), zone)
        .map_err(|e| e.with("column", &field.name))
}

/// An array of a type with the Arrow type that it has at this place of a column (elements, keys and values have ids).
fn build(
    values: &[Option<&JsonTree<'_>>],
    data_type: &DataType,
    arrow: &ArrowType,
    zone: &TimeZone,
) -> Result<ArrayRef> {
    let present: Vec<Option<&JsonTree<'_>>> = values.iter().map(|v| v.filter(|v| !v.is_null())).collect();
    let nulls =
        || Some(NullBuffer::from_iter(present.iter().map(Option::is_some))).filter(|n| n.null_count() > 0);
    let failed = |e: arrow_schema::ArrowError| {
        Error::invalid(format!("values are not {data_type}: {e}")).with_source(e)
    };
    match (&data_type.kind, arrow) {
        (TypeKind::Array(element), ArrowType::List(field)) => {
            let (items, offsets) = flatten(&present, data_type)?;
            let items = build(&items, element, field.data_type(), zone)?;
            refuse_null(&items, element.nullable, None, "an element")?;
            let list = ListArray::try_new(field.clone(), offsets, items, nulls()).map_err(failed)?;
            Ok(Arc::new(list))
        }
        (TypeKind::Vector(element, n), ArrowType::FixedSizeList(field, size)) => {
            let mut items: Vec<Option<&JsonTree<'_>>> = Vec::new();
            let filler = match element.kind {
                TypeKind::Boolean => JsonTree::Bool(false),
                _ => JsonTree::Number("0"),
            };
            for value in &present {
                match value {
                    Some(JsonTree::Array(list)) if list.len() == *n as usize => {
                        items.extend(list.iter().map(Some))
                    }
                    None => items.extend(std::iter::repeat_n(Some(&filler), *n as usize)),
                    Some(other) => return Err(mismatch(other, data_type)),
                }
            }
            let items = build(&items, element, field.data_type(), zone)?;
            refuse_null(&items, false, None, "an element of a vector")?;
            let list = FixedSizeListArray::try_new(field.clone(), *size, items, nulls()).map_err(failed)?;
            Ok(Arc::new(list))
        }
        (TypeKind::Map(key, value), ArrowType::Map(entries, _)) => {
            map(&present, data_type, key, value, entries, nulls(), zone)
        }
        (TypeKind::Multiset(element), ArrowType::Map(entries, _)) => {
            let count = DataType::required(TypeKind::Int);
            map(&present, data_type, element, &count, entries, nulls(), zone)
        }
        (TypeKind::Row(children), ArrowType::Struct(fields)) => {
            for value in present.iter().flatten() {
                let JsonTree::Object(members) = value else {
                    return Err(mismatch(value, data_type));
                };
                if let Some((key, _)) = members
                    .iter()
                    .find(|(k, _)| children.iter().all(|f| f.name != *k))
                {
                    return Err(Error::invalid(format!("the row has no field '{key}'")));
                }
            }
            let parents = nulls();
            let columns = children
                .iter()
                .zip(fields)
                .map(|(child, field)| {
                    let inner: Vec<Option<&JsonTree<'_>>> = present
                        .iter()
                        .map(|v| v.and_then(|v| v.get(&child.name)))
                        .collect();
                    let column = build(&inner, &child.data_type, field.data_type(), zone)
                        .map_err(|e| e.with("field", &child.name))?;
                    refuse_null(
                        &column,
                        child.data_type.nullable,
                        parents.as_ref(),
                        &format!("field '{}'", child.name),
                    )?;
                    Ok(column)
                })
                .collect::<Result<Vec<_>>>()?;
            let rows = StructArray::try_new_with_length(fields.clone(), columns, parents, present.len())
                .map_err(failed)?;
            Ok(Arc::new(rows))
        }
        (TypeKind::Variant, ArrowType::Struct(fields)) => {
            let (mut bytes, mut metadata) = (BinaryBuilder::new(), BinaryBuilder::new());
            for value in &present {
                match value {
                    None => {
                        bytes.append_value([0]);
                        metadata.append_value([1, 0, 0]);
                    }
                    Some(JsonTree::Object(members)) => match members.as_slice() {
                        [(key, inner)] if key == "variant" => {
                            let (value, keys) = variant_from_json(inner)?;
                            bytes.append_value(value);
                            metadata.append_value(keys);
                        }
                        _ => return Err(no_variant(value)),
                    },
                    Some(_) => return Err(no_variant(value)),
                }
            }
            let columns: Vec<ArrayRef> = vec![Arc::new(bytes.finish()), Arc::new(metadata.finish())];
            let rows = StructArray::try_new_with_length(fields.clone(), columns, nulls(), present.len())
                .map_err(failed)?;
            Ok(Arc::new(rows))
        }
        _ => {
            let data = present
                .iter()
                .map(|v| v.map(|v| datum(v, data_type, zone)).transpose());
            array(data.collect::<Result<Vec<_>>>()?, data_type, arrow)
        }
    }
}

fn no_variant(value: &Option<&JsonTree<'_>>) -> Error {
    let shown = value.map(|v| shorten(&v.to_string())).unwrap_or_default();
    Error::invalid(format!(
        "a VARIANT is an object {{\"variant\": value}}, found {shown}"
    ))
}

/// An array from single values of a column's atomic type.
pub(super) fn array_of(values: Vec<Option<Datum>>, field: &DataField) -> Result<ArrayRef> {
    array(values, &field.data_type, to_arrow_field(field).data_type())
        .map_err(|e| e.with("column", &field.name))
}

/// Refuses NULL where the type does not take it; what a NULL parent holds is not looked at.
fn refuse_null(array: &ArrayRef, nullable: bool, parents: Option<&NullBuffer>, what: &str) -> Result<()> {
    if nullable || array.null_count() == 0 {
        return Ok(());
    }
    match (0..array.len()).any(|i| array.is_null(i) && parents.is_none_or(|p| p.is_valid(i))) {
        true => Err(Error::invalid(format!(
            "{what} is NULL, but its type is NOT NULL"
        ))),
        false => Ok(()),
    }
}

fn flatten<'a, 'b>(
    values: &[Option<&'a JsonTree<'b>>],
    data_type: &DataType,
) -> Result<(Vec<Option<&'a JsonTree<'b>>>, OffsetBuffer<i32>)> {
    let mut items = Vec::new();
    let mut lengths = Vec::with_capacity(values.len());
    for value in values {
        let list = match value {
            None => &[] as &[JsonTree<'_>],
            Some(JsonTree::Array(list)) => list.as_slice(),
            Some(other) => return Err(mismatch(other, data_type)),
        };
        items.extend(list.iter().map(Some));
        lengths.push(list.len());
    }
    if i32::try_from(items.len()).is_err() {
        return Err(Error::resources(
            "the lists of a batch have more than 2^31 elements",
        ));
    }
    Ok((items, OffsetBuffer::from_lengths(lengths)))
}

fn map(
    values: &[Option<&JsonTree<'_>>],
    data_type: &DataType,
    key: &DataType,
    value: &DataType,
    entries: &arrow_schema::FieldRef,
    nulls: Option<NullBuffer>,
    zone: &TimeZone,
) -> Result<ArrayRef> {
    let (pairs, offsets) = flatten(values, data_type)?;
    let mut keys = Vec::with_capacity(pairs.len());
    let mut items = Vec::with_capacity(pairs.len());
    for pair in pairs.into_iter().flatten() {
        match pair {
            JsonTree::Array(parts) if parts.len() == 2 => {
                keys.push(parts.first());
                items.push(parts.last());
            }
            _ => {
                return Err(Error::invalid(format!(
                    "a map entry is [key, value], found {}",
                    shorten(&pair.to_string())
                )));
            }
        }
    }
    let failed = |e: arrow_schema::ArrowError| {
        Error::invalid(format!("values are not {data_type}: {e}")).with_source(e)
    };
    let ArrowType::Struct(fields) = entries.data_type() else {
        return Err(Error::invalid(format!("{data_type} has no Arrow map")));
    };
    let [key_field, value_field] = fields.as_ref() else {
        return Err(Error::invalid(format!("{data_type} has no Arrow map")));
    };
    let keys = build(&keys, key, key_field.data_type(), zone)?;
    refuse_null(&keys, false, None, "a key of a map")?;
    let items = build(&items, value, value_field.data_type(), zone)?;
    refuse_null(&items, value.nullable, None, "a value of a map")?;
    let entries_array = StructArray::try_new(fields.clone(), vec![keys, items], None).map_err(failed)?;
    let built = MapArray::try_new(entries.clone(), offsets, entries_array, nulls, false).map_err(failed)?;
    Ok(Arc::new(built))
}

fn mismatch(value: &JsonTree<'_>, data_type: &DataType) -> Error {
    Error::invalid(format!(
        "{} is not a value of type {data_type}",
        shorten(&value.to_string())
    ))
}

/// One JSON scalar as a value of an atomic type.
fn datum(value: &JsonTree<'_>, data_type: &DataType, zone: &TimeZone) -> Result<Datum> {
    match (&data_type.kind, value) {
        (TypeKind::Boolean, JsonTree::Bool(value)) => Ok(Datum::Boolean(*value)),
        (
            TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::Int | TypeKind::BigInt,
            JsonTree::Number(text),
        ) => number(text, data_type),
        (TypeKind::Float | TypeKind::Double, JsonTree::Number(text)) => float(text, data_type),
        (TypeKind::Float | TypeKind::Double, JsonTree::String(text)) => match text.as_ref() {
            "NaN" | "Infinity" | "-Infinity" => float(text, data_type),
            _ => Err(mismatch(value, data_type)),
        },
        (TypeKind::Decimal { .. }, JsonTree::Number(text)) => number(text, data_type),
        (TypeKind::Decimal { .. }, JsonTree::String(text)) => number(text, data_type),
        (
            TypeKind::Boolean | TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::Int | TypeKind::BigInt,
            _,
        ) => Err(mismatch(value, data_type)),
        (_, JsonTree::String(text)) => from_text(text, data_type, zone),
        _ => Err(mismatch(value, data_type)),
    }
}

fn primitives<T: ArrowPrimitiveType>(
    values: &[Option<Datum>],
    data_type: &DataType,
    arrow: &ArrowType,
    get: impl Fn(&Datum) -> Option<T::Native>,
) -> Result<ArrayRef> {
    let mut natives = Vec::with_capacity(values.len());
    for value in values {
        natives.push(match value {
            None => None,
            Some(datum) => {
                let fits = get(datum).ok_or_else(|| {
                    Error::invalid(format!(
                        "{} cannot be held by {data_type} in Arrow ({arrow})",
                        datum_to_string(datum, data_type)
                    ))
                });
                Some(fits?)
            }
        });
    }
    let nulls = NullBuffer::from_iter(natives.iter().map(Option::is_some));
    let buffer: ScalarBuffer<T::Native> = natives.into_iter().map(Option::unwrap_or_default).collect();
    Ok(Arc::new(
        PrimitiveArray::<T>::new(buffer, Some(nulls)).with_data_type(arrow.clone()),
    ))
}

fn array(values: Vec<Option<Datum>>, data_type: &DataType, arrow: &ArrowType) -> Result<ArrayRef> {
    macro_rules! of {
        ($arrow_type:ty, $variant:ident) => {
            primitives::<$arrow_type>(&values, data_type, arrow, |d| match d {
                Datum::$variant(v) => Some(*v),
                _ => None,
            })
        };
    }
    let timestamp = |d: &Datum| match d {
        Datum::Timestamp(t) => Some(*t),
        _ => None,
    };
    match arrow {
        ArrowType::Boolean => {
            let mut builder = BooleanBuilder::with_capacity(values.len());
            for value in &values {
                builder.append_option(match value {
                    Some(Datum::Boolean(v)) => Some(*v),
                    _ => None,
                });
            }
            Ok(Arc::new(builder.finish()))
        }
        ArrowType::Int8 => of!(Int8Type, TinyInt),
        ArrowType::Int16 => of!(Int16Type, SmallInt),
        ArrowType::Int32 => of!(Int32Type, Int),
        ArrowType::Int64 => of!(Int64Type, BigInt),
        ArrowType::Float32 => of!(Float32Type, Float),
        ArrowType::Float64 => of!(Float64Type, Double),
        ArrowType::Date32 => of!(Date32Type, Date),
        ArrowType::Time32(_) => of!(Time32MillisecondType, Time),
        ArrowType::Decimal128(_, _) => primitives::<Decimal128Type>(&values, data_type, arrow, |d| match d {
            Datum::Decimal { unscaled, .. } => Some(*unscaled),
            _ => None,
        }),
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
            primitives::<TimestampMillisecondType>(&values, data_type, arrow, |d| {
                timestamp(d).map(|t| t.millis)
            })
        }
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            primitives::<TimestampMicrosecondType>(&values, data_type, arrow, |d| {
                timestamp(d).and_then(|t| t.to_micros())
            })
        }
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
            primitives::<TimestampNanosecondType>(&values, data_type, arrow, |d| {
                timestamp(d).and_then(|t| t.to_nanos())
            })
        }
        ArrowType::Utf8 => {
            let mut builder = StringBuilder::new();
            for value in &values {
                builder.append_option(match value {
                    Some(Datum::String(v)) => Some(v),
                    _ => None,
                });
            }
            Ok(Arc::new(builder.finish()))
        }
        ArrowType::Binary => {
            let mut builder = BinaryBuilder::new();
            for value in &values {
                builder.append_option(bytes(value));
            }
            Ok(Arc::new(builder.finish()))
        }
        ArrowType::LargeBinary => {
            let mut builder = LargeBinaryBuilder::new();
            for value in &values {
                builder.append_option(bytes(value));
            }
            Ok(Arc::new(builder.finish()))
        }
        _ => Err(Error::unsupported(format!(
            "values of type {data_type} cannot be made from text"
        ))),
    }
}

fn bytes(value: &Option<Datum>) -> Option<&[u8]> {
    match value {
        Some(Datum::Bytes(v)) => Some(v),
        _ => None,
    }
}
