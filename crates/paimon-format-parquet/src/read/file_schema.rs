// SPDX-License-Identifier: Apache-2.0

//! The columns of a file as Arrow fields.

use std::ops::Range;
use std::sync::Arc;

use arrow_schema::{DataType as ArrowType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use paimon_format::StickyError;
use paimon_types::{Error, Result};
use parquet::arrow::{PARQUET_FIELD_ID_META_KEY, parquet_to_arrow_schema};
use parquet::basic::Type as PhysicalType;
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type, TypePtr};

use super::metadata::{LeafView, view_schema};
use crate::error::read_error;
use crate::schema::ROOT_NAME;

/// The columns of a file.
#[derive(Debug)]
pub(crate) struct FileSchema {
    /// As stored.
    pub(crate) descriptor: SchemaDescPtr,
    pub(crate) roots: Vec<RootColumn>,
}

/// A top-level column of a file.
#[derive(Debug)]
pub(crate) struct RootColumn {
    pub(crate) name: String,
    pub(crate) id: Option<i32>,
    /// Positions of its leaf columns.
    pub(crate) leaves: Range<usize>,
    /// As the decoder returns it under [`LeafView::Annotated`] (INT96 as 12 bytes), or why it cannot.
    pub(crate) arrow: Result<FieldRef, StickyError>,
}

impl FileSchema {
    pub(crate) fn new(path: &str, descriptor: SchemaDescPtr) -> Self {
        let root = descriptor.root_schema();
        let whole = arrow_fields(path, root.get_fields()).ok();
        let mut next = 0;
        let mut roots = Vec::with_capacity(root.get_fields().len());
        for (index, node) in root.get_fields().iter().enumerate() {
            let start = next;
            next += count_leaves(node);
            let info = node.get_basic_info();
            let arrow = match whole.as_ref().and_then(|fields| fields.get(index)) {
                Some(field) => Ok(field.clone()),
                // Some column has no Arrow type: find out which.
                None => arrow_fields(path, std::slice::from_ref(node)).and_then(|fields| {
                    fields
                        .first()
                        .cloned()
                        .ok_or_else(|| Error::unsupported("column has no arrow type"))
                }),
            };
            roots.push(RootColumn {
                name: node.name().to_string(),
                id: info.has_id().then(|| info.id()),
                leaves: start..next,
                arrow: arrow.map_err(|e| StickyError::new(&e.with("column", node.name()))),
            });
        }
        FileSchema { descriptor, roots }
    }

    /// True when ids in the file are those of the table. Only Paimon's own root name says so: files of other writers
    /// may have ids of another numbering (a migrated Iceberg table), there the names of the file's schema decide.
    pub(crate) fn ids_are_ours(&self) -> bool {
        self.descriptor.root_schema().name() == ROOT_NAME
    }

    /// The columns with INT96 as nanoseconds.
    pub(crate) fn to_arrow(&self) -> Result<SchemaRef> {
        let mut fields = Vec::with_capacity(self.roots.len());
        for root in &self.roots {
            let field = root.arrow.as_ref().map_err(StickyError::to_error)?;
            let mut leaf = root.leaves.start;
            fields.push(self.with_timestamps(field, &mut leaf));
        }
        Ok(Arc::new(Schema::new(fields)))
    }

    fn with_timestamps(&self, field: &FieldRef, leaf: &mut usize) -> FieldRef {
        let mut inner = |field: &FieldRef| self.with_timestamps(field, leaf);
        let arrow = match field.data_type() {
            ArrowType::List(element) => ArrowType::List(inner(element)),
            ArrowType::LargeList(element) => ArrowType::LargeList(inner(element)),
            ArrowType::Map(entries, sorted) => ArrowType::Map(inner(entries), *sorted),
            ArrowType::Struct(fields) => ArrowType::Struct(fields.iter().map(inner).collect::<Fields>()),
            other => {
                let position = *leaf;
                *leaf += 1;
                match self.is_int96(position) {
                    true => ArrowType::Timestamp(TimeUnit::Nanosecond, None),
                    false => other.clone(),
                }
            }
        };
        if arrow == *field.data_type() {
            field.clone()
        } else {
            Arc::new(field.as_ref().clone().with_data_type(arrow))
        }
    }

    pub(crate) fn is_int96(&self, leaf: usize) -> bool {
        self.descriptor
            .columns()
            .get(leaf)
            .is_some_and(|column| column.physical_type() == PhysicalType::INT96)
    }
}

fn arrow_fields(path: &str, nodes: &[TypePtr]) -> Result<Fields> {
    let fail = |e| read_error(path, e);
    let root = Type::group_type_builder(ROOT_NAME)
        .with_fields(nodes.to_vec())
        .build()
        .map_err(fail)?;
    let descriptor = SchemaDescriptor::new(Arc::new(root));
    let viewed = view_schema(&descriptor, &|_| LeafView::Annotated).map_err(fail)?;
    let descriptor = viewed.map(SchemaDescriptor::new).unwrap_or(descriptor);
    Ok(parquet_to_arrow_schema(&descriptor, None)
        .map_err(fail)?
        .fields()
        .clone())
}

fn count_leaves(node: &Type) -> usize {
    if node.is_primitive() {
        1
    } else {
        node.get_fields().iter().map(|child| count_leaves(child)).sum()
    }
}

/// Number of leaf columns of an Arrow field that the decoder returns.
pub(crate) fn arrow_leaves(field: &Field) -> usize {
    match field.data_type() {
        ArrowType::List(inner) | ArrowType::LargeList(inner) | ArrowType::Map(inner, _) => {
            arrow_leaves(inner)
        }
        ArrowType::Struct(fields) => fields.iter().map(|field| arrow_leaves(field)).sum(),
        _ => 1,
    }
}

/// The field id in the metadata of an Arrow field.
pub(crate) fn arrow_id(field: &Field) -> Option<i32> {
    field.metadata().get(PARQUET_FIELD_ID_META_KEY)?.parse().ok()
}

/// Finds a column among siblings.
///
/// In files of Paimon a sibling with an id is found by it and by nothing else. In other files the name decides, which
/// the caller knows from the schema that the file was written with, and the id only when there is no such name.
pub(crate) fn find<'a>(
    siblings: impl Iterator<Item = (&'a str, Option<i32>)> + Clone,
    id: i32,
    name: &str,
    ids_are_ours: bool,
) -> Option<usize> {
    let by_id = || siblings.clone().position(|(_, other)| other == Some(id));
    let by_name = || siblings.clone().position(|(other, _)| other == name);
    if ids_are_ours {
        by_id().or_else(|| {
            siblings
                .clone()
                .position(|(other, id)| id.is_none() && other == name)
        })
    } else {
        by_name().or_else(by_id)
    }
}
