// SPDX-License-Identifier: Apache-2.0

//! Decoded arrays as the arrays that were asked for.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowTimestampType, Decimal128Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{
    Array, ArrayRef, Decimal128Array, FixedSizeListArray, ListArray, MapArray, PrimitiveArray, StructArray,
    make_array, new_null_array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType as ArrowType, Field, TimeUnit};
use paimon_types::{Error, Result, i128_from_big_endian};

use super::casts::cast;
use super::resolve::{Conversion, Node};

/// The option that lets timestamps be read in microseconds.
const UNIT_OPTION: &str = "read.timestamp-unit";

/// `array` as the node tells, with exactly the type of `target`.
pub(crate) fn convert(node: &Node, array: &ArrayRef, target: &Field) -> Result<ArrayRef> {
    let array = convert_type(node, array, target.data_type())?;
    if !target.is_nullable() && array.logical_null_count() > 0 {
        return Err(Error::corrupt(format!(
            "NOT NULL column {} has nulls",
            target.name()
        )));
    }
    Ok(array)
}

fn convert_type(node: &Node, array: &ArrayRef, target: &ArrowType) -> Result<ArrayRef> {
    Ok(match (node, target) {
        (Node::Leaf(Conversion::Keep), _) if array.data_type() == target => array.clone(),
        (Node::Leaf(conversion), _) => convert_leaf(*conversion, array, target)?,
        (Node::Struct(children), ArrowType::Struct(fields)) => {
            let rows = array.as_struct_opt().ok_or_else(|| mismatch(array, target))?;
            let mut columns = Vec::with_capacity(fields.len());
            for (child, field) in children.iter().zip(fields) {
                columns.push(match child {
                    Some((position, node)) => {
                        let column = rows
                            .columns()
                            .get(*position)
                            .ok_or_else(|| mismatch(array, target))?;
                        convert_type(node, &below(rows.nulls(), column)?, field.data_type())
                            .map_err(|e| e.with("field", field.name()))?
                    }
                    None => new_null_array(field.data_type(), rows.len()),
                });
            }
            Arc::new(StructArray::try_new(fields.clone(), columns, rows.nulls().cloned()).map_err(invalid)?)
        }
        (Node::List(inner), ArrowType::List(element)) => {
            let list = array
                .as_list_opt::<i32>()
                .ok_or_else(|| mismatch(array, target))?;
            let values = convert_type(inner, list.values(), element.data_type())?;
            let list = ListArray::try_new(
                element.clone(),
                list.offsets().clone(),
                values,
                list.nulls().cloned(),
            );
            Arc::new(list.map_err(invalid)?)
        }
        (Node::Vector(inner), ArrowType::FixedSizeList(element, length)) => {
            let list = array
                .as_list_opt::<i32>()
                .ok_or_else(|| mismatch(array, target))?;
            Arc::new(vector(list, inner, element, *length)?)
        }
        (Node::Map(key, value), ArrowType::Map(entries, sorted)) => {
            let map = array.as_map_opt().ok_or_else(|| mismatch(array, target))?;
            let ArrowType::Struct(fields) = entries.data_type() else {
                return Err(mismatch(array, target));
            };
            let [key_field, value_field] = fields.as_ref() else {
                return Err(mismatch(array, target));
            };
            let keys = convert_type(key, map.keys(), key_field.data_type())?;
            let values = convert_type(value, map.values(), value_field.data_type())?;
            let inner = StructArray::try_new(fields.clone(), vec![keys, values], None).map_err(invalid)?;
            let map = MapArray::try_new(
                entries.clone(),
                map.offsets().clone(),
                inner,
                map.nulls().cloned(),
                *sorted,
            );
            Arc::new(map.map_err(invalid)?)
        }
        _ => return Err(mismatch(array, target)),
    })
}

/// A child of rows of which some are NULL: what is stored below a NULL row has no meaning and becomes NULL.
fn below(parent: Option<&NullBuffer>, child: &ArrayRef) -> Result<ArrayRef> {
    let Some(parent) = parent.filter(|nulls| nulls.null_count() > 0) else {
        return Ok(child.clone());
    };
    let nulls = NullBuffer::union(Some(parent), child.nulls());
    let data = child
        .to_data()
        .into_builder()
        .nulls(nulls)
        .build()
        .map_err(invalid)?;
    Ok(make_array(data))
}

fn invalid(error: ArrowError) -> Error {
    Error::corrupt(format!("stored value does not fit its type: {error}"))
}

fn mismatch(array: &ArrayRef, target: &ArrowType) -> Error {
    Error::corrupt(format!(
        "decoded as {}, which does not become {target}",
        array.data_type()
    ))
}

fn convert_leaf(conversion: Conversion, array: &ArrayRef, target: &ArrowType) -> Result<ArrayRef> {
    match (conversion, target) {
        (Conversion::Keep | Conversion::Cast, _) => cast(array, target),
        (Conversion::Timestamp(from), ArrowType::Timestamp(to, zone)) => {
            let zone = zone.clone();
            match to {
                TimeUnit::Second => timestamps::<TimestampSecondType>(array, from, zone),
                TimeUnit::Millisecond => timestamps::<TimestampMillisecondType>(array, from, zone),
                TimeUnit::Microsecond => timestamps::<TimestampMicrosecondType>(array, from, zone),
                TimeUnit::Nanosecond => timestamps::<TimestampNanosecondType>(array, from, zone),
            }
        }
        (Conversion::Int96, ArrowType::Timestamp(to, zone)) => {
            let zone = zone.clone();
            match to {
                TimeUnit::Second => int96::<TimestampSecondType>(array, zone),
                TimeUnit::Millisecond => int96::<TimestampMillisecondType>(array, zone),
                TimeUnit::Microsecond => int96::<TimestampMicrosecondType>(array, zone),
                TimeUnit::Nanosecond => int96::<TimestampNanosecondType>(array, zone),
            }
        }
        (
            Conversion::DecimalPrecision | Conversion::DecimalFromInt | Conversion::DecimalFromBytes,
            ArrowType::Decimal128(precision, scale),
        ) => {
            let decimals = match conversion {
                Conversion::DecimalFromInt => decimal_from_int(array, target)?,
                Conversion::DecimalFromBytes => decimal_from_bytes(array, target)?,
                _ => {
                    let decimals = array
                        .as_primitive_opt::<Decimal128Type>()
                        .ok_or_else(|| mismatch(array, target))?;
                    decimals.clone()
                }
            };
            let decimals = decimals
                .with_precision_and_scale(*precision, *scale)
                .map_err(invalid)?;
            decimals.validate_decimal_precision(*precision).map_err(|e| {
                Error::invalid(format!(
                    "stored value does not fit DECIMAL({precision}, {scale}): {e}"
                ))
            })?;
            Ok(make_array(decimals.into()))
        }
        _ => Err(mismatch(array, target)),
    }
}

fn decimal_from_int(array: &ArrayRef, target: &ArrowType) -> Result<Decimal128Array> {
    if let Some(ints) = array.as_primitive_opt::<Int32Type>() {
        return Ok(ints.unary(i128::from));
    }
    let ints = array
        .as_primitive_opt::<Int64Type>()
        .ok_or_else(|| mismatch(array, target))?;
    Ok(ints.unary(i128::from))
}

fn decimal_from_bytes(array: &ArrayRef, target: &ArrowType) -> Result<Decimal128Array> {
    let number = |bytes: Option<&[u8]>| {
        bytes
            .map(|bytes| {
                i128_from_big_endian(bytes).ok_or_else(|| {
                    Error::invalid(format!(
                        "stored decimal of {} bytes does not fit {target}",
                        bytes.len()
                    ))
                })
            })
            .transpose()
    };
    if let Some(bytes) = array.as_binary_opt::<i32>() {
        return bytes.iter().map(number).collect();
    }
    let bytes = array
        .as_fixed_size_binary_opt()
        .ok_or_else(|| mismatch(array, target))?;
    bytes.iter().map(number).collect()
}

/// Timestamps of another unit or zone; a coarser unit is floored.
fn timestamps<T: ArrowTimestampType>(
    array: &ArrayRef,
    from: TimeUnit,
    zone: Option<Arc<str>>,
) -> Result<ArrayRef> {
    let data = array
        .to_data()
        .into_builder()
        .data_type(ArrowType::Int64)
        .build()
        .map_err(invalid)?;
    let values: PrimitiveArray<Int64Type> = data.into();
    let (from_size, to_size) = (per_second(from), per_second(T::UNIT));
    let converted: PrimitiveArray<T> = if from_size >= to_size {
        let factor = from_size / to_size;
        values.unary(|value| value.div_euclid(factor))
    } else {
        let factor = to_size / from_size;
        let scale = |value: i64| {
            value
                .checked_mul(factor)
                .ok_or_else(|| too_large(&format!("{value} {}", unit_name(from)), T::UNIT))
        };
        values.try_unary(scale)?
    };
    Ok(make_array(converted.with_timezone_opt(zone).into()))
}

fn int96<T: ArrowTimestampType>(array: &ArrayRef, zone: Option<Arc<str>>) -> Result<ArrayRef> {
    let bytes = array
        .as_fixed_size_binary_opt()
        .ok_or_else(|| mismatch(array, &ArrowType::Timestamp(T::UNIT, zone.clone())))?;
    let values = crate::int96::decode::<T>(bytes)
        .map_err(|nanos| too_large(&format!("{nanos} nanoseconds"), T::UNIT))?;
    Ok(make_array(values.with_timezone_opt(zone).into()))
}

fn too_large(value: &str, unit: TimeUnit) -> Error {
    Error::invalid(format!(
        "timestamp of {value} since 1970-01-01 does not fit 64-bit {}, set the option to 'us' to read microseconds",
        unit_name(unit)
    ))
    .with("option", UNIT_OPTION)
}

const fn unit_name(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Second => "seconds",
        TimeUnit::Millisecond => "milliseconds",
        TimeUnit::Microsecond => "microseconds",
        TimeUnit::Nanosecond => "nanoseconds",
    }
}

const fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// Lists of one length; a null list has null elements below it.
fn vector(list: &ListArray, inner: &Node, element: &Arc<Field>, length: i32) -> Result<FixedSizeListArray> {
    let size = usize::try_from(length).unwrap_or(0);
    for row in 0..list.len() {
        if list.is_valid(row) && list.value_length(row) != length {
            let found = list.value_length(row);
            return Err(Error::corrupt(format!(
                "vector has {found} elements, {length} expected"
            )));
        }
    }
    let offsets = list.value_offsets();
    let start = offsets.first().copied().unwrap_or(0).max(0) as usize;
    let end = offsets.last().copied().unwrap_or(0).max(0) as usize;
    let full = list.null_count() == 0 && end - start == list.len() * size;
    let values = if full {
        list.values().slice(start, end - start)
    } else {
        // Null rows have no stored elements: give them some.
        let indices: arrow_array::Int32Array = (0..list.len())
            .flat_map(|row| {
                let first = offsets.get(row).copied().unwrap_or(0);
                (0..length).map(move |n| list.is_valid(row).then_some(first + n))
            })
            .collect();
        arrow_select::take::take(list.values(), &indices, None).map_err(invalid)?
    };
    let values = convert_type(inner, &values, element.data_type())?;
    FixedSizeListArray::try_new(element.clone(), length, values, list.nulls().cloned()).map_err(invalid)
}
