// SPDX-License-Identifier: Apache-2.0

//! Table schema and its JSON file (Java `TableSchema`, `SchemaSerializer`; `metadata.md` 2.1, 2.3, 2.4).

mod create;
mod validate;

pub(crate) use create::assign_field_ids;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value};

use crate::type_json::{FieldIds, read_field, text_of};
use crate::{DataField, DataType, Error, Result, TypeKind, system_field, to_pretty_json};

/// Version of the schema file that is written.
pub const SCHEMA_VERSION: i32 = 3;

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
    /// Parses a schema file with the read rules of versions 1 to 3: a missing version is 1; version 1 has `bucket` 1 unless it
    /// says otherwise, versions 1 and 2 have `file.format` orc; a missing time is 0; unknown keys are ignored.
    ///
    /// # Errors
    /// `Corrupt` when the JSON or a type is malformed, ids are missing or repeated, or a key is not a column; `Unsupported`
    /// for a newer version.
    pub fn from_json(text: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(text)
            .map_err(|e| Error::corrupt("the schema file is not valid JSON").with_source(e))?;
        let object = value
            .as_object()
            .ok_or_else(|| Error::corrupt("the schema file is not a JSON object"))?;
        let version = match object.get("version") {
            None => 1,
            Some(version) => version
                .as_i64()
                .and_then(|v| i32::try_from(v).ok())
                .ok_or_else(|| Error::corrupt(format!("the schema version {version} is not an integer")))?,
        };
        if version > SCHEMA_VERSION {
            return Err(Error::unsupported(format!(
                "the schema file has version {version}; versions up to {SCHEMA_VERSION} are known"
            )));
        }
        let fields = array(object, "fields")?
            .iter()
            .map(|field| read_field(field, &mut FieldIds::Required, 0))
            .collect::<Result<Vec<_>>>()?;
        let highest = integer(object, "highestFieldId")?;
        let mut options = BTreeMap::new();
        if let Some(Value::Object(stored)) = object.get("options") {
            for (key, _) in stored {
                if let Some(text) = text_of(stored, key)? {
                    options.insert(key.clone(), text);
                }
            }
        } else {
            return Err(Error::corrupt("the schema file has no options"));
        }
        if version <= 1 {
            options
                .entry("bucket".to_owned())
                .or_insert_with(|| "1".to_owned());
        }
        if version <= 2 {
            options
                .entry("file.format".to_owned())
                .or_insert_with(|| "orc".to_owned());
        }
        let schema = TableSchema {
            version,
            id: integer(object, "id")?,
            fields,
            highest_field_id: i32::try_from(highest)
                .map_err(|_| Error::corrupt(format!("highestFieldId {highest} is not a 32-bit integer")))?,
            partition_keys: names(object, "partitionKeys")?,
            primary_keys: names(object, "primaryKeys")?,
            options,
            comment: text_of(object, "comment")?,
            time_millis: match object.get("timeMillis") {
                None | Some(Value::Null) => 0,
                Some(_) => integer(object, "timeMillis")?,
            },
        };
        schema.check_consistent()?;
        Ok(schema)
    }

    /// Writes the file as Java does (two-space indent, `"key" : value`, options in the order of their keys).
    pub fn to_json(&self) -> String {
        let text = |name: &String| Value::from(name.as_str());
        let mut object = Map::new();
        object.insert("version".to_owned(), Value::from(self.version));
        object.insert("id".to_owned(), Value::from(self.id));
        object.insert(
            "fields".to_owned(),
            self.fields.iter().map(DataField::to_json).collect(),
        );
        object.insert("highestFieldId".to_owned(), Value::from(self.highest_field_id));
        object.insert(
            "partitionKeys".to_owned(),
            self.partition_keys.iter().map(text).collect(),
        );
        object.insert(
            "primaryKeys".to_owned(),
            self.primary_keys.iter().map(text).collect(),
        );
        let options = self
            .options
            .iter()
            .map(|(key, value)| (key.clone(), text(value)))
            .collect();
        object.insert("options".to_owned(), Value::Object(options));
        if let Some(comment) = &self.comment {
            object.insert("comment".to_owned(), Value::from(comment.as_str()));
        }
        object.insert("timeMillis".to_owned(), Value::from(self.time_millis));
        to_pretty_json(&Value::Object(object))
    }

    /// Ids and names are unique, keys are columns: what everything else relies on.
    fn check_consistent(&self) -> Result<()> {
        let mut ids = HashSet::new();
        check_unique_ids(&self.fields, &mut ids)?;
        let mut names = HashSet::new();
        if let Some(field) = self
            .fields
            .iter()
            .find(|field| !names.insert(field.name.as_str()))
        {
            return Err(
                Error::corrupt("broken schema: a column name is repeated").with("column", &field.name)
            );
        }
        for (what, keys) in [
            ("partition key", &self.partition_keys),
            ("primary key", &self.primary_keys),
        ] {
            if let Some(key) = keys.iter().find(|key| !names.contains(key.as_str())) {
                return Err(Error::corrupt(format!(
                    "broken schema: {what} {key} is not a column"
                )));
            }
        }
        Ok(())
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
        self.partition_fields()
            .into_iter()
            .map(|f| f.data_type.clone())
            .collect()
    }

    /// Primary key columns that are not partition columns, in declared order.
    pub fn trimmed_primary_keys(&self) -> Vec<&str> {
        self.primary_keys
            .iter()
            .filter(|k| !self.partition_keys.contains(k))
            .map(String::as_str)
            .collect()
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

fn array<'a>(object: &'a Map<String, Value>, key: &str) -> Result<&'a Vec<Value>> {
    let found = object.get(key).and_then(Value::as_array);
    found.ok_or_else(|| Error::corrupt(format!("the schema file has no array {key}")))
}

fn integer(object: &Map<String, Value>, key: &str) -> Result<i64> {
    let found = object.get(key).and_then(Value::as_i64);
    found.ok_or_else(|| Error::corrupt(format!("the schema file has no integer {key}")))
}

fn names(object: &Map<String, Value>, key: &str) -> Result<Vec<String>> {
    let name = |value: &Value| value.as_str().map(str::to_owned);
    let found: Option<Vec<String>> = array(object, key)?.iter().map(name).collect();
    found.ok_or_else(|| {
        Error::corrupt(format!(
            "{key} of the schema file holds something other than names"
        ))
    })
}

pub(crate) fn check_unique_ids(fields: &[DataField], ids: &mut HashSet<i32>) -> Result<()> {
    for field in fields {
        if !ids.insert(field.id) {
            let problem = format!("broken schema: field id {} is repeated", field.id);
            return Err(Error::corrupt(problem).with("column", &field.name));
        }
        check_unique_ids_in(&field.data_type, ids)?;
    }
    Ok(())
}

fn check_unique_ids_in(data_type: &DataType, ids: &mut HashSet<i32>) -> Result<()> {
    match &data_type.kind {
        TypeKind::Array(element) | TypeKind::Multiset(element) | TypeKind::Vector(element, _) => {
            check_unique_ids_in(element, ids)
        }
        TypeKind::Map(key, value) => {
            check_unique_ids_in(key, ids)?;
            check_unique_ids_in(value, ids)
        }
        TypeKind::Row(fields) => check_unique_ids(fields, ids),
        _ => Ok(()),
    }
}

/// The highest id of user fields at any depth, −1 when there is none.
pub(crate) fn highest_field_id(fields: &[DataField]) -> i32 {
    let mut ids = HashSet::new();
    // Repeated ids do not change the maximum.
    let _ = check_unique_ids(fields, &mut ids);
    ids.into_iter()
        .filter(|id| *id < system_field::KEY_ID_START)
        .max()
        .unwrap_or(-1)
}
