// SPDX-License-Identifier: Apache-2.0

//! Byte forms of splits, commit messages and plans.

mod any;
pub mod java;
pub mod native;

pub use any::Codec;
pub(crate) use java::write_null_counts;
