// SPDX-License-Identifier: Apache-2.0

//! Columns of a stripe as Arrow arrays of the types that were asked for.

use std::sync::Arc;

use arrow_array::builder::BooleanBufferBuilder;
use arrow_array::types::{
    ArrowTimestampType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType,
};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, ListArray, MapArray, PrimitiveArray, StructArray,
    new_null_array,
};
use arrow_buffer::{BooleanBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, TimeUnit};
use paimon_types::{Error, Result};

use super::decimal::rescale;
use super::picks::Picks;
use super::projection::{Leaf, Node, Shape};
use super::stripe::Stripe;
use super::text::TextReader;
use super::times;
use crate::decode::{
    BitDecoder, ByteDecoder, ByteStream, IntDecoder, Ints, Positions, Zone, read_decimals, read_floats,
    skip_decimals,
};
use crate::error::damaged;
use crate::proto::{EncodingKind, Kind, StreamKind};

/// Elements of one batch of lists or maps.
const MOST_ELEMENTS: usize = 1 << 28;

/// Reads the rows of a column one after the other.
pub(crate) struct ColumnReader {
    column: u32,
    present: Option<BitDecoder>,
    values: Values,
}

enum Values {
    Boolean(BitDecoder),
    Byte(ByteDecoder, Leaf),
    Int(IntDecoder, Leaf),
    Float(ByteStream, Leaf),
    Double(ByteStream, Leaf),
    Text(Box<TextReader>),
    Decimal {
        values: ByteStream,
        scales: IntDecoder,
        precision: u8,
        scale: u8,
    },
    Timestamp(Box<Timestamps>),
    List {
        lengths: IntDecoder,
        element: Box<ColumnReader>,
        shape: Shape,
    },
    Map {
        lengths: IntDecoder,
        key: Box<ColumnReader>,
        value: Box<ColumnReader>,
        shape: Shape,
    },
    Struct {
        children: Vec<Option<ColumnReader>>,
        shape: Shape,
    },
}

struct Timestamps {
    seconds: IntDecoder,
    nanos: IntDecoder,
    clock: times::Clock,
    unit: TimeUnit,
    zone: Option<Arc<str>>,
}

impl ColumnReader {
    /// # Errors
    /// `Corrupt` when the column has an encoding that its type cannot have.
    pub(crate) fn new(node: &Node, stripe: &Stripe) -> Result<Self> {
        let column = node.column;
        let encoding = stripe.encoding(column)?;
        let version2 = matches!(encoding.kind, EncodingKind::DirectV2 | EncodingKind::DictionaryV2);
        let dictionary = matches!(
            encoding.kind,
            EncodingKind::Dictionary | EncodingKind::DictionaryV2
        );
        let text = matches!(
            node.kind,
            Kind::String | Kind::Varchar | Kind::Char | Kind::Binary
        );
        if dictionary && !text {
            return Err(damaged(format!(
                "column {column} of type {:?} has a dictionary",
                node.kind
            )));
        }
        let stream = |kind| stripe.stream(column, kind);
        let ints = |kind, signed| IntDecoder::new(stripe.stream(column, kind), signed, version2);
        let present = stripe
            .has_stream(column, StreamKind::Present)
            .then(|| BitDecoder::new(stream(StreamKind::Present)));
        let values = match (&node.shape, node.kind) {
            (Shape::Leaf(leaf), kind) => match (kind, leaf) {
                (Kind::Boolean, Leaf::Boolean) => Values::Boolean(BitDecoder::new(stream(StreamKind::Data))),
                (Kind::Byte, leaf) => Values::Byte(ByteDecoder::new(stream(StreamKind::Data)), leaf.clone()),
                (Kind::Short | Kind::Int | Kind::Long | Kind::Date, leaf) => {
                    Values::Int(ints(StreamKind::Data, true), leaf.clone())
                }
                (Kind::Float, leaf) => Values::Float(stream(StreamKind::Data), leaf.clone()),
                (Kind::Double, leaf) => Values::Double(stream(StreamKind::Data), leaf.clone()),
                (Kind::Decimal, Leaf::Decimal(precision, scale)) => Values::Decimal {
                    values: stream(StreamKind::Data),
                    scales: ints(StreamKind::Secondary, true),
                    precision: *precision,
                    scale: *scale,
                },
                (Kind::Timestamp | Kind::TimestampInstant, Leaf::Timestamp { unit, zone, clock }) => {
                    let writer = match clock {
                        times::Reading::Instant => Zone::utc(),
                        _ => stripe.zone()?,
                    };
                    Values::Timestamp(Box::new(Timestamps {
                        seconds: ints(StreamKind::Data, true),
                        nanos: ints(StreamKind::Secondary, false),
                        clock: times::Clock::new(*clock, writer),
                        unit: *unit,
                        zone: zone.clone(),
                    }))
                }
                (_, Leaf::Text { .. } | Leaf::Binary | Leaf::LargeBinary) if text => Values::Text(Box::new(
                    TextReader::new(column, leaf.clone(), stripe, dictionary, version2),
                )),
                _ => {
                    return Err(damaged(format!(
                        "column {column} is read as another type than planned"
                    )));
                }
            },
            (Shape::List(element, _), _) => Values::List {
                lengths: ints(StreamKind::Length, false),
                element: Box::new(ColumnReader::new(element, stripe)?),
                shape: node.shape.clone(),
            },
            (Shape::Map(key, value, _), _) => Values::Map {
                lengths: ints(StreamKind::Length, false),
                key: Box::new(ColumnReader::new(key, stripe)?),
                value: Box::new(ColumnReader::new(value, stripe)?),
                shape: node.shape.clone(),
            },
            (Shape::Struct(children, _), _) => Values::Struct {
                children: children
                    .iter()
                    .map(|child| {
                        child
                            .as_ref()
                            .map(|child| ColumnReader::new(child, stripe))
                            .transpose()
                    })
                    .collect::<Result<_>>()?,
                shape: node.shape.clone(),
            },
        };
        Ok(ColumnReader {
            column,
            present,
            values,
        })
    }

    /// Goes to the start of row group `group`.
    ///
    /// # Errors
    /// `Corrupt` when the row index points outside of the streams.
    pub(crate) fn seek(&mut self, stripe: &Stripe, group: usize) -> Result<()> {
        let positions = stripe.positions(self.column, group)?;
        let mut positions = Positions(positions.iter());
        if let Some(present) = &mut self.present {
            present.seek(&mut positions)?;
        }
        match &mut self.values {
            Values::Boolean(bits) => bits.seek(&mut positions),
            Values::Byte(bytes, _) => bytes.seek(&mut positions),
            Values::Int(ints, _) => ints.seek(&mut positions),
            Values::Float(stream, _) | Values::Double(stream, _) => stream.seek(&mut positions),
            Values::Text(text) => text.seek(&mut positions),
            Values::Decimal { values, scales, .. } => {
                values.seek(&mut positions)?;
                scales.seek(&mut positions)
            }
            Values::Timestamp(times) => {
                times.seconds.seek(&mut positions)?;
                times.nanos.seek(&mut positions)
            }
            Values::List { lengths, element, .. } => {
                lengths.seek(&mut positions)?;
                element.seek(stripe, group)
            }
            Values::Map {
                lengths, key, value, ..
            } => {
                lengths.seek(&mut positions)?;
                key.seek(stripe, group)?;
                value.seek(stripe, group)
            }
            Values::Struct { children, .. } => {
                for child in children.iter_mut().flatten() {
                    child.seek(stripe, group)?;
                }
                Ok(())
            }
        }
    }

    /// Goes over `rows` rows; those whose parent is NULL do not count.
    ///
    /// # Errors
    /// `Corrupt` when there are fewer.
    pub(crate) fn skip(&mut self, rows: usize) -> Result<()> {
        let count = match &mut self.present {
            Some(present) => present.count(rows)?,
            None => rows,
        };
        match &mut self.values {
            Values::Boolean(bits) => bits.skip(count),
            Values::Byte(bytes, _) => bytes.skip(count),
            Values::Int(ints, _) => ints.skip(count),
            Values::Float(stream, _) => stream.skip(count.saturating_mul(4)),
            Values::Double(stream, _) => stream.skip(count.saturating_mul(8)),
            Values::Text(text) => text.skip(count),
            Values::Decimal { values, scales, .. } => {
                skip_decimals(values, count)?;
                scales.skip(count)
            }
            Values::Timestamp(times) => {
                times.seconds.skip(count)?;
                times.nanos.skip(count)
            }
            Values::List { lengths, element, .. } => element.skip(sum(lengths, count)?),
            Values::Map {
                lengths, key, value, ..
            } => {
                let count = sum(lengths, count)?;
                key.skip(count)?;
                value.skip(count)
            }
            Values::Struct { children, .. } => {
                for child in children.iter_mut().flatten() {
                    child.skip(count)?;
                }
                Ok(())
            }
        }
    }

    /// Those of the next rows that are picked. `parent` tells which of all of them the parent has.
    ///
    /// # Errors
    /// `Corrupt` when there are fewer, `InvalidInput` when a value does not fit the type asked for.
    pub(super) fn read(&mut self, picks: &Picks, parent: Option<&NullBuffer>) -> Result<ArrayRef> {
        let all = validity(self.present.as_mut(), picks.total(), parent)?;
        if let Values::Struct { children, shape } = &mut self.values {
            return structs(children, shape, picks, all);
        }
        let stored = picks.values(all.as_ref());
        let stored = stored.as_ref();
        let count = stored.len();
        let nulls = picks.nulls(all.clone());
        Ok(match &mut self.values {
            Values::Boolean(bits) => {
                let values = booleans(bits, stored)?;
                let values = match &nulls {
                    Some(nulls) => spread_bits(&values, nulls),
                    None => values,
                };
                Arc::new(BooleanArray::new(values, nulls))
            }
            Values::Byte(bytes, leaf) => {
                let mut read = Vec::with_capacity(count.min(1 << 16));
                stored.walk(bytes, ByteDecoder::skip, |bytes, n| bytes.read(n, &mut read))?;
                let values = read.iter().map(|byte| *byte as i8);
                match leaf {
                    Leaf::Int8 => primitive::<Int8Type>(values.collect(), nulls),
                    Leaf::Int16 => primitive::<Int16Type>(values.map(i16::from).collect(), nulls),
                    Leaf::Int32 => primitive::<Int32Type>(values.map(i32::from).collect(), nulls),
                    _ => primitive::<Int64Type>(values.map(i64::from).collect(), nulls),
                }
            }
            Values::Int(ints, leaf) => match leaf {
                Leaf::Int8 => integers::<Int8Type>(ints, stored, nulls)?,
                Leaf::Int16 => integers::<Int16Type>(ints, stored, nulls)?,
                Leaf::Int32 => integers::<Int32Type>(ints, stored, nulls)?,
                Leaf::Date => integers::<Date32Type>(ints, stored, nulls)?,
                Leaf::Time => integers::<Time32MillisecondType>(ints, stored, nulls)?,
                _ => primitive::<Int64Type>(longs(ints, stored)?, nulls),
            },
            Values::Float(stream, leaf) => match leaf {
                Leaf::Float64 => {
                    floats::<4, Float64Type>(stream, stored, nulls, |b| f32::from_le_bytes(b).into())?
                }
                _ => floats::<4, Float32Type>(stream, stored, nulls, f32::from_le_bytes)?,
            },
            Values::Double(stream, leaf) => match leaf {
                Leaf::Float32 => {
                    floats::<8, Float32Type>(stream, stored, nulls, |b| f64::from_le_bytes(b) as f32)?
                }
                _ => floats::<8, Float64Type>(stream, stored, nulls, f64::from_le_bytes)?,
            },
            Values::Text(text) => text.read(stored, nulls)?,
            Values::Decimal {
                values,
                scales,
                precision,
                scale,
            } => {
                let mut unscaled = Vec::with_capacity(count.min(1 << 16));
                stored.walk(values, skip_decimals, |values, n| {
                    read_decimals(values, n, &mut unscaled)
                })?;
                let mut at = 0;
                stored.walk(scales, IntDecoder::skip, |scales, n| {
                    let part = unscaled.get_mut(at..at + n).unwrap_or_default();
                    at += n;
                    rescale(part, scales, *precision, *scale)
                })?;
                let unscaled = spread(unscaled, nulls.as_ref());
                let decimals = PrimitiveArray::<Decimal128Type>::new(unscaled.into(), nulls)
                    .with_precision_and_scale(*precision, i8::try_from(*scale).unwrap_or(i8::MAX))
                    .map_err(invalid)?;
                Arc::new(decimals)
            }
            Values::Timestamp(times) => match times.unit {
                TimeUnit::Millisecond | TimeUnit::Second => {
                    times.read::<TimestampMillisecondType>(stored, nulls)?
                }
                TimeUnit::Microsecond => times.read::<TimestampMicrosecondType>(stored, nulls)?,
                TimeUnit::Nanosecond => times.read::<TimestampNanosecondType>(stored, nulls)?,
            },
            Values::List {
                lengths,
                element,
                shape,
            } => {
                let Shape::List(_, field) = shape else {
                    return Err(mismatch());
                };
                let (offsets, elements) = offsets(lengths, stored, nulls.as_ref())?;
                let values = element.read(&elements, None)?;
                Arc::new(ListArray::try_new(field.clone(), offsets, values, nulls).map_err(invalid)?)
            }
            Values::Map {
                lengths,
                key,
                value,
                shape,
            } => {
                let Shape::Map(_, _, entries) = shape else {
                    return Err(mismatch());
                };
                let arrow_schema::DataType::Struct(fields) = entries.data_type() else {
                    return Err(mismatch());
                };
                let (offsets, elements) = offsets(lengths, stored, nulls.as_ref())?;
                let keys = key.read(&elements, None)?;
                if keys.null_count() > 0 {
                    return Err(Error::unsupported(
                        "a map has a NULL key, which Arrow cannot hold",
                    ));
                }
                let columns = vec![keys, value.read(&elements, None)?];
                let inner = StructArray::try_new(fields.clone(), columns, None).map_err(invalid)?;
                let map =
                    MapArray::try_new(entries.clone(), offsets, inner, nulls, false).map_err(invalid)?;
                Arc::new(map)
            }
            Values::Struct { .. } => return Err(mismatch()),
        })
    }
}

/// Rows of a struct; `all` tells which of the next rows it has.
fn structs(
    children: &mut [Option<ColumnReader>],
    shape: &Shape,
    picks: &Picks,
    all: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let Shape::Struct(_, fields) = shape else {
        return Err(mismatch());
    };
    let mut columns = Vec::with_capacity(fields.len());
    for (child, field) in children.iter_mut().zip(fields.iter()) {
        columns.push(match child {
            Some(child) => child
                .read(picks, all.as_ref())
                .map_err(|e| e.with("field", field.name()))?,
            None => new_null_array(field.data_type(), picks.len()),
        });
    }
    let nulls = picks.nulls(all);
    if fields.is_empty() {
        return Ok(Arc::new(StructArray::new_empty_fields(picks.len(), nulls)));
    }
    Ok(Arc::new(
        StructArray::try_new(fields.clone(), columns, nulls).map_err(invalid)?,
    ))
}

use arrow_array::Array as _;

fn mismatch() -> Error {
    damaged("a column is read as another type than planned")
}

pub(super) fn invalid(error: ArrowError) -> Error {
    Error::corrupt(format!("stored value does not fit its type: {error}"))
}

/// Which of the next `rows` rows are not NULL; `None` when all are.
fn validity(
    present: Option<&mut BitDecoder>,
    rows: usize,
    parent: Option<&NullBuffer>,
) -> Result<Option<NullBuffer>> {
    let parent = parent.filter(|parent| parent.null_count() > 0);
    let nulls = match (present, parent) {
        (None, None) => return Ok(None),
        (None, Some(parent)) => parent.clone(),
        (Some(present), None) => NullBuffer::new(present.read(rows)?),
        (Some(present), Some(parent)) => {
            // Rows that the parent does not have are not stored.
            let own = present.read(rows - parent.null_count())?;
            NullBuffer::new(spread_bits(&own, parent))
        }
    };
    Ok((nulls.null_count() > 0).then_some(nulls))
}

/// Puts bits where `nulls` has values, false elsewhere.
fn spread_bits(bits: &BooleanBuffer, nulls: &NullBuffer) -> BooleanBuffer {
    let mut spread = BooleanBufferBuilder::new(nulls.len());
    let mut next = 0;
    for (start, end) in nulls.valid_slices() {
        spread.append_n(start - spread.len(), false);
        spread.append_buffer(&bits.slice(next, end - start));
        next += end - start;
    }
    spread.append_n(nulls.len() - spread.len(), false);
    spread.finish()
}

/// Puts values where `nulls` has values, zeros elsewhere.
pub(super) fn spread<T: Copy + Default>(values: Vec<T>, nulls: Option<&NullBuffer>) -> Vec<T> {
    let Some(nulls) = nulls else { return values };
    let mut spread = vec![T::default(); nulls.len()];
    let mut rest = values.as_slice();
    for (start, end) in nulls.valid_slices() {
        let Some((here, after)) = rest.split_at_checked(end - start) else {
            break;
        };
        if let Some(place) = spread.get_mut(start..end) {
            place.copy_from_slice(here);
        }
        rest = after;
    }
    spread
}

fn primitive<T: ArrowPrimitiveType>(values: Vec<T::Native>, nulls: Option<NullBuffer>) -> ArrayRef {
    let values = spread(values, nulls.as_ref());
    Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(values), nulls))
}

fn booleans(bits: &mut BitDecoder, stored: &Picks) -> Result<BooleanBuffer> {
    if stored.is_all() {
        return bits.read(stored.len());
    }
    let mut read = BooleanBufferBuilder::new(stored.len());
    stored.walk(bits, BitDecoder::skip, |bits, n| {
        read.append_buffer(&bits.read(n)?);
        Ok(())
    })?;
    Ok(read.finish())
}

fn integers<T: ArrowPrimitiveType<Native: TryFrom<i64>>>(
    ints: &mut IntDecoder,
    stored: &Picks,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let mut values = Vec::with_capacity(stored.len().min(1 << 16));
    let misfit = |v| Error::invalid(format!("stored value {v} does not fit {}", T::DATA_TYPE));
    stored.walk(ints, IntDecoder::skip, |ints, n| {
        ints.read(n, &mut values, |v| T::Native::try_from(v).ok(), misfit)
    })?;
    Ok(primitive::<T>(values, nulls))
}

fn longs(ints: &mut IntDecoder, stored: &Picks) -> Result<Vec<i64>> {
    let mut values = Vec::with_capacity(stored.len().min(1 << 16));
    stored.walk(ints, IntDecoder::skip, |ints, n| ints.read_all(n, &mut values))?;
    Ok(values)
}

fn floats<const N: usize, T: ArrowPrimitiveType>(
    stream: &mut ByteStream,
    stored: &Picks,
    nulls: Option<NullBuffer>,
    convert: impl Fn([u8; N]) -> T::Native,
) -> Result<ArrayRef> {
    let mut values = Vec::with_capacity(stored.len().min(1 << 16));
    stored.walk(
        stream,
        |stream, n| stream.skip(n.saturating_mul(N)),
        |stream, n| read_floats(stream, n, &mut values, &convert),
    )?;
    Ok(primitive::<T>(values, nulls))
}

/// The sum of the next `count` lengths.
fn sum(lengths: &mut IntDecoder, count: usize) -> Result<usize> {
    let (mut left, mut total) = (count, 0usize);
    let negative = || damaged("a list has a length that is too large");
    while left > 0 {
        match lengths.next(left)? {
            Ints::Repeat(length, times) => {
                let length = usize::try_from(length).map_err(|_| negative())?;
                total = length
                    .checked_mul(times)
                    .and_then(|more| total.checked_add(more))
                    .ok_or_else(negative)?;
                left -= times;
            }
            Ints::Values(values) => {
                for length in values {
                    let length = usize::try_from(*length).map_err(|_| negative())?;
                    total = total.checked_add(length).ok_or_else(negative)?;
                }
                left -= values.len();
            }
        }
    }
    Ok(total)
}

/// Offsets of the lists that are picked, those that are not NULL `stored`, and the picks of their elements.
fn offsets(
    lengths: &mut IntDecoder,
    stored: &Picks,
    nulls: Option<&NullBuffer>,
) -> Result<(OffsetBuffer<i32>, Picks)> {
    let mut read: Vec<i32> = Vec::with_capacity(stored.len().min(1 << 16));
    let misfit = |length| damaged(format!("a list has {length} elements"));
    let convert = |length| i32::try_from(length).ok().filter(|length| *length >= 0);
    let mut elements = Picks::none(0);
    // The skipped elements, too, move the place where the next ones are.
    let at = std::cell::Cell::new(0usize);
    let behind = |count: usize| {
        let next = at.get().checked_add(count);
        next.ok_or_else(|| damaged("a list has a length that is too large"))
    };
    stored.walk(
        lengths,
        |lengths, n| {
            at.set(behind(sum(lengths, n)?)?);
            Ok(())
        },
        |lengths, n| {
            let first = read.len();
            lengths.read(n, &mut read, convert, misfit)?;
            let here = read.get(first..).unwrap_or_default();
            let end = behind(here.iter().map(|length| *length as usize).sum())?;
            elements.add(at.get()..end);
            at.set(end);
            Ok(())
        },
    )?;
    elements.set_total(at.get());
    if elements.len() > MOST_ELEMENTS {
        return Err(Error::unsupported(format!(
            "lists of one batch have more than {MOST_ELEMENTS} elements"
        )));
    }
    let read = spread(read, nulls);
    let mut ends = Vec::with_capacity(read.len() + 1);
    ends.push(0i32);
    let mut end = 0i32;
    for length in read {
        end = end.saturating_add(length);
        ends.push(end);
    }
    Ok((OffsetBuffer::new(ends.into()), elements))
}

impl Timestamps {
    fn read<T: ArrowTimestampType>(&mut self, stored: &Picks, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let mut seconds = longs(&mut self.seconds, stored)?;
        let nanos = longs(&mut self.nanos, stored)?;
        self.clock.convert(&mut seconds, &nanos, T::UNIT)?;
        let values = spread(seconds, nulls.as_ref());
        let array = PrimitiveArray::<T>::new(values.into(), nulls);
        Ok(Arc::new(array.with_timezone_opt(self.zone.clone())))
    }
}
