// SPDX-License-Identifier: Apache-2.0

//! A stripe in memory: of its streams only those of the columns that are read, of these only the row groups that are
//! read.

use std::collections::HashMap;
use std::ops::Range;

use bytes::Bytes;
use paimon_format::MemoryReservation;
use paimon_format::rows::{RowRanges, count, intersect, push, select};
use paimon_types::Result;

use super::decoder::Plan;
use super::index::{StreamPlace, places};
use super::projection::{Node, Shape};
use crate::decode::{ByteStream, Codec, StreamBytes, Zone, decompress_all};
use crate::error::damaged;
use crate::proto::{
    BloomFilter, ColumnEncoding, RowIndexEntry, Stream, StreamKind, StripeFooter, StripeInformation,
};

/// A stripe of at most this many bytes is read at once.
const SMALL_STRIPE: u64 = 512 << 10;

/// What is read of a stripe.
pub(crate) struct Stripe {
    /// Position of its first row.
    pub(crate) first_row: u64,
    pub(crate) rows: u64,
    /// Rows that are wanted, as positions in the stripe.
    pub(crate) wanted: RowRanges,
    codec: Option<Codec>,
    encodings: Vec<ColumnEncoding>,
    timezone: Option<String>,
    streams: HashMap<(u32, StreamKind), StreamBytes>,
    /// Row indexes of all columns that are read; empty when [`ColumnReader::seek`](super::column::ColumnReader::seek) is
    /// not possible.
    row_index: HashMap<u32, Vec<RowIndexEntry>>,
    _reservation: MemoryReservation,
}

impl Stripe {
    /// # Errors
    /// `Corrupt` when the stripe does not tell.
    pub(crate) fn encoding(&self, column: u32) -> Result<ColumnEncoding> {
        self.encodings.get(column as usize).copied().ok_or_else(|| {
            damaged(format!(
                "a stripe has encodings of {} columns, column {column} is missing",
                self.encodings.len()
            ))
        })
    }

    pub(crate) fn dictionary_size(&self, column: u32) -> usize {
        self.encodings
            .get(column as usize)
            .map_or(0, |encoding| encoding.dictionary_size as usize)
    }

    pub(crate) fn has_stream(&self, column: u32, kind: StreamKind) -> bool {
        self.streams.contains_key(&(column, kind))
    }

    /// A stream; a missing one is empty.
    pub(crate) fn stream(&self, column: u32, kind: StreamKind) -> ByteStream {
        let bytes = self.streams.get(&(column, kind)).cloned().unwrap_or_default();
        ByteStream::new(bytes, self.codec)
    }

    /// The zone of the writer.
    ///
    /// # Errors
    /// `Unsupported` when its name is not known.
    pub(crate) fn zone(&self) -> Result<Zone> {
        match self.timezone.as_deref() {
            None | Some("") => Ok(Zone::utc()),
            Some(name) => Zone::get(name),
        }
    }

    /// True when readers can go to the start of any row group.
    pub(crate) fn is_seekable(&self) -> bool {
        !self.row_index.is_empty()
    }

    /// Positions of the start of row group `group` of a column.
    ///
    /// # Errors
    /// `Corrupt` when there are none.
    pub(crate) fn positions(&self, column: u32, group: usize) -> Result<&[u64]> {
        self.row_index
            .get(&column)
            .and_then(|entries| entries.get(group))
            .map(|entry| entry.positions.as_slice())
            .ok_or_else(|| damaged(format!("row group {group} of column {column} has no positions")))
    }
}

/// A stream and where it lies in the file.
type Placed = (Stream, Range<u64>);

/// Loads stripe `index`; `None` when none of its rows is wanted.
///
/// # Errors
/// `Corrupt` when it is damaged, `ResourcesExhausted` from the pool, errors of the store.
pub(crate) async fn load(plan: &Plan, index: usize) -> Result<Option<Stripe>> {
    let tail = &plan.tail;
    let (Some(info), Some(first_row)) = (
        tail.footer.stripes.get(index),
        tail.first_rows.get(index).copied(),
    ) else {
        return Ok(None);
    };
    let rows = info.number_of_rows;
    let mut wanted = RowRanges::new();
    push(&mut wanted, 0..rows);
    if let Some(selection) = &plan.selection {
        let mut all = RowRanges::new();
        push(&mut all, first_row..first_row + rows);
        wanted = select(&all, selection);
        for range in &mut wanted {
            *range = range.start - first_row..range.end - first_row;
        }
    }
    if wanted.is_empty() {
        return Ok(None);
    }
    if let Some(pruner) = &plan.pruner {
        let statistics = tail.stripe_statistics(&plan.source).await?;
        if let Some(columns) = statistics.stripes.get(index)
            && statistics.stripes.len() == tail.footer.stripes.len()
            && !pruner.stripe(rows, columns)
        {
            return Ok(None);
        }
    }
    let mut stripe = Stripe {
        first_row,
        rows,
        wanted,
        codec: tail.codec,
        encodings: Vec::new(),
        timezone: None,
        streams: HashMap::new(),
        row_index: HashMap::new(),
        _reservation: MemoryReservation::new(plan.pool.clone()),
    };
    if plan.projection.columns.is_empty() && plan.pruner.is_none() {
        // Rows are only counted.
        return Ok(Some(stripe));
    }
    let window = Window::new(plan, info).await?;
    let footer_at = info.offset + info.index_length + info.data_length;
    let range = footer_at..footer_at + info.footer_length;
    let bytes = window.read(plan, std::slice::from_ref(&range)).await?;
    let bytes = decompress_all(tail.codec, &bytes.into_iter().next().unwrap_or_default())?;
    let footer = StripeFooter::decode(&bytes)?;
    let streams = place(info, &footer)?;
    stripe.encodings = footer.columns;
    stripe.timezone = footer.writer_timezone;
    narrow(plan, &window, &streams, &mut stripe).await?;
    if stripe.wanted.is_empty() {
        return Ok(None);
    }

    let mut kept: Vec<Placed> = streams
        .into_iter()
        .filter(|(stream, _)| {
            plan.projection.ids.binary_search(&stream.column).is_ok() && stream.kind.is_some_and(is_data)
        })
        .collect();
    let present: Vec<u32> = kept
        .iter()
        .filter(|(stream, _)| stream.kind == Some(StreamKind::Present))
        .map(|(stream, _)| stream.column)
        .collect();
    let starts: Vec<u64> = match cut_streams(plan, &stripe, &present, &mut kept) {
        Some(starts) => starts,
        None => vec![0; kept.len()],
    };
    let bytes: u64 = kept.iter().map(|(_, range)| range.end - range.start).sum();
    stripe
        ._reservation
        .try_grow(usize::try_from(bytes).unwrap_or(usize::MAX))?;
    let ranges: Vec<Range<u64>> = kept.iter().map(|(_, range)| range.clone()).collect();
    let read = window.read(plan, &ranges).await?;
    for (((stream, _), start), bytes) in kept.into_iter().zip(starts).zip(read) {
        if let Some(kind) = stream.kind {
            stripe
                .streams
                .insert((stream.column, kind), StreamBytes { bytes, start });
        }
    }
    plan.counters.add_bytes(bytes);
    Ok(Some(stripe))
}

fn is_data(kind: StreamKind) -> bool {
    !matches!(
        kind,
        StreamKind::RowIndex
            | StreamKind::BloomFilter
            | StreamKind::BloomFilterUtf8
            | StreamKind::DictionaryCount
    )
}

/// A small stripe as a whole, or nothing.
struct Window(Option<(u64, Bytes)>);

impl Window {
    async fn new(plan: &Plan, info: &StripeInformation) -> Result<Self> {
        let length = info.index_length + info.data_length + info.footer_length;
        if length > SMALL_STRIPE {
            return Ok(Window(None));
        }
        let range = info.offset..info.offset + length;
        let bytes = plan.source.read(std::slice::from_ref(&range)).await?;
        Ok(Window(bytes.into_iter().next().map(|bytes| (info.offset, bytes))))
    }

    async fn read(&self, plan: &Plan, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let Some((offset, bytes)) = &self.0 else {
            return plan.source.read(ranges).await;
        };
        ranges
            .iter()
            .map(|range| {
                let start = range
                    .start
                    .checked_sub(*offset)
                    .and_then(|n| usize::try_from(n).ok());
                let end = range
                    .end
                    .checked_sub(*offset)
                    .and_then(|n| usize::try_from(n).ok());
                match (start, end) {
                    (Some(start), Some(end)) if start <= end && end <= bytes.len() => {
                        Ok(bytes.slice(start..end))
                    }
                    _ => Err(damaged("a stream lies outside of its stripe")),
                }
            })
            .collect()
    }
}

/// The streams of a stripe, which follow each other from its start: first those of indexes.
fn place(info: &StripeInformation, footer: &StripeFooter) -> Result<Vec<Placed>> {
    let end = info.offset + info.index_length + info.data_length;
    let mut at = info.offset;
    let mut placed = Vec::with_capacity(footer.streams.len());
    for stream in &footer.streams {
        let next = at
            .checked_add(stream.length)
            .filter(|next| *next <= end)
            .ok_or_else(|| {
                damaged(format!(
                    "stream {:?} of column {} has {} bytes and reaches over the end of its stripe",
                    stream.kind, stream.column, stream.length
                ))
            })?;
        placed.push((*stream, at..next));
        at = next;
    }
    Ok(placed)
}

/// Reads row indexes and bloom filters where they help, and takes out row groups without matching rows.
async fn narrow(plan: &Plan, window: &Window, streams: &[Placed], stripe: &mut Stripe) -> Result<()> {
    let Some(stride) = plan.tail.stride() else {
        return Ok(());
    };
    let partial = count(&stripe.wanted) < stripe.rows;
    if (plan.pruner.is_none() && !partial) || (stripe.rows <= stride && plan.pruner.is_none()) {
        return Ok(());
    }
    let tested = |column| plan.pruner.as_ref().is_some_and(|pruner| pruner.tests(column));
    let blooms = |column| {
        plan.pruner
            .as_ref()
            .is_some_and(|pruner| pruner.tests_equality(column))
    };
    let several = stripe.rows > stride;
    let mut kept: Vec<&Placed> = Vec::new();
    for placed in streams {
        let column = placed.0.column;
        let wanted = match placed.0.kind {
            Some(StreamKind::RowIndex) => {
                tested(column) || (several && plan.projection.ids.binary_search(&column).is_ok())
            }
            Some(StreamKind::BloomFilterUtf8) => blooms(column),
            _ => false,
        };
        if wanted {
            kept.push(placed);
        }
    }
    let ranges: Vec<Range<u64>> = kept.iter().map(|(_, range)| range.clone()).collect();
    let read = window.read(plan, &ranges).await?;
    let mut filters: HashMap<u32, Vec<BloomFilter>> = HashMap::new();
    let mut entries: HashMap<u32, Vec<RowIndexEntry>> = HashMap::new();
    for ((stream, _), bytes) in kept.into_iter().zip(read) {
        let bytes = decompress_all(stripe.codec, &bytes)?;
        if stream.kind == Some(StreamKind::RowIndex) {
            entries.insert(stream.column, RowIndexEntry::decode_index(&bytes)?);
        } else {
            filters.insert(stream.column, BloomFilter::decode_index(&bytes)?);
        }
    }
    let groups = stripe.rows.div_ceil(stride);
    entries.retain(|_, entries| entries.len() as u64 == groups);
    filters.retain(|_, filters| filters.len() as u64 == groups);
    if let Some(pruner) = &plan.pruner {
        let zone_is_utc = stripe.zone().is_ok_and(|zone| zone.is_utc());
        let mut matching = RowRanges::new();
        for group in 0..groups {
            let start = group * stride;
            let end = (start + stride).min(stripe.rows);
            let at = usize::try_from(group).unwrap_or(usize::MAX);
            let statistics = |column| entries.get(&column)?.get(at)?.statistics.as_ref();
            let filter = |column| filters.get(&column)?.get(at);
            if pruner.row_group(end - start, zone_is_utc, &statistics, &filter) {
                push(&mut matching, start..end);
            } else {
                plan.counters.skip_group();
            }
        }
        stripe.wanted = intersect(&stripe.wanted, &matching);
    }
    if several && is_complete(plan, streams, stripe, &entries) {
        entries.retain(|column, _| plan.projection.ids.binary_search(column).is_ok());
        stripe.row_index = entries;
    }
    Ok(())
}

/// True when there are positions for every stream that is read.
fn is_complete(
    plan: &Plan,
    streams: &[Placed],
    stripe: &Stripe,
    entries: &HashMap<u32, Vec<RowIndexEntry>>,
) -> bool {
    let mut complete = true;
    for_each(&plan.projection.columns, &mut |node| {
        let present = streams
            .iter()
            .any(|(s, _)| s.column == node.column && s.kind == Some(StreamKind::Present));
        let Ok(encoding) = stripe.encoding(node.column) else {
            complete = false;
            return;
        };
        let (_, needed) = places(node.kind, encoding.kind, present, stripe.codec.is_some());
        let enough = |entry: &RowIndexEntry| entry.positions.len() >= needed;
        complete &= entries
            .get(&node.column)
            .is_some_and(|entries| entries.iter().all(enough));
    });
    complete
}

fn for_each(nodes: &[Node], each: &mut impl FnMut(&Node)) {
    for node in nodes {
        visit(node, each);
    }
}

fn visit(node: &Node, each: &mut impl FnMut(&Node)) {
    each(node);
    match &node.shape {
        Shape::Leaf(_) => {}
        Shape::List(element, _) => visit(element, each),
        Shape::Map(key, value, _) => {
            visit(key, each);
            visit(value, each);
        }
        Shape::Struct(children, _) => {
            for child in children.iter().flatten() {
                visit(child, each);
            }
        }
    }
}

/// Cuts streams to the row groups between the first and the last wanted row, and returns where in them they now begin.
/// `None` when nothing is cut.
fn cut_streams(plan: &Plan, stripe: &Stripe, present: &[u32], streams: &mut [Placed]) -> Option<Vec<u64>> {
    let stride = plan.tail.stride()?;
    let (first, last) = (stripe.wanted.first()?, stripe.wanted.last()?);
    let groups = stripe.rows.div_ceil(stride);
    let from = first.start / stride;
    let to = last.end.div_ceil(stride);
    if !stripe.is_seekable() || (from == 0 && to == groups) {
        return None;
    }
    let mut kinds = HashMap::new();
    for_each(&plan.projection.columns, &mut |node| {
        kinds.insert(node.column, node.kind);
    });
    let mut starts = Vec::with_capacity(streams.len());
    for (stream, range) in streams {
        let cut = || {
            let kind = *kinds.get(&stream.column)?;
            let encoding = stripe.encoding(stream.column).ok()?.kind;
            let (all, _) = places(
                kind,
                encoding,
                present.contains(&stream.column),
                stripe.codec.is_some(),
            );
            let place: &StreamPlace = all.iter().find(|place| Some(place.kind) == stream.kind)?;
            let position = |group: u64| {
                let positions = stripe
                    .positions(stream.column, usize::try_from(group).ok()?)
                    .ok()?;
                positions.get(place.position).copied()
            };
            let start = position(from).filter(|start| *start <= stream.length)?;
            let end = match to < groups {
                true => position(to)?.checked_add(slop(stripe.codec))?.min(stream.length),
                false => stream.length,
            };
            (start <= end).then_some((start, end))
        };
        let (start, end) = cut().unwrap_or((0, stream.length));
        *range = range.start + start..range.start + end;
        starts.push(start);
    }
    Some(starts)
}

/// Bytes behind the start of the next row group that the last value of a row group may lie in: the rest of a run, and the
/// chunks that it lies in.
fn slop(codec: Option<Codec>) -> u64 {
    const LONGEST_RUN: u64 = 512 * 8 + 64;
    match codec {
        None => LONGEST_RUN,
        Some(codec) => {
            let chunk = codec.largest_chunk();
            chunk * (2 + LONGEST_RUN.div_ceil(chunk.saturating_sub(3).max(1)))
        }
    }
}
