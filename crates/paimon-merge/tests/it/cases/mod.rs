// SPDX-License-Identifier: Apache-2.0

//! Function by function and engine by engine: NULL, retractions, options, and what is refused.

mod engines;
mod functions;

use paimon_merge::{merge_function, merge_read_fields};
use paimon_types::{DataField, Datum, ErrorKind, RowKind, TableSchema};

use crate::convert::Row;
use crate::random::{History, merged_row, options, schema};

use RowKind::{Delete as D, Insert as I, UpdateAfter as U, UpdateBefore as B};

type Value = Option<Datum>;

fn int(v: i32) -> Value {
    Some(Datum::Int(v))
}

fn text(v: &str) -> Value {
    Some(Datum::String(v.to_owned()))
}

fn ints(values: &[i32]) -> Value {
    Some(Datum::Array(values.iter().map(|v| int(*v)).collect()))
}

fn row(values: &[Value]) -> Value {
    Some(Datum::Row(values.to_vec()))
}

fn rows(values: &[Value]) -> Value {
    Some(Datum::Array(values.to_vec()))
}

fn map(entries: &[(Value, Value)]) -> Value {
    Some(Datum::Map(entries.to_vec()))
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

/// A table of the engine with these columns and options.
fn table(engine: &str, columns: &[(&str, &str)], more: &[(&str, &str)]) -> TableSchema {
    let mut all = pairs(&[("merge-engine", engine)]);
    all.extend(pairs(more));
    schema(columns, &all)
}

/// The rows of one key.
fn merge(
    table: &TableSchema,
    versions: &[(RowKind, &[Value])],
) -> paimon_types::Result<Option<(RowKind, Row)>> {
    let versions = versions.iter().map(|(kind, row)| (row.to_vec(), *kind)).collect();
    let all: Vec<usize> = (0..table.fields.len()).collect();
    let merged = History::plain(vec![versions]).merge(table, &all, |_| true)?;
    Ok(merged
        .kinds
        .first()
        .map(|kind| (*kind, merged_row(table, &all, &merged, 0))))
}

/// The value of a column of type `data_type` with the function, key column left out.
fn try_one(
    function: &str,
    data_type: &str,
    more: &[(&str, &str)],
    versions: &[(RowKind, Value)],
) -> paimon_types::Result<Value> {
    let mut all = vec![("fields.c.aggregate-function", function)];
    all.extend_from_slice(more);
    let table = table("aggregation", &[("k", "INT NOT NULL"), ("c", data_type)], &all);
    let versions: Vec<(RowKind, Row)> = versions
        .iter()
        .map(|(kind, value)| (*kind, vec![int(1), value.clone()]))
        .collect();
    let versions: Vec<(RowKind, &[Value])> = versions
        .iter()
        .map(|(kind, row)| (*kind, row.as_slice()))
        .collect();
    Ok(merge(&table, &versions)?.unwrap().1[1].clone())
}

fn one(function: &str, data_type: &str, more: &[(&str, &str)], versions: &[(RowKind, Value)]) -> Value {
    try_one(function, data_type, more, versions).unwrap()
}

fn fails(function: &str, data_type: &str, more: &[(&str, &str)], versions: &[(RowKind, Value)]) -> String {
    let error = try_one(function, data_type, more, versions).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error:?}");
    error.to_string()
}
