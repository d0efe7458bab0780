// SPDX-License-Identifier: Apache-2.0

//! Batches, routing and files of the writer.

#[cfg(feature = "parquet")]
mod files;
#[cfg(feature = "parquet")]
mod key_value;
mod mapping;
mod routing;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use paimon_types::{CoreOptions, DataField, DataType, TableSchema, TypeKind};

fn int() -> DataType {
    DataType::new(TypeKind::Int)
}

fn schema(columns: &[(&str, DataType)], partition_keys: &[&str], options: &[(&str, &str)]) -> TableSchema {
    let fields: Vec<DataField> = columns
        .iter()
        .enumerate()
        .map(|(i, (name, t))| DataField::new(i as i32, *name, t.clone()))
        .collect();
    TableSchema {
        version: 3,
        id: 7,
        highest_field_id: fields.len() as i32 - 1,
        fields,
        partition_keys: partition_keys.iter().map(ToString::to_string).collect(),
        primary_keys: Vec::new(),
        options: map(options),
        comment: None,
        time_millis: 0,
    }
}

fn map(options: &[(&str, &str)]) -> BTreeMap<String, String> {
    options
        .iter()
        .map(|(k, v)| (k.to_string(), v.to_string()))
        .collect()
}

fn core_options(options: &[(&str, &str)]) -> CoreOptions {
    CoreOptions::from_map(&map(options)).unwrap()
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true))).unwrap()
}

fn arc(array: impl arrow_array::Array + 'static) -> ArrayRef {
    Arc::new(array)
}
