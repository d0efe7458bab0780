// SPDX-License-Identifier: Apache-2.0

//! `paimon create`.

use std::collections::BTreeMap;

use paimon::data::default_registry;
use paimon::types::{CoreOptions, DataField, DataType, Error, ErrorKind, NewTable, Result, TypeKind};
use paimon::{Identifier, Storage, Table};
use serde_json::Value;

use crate::args::CreateArgs;
use crate::session::{Session, Target};

pub(super) async fn run(session: &Session, args: &CreateArgs) -> Result<()> {
    let mut definition = match &args.schema {
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|e| {
                Error::not_found(format!("the schema cannot be read: {e}")).with("path", path.display())
            })?;
            from_json(&text).map_err(|e| e.with("path", path.display()))?
        }
        None if args.columns.is_empty() => {
            return Err(Error::invalid(
                "a table needs columns: give --column \"id BIGINT NOT NULL\" … or --schema FILE",
            ));
        }
        None => NewTable {
            columns: args
                .columns
                .iter()
                .map(|text| column(text))
                .collect::<Result<_>>()?,
            ..NewTable::default()
        },
    };
    let trimmed = |names: &[String]| names.iter().map(|n| n.trim().to_owned()).collect::<Vec<_>>();
    if !args.partition_by.is_empty() {
        definition.partition_keys = trimmed(&args.partition_by);
    }
    if !args.primary_key.is_empty() {
        definition.primary_keys = trimmed(&args.primary_key);
    }
    if args.comment.is_some() {
        definition.comment = args.comment.clone();
    }
    definition.options.extend(session.options.clone());
    fix_buckets(&mut definition);
    match create(session, &args.table, definition).await {
        Ok(table) => println!("created {}", table.location()),
        Err(err) if args.if_not_exists && err.kind() == ErrorKind::AlreadyExists => {
            println!("exists already")
        }
        Err(err) => return Err(err),
    }
    Ok(())
}

/// One bucket for a table with a primary key whose options name no number: the library's default, dynamic buckets, is not written
/// yet. Keys that may move between partitions cannot have fixed buckets.
pub(super) fn fix_buckets(definition: &mut NewTable) {
    let moving = |key: &String| !definition.primary_keys.contains(key);
    if !definition.primary_keys.is_empty() && !definition.partition_keys.iter().any(moving) {
        definition
            .options
            .entry("bucket".to_owned())
            .or_insert_with(|| "1".to_owned());
    }
}

/// Creates a table that a TABLE argument names.
pub(super) async fn create(session: &Session, table: &str, definition: NewTable) -> Result<Table> {
    check_format(&definition).await?;
    match session.target(table)? {
        Target::Location(location) => Table::create(session.storage.clone(), &location, definition).await,
        Target::Named(warehouse, identifier) => {
            let identifier: Identifier = identifier;
            warehouse.create_table(&identifier, definition).await
        }
    }
}

/// Refuses a format or compression of data files that this build cannot write: the table would take no rows.
async fn check_format(definition: &NewTable) -> Result<()> {
    let options = CoreOptions::from_map(&definition.options)?;
    let format = default_registry()
        .get(&options.file_format, &definition.options)
        .map_err(|e| e.with("option", "file.format"))?;
    // The codec is looked at when a writer is made.
    let column = DataField::new(0, "column", DataType::new(TypeKind::Int));
    let out = Storage::memory().open_output("memory:///probe").await?;
    format
        .create_writer_builder(&[column], 1)?
        .build(out, &options.file_compression)
        .map(drop)
}

/// `name TYPE [NOT NULL]`; a name with spaces stands in backticks.
fn column(text: &str) -> Result<DataField> {
    let text = text.trim();
    let split = match text.strip_prefix('`') {
        Some(rest) => rest.split_once('`'),
        None => text.split_once(char::is_whitespace),
    };
    let (name, data_type) = split.ok_or_else(|| {
        Error::invalid(format!(
            "'{text}' is no column; expected NAME TYPE, such as id BIGINT NOT NULL"
        ))
        .with("option", "--column")
    })?;
    let data_type = DataType::parse(data_type.trim()).map_err(|e| e.with("column", name))?;
    Ok(DataField::new(0, name, data_type))
}

/// A schema file, or the smaller form without ids and versions.
fn from_json(text: &str) -> Result<NewTable> {
    let value: Value = serde_json::from_str(text)
        .map_err(|e| Error::invalid(format!("the schema is not JSON: {e}")).with_source(e))?;
    let wrong = |what: &str| Error::invalid(format!("the schema's {what}"));
    let names = |key: &str| -> Result<Vec<String>> {
        match value.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(list)) => list
                .iter()
                .map(|v| {
                    v.as_str()
                        .map(str::to_owned)
                        .ok_or_else(|| wrong(&format!("{key} are not all text")))
                })
                .collect(),
            Some(_) => Err(wrong(&format!("{key} is no array"))),
        }
    };
    let text_of = |field: &Value, key: &str| field.get(key).and_then(Value::as_str).map(str::to_owned);
    let fields = value
        .get("fields")
        .and_then(Value::as_array)
        .ok_or_else(|| wrong("'fields' are missing"))?;
    let mut columns = Vec::with_capacity(fields.len());
    for field in fields {
        let name = text_of(field, "name").ok_or_else(|| wrong("fields need a name"))?;
        let data_type = field
            .get("type")
            .ok_or_else(|| wrong("fields need a type").with("column", &name))?;
        let data_type = DataType::from_json(data_type).map_err(|e| e.with("column", &name))?;
        columns.push(DataField {
            description: text_of(field, "description"),
            default_value: text_of(field, "defaultValue"),
            ..DataField::new(0, name, data_type)
        });
    }
    let mut options = BTreeMap::new();
    for (key, option) in value
        .get("options")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let text = option.as_str().map_or_else(|| option.to_string(), str::to_owned);
        options.insert(key.clone(), text);
    }
    Ok(NewTable {
        columns,
        partition_keys: names("partitionKeys")?,
        primary_keys: names("primaryKeys")?,
        options,
        comment: text_of(&value, "comment"),
    })
}
