// SPDX-License-Identifier: Apache-2.0

//! The format and its factory.

use std::collections::BTreeMap;
use std::sync::Arc;

use paimon_format::{
    FileFormat, FileFormatFactory, FormatStatsExtractor, ReaderBuilder, RowCountExtractor, WriterBuilder,
};
use paimon_storage::{IdSource, UuidSource};
use paimon_types::{DataField, Result};

use crate::read::AvroReaderBuilder;
use crate::schema::avro_schema;
use crate::stats::BlockHeads;
use crate::write::AvroWriterBuilder;

/// Identifier and file extension of the format.
pub(crate) const IDENTIFIER: &str = "avro";

/// Makes [`AvroFileFormat`]s (Java `AvroFileFormatFactory`).
#[derive(Clone, Debug)]
pub struct AvroFileFormatFactory {
    ids: Arc<dyn IdSource>,
}

impl AvroFileFormatFactory {
    /// The factory; sync markers of new files are made of random UUIDs.
    pub fn new() -> Self {
        AvroFileFormatFactory {
            ids: Arc::new(UuidSource),
        }
    }

    /// Takes the ids that sync markers are made of from `ids`.
    #[must_use]
    pub fn with_ids(self, ids: Arc<dyn IdSource>) -> Self {
        AvroFileFormatFactory { ids }
    }
}

impl Default for AvroFileFormatFactory {
    fn default() -> Self {
        Self::new()
    }
}

impl FileFormatFactory for AvroFileFormatFactory {
    fn identifier(&self) -> &str {
        IDENTIFIER
    }

    fn create(&self, options: &BTreeMap<String, String>) -> Result<Arc<dyn FileFormat>> {
        Ok(Arc::new(AvroFileFormat {
            options: Arc::new(options.clone()),
            ids: self.ids.clone(),
        }))
    }
}

/// Avro files (Java `AvroFileFormat`).
///
/// Writer options (`avro.codec`, `file.compression.zstd-level`) are parsed when a writer is made, so that a reader never
/// stumbles over them. TIME above precision 3, TIMESTAMP and TIMESTAMP_LTZ above 6, VARIANT, GEOMETRY and GEOGRAPHY
/// cannot be stored.
#[derive(Clone, Debug)]
pub struct AvroFileFormat {
    options: Arc<BTreeMap<String, String>>,
    ids: Arc<dyn IdSource>,
}

impl FileFormat for AvroFileFormat {
    fn identifier(&self) -> &str {
        IDENTIFIER
    }

    fn create_reader_builder(&self, batch_size: usize) -> Result<Box<dyn ReaderBuilder>> {
        Ok(Box::new(AvroReaderBuilder::new(batch_size)?))
    }

    fn create_writer_builder(
        &self,
        schema: &[DataField],
        _batch_size: usize,
    ) -> Result<Box<dyn WriterBuilder>> {
        Ok(Box::new(AvroWriterBuilder::new(
            schema,
            self.options.clone(),
            self.ids.clone(),
        )?))
    }

    fn create_stats_extractor(&self, schema: &[DataField]) -> Result<Box<dyn FormatStatsExtractor>> {
        avro_schema(schema)?;
        Ok(Box::new(RowCountExtractor::new(schema.len(), BlockHeads)))
    }
}
