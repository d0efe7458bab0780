// SPDX-License-Identifier: Apache-2.0

//! Where encoded bytes wait for the output stream.

use std::io::{self, Write};

use bytes::Bytes;

/// Size from which a segment is handed over.
const SEGMENT: usize = 4 << 20;

/// Collects bytes in segments, so that nothing is copied when much of it comes.
#[derive(Debug, Default)]
pub(super) struct Sink {
    full: Vec<Bytes>,
    open: Vec<u8>,
}

impl Sink {
    /// Everything since the last call.
    pub(super) fn take(&mut self) -> Vec<Bytes> {
        if !self.open.is_empty() {
            self.full.push(Bytes::from(std::mem::take(&mut self.open)));
        }
        std::mem::take(&mut self.full)
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.open.extend_from_slice(bytes);
        if self.open.len() >= SEGMENT {
            self.full.push(Bytes::from(std::mem::take(&mut self.open)));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
