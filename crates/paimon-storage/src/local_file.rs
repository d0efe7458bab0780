// SPDX-License-Identifier: Apache-2.0

//! An open file of the local disk, read at positions without an async runtime.

use std::fs::File;
use std::io;
use std::ops::Range;

use bytes::Bytes;
use paimon_types::{Error, Result};

use crate::error::{from_io, past_end};

/// A local file for decoders that run on threads of their own. All reads are positioned; several threads may share it.
#[derive(Debug)]
pub struct LocalFile {
    file: File,
    path: String,
    /// Held while the cursor of `file` is moved.
    #[cfg(not(unix))]
    cursor: std::sync::Mutex<()>,
}

impl LocalFile {
    pub(crate) fn new(file: File, path: String) -> Self {
        LocalFile {
            file,
            path,
            #[cfg(not(unix))]
            cursor: std::sync::Mutex::default(),
        }
    }

    /// Reads at most `buffer.len()` bytes at `position`; 0 at the end of the file.
    ///
    /// # Errors
    /// `Io` or `PermissionDenied`, with the path.
    pub fn read_at(&self, buffer: &mut [u8], position: u64) -> Result<usize> {
        loop {
            match self.read_file_at(buffer, position) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read.map_err(|e| from_io(e, "read", &self.path)),
            }
        }
    }

    /// The bytes of `range`, exactly as many.
    ///
    /// # Errors
    /// `Corrupt` when the range reaches past the end; `ResourcesExhausted` when there is no memory for it; `Io`.
    pub fn read_range(&self, range: &Range<u64>) -> Result<Bytes> {
        let wanted = range.end.saturating_sub(range.start);
        if wanted == 0 {
            return Ok(Bytes::new());
        }
        let mut buffer = Vec::new();
        // A range from a damaged footer may ask for anything: a reservation that is never filled costs nothing.
        usize::try_from(wanted)
            .ok()
            .and_then(|length| buffer.try_reserve_exact(length).ok())
            .ok_or_else(|| {
                Error::resources(format!("no memory for {wanted} bytes")).with("path", &self.path)
            })?;
        let read = self.fill(&mut buffer, wanted, range.start);
        read.map_err(|e| from_io(e, "read", &self.path))?;
        let got = buffer.len() as u64;
        match got == wanted {
            true => Ok(buffer.into()),
            false => Err(past_end(range, got, &self.path)),
        }
    }

    /// Reads into the room that `buffer` has, which is `wanted` bytes at least, without clearing it first.
    #[cfg(unix)]
    fn fill(&self, buffer: &mut Vec<u8>, wanted: u64, position: u64) -> io::Result<()> {
        while (buffer.len() as u64) < wanted {
            let offset = position.saturating_add(buffer.len() as u64);
            let room = rustix::buffer::spare_capacity(&mut *buffer);
            match rustix::io::pread(&self.file, room, offset) {
                Ok(0) => break,
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        // The room may be larger than what was asked for.
        buffer.truncate(usize::try_from(wanted).unwrap_or(usize::MAX));
        Ok(())
    }

    /// Moves the cursor on this system, as does [`read_file_at`](Self::read_file_at).
    #[cfg(not(unix))]
    fn fill(&self, buffer: &mut Vec<u8>, wanted: u64, position: u64) -> io::Result<()> {
        use std::io::{Read, Seek, SeekFrom};
        let _cursor = self
            .cursor
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut file = &self.file;
        file.seek(SeekFrom::Start(position))?;
        file.take(wanted).read_to_end(buffer).map(|_| ())
    }

    #[cfg(unix)]
    fn read_file_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.file, buffer, position)
    }

    #[cfg(not(unix))]
    fn read_file_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        use std::io::{Read, Seek, SeekFrom};
        let _cursor = self
            .cursor
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut file = &self.file;
        file.seek(SeekFrom::Start(position))?;
        file.read(buffer)
    }
}
