// SPDX-License-Identifier: Apache-2.0

//! The reader.

use std::sync::Arc;

use async_trait::async_trait;
use paimon_format::{FileBatchReader, MemoryPool, ReaderBuilder};
use paimon_storage::InputFile;
use paimon_types::{Error, Result};

use crate::options::ReadOptions;

/// Opens ORC files.
pub(crate) struct OrcReaderBuilder;

impl OrcReaderBuilder {
    pub(crate) fn new(_batch_size: usize, _options: ReadOptions) -> Result<Self> {
        Ok(OrcReaderBuilder)
    }
}

#[async_trait]
impl ReaderBuilder for OrcReaderBuilder {
    fn with_memory_pool(&mut self, _pool: Arc<dyn MemoryPool>) {}

    async fn build(&self, _file: Arc<dyn InputFile>) -> Result<Box<dyn FileBatchReader>> {
        Err(Error::unsupported("orc files cannot be read yet"))
    }
}
