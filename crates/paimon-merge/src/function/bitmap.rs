// SPDX-License-Identifier: Apache-2.0

//! Functions of serialized sets and sketches: `rbm32`, `rbm64`, `theta_sketch`, `hll_sketch`.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::{ArrayRef, BinaryArray};
use paimon_types::{Error, Result};

use super::column::{Column, ColumnFunction};
use super::program::{Op, Program};

/// Makes the union of two serialized values; the error says what is wrong with the bytes.
pub(super) type UnionOfBytes = fn(&[u8], &[u8]) -> Result<Vec<u8>, String>;

/// Unions of serialized values (Java `FieldRoaringBitmap32Agg`, `FieldRoaringBitmap64Agg`, `FieldThetaSketchAgg`,
/// `FieldHllSketchAgg`): NULL is ignored, and a value alone stays byte by byte what it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Union {
    pub(super) function: &'static str,
    /// Of accumulator and input.
    pub(super) union: UnionOfBytes,
    pub(super) ignore_retract: bool,
}

impl ColumnFunction for Union {
    fn merge(&self, column: &Column<'_>, program: &Program) -> Result<ArrayRef> {
        let arrays = column.typed::<BinaryArray>()?;
        let mut out = BinaryBuilder::new();
        let mut bytes = 0usize;
        let union = |a: &[u8], b: &[u8]| {
            (self.union)(a, b).map_err(|problem| {
                let name = column.name;
                Error::corrupt(format!("{} of column {name}: {problem}", self.function)).with("column", name)
            })
        };
        for steps in program.keys() {
            let mut value: Option<Cow<'_, [u8]>> = None;
            for step in steps {
                let array = arrays.get(step.source as usize).filter(|_| column.is_valid(step));
                let input = array.map(|array| array.value(step.row as usize));
                value = match (step.op, value, input) {
                    (Op::Pass | Op::Set, _, input) | (Op::Add | Op::AddOlder, None, input) => {
                        input.map(Cow::Borrowed)
                    }
                    (Op::Add | Op::AddOlder, value, None) => value,
                    (Op::Add, Some(old), Some(input)) => Some(Cow::Owned(union(&old, input)?)),
                    (Op::AddOlder, Some(old), Some(input)) => Some(Cow::Owned(union(input, &old)?)),
                    (Op::Retract | Op::RetractOlder, value, _) if self.ignore_retract => value,
                    (Op::Retract | Op::RetractOlder, ..) => return Err(column.cannot_retract(self.function)),
                };
            }
            let Some(value) = value else {
                out.append_null();
                continue;
            };
            bytes += value.len();
            if i32::try_from(bytes).is_err() {
                let problem = format!("{bytes} bytes of values do not fit into one array");
                return Err(Error::resources(problem).with("column", column.name));
            }
            out.append_value(value);
        }
        Ok(Arc::new(out.finish()))
    }
}

/// Union of two bitmaps of 32-bit numbers in the portable Roaring format (Java `RoaringBitmap32`), runs made where they are
/// smaller.
pub(super) fn union32(accumulator: &[u8], input: &[u8]) -> Result<Vec<u8>, String> {
    let read = |bytes: &[u8]| {
        let bitmap = roaring::RoaringBitmap::deserialize_from(bytes);
        bitmap.map_err(|error| format!("{} bytes are not a Roaring bitmap: {error}", bytes.len()))
    };
    let mut bitmap = read(accumulator)? | read(input)?;
    bitmap.optimize();
    let mut out = Vec::with_capacity(bitmap.serialized_size());
    bitmap
        .serialize_into(&mut out)
        .map_err(|error| error.to_string())?;
    Ok(out)
}
