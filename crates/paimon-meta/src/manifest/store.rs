// SPDX-License-Identifier: Apache-2.0

//! Reading and writing manifests of a table (Java `ManifestList`, `ManifestFile`, `IndexManifestFile`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use paimon_storage::{IdSource, Storage};
use paimon_types::{CoreOptions, DataType, Error, ErrorKind, Result};

use super::codec::{self, ManifestEncoder};
use super::stats::Aggregates;
use super::{
    EntrySelector, IndexManifestEntry, KeepAll, ManifestCompression, ManifestEntry, ManifestFileMeta,
};
use crate::paths::TablePaths;

/// Entries between two looks at the size of a manifest that is being written (Java `RollingFileWriter`).
const ROLL_CHECK_ENTRIES: u64 = 1000;

/// Table options that concern manifests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestOptions {
    /// Codec name of `avro.codec` or `manifest.compression`; looked at when something is written.
    pub compression: String,
    /// `file.compression.zstd-level`.
    pub zstd_level: i32,
    /// `manifest.target-file-size`, bytes.
    pub target_file_size: u64,
    /// `manifest.full-compaction-threshold-size`, bytes.
    pub full_compaction_threshold: u64,
    /// `manifest.merge-min-count`.
    pub merge_min_count: usize,
    /// Manifests read and decoded at once (`scan.manifest.parallelism`, else the number of processors).
    pub parallelism: usize,
}

impl From<&CoreOptions> for ManifestOptions {
    fn from(options: &CoreOptions) -> Self {
        let compression = options
            .avro_codec
            .as_ref()
            .unwrap_or(&options.manifest_compression);
        let parallelism = options
            .scan_manifest_parallelism
            .and_then(|n| usize::try_from(n).ok());
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        ManifestOptions {
            compression: compression.clone(),
            zstd_level: options.file_compression_zstd_level,
            target_file_size: options.manifest_target_file_size,
            full_compaction_threshold: options.manifest_full_compaction_threshold_size,
            merge_min_count: usize::try_from(options.manifest_merge_min_count).unwrap_or(0),
            parallelism: parallelism.unwrap_or_else(processors).max(1),
        }
    }
}

impl Default for ManifestOptions {
    fn default() -> Self {
        ManifestOptions::from(&CoreOptions::default())
    }
}

/// Manifests, manifest lists and index manifests in the `manifest` directory of one table.
///
/// Cheap to clone. Files that one store (and its clones) writes share a random id in their names and are numbered per kind
/// from 0, as in Java.
#[derive(Clone, Debug)]
pub struct ManifestStore {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    storage: Storage,
    paths: TablePaths,
    options: ManifestOptions,
    partition_types: Vec<DataType>,
    ids: Arc<dyn IdSource>,
    uuid: String,
    manifests: AtomicU64,
    lists: AtomicU64,
    index_manifests: AtomicU64,
}

impl ManifestStore {
    /// A store for the table at `location`; `partition_types` are the types of its partition columns in order.
    pub fn new(
        storage: Storage,
        location: &str,
        options: ManifestOptions,
        partition_types: Vec<DataType>,
        ids: Arc<dyn IdSource>,
    ) -> Self {
        let uuid = ids.next_uuid();
        ManifestStore {
            inner: Arc::new(Inner {
                storage,
                paths: TablePaths::new(location, crate::paths::MAIN_BRANCH),
                options,
                partition_types,
                ids,
                uuid,
                manifests: AtomicU64::new(0),
                lists: AtomicU64::new(0),
                index_manifests: AtomicU64::new(0),
            }),
        }
    }

    /// The same table with other options; files get a new id in their names.
    #[must_use]
    pub fn with_options(&self, options: ManifestOptions) -> Self {
        let inner = &self.inner;
        let root = inner.paths.root();
        let types = inner.partition_types.clone();
        ManifestStore::new(
            inner.storage.clone(),
            root,
            options,
            types,
            Arc::clone(&inner.ids),
        )
    }

    /// The options that the store was made with.
    pub fn options(&self) -> &ManifestOptions {
        &self.inner.options
    }

    /// Types of the partition columns in order.
    pub fn partition_types(&self) -> &[DataType] {
        &self.inner.partition_types
    }

    /// Path of a manifest, manifest list or index manifest.
    pub fn path(&self, name: &str) -> String {
        self.inner.paths.manifest(name)
    }

    /// Reads a manifest list in stored order.
    ///
    /// # Errors
    /// `NotFound` when the file is gone (expired), `Corrupt`, `Unsupported` for ORC content or a new version, and those of
    /// the store; all name the path.
    pub async fn read_list(&self, name: &str) -> Result<Vec<ManifestFileMeta>> {
        self.decode(name, |bytes| codec::decode_manifest_list(&bytes))
            .await
    }

    /// Reads all entries of a manifest in stored order.
    ///
    /// # Errors
    /// As [`ManifestStore::read_list`].
    pub async fn read_manifest(&self, meta: &ManifestFileMeta) -> Result<Vec<ManifestEntry>> {
        self.read_manifest_selected(meta, KeepAll).await
    }

    /// Reads the entries of a manifest that `selector` wants, in stored order.
    ///
    /// # Errors
    /// As [`ManifestStore::read_list`], and those of the selector.
    pub async fn read_manifest_selected<S>(
        &self,
        meta: &ManifestFileMeta,
        mut selector: S,
    ) -> Result<Vec<ManifestEntry>>
    where
        S: EntrySelector + Send + 'static,
    {
        self.decode(&meta.file_name, move |bytes| {
            let mut entries = Vec::new();
            codec::decode_manifest_selected(&bytes, &mut selector, |entry| {
                entries.push(entry);
                Ok(())
            })?;
            Ok(entries)
        })
        .await
    }

    /// Reads the entries of several manifests, a bounded number at once, in the order of `metas`.
    ///
    /// # Errors
    /// As [`ManifestStore::read_list`].
    pub async fn read_manifests(&self, metas: &[ManifestFileMeta]) -> Result<Vec<Vec<ManifestEntry>>> {
        stream::iter(metas.to_vec())
            .map(|meta| async move { self.read_manifest(&meta).await })
            .buffered(self.inner.options.parallelism)
            .try_collect()
            .await
    }

    /// Reads an index manifest in stored order.
    ///
    /// # Errors
    /// As [`ManifestStore::read_list`].
    pub async fn read_index_manifest(&self, name: &str) -> Result<Vec<IndexManifestEntry>> {
        self.decode(name, |bytes| codec::decode_index_manifest(&bytes))
            .await
    }

    /// Writes entries to as many manifests as `manifest.target-file-size` asks for; no entry gives no file.
    ///
    /// Nothing refers to the files yet: when this fails, what was written before is deleted again.
    ///
    /// # Errors
    /// Those of the store and of the codec.
    pub async fn write_manifests(&self, entries: &[ManifestEntry]) -> Result<Vec<ManifestFileMeta>> {
        let mut writer = RollingManifestWriter::new(self)?;
        for entry in entries {
            if let Err(e) = writer.write(entry).await {
                return writer.abort(e).await;
            }
        }
        writer.close().await
    }

    /// Writes a manifest list, an empty one too, and returns its name and size in bytes.
    ///
    /// # Errors
    /// Those of the store and of the codec.
    pub async fn write_list(&self, metas: &[ManifestFileMeta]) -> Result<(String, i64)> {
        let name = self.next_name("manifest-list", &self.inner.lists);
        let bytes = codec::encode_manifest_list(metas, self.compression()?, self.sync_marker())?;
        let size = self.write(&name, bytes).await?;
        Ok((name, size))
    }

    /// Writes an index manifest and returns its name.
    ///
    /// # Errors
    /// Those of the store and of the codec.
    pub async fn write_index_manifest(&self, entries: &[IndexManifestEntry]) -> Result<String> {
        let name = self.next_name("index-manifest", &self.inner.index_manifests);
        let bytes = codec::encode_index_manifest(entries, self.compression()?, self.sync_marker())?;
        self.write(&name, bytes).await?;
        Ok(name)
    }

    /// Deletes a manifest, manifest list or index manifest; one that is absent is fine.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn delete(&self, name: &str) -> Result<()> {
        self.inner.storage.delete(&self.path(name)).await
    }

    fn compression(&self) -> Result<ManifestCompression> {
        ManifestCompression::parse(&self.inner.options.compression, self.inner.options.zstd_level)
            .map_err(|e| e.with("option", "manifest.compression"))
    }

    fn next_name(&self, kind: &str, counter: &AtomicU64) -> String {
        format!(
            "{kind}-{}-{}",
            self.inner.uuid,
            counter.fetch_add(1, Ordering::Relaxed)
        )
    }

    /// Sixteen bytes that are unlikely to occur in data.
    fn sync_marker(&self) -> [u8; 16] {
        paimon_avro::sync_marker(&self.inner.ids.next_uuid())
    }

    async fn write(&self, name: &str, bytes: Vec<u8>) -> Result<i64> {
        let size = bytes.len() as i64;
        self.inner
            .storage
            .write(&self.path(name), Bytes::from(bytes))
            .await?;
        Ok(size)
    }

    /// Reads a file and decodes it beside the event loop.
    async fn decode<T, F>(&self, name: &str, decode: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(Bytes) -> Result<T> + Send + 'static,
    {
        let path = self.path(name);
        let bytes = self.inner.storage.read(&path).await.map_err(|e| match e.kind() {
            ErrorKind::NotFound => Error::not_found(
                "manifest file does not exist, the snapshot may have expired while it was read",
            )
            .with("path", &path)
            .with_source(e),
            _ => e,
        })?;
        let result = match tokio::runtime::Handle::try_current() {
            Ok(runtime) => match runtime.spawn_blocking(move || decode(bytes)).await {
                Ok(result) => result,
                Err(e) => Err(Error::io("decoding of a manifest was cancelled").with_source(e)),
            },
            Err(_) => decode(bytes),
        };
        result.map_err(|e| e.with("path", &path))
    }
}

/// Writes entries to manifests that are closed near the target size.
#[derive(Debug)]
pub(super) struct RollingManifestWriter<'a> {
    store: &'a ManifestStore,
    compression: ManifestCompression,
    current: Option<(ManifestEncoder, Aggregates)>,
    written: u64,
    done: Vec<ManifestFileMeta>,
}

impl<'a> RollingManifestWriter<'a> {
    pub(super) fn new(store: &'a ManifestStore) -> Result<Self> {
        Ok(RollingManifestWriter {
            store,
            compression: store.compression()?,
            current: None,
            written: 0,
            done: Vec::new(),
        })
    }

    pub(super) async fn write(&mut self, entry: &ManifestEntry) -> Result<()> {
        let store = self.store;
        let compression = self.compression;
        let (encoder, aggregates) = self.current.get_or_insert_with(|| {
            (
                ManifestEncoder::new(compression, store.sync_marker()),
                Aggregates::default(),
            )
        });
        encoder.append(entry)?;
        aggregates.add(entry);
        self.written += 1;
        let full = encoder.position() >= self.store.inner.options.target_file_size;
        if full && self.written.is_multiple_of(ROLL_CHECK_ENTRIES) {
            self.roll().await
        } else {
            Ok(())
        }
    }

    async fn roll(&mut self) -> Result<()> {
        let Some((encoder, aggregates)) = self.current.take() else {
            return Ok(());
        };
        let name = self.store.next_name("manifest", &self.store.inner.manifests);
        let size = self.store.write(&name, encoder.finish()?).await?;
        // A manifest is never empty, so that the schema id of its entries counts.
        self.done
            .push(aggregates.finish(name, size, &self.store.inner.partition_types, 0)?);
        Ok(())
    }

    pub(super) async fn close(mut self) -> Result<Vec<ManifestFileMeta>> {
        match self.roll().await {
            Ok(()) => Ok(self.done),
            Err(e) => self.abort(e).await,
        }
    }

    /// Deletes what was written and gives the error back.
    pub(super) async fn abort<T>(self, error: Error) -> Result<T> {
        let names: Vec<String> = self.done.into_iter().map(|meta| meta.file_name).collect();
        self.store.delete_quietly(&names).await;
        Err(error)
    }
}

impl ManifestStore {
    /// Deletes files that nothing refers to; a failure leaves orphans, which orphan cleaning finds.
    pub(super) async fn delete_quietly(&self, names: &[String]) {
        for name in names {
            if let Err(e) = self.delete(name).await {
                tracing::warn!(name, error = %e, "cannot delete a manifest that is not used");
            }
        }
    }
}
