// SPDX-License-Identifier: Apache-2.0

//! The merge functions of tables, column by column (Java `org.apache.paimon.mergetree.compact`; `semantics.md` 3).
//!
//! An engine decides once for all columns what each version does ([`program`]), a function of each column turns that into
//! values. Functions that pick a version only note where it is; values are copied once for a whole column.

mod aggregate;
mod bitmap;
mod bitmap64;
mod column;
mod decimal;
mod factory;
mod groups;
mod nested;
mod number;
mod options;
mod order;
mod partial_update;
mod pick;
mod program;
mod result;
#[cfg(feature = "sketches")]
mod sketch;
mod text;
mod whole_row;

use std::collections::HashMap;

use paimon_types::{CoreOptions, DataField, Error, MergeEngine, Result, TableSchema};

use crate::MergeFunction;
use aggregate::Aggregate;
use groups::Groups;
use options::{Options, key};
use partial_update::{PartialUpdate, SequenceGroup};
use pick::{Pick, Which};
use result::FunctionColumn;
use whole_row::WholeRow;

/// The merge function of a table (Java `PrimaryKeyTableUtils.createMergeFunctionFactory`): `merge-engine` and what belongs to
/// it, of the options in `options`, which are those of `schema` with what a job overrides.
///
/// `read` are the columns of the sources in order, as they are read: fields of `schema` by id. With a projection the columns of
/// [`merge_read_fields`] must be among them. Options of a column go by its name in `schema`.
///
/// # Errors
/// `InvalidInput` that names option and value for what Java refuses: an unknown function, a function that does not take the
/// type of its column, sequence groups that contradict each other, options that exclude each other; also for a column of
/// `read` that `schema` does not have. `Unsupported` for a function that this build leaves out.
pub fn merge_function(
    schema: &TableSchema,
    options: &CoreOptions,
    read: &[DataField],
) -> Result<Box<dyn MergeFunction>> {
    let texts = Options(options);
    let named = read
        .iter()
        .map(|field| schema_field(schema, field).map(|own| (field, own.name.as_str())));
    let named: Vec<(&DataField, &str)> = named.collect::<Result<_>>()?;
    Ok(match options.merge_engine {
        MergeEngine::Deduplicate | MergeEngine::FirstRow => Box::new(WholeRow {
            first: options.merge_engine == MergeEngine::FirstRow,
            ignore_delete: texts.ignore_delete(),
        }),
        MergeEngine::Aggregation => Box::new(aggregate(schema, texts, &named)?),
        MergeEngine::PartialUpdate => Box::new(partial_update(schema, texts, &named)?),
    })
}

/// The columns that a merge of the columns `read` needs beside them, in schema order: the columns of `sequence.field`, the
/// ordering columns of sequence groups that have a column in `read`, and the ordering columns by which a −D removes the whole
/// row. (Java leaves out the last kind, so that there a projection can show rows that are removed.)
///
/// # Errors
/// As [`merge_function`] for sequence groups and for columns that `schema` does not have.
pub fn merge_read_fields(
    schema: &TableSchema,
    options: &CoreOptions,
    read: &[DataField],
) -> Result<Vec<DataField>> {
    let texts = Options(options);
    let mut needed: Vec<&str> = texts.sequence_fields();
    let groups;
    if options.merge_engine == MergeEngine::PartialUpdate {
        groups = Groups::new(schema, texts)?;
        for group in &groups.groups {
            let names = group.ordering.iter().chain(&group.protected);
            let is_read = |name: &&String| {
                let of_name =
                    |field: &DataField| schema_field(schema, field).is_ok_and(|own| own.name == **name);
                read.iter().any(of_name)
            };
            if group.removes || names.into_iter().any(|name| is_read(&name)) {
                needed.extend(group.ordering.iter().map(String::as_str));
            }
        }
    }
    for name in &needed {
        if schema.field(name).is_none() {
            let problem = format!("option sequence.field names {name}, which is not a column");
            return Err(Error::invalid(problem).with("option", "sequence.field"));
        }
    }
    for field in read {
        schema_field(schema, field)?;
    }
    let missing = |field: &&DataField| {
        needed.contains(&field.name.as_str()) && !read.iter().any(|other| other.id == field.id)
    };
    Ok(schema.fields.iter().filter(missing).cloned().collect())
}

fn schema_field<'a>(schema: &'a TableSchema, read: &DataField) -> Result<&'a DataField> {
    schema.field_by_id(read.id).ok_or_else(|| {
        let problem = format!("schema {} has no column with field id {}", schema.id, read.id);
        Error::invalid(problem).with("column", &read.name)
    })
}

fn is_key(schema: &TableSchema, name: &str) -> bool {
    schema.primary_keys.iter().any(|key| key == name)
}

fn aggregate(schema: &TableSchema, options: Options<'_>, read: &[(&DataField, &str)]) -> Result<Aggregate> {
    let sequence = options.sequence_fields();
    let mut columns = Vec::with_capacity(read.len());
    for (field, name) in read {
        let own = options.function(name);
        let function = if sequence.contains(name) {
            "last_value"
        } else if is_key(schema, name) {
            "primary-key"
        } else {
            own.as_ref()
                .map_or("last_non_null_value", |(_, function)| *function)
        };
        let option = own.map_or_else(|| key(name, "aggregate-function"), |(option, _)| option);
        columns.push(FunctionColumn {
            name: (*name).to_owned(),
            nullable: field.data_type.nullable,
            function: factory::create(schema, field, name, function, &option, options)?,
            program: 0,
        });
    }
    Ok(Aggregate {
        remove_on_delete: options.flag(&["aggregation.remove-record-on-delete"])?,
        columns,
    })
}

fn partial_update(
    schema: &TableSchema,
    options: Options<'_>,
    read: &[(&DataField, &str)],
) -> Result<PartialUpdate> {
    let groups = Groups::new(schema, options)?;
    let positions: HashMap<&str, usize> = read
        .iter()
        .enumerate()
        .map(|(index, (_, name))| (*name, index))
        .collect();
    let mut columns = Vec::with_capacity(read.len());
    let mut used: Vec<usize> = Vec::new();
    for (field, name) in read {
        let of_group = groups.of(name);
        let program = of_group.map_or(0, |(group, _)| {
            let position = used.iter().position(|other| *other == group);
            1 + position.unwrap_or_else(|| {
                used.push(group);
                used.len() - 1
            })
        });
        let pick = |which| {
            Box::new(Pick {
                which,
                ignore_retract: false,
            })
        };
        let function = match (of_group, options.function(name)) {
            (Some((_, true)), _) => pick(Which::Ordering),
            _ if is_key(schema, name) => pick(Which::PrimaryKey),
            (Some(_), None) => pick(Which::Overwrite),
            (None, None) => pick(Which::LastNonNull),
            (_, Some((option, function))) => {
                columns.push(FunctionColumn {
                    name: (*name).to_owned(),
                    nullable: field.data_type.nullable,
                    function: factory::create(schema, field, name, function, &option, options)?,
                    program,
                });
                continue;
            }
        };
        columns.push(FunctionColumn {
            name: (*name).to_owned(),
            nullable: field.data_type.nullable,
            function,
            program,
        });
    }
    // A group that removes rows works even when none of its own columns is wanted.
    for (group, spec) in groups.groups.iter().enumerate() {
        if spec.removes && !used.contains(&group) {
            used.push(group);
        }
    }
    let mut read_groups = Vec::with_capacity(used.len());
    for group in used {
        let Some(spec) = groups.groups.get(group) else {
            continue;
        };
        let ordering = spec.ordering.iter().map(|name| {
            positions.get(name.as_str()).copied().ok_or_else(|| {
                let problem = format!(
                    "column {name} must be read, it orders columns by option {}",
                    spec.option
                );
                Error::invalid(problem).with("column", name)
            })
        });
        read_groups.push(SequenceGroup {
            ordering: ordering.collect::<Result<_>>()?,
            removes: spec.removes,
        });
    }
    Ok(PartialUpdate {
        ignore_delete: options.ignore_delete(),
        remove_on_delete: options.flag(&["partial-update.remove-record-on-delete"])?,
        has_groups: !groups.groups.is_empty(),
        groups: read_groups,
        columns,
    })
}
