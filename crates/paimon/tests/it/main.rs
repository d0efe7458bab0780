// SPDX-License-Identifier: Apache-2.0

//! Whole tables through the facade: what Java wrote, what we write, and the small inputs that readers got wrong.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

#[allow(dead_code, unreachable_pub)]
#[path = "../../../paimon-merge/tests/it/convert.rs"]
mod convert;
#[allow(dead_code, unreachable_pub)]
#[path = "../../../paimon-merge/tests/it/model.rs"]
mod model;

mod cases_buckets;
mod cases_deletes;
mod cases_evolution;
mod cases_partition;
mod cases_read;
mod cases_store;
mod conformance;
mod filters;
mod java_messages;
mod java_rows;
mod java_splits;
mod pk_histories;
mod pk_late;
mod pk_read;
mod pk_write;
mod read_parts;
mod support;
