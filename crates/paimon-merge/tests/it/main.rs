// SPDX-License-Identifier: Apache-2.0

//! Merge functions against a row-by-row model of the rules, and case by case.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    unreachable_pub
)]

mod cases;
mod convert;
mod java;
mod model;
mod random;
mod vectors;
