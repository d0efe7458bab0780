// SPDX-License-Identifier: Apache-2.0

//! URL to object store, create-if-absent, retries: the storage of Apache Paimon tables.

mod environment;

pub use environment::{Clock, Environment, IdSource, SystemClock, UuidSource};
