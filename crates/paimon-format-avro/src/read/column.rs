// SPDX-License-Identifier: Apache-2.0

//! Columns that are filled from Avro values, without a value in between.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType,
};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, FixedSizeListArray, LargeBinaryArray, ListArray, MapArray,
    NullArray, PrimitiveArray, StringArray, StructArray, new_null_array,
};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType as ArrowType, Field, TimeUnit};
use paimon_avro::{Cursor, NodeId, Program, check_count};
use paimon_types::{Error, Result};

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
    pub(crate) union: Union,
    /// False when a null is an error.
    pub(crate) nullable: bool,
    nulls: NullBufferBuilder,
    len: usize,
    pub(crate) values: Values,
}

/// How a null is marked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Union {
    /// There are none.
    None,
    /// By the position of the branch; `value` is negative when there are only nulls.
    Of { value: i64, null: Option<i64> },
}

/// A conversion of stored timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    Same,
    Multiply(i64),
    /// Rounds down.
    Divide(i64),
}

/// The values, by what is stored and what is asked for.
#[derive(Debug)]
pub(crate) enum Values {
    /// The file does not have it, or nothing but nulls.
    Missing,
    Boolean(BooleanBufferBuilder),
    Int8(Vec<i8>),
    Int16(Vec<i16>),
    /// INT and DATE.
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    /// TIME; stored in microseconds when true.
    Time(Vec<i32>, bool),
    Timestamp(Vec<i64>, Scale),
    /// Stored as `double` when true.
    Float32(Vec<f32>, bool),
    /// Stored as `double` when true.
    Float64(Vec<f64>, bool),
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

    fn push_empty(&mut self) {
        let last = self.offsets.last().copied().unwrap_or_default();
        self.offsets.push(last);
    }

    fn take(&mut self) -> (Vec<O>, Vec<u8>) {
        let rows = self.offsets.len();
        let mut offsets = Vec::with_capacity(rows);
        offsets.push(O::default());
        let data = Vec::with_capacity(self.data.len());
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

#[cold]
fn misfit(value: impl std::fmt::Display, target: &str) -> Error {
    Error::invalid(format!("stored value {value} does not fit {target}"))
}

impl Column {
    pub(crate) fn new(union: Union, nullable: bool, values: Values) -> Self {
        Column {
            union,
            nullable,
            nulls: NullBufferBuilder::new(0),
            len: 0,
            values,
        }
    }

    /// Appends the value at the cursor.
    ///
    /// # Errors
    /// `Corrupt` for damaged data and nulls where there are none, `InvalidInput` for a value that does not fit,
    /// `ResourcesExhausted` beyond the budget.
    #[inline]
    pub(crate) fn read(&mut self, context: &mut Context<'_>, cursor: &mut Cursor<'_>) -> Result<()> {
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
        if !matches!(self.values, Values::Missing) {
            self.nulls.append_non_null();
        }
        self.len += 1;
        Ok(())
    }

    /// Appends a null, or what stands below one.
    pub(crate) fn push_null(&mut self) {
        self.len += 1;
        match &mut self.values {
            Values::Missing => return,
            Values::Boolean(values) => values.append(false),
            Values::Int8(values) => values.push(0),
            Values::Int16(values) => values.push(0),
            Values::Int32(values) | Values::Time(values, _) => values.push(0),
            Values::Int64(values) | Values::Timestamp(values, _) => values.push(0),
            Values::Float32(values, _) => values.push(0.0),
            Values::Float64(values, _) => values.push(0.0),
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
        self.nulls.append_null();
    }

    /// The array of all values since the last call, of exactly the type of `field`.
    ///
    /// # Errors
    /// `Corrupt` for text that is not UTF-8.
    pub(crate) fn finish(&mut self, field: &Field) -> Result<ArrayRef> {
        let len = std::mem::take(&mut self.len);
        let nulls = self.nulls.finish();
        self.values.finish(len, nulls, field.data_type())
    }
}

impl Values {
    #[inline]
    fn read(&mut self, context: &mut Context<'_>, cursor: &mut Cursor<'_>) -> Result<()> {
        match self {
            Values::Missing => {}
            Values::Boolean(values) => match cursor.array()? {
                [0] => values.append(false),
                [1] => values.append(true),
                [other] => {
                    return Err(Error::corrupt(format!(
                        "avro boolean {other}, 0 or 1 is expected"
                    )));
                }
            },
            Values::Int8(values) => {
                let value = cursor.long()?;
                values.push(i8::try_from(value).map_err(|_| misfit(value, "TINYINT"))?);
            }
            Values::Int16(values) => {
                let value = cursor.long()?;
                values.push(i16::try_from(value).map_err(|_| misfit(value, "SMALLINT"))?);
            }
            Values::Int32(values) | Values::Time(values, false) => {
                let value = cursor.long()?;
                values.push(i32::try_from(value).map_err(|_| misfit(value, "INT"))?);
            }
            Values::Int64(values) | Values::Timestamp(values, Scale::Same) => values.push(cursor.long()?),
            Values::Time(values, true) => {
                let value = cursor.long()?;
                values.push(i32::try_from(value.div_euclid(1000)).map_err(|_| misfit(value, "TIME"))?);
            }
            Values::Timestamp(values, Scale::Divide(by)) => values.push(cursor.long()?.div_euclid(*by)),
            Values::Timestamp(values, Scale::Multiply(by)) => {
                let value = cursor.long()?;
                values.push(value.checked_mul(*by).ok_or_else(|| too_large(value))?);
            }
            Values::Float32(values, false) => values.push(f32::from_le_bytes(cursor.array()?)),
            Values::Float32(values, true) => values.push(f64::from_le_bytes(cursor.array()?) as f32),
            Values::Float64(values, false) => {
                values.push(f64::from(f32::from_le_bytes(cursor.array()?)));
            }
            Values::Float64(values, true) => values.push(f64::from_le_bytes(cursor.array()?)),
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
                blocks(context, cursor, (item.least, item.width), |context, cursor| {
                    item.column.read(context, cursor)
                })?;
                offsets.push(i32::try_from(item.column.len).map_err(|_| too_long())?);
            }
            Values::Vector { length, item } => {
                let before = item.column.len;
                blocks(context, cursor, (item.least, item.width), |context, cursor| {
                    item.column.read(context, cursor)
                })?;
                let found = item.column.len - before;
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
                blocks(context, cursor, sizes, |context, cursor| {
                    keys.read(context, cursor)?;
                    values.column.read(context, cursor)
                })?;
                offsets.push(i32::try_from(keys.len).map_err(|_| too_long())?);
            }
            Values::EntryMap {
                offsets,
                entries,
                sizes,
            } => {
                blocks(context, cursor, *sizes, |context, cursor| {
                    entries.read(context, cursor)
                })?;
                offsets.push(i32::try_from(entries.len).map_err(|_| too_long())?);
            }
            Values::Struct(record) => record.read(context, cursor)?,
        }
        Ok(())
    }

    fn finish(&mut self, len: usize, nulls: Option<NullBuffer>, target: &ArrowType) -> Result<ArrayRef> {
        fn primitive<T: ArrowPrimitiveType>(
            values: &mut Vec<T::Native>,
            nulls: Option<NullBuffer>,
        ) -> Result<PrimitiveArray<T>> {
            let capacity = values.len();
            let values = std::mem::replace(values, Vec::with_capacity(capacity));
            PrimitiveArray::try_new(values.into(), nulls).map_err(refused)
        }
        let wrong = || Error::invalid(format!("avro column does not become {target}"));
        Ok(match (self, target) {
            (Values::Missing, ArrowType::Null) => Arc::new(NullArray::new(len)),
            (Values::Missing, _) => new_null_array(target, len),
            (Values::Boolean(values), _) => Arc::new(BooleanArray::new(values.finish(), nulls)),
            (Values::Int8(values), _) => Arc::new(primitive::<Int8Type>(values, nulls)?),
            (Values::Int16(values), _) => Arc::new(primitive::<Int16Type>(values, nulls)?),
            (Values::Int32(values), ArrowType::Date32) => Arc::new(primitive::<Date32Type>(values, nulls)?),
            (Values::Int32(values), _) => Arc::new(primitive::<Int32Type>(values, nulls)?),
            (Values::Time(values, _), _) => Arc::new(primitive::<Time32MillisecondType>(values, nulls)?),
            (Values::Int64(values), _) => Arc::new(primitive::<Int64Type>(values, nulls)?),
            (Values::Timestamp(values, _), ArrowType::Timestamp(unit, zone)) => {
                let zone = zone.clone();
                match unit {
                    TimeUnit::Millisecond => {
                        let values = primitive::<TimestampMillisecondType>(values, nulls)?;
                        Arc::new(values.with_timezone_opt(zone))
                    }
                    TimeUnit::Microsecond => {
                        let values = primitive::<TimestampMicrosecondType>(values, nulls)?;
                        Arc::new(values.with_timezone_opt(zone))
                    }
                    TimeUnit::Nanosecond => {
                        let values = primitive::<TimestampNanosecondType>(values, nulls)?;
                        Arc::new(values.with_timezone_opt(zone))
                    }
                    TimeUnit::Second => return Err(wrong()),
                }
            }
            (Values::Float32(values, _), _) => Arc::new(primitive::<Float32Type>(values, nulls)?),
            (Values::Float64(values, _), _) => Arc::new(primitive::<Float64Type>(values, nulls)?),
            (Values::Decimal { values, .. }, ArrowType::Decimal128(precision, scale)) => {
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
                let inner = rows.finish(entries, None)?;
                let offsets = take_offsets(offsets);
                Arc::new(MapArray::try_new(entries.clone(), offsets, inner, nulls, *sorted).map_err(refused)?)
            }
            (Values::Struct(record), _) => {
                let field = Field::new("", target.clone(), true);
                Arc::new(record.finish(&field, nulls)?)
            }
            _ => return Err(wrong()),
        })
    }
}

#[cold]
fn too_large(value: i64) -> Error {
    Error::invalid(format!(
        "timestamp of {value} units since 1970-01-01 does not fit the unit asked for, set the option to 'us' to read \
         microseconds"
    ))
    .with("option", "read.timestamp-unit")
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
    mut item: impl FnMut(&mut Context<'_>, &mut Cursor<'_>) -> Result<()>,
) -> Result<()> {
    while let Some((count, size)) = cursor.block()? {
        check_count(count, sizes.0, cursor.remaining())?;
        let decoded = usize::try_from(count)
            .unwrap_or(usize::MAX)
            .saturating_mul(sizes.1);
        context.budget = context.budget.checked_sub(decoded).ok_or_else(|| {
            Error::resources(format!(
                "a batch has list or map elements of more than {LARGEST_BATCH} bytes"
            ))
        })?;
        let start = cursor.position();
        for _ in 0..count {
            item(context, cursor)?;
        }
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

/// The fields of a record, in stored order, and the columns that they go to.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) steps: Vec<Step>,
    /// In the order asked for.
    pub(crate) columns: Vec<Column>,
    len: usize,
}

/// What is done with a stored field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Skip(NodeId),
    /// Appended to the column of this position.
    Read(usize),
}

impl Record {
    pub(crate) fn new(steps: Vec<Step>, columns: Vec<Column>) -> Self {
        Record {
            steps,
            columns,
            len: 0,
        }
    }

    #[inline]
    pub(crate) fn read(&mut self, context: &mut Context<'_>, cursor: &mut Cursor<'_>) -> Result<()> {
        for step in &self.steps {
            match step {
                Step::Skip(node) => context.program.skip(*node, cursor)?,
                Step::Read(index) => {
                    if let Some(column) = self.columns.get_mut(*index) {
                        column.read(context, cursor)?;
                    }
                }
            }
        }
        self.len += 1;
        Ok(())
    }

    /// As [`Record::read`]; an error tells which column it is about.
    #[inline]
    pub(crate) fn read_row<'n>(
        &mut self,
        context: &mut Context<'_>,
        cursor: &mut Cursor<'_>,
        name: impl Fn(usize) -> Option<&'n str>,
    ) -> Result<()> {
        for step in &self.steps {
            match step {
                Step::Skip(node) => context.program.skip(*node, cursor)?,
                Step::Read(index) => {
                    if let Some(column) = self.columns.get_mut(*index)
                        && let Err(error) = column.read(context, cursor)
                    {
                        return Err(match name(*index) {
                            Some(name) => error.with("column", name),
                            None => error,
                        });
                    }
                }
            }
        }
        self.len += 1;
        Ok(())
    }

    fn push_null(&mut self) {
        self.len += 1;
        self.columns.iter_mut().for_each(Column::push_null);
    }

    /// The rows as a struct of the type of `field`.
    fn finish(&mut self, field: &Field, nulls: Option<NullBuffer>) -> Result<StructArray> {
        let ArrowType::Struct(fields) = field.data_type() else {
            return Err(Error::invalid(format!(
                "avro record does not become {}",
                field.data_type()
            )));
        };
        let len = std::mem::take(&mut self.len);
        let mut arrays = Vec::with_capacity(fields.len());
        for (column, field) in self.columns.iter_mut().zip(fields) {
            let array = match column.values {
                // Nothing was appended: the record does not have it.
                Values::Missing => {
                    column.len = 0;
                    new_null_array(field.data_type(), len)
                }
                _ => column.finish(field)?,
            };
            arrays.push(array);
        }
        match fields.is_empty() {
            true => Ok(StructArray::new_empty_fields(len, nulls)),
            false => StructArray::try_new(fields.clone(), arrays, nulls).map_err(refused),
        }
    }
}
