// SPDX-License-Identifier: Apache-2.0

//! Decompression of chunks.

use std::io::Read;

use flate2::{Decompress, FlushDecompress, Status};
use lz4_flex::block::DecompressError;
use paimon_types::{Error, Result};

use super::lzo;
use crate::error::damaged;
use crate::proto::CompressionKind;

/// Size of chunks that a file does not tell.
const DEFAULT_BLOCK: u64 = 256 << 10;
/// Chunk headers hold 23 bits.
const LARGEST_CHUNK: usize = (1 << 23) - 1;
/// Zlib, Snappy, LZ4 and LZO make no more bytes of one than this; zstd has no such limit.
const LARGEST_RATIO: usize = 1100;
/// And Snappy this many.
const SNAPPY_RATIO: usize = 64;
/// Room that is made at once for a chunk; beyond it grows with what the chunk really holds, whatever size the file says.
const FIRST_ROOM: usize = 4 << 20;
/// A footer is smaller than this many times its compressed bytes, or [`SMALL_FOOTER`].
const FOOTER_RATIO: usize = 100;
const SMALL_FOOTER: usize = 16 << 20;

/// How the chunks of a file are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Codec {
    kind: CompressionKind,
    /// No chunk has more bytes when it is not compressed.
    block: usize,
}

impl Codec {
    /// `None` when the file has no chunks at all.
    ///
    /// # Errors
    /// `Corrupt` when the size of chunks cannot be.
    pub(crate) fn new(kind: CompressionKind, block: Option<u64>) -> Result<Option<Self>> {
        if kind == CompressionKind::None {
            return Ok(None);
        }
        let block = block.unwrap_or(DEFAULT_BLOCK);
        match usize::try_from(block) {
            Ok(size) if (1..=1 << 30).contains(&size) => Ok(Some(Codec { kind, block: size })),
            _ => Err(damaged(format!("its compression chunks have {block} bytes"))),
        }
    }

    /// Largest number of bytes of a chunk, with its header.
    pub(crate) fn largest_chunk(self) -> u64 {
        self.block.min(LARGEST_CHUNK) as u64 + 3
    }

    /// For chunks of which none that is taken has more than `limit` bytes: room is made for whole chunks, as large as the file says
    /// that they are.
    pub(super) fn within(self, limit: usize) -> Self {
        Codec {
            block: self.block.min(limit.saturating_add(1)),
            ..self
        }
    }

    /// A decompressor.
    pub(crate) fn decompressor(self) -> Decompressor {
        Decompressor {
            codec: self,
            state: State::New,
        }
    }
}

/// Decompresses one chunk after the other.
pub(crate) struct Decompressor {
    codec: Codec,
    state: State,
}

enum State {
    New,
    Zlib(Box<Decompress>),
    Snappy(snap::raw::Decoder),
    Zstd(zstd::bulk::Decompressor<'static>),
}

impl Decompressor {
    /// Replaces `out` by the bytes of a chunk.
    ///
    /// # Errors
    /// `Corrupt` when they are not the result of the codec, or too many.
    pub(crate) fn decompress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        let kind = self.codec.kind;
        let possible = match kind {
            // What the frame says about itself, when it does. Room that is not filled costs nothing.
            CompressionKind::Zstd => zstd::zstd_safe::get_frame_content_size(input)
                .ok()
                .flatten()
                .map_or(usize::MAX, |size| usize::try_from(size).unwrap_or(usize::MAX)),
            _ => input.len().saturating_mul(LARGEST_RATIO).saturating_add(64),
        };
        let limit = self.codec.block.min(possible);
        let bad = |why: &dyn std::fmt::Display| {
            damaged(format!(
                "a {kind:?} chunk of {} bytes is none: {why}",
                input.len()
            ))
        };
        if let State::New = self.state {
            self.state = match kind {
                CompressionKind::Zlib => State::Zlib(Box::new(Decompress::new(false))),
                CompressionKind::Snappy => State::Snappy(snap::raw::Decoder::new()),
                CompressionKind::Zstd => {
                    let made = zstd::bulk::Decompressor::new();
                    State::Zstd(made.map_err(|e| Error::resources(format!("cannot start zstd: {e}")))?)
                }
                _ => State::New,
            };
        }
        match (&mut self.state, kind) {
            (State::Zlib(zlib), _) => {
                zlib.reset(false);
                // At once, or in any number of parts.
                let flush = match limit <= FIRST_ROOM {
                    true => FlushDecompress::Finish,
                    false => FlushDecompress::None,
                };
                out.reserve(limit.min(FIRST_ROOM));
                loop {
                    let read = usize::try_from(zlib.total_in()).unwrap_or(usize::MAX);
                    let status = zlib.decompress_vec(input.get(read..).unwrap_or_default(), out, flush);
                    let ended = status.map_err(|e| bad(&e))? == Status::StreamEnd;
                    let full = out.len() == out.capacity() && out.len() < limit;
                    match ended {
                        true if out.len() <= limit => return Ok(()),
                        false if full && limit > FIRST_ROOM => out.reserve(out.len().min(limit - out.len())),
                        _ => return Err(bad(&format!("it is cut or makes more than {limit} bytes"))),
                    }
                }
            }
            (State::Snappy(snappy), _) => {
                let length = snap::raw::decompress_len(input).map_err(|e| bad(&e))?;
                if length > limit.min(input.len().saturating_mul(SNAPPY_RATIO)) {
                    return Err(bad(&format!(
                        "it makes {length} bytes, at most {limit} are expected"
                    )));
                }
                out.resize(length, 0);
                snappy.decompress(input, out).map_err(|e| bad(&e))?;
                Ok(())
            }
            (State::Zstd(zstd), _) => {
                if limit <= FIRST_ROOM {
                    out.reserve(limit);
                    zstd.decompress_to_buffer(input, out).map_err(|e| bad(&e))?;
                    return Ok(());
                }
                let parts = zstd::stream::read::Decoder::with_buffer(input).map_err(|e| bad(&e))?;
                let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
                let length = parts.take(most).read_to_end(out).map_err(|e| bad(&e))?;
                match length <= limit {
                    true => Ok(()),
                    false => Err(bad(&format!("it makes more than {limit} bytes"))),
                }
            }
            (State::New, CompressionKind::Lz4) => {
                let mut room = limit.min(FIRST_ROOM);
                loop {
                    out.resize(room, 0);
                    match lz4_flex::block::decompress_into(input, out) {
                        Ok(length) => {
                            out.truncate(length);
                            return Ok(());
                        }
                        Err(DecompressError::OutputTooSmall { .. }) if room < limit => {
                            room = room.saturating_mul(2).min(limit);
                        }
                        Err(error) => return Err(bad(&error)),
                    }
                }
            }
            (State::New, CompressionKind::Lzo) => lzo::decompress(input, out, limit).map_err(|e| bad(&e)),
            (State::New, other) => Err(Error::unsupported(format!("compression {other:?} of orc files"))),
        }
    }
}

/// The next chunk of a stream and what follows it: whether it is compressed, its bytes, the rest.
///
/// # Errors
/// `Corrupt` when the stream ends in it.
pub(crate) fn split_chunk(stream: &[u8]) -> Result<(bool, &[u8], &[u8])> {
    let Some(([a, b, c], rest)) = stream.split_first_chunk::<3>() else {
        return Err(damaged("a stream ends in the header of a chunk"));
    };
    let header = u32::from_le_bytes([*a, *b, *c, 0]);
    let length = (header >> 1) as usize;
    let Some((chunk, rest)) = rest.split_at_checked(length) else {
        return Err(damaged(format!(
            "a stream has a chunk of {length} bytes where {} are left",
            rest.len()
        )));
    };
    Ok((header & 1 == 0, chunk, rest))
}

/// All bytes of a stream that is read at once: a footer, an index.
///
/// # Errors
/// `Corrupt` when it cannot be decompressed, or is out of proportion.
pub(crate) fn decompress_all(codec: Option<Codec>, stream: &bytes::Bytes) -> Result<bytes::Bytes> {
    let Some(codec) = codec else {
        return Ok(stream.clone());
    };
    let limit = stream.len().saturating_mul(FOOTER_RATIO).max(SMALL_FOOTER);
    let mut decompressor = codec.within(limit).decompressor();
    let (mut all, mut chunk_bytes) = (Vec::new(), Vec::new());
    let mut rest: &[u8] = stream;
    while !rest.is_empty() {
        let (compressed, chunk, after) = split_chunk(rest)?;
        rest = after;
        if compressed {
            decompressor.decompress(chunk, &mut chunk_bytes)?;
            all.extend_from_slice(&chunk_bytes);
        } else {
            all.extend_from_slice(chunk);
        }
        if all.len() > limit {
            return Err(damaged(format!(
                "{} bytes of metadata make more than {limit}",
                stream.len()
            )));
        }
    }
    Ok(all.into())
}
