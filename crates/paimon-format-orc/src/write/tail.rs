// SPDX-License-Identifier: Apache-2.0

//! The end of a file: statistics of stripes, footer and post script.

use paimon_types::{Error, Result};

use super::codec::{Codec, Compressor};
use super::proto::Message;
use super::stripe::compressed;
use super::types::Node;

/// First bytes of a file, and last ones of its post script.
pub(super) const MAGIC: &[u8] = b"ORC";
/// Version of the format: 0.12.
const VERSION: [u64; 2] = [0, 12];
/// Version of the writer: the one that orc-java has since bloom filters, strings and timestamps in statistics are as they are
/// here.
const WRITER_VERSION: u64 = 9;
/// Number of a writer that has none of its own; readers assume no bugs of others then.
const UNKNOWN_WRITER: u64 = i32::MAX as u64;
const JULIAN_GREGORIAN: u64 = 1;
const SOFTWARE: &str = concat!("paimon-rust ", env!("CARGO_PKG_VERSION"));

/// What the tail tells about the file.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) rows: u64,
    /// Bytes before the tail.
    pub(super) length: u64,
    /// `StripeInformation` of each stripe.
    pub(super) stripes: Vec<Message>,
    /// `StripeStatistics` of each stripe.
    pub(super) stripe_statistics: Vec<Message>,
    /// `ColumnStatistics` of each column over the file.
    pub(super) statistics: Vec<Message>,
    pub(super) metadata: Vec<(String, String)>,
    pub(super) row_index_stride: Option<usize>,
}

/// The bytes of the tail and those of the footer before compression.
pub(super) struct Tail {
    pub(super) bytes: Vec<u8>,
    pub(super) footer: Vec<u8>,
}

/// Encodes the tail of a file.
pub(super) fn encode(
    contents: &Contents,
    root: &Node,
    codec: Codec,
    chunk: Option<usize>,
    compressor: &mut Compressor,
) -> Result<Tail> {
    let mut metadata = Message::new();
    for stripe in &contents.stripe_statistics {
        metadata.message(1, stripe);
    }
    let metadata = compressed(metadata, chunk, compressor)?;
    let plain = footer(contents, root);
    let footer = compressed(plain.clone(), chunk, compressor)?;

    let mut post_script = Message::new();
    post_script.uint(1, footer.len() as u64).uint(2, codec.kind());
    if let Some(chunk) = chunk {
        post_script.uint(3, chunk as u64);
    }
    post_script
        .packed(4, &VERSION)
        .uint(5, metadata.len() as u64)
        .uint(6, WRITER_VERSION)
        .bytes(8000, MAGIC);
    let post_script = post_script.into_bytes();
    let length = u8::try_from(post_script.len())
        .map_err(|_| Error::invalid("post script of the orc file is longer than 255 bytes"))?;
    let mut bytes = metadata;
    bytes.extend_from_slice(&footer);
    bytes.extend_from_slice(&post_script);
    bytes.push(length);
    Ok(Tail {
        bytes,
        footer: plain.into_bytes(),
    })
}

fn footer(contents: &Contents, root: &Node) -> Message {
    let mut message = Message::new();
    message.uint(1, MAGIC.len() as u64).uint(2, contents.length);
    for stripe in &contents.stripes {
        message.message(3, stripe);
    }
    let mut types = Vec::new();
    root.encode(&mut types);
    for node in &types {
        message.message(4, node);
    }
    for (name, value) in &contents.metadata {
        let mut item = Message::new();
        item.bytes(1, name.as_bytes()).bytes(2, value.as_bytes());
        message.message(5, &item);
    }
    message.uint(6, contents.rows);
    for statistics in &contents.statistics {
        message.message(7, statistics);
    }
    message
        .uint(8, contents.row_index_stride.unwrap_or(0) as u64)
        .uint(9, UNKNOWN_WRITER)
        .uint(11, JULIAN_GREGORIAN)
        .bytes(12, SOFTWARE.as_bytes());
    message
}
