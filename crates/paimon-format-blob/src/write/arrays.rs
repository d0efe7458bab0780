// SPDX-License-Identifier: Apache-2.0

//! The column of a batch, typed.

use std::ops::Range;

use arrow_array::types::{
    Date32Type, Decimal128Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, LargeBinaryArray, ListArray, MapArray, PrimitiveArray,
    StringArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::DataType as ArrowType;
use paimon_types::{Error, Result};

use crate::layout::{BlobKey, BlobKeyType};
use crate::schema::Shape;

/// The blobs of a batch.
pub(super) enum BlobArray<'a> {
    Scalar(&'a LargeBinaryArray),
    Array(ElementRange<'a>),
    Map(ElementRange<'a>, KeyArray<'a>),
}

/// The elements of each row.
pub(super) struct ElementRange<'a> {
    offsets: &'a OffsetBuffer<i32>,
    nulls: Option<&'a NullBuffer>,
    pub(super) values: &'a LargeBinaryArray,
    /// Whether an element may be null.
    pub(super) nullable: bool,
}

impl ElementRange<'_> {
    /// Where the elements of a row are.
    pub(super) fn range(&self, row: usize) -> Result<Range<usize>> {
        let at = |row: usize| self.offsets.get(row).and_then(|at| usize::try_from(*at).ok());
        match (at(row), at(row.saturating_add(1))) {
            (Some(start), Some(end)) if start <= end && end <= self.values.len() => Ok(start..end),
            _ => Err(Error::invalid(format!("row {row} has no elements"))),
        }
    }
}

impl<'a> BlobArray<'a> {
    /// # Errors
    /// `InvalidInput` when the array is not of the type `wanted`.
    pub(super) fn new(shape: Shape, array: &'a ArrayRef, wanted: &ArrowType) -> Result<Self> {
        let found = match (shape, wanted) {
            (Shape::Scalar, _) => blobs(array).map(BlobArray::Scalar),
            (Shape::Array, ArrowType::List(element)) => {
                array.as_any().downcast_ref::<ListArray>().and_then(|list| {
                    Some(BlobArray::Array(ElementRange {
                        offsets: list.offsets(),
                        nulls: list.nulls(),
                        values: blobs(list.values())?,
                        nullable: element.is_nullable(),
                    }))
                })
            }
            (Shape::Map(key), ArrowType::Map(entries, _)) => {
                let ArrowType::Struct(fields) = entries.data_type() else {
                    return Err(mismatch(array, wanted));
                };
                let nullable = fields.get(1).is_none_or(|value| value.is_nullable());
                let key_type = fields.first().map(|key| key.data_type());
                array.as_any().downcast_ref::<MapArray>().and_then(|map| {
                    let elements = ElementRange {
                        offsets: map.offsets(),
                        nulls: map.nulls(),
                        values: blobs(map.values())?,
                        nullable,
                    };
                    let keys = Some(map.keys()).filter(|keys| Some(keys.data_type()) == key_type)?;
                    Some(BlobArray::Map(elements, KeyArray::new(key, keys)?))
                })
            }
            _ => None,
        };
        found.ok_or_else(|| mismatch(array, wanted))
    }

    pub(super) fn is_null(&self, row: usize) -> bool {
        match self {
            BlobArray::Scalar(values) => values.is_null(row),
            BlobArray::Array(elements) | BlobArray::Map(elements, _) => {
                elements.nulls.is_some_and(|nulls| nulls.is_null(row))
            }
        }
    }
}

fn mismatch(array: &ArrayRef, wanted: &ArrowType) -> Error {
    Error::invalid(format!("column is {}, {wanted} expected", array.data_type()))
}

fn blobs(array: &ArrayRef) -> Option<&LargeBinaryArray> {
    array.as_any().downcast_ref()
}

/// The keys of a batch.
pub(super) struct KeyArray<'a> {
    key_type: BlobKeyType,
    nulls: Option<&'a NullBuffer>,
    keys: Keys<'a>,
}

enum Keys<'a> {
    Boolean(&'a BooleanArray),
    TinyInt(&'a PrimitiveArray<Int8Type>),
    SmallInt(&'a PrimitiveArray<Int16Type>),
    Int(&'a PrimitiveArray<Int32Type>),
    BigInt(&'a PrimitiveArray<Int64Type>),
    Date(&'a PrimitiveArray<Date32Type>),
    Time(&'a PrimitiveArray<Time32MillisecondType>),
    Decimal(&'a PrimitiveArray<Decimal128Type>),
    Text(&'a StringArray),
    Binary(&'a BinaryArray),
}

impl<'a> KeyArray<'a> {
    fn new(key_type: BlobKeyType, array: &'a ArrayRef) -> Option<Self> {
        let any = array.as_any();
        let keys = match key_type {
            BlobKeyType::Boolean => any.downcast_ref().map(Keys::Boolean),
            BlobKeyType::TinyInt => any.downcast_ref().map(Keys::TinyInt),
            BlobKeyType::SmallInt => any.downcast_ref().map(Keys::SmallInt),
            BlobKeyType::Int => any.downcast_ref().map(Keys::Int),
            BlobKeyType::BigInt => any.downcast_ref().map(Keys::BigInt),
            BlobKeyType::Date => any.downcast_ref().map(Keys::Date),
            BlobKeyType::Time => any.downcast_ref().map(Keys::Time),
            BlobKeyType::Decimal { .. } => any.downcast_ref().map(Keys::Decimal),
            BlobKeyType::Text => any.downcast_ref().map(Keys::Text),
            BlobKeyType::Binary => any.downcast_ref().map(Keys::Binary),
        }?;
        Some(KeyArray {
            key_type,
            nulls: array.nulls(),
            keys,
        })
    }

    pub(super) fn key_type(&self) -> BlobKeyType {
        self.key_type
    }

    /// The key at a position of a range that [`ElementRange::range`] gave.
    pub(super) fn get(&self, at: usize) -> Result<BlobKey<'a>> {
        if self.nulls.is_some_and(|nulls| nulls.is_null(at)) {
            return Err(Error::invalid("a map has a null key"));
        }
        Ok(match self.keys {
            Keys::Boolean(keys) => BlobKey::Boolean(keys.value(at)),
            Keys::TinyInt(keys) => BlobKey::Number(keys.value(at).into()),
            Keys::SmallInt(keys) => BlobKey::Number(keys.value(at).into()),
            Keys::Int(keys) => BlobKey::Number(keys.value(at).into()),
            Keys::BigInt(keys) => BlobKey::Number(keys.value(at).into()),
            Keys::Date(keys) => BlobKey::Number(keys.value(at).into()),
            Keys::Time(keys) => BlobKey::Number(keys.value(at).into()),
            Keys::Decimal(keys) => BlobKey::Number(keys.value(at)),
            Keys::Text(keys) => BlobKey::Text(keys.value(at)),
            Keys::Binary(keys) => BlobKey::Binary(keys.value(at)),
        })
    }
}
