// SPDX-License-Identifier: Apache-2.0

//! Avro manifests as bytes: decoding of every shape that was ever written, by field name, and encoding of the newest one.
//!
//! Reading does no I/O and holds one block at a time. A missing field reads as null where the format added it later, a field
//! that we do not know is skipped, the order of union branches is the writer's.
//!
//! Decoding has two steps: a record is taken apart into a `Raw…` value that borrows from the block, which becomes an entry
//! afterwards. The second step, with its checks and defaults, is the same for manifests in other formats (`columnar`).

pub(in crate::manifest) mod data_file;
pub(in crate::manifest) mod index_manifest;
pub(in crate::manifest) mod manifest;
pub(in crate::manifest) mod manifest_list;

pub use index_manifest::{decode_index_manifest, encode_index_manifest};
pub(crate) use manifest::ManifestEncoder;
pub use manifest::{
    EntryHead, EntrySelector, KeepAll, decode_manifest, decode_manifest_selected, encode_manifest,
};
pub use manifest_list::{decode_manifest_list, encode_manifest_list};

pub(in crate::manifest) use data_file::RawFile;
pub(in crate::manifest) use index_manifest::{RawGlobalIndex, RawIndexEntry, RawRange};
pub(in crate::manifest) use manifest::{Head, Partitions, RawHead};
pub(in crate::manifest) use manifest_list::RawListEntry;

use paimon_protocol::{NullCounts, Partition, RowValues, SimpleStats};
use paimon_types::{BinaryRow, Error, Result};

use super::avro::{Access, Cursor, Encoder, Kind, Layout, NodeId, Presence, Program, Wanted, read_array};

/// Form A of the empty row: arity 0 and eight header bytes.
const EMPTY_ROW: [u8; 12] = [0; 12];

/// Turns form A bytes into a row; the empty row, which most files repeat, is shared.
#[derive(Debug)]
pub(in crate::manifest) struct Rows {
    empty: BinaryRow,
}

impl Rows {
    pub(in crate::manifest) fn new() -> Self {
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

    fn partition(&self, bytes: &[u8]) -> Result<Partition> {
        self.decode(bytes).map(Partition::from_encoded_row)
    }

    fn values(&self, bytes: Option<&[u8]>, field: &'static str) -> Result<RowValues> {
        self.decode(required(bytes, field)?)
            .map(RowValues::from_encoded_row)
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

pub(in crate::manifest) fn required<T>(value: Option<T>, field: &'static str) -> Result<T> {
    value.ok_or_else(|| Error::corrupt(format!("required field {field} is null or missing")))
}

/// A list that was found in its file but not decoded.
pub(in crate::manifest) trait RawList: Copy {
    /// The items, which are text.
    fn strings(self) -> Result<Vec<String>>;

    /// The items, which are integers or null.
    fn longs(self) -> Result<Vec<Option<i64>>>;
}

/// A `SimpleStats` record that was passed over but not decoded.
#[derive(Clone, Copy, Debug)]
pub(in crate::manifest) struct RawStats<'a, L> {
    pub(in crate::manifest) min: Option<&'a [u8]>,
    pub(in crate::manifest) max: Option<&'a [u8]>,
    pub(in crate::manifest) null_counts: Option<L>,
}

impl<L: RawList> RawStats<'_, L> {
    fn build(self, rows: &Rows) -> Result<SimpleStats> {
        let null_counts = match self.null_counts {
            Some(list) => list.longs()?.into(),
            None => NullCounts::new(),
        };
        Ok(SimpleStats {
            min_values: rows.values(self.min, "_MIN_VALUES")?,
            max_values: rows.values(self.max, "_MAX_VALUES")?,
            null_counts,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::manifest) enum StatsField {
    Min,
    Max,
    NullCounts,
}

pub(in crate::manifest) const STATS_FIELDS: [Wanted<StatsField>; 3] = [
    ("_MIN_VALUES", StatsField::Min, Kind::Bytes, Presence::Required),
    ("_MAX_VALUES", StatsField::Max, Kind::Bytes, Presence::Required),
    (
        "_NULL_COUNTS",
        StatsField::NullCounts,
        Kind::Array,
        Presence::Optional,
    ),
];

/// Reader of a `SimpleStats` record.
#[derive(Debug)]
struct StatsReader {
    layout: Layout<StatsField>,
    null_counts: Option<ListReader>,
}

impl StatsReader {
    fn bind(program: &Program, node: NodeId) -> Result<Self> {
        let layout = Layout::bind(program, node, &STATS_FIELDS)?;
        Ok(StatsReader {
            null_counts: ListReader::bind(program, layout.access(StatsField::NullCounts), Kind::Integer)?,
            layout,
        })
    }

    /// Reads the record that `access` stands for; `None` for a null.
    fn read<'r, 'a>(
        &'r self,
        program: &'r Program,
        access: &Access,
        cursor: &mut Cursor<'a>,
    ) -> Result<Option<RawStats<'a, AvroList<'r, 'a>>>> {
        if !access.enter(cursor)? {
            return Ok(None);
        }
        let mut raw = RawStats {
            min: None,
            max: None,
            null_counts: None,
        };
        self.layout.read(program, cursor, |field, access, c| {
            match field {
                StatsField::Min => raw.min = access.bytes(c)?,
                StatsField::Max => raw.max = access.bytes(c)?,
                StatsField::NullCounts => raw.null_counts = AvroList::pass(&self.null_counts, program, c)?,
            }
            Ok(())
        })?;
        Ok(Some(raw))
    }
}

fn encode_stats(out: &mut Encoder, stats: &SimpleStats) {
    out.bytes(&stats.min_values.encoded_row().to_serialized());
    out.bytes(&stats.max_values.encoded_row().to_serialized());
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
}

/// A list in Avro: its bytes, and how they are read.
#[derive(Clone, Copy, Debug)]
struct AvroList<'r, 'a> {
    reader: &'r ListReader,
    program: &'r Program,
    bytes: &'a [u8],
}

impl<'r, 'a> AvroList<'r, 'a> {
    /// Moves over a list; `None` for a null.
    fn pass(
        reader: &'r Option<ListReader>,
        program: &'r Program,
        cursor: &mut Cursor<'a>,
    ) -> Result<Option<Self>> {
        let Some(reader) = reader else {
            return Err(Error::corrupt("avro list that was not bound"));
        };
        Ok(reader.array.raw(program, cursor)?.map(|bytes| AvroList {
            reader,
            program,
            bytes,
        }))
    }
}

impl RawList for AvroList<'_, '_> {
    fn strings(self) -> Result<Vec<String>> {
        let ListReader { array, items } = self.reader;
        read_array(self.program, array, &mut Cursor::new(self.bytes), |c| {
            required(items.string(c)?, "array item").map(str::to_owned)
        })
    }

    fn longs(self) -> Result<Vec<Option<i64>>> {
        let ListReader { array, items } = self.reader;
        read_array(self.program, array, &mut Cursor::new(self.bytes), |c| {
            items.long(c)
        })
    }
}

/// The items of a list of integers that has no nulls.
fn no_nulls(items: Vec<Option<i64>>) -> Result<Vec<i64>> {
    items
        .into_iter()
        .map(|item| required(item, "array item"))
        .collect()
}
