// SPDX-License-Identifier: Apache-2.0

//! From the columns that are asked for to leaf columns of the file and the way of their values.

use arrow_schema::{DataType as ArrowType, Field, Fields, TimeUnit};
use paimon_format::StickyError;
use paimon_types::{DataField, DataType, Error, Result, TypeKind};
use parquet::basic::{ConvertedType, LogicalType, Type as PhysicalType};

use super::file_schema::{FileSchema, arrow_id, arrow_leaves, find};
use super::metadata::LeafView;

/// What is read of a file: leaf columns, how the decoder sees them, and what is made of its arrays.
#[derive(Debug, Default)]
pub(crate) struct Projection {
    /// Leaf columns, ascending.
    pub(crate) leaves: Vec<usize>,
    /// Views of the leaf columns that are read, by position.
    views: Vec<(usize, LeafView)>,
    /// For each column asked for, its position among the decoded columns and the conversion.
    pub(crate) columns: Vec<(usize, Node)>,
    /// For each column asked for, its only leaf column, if it has only one and is not nested.
    pub(crate) flat_leaves: Vec<Option<usize>>,
}

/// How a decoded array becomes the array asked for.
#[derive(Debug)]
pub(crate) enum Node {
    Leaf(Conversion),
    /// For each field its position among the decoded children; `None` when the file does not have it.
    Struct(Vec<Option<(usize, Node)>>),
    List(Box<Node>),
    Vector(Box<Node>),
    Map(Box<Node>, Box<Node>),
}

/// How the values of a leaf become those asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conversion {
    /// They are.
    Keep,
    /// Arrow's cast; a value that does not fit is an error.
    Cast,
    /// Timestamp of some unit (or a plain integer of that unit).
    Timestamp(TimeUnit),
    /// 12 bytes of INT96.
    Int96,
    /// Decimal of the same scale and another precision.
    DecimalPrecision,
    /// Unscaled integers.
    DecimalFromInt,
    /// Unscaled big-endian bytes.
    DecimalFromBytes,
}

impl Projection {
    /// # Errors
    /// `InvalidInput` for a column that the file does not have or that is asked for twice, `Unsupported` for a type
    /// that cannot be made of what is stored.
    pub(crate) fn resolve(file: &FileSchema, fields: &[DataField]) -> Result<Self> {
        let mut projection = Projection::default();
        let siblings = file.roots.iter().map(|root| (root.name.as_str(), root.id));
        let mut roots = Vec::with_capacity(fields.len());
        for field in fields {
            let root =
                find(siblings.clone(), field.id, &field.name, file.ids_are_ours()).ok_or_else(|| {
                    Error::invalid("column is not in the parquet file").with("column", &field.name)
                })?;
            if roots.contains(&root) {
                return Err(Error::invalid("column is asked for twice").with("column", &field.name));
            }
            roots.push(root);
        }
        let mut order = roots.clone();
        order.sort_unstable();
        for (field, root) in fields.iter().zip(&roots) {
            let Some(column) = file.roots.get(*root) else {
                continue;
            };
            let arrow = column.arrow.as_ref().map_err(StickyError::to_error)?;
            let mut resolver = Resolver {
                file,
                projection: &mut projection,
            };
            let node = resolver
                .node(arrow, column.leaves.start, &field.data_type)
                .map_err(|e| e.with("column", &field.name))?;
            let position = order.iter().position(|other| other == root).unwrap_or(0);
            let flat = matches!(node, Node::Leaf(_)).then_some(column.leaves.start);
            projection.columns.push((position, node));
            projection.flat_leaves.push(flat);
        }
        projection.leaves.sort_unstable();
        projection.views.sort_unstable_by_key(|(leaf, _)| *leaf);
        Ok(projection)
    }

    /// How the decoder is to see leaf column `leaf`.
    pub(crate) fn view(&self, leaf: usize) -> LeafView {
        match self.views.binary_search_by_key(&leaf, |(leaf, _)| *leaf) {
            Ok(index) => self.views.get(index).map_or(LeafView::Plain, |(_, view)| *view),
            Err(_) => LeafView::Plain,
        }
    }
}

struct Resolver<'a> {
    file: &'a FileSchema,
    projection: &'a mut Projection,
}

impl Resolver<'_> {
    fn read(&mut self, leaf: usize, view: LeafView) {
        self.projection.leaves.push(leaf);
        self.projection.views.push((leaf, view));
    }

    fn node(&mut self, stored: &Field, leaf: usize, wanted: &DataType) -> Result<Node> {
        let unsupported = || {
            Error::unsupported(format!(
                "stored as {}, which cannot be read as {wanted}",
                stored.data_type()
            ))
        };
        match (stored.data_type(), &wanted.kind) {
            (ArrowType::List(inner), TypeKind::Array(element)) => {
                Ok(Node::List(Box::new(self.node(inner, leaf, element)?)))
            }
            (ArrowType::List(inner), TypeKind::Vector(element, _)) => {
                Ok(Node::Vector(Box::new(self.node(inner, leaf, element)?)))
            }
            (ArrowType::Map(entries, _), TypeKind::Map(..) | TypeKind::Multiset(_)) => {
                let ArrowType::Struct(parts) = entries.data_type() else {
                    return Err(unsupported());
                };
                let [key, value] = parts.as_ref() else {
                    return Err(unsupported());
                };
                let count = DataType::required(TypeKind::Int);
                let (key_type, value_type) = match &wanted.kind {
                    TypeKind::Map(key, value) => (key.as_ref(), value.as_ref()),
                    TypeKind::Multiset(element) => (element.as_ref(), &count),
                    _ => return Err(unsupported()),
                };
                let key_node = self.node(key, leaf, key_type)?;
                let value_node = self.node(value, leaf + arrow_leaves(key), value_type)?;
                Ok(Node::Map(Box::new(key_node), Box::new(value_node)))
            }
            (ArrowType::Struct(children), TypeKind::Row(fields)) => self.row(children, leaf, fields),
            (ArrowType::Struct(children), TypeKind::Variant) => self.variant(children, leaf),
            (ArrowType::List(_) | ArrowType::Map(..) | ArrowType::Struct(_), _) => Err(unsupported()),
            (_, kind) if wanted.is_nested() || *kind == TypeKind::Variant => Err(unsupported()),
            _ => self.leaf(stored, leaf, wanted),
        }
    }

    fn row(&mut self, children: &Fields, first: usize, fields: &[DataField]) -> Result<Node> {
        let siblings = children
            .iter()
            .map(|child| (child.name().as_str(), arrow_id(child)));
        let found: Vec<Option<usize>> = fields
            .iter()
            .map(|field| find(siblings.clone(), field.id, &field.name, self.file.ids_are_ours()))
            .collect();
        let mut order: Vec<usize> = found.iter().flatten().copied().collect();
        order.sort_unstable();
        if order.windows(2).any(|pair| pair.first() == pair.last()) {
            return Err(Error::invalid("a field is asked for twice"));
        }
        let mut starts = Vec::with_capacity(children.len());
        let mut next = first;
        for child in children {
            starts.push(next);
            next += arrow_leaves(child);
        }
        if order.is_empty() {
            // One column has to be read all the same, to know which rows are null.
            self.read(first, LeafView::Plain);
        }
        let mut nodes = Vec::with_capacity(fields.len());
        for (field, child) in fields.iter().zip(found) {
            let stored = child.and_then(|index| Some((children.get(index)?, *starts.get(index)?, index)));
            let Some((stored, start, index)) = stored else {
                nodes.push(None);
                continue;
            };
            let node = self
                .node(stored, start, &field.data_type)
                .map_err(|e| e.with("field", &field.name))?;
            let position = order.iter().position(|other| *other == index).unwrap_or(0);
            nodes.push(Some((position, node)));
        }
        Ok(Node::Struct(nodes))
    }

    fn variant(&mut self, children: &Fields, first: usize) -> Result<Node> {
        if children.iter().any(|child| child.name() == "typed_value") {
            return Err(Error::unsupported("shredded VARIANT columns cannot be read"));
        }
        let mut nodes = Vec::with_capacity(2);
        for part in ["value", "metadata"] {
            let index = children.iter().position(|child| child.name() == part);
            let stored = index.and_then(|index| Some((index, children.get(index)?)));
            let Some((index, stored)) = stored else {
                return Err(Error::unsupported(format!("VARIANT column has no {part}")));
            };
            // Both are leaves, so that positions count like leaves.
            if children.len() != 2 || arrow_leaves(stored) != 1 {
                return Err(Error::unsupported(
                    "VARIANT column has more than value and metadata",
                ));
            }
            nodes.push(Some((
                index,
                self.leaf(stored, first + index, &DataType::bytes())?,
            )));
        }
        Ok(Node::Struct(nodes))
    }

    fn leaf(&mut self, stored: &Field, leaf: usize, wanted: &DataType) -> Result<Node> {
        let Some(column) = self.file.descriptor.columns().get(leaf).cloned() else {
            return Err(Error::corrupt("schema of the file contradicts itself"));
        };
        let physical = column.physical_type();
        let text = matches!(wanted.kind, TypeKind::Char(_) | TypeKind::VarChar(_));
        let is_decimal = matches!(column.logical_type_ref(), Some(LogicalType::Decimal(_)))
            || column.converted_type() == ConvertedType::DECIMAL;
        if text && physical == PhysicalType::BYTE_ARRAY && !is_decimal {
            self.read(leaf, LeafView::Text);
            return Ok(Node::Leaf(Conversion::Keep));
        }
        let conversion = if physical == PhysicalType::INT96 {
            match wanted.kind {
                TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_) => Some(Conversion::Int96),
                _ => None,
            }
        } else {
            conversion(stored.data_type(), wanted)
        };
        let Some(conversion) = conversion else {
            let name = if physical == PhysicalType::INT96 {
                "INT96".to_string()
            } else {
                stored.data_type().to_string()
            };
            return Err(Error::unsupported(format!(
                "stored as {name}, which cannot be read as {wanted}"
            )));
        };
        self.read(leaf, LeafView::Annotated);
        Ok(Node::Leaf(conversion))
    }
}

/// The conversion from what the decoder returns, `None` when there is none.
fn conversion(stored: &ArrowType, wanted: &DataType) -> Option<Conversion> {
    use ArrowType as A;
    use TypeKind as K;
    let target = paimon_types::arrow_type(wanted);
    Some(match (stored, &wanted.kind) {
        (A::Timestamp(unit, _), K::Timestamp(_) | K::TimestampLtz(_)) => match *stored == target {
            true => Conversion::Keep,
            false => Conversion::Timestamp(*unit),
        },
        // Without annotation the unit follows the type.
        (A::Int64, K::Timestamp(precision) | K::TimestampLtz(precision)) => match precision {
            0..=3 => Conversion::Timestamp(TimeUnit::Millisecond),
            4..=6 => Conversion::Timestamp(TimeUnit::Microsecond),
            _ => return None,
        },
        (
            A::Decimal128(precision, scale),
            K::Decimal {
                precision: p,
                scale: s,
            },
        ) => {
            if *scale != i8::try_from(*s).ok()? {
                return None;
            }
            if precision == p {
                Conversion::Keep
            } else {
                Conversion::DecimalPrecision
            }
        }
        (A::Int32 | A::Int64, K::Decimal { .. }) => Conversion::DecimalFromInt,
        (A::Binary | A::FixedSizeBinary(_), K::Decimal { .. }) => Conversion::DecimalFromBytes,
        (_, K::Timestamp(_) | K::TimestampLtz(_) | K::Decimal { .. }) => return None,
        _ if *stored == target => Conversion::Keep,
        (
            A::Int8 | A::Int16 | A::Int32 | A::Int64 | A::UInt8 | A::UInt16 | A::UInt32,
            K::TinyInt | K::SmallInt | K::Int | K::BigInt,
        ) => Conversion::Cast,
        (A::Float32 | A::Float64, K::Float | K::Double) => Conversion::Cast,
        (A::Int32, K::Date | K::Time(_)) => Conversion::Cast,
        (A::Time64(TimeUnit::Microsecond), K::Time(_)) => Conversion::Cast,
        (
            A::Utf8 | A::Binary | A::FixedSizeBinary(_),
            K::Binary(_) | K::VarBinary(_) | K::Blob | K::Geometry(_) | K::Geography { .. },
        ) => Conversion::Cast,
        _ => return None,
    })
}
