// SPDX-License-Identifier: Apache-2.0

//! Avro object container files: magic, metadata map, sync marker, compressed blocks.

use paimon_types::{Error, Result};

use crate::{Compression, Cursor, Decompressor, Encoder, Limits, MAX_BLOCK_BYTES, Program};

/// The first bytes of a container file.
pub const MAGIC: [u8; 4] = *b"Obj\x01";
/// Length of the marker behind the header and every block.
pub const SYNC_LEN: usize = 16;
/// Avro's default sync interval (Java `DataFileConstants.DEFAULT_SYNC_INTERVAL`).
const BLOCK_BYTES: usize = 4000 * 16;

/// What stands before the first block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// `avro.schema`: the writer's schema as JSON.
    pub schema: &'a str,
    /// `avro.codec`, `null` when it is not there.
    pub codec: &'a str,
    /// The marker of this file.
    pub sync: [u8; SYNC_LEN],
}

impl<'a> Header<'a> {
    /// Reads the header; the cursor stands behind it afterwards.
    ///
    /// # Errors
    /// `Corrupt` for anything but an Avro container, and when the bytes end inside of it.
    pub fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        if cursor.take(MAGIC.len()).ok() != Some(MAGIC.as_slice()) {
            return Err(Error::corrupt(
                "not an avro container file: it does not begin with Obj1",
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
        let sync = cursor.array()?;
        let schema = schema.ok_or_else(|| Error::corrupt("avro header has no avro.schema"))?;
        let schema = text(schema, "avro.schema")?;
        let codec = codec.map_or(Ok("null"), |name| text(name, "avro.codec"))?;
        Ok(Header { schema, codec, sync })
    }
}

/// What stands before the data of a block; the data and a sync marker follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHead {
    /// Number of records.
    pub records: u64,
    /// Bytes of the data as stored.
    pub bytes: u64,
}

impl BlockHead {
    /// Most bytes that a block head has.
    pub const MAX_LEN: usize = 20;

    /// Reads a block head.
    ///
    /// # Errors
    /// `Corrupt` when the bytes end inside of it or a number is negative.
    pub fn read(cursor: &mut Cursor<'_>) -> Result<Self> {
        let number = |value: i64, what: &str| {
            u64::try_from(value).map_err(|_| Error::corrupt(format!("avro block of {value} {what}")))
        };
        let records = number(cursor.long()?, "records")?;
        let bytes = number(cursor.long()?, "bytes")?;
        Ok(BlockHead { records, bytes })
    }
}

/// A container file held in memory; yields its blocks one after the other.
#[derive(Debug)]
pub struct ContainerReader<'a> {
    cursor: Cursor<'a>,
    sync: [u8; SYNC_LEN],
    decompressor: Decompressor,
    schema: &'a str,
}

impl<'a> ContainerReader<'a> {
    /// Reads the header.
    ///
    /// # Errors
    /// As [`Header::read`]; `Unsupported` for an unknown codec.
    pub fn open(bytes: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(bytes);
        let header = Header::read(&mut cursor)?;
        Ok(ContainerReader {
            cursor,
            sync: header.sync,
            decompressor: Decompressor::new(header.codec, MAX_BLOCK_BYTES)?,
            schema: header.schema,
        })
    }

    /// The writer's schema, compiled.
    ///
    /// # Errors
    /// As [`Program::parse`].
    pub fn program(&self, limits: Limits) -> Result<Program> {
        Program::parse(self.schema, limits)
    }

    /// Calls `f` with the bytes of each block and the number of its records.
    ///
    /// # Errors
    /// `Corrupt` when the file is damaged or `f` leaves bytes of a block; errors of `f`.
    pub fn for_each_block(&mut self, mut f: impl FnMut(&mut Cursor<'_>, u64) -> Result<()>) -> Result<()> {
        while self.cursor.remaining() > 0 {
            let head = BlockHead::read(&mut self.cursor)?;
            let block = self
                .cursor
                .take(usize::try_from(head.bytes).unwrap_or(usize::MAX))?;
            if self.cursor.array()? != self.sync {
                return Err(Error::corrupt(
                    "avro sync marker does not match, the file is damaged",
                ));
            }
            let mut records = Cursor::new(self.decompressor.decompress(block)?);
            f(&mut records, head.records)?;
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

/// The marker of a new file, made of an id that is used once (a UUID in text form).
pub fn sync_marker(id: &str) -> [u8; SYNC_LEN] {
    let mut marker = [0u8; SYNC_LEN];
    let digits = id
        .bytes()
        .filter(|b| *b != b'-')
        .map(|b| (b as char).to_digit(16).unwrap_or(u32::from(b)) as u8);
    for (i, digit) in digits.enumerate() {
        if let Some(byte) = marker.get_mut((i / 2) % SYNC_LEN) {
            *byte = byte.rotate_left(4) ^ digit;
        }
    }
    marker
}

/// Writes a container file into memory; what is complete may be taken out at any time.
///
/// A block ends with the record that makes it at least 64,000 bytes long, as in Java's `DataFileWriter`.
#[derive(Debug)]
pub struct ContainerWriter {
    out: Vec<u8>,
    /// Bytes that were taken out.
    taken: u64,
    block: Encoder,
    records: i64,
    sync: [u8; SYNC_LEN],
    compression: Compression,
}

impl ContainerWriter {
    /// Writes the header.
    pub fn new(schema: &str, compression: Compression, sync: [u8; SYNC_LEN]) -> Self {
        let mut head = Encoder::default();
        head.raw(&MAGIC);
        head.long(2);
        head.string("avro.schema");
        head.string(schema);
        head.string("avro.codec");
        head.string(compression.avro_name());
        head.long(0);
        head.raw(&sync);
        ContainerWriter {
            out: head.into_bytes(),
            taken: 0,
            block: Encoder::default(),
            records: 0,
            sync,
            compression,
        }
    }

    /// Appends one record, which `write` encodes.
    ///
    /// # Errors
    /// `Corrupt` when the codec fails.
    pub fn append(&mut self, write: impl FnOnce(&mut Encoder)) -> Result<()> {
        write(&mut self.block);
        self.end_record()
    }

    /// Where the bytes of the next record go, to be followed by [`ContainerWriter::end_record`].
    #[inline]
    pub fn encoder(&mut self) -> &mut Encoder {
        &mut self.block
    }

    /// Ends a record, and the block when it is full.
    ///
    /// # Errors
    /// `Corrupt` when the codec fails.
    #[inline]
    pub fn end_record(&mut self) -> Result<()> {
        self.records += 1;
        if self.block.len() >= BLOCK_BYTES {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Bytes of finished blocks, of the whole file: the position by which writers roll.
    pub fn position(&self) -> u64 {
        self.taken.saturating_add(self.out.len() as u64)
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        self.out.capacity() + self.block.capacity()
    }

    /// Header and finished blocks since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        self.taken = self.position();
        std::mem::take(&mut self.out)
    }

    /// Ends the open block, if it has records.
    ///
    /// # Errors
    /// `Corrupt` when the codec fails.
    pub fn flush(&mut self) -> Result<()> {
        if self.records == 0 {
            return Ok(());
        }
        let data = self.compression.compress(self.block.as_bytes())?;
        let mut framed = Encoder::default();
        framed.long(self.records);
        framed.long(data.len() as i64);
        self.out.extend_from_slice(framed.as_bytes());
        self.out.extend_from_slice(&data);
        self.out.extend_from_slice(&self.sync);
        self.block.clear();
        self.records = 0;
        Ok(())
    }

    /// Ends the file and gives what was not taken.
    ///
    /// # Errors
    /// `Corrupt` when the codec fails.
    pub fn finish(mut self) -> Result<Vec<u8>> {
        self.flush()?;
        Ok(self.out)
    }
}
