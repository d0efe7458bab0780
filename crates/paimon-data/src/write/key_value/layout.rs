// SPDX-License-Identifier: Apache-2.0

//! The columns of key-value files (Java `KeyValue.schema`, `KeyValueThinSerializer`; `data-files.md` 1.3).

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, make_array};
use arrow_schema::SchemaRef;
use paimon_types::{DataField, DataType, Error, Result, TableSchema, system_field, to_arrow_schema};

use crate::read::key_value::{kind_field, sequence_field};

/// `_KEY_…` (unless thin), `_SEQUENCE_NUMBER`, `_VALUE_KIND`, then all columns of the table.
#[derive(Clone, Debug)]
pub(crate) struct KeyValueLayout {
    /// All columns of a file.
    pub(crate) fields: Vec<DataField>,
    /// The same for Arrow.
    pub(crate) schema: SchemaRef,
    /// For each column of the trimmed primary key its place among the columns of the table, and its type.
    pub(crate) keys: Vec<(usize, DataType)>,
    /// True when the files have no `_KEY_…` columns.
    pub(crate) thin: bool,
}

impl KeyValueLayout {
    /// The files of a table; `thin` is option `data-file.thin-mode`.
    ///
    /// # Errors
    /// `InvalidInput` when a key column does not exist or the table has no key besides its partition columns.
    pub(crate) fn new(schema: &TableSchema, thin: bool) -> Result<Self> {
        let names = schema.trimmed_primary_keys();
        if names.is_empty() {
            return Err(Error::invalid(format!(
                "the primary key ({}) has no column besides the partition columns ({})",
                schema.primary_keys.join(", "),
                schema.partition_keys.join(", ")
            )));
        }
        let mut keys = Vec::with_capacity(names.len());
        let mut fields = Vec::new();
        for name in names {
            let found = schema
                .fields
                .iter()
                .enumerate()
                .find(|(_, field)| field.name == name);
            let (place, field) = found.ok_or_else(|| {
                Error::invalid(format!(
                    "primary key column '{name}' is not a column of the table"
                ))
                .with("column", name)
            })?;
            keys.push((place, field.data_type.clone()));
            if !thin {
                let id = field.id.checked_add(system_field::KEY_ID_START).ok_or_else(|| {
                    Error::invalid(format!("field id {} is too large for a key", field.id))
                        .with("column", name)
                })?;
                let name = format!("{}{name}", system_field::KEY_PREFIX);
                fields.push(DataField::new(id, name, field.data_type.clone()));
            }
        }
        fields.extend([sequence_field(), kind_field()]);
        fields.extend(schema.fields.iter().cloned());
        Ok(KeyValueLayout {
            schema: Arc::new(to_arrow_schema(&fields)),
            fields,
            keys,
            thin,
        })
    }

    /// Number of `_KEY_…` columns.
    fn key_columns(&self) -> usize {
        if self.thin { 0 } else { self.keys.len() }
    }

    /// Place of `_SEQUENCE_NUMBER`.
    pub(crate) fn sequence_column(&self) -> usize {
        self.key_columns()
    }

    /// Place of `_VALUE_KIND`.
    pub(crate) fn kind_column(&self) -> usize {
        self.key_columns() + 1
    }

    /// Place of the first column of the table.
    pub(crate) fn first_value_column(&self) -> usize {
        self.key_columns() + 2
    }

    /// Where the key stands in a file, column by column: the `_KEY_…` columns, or in a thin file the columns of the table.
    pub(crate) fn key_places(&self) -> Vec<usize> {
        let values = self.first_value_column();
        let places = self.keys.iter().enumerate();
        places
            .map(|(at, (place, _))| if self.thin { values + place } else { at })
            .collect()
    }

    /// Rows of a file of their parts; the key is taken from the columns of the table.
    ///
    /// # Errors
    /// `InvalidInput` when the columns are not those of the table or a NOT NULL column has a NULL.
    pub(crate) fn batch(
        &self,
        sequences: Vec<i64>,
        kinds: ArrayRef,
        values: Vec<ArrayRef>,
    ) -> Result<RecordBatch> {
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.fields.len());
        if !self.thin {
            for (place, _) in &self.keys {
                let key = values
                    .get(*place)
                    .ok_or_else(|| Error::invalid("merged rows have too few columns"))?;
                columns.push(key.clone());
            }
        }
        columns.push(make_array(Int64Array::from(sequences).into()));
        columns.push(kinds);
        columns.extend(values);
        RecordBatch::try_new(self.schema.clone(), columns)
            .map_err(|e| Error::invalid(format!("merged rows do not fit the table: {e}")).with_source(e))
    }
}
