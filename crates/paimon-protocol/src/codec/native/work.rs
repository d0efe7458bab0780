// SPDX-License-Identifier: Apache-2.0

//! Native forms of splits, commit messages and bucket states.

use paimon_types::{Error, Result, SharedBytes};

use super::body::{List, MessageBody, MessagesBody, OneSplitBody, StateBody, StatesBody};
use super::convert::{ValueReader, check_deletion_files};
use super::convert_message::any_split;
use super::frame::Frame;
use super::{MAX_DEPTH, NATIVE_BUCKET_STATE_VERSION, NATIVE_COMMIT_MESSAGE_VERSION, NATIVE_SPLIT_VERSION};
use crate::{BucketState, CommitMessage, DataSplit, Split};

/// First eight bytes of a split.
pub const NATIVE_SPLIT_MAGIC: [u8; 8] = *b"\x89PMSPLT\n";

/// First eight bytes of a list of commit messages.
pub const NATIVE_COMMIT_MESSAGE_MAGIC: [u8; 8] = *b"\x89PMCMSG\n";

/// First eight bytes of a list of bucket states.
pub const NATIVE_BUCKET_STATE_MAGIC: [u8; 8] = *b"\x89PMBKST\n";

const SPLIT: Frame = Frame {
    name: "split",
    magic: NATIVE_SPLIT_MAGIC,
    version: NATIVE_SPLIT_VERSION,
    min_reader: 1,
    flags: 0,
};

const MESSAGES: Frame = Frame {
    name: "list of commit messages",
    magic: NATIVE_COMMIT_MESSAGE_MAGIC,
    version: NATIVE_COMMIT_MESSAGE_VERSION,
    min_reader: 1,
    flags: 0,
};

const STATES: Frame = Frame {
    name: "list of bucket states",
    magic: NATIVE_BUCKET_STATE_MAGIC,
    version: NATIVE_BUCKET_STATE_VERSION,
    min_reader: 1,
    flags: 0,
};

pub(crate) fn encode_split(split: &Split) -> Result<Vec<u8>> {
    SPLIT.seal(OneSplitBody {
        split: any_split(split, MAX_DEPTH)?,
    })
}

pub(crate) fn encode_data_split(split: &DataSplit) -> Result<Vec<u8>> {
    check_deletion_files(split.data_files.len(), split.deletion_files.as_deref())?;
    SPLIT.seal(OneSplitBody { split: split.into() })
}

pub(crate) fn decode_split(bytes: &[u8]) -> Result<Split> {
    let buffer = SharedBytes::copy_from(bytes);
    let (body, arena) = SPLIT.decode::<OneSplitBody<'_>>(&buffer)?;
    ValueReader::new(&buffer, arena).any_split(body.split)
}

pub(crate) fn encode_commit_messages(messages: &[CommitMessage]) -> Result<Vec<u8>> {
    MESSAGES.seal(MessagesBody {
        messages: List(messages.iter().map(MessageBody::from).collect()),
    })
}

pub(crate) fn decode_commit_messages(bytes: &[u8]) -> Result<Vec<CommitMessage>> {
    let buffer = SharedBytes::copy_from(bytes);
    let (body, arena) = MESSAGES.decode::<MessagesBody<'_>>(&buffer)?;
    let mut reader = ValueReader::new(&buffer, arena);
    let messages = body.messages.0.into_iter();
    messages.map(|message| reader.message(message)).collect()
}

impl BucketState {
    /// Writes the state in our own form; there is no form of Java.
    ///
    /// # Errors
    /// As [`BucketState::list_to_bytes`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        BucketState::list_to_bytes(std::slice::from_ref(self))
    }

    /// Reads one state.
    ///
    /// # Errors
    /// As [`BucketState::list_from_bytes`]; `Corrupt` when there is not exactly one.
    pub fn from_bytes(bytes: &[u8]) -> Result<BucketState> {
        let mut states = BucketState::list_from_bytes(bytes)?;
        let found = states.len();
        states
            .pop()
            .filter(|_| found == 1)
            .ok_or_else(|| Error::corrupt(format!("{found} bucket states, expected one")))
    }

    /// Writes a list of states: all that the writers of a table need.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn list_to_bytes(states: &[BucketState]) -> Result<Vec<u8>> {
        STATES.seal(StatesBody {
            states: List(states.iter().map(StateBody::from).collect()),
        })
    }

    /// Reads a list of states.
    ///
    /// # Errors
    /// `Unsupported` for a version or feature that this build does not know, `Corrupt` for anything malformed: a checksum that
    /// does not match, bytes left over.
    pub fn list_from_bytes(bytes: &[u8]) -> Result<Vec<BucketState>> {
        let buffer = SharedBytes::copy_from(bytes);
        let (body, arena) = STATES.decode::<StatesBody<'_>>(&buffer)?;
        let mut reader = ValueReader::new(&buffer, arena);
        let states = body.states.0.into_iter();
        states.map(|state| reader.state(state)).collect()
    }
}
