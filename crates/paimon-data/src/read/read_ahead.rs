// SPDX-License-Identifier: Apache-2.0

//! Several files decoded at once, their batches given in order, what waits bounded by a byte budget.
//!
//! The file whose turn it is never waits for the budget (it has a few batches of its own), so files that are read ahead
//! cannot starve it; they in turn stop when the budget is used up.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use futures_util::future::{BoxFuture, Either, select};
use futures_util::{StreamExt, stream};
use paimon_types::{Error, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;

use super::BatchStream;

/// Batches that the current file may have waiting besides the budget.
const FRONT_BATCHES: usize = 4;
const UNIT: usize = 1024;

/// Bytes of decoded batches that may wait, shared by all reads of one `TableRead`.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    units: Arc<Semaphore>,
    total: u32,
}

impl Budget {
    pub(crate) fn new(bytes: usize) -> Self {
        let total = u32::try_from((bytes / UNIT).max(1))
            .unwrap_or(u32::MAX)
            .min(Semaphore::MAX_PERMITS as u32);
        Budget {
            units: Arc::new(Semaphore::new(total as usize)),
            total,
        }
    }

    /// Units for a batch, never more than there are at all.
    fn units_of(&self, batch: &RecordBatch) -> u32 {
        u32::try_from(held(batch.get_array_memory_size()) / UNIT + 1)
            .unwrap_or(u32::MAX)
            .min(self.total)
    }
}

/// What allocators keep for so many bytes, with what other threads gave back.
pub(super) fn held(bytes: usize) -> usize {
    bytes.saturating_mul(3).div_ceil(2)
}

type Item = (Result<RecordBatch>, Option<OwnedSemaphorePermit>);

/// One file being read by a task of its own.
struct Running {
    batches: mpsc::UnboundedReceiver<Item>,
    front: Arc<Semaphore>,
    is_front: bool,
    task: AbortOnDrop,
}

struct State<T, F> {
    waiting: VecDeque<T>,
    running: VecDeque<Running>,
    parallelism: usize,
    budget: Budget,
    open: F,
}

/// The batches of all `inputs`, in order; up to `parallelism` of them are open at once.
pub(crate) fn in_order<T, F>(inputs: Vec<T>, parallelism: usize, budget: Budget, open: F) -> BatchStream
where
    T: Send + 'static,
    F: Fn(T) -> BatchStream + Send + 'static,
{
    if parallelism <= 1 {
        return stream::iter(inputs).map(open).flatten().boxed();
    }
    let state = State {
        waiting: inputs.into(),
        running: VecDeque::new(),
        parallelism,
        budget,
        open,
    };
    stream::unfold(Some(state), |state| async move {
        let mut state = state?;
        loop {
            state.start();
            let front = state.running.front_mut()?;
            match front.batches.recv().await {
                Some((Ok(batch), _permit)) => return Some((Ok(batch), Some(state))),
                Some((Err(err), _)) => return Some((Err(err), None)),
                None => {
                    if let Some(mut done) = state.running.pop_front()
                        && let Err(err) = (&mut done.task.0).await
                        && err.is_panic()
                    {
                        return Some((Err(panicked(err)), None));
                    }
                }
            }
        }
    })
    .boxed()
}

/// The batches of all `inputs` as they come; `parallelism` of them are open at once. The formats decode in the background, nothing
/// waits for a turn, so little memory is in flight. The first error ends the stream.
pub(crate) fn unordered<T, F>(inputs: Vec<T>, parallelism: usize, open: F) -> BatchStream
where
    T: Send + 'static,
    F: Fn(T) -> BatchStream + Send + Sync + 'static,
{
    let batches = stream::iter(inputs)
        .map(open)
        .flatten_unordered(parallelism.max(1));
    let until_error = batches.scan(false, |failed, item| {
        let next = (!*failed).then_some(item);
        *failed |= matches!(next, Some(Err(_)));
        async move { next }
    });
    until_error.boxed()
}

/// A stream of nothing but an error.
pub(super) fn failed(error: Error) -> BatchStream {
    stream::iter([Err(error)]).boxed()
}

/// So many streams that take their inputs from one queue.
pub(crate) fn shared<T, F>(inputs: Vec<T>, streams: usize, open: F) -> Vec<BatchStream>
where
    T: Send + 'static,
    F: Fn(T) -> BatchStream + Send + Sync + 'static,
{
    let queue = Arc::new((Mutex::new(inputs.into_iter()), open));
    let one = || {
        stream::unfold(Some((queue.clone(), None::<BatchStream>)), |state| async move {
            let (queue, mut rows) = state?;
            loop {
                if let Some(current) = &mut rows
                    && let Some(batch) = current.next().await
                {
                    let state = batch.is_ok().then_some((queue, rows));
                    return Some((batch, state));
                }
                let input = queue.0.lock().unwrap_or_else(PoisonError::into_inner).next()?;
                rows = Some((queue.1)(input));
            }
        })
        .boxed()
    };
    (0..streams.max(1)).map(|_| one()).collect()
}

/// The same batches from a task of their own, which works a little ahead: for streams that compute what they give.
pub(crate) fn in_task(mut batches: BatchStream) -> BatchStream {
    let started = async move {
        let (sender, receiver) = mpsc::channel(2);
        let task = AbortOnDrop::spawn(Box::pin(async move {
            while let Some(item) = batches.next().await {
                if sender.send(item).await.is_err() {
                    return;
                }
            }
        }));
        stream::unfold(Some((receiver, task)), |state| async move {
            let (mut receiver, mut task) = state?;
            if let Some(item) = receiver.recv().await {
                return Some((item, Some((receiver, task))));
            }
            match (&mut task.0).await {
                Err(err) if err.is_panic() => Some((Err(panicked(err)), None)),
                _ => None,
            }
        })
    };
    stream::once(started).flatten().boxed()
}

/// Begins to compute at once in a task of its own; what it comes to.
pub(super) fn in_background<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> impl Future<Output = Result<T>> {
    let mut task = AbortOnDrop::spawn(Box::pin(work));
    async move { (&mut task.0).await.map_err(panicked)? }
}

/// A task that ends with the stream that reads from it.
pub(super) struct AbortOnDrop<T = ()>(pub(super) JoinHandle<T>);

impl<T: Send + 'static> AbortOnDrop<T> {
    /// Begins the work. It is boxed, so that the runtime's part of a task is compiled once for each kind of result.
    pub(super) fn spawn(work: BoxFuture<'static, T>) -> Self {
        AbortOnDrop(tokio::spawn(work))
    }
}

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

pub(super) fn panicked(err: tokio::task::JoinError) -> Error {
    Error::corrupt("a reader panicked on a data file").with_source(err)
}

impl<T, F> State<T, F>
where
    T: Send + 'static,
    F: Fn(T) -> BatchStream + Send + 'static,
{
    /// Opens files up to the parallelism and tells the first one that it is its turn.
    fn start(&mut self) {
        while self.running.len() < self.parallelism {
            let Some(input) = self.waiting.pop_front() else {
                break;
            };
            let (sender, batches) = mpsc::unbounded_channel();
            let front = Arc::new(Semaphore::new(0));
            let stream = (self.open)(input);
            let pumped = pump(stream, sender, self.budget.clone(), front.clone());
            let task = AbortOnDrop::spawn(Box::pin(pumped));
            self.running.push_back(Running {
                batches,
                front,
                is_front: false,
                task,
            });
        }
        if let Some(first) = self.running.front_mut().filter(|f| !f.is_front) {
            first.is_front = true;
            first.front.add_permits(FRONT_BATCHES);
        }
    }
}

/// Sends the batches of one file; each waits for room in the budget or, when the file is in front, in its allowance.
async fn pump(
    mut stream: BatchStream,
    sender: mpsc::UnboundedSender<Item>,
    budget: Budget,
    front: Arc<Semaphore>,
) {
    while let Some(item) = stream.next().await {
        let Ok(batch) = item else {
            let _ = sender.send((item, None));
            return;
        };
        let by_budget = Box::pin(budget.units.clone().acquire_many_owned(budget.units_of(&batch)));
        let by_front = Box::pin(front.clone().acquire_owned());
        let permit = match select(by_front, by_budget).await {
            Either::Left((permit, _)) | Either::Right((permit, _)) => permit,
        };
        // Semaphores are never closed, and the receiver is gone when nobody wants the rest.
        let Ok(permit) = permit else { return };
        if sender.send((Ok(batch), Some(permit))).is_err() {
            return;
        }
    }
}
