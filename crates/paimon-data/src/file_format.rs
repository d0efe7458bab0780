// SPDX-License-Identifier: Apache-2.0

//! Which format a data file has, and the formats of this build.

use std::sync::Arc;

use paimon_format::FormatRegistry;
use paimon_types::{Error, Result};

/// Extensions of compressed text files; the format stands before them (`data-files.md` 2.1).
const COMPRESSIONS: [&str; 6] = ["gz", "bz2", "deflate", "snappy", "lz4", "zst"];

/// The formats that this build reads and writes, by cargo feature (`parquet`, `orc`, `avro`, `blob`).
pub fn default_registry() -> Arc<FormatRegistry> {
    let registry = FormatRegistry::new();
    #[cfg(feature = "parquet")]
    let registry = registry.with(Arc::new(paimon_format_parquet::ParquetFileFormatFactory::new()));
    #[cfg(feature = "avro")]
    let registry = registry.with(Arc::new(paimon_format_avro::AvroFileFormatFactory::new()));
    #[cfg(feature = "orc")]
    let registry = registry.with(Arc::new(paimon_format_orc::OrcFormatFactory::new()));
    #[cfg(feature = "blob")]
    let registry = registry.with(Arc::new(paimon_format_blob::BlobFormatFactory::new()));
    Arc::new(registry)
}

/// The format of a file by its name: the last extension, or the one before a compression. The table's options say
/// nothing about files that exist.
pub(crate) fn format_of_file(path: &str) -> Result<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut parts = name.rsplit('.');
    let last = parts.next().unwrap_or_default();
    let format = if COMPRESSIONS.contains(&last) {
        parts.next().unwrap_or_default()
    } else {
        last
    };
    if format.is_empty() || format.len() == name.len() {
        return Err(Error::corrupt("a data file name has no format extension").with("path", path));
    }
    Ok(format.to_ascii_lowercase())
}
