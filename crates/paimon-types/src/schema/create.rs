// SPDX-License-Identifier: Apache-2.0

//! From what a user gives to the first schema (Java `Schema`, `SchemaManager.createTable`; `metadata.md` 2.3, 2.4).

use std::collections::HashSet;

use super::{NewTable, SCHEMA_VERSION, TableSchema, highest_field_id};
use crate::{CoreOptions, DataField, DataType, Error, Result, TypeKind};

impl NewTable {
    /// Assigns field ids, moves `primary-key`/`partition` options, normalises nullability and validates
    /// (`metadata.md` 2.3, 2.4, 2.8). The result has id 0.
    ///
    /// # Errors
    /// `InvalidInput` that names column or option; `Unsupported` for column comments that are directives (`__BLOB_FIELD` …).
    pub fn into_schema(mut self, time_millis: i64) -> Result<TableSchema> {
        take_keys(&mut self.primary_keys, "primary-key", &mut self.options)?;
        take_keys(&mut self.partition_keys, "partition", &mut self.options)?;
        check_repeated("column", self.columns.iter().map(|column| column.name.as_str()))?;
        for (what, keys) in [
            ("primary key", &self.primary_keys),
            ("partition key", &self.partition_keys),
        ] {
            check_repeated(what, keys.iter().map(String::as_str))?;
            for key in keys {
                if !self.columns.iter().any(|column| column.name == *key) {
                    let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
                    let names = names.join(", ");
                    return Err(Error::invalid(format!(
                        "{what} {key} is not a column; columns: {names}"
                    )));
                }
            }
        }
        for column in &self.columns {
            check_directive(column)?;
        }
        let nullable = CoreOptions::from_map(&self.options)?.primary_key_nullable;
        for column in &mut self.columns {
            if self.primary_keys.contains(&column.name) {
                column.data_type.nullable = nullable;
            }
        }
        assign_field_ids(&mut self.columns);
        let schema = TableSchema {
            version: SCHEMA_VERSION,
            id: 0,
            highest_field_id: highest_field_id(&self.columns),
            fields: self.columns,
            partition_keys: self.partition_keys,
            primary_keys: self.primary_keys,
            options: self.options,
            comment: self.comment,
            time_millis,
        };
        schema.validate()?;
        Ok(schema)
    }
}

/// Moves the comma list of an option into `keys`.
fn take_keys(
    keys: &mut Vec<String>,
    option: &'static str,
    options: &mut std::collections::BTreeMap<String, String>,
) -> Result<()> {
    let Some(text) = options.remove(option) else {
        return Ok(());
    };
    if !keys.is_empty() {
        return Err(Error::invalid(format!(
            "option {option} is '{text}' but the keys are also given directly"
        ))
        .with("option", option));
    }
    keys.extend(
        text.split(',')
            .map(|key| key.trim().to_owned())
            .filter(|key| !key.is_empty()),
    );
    Ok(())
}

fn check_repeated<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(Error::invalid(format!("{what} {name} is given twice")));
        }
    }
    Ok(())
}

/// Comments that Java takes as instructions to change the type of the column.
fn check_directive(column: &DataField) -> Result<()> {
    let Some(comment) = &column.description else {
        return Ok(());
    };
    let comment = comment.trim_start();
    if comment.starts_with("__BLOB") || comment.starts_with("__VECTOR") {
        let directive = comment.split(';').next().unwrap_or(comment).trim();
        return Err(Error::unsupported(format!(
            "the column comment directive {directive} is not implemented yet"
        ))
        .with("column", &column.name));
    }
    Ok(())
}

/// Numbers fields from 0: a column takes its id before the fields inside it, a field of a nested ROW after them.
pub(crate) fn assign_field_ids(columns: &mut [DataField]) {
    let mut next = 0;
    for column in columns {
        column.id = next;
        next += 1;
        assign_nested(&mut column.data_type, &mut next);
    }
}

fn assign_nested(data_type: &mut DataType, next: &mut i32) {
    match &mut data_type.kind {
        TypeKind::Array(element) | TypeKind::Multiset(element) | TypeKind::Vector(element, _) => {
            assign_nested(element, next);
        }
        TypeKind::Map(key, value) => {
            assign_nested(key, next);
            assign_nested(value, next);
        }
        TypeKind::Row(fields) => {
            for field in fields {
                assign_nested(&mut field.data_type, next);
                field.id = *next;
                *next += 1;
            }
        }
        _ => {}
    }
}
