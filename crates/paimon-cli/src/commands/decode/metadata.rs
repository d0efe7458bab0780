// SPDX-License-Identifier: Apache-2.0

//! Manifests of every kind.

use paimon::meta::manifest::{FileKind, IndexManifestEntry, ManifestEntry, ManifestFileMeta};
use paimon::protocol::json as protocol_json;
use serde_json::{Value, json};

fn kind(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Add => "ADD",
        FileKind::Delete => "DELETE",
    }
}

pub(super) fn manifest_meta(meta: &ManifestFileMeta) -> Value {
    json!({
        "fileName": meta.file_name,
        "fileSize": meta.file_size,
        "numAddedFiles": meta.num_added_files,
        "numDeletedFiles": meta.num_deleted_files,
        "partitionStats": protocol_json::simple_stats(&meta.partition_stats, None),
        "schemaId": meta.schema_id,
        "minBucket": meta.min_bucket,
        "maxBucket": meta.max_bucket,
        "minLevel": meta.min_level,
        "maxLevel": meta.max_level,
        "minRowId": meta.min_row_id,
        "maxRowId": meta.max_row_id,
    })
}

pub(super) fn manifest_entry(entry: &ManifestEntry) -> Value {
    json!({
        "kind": kind(entry.kind),
        "partition": protocol_json::row(entry.partition.as_values(), None),
        "bucket": entry.bucket,
        "totalBuckets": entry.total_buckets,
        "file": protocol_json::data_file(&entry.file, None),
    })
}

pub(super) fn index_entry(entry: &IndexManifestEntry) -> Value {
    json!({
        "kind": kind(entry.kind),
        "partition": protocol_json::row(entry.partition.as_values(), None),
        "bucket": entry.bucket,
        "indexFile": protocol_json::index_file(&entry.index_file),
    })
}
