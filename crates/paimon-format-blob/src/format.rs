// SPDX-License-Identifier: Apache-2.0

//! The format and its factory.

use std::collections::BTreeMap;
use std::sync::Arc;

use paimon_format::{
    FileFormat, FileFormatFactory, FormatStatsExtractor, ReaderBuilder, RowCountExtractor, WriterBuilder,
};
use paimon_types::{DataField, Error, Result};

use crate::read::BlobReaderBuilder;
use crate::schema::Columns;
use crate::stats::IndexEntries;
use crate::write::BlobWriterBuilder;

/// Identifier and file extension of the format.
pub(crate) const IDENTIFIER: &str = "blob";
const AS_DESCRIPTOR: &str = "blob-as-descriptor";

/// Makes [`BlobFileFormat`]s (Java `BlobFileFormatFactory`).
#[derive(Clone, Copy, Debug, Default)]
pub struct BlobFormatFactory;

impl BlobFormatFactory {
    /// The factory.
    pub fn new() -> Self {
        BlobFormatFactory
    }
}

impl FileFormatFactory for BlobFormatFactory {
    fn identifier(&self) -> &str {
        IDENTIFIER
    }

    fn create(&self, options: &BTreeMap<String, String>) -> Result<Arc<dyn FileFormat>> {
        let as_descriptor = match options.get(AS_DESCRIPTOR).map(|text| text.trim()) {
            None => false,
            Some(text) if text.eq_ignore_ascii_case("true") => true,
            Some(text) if text.eq_ignore_ascii_case("false") => false,
            Some(text) => {
                return Err(
                    Error::invalid(format!("{AS_DESCRIPTOR} is {text:?}, true or false expected"))
                        .with("option", AS_DESCRIPTOR),
                );
            }
        };
        Ok(Arc::new(BlobFileFormat { as_descriptor }))
    }
}

/// Blob files (Java `BlobFileFormat`).
///
/// With the option `blob-as-descriptor` a reader returns in place of each blob a descriptor of it
/// (`paimon_types::BlobDescriptor`): the path as it was given, position and length. `blob.copy-buffer-size` has no
/// meaning here, nothing is copied piece by piece.
#[derive(Clone, Copy, Debug)]
pub struct BlobFileFormat {
    as_descriptor: bool,
}

impl FileFormat for BlobFileFormat {
    fn identifier(&self) -> &str {
        IDENTIFIER
    }

    fn create_reader_builder(&self, batch_size: usize) -> Result<Box<dyn ReaderBuilder>> {
        Ok(Box::new(BlobReaderBuilder::new(batch_size, self.as_descriptor)?))
    }

    fn create_writer_builder(
        &self,
        schema: &[DataField],
        _batch_size: usize,
    ) -> Result<Box<dyn WriterBuilder>> {
        Ok(Box::new(BlobWriterBuilder::new(schema)?))
    }

    fn create_stats_extractor(&self, schema: &[DataField]) -> Result<Box<dyn FormatStatsExtractor>> {
        Columns::resolve(schema)?;
        Ok(Box::new(RowCountExtractor::new(schema.len(), IndexEntries)))
    }
}
