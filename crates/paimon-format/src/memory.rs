// SPDX-License-Identifier: Apache-2.0

//! A budget that readers and writers charge for the memory that they hold.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use paimon_types::{Error, Result};

/// A memory budget (C++ `MemoryPool`). It counts bytes, it does not hand out memory.
pub trait MemoryPool: Send + Sync + fmt::Debug {
    /// Takes `bytes` from the budget.
    ///
    /// # Errors
    /// `ResourcesExhausted`, and nothing is taken, when the budget does not have them.
    fn try_reserve(&self, bytes: usize) -> Result<()>;

    /// Gives back `bytes` that were reserved before.
    fn release(&self, bytes: usize);

    /// Bytes that are reserved now.
    fn reserved(&self) -> usize;

    /// The budget, `None` when it has no limit.
    fn limit(&self) -> Option<usize>;
}

/// A pool without limit that only counts.
#[derive(Debug, Default)]
pub struct UnboundedMemoryPool {
    reserved: AtomicUsize,
}

impl UnboundedMemoryPool {
    /// An empty pool.
    pub fn new() -> Self {
        Self::default()
    }
}

impl MemoryPool for UnboundedMemoryPool {
    fn try_reserve(&self, bytes: usize) -> Result<()> {
        self.reserved.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    fn release(&self, bytes: usize) {
        release(&self.reserved, bytes);
    }

    fn reserved(&self) -> usize {
        self.reserved.load(Ordering::Relaxed)
    }

    fn limit(&self) -> Option<usize> {
        None
    }
}

/// A pool that refuses what does not fit.
#[derive(Debug)]
pub struct BoundedMemoryPool {
    limit: usize,
    reserved: AtomicUsize,
}

impl BoundedMemoryPool {
    /// A pool of `limit` bytes.
    pub fn new(limit: usize) -> Self {
        BoundedMemoryPool {
            limit,
            reserved: AtomicUsize::new(0),
        }
    }
}

impl MemoryPool for BoundedMemoryPool {
    fn try_reserve(&self, bytes: usize) -> Result<()> {
        let fits = |held: usize| held.checked_add(bytes).filter(|sum| *sum <= self.limit);
        self.reserved
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits)
            .map(|_| ())
            .map_err(|held| {
                Error::resources(format!(
                    "memory budget exceeded: {bytes} bytes asked for, {held} of {} bytes in use",
                    self.limit
                ))
            })
    }

    fn release(&self, bytes: usize) {
        release(&self.reserved, bytes);
    }

    fn reserved(&self) -> usize {
        self.reserved.load(Ordering::Relaxed)
    }

    fn limit(&self) -> Option<usize> {
        Some(self.limit)
    }
}

fn release(reserved: &AtomicUsize, bytes: usize) {
    let less = |held: usize| Some(held.saturating_sub(bytes));
    // The closure always answers, so this cannot fail.
    let _ = reserved.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
}

/// Bytes reserved from a [`MemoryPool`], given back when dropped.
#[derive(Debug)]
pub struct MemoryReservation {
    pool: Arc<dyn MemoryPool>,
    bytes: usize,
}

impl MemoryReservation {
    /// An empty reservation of `pool`.
    pub fn new(pool: Arc<dyn MemoryPool>) -> Self {
        MemoryReservation { pool, bytes: 0 }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Reserves `bytes` more.
    ///
    /// # Errors
    /// `ResourcesExhausted` when the pool refuses; the reservation stays as it was.
    pub fn try_grow(&mut self, bytes: usize) -> Result<()> {
        self.pool.try_reserve(bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Makes the reservation exactly `bytes`.
    ///
    /// # Errors
    /// `ResourcesExhausted` when it would grow and the pool refuses; the reservation stays as it was.
    pub fn try_resize(&mut self, bytes: usize) -> Result<()> {
        if bytes > self.bytes {
            return self.try_grow(bytes - self.bytes);
        }
        self.pool.release(self.bytes - bytes);
        self.bytes = bytes;
        Ok(())
    }

    /// Gives everything back.
    pub fn free(&mut self) {
        self.pool.release(std::mem::take(&mut self.bytes));
    }
}

impl Drop for MemoryReservation {
    fn drop(&mut self) {
        self.free();
    }
}
