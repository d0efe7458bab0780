// SPDX-License-Identifier: Apache-2.0

//! Manifests (Java `ManifestFile`, `ManifestEntrySerializer`).

use std::collections::HashMap;

use paimon_types::{BinaryRow, Error, Result};

use super::data_file::{DataFileReader, encode_file};
use super::{Rows, check_version, required};
use crate::manifest::avro::{self, Access, ContainerWriter, Cursor, Kind, Layout, Presence, Program, Wanted};
use crate::manifest::schemas::{MANIFEST_SCHEMA, MANIFEST_VERSION};
use crate::manifest::{FileKind, ManifestCompression, ManifestEntry};

/// What is known about an entry before its file record is looked at.
#[derive(Clone, Copy, Debug)]
pub struct EntryHead<'a> {
    /// ADD or DELETE.
    pub kind: FileKind,
    /// Partition values.
    pub partition: &'a BinaryRow,
    /// Bucket number.
    pub bucket: i32,
    /// Bucket count of the partition when the file was written.
    pub total_buckets: i32,
}

/// Chooses entries while a manifest is decoded, so that those not wanted cost no allocation.
pub trait EntrySelector {
    /// Called first, with partition and bucket; false moves over the file record.
    ///
    /// # Errors
    /// Whatever the selector finds wrong; decoding stops with it.
    fn select(&mut self, head: &EntryHead<'_>) -> Result<bool>;

    /// Called for entries that passed [`EntrySelector::select`], with the level; false drops the entry before statistics
    /// and keys are decoded.
    ///
    /// # Errors
    /// As [`EntrySelector::select`].
    fn select_level(&mut self, _head: &EntryHead<'_>, _level: i32) -> Result<bool> {
        Ok(true)
    }
}

/// Selects every entry.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeepAll;

impl EntrySelector for KeepAll {
    fn select(&mut self, _head: &EntryHead<'_>) -> Result<bool> {
        Ok(true)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Version,
    Kind,
    Partition,
    Bucket,
    TotalBuckets,
    File,
}

const FIELDS: [Wanted<Field>; 6] = [
    ("_VERSION", Field::Version, Kind::Integer, Presence::Required),
    ("_KIND", Field::Kind, Kind::Integer, Presence::Required),
    ("_PARTITION", Field::Partition, Kind::Bytes, Presence::Required),
    ("_BUCKET", Field::Bucket, Kind::Integer, Presence::Required),
    (
        "_TOTAL_BUCKETS",
        Field::TotalBuckets,
        Kind::Integer,
        Presence::Required,
    ),
    ("_FILE", Field::File, Kind::Record, Presence::Required),
];

/// Decodes all entries of a manifest in stored order.
///
/// # Errors
/// `Corrupt` for damaged bytes, `Unsupported` for a version, codec or file format (ORC) that we do not read.
pub fn decode_manifest(bytes: &[u8]) -> Result<Vec<ManifestEntry>> {
    let mut entries = Vec::new();
    decode_manifest_selected(bytes, &mut KeepAll, |entry| {
        entries.push(entry);
        Ok(())
    })?;
    Ok(entries)
}

/// Decodes the entries that `selector` wants and hands them to `sink` in stored order.
///
/// # Errors
/// As [`decode_manifest`], and whatever selector and sink return.
pub fn decode_manifest_selected(
    bytes: &[u8],
    selector: &mut dyn EntrySelector,
    mut sink: impl FnMut(ManifestEntry) -> Result<()>,
) -> Result<()> {
    let (mut container, program) = avro::open(bytes)?;
    let mut decoder = Decoder::bind(&program)?;
    container.for_each_block(|cursor, count| {
        for _ in 0..count {
            if let Some(entry) = decoder.next(cursor, selector)? {
                sink(entry)?;
            }
        }
        Ok(())
    })
}

struct Decoder<'p> {
    program: &'p Program,
    root: Access,
    layout: Layout<Field>,
    file_access: Access,
    file: DataFileReader,
    rows: Rows,
    /// Partitions seen, by their stored bytes: entries of one partition share one row.
    partitions: HashMap<Box<[u8]>, BinaryRow>,
}

impl<'p> Decoder<'p> {
    fn bind(program: &'p Program) -> Result<Self> {
        let root = Access::new(program, program.root())?;
        let layout = Layout::bind(program, root.node, &FIELDS)?;
        let file_access = required(layout.access(Field::File), "_FILE")?;
        let file = DataFileReader::bind(program, file_access.node)?;
        Ok(Decoder {
            program,
            root,
            layout,
            file_access,
            file,
            rows: Rows::new(),
            partitions: HashMap::new(),
        })
    }

    /// Reads one record; `None` when the selector does not want it.
    fn next(
        &mut self,
        cursor: &mut Cursor<'_>,
        selector: &mut dyn EntrySelector,
    ) -> Result<Option<ManifestEntry>> {
        if !self.root.enter(cursor)? {
            return Err(Error::corrupt("manifest holds a null entry"));
        }
        let (mut version, mut kind, mut partition, mut bucket, mut total) = (None, None, None, None, None);
        let mut file = None;
        // The file record is only passed over here: it may stand before the fields that decide about it.
        self.layout.read(self.program, cursor, |field, access, c| {
            match field {
                Field::Version => version = access.long(c)?,
                Field::Kind => kind = access.long(c)?,
                Field::Partition => partition = access.bytes(c)?,
                Field::Bucket => bucket = access.int(c)?,
                Field::TotalBuckets => total = access.int(c)?,
                Field::File => file = self.file_access.raw(self.program, c)?,
            }
            Ok(())
        })?;
        check_version(required(version, "_VERSION")?, MANIFEST_VERSION, "manifest")?;
        let partition = self.partition(required(partition, "_PARTITION")?)?;
        let head = EntryHead {
            kind: FileKind::from_code(required(kind, "_KIND")?)?,
            partition: &partition,
            bucket: required(bucket, "_BUCKET")?,
            total_buckets: required(total, "_TOTAL_BUCKETS")?,
        };
        let file = required(file, "_FILE")?;
        if !selector.select(&head)? {
            return Ok(None);
        }
        let raw = self.file.read(self.program, &mut Cursor::new(file))?;
        if !selector.select_level(&head, required(raw.level, "_LEVEL")?)? {
            return Ok(None);
        }
        let (kind, bucket, total_buckets) = (head.kind, head.bucket, head.total_buckets);
        let file = self.file.decode(self.program, &self.rows, &raw)?;
        Ok(Some(ManifestEntry {
            kind,
            partition,
            bucket,
            total_buckets,
            file,
        }))
    }

    fn partition(&mut self, bytes: &[u8]) -> Result<BinaryRow> {
        if let Some(row) = self.partitions.get(bytes) {
            return Ok(row.clone());
        }
        let row = self.rows.decode(bytes)?;
        self.partitions.insert(bytes.into(), row.clone());
        Ok(row)
    }
}

/// Encodes one manifest in the newest form.
///
/// `sync` is the container's random marker.
///
/// # Errors
/// When compression fails.
pub fn encode_manifest(
    entries: &[ManifestEntry],
    compression: ManifestCompression,
    sync: [u8; 16],
) -> Result<Vec<u8>> {
    let mut encoder = ManifestEncoder::new(compression, sync);
    for entry in entries {
        encoder.append(entry)?;
    }
    encoder.finish()
}

/// Encodes a manifest entry by entry, so that a writer can roll.
#[derive(Debug)]
pub(crate) struct ManifestEncoder {
    container: ContainerWriter,
}

impl ManifestEncoder {
    pub(crate) fn new(compression: ManifestCompression, sync: [u8; 16]) -> Self {
        ManifestEncoder {
            container: ContainerWriter::new(MANIFEST_SCHEMA, compression, sync),
        }
    }

    pub(crate) fn append(&mut self, entry: &ManifestEntry) -> Result<()> {
        self.container.append(|out| {
            out.int(MANIFEST_VERSION);
            out.int(entry.kind.code());
            out.bytes(&entry.partition.to_serialized());
            out.int(entry.bucket);
            out.int(entry.total_buckets);
            encode_file(out, &entry.file);
        })
    }

    pub(crate) fn position(&self) -> u64 {
        self.container.position()
    }

    pub(crate) fn finish(self) -> Result<Vec<u8>> {
        self.container.finish()
    }
}
