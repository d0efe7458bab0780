// SPDX-License-Identifier: Apache-2.0

//! One way in and out for every form of splits and commit messages.

use paimon_types::{Error, Result};

use super::java::{
    JAVA_COMMIT_MESSAGE_VERSION, JAVA_SPLIT_VERSION, decode_commit_message, decode_commit_messages,
    encode_commit_message, encode_commit_messages,
};
use super::native;
use crate::{CommitMessage, DataSplit, Split};

/// A byte form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Codec {
    /// Our own form: versioned and checksummed, tells its version itself (`docs/protocol.md`).
    Native,
    /// The form of Java Paimon at a version: that of `DataSplit` for splits of every kind, that of `CommitMessageSerializer` for
    /// messages.
    Java(i32),
}

impl Codec {
    /// Splits as the newest released Java writes and reads them.
    pub const JAVA_SPLIT: Codec = Codec::Java(JAVA_SPLIT_VERSION);

    /// Commit messages as the newest released Java writes and reads them.
    pub const JAVA_COMMIT_MESSAGE: Codec = Codec::Java(JAVA_COMMIT_MESSAGE_VERSION);
}

impl Split {
    /// Writes the split.
    ///
    /// `Codec::Java(version)` names a version of `DataSplit` (1–9); the kinds with versions of their own are written as the
    /// Java that has it writes them. The frame is used where Java has no form without it ([`Split::java_encoding`]);
    /// [`Split::to_java_bytes`] has the choice.
    ///
    /// # Errors
    /// `InvalidInput` for another version and for a field or kind that the version cannot carry, which it names.
    pub fn to_bytes(&self, codec: Codec) -> Result<Vec<u8>> {
        match codec {
            Codec::Native => native::encode_split(self),
            Codec::Java(version) => self.to_java_bytes(self.java_encoding_at(version)?),
        }
    }

    /// Reads a split in any form; it tells itself which one it is.
    ///
    /// # Errors
    /// `Unsupported` for a version, kind or feature that this build does not know, `Corrupt` for anything malformed, bytes left
    /// over included.
    pub fn from_bytes(bytes: &[u8]) -> Result<Split> {
        if bytes.starts_with(&native::NATIVE_SPLIT_MAGIC) {
            native::decode_split(bytes)
        } else {
            Split::from_java_bytes(bytes).map(|(split, _)| split)
        }
    }
}

impl DataSplit {
    /// As [`Split::to_bytes`].
    ///
    /// # Errors
    /// As [`Split::to_bytes`].
    pub fn to_bytes(&self, codec: Codec) -> Result<Vec<u8>> {
        match codec {
            Codec::Native => native::encode_data_split(self),
            Codec::Java(version) => self.to_java_bytes(version),
        }
    }

    /// As [`Split::from_bytes`], for a split that must be of this kind.
    ///
    /// # Errors
    /// As [`Split::from_bytes`]; `Unsupported` for another kind.
    pub fn from_bytes(bytes: &[u8]) -> Result<DataSplit> {
        match Split::from_bytes(bytes)? {
            Split::Data(split) => Ok(split),
            other => Err(Error::unsupported(format!(
                "split of kind {}, expected data",
                other.kind()
            ))),
        }
    }
}

impl CommitMessage {
    /// Writes the message. Java's version (2–14, [`Codec::JAVA_COMMIT_MESSAGE`]) is not part of its bytes and must travel with them.
    ///
    /// # Errors
    /// `InvalidInput` for another version and for a field that the version cannot carry, which it names.
    pub fn to_bytes(&self, codec: Codec) -> Result<Vec<u8>> {
        match codec {
            Codec::Native => native::encode_commit_messages(std::slice::from_ref(self)),
            Codec::Java(version) => encode_commit_message(self, version),
        }
    }

    /// Reads one message in the form that it was written in.
    ///
    /// # Errors
    /// `Unsupported` for a version or feature that this build does not know, `Corrupt` for anything malformed, bytes left over
    /// and further messages included.
    pub fn from_bytes(bytes: &[u8], codec: Codec) -> Result<CommitMessage> {
        match codec {
            Codec::Native => {
                let mut messages = native::decode_commit_messages(bytes)?;
                let found = messages.len();
                messages
                    .pop()
                    .filter(|_| found == 1)
                    .ok_or_else(|| Error::corrupt(format!("{found} commit messages, expected one")))
            }
            Codec::Java(version) => decode_commit_message(bytes, version),
        }
    }

    /// Writes a list of messages.
    ///
    /// # Errors
    /// As [`CommitMessage::to_bytes`].
    pub fn list_to_bytes(messages: &[CommitMessage], codec: Codec) -> Result<Vec<u8>> {
        match codec {
            Codec::Native => native::encode_commit_messages(messages),
            Codec::Java(version) => encode_commit_messages(messages, version),
        }
    }

    /// Reads a list of messages in the form that it was written in.
    ///
    /// # Errors
    /// As [`CommitMessage::from_bytes`].
    pub fn list_from_bytes(bytes: &[u8], codec: Codec) -> Result<Vec<CommitMessage>> {
        match codec {
            Codec::Native => native::decode_commit_messages(bytes),
            Codec::Java(version) => decode_commit_messages(bytes, version),
        }
    }
}
