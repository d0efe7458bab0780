// SPDX-License-Identifier: Apache-2.0

//! Reading the records of a batch.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::DataType as ArrowType;
use bytes::Bytes;
use paimon_format::{MemoryPool, MemoryReservation};
use paimon_storage::InputFile;
use paimon_types::{Error, Result};

use super::column::{ColumnBuilder, Source};
use super::payload;
use crate::error::{read_error, row_error};
use crate::layout::{ArrayLayout, BlobEntry, MapLayout, RECORD_HEAD, RecordCheck, check_frame, check_record};
use crate::schema::Shape;

/// Bytes that are asked for at once; larger records come in pieces of this size.
const PIECE: u64 = 8 << 20;
/// Records up to this size are read whole, and so checked, where only the places of their elements are wanted.
pub(super) const WHOLE: u64 = 64 << 10;
/// Bytes of the ends of a larger record that are read then.
const END: u64 = 4 << 10;
/// Bytes behind a payload.
const TAIL: u64 = 12;

/// How a column is read.
pub(super) struct Fetch<'a> {
    pub(super) file: &'a Arc<dyn InputFile>,
    pub(super) pool: &'a Arc<dyn MemoryPool>,
    pub(super) shape: Shape,
    /// Rows without value become empty instead of null.
    pub(super) empty_for_null: bool,
    pub(super) as_descriptor: bool,
}

/// A column and the bytes that were read for it.
pub(super) struct Fetched {
    pub(super) column: ArrayRef,
    pub(super) bytes: u64,
}

impl Fetch<'_> {
    fn path(&self) -> &str {
        self.file.path()
    }

    /// The column of `entries`, each with its row in the file.
    pub(super) async fn column(&self, entries: &[(u64, BlobEntry)], arrow: &ArrowType) -> Result<Fetched> {
        let data = self.reserved(entries)?;
        let mut held = MemoryReservation::new(self.pool.clone());
        held.try_grow(data)?;
        let builder = ColumnBuilder::new(self.shape, entries.len(), data)?;
        let mut work = Work {
            held,
            builder,
            bytes: 0,
        };
        let (mut pending, mut pending_bytes) = (0..0, 0u64);
        for (at, (row, entry)) in entries.iter().enumerate() {
            let length = match entry {
                BlobEntry::Record(range) => range.end - range.start,
                BlobEntry::Null | BlobEntry::Placeholder => 0,
            };
            if self.is_piecewise(length) {
                self.flush(entries, &pending, &mut work).await?;
                if let BlobEntry::Record(range) = entry {
                    self.read_large(*row, range, &mut work).await?;
                }
                (pending, pending_bytes) = (at + 1..at + 1, 0);
                continue;
            }
            pending.end = at + 1;
            pending_bytes = pending_bytes.saturating_add(length);
            if pending_bytes >= PIECE {
                self.flush(entries, &pending, &mut work).await?;
                (pending, pending_bytes) = (at + 1..at + 1, 0);
            }
        }
        self.flush(entries, &pending, &mut work).await?;
        let column = work
            .builder
            .finish(arrow)
            .map_err(|e| read_error(self.path(), e))?;
        Ok(Fetched {
            column,
            bytes: work.bytes,
        })
    }

    /// Bytes of the records that are copied into the column.
    fn reserved(&self, entries: &[(u64, BlobEntry)]) -> Result<usize> {
        if self.as_descriptor {
            return Ok(match self.shape {
                Shape::Scalar => Source::descriptor_bytes(self.path(), entries.len()),
                Shape::Array | Shape::Map(_) => 0,
            });
        }
        let bytes = entries.iter().fold(0u64, |sum, (_, entry)| match entry {
            BlobEntry::Record(range) => {
                let payload = payload(range);
                sum.saturating_add(payload.end.saturating_sub(payload.start))
            }
            BlobEntry::Null | BlobEntry::Placeholder => sum,
        });
        usize::try_from(bytes).map_err(|_| Error::resources(format!("{bytes} bytes of blobs do not fit")))
    }

    /// True when a record is not read together with others.
    fn is_piecewise(&self, length: u64) -> bool {
        match (self.as_descriptor, self.shape) {
            (false, _) => length > PIECE,
            (true, Shape::Scalar) => false,
            (true, _) => length > WHOLE,
        }
    }

    /// Reads and appends the rows `part` of `entries`.
    async fn flush(&self, entries: &[(u64, BlobEntry)], part: &Range<usize>, work: &mut Work) -> Result<()> {
        let entries = entries.get(part.clone()).unwrap_or_default();
        let places_only = self.as_descriptor && self.shape == Shape::Scalar;
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for (_, entry) in entries {
            match (entry, ranges.last_mut()) {
                (BlobEntry::Record(_), _) if places_only => {}
                (BlobEntry::Record(range), Some(last)) if last.end == range.start => last.end = range.end,
                (BlobEntry::Record(range), _) => ranges.push(range.clone()),
                _ => {}
            }
        }
        let total = ranges
            .iter()
            .fold(0u64, |sum, range| sum.saturating_add(range.end - range.start));
        let mut held = MemoryReservation::new(self.pool.clone());
        held.try_grow(usize::try_from(total).unwrap_or(usize::MAX))?;
        work.bytes = work.bytes.saturating_add(total);
        let pieces = match ranges.as_slice() {
            [] => Vec::new(),
            [range] => vec![self.file.read_range(range.clone()).await?],
            _ => self.file.read_ranges(&ranges).await?,
        };
        let mut pieces = Pieces {
            ranges,
            pieces,
            at: 0,
        };
        for (row, entry) in entries {
            let appended = match entry {
                BlobEntry::Record(range) if places_only => {
                    let payload = payload(range);
                    let source = self.source(&payload);
                    work.builder
                        .append(&[], &[], payload.end.saturating_sub(payload.start), source)
                }
                BlobEntry::Record(range) => pieces
                    .get(range)
                    .and_then(|record| self.append(&record, range, work)),
                BlobEntry::Null | BlobEntry::Placeholder if self.empty_for_null => {
                    work.builder.append_empty()
                }
                BlobEntry::Null | BlobEntry::Placeholder => work.builder.append_null(),
            };
            appended.map_err(|e| row_error(self.path(), *row, e))?;
        }
        Ok(())
    }

    fn source(&self, payload: &Range<u64>) -> Source<'_> {
        Source::File {
            path: self.path(),
            offset: payload.start,
        }
    }

    /// Appends a whole record.
    fn append(&self, record: &[u8], range: &Range<u64>, work: &mut Work) -> Result<()> {
        let bytes = check_record(record)?;
        let source = if self.as_descriptor {
            work.held.try_grow(self.descriptors(bytes, bytes)?)?;
            self.source(&payload(range))
        } else {
            Source::Payload(bytes)
        };
        work.builder.append(bytes, bytes, bytes.len() as u64, source)
    }

    /// Bytes of the descriptors of a payload's elements, of which `head` and `tail` tell the number.
    fn descriptors(&self, head: &[u8], tail: &[u8]) -> Result<usize> {
        let count = head
            .get(5..9)
            .and_then(<[u8]>::first_chunk)
            .map(|count| i32::from_le_bytes(*count));
        let count = usize::try_from(count.unwrap_or(0)).unwrap_or(0).min(tail.len());
        Ok(Source::descriptor_bytes(self.path(), count))
    }

    /// Appends a record that is too large to be read with others.
    async fn read_large(&self, row: u64, range: &Range<u64>, work: &mut Work) -> Result<()> {
        let damaged = |e| row_error(self.path(), row, e);
        let length = range.end - range.start;
        if self.as_descriptor {
            let (head, tail) = self.ends(row, range, work).await?;
            let payload = payload(range);
            let bytes = payload.end.saturating_sub(payload.start);
            work.held.try_grow(self.descriptors(&head, &tail)?)?;
            return work
                .builder
                .append(&head, &tail, bytes, self.source(&payload))
                .map_err(damaged);
        }
        let mut check = RecordCheck::new(length).map_err(damaged)?;
        // Elements are known when the end is; until then the payload is kept.
        let mut kept = Vec::new();
        let mut held = MemoryReservation::new(self.pool.clone());
        held.try_grow(PIECE as usize)?;
        if self.shape != Shape::Scalar {
            let bytes = usize::try_from(length).unwrap_or(usize::MAX);
            held.try_grow(bytes)?;
            kept.try_reserve_exact(bytes)
                .map_err(|_| damaged(Error::resources(format!("there is no memory for {bytes} bytes"))))?;
        }
        let mut at = range.start;
        while at < range.end {
            let end = at.saturating_add(PIECE).min(range.end);
            let piece = self.file.read_range(at..end).await?;
            work.bytes = work.bytes.saturating_add(piece.len() as u64);
            let part = check.update(&piece);
            match self.shape {
                Shape::Scalar => work.builder.extend_blob(part).map_err(damaged)?,
                Shape::Array | Shape::Map(_) => kept.extend_from_slice(part),
            }
            at = end;
        }
        check.finish().map_err(damaged)?;
        match self.shape {
            Shape::Scalar => work.builder.append_empty(),
            Shape::Array | Shape::Map(_) => {
                let length = kept.len() as u64;
                work.builder.append(&kept, &kept, length, Source::Payload(&kept))
            }
        }
        .map_err(damaged)
    }

    /// The head and tail of a payload that [`ColumnBuilder::append`] wants, without what lies between.
    async fn ends(&self, row: u64, range: &Range<u64>, work: &mut Work) -> Result<(Bytes, Bytes)> {
        let damaged = |e| row_error(self.path(), row, e);
        let payload = payload(range);
        let length = payload.end.saturating_sub(payload.start);
        let head = range.start..payload.start.saturating_add(END).min(payload.end);
        let tail = payload.end.saturating_sub(END).max(payload.start)..range.end;
        work.bytes = work
            .bytes
            .saturating_add(head.end - head.start + tail.end - tail.start);
        let ends = self.file.read_ranges(&[head, tail]).await?;
        let [head, tail] = ends.as_slice() else {
            return Err(damaged(Error::corrupt(format!(
                "{} ranges read, 2 expected",
                ends.len()
            ))));
        };
        check_frame(head, tail, range.end - range.start).map_err(damaged)?;
        let mut head = head.slice((RECORD_HEAD as usize).min(head.len())..);
        let mut tail = tail.slice(..tail.len().saturating_sub(TAIL as usize));
        let wanted = match self.shape {
            Shape::Map(_) => MapLayout::tail_bytes(&tail, length),
            Shape::Array | Shape::Scalar => ArrayLayout::tail_bytes(&tail, length),
        }
        .map_err(damaged)?;
        if wanted > tail.len() as u64 {
            tail = self
                .more(payload.end.saturating_sub(wanted)..payload.end, work)
                .await?;
        }
        if let Shape::Map(_) = self.shape {
            let keys = MapLayout::decode(&head, &tail, length)
                .map_err(damaged)?
                .keys
                .span();
            if keys.end > head.len() as u64 {
                head = self
                    .more(payload.start..payload.start.saturating_add(keys.end), work)
                    .await?;
            }
        }
        Ok((head, tail))
    }

    /// Reads a part of a record that may be large.
    async fn more(&self, range: Range<u64>, work: &mut Work) -> Result<Bytes> {
        let bytes = range.end.saturating_sub(range.start);
        work.held.try_grow(usize::try_from(bytes).unwrap_or(usize::MAX))?;
        work.bytes = work.bytes.saturating_add(bytes);
        self.file.read_range(range).await
    }
}

/// What a batch has so far.
struct Work {
    held: MemoryReservation,
    builder: ColumnBuilder,
    bytes: u64,
}

/// Ranges that were read, asked for in their order.
struct Pieces {
    ranges: Vec<Range<u64>>,
    pieces: Vec<Bytes>,
    at: usize,
}

impl Pieces {
    /// The bytes of a record within one of the ranges.
    fn get(&mut self, record: &Range<u64>) -> Result<Bytes> {
        while self
            .ranges
            .get(self.at)
            .is_some_and(|range| range.end <= record.start)
        {
            self.at += 1;
        }
        let found = self
            .ranges
            .get(self.at)
            .zip(self.pieces.get(self.at))
            .and_then(|(range, piece)| {
                let start = usize::try_from(record.start.checked_sub(range.start)?).ok()?;
                let end = start.checked_add(usize::try_from(record.end - record.start).ok()?)?;
                (end <= piece.len()).then(|| piece.slice(start..end))
            });
        found.ok_or_else(|| Error::corrupt("fewer bytes read than asked for"))
    }
}
