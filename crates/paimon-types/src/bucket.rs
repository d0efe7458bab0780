// SPDX-License-Identifier: Apache-2.0

//! From bucket key to bucket (Java `org.apache.paimon.bucket`, `HiveHasher`, `KeyAndBucketExtractor`; `wire.md` 3.2–3.4).

use std::str::FromStr;

use crate::binary::kind_name;
use crate::{BinaryRow, DataType, Datum, Error, Result, TypeKind};

/// Option `bucket-function.type`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BucketFunction {
    /// `default`: murmur hash of the bucket key row.
    #[default]
    Default,
    /// `mod`: floor modulus of one INT or BIGINT column.
    Mod,
    /// `hive`: Hive's hash of each column.
    Hive,
}

impl BucketFunction {
    /// The bucket of a bucket key row, 0 to `num_buckets` − 1. The row must be in the form of [`BinaryRow::encode`] (row kind `+I`).
    ///
    /// # Errors
    /// `InvalidInput` when `num_buckets` is below 1, `Unsupported` when the function does not take these types.
    pub fn bucket(self, row: &BinaryRow, types: &[DataType], num_buckets: i32) -> Result<i32> {
        if num_buckets < 1 {
            return Err(Error::invalid(format!(
                "{num_buckets} buckets, expected at least 1"
            )));
        }
        match self {
            BucketFunction::Default => Ok(bucket_from_hash(row.hash_code(), num_buckets)),
            BucketFunction::Mod => {
                let view = row.view();
                let value = match types {
                    [
                        DataType {
                            kind: TypeKind::Int, ..
                        },
                    ] => view.i32(0)?.map(i64::from),
                    [
                        DataType {
                            kind: TypeKind::BigInt,
                            ..
                        },
                    ] => view.i64(0)?,
                    _ => {
                        return Err(Error::unsupported(
                            "the mod bucket function takes exactly one bucket key column of type INT or BIGINT",
                        )
                        .with("option", "bucket-function.type"));
                    }
                };
                Ok(mod_bucket(value.unwrap_or(0), num_buckets))
            }
            BucketFunction::Hive => {
                let mut hash = 0;
                for (data_type, value) in types.iter().zip(row.decode(types)?) {
                    hash = hive_combine(hash, hive_hash_datum(value.as_ref(), data_type)?);
                }
                Ok(hive_bucket(hash, num_buckets))
            }
        }
    }
}

impl FromStr for BucketFunction {
    type Err = Error;

    /// The value of option `bucket-function.type`, case-insensitive.
    fn from_str(text: &str) -> Result<Self> {
        match text.to_ascii_lowercase().as_str() {
            "default" => Ok(BucketFunction::Default),
            "mod" => Ok(BucketFunction::Mod),
            "hive" => Ok(BucketFunction::Hive),
            _ => Err(Error::invalid(format!(
                "unknown bucket function '{text}', expected default, mod or hive"
            ))
            .with("option", "bucket-function.type")),
        }
    }
}

/// `default`: `|hash % num_buckets|` with a truncating remainder. `num_buckets` below 1 counts as 1.
#[inline]
pub fn bucket_from_hash(hash: i32, num_buckets: i32) -> i32 {
    (i64::from(hash) % i64::from(num_buckets.max(1))).abs() as i32
}

/// `mod`: floor modulus. `num_buckets` below 1 counts as 1.
#[inline]
pub fn mod_bucket(value: i64, num_buckets: i32) -> i32 {
    value.rem_euclid(i64::from(num_buckets.max(1))) as i32
}

/// `hive`: bucket of a folded hash. `num_buckets` below 1 counts as 1.
#[inline]
pub fn hive_bucket(hash: i32, num_buckets: i32) -> i32 {
    (hash & i32::MAX) % num_buckets.max(1)
}

/// `hive`: adds the hash of the next bucket key column (0 for NULL) to the hash of those before (0 at the start).
#[inline]
pub fn hive_combine(hash: i32, column: i32) -> i32 {
    hash.wrapping_mul(31).wrapping_add(column)
}

/// `hive`: hash of BIGINT; the smaller integers, DATE and TIME hash to themselves, BOOLEAN to 1 or 0.
#[inline]
pub fn hive_hash_i64(value: i64) -> i32 {
    (value ^ (value as u64 >> 32) as i64) as i32
}

/// `hive`: hash of FLOAT.
#[inline]
pub fn hive_hash_f32(value: f32) -> i32 {
    if value.is_nan() {
        0x7fc0_0000
    } else if value == 0.0 {
        0
    } else {
        value.to_bits() as i32
    }
}

/// `hive`: hash of DOUBLE.
#[inline]
pub fn hive_hash_f64(value: f64) -> i32 {
    if value.is_nan() {
        hive_hash_i64(0x7ff8_0000_0000_0000)
    } else if value == 0.0 {
        0
    } else {
        hive_hash_i64(value.to_bits() as i64)
    }
}

/// `hive`: hash of the UTF-8 bytes of CHAR and VARCHAR and of BINARY and VARBINARY.
#[inline]
pub fn hive_hash_bytes(value: &[u8]) -> i32 {
    value
        .iter()
        .fold(0, |hash: i32, byte| hive_combine(hash, i32::from(*byte as i8)))
}

/// `hive`: hash of DECIMAL: Java `BigDecimal.hashCode` after removal of trailing zeros.
pub fn hive_hash_decimal(unscaled: i128, scale: u8) -> i32 {
    if unscaled == 0 {
        return 0;
    }
    let (mut unscaled, mut scale) = (unscaled, scale);
    while scale > 0 && unscaled % 10 == 0 {
        unscaled /= 10;
        scale -= 1;
    }
    let magnitude = unscaled.unsigned_abs();
    let hash = [96u32, 64, 32, 0]
        .iter()
        .fold(0, |hash, shift| hive_combine(hash, (magnitude >> shift) as i32));
    hive_combine(
        if unscaled < 0 { hash.wrapping_neg() } else { hash },
        i32::from(scale),
    )
}

/// `hive`: hash of one bucket key column.
///
/// # Errors
/// `Unsupported` for types that Java's function refuses.
pub fn hive_hash_datum(value: Option<&Datum>, data_type: &DataType) -> Result<i32> {
    let supported = matches!(
        data_type.kind,
        TypeKind::Boolean
            | TypeKind::TinyInt
            | TypeKind::SmallInt
            | TypeKind::Int
            | TypeKind::Date
            | TypeKind::Time(_)
            | TypeKind::BigInt
            | TypeKind::Float
            | TypeKind::Double
            | TypeKind::Char(_)
            | TypeKind::VarChar(_)
            | TypeKind::Binary(_)
            | TypeKind::VarBinary(_)
            | TypeKind::Decimal { .. }
    );
    Ok(match value {
        _ if !supported => return Err(hive_unsupported(data_type)),
        None => 0,
        Some(Datum::Boolean(v)) => i32::from(*v),
        Some(Datum::TinyInt(v)) => i32::from(*v),
        Some(Datum::SmallInt(v)) => i32::from(*v),
        Some(Datum::Int(v) | Datum::Date(v) | Datum::Time(v)) => *v,
        Some(Datum::BigInt(v)) => hive_hash_i64(*v),
        Some(Datum::Float(v)) => hive_hash_f32(*v),
        Some(Datum::Double(v)) => hive_hash_f64(*v),
        Some(Datum::String(v)) => hive_hash_bytes(v.as_bytes()),
        Some(Datum::Bytes(v)) => hive_hash_bytes(v),
        Some(Datum::Decimal { unscaled, scale }) => hive_hash_decimal(*unscaled, *scale),
        Some(_) => return Err(hive_unsupported(data_type)),
    })
}

#[cold]
fn hive_unsupported(data_type: &DataType) -> Error {
    Error::unsupported(format!(
        "the hive bucket function does not take {}",
        kind_name(data_type)
    ))
    .with("option", "bucket-function.type")
}

/// Which of `num_assigners` bucket assigners decides the bucket of a key, as a channel of `num_channels` (Java
/// `BucketAssigner.computeAssigner`); counts below 1 count as 1.
pub fn dynamic_bucket_assigner(
    partition_hash: i32,
    key_hash: i32,
    num_channels: i32,
    num_assigners: i32,
) -> i32 {
    let start = bucket_from_hash(partition_hash, num_channels);
    let id = bucket_from_hash(key_hash, num_assigners);
    ((i64::from(start) + i64::from(id)) % i64::from(num_channels.max(1))) as i32
}

/// True when assigner `assigner` of `num_assigners` owns `bucket` (Java `BucketAssigner.isMyBucket`).
pub fn is_assigned_bucket(bucket: i32, num_assigners: i32, assigner: i32) -> bool {
    let n = num_assigners.max(1);
    bucket % n == assigner % n
}
