// SPDX-License-Identifier: Apache-2.0

//! Rows picked from several arrays, and the array that they make.

mod gather;

#[cfg(test)]
mod tests;

use arrow_array::{Array, ArrayRef, RecordBatch, new_null_array};
use arrow_schema::DataType;
use paimon_types::{Error, Result};

/// Source of a row that is NULL in every column.
const NULL: u32 = u32::MAX;

/// Consecutive rows of one source, or a number of NULLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    source: u32,
    start: u32,
    len: u32,
}

/// A list of rows of several sources, kept as stretches of consecutive rows, and the NULLs between them.
///
/// [`gather`](Self::gather) copies each stretch at once, so that rows which lie beside each other cost little; a selection of
/// one stretch is a slice without a copy. Sources and arrays have fewer than 2³² − 1 rows.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    stretches: Vec<Stretch>,
    rows: usize,
    nulls: bool,
}

impl Selection {
    /// No rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// No rows, with room for `stretches` separate stretches.
    pub fn with_capacity(stretches: usize) -> Self {
        Selection {
            stretches: Vec::with_capacity(stretches),
            ..Self::default()
        }
    }

    /// The rows at these places, in this order.
    pub fn of_rows(rows: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let rows = rows.into_iter();
        let mut selection = Selection::with_capacity(rows.size_hint().0);
        for (source, row) in rows {
            selection.push(source, row);
        }
        selection
    }

    /// Number of rows, NULLs included.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// True when there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Number of separate stretches: what a gather costs beside the copied bytes.
    pub fn stretches(&self) -> usize {
        self.stretches.len()
    }

    /// Appends one row. A place beyond 32 bits is found by [`gather`](Self::gather) to be outside of its source.
    #[inline]
    pub fn push(&mut self, source: usize, row: usize) {
        self.push_narrow(narrow(source).min(NULL - 1), narrow(row), 1);
    }

    /// Appends `len` consecutive rows of one source.
    #[inline]
    pub fn push_run(&mut self, source: usize, start: usize, len: usize) {
        if len > 0 {
            self.push_narrow(narrow(source).min(NULL - 1), narrow(start), narrow(len));
        }
    }

    /// Appends a NULL.
    #[inline]
    pub fn push_null(&mut self) {
        self.nulls = true;
        match self.stretches.last_mut() {
            Some(last) if last.source == NULL => last.len = last.len.saturating_add(1),
            _ => self.stretches.push(Stretch {
                source: NULL,
                start: 0,
                len: 1,
            }),
        }
        self.rows += 1;
    }

    #[inline]
    pub(crate) fn push_narrow(&mut self, source: u32, start: u32, len: u32) {
        self.rows += len as usize;
        if let Some(last) = self.stretches.last_mut()
            && last.source == source
            && last.start.checked_add(last.len) == Some(start)
            && let Some(both) = last.len.checked_add(len)
        {
            last.len = both;
            return;
        }
        self.stretches.push(Stretch { source, start, len });
    }

    /// The array of the rows; `arrays` are the sources, all of one type.
    ///
    /// # Errors
    /// `Corrupt` when a row is outside of its source or the arrays differ in type; `ResourcesExhausted` when the values do not
    /// fit into one array (2 GiB of text or elements).
    pub fn gather(&self, arrays: &[&dyn Array]) -> Result<ArrayRef> {
        let Some(first) = arrays.first() else {
            return Err(Error::corrupt("rows are gathered from no array"));
        };
        check_types(arrays, first.data_type())?;
        self.check(|source| arrays.get(source).map(|array| array.len()))?;
        self.gather_checked(arrays)
    }

    /// The columns of the rows; `batches` are the sources, all of one schema.
    ///
    /// # Errors
    /// As [`gather`](Self::gather).
    pub fn gather_batches(&self, batches: &[RecordBatch]) -> Result<Vec<ArrayRef>> {
        let Some(first) = batches.first() else {
            return Ok(Vec::new());
        };
        // The places are the same in every column.
        self.check(|source| batches.get(source).map(RecordBatch::num_rows))?;
        let mut columns = Vec::with_capacity(first.num_columns());
        for (index, column) in first.columns().iter().enumerate() {
            let arrays = batches
                .iter()
                .map(|batch| batch.columns().get(index).map(AsRef::as_ref));
            let arrays: Option<Vec<&dyn Array>> = arrays.collect();
            let arrays = arrays.ok_or_else(|| Error::corrupt(format!("a batch has no column {index}")))?;
            check_types(&arrays, column.data_type())?;
            columns.push(self.gather_checked(&arrays)?);
        }
        Ok(columns)
    }

    /// One column of the rows; `batches` are the sources, all of one schema.
    ///
    /// # Errors
    /// As [`gather`](Self::gather).
    pub fn gather_column(&self, batches: &[RecordBatch], index: usize) -> Result<ArrayRef> {
        let column = |batch: &RecordBatch| batch.columns().get(index).cloned();
        let arrays: Option<Vec<ArrayRef>> = batches.iter().map(column).collect();
        let arrays = arrays.ok_or_else(|| Error::corrupt(format!("a batch has no column {index}")))?;
        let arrays: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
        self.gather(&arrays)
    }

    /// Which of the first `count` sources have rows here.
    pub(crate) fn sources(&self, count: usize) -> Vec<bool> {
        let mut used = vec![false; count];
        for stretch in &self.stretches {
            if let Some(used) = used.get_mut(stretch.source as usize) {
                *used = true;
            }
        }
        used
    }

    /// Every row is inside of its source.
    fn check(&self, len_of: impl Fn(usize) -> Option<usize>) -> Result<()> {
        for stretch in &self.stretches {
            if stretch.source == NULL {
                continue;
            }
            let end = stretch.start as usize + stretch.len as usize;
            let inside = len_of(stretch.source as usize).is_some_and(|len| end <= len && len < NULL as usize);
            if !inside {
                return Err(Error::corrupt(format!(
                    "rows {}..{end} of batch {} are wanted, which it does not have",
                    stretch.start, stretch.source
                )));
            }
        }
        Ok(())
    }

    /// As [`gather`](Self::gather), of arrays of one type that have all the rows.
    pub(crate) fn gather_checked(&self, arrays: &[&dyn Array]) -> Result<ArrayRef> {
        if let [one] = self.stretches.as_slice()
            && one.source != NULL
            && let Some(array) = arrays.get(one.source as usize)
        {
            return Ok(array.slice(one.start as usize, one.len as usize));
        }
        let Some(first) = arrays.first() else {
            return Err(Error::corrupt("rows are gathered from no array"));
        };
        if self.rows == 0 {
            return Ok(first.slice(0, 0));
        }
        if self.stretches.iter().all(|stretch| stretch.source == NULL) {
            return Ok(new_null_array(first.data_type(), self.rows));
        }
        gather::gather(self, arrays)
    }

    /// The places one by one, for arrays that have no loop of their own; `null` is the source of NULLs.
    fn places(&self, null: usize) -> Vec<(usize, usize)> {
        let mut places = Vec::with_capacity(self.rows);
        for stretch in &self.stretches {
            let (start, len) = (stretch.start as usize, stretch.len as usize);
            if stretch.source == NULL {
                places.extend(std::iter::repeat_n((null, 0), len));
            } else {
                let source = stretch.source as usize;
                places.extend((start..start + len).map(|row| (source, row)));
            }
        }
        places
    }

    /// Any array type, by Arrow's own loops.
    fn interleave(&self, arrays: &[&dyn Array]) -> Result<ArrayRef> {
        let places = self.places(arrays.len());
        let null = arrays.first().map(|array| new_null_array(array.data_type(), 1));
        let with_null: Vec<&dyn Array> = arrays.iter().copied().chain(null.as_deref()).collect();
        arrow_select::interleave::interleave(&with_null, &places).map_err(too_large)
    }
}

/// The error of Arrow for arrays that grow too large, the only one that can come up where places and types were checked.
fn too_large(error: arrow_schema::ArrowError) -> Error {
    Error::resources(format!("rows do not fit into one array: {error}")).with_source(Box::new(error))
}

/// All arrays are of one type.
fn check_types(arrays: &[&dyn Array], expected: &DataType) -> Result<()> {
    match arrays.iter().find(|array| array.data_type() != expected) {
        None => Ok(()),
        Some(other) => Err(Error::corrupt(format!(
            "a column is {expected} in one batch and {} in another",
            other.data_type()
        ))),
    }
}

/// A number of 32 bits; one that is larger becomes the largest, which lies outside of every source.
#[inline]
fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
