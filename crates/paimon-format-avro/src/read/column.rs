// SPDX-License-Identifier: Apache-2.0

//! Columns that are filled from Avro values, without a value in between.

use std::sync::Arc;

use arrow_array::types::Decimal128Type;
use arrow_array::{
    ArrayRef, BinaryArray, FixedSizeListArray, LargeBinaryArray, ListArray, MapArray, NullArray, StringArray,
    StructArray, new_null_array,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType as ArrowType, Field, Fields};
use paimon_avro::{Cursor, NodeId, Program, check_count};
use paimon_types::{Error, Result};

use super::fast::{self, Marks};
use super::words::{Floats, Numbers, nulls, primitive, wrong};
use crate::error::refused;

/// Decoded bytes of one batch beyond which it is refused: only a hostile file has so large rows.
pub(crate) const LARGEST_BATCH: usize = 1 << 30;

/// What decoding of one batch shares.
pub(crate) struct Context<'a> {
    pub(crate) program: &'a Program,
    /// Decoded bytes of list and map elements that are still allowed.
    pub(crate) budget: usize,
}

/// A column that is being filled.
#[derive(Debug)]
pub(crate) struct Column {
    union: Union,
    /// False when a null is an error.
    nullable: bool,
    marks: Marks,
    /// Whether there is a value, one for each row.
    valid: Vec<bool>,
    values: Values,
}

/// How a null is marked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Union {
    /// There are none.
    None,
    /// By the position of the branch; `value` is negative when there are only nulls.
    Of { value: i64, null: Option<i64> },
}

/// The values, by what is stored and what is asked for.
#[derive(Debug)]
pub(crate) enum Values {
    /// The file does not have it, or nothing but nulls.
    Missing,
    Numbers(Numbers),
    Floats(Floats),
    Decimal {
        values: Vec<i128>,
        /// Smallest value that is too large.
        bound: i128,
        /// Length of a `fixed`.
        fixed: Option<usize>,
    },
    Text(Bytes<i32>),
    Binary(Bytes<i32>, Option<usize>),
    LargeBinary(Bytes<i64>, Option<usize>),
    List {
        offsets: Vec<i32>,
        item: Box<Element>,
    },
    Vector {
        length: usize,
        item: Box<Element>,
    },
    /// An Avro map.
    TextMap {
        offsets: Vec<i32>,
        keys: Box<Column>,
        values: Box<Element>,
    },
    /// An array of records of key and value.
    EntryMap {
        offsets: Vec<i32>,
        entries: Box<Record>,
        /// Fewest bytes of an entry, decoded bytes of one.
        sizes: (usize, usize),
    },
    Struct(Record),
}

/// The items of a list, or the values of a map.
#[derive(Debug)]
pub(crate) struct Element {
    pub(crate) column: Column,
    /// Fewest bytes of an item as stored.
    pub(crate) least: usize,
    /// Bytes of an item as decoded, without what is variable.
    pub(crate) width: usize,
}

/// Bytes of variable length.
#[derive(Debug)]
pub(crate) struct Bytes<O> {
    offsets: Vec<O>,
    data: Vec<u8>,
}

impl<O: Copy + Default + TryFrom<usize>> Bytes<O> {
    pub(crate) fn new() -> Self {
        Bytes {
            offsets: vec![O::default()],
            data: Vec::new(),
        }
    }

    #[inline]
    fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.data.extend_from_slice(bytes);
        let end = O::try_from(self.data.len()).map_err(|_| too_long())?;
        self.offsets.push(end);
        Ok(())
    }

    /// Appends the first `length` bytes of `room`: all of it is copied, which needs no look at the length.
    #[inline(always)]
    pub(super) fn push_room<const N: usize>(&mut self, room: &[u8; N], length: usize) -> bool {
        let end = self.data.len() + length;
        let Ok(offset) = O::try_from(end) else {
            return false;
        };
        self.data.extend_from_slice(room);
        self.data.truncate(end);
        self.offsets.push(offset);
        true
    }

    fn push_empty(&mut self) {
        let last = self.offsets.last().copied().unwrap_or_default();
        self.offsets.push(last);
    }

    fn take(&mut self) -> (Vec<O>, Vec<u8>) {
        let rows = self.offsets.len();
        let mut offsets = Vec::with_capacity(rows);
        offsets.push(O::default());
        // The next batch has as many bytes, or a few more.
        let data = Vec::with_capacity(self.data.len() + self.data.len() / 16);
        (
            std::mem::replace(&mut self.offsets, offsets),
            std::mem::replace(&mut self.data, data),
        )
    }
}

#[cold]
fn too_long() -> Error {
    Error::resources("a column of one batch has more than 2^31 elements or bytes")
}

impl Column {
    pub(crate) fn new(union: Union, nullable: bool, values: Values) -> Self {
        Column {
            union,
            nullable,
            marks: Marks::new(union, nullable),
            valid: Vec::new(),
            values,
        }
    }

    fn len(&self) -> usize {
        match &self.values {
            Values::Numbers(numbers) => numbers.len(),
            _ => self.valid.len(),
        }
    }

    /// Appends values as long as they can be read without a look at each, at most `count`, and gives their number.
    #[inline(always)]
    fn read_fast(&mut self, cursor: &mut Cursor<'_>, count: usize) -> usize {
        match self.union {
            Union::None => self.read_fast_of::<false>(cursor, count),
            Union::Of { .. } => self.read_fast_of::<true>(cursor, count),
        }
    }

    #[inline(always)]
    fn read_fast_of<const UNION: bool>(&mut self, cursor: &mut Cursor<'_>, count: usize) -> usize {
        let (marks, valid) = (self.marks, &mut self.valid);
        match &mut self.values {
            Values::Numbers(numbers) => fast::numbers::<UNION>(marks, cursor, numbers, count),
            Values::Floats(floats) => fast::floats::<UNION>(marks, cursor, valid, floats, count),
            Values::Decimal {
                values,
                bound,
                fixed: None,
            } => fast::decimals::<UNION>(*bound, marks, cursor, valid, values, count),
            Values::Text(bytes) | Values::Binary(bytes, None) => {
                fast::texts::<UNION>(marks, cursor, valid, bytes, count)
            }
            _ => 0,
        }
    }

    /// Appends the value at the cursor.
    ///
    /// # Errors
    /// `Corrupt` for damaged data and nulls where there are none, `InvalidInput` for a value that does not fit,
    /// `ResourcesExhausted` beyond the budget.
    #[inline(always)]
    pub(crate) fn read(&mut self, context: &mut Context<'_>, cursor: &mut Cursor<'_>) -> Result<()> {
        if self.read_fast(cursor, 1) == 1 {
            return Ok(());
        }
        // A copy: the position of a cursor that is lent to a call is not kept in a register.
        let mut at = cursor.clone();
        self.read_one(context, &mut at)?;
        *cursor = at;
        Ok(())
    }

    /// As [`Column::read`], `count` times.
    fn read_run(&mut self, context: &mut Context<'_>, cursor: &mut Cursor<'_>, count: usize) -> Result<()> {
        let mut at = cursor.clone();
        let mut left = count;
        while left > 0 {
            left -= self.read_fast(&mut at, left);
            if left > 0 {
                *cursor = at;
                self.read_one(context, cursor)?;
                at = cursor.clone();
                left -= 1;
            }
        }
        *cursor = at;
        Ok(())
    }

    /// As [`Column::read`], whatever the value.
    #[inline(never)]
    fn read_one(&mut self, context: &mut Context<'_>, cursor: &mut Cursor<'_>) -> Result<()> {
        if let Union::Of { value, null } = self.union {
            let branch = cursor.long()?;
            if branch != value {
                if Some(branch) != null {
                    return Err(Error::corrupt(format!(
                        "avro union branch {branch} does not exist"
                    )));
                }
                if !self.nullable {
                    return Err(Error::corrupt("null in a NOT NULL column"));
                }
                self.push_null();
                return Ok(());
            }
        }
        self.values.read(context, cursor)?;
        if !matches!(self.values, Values::Numbers(_)) {
            self.valid.push(true);
        }
        Ok(())
    }

    /// Appends a null, or what stands below one.
    pub(crate) fn push_null(&mut self) {
        match &mut self.values {
            Values::Missing => {}
            Values::Numbers(numbers) => return numbers.push_null(),
            Values::Floats(floats) => floats.push_word(0),
            Values::Decimal { values, .. } => values.push(0),
            Values::Text(bytes) | Values::Binary(bytes, _) => bytes.push_empty(),
            Values::LargeBinary(bytes, _) => bytes.push_empty(),
            Values::List { offsets, .. }
            | Values::TextMap { offsets, .. }
            | Values::EntryMap { offsets, .. } => {
                let last = offsets.last().copied().unwrap_or_default();
                offsets.push(last);
            }
            Values::Vector { length, item } => (0..*length).for_each(|_| item.column.push_null()),
            Values::Struct(record) => record.push_null(),
        }
        self.valid.push(false);
    }

    /// The array of all values since the last call, of exactly the type of `field`.
    ///
    /// # Errors
    /// `Corrupt` for text that is not UTF-8.
    pub(crate) fn finish(&mut self, field: &Field) -> Result<ArrayRef> {
        let nulls = nulls(&self.valid);
        let array = self.values.finish(self.valid.len(), nulls, field.data_type());
        self.valid.clear();
        array
    }
}

impl Values {
    #[inline]
    fn read(&mut self, context: &mut Context<'_>, cursor: &mut Cursor<'_>) -> Result<()> {
        match self {
            Values::Missing => {}
            Values::Numbers(numbers) => numbers.push(cursor.long()?),
            Values::Floats(floats) => {
                let word = cursor.take(floats.size)?.iter().rev();
                floats.push_word(word.fold(0, |word, byte| word << 8 | u64::from(*byte)));
            }
            Values::Decimal { values, bound, fixed } => {
                let length = match fixed {
                    Some(length) => *length,
                    None => cursor.length()?,
                };
                let value = cursor.big_endian(length)?;
                let value = value.filter(|value| (1 - *bound..*bound).contains(value));
                values.push(
                    value.ok_or_else(|| Error::invalid("stored decimal has more digits than its type"))?,
                );
            }
            Values::Text(bytes) => bytes.push(cursor.bytes()?)?,
            Values::Binary(bytes, fixed) => match fixed {
                None => bytes.push(cursor.bytes()?)?,
                Some(length) => bytes.push(cursor.take(*length)?)?,
            },
            Values::LargeBinary(bytes, fixed) => match fixed {
                None => bytes.push(cursor.bytes()?)?,
                Some(length) => bytes.push(cursor.take(*length)?)?,
            },
            Values::List { offsets, item } => {
                blocks(
                    context,
                    cursor,
                    (item.least, item.width),
                    |context, cursor, count| item.column.read_run(context, cursor, count),
                )?;
                offsets.push(i32::try_from(item.column.len()).map_err(|_| too_long())?);
            }
            Values::Vector { length, item } => {
                let before = item.column.len();
                blocks(
                    context,
                    cursor,
                    (item.least, item.width),
                    |context, cursor, count| item.column.read_run(context, cursor, count),
                )?;
                let found = item.column.len() - before;
                if found != *length {
                    return Err(Error::corrupt(format!(
                        "vector has {found} elements, {length} expected"
                    )));
                }
            }
            Values::TextMap {
                offsets,
                keys,
                values,
            } => {
                // A key has its length at least, and an offset.
                let sizes = (values.least + 1, values.width + 4);
                blocks(context, cursor, sizes, |context, cursor, count| {
                    let mut at = cursor.clone();
                    for _ in 0..count {
                        keys.read(context, &mut at)?;
                        values.column.read(context, &mut at)?;
                    }
                    *cursor = at;
                    Ok(())
                })?;
                offsets.push(i32::try_from(keys.len()).map_err(|_| too_long())?);
            }
            Values::EntryMap {
                offsets,
                entries,
                sizes,
            } => {
                blocks(context, cursor, *sizes, |context, cursor, count| {
                    (0..count).try_for_each(|_| entries.read(context, cursor))
                })?;
                offsets.push(i32::try_from(entries.len).map_err(|_| too_long())?);
            }
            Values::Struct(record) => record.read(context, cursor)?,
        }
        Ok(())
    }

    fn finish(&mut self, len: usize, nulls: Option<NullBuffer>, target: &ArrowType) -> Result<ArrayRef> {
        let wrong = || wrong(target);
        Ok(match (self, target) {
            (Values::Missing, ArrowType::Null) => Arc::new(NullArray::new(len)),
            (Values::Missing, _) => new_null_array(target, len),
            (Values::Numbers(numbers), _) => numbers.finish(target)?,
            (Values::Floats(floats), _) => floats.finish(nulls)?,
            (Values::Decimal { values, .. }, ArrowType::Decimal128(precision, scale)) => {
                let capacity = values.len();
                let values = std::mem::replace(values, Vec::with_capacity(capacity));
                let values = primitive::<Decimal128Type>(values, nulls)?;
                Arc::new(
                    values
                        .with_precision_and_scale(*precision, *scale)
                        .map_err(refused)?,
                )
            }
            (Values::Text(bytes), _) => {
                let (offsets, data) = bytes.take();
                let array = StringArray::try_new(offset_buffer(offsets), Buffer::from_vec(data), nulls);
                Arc::new(array.map_err(refused)?)
            }
            (Values::Binary(bytes, _), _) => {
                let (offsets, data) = bytes.take();
                let array = BinaryArray::try_new(offset_buffer(offsets), Buffer::from_vec(data), nulls);
                Arc::new(array.map_err(refused)?)
            }
            (Values::LargeBinary(bytes, _), _) => {
                let (offsets, data) = bytes.take();
                let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
                let array = LargeBinaryArray::try_new(offsets, Buffer::from_vec(data), nulls);
                Arc::new(array.map_err(refused)?)
            }
            (Values::List { offsets, item }, ArrowType::List(element)) => {
                let values = item.column.finish(element)?;
                let list = ListArray::try_new(element.clone(), take_offsets(offsets), values, nulls);
                Arc::new(list.map_err(refused)?)
            }
            (Values::Vector { item, .. }, ArrowType::FixedSizeList(element, length)) => {
                let values = item.column.finish(element)?;
                let list = FixedSizeListArray::try_new(element.clone(), *length, values, nulls);
                Arc::new(list.map_err(refused)?)
            }
            (
                Values::TextMap {
                    offsets,
                    keys,
                    values,
                },
                ArrowType::Map(entries, sorted),
            ) => {
                let ArrowType::Struct(fields) = entries.data_type() else {
                    return Err(wrong());
                };
                let [key, value] = fields.as_ref() else {
                    return Err(wrong());
                };
                let columns = vec![keys.finish(key)?, values.column.finish(value)?];
                let inner = StructArray::try_new(fields.clone(), columns, None).map_err(refused)?;
                let offsets = take_offsets(offsets);
                Arc::new(MapArray::try_new(entries.clone(), offsets, inner, nulls, *sorted).map_err(refused)?)
            }
            (
                Values::EntryMap {
                    offsets,
                    entries: rows,
                    ..
                },
                ArrowType::Map(entries, sorted),
            ) => {
                let ArrowType::Struct(fields) = entries.data_type() else {
                    return Err(wrong());
                };
                let inner = rows.finish_struct(fields, None)?;
                let offsets = take_offsets(offsets);
                Arc::new(MapArray::try_new(entries.clone(), offsets, inner, nulls, *sorted).map_err(refused)?)
            }
            (Values::Struct(record), ArrowType::Struct(fields)) => {
                Arc::new(record.finish_struct(fields, nulls)?)
            }
            _ => return Err(wrong()),
        })
    }
}

fn offset_buffer(offsets: Vec<i32>) -> OffsetBuffer<i32> {
    OffsetBuffer::new(ScalarBuffer::from(offsets))
}

fn take_offsets(offsets: &mut Vec<i32>) -> OffsetBuffer<i32> {
    offset_buffer(std::mem::replace(offsets, vec![0]))
}

/// Reads the blocks of an array or map; `sizes` are the fewest stored bytes of an item and its decoded bytes.
fn blocks(
    context: &mut Context<'_>,
    cursor: &mut Cursor<'_>,
    sizes: (usize, usize),
    mut items: impl FnMut(&mut Context<'_>, &mut Cursor<'_>, usize) -> Result<()>,
) -> Result<()> {
    while let Some((count, size)) = cursor.block()? {
        check_count(count, sizes.0, cursor.remaining())?;
        let count = usize::try_from(count).map_err(|_| too_long())?;
        let decoded = count.saturating_mul(sizes.1);
        context.budget = context.budget.checked_sub(decoded).ok_or_else(|| {
            Error::resources(format!(
                "a batch has list or map elements of more than {LARGEST_BATCH} bytes"
            ))
        })?;
        let start = cursor.position();
        items(context, cursor, count)?;
        if let Some(size) = size
            && cursor.position() - start != size
        {
            return Err(Error::corrupt(format!(
                "avro block of {size} bytes has items of {}",
                cursor.position() - start
            )));
        }
    }
    Ok(())
}

/// The fields of a record that are asked for.
#[derive(Debug)]
pub(crate) struct Record {
    /// In stored order.
    pub(crate) fields: Vec<RecordField>,
    /// What is skipped behind the last of them.
    pub(crate) behind: Vec<NodeId>,
    len: usize,
}

/// A field that is asked for.
#[derive(Debug)]
pub(crate) struct RecordField {
    /// What is skipped before it.
    pub(crate) before: Vec<NodeId>,
    pub(crate) column: Column,
    /// Its position among those asked for.
    pub(crate) place: usize,
}

impl Record {
    pub(crate) fn new(fields: Vec<RecordField>, behind: Vec<NodeId>) -> Self {
        Record {
            fields,
            behind,
            len: 0,
        }
    }

    pub(crate) fn read(&mut self, context: &mut Context<'_>, cursor: &mut Cursor<'_>) -> Result<()> {
        self.read_row(context, cursor, |_| None)
    }

    /// As [`Record::read`]; an error tells which column it is about.
    #[inline(always)]
    pub(crate) fn read_row<'n>(
        &mut self,
        context: &mut Context<'_>,
        cursor: &mut Cursor<'_>,
        name: impl Fn(usize) -> Option<&'n str>,
    ) -> Result<()> {
        let mut at = cursor.clone();
        for field in &mut self.fields {
            if !field.before.is_empty() {
                *cursor = at;
                skip(&field.before, context, cursor)?;
                at = cursor.clone();
            }
            if let Err(error) = field.column.read(context, &mut at) {
                return Err(match name(field.place) {
                    Some(name) => error.with("column", name),
                    None => error,
                });
            }
        }
        *cursor = at;
        self.len += 1;
        match self.behind.is_empty() {
            true => Ok(()),
            false => skip(&self.behind, context, cursor),
        }
    }

    fn push_null(&mut self) {
        self.len += 1;
        self.fields.iter_mut().for_each(|field| field.column.push_null());
    }

    /// The columns of all rows since the last call, of the types of `fields`; those that the record does not have are null.
    ///
    /// # Errors
    /// As [`Column::finish`], with the name of the field below `level`.
    pub(crate) fn finish(&mut self, fields: &Fields, level: &'static str) -> Result<Vec<ArrayRef>> {
        let len = std::mem::take(&mut self.len);
        let mut stored: Vec<Option<&mut Column>> = fields.iter().map(|_| None).collect();
        for field in &mut self.fields {
            if let Some(place) = stored.get_mut(field.place) {
                *place = Some(&mut field.column);
            }
        }
        let arrays = stored
            .into_iter()
            .zip(fields)
            .map(|(column, field)| match column {
                Some(column) => column.finish(field).map_err(|e| e.with(level, field.name())),
                None => Ok(new_null_array(field.data_type(), len)),
            });
        arrays.collect()
    }

    /// The rows as a struct with `fields`.
    fn finish_struct(&mut self, fields: &Fields, nulls: Option<NullBuffer>) -> Result<StructArray> {
        let len = self.len;
        let arrays = self.finish(fields, "field")?;
        match fields.is_empty() {
            true => Ok(StructArray::new_empty_fields(len, nulls)),
            false => StructArray::try_new(fields.clone(), arrays, nulls).map_err(refused),
        }
    }
}

fn skip(nodes: &[NodeId], context: &Context<'_>, cursor: &mut Cursor<'_>) -> Result<()> {
    nodes
        .iter()
        .try_for_each(|node| context.program.skip(*node, cursor))
}
