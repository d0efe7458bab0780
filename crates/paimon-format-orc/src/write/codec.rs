// SPDX-License-Identifier: Apache-2.0

//! Compression of chunks.

use std::fmt;

use flate2::{Compress, Compression, FlushCompress, Status};
use paimon_types::{Error, Result};

/// Bytes before every chunk of a compressed stream.
const HEADER: usize = 3;

/// How streams are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    None,
    /// Raw deflate of this level.
    Zlib(u32),
    Snappy,
    Lz4,
    /// Zstandard of this level.
    Zstd(i32),
}

impl Codec {
    /// `CompressionKind` of the post script.
    pub(super) fn kind(self) -> u64 {
        match self {
            Codec::None => 0,
            Codec::Zlib(_) => 1,
            Codec::Snappy => 2,
            Codec::Lz4 => 4,
            Codec::Zstd(_) => 5,
        }
    }

    pub(super) fn is_none(self) -> bool {
        self == Codec::None
    }
}

/// A codec with its working memory, used for one chunk after the other.
pub(super) struct Compressor {
    state: State,
    scratch: Vec<u8>,
}

enum State {
    None,
    Zlib(Compress),
    Snappy(Box<snap::raw::Encoder>),
    Lz4,
    Zstd(zstd::bulk::Compressor<'static>),
}

impl fmt::Debug for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Compressor")
    }
}

impl Compressor {
    /// # Errors
    /// `InvalidInput` when the level is none of the codec's.
    pub(super) fn new(codec: Codec) -> Result<Self> {
        let state = match codec {
            Codec::None => State::None,
            Codec::Zlib(level) => State::Zlib(Compress::new(Compression::new(level), false)),
            Codec::Snappy => State::Snappy(Box::new(snap::raw::Encoder::new())),
            Codec::Lz4 => State::Lz4,
            Codec::Zstd(level) => State::Zstd(zstd::bulk::Compressor::new(level).map_err(failed)?),
        };
        Ok(Compressor {
            state,
            scratch: Vec::new(),
        })
    }

    /// Appends one chunk with its header. A chunk that does not become smaller is stored as it is.
    pub(super) fn chunk(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let scratch = &mut self.scratch;
        scratch.clear();
        let length = match &mut self.state {
            State::None => input.len(),
            State::Zlib(deflate) => {
                deflate.reset();
                // What does not fit is not worth it.
                scratch.reserve(input.len());
                let status = deflate
                    .compress_vec(input, scratch, FlushCompress::Finish)
                    .map_err(failed)?;
                match status {
                    Status::StreamEnd => scratch.len(),
                    _ => input.len(),
                }
            }
            State::Snappy(encoder) => {
                scratch.resize(snap::raw::max_compress_len(input.len()), 0);
                encoder.compress(input, scratch).map_err(failed)?
            }
            State::Lz4 => {
                scratch.resize(lz4_flex::block::get_maximum_output_size(input.len()), 0);
                lz4_flex::block::compress_into(input, scratch).map_err(failed)?
            }
            State::Zstd(zstd) => {
                scratch.reserve(zstd::zstd_safe::compress_bound(input.len()));
                zstd.compress_to_buffer(input, scratch).map_err(failed)?
            }
        };
        match scratch.get(..length) {
            Some(compressed) if length < input.len() => append(compressed, false, out),
            _ => append(input, true, out),
        }
        Ok(())
    }
}

fn append(bytes: &[u8], original: bool, out: &mut Vec<u8>) {
    let header = (bytes.len() << 1) | usize::from(original);
    out.reserve(HEADER + bytes.len());
    out.extend((0..HEADER).map(|byte| (header >> (8 * byte)) as u8));
    out.extend_from_slice(bytes);
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::invalid(format!("cannot compress orc stream: {error}")).with_source(error)
}
