// SPDX-License-Identifier: Apache-2.0

//! Row filter and column masking behind a query-auth split (`wire.md` 8.7). Strings are plain UTF-8 here.

use paimon_types::{DataInput, DataOutput, Error, Result};

use crate::QueryAuth;
use crate::split_kind::check_masking;

pub(super) fn read(input: &mut DataInput<'_>) -> Result<Option<QueryAuth>> {
    if !input.read_bool()? {
        return Ok(None);
    }
    let filter = if input.read_bool()? {
        let count = input.read_count(4)?;
        Some((0..count).map(|_| read_str(input)).collect::<Result<Vec<_>>>()?)
    } else {
        None
    };
    let column_masking = if input.read_bool()? {
        let count = input.read_count(8)?;
        let mut pair = || {
            let key = read_str(input)?;
            let key =
                key.ok_or_else(|| Error::corrupt("column of a masking rule is null, expected a name"))?;
            Ok((key, read_str(input)?))
        };
        let mut rules = (0..count).map(|_| pair()).collect::<Result<Vec<_>>>()?;
        rules.sort_by(|(a, _), (b, _)| in_order(a, b));
        check_masking(&rules, Error::corrupt)?;
        Some(rules)
    } else {
        None
    };
    Ok(Some(QueryAuth {
        filter,
        column_masking,
    }))
}

/// The order of Java's strings, in which its sorted map writes the rules.
fn in_order(a: &str, b: &str) -> std::cmp::Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}

fn read_str(input: &mut DataInput<'_>) -> Result<Option<String>> {
    if input.clone().read_i32()? == -1 {
        input.read_i32()?;
        return Ok(None);
    }
    let at = input.position();
    let text = std::str::from_utf8(input.read_sized()?)
        .map_err(|e| Error::corrupt(format!("string at offset {at} is not UTF-8")).with_source(e))?;
    Ok(Some(text.to_owned()))
}

pub(super) fn write(out: &mut DataOutput, auth: Option<&QueryAuth>) -> Result<()> {
    out.write_bool(auth.is_some());
    let Some(auth) = auth else { return Ok(()) };
    out.write_bool(auth.filter.is_some());
    if let Some(filter) = &auth.filter {
        out.write_count(filter.len())?;
        filter
            .iter()
            .try_for_each(|entry| write_str(out, entry.as_deref()))?;
    }
    out.write_bool(auth.column_masking.is_some());
    if let Some(masking) = &auth.column_masking {
        check_masking(masking, Error::invalid)?;
        out.write_count(masking.len())?;
        let mut sorted: Vec<_> = masking.iter().collect();
        sorted.sort_by(|(a, _), (b, _)| in_order(a, b));
        for (column, transform) in sorted {
            write_str(out, Some(column))?;
            write_str(out, transform.as_deref())?;
        }
    }
    Ok(())
}

fn write_str(out: &mut DataOutput, text: Option<&str>) -> Result<()> {
    match text {
        Some(text) => out.write_sized(text.as_bytes()),
        None => {
            out.write_i32(-1);
            Ok(())
        }
    }
}
