// SPDX-License-Identifier: Apache-2.0

//! SQL three-valued AND, OR and NOT over Boolean arrays.

use arrow_array::{Array, BooleanArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};

/// The rows that are true and the rows that are false; a row in neither is unknown.
fn split(array: &BooleanArray) -> (BooleanBuffer, BooleanBuffer) {
    let values = array.values();
    match array.nulls() {
        None => (values.clone(), !values),
        Some(nulls) => (values & nulls.inner(), &!values & nulls.inner()),
    }
}

fn join(is_true: BooleanBuffer, is_false: &BooleanBuffer) -> BooleanArray {
    let known = &is_true | is_false;
    BooleanArray::new(
        is_true,
        Some(NullBuffer::new(known)).filter(|n| n.null_count() > 0),
    )
}

/// False if one side is false, true if both are true, else unknown.
pub(crate) fn and(left: &BooleanArray, right: &BooleanArray) -> BooleanArray {
    let ((lt, lf), (rt, rf)) = (split(left), split(right));
    join(&lt & &rt, &(&lf | &rf))
}

/// True if one side is true, false if both are false, else unknown.
pub(crate) fn or(left: &BooleanArray, right: &BooleanArray) -> BooleanArray {
    let ((lt, lf), (rt, rf)) = (split(left), split(right));
    join(&lt | &rt, &(&lf & &rf))
}

/// Swaps true and false; unknown stays unknown.
pub(crate) fn not(array: &BooleanArray) -> BooleanArray {
    BooleanArray::new(!array.values(), array.nulls().cloned())
}
