// SPDX-License-Identifier: Apache-2.0

//! Arrays of a batch as the encoder wants them: the types of the schema, INT96 columns as bytes.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, FixedSizeListArray, ListArray, MapArray, StructArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{ArrowError, DataType as ArrowType, Field, FieldRef, Fields};
use paimon_types::{DataType, Error, Result, TypeKind};

use crate::schema::{INT96_BYTES, is_int96};

/// The Arrow field that is given to the encoder for a column of `data_type` whose Arrow field is `field`.
pub(super) fn encoder_field(field: &Field, data_type: &DataType) -> FieldRef {
    let arrow = encoder_type(field.data_type(), data_type);
    Arc::new(
        field
            .clone()
            .with_data_type(arrow)
            .with_nullable(data_type.nullable),
    )
}

fn encoder_type(arrow: &ArrowType, data_type: &DataType) -> ArrowType {
    match (arrow, &data_type.kind) {
        _ if is_int96(data_type) => ArrowType::FixedSizeBinary(INT96_BYTES),
        (ArrowType::List(inner), TypeKind::Array(element)) => ArrowType::List(encoder_field(inner, element)),
        (ArrowType::FixedSizeList(inner, n), TypeKind::Vector(element, _)) => {
            ArrowType::FixedSizeList(encoder_field(inner, element), *n)
        }
        (ArrowType::Struct(children), TypeKind::Row(fields)) => ArrowType::Struct(
            children
                .iter()
                .zip(fields)
                .map(|(child, field)| encoder_field(child, &field.data_type))
                .collect(),
        ),
        (ArrowType::Map(entries, sorted), TypeKind::Map(..) | TypeKind::Multiset(_)) => {
            let (key, value) = map_types(data_type);
            let fields: Fields = match entries.data_type() {
                ArrowType::Struct(fields) => fields
                    .iter()
                    .zip([key, value])
                    .map(|(field, ty)| encoder_field(field, &ty))
                    .collect(),
                _ => Fields::empty(),
            };
            ArrowType::Map(
                Arc::new(entries.as_ref().clone().with_data_type(ArrowType::Struct(fields))),
                *sorted,
            )
        }
        (other, _) => other.clone(),
    }
}

/// Key and value type of a MAP or MULTISET as they are stored: the key is never null.
fn map_types(data_type: &DataType) -> (DataType, DataType) {
    match &data_type.kind {
        TypeKind::Map(key, value) => (key.with_nullable(false), value.as_ref().clone()),
        TypeKind::Multiset(element) => (element.with_nullable(false), DataType::required(TypeKind::Int)),
        _ => (data_type.clone(), data_type.clone()),
    }
}

/// `array` with exactly the type of `field`, which [`encoder_field`] made. Names and metadata of nested fields may
/// differ, as may the unit of timestamps that are stored as INT96.
///
/// # Errors
/// `InvalidInput` for another type and for nulls where the schema has none.
pub(super) fn conform(array: &ArrayRef, field: &Field, data_type: &DataType) -> Result<ArrayRef> {
    if !data_type.nullable && array.logical_null_count() > 0 {
        return Err(Error::invalid("null in a NOT NULL column"));
    }
    if array.data_type() == field.data_type() {
        return Ok(array.clone());
    }
    let wrong = || {
        Error::invalid(format!(
            "column has arrow type {}, {} is expected",
            array.data_type(),
            field.data_type()
        ))
    };
    Ok(match (array.data_type(), field.data_type(), &data_type.kind) {
        (ArrowType::Timestamp(unit, _), ArrowType::FixedSizeBinary(INT96_BYTES), _)
            if is_int96(data_type) =>
        {
            crate::int96::encode(array, *unit)?
        }
        (ArrowType::List(_), ArrowType::List(inner), TypeKind::Array(element)) => {
            let list = array.as_list::<i32>();
            let (offsets, values) = visible(list.offsets(), list.values());
            let values = conform(&values, inner, element)?;
            let list = ListArray::try_new(inner.clone(), offsets, values, list.nulls().cloned());
            Arc::new(list.map_err(invalid)?)
        }
        (
            ArrowType::FixedSizeList(_, n),
            ArrowType::FixedSizeList(inner, m),
            TypeKind::Vector(element, _),
        ) if n == m => {
            let list = array.as_fixed_size_list();
            // The values of a null vector are no values.
            let values = conform(list.values(), inner, &element.with_nullable(true))?;
            let list = FixedSizeListArray::try_new(inner.clone(), *n, values, list.nulls().cloned());
            Arc::new(list.map_err(invalid)?)
        }
        (ArrowType::Map(..), ArrowType::Map(entries, sorted), TypeKind::Map(..) | TypeKind::Multiset(_)) => {
            let map = array.as_map();
            let (key, value) = map_types(data_type);
            let ArrowType::Struct(fields) = entries.data_type() else {
                return Err(wrong());
            };
            let stored: ArrayRef = Arc::new(map.entries().clone());
            let (offsets, stored) = visible(map.offsets(), &stored);
            let columns = conform_children(stored.as_struct(), fields, &[&key, &value], &wrong)?;
            let inner = StructArray::try_new(fields.clone(), columns, None).map_err(invalid)?;
            let map = MapArray::try_new(entries.clone(), offsets, inner, map.nulls().cloned(), *sorted);
            Arc::new(map.map_err(invalid)?)
        }
        (ArrowType::Struct(_), ArrowType::Struct(fields), kind) => {
            let bytes = DataType::required(TypeKind::VarBinary(paimon_types::MAX_LENGTH));
            let types: Vec<&DataType> = match kind {
                TypeKind::Row(fields) => fields.iter().map(|f| &f.data_type).collect(),
                TypeKind::Variant => vec![&bytes, &bytes],
                _ => return Err(wrong()),
            };
            let rows = array.as_struct();
            let columns = conform_children(rows, fields, &types, &wrong)?;
            Arc::new(StructArray::try_new(fields.clone(), columns, rows.nulls().cloned()).map_err(invalid)?)
        }
        _ => return Err(wrong()),
    })
}

/// Offsets from 0 and the values that they cover: a slice of lists still has all values below it.
fn visible(offsets: &OffsetBuffer<i32>, values: &ArrayRef) -> (OffsetBuffer<i32>, ArrayRef) {
    let start = offsets.first().copied().unwrap_or(0);
    let end = offsets.last().copied().unwrap_or(0);
    let (from, to) = (
        usize::try_from(start).unwrap_or(0),
        usize::try_from(end).unwrap_or(0),
    );
    if from == 0 && to == values.len() {
        return (offsets.clone(), values.clone());
    }
    let moved: Vec<i32> = offsets.iter().map(|offset| offset - start).collect();
    (OffsetBuffer::new(moved.into()), values.slice(from, to - from))
}

fn conform_children(
    rows: &StructArray,
    fields: &Fields,
    types: &[&DataType],
    wrong: &dyn Fn() -> Error,
) -> Result<Vec<ArrayRef>> {
    if rows.num_columns() != fields.len() || types.len() != fields.len() {
        return Err(wrong());
    }
    rows.columns()
        .iter()
        .zip(fields)
        .zip(types)
        // Whether nulls of a NOT NULL child are hidden by null rows is looked at when the struct is put together.
        .map(|((column, field), data_type)| {
            conform(column, field, &data_type.with_nullable(true)).map_err(|e| e.with("field", field.name()))
        })
        .collect()
}

fn invalid(error: ArrowError) -> Error {
    Error::invalid(format!("nested value does not fit the schema: {error}"))
}

/// True when a FLOAT or DOUBLE array has a NaN.
pub(super) fn has_nan(array: &ArrayRef) -> bool {
    // Looked at without the nulls first, which is a tight loop and nearly always the answer.
    match array.data_type() {
        ArrowType::Float32 => {
            let floats = array.as_primitive::<Float32Type>();
            floats.values().iter().any(|v| v.is_nan()) && floats.iter().flatten().any(f32::is_nan)
        }
        ArrowType::Float64 => {
            let floats = array.as_primitive::<Float64Type>();
            floats.values().iter().any(|v| v.is_nan()) && floats.iter().flatten().any(f64::is_nan)
        }
        _ => false,
    }
}
