// SPDX-License-Identifier: Apache-2.0

//! What a column adds to a stripe, and the stripe's bytes made of it.

use bytes::Bytes;
use paimon_types::Result;

use super::codec::Compressor;
use super::proto::Message;
use super::stream::Stream;

/// `Stream.Kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StreamKind {
    Present = 0,
    Data = 1,
    Length = 2,
    DictionaryData = 3,
    Secondary = 5,
    RowIndex = 6,
    BloomFilterUtf8 = 8,
}

/// `ColumnEncoding.Kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Direct,
    DirectV2,
    /// With the number of values.
    DictionaryV2(u64),
}

impl Encoding {
    /// `ColumnEncoding`.
    pub(super) fn encode(self, has_bloom_filter: bool) -> Message {
        let mut message = Message::new();
        match self {
            Encoding::Direct => message.uint(1, 0),
            Encoding::DirectV2 => message.uint(1, 2),
            Encoding::DictionaryV2(size) => message.uint(1, 3).uint(2, size),
        };
        if has_bloom_filter {
            // UTF-8 strings, timestamps in UTC.
            message.uint(3, 1);
        }
        message
    }
}

/// A stream in the stripe.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) column: u32,
    pub(super) kind: StreamKind,
    pub(super) bytes: Vec<u8>,
}

/// What a column and those below it add to a stripe, in pre-order.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) indexes: Vec<Section>,
    pub(super) data: Vec<Section>,
    /// `ColumnEncoding` of each column.
    pub(super) encodings: Vec<Message>,
    /// `ColumnStatistics` of each column.
    pub(super) statistics: Vec<Message>,
}

impl Parts {
    pub(super) fn append(&mut self, mut other: Parts) {
        self.indexes.append(&mut other.indexes);
        self.data.append(&mut other.data);
        self.encodings.append(&mut other.encodings);
        self.statistics.append(&mut other.statistics);
    }
}

/// A stripe that is ready for the file.
pub(super) struct Stripe {
    pub(super) segments: Vec<Bytes>,
    /// `StripeInformation`.
    pub(super) information: Message,
    /// `StripeStatistics`.
    pub(super) statistics: Message,
}

/// Zone of the writer. Wall clocks are written as if they were those of UTC.
const WRITER_ZONE: &[u8] = b"UTC";

/// Puts the stripe together that starts at `offset` and has `rows` rows.
pub(super) fn assemble(
    parts: Parts,
    offset: u64,
    rows: u64,
    has_timestamp: bool,
    chunk: Option<usize>,
    compressor: &mut Compressor,
) -> Result<Stripe> {
    let mut footer = Message::new();
    let mut segments = Vec::with_capacity(parts.indexes.len() + parts.data.len() + 1);
    let mut lengths = [0u64; 2];
    for (length, sections) in lengths.iter_mut().zip([parts.indexes, parts.data]) {
        for section in sections {
            let bytes = section.bytes.len() as u64;
            let mut stream = Message::new();
            stream
                .uint(1, section.kind as u64)
                .uint(2, u64::from(section.column))
                .uint(3, bytes);
            footer.message(1, &stream);
            *length += bytes;
            if bytes > 0 {
                segments.push(Bytes::from(section.bytes));
            }
        }
    }
    for encoding in &parts.encodings {
        footer.message(2, encoding);
    }
    if has_timestamp {
        footer.bytes(3, WRITER_ZONE);
    }
    let footer = compressed(footer, chunk, compressor)?;
    let [index_length, data_length] = lengths;
    let mut information = Message::new();
    information
        .uint(1, offset)
        .uint(2, index_length)
        .uint(3, data_length)
        .uint(4, footer.len() as u64)
        .uint(5, rows);
    segments.push(Bytes::from(footer));
    let mut statistics = Message::new();
    for column in &parts.statistics {
        statistics.message(1, column);
    }
    Ok(Stripe {
        segments,
        information,
        statistics,
    })
}

/// A message as it stands in the file.
pub(super) fn compressed(
    message: Message,
    chunk: Option<usize>,
    compressor: &mut Compressor,
) -> Result<Vec<u8>> {
    compress_bytes(message.into_bytes(), chunk, compressor)
}

/// Bytes of metadata as they stand in the file.
pub(super) fn compress_bytes(
    bytes: Vec<u8>,
    chunk: Option<usize>,
    compressor: &mut Compressor,
) -> Result<Vec<u8>> {
    let mut stream = Stream::new(chunk);
    *stream.buffer() = bytes;
    stream.finish(compressor)
}
