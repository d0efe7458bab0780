// SPDX-License-Identifier: Apache-2.0

//! `CommitMessage` versions 2 to 14 and the form of release 0.7 (Java `CommitMessageSerializer`; `wire.md` 9.1, 9.3).

use std::ops::RangeInclusive;

use paimon_types::{DataOutput, Error, Result, SharedBytes};

use super::carrier::{Carrier, Growth, check_read, check_write};
use super::file_meta::{self, FileMetaReader};
use super::index_file::IndexShape;
use super::input::SharedInput;
use crate::{CommitMessage, Increment};

/// Versions that this build reads and writes.
pub(super) const VERSIONS: RangeInclusive<i32> = 2..=14;

pub(super) const NAME: &str = "commit message";

/// First version with deleted index files.
const DELETED_INDEX_FILES: i32 = 3;
/// First version with the bucket count.
const TOTAL_BUCKETS: i32 = 7;
/// First version with index files in each of the two increments.
const TEN_LISTS: i32 = 10;
/// First version with `check_from_snapshot`.
const CHECK_FROM_SNAPSHOT: i32 = 14;

const FILES: Growth = &[(2, 15), (3, 16), (4, 17), (6, 18), (8, 19), (9, 20), (13, 21)];
const FILES_0_7: Growth = &[(2, 13), (3, 16)];

/// A version and, for version 2, which of its two forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MessageForm {
    pub(super) version: i32,
    pub(super) release_0_7: bool,
}

impl MessageForm {
    /// The form that every release but 0.7 means by `version`.
    pub(super) fn new(version: i32) -> Self {
        MessageForm {
            version,
            release_0_7: false,
        }
    }

    pub(super) const RELEASE_0_7: MessageForm = MessageForm {
        version: 2,
        release_0_7: true,
    };

    fn carrier(self) -> Carrier {
        let files = if self.release_0_7 { FILES_0_7 } else { FILES };
        Carrier {
            name: NAME,
            version: self.version,
            files,
        }
    }

    fn index_shape(self) -> IndexShape {
        if self.release_0_7 {
            IndexShape::RELEASE_0_7
        } else {
            IndexShape::of_message(self.version)
        }
    }
}

/// Runs `read` over all bytes in the form of `version`; version 2 is tried in both of its forms.
pub(super) fn decode_with<T>(
    bytes: &[u8],
    version: i32,
    read: impl Fn(&mut SharedInput<'_>, MessageForm) -> Result<T>,
) -> Result<(T, MessageForm)> {
    check_read(NAME, version, VERSIONS)?;
    let buffer = SharedBytes::copy_from(bytes);
    let attempt = |form: MessageForm| -> Result<T> {
        let mut input = SharedInput::new(&buffer);
        let value = read(&mut input, form)?;
        input.expect_end()?;
        Ok(value)
    };
    let form = MessageForm::new(version);
    let error = match attempt(form) {
        Ok(value) => return Ok((value, form)),
        Err(error) => error,
    };
    if version == MessageForm::RELEASE_0_7.version
        && let Ok(value) = attempt(MessageForm::RELEASE_0_7)
    {
        return Ok((value, MessageForm::RELEASE_0_7));
    }
    Err(error.with("commit message version", version))
}

/// i32 count, then messages back to back.
pub(super) fn read_list(input: &mut SharedInput<'_>, form: MessageForm) -> Result<Vec<CommitMessage>> {
    // Partition, bucket and empty lists are never shorter than this.
    let count = input.read_count(16 + 4 + 6 * 4)?;
    (0..count).map(|_| read(input, form)).collect()
}

pub(super) fn read(input: &mut SharedInput<'_>, form: MessageForm) -> Result<CommitMessage> {
    let version = form.version;
    let mut files = FileMetaReader::new(form.carrier().file_arity());
    let index = form.index_shape();
    let partition = input.read_partition()?;
    let bucket = input.read_i32()?;
    let total_buckets = if version >= TOTAL_BUCKETS && input.read_bool()? {
        Some(input.read_i32()?)
    } else {
        None
    };
    let ten_lists = version >= TEN_LISTS;
    let mut read_increment = |compact: bool| -> Result<Increment> {
        // The lists of a compact increment come in the order before, after, changelog.
        let first = files.list(input)?;
        let second = if form.release_0_7 && !compact {
            Vec::new()
        } else {
            files.list(input)?
        };
        let (new_files, deleted_files) = if compact { (second, first) } else { (first, second) };
        let changelog_files = files.list(input)?;
        let mut increment = Increment {
            new_files,
            deleted_files,
            changelog_files,
            ..Increment::default()
        };
        if ten_lists {
            increment.new_index_files = index.read_list(input)?;
            increment.deleted_index_files = index.read_list(input)?;
        }
        Ok(increment)
    };
    let mut data_increment = read_increment(false)?;
    let mut compact_increment = read_increment(true)?;
    if !ten_lists {
        // One pair of lists; it belongs to the compaction when there is one.
        let owner = if compact_increment.is_empty() {
            &mut data_increment
        } else {
            &mut compact_increment
        };
        owner.new_index_files = index.read_list(input)?;
        if version >= DELETED_INDEX_FILES {
            owner.deleted_index_files = index.read_list(input)?;
        }
    }
    let has_check = version >= CHECK_FROM_SNAPSHOT && input.read_bool()?;
    let check_from_snapshot = if has_check { Some(input.read_i64()?) } else { None };
    Ok(CommitMessage {
        partition,
        bucket,
        total_buckets,
        data_increment,
        compact_increment,
        check_from_snapshot,
    })
}

/// Refuses versions outside of 2..=14 and the 0.7 form of another version than 2.
pub(super) fn check_form(form: MessageForm) -> Result<()> {
    check_write(NAME, form.version, VERSIONS)?;
    if form.release_0_7 && form.version != MessageForm::RELEASE_0_7.version {
        let version = form.version;
        return Err(Error::invalid(format!(
            "release 0.7 has commit messages of version 2 only, found {version}"
        )));
    }
    Ok(())
}

/// i32 count, then messages back to back.
pub(super) fn write_list(out: &mut DataOutput, messages: &[CommitMessage], form: MessageForm) -> Result<()> {
    check_form(form)?;
    out.write_count(messages.len())?;
    messages.iter().try_for_each(|message| write(out, message, form))
}

pub(super) fn write(out: &mut DataOutput, message: &CommitMessage, form: MessageForm) -> Result<()> {
    check_form(form)?;
    let (version, carrier, index) = (form.version, form.carrier(), form.index_shape());
    let CommitMessage {
        data_increment: data,
        compact_increment: compact,
        ..
    } = message;
    carrier.carries("total_buckets", message.total_buckets.is_some(), TOTAL_BUCKETS)?;
    carrier.carries(
        "check_from_snapshot",
        message.check_from_snapshot.is_some(),
        CHECK_FROM_SNAPSHOT,
    )?;
    message.partition.encoded_row().write_stream(out);
    out.write_i32(message.bucket);
    if version >= TOTAL_BUCKETS {
        out.write_bool(message.total_buckets.is_some());
        if let Some(total_buckets) = message.total_buckets {
            out.write_i32(total_buckets);
        }
    }
    for (first, second, increment) in [
        (&data.new_files, &data.deleted_files, data),
        (&compact.deleted_files, &compact.new_files, compact),
    ] {
        file_meta::write_list(out, first, &carrier)?;
        if !form.release_0_7 || std::ptr::eq(increment, compact) {
            file_meta::write_list(out, second, &carrier)?;
        } else if !second.is_empty() {
            return Err(carrier.refuse(
                "deleted files of the data increment in the form of release 0.7",
                None,
            ));
        }
        file_meta::write_list(out, &increment.changelog_files, &carrier)?;
        if version >= TEN_LISTS {
            index.write_list(out, &increment.new_index_files, &carrier)?;
            index.write_list(out, &increment.deleted_index_files, &carrier)?;
        }
    }
    if version < TEN_LISTS {
        let owner = shared_index_owner(data, compact, &carrier)?;
        index.write_list(out, &owner.new_index_files, &carrier)?;
        if version >= DELETED_INDEX_FILES {
            index.write_list(out, &owner.deleted_index_files, &carrier)?;
        } else {
            carrier.carries(
                "deleted index files",
                !owner.deleted_index_files.is_empty(),
                DELETED_INDEX_FILES,
            )?;
        }
    }
    if version >= CHECK_FROM_SNAPSHOT {
        out.write_bool(message.check_from_snapshot.is_some());
        if let Some(snapshot) = message.check_from_snapshot {
            out.write_i64(snapshot);
        }
    }
    Ok(())
}

/// The increment whose index files an older version carries: readers give them to the compaction when it has files.
fn shared_index_owner<'m>(
    data: &'m Increment,
    compact: &'m Increment,
    carrier: &Carrier,
) -> Result<&'m Increment> {
    let has_files = |i: &Increment| {
        !(i.new_files.is_empty() && i.deleted_files.is_empty() && i.changelog_files.is_empty())
    };
    let has_index = |i: &Increment| !(i.new_index_files.is_empty() && i.deleted_index_files.is_empty());
    let (owner, other, lost) = if has_files(compact) {
        (
            compact,
            data,
            "index files of the data increment beside a compaction",
        )
    } else {
        (data, compact, "index files of a compact increment without files")
    };
    if has_index(other) {
        Err(carrier.refuse(lost, Some(TEN_LISTS)))
    } else {
        Ok(owner)
    }
}
