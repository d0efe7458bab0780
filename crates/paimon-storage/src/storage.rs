// SPDX-License-Identifier: Apache-2.0

//! The storage facade.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_core::stream::BoxStream;
use futures_util::StreamExt;
#[cfg(feature = "object-store")]
use object_store::ObjectStore;
use paimon_types::{Error, Result};

use crate::cloud;
use crate::file::{FileStatus, InputFile, OutputStream};
use crate::local::{self, LocalInput, LocalOutput, blocking};
use crate::location::{Location, join};
#[cfg(feature = "object-store")]
use crate::object::ObjectBackend;
use crate::options::StorageOptions;
use crate::remote::RemoteStore;

/// Reads and writes files at location strings (`FileIO` of the Java product). Cheap to clone; clones share their clients and
/// the memory store.
///
/// Locations are plain paths (relative ones are made absolute), `file:` URLs, `memory://`, `s3://` and `s3a://`, `gs://`,
/// `az://` and `abfs://`; the cloud stores need the cargo features `s3`, `gcs`, `azure`, the memory store and stores of the
/// application ([`Storage::with_store`]) the feature `object-store`. The path part is literal: no
/// percent decoding or encoding takes place. A location may be a directory with or without trailing slash.
///
/// Errors have the kinds `NotFound`, `PermissionDenied`, `AlreadyExists`, `InvalidInput` (the location), `Unsupported` (its
/// scheme), `Corrupt` (a file shorter than the caller knows it to be) and `Io`, and carry the path.
#[derive(Clone)]
pub struct Storage {
    inner: Arc<Inner>,
}

struct Inner {
    options: StorageOptions,
    /// Injected stores by location prefix without trailing slash, longest first.
    injected: Vec<(Location, Arc<dyn RemoteStore>)>,
    /// An injected prefix that is no location.
    broken_prefix: Option<String>,
    /// What `memory://` is; nothing in a build without object stores.
    memory: Option<Arc<dyn RemoteStore>>,
    /// Clients by scheme and authority.
    clients: Mutex<HashMap<String, Arc<dyn RemoteStore>>>,
}

/// A location with the store that serves it.
enum Target {
    Local(PathBuf),
    Remote(Arc<dyn RemoteStore>, String),
}

impl Default for Storage {
    fn default() -> Self {
        Storage::new(StorageOptions::default())
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Storage")
            .field("options", &self.inner.options)
            .field(
                "injected",
                &self.inner.injected.iter().map(|(at, _)| at).collect::<Vec<_>>(),
            )
            .finish_non_exhaustive()
    }
}

impl Storage {
    /// A storage with options for the cloud stores; clients are built when first used.
    pub fn new(options: StorageOptions) -> Self {
        Storage {
            inner: Arc::new(Inner {
                options,
                injected: Vec::new(),
                broken_prefix: None,
                memory: cloud::memory(),
                clients: Mutex::default(),
            }),
        }
    }

    /// A storage for tests and examples; the same as [`Storage::default`], whose `memory://` locations live as long as
    /// the storage and its clones.
    #[cfg(feature = "object-store")]
    pub fn memory() -> Self {
        Storage::default()
    }

    /// Serves every location below `prefix` (`s3://bucket`, `memory://`, `file:///dir` …) by `store`, which sees the part
    /// after the prefix. The longest matching prefix wins. A prefix that is not a location makes every later call fail with
    /// its error.
    #[cfg(feature = "object-store")]
    #[must_use]
    pub fn with_store(&self, prefix: &str, store: Arc<dyn ObjectStore>) -> Self {
        let mut injected = self.inner.injected.clone();
        let mut broken_prefix = self.inner.broken_prefix.clone();
        match Location::parse(prefix) {
            Ok(at) => {
                injected.retain(|(old, _)| *old != at);
                let backend = ObjectBackend {
                    store,
                    retries: false,
                };
                injected.push((at, Arc::new(backend)));
                injected.sort_by_key(|(at, _)| std::cmp::Reverse(depth(at)));
            }
            Err(_) => broken_prefix = Some(prefix.to_owned()),
        }
        Storage {
            inner: Arc::new(Inner {
                options: self.inner.options.clone(),
                injected,
                broken_prefix,
                memory: self.inner.memory.clone(),
                clients: Mutex::default(),
            }),
        }
    }

    /// The options given at construction.
    pub fn options(&self) -> &StorageOptions {
        &self.inner.options
    }

    fn target(&self, text: &str) -> Result<Target> {
        if let Some(prefix) = &self.inner.broken_prefix {
            Location::parse(prefix)?;
        }
        let location = Location::parse(text)?;
        for (at, store) in &self.inner.injected {
            if let Some(rest) = rest_below(&location, at) {
                return Ok(Target::Remote(store.clone(), rest));
            }
        }
        match location {
            Location::Local(path) => Ok(Target::Local(path)),
            Location::Object {
                scheme,
                authority,
                key,
            } => {
                if scheme == "memory"
                    && let Some(memory) = &self.inner.memory
                {
                    return Ok(Target::Remote(memory.clone(), key));
                }
                let name = format!("{scheme}://{authority}");
                let mut clients = self.inner.clients.lock().unwrap_or_else(PoisonError::into_inner);
                let store = match clients.get(&name) {
                    Some(store) => store.clone(),
                    None => {
                        let store = cloud::connect(scheme, &authority, &self.inner.options)?;
                        clients.insert(name, store.clone());
                        store
                    }
                };
                Ok(Target::Remote(store, key))
            }
        }
    }

    /// The whole file.
    ///
    /// # Errors
    /// `NotFound` when it does not exist.
    pub async fn read(&self, path: &str) -> Result<Bytes> {
        match self.target(path)? {
            Target::Local(file) => {
                let shown = path.to_owned();
                blocking(move || local::read(&file, &shown)).await
            }
            Target::Remote(store, key) => store.read(&key, path).await,
        }
    }

    /// The whole file, or `None` when it does not exist.
    ///
    /// # Errors
    /// All but `NotFound`.
    pub async fn read_optional(&self, path: &str) -> Result<Option<Bytes>> {
        match self.read(path).await {
            Ok(bytes) => Ok(Some(bytes)),
            Err(e) if e.kind() == paimon_types::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// The bytes of `range`, exactly as many.
    ///
    /// # Errors
    /// `Corrupt` when the range reaches past the end.
    pub async fn read_range(&self, path: &str, range: Range<u64>) -> Result<Bytes> {
        match self.target(path)? {
            Target::Local(_) => {
                let mut all = self.read_ranges(path, std::slice::from_ref(&range)).await?;
                Ok(all.pop().unwrap_or_default())
            }
            Target::Remote(store, key) => store.read_range(&key, range, path).await,
        }
    }

    /// The bytes of each range, in the order of `ranges`; near ranges are fetched together.
    ///
    /// # Errors
    /// `Corrupt` when a range reaches past the end.
    pub async fn read_ranges(&self, path: &str, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        match self.target(path)? {
            Target::Local(file) => {
                let (shown, ranges) = (path.to_owned(), ranges.to_vec());
                blocking(move || local::read_ranges(&file, &ranges, &shown)).await
            }
            Target::Remote(store, key) => store.read_ranges(&key, ranges, path).await,
        }
    }

    /// Size and time of a file; `None` when there is none (also for a directory). Needs no list permission.
    ///
    /// # Errors
    /// `PermissionDenied` or `Io`.
    pub async fn status(&self, path: &str) -> Result<Option<FileStatus>> {
        match self.target(path)? {
            Target::Local(file) => {
                let shown = path.to_owned();
                blocking(move || local::status(&file, &shown)).await
            }
            Target::Remote(store, key) => store.status(&key, path).await,
        }
    }

    /// True when there is a file, or a directory (in an object store: at least one object below the path, which takes list
    /// permission unless the path is itself an object).
    ///
    /// # Errors
    /// `PermissionDenied` or `Io`.
    pub async fn exists(&self, path: &str) -> Result<bool> {
        match self.target(path)? {
            Target::Local(file) => {
                let shown = path.to_owned();
                blocking(move || local::exists(&file, &shown)).await
            }
            Target::Remote(store, key) => store.exists(&key, path).await,
        }
    }

    /// Writes a file, replacing one that exists; readers see the old or the new content, never a part. Missing parent
    /// directories are made.
    ///
    /// # Errors
    /// `PermissionDenied` or `Io`; the outcome is then unknown.
    pub async fn write(&self, path: &str, content: Bytes) -> Result<()> {
        match self.target(path)? {
            Target::Local(file) => {
                let shown = path.to_owned();
                blocking(move || local::write(&file, &content, &shown)).await
            }
            Target::Remote(store, key) => store.write(&key, content, path).await,
        }
    }

    /// Creates a file with `content` unless the name is taken (`tryToWriteAtomic` of the Java product): `true` when this
    /// content is now the file, `false` when another file has the name. Never replaces anything, shows the file only whole,
    /// and needs no list permission. Local disk: hard link; cloud stores: conditional put. A cloud client repeats a put whose
    /// reply was lost; when the repetition meets a file, it is read back, and equal bytes count as ours.
    ///
    /// # Errors
    /// Any error leaves the outcome unknown: the file may have been created. Read it back to settle it.
    pub async fn create_if_absent(&self, path: &str, content: Bytes) -> Result<bool> {
        match self.target(path)? {
            Target::Local(file) => {
                let shown = path.to_owned();
                blocking(move || local::create_if_absent(&file, &content, &shown)).await
            }
            Target::Remote(store, key) => store.create_if_absent(&key, content, path).await,
        }
    }

    /// Files directly inside `dir`, in name order; empty when the directory is absent. Hidden and temporary files are
    /// included.
    ///
    /// # Errors
    /// `PermissionDenied` or `Io`.
    pub async fn list(&self, dir: &str) -> Result<Vec<FileStatus>> {
        match self.target(dir)? {
            Target::Local(path) => {
                let shown = dir.to_owned();
                blocking(move || local::list(&path, &shown)).await
            }
            Target::Remote(store, key) => store.list(&key, dir).await,
        }
    }

    /// Names of the directories directly inside `dir`, sorted; empty when the directory is absent. Object stores know only
    /// directories that hold something.
    ///
    /// # Errors
    /// `PermissionDenied` or `Io`.
    pub async fn list_dirs(&self, dir: &str) -> Result<Vec<String>> {
        match self.target(dir)? {
            Target::Local(path) => {
                let shown = dir.to_owned();
                blocking(move || local::list_dirs(&path, &shown)).await
            }
            Target::Remote(store, key) => store.list_dirs(&key, dir).await,
        }
    }

    /// Files at every depth below `dir`, in no promised order; ends at once when the directory is absent. On a local disk
    /// linked directories are not entered.
    pub fn list_recursive(&self, dir: &str) -> BoxStream<'static, Result<FileStatus>> {
        match self.target(dir) {
            Ok(Target::Local(path)) => local::list_recursive(path, dir.to_owned()),
            Ok(Target::Remote(store, key)) => store.list_recursive(&key, dir),
            Err(e) => futures_util::stream::once(async move { Err(e) }).boxed(),
        }
    }

    /// Makes a directory and its parents. Object stores have none: there it does nothing.
    ///
    /// # Errors
    /// `PermissionDenied`, `AlreadyExists` (a file has the name) or `Io`.
    pub async fn create_dir(&self, dir: &str) -> Result<()> {
        match self.target(dir)? {
            Target::Local(path) => {
                let shown = dir.to_owned();
                blocking(move || local::create_dir(&path, &shown)).await
            }
            Target::Remote(..) => Ok(()),
        }
    }

    /// Deletes a file; one that is absent is fine.
    ///
    /// # Errors
    /// `PermissionDenied` or `Io`.
    pub async fn delete(&self, path: &str) -> Result<()> {
        match self.target(path)? {
            Target::Local(file) => {
                let shown = path.to_owned();
                blocking(move || local::delete(&file, &shown)).await
            }
            Target::Remote(store, key) => store.delete(&key, path).await,
        }
    }

    /// Deletes a directory and everything below; one that is absent is fine. Not atomic.
    ///
    /// # Errors
    /// `InvalidInput` for the root of a disk or bucket, `PermissionDenied` or `Io`.
    pub async fn delete_dir(&self, dir: &str) -> Result<()> {
        match self.target(dir)? {
            Target::Local(path) => {
                let shown = dir.to_owned();
                blocking(move || local::delete_dir(&path, &shown)).await
            }
            Target::Remote(store, key) => store.delete_dir(&key, dir).await,
        }
    }

    /// Gives a directory a new name. Atomic on a local disk; in an object store every object is copied and then the old ones
    /// are deleted, and a failure between leaves both.
    ///
    /// # Errors
    /// `NotFound`, `AlreadyExists` when the new name is taken, `InvalidInput` across stores, `PermissionDenied` or `Io`.
    pub async fn rename_dir(&self, from: &str, to: &str) -> Result<()> {
        match (self.target(from)?, self.target(to)?) {
            (Target::Local(a), Target::Local(b)) => {
                let (shown_from, shown_to) = (from.to_owned(), to.to_owned());
                blocking(move || local::rename_dir(&a, &b, &shown_from, &shown_to)).await
            }
            (Target::Remote(a, key_a), Target::Remote(b, key_b)) if Arc::ptr_eq(&a, &b) => {
                a.rename_dir(&key_a, &key_b, from, to).await
            }
            _ => Err(Error::invalid("cannot rename a directory into another store")
                .with("path", from)
                .with("to", to)),
        }
    }

    /// Opens a file for reading. `size` is its length when the caller knows it (it is not checked). A local file is opened
    /// here and `NotFound` reported here; an object is first touched by the first read.
    ///
    /// # Errors
    /// `NotFound` (local disk), `PermissionDenied` or `Io`.
    pub async fn open_input(&self, path: &str, size: Option<u64>) -> Result<Arc<dyn InputFile>> {
        let shown = path.to_owned();
        match self.target(path)? {
            Target::Local(file) => {
                let input = blocking(move || LocalInput::open(&file, shown, size)).await?;
                Ok(Arc::new(input))
            }
            Target::Remote(store, key) => store.open_input(&key, &shown, size),
        }
    }

    /// Starts a new file, invisible until it is closed. Missing parent directories are made.
    ///
    /// # Errors
    /// `PermissionDenied` or `Io`.
    pub async fn open_output(&self, path: &str) -> Result<Box<dyn OutputStream>> {
        let shown = path.to_owned();
        match self.target(path)? {
            Target::Local(file) => {
                let output = blocking(move || LocalOutput::open(file, shown)).await?;
                Ok(Box::new(output))
            }
            Target::Remote(store, key) => store.open_output(&key, &shown),
        }
    }

    /// The absolute path when the location lies on the local disk and no injected store serves it.
    pub fn local_path(&self, path: &str) -> Option<PathBuf> {
        match self.target(path) {
            Ok(Target::Local(file)) => Some(file),
            _ => None,
        }
    }

    /// `dir`, one slash, `name`: the way this crate spells the paths of a listing.
    pub fn join(dir: &str, name: &str) -> String {
        join(dir, name)
    }
}

/// How specific an injected prefix is.
#[cfg(feature = "object-store")]
fn depth(at: &Location) -> usize {
    match at {
        Location::Local(path) => path.components().count(),
        Location::Object { key, .. } => key.split('/').filter(|segment| !segment.is_empty()).count(),
    }
}

/// The part of `location` after `prefix`, when it lies below or at it.
fn rest_below(location: &Location, prefix: &Location) -> Option<String> {
    match (location, prefix) {
        (Location::Local(path), Location::Local(at)) => {
            path.strip_prefix(at).ok()?.to_str().map(str::to_owned)
        }
        (
            Location::Object {
                scheme,
                authority,
                key,
            },
            Location::Object {
                scheme: at_scheme,
                authority: at_authority,
                key: at_key,
            },
        ) if scheme == at_scheme && authority == at_authority => {
            let rest = key.strip_prefix(at_key.as_str())?;
            match rest.strip_prefix('/') {
                Some(rest) => Some(rest.to_owned()),
                None if rest.is_empty() || at_key.is_empty() => Some(rest.to_owned()),
                None => None,
            }
        }
        _ => None,
    }
}
