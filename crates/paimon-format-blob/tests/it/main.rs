// SPDX-License-Identifier: Apache-2.0

//! Blob files through the interface.

mod conformance;
mod damage;
mod java;
mod reader;
mod support;
mod writer;
