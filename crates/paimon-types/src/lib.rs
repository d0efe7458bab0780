// SPDX-License-Identifier: Apache-2.0

//! Logical types, schemas, binary rows, hashing, predicates and options of Apache Paimon.
//!
//! Pure values and codecs: nothing here does I/O, and no codec panics on bytes that it reads.

#![warn(clippy::indexing_slicing)]

mod arrow;
mod binary;
mod blob;
mod bucket;
mod data_type;
mod datum;
mod error;
mod hash;
mod json_text;
mod json_tree;
mod options;
mod parse;
mod partition;
mod predicate;
mod row_kind;
mod schema;
mod stream;
pub mod text;
mod type_json;
mod variant;

pub use arrow::{
    FIELD_ID as ARROW_FIELD_ID, TYPE as ARROW_TYPE, arrow_type, from_arrow_schema, to_arrow_field,
    to_arrow_schema,
};
pub use binary::{
    BinaryArray, BinaryArrayRef, BinaryRow, BinaryRowRef, BinaryRowWriter, SharedBytes, i128_from_big_endian,
    read_nullable_stream_value, read_stream_value, write_nullable_stream_value, write_stream_value,
};
pub use blob::{BlobDescriptor, BlobValue, BlobView};
pub use bucket::{
    BucketFunction, bucket_from_hash, dynamic_bucket_assigner, hive_bucket, hive_combine, hive_hash_bytes,
    hive_hash_datum, hive_hash_decimal, hive_hash_f32, hive_hash_f64, hive_hash_i64, is_assigned_bucket,
    mod_bucket,
};
pub use data_type::{DataField, DataType, MAX_LENGTH, TypeKind, system_field};
pub use datum::{Datum, Timestamp};
pub use error::{Error, ErrorKind, Result};
pub use hash::{bigint_row_hash, bytes_row_hash, int_row_hash, murmur_bytes, murmur_words, null_row_hash};
pub use json_text::to_pretty_json;
pub use json_tree::JsonTree;
pub use options::{
    ChangelogProducer, CoreOptions, ExternalPathStrategy, IncrementalScanMode, MergeEngine, OPTIONS,
    OptionScope, OptionSpec, SequenceNumberInitMode, SortOrder, StartupMode, StatsMode, TableType,
    options_markdown, parse_duration_millis, parse_memory_size,
};
pub use partition::{PartitionNaming, escape_path_name, unescape_path_name};
pub use predicate::{
    BoundLiteral, ColumnStats, LeafPredicate, LikePattern, Literal, Predicate, PredicateOp, bind_literal,
    bind_literal_in,
};
pub use row_kind::RowKind;
pub use schema::{NewTable, SCHEMA_VERSION, TableSchema};
pub use stream::{DataInput, DataOutput};
pub use text::{datum_from_string, datum_to_string, java_double_to_string, java_float_to_string};
pub use variant::{variant_from_json, variant_from_json_text, variant_to_json};
