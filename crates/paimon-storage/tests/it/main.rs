// SPDX-License-Identifier: Apache-2.0

//! Conformance of the storage on each kind of store.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod conformance;
mod faults;
mod local_disk;
