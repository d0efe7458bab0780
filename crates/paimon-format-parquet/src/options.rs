// SPDX-License-Identifier: Apache-2.0

//! Writer options (`options.md`, the `parquet.*` table; names and defaults are those of parquet-java).

use std::collections::BTreeMap;
use std::str::FromStr;

use paimon_types::{Error, Result, parse_memory_size};
use parquet::basic::{Compression, Encoding, GzipLevel, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::schema::types::{ColumnDescriptor, ColumnPath, SchemaDescriptor};

use crate::schema::is_int96_column;

/// Encoded bytes of a row group when no option says otherwise: half of what the Java product buffers, so that an open
/// writer stays small.
const DEFAULT_ROW_GROUP_BYTES: u64 = 64 << 20;
/// Rows of a row group when no option says otherwise.
const DEFAULT_ROW_GROUP_ROWS: u64 = 1 << 20;

const CREATED_BY: &str = concat!("paimon-rust version ", env!("CARGO_PKG_VERSION"));

/// True when the file was written by this crate.
pub(crate) fn is_own_file(created_by: Option<&str>) -> bool {
    created_by.is_some_and(|by| by.starts_with("paimon-rust version "))
}

/// What a writer needs to know, parsed from the options of the table.
#[derive(Clone, Debug)]
pub(crate) struct WriteOptions {
    /// A row group is closed when it holds this many encoded bytes.
    pub(crate) row_group_bytes: u64,
    /// A row group is closed when it holds this many rows.
    pub(crate) row_group_rows: u64,
    page_bytes: usize,
    page_rows: usize,
    pub(crate) dictionary_page_bytes: usize,
    version: WriterVersion,
    statistics_truncate: Option<usize>,
    index_truncate: Option<usize>,
    zstd_level: i32,
    /// `parquet.*` keys without the prefix; some have a column suffix `#<column>`.
    own: BTreeMap<String, String>,
}

impl WriteOptions {
    pub(crate) fn parse(options: &BTreeMap<String, String>) -> Result<Self> {
        let own: BTreeMap<String, String> = options
            .iter()
            .filter_map(|(key, value)| Some((own_key(key)?, value.clone())))
            .collect();
        let block = match options.get("file.block-size") {
            Some(text) => Some(parse_memory_size(text).map_err(|e| e.with("option", "file.block-size"))?),
            None => size(&own, "block.size")?,
        };
        let version = match own
            .get("writer.version")
            .map(|v| v.to_ascii_lowercase())
            .as_deref()
        {
            None | Some("v1" | "parquet_1_0") => WriterVersion::PARQUET_1_0,
            Some("v2" | "parquet_2_0") => WriterVersion::PARQUET_2_0,
            Some(other) => return Err(bad("writer.version", other, "v1 or v2")),
        };
        let zstd_level = match number(&own, "compression.codec.zstd.level")? {
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
            row_group_bytes: block.unwrap_or(DEFAULT_ROW_GROUP_BYTES).max(1),
            row_group_rows: number(&own, "block.row.count.limit")?
                .unwrap_or(DEFAULT_ROW_GROUP_ROWS)
                .max(1),
            page_bytes: to_usize(size(&own, "page.size")?.unwrap_or(1 << 20)),
            page_rows: number(&own, "page.row.count.limit")?.unwrap_or(20_000),
            dictionary_page_bytes: to_usize(size(&own, "dictionary.page.size")?.unwrap_or(1 << 20)),
            version,
            statistics_truncate: truncate(number(&own, "statistics.truncate.length")?.unwrap_or(i32::MAX)),
            index_truncate: truncate(number(&own, "columnindex.truncate.length")?.unwrap_or(64)),
            zstd_level,
            own,
        })
    }

    /// False when an option says which columns have dictionaries.
    pub(crate) fn samples_dictionaries(&self) -> bool {
        !self.own.keys().any(|key| key.starts_with("enable.dictionary"))
    }

    /// The properties of files with the columns of `schema`; `compression` is the value of `file.compression`, which
    /// `parquet.compression` overrides. The top-level columns `plain` have no dictionary.
    pub(crate) fn properties(
        &self,
        compression: &str,
        schema: &SchemaDescriptor,
        plain: &[&str],
    ) -> Result<WriterProperties> {
        let codec = match self.own.get("compression") {
            Some(name) => self
                .codec(name)
                .map_err(|e| e.with("option", "parquet.compression"))?,
            None => self
                .codec(compression)
                .map_err(|e| e.with("option", "file.compression"))?,
        };
        let mut builder = WriterProperties::builder()
            .set_created_by(CREATED_BY.to_string())
            .set_writer_version(self.version)
            .set_compression(codec)
            .set_data_page_size_limit(self.page_bytes)
            .set_data_page_row_count_limit(self.page_rows)
            .set_dictionary_page_size_limit(self.dictionary_page_bytes)
            .set_dictionary_enabled(flag(&self.own, "enable.dictionary", None)?.unwrap_or(true))
            .set_statistics_truncate_length(self.statistics_truncate)
            .set_column_index_truncate_length(self.index_truncate)
            .set_statistics_enabled(EnabledStatistics::Page)
            .set_bloom_filter_enabled(false);
        let bloom = flag(&self.own, "bloom.filter.enabled", None)?.unwrap_or(false);
        for column in schema.columns() {
            let path = column.path().clone();
            if matches!(path.parts(), [name] if plain.contains(&name.as_str())) {
                builder = builder.set_column_dictionary_enabled(path.clone(), false);
            }
            if let Some(enabled) = flag(&self.own, "enable.dictionary", Some(column))? {
                builder = builder.set_column_dictionary_enabled(path.clone(), enabled);
            }
            if let Some(name) = column_value(&self.own, "compression", column) {
                let codec = self
                    .codec(name)
                    .map_err(|e| e.with("column", column.path().string()))?;
                builder = builder.set_column_compression(path.clone(), codec);
            }
            if is_int96_column(column) {
                // The order of INT96 is undefined, and a delta encoding is not allowed for it.
                builder = builder
                    .set_column_statistics_enabled(path.clone(), EnabledStatistics::Chunk)
                    .set_column_encoding(path.clone(), Encoding::PLAIN);
            }
            if flag(&self.own, "bloom.filter.enabled", Some(column))?.unwrap_or(bloom) {
                builder = self.bloom_filter(builder, path, column)?;
            }
        }
        Ok(builder.build())
    }

    fn bloom_filter(
        &self,
        builder: parquet::file::properties::WriterPropertiesBuilder,
        path: ColumnPath,
        column: &ColumnDescriptor,
    ) -> Result<parquet::file::properties::WriterPropertiesBuilder> {
        let key = "bloom.filter.fpp";
        let fpp = match column_value(&self.own, key, column).or_else(|| self.own.get(key).map(String::as_str))
        {
            None => 0.01,
            Some(text) => match text.trim().parse::<f64>() {
                Ok(fpp) if fpp > 0.0 && fpp < 1.0 => fpp,
                _ => return Err(bad(key, text, "a number between 0 and 1")),
            },
        };
        let mut builder = builder
            .set_column_bloom_filter_enabled(path.clone(), true)
            .set_column_bloom_filter_fpp(path.clone(), fpp);
        if let Some(text) = column_value(&self.own, "bloom.filter.expected.ndv", column) {
            let ndv = text
                .trim()
                .parse::<i64>()
                .map_err(|_| bad("bloom.filter.expected.ndv", text, "an integer"))?;
            if let Ok(ndv @ 1..) = u64::try_from(ndv) {
                builder = builder.set_column_bloom_filter_max_ndv(path, ndv);
            }
        }
        Ok(builder)
    }

    /// Codec names are those of Hadoop's parquet: `lz4` is the framed codec, `lz4_raw` the plain one.
    fn codec(&self, name: &str) -> Result<Compression> {
        Ok(match name.trim().to_ascii_lowercase().as_str() {
            "none" | "uncompressed" | "" => Compression::UNCOMPRESSED,
            "snappy" => Compression::SNAPPY,
            "gzip" => Compression::GZIP(GzipLevel::default()),
            "lz4" => Compression::LZ4,
            "lz4_raw" => Compression::LZ4_RAW,
            "zstd" => {
                let level = ZstdLevel::try_new(self.zstd_level).map_err(|_| {
                    Error::invalid(format!("zstd level is {}, 1 to 22 is expected", self.zstd_level))
                        .with("option", "file.compression.zstd-level")
                })?;
                Compression::ZSTD(level)
            }
            _ => {
                return Err(Error::unsupported(format!(
                    "compression {name:?} is not written in parquet, \
                     expected one of none, snappy, gzip, lz4, lz4_raw, zstd"
                )));
            }
        })
    }
}

fn own_key(key: &str) -> Option<String> {
    let (prefix, rest) = key.split_once('.')?;
    prefix.eq_ignore_ascii_case("parquet").then(|| rest.to_string())
}

fn bad(key: &str, value: &str, expected: &str) -> Error {
    Error::invalid(format!("value is {value:?}, {expected} is expected"))
        .with("option", format!("parquet.{key}"))
}

fn number<T: FromStr>(own: &BTreeMap<String, String>, key: &str) -> Result<Option<T>> {
    own.get(key)
        .map(|text| text.trim().parse().map_err(|_| bad(key, text, "a number")))
        .transpose()
}

fn size(own: &BTreeMap<String, String>, key: &str) -> Result<Option<u64>> {
    own.get(key)
        .map(|text| parse_memory_size(text).map_err(|e| e.with("option", format!("parquet.{key}"))))
        .transpose()
}

fn column_value<'a>(
    own: &'a BTreeMap<String, String>,
    key: &str,
    column: &ColumnDescriptor,
) -> Option<&'a str> {
    own.get(&format!("{key}#{}", column.path().string()))
        .map(String::as_str)
}

fn flag(
    own: &BTreeMap<String, String>,
    key: &str,
    column: Option<&ColumnDescriptor>,
) -> Result<Option<bool>> {
    let text = match column {
        Some(column) => column_value(own, key, column),
        None => own.get(key).map(String::as_str),
    };
    text.map(|text| match text.trim().to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(bad(key, text, "true or false")),
    })
    .transpose()
}

fn truncate(length: i32) -> Option<usize> {
    usize::try_from(length)
        .ok()
        .filter(|n| *n > 0 && length != i32::MAX)
}

fn to_usize(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
