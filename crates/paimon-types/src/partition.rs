// SPDX-License-Identifier: Apache-2.0

//! Partition values as directory names (Java `InternalRowPartitionComputer`, `PartitionPathUtils`, `TypeUtils.castFromString`;
//! `wire.md` 14).

use crate::binary::kind_name;
use crate::text::{
    ZoneOffset, datum_to_string_in, java_double_to_string, java_float_to_string, malformed, parse_common,
    parse_plain_integer, timestamp_to_iso_string, utc,
};
use crate::{BinaryRow, DataField, DataType, Datum, Error, Result, TypeKind};

/// Escapes a partition column name or value for a path (Java `PartitionPathUtils.escapePathName`): `%XX` for control characters and
/// `" # % ' * / : = ? \ { } [ ] ^`; everything else, spaces and non-ASCII included, stays.
pub fn escape_path_name(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if is_escaped(c) {
            let code = c as u8;
            out.push('%');
            out.push(hex_digit(code >> 4));
            out.push(hex_digit(code & 0x0f));
        } else {
            out.push(c);
        }
    }
    out
}

fn is_escaped(c: char) -> bool {
    matches!(
        c,
        '\0'..='\x1f'
            | '\x7f'
            | '"'
            | '#'
            | '%'
            | '\''
            | '*'
            | '/'
            | ':'
            | '='
            | '?'
            | '\\'
            | '{'
            | '}'
            | '['
            | ']'
            | '^'
    )
}

fn hex_digit(value: u8) -> char {
    char::from(if value < 10 {
        b'0' + value
    } else {
        b'A' + value - 10
    })
}

/// Reverts [`escape_path_name`]; a `%` without two hexadecimal digits behind it stays.
pub fn unescape_path_name(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find('%') {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(before);
        let code = from
            .get(1..3)
            .filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(code) => {
                out.push(char::from(code));
                rest = from.get(3..).unwrap_or("");
            }
            None => {
                out.push('%');
                rest = from.get(1..).unwrap_or("");
            }
        }
    }
    out.push_str(rest);
    out
}

/// How partition values are spelled: options `partition.default-name` and `partition.legacy-name`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PartitionNaming {
    /// The name of NULL, empty and blank values.
    pub default_name: String,
    /// True: Java `toString` of the internal value (DATE as day number, TIMESTAMP with `T`); false: cast to STRING.
    pub legacy: bool,
}

impl Default for PartitionNaming {
    fn default() -> Self {
        PartitionNaming {
            default_name: "__DEFAULT_PARTITION__".to_owned(),
            legacy: true,
        }
    }
}

impl PartitionNaming {
    /// The unescaped name of a value; TIMESTAMP_LTZ in UTC.
    ///
    /// # Errors
    /// `Unsupported` when Java has no reproducible text: legacy names of BINARY, nested types, and cast names of years outside of
    /// 0–9999. `InvalidInput` when the value is not of the type.
    pub fn value_to_string(&self, value: Option<&Datum>, data_type: &DataType) -> Result<String> {
        self.value_to_string_in(value, data_type, &utc)
    }

    /// As [`PartitionNaming::value_to_string`] with the zone that cast names of TIMESTAMP_LTZ are written in (legacy names are in UTC).
    ///
    /// # Errors
    /// As [`PartitionNaming::value_to_string`].
    pub fn value_to_string_in(
        &self,
        value: Option<&Datum>,
        data_type: &DataType,
        zone: ZoneOffset<'_>,
    ) -> Result<String> {
        let Some(value) = value else {
            return Ok(self.default_name.clone());
        };
        let text = match (&data_type.kind, value) {
            (TypeKind::Char(_) | TypeKind::VarChar(_), Datum::String(_))
            | (TypeKind::Boolean, Datum::Boolean(_))
            | (TypeKind::TinyInt, Datum::TinyInt(_))
            | (TypeKind::SmallInt, Datum::SmallInt(_))
            | (TypeKind::Int, Datum::Int(_))
            | (TypeKind::BigInt, Datum::BigInt(_))
            | (TypeKind::Float, Datum::Float(_))
            | (TypeKind::Double, Datum::Double(_))
            | (TypeKind::Decimal { .. }, Datum::Decimal { .. }) => datum_to_string_in(value, data_type, zone),
            (TypeKind::Date, Datum::Date(v)) | (TypeKind::Time(_), Datum::Time(v)) if self.legacy => {
                v.to_string()
            }
            (TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_), Datum::Timestamp(v)) if self.legacy => {
                timestamp_to_iso_string(*v)
            }
            (TypeKind::Time(_), Datum::Time(_)) => datum_to_string_in(value, data_type, zone),
            (TypeKind::Date, Datum::Date(_))
            | (TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_), Datum::Timestamp(_)) => {
                let text = datum_to_string_in(value, data_type, zone);
                if text.starts_with(['+', '-']) {
                    return Err(Error::unsupported(format!(
                        "{} {text} has no partition name, expected a year from 0 to 9999",
                        kind_name(data_type)
                    ))
                    .with("option", "partition.legacy-name"));
                }
                text
            }
            (TypeKind::Binary(_) | TypeKind::VarBinary(_), Datum::Bytes(_)) => {
                if self.legacy {
                    return Err(Error::unsupported(format!(
                        "a {} partition value has no reproducible name while partition.legacy-name is true",
                        kind_name(data_type)
                    ))
                    .with("option", "partition.legacy-name"));
                }
                datum_to_string_in(value, data_type, zone)
            }
            (kind, _) if is_partition_type(kind) => {
                return Err(Error::invalid(format!(
                    "value {value:?} is not a {}",
                    kind_name(data_type)
                )));
            }
            _ => return Err(unsupported(data_type)),
        };
        Ok(if text.chars().all(is_java_whitespace) {
            self.default_name.clone()
        } else {
            text
        })
    }

    /// The value of an unescaped name: the default name is NULL; DATE, TIME and TIMESTAMP are read in their legacy and in their cast form
    /// whatever [`PartitionNaming::legacy`] says, TIMESTAMP_LTZ in UTC.
    ///
    /// # Errors
    /// `InvalidInput` when the text is not a value of the type, `Unsupported` for nested types.
    pub fn value_from_string(&self, text: &str, data_type: &DataType) -> Result<Option<Datum>> {
        self.value_from_string_in(text, data_type, &utc)
    }

    /// As [`PartitionNaming::value_from_string`] with the zone of TIMESTAMP_LTZ text.
    ///
    /// # Errors
    /// As [`PartitionNaming::value_from_string`].
    pub fn value_from_string_in(
        &self,
        text: &str,
        data_type: &DataType,
        zone: ZoneOffset<'_>,
    ) -> Result<Option<Datum>> {
        if text == self.default_name {
            return Ok(None);
        }
        let malformed = || malformed(text, data_type);
        let integer = || parse_plain_integer(text).ok_or_else(malformed);
        let out_of_range = |_| malformed();
        Ok(Some(match &data_type.kind {
            TypeKind::Char(n) | TypeKind::VarChar(n) => {
                let length = text.chars().count();
                if length > *n as usize {
                    return Err(Error::invalid(format!(
                        "text '{text}' of {length} characters is too long for {}({n})",
                        kind_name(data_type)
                    )));
                }
                Datum::String(text.to_owned())
            }
            TypeKind::Binary(_) => Datum::Bytes(text.as_bytes().to_vec()),
            TypeKind::VarBinary(n) if text.len() > *n as usize => {
                return Err(Error::invalid(format!(
                    "text '{text}' of {} bytes is too long for VARBINARY({n})",
                    text.len()
                )));
            }
            TypeKind::VarBinary(_) => Datum::Bytes(text.as_bytes().to_vec()),
            TypeKind::TinyInt => Datum::TinyInt(i8::try_from(integer()?).map_err(out_of_range)?),
            TypeKind::SmallInt => Datum::SmallInt(i16::try_from(integer()?).map_err(out_of_range)?),
            TypeKind::Int => Datum::Int(i32::try_from(integer()?).map_err(out_of_range)?),
            TypeKind::BigInt => Datum::BigInt(integer()?),
            TypeKind::Float => return self.float_from_string(text, data_type, zone),
            kind if is_partition_type(kind) => return parse_common(text, data_type, zone, true),
            _ => return Err(unsupported(data_type)),
        }))
    }

    /// FLOAT text must be exact, or give the same shortest text as float and as double.
    fn float_from_string(
        &self,
        text: &str,
        data_type: &DataType,
        zone: ZoneOffset<'_>,
    ) -> Result<Option<Datum>> {
        let double = parse_common(text, &DataType::new(TypeKind::Double), zone, true)?;
        let single = parse_common(text, data_type, zone, true)?;
        if let (Some(Datum::Double(double)), Some(Datum::Float(single))) = (double, single) {
            let exact = double.is_nan() || double == f64::from(single);
            if !exact && java_float_to_string(single) != java_double_to_string(double) {
                return Err(Error::invalid(format!("text '{text}' loses digits as FLOAT")));
            }
            return Ok(Some(Datum::Float(single)));
        }
        Err(malformed(text, data_type))
    }

    /// `k=v/k2=v2`, escaped, without trailing slash; empty for no fields.
    ///
    /// # Errors
    /// As [`PartitionNaming::value_to_string`]; `Corrupt` when the row does not hold the fields.
    pub fn path(&self, fields: &[&DataField], partition: &BinaryRow) -> Result<String> {
        self.path_in(fields, partition, &utc)
    }

    /// As [`PartitionNaming::path`] with a zone for cast names of TIMESTAMP_LTZ.
    ///
    /// # Errors
    /// As [`PartitionNaming::path`].
    pub fn path_in(
        &self,
        fields: &[&DataField],
        partition: &BinaryRow,
        zone: ZoneOffset<'_>,
    ) -> Result<String> {
        if fields.len() != partition.arity() {
            return Err(Error::corrupt(format!(
                "partition of {} values, expected {}",
                partition.arity(),
                fields.len()
            )));
        }
        let mut path = String::new();
        for (index, field) in fields.iter().enumerate() {
            let name = partition
                .get(index, &field.data_type)
                .and_then(|value| self.value_to_string_in(value.as_ref(), &field.data_type, zone))
                .map_err(|e| e.with("column", &field.name))?;
            if !path.is_empty() {
                path.push('/');
            }
            path.push_str(&escape_path_name(&field.name));
            path.push('=');
            path.push_str(&escape_path_name(&name));
        }
        Ok(path)
    }

    /// Values of an escaped path made by [`PartitionNaming::path`]; a trailing slash is accepted.
    ///
    /// # Errors
    /// `InvalidInput` when the components are not the fields in order or a value is not of its type.
    pub fn parse_path(&self, path: &str, fields: &[&DataField]) -> Result<Vec<Option<Datum>>> {
        let path = path.strip_suffix('/').unwrap_or(path);
        let mut components = path.split('/').filter(|component| !component.is_empty());
        let mut values = Vec::with_capacity(fields.len());
        for field in fields {
            let component = components.next();
            let value = component.and_then(|component| component.split_once('='));
            let value = value.filter(|(name, _)| unescape_path_name(name) == field.name);
            let Some((_, value)) = value else {
                return Err(Error::invalid(match component {
                    Some(found) => {
                        format!("partition component '{found}', expected '{}=<value>'", field.name)
                    }
                    None => format!("partition path ends before '{}=<value>'", field.name),
                })
                .with("path", path));
            };
            let value = self
                .value_from_string(&unescape_path_name(value), &field.data_type)
                .map_err(|e| e.with("column", &field.name).with("path", path))?;
            values.push(value);
        }
        match components.next() {
            None => Ok(values),
            Some(extra) => Err(Error::invalid(format!(
                "partition component '{extra}' after the last partition column"
            ))
            .with("path", path)),
        }
    }
}

fn is_partition_type(kind: &TypeKind) -> bool {
    matches!(
        kind,
        TypeKind::Char(_)
            | TypeKind::VarChar(_)
            | TypeKind::Boolean
            | TypeKind::Binary(_)
            | TypeKind::VarBinary(_)
            | TypeKind::Decimal { .. }
            | TypeKind::TinyInt
            | TypeKind::SmallInt
            | TypeKind::Int
            | TypeKind::BigInt
            | TypeKind::Float
            | TypeKind::Double
            | TypeKind::Date
            | TypeKind::Time(_)
            | TypeKind::Timestamp(_)
            | TypeKind::TimestampLtz(_)
    )
}

#[cold]
fn unsupported(data_type: &DataType) -> Error {
    Error::unsupported(format!(
        "{} cannot be the type of a partition column",
        kind_name(data_type)
    ))
}

/// Java `Character.isWhitespace`: not the non-breaking spaces, but the separators U+001C to U+001F.
fn is_java_whitespace(c: char) -> bool {
    matches!(c,
        '\u{9}'..='\u{d}' | '\u{1c}'..='\u{20}' | '\u{1680}' | '\u{2000}'..='\u{2006}' | '\u{2008}'..='\u{200a}'
        | '\u{2028}' | '\u{2029}' | '\u{205f}' | '\u{3000}')
}
