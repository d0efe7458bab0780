// SPDX-License-Identifier: Apache-2.0

//! Work on the blocking pool of the runtime.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll};

use paimon_types::{Error, Result};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::error::panic_error;

/// Work that is being done, a future of its result. Dropping it lets the work end by itself.
pub(crate) enum Task<T> {
    Running {
        action: &'static str,
        handle: JoinHandle<Result<T>>,
    },
    Done(Option<Result<T>>),
}

/// Runs `work` on the blocking pool, or at once when there is no runtime. A panic becomes an error.
pub(crate) fn spawn<T, F>(action: &'static str, work: F) -> Task<T>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T> + Send + 'static,
{
    match Handle::try_current() {
        Ok(runtime) => Task::Running {
            action,
            handle: runtime.spawn_blocking(work),
        },
        Err(_) => {
            let result = catch_unwind(AssertUnwindSafe(work));
            Task::Done(Some(
                result.unwrap_or_else(|payload| Err(panic_error(action, payload))),
            ))
        }
    }
}

impl<T: Unpin> Future for Task<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        match self.get_mut() {
            Task::Done(result) => Poll::Ready(
                result
                    .take()
                    .unwrap_or_else(|| Err(Error::invalid("result of background work was taken before"))),
            ),
            Task::Running { action, handle } => Pin::new(handle).poll(context).map(|joined| match joined {
                Ok(result) => result,
                Err(error) => match error.try_into_panic() {
                    Ok(payload) => Err(panic_error(action, payload)),
                    Err(_) => Err(Error::io("the runtime was shut down during background work")),
                },
            }),
        }
    }
}

/// Threads that are worth using for one file.
pub(crate) fn parallelism() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from).min(4))
}
