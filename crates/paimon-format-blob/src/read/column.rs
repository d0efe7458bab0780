// SPDX-License-Identifier: Apache-2.0

//! Building the Arrow column of a batch.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, LargeBinaryArray, ListArray, MapArray, StructArray};
use arrow_buffer::{Buffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType as ArrowType};
use paimon_types::{BlobDescriptor, Error, Result};

use super::keys::KeyBuilder;
use crate::layout::{ArrayLayout, Lengths, MapLayout};
use crate::schema::Shape;

/// Where the bytes of the values of a payload come from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source<'a> {
    /// The payload itself.
    Payload(&'a [u8]),
    /// They are not read: a descriptor stands for each. The payload begins at `offset` of the file.
    File { path: &'a str, offset: u64 },
}

impl Source<'_> {
    /// Bytes that the values of `lengths` have as descriptors.
    pub(super) fn descriptor_bytes(path: &str, values: usize) -> usize {
        values.saturating_mul(path.len().saturating_add(64))
    }
}

/// Collects rows.
#[derive(Debug)]
pub(super) struct ColumnBuilder {
    values: Values,
    nested: Nested,
}

#[derive(Debug)]
enum Nested {
    Scalar,
    Array(Lists),
    Map(Lists, KeyBuilder),
}

impl ColumnBuilder {
    /// For `rows` rows with `bytes` bytes of data.
    pub(super) fn new(shape: Shape, rows: usize, bytes: usize) -> Result<Self> {
        let nested = match shape {
            Shape::Scalar => Nested::Scalar,
            Shape::Array => Nested::Array(Lists::new(rows)),
            Shape::Map(key) => Nested::Map(Lists::new(rows), KeyBuilder::new(key)),
        };
        Ok(ColumnBuilder {
            values: Values::new(rows, bytes)?,
            nested,
        })
    }

    /// A row that is null.
    pub(super) fn append_null(&mut self) -> Result<()> {
        match &mut self.nested {
            Nested::Scalar => self.values.append_null(),
            Nested::Array(lists) | Nested::Map(lists, _) => lists.append(0, false)?,
        }
        Ok(())
    }

    /// A row of no bytes or elements.
    pub(super) fn append_empty(&mut self) -> Result<()> {
        match &mut self.nested {
            Nested::Scalar => self.values.end(),
            Nested::Array(lists) | Nested::Map(lists, _) => lists.append(0, true)?,
        }
        Ok(())
    }

    /// A piece of the BLOB of a row that [`ColumnBuilder::append_empty`] ends.
    pub(super) fn extend_blob(&mut self, piece: &[u8]) -> Result<()> {
        self.values.extend(piece)
    }

    /// The row of a payload of `length` bytes. `head` and `tail` are its first and last bytes: for an array nine and those
    /// of its index, for a map all up to its last key and those of its indexes; for a BLOB nothing.
    pub(super) fn append(&mut self, head: &[u8], tail: &[u8], length: u64, source: Source<'_>) -> Result<()> {
        match &mut self.nested {
            Nested::Scalar => self.values.append(Some(0..length), source),
            Nested::Array(lists) => {
                let layout = ArrayLayout::decode(head, tail, length)?;
                lists.append(layout.elements.len(), true)?;
                self.values.append_all(&layout.elements, source)
            }
            Nested::Map(lists, keys) => {
                let layout = MapLayout::decode(head, tail, length)?;
                lists.append(layout.keys.len(), true)?;
                append_keys(&layout.keys, head, keys)?;
                self.values.append_all(&layout.values, source)
            }
        }
    }

    /// The column with the Arrow type that was asked for.
    ///
    /// # Errors
    /// `Corrupt` when there is a null where the type has none.
    pub(super) fn finish(self, arrow: &ArrowType) -> Result<ArrayRef> {
        let values = self.values.finish()?;
        match (self.nested, arrow) {
            (Nested::Scalar, _) => Ok(values),
            (Nested::Array(lists), ArrowType::List(element)) => {
                let (offsets, nulls) = lists.finish();
                let list =
                    ListArray::try_new(element.clone(), offsets, values, nulls).map_err(unexpected_null)?;
                Ok(Arc::new(list))
            }
            (Nested::Map(lists, keys), ArrowType::Map(entries, sorted)) => {
                let ArrowType::Struct(fields) = entries.data_type() else {
                    return Err(no_such_type(arrow));
                };
                let key_type = fields.first().ok_or_else(|| no_such_type(arrow))?.data_type();
                let keys = keys.finish(key_type)?;
                let inner = StructArray::try_new(fields.clone(), vec![keys, values], None)
                    .map_err(unexpected_null)?;
                let (offsets, nulls) = lists.finish();
                let map = MapArray::try_new(entries.clone(), offsets, inner, nulls, *sorted)
                    .map_err(unexpected_null)?;
                Ok(Arc::new(map))
            }
            (_, other) => Err(no_such_type(other)),
        }
    }
}

fn append_keys(keys: &Lengths, head: &[u8], builder: &mut KeyBuilder) -> Result<()> {
    let mut seen = HashSet::new();
    for range in keys.ranges() {
        let Some(range) = range else {
            return Err(Error::unsupported(
                "a map has a null key, which Arrow maps cannot hold",
            ));
        };
        let bytes = slice(head, &range)?;
        let key = builder.key_type().decode(bytes)?;
        if !seen.insert(key) {
            return Err(Error::corrupt(format!("a map has the key {key:?} twice")));
        }
        builder.append(key)?;
    }
    Ok(())
}

fn slice<'a>(bytes: &'a [u8], range: &Range<u64>) -> Result<&'a [u8]> {
    let start = usize::try_from(range.start).unwrap_or(usize::MAX);
    let end = usize::try_from(range.end).unwrap_or(usize::MAX);
    bytes
        .get(start..end)
        .ok_or_else(|| Error::corrupt(format!("{} bytes read, {end} expected", bytes.len())))
}

fn unexpected_null(error: ArrowError) -> Error {
    // All else that Arrow checks here is so by construction.
    Error::corrupt(format!("a null where the type is NOT NULL: {error}"))
}

fn no_such_type(arrow: &ArrowType) -> Error {
    Error::unsupported(format!("blobs cannot be read as {arrow}"))
}

/// Values of BLOBs.
#[derive(Debug)]
struct Values {
    offsets: Vec<i64>,
    bytes: Vec<u8>,
    nulls: NullBufferBuilder,
}

impl Values {
    fn new(rows: usize, bytes: usize) -> Result<Self> {
        let mut offsets = Vec::with_capacity(rows.saturating_add(1));
        offsets.push(0);
        let mut data = Vec::new();
        data.try_reserve_exact(bytes).map_err(|_| no_memory(bytes))?;
        Ok(Values {
            offsets,
            bytes: data,
            nulls: NullBufferBuilder::new(rows),
        })
    }

    fn extend(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes
            .try_reserve(bytes.len())
            .map_err(|_| no_memory(bytes.len()))?;
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Ends a value.
    fn end(&mut self) {
        self.offsets.push(self.bytes.len() as i64);
        self.nulls.append_non_null();
    }

    fn append_null(&mut self) {
        self.offsets.push(self.bytes.len() as i64);
        self.nulls.append_null();
    }

    fn append(&mut self, range: Option<Range<u64>>, source: Source<'_>) -> Result<()> {
        let Some(range) = range else {
            self.append_null();
            return Ok(());
        };
        match source {
            Source::Payload(payload) => self.extend(slice(payload, &range)?)?,
            Source::File { path, offset } => {
                let signed = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
                let descriptor = BlobDescriptor {
                    uri: path.to_owned(),
                    offset: signed(offset.saturating_add(range.start)),
                    length: signed(range.end - range.start),
                };
                self.extend(&descriptor.encode()?)?;
            }
        }
        self.end();
        Ok(())
    }

    fn append_all(&mut self, lengths: &Lengths, source: Source<'_>) -> Result<()> {
        lengths.ranges().try_for_each(|range| self.append(range, source))
    }

    fn finish(mut self) -> Result<ArrayRef> {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.offsets));
        let values = LargeBinaryArray::try_new(offsets, Buffer::from_vec(self.bytes), self.nulls.finish())
            .map_err(|e| Error::corrupt(e.to_string()))?;
        Ok(Arc::new(values))
    }
}

fn no_memory(bytes: usize) -> Error {
    Error::resources(format!("there is no memory for {bytes} bytes of blobs"))
}

/// Numbers of elements.
#[derive(Debug)]
struct Lists {
    offsets: Vec<i32>,
    nulls: NullBufferBuilder,
    elements: usize,
}

impl Lists {
    fn new(rows: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows.saturating_add(1));
        offsets.push(0);
        Lists {
            offsets,
            nulls: NullBufferBuilder::new(rows),
            elements: 0,
        }
    }

    fn append(&mut self, elements: usize, valid: bool) -> Result<()> {
        self.elements = self.elements.saturating_add(elements);
        let end = i32::try_from(self.elements).map_err(|_| {
            Error::resources(format!(
                "a batch has {} elements, at most {} fit",
                self.elements,
                i32::MAX
            ))
        })?;
        self.offsets.push(end);
        self.nulls.append(valid);
        Ok(())
    }

    fn finish(mut self) -> (OffsetBuffer<i32>, Option<arrow_buffer::NullBuffer>) {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.offsets));
        (offsets, self.nulls.finish())
    }
}
