// SPDX-License-Identifier: Apache-2.0

//! `paimon decode`: metadata and protocol files as JSON, and back at another version.

use std::path::Path;

use paimon::data::default_registry;
use paimon::meta::manifest::{
    FileKind, IndexManifestEntry, KeepAll, ManifestDecoder, ManifestEntry, ManifestFileMeta,
};
use paimon::protocol::codec::java::{
    JAVA_COMMIT_MESSAGE_VERSION, SplitEncoding, decode_commit_message, decode_commit_messages,
    encode_commit_message, encode_commit_messages,
};
use paimon::protocol::{RowValues, Split, json as protocol_json};
use paimon::types::{BinaryRow, DataType, Error, Result, TableSchema};
use paimon::{PlanEnvelope, Snapshot};
use paimon_index::{
    DELETION_VECTORS_VERSION, DeletionVectorFileWriter, StoredVector, decode_hash_index, encode_hash_index,
    walk_deletion_vectors,
};
use serde_json::{Value, json};

use crate::args::{DecodeArgs, DecodeKind};

pub(super) async fn run(args: &DecodeArgs) -> Result<()> {
    let bytes = std::fs::read(&args.file).map_err(|e| {
        Error::not_found(format!("the file cannot be read: {e}")).with("path", args.file.display())
    })?;
    let path = args.file.display().to_string();
    let decoded = decode(args, &path, bytes).await.map_err(|e| {
        let named = e.context().any(|(key, _)| key == "path");
        if named { e } else { e.with("path", &path) }
    })?;
    println!("{:#}", decoded.value);
    match (&args.out, decoded.encoded) {
        (Some(out), Some(bytes)) => write(out, &bytes),
        (Some(_), None) => Err(Error::unsupported(
            "--reencode works for split, commit-message, deletion-vectors and hash-index only",
        )
        .with("option", "--reencode")),
        (None, _) => Ok(()),
    }
}

struct Decoded {
    value: Value,
    encoded: Option<Vec<u8>>,
}

async fn decode(args: &DecodeArgs, path: &str, file: Vec<u8>) -> Result<Decoded> {
    if args.list && args.kind != DecodeKind::CommitMessage {
        return Err(Error::invalid("only commit messages come in lists").with("option", "--list"));
    }
    let bytes = file.as_slice();
    let manifests = ManifestDecoder::new(default_registry());
    let value = match args.kind {
        DecodeKind::Snapshot => parsed(&Snapshot::from_json(text(bytes)?)?.to_json())?,
        DecodeKind::Schema => parsed(&TableSchema::from_json(text(bytes)?)?.to_json())?,
        DecodeKind::ManifestList => {
            let metas = manifests.manifest_list(path, file.into()).await?;
            metas.iter().map(manifest_meta).collect()
        }
        DecodeKind::Manifest => {
            let entries = manifests.manifest(path, file.into(), KeepAll).await?;
            entries.iter().map(manifest_entry).collect()
        }
        DecodeKind::IndexManifest => {
            let entries = manifests.index_manifest(path, file.into()).await?;
            entries.iter().map(index_entry).collect()
        }
        DecodeKind::Split => return split(args, bytes),
        DecodeKind::CommitMessage => return commit_message(args, bytes),
        DecodeKind::DeletionVectors => return deletion_vectors(args, bytes),
        DecodeKind::HashIndex => return hash_index(args, bytes),
        DecodeKind::BinaryRow => binary_row(args, bytes)?,
    };
    Ok(Decoded { value, encoded: None })
}

fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|e| Error::corrupt("the file is not UTF-8 text").with_source(e))
}

fn parsed(json: &str) -> Result<Value> {
    serde_json::from_str(json).map_err(|e| Error::corrupt("the file is not JSON").with_source(e))
}

fn split(args: &DecodeArgs, bytes: &[u8]) -> Result<Decoded> {
    if bytes.starts_with(&paimon::protocol::codec::native::NATIVE_PLAN_MAGIC) {
        let plan = PlanEnvelope::from_bytes(bytes)?;
        let schema = Some(&plan.read_schema);
        let splits: Vec<Value> = plan
            .splits
            .iter()
            .map(|s| protocol_json::data_split(s, schema))
            .collect();
        let value = json!({
            "location": plan.location,
            "branch": plan.branch,
            "snapshotId": plan.snapshot_id,
            "schemaId": plan.read_schema.id,
            "splits": splits,
        });
        return Ok(Decoded { value, encoded: None });
    }
    let (split, encoding) = Split::from_java_bytes(bytes)?;
    let encoded = match args.reencode {
        Some(version) => Some(split.to_java_bytes(SplitEncoding { version, ..encoding })?),
        None => None,
    };
    let mut value = protocol_json::split(&split, None);
    if let Value::Object(object) = &mut value {
        object.insert("version".to_owned(), json!(encoding.version));
    }
    Ok(Decoded { value, encoded })
}

fn commit_message(args: &DecodeArgs, bytes: &[u8]) -> Result<Decoded> {
    let version = args.version.unwrap_or(JAVA_COMMIT_MESSAGE_VERSION);
    let hint = |e: Error| match args.version {
        Some(_) => e,
        None => e.with(
            "hint",
            format!("the version is not in the bytes and {version} was assumed; give --version N"),
        ),
    };
    if args.list {
        let messages = decode_commit_messages(bytes, version).map_err(hint)?;
        let encoded = args
            .reencode
            .map(|v| encode_commit_messages(&messages, v))
            .transpose()?;
        let value = messages
            .iter()
            .map(|m| protocol_json::commit_message(m, None))
            .collect();
        Ok(Decoded { value, encoded })
    } else {
        let message = decode_commit_message(bytes, version).map_err(|err| {
            match decode_commit_messages(bytes, version) {
                Ok(list) => hint(Error::invalid(format!(
                    "the file holds a list of {} message(s), not one; give --list",
                    list.len()
                ))),
                Err(_) => hint(err),
            }
        })?;
        let encoded = args
            .reencode
            .map(|v| encode_commit_message(&message, v))
            .transpose()?;
        Ok(Decoded {
            value: protocol_json::commit_message(&message, None),
            encoded,
        })
    }
}

/// Every vector of an index file. Rows are single positions or pairs of the first and the last of a run.
fn deletion_vectors(args: &DecodeArgs, bytes: &[u8]) -> Result<Decoded> {
    let stored: Vec<StoredVector> = walk_deletion_vectors(bytes)?.collect::<Result<_>>()?;
    let encoded = match args.reencode {
        None => None,
        Some(version) if version == i32::from(DELETION_VECTORS_VERSION) => {
            let mut writer = DeletionVectorFileWriter::new();
            for stored in &stored {
                writer.write(&stored.vector)?;
            }
            Some(writer.finish())
        }
        Some(other) => {
            return Err(Error::unsupported(format!(
                "files of deletion vectors have version {DELETION_VECTORS_VERSION}, not {other}"
            ))
            .with("option", "--reencode"));
        }
    };
    let value = stored.iter().map(|stored| {
        let rows = stored
            .vector
            .ranges()
            .map(|range| match range.start() == range.end() {
                true => json!(range.start()),
                false => json!([range.start(), range.end()]),
            });
        json!({
            "offset": stored.place.offset,
            "length": stored.place.length,
            "kind": stored.vector.kind().to_string(),
            "cardinality": stored.place.cardinality,
            "rows": rows.collect::<Vec<_>>(),
        })
    });
    Ok(Decoded {
        value: value.collect(),
        encoded,
    })
}

/// The hashes of a bucket. The form has no version: whatever number stands behind --reencode, it is the only one.
fn hash_index(args: &DecodeArgs, bytes: &[u8]) -> Result<Decoded> {
    let hashes = decode_hash_index(bytes)?;
    Ok(Decoded {
        value: json!(hashes),
        encoded: args.reencode.map(|_| encode_hash_index(&hashes)),
    })
}

/// Form A: big-endian arity, then the row. With --types the values too.
fn binary_row(args: &DecodeArgs, bytes: &[u8]) -> Result<Value> {
    let row = BinaryRow::from_serialized(bytes)?;
    let mut value = binary_row_json(&row);
    if let Value::Object(object) = &mut value {
        object.insert("hash".to_owned(), json!(row.hash_code()));
        if let Some(types) = &args.types {
            let types = split_types(types)?;
            let values = row.decode(&types)?;
            let values = values
                .iter()
                .zip(&types)
                .map(|(v, t)| protocol_json::datum(v.as_ref(), t));
            object.insert("values".to_owned(), values.collect());
        }
    }
    Ok(value)
}

fn binary_row_json(row: &BinaryRow) -> Value {
    protocol_json::row(&RowValues::from_encoded_row(row.clone()), None)
}

/// Types separated by commas that stand outside of parentheses.
fn split_types(text: &str) -> Result<Vec<DataType>> {
    let (mut depth, mut start, mut types) = (0i32, 0, Vec::new());
    for (at, c) in text.char_indices().chain([(text.len(), ',')]) {
        match c {
            '(' | '<' => depth += 1,
            ')' | '>' => depth -= 1,
            ',' if depth == 0 => {
                types.push(DataType::parse(text.get(start..at).unwrap_or_default().trim())?);
                start = at + 1;
            }
            _ => {}
        }
    }
    Ok(types)
}

fn kind(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Add => "ADD",
        FileKind::Delete => "DELETE",
    }
}

fn manifest_meta(meta: &ManifestFileMeta) -> Value {
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

fn manifest_entry(entry: &ManifestEntry) -> Value {
    json!({
        "kind": kind(entry.kind),
        "partition": binary_row_json(&entry.partition),
        "bucket": entry.bucket,
        "totalBuckets": entry.total_buckets,
        "file": protocol_json::data_file(&entry.file, None),
    })
}

fn index_entry(entry: &IndexManifestEntry) -> Value {
    json!({
        "kind": kind(entry.kind),
        "partition": binary_row_json(&entry.partition),
        "bucket": entry.bucket,
        "indexFile": protocol_json::index_file(&entry.index_file),
    })
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).map_err(|e| {
        Error::io(format!("the file cannot be written: {e}"))
            .with("path", path.display())
            .with_source(e)
    })
}
