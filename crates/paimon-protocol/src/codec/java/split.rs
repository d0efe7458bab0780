// SPDX-License-Identifier: Apache-2.0

//! Splits of any kind, in the `SPLIT_V1` frame or bare (Java `SplitSerializer`; `wire.md` 8.3).

use std::ops::RangeInclusive;

use paimon_types::{DataInput, DataOutput, Error, Result, SharedBytes};

use super::carrier::{check_read, check_write};
use super::input::SharedInput;
use super::split_body::{
    CHAIN_VERSIONS, INCREMENTAL_VERSIONS, INDEXED_MAGIC, read_chain, read_incremental, read_indexed,
    write_chain, write_incremental, write_indexed,
};
use super::{JAVA_SPLIT_VERSION, SplitEncoding, data_split, query_auth};
use crate::{DataSplit, Split};

/// `SPLIT_V1` in ASCII.
pub(super) const FRAME_MAGIC: i64 = 0x5350_4c49_545f_5631;
const FRAME_VERSION: i32 = 1;

/// What is taken for the version of an incremental or chain split in the first four bytes of a split without frame.
pub(super) const BARE_VERSIONS: RangeInclusive<i64> = 1..=255;

/// Frames within frames that are read or written; Java's planner nests two.
const MAX_DEPTH: usize = 8;

/// Reads a split in any form, to the end of the bytes.
pub(super) fn decode(bytes: &[u8]) -> Result<(Split, SplitEncoding)> {
    let buffer = SharedBytes::copy_from(bytes);
    let mut input = SharedInput::new(&buffer);
    let first = input.clone().read_i64()?;
    if first == FRAME_MAGIC {
        let (split, version) = read_frame(&mut input, MAX_DEPTH)?;
        input.expect_end()?;
        return Ok((
            split,
            SplitEncoding {
                framed: true,
                version,
            },
        ));
    }
    let (split, version) = decode_bare(&buffer, first)?;
    Ok((
        split,
        SplitEncoding {
            framed: false,
            version,
        },
    ))
}

/// A split without frame: the kind shows in the first bytes.
fn decode_bare(buffer: &SharedBytes, first: i64) -> Result<(Split, i32)> {
    let mut input = SharedInput::new(buffer);
    // Incremental and chain splits begin with a small i32 version, version 1 data splits with an i64 snapshot id below 2^32.
    let version = first >> 32;
    if BARE_VERSIONS.contains(&version) {
        if version > *CHAIN_VERSIONS.end() as i64 {
            return Err(Error::unsupported(format!(
                "unknown version {version} of an incremental or chain split, this build knows versions {} to {} and {} to {}",
                INCREMENTAL_VERSIONS.start(),
                INCREMENTAL_VERSIONS.end(),
                CHAIN_VERSIONS.start(),
                CHAIN_VERSIONS.end()
            )));
        }
        return match read_all(buffer, read_incremental) {
            Ok((split, version)) => Ok((Split::Incremental(split), version)),
            Err(incremental) => read_all(buffer, read_chain)
                .map(|(split, version)| (Split::Chain(split), version))
                .map_err(|e| {
                    e.with("read as", "chain split")
                        .with("as incremental split", incremental)
                }),
        };
    }
    if first == INDEXED_MAGIC {
        let (split, version) = read_all(buffer, read_indexed)?;
        return Ok((Split::Indexed(split), version));
    }
    let (split, version) = data_split::read(&mut input)?;
    if input.remaining() == 1 {
        let is_fallback = read_flag(&mut input)?;
        return Ok((Split::FallbackData { split, is_fallback }, version));
    }
    input.expect_end()?;
    Ok((Split::Data(split), version))
}

fn read_all<T>(buffer: &SharedBytes, read: fn(&mut SharedInput<'_>) -> Result<(T, i32)>) -> Result<(T, i32)> {
    let mut input = SharedInput::new(buffer);
    let value = read(&mut input)?;
    input.expect_end()?;
    Ok(value)
}

fn read_flag(input: &mut DataInput<'_>) -> Result<bool> {
    match input.read_u8()? {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(Error::corrupt(format!(
            "fallback flag of a split is {other}, expected 0 or 1"
        ))),
    }
}

/// Reads a complete frame.
fn read_frame(input: &mut SharedInput<'_>, depth: usize) -> Result<(Split, i32)> {
    let depth = depth.checked_sub(1).ok_or_else(|| too_deep(Error::corrupt))?;
    let magic = input.read_i64()?;
    if magic != FRAME_MAGIC {
        return Err(Error::corrupt(format!(
            "split frame begins with {magic:016x}, expected {FRAME_MAGIC:016x}"
        )));
    }
    check_read("split frame", input.read_i32()?, FRAME_VERSION..=FRAME_VERSION)?;
    Ok(match input.read_i32()? {
        1 => data_split::read(input).map(|(split, version)| (Split::Data(split), version))?,
        2 => read_incremental(input).map(|(split, version)| (Split::Incremental(split), version))?,
        3 => read_indexed(input).map(|(split, version)| (Split::Indexed(split), version))?,
        4 => read_chain(input).map(|(split, version)| (Split::Chain(split), version))?,
        5 => {
            let (split, version) = read_frame(input, depth)?;
            (
                Split::QueryAuth {
                    split: Box::new(split),
                    auth: query_auth::read(input)?,
                },
                version,
            )
        }
        6 => {
            let (split, version) = data_split::read(input)?;
            (
                Split::FallbackData {
                    split,
                    is_fallback: read_flag(input)?,
                },
                version,
            )
        }
        7 => {
            let is_fallback = read_flag(input)?;
            let (split, version) = read_frame(input, depth)?;
            (
                Split::Fallback {
                    split: Box::new(split),
                    is_fallback,
                },
                version,
            )
        }
        other => {
            let known =
                "1 data, 2 incremental, 3 indexed, 4 chain, 5 query-auth, 6 fallback-data, 7 fallback";
            return Err(Error::unsupported(format!(
                "unknown split type {other}, this build knows {known}"
            )));
        }
    })
}

#[cold]
fn too_deep(error: fn(String) -> Error) -> Error {
    error(format!("splits are nested deeper than {MAX_DEPTH} levels"))
}

impl Split {
    /// How the split is written for the newest released Java: bare where Java's own class writes bare bytes, data splits at
    /// [`JAVA_SPLIT_VERSION`], the other kinds at the version with the same file records.
    pub fn java_encoding(&self) -> SplitEncoding {
        let version = self.innermost_version();
        SplitEncoding {
            framed: matches!(self, Split::QueryAuth { .. } | Split::Fallback { .. }),
            version,
        }
    }

    /// As [`Split::java_encoding`], for the Java that writes data splits at `version`.
    ///
    /// # Errors
    /// `InvalidInput` for an unknown version and when that Java does not have the split's kind.
    pub(in crate::codec) fn java_encoding_at(&self, version: i32) -> Result<SplitEncoding> {
        check_write("data split", version, data_split::VERSIONS)?;
        let mut innermost = self;
        while let Split::QueryAuth { split, .. } | Split::Fallback { split, .. } = innermost {
            innermost = split;
        }
        // Incremental and chain splits are as young as data split version 8; with version 9 their file records grew too.
        let own = match innermost {
            Split::Incremental(_) => [1, 2],
            Split::Chain(_) => [2, 3],
            _ => [version, version],
        };
        let kind = innermost.kind();
        let version = match (version, own) {
            (9.., [_, newest]) => newest,
            (8, [with_8, _]) => with_8,
            (version, _) if matches!(innermost, Split::Incremental(_) | Split::Chain(_)) => {
                return Err(Error::invalid(format!(
                    "data split version {version} has no {kind} splits beside it, expected version 8 or newer"
                )));
            }
            (version, _) => version,
        };
        Ok(SplitEncoding {
            version,
            ..self.java_encoding()
        })
    }

    fn innermost_version(&self) -> i32 {
        match self {
            Split::Data(_) | Split::Indexed(_) | Split::FallbackData { .. } => JAVA_SPLIT_VERSION,
            Split::Incremental(_) => 1,
            Split::Chain(_) => 2,
            Split::QueryAuth { split, .. } | Split::Fallback { split, .. } => split.innermost_version(),
        }
    }
}

/// Writes a split in the given form.
pub(super) fn encode(split: &Split, encoding: SplitEncoding) -> Result<Vec<u8>> {
    let mut out = DataOutput::new();
    if encoding.framed {
        write_frame(&mut out, split, encoding.version, MAX_DEPTH)?;
    } else {
        write_bare(&mut out, split, encoding.version)?;
    }
    Ok(out.into_bytes())
}

fn write_bare(out: &mut DataOutput, split: &Split, version: i32) -> Result<()> {
    match split {
        Split::Data(split) => data_split::write(out, split, version),
        Split::Incremental(split) => write_incremental(out, split, version),
        Split::Indexed(split) => write_indexed(out, split, version),
        Split::Chain(split) => write_chain(out, split, version),
        Split::FallbackData { split, is_fallback } => write_fallback_data(out, split, *is_fallback, version),
        Split::QueryAuth { .. } | Split::Fallback { .. } => Err(Error::invalid(format!(
            "a {} split has no form without frame",
            split.kind()
        ))),
    }
}

fn write_frame(out: &mut DataOutput, split: &Split, version: i32, depth: usize) -> Result<()> {
    let depth = depth.checked_sub(1).ok_or_else(|| too_deep(Error::invalid))?;
    out.write_i64(FRAME_MAGIC);
    out.write_i32(FRAME_VERSION);
    out.write_i32(match split {
        Split::Data(_) => 1,
        Split::Incremental(_) => 2,
        Split::Indexed(_) => 3,
        Split::Chain(_) => 4,
        Split::QueryAuth { .. } => 5,
        Split::FallbackData { .. } => 6,
        Split::Fallback { .. } => 7,
    });
    match split {
        Split::QueryAuth { split, auth } => {
            write_frame(out, split, version, depth)?;
            query_auth::write(out, auth.as_ref())
        }
        Split::Fallback { split, is_fallback } => {
            out.write_bool(*is_fallback);
            write_frame(out, split, version, depth)
        }
        other => write_bare(out, other, version),
    }
}

fn write_fallback_data(
    out: &mut DataOutput,
    split: &DataSplit,
    is_fallback: bool,
    version: i32,
) -> Result<()> {
    data_split::write(out, split, version)?;
    out.write_bool(is_fallback);
    Ok(())
}
