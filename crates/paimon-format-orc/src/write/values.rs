// SPDX-License-Identifier: Apache-2.0

//! The streams of the values of a column, by its type.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    BinaryType, Decimal128Type, Float32Type, Float64Type, Int8Type, LargeBinaryType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    Utf8Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use paimon_types::{Error, Result};

use super::bloom::Bloom;
use super::bounds::{Times, widen};
use super::byte_rle::{BitRle, ByteRle};
use super::codec::Compressor;
use super::column::Column;
use super::decimal::decimal_text;
use super::int_rle::IntRle;
use super::nested;
use super::options::ColumnSettings;
use super::present::without_blanks;
use super::present::{
    check_lengths, compact, double_statistics, floats, for_each_valid, integer_statistics, integers_of,
    string_values,
};
use super::proto::{varint_wide, zigzag_wide};
use super::statistics::Values as Collected;
use super::stream::Stream;
use super::strings::{StreamSettings, Strings};
use super::stripe::{Encoding, StreamKind};
use super::temporal;
use super::types::{Kind, Node};

/// Writes the values of a column, without those that are NULL.
#[derive(Debug)]
pub(super) struct ValueWriter {
    settings: StreamSettings,
    streams: Streams,
    /// Columns below this one.
    children: Vec<Column>,
    /// Names of `children`, for errors.
    names: Vec<String>,
    scratch: Vec<i64>,
    scratch2: Vec<i64>,
}

#[derive(Debug)]
enum Streams {
    Boolean(BitRle),
    Byte(ByteRle),
    Integer(IntRle),
    /// FLOAT and DOUBLE.
    Double(Stream),
    /// With the kind of string, or BINARY.
    String(Box<Strings>, Kind),
    Decimal {
        data: Stream,
        scales: IntRle,
        precision: u8,
        scale: u8,
    },
    Timestamp {
        seconds: IntRle,
        nanos: IntRle,
    },
    /// LIST and MAP.
    Collection(IntRle),
    Struct,
}

impl ValueWriter {
    pub(super) fn new(node: &Node, settings: &ColumnSettings) -> Self {
        let make = settings.streams;
        let streams = match node.kind {
            Kind::Boolean => Streams::Boolean(BitRle::new(make.stream())),
            Kind::Byte => Streams::Byte(ByteRle::new(make.stream())),
            Kind::Short | Kind::Int | Kind::Long | Kind::Date => Streams::Integer(make.integers(true)),
            Kind::Float | Kind::Double => Streams::Double(make.stream()),
            Kind::String | Kind::Varchar(_) | Kind::Char(_) => {
                let rule = (!settings.direct_columns.contains(&node.id)).then_some(settings.dictionaries);
                Streams::String(Box::new(Strings::new(make, rule)), node.kind)
            }
            Kind::Binary => Streams::String(Box::new(Strings::new(make, None)), node.kind),
            Kind::Decimal { precision, scale } => Streams::Decimal {
                data: make.stream(),
                scales: make.integers(true),
                precision,
                scale,
            },
            Kind::Timestamp | Kind::TimestampInstant => Streams::Timestamp {
                seconds: make.integers(true),
                nanos: make.integers(false),
            },
            Kind::List | Kind::Map => Streams::Collection(make.integers(false)),
            Kind::Struct => Streams::Struct,
        };
        ValueWriter {
            settings: make,
            streams,
            children: node
                .children
                .iter()
                .map(|child| Column::new(child, settings))
                .collect(),
            names: node.children.iter().map(|child| child.name.clone()).collect(),
            scratch: Vec::new(),
            scratch2: Vec::new(),
        }
    }

    pub(super) fn streams(&self) -> StreamSettings {
        self.settings
    }

    pub(super) fn children(&self) -> &[Column] {
        &self.children
    }

    pub(super) fn children_mut(&mut self) -> &mut [Column] {
        &mut self.children
    }

    pub(super) fn start_group(&mut self, to: &mut Vec<u64>) {
        match &mut self.streams {
            Streams::Boolean(bits) => bits.position(to),
            Streams::Byte(bytes) => bytes.position(to),
            Streams::Integer(integers) | Streams::Collection(integers) => integers.position(to),
            Streams::Double(stream) => stream.position(to),
            Streams::String(strings, _) => strings.start_group(to),
            Streams::Decimal { data, scales, .. } => {
                data.position(to);
                scales.position(to);
            }
            Streams::Timestamp { seconds, nanos } => {
                seconds.position(to);
                nanos.position(to);
            }
            Streams::Struct => {}
        }
        for child in &mut self.children {
            child.start_group();
        }
    }

    pub(super) fn end_group(
        &mut self,
        positions: &mut [Vec<u64>],
        compressor: &mut Compressor,
    ) -> Result<()> {
        if let Streams::String(strings, _) = &mut self.streams {
            strings.end_group(positions, compressor)?;
        }
        for child in &mut self.children {
            child.end_group(compressor)?;
        }
        Ok(())
    }

    /// Appends the values of `array` that are not NULL; `nulls` are there when some are.
    pub(super) fn write(
        &mut self,
        array: &ArrayRef,
        nulls: Option<&NullBuffer>,
        statistics: &mut Collected,
        mut bloom: Option<&mut Bloom>,
        positions: &mut [Vec<u64>],
        compressor: &mut Compressor,
    ) -> Result<()> {
        let scratch = &mut self.scratch;
        match &mut self.streams {
            Streams::Boolean(bits) => {
                let mut values = array.as_boolean().values().clone();
                if let Some(nulls) = nulls {
                    values = nested::keep_bits(&values, nulls);
                }
                if let Collected::Boolean(trues) = statistics {
                    *trues += values.count_set_bits() as u64;
                }
                bits.write(&values);
                bits.drain(compressor)
            }
            Streams::Byte(bytes) => {
                let values = array.as_primitive::<Int8Type>().values();
                compact(values, nulls, scratch, i64::from);
                integer_statistics(scratch, statistics, bloom);
                let narrow: Vec<u8> = scratch.iter().map(|value| *value as u8).collect();
                bytes.write(&narrow);
                bytes.drain(compressor)
            }
            Streams::Integer(integers) => {
                let values = integers_of(array, nulls, scratch)?;
                integer_statistics(values, statistics, bloom);
                integers.write(values);
                integers.drain(compressor)
            }
            Streams::Double(stream) => {
                match array.data_type() {
                    ArrowType::Float32 => {
                        let values = array.as_primitive::<Float32Type>().values();
                        floats(values, nulls, stream, f32::to_le_bytes, |value| {
                            double_statistics(f64::from(value), statistics, bloom.as_deref_mut());
                        });
                    }
                    _ => {
                        let values = array.as_primitive::<Float64Type>().values();
                        floats(values, nulls, stream, f64::to_le_bytes, |value| {
                            double_statistics(value, statistics, bloom.as_deref_mut());
                        });
                    }
                }
                stream.drain(compressor)
            }
            Streams::String(strings, kind) => {
                match array.data_type() {
                    ArrowType::Utf8 => {
                        let mut values = array.as_bytes::<Utf8Type>();
                        let trimmed = match kind {
                            Kind::Char(_) => without_blanks(values),
                            _ => None,
                        };
                        values = trimmed.as_ref().unwrap_or(values);
                        if let Kind::Char(most) | Kind::Varchar(most) = *kind {
                            check_lengths(values, most)?;
                        }
                        string_values(values, nulls, strings, statistics, bloom, positions, compressor)?;
                    }
                    ArrowType::LargeBinary => {
                        let values = array.as_bytes::<LargeBinaryType>();
                        string_values(values, nulls, strings, statistics, bloom, positions, compressor)?;
                    }
                    _ => {
                        let values = array.as_bytes::<BinaryType>();
                        string_values(values, nulls, strings, statistics, bloom, positions, compressor)?;
                    }
                }
                strings.drain(compressor)
            }
            Streams::Decimal {
                data,
                scales,
                precision,
                scale,
            } => {
                let values = array.as_primitive::<Decimal128Type>().values();
                let mut count = 0;
                let limit = 10u128.pow(u32::from(*precision));
                let mut wrong = None;
                let (mut bounds, mut sum) = (None, Some(0i128));
                let out = data.buffer();
                for_each_valid(values, nulls, |value| {
                    if value.unsigned_abs() >= limit {
                        wrong = wrong.or(Some(value));
                    }
                    varint_wide(zigzag_wide(value), out);
                    widen(&mut bounds, Some((value, value)));
                    sum = sum.and_then(|sum| sum.checked_add(value));
                    count += 1;
                    if let Some(bloom) = bloom.as_deref_mut() {
                        bloom.add_bytes(decimal_text(value, *scale).as_bytes());
                    }
                });
                if let Some(value) = wrong {
                    return Err(Error::invalid(format!(
                        "decimal is {}, at most {precision} digits are expected",
                        decimal_text(value, *scale)
                    )));
                }
                if let Collected::Decimal {
                    bounds: all,
                    sum: total,
                    ..
                } = statistics
                {
                    widen(all, bounds);
                    *total = total.zip(sum).and_then(|(a, b)| a.checked_add(b));
                }
                scales.repeat(i64::from(*scale), count);
                data.drain(compressor)?;
                scales.drain(compressor)
            }
            Streams::Timestamp { seconds, nanos } => {
                let scratch2 = &mut self.scratch2;
                scratch.clear();
                scratch2.clear();
                let mut unknown = Times::default();
                let times = match statistics {
                    Collected::Timestamp(times) => times,
                    // Never: the column has statistics of timestamps.
                    _ => &mut unknown,
                };
                let mut add = |second: i64, nano: u32| -> Result<()> {
                    let stored = temporal::store(second, nano)?;
                    scratch.push(stored.seconds);
                    scratch2.push(stored.nanos);
                    times.add(stored.bound);
                    if let Some(bloom) = bloom.as_deref_mut() {
                        let (millis, _) = stored.bound;
                        bloom.add_long(millis);
                        if let Some(julian) = temporal::julian_millis(millis) {
                            bloom.add_long(julian);
                        }
                    }
                    Ok(())
                };
                let mut result = Ok(());
                let mut split = |value: i64, per_second: i64| {
                    if result.is_ok() {
                        let nano = value.rem_euclid(per_second) * (1_000_000_000 / per_second);
                        result = add(value.div_euclid(per_second), nano as u32);
                    }
                };
                match array.data_type() {
                    ArrowType::Timestamp(TimeUnit::Second, _) => {
                        let values = array.as_primitive::<TimestampSecondType>().values();
                        for_each_valid(values, nulls, |value| split(value, 1));
                    }
                    ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
                        let values = array.as_primitive::<TimestampMillisecondType>().values();
                        for_each_valid(values, nulls, |value| split(value, 1000));
                    }
                    ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
                        let values = array.as_primitive::<TimestampMicrosecondType>().values();
                        for_each_valid(values, nulls, |value| split(value, 1_000_000));
                    }
                    _ => {
                        let values = array.as_primitive::<TimestampNanosecondType>().values();
                        for_each_valid(values, nulls, |value| split(value, 1_000_000_000));
                    }
                }
                result?;
                seconds.write(scratch);
                nanos.write(scratch2);
                seconds.drain(compressor)?;
                nanos.drain(compressor)
            }
            Streams::Collection(lengths) => {
                let (values, names) = (&mut self.children, &self.names);
                let (arrays, mask) = nested::elements(array, nulls, scratch)?;
                if let Collected::Collection { bounds, total } = statistics {
                    for length in scratch.iter() {
                        let length = *length as u64;
                        widen(bounds, Some((length, length)));
                        *total += length;
                    }
                }
                lengths.write(scratch);
                lengths.drain(compressor)?;
                write_children(values, names, &arrays, mask.as_ref(), compressor)
            }
            Streams::Struct => {
                let rows = array.as_struct();
                let mask = nulls.map(|nulls| nulls.inner().clone());
                write_children(
                    &mut self.children,
                    &self.names,
                    rows.columns(),
                    mask.as_ref(),
                    compressor,
                )
            }
        }
    }

    /// Ends the stripe: hands the streams out and tells the encoding.
    pub(super) fn finish(
        &mut self,
        positions: &mut [Vec<u64>],
        compressor: &mut Compressor,
        to: &mut Vec<(StreamKind, Vec<u8>)>,
    ) -> Result<Encoding> {
        Ok(match &mut self.streams {
            Streams::Boolean(bits) => {
                to.push((StreamKind::Data, bits.finish(compressor)?));
                Encoding::Direct
            }
            Streams::Byte(bytes) => {
                to.push((StreamKind::Data, bytes.finish(compressor)?));
                Encoding::Direct
            }
            Streams::Integer(integers) => {
                to.push((StreamKind::Data, integers.finish(compressor)?));
                Encoding::DirectV2
            }
            Streams::Double(stream) => {
                to.push((StreamKind::Data, stream.finish(compressor)?));
                Encoding::Direct
            }
            Streams::String(strings, _) => strings.finish(positions, compressor, to)?,
            Streams::Decimal { data, scales, .. } => {
                to.push((StreamKind::Data, data.finish(compressor)?));
                to.push((StreamKind::Secondary, scales.finish(compressor)?));
                Encoding::DirectV2
            }
            Streams::Timestamp { seconds, nanos } => {
                to.push((StreamKind::Data, seconds.finish(compressor)?));
                to.push((StreamKind::Secondary, nanos.finish(compressor)?));
                Encoding::DirectV2
            }
            Streams::Collection(lengths) => {
                to.push((StreamKind::Length, lengths.finish(compressor)?));
                Encoding::DirectV2
            }
            Streams::Struct => Encoding::Direct,
        })
    }

    /// About the bytes of the own streams in the file.
    pub(super) fn encoded_bytes(&self) -> usize {
        match &self.streams {
            Streams::Boolean(bits) => bits.encoded_bytes(),
            Streams::Byte(bytes) => bytes.encoded_bytes(),
            Streams::Integer(integers) | Streams::Collection(integers) => integers.encoded_bytes(),
            Streams::Double(stream) => stream.encoded_bytes(),
            Streams::String(strings, _) => strings.encoded_bytes(),
            Streams::Decimal { data, scales, .. } => data.encoded_bytes() + scales.encoded_bytes(),
            Streams::Timestamp { seconds, nanos } => seconds.encoded_bytes() + nanos.encoded_bytes(),
            Streams::Struct => 0,
        }
    }

    /// Memory of the own streams.
    pub(super) fn memory_bytes(&self) -> usize {
        let streams = match &self.streams {
            Streams::Boolean(bits) => bits.memory_bytes(),
            Streams::Byte(bytes) => bytes.memory_bytes(),
            Streams::Integer(integers) | Streams::Collection(integers) => integers.memory_bytes(),
            Streams::Double(stream) => stream.memory_bytes(),
            Streams::String(strings, _) => strings.memory_bytes(),
            Streams::Decimal { data, scales, .. } => data.memory_bytes() + scales.memory_bytes(),
            Streams::Timestamp { seconds, nanos } => seconds.memory_bytes() + nanos.memory_bytes(),
            Streams::Struct => 0,
        };
        streams + 8 * (self.scratch.capacity() + self.scratch2.capacity())
    }
}

fn write_children(
    children: &mut [Column],
    names: &[String],
    arrays: &[ArrayRef],
    mask: Option<&BooleanBuffer>,
    compressor: &mut Compressor,
) -> Result<()> {
    for ((child, name), array) in children.iter_mut().zip(names).zip(arrays) {
        let written = match mask {
            Some(mask) => nested::keep(array, mask).and_then(|array| child.write(&array, compressor)),
            None => child.write(array, compressor),
        };
        written.map_err(|e| e.with("field", name))?;
    }
    Ok(())
}
