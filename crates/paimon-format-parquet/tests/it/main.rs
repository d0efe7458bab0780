// SPDX-License-Identifier: Apache-2.0

//! Tests of the parquet format through the file format interface.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod conformance;
mod java;
mod json;
mod pruning;
mod support;
mod timestamps;
mod writer;
