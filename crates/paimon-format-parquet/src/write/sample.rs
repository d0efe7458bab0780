// SPDX-License-Identifier: Apache-2.0

//! Which columns are better off without a dictionary, judged by the first rows of a file.
//!
//! A dictionary that overflows its page is thrown away after it cost a hash of every value; with many open files that is
//! most of the work. A column whose sample says that it would overflow is written plain from the start.

use std::collections::HashSet;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType as ArrowType;
use paimon_types::DataField;

/// Rows that are looked at.
const SAMPLE_ROWS: usize = 16 << 10;
/// Fewer values tell nothing.
const LEAST_VALUES: usize = 1000;

/// Names of top-level columns whose dictionary of `page_bytes` would overflow, as far as the first batches tell.
pub(super) fn overflowing<'a>(
    fields: &'a [DataField],
    batches: &[RecordBatch],
    page_bytes: usize,
) -> Vec<&'a str> {
    let columns = fields.iter().enumerate();
    columns
        .filter(|(index, _)| {
            let mut sample = Sample::default();
            let mut left = SAMPLE_ROWS;
            for batch in batches {
                let column = batch.column(*index);
                let rows = column.len().min(left);
                left -= rows;
                if !sample.add(column.slice(0, rows).as_ref()) {
                    return false;
                }
            }
            sample.overflows(page_bytes)
        })
        .map(|(_, field)| field.name.as_str())
        .collect()
}

#[derive(Default)]
struct Sample {
    distinct: HashSet<u128>,
    values: usize,
    bytes: usize,
}

impl Sample {
    /// False for types that are not looked at.
    fn add(&mut self, column: &dyn Array) -> bool {
        match column.data_type() {
            ArrowType::Utf8 => {
                for text in column.as_string::<i32>().iter().flatten() {
                    self.insert(hash(text.as_bytes()), text.len() + 4);
                }
            }
            ArrowType::Binary => {
                for bytes in column.as_binary::<i32>().iter().flatten() {
                    self.insert(hash(bytes), bytes.len() + 4);
                }
            }
            data_type => {
                let Some(width) = data_type.primitive_width().filter(|w| matches!(w, 4 | 8 | 16)) else {
                    return false;
                };
                let data = column.to_data();
                let Some(buffer) = data.buffers().first() else {
                    return false;
                };
                let start = data.offset() * width;
                let Some(raw) = buffer.as_slice().get(start..start + data.len() * width) else {
                    return false;
                };
                for (row, value) in raw.chunks_exact(width).enumerate() {
                    if column.is_valid(row) {
                        let mut wide = [0u8; 16];
                        wide.iter_mut().zip(value).for_each(|(to, from)| *to = *from);
                        self.insert(u128::from_le_bytes(wide), width);
                    }
                }
            }
        }
        true
    }

    fn insert(&mut self, value: u128, bytes: usize) {
        self.distinct.insert(value);
        self.values += 1;
        self.bytes += bytes;
    }

    /// With `n` values drawn from `d` distinct ones, `d (1 − e^(−n/d))` distinct ones are expected. `d` is put at what fills the
    /// page: more distinct values than that in the sample mean that the page is too small.
    fn overflows(&self, page_bytes: usize) -> bool {
        if self.values < LEAST_VALUES {
            return false;
        }
        let values = self.values as f64;
        let fits = (page_bytes as f64 / (self.bytes as f64 / values).max(1.0)).max(1.0);
        let expected = fits * (1.0 - (-values / fits).exp());
        self.distinct.len() as f64 >= expected
    }
}

/// FNV-1a over 64 bit, twice with different starts.
fn hash(bytes: &[u8]) -> u128 {
    let fnv = |start: u64| {
        bytes
            .iter()
            .fold(start, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
    };
    (u128::from(fnv(0xcbf2_9ce4_8422_2325)) << 64) | u128::from(fnv(0x6c62_272e_07bb_0142))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Int64Array, RecordBatch, StringArray};
    use arrow_schema::{DataType as ArrowType, Field, Schema};
    use paimon_types::{DataField, DataType};

    use super::overflowing;

    #[test]
    fn only_columns_that_would_overflow_are_named() {
        let fields = [
            ("id", "BIGINT"),
            ("few", "BIGINT"),
            ("name", "STRING"),
            ("nulls", "BIGINT"),
        ]
        .map(|(name, t)| DataField::new(0, name, DataType::parse(t).unwrap()));
        let rows = 16_384i64;
        let scattered = |i: i64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15u64 as i64);
        let batch = RecordBatch::try_new(
            Arc::new(Schema::new(vec![
                Field::new("id", ArrowType::Int64, true),
                Field::new("few", ArrowType::Int64, true),
                Field::new("name", ArrowType::Utf8, true),
                Field::new("nulls", ArrowType::Int64, true),
            ])),
            vec![
                Arc::new(Int64Array::from_iter_values((0..rows).map(scattered))),
                Arc::new(Int64Array::from_iter_values(
                    (0..rows).map(|i| scattered(i) % 1000),
                )),
                Arc::new(StringArray::from_iter_values(
                    (0..rows).map(|i| format!("name-{}", scattered(i).rem_euclid(5000))),
                )),
                Arc::new(Int64Array::from(vec![None; rows as usize])),
            ],
        )
        .unwrap();
        assert_eq!(
            overflowing(&fields, std::slice::from_ref(&batch), 1 << 20),
            ["id"]
        );
        assert!(overflowing(&fields, &[batch.slice(0, 500)], 1 << 20).is_empty());
        assert_eq!(overflowing(&fields, &[batch], 4 << 10), ["id", "few", "name"]);
    }
}
