// SPDX-License-Identifier: Apache-2.0

//! Object stores: conditional puts, multipart uploads, listings with literal keys.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_core::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, PutPayloadMut,
};
use paimon_types::{Error, ErrorKind, Result};
use tokio::sync::OnceCell;
use tokio::task::JoinSet;

use crate::error::{from_object, past_end};
use crate::file::{FileStatus, InputFile, OutputStream};
use crate::location::join;
use crate::remote::RemoteStore;

/// Part size of multipart uploads; smaller files are one put. 10 000 parts are the limit of S3: 80 GB a file.
const PART: usize = 8 << 20;
/// Parts of one file in flight.
const UPLOADS: usize = 4;
/// Objects copied or deleted at once.
const CONCURRENCY: usize = 10;

/// A store and what we know about it.
#[derive(Clone, Debug)]
pub(crate) struct ObjectBackend {
    pub(crate) store: Arc<dyn ObjectStore>,
    /// The client repeats requests whose reply was lost, so "exists already" may speak of our own put.
    pub(crate) retries: bool,
}

/// A literal key as a store path.
fn parse_key(key: &str, shown: &str) -> Result<Path> {
    Path::parse(key).map_err(|e| {
        Error::invalid("the path is not valid in an object store")
            .with("path", shown)
            .with_source(e)
    })
}

fn to_status(meta: &ObjectMeta, path: String) -> FileStatus {
    FileStatus {
        path,
        size: meta.size,
        modified_millis: meta.last_modified.timestamp_millis(),
    }
}

/// The part of `location` below `dir`; `None` for the directory's own marker object.
fn below<'a>(location: &'a Path, dir: &Path) -> Option<&'a str> {
    let rest = location.as_ref().strip_prefix(dir.as_ref())?;
    let rest = if dir.is_root() {
        rest
    } else {
        rest.strip_prefix('/')?
    };
    (!rest.is_empty()).then_some(rest)
}

#[async_trait]
impl RemoteStore for ObjectBackend {
    async fn read(&self, key: &str, shown: &str) -> Result<Bytes> {
        let key = &parse_key(key, shown)?;
        let result = self
            .store
            .get(key)
            .await
            .map_err(|e| from_object(e, "read", shown))?;
        result.bytes().await.map_err(|e| from_object(e, "read", shown))
    }

    async fn read_range(&self, key: &str, range: Range<u64>, shown: &str) -> Result<Bytes> {
        let key = &parse_key(key, shown)?;
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        let bytes = self
            .store
            .get_range(key, range.clone())
            .await
            .map_err(|e| from_object(e, "read", shown))?;
        check(bytes, &range, shown)
    }

    async fn read_ranges(&self, key: &str, ranges: &[Range<u64>], shown: &str) -> Result<Vec<Bytes>> {
        let key = &parse_key(key, shown)?;
        let wanted: Vec<Range<u64>> = ranges.iter().filter(|r| !r.is_empty()).cloned().collect();
        if wanted.is_empty() {
            return Ok(vec![Bytes::new(); ranges.len()]);
        }
        let found = self
            .store
            .get_ranges(key, &wanted)
            .await
            .map_err(|e| from_object(e, "read", shown))?;
        let mut found = found.into_iter();
        ranges
            .iter()
            .map(|range| {
                if range.is_empty() {
                    return Ok(Bytes::new());
                }
                check(found.next().unwrap_or_default(), range, shown)
            })
            .collect()
    }

    async fn status(&self, key: &str, shown: &str) -> Result<Option<FileStatus>> {
        let key = &parse_key(key, shown)?;
        if key.is_root() {
            return Ok(None);
        }
        match self.store.head(key).await {
            Ok(meta) => Ok(Some(to_status(&meta, shown.to_owned()))),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(e) => Err(from_object(e, "look at", shown)),
        }
    }

    async fn exists(&self, key: &str, shown: &str) -> Result<bool> {
        if self.status(key, shown).await?.is_some() {
            return Ok(true);
        }
        let first = self
            .store
            .list(Some(&parse_key(key, shown)?))
            .try_next()
            .await
            .map_err(|e| from_object(e, "list", shown))?;
        Ok(first.is_some())
    }

    async fn write(&self, key: &str, content: Bytes, shown: &str) -> Result<()> {
        let key = &parse_key(key, shown)?;
        self.store
            .put(key, PutPayload::from_bytes(content))
            .await
            .map(|_| ())
            .map_err(|e| from_object(e, "write", shown))
    }

    async fn create_if_absent(&self, key: &str, content: Bytes, shown: &str) -> Result<bool> {
        let key = &parse_key(key, shown)?;
        let options = PutOptions::from(PutMode::Create);
        match self
            .store
            .put_opts(key, PutPayload::from_bytes(content.clone()), options)
            .await
        {
            Ok(_) => Ok(true),
            Err(object_store::Error::AlreadyExists { .. }) if self.retries => {
                Ok(self.read(key.as_ref(), shown).await? == content)
            }
            Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
            Err(e) => Err(from_object(e, "create", shown)),
        }
    }

    async fn list(&self, dir: &str, shown: &str) -> Result<Vec<FileStatus>> {
        let dir = &parse_key(dir, shown)?;
        let listing = self
            .store
            .list_with_delimiter(Some(dir))
            .await
            .map_err(|e| from_object(e, "list", shown))?;
        let mut files: Vec<FileStatus> = listing
            .objects
            .iter()
            .filter_map(|meta| below(&meta.location, dir).map(|name| to_status(meta, join(shown, name))))
            .collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    async fn list_dirs(&self, dir: &str, shown: &str) -> Result<Vec<String>> {
        let dir = &parse_key(dir, shown)?;
        let listing = self
            .store
            .list_with_delimiter(Some(dir))
            .await
            .map_err(|e| from_object(e, "list", shown))?;
        let names: BTreeSet<&str> = listing
            .common_prefixes
            .iter()
            .filter_map(|prefix| below(prefix, dir))
            .collect();
        Ok(names.into_iter().map(str::to_owned).collect())
    }

    fn list_recursive(&self, dir: &str, shown: &str) -> BoxStream<'static, Result<FileStatus>> {
        let dir = match parse_key(dir, shown) {
            Ok(dir) => dir,
            Err(e) => return futures_util::stream::once(async move { Err(e) }).boxed(),
        };
        let shown = shown.to_owned();
        self.store
            .list(Some(&dir))
            .filter_map(move |item| {
                let status = match item {
                    Ok(meta) => {
                        below(&meta.location, &dir).map(|name| Ok(to_status(&meta, join(&shown, name))))
                    }
                    Err(e) => Some(Err(from_object(e, "list", &shown))),
                };
                futures_util::future::ready(status)
            })
            .boxed()
    }

    async fn delete(&self, key: &str, shown: &str) -> Result<()> {
        let key = &parse_key(key, shown)?;
        match self.store.delete(key).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(e) => Err(from_object(e, "delete", shown)),
        }
    }

    async fn delete_dir(&self, dir: &str, shown: &str) -> Result<()> {
        let dir = &parse_key(dir, shown)?;
        if dir.is_root() {
            return Err(Error::invalid("refusing to delete the root of a store").with("path", shown));
        }
        let keys = self.store.list(Some(dir)).map_ok(|meta| meta.location).boxed();
        let mut deleted = self.store.delete_stream(keys);
        while let Some(result) = deleted.next().await {
            match result {
                Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
                Err(e) => return Err(from_object(e, "delete", shown)),
            }
        }
        Ok(())
    }

    /// Copies everything, then deletes the sources; not atomic.
    async fn rename_dir(&self, from: &str, to: &str, shown_from: &str, shown_to: &str) -> Result<()> {
        let from = &parse_key(from, shown_from)?;
        let to = &parse_key(to, shown_to)?;
        if self.exists(to.as_ref(), shown_to).await? {
            return Err(
                Error::already_exists("cannot rename the directory: the new name exists already")
                    .with("path", shown_to),
            );
        }
        let sources: Vec<Path> = self
            .store
            .list(Some(from))
            .map_ok(|meta| meta.location)
            .try_collect()
            .await
            .map_err(|e| from_object(e, "list", shown_from))?;
        if sources.is_empty() {
            return Err(Error::not_found("directory does not exist").with("path", shown_from));
        }
        let copies: Vec<(Path, Path)> = sources
            .iter()
            .filter_map(|source| below(source, from).map(|name| (source, name)))
            .map(|(source, name)| Ok((source.clone(), parse_key(&format!("{to}/{name}"), shown_to)?)))
            .collect::<Result<_>>()?;
        let mut copying = futures_util::stream::iter(copies)
            .map(|(source, target)| async move { self.store.copy(&source, &target).await })
            .buffer_unordered(CONCURRENCY);
        while let Some(copied) = copying.next().await {
            copied.map_err(|e| from_object(e, "rename", shown_from).with("to", shown_to))?;
        }
        drop(copying);
        self.delete_dir(from.as_ref(), shown_from).await
    }

    fn open_input(&self, key: &str, shown: &str, size: Option<u64>) -> Result<Arc<dyn InputFile>> {
        // checked here, so that reads do not fail later for their name
        parse_key(key, shown)?;
        Ok(Arc::new(ObjectInput {
            backend: self.clone(),
            key: key.to_owned(),
            path: shown.to_owned(),
            size: OnceCell::new_with(size),
        }))
    }

    fn open_output(&self, key: &str, shown: &str) -> Result<Box<dyn OutputStream>> {
        let key = parse_key(key, shown)?;
        Ok(Box::new(ObjectOutput::new(self.clone(), key, shown.to_owned())))
    }
}

fn check(bytes: Bytes, range: &Range<u64>, shown: &str) -> Result<Bytes> {
    match bytes.len() as u64 == range.end - range.start {
        true => Ok(bytes),
        false => Err(past_end(range, bytes.len() as u64, shown)),
    }
}

/// An object opened for reading; nothing is requested before the first read.
struct ObjectInput {
    backend: ObjectBackend,
    key: String,
    path: String,
    size: OnceCell<u64>,
}

#[async_trait]
impl InputFile for ObjectInput {
    fn path(&self) -> &str {
        &self.path
    }

    async fn size(&self) -> Result<u64> {
        self.size
            .get_or_try_init(|| async {
                match self.backend.status(&self.key, &self.path).await? {
                    Some(status) => Ok(status.size),
                    None => {
                        Err(Error::new(ErrorKind::NotFound, "file does not exist").with("path", &self.path))
                    }
                }
            })
            .await
            .copied()
    }

    async fn read_range(&self, range: Range<u64>) -> Result<Bytes> {
        self.backend.read_range(&self.key, range, &self.path).await
    }

    async fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.backend.read_ranges(&self.key, ranges, &self.path).await
    }
}

/// A new object: one put when small, a multipart upload when large.
struct ObjectOutput {
    backend: ObjectBackend,
    key: Path,
    path: String,
    state: State,
    /// Bytes that make no whole part yet.
    buffer: PutPayloadMut,
    position: u64,
    failed: bool,
}

enum State {
    Small,
    Large {
        upload: Box<dyn MultipartUpload>,
        parts: JoinSet<object_store::Result<()>>,
    },
    Done,
}

impl ObjectOutput {
    fn new(backend: ObjectBackend, key: Path, path: String) -> Self {
        let buffer = PutPayloadMut::new();
        ObjectOutput {
            backend,
            key,
            path,
            state: State::Small,
            buffer,
            position: 0,
            failed: false,
        }
    }

    fn check_open(&self) -> Result<()> {
        if self.failed {
            return Err(Error::io("output stream failed before").with("path", &self.path));
        }
        match self.state {
            State::Done => Err(Error::invalid("output stream is closed").with("path", &self.path)),
            _ => Ok(()),
        }
    }

    /// Sends the buffer as one part, while at most [`UPLOADS`] are under way.
    async fn put_part(&mut self) -> object_store::Result<()> {
        if matches!(self.state, State::Small) {
            let upload = self.backend.store.put_multipart(&self.key).await?;
            self.state = State::Large {
                upload,
                parts: JoinSet::new(),
            };
        }
        if let State::Large { upload, parts } = &mut self.state {
            while parts.len() >= UPLOADS {
                join_one(parts).await?;
            }
            let part = upload.put_part(std::mem::take(&mut self.buffer).into());
            match tokio::runtime::Handle::try_current() {
                Ok(handle) => {
                    parts.spawn_on(part, &handle);
                }
                Err(_) => part.await?,
            }
        }
        Ok(())
    }

    async fn finish(&mut self) -> object_store::Result<()> {
        if matches!(self.state, State::Small) {
            let payload = std::mem::take(&mut self.buffer).into();
            self.backend.store.put(&self.key, payload).await?;
            return Ok(());
        }
        if !self.buffer.is_empty() {
            self.put_part().await?;
        }
        if let State::Large { upload, parts } = &mut self.state {
            while !parts.is_empty() {
                join_one(parts).await?;
            }
            upload.complete().await?;
        }
        Ok(())
    }
}

async fn join_one(parts: &mut JoinSet<object_store::Result<()>>) -> object_store::Result<()> {
    match parts.join_next().await {
        Some(Ok(result)) => result,
        Some(Err(source)) => Err(object_store::Error::Generic {
            store: "upload",
            source: Box::new(source),
        }),
        None => Ok(()),
    }
}

#[async_trait]
impl OutputStream for ObjectOutput {
    async fn write(&mut self, mut bytes: Bytes) -> Result<()> {
        self.check_open()?;
        self.position += bytes.len() as u64;
        // every part but the last has the same length, which some stores demand
        while self.buffer.content_length() + bytes.len() >= PART {
            let head = bytes.split_to(PART - self.buffer.content_length());
            self.buffer.push(head);
            if let Err(e) = self.put_part().await {
                self.failed = true;
                return Err(from_object(e, "write", &self.path));
            }
        }
        if !bytes.is_empty() {
            self.buffer.push(bytes);
        }
        Ok(())
    }

    fn position(&self) -> u64 {
        self.position
    }

    async fn close(&mut self) -> Result<()> {
        if !self.failed && matches!(self.state, State::Done) {
            return Ok(());
        }
        self.check_open()?;
        if let Err(e) = self.finish().await {
            self.failed = true;
            return Err(from_object(e, "write", &self.path));
        }
        self.state = State::Done;
        Ok(())
    }

    async fn abort(&mut self) -> Result<()> {
        self.buffer = PutPayloadMut::new();
        match std::mem::replace(&mut self.state, State::Done) {
            State::Large {
                mut upload,
                mut parts,
            } => {
                parts.shutdown().await;
                upload
                    .abort()
                    .await
                    .map_err(|e| from_object(e, "abort", &self.path))
            }
            _ => Ok(()),
        }
    }
}
