// SPDX-License-Identifier: Apache-2.0

//! Options of the writer (`options.md`; names and defaults are those of orc-java).

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use paimon_types::{Error, Result, parse_memory_size};

use super::codec::Codec;
use super::strings::{DictionaryRule, StreamSettings};
use super::types::Node;

/// Bytes of a stripe.
const DEFAULT_STRIPE_BYTES: u64 = 64 << 20;
/// Bytes of a chunk before compression, at most.
const DEFAULT_CHUNK_BYTES: u64 = 256 << 10;
const MIN_CHUNK_BYTES: u64 = 4 << 10;
/// Lengths of chunks have 23 bits.
const CHUNK_LIMIT: u64 = 1 << 23;
/// Rows of a row group.
const DEFAULT_STRIDE: usize = 10_000;
const MIN_STRIDE: usize = 1000;
/// Deflate levels of the strategies SPEED and COMPRESSION.
const FAST_ZLIB: u32 = 2;
const SMALL_ZLIB: u32 = 6;

/// What a writer needs to know, parsed from the options of the table.
#[derive(Clone, Debug)]
pub(super) struct WriteOptions {
    /// A stripe ends when it has about this many bytes.
    pub(super) stripe_bytes: u64,
    /// A stripe ends when it has this many rows.
    pub(super) stripe_rows: usize,
    /// Rows of a row group, `None` for no row index.
    row_index_stride: Option<usize>,
    chunk_bytes: u64,
    enforce_chunk: bool,
    aligned: bool,
    small: bool,
    dictionaries: DictionaryRule,
    direct_columns: BTreeSet<u32>,
    bloom_columns: BTreeSet<u32>,
    bloom_fpp: f64,
    zstd_level: i32,
    compress: Option<String>,
    legacy_ltz: bool,
}

/// What the writer of a column needs to know.
#[derive(Clone, Debug)]
pub(super) struct ColumnSettings {
    pub(super) streams: StreamSettings,
    /// Rows of a row group, `None` for no row index.
    pub(super) row_index_stride: Option<usize>,
    pub(super) dictionaries: DictionaryRule,
    /// Columns without dictionary.
    pub(super) direct_columns: BTreeSet<u32>,
    /// Columns with bloom filters.
    pub(super) bloom_columns: BTreeSet<u32>,
    /// Rate of false positives, between 0 and 1.
    pub(super) bloom_fpp: f64,
    /// `orc.timestamp-ltz.legacy.type`, which only says how Java takes statistics: in UTC, which is the zone of this writer, both
    /// ways of storing are the same.
    pub(super) legacy_ltz: bool,
}

impl WriteOptions {
    /// # Errors
    /// `InvalidInput` or `Unsupported` that names the option.
    pub(super) fn parse(options: &BTreeMap<String, String>, root: &Node) -> Result<Self> {
        let own = Own::of(options);
        own.refuse_others()?;
        let stripe_bytes = match options.get("file.block-size") {
            Some(text) => Some(parse_memory_size(text).map_err(|e| e.with("option", "file.block-size"))?),
            None => own.size("stripe.size")?,
        };
        let stride = own.number("row.index.stride")?.unwrap_or(DEFAULT_STRIDE);
        let row_index_stride = match (own.flag("create.index")?.unwrap_or(true), stride) {
            (false, _) | (true, 0) => None,
            (true, stride) if stride < MIN_STRIDE => {
                let what = format!("value is {stride}, 0 or at least {MIN_STRIDE} is expected");
                return Err(Error::invalid(what).with("option", "orc.row.index.stride"));
            }
            (true, stride) => Some(stride),
        };
        let chunk_bytes = own.size("compress.size")?.unwrap_or(DEFAULT_CHUNK_BYTES);
        if chunk_bytes == 0 || chunk_bytes >= CHUNK_LIMIT {
            let what = format!(
                "value is {chunk_bytes}, 1 to {} bytes are expected",
                CHUNK_LIMIT - 1
            );
            return Err(Error::invalid(what).with("option", "orc.compress.size"));
        }
        let bloom_fpp = own.number("bloom.filter.fpp")?.unwrap_or(0.01);
        if !(bloom_fpp > 0.0 && bloom_fpp < 1.0) {
            let what = format!("value is {bloom_fpp}, a number between 0 and 1 is expected");
            return Err(Error::invalid(what).with("option", "orc.bloom.filter.fpp"));
        }
        let zstd_level = match own.number("compression.zstd.level")? {
            Some(level) => level,
            None => match options.get("file.compression.zstd-level") {
                Some(text) => text.trim().parse().map_err(|_| {
                    Error::invalid(format!("zstd level is {text:?}, an integer is expected"))
                        .with("option", "file.compression.zstd-level")
                })?,
                None => 1,
            },
        };
        Ok(WriteOptions {
            stripe_bytes: stripe_bytes.unwrap_or(DEFAULT_STRIPE_BYTES).max(1),
            stripe_rows: own.number("stripe.row.count")?.unwrap_or(usize::MAX).max(1),
            row_index_stride,
            chunk_bytes,
            enforce_chunk: own.flag("buffer.size.enforce")?.unwrap_or(false),
            aligned: !own.is_compression("encoding.strategy")?,
            small: own.is_compression("compression.strategy")?,
            dictionaries: DictionaryRule {
                threshold: own.number("dictionary.key.threshold")?.unwrap_or(0.8),
                early: own.flag("dictionary.early.check")?.unwrap_or(true),
            },
            direct_columns: own.columns("column.encoding.direct", root)?,
            bloom_columns: own.columns("bloom.filter.columns", root)?,
            bloom_fpp,
            zstd_level,
            compress: own.get("compress").map(str::to_owned),
            legacy_ltz: own.flag("timestamp-ltz.legacy.type")?.unwrap_or(true),
        })
    }

    /// The codec for `compression`, the value of `file.compression`, which `orc.compress` overrides.
    ///
    /// # Errors
    /// `Unsupported` that names the option for a codec that is not written.
    pub(super) fn codec(&self, compression: &str) -> Result<Codec> {
        let (name, option) = match &self.compress {
            Some(name) => (name.as_str(), "orc.compress"),
            None => (compression, "file.compression"),
        };
        Ok(match name.trim().to_ascii_lowercase().as_str() {
            "none" | "" => Codec::None,
            "zlib" => Codec::Zlib(if self.small { SMALL_ZLIB } else { FAST_ZLIB }),
            "snappy" => Codec::Snappy,
            "lz4" => Codec::Lz4,
            "zstd" if zstd::compression_level_range().contains(&self.zstd_level) => {
                Codec::Zstd(self.zstd_level)
            }
            "zstd" => {
                let what = format!("zstd level is {}, 1 to 22 is expected", self.zstd_level);
                return Err(Error::invalid(what).with("option", "file.compression.zstd-level"));
            }
            _ => {
                let what = format!(
                    "compression {name:?} is not written in orc, expected one of none, zlib, snappy, lz4, zstd"
                );
                return Err(Error::unsupported(what).with("option", option));
            }
        })
    }

    /// Bytes of a chunk in files with this codec, as orc-java chooses them: less than `orc.compress.size` where many columns
    /// have to share the stripe.
    pub(super) fn chunk(&self, codec: Codec, columns: usize) -> Option<usize> {
        if codec.is_none() {
            return None;
        }
        let share = self.stripe_bytes / (20 * columns.max(1) as u64);
        let rounded = share
            .clamp(MIN_CHUNK_BYTES, DEFAULT_CHUNK_BYTES)
            .next_power_of_two();
        let bytes = if self.enforce_chunk {
            self.chunk_bytes
        } else {
            self.chunk_bytes.min(rounded)
        };
        usize::try_from(bytes).ok()
    }

    pub(super) fn columns(&self, chunk: Option<usize>) -> ColumnSettings {
        ColumnSettings {
            streams: StreamSettings {
                chunk,
                aligned: self.aligned,
            },
            row_index_stride: self.row_index_stride,
            dictionaries: self.dictionaries,
            direct_columns: self.direct_columns.clone(),
            bloom_columns: self.bloom_columns.clone(),
            bloom_fpp: self.bloom_fpp,
            legacy_ltz: self.legacy_ltz,
        }
    }
}

/// The options `orc.*` without the prefix.
struct Own<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Own<'a> {
    fn of(options: &'a BTreeMap<String, String>) -> Self {
        let own = options.iter().filter_map(|(key, value)| {
            let (prefix, rest) = key.split_once('.')?;
            prefix
                .eq_ignore_ascii_case("orc")
                .then_some((rest, value.as_str()))
        });
        Own(own.collect())
    }

    fn get(&self, key: &str) -> Option<&'a str> {
        self.0.get(key).copied()
    }

    /// Refuses options that would make files of another kind.
    fn refuse_others(&self) -> Result<()> {
        for key in ["encrypt", "mask"] {
            if self.get(key).is_some_and(|value| !value.trim().is_empty()) {
                return Err(
                    Error::unsupported("orc files are not written encrypted or masked")
                        .with("option", format!("orc.{key}")),
                );
            }
        }
        if self.flag("proleptic.gregorian")? == Some(true) {
            return Err(
                Error::unsupported("orc files are written in the Julian/Gregorian calendar only")
                    .with("option", "orc.proleptic.gregorian"),
            );
        }
        match self.get("write.format").map(str::trim) {
            None | Some("0.12") => Ok(()),
            Some(other) => Err(Error::unsupported(format!(
                "orc files are written in format 0.12, not {other:?}"
            ))
            .with("option", "orc.write.format")),
        }
    }

    fn bad(&self, key: &str, value: &str, expected: &str) -> Error {
        Error::invalid(format!("value is {value:?}, {expected} is expected"))
            .with("option", format!("orc.{key}"))
    }

    fn number<T: FromStr>(&self, key: &str) -> Result<Option<T>> {
        self.get(key)
            .map(|text| text.trim().parse().map_err(|_| self.bad(key, text, "a number")))
            .transpose()
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        self.get(key)
            .map(|text| parse_memory_size(text).map_err(|e| e.with("option", format!("orc.{key}"))))
            .transpose()
    }

    fn flag(&self, key: &str) -> Result<Option<bool>> {
        self.get(key)
            .map(|text| match text.trim().to_ascii_lowercase().as_str() {
                "true" => Ok(true),
                "false" => Ok(false),
                _ => Err(self.bad(key, text, "true or false")),
            })
            .transpose()
    }

    /// False for SPEED, the default.
    fn is_compression(&self, key: &str) -> Result<bool> {
        match self.get(key) {
            None => Ok(false),
            Some(text) => match text.trim().to_ascii_uppercase().as_str() {
                "SPEED" => Ok(false),
                "COMPRESSION" => Ok(true),
                _ => Err(self.bad(key, text, "SPEED or COMPRESSION")),
            },
        }
    }

    /// Numbers of the columns in a list, with those below them.
    fn columns(&self, key: &str, root: &Node) -> Result<BTreeSet<u32>> {
        let mut ids = BTreeSet::new();
        let names = self.get(key).unwrap_or_default().split(',').map(str::trim);
        for name in names.filter(|name| !name.is_empty()) {
            let node = root
                .find(name)
                .ok_or_else(|| self.bad(key, name, "the name of a column"))?;
            ids.extend(node.ids());
        }
        Ok(ids)
    }
}
