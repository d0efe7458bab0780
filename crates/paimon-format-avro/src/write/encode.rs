// SPDX-License-Identifier: Apache-2.0

//! Rows of Arrow columns as Avro values (Java `FieldWriterFactory`).

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType,
};
use arrow_array::{Array, BinaryArray, BooleanArray, LargeBinaryArray, StringArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType as ArrowType;
use paimon_avro::Encoder;
use paimon_types::{DataType, Error, Result, TypeKind};

use crate::schema::{is_text_map, map_parts};

/// A column of a batch.
pub(crate) struct ColumnEncoder<'a> {
    /// Whether the value sits in a union with null.
    union: bool,
    nulls: Option<&'a NullBuffer>,
    values: Values<'a>,
}

enum Values<'a> {
    Boolean(&'a BooleanArray),
    Int8(&'a [i8]),
    Int16(&'a [i16]),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
    Float32(&'a [f32]),
    Float64(&'a [f64]),
    Decimal(&'a [i128]),
    Text(&'a StringArray),
    Binary(&'a BinaryArray),
    LargeBinary(&'a LargeBinaryArray),
    List(&'a [i32], Box<ColumnEncoder<'a>>),
    Vector(usize, Box<ColumnEncoder<'a>>),
    /// A map: in its entries, one column after the other is written.
    Map(&'a [i32], Vec<ColumnEncoder<'a>>),
    Struct(Vec<ColumnEncoder<'a>>),
}

impl<'a> ColumnEncoder<'a> {
    /// # Errors
    /// `InvalidInput` when the array is not of the type that Arrow has for `data_type`.
    pub(crate) fn new(data_type: &DataType, array: &'a dyn Array) -> Result<Self> {
        Ok(ColumnEncoder {
            union: data_type.nullable,
            nulls: array.nulls().filter(|nulls| nulls.null_count() > 0),
            values: values(data_type, array)?,
        })
    }

    /// Appends the value of `row`.
    ///
    /// # Errors
    /// `InvalidInput` for a null where the schema has none.
    #[inline]
    pub(crate) fn write(&self, row: usize, out: &mut Encoder) -> Result<()> {
        let null = self.nulls.is_some_and(|nulls| nulls.is_null(row));
        if self.union {
            out.long(i64::from(!null));
            if null {
                return Ok(());
            }
        } else if null {
            return Err(Error::invalid("null in a NOT NULL column"));
        }
        match &self.values {
            Values::Boolean(values) => out.boolean(values.value(row)),
            Values::Int8(values) => out.long(i64::from(at(values, row))),
            Values::Int16(values) => out.long(i64::from(at(values, row))),
            Values::Int32(values) => out.int(at(values, row)),
            Values::Int64(values) => out.long(at(values, row)),
            Values::Float32(values) => out.raw(&at(values, row).to_le_bytes()),
            Values::Float64(values) => out.raw(&at(values, row).to_le_bytes()),
            Values::Decimal(values) => out.decimal(at(values, row)),
            Values::Text(values) => out.string(values.value(row)),
            Values::Binary(values) => out.bytes(values.value(row)),
            Values::LargeBinary(values) => out.bytes(values.value(row)),
            Values::List(offsets, item) => {
                items(at(offsets, row), at(offsets, row + 1), out, |index, out| {
                    item.write(index, out)
                })?;
            }
            Values::Vector(length, item) => {
                let start = row * length;
                if *length > 0 {
                    out.long(*length as i64);
                }
                for index in start..start + length {
                    item.write(index, out)?;
                }
                out.long(0);
            }
            Values::Map(offsets, parts) => {
                items(at(offsets, row), at(offsets, row + 1), out, |index, out| {
                    parts.iter().try_for_each(|part| part.write(index, out))
                })?;
            }
            Values::Struct(fields) => fields.iter().try_for_each(|field| field.write(row, out))?,
        }
        Ok(())
    }
}

#[inline]
fn at<T: Copy + Default>(values: &[T], row: usize) -> T {
    values.get(row).copied().unwrap_or_default()
}

/// One block of items and the end of the array.
fn items(
    start: i32,
    end: i32,
    out: &mut Encoder,
    mut item: impl FnMut(usize, &mut Encoder) -> Result<()>,
) -> Result<()> {
    if end > start {
        out.long(i64::from(end) - i64::from(start));
        for index in start..end {
            item(usize::try_from(index).unwrap_or_default(), out)?;
        }
    }
    out.long(0);
    Ok(())
}

fn primitive<T: ArrowPrimitiveType>(array: &dyn Array) -> Option<&[T::Native]> {
    array.as_primitive_opt::<T>().map(|array| array.values().as_ref())
}

fn values<'a>(data_type: &DataType, array: &'a dyn Array) -> Result<Values<'a>> {
    let found: Option<Values<'a>> = match &data_type.kind {
        TypeKind::Boolean => array.as_boolean_opt().map(Values::Boolean),
        TypeKind::TinyInt => primitive::<Int8Type>(array).map(Values::Int8),
        TypeKind::SmallInt => primitive::<Int16Type>(array).map(Values::Int16),
        TypeKind::Int => primitive::<Int32Type>(array).map(Values::Int32),
        TypeKind::BigInt => primitive::<Int64Type>(array).map(Values::Int64),
        TypeKind::Float => primitive::<Float32Type>(array).map(Values::Float32),
        TypeKind::Double => primitive::<Float64Type>(array).map(Values::Float64),
        TypeKind::Date => primitive::<Date32Type>(array).map(Values::Int32),
        TypeKind::Time(_) => primitive::<Time32MillisecondType>(array).map(Values::Int32),
        TypeKind::Timestamp(0..=3) | TypeKind::TimestampLtz(0..=3) => {
            primitive::<TimestampMillisecondType>(array).map(Values::Int64)
        }
        TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_) => {
            primitive::<TimestampMicrosecondType>(array).map(Values::Int64)
        }
        TypeKind::Decimal { scale, .. } => match array.data_type() {
            ArrowType::Decimal128(_, found) if i32::from(*found) == i32::from(*scale) => {
                primitive::<Decimal128Type>(array).map(Values::Decimal)
            }
            _ => None,
        },
        TypeKind::Char(_) | TypeKind::VarChar(_) => array.as_string_opt::<i32>().map(Values::Text),
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => array.as_binary_opt::<i32>().map(Values::Binary),
        TypeKind::Blob => array.as_binary_opt::<i64>().map(Values::LargeBinary),
        TypeKind::Array(element) => match array.as_list_opt::<i32>() {
            Some(list) => {
                let item = ColumnEncoder::new(element, list.values().as_ref())?;
                Some(Values::List(list.value_offsets(), Box::new(item)))
            }
            None => None,
        },
        TypeKind::Vector(element, length) => match array.as_fixed_size_list_opt() {
            Some(list) if u32::try_from(list.value_length()) == Ok(*length) => {
                let item = ColumnEncoder::new(element, list.values().as_ref())?;
                let length = usize::try_from(*length).unwrap_or_default();
                Some(Values::Vector(length, Box::new(item)))
            }
            _ => None,
        },
        TypeKind::Map(..) | TypeKind::Multiset(_) => match (array.as_map_opt(), map_parts(data_type)) {
            (Some(map), Some((key, value))) => {
                // The keys of an Avro map are in no union.
                let key = if is_text_map(&key) {
                    key.with_nullable(false)
                } else {
                    key
                };
                let key = ColumnEncoder::new(&key, map.keys().as_ref())?;
                let value = ColumnEncoder::new(&value, map.values().as_ref())?;
                Some(Values::Map(map.value_offsets(), vec![key, value]))
            }
            _ => None,
        },
        TypeKind::Row(fields) => match array.as_struct_opt() {
            Some(rows) if rows.num_columns() == fields.len() => {
                let parts = fields.iter().zip(rows.columns()).map(|(field, column)| {
                    ColumnEncoder::new(&field.data_type, column.as_ref())
                        .map_err(|e| e.with("field", &field.name))
                });
                Some(Values::Struct(parts.collect::<Result<_>>()?))
            }
            _ => None,
        },
        TypeKind::Variant | TypeKind::Geometry(_) | TypeKind::Geography { .. } => None,
    };
    found.ok_or_else(|| {
        Error::invalid(format!(
            "column has arrow type {}, that of {data_type} is expected",
            array.data_type()
        ))
    })
}
