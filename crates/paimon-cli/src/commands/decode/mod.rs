// SPDX-License-Identifier: Apache-2.0

//! `paimon decode`: metadata and protocol files as JSON, and back at another version.

mod index;
mod metadata;
mod protocol;
mod rows;

use std::path::Path;

use paimon::Snapshot;
use paimon::data::default_registry;
use paimon::meta::manifest::{KeepAll, ManifestDecoder};
use paimon::types::{Error, Result, TableSchema};
use serde_json::Value;

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
        (Some(_), None) => Err(no_form(not_written(args.kind))),
        (None, _) => Ok(()),
    }
}

struct Decoded {
    value: Value,
    encoded: Option<Vec<u8>>,
}

/// Why a kind that is decoded is not written again.
fn not_written(kind: DecodeKind) -> &'static str {
    match kind {
        DecodeKind::Snapshot | DecodeKind::Schema => {
            "the file is JSON and has one form: what is printed holds all that is read of it"
        }
        DecodeKind::ManifestList | DecodeKind::Manifest | DecodeKind::IndexManifest => {
            "manifests have one form, but their bytes depend on block sizes, compression and a random marker between blocks"
        }
        _ => "this kind is not written again",
    }
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
        DecodeKind::BinaryRow => return rows::binary_row(args, bytes),
    };
    Ok(Decoded { value, encoded: None })
}

fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|e| Error::corrupt("the file is not UTF-8 text").with_source(e))
}

fn parsed(json: &str) -> Result<Value> {
    serde_json::from_str(json).map_err(|e| Error::corrupt("the file is not JSON").with_source(e))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).map_err(|e| {
        Error::io(format!("the file cannot be written: {e}"))
            .with("path", path.display())
            .with_source(e)
    })
}
