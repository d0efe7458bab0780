// SPDX-License-Identifier: Apache-2.0

//! The forms of Java Paimon, byte for byte (`wire.md` 6–9).
//!
//! Reading accepts every version that Java wrote. A record with a value that its version does not know is refused: Java
//! would drop the value silently. Writing defaults to what the newest released Java reads, and refuses a value that the
//! version asked for cannot carry.

mod carrier;
mod commit_message;
mod committable;
mod data_split;
mod deletion_file;
mod file_meta;
mod index_file;
mod input;
mod query_auth;
mod record;
mod record_writer;
mod split;
mod split_body;
#[cfg(test)]
mod tests;

use paimon_types::{DataOutput, Result, SharedBytes};

use crate::{CommitMessage, DataSplit, ManifestCommittable, Split};
use commit_message::MessageForm;
use input::SharedInput;
pub(crate) use record_writer::opt_i64_array as write_null_counts;

/// Version of [`DataSplit`] written by default: the newest that a released Java (1.4) reads.
pub const JAVA_SPLIT_VERSION: i32 = 8;

/// Version of [`CommitMessage`] written by default: the one of Java 1.4.
pub const JAVA_COMMIT_MESSAGE_VERSION: i32 = 11;

/// Version of [`ManifestCommittable`] written by default: the one of Java 1.4.
pub const JAVA_COMMITTABLE_VERSION: i32 = 5;

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

impl Default for CommittableEncoding {
    fn default() -> Self {
        CommittableEncoding {
            version: JAVA_COMMITTABLE_VERSION,
            message_version: JAVA_COMMIT_MESSAGE_VERSION,
            release_0_7: false,
        }
    }
}

impl DataSplit {
    /// Reads a data split of version 1 to 9 and says which version it is.
    ///
    /// # Errors
    /// `Unsupported` for a newer version, `Corrupt` for anything malformed, bytes left over included.
    pub fn from_java_bytes(bytes: &[u8]) -> Result<(DataSplit, i32)> {
        let buffer = SharedBytes::copy_from(bytes);
        let mut input = SharedInput::new(&buffer);
        let split = data_split::read(&mut input)?;
        input.expect_end()?;
        Ok(split)
    }

    /// Writes version `version` (1–9, [`JAVA_SPLIT_VERSION`] unless the reader is known).
    ///
    /// # Errors
    /// `InvalidInput` for another version and for a field that the version cannot carry.
    pub fn to_java_bytes(&self, version: i32) -> Result<Vec<u8>> {
        let mut out = DataOutput::new();
        data_split::write(&mut out, self, version)?;
        Ok(out.into_bytes())
    }
}

impl Split {
    /// Reads a split of any kind, framed or bare, and says how it was written.
    ///
    /// A data split with one byte behind it is the bare form of a fallback data split. Query-auth and fallback splits
    /// exist in the frame only.
    ///
    /// # Errors
    /// As [`DataSplit::from_java_bytes`].
    pub fn from_java_bytes(bytes: &[u8]) -> Result<(Split, SplitEncoding)> {
        split::decode(bytes)
    }

    /// Writes the split; [`Split::java_encoding`] unless the reader is known.
    ///
    /// # Errors
    /// As [`DataSplit::to_java_bytes`].
    pub fn to_java_bytes(&self, encoding: SplitEncoding) -> Result<Vec<u8>> {
        split::encode(self, encoding)
    }
}

/// Reads one message; the version (2–14) travels apart from the bytes. Version 2 is read in the form of release 0.8 or 0.7.
///
/// # Errors
/// `Unsupported` for another version, `Corrupt` for anything malformed, bytes left over included.
pub fn decode_commit_message(bytes: &[u8], version: i32) -> Result<CommitMessage> {
    commit_message::decode_with(bytes, version, commit_message::read).map(|(message, _)| message)
}

/// Reads a list of messages: i32 count, messages back to back.
///
/// # Errors
/// As [`decode_commit_message`].
pub fn decode_commit_messages(bytes: &[u8], version: i32) -> Result<Vec<CommitMessage>> {
    commit_message::decode_with(bytes, version, commit_message::read_list).map(|(messages, _)| messages)
}

/// Writes one message at `version` ([`JAVA_COMMIT_MESSAGE_VERSION`] unless the reader is known).
///
/// # Errors
/// `InvalidInput` for another version and for a field that the version cannot carry.
pub fn encode_commit_message(message: &CommitMessage, version: i32) -> Result<Vec<u8>> {
    let mut out = DataOutput::new();
    commit_message::write(&mut out, message, MessageForm::new(version))?;
    Ok(out.into_bytes())
}

/// Writes a list of messages.
///
/// # Errors
/// As [`encode_commit_message`].
pub fn encode_commit_messages(messages: &[CommitMessage], version: i32) -> Result<Vec<u8>> {
    let mut out = DataOutput::new();
    commit_message::write_list(&mut out, messages, MessageForm::new(version))?;
    Ok(out.into_bytes())
}

impl ManifestCommittable {
    /// Reads a committable; its version (1–5) travels apart from the bytes.
    ///
    /// # Errors
    /// As [`decode_commit_message`].
    pub fn from_java_bytes(bytes: &[u8], version: i32) -> Result<(ManifestCommittable, CommittableEncoding)> {
        committable::decode(bytes, version)
    }

    /// Writes the committable. Properties are written in ascending order (Java: unspecified).
    ///
    /// # Errors
    /// As [`encode_commit_message`].
    pub fn to_java_bytes(&self, encoding: CommittableEncoding) -> Result<Vec<u8>> {
        committable::encode(self, encoding)
    }
}
