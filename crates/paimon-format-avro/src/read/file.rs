// SPDX-License-Identifier: Apache-2.0

//! An open file: its header, and the walk over its blocks.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use paimon_avro::{
    BlockHead, Cursor, Header, Limits, MAGIC, MAX_BLOCK_BYTES, Node, NodeId, Program, SYNC_LEN,
};
use paimon_format::blocking::spawn;
use paimon_storage::InputFile;
use paimon_types::{Error, Result};

use super::source::Source;
use crate::error::of_file;
use crate::schema::union_value;

/// Schemas that are read: far beyond what tables have.
const LIMITS: Limits = Limits {
    depth: 256,
    weight: 1_000_000,
};
/// Bytes that are read at first; most headers fit.
const FIRST_LOCAL: u64 = 64 << 10;
const FIRST_REMOTE: u64 = 256 << 10;
/// Largest header.
const LARGEST_HEADER: u64 = 64 << 20;
/// Bytes that are read at a time when only block heads are looked at.
const WALK_LOCAL: u64 = 64;
const WALK_REMOTE: u64 = 1 << 20;
/// Largest number of records without any bytes in a block.
const MOST_EMPTY_RECORDS: u64 = 1 << 24;

/// An open file.
pub(crate) struct AvroFile {
    pub(crate) file: Arc<dyn InputFile>,
    pub(crate) path: Arc<str>,
    pub(crate) size: u64,
    /// The first bytes, as they were read for the header.
    pub(crate) first: Bytes,
    pub(crate) program: Program,
    /// The record of a row.
    pub(crate) row: NodeId,
    /// Position of the record in a union around all rows, if there is one.
    pub(crate) branch: Option<i64>,
    pub(crate) codec: String,
    sync: [u8; SYNC_LEN],
    /// Where the first block begins.
    pub(crate) blocks: u64,
}

/// A block and the rows of the file that it holds.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) rows: Range<u64>,
    /// Where its data is, as stored.
    pub(crate) data: Range<u64>,
    /// Where the next block begins.
    pub(crate) next: u64,
}

impl AvroFile {
    /// Reads the header of `file`.
    ///
    /// # Errors
    /// That name the file. `Corrupt` when it is no Avro file or is cut; `Unsupported` for a codec or schema that we do
    /// not know; errors of the store.
    pub(crate) async fn open(file: Arc<dyn InputFile>) -> Result<Self> {
        let path: Arc<str> = file.path().into();
        let size = file.size().await?;
        Self::read(file, path.clone(), size)
            .await
            .map_err(|e| of_file(e, &path))
    }

    async fn read(file: Arc<dyn InputFile>, path: Arc<str>, size: u64) -> Result<Self> {
        let mut length = match file.local_file() {
            Some(_) => FIRST_LOCAL,
            None => FIRST_REMOTE,
        };
        loop {
            length = length.min(size);
            let first = file.read_range(0..length).await?;
            let mut cursor = Cursor::new(&first);
            let header = match Header::read(&mut cursor) {
                Ok(header) => header,
                Err(error) => {
                    let more = length < size && length < LARGEST_HEADER && first.starts_with(&MAGIC);
                    if !more {
                        return Err(error);
                    }
                    length = length.saturating_mul(4);
                    continue;
                }
            };
            let program = Program::parse(header.schema, LIMITS)?;
            let (row, branch) = row_of(&program)?;
            // Unknown codecs are refused here.
            paimon_avro::Decompressor::new(header.codec, MAX_BLOCK_BYTES)?;
            let (codec, sync) = (header.codec.to_owned(), header.sync);
            let blocks = cursor.position() as u64;
            return Ok(AvroFile {
                file,
                path,
                size,
                first,
                program,
                row,
                branch,
                codec,
                sync,
                blocks,
            });
        }
    }

    /// The block at `position`, whose first row is `row`; `None` at the end of the file.
    ///
    /// # Errors
    /// `Corrupt` when the file is damaged or ends inside of the block, `ResourcesExhausted` when the block is too large;
    /// errors of the source.
    pub(crate) fn block(&self, source: &mut Source, position: u64, row: u64) -> Result<Option<Block>> {
        let left = self.size.saturating_sub(position);
        if left == 0 {
            return Ok(None);
        }
        let head = source.view(position, left.min(BlockHead::MAX_LEN as u64))?;
        let mut cursor = Cursor::new(&head);
        let head = BlockHead::read(&mut cursor)?;
        let start = position + cursor.position() as u64;
        if head.bytes > MAX_BLOCK_BYTES as u64 {
            return Err(Error::resources(format!(
                "avro block of {} bytes, at most {MAX_BLOCK_BYTES} can be read",
                head.bytes
            )));
        }
        let end = start + head.bytes;
        let rows = row
            .checked_add(head.records)
            .ok_or_else(|| Error::corrupt(format!("avro block of {} records", head.records)))?;
        if head.bytes == 0 && head.records > MOST_EMPTY_RECORDS {
            return Err(Error::corrupt(format!(
                "avro block of {} records in no bytes",
                head.records
            )));
        }
        let next = end + SYNC_LEN as u64;
        if next > self.size {
            return Err(Error::corrupt(format!(
                "avro file of {} bytes ends inside of a block that reaches to {next}",
                self.size
            )));
        }
        Ok(Some(Block {
            rows: row..rows,
            data: start..end,
            next,
        }))
    }

    /// The data of `block` as it is stored, once the marker behind it was checked.
    ///
    /// # Errors
    /// `Corrupt` when the marker is not there; errors of the source.
    pub(crate) fn data(&self, source: &mut Source, block: &Block) -> Result<Bytes> {
        let mut data = source.view(block.data.start, block.next - block.data.start)?;
        let marker = data.split_off(data.len().saturating_sub(SYNC_LEN));
        self.compare(&marker, block)?;
        Ok(data)
    }

    /// Checks the marker behind `block`.
    ///
    /// # Errors
    /// `Corrupt` when it is not there.
    fn check_marker(&self, source: &mut Source, block: &Block) -> Result<()> {
        let marker = source.view(block.data.end, SYNC_LEN as u64)?;
        self.compare(&marker, block)
    }

    fn compare(&self, marker: &[u8], block: &Block) -> Result<()> {
        if *marker == self.sync {
            return Ok(());
        }
        Err(Error::corrupt(format!(
            "avro sync marker does not match behind the block at {}, the file is damaged",
            block.data.start
        )))
    }

    /// The number of rows by the heads of all blocks.
    ///
    /// # Errors
    /// As [`AvroFile::block`].
    fn count(&self, source: &mut Source) -> Result<u64> {
        let (mut position, mut row) = (self.blocks, 0);
        while let Some(block) = self.block(source, position, row)? {
            self.check_marker(source, &block)?;
            (position, row) = (block.next, block.rows.end);
        }
        Ok(row)
    }

    /// The number of rows, without waiting.
    ///
    /// # Errors
    /// `Unsupported` when the store does not answer at once; as [`AvroFile::block`].
    pub(crate) fn count_now(&self) -> Result<u64> {
        let window = match self.file.local_file() {
            Some(_) => WALK_LOCAL,
            None => WALK_REMOTE,
        };
        let mut source = Source::immediate(self.file.clone(), self.size, self.first.clone(), window);
        self.count(&mut source).map_err(|e| of_file(e, &self.path))
    }
}

/// The number of rows of a file, by its block heads; a remote file is fetched for that, a window at a time.
///
/// # Errors
/// As [`AvroFile::block`].
pub(crate) async fn count_rows(file: Arc<AvroFile>) -> Result<u64> {
    let path = file.path.clone();
    spawn("counting avro rows", move || {
        let window = match file.file.local_file() {
            Some(_) => WALK_LOCAL,
            None => WALK_REMOTE,
        };
        let mut source = Source::new(file.file.clone(), file.size, file.first.clone(), window, true)?;
        file.count(&mut source)
    })
    .await
    .map_err(|e| of_file(e, &path))
}

/// The record of a row, and its position in the union around it.
fn row_of(program: &Program) -> Result<(NodeId, Option<i64>)> {
    let root = program.root();
    let (row, branch) = match program.node(root) {
        Node::Union(branches) => match union_value(program, branches)?.value {
            Some((row, branch)) => (row, Some(branch)),
            None => return Err(Error::corrupt("rows of the avro file are null")),
        },
        _ => (root, None),
    };
    match program.node(row) {
        Node::Record(_) => Ok((row, branch)),
        other => Err(Error::unsupported(format!(
            "rows of the avro file are of type {}, record is expected",
            other.describe()
        ))),
    }
}
