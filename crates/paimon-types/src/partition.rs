// SPDX-License-Identifier: Apache-2.0

//! Partition values as directory names (Java `InternalRowPartitionComputer`, `PartitionPathUtils`, `TypeUtils.castFromString`;
//! `wire.md` 14).

use crate::{BinaryRow, DataField, DataType, Datum, Error, Result};

/// Escapes a partition column name or value for a path (Java `PartitionPathUtils.escapePathName`).
pub fn escape_path_name(name: &str) -> String {
    name.to_owned()
}

/// Reverts [`escape_path_name`].
pub fn unescape_path_name(name: &str) -> String {
    name.to_owned()
}

/// How partition values are spelled: options `partition.default-name` and `partition.legacy-name`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PartitionNaming {
    /// The name of NULL, empty and blank values.
    pub default_name: String,
    /// True: Java `toString` of the internal value; false: cast to STRING.
    pub legacy: bool,
}

impl Default for PartitionNaming {
    fn default() -> Self {
        PartitionNaming {
            default_name: "__DEFAULT_PARTITION__".to_owned(),
            legacy: true,
        }
    }
}

impl PartitionNaming {
    /// The unescaped name of a value.
    ///
    /// # Errors
    /// `Unsupported` when Java has no reproducible text for the type.
    pub fn value_to_string(&self, _value: Option<&Datum>, _data_type: &DataType) -> Result<String> {
        Err(Error::unsupported("stub"))
    }

    /// The value of an unescaped name.
    ///
    /// # Errors
    /// `InvalidInput` when the text is not a value of the type.
    pub fn value_from_string(&self, _text: &str, _data_type: &DataType) -> Result<Option<Datum>> {
        Err(Error::unsupported("stub"))
    }

    /// `k=v/k2=v2`, escaped, without trailing slash; empty for no fields.
    ///
    /// # Errors
    /// As [`PartitionNaming::value_to_string`]; `Corrupt` when the row does not hold the fields.
    pub fn path(&self, _fields: &[&DataField], _partition: &BinaryRow) -> Result<String> {
        Err(Error::unsupported("stub"))
    }

    /// Values of an escaped path made by [`PartitionNaming::path`]; a trailing slash is accepted.
    ///
    /// # Errors
    /// `InvalidInput` when the components are not the fields in order or a value is not of its type.
    pub fn parse_path(&self, _path: &str, _fields: &[&DataField]) -> Result<Vec<Option<Datum>>> {
        Err(Error::unsupported("stub"))
    }
}
