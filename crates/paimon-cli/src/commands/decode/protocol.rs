// SPDX-License-Identifier: Apache-2.0

//! What planners, workers and committers send each other.

use paimon::protocol::codec::java::{
    CommittableEncoding, JAVA_COMMIT_MESSAGE_VERSION, JAVA_COMMITTABLE_VERSION, SplitEncoding,
};
use paimon::protocol::codec::native::{NATIVE_COMMIT_MESSAGE_MAGIC, NATIVE_PLAN_MAGIC, NATIVE_SPLIT_MAGIC};
use paimon::protocol::{ManifestCommittable, json as protocol_json};
use paimon::types::{Error, Result};
use paimon::{BucketState, Codec, CommitMessage, PlanEnvelope, Split};
use serde_json::{Value, json};

use super::{Decoded, no_form};
use crate::args::{DecodeArgs, Form};

impl From<Form> for Codec {
    fn from(form: Form) -> Self {
        match form {
            Form::Java(version) => Codec::Java(version),
            Form::Native => Codec::Native,
        }
    }
}

/// A split in any form, or a plan. `version` is that of the innermost split's own form of Java.
pub(super) fn split(args: &DecodeArgs, bytes: &[u8]) -> Result<Decoded> {
    if bytes.starts_with(&NATIVE_PLAN_MAGIC) {
        let plan = PlanEnvelope::from_bytes(bytes)?;
        let encoded = match args.reencode {
            None => None,
            Some(Form::Native) => Some(plan.to_bytes()?),
            Some(Form::Java(_)) => {
                return Err(no_form("a plan has no form of Java, only each of its splits"));
            }
        };
        let value = protocol_json::plan(&plan);
        return Ok(Decoded { value, encoded });
    }
    if bytes.starts_with(&NATIVE_SPLIT_MAGIC) {
        let split = Split::from_bytes(bytes)?;
        let encoded = args
            .reencode
            .map(|form| split.to_bytes(form.into()))
            .transpose()?;
        let value = with(protocol_json::split(&split, None), "version", json!("native"));
        return Ok(Decoded { value, encoded });
    }
    let (split, encoding) = Split::from_java_bytes(bytes)?;
    let encoded = match args.reencode {
        None => None,
        Some(Form::Native) => Some(split.to_bytes(Codec::Native)?),
        // In the frame when it was in one.
        Some(Form::Java(version)) => Some(split.to_java_bytes(SplitEncoding { version, ..encoding })?),
    };
    let value = with(
        protocol_json::split(&split, None),
        "version",
        json!(encoding.version),
    );
    Ok(Decoded { value, encoded })
}

/// One message, or with --list (and always in our own form) an array of them.
pub(super) fn commit_message(args: &DecodeArgs, bytes: &[u8]) -> Result<Decoded> {
    if bytes.starts_with(&NATIVE_COMMIT_MESSAGE_MAGIC) {
        let messages = CommitMessage::list_from_bytes(bytes, Codec::Native)?;
        return list(args, &messages);
    }
    let version = args.version.unwrap_or(JAVA_COMMIT_MESSAGE_VERSION);
    let codec = Codec::Java(version);
    let hint = |e| assumed(e, args, version);
    if args.list {
        return list(args, &CommitMessage::list_from_bytes(bytes, codec).map_err(hint)?);
    }
    let message =
        CommitMessage::from_bytes(bytes, codec).map_err(|err| {
            match CommitMessage::list_from_bytes(bytes, codec) {
                Ok(list) => hint(Error::invalid(format!(
                    "the file holds a list of {} message(s), not one; give --list",
                    list.len()
                ))),
                Err(_) => hint(err),
            }
        })?;
    Ok(Decoded {
        value: protocol_json::commit_message(&message, None),
        encoded: args
            .reencode
            .map(|form| message.to_bytes(form.into()))
            .transpose()?,
    })
}

fn list(args: &DecodeArgs, messages: &[CommitMessage]) -> Result<Decoded> {
    let encode = |form: Form| CommitMessage::list_to_bytes(messages, form.into());
    Ok(Decoded {
        value: messages
            .iter()
            .map(|message| protocol_json::commit_message(message, None))
            .collect(),
        encoded: args.reencode.map(encode).transpose()?,
    })
}

/// A committable; `messageVersion` is the one of its messages, which --reencode keeps.
pub(super) fn committable(args: &DecodeArgs, bytes: &[u8]) -> Result<Decoded> {
    let version = args.version.unwrap_or(JAVA_COMMITTABLE_VERSION);
    let (committable, encoding) =
        ManifestCommittable::from_java_bytes(bytes, version).map_err(|e| assumed(e, args, version))?;
    let encoded = match args.reencode {
        None => None,
        Some(Form::Java(version)) => {
            Some(committable.to_java_bytes(CommittableEncoding { version, ..encoding })?)
        }
        Some(Form::Native) => return Err(no_form("a committable has forms of Java only, 1 to 5")),
    };
    let value = protocol_json::committable(&committable, None);
    Ok(Decoded {
        value: with(value, "messageVersion", json!(encoding.message_version)),
        encoded,
    })
}

/// The states of buckets, always an array.
pub(super) fn bucket_states(args: &DecodeArgs, bytes: &[u8]) -> Result<Decoded> {
    let states = BucketState::list_from_bytes(bytes)?;
    let encoded = match args.reencode {
        None => None,
        Some(Form::Native) => Some(BucketState::list_to_bytes(&states)?),
        Some(Form::Java(_)) => return Err(no_form("bucket states have no form of Java")),
    };
    Ok(Decoded {
        value: states
            .iter()
            .map(|state| protocol_json::bucket_state(state, None))
            .collect(),
        encoded,
    })
}

/// The error with a hint when the version was a guess.
fn assumed(error: Error, args: &DecodeArgs, version: i32) -> Error {
    match args.version {
        Some(_) => error,
        None => error.with(
            "hint",
            format!("the version is not in the bytes and {version} was assumed; give --version N"),
        ),
    }
}

fn with(mut value: Value, name: &str, more: Value) -> Value {
    if let Value::Object(object) = &mut value {
        object.insert(name.to_owned(), more);
    }
    value
}
