// SPDX-License-Identifier: Apache-2.0

//! The local disk: atomic writes by temporary file and rename, create-if-absent by hard link.
//!
//! Data is handed to the operating system, not forced to the platter: like the Java product's local file system, a commit
//! survives a crash of the process, not of the machine.

use std::fs::{self, DirEntry, File, OpenOptions};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use futures_core::stream::BoxStream;
use futures_util::StreamExt;
use paimon_types::{Error, ErrorKind, Result};

use crate::error::{from_io, is_absent};
use crate::file::{FileStatus, InputFile, OutputStream};
use crate::local_file::LocalFile;
use crate::location::join;
use crate::{IdSource, UuidSource};

/// Small writes are gathered up to this before they go to the file.
const BUFFER: usize = 1 << 20;

/// Runs blocking file calls on the runtime's blocking pool, or here when there is no runtime.
pub(crate) async fn blocking<T, F>(work: F) -> Result<T>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T> + Send + 'static,
{
    match tokio::runtime::Handle::try_current() {
        Ok(handle) => match handle.spawn_blocking(work).await {
            Ok(result) => result,
            Err(e) => Err(Error::io("a file operation was cancelled or panicked").with_source(e)),
        },
        Err(_) => work(),
    }
}

pub(crate) fn read(path: &Path, shown: &str) -> Result<Bytes> {
    fs::read(path)
        .map(Bytes::from)
        .map_err(|e| from_io(e, "read", shown))
}

pub(crate) fn status(path: &Path, shown: &str) -> Result<Option<FileStatus>> {
    match fs::metadata(path) {
        Ok(meta) if meta.is_dir() => Ok(None),
        Ok(meta) => Ok(Some(to_status(&meta, shown.to_owned()))),
        Err(e) if is_absent(&e) => Ok(None),
        Err(e) => Err(from_io(e, "look at", shown)),
    }
}

pub(crate) fn exists(path: &Path, shown: &str) -> Result<bool> {
    match fs::metadata(path) {
        Ok(_) => Ok(true),
        Err(e) if is_absent(&e) => Ok(false),
        Err(e) => Err(from_io(e, "look at", shown)),
    }
}

fn to_status(meta: &fs::Metadata, path: String) -> FileStatus {
    let modified_millis = match meta.modified().map(|t| t.duration_since(UNIX_EPOCH)) {
        Ok(Ok(after)) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        Ok(Err(before)) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |m| -m),
        Err(_) => 0,
    };
    FileStatus {
        path,
        size: meta.len(),
        modified_millis,
    }
}

/// A hidden file beside `target`, named as the Java product names its temporary files.
fn temp_path(target: &Path, shown: &str) -> Result<PathBuf> {
    let name = target.file_name().ok_or_else(|| {
        Error::invalid("path names no file, expected a file name at the end").with("path", shown)
    })?;
    let mut temp = std::ffi::OsString::from(".");
    temp.push(name);
    temp.push(format!(".{}.tmp", UuidSource.next_uuid()));
    Ok(target.with_file_name(temp))
}

fn create_new(path: &Path) -> io::Result<File> {
    let open = || OpenOptions::new().write(true).create_new(true).open(path);
    match open() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => match path.parent() {
            Some(parent) => {
                fs::create_dir_all(parent)?;
                open()
            }
            None => Err(e),
        },
        other => other,
    }
}

/// Writes `content` to a new temporary file beside `target`.
fn stage(target: &Path, content: &[u8], shown: &str) -> Result<PathBuf> {
    let temp = temp_path(target, shown)?;
    let mut file = create_new(&temp).map_err(|e| from_io(e, "create", shown))?;
    if let Err(e) = file.write_all(content) {
        drop(file);
        discard(&temp);
        return Err(from_io(e, "write", shown));
    }
    Ok(temp)
}

/// Removes a temporary file; one that stays is a hidden name that readers skip.
fn discard(temp: &Path) {
    if let Err(e) = fs::remove_file(temp)
        && !is_absent(&e)
    {
        tracing::warn!(path = %temp.display(), error = %e, "temporary file was not removed");
    }
}

pub(crate) fn write(path: &Path, content: &[u8], shown: &str) -> Result<()> {
    let temp = stage(path, content, shown)?;
    fs::rename(&temp, path).map_err(|e| {
        discard(&temp);
        from_io(e, "write", shown)
    })
}

pub(crate) fn create_if_absent(path: &Path, content: &[u8], shown: &str) -> Result<bool> {
    let temp = stage(path, content, shown)?;
    let result = match fs::hard_link(&temp, path) {
        Ok(()) => Ok(true),
        // a network file system may say so although the link was made by our own request, whose first reply was lost
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(is_same_file(&temp, path)),
        Err(e) if e.kind() == io::ErrorKind::Unsupported => Err(Error::unsupported(
            "cannot create the file safely: this file system has no hard links, put the table on one that has them",
        )
        .with("path", shown)
        .with_source(e)),
        Err(e) => Err(from_io(e, "create", shown)),
    };
    discard(&temp);
    result
}

#[cfg(unix)]
fn is_same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (fs::symlink_metadata(a), fs::symlink_metadata(b)) {
        (Ok(a), Ok(b)) => a.dev() == b.dev() && a.ino() == b.ino(),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_same_file(_: &Path, _: &Path) -> bool {
    false
}

/// Entries of a directory in name order; an absent directory is empty, names that are not UTF-8 are skipped.
fn entries(dir: &Path, shown: &str) -> Result<Vec<(String, DirEntry)>> {
    let listing = match fs::read_dir(dir) {
        Ok(listing) => listing,
        Err(e) if is_absent(&e) => return Ok(Vec::new()),
        Err(e) => return Err(from_io(e, "list", shown)),
    };
    let mut found = Vec::new();
    for entry in listing {
        let entry = entry.map_err(|e| from_io(e, "list", shown))?;
        match entry.file_name().into_string() {
            Ok(name) => found.push((name, entry)),
            Err(name) => tracing::debug!(name = ?name, dir = shown, "skipped a file name that is not UTF-8"),
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

pub(crate) fn list(dir: &Path, shown: &str) -> Result<Vec<FileStatus>> {
    let mut files = Vec::new();
    for (name, entry) in entries(dir, shown)? {
        // follows links; what vanished since the listing is not there
        match fs::metadata(entry.path()) {
            Ok(meta) if meta.is_dir() => {}
            Ok(meta) => files.push(to_status(&meta, join(shown, &name))),
            Err(e) if is_absent(&e) => {}
            Err(e) => return Err(from_io(e, "list", shown)),
        }
    }
    Ok(files)
}

pub(crate) fn list_dirs(dir: &Path, shown: &str) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for (name, entry) in entries(dir, shown)? {
        let kind = match entry.file_type() {
            Ok(kind) => kind,
            Err(e) if is_absent(&e) => continue,
            Err(e) => return Err(from_io(e, "list", shown)),
        };
        if kind.is_dir() || (kind.is_symlink() && fs::metadata(entry.path()).is_ok_and(|m| m.is_dir())) {
            names.push(name);
        }
    }
    Ok(names)
}

/// Files at every depth, directory by directory. Linked directories are not entered.
pub(crate) fn list_recursive(dir: PathBuf, shown: String) -> BoxStream<'static, Result<FileStatus>> {
    futures_util::stream::try_unfold(vec![(dir, shown)], |mut todo| async move {
        let Some((dir, shown)) = todo.pop() else {
            return Ok(None);
        };
        let (files, mut below) = blocking(move || {
            let mut files = Vec::new();
            let mut below = Vec::new();
            for (name, entry) in entries(&dir, &shown)? {
                let path = join(&shown, &name);
                let meta = match entry.file_type() {
                    Ok(kind) if kind.is_dir() => {
                        below.push((entry.path(), path));
                        continue;
                    }
                    Ok(_) => fs::metadata(entry.path()),
                    Err(e) => Err(e),
                };
                match meta {
                    Ok(meta) if meta.is_dir() => {}
                    Ok(meta) => files.push(to_status(&meta, path)),
                    Err(e) if is_absent(&e) => {}
                    Err(e) => return Err(from_io(e, "list", &shown)),
                }
            }
            Ok((files, below))
        })
        .await?;
        below.reverse();
        todo.append(&mut below);
        Ok(Some((
            futures_util::stream::iter(files.into_iter().map(Ok)),
            todo,
        )))
    })
    .flat_map(|chunk: Result<_>| match chunk {
        Ok(files) => files.boxed(),
        Err(e) => futures_util::stream::once(async move { Err(e) }).boxed(),
    })
    .boxed()
}

pub(crate) fn delete(path: &Path, shown: &str) -> Result<()> {
    match fs::remove_file(path) {
        Ok(()) => Ok(()),
        Err(e) if is_absent(&e) => Ok(()),
        Err(e) => Err(from_io(e, "delete", shown)),
    }
}

pub(crate) fn delete_dir(path: &Path, shown: &str) -> Result<()> {
    if path.parent().is_none() {
        return Err(Error::invalid("refusing to delete the root directory").with("path", shown));
    }
    match fs::remove_dir_all(path) {
        Ok(()) => Ok(()),
        Err(e) if is_absent(&e) => Ok(()),
        Err(e) => Err(from_io(e, "delete", shown)),
    }
}

pub(crate) fn create_dir(path: &Path, shown: &str) -> Result<()> {
    fs::create_dir_all(path).map_err(|e| from_io(e, "create", shown))
}

pub(crate) fn rename_dir(from: &Path, to: &Path, shown_from: &str, shown_to: &str) -> Result<()> {
    if fs::symlink_metadata(to).is_ok() {
        return Err(
            Error::already_exists("cannot rename the directory: the new name exists already")
                .with("path", shown_to),
        );
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(|e| from_io(e, "create", shown_to))?;
    }
    fs::rename(from, to).map_err(|e| from_io(e, "rename", shown_from).with("to", shown_to))
}

pub(crate) fn read_ranges(path: &Path, ranges: &[Range<u64>], shown: &str) -> Result<Vec<Bytes>> {
    let file = File::open(path).map_err(|e| from_io(e, "read", shown))?;
    let file = LocalFile::new(file, shown.to_owned());
    ranges.iter().map(|range| file.read_range(range)).collect()
}

/// An open file of the local disk.
pub(crate) struct LocalInput {
    file: Arc<LocalFile>,
    path: String,
    size: Option<u64>,
}

impl LocalInput {
    pub(crate) fn open(path: &Path, shown: String, size: Option<u64>) -> Result<Self> {
        let file = File::open(path).map_err(|e| from_io(e, "open", &shown))?;
        let size = match size {
            Some(size) => size,
            None => {
                let meta = file.metadata().map_err(|e| from_io(e, "open", &shown))?;
                if meta.is_dir() {
                    return Err(Error::invalid("path is a directory, expected a file").with("path", shown));
                }
                meta.len()
            }
        };
        Ok(LocalInput {
            file: Arc::new(LocalFile::new(file, shown.clone())),
            path: shown,
            size: Some(size),
        })
    }
}

#[async_trait]
impl InputFile for LocalInput {
    fn path(&self) -> &str {
        &self.path
    }

    async fn size(&self) -> Result<u64> {
        self.size
            .ok_or_else(|| Error::new(ErrorKind::Io, "file size is unknown").with("path", &self.path))
    }

    async fn read_range(&self, range: Range<u64>) -> Result<Bytes> {
        let file = self.file.clone();
        blocking(move || file.read_range(&range)).await
    }

    async fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let (file, ranges) = (self.file.clone(), ranges.to_vec());
        blocking(move || ranges.iter().map(|range| file.read_range(range)).collect()).await
    }

    fn local_file(&self) -> Option<Arc<LocalFile>> {
        Some(self.file.clone())
    }
}

/// A new file: a hidden temporary file that `close` renames.
pub(crate) struct LocalOutput {
    target: PathBuf,
    path: Arc<str>,
    state: State,
    buffer: BytesMut,
    position: u64,
}

enum State {
    Open {
        file: Arc<File>,
        temp: TempFile,
    },
    /// A write or the rename failed; the temporary file is gone.
    Failed,
    Done,
}

/// Removes the file when dropped.
struct TempFile(PathBuf);

impl TempFile {
    /// The file has its final name: there is nothing to remove.
    fn renamed(&mut self) {
        self.0.clear();
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            discard(&self.0);
        }
    }
}

impl LocalOutput {
    pub(crate) fn open(target: PathBuf, shown: String) -> Result<Self> {
        let temp = temp_path(&target, &shown)?;
        let file = create_new(&temp).map_err(|e| from_io(e, "create", &shown))?;
        let state = State::Open {
            file: Arc::new(file),
            temp: TempFile(temp),
        };
        Ok(LocalOutput {
            target,
            path: shown.into(),
            state,
            buffer: BytesMut::new(),
            position: 0,
        })
    }

    fn file(&self) -> Result<Arc<File>> {
        match &self.state {
            State::Open { file, .. } => Ok(file.clone()),
            State::Failed => Err(Error::io("output stream failed before").with("path", &self.path)),
            State::Done => Err(Error::invalid("output stream is closed").with("path", &self.path)),
        }
    }

    async fn put(&mut self, chunks: [Bytes; 2]) -> Result<()> {
        let (file, path) = (self.file()?, self.path.clone());
        let written = blocking(move || {
            for chunk in &chunks {
                (&*file)
                    .write_all(chunk)
                    .map_err(|e| from_io(e, "write", &path))?;
            }
            Ok(())
        })
        .await;
        if written.is_err() {
            self.state = State::Failed;
        }
        written
    }
}

#[async_trait]
impl OutputStream for LocalOutput {
    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.file()?;
        self.position += bytes.len() as u64;
        if self.buffer.len() + bytes.len() < BUFFER {
            self.buffer.extend_from_slice(&bytes);
            return Ok(());
        }
        let head = self.buffer.split().freeze();
        self.put([head, bytes]).await
    }

    fn position(&self) -> u64 {
        self.position
    }

    async fn close(&mut self) -> Result<()> {
        if matches!(self.state, State::Done) {
            return Ok(());
        }
        if !self.buffer.is_empty() {
            let head = self.buffer.split().freeze();
            self.put([head, Bytes::new()]).await?;
        }
        self.file()?;
        let State::Open { file, mut temp } = std::mem::replace(&mut self.state, State::Failed) else {
            return Err(Error::io("output stream failed before").with("path", &self.path));
        };
        let (target, path) = (self.target.clone(), self.path.clone());
        blocking(move || {
            drop(file);
            fs::rename(&temp.0, &target).map_err(|e| from_io(e, "write", &path))?;
            temp.renamed();
            Ok(())
        })
        .await?;
        self.state = State::Done;
        Ok(())
    }

    async fn abort(&mut self) -> Result<()> {
        self.buffer.clear();
        let state = std::mem::replace(&mut self.state, State::Done);
        blocking(move || {
            drop(state);
            Ok(())
        })
        .await
    }
}
