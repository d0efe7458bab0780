// SPDX-License-Identifier: Apache-2.0

//! Messages from bytes.

use std::sync::Arc;

use paimon_types::{Error, Result};

use super::wire::{Reader, Value};
use super::{
    BloomFilter, Calendar, CollectionStatistics, ColumnEncoding, ColumnStatistics, CompressionKind,
    DateStatistics, DecimalStatistics, DoubleStatistics, EncodingKind, Footer, IntegerStatistics, Kind,
    Metadata, PostScript, RowIndexEntry, Stream, StreamKind, StringStatistics, StripeFooter,
    StripeInformation, TimestampStatistics, Type,
};

/// Calls `each` for every field of a message.
fn fields<'a>(
    what: &'static str,
    bytes: &'a [u8],
    mut each: impl FnMut(&Reader<'a>, u32, Value<'a>) -> Result<()>,
) -> Result<()> {
    let mut reader = Reader::new(what, bytes);
    while let Some((number, value)) = reader.next()? {
        each(&reader, number, value)?;
    }
    Ok(())
}

impl PostScript {
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut message = PostScript::default();
        fields("postscript", bytes, |r, number, value| {
            match number {
                1 => message.footer_length = r.number(value)?,
                2 => message.compression = compression(r.number(value)?)?,
                3 => message.compression_block_size = Some(r.number(value)?),
                4 => {
                    let mut all = Vec::new();
                    r.numbers(value, &mut all)?;
                    let parts = all.into_iter().map(|n| u32::try_from(n).unwrap_or(u32::MAX));
                    message.version.extend(parts);
                }
                5 => message.metadata_length = r.number(value)?,
                6 => message.writer_version = Some(r.number32(value)?),
                8000 => message.magic = r.bytes(value)?.to_vec(),
                _ => {}
            }
            Ok(())
        })?;
        Ok(message)
    }
}

fn compression(kind: u64) -> Result<CompressionKind> {
    Ok(match kind {
        0 => CompressionKind::None,
        1 => CompressionKind::Zlib,
        2 => CompressionKind::Snappy,
        3 => CompressionKind::Lzo,
        4 => CompressionKind::Lz4,
        5 => CompressionKind::Zstd,
        other => {
            return Err(Error::unsupported(format!(
                "orc file has compression kind {other}, known are 0 to 5 (none, zlib, snappy, lzo, lz4, zstd)"
            )));
        }
    })
}

impl Footer {
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut message = Footer::default();
        fields("footer", bytes, |r, number, value| {
            match number {
                1 => message.header_length = r.number(value)?,
                2 => message.content_length = r.number(value)?,
                3 => message.stripes.push(StripeInformation::decode(r.bytes(value)?)?),
                4 => message.types.push(Type::decode(r.bytes(value)?)?),
                5 => message.metadata.push(user_metadata(r.bytes(value)?)?),
                6 => message.number_of_rows = r.number(value)?,
                7 => message
                    .statistics
                    .push(ColumnStatistics::decode(r.bytes(value)?)?),
                8 => message.row_index_stride = Some(r.number32(value)?),
                9 => message.writer = Some(r.number32(value)?),
                10 => message.encrypted = true,
                11 => {
                    message.calendar = match r.number(value)? {
                        1 => Calendar::JulianGregorian,
                        2 => Calendar::ProlepticGregorian,
                        _ => Calendar::Unknown,
                    }
                }
                12 => message.software_version = Some(r.text(value)?),
                _ => {}
            }
            Ok(())
        })?;
        Ok(message)
    }
}

fn user_metadata(bytes: &[u8]) -> Result<(String, Vec<u8>)> {
    let (mut name, mut content) = (String::new(), Vec::new());
    fields("user metadata", bytes, |r, number, value| {
        match number {
            1 => name = r.text(value)?,
            2 => content = r.bytes(value)?.to_vec(),
            _ => {}
        }
        Ok(())
    })?;
    Ok((name, content))
}

impl StripeInformation {
    fn decode(bytes: &[u8]) -> Result<Self> {
        let mut message = StripeInformation::default();
        fields("stripe information", bytes, |r, number, value| {
            match number {
                1 => message.offset = r.number(value)?,
                2 => message.index_length = r.number(value)?,
                3 => message.data_length = r.number(value)?,
                4 => message.footer_length = r.number(value)?,
                5 => message.number_of_rows = r.number(value)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(message)
    }
}

impl Type {
    /// What the type is; `None` when it is not known here.
    pub(crate) fn kind(&self) -> Option<Kind> {
        Some(match self.kind {
            0 => Kind::Boolean,
            1 => Kind::Byte,
            2 => Kind::Short,
            3 => Kind::Int,
            4 => Kind::Long,
            5 => Kind::Float,
            6 => Kind::Double,
            7 => Kind::String,
            8 => Kind::Binary,
            9 => Kind::Timestamp,
            10 => Kind::List,
            11 => Kind::Map,
            12 => Kind::Struct,
            13 => Kind::Union,
            14 => Kind::Decimal,
            15 => Kind::Date,
            16 => Kind::Varchar,
            17 => Kind::Char,
            18 => Kind::TimestampInstant,
            _ => return None,
        })
    }

    fn decode(bytes: &[u8]) -> Result<Self> {
        let mut message = Type::default();
        fields("type", bytes, |r, number, value| {
            match number {
                1 => message.kind = r.number(value)?,
                2 => {
                    let mut all = Vec::new();
                    r.numbers(value, &mut all)?;
                    for id in all {
                        let id = u32::try_from(id).map_err(|_| r.bad("has a child out of range"))?;
                        message.subtypes.push(id);
                    }
                }
                3 => message.field_names.push(r.text(value)?),
                4 => message.maximum_length = Some(r.number32(value)?),
                5 => message.precision = Some(r.number32(value)?),
                6 => message.scale = Some(r.number32(value)?),
                7 => {
                    let (mut key, mut text) = (String::new(), String::new());
                    fields("type attribute", r.bytes(value)?, |r, number, value| {
                        match number {
                            1 => key = r.text(value)?,
                            2 => text = r.text(value)?,
                            _ => {}
                        }
                        Ok(())
                    })?;
                    message.attributes.push((key, text));
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(message)
    }
}

impl ColumnStatistics {
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut message = ColumnStatistics::default();
        fields("column statistics", bytes, |r, number, value| {
            match number {
                1 => message.number_of_values = Some(r.number(value)?),
                2 => message.integer = Some(integer(r.bytes(value)?)?),
                3 => message.double = Some(double(r.bytes(value)?)?),
                4 => message.string = Some(Arc::new(string(r.bytes(value)?)?)),
                5 => {
                    let mut counts = Vec::new();
                    fields(
                        "bucket statistics",
                        r.bytes(value)?,
                        |r, number, value| match number {
                            1 => r.numbers(value, &mut counts),
                            _ => Ok(()),
                        },
                    )?;
                    message.bucket = Some(counts);
                }
                6 => message.decimal = Some(Arc::new(decimal(r.bytes(value)?)?)),
                7 => message.date = Some(date(r.bytes(value)?)?),
                8 => {
                    fields("binary statistics", r.bytes(value)?, |r, number, value| {
                        if number == 1 {
                            message.binary_sum = Some(r.signed(value)?);
                        }
                        Ok(())
                    })?;
                }
                9 => message.timestamp = Some(timestamp(r.bytes(value)?)?),
                10 => message.has_null = Some(r.number(value)? != 0),
                11 => message.bytes_on_disk = Some(r.number(value)?),
                12 => message.collection = Some(collection(r.bytes(value)?)?),
                _ => {}
            }
            Ok(())
        })?;
        Ok(message)
    }
}

fn integer(bytes: &[u8]) -> Result<IntegerStatistics> {
    let mut message = IntegerStatistics::default();
    fields("integer statistics", bytes, |r, number, value| {
        match number {
            1 => message.minimum = Some(r.signed(value)?),
            2 => message.maximum = Some(r.signed(value)?),
            3 => message.sum = Some(r.signed(value)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(message)
}

fn double(bytes: &[u8]) -> Result<DoubleStatistics> {
    let mut message = DoubleStatistics::default();
    fields("double statistics", bytes, |r, number, value| {
        match number {
            1 => message.minimum = Some(r.double(value)?),
            2 => message.maximum = Some(r.double(value)?),
            3 => message.sum = Some(r.double(value)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(message)
}

fn string(bytes: &[u8]) -> Result<StringStatistics> {
    let mut message = StringStatistics::default();
    fields("string statistics", bytes, |r, number, value| {
        // A bound that is not UTF-8 counts as absent.
        let text = |value| {
            r.bytes(value)
                .map(|b| std::str::from_utf8(b).ok().map(str::to_string))
        };
        match number {
            1 => message.minimum = text(value)?,
            2 => message.maximum = text(value)?,
            3 => message.sum = Some(r.signed(value)?),
            4 => message.lower_bound = text(value)?,
            5 => message.upper_bound = text(value)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(message)
}

fn decimal(bytes: &[u8]) -> Result<DecimalStatistics> {
    let mut message = DecimalStatistics::default();
    fields("decimal statistics", bytes, |r, number, value| {
        match number {
            1 => message.minimum = Some(r.text(value)?),
            2 => message.maximum = Some(r.text(value)?),
            3 => message.sum = Some(r.text(value)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(message)
}

fn date(bytes: &[u8]) -> Result<DateStatistics> {
    let mut message = DateStatistics::default();
    fields("date statistics", bytes, |r, number, value| {
        let day = |value| {
            let day = r.signed(value)?;
            i32::try_from(day).map_err(|_| r.bad(&format!("have day {day}, which is no 32-bit number")))
        };
        match number {
            1 => message.minimum = Some(day(value)?),
            2 => message.maximum = Some(day(value)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(message)
}

fn timestamp(bytes: &[u8]) -> Result<TimestampStatistics> {
    let mut message = TimestampStatistics::default();
    fields("timestamp statistics", bytes, |r, number, value| {
        match number {
            1 => message.minimum = Some(r.signed(value)?),
            2 => message.maximum = Some(r.signed(value)?),
            3 => message.minimum_utc = Some(r.signed(value)?),
            4 => message.maximum_utc = Some(r.signed(value)?),
            // Plain int32: a negative one has ten bytes.
            5 => message.minimum_nanos = Some(r.number(value)? as i32),
            6 => message.maximum_nanos = Some(r.number(value)? as i32),
            _ => {}
        }
        Ok(())
    })?;
    Ok(message)
}

fn collection(bytes: &[u8]) -> Result<CollectionStatistics> {
    let mut message = CollectionStatistics::default();
    fields("collection statistics", bytes, |r, number, value| {
        match number {
            1 => message.min_children = Some(r.number(value)?),
            2 => message.max_children = Some(r.number(value)?),
            3 => message.total_children = Some(r.number(value)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(message)
}

impl Metadata {
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut message = Metadata::default();
        fields("stripe statistics", bytes, |r, number, value| {
            if number == 1 {
                let mut columns = Vec::new();
                fields("stripe statistics", r.bytes(value)?, |r, number, value| {
                    if number == 1 {
                        columns.push(ColumnStatistics::decode(r.bytes(value)?)?);
                    }
                    Ok(())
                })?;
                message.stripes.push(columns);
            }
            Ok(())
        })?;
        Ok(message)
    }
}

impl StripeFooter {
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut message = StripeFooter::default();
        fields("stripe footer", bytes, |r, number, value| {
            match number {
                1 => message.streams.push(stream(r.bytes(value)?)?),
                2 => message.columns.push(encoding(r.bytes(value)?)?),
                3 => message.writer_timezone = Some(r.text(value)?),
                _ => {}
            }
            Ok(())
        })?;
        Ok(message)
    }
}

fn stream(bytes: &[u8]) -> Result<Stream> {
    // An absent kind is PRESENT, the first of the enumeration.
    let mut message = Stream {
        kind: Some(StreamKind::Present),
        column: 0,
        length: 0,
    };
    fields("stream", bytes, |r, number, value| {
        match number {
            1 => {
                message.kind = match r.number(value)? {
                    0 => Some(StreamKind::Present),
                    1 => Some(StreamKind::Data),
                    2 => Some(StreamKind::Length),
                    3 => Some(StreamKind::DictionaryData),
                    4 => Some(StreamKind::DictionaryCount),
                    5 => Some(StreamKind::Secondary),
                    6 => Some(StreamKind::RowIndex),
                    7 => Some(StreamKind::BloomFilter),
                    8 => Some(StreamKind::BloomFilterUtf8),
                    _ => None,
                }
            }
            2 => message.column = r.number32(value)?,
            3 => message.length = r.number(value)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(message)
}

fn encoding(bytes: &[u8]) -> Result<ColumnEncoding> {
    let mut message = ColumnEncoding::default();
    fields("column encoding", bytes, |r, number, value| {
        match number {
            1 => {
                message.kind = match r.number(value)? {
                    0 => EncodingKind::Direct,
                    1 => EncodingKind::Dictionary,
                    2 => EncodingKind::DirectV2,
                    3 => EncodingKind::DictionaryV2,
                    other => {
                        let what = format!("orc column has encoding {other}, known are 0 to 3");
                        return Err(Error::unsupported(what));
                    }
                }
            }
            2 => message.dictionary_size = r.number32(value)?,
            3 => message.bloom_encoding = Some(r.number32(value)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(message)
}

impl RowIndexEntry {
    /// The entries of a `RowIndex`, one for each row group.
    pub(crate) fn decode_index(bytes: &[u8]) -> Result<Vec<Self>> {
        let mut entries = Vec::new();
        fields("row index", bytes, |r, number, value| {
            if number == 1 {
                let mut entry = RowIndexEntry::default();
                fields("row index entry", r.bytes(value)?, |r, number, value| {
                    match number {
                        1 => r.numbers(value, &mut entry.positions)?,
                        2 => entry.statistics = Some(ColumnStatistics::decode(r.bytes(value)?)?),
                        _ => {}
                    }
                    Ok(())
                })?;
                entries.push(entry);
            }
            Ok(())
        })?;
        Ok(entries)
    }
}

impl BloomFilter {
    /// The filters of a `BloomFilterIndex`, one for each row group.
    pub(crate) fn decode_index(bytes: &[u8]) -> Result<Vec<Self>> {
        let mut filters = Vec::new();
        fields("bloom filters", bytes, |r, number, value| {
            if number == 1 {
                let mut filter = BloomFilter::default();
                fields("bloom filter", r.bytes(value)?, |r, number, value| {
                    match number {
                        1 => filter.hash_functions = r.number32(value)?,
                        2 | 3 => r.fixed64s(value, &mut filter.bits)?,
                        _ => {}
                    }
                    Ok(())
                })?;
                filters.push(filter);
            }
            Ok(())
        })?;
        Ok(filters)
    }
}
