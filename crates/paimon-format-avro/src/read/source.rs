// SPDX-License-Identifier: Apache-2.0

//! The bytes of a file, read forward in windows. Used on blocking threads.

use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use paimon_storage::{InputFile, LocalFile};
use paimon_types::{Error, Result};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

/// Where bytes come from.
enum Kind {
    /// Positioned reads.
    Local(Arc<LocalFile>),
    /// The runtime fetches, ahead too when allowed.
    Remote { runtime: Handle, ahead: bool },
    /// A store that answers at once, or not at all.
    Immediate,
}

/// A file and the window of it that is in memory.
pub(crate) struct Source {
    file: Arc<dyn InputFile>,
    kind: Kind,
    size: u64,
    /// Bytes that are fetched at once, if there is no reason for more.
    window: u64,
    bytes: Bytes,
    start: u64,
    coming: Option<(Range<u64>, JoinHandle<Result<Bytes>>)>,
}

impl Drop for Source {
    fn drop(&mut self) {
        self.forget_coming();
    }
}

impl Source {
    /// A file of which `first`, its first bytes, are known. `ahead` lets a remote file be fetched ahead of its reader.
    ///
    /// # Errors
    /// `InvalidInput` when the file is remote and there is no runtime.
    pub(crate) fn new(
        file: Arc<dyn InputFile>,
        size: u64,
        first: Bytes,
        window: u64,
        ahead: bool,
    ) -> Result<Self> {
        let kind = match file.local_file() {
            Some(local) => Kind::Local(local),
            None => Kind::Remote {
                runtime: Handle::try_current()
                    .map_err(|_| Error::invalid("a remote file is read inside of a tokio runtime only"))?,
                ahead,
            },
        };
        Ok(Source::of_kind(kind, file, size, first, window))
    }

    /// A file that is read without waiting: `view` fails for a remote one that does not answer at once.
    pub(crate) fn immediate(file: Arc<dyn InputFile>, size: u64, first: Bytes, window: u64) -> Self {
        let kind = match file.local_file() {
            Some(local) => Kind::Local(local),
            None => Kind::Immediate,
        };
        Source::of_kind(kind, file, size, first, window)
    }

    fn of_kind(kind: Kind, file: Arc<dyn InputFile>, size: u64, first: Bytes, window: u64) -> Self {
        Source {
            file,
            kind,
            size,
            window,
            bytes: first,
            start: 0,
            coming: None,
        }
    }

    /// Bytes of memory held, those on their way included.
    pub(crate) fn memory(&self) -> usize {
        let coming = self
            .coming
            .as_ref()
            .map_or(0, |(range, _)| range.end - range.start);
        self.bytes.len() + usize::try_from(coming).unwrap_or(usize::MAX)
    }

    /// Exactly `length` bytes at `position`.
    ///
    /// # Errors
    /// `Corrupt` when the file ends before; errors of the store.
    pub(crate) fn view(&mut self, position: u64, length: u64) -> Result<Bytes> {
        let end = position.checked_add(length).filter(|end| *end <= self.size);
        let Some(end) = end else {
            return Err(Error::corrupt(format!(
                "avro file ends early: {length} bytes wanted at {position} of {}",
                self.size
            )));
        };
        if let Some(bytes) = self.held(position, end) {
            return Ok(bytes);
        }
        self.load(position, end)?;
        self.held(position, end)
            .ok_or_else(|| Error::io("the store gave other bytes than asked for"))
    }

    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    fn held(&self, position: u64, end: u64) -> Option<Bytes> {
        if position < self.start || end > self.end() {
            return None;
        }
        let from = usize::try_from(position - self.start).ok()?;
        let to = usize::try_from(end - self.start).ok()?;
        Some(self.bytes.slice(from..to))
    }

    /// Makes the window begin at `position` and reach to `end` at least.
    fn load(&mut self, position: u64, end: u64) -> Result<()> {
        // A little of a local file is rather read again than moved together with what follows.
        let again = match self.kind {
            Kind::Local(_) => self.window / 2,
            Kind::Remote { .. } | Kind::Immediate => 0,
        };
        let keep = match (self.start..self.end()).contains(&position) {
            true if self.end() - position > again => self.held(position, self.end()).unwrap_or_default(),
            _ => Bytes::new(),
        };
        let mut parts = vec![keep];
        let mut have = position + parts.iter().map(|part| part.len() as u64).sum::<u64>();
        while have < end {
            let part = self.fetch(have, end)?;
            if part.is_empty() {
                return Err(Error::corrupt("avro file ends early"));
            }
            have += part.len() as u64;
            parts.push(part);
        }
        parts.retain(|part| !part.is_empty());
        self.bytes = match parts.as_slice() {
            [part] => part.clone(),
            parts => {
                let mut all = BytesMut::with_capacity(parts.iter().map(Bytes::len).sum());
                parts.iter().for_each(|part| all.extend_from_slice(part));
                all.freeze()
            }
        };
        self.start = position;
        self.fetch_ahead();
        Ok(())
    }

    /// Bytes at `from`, to `end` or a window of them.
    fn fetch(&mut self, from: u64, end: u64) -> Result<Bytes> {
        let range = from..end.max(from.saturating_add(self.window)).min(self.size);
        match &self.kind {
            Kind::Local(file) => file.read_range(&range),
            Kind::Immediate => match self.file.read_range(range).now_or_never() {
                Some(bytes) => bytes,
                None => Err(Error::unsupported(
                    "a remote avro file has to be gone through to count its rows",
                )),
            },
            Kind::Remote { runtime, .. } => {
                if let Some((coming, handle)) = self.coming.take() {
                    if coming.contains(&from) {
                        let bytes = runtime
                            .block_on(handle)
                            .map_err(|_| Error::io("the runtime was shut down during a read"))??;
                        let skip = usize::try_from(from - coming.start).unwrap_or(usize::MAX);
                        return Ok(bytes.slice(skip.min(bytes.len())..));
                    }
                    handle.abort();
                }
                runtime.block_on(self.file.read_range(range))
            }
        }
    }

    fn fetch_ahead(&mut self) {
        let Kind::Remote { runtime, ahead: true } = &self.kind else {
            return;
        };
        let from = self.end();
        let range = from..from.saturating_add(self.window).min(self.size);
        if range.is_empty() || self.coming.is_some() {
            return;
        }
        let (file, fetch) = (self.file.clone(), range.clone());
        let handle = runtime.spawn(async move { file.read_range(fetch).await });
        self.coming = Some((range, handle));
    }

    fn forget_coming(&mut self) {
        if let Some((_, handle)) = self.coming.take() {
            handle.abort();
        }
    }
}
