// SPDX-License-Identifier: Apache-2.0

//! Splits, files, messages, bucket states.

use paimon_protocol::codec::java::{
    CommittableEncoding, SplitEncoding, decode_commit_message, decode_commit_messages, encode_commit_message,
    encode_commit_messages,
};
use paimon_protocol::{
    BucketState, Codec, CommitMessage, DataSplit, ManifestCommittable, PlanEnvelope, Split,
};

use crate::{bounded, stable};

/// Java's splits of every kind, bare or framed.
pub fn split(data: &[u8]) {
    let Some((value, encoding)) = bounded(data.len(), || Split::from_java_bytes(data)) else {
        return;
    };
    let first = value
        .to_java_bytes(encoding)
        .expect("what was decoded is encoded");
    let (again, found) = Split::from_java_bytes(&first).expect("what was encoded is decoded");
    assert_eq!(found, encoding);
    assert!(again == value || format!("{again:?}") == format!("{value:?}"));
    assert_eq!(again.to_java_bytes(encoding).unwrap(), first);
    // The same content in our own form.
    let native = value
        .to_bytes(Codec::Native)
        .expect("every split has a native form");
    let again = Split::from_bytes(&native).unwrap();
    assert!(again == value || format!("{again:?}") == format!("{value:?}"));
}

/// The inside of a frame: the first byte is the kind.
pub fn split_frame(data: &[u8]) {
    let Some((kind, body)) = data.split_first() else {
        return;
    };
    let bytes = [&b"SPLIT_V1\0\0\0\x01\0\0\0"[..], &[kind % 9], body].concat();
    split(&bytes);
}

/// Data splits and, in them, file records: the first byte is the version.
pub fn data_split(data: &[u8]) {
    let Some((version, body)) = data.split_first() else {
        return;
    };
    let version = i32::from(version % 9) + 1;
    let mut bytes = Vec::new();
    if version > 1 {
        bytes.extend_from_slice(&(-2_394_839_472_490_812_314i64).to_be_bytes());
        bytes.extend_from_slice(&version.to_be_bytes());
    }
    bytes.extend_from_slice(body);
    stable(&bytes, DataSplit::from_java_bytes, |(split, version)| {
        split.to_java_bytes(*version)
    });
}

/// One file record: the first byte is the version of the data split around it.
pub fn data_file_meta(data: &[u8]) {
    let Some((version, body)) = data.split_first() else {
        return;
    };
    let version = i32::from(version % 8) + 2;
    let mut bytes = Vec::new();
    bytes.extend_from_slice(&(-2_394_839_472_490_812_314i64).to_be_bytes());
    bytes.extend_from_slice(&version.to_be_bytes());
    bytes.extend_from_slice(&7i64.to_be_bytes());
    // Partition (empty row), bucket 0, path "b".
    bytes.extend_from_slice(&[
        0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, b'b',
    ]);
    if version >= 6 {
        bytes.push(0);
    }
    bytes.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0, 1]);
    bytes.extend_from_slice(&(body.len() as u32).to_be_bytes());
    bytes.extend_from_slice(body);
    bytes.extend_from_slice(&[0, 0, 1]);
    stable(&bytes, DataSplit::from_java_bytes, |(split, version)| {
        split.to_java_bytes(*version)
    });
}

/// One message and lists: the first byte is the version.
pub fn commit_message(data: &[u8]) {
    let Some((version, bytes)) = data.split_first() else {
        return;
    };
    let version = i32::from(version % 13) + 2;
    // Version 2 has two forms; what one reads, the other may write in fewer bytes.
    if let Some(message) = bounded(bytes.len(), || decode_commit_message(bytes, version)) {
        let native = message.to_bytes(Codec::Native).unwrap();
        assert_eq!(
            CommitMessage::from_bytes(&native, Codec::Native).unwrap(),
            message
        );
        match encode_commit_message(&message, version) {
            Ok(again) => assert_eq!(decode_commit_message(&again, version).unwrap(), message),
            Err(e) => assert_eq!(version, 2, "{e:?}"),
        }
    }
    if let Some(messages) = bounded(bytes.len(), || decode_commit_messages(bytes, version)) {
        match encode_commit_messages(&messages, version) {
            Ok(again) => assert_eq!(decode_commit_messages(&again, version).unwrap(), messages),
            Err(e) => assert_eq!(version, 2, "{e:?}"),
        }
    }
}

/// Committables: the first byte is the version.
pub fn committable(data: &[u8]) {
    let Some((version, bytes)) = data.split_first() else {
        return;
    };
    let version = i32::from(version % 5) + 1;
    let decode = |bytes: &[u8]| ManifestCommittable::from_java_bytes(bytes, version);
    let encode =
        |(value, encoding): &(ManifestCommittable, CommittableEncoding)| value.to_java_bytes(*encoding);
    stable(bytes, decode, encode);
}

/// The plan envelope; the input is the body, header and checksum are made.
pub fn native_plan(data: &[u8]) {
    let bytes = sealed(*b"\x89PMPLAN\n", data);
    let Some(plan) = bounded(bytes.len(), || PlanEnvelope::from_bytes(&bytes)) else {
        return;
    };
    // A plan without a schema that its files need is read but not written; secrets are not written.
    if let Ok(bytes) = plan.to_bytes() {
        assert_eq!(
            PlanEnvelope::from_bytes(&bytes).expect("what was encoded is decoded"),
            plan.without_secrets()
        );
    }
}

/// The native form of a split.
pub fn native_split(data: &[u8]) {
    stable(&sealed(*b"\x89PMSPLT\n", data), Split::from_bytes, |split| {
        split.to_bytes(Codec::Native)
    });
}

/// The native form of messages.
pub fn native_messages(data: &[u8]) {
    let decode = |bytes: &[u8]| CommitMessage::list_from_bytes(bytes, Codec::Native);
    stable(&sealed(*b"\x89PMCMSG\n", data), decode, |list| {
        CommitMessage::list_to_bytes(list, Codec::Native)
    });
}

/// Bucket states.
pub fn bucket_state(data: &[u8]) {
    stable(
        &sealed(*b"\x89PMBKST\n", data),
        BucketState::list_from_bytes,
        |list| BucketState::list_to_bytes(list),
    );
}

/// Header and checksum of our own forms around a body. With an odd first byte the bytes are taken as they are.
fn sealed(magic: [u8; 8], data: &[u8]) -> Vec<u8> {
    let Some((first, body)) = data.split_first() else {
        return Vec::new();
    };
    if first % 16 == 1 {
        return body.to_vec();
    }
    let mut bytes = magic.to_vec();
    bytes.extend_from_slice(&[1, 0, 1, 0, 0, 0, 0, 0]);
    bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
    bytes.extend_from_slice(body);
    let checksum = crc(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

/// CRC-32 with the zlib polynomial, bit by bit.
fn crc(bytes: &[u8]) -> u32 {
    let mut crc = !0u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                crc >> 1 ^ 0xedb8_8320
            } else {
                crc >> 1
            };
        }
    }
    !crc
}

/// Any version on request: what is refused is refused with an error, never a panic.
pub fn split_versions(data: &[u8]) {
    let Ok((split, _)) = Split::from_java_bytes(data) else {
        return;
    };
    for version in 0..=10 {
        for framed in [true, false] {
            if let Ok(bytes) = split.to_java_bytes(SplitEncoding { framed, version }) {
                let (again, found) = Split::from_java_bytes(&bytes).unwrap();
                assert!(found.framed == framed && found.version == version);
                assert!(again == split || format!("{again:?}") == format!("{split:?}"));
            }
        }
        let _ = split.to_bytes(Codec::Java(version));
    }
}
