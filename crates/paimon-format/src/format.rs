// SPDX-License-Identifier: Apache-2.0

//! A file format and the factory that makes it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use paimon_types::{DataField, Error, Result};

use crate::{FormatStatsExtractor, ReaderBuilder, WriterBuilder};

/// Makes readers, writers and statistics extractors of one file format (C++ `FileFormat`).
pub trait FileFormat: Send + Sync + fmt::Debug {
    /// The lower-case identifier, such as `orc`; it is also the file extension.
    fn identifier(&self) -> &str;

    /// A builder of readers whose batches have at most `batch_size` rows.
    ///
    /// # Errors
    /// `InvalidInput` when `batch_size` is 0.
    fn create_reader_builder(&self, batch_size: usize) -> Result<Box<dyn ReaderBuilder>>;

    /// Whether parts of a file can be read apart from each other at about the cost of the whole, so that it is worth opening a
    /// large file several times (see [`FileBatchReader::part_start`](crate::FileBatchReader::part_start)).
    fn reads_parts(&self) -> bool {
        false
    }

    /// A builder of writers of files with exactly these columns, ids and nullability. `batch_size` is the number of
    /// rows that the writer may collect before it encodes; formats with their own way of buffering ignore it.
    ///
    /// # Errors
    /// `Unsupported` when the format cannot store a type (the error names the column), `InvalidInput` when the schema
    /// is not valid. The default is that of a format which is only read.
    fn create_writer_builder(
        &self,
        schema: &[DataField],
        batch_size: usize,
    ) -> Result<Box<dyn WriterBuilder>> {
        let _ = (schema, batch_size);
        Err(Error::unsupported(format!(
            "files of format {} cannot be written",
            self.identifier()
        )))
    }

    /// An extractor of the statistics of files that were written with this schema.
    ///
    /// # Errors
    /// As [`FileFormat::create_writer_builder`]. The default is that of a format without statistics.
    fn create_stats_extractor(&self, schema: &[DataField]) -> Result<Box<dyn FormatStatsExtractor>> {
        let _ = schema;
        Err(Error::unsupported(format!(
            "files of format {} have no statistics",
            self.identifier()
        )))
    }
}

/// Makes a [`FileFormat`] from options (C++ `FileFormatFactory`, Java `FileFormatFactory`).
pub trait FileFormatFactory: Send + Sync + fmt::Debug {
    /// The lower-case identifier of the formats that this factory makes.
    fn identifier(&self) -> &str;

    /// Makes the format. `options` are the options of the table; a factory reads its own (`<identifier>.…`) and the
    /// common ones (`file.compression.zstd-level`, `file.block-size`) and ignores all others.
    ///
    /// # Errors
    /// `InvalidInput` that names the option and its value.
    fn create(&self, options: &BTreeMap<String, String>) -> Result<Arc<dyn FileFormat>>;
}
