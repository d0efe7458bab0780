// SPDX-License-Identifier: Apache-2.0

//! Index files of Apache Paimon as functions over bytes: no I/O, no async runtime, no Arrow.
//!
//! - [`DeletionVector`]: the deleted rows of one data file, with 32-bit or 64-bit positions.
//! - [`DeletionVectorFileWriter`], [`walk_deletion_vectors`], [`decode_deletion_vector`]: the files that hold them
//!   (index type [`DELETION_VECTORS`]).
//! - [`decode_hash_index`], [`encode_hash_index`]: key hashes of a dynamic bucket (index type [`HASH`]).
//!
//! Every decoder is total: bytes from anywhere give a value or an error, and memory stays within a small multiple of the
//! input.

#![warn(clippy::indexing_slicing)]

mod deletion_vector;
mod file;
mod hash_index;
mod portable;
mod record;

pub use deletion_vector::{DeletionVector, DeletionVectorKind};
pub use file::{
    DELETION_VECTORS, DELETION_VECTORS_VERSION, DeletionVectorFileWriter, RolledFile, StoredVector,
    VectorPlace, Walk, walk_deletion_vectors, write_rolling,
};
pub use hash_index::{HASH, decode_hash_index, encode_hash_index};
pub use record::{decode_deletion_vector, decode_deletion_vector_body, record_span};
