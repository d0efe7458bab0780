// SPDX-License-Identifier: Apache-2.0

//! Bytes of a file for the decoder: positioned reads on local disks, read-ahead windows on remote stores.

use std::io::{self, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use paimon_storage::{InputFile, LocalFile};
use paimon_types::{Error, Result};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use super::remote::Remote;

/// A file that pages are read from. Clones share it.
#[derive(Clone)]
pub(crate) struct Source(Arc<Inner>);

struct Inner {
    size: u64,
    kind: Kind,
    /// The first failed read: it comes through the decoder as text only.
    failed: Mutex<Option<Error>>,
}

enum Kind {
    Local(Arc<LocalFile>),
    Remote(Remote),
}

impl Source {
    pub(crate) fn new(
        file: &Arc<dyn InputFile>,
        size: u64,
        remote: impl FnOnce() -> Result<Remote>,
    ) -> Result<Self> {
        let kind = match file.local_file() {
            Some(local) => Kind::Local(local),
            None => Kind::Remote(remote()?),
        };
        Ok(Source(Arc::new(Inner {
            size,
            kind,
            failed: Mutex::new(None),
        })))
    }

    /// The error of a read since the last call.
    pub(crate) fn take_error(&self) -> Option<Error> {
        self.0
            .failed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// The windows of a remote file.
    pub(crate) fn remote(&self) -> Option<&Remote> {
        match &self.0.kind {
            Kind::Local(_) => None,
            Kind::Remote(remote) => Some(remote),
        }
    }

    fn fail(&self, error: Error) -> io::Error {
        let text = error.to_string();
        let mut failed = self.0.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.get_or_insert(error);
        io::Error::other(text)
    }

    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        match &self.0.kind {
            Kind::Local(file) => file.read_at(buffer, position).map_err(|e| self.fail(e)),
            Kind::Remote(remote) => {
                let left = self.0.size.saturating_sub(position);
                let length = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                let bytes = remote.read_some(position, length).map_err(|e| self.fail(e))?;
                let length = bytes.len().min(buffer.len());
                if let (Some(to), Some(from)) = (buffer.get_mut(..length), bytes.get(..length)) {
                    to.copy_from_slice(from);
                }
                Ok(length)
            }
        }
    }
}

impl Length for Source {
    fn len(&self) -> u64 {
        self.0.size
    }
}

impl ChunkReader for Source {
    type T = BufReader<SourceRead>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        Ok(BufReader::new(SourceRead {
            source: self.clone(),
            position: start,
        }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        let end = start.checked_add(length as u64).filter(|end| *end <= self.0.size);
        let Some(end) = end else {
            return Err(ParquetError::EOF(format!(
                "{length} bytes at {start} reach past the end of the file at {}",
                self.0.size
            )));
        };
        let read = match &self.0.kind {
            Kind::Local(file) => file.read_range(&(start..end)),
            Kind::Remote(remote) => remote.read_exact(start, length),
        };
        read.map_err(|e| self.fail(e).into())
    }
}

/// Reads a [`Source`] forward.
pub(crate) struct SourceRead {
    source: Source,
    position: u64,
}

impl Read for SourceRead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let count = self.source.read_at(buffer, self.position)?;
        self.position += count as u64;
        Ok(count)
    }
}
