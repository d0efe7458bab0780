// SPDX-License-Identifier: Apache-2.0

//! Faults of the command line that were found by testing against it, each as a run of the binary.

mod filters;
mod ingest;
mod place;
mod plans;
