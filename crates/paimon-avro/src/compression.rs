// SPDX-License-Identifier: Apache-2.0

//! Block codecs of Avro container files.

use std::fmt;
#[cfg(any(feature = "bzip2", feature = "xz"))]
use std::io::Read;

use miniz_oxide::inflate::TINFLStatus;
use paimon_types::{Error, Result};
use zstd::stream::raw::{Decoder as ZstdDecoder, InBuffer, Operation, OutBuffer};

/// Largest size of one block after decompression. Writers cut blocks near 64 KB; a larger one is refused so that a damaged
/// or hostile file cannot claim memory without end.
pub const MAX_BLOCK_BYTES: usize = 256 << 20;

/// How the blocks of a file are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// `null`: not at all.
    None,
    /// `deflate`.
    Deflate,
    /// `snappy`.
    Snappy,
    /// `zstandard`, the default, with its level.
    Zstd(i32),
    /// `bzip2`.
    #[cfg(feature = "bzip2")]
    Bzip2,
    /// `xz`.
    #[cfg(feature = "xz")]
    Xz,
}

/// Memory that an xz decoder may take: its dictionary is as large as the file says.
#[cfg(feature = "xz")]
const XZ_MEMORY: u64 = 256 << 20;
/// Level of the xz encoder, that of Java.
#[cfg(feature = "xz")]
const XZ_LEVEL: u32 = 6;

/// The codecs of this build.
const CODECS: &str = "null, deflate, snappy, zstandard (and, where built in, bzip2 and xz)";

impl Compression {
    /// From the text of an option (case-insensitive: `zstd`, `zstandard`, `snappy`, `deflate`, `bzip2`, `xz`, `null`, `none`) and
    /// the level for zstd.
    ///
    /// # Errors
    /// `Unsupported` for another codec.
    pub fn parse(name: &str, zstd_level: i32) -> Result<Self> {
        match name.trim().to_ascii_lowercase().as_str() {
            "zstd" | "zstandard" => Ok(Compression::Zstd(zstd_level)),
            "snappy" => Ok(Compression::Snappy),
            "deflate" => Ok(Compression::Deflate),
            "null" | "none" => Ok(Compression::None),
            #[cfg(feature = "bzip2")]
            "bzip2" => Ok(Compression::Bzip2),
            #[cfg(feature = "xz")]
            "xz" => Ok(Compression::Xz),
            other => Err(unknown(other)),
        }
    }

    /// Name in the container header.
    pub fn avro_name(self) -> &'static str {
        match self {
            Compression::None => "null",
            Compression::Deflate => "deflate",
            Compression::Snappy => "snappy",
            Compression::Zstd(_) => "zstandard",
            #[cfg(feature = "bzip2")]
            Compression::Bzip2 => "bzip2",
            #[cfg(feature = "xz")]
            Compression::Xz => "xz",
        }
    }

    /// The stored form of a block.
    ///
    /// # Errors
    /// `Corrupt` when the codec fails.
    pub fn compress(self, block: &[u8]) -> Result<Vec<u8>> {
        match self {
            Compression::None => Ok(block.to_vec()),
            Compression::Deflate => Ok(miniz_oxide::deflate::compress_to_vec(block, 6)),
            Compression::Snappy => {
                let mut out = snap::raw::Encoder::new()
                    .compress_vec(block)
                    .map_err(|e| failed("compress", "snappy", e))?;
                out.extend_from_slice(&crc32fast::hash(block).to_be_bytes());
                Ok(out)
            }
            Compression::Zstd(level) => {
                zstd::bulk::compress(block, level).map_err(|e| failed("compress", "zstandard", e))
            }
            #[cfg(feature = "bzip2")]
            Compression::Bzip2 => {
                let encoder = bzip2::read::BzEncoder::new(block, bzip2::Compression::best());
                drain(encoder, "bzip2")
            }
            #[cfg(feature = "xz")]
            Compression::Xz => drain(liblzma::read::XzEncoder::new(block, XZ_LEVEL), "xz"),
        }
    }
}

/// Decompresses the blocks of one file, keeping its state and buffer between blocks.
pub struct Decompressor {
    codec: Codec,
    limit: usize,
    buffer: Vec<u8>,
}

enum Codec {
    None,
    Deflate,
    Snappy,
    Zstd(ZstdDecoder<'static>),
    #[cfg(feature = "bzip2")]
    Bzip2,
    #[cfg(feature = "xz")]
    Xz,
}

impl fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decompressor")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

impl Decompressor {
    /// For the codec named in a container header; `limit` is the most bytes that a block may have after decompression.
    ///
    /// # Errors
    /// `Unsupported` for another codec.
    pub fn new(avro_name: &str, limit: usize) -> Result<Self> {
        let codec = match avro_name {
            "null" => Codec::None,
            "deflate" => Codec::Deflate,
            "snappy" => Codec::Snappy,
            "zstandard" => Codec::Zstd(ZstdDecoder::new().map_err(|e| failed("open", "zstandard", e))?),
            #[cfg(feature = "bzip2")]
            "bzip2" => Codec::Bzip2,
            #[cfg(feature = "xz")]
            "xz" => Codec::Xz,
            other => return Err(unknown(other)),
        };
        Ok(Decompressor {
            codec,
            limit,
            buffer: Vec::new(),
        })
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        self.buffer.capacity()
    }

    /// The bytes that [`Decompressor::decompress`] gave last; none for the codec `null`.
    #[inline]
    pub fn last(&self) -> &[u8] {
        &self.buffer
    }

    /// The bytes of a stored block.
    ///
    /// # Errors
    /// `Corrupt` when they are damaged, `ResourcesExhausted` when there are more than the limit.
    pub fn decompress<'a>(&'a mut self, block: &'a [u8]) -> Result<&'a [u8]> {
        match &mut self.codec {
            Codec::None => return Ok(block),
            Codec::Deflate => {
                self.buffer = miniz_oxide::inflate::decompress_to_vec_with_limit(block, self.limit).map_err(
                    |e| match e.status {
                        TINFLStatus::HasMoreOutput => too_large(self.limit),
                        status => Error::corrupt(format!("cannot decompress a deflate block: {status:?}")),
                    },
                )?;
            }
            Codec::Snappy => {
                let split = block
                    .len()
                    .checked_sub(4)
                    .and_then(|at| block.split_at_checked(at));
                let Some((data, checksum)) = split else {
                    return Err(Error::corrupt("snappy block is shorter than its checksum"));
                };
                let size = snap::raw::decompress_len(data).map_err(|e| failed("decompress", "snappy", e))?;
                // One byte of snappy stands for at most 64 bytes of output or so.
                if size > self.limit || size / 128 > data.len() {
                    return Err(too_large(self.limit));
                }
                self.buffer.resize(size, 0);
                snap::raw::Decoder::new()
                    .decompress(data, &mut self.buffer)
                    .map_err(|e| failed("decompress", "snappy", e))?;
                if crc32fast::hash(&self.buffer).to_be_bytes() != checksum {
                    return Err(Error::corrupt("checksum of a snappy block does not match"));
                }
            }
            Codec::Zstd(decoder) => unzstd(decoder, block, &mut self.buffer, self.limit)?,
            #[cfg(feature = "bzip2")]
            Codec::Bzip2 => {
                let decoder = bzip2::read::MultiBzDecoder::new(block);
                fill(decoder, &mut self.buffer, self.limit, "bzip2")?;
            }
            #[cfg(feature = "xz")]
            Codec::Xz => {
                let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, 0)
                    .map_err(|e| failed("open", "xz", e))?;
                let decoder = liblzma::read::XzDecoder::new_stream(block, stream);
                fill(decoder, &mut self.buffer, self.limit, "xz")?;
            }
        }
        Ok(&self.buffer)
    }
}

#[cfg(any(feature = "bzip2", feature = "xz"))]
fn drain(mut encoder: impl Read, codec: &str) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    encoder
        .read_to_end(&mut out)
        .map_err(|e| failed("compress", codec, e))?;
    Ok(out)
}

/// Reads all that `decoder` gives, up to `limit`.
#[cfg(any(feature = "bzip2", feature = "xz"))]
fn fill(decoder: impl Read, buffer: &mut Vec<u8>, limit: usize, codec: &str) -> Result<()> {
    buffer.clear();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    decoder
        .take(most)
        .read_to_end(buffer)
        .map_err(|e| failed("decompress", codec, e))?;
    if buffer.len() > limit {
        return Err(too_large(limit));
    }
    Ok(())
}

/// Decompresses all frames of `block`; the output grows with what is really produced, up to `limit`.
fn unzstd(
    decoder: &mut ZstdDecoder<'static>,
    block: &[u8],
    buffer: &mut Vec<u8>,
    limit: usize,
) -> Result<()> {
    decoder
        .reinit()
        .map_err(|e| failed("decompress", "zstandard", e))?;
    let mut input = InBuffer::around(block);
    let mut written = 0;
    buffer.resize(buffer.capacity().max(64 << 10).min(limit.max(1)), 0);
    loop {
        if written == buffer.len() {
            if written >= limit {
                return Err(too_large(limit));
            }
            buffer.resize(buffer.len().saturating_mul(2).min(limit), 0);
        }
        let before = (input.pos(), written);
        let hint = {
            let mut output = OutBuffer::around_pos(buffer.as_mut_slice(), written);
            let hint = decoder
                .run(&mut input, &mut output)
                .map_err(|e| failed("decompress", "zstandard", e))?;
            written = output.pos();
            hint
        };
        if hint == 0 && input.pos() >= block.len() {
            break;
        }
        if (input.pos(), written) == before && written < buffer.len() {
            return Err(Error::corrupt("zstandard block ends inside a frame"));
        }
    }
    buffer.truncate(written);
    Ok(())
}

fn failed(what: &str, codec: &str, cause: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::corrupt(format!("cannot {what} a {codec} block")).with_source(cause)
}

fn unknown(codec: &str) -> Error {
    Error::unsupported(format!("avro codec {codec}, expected {CODECS}"))
}

fn too_large(limit: usize) -> Error {
    Error::resources(format!(
        "avro block is larger than {limit} bytes after decompression"
    ))
}
