// SPDX-License-Identifier: Apache-2.0

//! Parts of one shared buffer.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Bytes within a shared buffer: clones and parts cost a reference count, and keep the whole buffer alive.
#[derive(Clone)]
pub struct SharedBytes {
    buffer: Arc<[u8]>,
    start: usize,
    len: usize,
}

impl SharedBytes {
    /// Copies bytes into a buffer of their own.
    pub fn copy_from(bytes: &[u8]) -> Self {
        Self::from(Arc::from(bytes))
    }

    /// The part of these bytes that `slice` borrows; bytes from elsewhere are copied.
    pub fn part(&self, slice: &[u8]) -> Self {
        let within = (slice.as_ptr() as usize)
            .checked_sub(self.as_ptr() as usize)
            .filter(|offset| offset.checked_add(slice.len()).is_some_and(|end| end <= self.len));
        match within {
            Some(offset) => SharedBytes {
                buffer: Arc::clone(&self.buffer),
                start: self.start + offset,
                len: slice.len(),
            },
            None => Self::copy_from(slice),
        }
    }
}

impl Deref for SharedBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.buffer
            .get(self.start..self.start + self.len)
            .unwrap_or_default()
    }
}

impl From<Arc<[u8]>> for SharedBytes {
    fn from(buffer: Arc<[u8]>) -> Self {
        SharedBytes {
            start: 0,
            len: buffer.len(),
            buffer,
        }
    }
}

impl PartialEq for SharedBytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for SharedBytes {}

impl fmt::Debug for SharedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
