// SPDX-License-Identifier: Apache-2.0

//! The writer.

use std::collections::BTreeMap;

use paimon_format::{FormatWriter, MemoryPool, WriterBuilder};
use paimon_storage::OutputStream;
use paimon_types::{DataField, Error, Result};

/// Makes writers of ORC files.
#[derive(Debug)]
pub(crate) struct OrcWriterBuilder;

impl OrcWriterBuilder {
    pub(crate) fn new(
        _schema: &[DataField],
        _options: &BTreeMap<String, String>,
        _batch_size: usize,
    ) -> Result<Self> {
        Err(Error::unsupported("orc files cannot be written yet"))
    }
}

impl WriterBuilder for OrcWriterBuilder {
    fn with_memory_pool(&mut self, _pool: std::sync::Arc<dyn MemoryPool>) {}

    fn build(&self, _out: Box<dyn OutputStream>, _compression: &str) -> Result<Box<dyn FormatWriter>> {
        Err(Error::unsupported("orc files cannot be written yet"))
    }
}
