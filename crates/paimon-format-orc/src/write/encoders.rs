// SPDX-License-Identifier: Apache-2.0

//! The columns of a file, shared out to threads.

use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use paimon_types::{Error, Result};

use super::codec::{Codec, Compressor};
use super::column::{Column, Root};
use super::options::ColumnSettings;
use super::proto::Message;
use super::stripe::Parts;
use super::types::Node;
use paimon_format::blocking::{Task, parallelism, spawn};

/// What all columns do, one after the other.
#[derive(Clone, Debug)]
pub(super) enum Operation {
    StartGroup,
    Rows(RecordBatch),
    EndGroup,
}

/// A top-level column.
#[derive(Debug)]
struct Slot {
    index: usize,
    name: Arc<str>,
    column: Column,
}

impl Slot {
    fn run(&mut self, operations: &[Operation], compressor: &mut Compressor) -> Result<()> {
        for operation in operations {
            match operation {
                Operation::StartGroup => self.column.start_group(),
                Operation::EndGroup => self.column.end_group(compressor)?,
                Operation::Rows(batch) => {
                    let array = batch
                        .columns()
                        .get(self.index)
                        .ok_or_else(|| Error::invalid("batch has too few columns"))?;
                    self.column.write(array, compressor)?;
                }
            }
        }
        Ok(())
    }
}

type Work = Task<(Vec<Slot>, Compressor)>;

/// The writers of all columns.
pub(super) struct Encoders {
    root: Root,
    codec: Codec,
    chunk: Option<usize>,
    /// `None` while threads have them, and after an error.
    slots: Option<Vec<Slot>>,
    /// Those that no thread has.
    compressors: Vec<Compressor>,
    running: Vec<Work>,
}

impl Encoders {
    pub(super) fn new(root: &Node, settings: &ColumnSettings, codec: Codec) -> Self {
        let slots = root.children.iter().enumerate().map(|(index, node)| Slot {
            index,
            name: node.name.as_str().into(),
            column: Column::new(node, settings),
        });
        Encoders {
            root: Root::new(settings.row_index_stride.is_some()),
            codec,
            chunk: settings.streams.chunk,
            slots: Some(slots.collect()),
            compressors: Vec::new(),
            running: Vec::new(),
        }
    }

    fn take_slots(&mut self) -> Result<Vec<Slot>> {
        self.slots
            .take()
            .ok_or_else(|| Error::invalid("orc columns are at work or failed before"))
    }

    fn compressor(&mut self) -> Result<Compressor> {
        match self.compressors.pop() {
            Some(compressor) => Ok(compressor),
            None => Compressor::new(self.codec),
        }
    }

    /// Lets threads do `operations`; [`Encoders::join`] waits for them.
    pub(super) fn start(&mut self, operations: Vec<Operation>) -> Result<()> {
        let slots = self.take_slots()?;
        for operation in &operations {
            match operation {
                Operation::StartGroup => {}
                Operation::Rows(batch) => self.root.write(batch.num_rows()),
                Operation::EndGroup => self.root.end_group(),
            }
        }
        let operations = Arc::new(operations);
        for mut group in balance(slots, &operations) {
            let operations = operations.clone();
            let mut compressor = self.compressor()?;
            self.running.push(spawn("writing", move || {
                for slot in &mut group {
                    slot.run(&operations, &mut compressor)
                        .map_err(|e| e.with("column", &slot.name))?;
                }
                Ok((group, compressor))
            }));
        }
        Ok(())
    }

    /// Waits for the threads; false when there were none.
    pub(super) async fn join(&mut self) -> Result<bool> {
        if self.running.is_empty() {
            return Ok(false);
        }
        let mut slots = Vec::new();
        let mut failed = None;
        for task in std::mem::take(&mut self.running) {
            match task.await {
                Ok((group, compressor)) => {
                    slots.extend(group);
                    self.compressors.push(compressor);
                }
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        slots.sort_by_key(|slot| slot.index);
        self.slots = Some(slots);
        Ok(true)
    }

    /// Ends the stripe, and its row group when `ends_group` says so. Threads must not be at work.
    pub(super) async fn finish(&mut self, ends_group: bool) -> Result<Parts> {
        let slots = self.take_slots()?;
        if ends_group {
            self.root.end_group();
        }
        let mut tasks = Vec::new();
        for mut group in balance(slots, &[]) {
            let mut compressor = self.compressor()?;
            tasks.push(spawn("writing", move || {
                let mut all = Vec::with_capacity(group.len());
                for slot in &mut group {
                    let mut parts = Parts::default();
                    if ends_group {
                        slot.column.end_group(&mut compressor)?;
                    }
                    slot.column
                        .finish(&mut compressor, &mut parts)
                        .map_err(|e| e.with("column", &slot.name))?;
                    all.push((slot.index, parts));
                }
                Ok((group, all, compressor))
            }));
        }
        let (mut slots, mut parts) = (Vec::new(), Vec::new());
        for task in tasks {
            let (group, of_group, compressor) = task.await?;
            slots.extend(group);
            parts.extend(of_group);
            self.compressors.push(compressor);
        }
        slots.sort_by_key(|slot| slot.index);
        self.slots = Some(slots);
        parts.sort_by_key(|(index, _)| *index);
        let mut compressor = self.compressor()?;
        let mut all = self.root.finish(self.chunk, &mut compressor)?;
        self.compressors.push(compressor);
        for (_, of_column) in parts {
            all.append(of_column);
        }
        Ok(all)
    }

    /// `ColumnStatistics` of each column of a file with `rows` rows.
    pub(super) fn file_statistics(&self, rows: u64) -> Vec<Message> {
        let mut all = vec![Root::statistics(rows)];
        for slot in self.slots.iter().flatten() {
            slot.column.file_statistics(&mut all);
        }
        all
    }

    /// About the bytes of the open stripe in the file.
    pub(super) fn encoded_bytes(&self) -> usize {
        let slots = self.slots.iter().flatten();
        slots.map(|slot| slot.column.encoded_bytes()).sum()
    }

    /// Memory that is held for the open stripe.
    pub(super) fn memory_bytes(&self) -> usize {
        let slots = self.slots.iter().flatten();
        slots.map(|slot| slot.column.memory_bytes()).sum()
    }
}

/// Splits columns into groups of about the same work for the threads that there are.
fn balance(slots: Vec<Slot>, operations: &[Operation]) -> Vec<Vec<Slot>> {
    let batch = operations.iter().find_map(|operation| match operation {
        Operation::Rows(batch) => Some(batch),
        _ => None,
    });
    let weigh = |slot: &Slot| match batch.and_then(|batch| batch.columns().get(slot.index)) {
        Some(array) => array.to_data().get_slice_memory_size().unwrap_or(0),
        None => slot.column.encoded_bytes(),
    };
    let count = parallelism().min(slots.len()).max(1);
    let mut weighed: Vec<_> = slots.into_iter().map(|slot| (weigh(&slot), slot)).collect();
    weighed.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    let mut groups: Vec<(usize, Vec<Slot>)> = (0..count).map(|_| (0, Vec::new())).collect();
    for (weight, slot) in weighed {
        if let Some(lightest) = groups.iter_mut().min_by_key(|(sum, _)| *sum) {
            // A column costs something even when it is empty.
            lightest.0 += weight + 1024;
            lightest.1.push(slot);
        }
    }
    groups
        .into_iter()
        .map(|(_, group)| group)
        .filter(|group| !group.is_empty())
        .collect()
}
