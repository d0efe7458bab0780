// SPDX-License-Identifier: Apache-2.0

//! The end of a file: postscript, footer, statistics of stripes.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bytes::{Bytes, BytesMut};
use paimon_format::Cache;
use paimon_format::blocking::spawn;
use paimon_storage::InputFile;
use paimon_types::{Error, Result};
use tokio::sync::OnceCell;

use super::source::Source;
use crate::decode::{Codec, decompress_all};
use crate::error::{at, damaged};
use crate::format::IDENTIFIER;
use crate::proto::{Footer, MAGIC, Metadata, PostScript};
use crate::schema::TypeTree;

/// Bytes of the end of the file that are read at first; most footers fit, and small files as a whole.
const TAIL: u64 = 64 << 10;
/// Weight of a footer in a cache that is not read yet.
const UNREAD: usize = 16 << 10;
/// Bytes in memory for a byte of a footer, roughly.
const MEMORY_RATIO: usize = 8;

/// What the end of a file tells.
#[derive(Debug)]
pub(crate) struct FileTail {
    pub(crate) footer: Footer,
    pub(crate) types: TypeTree,
    pub(crate) codec: Option<Codec>,
    /// Positions of the first rows of the stripes.
    pub(crate) first_rows: Vec<u64>,
    /// Where the statistics of stripes lie.
    metadata: Range<u64>,
    stripe_statistics: OnceLock<Metadata>,
    weight: usize,
}

/// The tail of a file in a cache, perhaps being read just now.
type Shared = OnceCell<Arc<FileTail>>;

/// Reads the end of `file`, or finds it in `cache`. Those who ask for the same file at once wait for one of them. Also
/// returns the last bytes of the file, if they were read.
///
/// # Errors
/// `Corrupt` when the file is not ORC, is cut, or its footer contradicts itself; errors of the store.
pub(crate) async fn load_tail(
    file: &Arc<dyn InputFile>,
    cache: Option<&Arc<dyn Cache>>,
) -> Result<(Arc<FileTail>, (u64, Bytes))> {
    let size = file.size().await?;
    let Some(cache) = cache else {
        return read_tail(file, size).await;
    };
    let key = format!("{IDENTIFIER}:{size}:{}", file.path());
    let cell = match cache.get(&key).and_then(|found| found.downcast::<Shared>().ok()) {
        Some(cell) => cell,
        None => {
            let cell = Arc::new(Shared::new());
            cache.put(&key, cell.clone(), UNREAD);
            cell
        }
    };
    let mut bytes = None;
    let tail = cell
        .get_or_try_init(|| async {
            let (tail, end) = read_tail(file, size).await?;
            bytes = Some(end);
            cache.put(&key, cell.clone(), tail.weight);
            Ok::<_, Error>(tail)
        })
        .await;
    match tail {
        Ok(tail) => Ok((tail.clone(), bytes.unwrap_or((size, Bytes::new())))),
        Err(error) => {
            cache.invalidate(&key);
            Err(error)
        }
    }
}

async fn read_tail(file: &Arc<dyn InputFile>, size: u64) -> Result<(Arc<FileTail>, (u64, Bytes))> {
    let path = file.path();
    let start = size.saturating_sub(TAIL);
    let end = file.read_range(start..size).await?;
    let lengths = postscript(&end, size).map_err(|e| at(path, e))?;
    let needed = size - lengths.footer.end + (lengths.footer.end - lengths.footer.start);
    let from = size - needed;
    // The statistics of stripes, in front of the footer, are read with it when they are at hand.
    let footer = if from >= start {
        let skip = usize::try_from(from - start).unwrap_or(usize::MAX);
        let stop = usize::try_from(lengths.footer.end - start).unwrap_or(usize::MAX);
        end.slice(skip..stop)
    } else {
        let head = file.read_range(from..start).await?;
        let stop = usize::try_from(lengths.footer.end - start).unwrap_or(usize::MAX);
        let mut all = BytesMut::with_capacity(head.len() + stop);
        all.extend_from_slice(&head);
        all.extend_from_slice(end.get(..stop).unwrap_or(&[]));
        all.freeze()
    };
    let tail = spawn("reading an orc footer", move || decode_tail(&footer, lengths))
        .await
        .map_err(|e| at(path, e))?;
    Ok((Arc::new(tail), (start, end)))
}

struct Lengths {
    codec: Option<Codec>,
    footer: Range<u64>,
    metadata: Range<u64>,
}

/// Where footer and metadata lie. `end` are the last bytes of a file of `size`.
fn postscript(end: &[u8], size: u64) -> Result<Lengths> {
    let no_orc = |what: String| damaged(format!("{what}; the file is no orc file or is cut"));
    let Some((length, rest)) = end.split_last() else {
        return Err(no_orc("it is empty".to_string()));
    };
    let length = usize::from(*length);
    let Some(bytes) = rest.len().checked_sub(length).and_then(|start| rest.get(start..)) else {
        return Err(no_orc(format!(
            "its last byte is {length}, more than the file has"
        )));
    };
    let script = PostScript::decode(bytes).map_err(|e| no_orc(e.message().to_string()))?;
    if script.magic != MAGIC {
        return Err(no_orc(format!(
            "its postscript has magic \"{}\", \"ORC\" expected",
            script.magic.escape_ascii()
        )));
    }
    if !matches!(script.version.as_slice(), [] | [0, 11, ..] | [0, 12, ..]) {
        let version: Vec<String> = script.version.iter().map(u32::to_string).collect();
        return Err(Error::unsupported(format!(
            "orc file has version {}, known are 0.11 and 0.12",
            version.join(".")
        )));
    }
    let last = size - 1 - length as u64;
    let footer = last.checked_sub(script.footer_length);
    let metadata = footer.and_then(|footer| footer.checked_sub(script.metadata_length));
    let (Some(footer), Some(metadata)) = (footer, metadata) else {
        return Err(damaged(format!(
            "its footer has {} bytes and its statistics {}, the file {size}",
            script.footer_length, script.metadata_length
        )));
    };
    Ok(Lengths {
        codec: Codec::new(script.compression, script.compression_block_size)?,
        footer: footer..last,
        metadata: metadata..footer,
    })
}

fn decode_tail(bytes: &Bytes, lengths: Lengths) -> Result<FileTail> {
    let plain = decompress_all(lengths.codec, bytes)?;
    let footer = Footer::decode(&plain)?;
    if footer.encrypted {
        return Err(Error::unsupported("orc file is encrypted"));
    }
    let types = TypeTree::new(&footer.types)?;
    let mut first_rows = Vec::with_capacity(footer.stripes.len());
    let mut rows = 0u64;
    for (index, stripe) in footer.stripes.iter().enumerate() {
        let end = [stripe.index_length, stripe.data_length, stripe.footer_length]
            .into_iter()
            .try_fold(stripe.offset, u64::checked_add);
        if end.is_none_or(|end| end > lengths.metadata.start) {
            return Err(damaged(format!(
                "stripe {index} at {} with {}, {} and {} bytes lies outside of the {} of all stripes",
                stripe.offset,
                stripe.index_length,
                stripe.data_length,
                stripe.footer_length,
                lengths.metadata.start
            )));
        }
        first_rows.push(rows);
        rows = rows
            .checked_add(stripe.number_of_rows)
            .ok_or_else(|| damaged("its stripes have too many rows"))?;
    }
    if rows != footer.number_of_rows {
        return Err(damaged(format!(
            "its stripes have {rows} rows, its footer tells {}",
            footer.number_of_rows
        )));
    }
    Ok(FileTail {
        weight: plain.len().saturating_mul(MEMORY_RATIO) + size_of::<FileTail>(),
        footer,
        types,
        codec: lengths.codec,
        first_rows,
        metadata: lengths.metadata,
        stripe_statistics: OnceLock::new(),
    })
}

impl FileTail {
    /// Bytes in memory, roughly.
    pub(crate) fn weight(&self) -> usize {
        self.weight
    }

    /// Rows of a row group; `None` when the file has no row indexes.
    pub(crate) fn stride(&self) -> Option<u64> {
        self.footer
            .row_index_stride
            .filter(|stride| *stride > 0)
            .map(u64::from)
    }

    /// Where a part begins that is to begin at about `row`: the next stripe, because a stripe has one dictionary.
    pub(crate) fn part_start(&self, row: u64) -> u64 {
        let next = self.first_rows.partition_point(|first| *first < row);
        self.first_rows
            .get(next)
            .copied()
            .unwrap_or(self.footer.number_of_rows)
    }

    /// Statistics of the columns of each stripe; empty when the file has none. Read when they are asked for.
    ///
    /// # Errors
    /// `Corrupt` when they are damaged; errors of the store.
    pub(crate) async fn stripe_statistics(&self, source: &Source) -> Result<&Metadata> {
        if let Some(known) = self.stripe_statistics.get() {
            return Ok(known);
        }
        let metadata = if self.metadata.is_empty() {
            Metadata::default()
        } else {
            let bytes = source.read(std::slice::from_ref(&self.metadata)).await?;
            let bytes = bytes.first().cloned().unwrap_or_default();
            Metadata::decode(&decompress_all(self.codec, &bytes)?)?
        };
        Ok(self.stripe_statistics.get_or_init(|| metadata))
    }
}
