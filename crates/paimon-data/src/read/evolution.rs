// SPDX-License-Identifier: Apache-2.0

//! From the columns of one file to the columns of the read: by field id at every depth (`data-files.md` 16).

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, FixedSizeListArray, ListArray, MapArray, StructArray, new_null_array};
use arrow_schema::{DataType as ArrowType, Fields};
use paimon_types::{DataField, DataType, Error, Result, TypeKind};

use super::widen::{widen, widens};

/// Where one column of the read comes from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// The value of the split's partition at this index.
    Partition(usize),
    /// The file does not have the column: NULL, never the default value.
    Missing,
    /// Where the row is: which file of the split, and the position in it, in 32 bits each.
    Place,
    /// Column of the file read, to be brought from `from` to the type of the read.
    File { index: usize, from: DataType },
}

/// Field id of the column of places; no column of a table has it.
const PLACE_ID: i32 = i32::MIN;

/// A column that tells where a row is ([`Source::Place`]).
pub(crate) fn place_field() -> DataField {
    DataField::new(PLACE_ID, "_PLACE", DataType::required(TypeKind::BigInt))
}

/// How the columns of one file schema become the columns of the read.
#[derive(Clone, Debug)]
pub(crate) struct SchemaMapping {
    /// What to ask the format for: ids, names and types of the file's schema, nested fields pruned.
    pub(crate) file_fields: Vec<DataField>,
    /// One source for each column of the read.
    pub(crate) sources: Vec<Source>,
}

impl SchemaMapping {
    /// Maps `file` (the schema that the file was written with, restricted to the columns that it holds) to `read`.
    ///
    /// # Errors
    /// `Unsupported` that names the column when a type changed in a way that is not implemented.
    pub(crate) fn new(read: &[DataField], partition_keys: &[String], file: &[DataField]) -> Result<Self> {
        let mut file_fields: Vec<DataField> = Vec::new();
        let mut sources = Vec::with_capacity(read.len());
        for field in read {
            if field.id == PLACE_ID {
                sources.push(Source::Place);
                continue;
            }
            if let Some(index) = partition_keys.iter().position(|k| *k == field.name) {
                sources.push(Source::Partition(index));
                continue;
            }
            let Some(stored) = file.iter().find(|f| f.id == field.id) else {
                sources.push(Source::Missing);
                continue;
            };
            match prune(&stored.data_type, &field.data_type).map_err(|e| e.with("column", &field.name))? {
                None => sources.push(Source::Missing),
                Some(from) => {
                    sources.push(Source::File {
                        index: file_fields.len(),
                        from: from.clone(),
                    });
                    file_fields.push(DataField {
                        data_type: from,
                        ..stored.clone()
                    });
                }
            }
        }
        Ok(SchemaMapping { file_fields, sources })
    }

    /// Whether the read asks where rows are.
    pub(crate) fn has_places(&self) -> bool {
        self.sources.iter().any(|source| matches!(source, Source::Place))
    }
}

/// The part of `file` that `read` needs; `None` when a ROW shares no field with the read.
fn prune(file: &DataType, read: &DataType) -> Result<Option<DataType>> {
    let kind = match (&file.kind, &read.kind) {
        (TypeKind::Row(stored), TypeKind::Row(wanted)) => {
            let mut fields = Vec::new();
            for field in stored {
                if let Some(target) = wanted.iter().find(|w| w.id == field.id)
                    && let Some(data_type) = prune(&field.data_type, &target.data_type)
                        .map_err(|e| e.with("field", &field.name))?
                {
                    fields.push(DataField {
                        data_type,
                        ..field.clone()
                    });
                }
            }
            if fields.is_empty() {
                return Ok(None);
            }
            TypeKind::Row(fields)
        }
        (TypeKind::Array(a), TypeKind::Array(b)) => match prune(a, b)? {
            Some(element) => TypeKind::Array(Box::new(element)),
            None => file.kind.clone(),
        },
        (TypeKind::Map(ak, av), TypeKind::Map(bk, bv)) => {
            if !same_type(ak, bk) {
                return Err(changed(ak, bk));
            }
            match prune(av, bv)? {
                Some(value) => TypeKind::Map(ak.clone(), Box::new(value)),
                None => file.kind.clone(),
            }
        }
        _ if same_type(file, read) || widens(&file.kind, &read.kind) => file.kind.clone(),
        _ => return Err(changed(file, read)),
    };
    Ok(Some(DataType {
        kind,
        nullable: file.nullable,
    }))
}

/// Equal at every depth except for nullability, and, where values are stored alike, for lengths.
fn same_type(a: &DataType, b: &DataType) -> bool {
    match (&a.kind, &b.kind) {
        (TypeKind::VarChar(_), TypeKind::VarChar(_)) | (TypeKind::VarBinary(_), TypeKind::VarBinary(_)) => {
            a.kind == b.kind
        }
        (TypeKind::Multiset(x), TypeKind::Multiset(y)) | (TypeKind::Array(x), TypeKind::Array(y)) => {
            same_type(x, y)
        }
        (TypeKind::Vector(x, n), TypeKind::Vector(y, m)) => n == m && same_type(x, y),
        (TypeKind::Map(xk, xv), TypeKind::Map(yk, yv)) => same_type(xk, yk) && same_type(xv, yv),
        (TypeKind::Row(x), TypeKind::Row(y)) => {
            x.len() == y.len()
                && x.iter()
                    .zip(y)
                    .all(|(f, g)| f.id == g.id && same_type(&f.data_type, &g.data_type))
        }
        _ => a.kind == b.kind,
    }
}

fn changed(file: &DataType, read: &DataType) -> Error {
    Error::unsupported(format!(
        "the column's type changed from {file} (in the file) to {read} (in the table): reading across a type change is not implemented"
    ))
}

/// Brings an array of the (pruned) file type `from` to type `to`, whose Arrow type is `arrow`.
///
/// # Errors
/// `Corrupt` when the array does not have the layout of `from` or has nulls where `to` allows none.
pub(crate) fn adapt(array: &ArrayRef, from: &DataType, to: &DataType, arrow: &ArrowType) -> Result<ArrayRef> {
    if array.data_type() == arrow {
        return Ok(array.clone());
    }
    let layout = || Error::corrupt(format!("an array of type {} is not a {from}", array.data_type()));
    match (&from.kind, &to.kind, arrow) {
        (TypeKind::Row(stored), TypeKind::Row(wanted), ArrowType::Struct(fields)) => {
            let rows = array.as_struct_opt().ok_or_else(layout)?;
            let mut children = Vec::with_capacity(wanted.len());
            for (field, target) in wanted.iter().zip(fields) {
                children.push(match stored.iter().position(|s| s.id == field.id) {
                    None => new_null_array(target.data_type(), rows.len()),
                    Some(index) => {
                        let source = stored.get(index).ok_or_else(layout)?;
                        let child = rows.columns().get(index).ok_or_else(layout)?;
                        adapt(child, &source.data_type, &field.data_type, target.data_type())?
                    }
                });
            }
            rebuild_struct(fields, children, rows)
        }
        (TypeKind::Array(a), TypeKind::Array(b), ArrowType::List(field)) => {
            let list = array.as_list_opt::<i32>().ok_or_else(layout)?;
            let values = adapt(list.values(), a, b, field.data_type())?;
            let built = ListArray::try_new(
                field.clone(),
                list.offsets().clone(),
                values,
                list.nulls().cloned(),
            )
            .map_err(nulls)?;
            Ok(Arc::new(built))
        }
        (TypeKind::Vector(a, _), TypeKind::Vector(b, _), ArrowType::FixedSizeList(field, size)) => {
            let list = array.as_fixed_size_list_opt().ok_or_else(layout)?;
            let values = adapt(list.values(), a, b, field.data_type())?;
            let built = FixedSizeListArray::try_new(field.clone(), *size, values, list.nulls().cloned())
                .map_err(nulls)?;
            Ok(Arc::new(built))
        }
        (TypeKind::Map(ak, av), TypeKind::Map(bk, bv), ArrowType::Map(entries, _)) => {
            adapt_map(array, (ak, av), (bk, bv), entries).map_err(|e| e.with("type", from))
        }
        (TypeKind::Multiset(a), TypeKind::Multiset(b), ArrowType::Map(entries, _)) => {
            let count = DataType::required(TypeKind::Int);
            adapt_map(array, (a, &count), (b, &count), entries).map_err(|e| e.with("type", from))
        }
        (TypeKind::Variant, TypeKind::Variant, ArrowType::Struct(fields)) => {
            let rows = array.as_struct_opt().ok_or_else(layout)?;
            rebuild_struct(fields, rows.columns().to_vec(), rows)
        }
        (from, to, _) if widens(from, to) => widen(array, arrow).ok_or_else(layout),
        _ => Err(layout()),
    }
}

fn adapt_map(
    array: &ArrayRef,
    (from_key, from_value): (&DataType, &DataType),
    (to_key, to_value): (&DataType, &DataType),
    entries: &arrow_schema::FieldRef,
) -> Result<ArrayRef> {
    let layout = || Error::corrupt(format!("an array of type {} is not a map", array.data_type()));
    let map = array.as_map_opt().ok_or_else(layout)?;
    let ArrowType::Struct(fields) = entries.data_type() else {
        return Err(layout());
    };
    let [key_field, value_field] = fields.as_ref() else {
        return Err(layout());
    };
    let keys = adapt(map.keys(), from_key, to_key, key_field.data_type())?;
    let values = adapt(map.values(), from_value, to_value, value_field.data_type())?;
    let pairs = StructArray::try_new(fields.clone(), vec![keys, values], None).map_err(nulls)?;
    let built = MapArray::try_new(
        entries.clone(),
        map.offsets().clone(),
        pairs,
        map.nulls().cloned(),
        false,
    )
    .map_err(nulls)?;
    Ok(Arc::new(built))
}

fn rebuild_struct(fields: &Fields, children: Vec<ArrayRef>, rows: &StructArray) -> Result<ArrayRef> {
    let built = StructArray::try_new_with_length(fields.clone(), children, rows.nulls().cloned(), rows.len())
        .map_err(nulls)?;
    Ok(Arc::new(built))
}

fn nulls(err: arrow_schema::ArrowError) -> Error {
    Error::corrupt("nested values do not fit the table's type").with_source(err)
}
