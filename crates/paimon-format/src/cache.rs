// SPDX-License-Identifier: Apache-2.0

//! A cache for immutable metadata of files (footers).

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A shared value of whatever type the format keeps; readers downcast it.
pub type CachedValue = Arc<dyn Any + Send + Sync>;

/// A byte-weighted cache of immutable values (C++ `Cache`).
///
/// Keys are made by the format. A key must name one immutable content: formats use their identifier, the path and the
/// size of the file, because a data file never changes under its name.
pub trait Cache: Send + Sync + fmt::Debug {
    /// The value under `key`; counts a hit or a miss.
    fn get(&self, key: &str) -> Option<CachedValue>;

    /// Keeps `value`, which occupies about `weight` bytes, and drops others if there is no room. A value heavier than
    /// the whole cache is not kept.
    fn put(&self, key: &str, value: CachedValue, weight: usize);

    /// Forgets `key`.
    fn invalidate(&self, key: &str);

    /// Counters so far.
    fn stats(&self) -> CacheStats;
}

/// Counters of a [`Cache`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Calls of `get` that found a value.
    pub hits: u64,
    /// Calls of `get` that found none.
    pub misses: u64,
    /// Values held.
    pub entries: usize,
    /// Bytes held, as told by `put`.
    pub weight: usize,
}

/// A [`Cache`] that drops the values that were not used for the longest time.
pub struct LruCache {
    capacity: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    entries: HashMap<String, Entry>,
    /// Use order: tick of the last use to key.
    order: BTreeMap<u64, String>,
    tick: u64,
    stats: CacheStats,
}

struct Entry {
    value: CachedValue,
    weight: usize,
    tick: u64,
}

impl LruCache {
    /// A cache of at most `capacity` bytes.
    pub fn new(capacity: usize) -> Self {
        LruCache {
            capacity,
            state: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change below leaves the state consistent before anything can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn remove(&mut self, key: &str) {
        if let Some(entry) = self.entries.remove(key) {
            self.order.remove(&entry.tick);
            self.stats.weight -= entry.weight;
        }
    }
}

impl Cache for LruCache {
    fn get(&self, key: &str) -> Option<CachedValue> {
        let mut guard = self.lock();
        let state = &mut *guard;
        state.tick += 1;
        match state.entries.get_mut(key) {
            Some(entry) => {
                state.stats.hits += 1;
                if let Some(name) = state.order.remove(&entry.tick) {
                    state.order.insert(state.tick, name);
                }
                entry.tick = state.tick;
                Some(Arc::clone(&entry.value))
            }
            None => {
                state.stats.misses += 1;
                None
            }
        }
    }

    fn put(&self, key: &str, value: CachedValue, weight: usize) {
        let mut guard = self.lock();
        let state = &mut *guard;
        state.remove(key);
        if weight > self.capacity {
            return;
        }
        while state.stats.weight + weight > self.capacity {
            match state.order.pop_first() {
                Some((_, oldest)) => state.remove(&oldest),
                None => break,
            }
        }
        state.tick += 1;
        state.order.insert(state.tick, key.to_string());
        state.entries.insert(
            key.to_string(),
            Entry {
                value,
                weight,
                tick: state.tick,
            },
        );
        state.stats.weight += weight;
    }

    fn invalidate(&self, key: &str) {
        self.lock().remove(key);
    }

    fn stats(&self) -> CacheStats {
        let state = self.lock();
        CacheStats {
            entries: state.entries.len(),
            ..state.stats
        }
    }
}

impl fmt::Debug for LruCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LruCache")
            .field("capacity", &self.capacity)
            .field("stats", &self.stats())
            .finish()
    }
}
