// SPDX-License-Identifier: Apache-2.0

//! Reading and writing manifests of a table (Java `ManifestList`, `ManifestFile`, `IndexManifestFile`).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use futures_util::future::try_join;
use futures_util::{StreamExt, TryStreamExt, stream};
use paimon_format::{FileFormat, FormatRegistry};
use paimon_storage::{IdSource, Storage};
use paimon_types::{CoreOptions, DataType, Error, ErrorKind, Result};

use super::codec::{self, ManifestEncoder};
use super::columnar::{self, ManifestFileWriter};
use super::decoder::AVRO;
use super::stats::Aggregates;
use super::{
    EntrySelector, IndexManifestEntry, KeepAll, ManifestCompression, ManifestDecoder, ManifestEntry,
    ManifestFileMeta,
};
use crate::Snapshot;
use crate::paths::TablePaths;

/// Entries between two looks at the size of a manifest that is being written (Java `RollingFileWriter`).
const ROLL_CHECK_ENTRIES: u64 = 1000;

/// Options of a format that name columns of data files, which manifests do not have.
const COLUMN_OPTIONS: [&str; 2] = ["orc.bloom.filter.columns", "orc.column.encoding.direct"];

/// Table options that concern manifests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestOptions {
    /// Format of new manifests (`manifest.format`, in lower case); looked at when something is written.
    pub format: String,
    /// Codec name: `manifest.compression`, in Avro before it `avro.codec`; looked at when something is written.
    pub compression: String,
    /// Options for the format of new manifests, when that is not Avro.
    pub format_options: BTreeMap<String, String>,
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
        let format = options.manifest_format.clone();
        let avro_codec = options.avro_codec.as_ref().filter(|_| format == AVRO);
        let mut format_options = BTreeMap::new();
        if format != AVRO {
            format_options.clone_from(options.raw());
            format_options.retain(|key, _| !COLUMN_OPTIONS.iter().any(|o| o.eq_ignore_ascii_case(key)));
        }
        let parallelism = options
            .scan_manifest_parallelism
            .and_then(|n| usize::try_from(n).ok());
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        ManifestOptions {
            format,
            compression: avro_codec.unwrap_or(&options.manifest_compression).clone(),
            format_options,
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
/// Files are read in the format that they have, and written in that of `manifest.format`: Avro, or a format of the registry.
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
    decoder: ManifestDecoder,
    uuid: String,
    manifests: AtomicU64,
    lists: AtomicU64,
    index_manifests: AtomicU64,
}

impl ManifestStore {
    /// A store for the table at `location`; `partition_types` are the types of its partition columns in order. It knows
    /// Avro alone, see [`ManifestStore::with_formats`].
    pub fn new(
        storage: Storage,
        location: &str,
        options: ManifestOptions,
        partition_types: Vec<DataType>,
        ids: Arc<dyn IdSource>,
    ) -> Self {
        let formats = Arc::default();
        Self::with_formats(storage, location, options, partition_types, ids, formats)
    }

    /// [`ManifestStore::new`] with formats for manifests that are not in Avro.
    pub fn with_formats(
        storage: Storage,
        location: &str,
        options: ManifestOptions,
        partition_types: Vec<DataType>,
        ids: Arc<dyn IdSource>,
        formats: Arc<FormatRegistry>,
    ) -> Self {
        let uuid = ids.next_uuid();
        ManifestStore {
            inner: Arc::new(Inner {
                storage,
                paths: TablePaths::new(location, crate::paths::MAIN_BRANCH),
                options,
                partition_types,
                ids,
                decoder: ManifestDecoder::new(formats),
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
        ManifestStore::with_formats(
            inner.storage.clone(),
            root,
            options,
            types,
            Arc::clone(&inner.ids),
            Arc::clone(inner.decoder.formats()),
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
    /// `NotFound` when the file is gone (expired), `Corrupt`, `Unsupported` for a new version or a format that is not in the
    /// registry, and those of the store; all name the path.
    pub async fn read_list(&self, name: &str) -> Result<Vec<ManifestFileMeta>> {
        let (path, bytes) = self.read(name).await?;
        self.inner.decoder.manifest_list(&path, bytes).await
    }

    /// Reads the lists of the data files of a snapshot, both at the same time: inherited manifests, then those of its commit.
    ///
    /// # Errors
    /// As [`ManifestStore::read_list`].
    pub async fn read_data_lists(&self, snapshot: &Snapshot) -> Result<Vec<ManifestFileMeta>> {
        let base = self.read_list(&snapshot.base_manifest_list);
        let delta = self.read_list(&snapshot.delta_manifest_list);
        let (mut all, delta) = try_join(base, delta).await?;
        all.extend(delta);
        Ok(all)
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
        selector: S,
    ) -> Result<Vec<ManifestEntry>>
    where
        S: EntrySelector + Send + 'static,
    {
        let (path, bytes) = self.read(&meta.file_name).await?;
        self.inner.decoder.manifest(&path, bytes, selector).await
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
        let (path, bytes) = self.read(name).await?;
        self.inner.decoder.index_manifest(&path, bytes).await
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
        let size = match self.format()? {
            None => {
                let bytes = codec::encode_manifest_list(metas, self.compression()?, self.sync_marker())?;
                self.write(&name, bytes).await?
            }
            Some(format) => {
                let out = self.inner.storage.open_output(&self.path(&name)).await?;
                let written = columnar::write_manifest_list(format.as_ref(), out, self.codec_name(), metas);
                file_size(written.await.map_err(|e| e.with("path", self.path(&name)))?)
            }
        };
        Ok((name, size))
    }

    /// Writes an index manifest and returns its name.
    ///
    /// # Errors
    /// Those of the store and of the codec.
    pub async fn write_index_manifest(&self, entries: &[IndexManifestEntry]) -> Result<String> {
        let name = self.next_name("index-manifest", &self.inner.index_manifests);
        match self.format()? {
            None => {
                let bytes = codec::encode_index_manifest(entries, self.compression()?, self.sync_marker())?;
                self.write(&name, bytes).await?;
            }
            Some(format) => {
                let out = self.inner.storage.open_output(&self.path(&name)).await?;
                let written =
                    columnar::write_index_manifest(format.as_ref(), out, self.codec_name(), entries);
                written.await.map_err(|e| e.with("path", self.path(&name)))?;
            }
        }
        Ok(name)
    }

    /// Deletes a manifest, manifest list or index manifest; one that is absent is fine.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn delete(&self, name: &str) -> Result<()> {
        self.inner.storage.delete(&self.path(name)).await
    }

    /// The format of new manifests, `None` for Avro.
    fn format(&self) -> Result<Option<Arc<dyn FileFormat>>> {
        let options = &self.inner.options;
        if options.format == AVRO {
            return Ok(None);
        }
        let format = self
            .inner
            .decoder
            .format(&options.format, &options.format_options);
        format.map(Some).map_err(|e| e.with("option", "manifest.format"))
    }

    /// The codec as formats other than Avro call it.
    fn codec_name(&self) -> &str {
        match self.inner.options.compression.trim() {
            name if name.eq_ignore_ascii_case("null") => "none",
            name => name,
        }
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

    /// The path and the bytes of a file.
    async fn read(&self, name: &str) -> Result<(String, Bytes)> {
        let path = self.path(name);
        let bytes = self.inner.storage.read(&path).await.map_err(|e| match e.kind() {
            ErrorKind::NotFound => Error::not_found(
                "manifest file does not exist, the snapshot may have expired while it was read",
            )
            .with("path", &path)
            .with_source(e),
            _ => e,
        })?;
        Ok((path, bytes))
    }
}

fn file_size(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// Writes entries to manifests that are closed near the target size.
#[derive(Debug)]
pub(super) struct RollingManifestWriter<'a> {
    store: &'a ManifestStore,
    kind: Kind,
    current: Option<Current>,
    written: u64,
    done: Vec<ManifestFileMeta>,
}

/// What manifests are written as.
#[derive(Clone, Debug)]
enum Kind {
    Avro(ManifestCompression),
    Format(Arc<dyn FileFormat>),
}

/// The manifest that is being written.
#[derive(Debug)]
struct Current {
    name: String,
    file: CurrentFile,
    aggregates: Aggregates,
}

#[derive(Debug)]
enum CurrentFile {
    Avro(ManifestEncoder),
    Format(ManifestFileWriter),
}

impl Current {
    /// Begins a manifest.
    async fn open(store: &ManifestStore, kind: &Kind) -> Result<Self> {
        let name = store.next_name("manifest", &store.inner.manifests);
        let file = match kind {
            Kind::Avro(compression) => {
                CurrentFile::Avro(ManifestEncoder::new(*compression, store.sync_marker()))
            }
            Kind::Format(format) => {
                let out = store.inner.storage.open_output(&store.path(&name)).await?;
                CurrentFile::Format(ManifestFileWriter::create(
                    format.as_ref(),
                    out,
                    store.codec_name(),
                )?)
            }
        };
        Ok(Current {
            name,
            file,
            aggregates: Aggregates::default(),
        })
    }
}

impl<'a> RollingManifestWriter<'a> {
    pub(super) fn new(store: &'a ManifestStore) -> Result<Self> {
        Ok(RollingManifestWriter {
            store,
            kind: match store.format()? {
                None => Kind::Avro(store.compression()?),
                Some(format) => Kind::Format(format),
            },
            current: None,
            written: 0,
            done: Vec::new(),
        })
    }

    pub(super) async fn write(&mut self, entry: &ManifestEntry) -> Result<()> {
        if self.current.is_none() {
            self.current = Some(Current::open(self.store, &self.kind).await?);
        }
        let Some(current) = &mut self.current else {
            return Ok(());
        };
        match &mut current.file {
            CurrentFile::Avro(encoder) => encoder.append(entry)?,
            CurrentFile::Format(writer) => writer.append(entry).await?,
        }
        current.aggregates.add(entry);
        self.written += 1;
        if !self.written.is_multiple_of(ROLL_CHECK_ENTRIES) {
            return Ok(());
        }
        let target = self.store.inner.options.target_file_size;
        let full = match &mut current.file {
            CurrentFile::Avro(encoder) => encoder.position() >= target,
            CurrentFile::Format(writer) => writer.is_full(target).await?,
        };
        if full { self.roll().await } else { Ok(()) }
    }

    async fn roll(&mut self) -> Result<()> {
        let Some(current) = self.current.take() else {
            return Ok(());
        };
        let Current {
            name,
            file,
            aggregates,
        } = current;
        let size = match file {
            CurrentFile::Avro(encoder) => self.store.write(&name, encoder.finish()?).await?,
            CurrentFile::Format(writer) => file_size(writer.finish().await?),
        };
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
