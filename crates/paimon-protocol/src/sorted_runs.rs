// SPDX-License-Identifier: Apache-2.0

//! Key ranges of the files of one bucket: which files must be merged with each other (Java `IntervalPartition`; `semantics.md` 1.4,
//! 5.6).
//!
//! The planner cuts a bucket into splits by it, the reader a split into what it merges at a time; both must come to the same result
//! and neither knows the other.

use std::cmp::Ordering;

use paimon_types::{DataType, Datum, Error, Result, TableSchema, TypeKind};

use crate::{DataFileMeta, RowValues};

/// The order of keys inside one bucket: the trimmed primary key, column by column, ascending.
///
/// NULL comes first; BOOLEAN false before true; numbers, decimals, dates and times by value; −0.0 before 0.0 and NaN last of all;
/// strings and binaries by unsigned bytes, a prefix before what it begins (Java's `KeyComparatorSupplier`).
#[derive(Clone, Debug)]
pub struct KeyOrder {
    types: Vec<DataType>,
}

/// A key of a file, decoded once so that it can be compared often ([`KeyOrder::compare`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Key(Vec<Option<Datum>>);

impl KeyOrder {
    /// The order of the keys of a table: its primary key without the partition columns, in declared order.
    ///
    /// # Errors
    /// `InvalidInput` for a table without primary key, `Unsupported` for a key column of a type without order.
    pub fn of(schema: &TableSchema) -> Result<Self> {
        let names = schema.trimmed_primary_keys();
        let types: Vec<DataType> = names
            .iter()
            .filter_map(|name| schema.field(name))
            .map(|field| field.data_type.clone())
            .collect();
        if types.is_empty() || types.len() != names.len() {
            return Err(Error::invalid(
                "the table has no primary key besides its partition columns, so its files have no order of keys",
            ));
        }
        KeyOrder::new(types)
    }

    /// The order of keys with columns of these types; whether a type allows NULL makes no difference.
    ///
    /// # Errors
    /// `Unsupported` for a type without order.
    pub fn new(types: Vec<DataType>) -> Result<Self> {
        let without_order = |data_type: &&DataType| {
            matches!(
                data_type.kind,
                TypeKind::Array(_)
                    | TypeKind::Vector(..)
                    | TypeKind::Map(..)
                    | TypeKind::Multiset(_)
                    | TypeKind::Row(_)
                    | TypeKind::Variant
                    | TypeKind::Blob
                    | TypeKind::Geometry(_)
                    | TypeKind::Geography { .. }
            )
        };
        if let Some(data_type) = types.iter().find(without_order) {
            return Err(Error::unsupported(format!(
                "keys of type {data_type} have no order here"
            )));
        }
        let types = types.into_iter().map(|t| t.with_nullable(true)).collect();
        Ok(KeyOrder { types })
    }

    /// Types of the key columns, all nullable.
    pub fn types(&self) -> &[DataType] {
        &self.types
    }

    /// The first and the last key of a file.
    ///
    /// # Errors
    /// `Corrupt` when a key has another number of columns or does not decode, or the first is behind the last.
    pub fn bounds(&self, file: &DataFileMeta) -> Result<(Key, Key)> {
        let decode = |key: &RowValues| {
            key.values(&self.types)
                .map(Key)
                .map_err(|e| e.with("path", &file.file_name))
        };
        let (min, max) = (decode(&file.min_key)?, decode(&file.max_key)?);
        if self.compare(&min, &max).is_gt() {
            return Err(
                Error::corrupt("the first key of a file is behind its last, expected sorted files")
                    .with("path", &file.file_name),
            );
        }
        Ok((min, max))
    }

    /// Compares keys of this order.
    pub fn compare(&self, a: &Key, b: &Key) -> Ordering {
        for (a, b) in a.0.iter().zip(&b.0) {
            let order = match (a, b) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Less,
                (Some(_), None) => Ordering::Greater,
                // Both were decoded as the same type, which has an order.
                (Some(a), Some(b)) => a.compare(b).unwrap_or(Ordering::Equal),
            };
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    }
}

/// Files whose key ranges hang together: no file outside of it has a key of its range.
///
/// Files are named by their place in the list that [`sections`] was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Sorted runs: the key ranges of the files of a run do not overlap, and they ascend. Runs are as few as possible. Which run
    /// comes first says nothing about which rows are newer; the order is the one that Java puts the files of a split in.
    pub runs: Vec<Vec<usize>>,
}

impl Section {
    /// Places of all files, run by run.
    pub fn files(&self) -> impl Iterator<Item = usize> {
        self.runs.iter().flatten().copied()
    }

    /// True when no key can be in two files: there is nothing to merge.
    pub fn is_one_run(&self) -> bool {
        self.runs.len() <= 1
    }
}

/// A file in the making of sections.
struct Ranged {
    place: usize,
    min: Key,
    max: Key,
}

/// Cuts files of one bucket into sections in ascending order of keys, every section into sorted runs.
///
/// Exactly Java's `IntervalPartition`: files are sorted by first and then by last key (equal ones keep their order), a section ends
/// where a file begins behind all keys so far, and within a section a file goes to the run that ends first if it begins behind that,
/// else to a run of its own.
///
/// # Errors
/// As [`KeyOrder::bounds`].
pub fn sections(files: &[DataFileMeta], order: &KeyOrder) -> Result<Vec<Section>> {
    let mut sorted = Vec::with_capacity(files.len());
    for (place, file) in files.iter().enumerate() {
        let (min, max) = order.bounds(file)?;
        sorted.push(Ranged { place, min, max });
    }
    sorted.sort_by(|a, b| {
        order
            .compare(&a.min, &b.min)
            .then_with(|| order.compare(&a.max, &b.max))
    });
    let mut found = Vec::new();
    let mut rest = sorted.as_slice();
    while let Some((first, others)) = rest.split_first() {
        let mut end = &first.max;
        let mut len = 1;
        for file in others {
            if order.compare(&file.min, end).is_gt() {
                break;
            }
            if order.compare(&file.max, end).is_gt() {
                end = &file.max;
            }
            len += 1;
        }
        let (section, behind) = rest.split_at(len);
        found.push(Section {
            runs: sorted_runs(section, order),
        });
        rest = behind;
    }
    Ok(found)
}

/// The runs of one section; `files` ascend by their first key.
fn sorted_runs(files: &[Ranged], order: &KeyOrder) -> Vec<Vec<usize>> {
    let mut heap = RunHeap {
        order,
        runs: Vec::new(),
    };
    for file in files {
        match heap.pop() {
            None => heap.push(vec![file]),
            Some(mut run) => {
                if run
                    .last()
                    .is_none_or(|last| order.compare(&file.min, &last.max).is_gt())
                {
                    run.push(file);
                } else {
                    heap.push(vec![file]);
                }
                heap.push(run);
            }
        }
    }
    heap.runs
        .into_iter()
        .map(|run| run.into_iter().map(|file| file.place).collect())
        .collect()
}

/// Runs by their last key, the smallest on top. The order of the others is part of the plan (files of a split follow it), so this
/// heap sifts as `java.util.PriorityQueue` does.
struct RunHeap<'a> {
    order: &'a KeyOrder,
    runs: Vec<Vec<&'a Ranged>>,
}

impl<'a> RunHeap<'a> {
    fn is_less(&self, a: usize, b: usize) -> bool {
        let last = |place: usize| self.runs.get(place).and_then(|run| run.last());
        match (last(a), last(b)) {
            (Some(a), Some(b)) => self.order.compare(&a.max, &b.max).is_lt(),
            _ => false,
        }
    }

    fn push(&mut self, run: Vec<&'a Ranged>) {
        let mut place = self.runs.len();
        self.runs.push(run);
        while place > 0 {
            let parent = (place - 1) / 2;
            if !self.is_less(place, parent) {
                break;
            }
            self.runs.swap(place, parent);
            place = parent;
        }
    }

    fn pop(&mut self) -> Option<Vec<&'a Ranged>> {
        if self.runs.is_empty() {
            return None;
        }
        // The last one takes the place of the first and sinks below smaller ones.
        let top = self.runs.swap_remove(0);
        let len = self.runs.len();
        let mut place = 0;
        while place < len / 2 {
            let left = 2 * place + 1;
            let right = left + 1;
            let child = if right < len && self.is_less(right, left) {
                right
            } else {
                left
            };
            if !self.is_less(child, place) {
                break;
            }
            self.runs.swap(place, child);
            place = child;
        }
        Some(top)
    }
}

#[cfg(test)]
mod tests;
