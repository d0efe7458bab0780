// SPDX-License-Identifier: Apache-2.0

//! Faults of the command line that were found by testing against it, each as a run of the binary.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod filters;
mod ingest;
mod place;
mod plans;
