// SPDX-License-Identifier: Apache-2.0

//! The forms of Java Paimon, byte for byte (`wire.md` 6–9).

use paimon_types::{Error, Result};

use crate::{CommitMessage, DataSplit, ManifestCommittable, Split};

/// Version of [`DataSplit`] written by default: the newest that a released Java (1.4) reads.
pub const JAVA_SPLIT_VERSION: i32 = 8;

/// Version of [`CommitMessage`] written by default: the one of Java 1.4.
pub const JAVA_COMMIT_MESSAGE_VERSION: i32 = 11;

/// How a [`Split`] is or was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitEncoding {
    /// Inside the `SPLIT_V1` frame that names the kind.
    pub framed: bool,
    /// Version of the innermost split's own form: data 1–9, incremental 1–2, chain 1–3.
    pub version: i32,
}

/// How a [`ManifestCommittable`] is or was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommittableEncoding {
    /// Version of the committable, 1–5; travels apart from the bytes.
    pub version: i32,
    /// Version of the messages, 2–14.
    pub message_version: i32,
    /// Messages of version 2 in the form of release 0.7.
    pub release_0_7: bool,
}

impl DataSplit {
    /// Reads a data split of version 1 to 9 and says which version it is.
    ///
    /// # Errors
    /// `Unsupported` for a newer version, `Corrupt` for anything malformed, bytes left over included.
    pub fn from_java_bytes(_bytes: &[u8]) -> Result<(DataSplit, i32)> {
        Err(Error::unsupported("stub"))
    }

    /// Writes version `version` (1–9, [`JAVA_SPLIT_VERSION`] unless the reader is known).
    ///
    /// # Errors
    /// `InvalidInput` for another version and for a field that the version cannot carry.
    pub fn to_java_bytes(&self, _version: i32) -> Result<Vec<u8>> {
        Err(Error::unsupported("stub"))
    }
}

impl Split {
    /// Reads a split of any kind, framed or bare.
    ///
    /// # Errors
    /// As [`DataSplit::from_java_bytes`].
    pub fn from_java_bytes(_bytes: &[u8]) -> Result<(Split, SplitEncoding)> {
        Err(Error::unsupported("stub"))
    }

    /// Writes the split.
    ///
    /// # Errors
    /// As [`DataSplit::to_java_bytes`].
    pub fn to_java_bytes(&self, _encoding: SplitEncoding) -> Result<Vec<u8>> {
        Err(Error::unsupported("stub"))
    }
}

/// Reads one message; the version (2–14) travels apart from the bytes.
///
/// # Errors
/// `Unsupported` for another version, `Corrupt` for anything malformed, bytes left over included.
pub fn decode_commit_message(_bytes: &[u8], _version: i32) -> Result<CommitMessage> {
    Err(Error::unsupported("stub"))
}

/// Reads a list of messages: i32 count, messages back to back.
///
/// # Errors
/// As [`decode_commit_message`].
pub fn decode_commit_messages(_bytes: &[u8], _version: i32) -> Result<Vec<CommitMessage>> {
    Err(Error::unsupported("stub"))
}

/// Writes one message at `version` ([`JAVA_COMMIT_MESSAGE_VERSION`] unless the reader is known).
///
/// # Errors
/// `InvalidInput` for another version and for a field that the version cannot carry.
pub fn encode_commit_message(_message: &CommitMessage, _version: i32) -> Result<Vec<u8>> {
    Err(Error::unsupported("stub"))
}

/// Writes a list of messages.
///
/// # Errors
/// As [`encode_commit_message`].
pub fn encode_commit_messages(_messages: &[CommitMessage], _version: i32) -> Result<Vec<u8>> {
    Err(Error::unsupported("stub"))
}

impl ManifestCommittable {
    /// Reads a committable; its version (1–5) travels apart from the bytes.
    ///
    /// # Errors
    /// As [`decode_commit_message`].
    pub fn from_java_bytes(
        _bytes: &[u8],
        _version: i32,
    ) -> Result<(ManifestCommittable, CommittableEncoding)> {
        Err(Error::unsupported("stub"))
    }

    /// Writes the committable.
    ///
    /// # Errors
    /// As [`encode_commit_message`].
    pub fn to_java_bytes(&self, _encoding: CommittableEncoding) -> Result<Vec<u8>> {
        Err(Error::unsupported("stub"))
    }
}
