// SPDX-License-Identifier: Apache-2.0

//! Conformance of the storage on each kind of store.

mod conformance;
mod faults;
mod local_disk;
