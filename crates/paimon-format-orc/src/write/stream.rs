// SPDX-License-Identifier: Apache-2.0

//! A stream of a column: bytes that are compressed in chunks as they come.

use paimon_types::Result;

use super::codec::Compressor;

/// The bytes of one stream in the open stripe.
#[derive(Debug)]
pub(super) struct Stream {
    /// Bytes of a chunk before compression, `None` when nothing is compressed.
    chunk: Option<usize>,
    /// Whole chunks with their headers.
    done: Vec<u8>,
    /// What is not in a chunk yet; everything when nothing is compressed.
    open: Vec<u8>,
}

impl Stream {
    pub(super) fn new(chunk: Option<usize>) -> Self {
        Stream {
            chunk: chunk.map(|bytes| bytes.max(1)),
            done: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Where encoders append to.
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.open
    }

    /// Compresses the chunks that are full.
    pub(super) fn drain(&mut self, compressor: &mut Compressor) -> Result<()> {
        let Some(chunk) = self.chunk else { return Ok(()) };
        if self.open.len() < chunk {
            return Ok(());
        }
        let mut chunks = self.open.chunks_exact(chunk);
        for full in &mut chunks {
            compressor.chunk(full, &mut self.done)?;
        }
        let rest = chunks.remainder().len();
        self.open.drain(..self.open.len() - rest);
        // A long value must not keep its memory for the rest of the file.
        if self.open.capacity() > chunk.saturating_mul(4) {
            self.open.shrink_to(chunk.max(rest));
        }
        Ok(())
    }

    /// Where the next byte will be, as row indexes say it: start of the chunk in the file and offset within the
    /// uncompressed chunk, or the offset alone. Only right after [`Stream::drain`].
    pub(super) fn position(&self, to: &mut Vec<u64>) {
        if self.chunk.is_some() {
            to.push(self.done.len() as u64);
        }
        to.push(self.open.len() as u64);
    }

    /// The bytes as they go into the file. The stream is empty then.
    pub(super) fn finish(&mut self, compressor: &mut Compressor) -> Result<Vec<u8>> {
        self.drain(compressor)?;
        let open = std::mem::take(&mut self.open);
        if self.chunk.is_none() {
            return Ok(open);
        }
        if !open.is_empty() {
            compressor.chunk(&open, &mut self.done)?;
        }
        Ok(std::mem::take(&mut self.done))
    }

    /// About the bytes that the stream will have in the file.
    pub(super) fn encoded_bytes(&self) -> usize {
        self.done.len() + self.open.len()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.done.capacity() + self.open.capacity()
    }
}
