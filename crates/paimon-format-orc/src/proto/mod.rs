// SPDX-License-Identifier: Apache-2.0

//! The protobuf messages of an ORC file (`orc_proto.proto` of the ORC specification, proto2), as far as they are used.
//!
//! A decoder of their own, because the file comes from anywhere: every length is checked before anything is reserved,
//! unknown fields are skipped, and a message that ends early is an error. Fields that are not in the bytes are `None` or
//! empty.

mod decode;
mod wire;

use std::sync::Arc;

/// Value of `PostScript.magic`, also the first bytes of a file.
pub(crate) const MAGIC: &[u8] = b"ORC";

/// `CompressionKind`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CompressionKind {
    #[default]
    None = 0,
    Zlib = 1,
    Snappy = 2,
    Lzo = 3,
    Lz4 = 4,
    Zstd = 5,
}

/// The last bytes of a file, never compressed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PostScript {
    pub(crate) footer_length: u64,
    pub(crate) compression: CompressionKind,
    pub(crate) compression_block_size: Option<u64>,
    pub(crate) version: Vec<u32>,
    pub(crate) metadata_length: u64,
    pub(crate) writer_version: Option<u32>,
    pub(crate) magic: Vec<u8>,
}

/// `CalendarKind`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Calendar {
    /// Not told: as the old library, Julian before 1582-10-15.
    #[default]
    Unknown = 0,
    /// Julian before 1582-10-15.
    JulianGregorian = 1,
    ProlepticGregorian = 2,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Footer {
    pub(crate) header_length: u64,
    pub(crate) content_length: u64,
    pub(crate) stripes: Vec<StripeInformation>,
    pub(crate) types: Vec<Type>,
    /// User metadata.
    pub(crate) metadata: Vec<(String, Vec<u8>)>,
    pub(crate) number_of_rows: u64,
    /// One for each type.
    pub(crate) statistics: Vec<ColumnStatistics>,
    /// Rows of a row group; 0 and `None` for a file without row indexes.
    pub(crate) row_index_stride: Option<u32>,
    /// Library: 0 Java, 1 C++, …
    pub(crate) writer: Option<u32>,
    pub(crate) encrypted: bool,
    pub(crate) calendar: Calendar,
    pub(crate) software_version: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StripeInformation {
    pub(crate) offset: u64,
    pub(crate) index_length: u64,
    pub(crate) data_length: u64,
    pub(crate) footer_length: u64,
    pub(crate) number_of_rows: u64,
}

/// `Type.Kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Boolean = 0,
    Byte = 1,
    Short = 2,
    Int = 3,
    Long = 4,
    Float = 5,
    Double = 6,
    String = 7,
    Binary = 8,
    Timestamp = 9,
    List = 10,
    Map = 11,
    Struct = 12,
    Union = 13,
    Decimal = 14,
    Date = 15,
    Varchar = 16,
    Char = 17,
    TimestampInstant = 18,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Type {
    /// The kind as stored; [`Type::kind`] for its meaning.
    pub(crate) kind: u64,
    pub(crate) subtypes: Vec<u32>,
    pub(crate) field_names: Vec<String>,
    pub(crate) maximum_length: Option<u32>,
    pub(crate) precision: Option<u32>,
    pub(crate) scale: Option<u32>,
    pub(crate) attributes: Vec<(String, String)>,
}

/// Statistics of a column over a file, a stripe or a row group.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ColumnStatistics {
    /// Number of values that are not NULL.
    pub(crate) number_of_values: Option<u64>,
    pub(crate) has_null: Option<bool>,
    pub(crate) bytes_on_disk: Option<u64>,
    pub(crate) integer: Option<IntegerStatistics>,
    pub(crate) double: Option<DoubleStatistics>,
    pub(crate) string: Option<Arc<StringStatistics>>,
    /// Booleans: the number of true values.
    pub(crate) bucket: Option<Vec<u64>>,
    pub(crate) decimal: Option<Arc<DecimalStatistics>>,
    pub(crate) date: Option<DateStatistics>,
    /// Binaries: the sum of lengths.
    pub(crate) binary_sum: Option<i64>,
    pub(crate) timestamp: Option<TimestampStatistics>,
    pub(crate) collection: Option<CollectionStatistics>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IntegerStatistics {
    pub(crate) minimum: Option<i64>,
    pub(crate) maximum: Option<i64>,
    /// Absent when it overflowed.
    pub(crate) sum: Option<i64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct DoubleStatistics {
    pub(crate) minimum: Option<f64>,
    pub(crate) maximum: Option<f64>,
    pub(crate) sum: Option<f64>,
}

/// Bounds of strings. A bound of more than 1024 bytes is not given as minimum or maximum but cut, as `lower_bound` or
/// `upper_bound`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StringStatistics {
    pub(crate) minimum: Option<String>,
    pub(crate) maximum: Option<String>,
    pub(crate) sum: Option<i64>,
    pub(crate) lower_bound: Option<String>,
    pub(crate) upper_bound: Option<String>,
}

/// Decimals as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DecimalStatistics {
    pub(crate) minimum: Option<String>,
    pub(crate) maximum: Option<String>,
    pub(crate) sum: Option<String>,
}

/// Days since 1970-01-01.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DateStatistics {
    pub(crate) minimum: Option<i32>,
    pub(crate) maximum: Option<i32>,
}

/// Milliseconds since 1970-01-01.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimestampStatistics {
    /// In the zone of the writer, in files from before ORC-135.
    pub(crate) minimum: Option<i64>,
    pub(crate) maximum: Option<i64>,
    pub(crate) minimum_utc: Option<i64>,
    pub(crate) maximum_utc: Option<i64>,
    /// The last six digits of the nanoseconds, plus one; absent for 0 (minimum) and 999999 (maximum).
    pub(crate) minimum_nanos: Option<i32>,
    pub(crate) maximum_nanos: Option<i32>,
}

/// Numbers of elements of lists and maps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CollectionStatistics {
    pub(crate) min_children: Option<u64>,
    pub(crate) max_children: Option<u64>,
    pub(crate) total_children: Option<u64>,
}

/// `Metadata`: for each stripe, statistics of each column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Metadata {
    pub(crate) stripes: Vec<Vec<ColumnStatistics>>,
}

/// `Stream.Kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum StreamKind {
    Present = 0,
    Data = 1,
    Length = 2,
    DictionaryData = 3,
    DictionaryCount = 4,
    Secondary = 5,
    RowIndex = 6,
    BloomFilter = 7,
    BloomFilterUtf8 = 8,
}

/// A stream of a stripe; `kind` is `None` for kinds that are not known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stream {
    pub(crate) kind: Option<StreamKind>,
    pub(crate) column: u32,
    pub(crate) length: u64,
}

/// `ColumnEncoding.Kind`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EncodingKind {
    #[default]
    Direct = 0,
    Dictionary = 1,
    DirectV2 = 2,
    DictionaryV2 = 3,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ColumnEncoding {
    pub(crate) kind: EncodingKind,
    pub(crate) dictionary_size: u32,
    /// 0: bloom filters of TIMESTAMP and text are of the old kinds; 1: of the one that is the same everywhere.
    pub(crate) bloom_encoding: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StripeFooter {
    pub(crate) streams: Vec<Stream>,
    pub(crate) columns: Vec<ColumnEncoding>,
    pub(crate) writer_timezone: Option<String>,
}

/// An entry for one row group of one column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RowIndexEntry {
    pub(crate) positions: Vec<u64>,
    pub(crate) statistics: Option<ColumnStatistics>,
}

/// A bloom filter of one row group of one column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BloomFilter {
    pub(crate) hash_functions: u32,
    pub(crate) bits: Vec<u64>,
}
