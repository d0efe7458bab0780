// SPDX-License-Identifier: Apache-2.0

//! Our own form of a plan: magic, version, flags, bincode body, CRC-32 (`docs/protocol.md`).

mod body;
mod convert;

use std::collections::{BTreeMap, BTreeSet};

use paimon_types::{DataInput, Error, Result, TableSchema};

use crate::{PlanEnvelope, is_secret_option};
use body::{Body, List, SplitBody};
use convert::Reader;

/// Version of the envelope that this build writes, and the newest whose every field it knows.
pub const NATIVE_PLAN_VERSION: u16 = 1;

/// First eight bytes of an envelope.
pub const NATIVE_PLAN_MAGIC: [u8; 8] = *b"\x89PMPLAN\n";

/// Oldest reader that understands what this build writes.
const MIN_READER_VERSION: u16 = 1;

/// Features that a reader must know; none so far.
const KNOWN_FLAGS: u32 = 0;

/// Bytes before the body: magic, version, minimum reader version, flags, body length.
const HEADER: usize = 24;

/// Bytes behind the body.
const CHECKSUM: usize = 4;

/// Little-endian, variable-length integers. Slices are borrowed and lists grow as they are read, so the input's own
/// length is the limit.
const CONFIG: bincode::config::Configuration = bincode::config::standard();

impl PlanEnvelope {
    /// Writes the envelope, without options that look like credentials ([`PlanEnvelope::without_secrets`]).
    ///
    /// # Errors
    /// `InvalidInput` when two schemas have the same id, the schema of a data file is missing, or a split has another
    /// number of deletion files than data files.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.check()?;
        let read_schema = schema_text(&self.read_schema);
        let schemas: Vec<String> = self.schemas.iter().map(schema_text).collect();
        let options = self.options.iter().filter(|(key, _)| !is_secret_option(key));
        let body = Body {
            location: &self.location,
            branch: &self.branch,
            snapshot_id: self.snapshot_id,
            read_schema: &read_schema,
            schemas: List(schemas.iter().map(String::as_str).collect()),
            options: List(
                options
                    .map(|(key, value)| (key.as_str(), value.as_str()))
                    .collect(),
            ),
            splits: List(self.splits.iter().map(SplitBody::from).collect()),
        };
        let body = bincode::encode_to_vec(body, CONFIG)
            .map_err(|e| Error::invalid("plan cannot be encoded").with_source(e))?;
        let mut bytes = Vec::with_capacity(HEADER + body.len() + CHECKSUM);
        bytes.extend_from_slice(&NATIVE_PLAN_MAGIC);
        bytes.extend_from_slice(&NATIVE_PLAN_VERSION.to_le_bytes());
        bytes.extend_from_slice(&MIN_READER_VERSION.to_le_bytes());
        bytes.extend_from_slice(&KNOWN_FLAGS.to_le_bytes());
        bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&body);
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
        Ok(bytes)
    }

    /// Reads an envelope.
    ///
    /// # Errors
    /// `Unsupported` for a version or feature that this build does not know, `Corrupt` for anything malformed: a
    /// checksum that does not match, bytes left over, text that is not UTF-8, a schema that does not parse.
    pub fn from_bytes(bytes: &[u8]) -> Result<PlanEnvelope> {
        let (body, newer) = open(bytes)?;
        let (decoded, used) = bincode::borrow_decode_from_slice::<Body<'_>, _>(body, CONFIG)
            .map_err(|e| Error::corrupt("body of a plan does not decode").with_source(e))?;
        if used != body.len() && !newer {
            let left = body.len() - used;
            return Err(Error::corrupt(format!(
                "{left} unexpected bytes after the body of a plan"
            )));
        }
        let schemas = decoded
            .schemas
            .0
            .into_iter()
            .map(TableSchema::from_json)
            .collect::<Result<Vec<_>>>()?;
        let mut options = BTreeMap::new();
        for (key, value) in decoded.options.0 {
            options.insert(key.to_owned(), value.to_owned());
        }
        let reader = Reader::new();
        let splits = decoded
            .splits
            .0
            .into_iter()
            .map(|split| reader.split(split))
            .collect::<Result<Vec<_>>>()?;
        let envelope = PlanEnvelope {
            location: decoded.location.to_owned(),
            branch: decoded.branch.to_owned(),
            read_schema: TableSchema::from_json(decoded.read_schema)?,
            schemas,
            options,
            snapshot_id: decoded.snapshot_id,
            splits,
        };
        match unique_schemas(&envelope.schemas) {
            None => Ok(envelope),
            Some(id) => Err(Error::corrupt(format!("plan holds schema {id} twice"))),
        }
    }

    fn check(&self) -> Result<()> {
        if let Some(id) = unique_schemas(&self.schemas) {
            return Err(Error::invalid(format!(
                "plan holds schema {id} twice, expected each once"
            )));
        }
        for split in &self.splits {
            if let Some(file) = split
                .data_files
                .iter()
                .find(|file| self.schema(file.schema_id).is_none())
            {
                let id = file.schema_id;
                return Err(Error::invalid(format!("plan lacks schema {id} of a data file"))
                    .with("file", &file.file_name));
            }
            let files = split.data_files.len();
            let Some(list) = &split.deletion_files else {
                continue;
            };
            if list.len() != files {
                let entries = list.len();
                return Err(Error::invalid(format!(
                    "{entries} deletion file entries for {files} data files, expected one each"
                )));
            }
            if let Some(file) = list
                .iter()
                .flatten()
                .find(|file| file.cardinality.is_some_and(|c| c < 0))
            {
                return Err(
                    Error::invalid("cardinality of a deletion file is negative").with("path", &file.path)
                );
            }
        }
        Ok(())
    }
}

/// Checks everything around the body; true when the writer was newer than this build.
fn open(bytes: &[u8]) -> Result<(&[u8], bool)> {
    let mut input = DataInput::new(bytes);
    let magic: [u8; 8] = input.read_array()?;
    if magic != NATIVE_PLAN_MAGIC {
        return Err(Error::corrupt(format!(
            "not a plan: begins with {magic:02x?}, expected {NATIVE_PLAN_MAGIC:02x?}"
        )));
    }
    let version = u16::from_le_bytes(input.read_array()?);
    let min_reader = u16::from_le_bytes(input.read_array()?);
    if version == 0 || min_reader == 0 || min_reader > version {
        return Err(Error::corrupt(format!(
            "plan version {version} with minimum reader version {min_reader}"
        )));
    }
    if min_reader > NATIVE_PLAN_VERSION {
        return Err(Error::unsupported(format!(
            "plan version {version} needs a reader of version {min_reader} or newer, this build knows versions 1 to {NATIVE_PLAN_VERSION}"
        )));
    }
    let flags = u32::from_le_bytes(input.read_array()?);
    if flags & !KNOWN_FLAGS != 0 {
        return Err(Error::unsupported(format!(
            "plan uses unknown features {:#x}",
            flags & !KNOWN_FLAGS
        )));
    }
    let length = u64::from_le_bytes(input.read_array()?);
    let body_len = input
        .remaining()
        .checked_sub(CHECKSUM)
        .filter(|left| *left as u64 == length);
    let Some(body_len) = body_len else {
        let found = input.remaining();
        return Err(Error::corrupt(format!(
            "plan has {found} bytes behind its header, expected a body of {length} and {CHECKSUM} of checksum"
        )));
    };
    let body = input.read_bytes(body_len)?;
    let covered = bytes.get(..HEADER + body_len).unwrap_or_default();
    let (found, expected) = (crc32fast::hash(covered), u32::from_le_bytes(input.read_array()?));
    if found != expected {
        return Err(Error::corrupt(format!(
            "checksum of a plan is {found:08x}, expected {expected:08x}"
        )));
    }
    Ok((body, version > NATIVE_PLAN_VERSION))
}

/// An id that occurs twice.
fn unique_schemas(schemas: &[TableSchema]) -> Option<i64> {
    let mut seen = BTreeSet::new();
    schemas
        .iter()
        .map(|schema| schema.id)
        .find(|id| !seen.insert(*id))
}

/// The schema file without options that look like credentials.
fn schema_text(schema: &TableSchema) -> String {
    if !schema.options.keys().any(|key| is_secret_option(key)) {
        return schema.to_json();
    }
    let mut schema = schema.clone();
    schema.options.retain(|key, _| !is_secret_option(key));
    schema.to_json()
}
