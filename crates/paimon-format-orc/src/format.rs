// SPDX-License-Identifier: Apache-2.0

//! The format and its factory.

use std::collections::BTreeMap;
use std::sync::Arc;

use paimon_format::{FileFormat, FileFormatFactory, FormatStatsExtractor, ReaderBuilder, WriterBuilder};
use paimon_types::{DataField, Result};

use crate::options::ReadOptions;
use crate::read::OrcReaderBuilder;
use crate::stats::OrcStatsExtractor;
use crate::write::OrcWriterBuilder;

/// Identifier and file extension of the format.
pub(crate) const IDENTIFIER: &str = "orc";

/// Makes [`OrcFileFormat`]s (Java `OrcFileFormatFactory`).
#[derive(Clone, Copy, Debug, Default)]
pub struct OrcFormatFactory;

impl OrcFormatFactory {
    /// The factory.
    pub fn new() -> Self {
        OrcFormatFactory
    }
}

impl FileFormatFactory for OrcFormatFactory {
    fn identifier(&self) -> &str {
        IDENTIFIER
    }

    fn create(&self, options: &BTreeMap<String, String>) -> Result<Arc<dyn FileFormat>> {
        Ok(Arc::new(OrcFileFormat {
            options: Arc::new(options.clone()),
        }))
    }
}

/// ORC files (Java `OrcFileFormat`).
///
/// Writer options (`orc.*`, `file.block-size`, `file.compression.zstd-level`) are parsed when a writer builder is made,
/// so that a reader never stumbles over them. Readers and statistics know one option:
/// `orc.timestamp-ltz.legacy.type` (default true), see `data-files.md` 4.
#[derive(Clone, Debug)]
pub struct OrcFileFormat {
    options: Arc<BTreeMap<String, String>>,
}

impl FileFormat for OrcFileFormat {
    fn identifier(&self) -> &str {
        IDENTIFIER
    }

    fn create_reader_builder(&self, batch_size: usize) -> Result<Box<dyn ReaderBuilder>> {
        let options = ReadOptions::parse(&self.options)?;
        Ok(Box::new(OrcReaderBuilder::new(batch_size, options)?))
    }

    fn reads_parts(&self) -> bool {
        true
    }

    fn create_writer_builder(
        &self,
        schema: &[DataField],
        batch_size: usize,
    ) -> Result<Box<dyn WriterBuilder>> {
        Ok(Box::new(OrcWriterBuilder::new(
            schema,
            &self.options,
            batch_size,
        )?))
    }

    fn create_stats_extractor(&self, schema: &[DataField]) -> Result<Box<dyn FormatStatsExtractor>> {
        let options = ReadOptions::parse(&self.options)?;
        Ok(Box::new(OrcStatsExtractor::new(schema, options)?))
    }
}
