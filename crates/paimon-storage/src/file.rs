// SPDX-License-Identifier: Apache-2.0

//! What the storage hands out: file status, random access input, streaming output.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use paimon_types::Result;

use crate::LocalFile;

/// One file of a listing or a status call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStatus {
    /// Full location in the form of the call: the listed directory plus `/` plus the literal name.
    pub path: String,
    /// Length in bytes.
    pub size: u64,
    /// Last modification, milliseconds since 1970-01-01T00:00:00Z.
    pub modified_millis: i64,
}

/// A file opened for random access (`SeekableInputStream` with `VectoredReadable` of the Java product, without a position).
#[async_trait]
pub trait InputFile: Send + Sync {
    /// The location as it was given.
    fn path(&self) -> &str;

    /// Length in bytes. Asked of the store once, never when the length was given at open.
    ///
    /// # Errors
    /// `NotFound`, `PermissionDenied` or `Io`.
    async fn size(&self) -> Result<u64>;

    /// The bytes of `range`, exactly as many as asked for. An empty range costs nothing.
    ///
    /// # Errors
    /// `Corrupt` when the range reaches past the end of the file; `NotFound`, `PermissionDenied`, `Io`.
    async fn read_range(&self, range: Range<u64>) -> Result<Bytes>;

    /// The bytes of each range, in the order of `ranges`. Near ranges are fetched with one request.
    ///
    /// # Errors
    /// As [`InputFile::read_range`].
    async fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>>;

    /// The open file when it lies on a local disk, for reads without an async runtime.
    fn local_file(&self) -> Option<Arc<LocalFile>> {
        None
    }
}

/// A new file written from front to back. Nothing is visible under its name before [`OutputStream::close`] returned.
///
/// A stream that is dropped without `close` leaves no file. [`OutputStream::abort`] removes what is left of it (a hidden
/// temporary file, an unfinished multipart upload); dropping removes the temporary file, but an upload stays with the store
/// until the store's own clean-up.
#[async_trait]
pub trait OutputStream: Send {
    /// Appends `bytes`.
    ///
    /// # Errors
    /// `PermissionDenied` or `Io`. After an error only `abort` is useful.
    async fn write(&mut self, bytes: Bytes) -> Result<()>;

    /// Bytes written so far.
    fn position(&self) -> u64;

    /// Makes the file visible, whole, under its name; an existing file is replaced. A second call does nothing.
    ///
    /// # Errors
    /// `PermissionDenied` or `Io`; whether the file became visible is then unknown.
    async fn close(&mut self) -> Result<()>;

    /// Throws away what was written. Does nothing after `close` or a former `abort`.
    ///
    /// # Errors
    /// `PermissionDenied` or `Io` when remains could not be removed.
    async fn abort(&mut self) -> Result<()>;
}
