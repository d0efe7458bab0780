// SPDX-License-Identifier: Apache-2.0

//! From the columns that are asked for to columns of the file.

use std::sync::Arc;

use arrow_schema::{DataType as ArrowType, Field, FieldRef, Fields, SchemaRef, TimeUnit};
use paimon_types::{DataField, DataType, Error, Result, TypeKind, to_arrow_schema};

use super::times::Reading;
use crate::options::ReadOptions;
use crate::proto::Kind;
use crate::schema::{self, TypeTree};

/// What is read of a file.
#[derive(Debug)]
pub(crate) struct Projection {
    pub(crate) target: SchemaRef,
    pub(crate) columns: Vec<Node>,
    /// Column ids of all nodes, ascending.
    pub(crate) ids: Vec<u32>,
}

/// A column of the file that is read.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) column: u32,
    /// As it is stored.
    pub(crate) kind: Kind,
    /// Length of CHAR.
    pub(crate) length: Option<u32>,
    pub(crate) shape: Shape,
}

/// What is made of a column.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Leaf(Leaf),
    /// Element and its field.
    List(Arc<Node>, FieldRef),
    /// Key, value and the field of entries.
    Map(Arc<Node>, Arc<Node>, FieldRef),
    /// For each field its column; `None` when the file does not have it.
    Struct(Arc<Vec<Option<Node>>>, Fields),
}

/// The type of a column without children.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Leaf {
    Boolean,
    Int8,
    Int16,
    Int32,
    Int64,
    Float32,
    Float64,
    Date,
    Time,
    /// UTF-8; with `trim` blanks at the end are not part of the value (CHAR).
    Text {
        trim: bool,
    },
    Binary,
    LargeBinary,
    /// Precision and scale.
    Decimal(u8, u8),
    Timestamp {
        unit: TimeUnit,
        zone: Option<Arc<str>>,
        clock: Reading,
    },
}

impl Projection {
    /// # Errors
    /// `InvalidInput` for a column that the file does not have or that is asked for twice, `Unsupported` for a type that
    /// cannot be made of what is stored.
    pub(crate) fn resolve(types: &TypeTree, fields: &[DataField], options: ReadOptions) -> Result<Self> {
        let target = Arc::new(to_arrow_schema(fields));
        let mut resolver = Resolver {
            options,
            ids: vec![types.root.column],
        };
        let children = resolver.row(&types.root, fields, target.fields())?;
        let mut columns = Vec::with_capacity(children.len());
        for (child, field) in children.into_iter().zip(fields) {
            columns.push(child.ok_or_else(|| {
                Error::invalid("column is not in the orc file").with("column", &field.name)
            })?);
        }
        resolver.ids.sort_unstable();
        Ok(Projection {
            target,
            columns,
            ids: resolver.ids,
        })
    }
}

struct Resolver {
    options: ReadOptions,
    ids: Vec<u32>,
}

impl Resolver {
    fn row(
        &mut self,
        stored: &schema::Node,
        fields: &[DataField],
        targets: &Fields,
    ) -> Result<Vec<Option<Node>>> {
        let mut taken = Vec::with_capacity(fields.len());
        let mut nodes = Vec::with_capacity(fields.len());
        let context = if stored.column == 0 { "column" } else { "field" };
        for (field, target) in fields.iter().zip(targets) {
            let position = stored.find(field.id, &field.name);
            let child = position.and_then(|position| stored.children.get(position));
            let Some(child) = child else {
                nodes.push(None);
                continue;
            };
            if taken.contains(&child.column) {
                return Err(Error::invalid("column is asked for twice").with(context, &field.name));
            }
            taken.push(child.column);
            let node = self
                .node(child, &field.data_type, target)
                .map_err(|e| e.with(context, &field.name))?;
            nodes.push(Some(node));
        }
        Ok(nodes)
    }

    fn node(&mut self, stored: &schema::Node, wanted: &DataType, target: &Field) -> Result<Node> {
        self.ids.push(stored.column);
        let shape = self.shape(stored, wanted, target)?.ok_or_else(|| {
            Error::unsupported(format!(
                "stored as {}, which cannot be read as {wanted}",
                stored.describe()
            ))
        })?;
        Ok(Node {
            column: stored.column,
            kind: stored.kind,
            length: stored.length,
            shape,
        })
    }

    fn shape(&mut self, stored: &schema::Node, wanted: &DataType, target: &Field) -> Result<Option<Shape>> {
        let [first, second] = [stored.children.first(), stored.children.get(1)];
        Ok(match (stored.kind, &wanted.kind, target.data_type()) {
            (Kind::List, TypeKind::Array(element), ArrowType::List(field)) => match first {
                Some(child) => {
                    let node = self.node(child, element, field)?;
                    Some(Shape::List(Arc::new(node), field.clone()))
                }
                None => None,
            },
            (Kind::Map, TypeKind::Map(..) | TypeKind::Multiset(_), ArrowType::Map(entries, _)) => {
                let ArrowType::Struct(parts) = entries.data_type() else {
                    return Ok(None);
                };
                let ([key_field, value_field], Some(key), Some(value)) = (parts.as_ref(), first, second)
                else {
                    return Ok(None);
                };
                let count = DataType::required(TypeKind::Int);
                let (key_type, value_type) = match &wanted.kind {
                    TypeKind::Map(key, value) => (key.as_ref(), value.as_ref()),
                    TypeKind::Multiset(element) => (element.as_ref(), &count),
                    _ => return Ok(None),
                };
                let key = self.node(key, key_type, key_field)?;
                let value = self.node(value, value_type, value_field)?;
                Some(Shape::Map(Arc::new(key), Arc::new(value), entries.clone()))
            }
            (Kind::Struct, TypeKind::Row(fields), ArrowType::Struct(targets)) => {
                let nodes = self.row(stored, fields, targets)?;
                Some(Shape::Struct(Arc::new(nodes), targets.clone()))
            }
            (_, _, arrow) => self.leaf(stored, wanted, arrow).map(Shape::Leaf),
        })
    }

    fn leaf(&self, stored: &schema::Node, wanted: &DataType, arrow: &ArrowType) -> Option<Leaf> {
        use Kind as F;
        use TypeKind as T;
        let int = matches!(stored.kind, F::Byte | F::Short | F::Int | F::Long);
        let text = matches!(stored.kind, F::String | F::Varchar | F::Char);
        Some(match (&wanted.kind, stored.kind) {
            (T::Boolean, F::Boolean) => Leaf::Boolean,
            (T::TinyInt, _) if int => Leaf::Int8,
            (T::SmallInt, _) if int => Leaf::Int16,
            (T::Int, _) if int => Leaf::Int32,
            (T::BigInt, _) if int => Leaf::Int64,
            (T::Date, F::Date | F::Int) => Leaf::Date,
            (T::Time(_), F::Int) => Leaf::Time,
            (T::Float, F::Float | F::Double) => Leaf::Float32,
            (T::Double, F::Float | F::Double) => Leaf::Float64,
            (T::Char(_), _) if text => Leaf::Text { trim: true },
            (T::VarChar(_), _) if text => Leaf::Text {
                trim: stored.kind == F::Char,
            },
            (T::Binary(_) | T::VarBinary(_), F::Binary) => Leaf::Binary,
            (T::Blob, F::Binary) => Leaf::LargeBinary,
            (T::Decimal { precision, scale }, F::Decimal) => Leaf::Decimal(*precision, *scale),
            (T::Timestamp(_), F::Timestamp) | (T::TimestampLtz(_), F::TimestampInstant) => {
                let ArrowType::Timestamp(unit, zone) = arrow else {
                    return None;
                };
                let clock = match stored.kind {
                    F::Timestamp => Reading::WallClock,
                    _ if self.options.legacy_ltz => Reading::LegacyInstant,
                    _ => Reading::Instant,
                };
                Leaf::Timestamp {
                    unit: *unit,
                    zone: zone.clone(),
                    clock,
                }
            }
            _ => return None,
        })
    }
}
