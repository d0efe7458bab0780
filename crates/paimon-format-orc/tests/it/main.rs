// SPDX-License-Identifier: Apache-2.0

//! Tests of the ORC format through the file format interface.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod conformance;
mod cpp;
mod damage;
mod java;
#[path = "../../../paimon-format-parquet/tests/it/json.rs"]
mod json;
mod memory;
mod pruning;
mod selection;
mod stats;
mod support;
