// SPDX-License-Identifier: Apache-2.0

//! The command line as a process: its forms are a contract.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod decode;
mod errors;
mod ingest;
mod inspect;
mod jsonl;
mod plan;
mod quickstart;
mod scan;
mod support;
mod upsert;
