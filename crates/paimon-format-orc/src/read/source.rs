// SPDX-License-Identifier: Apache-2.0

//! Bytes of a file: positioned reads on local disks, requests to remote stores, the end of the file from memory.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use paimon_storage::{InputFile, LocalFile};
use paimon_types::{Error, Result};
use tokio::runtime::Handle;

/// Ranges of a local file that lie this near are read at once.
const NEAR: u64 = 64 << 10;

/// A file. Clones share it.
#[derive(Clone)]
pub(crate) struct Source {
    file: Arc<dyn InputFile>,
    local: Option<Arc<LocalFile>>,
    runtime: Option<Handle>,
    /// Position and bytes of the end of the file.
    tail: (u64, Bytes),
}

impl Source {
    /// `tail` are the last bytes of `file`, and where they begin.
    ///
    /// # Errors
    /// `InvalidInput` for a remote file outside of a runtime.
    pub(crate) fn new(file: Arc<dyn InputFile>, tail: (u64, Bytes)) -> Result<Self> {
        let local = file.local_file();
        let runtime = Handle::try_current().ok();
        if local.is_none() && runtime.is_none() {
            return Err(Error::invalid(
                "a remote file is read inside of a tokio runtime only",
            ));
        }
        Ok(Source {
            file,
            local,
            runtime,
            tail,
        })
    }

    /// The runtime that requests of a remote file run on; `None` for a local file, which never waits.
    pub(crate) fn remote(&self) -> Option<&Handle> {
        match self.local {
            Some(_) => None,
            None => self.runtime.as_ref(),
        }
    }

    fn of_tail(&self, range: &Range<u64>) -> Option<Bytes> {
        let start = usize::try_from(range.start.checked_sub(self.tail.0)?).ok()?;
        let end = usize::try_from(range.end.checked_sub(self.tail.0)?).ok()?;
        (start <= end && end <= self.tail.1.len()).then(|| self.tail.1.slice(start..end))
    }

    /// The bytes of each range; `ranges` ascend. Of a local file they are there at once.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) async fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        if let Some(all) = ranges
            .iter()
            .map(|range| self.of_tail(range))
            .collect::<Option<Vec<_>>>()
        {
            return Ok(all);
        }
        match &self.local {
            Some(local) => read_local(local, ranges),
            None => self.file.read_ranges(ranges).await,
        }
    }
}

fn read_local(file: &LocalFile, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
    let mut out = Vec::with_capacity(ranges.len());
    let mut rest = ranges;
    while let Some(first) = rest.first() {
        let mut joined = first.clone();
        let mut count = 0;
        for range in rest {
            if range.start < joined.start || range.start > joined.end.saturating_add(NEAR) {
                break;
            }
            joined.end = joined.end.max(range.end);
            count += 1;
        }
        let count = count.max(1);
        let bytes = file.read_range(&joined)?;
        let (here, after) = rest.split_at(count);
        for range in here {
            let start = usize::try_from(range.start - joined.start).unwrap_or(usize::MAX);
            let end = usize::try_from(range.end - joined.start).unwrap_or(usize::MAX);
            out.push(bytes.slice(start..end));
        }
        rest = after;
    }
    Ok(out)
}
