// SPDX-License-Identifier: Apache-2.0

//! Windows into a remote file: what the decoder will read next is fetched in few large requests, ahead of it, and
//! never more than the budget of the read.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Bytes, BytesMut};
use paimon_format::{MemoryPool, MemoryReservation, ReadHints};
use paimon_storage::InputFile;
use paimon_types::{Error, Result};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

const SMALLEST_WINDOW: u64 = 64 << 10;
const LARGEST_WINDOW: u64 = 8 << 20;

/// A remote file and the parts of it that are in memory. Used on blocking threads only.
pub(crate) struct Remote {
    file: Arc<dyn InputFile>,
    runtime: Handle,
    hints: ReadHints,
    state: Mutex<State>,
}

struct State {
    /// Ranges that will be read, ascending and disjoint.
    wanted: Vec<Range<u64>>,
    /// Largest number of bytes of a request.
    window: u64,
    /// Fetched bytes by their position.
    ready: BTreeMap<u64, Bytes>,
    /// Windows on their way, by their position.
    coming: BTreeMap<u64, (u64, JoinHandle<Result<Bytes>>)>,
    /// The first windows of the next row group.
    next: Option<FirstWindows>,
    reservation: MemoryReservation,
}

/// Ranges and their bytes on the way.
type FirstWindows = (Vec<Range<u64>>, JoinHandle<Result<Vec<Bytes>>>);

impl Drop for State {
    fn drop(&mut self) {
        for (_, handle) in self.coming.values() {
            handle.abort();
        }
        if let Some((_, handle)) = &self.next {
            handle.abort();
        }
    }
}

impl State {
    fn bytes(&self) -> usize {
        let coming: u64 = self.coming.iter().map(|(start, (end, _))| end - start).sum();
        let next: u64 = self
            .next
            .iter()
            .flat_map(|(ranges, _)| ranges)
            .map(|r| r.end - r.start)
            .sum();
        self.ready.values().map(Bytes::len).sum::<usize>()
            + usize::try_from(coming + next).unwrap_or(usize::MAX)
    }

    /// The window that starts at `position` and ends with the range that it lies in, at least `length` long.
    fn window_at(&self, position: u64, length: u64) -> Range<u64> {
        let after = self.wanted.partition_point(|range| range.start <= position);
        let end = match after.checked_sub(1).and_then(|index| self.wanted.get(index)) {
            Some(range) if range.end > position => range.end.min(position + self.window.max(length)),
            _ => position + length,
        };
        position..end
    }
}

impl Remote {
    pub(crate) fn new(file: Arc<dyn InputFile>, hints: ReadHints, pool: Arc<dyn MemoryPool>) -> Result<Self> {
        let runtime = Handle::try_current()
            .map_err(|_| Error::invalid("a remote file is read inside of a tokio runtime only"))?;
        let state = State {
            wanted: Vec::new(),
            window: LARGEST_WINDOW,
            ready: BTreeMap::new(),
            coming: BTreeMap::new(),
            next: None,
            reservation: MemoryReservation::new(pool),
        };
        Ok(Remote {
            file,
            runtime,
            hints,
            state: Mutex::new(state),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells what will be read now (`wanted`) and afterwards (`then`): the ranges of one row group each, ascending.
    pub(crate) fn announce(
        &self,
        columns: usize,
        wanted: Vec<Range<u64>>,
        then: &[Range<u64>],
    ) -> Result<()> {
        let mut state = self.lock();
        let share = self.hints.read_ahead_bytes as u64 / (3 * columns.max(1) as u64);
        state.window = share.clamp(SMALLEST_WINDOW, LARGEST_WINDOW);
        state.wanted = wanted;
        state.ready.clear();
        for (_, (_, handle)) in std::mem::take(&mut state.coming) {
            handle.abort();
        }
        let first = first_windows(&state.wanted, state.window, columns);
        let (ranges, fetched) = match state.next.take() {
            Some((ranges, handle)) if ranges == first => (ranges, self.wait(handle)?),
            other => {
                if let Some((_, handle)) = other {
                    handle.abort();
                }
                let bytes = self.runtime.block_on(self.file.read_ranges(&first))?;
                (first, bytes)
            }
        };
        state
            .ready
            .extend(ranges.iter().map(|range| range.start).zip(fetched));
        let held = state.bytes();
        state.reservation.try_resize(held)?;
        if self.hints.read_ahead && !then.is_empty() {
            let ranges = first_windows(then, state.window, columns);
            let length: u64 = ranges.iter().map(|r| r.end - r.start).sum();
            if state
                .reservation
                .try_grow(usize::try_from(length).unwrap_or(usize::MAX))
                .is_ok()
            {
                let file = self.file.clone();
                let fetch = ranges.clone();
                let handle = self.runtime.spawn(async move { file.read_ranges(&fetch).await });
                state.next = Some((ranges, handle));
            }
        }
        Ok(())
    }

    fn wait<T>(&self, handle: JoinHandle<Result<T>>) -> Result<T> {
        match self.runtime.block_on(handle) {
            Ok(result) => result,
            Err(_) => {
                Err(Error::io("the runtime was shut down during a read").with("path", self.file.path()))
            }
        }
    }

    /// At least one and at most `length` bytes at `position`, none for a `length` of 0.
    pub(crate) fn read_some(&self, position: u64, length: usize) -> Result<Bytes> {
        if length == 0 {
            return Ok(Bytes::new());
        }
        let mut state = self.lock();
        loop {
            if let Some((start, bytes)) = state.ready.range(..=position).next_back() {
                let offset = usize::try_from(position - start).unwrap_or(usize::MAX);
                if offset < bytes.len() {
                    let part = bytes.slice(offset..bytes.len().min(offset + length));
                    self.ahead(&mut state, position);
                    return Ok(part);
                }
            }
            let coming = state.coming.range(..=position).next_back();
            let coming = coming
                .filter(|(_, (end, _))| *end > position)
                .map(|(start, _)| *start);
            if let Some(start) = coming
                && let Some((_, handle)) = state.coming.remove(&start)
            {
                let bytes = self.wait(handle)?;
                state.ready.insert(start, bytes);
                continue;
            }
            let window = state.window_at(position, length as u64);
            state
                .reservation
                .try_grow(usize::try_from(window.end - window.start).unwrap_or(usize::MAX))?;
            let bytes = self.runtime.block_on(self.file.read_range(window.clone()))?;
            if bytes.is_empty() {
                return Err(Error::corrupt("file ends too early").with("path", self.file.path()));
            }
            state.ready.insert(window.start, bytes);
        }
    }

    /// Drops the window before the one at `position` and fetches the one behind it.
    fn ahead(&self, state: &mut State, position: u64) {
        let Some((start, end)) = state
            .ready
            .range(..=position)
            .next_back()
            .map(|(start, bytes)| (*start, start + bytes.len() as u64))
        else {
            return;
        };
        // Columns are read forward: what lies directly before belongs to the same column and is done with.
        let before = state
            .ready
            .range(..start)
            .next_back()
            .map(|(s, bytes)| (*s, s + bytes.len() as u64));
        let after = state.wanted.partition_point(|range| range.start <= position);
        let range = after
            .checked_sub(1)
            .and_then(|index| state.wanted.get(index))
            .cloned();
        if let (Some((old, old_end)), Some(range)) = (before, &range)
            && old_end == start
            && old >= range.start
        {
            state.ready.remove(&old);
            let held = state.bytes();
            // Never fails: it gets less.
            let _ = state.reservation.try_resize(held);
        }
        let more = range.is_some_and(|range| range.end > end && range.start <= start);
        if !more
            || !self.hints.read_ahead
            || state.coming.contains_key(&end)
            || state.ready.contains_key(&end)
        {
            return;
        }
        let window = state.window_at(end, 1);
        if state
            .reservation
            .try_grow(usize::try_from(window.end - window.start).unwrap_or(usize::MAX))
            .is_ok()
        {
            let file = self.file.clone();
            let fetch = window.clone();
            let handle = self.runtime.spawn(async move { file.read_range(fetch).await });
            state.coming.insert(window.start, (window.end, handle));
        }
    }

    /// Exactly `length` bytes at `position`.
    pub(crate) fn read_exact(&self, position: u64, length: usize) -> Result<Bytes> {
        let first = self.read_some(position, length)?;
        if first.len() == length {
            return Ok(first);
        }
        let mut all = BytesMut::with_capacity(length);
        all.extend_from_slice(&first);
        while all.len() < length {
            let part = self.read_some(position + all.len() as u64, length - all.len())?;
            all.extend_from_slice(&part);
        }
        Ok(all.freeze())
    }
}

/// What is fetched before the first read: the beginning of each range, as far as one window for each column goes.
fn first_windows(wanted: &[Range<u64>], window: u64, columns: usize) -> Vec<Range<u64>> {
    let mut left = window.saturating_mul(columns.max(1) as u64);
    let mut windows = Vec::new();
    for range in wanted {
        let length = (range.end - range.start).min(window).min(left);
        if length == 0 {
            break;
        }
        windows.push(range.start..range.start + length);
        left -= length;
    }
    windows
}
