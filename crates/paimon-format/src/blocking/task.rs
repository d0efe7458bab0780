// SPDX-License-Identifier: Apache-2.0

//! Work on the blocking pool of the runtime.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Once, OnceLock};
use std::task::{Context, Poll};

use paimon_types::{Error, Result};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

/// Work that is being done, a future of its result. Dropping it lets the work end by itself.
#[derive(Debug)]
pub struct Task<T>(State<T>);

#[derive(Debug)]
enum State<T> {
    Running {
        action: &'static str,
        handle: JoinHandle<Result<T>>,
    },
    Done(Option<Result<T>>),
}

/// Runs `work` on the blocking pool, or at once when there is no runtime. A panic becomes a `Corrupt` error that tells
/// the `action`, such as `reading parquet rows`.
pub fn spawn<T, F>(action: &'static str, work: F) -> Task<T>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T> + Send + 'static,
{
    spawn_boxed(action, Box::new(work))
}

/// One kind of task for each kind of result, whatever the work: the runtime's part of a task is long to compile.
fn spawn_boxed<T: Send + 'static>(
    action: &'static str,
    work: Box<dyn FnOnce() -> Result<T> + Send>,
) -> Task<T> {
    expect_large_buffers();
    match Handle::try_current() {
        Ok(runtime) => Task(State::Running {
            action,
            handle: runtime.spawn_blocking(work),
        }),
        Err(_) => Task(State::Done(Some(in_place(action, work)))),
    }
}

/// Runs `work` on this thread. A panic becomes a `Corrupt` error that tells the `action`.
pub(super) fn in_place<T>(action: &'static str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(panic_error(action, payload)))
}

impl<T: Unpin> Future for Task<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        match &mut self.get_mut().0 {
            State::Done(result) => Poll::Ready(
                result
                    .take()
                    .unwrap_or_else(|| Err(Error::invalid("result of background work was taken before"))),
            ),
            State::Running { action, handle } => Pin::new(handle).poll(context).map(|joined| match joined {
                Ok(result) => result,
                Err(error) => match error.try_into_panic() {
                    Ok(payload) => Err(panic_error(action, payload)),
                    Err(_) => Err(Error::io("the runtime was shut down during background work")),
                },
            }),
        }
    }
}

/// Bytes of the buffers of a batch that are large, but not rare.
const LARGE_BUFFER: usize = 4 << 20;

/// Lets glibc's allocator keep memory of that size, which it learns from the first block that is freed: until then it gives the
/// buffers of every batch back to the system when the thread that consumes batches drops them, and the decoding thread pays for
/// clearing new ones (a fifth of the time of reading strings). Other allocators make nothing of it; no memory is touched.
fn expect_large_buffers() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| drop(std::hint::black_box(Vec::<u8>::with_capacity(LARGE_BUFFER))));
}

/// Threads that are worth using for one file.
pub fn parallelism() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from).min(4))
}

/// A panic of a decoder or encoder.
fn panic_error(action: &str, payload: Box<dyn Any + Send>) -> Error {
    let text = payload
        .downcast_ref::<&str>()
        .map(|s| (*s).to_string())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_string());
    Error::corrupt(format!("panic while {action}: {text}"))
}
