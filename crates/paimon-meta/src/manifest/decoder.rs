// SPDX-License-Identifier: Apache-2.0

//! Decoding of manifests by the format that their bytes show.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use paimon_format::blocking::spawn;
use paimon_format::{FileFormat, FormatRegistry};
use paimon_types::{Error, Result};

use super::{EntrySelector, IndexManifestEntry, ManifestEntry, ManifestFileMeta, codec, columnar};

/// What files of other formats than Avro begin with, and the identifier of the format.
const MAGICS: [(&[u8], &str); 1] = [(b"ORC", "orc")];
/// Identifier of the format that needs no registry.
pub(super) const AVRO: &str = "avro";

/// Decodes manifests, manifest lists and index manifests, whatever format they have: Avro by itself, ORC through a registry.
///
/// The first bytes of a file decide, not the option `manifest.format`, which may have changed since the file was written.
/// Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct ManifestDecoder {
    formats: Arc<FormatRegistry>,
}

impl ManifestDecoder {
    /// A decoder that knows Avro and the formats of a registry.
    pub fn new(formats: Arc<FormatRegistry>) -> Self {
        ManifestDecoder { formats }
    }

    /// The formats beside Avro.
    pub fn formats(&self) -> &Arc<FormatRegistry> {
        &self.formats
    }

    /// Decodes a manifest list in stored order. `path` is for messages.
    ///
    /// # Errors
    /// `Corrupt` for damaged bytes; `Unsupported` for a version or codec that is not read, and for a format that is not in
    /// the registry. All name the path.
    pub async fn manifest_list(&self, path: &str, bytes: Bytes) -> Result<Vec<ManifestFileMeta>> {
        let result = match self.columnar(&bytes) {
            Err(e) => Err(e),
            Ok(Some(format)) => columnar::read_list(format.as_ref(), path, bytes).await,
            Ok(None) => spawn(ACTION, move || codec::decode_manifest_list(&bytes)).await,
        };
        result.map_err(|e| at(path, e))
    }

    /// Decodes the entries of a manifest that `selector` wants, in stored order. `path` is for messages.
    ///
    /// # Errors
    /// As [`ManifestDecoder::manifest_list`], and those of the selector.
    pub async fn manifest<S>(&self, path: &str, bytes: Bytes, mut selector: S) -> Result<Vec<ManifestEntry>>
    where
        S: EntrySelector + Send + 'static,
    {
        let result = match self.columnar(&bytes) {
            Err(e) => Err(e),
            Ok(Some(format)) => columnar::read_manifest(format.as_ref(), path, bytes, selector).await,
            Ok(None) => {
                spawn(ACTION, move || {
                    let mut entries = Vec::new();
                    codec::decode_manifest_selected(&bytes, &mut selector, |entry| {
                        entries.push(entry);
                        Ok(())
                    })?;
                    Ok(entries)
                })
                .await
            }
        };
        result.map_err(|e| at(path, e))
    }

    /// Decodes an index manifest in stored order. `path` is for messages.
    ///
    /// # Errors
    /// As [`ManifestDecoder::manifest_list`].
    pub async fn index_manifest(&self, path: &str, bytes: Bytes) -> Result<Vec<IndexManifestEntry>> {
        let result = match self.columnar(&bytes) {
            Err(e) => Err(e),
            Ok(Some(format)) => columnar::read_index_manifest(format.as_ref(), path, bytes).await,
            Ok(None) => spawn(ACTION, move || codec::decode_index_manifest(&bytes)).await,
        };
        result.map_err(|e| at(path, e))
    }

    /// The format that these bytes are in, `None` for Avro and what no format begins with.
    fn columnar(&self, bytes: &[u8]) -> Result<Option<Arc<dyn FileFormat>>> {
        let known = MAGICS.iter().find(|(magic, _)| bytes.starts_with(magic));
        // No option of a table says anything about how its manifests are read.
        known
            .map(|(_, format)| self.format(format, &BTreeMap::new()))
            .transpose()
    }

    /// A format beside Avro.
    ///
    /// # Errors
    /// `Unsupported` that names the format and the cargo feature that brings it.
    pub(super) fn format(
        &self,
        name: &str,
        options: &BTreeMap<String, String>,
    ) -> Result<Arc<dyn FileFormat>> {
        if !self.formats.identifiers().any(|known| known == name) {
            return Err(Error::unsupported(format!(
                "the manifest has format {name}, which is not in this build; add the cargo feature {name} of crate paimon, or \
                 give the table a registry with the format"
            )));
        }
        self.formats.get(name, options)
    }
}

const ACTION: &str = "decoding a manifest";

/// Names the file, unless the error does so.
fn at(path: &str, error: Error) -> Error {
    let named = error.context().any(|(key, _)| key == "path");
    if named { error } else { error.with("path", path) }
}
