// SPDX-License-Identifier: Apache-2.0

//! Snapshot files, manifests, index files.

use paimon_index::{
    decode_deletion_vector, decode_deletion_vector_body, decode_hash_index, encode_hash_index,
    walk_deletion_vectors,
};
use paimon_meta::manifest::ManifestCompression;
use paimon_meta::manifest::codec::{
    decode_index_manifest, decode_manifest, decode_manifest_list, encode_index_manifest, encode_manifest,
    encode_manifest_list,
};
use paimon_meta::{Snapshot, Tag};
use paimon_types::{Error, Result};

use crate::{bounded, crc32};

/// Snapshot files, and tags, which are such files with two more members.
pub fn snapshot_json(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Some(tag) = bounded(data.len(), || Tag::from_json("t", text)) {
        let json = tag.to_json();
        let again = Tag::from_json("t", &json).expect("a tag that we wrote is read");
        assert_eq!(again.snapshot, tag.snapshot);
    }
    let Some(snapshot) = bounded(data.len(), || Snapshot::from_json(text)) else {
        return;
    };
    let json = snapshot.to_json();
    let again = Snapshot::from_json(&json).expect("a snapshot that we wrote is read");
    assert_eq!(again, snapshot);
}

/// Blocks may be compressed, so only the limit of the process bounds them.
fn records<T: PartialEq + std::fmt::Debug>(
    data: &[u8],
    decode: impl Fn(&[u8]) -> Result<T>,
    encode: impl Fn(&T) -> Result<Vec<u8>>,
) {
    let Ok(value) = decode(data) else { return };
    let bytes = encode(&value).expect("what was decoded is encoded");
    assert_eq!(decode(&bytes).expect("what was encoded is decoded"), value);
}

/// Manifests.
pub fn manifest(data: &[u8]) {
    records(data, decode_manifest, |entries| {
        encode_manifest(entries, ManifestCompression::None, [7; 16])
    });
}

/// Manifest lists.
pub fn manifest_list(data: &[u8]) {
    records(data, decode_manifest_list, |metas| {
        encode_manifest_list(metas, ManifestCompression::None, [7; 16])
    });
}

/// Index manifests.
pub fn index_manifest(data: &[u8]) {
    let encode = |entries: &Vec<_>| encode_index_manifest(entries, ManifestCompression::None, [7; 16]);
    records(data, decode_index_manifest, encode);
}

/// One deletion vector; magic and checksum are made right when the first byte is even.
pub fn deletion_vector(data: &[u8]) {
    let Some((first, body)) = data.split_first() else {
        return;
    };
    let bytes = if first % 2 == 1 {
        body.to_vec()
    } else {
        vector(first % 4 == 0, body)
    };
    let Some((vector, used)) = bounded(bytes.len(), || decode_deletion_vector(&bytes)) else {
        return;
    };
    assert!(used <= bytes.len());
    // Without length and checksum it is the same one.
    assert_eq!(
        decode_deletion_vector_body(&bytes[4..used - 4]).expect("the body of a vector"),
        vector
    );
    assert_eq!(vector.is_empty(), vector.cardinality() == 0);
    let encoded = bounded(bytes.len(), || match vector.encode() {
        // The stored form has a bitmap for each 2^32 rows below the last one.
        Err(e) => {
            assert!(e.message().contains("rows below 2^44"), "{e}");
            Err(e)
        }
        encoded => encoded,
    });
    let Some(encoded) = encoded else { return };
    let (again, used) = decode_deletion_vector(&encoded).expect("a vector that we wrote is read");
    assert_eq!((again, used), (vector, encoded.len()));
}

/// A stored vector around a bitmap.
fn vector(wide: bool, bitmap: &[u8]) -> Vec<u8> {
    let magic: [u8; 4] = if wide {
        1_681_511_377u32.to_le_bytes()
    } else {
        1_581_511_376u32.to_be_bytes()
    };
    let body = [&magic[..], bitmap].concat();
    let length = (body.len() as u32).to_be_bytes();
    [&length[..], &body, &crc32(&body).to_be_bytes()].concat()
}

/// Files of deletion vectors.
pub fn deletion_vector_file(data: &[u8]) {
    bounded(data.len(), || {
        for vector in walk_deletion_vectors(data)? {
            vector?;
        }
        Ok::<_, Error>(())
    });
}

/// Hash indexes.
pub fn hash_index(data: &[u8]) {
    let Some(hashes) = bounded(data.len(), || decode_hash_index(data)) else {
        return;
    };
    assert_eq!(encode_hash_index(&hashes), data);
}
