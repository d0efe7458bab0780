// SPDX-License-Identifier: Apache-2.0

//! The stream, with the frame of the record that is being written.

use arrow_array::LargeBinaryArray;
use arrow_buffer::Buffer;
use bytes::{Bytes, BytesMut};
use crc32fast::Hasher;
use paimon_storage::OutputStream;
use paimon_types::{Error, Result};

use crate::layout::RECORD_MAGIC;

/// Small pieces are collected up to this size; larger ones go to the stream without a copy.
const BUFFER: usize = 64 << 10;

pub(super) struct Sink {
    out: Box<dyn OutputStream>,
    buffer: BytesMut,
    crc: Hasher,
    record_start: u64,
}

impl Sink {
    pub(super) fn new(out: Box<dyn OutputStream>) -> Self {
        Sink {
            out,
            buffer: BytesMut::new(),
            crc: Hasher::new(),
            record_start: 0,
        }
    }

    /// Bytes written so far, buffered ones among them.
    pub(super) fn position(&self) -> u64 {
        self.out.position().saturating_add(self.buffer.len() as u64)
    }

    /// Bytes of memory held.
    pub(super) fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// Begins a record.
    pub(super) async fn begin(&mut self) -> Result<()> {
        self.record_start = self.position();
        self.crc.reset();
        self.put(&RECORD_MAGIC.to_le_bytes()).await
    }

    /// Ends the record and returns its length.
    pub(super) async fn end(&mut self) -> Result<i64> {
        let length = self
            .position()
            .saturating_sub(self.record_start)
            .saturating_add(12);
        let length =
            i64::try_from(length).map_err(|_| Error::invalid(format!("record of {length} bytes")))?;
        self.put(&length.to_le_bytes()).await?;
        let crc = self.crc.clone().finalize();
        self.put(&crc.to_le_bytes()).await?;
        Ok(length)
    }

    /// Writes a few bytes.
    pub(super) async fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.crc.update(bytes);
        // What does not fit is written in parts, so that the buffer keeps its size.
        for part in bytes.chunks(BUFFER) {
            if self.buffer.len().saturating_add(part.len()) > BUFFER {
                self.flush().await?;
            }
            self.buffer.extend_from_slice(part);
        }
        Ok(())
    }

    /// Writes the value of a row.
    pub(super) async fn put_value(&mut self, values: &LargeBinaryArray, row: usize) -> Result<()> {
        let value = values.value(row);
        if value.len() < BUFFER {
            return self.put(value).await;
        }
        let start = values.value_offsets().get(row).copied().unwrap_or(0);
        let start = usize::try_from(start).map_err(|_| Error::invalid(format!("value begins at {start}")))?;
        self.crc.update(value);
        self.flush().await?;
        let shared = Shared(values.values().slice_with_length(start, value.len()));
        self.out.write(Bytes::from_owner(shared)).await
    }

    /// Hands what is buffered to the stream.
    pub(super) async fn flush(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        self.out.write(self.buffer.split().freeze()).await
    }

    pub(super) fn into_output(self) -> Box<dyn OutputStream> {
        self.out
    }
}

/// Bytes of an Arrow array.
struct Shared(Buffer);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        self.0.as_slice()
    }
}
