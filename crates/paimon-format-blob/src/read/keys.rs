// SPDX-License-Identifier: Apache-2.0

//! Building the keys of maps.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType,
};
use arrow_array::{Array, ArrayRef, BinaryArray, BooleanArray, PrimitiveArray, StringArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType as ArrowType;
use paimon_types::{Error, Result};

use crate::layout::{BlobKey, BlobKeyType};

/// Collects keys of one type.
#[derive(Debug)]
pub(super) struct KeyBuilder {
    key_type: BlobKeyType,
    keys: Keys,
}

#[derive(Debug)]
enum Keys {
    Booleans(Vec<bool>),
    /// What fits into 64 bits.
    Numbers(Vec<i64>),
    Decimals(Vec<i128>),
    Bytes(Vec<i32>, Vec<u8>),
}

impl KeyBuilder {
    pub(super) fn new(key_type: BlobKeyType) -> Self {
        let keys = match key_type {
            BlobKeyType::Boolean => Keys::Booleans(Vec::new()),
            BlobKeyType::Decimal { .. } => Keys::Decimals(Vec::new()),
            BlobKeyType::Text | BlobKeyType::Binary => Keys::Bytes(vec![0], Vec::new()),
            _ => Keys::Numbers(Vec::new()),
        };
        KeyBuilder { key_type, keys }
    }

    pub(super) fn key_type(&self) -> BlobKeyType {
        self.key_type
    }

    pub(super) fn append(&mut self, key: BlobKey<'_>) -> Result<()> {
        match (&mut self.keys, key) {
            (Keys::Booleans(keys), BlobKey::Boolean(key)) => keys.push(key),
            (Keys::Numbers(keys), BlobKey::Number(key)) => {
                keys.push(i64::try_from(key).map_err(|_| mismatch(self.key_type, &key))?);
            }
            (Keys::Decimals(keys), BlobKey::Number(key)) => keys.push(key),
            (Keys::Bytes(offsets, bytes), BlobKey::Text(_) | BlobKey::Binary(_)) => {
                bytes.extend_from_slice(match key {
                    BlobKey::Text(text) => text.as_bytes(),
                    BlobKey::Binary(key) => key,
                    _ => &[],
                });
                let end = i32::try_from(bytes.len()).map_err(|_| {
                    Error::resources(format!(
                        "keys of a batch have {} bytes, at most {} fit",
                        bytes.len(),
                        i32::MAX
                    ))
                })?;
                offsets.push(end);
            }
            (_, key) => return Err(mismatch(self.key_type, &key)),
        }
        Ok(())
    }

    /// The keys with the Arrow type that was asked for.
    pub(super) fn finish(self, arrow: &ArrowType) -> Result<ArrayRef> {
        let key_type = self.key_type;
        let invalid = |e: arrow_schema::ArrowError| Error::corrupt(e.to_string());
        let array: ArrayRef = match self.keys {
            Keys::Booleans(keys) => Arc::new(BooleanArray::from(keys)),
            Keys::Numbers(keys) => match key_type {
                BlobKeyType::TinyInt => numbers::<Int8Type>(&keys, |key| key as i8),
                BlobKeyType::SmallInt => numbers::<Int16Type>(&keys, |key| key as i16),
                BlobKeyType::Int => numbers::<Int32Type>(&keys, |key| key as i32),
                BlobKeyType::Date => numbers::<Date32Type>(&keys, |key| key as i32),
                BlobKeyType::Time => numbers::<Time32MillisecondType>(&keys, |key| key as i32),
                _ => numbers::<Int64Type>(&keys, |key| key),
            },
            Keys::Decimals(keys) => {
                let keys = PrimitiveArray::<Decimal128Type>::from_iter_values(keys);
                match arrow {
                    ArrowType::Decimal128(..) => Arc::new(keys.with_data_type(arrow.clone())),
                    _ => Arc::new(keys),
                }
            }
            Keys::Bytes(offsets, bytes) => {
                let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
                let bytes = Buffer::from_vec(bytes);
                match key_type {
                    BlobKeyType::Text => {
                        Arc::new(StringArray::try_new(offsets, bytes, None).map_err(invalid)?)
                    }
                    _ => Arc::new(BinaryArray::try_new(offsets, bytes, None).map_err(invalid)?),
                }
            }
        };
        if array.data_type() != arrow {
            return Err(Error::unsupported(format!("keys cannot be read as {arrow}")));
        }
        Ok(array)
    }
}

/// The numbers were read from as many bytes as they have.
fn numbers<T: ArrowPrimitiveType>(keys: &[i64], narrow: impl Fn(i64) -> T::Native) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::from_iter_values(
        keys.iter().map(|key| narrow(*key)),
    ))
}

fn mismatch(key_type: BlobKeyType, key: &dyn std::fmt::Debug) -> Error {
    Error::corrupt(format!("key {key:?} is no {key_type:?}"))
}
