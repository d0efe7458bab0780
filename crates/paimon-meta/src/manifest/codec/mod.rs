// SPDX-License-Identifier: Apache-2.0

//! Manifest files as bytes: decoding of every shape that was ever written, by field name, and encoding of the newest one.
//!
//! Reading does no I/O and holds one block at a time. A missing field reads as null where the format added it later, a field
//! that we do not know is skipped, the order of union branches is the writer's.

mod data_file;
mod index_manifest;
mod manifest;
mod manifest_list;

pub use index_manifest::{decode_index_manifest, encode_index_manifest};
pub(crate) use manifest::ManifestEncoder;
pub use manifest::{
    EntryHead, EntrySelector, KeepAll, decode_manifest, decode_manifest_selected, encode_manifest,
};
pub use manifest_list::{decode_manifest_list, encode_manifest_list};

use paimon_protocol::{NullCounts, SimpleStats};
use paimon_types::{BinaryRow, Error, Result};

use super::avro::{Access, Cursor, Encoder, Kind, Layout, NodeId, Presence, Program, Wanted, read_array};

/// Form A of the empty row: arity 0 and eight header bytes.
const EMPTY_ROW: [u8; 12] = [0; 12];

/// Turns form A bytes into a row; the empty row, which most files repeat, is shared.
#[derive(Debug)]
struct Rows {
    empty: BinaryRow,
}

impl Rows {
    fn new() -> Self {
        Rows {
            empty: BinaryRow::empty(),
        }
    }

    fn decode(&self, bytes: &[u8]) -> Result<BinaryRow> {
        if bytes == EMPTY_ROW {
            Ok(self.empty.clone())
        } else {
            BinaryRow::from_serialized(bytes)
        }
    }
}

/// Refuses a `_VERSION` that we do not know.
fn check_version(found: i64, known: i32, what: &str) -> Result<()> {
    if found == i64::from(known) {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "{what} version {found}, expected {known}"
    )))
}

fn required<T>(value: Option<T>, field: &'static str) -> Result<T> {
    value.ok_or_else(|| Error::corrupt(format!("required field {field} is null or missing")))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StatsField {
    Min,
    Max,
    NullCounts,
}

const STATS_FIELDS: [Wanted<StatsField>; 3] = [
    ("_MIN_VALUES", StatsField::Min, Kind::Bytes, Presence::Required),
    ("_MAX_VALUES", StatsField::Max, Kind::Bytes, Presence::Required),
    (
        "_NULL_COUNTS",
        StatsField::NullCounts,
        Kind::Array,
        Presence::Optional,
    ),
];

/// Reader of a `SimpleStats` record in two steps: where its parts are, then the values.
#[derive(Debug)]
struct StatsReader {
    layout: Layout<StatsField>,
    null_counts: Option<(Access, Access)>,
}

/// A `SimpleStats` record that was passed over but not decoded.
#[derive(Clone, Copy, Debug, Default)]
struct RawStats<'a> {
    min: Option<&'a [u8]>,
    max: Option<&'a [u8]>,
    null_counts: Option<&'a [u8]>,
}

impl StatsReader {
    fn bind(program: &Program, node: NodeId) -> Result<Self> {
        let layout = Layout::bind(program, node, &STATS_FIELDS)?;
        let null_counts = match layout.access(StatsField::NullCounts) {
            None => None,
            Some(array) => {
                let items = array.items(program)?;
                items.expect(program, Kind::Integer)?;
                Some((array, items))
            }
        };
        Ok(StatsReader { layout, null_counts })
    }

    fn read<'a>(&self, program: &Program, cursor: &mut Cursor<'a>) -> Result<RawStats<'a>> {
        let mut raw = RawStats::default();
        self.layout.read(program, cursor, |field, access, c| {
            match field {
                StatsField::Min => raw.min = access.bytes(c)?,
                StatsField::Max => raw.max = access.bytes(c)?,
                StatsField::NullCounts => raw.null_counts = access.raw(program, c)?,
            }
            Ok(())
        })?;
        Ok(raw)
    }

    fn decode(&self, program: &Program, rows: &Rows, raw: RawStats<'_>) -> Result<SimpleStats> {
        let null_counts = match (raw.null_counts, &self.null_counts) {
            (Some(bytes), Some((array, items))) => {
                read_array(program, array, &mut Cursor::new(bytes), |c| items.long(c))?.into()
            }
            _ => NullCounts::new(),
        };
        Ok(SimpleStats {
            min_values: rows.decode(required(raw.min, "_MIN_VALUES")?)?,
            max_values: rows.decode(required(raw.max, "_MAX_VALUES")?)?,
            null_counts,
        })
    }
}

fn encode_stats(out: &mut Encoder, stats: &SimpleStats) {
    out.bytes(&stats.min_values.to_serialized());
    out.bytes(&stats.max_values.to_serialized());
    out.optional(Some(stats.null_counts.to_vec()), |out, counts| {
        out.array(&counts, |out, count| out.optional(*count, Encoder::long));
    });
}

/// Reader of an array of one simple kind, possibly null.
#[derive(Clone, Copy, Debug)]
struct ListReader {
    array: Access,
    items: Access,
}

impl ListReader {
    fn bind(program: &Program, array: Option<Access>, kind: Kind) -> Result<Option<Self>> {
        let Some(array) = array else {
            return Ok(None);
        };
        let items = array.items(program)?;
        items.expect(program, kind)?;
        Ok(Some(ListReader { array, items }))
    }

    fn strings(&self, program: &Program, bytes: &[u8]) -> Result<Vec<String>> {
        read_array(program, &self.array, &mut Cursor::new(bytes), |c| {
            required(self.items.string(c)?, "array item").map(str::to_owned)
        })
    }

    fn longs(&self, program: &Program, bytes: &[u8]) -> Result<Vec<i64>> {
        read_array(program, &self.array, &mut Cursor::new(bytes), |c| {
            required(self.items.long(c)?, "array item")
        })
    }
}
