// SPDX-License-Identifier: Apache-2.0

//! Plans, splits, commit messages and bucket states as JSON, for `paimon decode` and for logs. Not a format: nothing reads it back.
//!
//! Names are those of Java's fields. An absent value is `null`. A row is `{"arity", "hex"}`; given the table's schema it
//! has `values` by column too, or `error` when they do not decode. Statistics and keys are decoded only for files that
//! were written with that schema.

use paimon_types::{DataField, DataType, Datum, TableSchema, TypeKind, datum_to_string};
use serde_json::{Map, Value, json};

use crate::{
    BucketState, CommitMessage, DataFileMeta, DataSplit, DeletionFile, FileSource, IndexFileMeta,
    ManifestCommittable, Partition, PlanEnvelope, RowValues, SimpleStats, Split,
};

/// A split of any kind: its fields and `kind` ([`Split::kind`]).
pub fn split(split: &Split, schema: Option<&TableSchema>) -> Value {
    let body = match split {
        Split::Data(split) => data_split(split, schema),
        Split::Incremental(split) => json!({
            "snapshotId": split.snapshot_id,
            "partition": partition(&split.partition, schema),
            "bucket": split.bucket,
            "totalBuckets": split.total_buckets,
            "beforeFiles": data_files(&split.before_files, schema),
            "beforeDeletionFiles": deletion_files(split.before_deletion_files.as_deref()),
            "afterFiles": data_files(&split.after_files, schema),
            "afterDeletionFiles": deletion_files(split.after_deletion_files.as_deref()),
            "isStreaming": split.is_streaming,
        }),
        Split::Indexed(split) => json!({
            "split": data_split(&split.split, schema),
            "rowRanges": split.row_ranges.iter().map(|range| json!([range.from, range.to])).collect::<Vec<_>>(),
            "scores": split.scores.as_ref().map(|scores| scores.iter().map(|s| float(s.to_string())).collect::<Vec<_>>()),
        }),
        Split::Chain(split) => json!({
            "logicalPartition": partition(&split.logical_partition, schema),
            "dataFiles": data_files(&split.data_files, schema),
            "fileBucketPathMapping": pairs(&split.file_bucket_paths),
            "fileBranchMapping": pairs(&split.file_branches),
            "deletionFiles": deletion_files(split.deletion_files.as_deref()),
        }),
        Split::QueryAuth { split: inner, auth } => json!({
            "split": self::split(inner, schema),
            "auth": auth.as_ref().map(|auth| json!({
                "filter": auth.filter,
                "columnMasking": auth.column_masking.as_ref().map(|rules| {
                    rules.iter().map(|(column, rule)| (column.clone(), json!(rule))).collect::<Map<_, _>>()
                }),
            })),
        }),
        Split::FallbackData { split, is_fallback } => {
            json!({ "split": data_split(split, schema), "isFallback": is_fallback })
        }
        Split::Fallback {
            split: inner,
            is_fallback,
        } => {
            json!({ "split": self::split(inner, schema), "isFallback": is_fallback })
        }
    };
    let mut object = Map::from_iter([("kind".to_owned(), json!(split.kind()))]);
    if let Value::Object(body) = body {
        object.extend(body);
    }
    Value::Object(object)
}

fn pairs(pairs: &[(String, String)]) -> Value {
    pairs
        .iter()
        .map(|(key, value)| (key.clone(), json!(value)))
        .collect::<Map<_, _>>()
        .into()
}

/// A data split.
pub fn data_split(split: &DataSplit, schema: Option<&TableSchema>) -> Value {
    json!({
        "snapshotId": split.snapshot_id,
        "partition": partition(&split.partition, schema),
        "bucket": split.bucket,
        "bucketPath": split.bucket_path,
        "totalBuckets": split.total_buckets,
        "dataFiles": data_files(&split.data_files, schema),
        "deletionFiles": deletion_files(split.deletion_files.as_deref()),
        "isStreaming": split.is_streaming,
        "rawConvertible": split.raw_convertible,
    })
}

fn deletion_files(files: Option<&[Option<DeletionFile>]>) -> Value {
    let one = |file: &DeletionFile| json!({ "path": file.path, "offset": file.offset, "length": file.length, "cardinality": file.cardinality });
    json!(files.map(|files| {
        files
            .iter()
            .map(|file| file.as_ref().map(one))
            .collect::<Vec<_>>()
    }))
}

fn data_files(files: &[DataFileMeta], schema: Option<&TableSchema>) -> Value {
    files.iter().map(|file| data_file(file, schema)).collect()
}

/// A data file.
pub fn data_file(file: &DataFileMeta, schema: Option<&TableSchema>) -> Value {
    let schema = schema.filter(|schema| schema.id == file.schema_id);
    let keys = schema.and_then(|schema| columns(schema, schema.trimmed_primary_keys()));
    let values =
        schema.and_then(
            |schema| match file.value_stats_cols.as_ref().or(file.write_cols.as_ref()) {
                Some(names) => columns(schema, names.iter().map(String::as_str)),
                None => Some(schema.fields.iter().collect()),
            },
        );
    let source = file.file_source.map(|source| match source {
        FileSource::Append => "APPEND",
        FileSource::Compact => "COMPACT",
    });
    json!({
        "fileName": file.file_name,
        "fileSize": file.file_size,
        "rowCount": file.row_count,
        "minKey": row(&file.min_key, keys.as_deref()),
        "maxKey": row(&file.max_key, keys.as_deref()),
        "keyStats": simple_stats(&file.key_stats, keys.as_deref()),
        "valueStats": simple_stats(&file.value_stats, values.as_deref()),
        "minSequenceNumber": file.min_sequence_number,
        "maxSequenceNumber": file.max_sequence_number,
        "schemaId": file.schema_id,
        "level": file.level,
        "extraFiles": file.extra_files,
        "creationTime": file.creation_time,
        "deleteRowCount": file.delete_row_count,
        "embeddedIndex": file.embedded_index.as_deref().map(hex),
        "fileSource": source,
        "valueStatsCols": file.value_stats_cols.as_deref(),
        "externalPath": file.external_path,
        "firstRowId": file.first_row_id,
        "writeCols": file.write_cols.as_deref(),
        "writeColsSequences": file.write_cols_sequences,
    })
}

/// Columns by name; `None` when one is not in the schema.
fn columns<'a>(
    schema: &'a TableSchema,
    names: impl IntoIterator<Item = &'a str>,
) -> Option<Vec<&'a DataField>> {
    names.into_iter().map(|name| schema.field(name)).collect()
}

/// Statistics: bounds as rows, null counts, in the order of the columns.
pub fn simple_stats(stats: &SimpleStats, fields: Option<&[&DataField]>) -> Value {
    json!({
        "minValues": row(&stats.min_values, fields),
        "maxValues": row(&stats.max_values, fields),
        "nullCounts": stats.null_counts.to_vec(),
    })
}

/// An index file.
pub fn index_file(file: &IndexFileMeta) -> Value {
    let ranges = file.dv_ranges.as_ref().map(|ranges| {
        let one = |range: &crate::DeletionVectorMeta| {
            json!({
                "dataFileName": range.data_file_name,
                "offset": range.offset,
                "length": range.length,
                "cardinality": range.cardinality,
            })
        };
        ranges.iter().map(one).collect::<Vec<_>>()
    });
    let global = file.global_index.as_ref().map(|global| {
        json!({
            "rowRangeStart": global.row_range_start,
            "rowRangeEnd": global.row_range_end,
            "indexFieldId": global.index_field_id,
            "extraFieldIds": global.extra_field_ids,
            "indexMeta": global.index_meta.as_deref().map(hex),
            "sourceMeta": global.source_meta.as_deref().map(hex),
        })
    });
    json!({
        "indexType": file.index_type,
        "fileName": file.file_name,
        "fileSize": file.file_size,
        "rowCount": file.row_count,
        "dvRanges": ranges,
        "externalPath": file.external_path,
        "globalIndexMeta": global,
    })
}

/// A commit message.
pub fn commit_message(message: &CommitMessage, schema: Option<&TableSchema>) -> Value {
    let (data, compact) = (&message.data_increment, &message.compact_increment);
    let files = |files: &[DataFileMeta]| data_files(files, schema);
    let index = |files: &[IndexFileMeta]| files.iter().map(index_file).collect::<Vec<_>>();
    json!({
        "partition": partition(&message.partition, schema),
        "bucket": message.bucket,
        "totalBuckets": message.total_buckets,
        "dataIncrement": {
            "newFiles": files(&data.new_files),
            "deletedFiles": files(&data.deleted_files),
            "changelogFiles": files(&data.changelog_files),
            "newIndexFiles": index(&data.new_index_files),
            "deletedIndexFiles": index(&data.deleted_index_files),
        },
        "compactIncrement": {
            "compactBefore": files(&compact.deleted_files),
            "compactAfter": files(&compact.new_files),
            "changelogFiles": files(&compact.changelog_files),
            "newIndexFiles": index(&compact.new_index_files),
            "deletedIndexFiles": index(&compact.deleted_index_files),
        },
        "checkFromSnapshot": message.check_from_snapshot,
    })
}

/// A committable.
pub fn committable(committable: &ManifestCommittable, schema: Option<&TableSchema>) -> Value {
    let offsets = committable
        .log_offsets
        .iter()
        .map(|(bucket, offset)| (bucket.to_string(), json!(offset)));
    json!({
        "identifier": committable.identifier,
        "watermark": committable.watermark,
        "logOffsets": offsets.collect::<Map<_, _>>(),
        "properties": committable.properties,
        "messages": committable.messages.iter().map(|message| commit_message(message, schema)).collect::<Vec<_>>(),
    })
}

/// A plan: its splits and where they come from; the schemas are told by their ids.
pub fn plan(plan: &PlanEnvelope) -> Value {
    let schema = Some(&plan.read_schema);
    json!({
        "location": plan.location,
        "branch": plan.branch,
        "snapshotId": plan.snapshot_id,
        "schemaId": plan.read_schema.id,
        "fileSchemaIds": plan.schemas.iter().map(|schema| schema.id).collect::<Vec<_>>(),
        "options": plan.options,
        "splits": plan.splits.iter().map(|split| data_split(split, schema)).collect::<Vec<_>>(),
    })
}

/// The state of a bucket.
pub fn bucket_state(state: &BucketState, schema: Option<&TableSchema>) -> Value {
    json!({
        "snapshotId": state.snapshot_id,
        "partition": partition(&state.partition, schema),
        "bucket": state.bucket,
        "totalBuckets": state.total_buckets,
        "maxSequenceNumber": state.max_sequence_number,
        "dataFiles": state.data_files.as_deref().map(|files| data_files(files, schema)),
        "dynamicBucketIndex": state.hash_index.as_ref().map(index_file),
        "deleteVectorsIndex": state.deletion_vectors.iter().map(index_file).collect::<Vec<_>>(),
    })
}

fn partition(partition: &Partition, schema: Option<&TableSchema>) -> Value {
    let fields = schema.map(TableSchema::partition_fields);
    row(partition.as_values(), fields.as_deref())
}

/// A row: `arity`, `hex` of its bytes, and `values` by column when the fields are given.
pub fn row(row: &RowValues, fields: Option<&[&DataField]>) -> Value {
    let mut object = Map::new();
    object.insert("arity".to_owned(), json!(row.len()));
    object.insert("hex".to_owned(), json!(hex(row.encoded_row().as_bytes())));
    if let Some(fields) = fields.filter(|_| !row.is_empty()) {
        let types: Vec<DataType> = fields.iter().map(|field| field.data_type.clone()).collect();
        match row.values(&types) {
            Ok(values) => {
                let values = fields.iter().zip(&values);
                let values = values
                    .map(|(field, value)| (field.name.clone(), datum(value.as_ref(), &field.data_type)));
                object.insert("values".to_owned(), values.collect::<Map<_, _>>().into());
            }
            Err(e) => {
                object.insert("error".to_owned(), json!(e.to_string()));
            }
        }
    }
    Value::Object(object)
}

/// A value: numbers and booleans as such, bytes as hex, NaN and infinities as text, arrays as arrays, maps as arrays of
/// pairs, rows as objects, variants as hex of their parts, everything else as the text of a cast to STRING (TIMESTAMP_LTZ
/// in UTC with `Z`).
pub fn datum(value: Option<&Datum>, data_type: &DataType) -> Value {
    let Some(value) = value else { return Value::Null };
    match (value, &data_type.kind) {
        (Datum::Boolean(v), _) => json!(v),
        (Datum::TinyInt(v), _) => json!(v),
        (Datum::SmallInt(v), _) => json!(v),
        (Datum::Int(v), _) => json!(v),
        (Datum::BigInt(v), _) => json!(v),
        (Datum::Float(v), _) => float(v.to_string()),
        (Datum::Double(v), _) => float(v.to_string()),
        (Datum::String(v), _) => json!(v),
        (Datum::Bytes(v), _) => json!(hex(v)),
        (Datum::Array(values), TypeKind::Array(element) | TypeKind::Vector(element, _)) => values
            .iter()
            .map(|value| datum(value.as_ref(), element))
            .collect(),
        (Datum::Map(entries), TypeKind::Map(key, value)) => map(entries, key, value),
        (Datum::Map(entries), TypeKind::Multiset(key)) => {
            map(entries, key, &DataType::required(TypeKind::Int))
        }
        (Datum::Row(values), TypeKind::Row(fields)) => {
            let values = fields.iter().zip(values);
            let values =
                values.map(|(field, value)| (field.name.clone(), datum(value.as_ref(), &field.data_type)));
            values.collect::<Map<_, _>>().into()
        }
        (Datum::Variant { value, metadata }, _) => json!({ "value": hex(value), "metadata": hex(metadata) }),
        (Datum::Timestamp(_), TypeKind::TimestampLtz(_)) => {
            json!(format!("{}Z", datum_to_string(value, data_type)))
        }
        _ => json!(datum_to_string(value, data_type)),
    }
}

fn map(entries: &[(Option<Datum>, Option<Datum>)], key_type: &DataType, value_type: &DataType) -> Value {
    let pair = |(key, value): &(Option<Datum>, Option<Datum>)| {
        json!([datum(key.as_ref(), key_type), datum(value.as_ref(), value_type)])
    };
    entries.iter().map(pair).collect()
}

/// The shortest text of a float as a number, `NaN` and infinities as `"NaN"`, `"Infinity"`, `"-Infinity"`.
fn float(text: String) -> Value {
    match text.as_str() {
        "inf" => json!("Infinity"),
        "-inf" => json!("-Infinity"),
        _ => serde_json::from_str(&text).unwrap_or(Value::String(text)),
    }
}

/// Lower-case hex.
fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
