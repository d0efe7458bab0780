// SPDX-License-Identifier: Apache-2.0

//! What a BLOB value may hold instead of its data: a reference to bytes of a file or to a value of another table
//! (Java `BlobDescriptor`, `BlobViewStruct`; `data-files.md` 11.5, `wire.md` 12). All numbers are little-endian.

#[cfg(test)]
mod tests;

use crate::{DataInput, Error, Result};

/// `BLOBDESC`.
const DESCRIPTOR_MAGIC: i64 = 0x424C_4F42_4445_5343;
const DESCRIPTOR_VERSION: u8 = 2;
/// `BLOBVIEW`.
const VIEW_MAGIC: i64 = 0x424C_4F42_5649_4557;
const VIEW_VERSION: u8 = 1;

/// Bytes of a file (Java `BlobDescriptor`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BlobDescriptor {
    /// Location of the file, as it is.
    pub uri: String,
    /// First byte, from 0.
    pub offset: i64,
    /// Number of bytes, −1 for all up to the end of the file.
    pub length: i64,
}

impl BlobDescriptor {
    /// True when `bytes` begin as a descriptor of version 2 does. Version 1 has no mark and is never recognised: it is
    /// read only where a column is declared to hold descriptors.
    pub fn is_descriptor(bytes: &[u8]) -> bool {
        // The version is a signed byte in Java, so that 0x80 and above are old versions.
        marked(bytes, DESCRIPTOR_MAGIC, |version| {
            version as i8 <= DESCRIPTOR_VERSION as i8
        })
    }

    /// The form of version 2.
    ///
    /// # Errors
    /// `InvalidInput` when the location is longer than 2³¹ − 1 bytes.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(29usize.saturating_add(self.uri.len()));
        out.push(DESCRIPTOR_VERSION);
        out.extend_from_slice(&DESCRIPTOR_MAGIC.to_le_bytes());
        put_text(&mut out, &self.uri)?;
        out.extend_from_slice(&self.offset.to_le_bytes());
        out.extend_from_slice(&self.length.to_le_bytes());
        Ok(out)
    }

    /// A descriptor of version 1 or 2. Bytes behind it are ignored, as in Java.
    ///
    /// # Errors
    /// `Unsupported` for a version above 2, `Corrupt` when the bytes are no descriptor.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut input = DataInput::new(bytes);
        let read = |input: &mut DataInput<'_>| {
            let version = input.read_i8()?;
            if version > DESCRIPTOR_VERSION as i8 {
                return Err(Error::unsupported(format!(
                    "blob descriptor has version {version}, at most {DESCRIPTOR_VERSION} is known"
                )));
            }
            if version > 1 {
                expect_magic(input, DESCRIPTOR_MAGIC)?;
            }
            Ok(BlobDescriptor {
                uri: get_text(input)?,
                offset: input.read_i64_le()?,
                length: input.read_i64_le()?,
            })
        };
        read(&mut input).map_err(|e| named("blob descriptor", e))
    }
}

/// A value of another table (Java `BlobViewStruct`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BlobView {
    /// `database.table`, with a branch `database.table$branch_name`.
    pub table: String,
    /// Id of the column.
    pub field_id: i32,
    /// Row id of the row.
    pub row_id: i64,
}

impl BlobView {
    /// True when `bytes` begin as a view does.
    pub fn is_view(bytes: &[u8]) -> bool {
        marked(bytes, VIEW_MAGIC, |version| version == VIEW_VERSION)
    }

    /// The form of version 1.
    ///
    /// # Errors
    /// `InvalidInput` when the table is not named with its database.
    pub fn encode(&self) -> Result<Vec<u8>> {
        match self.table.split_once('.') {
            Some((database, table)) if !database.is_empty() && !table.is_empty() && database != "unknown" => {
            }
            _ => {
                return Err(Error::invalid(format!(
                    "table of a blob view is {:?}, database.table expected",
                    self.table
                )));
            }
        }
        let mut out = Vec::with_capacity(25usize.saturating_add(self.table.len()));
        out.push(VIEW_VERSION);
        out.extend_from_slice(&VIEW_MAGIC.to_le_bytes());
        put_text(&mut out, &self.table)?;
        out.extend_from_slice(&self.field_id.to_le_bytes());
        out.extend_from_slice(&self.row_id.to_le_bytes());
        Ok(out)
    }

    /// A view of version 1. Bytes behind it are ignored, as in Java.
    ///
    /// # Errors
    /// `Unsupported` for another version, `Corrupt` when the bytes are no view.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut input = DataInput::new(bytes);
        let read = |input: &mut DataInput<'_>| {
            let version = input.read_u8()?;
            if version != VIEW_VERSION {
                return Err(Error::unsupported(format!(
                    "blob view has version {version}, {VIEW_VERSION} is known"
                )));
            }
            expect_magic(input, VIEW_MAGIC)?;
            let table = get_text(input)?;
            if !table.contains('.') {
                return Err(Error::corrupt(format!(
                    "table is {table:?}, database.table expected"
                )));
            }
            Ok(BlobView {
                table,
                field_id: input.read_i32_le()?,
                row_id: input.read_i64_le()?,
            })
        };
        read(&mut input).map_err(|e| named("blob view", e))
    }
}

/// What the bytes given for a BLOB value mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlobValue<'a> {
    /// A value of another table.
    View(BlobView),
    /// Bytes of a file.
    Descriptor(BlobDescriptor),
    /// The data themselves.
    Data(&'a [u8]),
}

impl<'a> BlobValue<'a> {
    /// Tries view, then descriptor; everything else is data.
    ///
    /// # Errors
    /// `Corrupt` for bytes that begin as a reference but are none, `Unsupported` for a version that is not known.
    pub fn of(bytes: &'a [u8]) -> Result<Self> {
        if BlobView::is_view(bytes) {
            BlobView::decode(bytes).map(BlobValue::View)
        } else if BlobDescriptor::is_descriptor(bytes) {
            BlobDescriptor::decode(bytes).map(BlobValue::Descriptor)
        } else {
            Ok(BlobValue::Data(bytes))
        }
    }
}

fn marked(bytes: &[u8], magic: i64, version_fits: impl Fn(u8) -> bool) -> bool {
    bytes.split_first().is_some_and(|(version, rest)| {
        version_fits(*version) && rest.first_chunk() == Some(&magic.to_le_bytes())
    })
}

fn expect_magic(input: &mut DataInput<'_>, magic: i64) -> Result<()> {
    let found = input.read_i64_le()?;
    if found == magic {
        return Ok(());
    }
    Err(Error::corrupt(format!(
        "magic number is {found:#x}, {magic:#x} expected"
    )))
}

fn put_text(out: &mut Vec<u8>, text: &str) -> Result<()> {
    let length = i32::try_from(text.len())
        .map_err(|_| Error::invalid(format!("text of a blob reference has {} bytes", text.len())))?;
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

fn get_text(input: &mut DataInput<'_>) -> Result<String> {
    let length = input.read_i32_le()?;
    let length = usize::try_from(length)
        .map_err(|_| Error::corrupt(format!("text has {length} bytes, at least 0 expected")))?;
    let bytes = input.read_bytes(length)?;
    let text = std::str::from_utf8(bytes).map_err(|e| Error::corrupt(format!("text is no utf-8: {e}")))?;
    Ok(text.to_owned())
}

fn named(what: &str, error: Error) -> Error {
    if error.message().starts_with(what) {
        return error;
    }
    Error::new(error.kind(), format!("{what} is damaged: {}", error.message()))
}
