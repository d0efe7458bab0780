// SPDX-License-Identifier: Apache-2.0

//! `DataSplit` versions 1 to 9 (Java `DataSplit.serialize`; `wire.md` 8.2).

use std::ops::RangeInclusive;

use paimon_types::{DataOutput, Error, Result};

use super::carrier::{Carrier, Growth, arity, check_read, check_write};
use super::file_meta::FileMetaReader;
use super::input::SharedInput;
use super::split::{BARE_VERSIONS, FRAME_MAGIC};
use super::split_body::INDEXED_MAGIC;
use super::{deletion_file, file_meta};
use crate::DataSplit;
use crate::codec::native::NATIVE_SPLIT_MAGIC;

/// First eight bytes from version 2 on.
pub(super) const MAGIC: i64 = -2_394_839_472_490_812_314;

/// Versions that this build reads and writes.
pub(super) const VERSIONS: RangeInclusive<i32> = 1..=9;

/// First version with deletion vector cardinalities.
const CARDINALITY: i32 = 4;
/// First version with the bucket count.
const TOTAL_BUCKETS: i32 = 6;

const FILES: Growth = &[(1, 15), (2, 16), (3, 17), (5, 18), (7, 19), (8, 20), (9, 21)];

const NAME: &str = "data split";

/// Reads one split and leaves the input behind it.
pub(super) fn read(input: &mut SharedInput<'_>) -> Result<(DataSplit, i32)> {
    let first = input.read_i64()?;
    let (version, snapshot_id) = if first == MAGIC {
        let version = input.read_i32()?;
        // Version 1 has no magic: its first field is the snapshot.
        if version == 1 {
            return Err(Error::corrupt("data split version 1 has no magic, found one"));
        }
        check_read(NAME, version, VERSIONS)?;
        (version, input.read_i64()?)
    } else if begins_another_form(first) {
        return Err(Error::corrupt(format!(
            "data split begins with {first:016x}, which is no snapshot id of version 1"
        )));
    } else {
        (1, first)
    };
    read_body(input, version, snapshot_id)
        .map(|split| (split, version))
        .map_err(|e| e.with("data split version", version))
}

/// Version 1 begins with the snapshot id. A reader of any form would take some ids, which no table reaches, for the magic of
/// another form, or for the version in front of an incremental or chain split, versions to come included.
fn begins_another_form(snapshot_id: i64) -> bool {
    BARE_VERSIONS.contains(&(snapshot_id >> 32))
        || [MAGIC, INDEXED_MAGIC, FRAME_MAGIC].contains(&snapshot_id)
        || snapshot_id.to_be_bytes() == NATIVE_SPLIT_MAGIC
}

fn read_body(input: &mut SharedInput<'_>, version: i32, snapshot_id: i64) -> Result<DataSplit> {
    let partition = input.read_partition()?;
    let bucket = input.read_i32()?;
    let bucket_path = input.read_utf()?;
    let total_buckets = if version >= TOTAL_BUCKETS && input.read_bool()? {
        Some(input.read_i32()?)
    } else {
        None
    };
    // Java never writes files of an earlier state here any more, and its readers refuse them.
    let before = input.read_i32()?;
    if before != 0 {
        return Err(Error::unsupported(format!(
            "data split has {before} before-files, expected none"
        )));
    }
    if deletion_file::read_list(input, 0, version >= CARDINALITY)?.is_some() {
        return Err(Error::unsupported(
            "data split has deletion files of before-files, expected none",
        ));
    }
    let data_files = FileMetaReader::new(arity(FILES, version)).list(input)?;
    let deletion_files = deletion_file::read_list(input, data_files.len(), version >= CARDINALITY)?;
    Ok(DataSplit {
        snapshot_id,
        partition,
        bucket,
        bucket_path,
        total_buckets,
        data_files,
        deletion_files,
        is_streaming: input.read_bool()?,
        raw_convertible: input.read_bool()?,
    })
}

/// Appends the split in the form of `version`.
pub(super) fn write(out: &mut DataOutput, split: &DataSplit, version: i32) -> Result<()> {
    check_write(NAME, version, VERSIONS)?;
    let carrier = Carrier {
        name: NAME,
        version,
        files: FILES,
    };
    carrier.carries("total_buckets", split.total_buckets.is_some(), TOTAL_BUCKETS)?;
    if version > 1 {
        out.write_i64(MAGIC);
        out.write_i32(version);
    } else if begins_another_form(split.snapshot_id) {
        return Err(carrier.refuse("a snapshot id whose bytes begin another form", Some(2)));
    }
    out.write_i64(split.snapshot_id);
    split.partition.encoded_row().write_stream(out);
    out.write_i32(split.bucket);
    out.write_utf(&split.bucket_path)
        .map_err(|e| e.with("bucket path", &split.bucket_path))?;
    if version >= TOTAL_BUCKETS {
        out.write_bool(split.total_buckets.is_some());
        if let Some(total_buckets) = split.total_buckets {
            out.write_i32(total_buckets);
        }
    }
    out.write_i32(0);
    out.write_u8(0);
    file_meta::write_list(out, &split.data_files, &carrier)?;
    let deletion_files = split.deletion_files.as_deref();
    deletion_file::write_list(out, deletion_files, split.data_files.len(), &carrier, CARDINALITY)?;
    out.write_bool(split.is_streaming);
    out.write_bool(split.raw_convertible);
    Ok(())
}
