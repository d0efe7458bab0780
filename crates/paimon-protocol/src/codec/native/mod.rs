// SPDX-License-Identifier: Apache-2.0

//! Our own forms of plans, splits, commit messages and bucket states: magic, version, flags, bincode body, CRC-32
//! (`docs/protocol.md`).

mod body;
mod convert;
mod convert_message;
mod frame;
mod work;

use std::collections::{BTreeMap, BTreeSet};

use paimon_types::{Error, Result, SharedBytes, TableSchema};

use crate::{PlanEnvelope, is_secret_option};
use body::{List, PlanBody, SplitBody};
use convert::{ValueReader, check_deletion_files};
use frame::Frame;
pub use work::{NATIVE_BUCKET_STATE_MAGIC, NATIVE_COMMIT_MESSAGE_MAGIC, NATIVE_SPLIT_MAGIC};
pub(crate) use work::{
    decode_commit_messages, decode_split, encode_commit_messages, encode_data_split, encode_split,
};

/// Version of the envelope that this build writes, and the newest whose every field it knows.
pub const NATIVE_PLAN_VERSION: u16 = 1;

/// First eight bytes of an envelope.
pub const NATIVE_PLAN_MAGIC: [u8; 8] = *b"\x89PMPLAN\n";

/// Version of a split in our own form that this build writes.
pub const NATIVE_SPLIT_VERSION: u16 = 1;

/// Version of commit messages in our own form that this build writes.
pub const NATIVE_COMMIT_MESSAGE_VERSION: u16 = 1;

/// Version of bucket states that this build writes.
pub const NATIVE_BUCKET_STATE_VERSION: u16 = 1;

/// Splits within splits that are read or written, as in the frame of Java's splits.
const MAX_DEPTH: usize = 8;

const PLAN: Frame = Frame {
    name: "plan",
    magic: NATIVE_PLAN_MAGIC,
    version: NATIVE_PLAN_VERSION,
    min_reader: 1,
    flags: 0,
};

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
        PLAN.seal(PlanBody {
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
        })
    }

    /// Reads an envelope.
    ///
    /// # Errors
    /// `Unsupported` for a version or feature that this build does not know, `Corrupt` for anything malformed: a
    /// checksum that does not match, bytes left over, text that is not UTF-8, a schema that does not parse.
    pub fn from_bytes(bytes: &[u8]) -> Result<PlanEnvelope> {
        let buffer = SharedBytes::copy_from(bytes);
        let (decoded, arena) = PLAN.decode::<PlanBody<'_>>(&buffer)?;
        let schemas = decoded
            .schemas
            .0
            .into_iter()
            .map(TableSchema::from_json)
            .collect::<Result<Vec<_>>>()?;
        let mut options = BTreeMap::new();
        for (key, value) in decoded.options.0 {
            if options.insert(key.to_owned(), value.to_owned()).is_some() {
                return Err(Error::corrupt("plan has an option twice").with("option", key));
            }
        }
        let mut reader = ValueReader::new(&buffer, arena);
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
            check_deletion_files(split.data_files.len(), split.deletion_files.as_deref())?;
        }
        Ok(())
    }
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
