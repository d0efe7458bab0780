// SPDX-License-Identifier: Apache-2.0

//! Small tables of our own.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use paimon::types::to_arrow_field;
use paimon::{CommitOutcome, DataField, DataType, NewTable, Result, Storage, Table, TableSchema};
use paimon_testkit::read_lines;

/// A definition from `(name, type)` pairs.
pub(crate) fn definition(
    columns: &[(&str, &str)],
    partition_by: &[&str],
    options: &[(&str, &str)],
) -> NewTable {
    NewTable {
        columns: columns
            .iter()
            .map(|(name, data_type)| DataField::new(0, *name, DataType::parse(data_type).unwrap()))
            .collect(),
        partition_keys: partition_by.iter().map(|name| (*name).to_owned()).collect(),
        options: map(options),
        ..NewTable::default()
    }
}

pub(crate) fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect()
}

/// A table in memory.
pub(crate) async fn create(
    columns: &[(&str, &str)],
    partition_by: &[&str],
    options: &[(&str, &str)],
) -> Table {
    create_in(Storage::memory(), columns, partition_by, options).await
}

pub(crate) async fn create_in(
    storage: Storage,
    columns: &[(&str, &str)],
    partition_by: &[&str],
    options: &[(&str, &str)],
) -> Table {
    Table::create(
        storage,
        "memory://w/t",
        definition(columns, partition_by, options),
    )
    .await
    .unwrap()
}

/// A batch whose fields are those of the table's columns with these names.
pub(crate) fn batch(table: &Table, columns: &[(&str, ArrayRef)]) -> RecordBatch {
    let fields: Vec<_> = columns
        .iter()
        .map(|(name, _)| to_arrow_field(table.field(name).unwrap()))
        .collect();
    let arrays = columns.iter().map(|(_, array)| array.clone()).collect();
    RecordBatch::try_new(Arc::new(arrow_schema::Schema::new(fields)), arrays).unwrap()
}

pub(crate) async fn try_append(table: &Table, columns: &[(&str, ArrayRef)]) -> Result<CommitOutcome> {
    let mut writer = table.write().await?;
    writer.write(&batch(table, columns)).await?;
    writer.commit().await
}

pub(crate) async fn append(table: &Table, columns: &[(&str, ArrayRef)]) {
    try_append(table, columns).await.unwrap();
}

/// All rows, sorted.
pub(crate) async fn rows(table: &Table) -> Vec<String> {
    read_lines(&table.read()).await.unwrap()
}

pub(crate) fn ints(values: impl IntoIterator<Item = impl Into<Option<i32>>>) -> ArrayRef {
    Arc::new(Int32Array::from_iter(values.into_iter().map(Into::into)))
}

pub(crate) fn longs(values: impl IntoIterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

pub(crate) fn strings<'a>(values: impl IntoIterator<Item = Option<&'a str>>) -> ArrayRef {
    Arc::new(StringArray::from_iter(values))
}

/// Publishes a changed schema, as `ALTER TABLE` does, and gives the table with it.
pub(crate) async fn alter(table: &Table, change: impl FnOnce(&mut TableSchema)) -> Table {
    let mut schema = (**table.schema()).clone();
    schema.id += 1;
    change(&mut schema);
    schema.highest_field_id = schema
        .fields
        .iter()
        .map(|f| f.id)
        .chain([schema.highest_field_id])
        .max()
        .unwrap();
    table.meta().schema_manager().publish(&schema).await.unwrap();
    Table::from_meta(table.meta().refresh().await.unwrap())
}

/// A field of `schema`, for changing it.
pub(crate) fn field_mut<'a>(schema: &'a mut TableSchema, name: &str) -> &'a mut DataField {
    schema.fields.iter_mut().find(|f| f.name == name).unwrap()
}
