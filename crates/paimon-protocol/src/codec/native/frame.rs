// SPDX-License-Identifier: Apache-2.0

//! Magic, versions, flags, length and checksum around a body; the same for every kind of value (`docs/protocol.md`).

use bincode::de::BorrowDecode;
use bincode::enc::Encode;
use bincode::error::DecodeError;
use paimon_types::{DataInput, Error, Result};

use super::body::{Arena, Whole};

/// Bytes before the body: magic, version, minimum reader version, flags, body length.
const HEADER: usize = 24;

/// Bytes behind the body.
const CHECKSUM: usize = 4;

/// Little-endian, variable-length integers. Slices are borrowed and lists grow as they are read, so the input's own
/// length is the limit.
const CONFIG: bincode::config::Configuration = bincode::config::standard();

/// One kind of value.
pub(super) struct Frame {
    /// Name in messages.
    pub(super) name: &'static str,
    /// First eight bytes.
    pub(super) magic: [u8; 8],
    /// Version that this build writes, and the newest whose every field it knows.
    pub(super) version: u16,
    /// Oldest reader that understands what this build writes.
    pub(super) min_reader: u16,
    /// Features that this build knows.
    pub(super) flags: u32,
}

impl Frame {
    /// Header, body, checksum.
    pub(super) fn seal(&self, body: impl Encode) -> Result<Vec<u8>> {
        let name = self.name;
        let body = bincode::encode_to_vec(body, CONFIG)
            .map_err(|e| Error::invalid(format!("{name} cannot be encoded")).with_source(e))?;
        let mut bytes = Vec::with_capacity(HEADER + body.len() + CHECKSUM);
        bytes.extend_from_slice(&self.magic);
        bytes.extend_from_slice(&self.version.to_le_bytes());
        bytes.extend_from_slice(&self.min_reader.to_le_bytes());
        bytes.extend_from_slice(&self.flags.to_le_bytes());
        bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&body);
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
        Ok(bytes)
    }

    /// The body and what its lists refer to.
    pub(super) fn decode<'a, T>(&self, bytes: &'a [u8]) -> Result<(T, Arena<'a>)>
    where
        T: BorrowDecode<'a, Arena<'a>>,
    {
        let name = self.name;
        let (body, newer) = self.open(bytes)?;
        let decoded = bincode::borrow_decode_from_slice_with_context::<_, Whole<'a, T>, _>(
            body,
            CONFIG,
            Arena::default(),
        );
        let (Whole(value, arena), used) = decoded.map_err(|e| match e {
            DecodeError::OtherString(message) => Error::unsupported(message),
            e => Error::corrupt(format!("body of a {name} does not decode")).with_source(e),
        })?;
        if used != body.len() && !newer {
            let left = body.len() - used;
            return Err(Error::corrupt(format!(
                "{left} unexpected bytes after the body of a {name}"
            )));
        }
        Ok((value, arena))
    }

    /// Checks everything around the body; true when the writer was newer than this build.
    fn open<'a>(&self, bytes: &'a [u8]) -> Result<(&'a [u8], bool)> {
        let (name, known) = (self.name, self.version);
        let mut input = DataInput::new(bytes);
        let magic: [u8; 8] = input.read_array()?;
        if magic != self.magic {
            return Err(Error::corrupt(format!(
                "not a {name}: begins with {magic:02x?}, expected {:02x?}",
                self.magic
            )));
        }
        let version = u16::from_le_bytes(input.read_array()?);
        let min_reader = u16::from_le_bytes(input.read_array()?);
        if version == 0 || min_reader == 0 || min_reader > version {
            return Err(Error::corrupt(format!(
                "{name} version {version} with minimum reader version {min_reader}"
            )));
        }
        if min_reader > known {
            return Err(Error::unsupported(format!(
                "{name} version {version} needs a reader of version {min_reader} or newer, this build knows versions 1 to {known}"
            )));
        }
        let flags = u32::from_le_bytes(input.read_array()?);
        if flags & !self.flags != 0 {
            return Err(Error::unsupported(format!(
                "{name} uses unknown features {:#x}, this build knows {:#x}",
                flags & !self.flags,
                self.flags
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
                "{name} has {found} bytes behind its header, expected a body of {length} and {CHECKSUM} of checksum"
            )));
        };
        let body = input.read_bytes(body_len)?;
        let covered = bytes.get(..HEADER + body_len).unwrap_or_default();
        let (found, expected) = (crc32fast::hash(covered), u32::from_le_bytes(input.read_array()?));
        if found != expected {
            return Err(Error::corrupt(format!(
                "checksum of a {name} is {found:08x}, expected {expected:08x}"
            )));
        }
        Ok((body, version > known))
    }
}
