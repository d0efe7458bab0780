// SPDX-License-Identifier: Apache-2.0

//! The partition that a split or message belongs to.

use std::fmt;

use paimon_types::{BinaryRow, DataType, Datum, Result, TableSchema};

use crate::RowValues;

/// Values of the partition columns, in the order of the table's partition keys.
///
/// The values are kept in their encoded form, so that what Java wrote is handed on byte for byte; the types of the columns are
/// not part of it and are given when values are asked for. Equality and `Hash` are those of the encoded form, in which equal
/// values of equal types are equal.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Partition(RowValues);

impl Partition {
    /// The one partition of a table without partition columns.
    pub fn unpartitioned() -> Self {
        Partition(RowValues::empty())
    }

    /// The partition with these values of columns of these types; `None` is NULL.
    ///
    /// # Errors
    /// `InvalidInput` when a value does not fit its type or the numbers of types and values differ.
    pub fn of(types: &[DataType], values: &[Option<Datum>]) -> Result<Self> {
        RowValues::of(types, values).map(Partition)
    }

    /// The values as columns of these types; `None` is NULL.
    ///
    /// # Errors
    /// `Corrupt` when the number of types is another one than [`Partition::len`] or the encoded values do not decode.
    pub fn values(&self, types: &[DataType]) -> Result<Vec<Option<Datum>>> {
        self.0.values(types)
    }

    /// (column, value) for each partition column of a schema, in order.
    ///
    /// # Errors
    /// As [`Partition::values`].
    pub fn named_values(&self, schema: &TableSchema) -> Result<Vec<(String, Option<Datum>)>> {
        let fields = schema.partition_fields();
        let types: Vec<DataType> = fields.iter().map(|field| field.data_type.clone()).collect();
        let values = self.values(&types)?;
        Ok(fields
            .iter()
            .map(|field| field.name.clone())
            .zip(values)
            .collect())
    }

    /// Number of partition columns.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True for a table without partition columns.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values without their role.
    pub fn as_values(&self) -> &RowValues {
        &self.0
    }

    /// Wraps the encoded form. For the crates of this project; everyone else has values.
    #[doc(hidden)]
    pub fn from_encoded_row(row: BinaryRow) -> Self {
        Partition(RowValues::from_encoded_row(row))
    }

    /// The encoded form. For the crates of this project; everyone else has values.
    #[doc(hidden)]
    pub fn encoded_row(&self) -> &BinaryRow {
        self.0.encoded_row()
    }

    /// As [`Partition::encoded_row`], by value.
    #[doc(hidden)]
    pub fn into_encoded_row(self) -> BinaryRow {
        self.0.into_encoded_row()
    }
}

impl From<RowValues> for Partition {
    fn from(values: RowValues) -> Self {
        Partition(values)
    }
}

impl Default for Partition {
    fn default() -> Self {
        Partition::unpartitioned()
    }
}

impl fmt::Debug for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt_as("Partition", f)
    }
}
