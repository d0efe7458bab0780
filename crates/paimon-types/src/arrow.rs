// SPDX-License-Identifier: Apache-2.0

//! Arrow types of Paimon types and back (Java `ArrowUtils`; `data-files.md` 1.5).

use crate::{DataField, DataType, Error, Result};

/// The Arrow field of a column: name, nullability, Arrow type, and metadata that gives the Paimon type back exactly.
pub fn to_arrow_field(_field: &DataField) -> arrow_schema::Field {
    arrow_schema::Field::new("stub", arrow_schema::DataType::Null, true)
}

/// The Arrow schema of columns.
pub fn to_arrow_schema(fields: &[DataField]) -> arrow_schema::Schema {
    arrow_schema::Schema::new(fields.iter().map(to_arrow_field).collect::<Vec<_>>())
}

/// The Arrow type of a Paimon type; nested ids of unnamed levels are counted from field id 0.
pub fn arrow_type(_data_type: &DataType) -> arrow_schema::DataType {
    arrow_schema::DataType::Null
}

/// The columns of an Arrow schema.
///
/// # Errors
/// `Unsupported` for an Arrow type that has no Paimon type.
pub fn from_arrow_schema(_schema: &arrow_schema::Schema) -> Result<Vec<DataField>> {
    Err(Error::unsupported("stub"))
}
