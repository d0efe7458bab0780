// SPDX-License-Identifier: Apache-2.0

//! Names of data files (Java `DataFilePathFactory`; `metadata.md` 1.1).

/// The extension of a data file, with its leading dot.
pub(crate) fn extension(format: &str, compression: &str, include_compression: bool) -> String {
    let codec = compression_extension(compression);
    match codec {
        Some(codec) if matches!(format, "json" | "csv") => format!(".{format}.{codec}"),
        Some(codec) if include_compression => format!(".{codec}.{format}"),
        _ => format!(".{format}"),
    }
}

/// The usual extension of a codec; `None` for no compression.
fn compression_extension(compression: &str) -> Option<String> {
    let lower = compression.to_ascii_lowercase();
    Some(match lower.as_str() {
        "" | "none" => return None,
        "gzip" => "gz".to_owned(),
        "bzip2" => "bz2".to_owned(),
        "zstd" => "zst".to_owned(),
        "deflate" | "snappy" | "lz4" => lower,
        _ => compression.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions() {
        assert_eq!(extension("parquet", "zstd", false), ".parquet");
        assert_eq!(extension("parquet", "zstd", true), ".zst.parquet");
        assert_eq!(extension("parquet", "none", true), ".parquet");
        assert_eq!(extension("orc", "LZ4", true), ".lz4.orc");
        assert_eq!(extension("json", "gzip", false), ".json.gz");
        assert_eq!(extension("csv", "none", false), ".csv");
        assert_eq!(extension("parquet", "brotli", true), ".brotli.parquet");
    }
}
