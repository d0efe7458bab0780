// SPDX-License-Identifier: Apache-2.0

//! `paimon decode`: metadata and protocol files as JSON, and back at another version.

mod index;
mod metadata;
mod protocol;

use std::path::Path;

use paimon::Snapshot;
use paimon::data::default_registry;
use paimon::meta::manifest::{KeepAll, ManifestDecoder};
use paimon::protocol::{RowValues, json as protocol_json};
use paimon::types::{BinaryRow, DataType, Error, Result, TableSchema};
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
        (Some(_), None) => Err(no_form(
            "--reencode works for split, commit-message, committable, bucket-state, deletion-vectors and hash-index only",
        )),
        (None, _) => Ok(()),
    }
}

struct Decoded {
    value: Value,
    encoded: Option<Vec<u8>>,
}

fn no_form(problem: &str) -> Error {
    Error::unsupported(problem).with("option", "--reencode")
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
            metas.iter().map(metadata::manifest_meta).collect()
        }
        DecodeKind::Manifest => {
            let entries = manifests.manifest(path, file.into(), KeepAll).await?;
            entries.iter().map(metadata::manifest_entry).collect()
        }
        DecodeKind::IndexManifest => {
            let entries = manifests.index_manifest(path, file.into()).await?;
            entries.iter().map(metadata::index_entry).collect()
        }
        DecodeKind::Split => return protocol::split(args, bytes),
        DecodeKind::CommitMessage => return protocol::commit_message(args, bytes),
        DecodeKind::Committable => return protocol::committable(args, bytes),
        DecodeKind::BucketState => return protocol::bucket_states(args, bytes),
        DecodeKind::DeletionVectors => return index::deletion_vectors(args, bytes),
        DecodeKind::HashIndex => return index::hash_index(args, bytes),
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

/// Form A: big-endian arity, then the row. With --types the values too.
fn binary_row(args: &DecodeArgs, bytes: &[u8]) -> Result<Value> {
    let encoded = BinaryRow::from_serialized(bytes)?;
    let mut value = row(&encoded);
    if let Value::Object(object) = &mut value {
        object.insert("hash".to_owned(), json!(encoded.hash_code()));
        if let Some(types) = &args.types {
            let types = split_types(types)?;
            let values = encoded.decode(&types)?;
            let values = values
                .iter()
                .zip(&types)
                .map(|(v, t)| protocol_json::datum(v.as_ref(), t));
            object.insert("values".to_owned(), values.collect());
        }
    }
    Ok(value)
}

fn row(row: &BinaryRow) -> Value {
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

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).map_err(|e| {
        Error::io(format!("the file cannot be written: {e}"))
            .with("path", path.display())
            .with_source(e)
    })
}
