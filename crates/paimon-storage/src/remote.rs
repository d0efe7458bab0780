// SPDX-License-Identifier: Apache-2.0

//! What the storage asks of a store that is not the local disk. Its one implementation is the feature `object-store`.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_core::stream::BoxStream;
use paimon_types::Result;

use crate::file::{FileStatus, InputFile, OutputStream};

/// The operations of [`Storage`](crate::Storage), whose documentation is their contract. Keys are literal, without leading
/// slash; `shown` is the location that errors and listings show.
#[async_trait]
pub(crate) trait RemoteStore: Send + Sync + fmt::Debug {
    async fn read(&self, key: &str, shown: &str) -> Result<Bytes>;
    async fn read_range(&self, key: &str, range: Range<u64>, shown: &str) -> Result<Bytes>;
    async fn read_ranges(&self, key: &str, ranges: &[Range<u64>], shown: &str) -> Result<Vec<Bytes>>;
    async fn status(&self, key: &str, shown: &str) -> Result<Option<FileStatus>>;
    async fn exists(&self, key: &str, shown: &str) -> Result<bool>;
    async fn write(&self, key: &str, content: Bytes, shown: &str) -> Result<()>;
    async fn create_if_absent(&self, key: &str, content: Bytes, shown: &str) -> Result<bool>;
    async fn list(&self, dir: &str, shown: &str) -> Result<Vec<FileStatus>>;
    async fn list_dirs(&self, dir: &str, shown: &str) -> Result<Vec<String>>;
    fn list_recursive(&self, dir: &str, shown: &str) -> BoxStream<'static, Result<FileStatus>>;
    async fn delete(&self, key: &str, shown: &str) -> Result<()>;
    async fn delete_dir(&self, dir: &str, shown: &str) -> Result<()>;
    async fn rename_dir(&self, from: &str, to: &str, shown_from: &str, shown_to: &str) -> Result<()>;
    fn open_input(&self, key: &str, shown: &str, size: Option<u64>) -> Result<Arc<dyn InputFile>>;
    fn open_output(&self, key: &str, shown: &str) -> Result<Box<dyn OutputStream>>;
}
