// SPDX-License-Identifier: Apache-2.0

//! ORC types of Paimon columns (Java `OrcTypeUtil`; `data-files.md` 4).

use arrow_schema::{DataType as ArrowType, Field};
use paimon_types::{
    ARROW_FIELD_ID, DataField, DataType, Error, MAX_LENGTH, Result, TypeKind, to_arrow_schema,
};

use super::proto::Message;

/// Attribute of a type with the field id.
const ID_ATTRIBUTE: &str = "paimon.id";

/// A type of the file. Types are numbered in pre-order, the root is 0.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Number of the type, which is that of its column.
    pub(super) id: u32,
    /// Name of the column or of the field of a ROW; `element`, `key`, `value` in collections.
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) nullable: bool,
    /// `paimon.id`.
    field_id: Option<String>,
    pub(super) children: Vec<Node>,
}

/// ORC's kinds of types, as far as Paimon columns have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Boolean,
    Byte,
    Short,
    Int,
    Long,
    Float,
    Double,
    String,
    /// Characters at most.
    Varchar(u32),
    /// Characters at most.
    Char(u32),
    Binary,
    Decimal {
        precision: u8,
        scale: u8,
    },
    Date,
    Timestamp,
    TimestampInstant,
    List,
    Map,
    Struct,
}

impl Kind {
    /// `Type.Kind`.
    fn code(self) -> u64 {
        match self {
            Kind::Boolean => 0,
            Kind::Byte => 1,
            Kind::Short => 2,
            Kind::Int => 3,
            Kind::Long => 4,
            Kind::Float => 5,
            Kind::Double => 6,
            Kind::String => 7,
            Kind::Binary => 8,
            Kind::Timestamp => 9,
            Kind::List => 10,
            Kind::Map => 11,
            Kind::Struct => 12,
            Kind::Decimal { .. } => 14,
            Kind::Date => 15,
            Kind::Varchar(_) => 16,
            Kind::Char(_) => 17,
            Kind::TimestampInstant => 18,
        }
    }
}

/// The types of a file with these columns, below the root.
///
/// # Errors
/// `Unsupported` that names column and type when ORC files of Paimon cannot have it, `InvalidInput` for a schema without
/// columns.
pub(super) fn root(fields: &[DataField]) -> Result<Node> {
    if fields.is_empty() {
        return Err(Error::invalid("an orc file needs at least one column"));
    }
    let arrow = to_arrow_schema(fields);
    let mut next = 1;
    let children = fields
        .iter()
        .zip(arrow.fields())
        .map(|(field, arrow)| {
            node(&field.name, &field.data_type, arrow, &mut next).map_err(|e| e.with("column", &field.name))
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(Node {
        id: 0,
        name: String::new(),
        kind: Kind::Struct,
        nullable: false,
        field_id: None,
        children,
    })
}

fn node(name: &str, data_type: &DataType, arrow: &Field, next: &mut u32) -> Result<Node> {
    let id = *next;
    *next = next
        .checked_add(1)
        .ok_or_else(|| Error::invalid("schema has too many nested types"))?;
    let mut children = Vec::new();
    let kind = match &data_type.kind {
        TypeKind::Boolean => Kind::Boolean,
        TypeKind::TinyInt => Kind::Byte,
        TypeKind::SmallInt => Kind::Short,
        TypeKind::Int | TypeKind::Time(_) => Kind::Int,
        TypeKind::BigInt => Kind::Long,
        TypeKind::Float => Kind::Float,
        TypeKind::Double => Kind::Double,
        TypeKind::VarChar(MAX_LENGTH) => Kind::String,
        TypeKind::VarChar(length) => Kind::Varchar(*length),
        TypeKind::Char(length) => Kind::Char(*length),
        TypeKind::Binary(_) | TypeKind::VarBinary(_) | TypeKind::Blob => Kind::Binary,
        TypeKind::Decimal { precision, scale } => Kind::Decimal {
            precision: *precision,
            scale: *scale,
        },
        TypeKind::Date => Kind::Date,
        TypeKind::Timestamp(_) => Kind::Timestamp,
        TypeKind::TimestampLtz(_) => Kind::TimestampInstant,
        TypeKind::Array(element) => {
            let ArrowType::List(inner) = arrow.data_type() else {
                return Err(mismatch(data_type, arrow));
            };
            children.push(node("element", element, inner, next)?);
            Kind::List
        }
        TypeKind::Map(key, value) => {
            let (key_field, value_field) = entries(data_type, arrow)?;
            // A map of Arrow has no null keys, whatever the type says.
            children.push(node("key", key, key_field, next)?);
            children.push(node("value", value, value_field, next)?);
            Kind::Map
        }
        TypeKind::Multiset(element) => {
            let (key_field, value_field) = entries(data_type, arrow)?;
            children.push(node("key", element, key_field, next)?);
            children.push(node(
                "value",
                &DataType::required(TypeKind::Int),
                value_field,
                next,
            )?);
            Kind::Map
        }
        TypeKind::Row(fields) => {
            let ArrowType::Struct(inner) = arrow.data_type() else {
                return Err(mismatch(data_type, arrow));
            };
            for (field, arrow) in fields.iter().zip(inner) {
                let child = node(&field.name, &field.data_type, arrow, next);
                children.push(child.map_err(|e| e.with("field", &field.name))?);
            }
            Kind::Struct
        }
        TypeKind::Variant | TypeKind::Vector(..) | TypeKind::Geometry(_) | TypeKind::Geography { .. } => {
            let what = format!("type {data_type} cannot be stored in orc, use file.format parquet");
            return Err(Error::unsupported(what).with("type", data_type));
        }
    };
    Ok(Node {
        id,
        name: name.to_owned(),
        kind,
        nullable: data_type.nullable,
        field_id: arrow.metadata().get(ARROW_FIELD_ID).cloned(),
        children,
    })
}

fn entries<'a>(data_type: &DataType, arrow: &'a Field) -> Result<(&'a Field, &'a Field)> {
    if let ArrowType::Map(entries, _) = arrow.data_type()
        && let ArrowType::Struct(fields) = entries.data_type()
        && let (Some(key), Some(value)) = (fields.first(), fields.get(1))
    {
        return Ok((key, value));
    }
    Err(mismatch(data_type, arrow))
}

fn mismatch(data_type: &DataType, arrow: &Field) -> Error {
    Error::invalid(format!(
        "arrow type {} does not belong to column type {data_type}",
        arrow.data_type()
    ))
}

impl Node {
    /// Number of this type and all below it.
    pub(super) fn count(&self) -> usize {
        1 + self.children.iter().map(Node::count).sum::<usize>()
    }

    /// True when a TIMESTAMP is among the types, whose meaning depends on the writer's zone.
    pub(super) fn has_timestamp(&self) -> bool {
        matches!(self.kind, Kind::Timestamp | Kind::TimestampInstant)
            || self.children.iter().any(Node::has_timestamp)
    }

    /// `Footer.types`: this type and all below it.
    pub(super) fn encode(&self, to: &mut Vec<Message>) {
        let mut message = Message::new();
        message.uint(1, self.kind.code());
        let ids: Vec<u64> = self.children.iter().map(|child| u64::from(child.id)).collect();
        message.packed(2, &ids);
        match self.kind {
            Kind::Struct => {
                for child in &self.children {
                    message.bytes(3, child.name.as_bytes());
                }
            }
            Kind::Char(length) | Kind::Varchar(length) => {
                message.uint(4, u64::from(length));
            }
            Kind::Decimal { precision, scale } => {
                message.uint(5, u64::from(precision)).uint(6, u64::from(scale));
            }
            _ => {}
        }
        if let Some(id) = &self.field_id {
            let mut attribute = Message::new();
            attribute
                .bytes(1, ID_ATTRIBUTE.as_bytes())
                .bytes(2, id.as_bytes());
            message.message(7, &attribute);
        }
        to.push(message);
        for child in &self.children {
            child.encode(to);
        }
    }

    /// The types that `path` names, as numbers: a column or, with dots, a field of a ROW in it. `None` when there is no
    /// such column.
    pub(super) fn find(&self, path: &str) -> Option<&Node> {
        self.children.iter().find_map(|child| {
            let rest = path.strip_prefix(child.name.as_str())?;
            match rest.strip_prefix('.') {
                _ if rest.is_empty() => Some(child),
                Some(rest) => child.find(rest),
                None => None,
            }
        })
    }

    /// Numbers of this type and all below it.
    pub(super) fn ids(&self) -> Vec<u32> {
        let count = u32::try_from(self.count()).unwrap_or(u32::MAX);
        (self.id..self.id.saturating_add(count)).collect()
    }

    /// Looks whether a column of this Arrow type can be written as this type. Names and metadata of nested fields may
    /// differ, as may the unit of timestamps.
    ///
    /// # Errors
    /// `InvalidInput` with both types.
    pub(super) fn check(&self, arrow: &ArrowType, data_type: &DataType) -> Result<()> {
        let expected = paimon_types::arrow_type(data_type);
        if fits(arrow, &expected) {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "column has arrow type {arrow}, {expected} is expected"
        )))
    }
}

fn fits(given: &ArrowType, expected: &ArrowType) -> bool {
    match (given, expected) {
        (ArrowType::Timestamp(..), ArrowType::Timestamp(..)) => true,
        (ArrowType::List(a), ArrowType::List(b)) => fits(a.data_type(), b.data_type()),
        (ArrowType::Map(a, _), ArrowType::Map(b, _)) => fits(a.data_type(), b.data_type()),
        (ArrowType::Struct(a), ArrowType::Struct(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| fits(a.data_type(), b.data_type()))
        }
        _ => given == expected,
    }
}
