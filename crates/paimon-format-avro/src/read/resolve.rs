// SPDX-License-Identifier: Apache-2.0

//! From the columns that are asked for to the way of their values: found by name, once a file.

use arrow_schema::{DataType as ArrowType, TimeUnit};
use paimon_avro::{Logical, Node, NodeId, Program};
use paimon_types::{DataField, DataType, Error, Result, TypeKind, arrow_type};

use super::column::{Bytes, Column, Element, Record, RecordField, Union, Values};
use super::words::{Bits, Floats, Number, Numbers, Scale};
use crate::schema::{Branches, entry, union_value};

/// The columns of a record that are asked for, and decoded bytes of a row without what is variable.
#[derive(Debug)]
pub(crate) struct Projection {
    pub(crate) record: Record,
    pub(crate) width: usize,
}

impl Projection {
    /// # Errors
    /// `InvalidInput` for a column that the file does not have or that is asked for twice, `Unsupported` for a type
    /// that cannot be made of what is stored.
    pub(crate) fn resolve(program: &Program, row: NodeId, fields: &[DataField]) -> Result<Self> {
        let Node::Record(stored) = program.node(row) else {
            return Err(Error::corrupt("rows of the avro file are no records"));
        };
        for field in fields {
            if !stored.iter().any(|(name, _)| *name == field.name) {
                return Err(Error::invalid("column is not in the avro file").with("column", &field.name));
            }
        }
        let (record, width) = record(program, stored, fields, "column")?;
        Ok(Projection { record, width })
    }
}

/// The record with the wanted fields; those that it does not have are null.
fn record(
    program: &Program,
    stored: &[(String, NodeId)],
    fields: &[DataField],
    level: &'static str,
) -> Result<(Record, usize)> {
    let mut columns: Vec<Option<(usize, Column)>> = stored.iter().map(|_| None).collect();
    let mut width = 0usize;
    for (place, field) in fields.iter().enumerate() {
        let position = stored.iter().position(|(name, _)| *name == field.name);
        let found = position.and_then(|position| Some((stored.get(position)?, columns.get_mut(position)?)));
        let size = match found {
            None => 8,
            Some((_, Some(_))) => {
                return Err(Error::invalid("column is asked for twice").with(level, &field.name));
            }
            Some(((_, id), slot)) => {
                let (column, size) =
                    column(program, *id, &field.data_type).map_err(|e| e.with(level, &field.name))?;
                *slot = Some((place, column));
                size
            }
        };
        width = width.saturating_add(size);
    }
    let (mut found, mut skipped) = (Vec::with_capacity(fields.len()), Vec::new());
    for ((_, id), column) in stored.iter().zip(columns) {
        match column {
            None => skipped.push(*id),
            Some((place, column)) => found.push(RecordField {
                before: std::mem::take(&mut skipped),
                column,
                place,
            }),
        }
    }
    Ok((Record::new(found, skipped), width))
}

fn column(program: &Program, id: NodeId, wanted: &DataType) -> Result<(Column, usize)> {
    let (node, union) = match program.node(id) {
        Node::Union(branches) => {
            let Branches { value, null } = union_value(program, branches)?;
            let Some((node, value)) = value else {
                let union = Union::Of { value: -1, null };
                return Ok((Column::new(union, wanted.nullable, Values::Missing), 8));
            };
            (node, Union::Of { value, null })
        }
        _ => (id, Union::None),
    };
    let (values, width) = values(program, node, wanted)?;
    Ok((Column::new(union, wanted.nullable, values), width))
}

fn values(program: &Program, id: NodeId, wanted: &DataType) -> Result<(Values, usize)> {
    let (node, logical) = (program.node(id), program.logical(id));
    let unsupported = || {
        let shown = match logical {
            Some(logical) => format!("{} ({logical:?})", node.describe()),
            None => node.describe().to_owned(),
        };
        Error::unsupported(format!(
            "stored as avro {shown}, which cannot be read as {wanted}"
        ))
    };
    let fixed = |node: &Node| match node {
        Node::Fixed(size) => Some(*size),
        _ => None,
    };
    let number = |kind| Values::Numbers(Numbers::new(kind));
    let float = |kind| Values::Floats(Floats::new(kind));
    Ok(match (node, &wanted.kind) {
        (Node::Null, _) => (Values::Missing, 8),
        (Node::Boolean, TypeKind::Boolean) => (float(Bits::Boolean), 1),
        (Node::Int | Node::Long, TypeKind::TinyInt) if logical.is_none() => (number(Number::TinyInt), 1),
        (Node::Int | Node::Long, TypeKind::SmallInt) if logical.is_none() => (number(Number::SmallInt), 2),
        (Node::Int | Node::Long, TypeKind::Int) if logical.is_none() => (number(Number::Int), 4),
        (Node::Int | Node::Long, TypeKind::BigInt) if logical.is_none() => (number(Number::BigInt), 8),
        (Node::Int, TypeKind::Date) if matches!(logical, None | Some(Logical::Date)) => {
            (number(Number::Int), 4)
        }
        (Node::Int, TypeKind::Time(_)) if matches!(logical, None | Some(Logical::TimeMillis)) => {
            (number(Number::Time), 4)
        }
        (Node::Long, TypeKind::Time(_)) if logical == Some(Logical::TimeMicros) => {
            (number(Number::TimeOfMicros), 4)
        }
        // Java writes `timestamp` for TIMESTAMP and `local-timestamp` for TIMESTAMP_LTZ, and reads both as both.
        (Node::Long, TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_)) => match logical {
            Some(Logical::Timestamp(from) | Logical::LocalTimestamp(from)) => {
                let scale = scale(from, wanted).ok_or_else(unsupported)?;
                (number(Number::Timestamp(scale)), 8)
            }
            _ => return Err(unsupported()),
        },
        (Node::Float, TypeKind::Float) => (float(Bits::Float), 4),
        (Node::Double, TypeKind::Float) => (float(Bits::DoubleAsFloat), 4),
        (Node::Float, TypeKind::Double) => (float(Bits::FloatAsDouble), 8),
        (Node::Double, TypeKind::Double) => (float(Bits::Double), 8),
        (Node::Bytes | Node::Fixed(_), TypeKind::Decimal { precision, scale }) => match logical {
            Some(Logical::Decimal { scale: stored, .. }) if stored == u64::from(*scale) => {
                let bound = 10i128
                    .checked_pow(u32::from(*precision))
                    .ok_or_else(unsupported)?;
                let values = Values::Decimal {
                    values: Vec::new(),
                    bound,
                    fixed: fixed(node),
                };
                (values, 16)
            }
            _ => return Err(unsupported()),
        },
        (Node::String, TypeKind::Char(_) | TypeKind::VarChar(_)) => (Values::Text(Bytes::new()), 4),
        (Node::String | Node::Bytes | Node::Fixed(_), TypeKind::Binary(_) | TypeKind::VarBinary(_))
            if logical.is_none() =>
        {
            (Values::Binary(Bytes::new(), fixed(node)), 4)
        }
        (Node::String | Node::Bytes | Node::Fixed(_), TypeKind::Blob) if logical.is_none() => {
            (Values::LargeBinary(Bytes::new(), fixed(node)), 8)
        }
        (Node::Array(item), TypeKind::Array(element)) => {
            let item = Box::new(self::element(program, *item, element)?);
            let offsets = vec![0];
            (Values::List { offsets, item }, 4)
        }
        (Node::Array(item), TypeKind::Vector(element, length)) => {
            // Arrow has no nulls in vectors.
            let item = Box::new(self::element(program, *item, &element.with_nullable(false))?);
            let length = usize::try_from(*length).map_err(|_| unsupported())?;
            let width = item.width.saturating_mul(length);
            (Values::Vector { length, item }, width)
        }
        (Node::Map(value), TypeKind::Map(..) | TypeKind::Multiset(_)) => {
            let (key_type, value_type) = arrow_parts(wanted).ok_or_else(unsupported)?;
            if !matches!(key_type.kind, TypeKind::Char(_) | TypeKind::VarChar(_)) {
                return Err(unsupported());
            }
            let keys = Box::new(Column::new(Union::None, false, Values::Text(Bytes::new())));
            let values = Box::new(element(program, *value, &value_type)?);
            let offsets = vec![0];
            (
                Values::TextMap {
                    offsets,
                    keys,
                    values,
                },
                4,
            )
        }
        (Node::Array(item), TypeKind::Map(..) | TypeKind::Multiset(_)) => {
            let (key_type, value_type) = arrow_parts(wanted).ok_or_else(unsupported)?;
            let (Some(_), Node::Record(stored)) = (entry(program, *item), program.node(*item)) else {
                return Err(unsupported());
            };
            let parts = [
                DataField::new(0, "key", key_type),
                DataField::new(1, "value", value_type),
            ];
            let (entries, width) = record(program, stored, &parts, "field")?;
            let values = Values::EntryMap {
                offsets: vec![0],
                entries: Box::new(entries),
                sizes: (program.min_size(*item), width),
            };
            (values, 4)
        }
        (Node::Record(stored), TypeKind::Row(fields)) => {
            let (record, width) = record(program, stored, fields, "field")?;
            (Values::Struct(record), width)
        }
        _ => return Err(unsupported()),
    })
}

fn element(program: &Program, item: NodeId, wanted: &DataType) -> Result<Element> {
    let (column, width) = column(program, item, wanted)?;
    Ok(Element {
        column,
        least: program.min_size(item),
        width,
    })
}

/// Key and value type of a MAP or MULTISET as Arrow has them: no null keys, no null counts.
fn arrow_parts(data_type: &DataType) -> Option<(DataType, DataType)> {
    match &data_type.kind {
        TypeKind::Map(key, value) => Some((key.with_nullable(false), value.as_ref().clone())),
        TypeKind::Multiset(element) => {
            Some((element.with_nullable(false), DataType::required(TypeKind::Int)))
        }
        _ => None,
    }
}

/// How timestamps of `from` units a second become those of the wanted type.
fn scale(from: i64, wanted: &DataType) -> Option<Scale> {
    let ArrowType::Timestamp(unit, _) = arrow_type(wanted) else {
        return None;
    };
    let to = match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    };
    Some(match from.cmp(&to) {
        std::cmp::Ordering::Equal => Scale::Same,
        std::cmp::Ordering::Less => Scale::Multiply(to / from),
        std::cmp::Ordering::Greater => Scale::Divide(from / to),
    })
}
