// SPDX-License-Identifier: Apache-2.0

//! A store that fails on command, for tests of commit and clean-up.
//!
//! Faults are deterministic: a rule names an operation, a part of the path, how many matching calls pass before it and how
//! often it strikes. A call can fail before it takes effect, after it took effect (the acknowledgement is lost), or be
//! refused as a store without that permission would.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures_core::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result,
    UploadPart,
};

/// An operation of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A put that may replace.
    Put,
    /// A put that must not replace (create-if-absent).
    Create,
    /// Start, part and completion of a multipart upload.
    Multipart,
    /// Reading bytes.
    Get,
    /// Reading metadata.
    Head,
    /// Deleting one object.
    Delete,
    /// Any listing.
    List,
    /// Copy and rename.
    Copy,
}

/// How a matching call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// An I/O error; nothing happened.
    Before,
    /// An I/O error although the call took effect.
    After,
    /// Refused: no permission.
    Denied,
}

/// Which calls fail and how.
#[derive(Clone, Debug)]
pub struct Rule {
    operation: Option<Operation>,
    path_part: String,
    fault: Fault,
    skip: usize,
    times: usize,
}

impl Rule {
    /// Every call of `operation` fails with `fault`.
    pub fn on(operation: Operation, fault: Fault) -> Self {
        Rule {
            operation: Some(operation),
            path_part: String::new(),
            fault,
            skip: 0,
            times: usize::MAX,
        }
    }

    /// Every call of any operation fails with `fault`.
    pub fn on_all(fault: Fault) -> Self {
        Rule {
            operation: None,
            path_part: String::new(),
            fault,
            skip: 0,
            times: usize::MAX,
        }
    }

    /// Only paths that contain `part`.
    #[must_use]
    pub fn path(mut self, part: impl Into<String>) -> Self {
        self.path_part = part.into();
        self
    }

    /// Lets the first `n` matching calls pass.
    #[must_use]
    pub fn skip(mut self, n: usize) -> Self {
        self.skip = n;
        self
    }

    /// Strikes `n` times, then lets calls pass.
    #[must_use]
    pub fn times(mut self, n: usize) -> Self {
        self.times = n;
        self
    }
}

#[derive(Debug, Default)]
struct State {
    rules: Vec<Rule>,
    calls: Vec<(Operation, String)>,
}

/// Wraps a store; clones share rules and the record of calls.
#[derive(Clone, Debug)]
pub struct FaultStore {
    inner: Arc<dyn ObjectStore>,
    state: Arc<Mutex<State>>,
}

impl FaultStore {
    /// Wraps `inner`, without faults.
    pub fn new(inner: Arc<dyn ObjectStore>) -> Self {
        FaultStore {
            inner,
            state: Arc::default(),
        }
    }

    /// Wraps an empty memory store.
    pub fn memory() -> Self {
        FaultStore::new(Arc::new(object_store::memory::InMemory::new()))
    }

    /// Adds a rule; the first rule that matches a call decides.
    pub fn add(&self, rule: Rule) -> &Self {
        self.lock().rules.push(rule);
        self
    }

    /// Removes all rules.
    pub fn heal(&self) {
        self.lock().rules.clear();
    }

    /// The calls so far: operation and path, in order, including those that failed.
    pub fn calls(&self) -> Vec<(Operation, String)> {
        self.lock().calls.clone()
    }

    /// How many calls of `operation` touched a path containing `part`.
    pub fn count(&self, operation: Operation, part: &str) -> usize {
        self.lock()
            .calls
            .iter()
            .filter(|(op, path)| *op == operation && path.contains(part))
            .count()
    }

    /// Forgets the calls so far.
    pub fn forget_calls(&self) {
        self.lock().calls.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a call and returns its fault.
    fn strike(&self, operation: Operation, path: &str) -> Option<Fault> {
        let mut state = self.lock();
        state.calls.push((operation, path.to_owned()));
        for rule in &mut state.rules {
            let matches = rule.operation.is_none_or(|op| op == operation) && path.contains(&rule.path_part);
            if !matches || rule.times == 0 {
                continue;
            }
            if rule.skip > 0 {
                rule.skip -= 1;
                continue;
            }
            if rule.times != usize::MAX {
                rule.times -= 1;
            }
            return Some(rule.fault);
        }
        None
    }

    /// Runs a call under the rules.
    async fn run<T>(
        &self,
        operation: Operation,
        path: &str,
        call: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        match self.strike(operation, path) {
            None => call.await,
            Some(Fault::After) => {
                call.await?;
                Err(lost(path))
            }
            Some(fault) => Err(refused(fault, path)),
        }
    }
}

fn lost(path: &str) -> Error {
    Error::Generic {
        store: "fault",
        source: format!("injected: acknowledgement lost for {path}").into(),
    }
}

fn refused(fault: Fault, path: &str) -> Error {
    match fault {
        Fault::Denied => Error::PermissionDenied {
            path: path.to_owned(),
            source: "injected: access denied".into(),
        },
        _ => Error::Generic {
            store: "fault",
            source: format!("injected: request failed for {path}").into(),
        },
    }
}

impl fmt::Display for FaultStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FaultStore({})", self.inner)
    }
}

#[async_trait]
impl ObjectStore for FaultStore {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        let operation = match opts.mode {
            PutMode::Overwrite => Operation::Put,
            PutMode::Create | PutMode::Update(_) => Operation::Create,
        };
        self.run(
            operation,
            location.as_ref(),
            self.inner.put_opts(location, payload, opts),
        )
        .await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let started = self
            .run(
                Operation::Multipart,
                location.as_ref(),
                self.inner.put_multipart_opts(location, opts),
            )
            .await?;
        Ok(Box::new(FaultUpload {
            inner: started,
            store: self.clone(),
            path: location.to_string(),
        }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let operation = if options.head {
            Operation::Head
        } else {
            Operation::Get
        };
        self.run(
            operation,
            location.as_ref(),
            self.inner.get_opts(location, options),
        )
        .await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.run(
            Operation::Get,
            location.as_ref(),
            self.inner.get_ranges(location, ranges),
        )
        .await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let store = self.clone();
        locations
            .and_then(move |location| {
                let store = store.clone();
                async move {
                    store
                        .run(
                            Operation::Delete,
                            location.as_ref(),
                            store.inner.delete(&location),
                        )
                        .await?;
                    Ok(location)
                }
            })
            .boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let path = prefix.map(ToString::to_string).unwrap_or_default();
        match self.strike(Operation::List, &path) {
            None => self.inner.list(prefix),
            Some(fault) => futures_util::stream::once(async move { Err(refused(fault, &path)) }).boxed(),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let path = prefix.map(ToString::to_string).unwrap_or_default();
        self.run(Operation::List, &path, self.inner.list_with_delimiter(prefix))
            .await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.run(
            Operation::Copy,
            to.as_ref(),
            self.inner.copy_opts(from, to, options),
        )
        .await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.run(
            Operation::Copy,
            to.as_ref(),
            self.inner.rename_opts(from, to, options),
        )
        .await
    }
}

/// A multipart upload under the rules of [`Operation::Multipart`].
#[derive(Debug)]
struct FaultUpload {
    inner: Box<dyn MultipartUpload>,
    store: FaultStore,
    path: String,
}

#[async_trait]
impl MultipartUpload for FaultUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        match self.store.strike(Operation::Multipart, &self.path) {
            None => self.inner.put_part(data),
            Some(Fault::After) => {
                let (part, path) = (self.inner.put_part(data), self.path.clone());
                Box::pin(async move {
                    part.await?;
                    Err(lost(&path))
                })
            }
            Some(fault) => {
                let path = self.path.clone();
                Box::pin(async move { Err(refused(fault, &path)) })
            }
        }
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let store = self.store.clone();
        let path = self.path.clone();
        store
            .run(Operation::Multipart, &path, self.inner.complete())
            .await
    }

    async fn abort(&mut self) -> Result<()> {
        self.inner.abort().await
    }
}
