// SPDX-License-Identifier: Apache-2.0

//! Typed values of some columns in their stored form: keys, bounds, partitions.

use std::fmt;

use paimon_types::{BinaryRow, DataType, Datum, Result};

/// Values of some columns, one a column, in order: a key, or the bounds of statistics.
///
/// The values are kept in their encoded form, so that what Java wrote is handed on byte for byte; the types of the columns are
/// not part of it and are given when values are asked for. Equality and `Hash` are those of the encoded form, in which equal
/// values of equal types are equal.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RowValues(BinaryRow);

impl RowValues {
    /// Values of no column: the keys of append tables, statistics of nothing.
    pub fn empty() -> Self {
        RowValues(BinaryRow::empty())
    }

    /// These values of columns of these types; `None` is NULL (a bound: unknown).
    ///
    /// # Errors
    /// `InvalidInput` when a value does not fit its type or the numbers of types and values differ.
    pub fn of(types: &[DataType], values: &[Option<Datum>]) -> Result<Self> {
        BinaryRow::encode(types, values).map(RowValues)
    }

    /// The values as columns of these types; `None` is NULL (a bound: unknown).
    ///
    /// # Errors
    /// `Corrupt` when the number of types is another one than [`RowValues::len`] or the encoded values do not decode.
    pub fn values(&self, types: &[DataType]) -> Result<Vec<Option<Datum>>> {
        self.0.decode(types)
    }

    /// The value of the column at `index` as one of this type; `None` is NULL (a bound: unknown).
    ///
    /// # Errors
    /// `InvalidInput` when there is no such column, `Corrupt` when its value does not decode.
    pub fn get(&self, index: usize, data_type: &DataType) -> Result<Option<Datum>> {
        self.0.get(index, data_type)
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.0.arity()
    }

    /// True for values of no column.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Wraps the encoded form. For the crates of this project; everyone else has values.
    #[doc(hidden)]
    pub fn from_encoded_row(row: BinaryRow) -> Self {
        RowValues(row)
    }

    /// The encoded form. For the crates of this project; everyone else has values.
    #[doc(hidden)]
    pub fn encoded_row(&self) -> &BinaryRow {
        &self.0
    }

    /// As [`RowValues::encoded_row`], by value.
    #[doc(hidden)]
    pub fn into_encoded_row(self) -> BinaryRow {
        self.0
    }

    /// `NAME(n values, hex)`.
    pub(crate) fn fmt_as(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{name}({} values, ", self.len())?;
        self.0
            .as_bytes()
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

impl Default for RowValues {
    fn default() -> Self {
        RowValues::empty()
    }
}

impl fmt::Debug for RowValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_as("RowValues", f)
    }
}
