// SPDX-License-Identifier: Apache-2.0

//! One column of all sources, and what turns its versions into values.

use std::fmt::Debug;

use arrow_array::cast::AsArray;
use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use paimon_types::{Error, Result};

use super::program::{Program, Step};
use crate::Selection;

/// Makes the value of each key of a program from the values of its versions (Java `FieldAggregator`).
///
/// An implementation handles every [`Op`](super::program::Op), `Pass` and `Set` by taking the value as it is.
pub(super) trait ColumnFunction: Debug + Send + Sync {
    /// One value a key.
    fn merge(&self, column: &Column<'_>, program: &Program) -> Result<ArrayRef>;

    /// Whether the value of a key whose versions only add is that of its last version, unless it is NULL.
    fn adds_last(&self) -> bool {
        false
    }
}

/// One column of all sources.
pub(super) struct Column<'a> {
    pub(super) name: &'a str,
    pub(super) data_type: &'a DataType,
    pub(super) arrays: Vec<&'a dyn Array>,
    nulls: Vec<Option<&'a NullBuffer>>,
    has_nulls: bool,
}

impl<'a> Column<'a> {
    /// Column `index` of the batches, which are of one schema.
    pub(super) fn of(sources: &'a [RecordBatch], index: usize, name: &'a str) -> Result<Self> {
        let arrays: Option<Vec<&ArrayRef>> = sources.iter().map(|batch| batch.columns().get(index)).collect();
        let missing = || Error::corrupt(format!("a batch has no column {index}")).with("column", name);
        let arrays = arrays.ok_or_else(missing)?;
        let first: &'a ArrayRef = arrays.first().copied().ok_or_else(missing)?;
        let data_type = first.data_type();
        if let Some(other) = arrays.iter().find(|array| array.data_type() != data_type) {
            let other = other.data_type();
            let problem = format!("the column is {data_type} in one batch and {other} in another");
            return Err(Error::corrupt(problem).with("column", name));
        }
        let nulls: Vec<Option<&NullBuffer>> = arrays
            .iter()
            .copied()
            .map(|array| array.nulls().filter(|nulls| nulls.null_count() > 0))
            .collect();
        Ok(Column {
            name,
            data_type,
            has_nulls: nulls.iter().any(Option::is_some),
            nulls,
            arrays: arrays.into_iter().map(AsRef::as_ref).collect(),
        })
    }

    /// False when no row of any source is NULL.
    pub(super) fn has_nulls(&self) -> bool {
        self.has_nulls
    }

    /// True when the value of the step is not NULL.
    #[inline]
    pub(super) fn is_valid(&self, step: &Step) -> bool {
        self.is_valid_at((step.source, step.row))
    }

    /// True when the value at the place is not NULL.
    #[inline]
    pub(super) fn is_valid_at(&self, (source, row): (u32, u32)) -> bool {
        match self.nulls.get(source as usize) {
            Some(Some(nulls)) => nulls.is_valid(row as usize),
            _ => true,
        }
    }

    /// The values of the sources as slices.
    pub(super) fn slices<T: ArrowPrimitiveType>(&self) -> Result<Slices<'a, T::Native>> {
        let slices = self
            .arrays
            .iter()
            .map(|array| array.as_primitive_opt::<T>().map(|array| &**array.values()));
        slices
            .collect::<Option<Vec<_>>>()
            .map(Slices)
            .ok_or_else(|| self.not_for("values of numbers"))
    }

    /// The sources as arrays of one Rust type.
    pub(super) fn typed<A: Array + 'static>(&self) -> Result<Vec<&'a A>> {
        let arrays = self.arrays.iter().map(|array| array.as_any().downcast_ref::<A>());
        arrays
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| self.not_for("this function"))
    }

    /// The rows of a selection.
    pub(super) fn gather(&self, selection: &Selection) -> Result<ArrayRef> {
        // Types and places were checked when the versions came in.
        selection
            .gather_checked(&self.arrays)
            .map_err(|error| error.with("column", self.name))
    }

    /// The sources are not of the type that the function was made for.
    pub(super) fn not_for(&self, what: &str) -> Error {
        Error::corrupt(format!("a column of {} has no {what}", self.data_type)).with("column", self.name)
    }

    /// A retraction met a function that has none (Java `FieldAggregator.retract`).
    pub(super) fn cannot_retract(&self, function: &str) -> Error {
        let name = self.name;
        Error::invalid(format!(
            "{function} of column {name} cannot take back a value, but a -U or -D row asks for it"
        ))
        .with("column", name)
        .with(
            "hint",
            format!("fields.{name}.ignore-retract=true ignores such rows"),
        )
    }
}

/// Values of primitive arrays.
pub(super) struct Slices<'a, N>(Vec<&'a [N]>);

impl<N: Copy + Default> Slices<'_, N> {
    /// The value at a place; places were checked when the versions came in.
    #[inline]
    pub(super) fn at(&self, (source, row): (u32, u32)) -> N {
        let slice = self.0.get(source as usize);
        slice
            .and_then(|slice| slice.get(row as usize))
            .copied()
            .unwrap_or_default()
    }

    #[inline]
    pub(super) fn of(&self, step: &Step) -> N {
        self.at((step.source, step.row))
    }
}
