// SPDX-License-Identifier: Apache-2.0

//! `ManifestCommittable` versions 1 to 5 (Java `ManifestCommittableSerializer`; `wire.md` 9.2).

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use paimon_types::{DataInput, DataOutput, Error, Result};

use super::CommittableEncoding;
use super::carrier::{check_read, check_write};
use super::commit_message::{self, MessageForm};
use crate::ManifestCommittable;

const VERSIONS: RangeInclusive<i32> = 1..=5;
const NAME: &str = "committable";

/// Last version with offsets of an external log.
const LAST_LOG_OFFSETS: i32 = 4;
/// First version with snapshot properties.
const PROPERTIES: i32 = 4;

pub(super) fn decode(bytes: &[u8], version: i32) -> Result<(ManifestCommittable, CommittableEncoding)> {
    check_read(NAME, version, VERSIONS)?;
    let mut input = DataInput::new(bytes);
    let identifier = input.read_i64()?;
    // The flag says that there is no watermark.
    let watermark = if input.read_bool()? {
        None
    } else {
        Some(input.read_i64()?)
    };
    let mut log_offsets = BTreeMap::new();
    if version <= LAST_LOG_OFFSETS {
        for _ in 0..input.read_count(12)? {
            let (bucket, offset) = (input.read_i32()?, input.read_i64()?);
            unique(
                log_offsets.insert(bucket, offset).is_none(),
                "log offset of bucket",
                bucket,
            )?;
        }
    }
    let mut properties = BTreeMap::new();
    if version >= PROPERTIES {
        for _ in 0..input.read_count(4)? {
            let (key, value) = (input.read_utf()?, input.read_utf()?);
            unique(!properties.contains_key(&key), "property", &key)?;
            properties.insert(key, value);
        }
    }
    let message_version = input.read_i32()?;
    let rest = input.read_bytes(input.remaining())?;
    let (messages, form) = commit_message::decode_with(rest, message_version, commit_message::read_list)?;
    let committable = ManifestCommittable {
        identifier,
        watermark,
        log_offsets,
        properties,
        messages,
    };
    Ok((
        committable,
        CommittableEncoding {
            version,
            message_version,
            release_0_7: form.release_0_7,
        },
    ))
}

fn unique(is_new: bool, what: &str, key: impl std::fmt::Display) -> Result<()> {
    if is_new {
        Ok(())
    } else {
        Err(Error::corrupt(format!(
            "{what} {key} occurs twice in a committable"
        )))
    }
}

pub(super) fn encode(committable: &ManifestCommittable, encoding: CommittableEncoding) -> Result<Vec<u8>> {
    let CommittableEncoding {
        version,
        message_version,
        release_0_7,
    } = encoding;
    check_write(NAME, version, VERSIONS)?;
    let refuse = |what: &str, expected: &str| {
        Err(Error::invalid(format!(
            "{NAME} version {version} cannot carry {what}, expected version {expected}"
        )))
    };
    if version > LAST_LOG_OFFSETS && !committable.log_offsets.is_empty() {
        return refuse("log offsets", "4 or older");
    }
    if version < PROPERTIES && !committable.properties.is_empty() {
        return refuse("properties", "4 or newer");
    }
    let mut out = DataOutput::new();
    out.write_i64(committable.identifier);
    out.write_bool(committable.watermark.is_none());
    if let Some(watermark) = committable.watermark {
        out.write_i64(watermark);
    }
    if version <= LAST_LOG_OFFSETS {
        out.write_count(committable.log_offsets.len())?;
        for (bucket, offset) in &committable.log_offsets {
            out.write_i32(*bucket);
            out.write_i64(*offset);
        }
    }
    if version >= PROPERTIES {
        out.write_count(committable.properties.len())?;
        for (key, value) in &committable.properties {
            out.write_utf(key).map_err(|e| e.with("property", key))?;
            out.write_utf(value).map_err(|e| e.with("property", key))?;
        }
    }
    out.write_i32(message_version);
    commit_message::write_list(
        &mut out,
        &committable.messages,
        MessageForm {
            version: message_version,
            release_0_7,
        },
    )?;
    Ok(out.into_bytes())
}
