// SPDX-License-Identifier: Apache-2.0

//! Lists and maps made of elements of the sources and of the pool.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, MapArray};
use arrow_buffer::{ArrowNativeType, NullBufferBuilder, OffsetBuffer};
use arrow_schema::DataType as ArrowType;
use paimon_types::{Error, Result};

use crate::Selection;
use crate::function::column::Column;
use crate::function::program::Step;

/// Offsets and elements of a list or map array.
pub(super) struct Lists {
    pub(super) offsets: OffsetBuffer<i32>,
    pub(super) elements: ArrayRef,
}

/// `None` when the array is neither a list nor a map.
pub(super) fn lists_of(array: &dyn Array) -> Option<Lists> {
    if let Some(list) = array.as_list_opt::<i32>() {
        return Some(Lists {
            offsets: list.offsets().clone(),
            elements: list.values().clone(),
        });
    }
    array.as_map_opt().map(|map| Lists {
        offsets: map.offsets().clone(),
        elements: Arc::new(map.entries().clone()),
    })
}

/// Lists of one column, one a key.
pub(super) struct ListOutput {
    sources: Vec<Lists>,
    lengths: Vec<usize>,
    total: usize,
    nulls: NullBufferBuilder,
    elements: Selection,
}

impl ListOutput {
    pub(super) fn new(column: &Column<'_>, keys: usize) -> Result<Self> {
        let sources = column.arrays.iter().map(|array| lists_of(*array));
        let sources: Option<Vec<Lists>> = sources.collect();
        Ok(ListOutput {
            sources: sources.ok_or_else(|| column.not_for("elements"))?,
            lengths: Vec::with_capacity(keys),
            total: 0,
            nulls: NullBufferBuilder::new(keys),
            elements: Selection::new(),
        })
    }

    /// The list of a version as it is.
    pub(super) fn push_version(&mut self, column: &Column<'_>, step: &Step) {
        let row = step.row as usize;
        let range = self
            .sources
            .get(step.source as usize)
            .and_then(|lists| lists.offsets.get(row..row + 2));
        match range {
            Some([from, to]) if column.is_valid(step) => {
                let (from, to) = (from.as_usize(), to.as_usize());
                self.elements.push_run(step.source as usize, from, to - from);
                self.push_length(to - from);
            }
            _ => self.push_null(),
        }
    }

    /// Elements of the pool.
    pub(super) fn push_elements(&mut self, elements: Option<&[u32]>) {
        let Some(elements) = elements else {
            self.push_null();
            return;
        };
        for element in elements {
            self.elements.push(self.sources.len(), *element as usize);
        }
        self.push_length(elements.len());
    }

    fn push_length(&mut self, length: usize) {
        self.nulls.append(true);
        self.lengths.push(length);
        self.total += length;
    }

    fn push_null(&mut self) {
        self.nulls.append(false);
        self.lengths.push(0);
    }

    /// The array; `pool` are the elements of the pool.
    pub(super) fn finish(mut self, column: &Column<'_>, pool: &ArrayRef) -> Result<ArrayRef> {
        if i32::try_from(self.total).is_err() {
            let problem = format!("{} elements do not fit into one array", self.total);
            return Err(Error::resources(problem).with("column", column.name));
        }
        let sources = self.sources.iter().map(|lists| lists.elements.as_ref());
        let arrays: Vec<&dyn Array> = sources.chain([pool.as_ref()]).collect();
        let elements = self
            .elements
            .gather(&arrays)
            .map_err(|error| error.with("column", column.name))?;
        let offsets = OffsetBuffer::from_lengths(self.lengths);
        let nulls = self.nulls.finish();
        let array: Result<ArrayRef, arrow_schema::ArrowError> = match column.data_type {
            ArrowType::List(field) => ListArray::try_new(field.clone(), offsets, elements, nulls)
                .map(|array| Arc::new(array) as ArrayRef),
            ArrowType::Map(field, ordered) => {
                let entries = elements
                    .as_struct_opt()
                    .ok_or_else(|| column.not_for("entries"))?
                    .clone();
                MapArray::try_new(field.clone(), offsets, entries, nulls, *ordered)
                    .map(|array| Arc::new(array) as ArrayRef)
            }
            _ => return Err(column.not_for("elements")),
        };
        array.map_err(|error| {
            let problem = format!(
                "merged values of column {} are not of its type: {error}",
                column.name
            );
            Error::invalid(problem)
                .with("column", column.name)
                .with_source(Box::new(error))
        })
    }
}
