// SPDX-License-Identifier: Apache-2.0

//! A file in memory.

use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use paimon_storage::InputFile;
use paimon_types::{Error, Result};

/// A file that was read as a whole: manifests are small, and their first bytes had to be seen anyway.
#[derive(Debug)]
pub(super) struct BytesFile {
    path: String,
    bytes: Bytes,
}

impl BytesFile {
    pub(super) fn new(path: &str, bytes: Bytes) -> Self {
        BytesFile {
            path: path.to_string(),
            bytes,
        }
    }

    fn slice(&self, range: &Range<u64>) -> Result<Bytes> {
        let place = |at: u64| usize::try_from(at).ok().filter(|at| *at <= self.bytes.len());
        match (place(range.start), place(range.end)) {
            (Some(start), Some(end)) if start <= end => Ok(self.bytes.slice(start..end)),
            _ => Err(Error::corrupt(format!(
                "bytes {} to {} are asked for, the file has {}",
                range.start,
                range.end,
                self.bytes.len()
            ))
            .with("path", &self.path)),
        }
    }
}

#[async_trait]
impl InputFile for BytesFile {
    fn path(&self) -> &str {
        &self.path
    }

    async fn size(&self) -> Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    async fn read_range(&self, range: Range<u64>) -> Result<Bytes> {
        self.slice(&range)
    }

    async fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        ranges.iter().map(|range| self.slice(range)).collect()
    }
}
