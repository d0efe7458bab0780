// SPDX-License-Identifier: Apache-2.0

//! Blob files through the interface.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod conformance;
mod damage;
mod java;
mod reader;
mod support;
mod vectors;
mod writer;
