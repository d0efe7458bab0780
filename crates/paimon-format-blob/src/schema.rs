// SPDX-License-Identifier: Apache-2.0

//! The one column of a blob file, and the column of its placeholders.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use paimon_types::{ARROW_FIELD_ID, DataField, DataType, Error, Result, TypeKind, to_arrow_schema};

use crate::layout::BlobKeyType;

/// Name of the column that tells which rows are placeholders.
pub const PLACEHOLDER_COLUMN: &str = "_BLOB_PLACEHOLDER";
/// Its id, which no column of a table has.
const PLACEHOLDER_ID: i32 = i32::MAX - 100;

/// The column [`PLACEHOLDER_COLUMN`], BOOLEAN NOT NULL: true where a row has no value here but in an older file. In the
/// read schema it is filled; in the schema of a writer it marks such rows, whose blob value is ignored. Such a row is
/// read as null, or as empty where the blob column is NOT NULL.
pub fn placeholder_field() -> DataField {
    DataField::new(
        PLACEHOLDER_ID,
        PLACEHOLDER_COLUMN,
        DataType::required(TypeKind::Boolean),
    )
}

/// What the payloads of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The bytes of a BLOB.
    Scalar,
    /// An `ARRAY<BLOB>`.
    Array,
    /// A `MAP<K, BLOB>`.
    Map(BlobKeyType),
}

/// The blob column of a schema.
#[derive(Clone, Debug)]
pub(crate) struct BlobColumn {
    /// Position in the schema.
    pub(crate) position: usize,
    pub(crate) name: String,
    pub(crate) shape: Shape,
    pub(crate) nullable: bool,
}

/// The columns that a reader returns or a writer takes.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    pub(crate) schema: SchemaRef,
    pub(crate) blob: Option<BlobColumn>,
    /// Position of the column of placeholders.
    pub(crate) placeholder: Option<usize>,
}

impl Columns {
    /// # Errors
    /// `Unsupported` for a type that is not stored in blob files, `InvalidInput` for more than one blob column.
    pub(crate) fn resolve(fields: &[DataField]) -> Result<Self> {
        let mut columns = Columns {
            schema: Arc::new(to_arrow_schema(fields)),
            blob: None,
            placeholder: None,
        };
        for (position, field) in fields.iter().enumerate() {
            if field.name == PLACEHOLDER_COLUMN {
                if field.data_type != placeholder_field().data_type || columns.placeholder.is_some() {
                    let found = &field.data_type;
                    return Err(
                        Error::invalid(format!("column is {found}, one BOOLEAN NOT NULL expected"))
                            .with("column", &field.name),
                    );
                }
                columns.placeholder = Some(position);
                continue;
            }
            let blob = BlobColumn {
                position,
                name: field.name.clone(),
                shape: shape(&field.data_type).map_err(|e| e.with("column", &field.name))?,
                nullable: field.data_type.nullable,
            };
            if let Some(first) = columns.blob.replace(blob) {
                return Err(Error::invalid(format!(
                    "a blob file has one column, found {:?} and {:?}",
                    first.name, field.name
                ))
                .with("column", &field.name));
            }
        }
        Ok(columns)
    }

    /// The columns of a file of which nothing is known: one of plain bytes.
    pub(crate) fn unknown() -> Result<Self> {
        let field = DataField::new(0, "blob", DataType::new(TypeKind::Blob));
        let mut columns = Self::resolve(&[field])?;
        let mut schema = (*columns.schema).clone();
        schema.fields = schema
            .fields
            .iter()
            .map(|field| {
                let mut field = field.as_ref().clone();
                field.metadata_mut().remove(ARROW_FIELD_ID);
                Arc::new(field)
            })
            .collect();
        columns.schema = Arc::new(schema);
        Ok(columns)
    }
}

fn shape(data_type: &DataType) -> Result<Shape> {
    match &data_type.kind {
        TypeKind::Blob => Ok(Shape::Scalar),
        TypeKind::Array(element) if element.kind == TypeKind::Blob => Ok(Shape::Array),
        TypeKind::Map(key, value) if value.kind == TypeKind::Blob => BlobKeyType::of(key).map(Shape::Map),
        _ => Err(Error::unsupported(format!(
            "{data_type} is not stored in blob files, they hold BLOB, ARRAY<BLOB> and `MAP<K, BLOB>`"
        ))),
    }
}
