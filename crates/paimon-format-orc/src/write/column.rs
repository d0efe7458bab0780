// SPDX-License-Identifier: Apache-2.0

//! The writer of a column and of the columns below it.

use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use paimon_types::{Error, Result};

use super::bloom::Bloom;
use super::byte_rle::BitRle;
use super::codec::Compressor;
use super::options::ColumnSettings;
use super::proto::Message;
use super::statistics::{Scope, Statistics};
use super::stripe::{Encoding, Parts, Section, StreamKind};
use super::types::{Kind, Node};
use super::values::ValueWriter;

/// Writes one column. Calls come in this order, for each stripe: for each of its row groups [`Column::start_group`],
/// [`Column::write`] as often as wanted, [`Column::end_group`]; then [`Column::finish`].
#[derive(Debug)]
pub(super) struct Column {
    id: u32,
    nullable: bool,
    present: BitRle,
    /// Statistics of the open row group, of the open stripe and of the stripes before.
    group: Statistics,
    stripe: Statistics,
    file: Statistics,
    /// False when no row index is written.
    indexed: bool,
    groups: Vec<Group>,
    /// Where each row group starts in the streams of the values.
    positions: Vec<Vec<u64>>,
    bloom: Option<Bloom>,
    values: ValueWriter,
}

/// A row group of the open stripe.
#[derive(Debug)]
struct Group {
    /// Where it starts in the PRESENT stream.
    present: Vec<u64>,
    statistics: Message,
}

impl Column {
    pub(super) fn new(node: &Node, settings: &ColumnSettings) -> Self {
        let statistics = Statistics::of(node.kind, settings.legacy_ltz);
        let can_bloom = !matches!(node.kind, Kind::Boolean | Kind::Struct | Kind::Map | Kind::List);
        Column {
            id: node.id,
            nullable: node.nullable,
            present: BitRle::new(settings.streams.stream()),
            group: statistics.clone(),
            stripe: statistics.clone(),
            file: statistics,
            indexed: settings.row_index_stride.is_some(),
            groups: Vec::new(),
            positions: Vec::new(),
            bloom: settings
                .row_index_stride
                .filter(|_| can_bloom && settings.bloom_columns.contains(&node.id))
                .map(|stride| Bloom::new(stride, settings.bloom_fpp)),
            values: ValueWriter::new(node, settings),
        }
    }

    /// Starts a row group.
    pub(super) fn start_group(&mut self) {
        let mut present = Vec::new();
        self.present.position(&mut present);
        self.groups.push(Group {
            present,
            statistics: Message::new(),
        });
        let mut positions = Vec::new();
        self.values.start_group(&mut positions);
        self.positions.push(positions);
    }

    /// Appends the rows of `array`, whose type [`Node::check`] accepted.
    ///
    /// # Errors
    /// `InvalidInput` for a null in a NOT NULL column and for values that the type does not have.
    pub(super) fn write(&mut self, array: &ArrayRef, compressor: &mut Compressor) -> Result<()> {
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
        let null_count = nulls.map_or(0, NullBuffer::null_count);
        if null_count > 0 && !self.nullable {
            return Err(Error::invalid("null in a NOT NULL column"));
        }
        match nulls {
            Some(nulls) => {
                self.group.has_null = true;
                self.present.write(nulls.inner());
            }
            None => self.present.ones(array.len()),
        }
        self.present.drain(compressor)?;
        self.group.count += (array.len() - null_count) as u64;
        if null_count < array.len() {
            self.values.write(
                array,
                nulls,
                &mut self.group.values,
                self.bloom.as_mut(),
                &mut self.positions,
                compressor,
            )?;
        }
        Ok(())
    }

    /// Ends the row group.
    pub(super) fn end_group(&mut self, compressor: &mut Compressor) -> Result<()> {
        if let Some(group) = self.groups.last_mut() {
            group.statistics = self.group.encode(Scope::Part);
        }
        self.stripe.merge(&self.group);
        self.group = self.group.empty();
        if let Some(bloom) = &mut self.bloom {
            bloom.end_group();
        }
        self.values.end_group(&mut self.positions, compressor)
    }

    /// Ends the stripe and hands out what it has of this column and of those below it.
    pub(super) fn finish(&mut self, compressor: &mut Compressor, parts: &mut Parts) -> Result<()> {
        let mut streams = Vec::new();
        let present = self.present.finish(compressor)?;
        let has_present = self.stripe.has_null;
        if has_present {
            streams.push((StreamKind::Present, present));
        }
        let encoding = self
            .values
            .finish(&mut self.positions, compressor, &mut streams)?;
        if self.indexed {
            let index = self.index(has_present);
            parts
                .indexes
                .push(self.section(StreamKind::RowIndex, index, compressor)?);
        }
        if let Some(filters) = self.bloom.as_mut().map(Bloom::take) {
            parts
                .indexes
                .push(self.section(StreamKind::BloomFilterUtf8, filters, compressor)?);
        }
        self.groups.clear();
        self.positions.clear();
        parts.encodings.push(encoding.encode(self.bloom.is_some()));
        streams.sort_by_key(|(kind, _)| *kind);
        self.stripe.bytes_on_disk = streams.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        parts
            .data
            .extend(streams.into_iter().map(|(kind, bytes)| Section {
                column: self.id,
                kind,
                bytes,
            }));
        parts.statistics.push(self.stripe.encode(Scope::Part));
        self.file.merge(&self.stripe);
        self.stripe = self.stripe.empty();
        for child in self.values.children_mut() {
            child.finish(compressor, parts)?;
        }
        Ok(())
    }

    /// `RowIndex` of the stripe.
    fn index(&self, has_present: bool) -> Vec<u8> {
        let mut index = Message::new();
        for (group, positions) in self.groups.iter().zip(&self.positions) {
            let mut all = Vec::with_capacity(group.present.len() + positions.len());
            if has_present {
                all.extend_from_slice(&group.present);
            }
            all.extend_from_slice(positions);
            let mut entry = Message::new();
            entry.packed(1, &all).message(2, &group.statistics);
            index.message(1, &entry);
        }
        index.into_bytes()
    }

    fn section(&self, kind: StreamKind, bytes: Vec<u8>, compressor: &mut Compressor) -> Result<Section> {
        let chunk = self.values.streams().chunk;
        Ok(Section {
            column: self.id,
            kind,
            bytes: super::stripe::compress_bytes(bytes, chunk, compressor)?,
        })
    }

    /// `ColumnStatistics` over the stripes that were finished, of this column and of those below it.
    pub(super) fn file_statistics(&self, to: &mut Vec<Message>) {
        to.push(self.file.encode(Scope::File));
        for child in self.values.children() {
            child.file_statistics(to);
        }
    }

    /// About the bytes that the open stripe will have of this column in the file.
    pub(super) fn encoded_bytes(&self) -> usize {
        let children = self.values.children().iter().map(Column::encoded_bytes);
        self.values.encoded_bytes() + self.present.encoded_bytes() + children.sum::<usize>()
    }

    /// Memory that is held for the open stripe.
    pub(super) fn memory_bytes(&self) -> usize {
        let children = self.values.children().iter().map(Column::memory_bytes);
        self.values.memory_bytes()
            + self.present.memory_bytes()
            + self.bloom.as_ref().map_or(0, Bloom::memory_bytes)
            + children.sum::<usize>()
    }
}

/// The parts of the root, which has rows but no streams.
#[derive(Debug)]
pub(super) struct Root {
    group: Statistics,
    rows: u64,
    groups: Vec<Message>,
    indexed: bool,
}

impl Root {
    pub(super) fn new(indexed: bool) -> Self {
        Root {
            group: Statistics::of(Kind::Struct, true),
            rows: 0,
            groups: Vec::new(),
            indexed,
        }
    }

    pub(super) fn write(&mut self, rows: usize) {
        self.group.count += rows as u64;
    }

    pub(super) fn end_group(&mut self) {
        self.groups.push(self.group.encode(Scope::Part));
        self.rows += self.group.count;
        self.group = self.group.empty();
    }

    /// Ends the stripe; the parts of the root come before those of all columns.
    pub(super) fn finish(&mut self, chunk: Option<usize>, compressor: &mut Compressor) -> Result<Parts> {
        let mut parts = Parts::default();
        if self.indexed {
            let mut index = Message::new();
            for statistics in &self.groups {
                let mut entry = Message::new();
                entry.message(2, statistics);
                index.message(1, &entry);
            }
            parts.indexes.push(Section {
                column: 0,
                kind: StreamKind::RowIndex,
                bytes: super::stripe::compressed(index, chunk, compressor)?,
            });
        }
        self.groups.clear();
        parts.encodings.push(Encoding::Direct.encode(false));
        parts.statistics.push(Self::statistics(self.rows));
        self.rows = 0;
        Ok(parts)
    }

    /// `ColumnStatistics` of a root with `rows` rows.
    pub(super) fn statistics(rows: u64) -> Message {
        let mut statistics = Statistics::of(Kind::Struct, true);
        statistics.count = rows;
        statistics.encode(Scope::File)
    }
}
