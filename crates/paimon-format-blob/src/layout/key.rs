// SPDX-License-Identifier: Apache-2.0

//! Keys of maps.

use paimon_types::{DataType, Error, Result, TypeKind};

/// Largest DECIMAL precision that is stored in eight bytes.
const COMPACT: u8 = 18;

/// How keys of a type are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlobKeyType {
    /// BOOLEAN: one byte, 0 or 1.
    Boolean,
    /// TINYINT.
    TinyInt,
    /// SMALLINT.
    SmallInt,
    /// INT.
    Int,
    /// BIGINT.
    BigInt,
    /// DATE: days as INT.
    Date,
    /// TIME: milliseconds as INT.
    Time,
    /// DECIMAL: unscaled, up to 18 digits as BIGINT, else as the shortest big-endian two's complement.
    Decimal {
        /// Digits.
        precision: u8,
    },
    /// CHAR and VARCHAR: UTF-8.
    Text,
    /// BINARY and VARBINARY: the bytes.
    Binary,
}

/// A key as its stored bytes tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlobKey<'a> {
    /// BOOLEAN.
    Boolean(bool),
    /// Every integer, DATE, TIME and the unscaled value of a DECIMAL.
    Number(i128),
    /// CHAR and VARCHAR.
    Text(&'a str),
    /// BINARY and VARBINARY.
    Binary(&'a [u8]),
}

impl BlobKeyType {
    /// How keys of `data_type` are stored.
    ///
    /// # Errors
    /// `Unsupported` that names the type when it cannot be a key, as in Java.
    pub fn of(data_type: &DataType) -> Result<Self> {
        Ok(match &data_type.kind {
            TypeKind::Boolean => BlobKeyType::Boolean,
            TypeKind::TinyInt => BlobKeyType::TinyInt,
            TypeKind::SmallInt => BlobKeyType::SmallInt,
            TypeKind::Int => BlobKeyType::Int,
            TypeKind::BigInt => BlobKeyType::BigInt,
            TypeKind::Date => BlobKeyType::Date,
            TypeKind::Time(_) => BlobKeyType::Time,
            TypeKind::Decimal { precision, .. } => BlobKeyType::Decimal {
                precision: *precision,
            },
            TypeKind::Char(_) | TypeKind::VarChar(_) => BlobKeyType::Text,
            TypeKind::Binary(_) | TypeKind::VarBinary(_) => BlobKeyType::Binary,
            _ => {
                return Err(Error::unsupported(format!(
                    "{data_type} cannot be the key of a MAP to BLOB"
                )));
            }
        })
    }

    /// Bytes of a number; `None` when they depend on the value or the type is no number.
    fn width(self) -> Option<usize> {
        match self {
            BlobKeyType::TinyInt => Some(1),
            BlobKeyType::SmallInt => Some(2),
            BlobKeyType::Int | BlobKeyType::Date | BlobKeyType::Time => Some(4),
            BlobKeyType::BigInt => Some(8),
            BlobKeyType::Decimal { precision } if precision <= COMPACT => Some(8),
            _ => None,
        }
    }

    /// Appends a key of this type and returns its length.
    ///
    /// # Errors
    /// `InvalidInput` when the key is of another type or has too many digits.
    pub fn encode(self, key: BlobKey<'_>, out: &mut Vec<u8>) -> Result<usize> {
        let before = out.len();
        match (self, key) {
            (BlobKeyType::Boolean, BlobKey::Boolean(value)) => out.push(u8::from(value)),
            (BlobKeyType::Text, BlobKey::Text(text)) => out.extend_from_slice(text.as_bytes()),
            (BlobKeyType::Binary, BlobKey::Binary(bytes)) => out.extend_from_slice(bytes),
            (BlobKeyType::Boolean | BlobKeyType::Text | BlobKeyType::Binary, _)
            | (_, BlobKey::Boolean(_) | BlobKey::Text(_) | BlobKey::Binary(_)) => {
                return Err(Error::invalid(format!("key {key:?} is no {self:?}")));
            }
            (BlobKeyType::Decimal { precision }, BlobKey::Number(value))
                if value.unsigned_abs() >= bound(precision) =>
            {
                return Err(Error::invalid(format!(
                    "key {value} has more than {precision} digits"
                )));
            }
            (_, BlobKey::Number(value)) => match self.width() {
                Some(width) => out.extend(value.to_le_bytes().into_iter().take(width)),
                None => {
                    // Leading bytes that only repeat the sign are left out.
                    let bytes = value.to_be_bytes();
                    let sign = if value < 0 { 0xff } else { 0 };
                    let same = |pair: &&[u8]| matches!(pair, [a, b] if *a == sign && (b ^ sign) & 0x80 == 0);
                    let skip = bytes.windows(2).take_while(same).count();
                    out.extend(bytes.into_iter().skip(skip));
                }
            },
        }
        Ok(out.len() - before)
    }

    /// A key from its bytes.
    ///
    /// # Errors
    /// `Corrupt` when the bytes are no key of this type.
    pub fn decode(self, bytes: &[u8]) -> Result<BlobKey<'_>> {
        let key = match self {
            BlobKeyType::Boolean => match bytes {
                [0] => BlobKey::Boolean(false),
                [1] => BlobKey::Boolean(true),
                _ => return Err(self.bad(bytes)),
            },
            BlobKeyType::Text => BlobKey::Text(std::str::from_utf8(bytes).map_err(|_| self.bad(bytes))?),
            BlobKeyType::Binary => BlobKey::Binary(bytes),
            BlobKeyType::Decimal { precision } => {
                let value = match self.width() {
                    Some(width) => le(bytes, width),
                    None => be(bytes),
                };
                match value {
                    Some(value) if value.unsigned_abs() < bound(precision) => BlobKey::Number(value),
                    _ => return Err(self.bad(bytes)),
                }
            }
            _ => BlobKey::Number(
                self.width()
                    .and_then(|width| le(bytes, width))
                    .ok_or_else(|| self.bad(bytes))?,
            ),
        };
        Ok(key)
    }

    fn bad(self, bytes: &[u8]) -> Error {
        let shown = bytes.get(..20).unwrap_or(bytes);
        Error::corrupt(format!(
            "key of {} bytes \"{}\" is no {self:?}",
            bytes.len(),
            shown.escape_ascii()
        ))
    }
}

/// The smallest number that has more than `precision` digits.
fn bound(precision: u8) -> u128 {
    10u128.checked_pow(u32::from(precision)).unwrap_or(u128::MAX)
}

/// Two's complement of exactly `width` bytes, lowest first.
fn le(bytes: &[u8], width: usize) -> Option<i128> {
    (bytes.len() == width).then(|| extend(bytes.iter().rev()))?
}

/// Two's complement, highest byte first.
fn be(bytes: &[u8]) -> Option<i128> {
    extend(bytes.iter())
}

fn extend<'a>(mut bytes: impl Iterator<Item = &'a u8>) -> Option<i128> {
    let mut value = i128::from(*bytes.next()? as i8);
    for byte in bytes {
        value = value.checked_mul(256)?.checked_add(i128::from(*byte))?;
    }
    Some(value)
}
