// SPDX-License-Identifier: Apache-2.0

//! The types of a file as a checked tree.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType as ArrowType, Field, TimeUnit};
use paimon_types::{ARROW_FIELD_ID, ARROW_TYPE, Error, Result, TypeKind};

use crate::error::damaged;
use crate::proto::{Kind, Type};

/// Type attribute with the field id (Java `OrcTypeUtil`).
pub(crate) const FIELD_ID: &str = "paimon.id";
/// Deepest nesting that is followed.
const MAX_DEPTH: usize = 128;

/// The types of a file.
#[derive(Debug)]
pub(crate) struct TypeTree {
    pub(crate) root: Node,
}

/// One type, which is one column of the file; its number counts the types depth first.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) column: u32,
    /// Name among its siblings, empty below lists, maps and unions.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// Field id.
    pub(crate) id: Option<i32>,
    pub(crate) children: Vec<Node>,
    /// Length of CHAR and VARCHAR.
    pub(crate) length: Option<u32>,
    pub(crate) precision: u32,
    pub(crate) scale: u32,
}

impl TypeTree {
    /// # Errors
    /// `Corrupt` when the types are no tree with a struct on top; `Unsupported` for a kind that is not known.
    pub(crate) fn new(types: &[Type]) -> Result<Self> {
        if types.is_empty() {
            return Err(damaged("it has no types"));
        }
        let mut next = 0;
        let root = node(types, &mut next, String::new(), 0)?;
        if next != types.len() {
            let what = format!("{} types are listed, {next} belong to the root", types.len());
            return Err(damaged(what));
        }
        if root.kind != Kind::Struct {
            return Err(Error::unsupported(format!(
                "orc file has a root of type {:?}, a struct is expected",
                root.kind
            )));
        }
        Ok(TypeTree { root })
    }
}

/// The type at `next`; types stand depth first, so that a child number that is another one is a damaged file.
fn node(types: &[Type], next: &mut usize, name: String, depth: usize) -> Result<Node> {
    let index = *next;
    let Some(stored) = types.get(index) else {
        return Err(damaged("a type has a child that is not listed"));
    };
    if depth > MAX_DEPTH {
        return Err(damaged(format!(
            "its types are nested deeper than {MAX_DEPTH} levels"
        )));
    }
    let Some(kind) = stored.kind() else {
        return Err(Error::unsupported(format!(
            "orc column has type kind {}, known are 0 to 18",
            stored.kind
        ))
        .with("column", name));
    };
    *next += 1;
    let children = stored.subtypes.len();
    let expected = match kind {
        Kind::List => Some(1),
        Kind::Map => Some(2),
        Kind::Struct | Kind::Union => None,
        _ => Some(0),
    };
    if expected.is_some_and(|expected| expected != children) {
        return Err(damaged(format!("a {kind:?} type has {children} children")));
    }
    if kind == Kind::Struct && stored.field_names.len() != children {
        return Err(damaged(format!(
            "a struct has {children} fields and {} names",
            stored.field_names.len()
        )));
    }
    let mut nodes = Vec::new();
    for (position, subtype) in stored.subtypes.iter().enumerate() {
        if *subtype as usize != *next {
            return Err(damaged(format!(
                "type {index} has child {subtype}, {next} expected"
            )));
        }
        let name = stored.field_names.get(position).cloned().unwrap_or_default();
        nodes.push(node(types, next, name, depth + 1)?);
    }
    Ok(Node {
        column: u32::try_from(index).map_err(|_| damaged("it has too many types"))?,
        name,
        kind,
        id: stored
            .attributes
            .iter()
            .find(|(key, _)| key == FIELD_ID)
            .and_then(|(_, id)| id.parse().ok()),
        children: nodes,
        length: stored.maximum_length,
        precision: stored.precision.unwrap_or(0),
        scale: stored.scale.unwrap_or(0),
    })
}

impl Node {
    /// Finds a child for a field. A child with an id is found by it and by nothing else, one without by its name.
    pub(crate) fn find(&self, id: i32, name: &str) -> Option<usize> {
        let by_id = self.children.iter().position(|child| child.id == Some(id));
        by_id.or_else(|| {
            self.children
                .iter()
                .position(|child| child.id.is_none() && child.name == name)
        })
    }

    /// The type in words.
    pub(crate) fn describe(&self) -> String {
        match self.kind {
            Kind::Decimal => format!("decimal({}, {})", self.precision, self.scale),
            Kind::Char => format!("char({})", self.length.unwrap_or(0)),
            Kind::Varchar => format!("varchar({})", self.length.unwrap_or(0)),
            Kind::TimestampInstant => "timestamp with local time zone".to_string(),
            other => format!("{other:?}").to_lowercase(),
        }
    }

    /// The column as an Arrow field, nullable at every depth, with ids where the file has them.
    ///
    /// # Errors
    /// `Unsupported` for a union and for a decimal of more than 38 digits.
    pub(crate) fn to_arrow(&self, name: &str) -> Result<Field> {
        let child = |index: usize, name: &str| {
            let child = self.children.get(index);
            child
                .ok_or_else(|| damaged("a type has too few children"))?
                .to_arrow(name)
        };
        let text = |kind: TypeKind| Some(kind.to_string());
        let mut sql = None;
        let arrow = match self.kind {
            Kind::Boolean => ArrowType::Boolean,
            Kind::Byte => ArrowType::Int8,
            Kind::Short => ArrowType::Int16,
            Kind::Int => ArrowType::Int32,
            Kind::Long => ArrowType::Int64,
            Kind::Float => ArrowType::Float32,
            Kind::Double => ArrowType::Float64,
            Kind::String => ArrowType::Utf8,
            Kind::Varchar | Kind::Char => {
                let length = self
                    .length
                    .filter(|length| (1..=i32::MAX as u32).contains(length));
                sql = match (self.kind, length) {
                    (Kind::Char, Some(length)) => text(TypeKind::Char(length)),
                    (_, Some(length)) => text(TypeKind::VarChar(length)),
                    _ => None,
                };
                ArrowType::Utf8
            }
            Kind::Binary => ArrowType::Binary,
            Kind::Timestamp => ArrowType::Timestamp(TimeUnit::Nanosecond, None),
            Kind::TimestampInstant => ArrowType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())),
            Kind::Date => ArrowType::Date32,
            Kind::Decimal => match (u8::try_from(self.precision), i8::try_from(self.scale)) {
                (Ok(precision @ 1..=38), Ok(scale)) if self.scale <= self.precision => {
                    ArrowType::Decimal128(precision, scale)
                }
                _ => {
                    return Err(Error::unsupported(format!(
                        "orc column of type {} has no type here",
                        self.describe()
                    )));
                }
            },
            Kind::List => ArrowType::List(Arc::new(child(0, "element")?)),
            Kind::Map => {
                let fields = vec![child(0, "key")?.with_nullable(false), child(1, "value")?];
                let entries = Field::new("entries", ArrowType::Struct(fields.into()), false);
                ArrowType::Map(Arc::new(entries), false)
            }
            Kind::Struct => {
                let fields: Result<Vec<Field>> = self
                    .children
                    .iter()
                    .map(|child| child.to_arrow(&child.name))
                    .collect();
                ArrowType::Struct(fields?.into())
            }
            Kind::Union => return Err(Error::unsupported("orc columns of type union cannot be read")),
        };
        let mut metadata = HashMap::new();
        if let Some(id) = self.id {
            metadata.insert(ARROW_FIELD_ID.to_string(), id.to_string());
        }
        if let Some(sql) = sql {
            metadata.insert(ARROW_TYPE.to_string(), sql);
        }
        Ok(Field::new(name, arrow, true).with_metadata(metadata))
    }
}
