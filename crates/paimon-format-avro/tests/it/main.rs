// SPDX-License-Identifier: Apache-2.0

//! Tests of the format through its public interface.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod conformance;
mod counting;
mod damage;
mod java;
mod oracle;
mod support;
mod writer;
