// SPDX-License-Identifier: Apache-2.0

//! Rows of unsorted batches in merge order (Java `BinaryInMemorySortBuffer`; `semantics.md` 1.4, 2.1). Only places are moved.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType as ArrowType, Schema};
use paimon_types::{Error, Result};

use super::keys::{ByteKeys, Form, KeyEncoder, Keys, NarrowKeys, WideKeys};
use super::sequence::{SequenceEncoder, UserSequence};

/// The order in which the versions of keys are merged: by key, then user sequence columns, then arrival. It is the order of the
/// rows of a [`MergeTree`](super::MergeTree) when those that arrive later have larger sequence numbers.
#[derive(Debug)]
pub struct RowOrder {
    keys: Vec<usize>,
    encoder: KeyEncoder,
    form: Form,
    sequence: Vec<usize>,
    user: Option<SequenceEncoder>,
}

/// Rows in merge order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderedRows {
    /// (batch, row) of each row.
    pub places: Vec<(u32, u32)>,
    /// For each key the position in `places` behind its last version.
    pub ends: Vec<usize>,
}

/// A row by its key.
#[derive(Clone, Copy)]
struct Item<P> {
    prefix: P,
    source: u32,
    row: u32,
}

impl RowOrder {
    /// The order of rows with this schema. `keys` and `sequence` are places of columns, in the order in which they compare; NULL
    /// comes first, in both directions. With `descending` the smallest value of the sequence columns is the newest.
    ///
    /// # Errors
    /// `InvalidInput` for places outside of the schema or without keys, `Unsupported` for a column whose type has no order.
    pub fn new(schema: &Schema, keys: &[usize], sequence: &[usize], descending: bool) -> Result<Self> {
        let fields = |places: &[usize]| {
            let field = |place: &usize| {
                let field = schema.fields().get(*place);
                field.ok_or_else(|| Error::invalid(format!("there is no column {place} to order rows by")))
            };
            places.iter().map(field).collect::<Result<Vec<_>>>()
        };
        let key_fields = fields(keys)?;
        let types: Vec<ArrowType> = key_fields.iter().map(|f| f.data_type().clone()).collect();
        let nullable = key_fields.iter().map(|f| f.is_nullable()).collect();
        let (encoder, form) = KeyEncoder::new(&types, nullable)?;
        let types = fields(sequence)?.into_iter().map(|f| f.data_type().clone());
        let types: Vec<ArrowType> = types.collect();
        let user = match types.is_empty() {
            true => None,
            false => Some(SequenceEncoder::new(&types, descending)?),
        };
        Ok(RowOrder {
            keys: keys.to_vec(),
            encoder,
            form,
            sequence: sequence.to_vec(),
            user,
        })
    }

    /// All rows of `sources` in order. Rows of one key whose sequence columns are equal stay in the order in which they are there.
    ///
    /// # Errors
    /// `ResourcesExhausted` when 32 bits do not count the batches or the rows of one; `Corrupt` when a batch is not of the schema
    /// or a key is NULL where its column allows none.
    pub fn sort(&self, sources: &[RecordBatch]) -> Result<OrderedRows> {
        match self.form {
            Form::Narrow => self.sort_by::<NarrowKeys>(sources),
            Form::Wide => self.sort_by::<WideKeys>(sources),
            Form::Bytes => self.sort_by::<ByteKeys>(sources),
        }
    }

    /// For each key of rows that are in order the position behind its last version.
    ///
    /// # Errors
    /// As [`sort`](Self::sort).
    pub fn ends(&self, sorted: &RecordBatch) -> Result<Vec<usize>> {
        match self.form {
            Form::Narrow => self.ends_by::<NarrowKeys>(sorted),
            Form::Wide => self.ends_by::<WideKeys>(sorted),
            Form::Bytes => self.ends_by::<ByteKeys>(sorted),
        }
    }

    fn ends_by<K: Keys>(&self, sorted: &RecordBatch) -> Result<Vec<usize>> {
        let keys = K::encode(&self.encoder, &columns(sorted, &self.keys)?)?;
        let rows = keys.len();
        let mut ends = Vec::new();
        for row in 1..rows {
            if keys.compare(row - 1, &keys, row) != Ordering::Equal {
                ends.push(row);
            }
        }
        if rows > 0 {
            ends.push(rows);
        }
        Ok(ends)
    }

    fn sort_by<K: Keys>(&self, sources: &[RecordBatch]) -> Result<OrderedRows> {
        let narrow = |number: usize| {
            u32::try_from(number).map_err(|_| {
                Error::resources(format!("{number} rows or batches are too many to sort at once"))
            })
        };
        narrow(sources.len())?;
        let mut keys: Vec<K> = Vec::with_capacity(sources.len());
        let mut rows = 0;
        for source in sources {
            narrow(source.num_rows())?;
            let of_source = K::encode(&self.encoder, &columns(source, &self.keys)?)?;
            if of_source.len() != source.num_rows() {
                return Err(Error::corrupt("a key column is shorter than its batch"));
            }
            rows += of_source.len();
            keys.push(of_source);
        }
        let skip = if K::EXACT { 0 } else { shared(&keys) };
        let mut items = Vec::with_capacity(rows);
        for (source, keys) in keys.iter().enumerate() {
            // Both fit: checked above.
            items.extend((0..keys.len()).map(|row| Item {
                prefix: keys.prefix(row, skip),
                source: source as u32,
                row: row as u32,
            }));
        }
        let full = |a: &Item<K::Prefix>, b: &Item<K::Prefix>| match (
            keys.get(a.source as usize),
            keys.get(b.source as usize),
        ) {
            (Some(x), Some(y)) => x.compare(a.row as usize, y, b.row as usize),
            _ => Ordering::Equal,
        };
        // Stable sorts: rows of a key stay in the order of arrival, and batches that are sorted already are found.
        if K::EXACT {
            items.sort_by_key(|item| item.prefix);
        } else {
            items.sort_by(|a, b| a.prefix.cmp(&b.prefix).then_with(|| full(a, b)));
        }
        let mut ordered = OrderedRows {
            places: Vec::with_capacity(items.len()),
            ends: Vec::new(),
        };
        let mut before: Option<&Item<K::Prefix>> = None;
        for item in &items {
            let new = |before: &Item<K::Prefix>| {
                before.prefix != item.prefix || (!K::EXACT && full(before, item) != Ordering::Equal)
            };
            if before.is_some_and(new) {
                ordered.ends.push(ordered.places.len());
            }
            before = Some(item);
            ordered.places.push((item.source, item.row));
        }
        if before.is_some() {
            ordered.ends.push(ordered.places.len());
        }
        drop(items);
        if let Some(encoder) = &self.user
            && ordered.ends.len() != ordered.places.len()
        {
            let users = sources
                .iter()
                .map(|source| encoder.encode(&columns(source, &self.sequence)?))
                .collect::<Result<Vec<_>>>()?;
            order_versions(&mut ordered, &users);
        }
        Ok(ordered)
    }
}

/// Puts the versions of each key in the order of the user sequence.
fn order_versions(ordered: &mut OrderedRows, users: &[UserSequence]) {
    let compare = |a: &(u32, u32), b: &(u32, u32)| match (users.get(a.0 as usize), users.get(b.0 as usize)) {
        (Some(x), Some(y)) => x.compare(a.1 as usize, y, b.1 as usize),
        _ => Ordering::Equal,
    };
    let mut from = 0;
    for end in &ordered.ends {
        if end - from > 1
            && let Some(versions) = ordered.places.get_mut(from..*end)
        {
            versions.sort_by(compare);
        }
        from = *end;
    }
}

/// Leading bytes that all keys share.
fn shared<K: Keys>(keys: &[K]) -> usize {
    let Some(first) = keys.iter().find(|keys| keys.len() > 0) else {
        return 0;
    };
    let mut shared = usize::MAX;
    for keys in keys {
        for row in 0..keys.len() {
            shared = shared.min(first.shared(0, keys, row));
            if shared == 0 {
                return 0;
            }
        }
    }
    shared
}

fn columns(batch: &RecordBatch, places: &[usize]) -> Result<Vec<ArrayRef>> {
    let column = |place: &usize| {
        let column = batch.columns().get(*place).cloned();
        column.ok_or_else(|| Error::corrupt(format!("a batch has no column {place}")))
    };
    places.iter().map(column).collect()
}
