// SPDX-License-Identifier: Apache-2.0

//! Index files.

use paimon::types::Result;
use paimon_index::{
    DELETION_VECTORS_VERSION, DeletionVectorFileWriter, StoredVector, decode_hash_index, encode_hash_index,
    walk_deletion_vectors,
};
use serde_json::json;

use super::{Decoded, no_form};
use crate::args::{DecodeArgs, Form};

/// Every vector of an index file. Rows are single positions or pairs of the first and the last of a run.
pub(super) fn deletion_vectors(args: &DecodeArgs, bytes: &[u8]) -> Result<Decoded> {
    let stored: Vec<StoredVector> = walk_deletion_vectors(bytes)?.collect::<Result<_>>()?;
    let encoded = match args.reencode {
        None => None,
        Some(Form::Java(version)) if version == i32::from(DELETION_VECTORS_VERSION) => {
            let mut writer = DeletionVectorFileWriter::new();
            for stored in &stored {
                writer.write(&stored.vector)?;
            }
            Some(writer.finish())
        }
        Some(other) => {
            return Err(no_form(&format!(
                "files of deletion vectors have version {DELETION_VECTORS_VERSION}, not {other}"
            )));
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
pub(super) fn hash_index(args: &DecodeArgs, bytes: &[u8]) -> Result<Decoded> {
    let hashes = decode_hash_index(bytes)?;
    let encoded = match args.reencode {
        None => None,
        Some(Form::Java(_)) => Some(encode_hash_index(&hashes)),
        Some(Form::Native) => return Err(no_form("hash indexes have the form of Java only")),
    };
    Ok(Decoded {
        value: json!(hashes),
        encoded,
    })
}
