// SPDX-License-Identifier: Apache-2.0

//! Loading the index of a file.

use std::sync::Arc;

use bytes::Bytes;
use paimon_format::{Cache, MemoryPool, MemoryReservation};
use paimon_storage::InputFile;
use paimon_types::Result;

use crate::error::read_error;
use crate::format::IDENTIFIER;
use crate::layout::{BlobIndex, FOOTER_BYTES, FileFooter};

/// Bytes of the end of the file that are read at first; the index of some thousand rows fits.
const TAIL: u64 = 16 << 10;

/// The index of `file`, from `cache` when it is there, and the bytes that were read for it.
///
/// # Errors
/// `Corrupt` or `Unsupported` that name the file; errors of the store; `ResourcesExhausted` from `pool`.
pub(crate) async fn load_index(
    file: &Arc<dyn InputFile>,
    cache: Option<&Arc<dyn Cache>>,
    pool: &Arc<dyn MemoryPool>,
) -> Result<(Arc<BlobIndex>, u64)> {
    let size = file.size().await?;
    let key = format!("{IDENTIFIER}:{size}:{}", file.path());
    if let Some(found) = cache.and_then(|cache| cache.get(&key))
        && let Ok(index) = found.downcast::<BlobIndex>()
    {
        return Ok((index, 0));
    }
    let damaged = |e| read_error(file.path(), e);
    let tail_start = size.saturating_sub(TAIL);
    let tail = file.read_range(tail_start..size).await?;
    let footer = FileFooter::decode(&tail, size).map_err(damaged)?;
    let mut held = MemoryReservation::new(pool.clone());
    let mut read = tail.len() as u64;
    let bytes = if footer.index_start >= tail_start {
        let start = usize::try_from(footer.index_start - tail_start).unwrap_or(usize::MAX);
        let end = tail.len().saturating_sub(FOOTER_BYTES as usize);
        tail.slice(start.min(end)..end)
    } else {
        // The bytes and the decoded form of the smallest rows.
        held.try_grow(usize::try_from(footer.index_bytes).unwrap_or(usize::MAX))?;
        read = read.saturating_add(footer.index_bytes);
        let end = footer.index_start.saturating_add(footer.index_bytes);
        file.read_range(footer.index_start..end).await?
    };
    let index = decode(&bytes, footer.index_start).map_err(damaged)?;
    if let Some(cache) = cache {
        cache.put(&key, index.clone(), index.memory_bytes());
    }
    Ok((index, read))
}

fn decode(bytes: &Bytes, data_bytes: u64) -> Result<Arc<BlobIndex>> {
    BlobIndex::decode(bytes, data_bytes).map(Arc::new)
}
