// SPDX-License-Identifier: Apache-2.0

//! From the batch of a caller to the columns of the table: names, types, defaults, NOT NULL.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, FixedSizeListArray, ListArray, MapArray, RecordBatch, RecordBatchOptions,
    StringArray, StructArray, make_array, new_null_array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType as ArrowType, FieldRef, Fields, SchemaRef};
use arrow_select::take::take;
use arrow_select::zip::zip;
use paimon_types::{DataField, DataType, Datum, Error, Result, TypeKind, datum_from_string, to_arrow_schema};

use crate::arrow_value::repeat_as;

/// Brings batches into the form of the table.
#[derive(Debug)]
pub(crate) struct BatchMapper {
    fields: Vec<DataField>,
    schema: SchemaRef,
    /// Default value of each column that has one.
    defaults: Vec<Option<Datum>>,
    static_partition: BTreeMap<String, Option<Datum>>,
}

impl BatchMapper {
    /// A mapper to `fields`. Static partition values stand for columns that batches do not have.
    ///
    /// # Errors
    /// `InvalidInput` when the default value of a column is not a value of its type.
    pub(crate) fn new(
        fields: &[DataField],
        static_partition: BTreeMap<String, Option<Datum>>,
    ) -> Result<Self> {
        let defaults = fields
            .iter()
            .map(|field| match &field.default_value {
                None => Ok(None),
                Some(text) => datum_from_string(text, &field.data_type)
                    .map_err(|e| e.with("column", &field.name).with("default value", text)),
            })
            .collect::<Result<_>>()?;
        let schema = Arc::new(to_arrow_schema(fields));
        Ok(BatchMapper {
            fields: fields.to_vec(),
            schema,
            defaults,
            static_partition,
        })
    }

    /// The batch with exactly the columns of the table, in its order and types.
    ///
    /// Columns are matched by name, case-sensitively. A column that is missing gets its static value, else its default, else
    /// NULL. NULLs of a column with a default become the default, after NOT NULL was checked, as Java does. Other
    /// encodings of strings and bytes (large, view, dictionary) are accepted; lengths of CHAR and VARCHAR are not checked, as in
    /// Java.
    ///
    /// # Errors
    /// `InvalidInput` that names the column (and the row in the batch, from 0) for unknown or doubled columns, other types, a
    /// missing NOT NULL column, a NULL in one, or a decimal with more digits than its type.
    pub(crate) fn map(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let given = batch.schema_ref().fields();
        let mut names = HashSet::with_capacity(given.len());
        for column in given {
            if !names.insert(column.name().as_str()) {
                return Err(Error::invalid("column occurs twice in the batch").with("column", column.name()));
            }
            if !self.fields.iter().any(|field| field.name == *column.name()) {
                return Err(Error::invalid(format!(
                    "column is not in the table, whose columns are ({})",
                    self.fields
                        .iter()
                        .map(|f| f.name.as_str())
                        .collect::<Vec<_>>()
                        .join(", ")
                ))
                .with("column", column.name()));
            }
        }
        let columns = self
            .fields
            .iter()
            .zip(self.schema.fields())
            .zip(&self.defaults)
            .map(|((field, target), default)| {
                self.column(batch, field, target.data_type(), default.as_ref())
                    .map_err(|e| e.with("column", &field.name))
            })
            .collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)
            .map_err(|e| Error::invalid("the batch does not fit the table").with_source(e))
    }

    fn column(
        &self,
        batch: &RecordBatch,
        field: &DataField,
        target: &ArrowType,
        default: Option<&Datum>,
    ) -> Result<ArrayRef> {
        let fixed = self.static_partition.get(&field.name);
        let Some(array) = batch.column_by_name(&field.name) else {
            let value = match fixed {
                Some(value) => value.as_ref(),
                None => default,
            };
            if value.is_none() && !field.data_type.nullable {
                let why = if fixed.is_some() {
                    "is NULL in the static partition"
                } else {
                    "is missing in the batch"
                };
                return Err(Error::invalid(format!("column is NOT NULL and {why}")));
            }
            return repeat_as(value, &field.data_type, target, batch.num_rows());
        };
        if fixed.is_some() {
            return Err(Error::invalid(
                "column has a static partition value and is in the batch too",
            ));
        }
        let array = conform(array, &field.data_type, target)?;
        check_nulls(array.as_ref(), &field.data_type, None, "")?;
        match default {
            Some(default) if array.null_count() > 0 => {
                let mask = arrow_array::BooleanArray::new(
                    array
                        .nulls()
                        .map_or_else(|| NullBuffer::new_valid(array.len()), Clone::clone)
                        .into_inner(),
                    None,
                );
                let filler = repeat_as(Some(default), &field.data_type, target, 1)?;
                zip(&mask, &array, &arrow_array::Scalar::new(filler))
                    .map_err(|e| Error::invalid("cannot apply the default value").with_source(e))
            }
            _ => Ok(array),
        }
    }
}

fn misfit(array: &dyn Array, data_type: &DataType, target: &ArrowType) -> Error {
    Error::invalid(format!(
        "the batch has Arrow type {}, expected {target} for {data_type}",
        array.data_type()
    ))
}

/// The same values as an array of exactly the type `target`, which is the Arrow form of `data_type`.
fn conform(array: &ArrayRef, data_type: &DataType, target: &ArrowType) -> Result<ArrayRef> {
    let fail = || misfit(array.as_ref(), data_type, target);
    let conformed = match (&data_type.kind, array.data_type()) {
        (_, ArrowType::Null) => new_null_array(target, array.len()),
        (TypeKind::Decimal { precision, scale }, ArrowType::Decimal128(_, given))
            if i16::from(*given) == i16::from(*scale) =>
        {
            let decimals = array.as_primitive_opt::<Decimal128Type>().ok_or_else(fail)?;
            decimals.validate_decimal_precision(*precision).map_err(|e| {
                Error::invalid(format!("a value has more digits than {data_type} holds")).with_source(e)
            })?;
            make_array(decimals.clone().with_data_type(target.clone()).into())
        }
        (TypeKind::Row(fields), ArrowType::Struct(_)) => conform_row(array.as_ref(), fields, target, fail)?,
        (TypeKind::Array(element), ArrowType::List(_)) => {
            let (ArrowType::List(child), Some(list)) = (target, array.as_list_opt::<i32>()) else {
                return Err(fail());
            };
            let values = conform(list.values(), element, child.data_type())?;
            check_nulls(values.as_ref(), element, None, "element")?;
            let made = ListArray::try_new(
                child.clone(),
                list.offsets().clone(),
                values,
                list.nulls().cloned(),
            );
            Arc::new(made.map_err(|e| fail().with_source(e))?)
        }
        (TypeKind::Vector(element, _), ArrowType::FixedSizeList(_, given)) => {
            let (ArrowType::FixedSizeList(child, length), Some(list)) =
                (target, array.as_fixed_size_list_opt())
            else {
                return Err(fail());
            };
            if given != length {
                return Err(fail());
            }
            let values = conform(list.values(), element, child.data_type())?;
            check_nulls(values.as_ref(), element, None, "element")?;
            let made = FixedSizeListArray::try_new(child.clone(), *length, values, list.nulls().cloned());
            Arc::new(made.map_err(|e| fail().with_source(e))?)
        }
        (TypeKind::Map(key, value), ArrowType::Map(..)) => {
            conform_map(array.as_ref(), key, value, target, fail)?
        }
        (TypeKind::Multiset(element), ArrowType::Map(..)) => conform_map(
            array.as_ref(),
            element,
            &DataType::required(TypeKind::Int),
            target,
            fail,
        )?,
        (TypeKind::Variant, ArrowType::Struct(_)) => {
            let ArrowType::Struct(children) = target else {
                return Err(fail());
            };
            let parts = array.as_struct_opt().ok_or_else(fail)?;
            let columns = children
                .iter()
                .map(|child| {
                    let part = parts.column_by_name(child.name()).ok_or_else(fail)?;
                    conform(part, &DataType::bytes(), child.data_type())
                })
                .collect::<Result<Vec<_>>>()?;
            new_struct(children, columns, parts.nulls(), array.len(), fail)?
        }
        (_, given) if given == target => array.clone(),
        _ => match other_encoding(array, target).ok_or_else(fail)?? {
            decoded if decoded.data_type() == target => decoded,
            decoded => return conform(&decoded, data_type, target),
        },
    };
    Ok(conformed)
}

/// The same values without a dictionary, or as `target` when the array only encodes them in another way; `None` when it holds
/// other values.
fn other_encoding(array: &ArrayRef, target: &ArrowType) -> Option<Result<ArrayRef>> {
    Some(match (array.data_type(), target) {
        (ArrowType::Dictionary(..), _) => {
            let dictionary = array.as_any_dictionary_opt()?;
            take(dictionary.values().as_ref(), dictionary.keys(), None)
                .map_err(|e| Error::resources("cannot decode a dictionary array").with_source(e))
        }
        (ArrowType::LargeUtf8, ArrowType::Utf8) => strings(array.as_string_opt::<i64>()?.iter()),
        (ArrowType::Utf8View, ArrowType::Utf8) => strings(array.as_string_view_opt()?.iter()),
        (ArrowType::LargeBinary, ArrowType::Binary) => binaries(array.as_binary_opt::<i64>()?.iter()),
        (ArrowType::BinaryView, ArrowType::Binary) => binaries(array.as_binary_view_opt()?.iter()),
        (ArrowType::FixedSizeBinary(_), ArrowType::Binary) => {
            binaries(array.as_fixed_size_binary_opt()?.iter())
        }
        // an instant is an instant whatever zone it is shown in
        (ArrowType::Timestamp(given, Some(_)), ArrowType::Timestamp(unit, Some(_))) if given == unit => {
            let data = array.to_data().into_builder().data_type(target.clone()).build();
            data.map(arrow_array::make_array)
                .map_err(|e| Error::invalid("cannot change the zone of a timestamp array").with_source(e))
        }
        _ => return None,
    })
}

fn strings<'a>(values: impl Iterator<Item = Option<&'a str>> + Clone) -> Result<ArrayRef> {
    check_length(values.clone().flatten().map(str::len))?;
    Ok(make_array(values.collect::<StringArray>().into()))
}

fn binaries<'a>(values: impl Iterator<Item = Option<&'a [u8]>> + Clone) -> Result<ArrayRef> {
    check_length(values.clone().flatten().map(<[u8]>::len))?;
    Ok(make_array(values.collect::<BinaryArray>().into()))
}

/// An array has at most 2 GiB of characters.
fn check_length(lengths: impl Iterator<Item = usize>) -> Result<()> {
    let total = lengths.fold(0usize, usize::saturating_add);
    match i32::try_from(total) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::resources(format!(
            "a column of the batch has {total} bytes, more than 2 GiB: use smaller batches"
        ))),
    }
}

fn new_struct(
    children: &Fields,
    columns: Vec<ArrayRef>,
    nulls: Option<&NullBuffer>,
    length: usize,
    fail: impl Fn() -> Error,
) -> Result<ArrayRef> {
    // nullability of children is checked by `check_nulls`, with names
    let made = StructArray::try_new_with_length(children.clone(), columns, nulls.cloned(), length);
    Ok(Arc::new(made.map_err(|e| fail().with_source(e))?))
}

fn conform_row(
    array: &dyn Array,
    fields: &[DataField],
    target: &ArrowType,
    fail: impl Fn() -> Error,
) -> Result<ArrayRef> {
    let (ArrowType::Struct(children), Some(row)) = (target, array.as_struct_opt()) else {
        return Err(fail());
    };
    for name in row.column_names() {
        if !fields.iter().any(|field| field.name == name) {
            return Err(Error::invalid(format!(
                "the batch has the nested field '{name}', which is not in the table"
            )));
        }
    }
    if row.num_columns() > fields.len() {
        return Err(Error::invalid("a nested field occurs twice in the batch"));
    }
    let columns = fields
        .iter()
        .zip(children)
        .map(|(field, child)| match row.column_by_name(&field.name) {
            Some(column) => {
                let column = conform(column, &field.data_type, child.data_type())
                    .map_err(|e| e.with("nested field", &field.name))?;
                check_nulls(column.as_ref(), &field.data_type, row.nulls(), &field.name)?;
                Ok(column)
            }
            None if field.data_type.nullable => Ok(new_null_array(child.data_type(), row.len())),
            None => Err(Error::invalid(format!(
                "nested field '{}' is NOT NULL and missing in the batch",
                field.name
            ))),
        })
        .collect::<Result<Vec<_>>>()?;
    new_struct(children, columns, row.nulls(), row.len(), fail)
}

fn conform_map(
    array: &dyn Array,
    key: &DataType,
    value: &DataType,
    target: &ArrowType,
    fail: impl Fn() -> Error,
) -> Result<ArrayRef> {
    let (ArrowType::Map(entries, _), Some(map)) = (target, array.as_map_opt()) else {
        return Err(fail());
    };
    let ArrowType::Struct(children) = entries.data_type() else {
        return Err(fail());
    };
    let [key_child, value_child]: &[FieldRef] = children.as_ref() else {
        return Err(fail());
    };
    let keys = conform(map.keys(), key, key_child.data_type())?;
    let values = conform(map.values(), value, value_child.data_type())?;
    check_nulls(keys.as_ref(), &key.with_nullable(false), None, "key")?;
    check_nulls(values.as_ref(), value, None, "value")?;
    let made = StructArray::try_new(children.clone(), vec![keys, values], None).and_then(|pairs| {
        MapArray::try_new(
            entries.clone(),
            map.offsets().clone(),
            pairs,
            map.nulls().cloned(),
            false,
        )
    });
    Ok(Arc::new(made.map_err(|e| fail().with_source(e))?))
}

/// Refuses a NULL in a NOT NULL column or nested field; a field of a NULL row is not looked at.
fn check_nulls(
    array: &dyn Array,
    data_type: &DataType,
    parent: Option<&NullBuffer>,
    nested: &str,
) -> Result<()> {
    if data_type.nullable {
        return Ok(());
    }
    let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) else {
        return Ok(());
    };
    let bad = (0..array.len()).find(|row| nulls.is_null(*row) && parent.is_none_or(|p| p.is_valid(*row)));
    match bad {
        None => Ok(()),
        Some(row) if nested.is_empty() => Err(Error::invalid(format!(
            "NULL in row {row} of the batch, but the column is NOT NULL"
        ))
        .with("row", row)),
        Some(row) => Err(
            Error::invalid(format!("NULL in nested field '{nested}', which is NOT NULL"))
                .with("nested row", row),
        ),
    }
}
