// SPDX-License-Identifier: Apache-2.0

//! Streams of strings and binary values: their bytes one after the other, or numbers of a dictionary.

use paimon_types::Result;

use super::codec::Compressor;
use super::dictionary::Dictionary;
use super::int_rle::IntRle;
use super::stream::Stream;
use super::stripe::{Encoding, StreamKind};

/// Makes the streams of a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct StreamSettings {
    /// Bytes of a chunk before compression, `None` when nothing is compressed.
    pub(super) chunk: Option<usize>,
    /// See [`IntRle`].
    pub(super) aligned: bool,
}

impl StreamSettings {
    pub(super) fn stream(self) -> Stream {
        Stream::new(self.chunk)
    }

    pub(super) fn integers(self, signed: bool) -> IntRle {
        IntRle::new(self.stream(), signed, self.aligned)
    }
}

/// When a string column has a dictionary.
#[derive(Clone, Copy, Debug)]
pub(super) struct DictionaryRule {
    /// Most distinct values for each value; 0 for no dictionary at all.
    pub(super) threshold: f64,
    /// Whether the rule is looked at after each row group, not only when the stripe ends.
    pub(super) early: bool,
}

/// Values of a string or binary column.
#[derive(Debug)]
pub(super) struct Strings {
    settings: StreamSettings,
    rule: DictionaryRule,
    data: Stream,
    lengths: IntRle,
    /// What the stripe holds while a dictionary may become of it; `None` when bytes are written as they come, which stays so
    /// for the rest of the file.
    collected: Option<Collected>,
    scratch: Vec<i64>,
}

#[derive(Debug, Default)]
struct Collected {
    dictionary: Dictionary,
    ids: Vec<u32>,
    /// Number of `ids` where each row group starts.
    starts: Vec<usize>,
}

impl Strings {
    /// With `rule` a dictionary may be used.
    pub(super) fn new(settings: StreamSettings, rule: Option<DictionaryRule>) -> Self {
        let rule = rule.filter(|rule| rule.threshold > 0.0);
        Strings {
            settings,
            rule: rule.unwrap_or(DictionaryRule {
                threshold: 0.0,
                early: false,
            }),
            data: settings.stream(),
            lengths: settings.integers(false),
            collected: rule.map(|_| Collected::default()),
            scratch: Vec::new(),
        }
    }

    /// Appends values one by one. `positions` are those of the row groups so far, which are filled in when the dictionary is
    /// given up.
    pub(super) fn write<'a>(
        &mut self,
        values: impl Iterator<Item = &'a [u8]>,
        positions: &mut [Vec<u64>],
        compressor: &mut Compressor,
    ) -> Result<()> {
        let mut values = values;
        if let Some(collected) = &mut self.collected {
            let mut refused = None;
            for value in &mut values {
                match collected.dictionary.insert(value) {
                    Some(id) => collected.ids.push(id),
                    None => {
                        refused = Some(value);
                        break;
                    }
                }
            }
            let Some(value) = refused else { return Ok(()) };
            self.give_up(positions, compressor)?;
            self.data.buffer().extend_from_slice(value);
            self.lengths.write(&[value.len() as i64]);
        }
        let out = self.data.buffer();
        self.scratch.clear();
        for value in values {
            out.extend_from_slice(value);
            self.scratch.push(value.len() as i64);
        }
        self.lengths.write(&self.scratch);
        Ok(())
    }

    /// Appends values whose bytes are `bytes`; only while there is no dictionary ([`Strings::is_direct`]).
    pub(super) fn write_all(&mut self, bytes: &[u8], lengths: impl Iterator<Item = i64>) {
        self.data.buffer().extend_from_slice(bytes);
        self.scratch.clear();
        self.scratch.extend(lengths);
        self.lengths.write(&self.scratch);
    }

    /// True when bytes are written as they come.
    pub(super) fn is_direct(&self) -> bool {
        self.collected.is_none()
    }

    pub(super) fn drain(&mut self, compressor: &mut Compressor) -> Result<()> {
        self.data.drain(compressor)?;
        self.lengths.drain(compressor)
    }

    /// Notes the start of a row group. Nothing is put into `to` while it cannot be known.
    pub(super) fn start_group(&mut self, to: &mut Vec<u64>) {
        match &mut self.collected {
            Some(collected) => collected.starts.push(collected.ids.len()),
            None => {
                self.data.position(to);
                self.lengths.position(to);
            }
        }
    }

    /// Gives the dictionary up when it has too many values.
    pub(super) fn end_group(
        &mut self,
        positions: &mut [Vec<u64>],
        compressor: &mut Compressor,
    ) -> Result<()> {
        if self.rule.early && self.too_many() {
            self.give_up(positions, compressor)?;
        }
        Ok(())
    }

    fn too_many(&self) -> bool {
        self.collected.as_ref().is_some_and(|collected| {
            collected.dictionary.len() as f64 > self.rule.threshold * collected.ids.len() as f64
        })
    }

    /// Writes what was collected as it came.
    fn give_up(&mut self, positions: &mut [Vec<u64>], compressor: &mut Compressor) -> Result<()> {
        let Some(collected) = self.collected.take() else {
            return Ok(());
        };
        let mut ids = collected.ids.as_slice();
        let mut starts = collected.starts.iter().zip(positions).peekable();
        let mut written = 0;
        loop {
            while let Some((_, position)) = starts.next_if(|(start, _)| **start == written) {
                self.drain(compressor)?;
                self.data.position(position);
                self.lengths.position(position);
            }
            let until = starts.peek().map_or(collected.ids.len(), |(start, _)| **start);
            let (group, rest) = ids.split_at(until.saturating_sub(written).min(ids.len()));
            ids = rest;
            if group.is_empty() {
                break;
            }
            written += group.len();
            // Step by step, so that no large copy of the values comes up.
            for step in group.chunks(4096) {
                let out = self.data.buffer();
                self.scratch.clear();
                for id in step {
                    let value = collected.dictionary.get(*id);
                    out.extend_from_slice(value);
                    self.scratch.push(value.len() as i64);
                }
                self.lengths.write(&self.scratch);
                self.drain(compressor)?;
            }
        }
        Ok(())
    }

    /// Ends the stripe: hands the streams out and tells the encoding.
    pub(super) fn finish(
        &mut self,
        positions: &mut [Vec<u64>],
        compressor: &mut Compressor,
        streams: &mut Vec<(StreamKind, Vec<u8>)>,
    ) -> Result<Encoding> {
        if self.too_many() {
            self.give_up(positions, compressor)?;
        }
        let Some(collected) = &mut self.collected else {
            streams.push((StreamKind::Data, self.data.finish(compressor)?));
            streams.push((StreamKind::Length, self.lengths.finish(compressor)?));
            return Ok(Encoding::DirectV2);
        };
        let dictionary = &collected.dictionary;
        let order = dictionary.sorted();
        let mut places = vec![0i64; order.len()];
        let mut contents = self.settings.stream();
        self.scratch.clear();
        for (place, id) in (0..).zip(&order) {
            if let Some(slot) = places.get_mut(*id as usize) {
                *slot = place;
            }
            let value = dictionary.get(*id);
            contents.buffer().extend_from_slice(value);
            contents.drain(compressor)?;
            self.scratch.push(value.len() as i64);
        }
        let mut lengths = self.settings.integers(false);
        lengths.write(&self.scratch);
        let mut numbers = self.settings.integers(false);
        let mut starts = collected.starts.iter().zip(positions).peekable();
        let mut ids = collected.ids.as_slice();
        let mut written = 0;
        loop {
            while let Some((_, position)) = starts.next_if(|(start, _)| **start == written) {
                numbers.drain(compressor)?;
                numbers.position(position);
            }
            let until = starts.peek().map_or(collected.ids.len(), |(start, _)| **start);
            let (group, rest) = ids.split_at(until.saturating_sub(written).min(ids.len()));
            ids = rest;
            if group.is_empty() {
                break;
            }
            written += group.len();
            for step in group.chunks(4096) {
                self.scratch.clear();
                let place = |id: &u32| places.get(*id as usize).copied().unwrap_or(0);
                self.scratch.extend(step.iter().map(place));
                numbers.write(&self.scratch);
                numbers.drain(compressor)?;
            }
        }
        streams.push((StreamKind::Data, numbers.finish(compressor)?));
        streams.push((StreamKind::Length, lengths.finish(compressor)?));
        streams.push((StreamKind::DictionaryData, contents.finish(compressor)?));
        let size = collected.dictionary.len() as u64;
        collected.dictionary.clear();
        collected.ids.clear();
        collected.starts.clear();
        Ok(Encoding::DictionaryV2(size))
    }

    /// About the bytes that the open stripe will have in the file.
    pub(super) fn encoded_bytes(&self) -> usize {
        let collected = self.collected.as_ref().map_or(0, |collected| {
            let width = usize::BITS - collected.dictionary.len().leading_zeros();
            collected.dictionary.bytes() + collected.ids.len() * width as usize / 8
        });
        collected + self.data.encoded_bytes() + self.lengths.encoded_bytes()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let collected = self.collected.as_ref().map_or(0, |collected| {
            collected.dictionary.memory_bytes()
                + 4 * collected.ids.capacity()
                + 8 * collected.starts.capacity()
        });
        collected + self.data.memory_bytes() + self.lengths.memory_bytes() + 8 * self.scratch.capacity()
    }
}
