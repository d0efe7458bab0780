// SPDX-License-Identifier: Apache-2.0

//! Avro object container files: magic, metadata map, sync marker, compressed blocks.

use paimon_types::{Error, Result};

use super::compression::{Decompressor, MAX_BLOCK_BYTES};
use super::{Cursor, Encoder, ManifestCompression, Program};

const MAGIC: &[u8; 4] = b"Obj\x01";
const ORC_MAGIC: &[u8; 3] = b"ORC";
const SYNC_LEN: usize = 16;
/// Avro's default sync interval (Java `DataFileConstants.DEFAULT_SYNC_INTERVAL`).
const BLOCK_BYTES: usize = 4000 * 16;

/// A container file held in memory; yields its blocks one after the other.
#[derive(Debug)]
pub(crate) struct ContainerReader<'a> {
    cursor: Cursor<'a>,
    sync: &'a [u8],
    decompressor: Decompressor,
    schema: &'a str,
}

impl<'a> ContainerReader<'a> {
    /// Reads the header.
    ///
    /// # Errors
    /// `Corrupt` for anything but an Avro container, `Unsupported` for ORC content and unknown codecs.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(bytes);
        if bytes.get(..ORC_MAGIC.len()) == Some(ORC_MAGIC.as_slice()) {
            return Err(Error::unsupported(
                "this manifest is an ORC file, only Avro manifests can be read",
            ));
        }
        if cursor.take(MAGIC.len()).ok() != Some(MAGIC.as_slice()) {
            return Err(Error::corrupt(
                "not an Avro container file: it does not begin with Obj1",
            ));
        }
        let (mut schema, mut codec) = (None, None);
        while let Some((count, _)) = cursor.block()? {
            for _ in 0..count {
                let key = cursor.string()?;
                let value = cursor.bytes()?;
                match key {
                    "avro.schema" => schema = Some(value),
                    "avro.codec" => codec = Some(value),
                    _ => {}
                }
            }
        }
        let sync = cursor.take(SYNC_LEN)?;
        let schema = schema.ok_or_else(|| Error::corrupt("avro header has no avro.schema"))?;
        let schema = text(schema, "avro.schema")?;
        let codec = codec.map_or(Ok("null"), |name| text(name, "avro.codec"))?;
        Ok(ContainerReader {
            cursor,
            sync,
            decompressor: Decompressor::new(codec, MAX_BLOCK_BYTES)?,
            schema,
        })
    }

    /// The writer's schema, compiled.
    pub(crate) fn program(&self) -> Result<Program> {
        Program::parse(self.schema)
    }

    /// Calls `f` with the bytes of each block and the number of its records.
    pub(crate) fn for_each_block(
        &mut self,
        mut f: impl FnMut(&mut Cursor<'_>, u64) -> Result<()>,
    ) -> Result<()> {
        while self.cursor.remaining() > 0 {
            let count = self.cursor.long()?;
            let count =
                u64::try_from(count).map_err(|_| Error::corrupt(format!("avro block of {count} records")))?;
            let block = self.cursor.bytes()?;
            if self.cursor.take(SYNC_LEN)? != self.sync {
                return Err(Error::corrupt(
                    "avro sync marker does not match, the file is damaged",
                ));
            }
            let mut records = Cursor::new(self.decompressor.decompress(block)?);
            f(&mut records, count)?;
            if records.remaining() > 0 {
                return Err(Error::corrupt(format!(
                    "{} bytes behind the last record of an avro block",
                    records.remaining()
                )));
            }
        }
        Ok(())
    }
}

fn text<'a>(bytes: &'a [u8], what: &str) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|e| Error::corrupt(format!("{what} is not UTF-8")).with_source(e))
}

/// Writes a container file into memory.
#[derive(Debug)]
pub(crate) struct ContainerWriter {
    out: Vec<u8>,
    block: Encoder,
    records: i64,
    sync: [u8; SYNC_LEN],
    compression: ManifestCompression,
}

impl ContainerWriter {
    pub(crate) fn new(schema: &str, compression: ManifestCompression, sync: [u8; SYNC_LEN]) -> Self {
        let mut head = Encoder::default();
        head.raw(MAGIC);
        head.long(2);
        head.string("avro.schema");
        head.string(schema);
        head.string("avro.codec");
        head.string(compression.avro_name());
        head.long(0);
        head.raw(&sync);
        ContainerWriter {
            out: head.into_bytes(),
            block: Encoder::default(),
            records: 0,
            sync,
            compression,
        }
    }

    /// Appends one record, which `write` encodes.
    pub(crate) fn append(&mut self, write: impl FnOnce(&mut Encoder)) -> Result<()> {
        write(&mut self.block);
        self.records += 1;
        if self.block.len() >= BLOCK_BYTES {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Bytes of finished blocks: the position by which writers roll.
    pub(crate) fn position(&self) -> usize {
        self.out.len()
    }

    fn flush(&mut self) -> Result<()> {
        if self.records == 0 {
            return Ok(());
        }
        let data = self.compression.compress(self.block.as_bytes())?;
        let mut framed = Encoder::default();
        framed.long(self.records);
        framed.bytes(&data);
        framed.raw(&self.sync);
        self.out.extend_from_slice(framed.as_bytes());
        self.block.clear();
        self.records = 0;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<Vec<u8>> {
        self.flush()?;
        Ok(self.out)
    }
}
