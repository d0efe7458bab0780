// SPDX-License-Identifier: Apache-2.0

//! What is told about the rows of a key-value file in its meta (Java `KeyValueDataFileWriter`).

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int64Type};
use paimon_protocol::RowValues;
use paimon_types::{DataType, Error, Result};

use super::layout::KeyValueLayout;
use crate::arrow_value::datum_at;
use crate::read::key_value::is_retract;

/// The columns of a key-value file that its meta tells about.
#[derive(Debug)]
pub(crate) struct KeyValueColumns {
    /// Places and types of the key.
    pub(crate) keys: Vec<(usize, DataType)>,
    /// Place of `_SEQUENCE_NUMBER`.
    pub(crate) sequence: usize,
    /// Place of `_VALUE_KIND`.
    pub(crate) kind: usize,
}

/// What the meta of a file tells about its rows; those of a key-value file come in the order of the key.
#[derive(Debug)]
pub(crate) struct RowFacts {
    /// Key of the first row; no values for plain rows.
    pub(crate) min_key: RowValues,
    /// Key of the last row.
    pub(crate) max_key: RowValues,
    /// Smallest sequence number.
    pub(crate) min_sequence: i64,
    /// Largest sequence number.
    pub(crate) max_sequence: i64,
    /// Rows that retract.
    pub(crate) deletes: i64,
}

impl KeyValueColumns {
    /// The columns of the files of a layout.
    pub(crate) fn new(layout: &KeyValueLayout) -> Self {
        let types = layout.keys.iter().map(|(_, data_type)| data_type.clone());
        KeyValueColumns {
            keys: layout.key_places().into_iter().zip(types).collect(),
            sequence: layout.sequence_column(),
            kind: layout.kind_column(),
        }
    }

    /// Adds the facts about the next rows of a file.
    ///
    /// # Errors
    /// `InvalidInput` when the rows are not those of a key-value file.
    pub(crate) fn note(&self, facts: &mut Option<RowFacts>, rows: &RecordBatch) -> Result<()> {
        let lost = || Error::invalid("rows of a key-value file lack a column");
        let Some(last) = rows.num_rows().checked_sub(1) else {
            return Ok(());
        };
        let types: Vec<DataType> = self.keys.iter().map(|(_, data_type)| data_type.clone()).collect();
        let key = |row: usize| {
            let values = self
                .keys
                .iter()
                .map(|(place, data_type)| {
                    let column = rows.columns().get(*place).ok_or_else(lost)?;
                    datum_at(column.as_ref(), row, data_type)
                })
                .collect::<Result<Vec<_>>>()?;
            RowValues::of(&types, &values)
        };
        let sequences = rows.columns().get(self.sequence);
        let sequences = sequences
            .and_then(|c| c.as_primitive_opt::<Int64Type>())
            .ok_or_else(lost)?;
        let kinds = rows.columns().get(self.kind);
        let kinds = kinds
            .and_then(|c| c.as_primitive_opt::<Int8Type>())
            .ok_or_else(lost)?;
        let (mut min, mut max) = (i64::MAX, i64::MIN);
        for sequence in sequences.values() {
            min = min.min(*sequence);
            max = max.max(*sequence);
        }
        let deletes = kinds.values().iter().filter(|kind| is_retract(**kind)).count() as i64;
        match facts {
            None => {
                *facts = Some(RowFacts {
                    min_key: key(0)?,
                    max_key: key(last)?,
                    min_sequence: min,
                    max_sequence: max,
                    deletes,
                });
            }
            Some(facts) => {
                facts.max_key = key(last)?;
                facts.min_sequence = facts.min_sequence.min(min);
                facts.max_sequence = facts.max_sequence.max(max);
                facts.deletes += deletes;
            }
        }
        Ok(())
    }
}
