// SPDX-License-Identifier: Apache-2.0

//! Manifests (Java `ManifestFile`, `ManifestEntrySerializer`).

use std::collections::HashMap;

use paimon_protocol::Partition;
use paimon_types::{Error, Result};

use super::data_file::{DataFileReader, RawFile, encode_file};
use super::{RawList, Rows, check_version, required};
use crate::manifest::avro::{self, Access, ContainerWriter, Cursor, Kind, Layout, Presence, Program, Wanted};
use crate::manifest::schemas::{MANIFEST_SCHEMA, MANIFEST_VERSION};
use crate::manifest::{FileKind, ManifestCompression, ManifestEntry};

/// What is known about an entry before its file record is looked at.
#[derive(Clone, Copy, Debug)]
pub struct EntryHead<'a> {
    /// ADD or DELETE.
    pub kind: FileKind,
    /// Partition values.
    pub partition: &'a Partition,
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
pub(in crate::manifest) enum Field {
    Version,
    Kind,
    Partition,
    Bucket,
    TotalBuckets,
    File,
}

pub(in crate::manifest) const FIELDS: [Wanted<Field>; 6] = [
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

/// The fields that stand before the file record of an entry, as they are stored.
#[derive(Debug, Default)]
pub(in crate::manifest) struct RawHead<'a> {
    pub(in crate::manifest) version: Option<i64>,
    pub(in crate::manifest) kind: Option<i64>,
    pub(in crate::manifest) partition: Option<&'a [u8]>,
    pub(in crate::manifest) bucket: Option<i32>,
    pub(in crate::manifest) total_buckets: Option<i32>,
}

/// Those fields, checked.
#[derive(Debug)]
pub(in crate::manifest) struct Head {
    kind: FileKind,
    partition: Partition,
    bucket: i32,
    total_buckets: i32,
}

impl RawHead<'_> {
    pub(in crate::manifest) fn build(self, partitions: &mut Partitions) -> Result<Head> {
        check_version(required(self.version, "_VERSION")?, MANIFEST_VERSION, "manifest")?;
        let partition = partitions.decode(required(self.partition, "_PARTITION")?)?;
        Ok(Head {
            kind: FileKind::from_code(required(self.kind, "_KIND")?)?,
            partition,
            bucket: required(self.bucket, "_BUCKET")?,
            total_buckets: required(self.total_buckets, "_TOTAL_BUCKETS")?,
        })
    }
}

impl Head {
    /// What selectors see.
    pub(in crate::manifest) fn entry_head(&self) -> EntryHead<'_> {
        EntryHead {
            kind: self.kind,
            partition: &self.partition,
            bucket: self.bucket,
            total_buckets: self.total_buckets,
        }
    }

    /// The entry with its file; `None` when the selector does not want the level.
    pub(in crate::manifest) fn with_file<L: RawList>(
        self,
        raw: &RawFile<'_, L>,
        rows: &Rows,
        selector: &mut dyn EntrySelector,
    ) -> Result<Option<ManifestEntry>> {
        if !selector.select_level(&self.entry_head(), required(raw.level, "_LEVEL")?)? {
            return Ok(None);
        }
        let file = raw.build(rows)?;
        Ok(Some(ManifestEntry {
            kind: self.kind,
            partition: self.partition,
            bucket: self.bucket,
            total_buckets: self.total_buckets,
            file,
        }))
    }
}

/// Partitions seen in a manifest, by their stored bytes: entries of one partition share its values.
#[derive(Debug)]
pub(in crate::manifest) struct Partitions {
    rows: Rows,
    seen: HashMap<Box<[u8]>, Partition>,
}

impl Partitions {
    pub(in crate::manifest) fn new() -> Self {
        Partitions {
            rows: Rows::new(),
            seen: HashMap::new(),
        }
    }

    pub(in crate::manifest) fn rows(&self) -> &Rows {
        &self.rows
    }

    fn decode(&mut self, bytes: &[u8]) -> Result<Partition> {
        if let Some(partition) = self.seen.get(bytes) {
            return Ok(partition.clone());
        }
        let partition = self.rows.partition(bytes)?;
        self.seen.insert(bytes.into(), partition.clone());
        Ok(partition)
    }
}

/// Decodes all entries of a manifest in stored order.
///
/// # Errors
/// `Corrupt` for damaged bytes and other file formats, `Unsupported` for a version or codec that we do not read.
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
    partitions: Partitions,
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
            partitions: Partitions::new(),
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
        let mut raw = RawHead::default();
        let mut file = None;
        // The file record is only passed over here: it may stand before the fields that decide about it.
        self.layout.read(self.program, cursor, |field, access, c| {
            match field {
                Field::Version => raw.version = access.long(c)?,
                Field::Kind => raw.kind = access.long(c)?,
                Field::Partition => raw.partition = access.bytes(c)?,
                Field::Bucket => raw.bucket = access.int(c)?,
                Field::TotalBuckets => raw.total_buckets = access.int(c)?,
                Field::File => file = self.file_access.raw(self.program, c)?,
            }
            Ok(())
        })?;
        let head = raw.build(&mut self.partitions)?;
        let file = required(file, "_FILE")?;
        if !selector.select(&head.entry_head())? {
            return Ok(None);
        }
        let raw = self.file.read(self.program, &mut Cursor::new(file))?;
        head.with_file(&raw, self.partitions.rows(), selector)
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
            out.bytes(&entry.partition.encoded_row().to_serialized());
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
