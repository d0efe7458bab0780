// SPDX-License-Identifier: Apache-2.0

//! Bodies of incremental, indexed and chain splits (`wire.md` 8.4–8.6).

use std::ops::RangeInclusive;

use paimon_types::{DataOutput, Error, Result};

use super::carrier::{Carrier, Growth, arity, check_read, check_write};
use super::file_meta::FileMetaReader;
use super::input::SharedInput;
use super::{data_split, deletion_file, file_meta};
use crate::split_kind::check_names;
use crate::{ChainSplit, IncrementalSplit, IndexedSplit, RowRange};

/// First eight bytes of an indexed split.
pub(super) const INDEXED_MAGIC: i64 = -938_472_394_838_495_695;
const INDEXED_VERSION: i32 = 1;

/// Versions that this build reads and writes.
pub(super) const INCREMENTAL_VERSIONS: RangeInclusive<i32> = 1..=2;

/// Versions that this build reads and writes.
pub(super) const CHAIN_VERSIONS: RangeInclusive<i32> = 1..=3;

const INCREMENTAL_FILES: Growth = &[(1, 20), (2, 21)];
const CHAIN_FILES: Growth = &[(1, 20), (3, 21)];
/// First chain split version with deletion files.
const CHAIN_DELETION_FILES: i32 = 2;

pub(super) fn read_incremental(input: &mut SharedInput<'_>) -> Result<(IncrementalSplit, i32)> {
    let version = input.read_i32()?;
    check_read("incremental split", version, INCREMENTAL_VERSIONS)?;
    let mut files = FileMetaReader::new(arity(INCREMENTAL_FILES, version));
    let snapshot_id = input.read_i64()?;
    let partition = input.read_partition()?;
    let (bucket, total_buckets) = (input.read_i32()?, input.read_i32()?);
    let before_files = files.list(input)?;
    let before_deletion_files = deletion_file::read_list(input, before_files.len(), true)?;
    let after_files = files.list(input)?;
    let after_deletion_files = deletion_file::read_list(input, after_files.len(), true)?;
    let split = IncrementalSplit {
        snapshot_id,
        partition,
        bucket,
        total_buckets,
        before_files,
        before_deletion_files,
        after_files,
        after_deletion_files,
        is_streaming: input.read_bool()?,
    };
    Ok((split, version))
}

pub(super) fn read_indexed(input: &mut SharedInput<'_>) -> Result<(IndexedSplit, i32)> {
    let magic = input.read_i64()?;
    if magic != INDEXED_MAGIC {
        return Err(Error::corrupt(format!(
            "indexed split begins with {magic:016x}, expected {INDEXED_MAGIC:016x}"
        )));
    }
    check_read(
        "indexed split",
        input.read_i32()?,
        INDEXED_VERSION..=INDEXED_VERSION,
    )?;
    let (split, version) = data_split::read(input)?;
    let count = input.read_count(16)?;
    let ranges = (0..count).map(|_| {
        Ok(RowRange {
            from: input.read_i64()?,
            to: input.read_i64()?,
        })
    });
    let row_ranges = ranges.collect::<Result<Vec<_>>>()?;
    let scores = if input.read_bool()? {
        let count = input.read_count(4)?;
        Some((0..count).map(|_| input.read_f32()).collect::<Result<Vec<_>>>()?)
    } else {
        None
    };
    Ok((
        IndexedSplit {
            split,
            row_ranges,
            scores,
        },
        version,
    ))
}

pub(super) fn read_chain(input: &mut SharedInput<'_>) -> Result<(ChainSplit, i32)> {
    let version = input.read_i32()?;
    check_read("chain split", version, CHAIN_VERSIONS)?;
    let logical_partition = input.read_partition()?;
    let data_files = FileMetaReader::new(arity(CHAIN_FILES, version)).list(input)?;
    let mut pairs = || -> Result<Vec<(String, String)>> {
        let count = input.read_count(4)?;
        (0..count)
            .map(|_| Ok((input.read_utf()?, input.read_utf()?)))
            .collect()
    };
    let (file_bucket_paths, file_branches) = (pairs()?, pairs()?);
    check_names(&file_bucket_paths, &file_branches, Error::corrupt)?;
    let deletion_files = if version >= CHAIN_DELETION_FILES {
        deletion_file::read_list(input, data_files.len(), true)?
    } else {
        None
    };
    Ok((
        ChainSplit {
            logical_partition,
            data_files,
            file_bucket_paths,
            file_branches,
            deletion_files,
        },
        version,
    ))
}

pub(super) fn write_incremental(out: &mut DataOutput, split: &IncrementalSplit, version: i32) -> Result<()> {
    check_write("incremental split", version, INCREMENTAL_VERSIONS)?;
    let carrier = Carrier {
        name: "incremental split",
        version,
        files: INCREMENTAL_FILES,
    };
    out.write_i32(version);
    out.write_i64(split.snapshot_id);
    split.partition.encoded_row().write_stream(out);
    out.write_i32(split.bucket);
    out.write_i32(split.total_buckets);
    let states = [
        (&split.before_files, split.before_deletion_files.as_deref()),
        (&split.after_files, split.after_deletion_files.as_deref()),
    ];
    for (files, deletion_files) in states {
        file_meta::write_list(out, files, &carrier)?;
        deletion_file::write_list(out, deletion_files, files.len(), &carrier, 1)?;
    }
    out.write_bool(split.is_streaming);
    Ok(())
}

pub(super) fn write_indexed(out: &mut DataOutput, split: &IndexedSplit, version: i32) -> Result<()> {
    out.write_i64(INDEXED_MAGIC);
    out.write_i32(INDEXED_VERSION);
    data_split::write(out, &split.split, version)?;
    out.write_count(split.row_ranges.len())?;
    for range in &split.row_ranges {
        out.write_i64(range.from);
        out.write_i64(range.to);
    }
    out.write_bool(split.scores.is_some());
    if let Some(scores) = &split.scores {
        out.write_count(scores.len())?;
        for score in scores {
            out.write_f32(*score);
        }
    }
    Ok(())
}

pub(super) fn write_chain(out: &mut DataOutput, split: &ChainSplit, version: i32) -> Result<()> {
    check_write("chain split", version, CHAIN_VERSIONS)?;
    let carrier = Carrier {
        name: "chain split",
        version,
        files: CHAIN_FILES,
    };
    carrier.carries(
        "deletion files",
        split.deletion_files.is_some(),
        CHAIN_DELETION_FILES,
    )?;
    check_names(&split.file_bucket_paths, &split.file_branches, Error::invalid)?;
    out.write_i32(version);
    split.logical_partition.encoded_row().write_stream(out);
    file_meta::write_list(out, &split.data_files, &carrier)?;
    for pairs in [&split.file_bucket_paths, &split.file_branches] {
        out.write_count(pairs.len())?;
        for (file, value) in pairs {
            out.write_utf(file)?;
            out.write_utf(value)?;
        }
    }
    if version >= CHAIN_DELETION_FILES {
        let deletion_files = split.deletion_files.as_deref();
        deletion_file::write_list(
            out,
            deletion_files,
            split.data_files.len(),
            &carrier,
            CHAIN_DELETION_FILES,
        )?;
    }
    Ok(())
}
