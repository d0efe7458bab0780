// SPDX-License-Identifier: Apache-2.0

//! Where in a row index entry the positions of a stream stand.

use crate::proto::{EncodingKind, Kind, StreamKind};

/// A stream and the number of positions before its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamPlace {
    pub(crate) kind: StreamKind,
    pub(crate) position: usize,
}

/// The streams of a column that have positions, and the number of all positions.
///
/// A compressed stream has a position of the chunk and one in it, a run length encoding one more for the values of the run
/// that belong to the row group before, bits one more for those of a byte. PRESENT comes first, unless the stripe has none.
/// Dictionaries have no positions.
pub(crate) fn places(
    kind: Kind,
    encoding: EncodingKind,
    present: bool,
    compressed: bool,
) -> (Vec<StreamPlace>, usize) {
    let bytes = if compressed { 2 } else { 1 };
    let (runs, bits) = (bytes + 1, bytes + 2);
    let dictionary = matches!(encoding, EncodingKind::Dictionary | EncodingKind::DictionaryV2);
    let mut streams = Vec::with_capacity(3);
    if present {
        streams.push((StreamKind::Present, bits));
    }
    match kind {
        Kind::Boolean => streams.push((StreamKind::Data, bits)),
        Kind::Byte | Kind::Short | Kind::Int | Kind::Long | Kind::Date | Kind::Union => {
            streams.push((StreamKind::Data, runs));
        }
        Kind::Float | Kind::Double => streams.push((StreamKind::Data, bytes)),
        Kind::String | Kind::Varchar | Kind::Char | Kind::Binary if dictionary => {
            streams.push((StreamKind::Data, runs));
        }
        Kind::String | Kind::Varchar | Kind::Char | Kind::Binary => {
            streams.extend([(StreamKind::Data, bytes), (StreamKind::Length, runs)]);
        }
        Kind::Decimal => streams.extend([(StreamKind::Data, bytes), (StreamKind::Secondary, runs)]),
        Kind::Timestamp | Kind::TimestampInstant => {
            streams.extend([(StreamKind::Data, runs), (StreamKind::Secondary, runs)]);
        }
        Kind::List | Kind::Map => streams.push((StreamKind::Length, runs)),
        Kind::Struct => {}
    }
    let mut position = 0;
    let places = streams
        .into_iter()
        .map(|(kind, count)| {
            let place = StreamPlace { kind, position };
            position += count;
            place
        })
        .collect();
    (places, position)
}
