// SPDX-License-Identifier: Apache-2.0

//! Values on big-endian streams as Java's `InternalSerializers` write them (`wire.md` 4): literals and key stores, not metadata records.

use super::layout::{is_compact_decimal, is_compact_timestamp};
use super::{read, write};
use crate::{DataInput, DataOutput, DataType, Datum, Error, Result, Timestamp, TypeKind};

/// Writes a non-null value in the stream form of its type.
///
/// # Errors
/// `InvalidInput` when the value does not fit its type.
pub fn write_stream_value(out: &mut DataOutput, data_type: &DataType, value: &Datum) -> Result<()> {
    match (&data_type.kind, value) {
        (TypeKind::Boolean, Datum::Boolean(v)) => out.write_bool(*v),
        (TypeKind::TinyInt, Datum::TinyInt(v)) => out.write_i8(*v),
        (TypeKind::SmallInt, Datum::SmallInt(v)) => out.write_i16(*v),
        (TypeKind::Int, Datum::Int(v))
        | (TypeKind::Date, Datum::Date(v))
        | (TypeKind::Time(_), Datum::Time(v)) => {
            out.write_i32(*v);
        }
        (TypeKind::BigInt, Datum::BigInt(v)) => out.write_i64(*v),
        (TypeKind::Float, Datum::Float(v)) => out.write_f32(*v),
        (TypeKind::Double, Datum::Double(v)) => out.write_f64(*v),
        (TypeKind::Char(_) | TypeKind::VarChar(_), Datum::String(v)) => write_var_bytes(out, v.as_bytes())?,
        (
            TypeKind::Binary(_)
            | TypeKind::VarBinary(_)
            | TypeKind::Blob
            | TypeKind::Geometry(_)
            | TypeKind::Geography { .. },
            Datum::Bytes(v),
        ) => write_var_bytes(out, v)?,
        (
            TypeKind::Decimal { precision, scale },
            Datum::Decimal {
                unscaled,
                scale: found,
            },
        ) => {
            if scale != found || !write::fits_precision(*unscaled, *precision) {
                return Err(write::mismatch(data_type, value));
            }
            if is_compact_decimal(*precision) {
                out.write_i64(*unscaled as i64);
            } else {
                write_var_bytes(out, write::minimal_be(&unscaled.to_be_bytes()))?;
            }
        }
        (TypeKind::Timestamp(p) | TypeKind::TimestampLtz(p), Datum::Timestamp(v)) => {
            write::check_timestamp(*v, *p)?;
            out.write_i64(v.millis);
            if !is_compact_timestamp(*p) {
                out.write_i32(v.nanos_of_milli);
            }
        }
        (TypeKind::Variant, Datum::Variant { value, metadata }) => {
            write_var_bytes(out, value)?;
            write_var_bytes(out, metadata)?;
        }
        (TypeKind::Array(element), Datum::Array(values)) => {
            let mut bytes = Vec::new();
            write::array(&mut bytes, element, values.iter().map(Option::as_ref), 1)?;
            out.write_sized(&bytes)?;
        }
        (TypeKind::Map(key, value_type), Datum::Map(entries)) => {
            let mut bytes = Vec::new();
            write::map(&mut bytes, key, value_type, entries, 1)?;
            out.write_sized(&bytes)?;
        }
        (TypeKind::Multiset(element), Datum::Map(entries)) => {
            let mut bytes = Vec::new();
            write::map(
                &mut bytes,
                element,
                &DataType::required(TypeKind::Int),
                entries,
                1,
            )?;
            out.write_sized(&bytes)?;
        }
        (TypeKind::Vector(element, len), Datum::Array(values)) => {
            let mut bytes = Vec::new();
            write::vector_elements(&mut bytes, element, *len, values)?;
            out.write_sized(&bytes)?;
        }
        (TypeKind::Row(fields), Datum::Row(values)) => {
            let mut bytes = Vec::new();
            write::row(&mut bytes, fields.iter().map(|f| &f.data_type), values, 1)?;
            out.write_sized(&bytes)?;
        }
        _ => return Err(write::mismatch(data_type, value)),
    }
    Ok(())
}

/// Reads a value written by [`write_stream_value`].
///
/// # Errors
/// `Corrupt` when the bytes are not such a value.
pub fn read_stream_value(input: &mut DataInput<'_>, data_type: &DataType) -> Result<Datum> {
    Ok(match &data_type.kind {
        TypeKind::Boolean => Datum::Boolean(input.read_bool()?),
        TypeKind::TinyInt => Datum::TinyInt(input.read_i8()?),
        TypeKind::SmallInt => Datum::SmallInt(input.read_i16()?),
        TypeKind::Int => Datum::Int(input.read_i32()?),
        TypeKind::Date => Datum::Date(input.read_i32()?),
        TypeKind::Time(_) => Datum::Time(input.read_i32()?),
        TypeKind::BigInt => Datum::BigInt(input.read_i64()?),
        TypeKind::Float => Datum::Float(input.read_f32()?),
        TypeKind::Double => Datum::Double(input.read_f64()?),
        TypeKind::Char(_) | TypeKind::VarChar(_) => {
            let bytes = read_var_bytes(input)?;
            let text = std::str::from_utf8(bytes)
                .map_err(|e| Error::corrupt("string value is not UTF-8").with_source(e))?;
            Datum::String(text.to_owned())
        }
        TypeKind::Binary(_)
        | TypeKind::VarBinary(_)
        | TypeKind::Blob
        | TypeKind::Geometry(_)
        | TypeKind::Geography { .. } => Datum::Bytes(read_var_bytes(input)?.to_vec()),
        TypeKind::Decimal { precision, scale } => {
            let unscaled = if is_compact_decimal(*precision) {
                i128::from(input.read_i64()?)
            } else {
                read::big_endian_i128(read_var_bytes(input)?)?
            };
            Datum::Decimal {
                unscaled,
                scale: *scale,
            }
        }
        TypeKind::Timestamp(p) | TypeKind::TimestampLtz(p) => {
            let millis = input.read_i64()?;
            let nanos_of_milli = if is_compact_timestamp(*p) {
                0
            } else {
                input.read_i32()?
            };
            let value = Timestamp {
                millis,
                nanos_of_milli,
            };
            write::check_timestamp(value, *p).map_err(|e| Error::corrupt(e.message()))?;
            Datum::Timestamp(value)
        }
        TypeKind::Variant => Datum::Variant {
            value: read_var_bytes(input)?.to_vec(),
            metadata: read_var_bytes(input)?.to_vec(),
        },
        TypeKind::Array(element) => Datum::Array(read::array(input.read_sized()?, element, 1)?),
        TypeKind::Map(key, value) => Datum::Map(read::map(input.read_sized()?, key, value, 1)?),
        TypeKind::Multiset(element) => Datum::Map(read::multiset(input.read_sized()?, element, 1)?),
        TypeKind::Vector(element, len) => {
            Datum::Array(read::vector_elements(input.read_sized()?, element, *len)?)
        }
        TypeKind::Row(fields) => Datum::Row(read::row(
            input.read_sized()?,
            fields.len(),
            fields.iter().map(|f| &f.data_type),
            1,
        )?),
    })
}

/// Java's nullable wrapper: one byte, 1 for NULL, then the value.
///
/// # Errors
/// As [`write_stream_value`].
pub fn write_nullable_stream_value(
    out: &mut DataOutput,
    data_type: &DataType,
    value: Option<&Datum>,
) -> Result<()> {
    out.write_bool(value.is_none());
    value.map_or(Ok(()), |value| write_stream_value(out, data_type, value))
}

/// Reads Java's nullable wrapper.
///
/// # Errors
/// As [`read_stream_value`].
pub fn read_nullable_stream_value(input: &mut DataInput<'_>, data_type: &DataType) -> Result<Option<Datum>> {
    if input.read_bool()? {
        Ok(None)
    } else {
        read_stream_value(input, data_type).map(Some)
    }
}

fn write_var_bytes(out: &mut DataOutput, bytes: &[u8]) -> Result<()> {
    let len = i32::try_from(bytes.len())
        .map_err(|_| Error::invalid(format!("value of {} bytes is too long", bytes.len())))?;
    out.write_var_i32(len)?;
    out.write_bytes(bytes);
    Ok(())
}

fn read_var_bytes<'a>(input: &mut DataInput<'a>) -> Result<&'a [u8]> {
    let len = input.read_var_i32()?;
    input.read_bytes(len as usize)
}
