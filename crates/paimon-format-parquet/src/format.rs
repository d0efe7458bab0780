// SPDX-License-Identifier: Apache-2.0

//! The format and its factory.

use std::collections::BTreeMap;
use std::sync::Arc;

use paimon_format::{FileFormat, FileFormatFactory, FormatStatsExtractor, ReaderBuilder, WriterBuilder};
use paimon_types::{DataField, Result};

use crate::read::ParquetReaderBuilder;
use crate::stats::ParquetStatsExtractor;
use crate::write::ParquetWriterBuilder;

/// Identifier and file extension of the format.
pub(crate) const IDENTIFIER: &str = "parquet";

/// Makes [`ParquetFileFormat`]s (Java `ParquetFileFormatFactory`).
#[derive(Clone, Copy, Debug, Default)]
pub struct ParquetFileFormatFactory;

impl ParquetFileFormatFactory {
    /// The factory.
    pub fn new() -> Self {
        ParquetFileFormatFactory
    }
}

impl FileFormatFactory for ParquetFileFormatFactory {
    fn identifier(&self) -> &str {
        IDENTIFIER
    }

    fn create(&self, options: &BTreeMap<String, String>) -> Result<Arc<dyn FileFormat>> {
        Ok(Arc::new(ParquetFileFormat {
            options: Arc::new(options.clone()),
        }))
    }
}

/// Parquet files (Java `ParquetFileFormat`).
///
/// Writer options (`parquet.*`, `file.block-size`, `file.compression.zstd-level`) are parsed when a writer builder is
/// made, so that a reader never stumbles over them.
#[derive(Clone, Debug)]
pub struct ParquetFileFormat {
    options: Arc<BTreeMap<String, String>>,
}

impl FileFormat for ParquetFileFormat {
    fn identifier(&self) -> &str {
        IDENTIFIER
    }

    fn create_reader_builder(&self, batch_size: usize) -> Result<Box<dyn ReaderBuilder>> {
        Ok(Box::new(ParquetReaderBuilder::new(batch_size)?))
    }

    fn reads_parts(&self) -> bool {
        true
    }

    fn create_writer_builder(
        &self,
        schema: &[DataField],
        _batch_size: usize,
    ) -> Result<Box<dyn WriterBuilder>> {
        Ok(Box::new(ParquetWriterBuilder::new(schema, &self.options)?))
    }

    fn create_stats_extractor(&self, schema: &[DataField]) -> Result<Box<dyn FormatStatsExtractor>> {
        Ok(Box::new(ParquetStatsExtractor::new(schema)?))
    }
}
