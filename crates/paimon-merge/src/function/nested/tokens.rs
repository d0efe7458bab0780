// SPDX-License-Identifier: Apache-2.0

//! Numbers that tell equal values from different ones.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, make_array};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::DataType as ArrowType;
use paimon_types::{Error, Result};

/// A token a row: rows are equal exactly when their tokens are. Tokens count up from 0.
pub(super) struct Tokens {
    of_rows: Vec<u32>,
    /// For each token where it was put in the set of this generation.
    slots: Vec<(u32, u32)>,
    generation: u32,
}

/// Rows of some columns as bytes that order and compare like them: ascending, NULL first, −0.0 before 0.0, NaN last.
pub(super) fn rows_of(column: &str, arrays: &[ArrayRef]) -> Result<Rows> {
    let arrays: Vec<ArrayRef> = arrays.iter().map(one_nan).collect();
    let fields = arrays
        .iter()
        .map(|array| SortField::new(array.data_type().clone()))
        .collect();
    let rows = RowConverter::new(fields).and_then(|converter| converter.convert_columns(&arrays));
    rows.map_err(|error| {
        let types: Vec<String> = arrays.iter().map(|array| array.data_type().to_string()).collect();
        let problem = format!("values of {} cannot be compared: {error}", types.join(", "));
        Error::unsupported(problem)
            .with("column", column)
            .with_source(Box::new(error))
    })
}

/// Java knows one NaN only.
fn one_nan(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        ArrowType::Float32 => match array.as_primitive_opt::<Float32Type>() {
            Some(values) => {
                let values = values.unary::<_, Float32Type>(|v| if v.is_nan() { f32::NAN } else { v });
                make_array(values.into())
            }
            None => array.clone(),
        },
        ArrowType::Float64 => match array.as_primitive_opt::<Float64Type>() {
            Some(values) => {
                let values = values.unary::<_, Float64Type>(|v| if v.is_nan() { f64::NAN } else { v });
                make_array(values.into())
            }
            None => array.clone(),
        },
        _ => array.clone(),
    }
}

impl Tokens {
    /// Tokens of the rows that these columns make.
    pub(super) fn of(column: &str, arrays: &[ArrayRef]) -> Result<Self> {
        let rows = rows_of(column, arrays)?;
        let mut known: HashMap<&[u8], u32> = HashMap::new();
        let mut of_rows = Vec::with_capacity(rows.num_rows());
        let rows: Vec<_> = rows.iter().collect();
        for row in &rows {
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            of_rows.push(*known.entry(row.as_ref()).or_insert(next));
        }
        Ok(Tokens {
            of_rows,
            slots: vec![(0, 0); known.len()],
            generation: 0,
        })
    }

    /// The token of a row.
    #[inline]
    pub(super) fn of_row(&self, row: u32) -> u32 {
        self.of_rows.get(row as usize).copied().unwrap_or(u32::MAX)
    }

    /// Forgets what was put: an empty set of tokens.
    pub(super) fn clear(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.slots.fill((0, 0));
            self.generation = 1;
        }
    }

    /// The number put with this token since the last [`clear`](Self::clear).
    #[inline]
    pub(super) fn get(&self, token: u32) -> Option<usize> {
        let (generation, slot) = *self.slots.get(token as usize)?;
        (generation == self.generation).then_some(slot as usize)
    }

    /// Puts a number with a token.
    #[inline]
    pub(super) fn put(&mut self, token: u32, number: usize) {
        if let Some(slot) = self.slots.get_mut(token as usize) {
            *slot = (self.generation, u32::try_from(number).unwrap_or(u32::MAX));
        }
    }
}
