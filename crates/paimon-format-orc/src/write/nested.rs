// SPDX-License-Identifier: Apache-2.0

//! Values below nested ones: those of rows that are not NULL, without gaps.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder, NullBuffer};
use arrow_schema::{ArrowError, DataType as ArrowType};
use arrow_select::filter::filter;
use paimon_types::{Error, Result};

/// Elements, or keys and values, of the lists or maps that are not NULL, and which of them are wanted, when not all are. The
/// lengths of the lists or maps come in `lengths`.
pub(super) fn elements(
    array: &ArrayRef,
    nulls: Option<&NullBuffer>,
    lengths: &mut Vec<i64>,
) -> Result<(Vec<ArrayRef>, Option<BooleanBuffer>)> {
    let (offsets, values) = match array.data_type() {
        ArrowType::List(_) => {
            let list = array.as_list::<i32>();
            (list.value_offsets(), vec![list.values().clone()])
        }
        ArrowType::Map(..) => {
            let map = array.as_map();
            (map.value_offsets(), map.entries().columns().to_vec())
        }
        other => {
            let what = format!("column has arrow type {other}, a list or a map is expected");
            return Err(Error::invalid(what));
        }
    };
    let at = |offset: Option<&i32>| {
        offset
            .and_then(|offset| usize::try_from(*offset).ok())
            .unwrap_or(0)
    };
    let (start, end) = (at(offsets.first()), at(offsets.last()));
    let all = || {
        offsets
            .iter()
            .zip(offsets.iter().skip(1))
            .map(|(a, b)| i64::from(b - a))
    };
    lengths.clear();
    let mut mask = None;
    match nulls {
        None => lengths.extend(all()),
        Some(nulls) => {
            let mut hidden = false;
            for (length, valid) in all().zip(nulls.iter()) {
                if valid {
                    lengths.push(length);
                } else {
                    hidden |= length > 0;
                }
            }
            if hidden {
                let mut builder = BooleanBufferBuilder::new(end - start);
                for (length, valid) in all().zip(nulls.iter()) {
                    builder.append_n(usize::try_from(length).unwrap_or(0), valid);
                }
                mask = Some(builder.finish());
            }
        }
    }
    let values = values
        .iter()
        .map(|values| values.slice(start, end - start))
        .collect();
    Ok((values, mask))
}

/// The values of `array` that `mask` has set.
pub(super) fn keep(array: &ArrayRef, mask: &BooleanBuffer) -> Result<ArrayRef> {
    filter(array, &BooleanArray::new(mask.clone(), None)).map_err(failed)
}

/// The bits that are not NULL.
pub(super) fn keep_bits(values: &BooleanBuffer, nulls: &NullBuffer) -> BooleanBuffer {
    let all: ArrayRef = Arc::new(BooleanArray::new(values.clone(), None));
    match keep(&all, nulls.inner()) {
        Ok(kept) => kept.as_boolean().values().clone(),
        // Never: both have the same length.
        Err(_) => nulls.valid_indices().map(|index| values.value(index)).collect(),
    }
}

fn failed(error: ArrowError) -> Error {
    Error::invalid(format!("nested values cannot be taken apart: {error}"))
}
