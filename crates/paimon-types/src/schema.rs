// SPDX-License-Identifier: Apache-2.0

//! Table schema and its JSON file (Java `TableSchema`, `SchemaSerializer`; `metadata.md` 2.1, 2.3, 2.4).

use std::collections::BTreeMap;

use crate::{DataField, DataType, Error, Result};

/// A table schema: the content of `schema/schema-<id>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSchema {
    /// Format version of the file, 3 when written.
    pub version: i32,
    /// Schema id, from 0.
    pub id: i64,
    /// Columns in order.
    pub fields: Vec<DataField>,
    /// Highest id ever used, −1 if none; never decreases.
    pub highest_field_id: i32,
    /// Names of partition columns in order.
    pub partition_keys: Vec<String>,
    /// Names of primary key columns in order; empty for append tables.
    pub primary_keys: Vec<String>,
    /// Table options as text.
    pub options: BTreeMap<String, String>,
    /// Table comment.
    pub comment: Option<String>,
    /// Creation time, epoch milliseconds.
    pub time_millis: i64,
}

impl TableSchema {
    /// Parses a schema file with the read rules of versions 1 to 3.
    ///
    /// # Errors
    /// `Corrupt` when the JSON or a type is malformed, ids are missing or repeated.
    pub fn from_json(_text: &str) -> Result<Self> {
        Err(Error::unsupported("stub"))
    }

    /// Writes the file as Java does (two-space indent, `"key" : value`).
    pub fn to_json(&self) -> String {
        String::new()
    }

    /// The field called `name` (case-sensitive).
    pub fn field(&self, name: &str) -> Option<&DataField> {
        self.fields.iter().find(|f| f.name == name)
    }

    /// The top-level field with this id.
    pub fn field_by_id(&self, id: i32) -> Option<&DataField> {
        self.fields.iter().find(|f| f.id == id)
    }

    /// Partition columns in partition order.
    pub fn partition_fields(&self) -> Vec<&DataField> {
        self.partition_keys.iter().filter_map(|k| self.field(k)).collect()
    }

    /// Types of the partition columns in partition order.
    pub fn partition_types(&self) -> Vec<DataType> {
        self.partition_fields().into_iter().map(|f| f.data_type.clone()).collect()
    }

    /// Primary key columns that are not partition columns, in declared order.
    pub fn trimmed_primary_keys(&self) -> Vec<&str> {
        self.primary_keys.iter().filter(|k| !self.partition_keys.contains(k)).map(String::as_str).collect()
    }

    /// Bucket key columns: option `bucket-key` or the trimmed primary key (`wire.md` 3.2).
    pub fn bucket_keys(&self) -> Vec<&str> {
        match self.options.get("bucket-key").filter(|v| !v.trim().is_empty()) {
            Some(keys) => keys.split(',').collect(),
            None => self.trimmed_primary_keys(),
        }
    }
}

/// What a user gives to create a table; [`NewTable::into_schema`] assigns ids and validates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewTable {
    /// Columns; the ids of fields (nested ones too) are ignored and assigned.
    pub columns: Vec<DataField>,
    /// Partition columns in order.
    pub partition_keys: Vec<String>,
    /// Primary key columns in order.
    pub primary_keys: Vec<String>,
    /// Table options.
    pub options: BTreeMap<String, String>,
    /// Table comment.
    pub comment: Option<String>,
}

impl NewTable {
    /// Assigns field ids, moves `primary-key`/`partition` options, normalises nullability and validates
    /// (`metadata.md` 2.3, 2.4, 2.8). The result has id 0.
    ///
    /// # Errors
    /// `InvalidInput` that names column or option.
    pub fn into_schema(self, _time_millis: i64) -> Result<TableSchema> {
        Err(Error::unsupported("stub"))
    }
}
