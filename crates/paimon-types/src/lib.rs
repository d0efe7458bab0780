// SPDX-License-Identifier: Apache-2.0

//! Logical types, schemas, binary rows, hashing, predicates and options of Apache Paimon.
//!
//! Pure values and codecs: nothing here does I/O, and no codec panics on bytes that it reads.

#![warn(clippy::indexing_slicing)]

mod binary;
mod data_type;
mod datum;
mod error;
mod predicate;
mod schema;

pub use binary::BinaryRow;
pub use data_type::{DataField, DataType, MAX_LENGTH, TypeKind, system_field};
pub use datum::{Datum, Timestamp};
pub use error::{Error, ErrorKind, Result};
pub use predicate::{ColumnStats, LeafPredicate, Predicate, PredicateOp};
pub use schema::{NewTable, TableSchema};
