// SPDX-License-Identifier: Apache-2.0

//! Files of deletion vectors (Java `DeletionVectorsIndexFile`, `DeletionFileWriter`; `wire.md` 10.5): a version byte, then
//! vectors back to back. Which vector belongs to which data file is written in metadata only.

use paimon_types::{Error, Result};

use crate::DeletionVector;
use crate::record::decode_deletion_vector;

/// Index type of files of deletion vectors.
pub const DELETION_VECTORS: &str = "DELETION_VECTORS";

/// The first byte of such a file.
pub const DELETION_VECTORS_VERSION: u8 = 1;

/// What metadata records about a vector (Java `DeletionVectorMeta`, without the name of the data file).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VectorPlace {
    /// Position of the length prefix in the file.
    pub offset: i32,
    /// Length as recorded: without prefix and checksum for 32-bit vectors, with them for 64-bit ones.
    pub length: i32,
    /// Number of deleted rows.
    pub cardinality: u64,
}

/// A vector and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredVector {
    /// Where it lies.
    pub place: VectorPlace,
    /// The vector.
    pub vector: DeletionVector,
}

/// Builds the bytes of one file.
#[derive(Clone, Debug)]
pub struct DeletionVectorFileWriter {
    out: Vec<u8>,
}

impl Default for DeletionVectorFileWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl DeletionVectorFileWriter {
    /// A file without vectors. (Buckets of fixed-bucket tables may have such a file: it replaces an older one.)
    pub fn new() -> Self {
        DeletionVectorFileWriter {
            out: vec![DELETION_VECTORS_VERSION],
        }
    }

    /// Appends a vector and returns what metadata must record about it.
    ///
    /// # Errors
    /// `Unsupported` when the vector or the file becomes larger than 2 GiB.
    pub fn write(&mut self, vector: &DeletionVector) -> Result<VectorPlace> {
        let too_large = |_| {
            Error::unsupported("a file of deletion vectors would have more than 2 GiB, start another one")
        };
        let offset = i32::try_from(self.out.len()).map_err(too_large)?;
        let bytes = vector.encode()?;
        let length = i32::try_from(vector.kind().recorded_length(bytes.len() as u64)).map_err(too_large)?;
        self.out.extend_from_slice(&bytes);
        Ok(VectorPlace {
            offset,
            length,
            cardinality: vector.cardinality(),
        })
    }

    /// Bytes so far, the version byte included.
    pub fn position(&self) -> u64 {
        self.out.len() as u64
    }

    /// The bytes of the file.
    pub fn finish(self) -> Vec<u8> {
        self.out
    }
}

/// The bytes of a file of [`write_rolling`] and the places of its vectors, by the caller's key.
pub type RolledFile<K> = (Vec<u8>, Vec<(K, VectorPlace)>);

/// Writes vectors to as many files as needed: a file ends after the vector with which it has more than `target` bytes, as in
/// tables without fixed buckets (option `deletion-vector.index-file.target-size`). No vector, no file.
///
/// # Errors
/// As [`DeletionVectorFileWriter::write`].
pub fn write_rolling<'a, K>(
    vectors: impl IntoIterator<Item = (K, &'a DeletionVector)>,
    target: u64,
) -> Result<Vec<RolledFile<K>>> {
    let mut files = Vec::new();
    let mut file: Option<(DeletionVectorFileWriter, Vec<(K, VectorPlace)>)> = None;
    for (key, vector) in vectors {
        let (writer, places) = file.get_or_insert_default();
        places.push((key, writer.write(vector)?));
        if writer.position() > target
            && let Some((writer, places)) = file.take()
        {
            files.push((writer.finish(), places));
        }
    }
    files.extend(file.map(|(writer, places)| (writer.finish(), places)));
    Ok(files)
}

/// All vectors of a file in stored order, without metadata. What metadata does not name any more is found, too.
///
/// # Errors
/// `Corrupt` for an empty file and `Unsupported` for a version that we do not know; the iterator ends after the first vector
/// that is damaged, with an error that names its offset.
pub fn walk_deletion_vectors(bytes: &[u8]) -> Result<Walk<'_>> {
    match bytes.first() {
        Some(&DELETION_VECTORS_VERSION) => Ok(Walk { bytes, at: 1 }),
        Some(other) => Err(Error::unsupported(format!(
            "file of deletion vectors has version {other}, expected {DELETION_VECTORS_VERSION}"
        ))),
        None => Err(Error::corrupt(
            "file of deletion vectors is empty, expected a version byte",
        )),
    }
}

/// Iterator of [`walk_deletion_vectors`].
#[derive(Clone, Debug)]
pub struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Walk<'_> {
    fn step(&mut self, rest: &[u8]) -> Result<StoredVector> {
        let (vector, used) = decode_deletion_vector(rest)?;
        let too_large = |_| {
            Error::unsupported("file of deletion vectors has more than 2 GiB, metadata could not name it")
        };
        let place = VectorPlace {
            offset: i32::try_from(self.at).map_err(too_large)?,
            length: i32::try_from(vector.kind().recorded_length(used as u64)).map_err(too_large)?,
            cardinality: vector.cardinality(),
        };
        self.at += used;
        Ok(StoredVector { place, vector })
    }
}

impl Iterator for Walk<'_> {
    type Item = Result<StoredVector>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let (bytes, at) = (self.bytes, self.at);
        let step = self.step(rest);
        if step.is_err() {
            self.at = bytes.len();
        }
        Some(step.map_err(|e| e.with("offset", at)))
    }
}
