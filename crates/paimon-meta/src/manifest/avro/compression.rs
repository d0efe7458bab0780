// SPDX-License-Identifier: Apache-2.0

//! Block codecs of Avro container files.

use std::fmt;

use miniz_oxide::inflate::TINFLStatus;
use paimon_types::{Error, Result};
use zstd::stream::raw::{Decoder as ZstdDecoder, InBuffer, Operation, OutBuffer};

/// Largest size of one block after decompression. Writers cut blocks near 64 KB; a larger one is refused so that a damaged
/// or hostile file cannot claim memory without end.
pub const MAX_BLOCK_BYTES: usize = 256 << 20;

/// How the blocks of a manifest are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManifestCompression {
    /// `null`: not at all.
    None,
    /// `deflate`.
    Deflate,
    /// `snappy`.
    Snappy,
    /// `zstandard`, the default, with its level.
    Zstd(i32),
}

impl ManifestCompression {
    /// From the text of `manifest.compression` or `avro.codec` (case-insensitive: `zstd`, `zstandard`, `snappy`, `deflate`,
    /// `null`, `none`) and the value of `file.compression.zstd-level`.
    ///
    /// # Errors
    /// `Unsupported` for another codec.
    pub fn parse(name: &str, zstd_level: i32) -> Result<Self> {
        match name.trim().to_ascii_lowercase().as_str() {
            "zstd" | "zstandard" => Ok(ManifestCompression::Zstd(zstd_level)),
            "snappy" => Ok(ManifestCompression::Snappy),
            "deflate" => Ok(ManifestCompression::Deflate),
            "null" | "none" => Ok(ManifestCompression::None),
            other => Err(Error::unsupported(format!(
                "manifest compression {other}, expected zstd, snappy, deflate or none"
            ))
            .with("option", "manifest.compression")),
        }
    }

    /// Name in the container header.
    pub(crate) fn avro_name(self) -> &'static str {
        match self {
            ManifestCompression::None => "null",
            ManifestCompression::Deflate => "deflate",
            ManifestCompression::Snappy => "snappy",
            ManifestCompression::Zstd(_) => "zstandard",
        }
    }

    pub(crate) fn compress(self, block: &[u8]) -> Result<Vec<u8>> {
        match self {
            ManifestCompression::None => Ok(block.to_vec()),
            ManifestCompression::Deflate => Ok(miniz_oxide::deflate::compress_to_vec(block, 6)),
            ManifestCompression::Snappy => {
                let mut out = snap::raw::Encoder::new()
                    .compress_vec(block)
                    .map_err(|e| failed("compress", "snappy", e))?;
                out.extend_from_slice(&crc32fast::hash(block).to_be_bytes());
                Ok(out)
            }
            ManifestCompression::Zstd(level) => {
                zstd::bulk::compress(block, level).map_err(|e| failed("compress", "zstandard", e))
            }
        }
    }
}

/// Decompresses the blocks of one file, keeping its state and buffer between blocks.
pub(crate) struct Decompressor {
    codec: Codec,
    limit: usize,
    buffer: Vec<u8>,
}

enum Codec {
    None,
    Deflate,
    Snappy,
    Zstd(ZstdDecoder<'static>),
}

impl fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decompressor")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

impl Decompressor {
    /// For the codec named in a container header.
    pub(crate) fn new(avro_name: &str, limit: usize) -> Result<Self> {
        let codec = match avro_name {
            "null" => Codec::None,
            "deflate" => Codec::Deflate,
            "snappy" => Codec::Snappy,
            "zstandard" => Codec::Zstd(ZstdDecoder::new().map_err(|e| failed("open", "zstandard", e))?),
            other => {
                return Err(Error::unsupported(format!(
                    "avro codec {other}, expected null, deflate, snappy or zstandard"
                )));
            }
        };
        Ok(Decompressor {
            codec,
            limit,
            buffer: Vec::new(),
        })
    }

    pub(crate) fn decompress<'a>(&'a mut self, block: &'a [u8]) -> Result<&'a [u8]> {
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
                self.buffer = snap::raw::Decoder::new()
                    .decompress_vec(data)
                    .map_err(|e| failed("decompress", "snappy", e))?;
                if crc32fast::hash(&self.buffer).to_be_bytes() != checksum {
                    return Err(Error::corrupt("checksum of a snappy block does not match"));
                }
            }
            Codec::Zstd(decoder) => unzstd(decoder, block, &mut self.buffer, self.limit)?,
        }
        Ok(&self.buffer)
    }
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

fn too_large(limit: usize) -> Error {
    Error::resources(format!(
        "avro block is larger than {limit} bytes after decompression"
    ))
}
