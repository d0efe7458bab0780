// SPDX-License-Identifier: Apache-2.0

//! Lists of `DeletionFile` beside lists of data files (`wire.md` 8.1).

use paimon_types::{DataInput, DataOutput, Error, Result};

use super::carrier::Carrier;
use crate::DeletionFile;

/// Reads a list; when present it must have one entry for each of the `files` data files.
///
/// `cardinality` is false for data splits before version 4.
pub(super) fn read_list(
    input: &mut DataInput<'_>,
    files: usize,
    cardinality: bool,
) -> Result<Option<Vec<Option<DeletionFile>>>> {
    if !read_present(input)? {
        return Ok(None);
    }
    let count = input.read_count(1)?;
    check_count(count, files, Error::corrupt)?;
    (0..count)
        .map(|_| read(input, cardinality))
        .collect::<Result<Vec<_>>>()
        .map(Some)
}

fn read(input: &mut DataInput<'_>, cardinality: bool) -> Result<Option<DeletionFile>> {
    if !read_present(input)? {
        return Ok(None);
    }
    let path = input.read_utf()?;
    let (offset, length) = (input.read_i64()?, input.read_i64()?);
    let cardinality = match if cardinality { input.read_i64()? } else { -1 } {
        -1 => None,
        known @ 0.. => Some(known),
        other => {
            return Err(Error::corrupt(format!(
                "cardinality of a deletion file is {other}, expected -1 or more"
            )));
        }
    };
    Ok(Some(DeletionFile {
        path,
        offset,
        length,
        cardinality,
    }))
}

fn read_present(input: &mut DataInput<'_>) -> Result<bool> {
    let at = input.position();
    match input.read_u8()? {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(Error::corrupt(format!(
            "deletion file marker at offset {at} is {other}, expected 0 (absent) or 1 (present)"
        ))),
    }
}

fn check_count(count: usize, files: usize, error: fn(String) -> Error) -> Result<()> {
    if count == files {
        return Ok(());
    }
    Err(error(format!(
        "{count} deletion file entries for {files} data files, expected one each"
    )))
}

/// Writes a list; `cardinality_since` is the version of the carrier that has cardinalities.
pub(super) fn write_list(
    out: &mut DataOutput,
    list: Option<&[Option<DeletionFile>]>,
    files: usize,
    carrier: &Carrier,
    cardinality_since: i32,
) -> Result<()> {
    let Some(list) = list else {
        out.write_u8(0);
        return Ok(());
    };
    check_count(list.len(), files, Error::invalid)?;
    out.write_u8(1);
    out.write_count(list.len())?;
    for file in list {
        let Some(file) = file else {
            out.write_u8(0);
            continue;
        };
        let refused = |e: Error| e.with("deletion file", &file.path);
        let known = file.cardinality.is_some();
        carrier
            .carries("cardinality of a deletion file", known, cardinality_since)
            .map_err(refused)?;
        if let Some(cardinality) = file.cardinality.filter(|c| *c < 0) {
            return Err(refused(Error::invalid(format!(
                "cardinality is {cardinality}, expected 0 or more"
            ))));
        }
        out.write_u8(1);
        out.write_utf(&file.path)?;
        out.write_i64(file.offset);
        out.write_i64(file.length);
        if carrier.version >= cardinality_since {
            out.write_i64(file.cardinality.unwrap_or(-1));
        }
    }
    Ok(())
}
