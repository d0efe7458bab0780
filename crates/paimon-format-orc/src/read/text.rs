// SPDX-License-Identifier: Apache-2.0

//! Texts and bytes, with and without dictionary.

use std::sync::Arc;

use arrow_array::types::{ByteArrayType, GenericBinaryType, GenericStringType};
use arrow_array::{ArrayRef, GenericByteArray, Int32Array};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer, OffsetBuffer};
use paimon_types::{Error, Result};

use super::column::{invalid, spread};
use super::picks::Picks;
use super::projection::Leaf;
use super::stripe::Stripe;
use crate::decode::{ByteStream, IntDecoder, Ints, Positions};
use crate::error::damaged;
use crate::proto::StreamKind;

/// Bytes that are reserved before they are there.
const RESERVE: usize = 1 << 20;

/// Reads the values of a column.
pub(super) struct TextReader {
    leaf: Leaf,
    kind: TextKind,
}

enum TextKind {
    Direct(Box<(ByteStream, IntDecoder)>),
    Dictionary(Box<Dictionary>),
}

struct Dictionary {
    indices: IntDecoder,
    /// The values, read when the first one is needed.
    words: Option<ArrayRef>,
    streams: (ByteStream, IntDecoder),
    size: usize,
}

impl TextReader {
    pub(super) fn new(column: u32, leaf: Leaf, stripe: &Stripe, dictionary: bool, version2: bool) -> Self {
        let lengths = IntDecoder::new(stripe.stream(column, StreamKind::Length), false, version2);
        let data = stripe.stream(column, StreamKind::Data);
        let kind = if dictionary {
            TextKind::Dictionary(Box::new(Dictionary {
                indices: IntDecoder::new(data, false, version2),
                words: None,
                streams: (stripe.stream(column, StreamKind::DictionaryData), lengths),
                size: stripe.dictionary_size(column),
            }))
        } else {
            TextKind::Direct(Box::new((data, lengths)))
        };
        TextReader { leaf, kind }
    }

    pub(super) fn seek(&mut self, positions: &mut Positions<'_>) -> Result<()> {
        match &mut self.kind {
            TextKind::Direct(streams) => {
                let (bytes, lengths) = streams.as_mut();
                bytes.seek(positions)?;
                lengths.seek(positions)
            }
            TextKind::Dictionary(dictionary) => dictionary.indices.seek(positions),
        }
    }

    pub(super) fn skip(&mut self, count: usize) -> Result<()> {
        match &mut self.kind {
            TextKind::Dictionary(dictionary) => dictionary.indices.skip(count),
            TextKind::Direct(streams) => skip_texts(streams, count),
        }
    }

    /// The values that are picked, with `nulls` between them.
    pub(super) fn read(&mut self, stored: &Picks, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        match &mut self.kind {
            TextKind::Direct(streams) => values(&self.leaf, streams, stored, nulls),
            TextKind::Dictionary(dictionary) => {
                let Dictionary {
                    indices,
                    words,
                    streams,
                    size,
                } = dictionary.as_mut();
                let size = *size;
                let words = match words {
                    Some(words) => words,
                    None => words.insert(values(&self.leaf, streams, &Picks::all(size), None)?),
                };
                let mut read = Vec::with_capacity(stored.len().min(RESERVE));
                let misfit = |index| damaged(format!("a text is word {index} of a dictionary of {size}"));
                let convert = |index: i64| {
                    usize::try_from(index)
                        .ok()
                        .filter(|i| *i < size)
                        .map(|i| i as i32)
                };
                stored.walk(indices, IntDecoder::skip, |indices, n| {
                    indices.read(n, &mut read, convert, misfit)
                })?;
                let read = spread(read, nulls.as_ref());
                let read = Int32Array::new(read.into(), nulls);
                arrow_select::take::take(words.as_ref(), &read, None).map_err(invalid)
            }
        }
    }
}

/// Goes over `count` texts.
fn skip_texts((bytes, lengths): &mut (ByteStream, IntDecoder), count: usize) -> Result<()> {
    let mut left = count;
    while left > 0 {
        let (here, total) = match lengths.next(left)? {
            Ints::Repeat(length, times) => (times, length.checked_mul(times as i64)),
            Ints::Values(values) => {
                let add = |sum: i64, length: &i64| sum.checked_add(*length).filter(|_| *length >= 0);
                (values.len(), values.iter().try_fold(0, add))
            }
        };
        let total = total.and_then(|total| usize::try_from(total).ok());
        bytes.skip(total.ok_or_else(|| damaged("a text has a length that is too large"))?)?;
        left -= here;
    }
    Ok(())
}

fn values(
    leaf: &Leaf,
    streams: &mut (ByteStream, IntDecoder),
    stored: &Picks,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    match leaf {
        Leaf::Text { trim } => array::<GenericStringType<i32>>(streams, stored, nulls, *trim),
        Leaf::LargeBinary => array::<GenericBinaryType<i64>>(streams, stored, nulls, false),
        _ => array::<GenericBinaryType<i32>>(streams, stored, nulls, false),
    }
}

fn array<T: ByteArrayType>(
    streams: &mut (ByteStream, IntDecoder),
    picks: &Picks,
    nulls: Option<NullBuffer>,
    trim: bool,
) -> Result<ArrayRef> {
    let mut stored = Vec::with_capacity(picks.len().min(RESERVE));
    let misfit = |length| damaged(format!("a text has a length of {length}"));
    let convert = |length| {
        u32::try_from(length)
            .ok()
            .filter(|length| *length <= i32::MAX as u32)
    };
    let mut data = Vec::new();
    picks.walk(streams, skip_texts, |(bytes, lengths), n| {
        let first = stored.len();
        lengths.read(n, &mut stored, convert, misfit)?;
        let here = stored.get(first..).unwrap_or_default();
        let total = here.iter().map(|length| *length as usize).sum();
        if data.is_empty() {
            data.reserve(RESERVE.min(total));
        }
        bytes.read_into(total, &mut data)
    })?;
    if trim {
        data = trimmed(&data, &mut stored);
    }
    let stored = spread(stored, nulls.as_ref());
    let mut ends = Vec::with_capacity(stored.len() + 1);
    let mut end = 0usize;
    ends.push(T::Offset::default());
    for length in stored {
        end += length as usize;
        let offset = T::Offset::from_usize(end).ok_or_else(|| {
            Error::unsupported("the texts of one batch have more than 2 GiB, set a smaller batch size")
        })?;
        ends.push(offset);
    }
    let offsets = OffsetBuffer::new(ends.into());
    let array = GenericByteArray::<T>::try_new(offsets, Buffer::from_vec(data), nulls).map_err(invalid)?;
    Ok(Arc::new(array))
}

/// Values without the blanks at their ends, and their new lengths.
fn trimmed(data: &[u8], lengths: &mut [u32]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len());
    let mut rest = data;
    for length in lengths {
        let Some((value, after)) = rest.split_at_checked(*length as usize) else {
            break;
        };
        let end = value
            .iter()
            .rposition(|byte| *byte != b' ')
            .map_or(0, |last| last + 1);
        let kept = value.get(..end).unwrap_or(value);
        out.extend_from_slice(kept);
        *length = kept.len() as u32;
        rest = after;
    }
    out
}
